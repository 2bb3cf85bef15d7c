//! Programs that the ISA gives no meaning.

use croq_ptx::machine::Launch;

use super::harness::{entry, launch, threads};
use super::placed::{Layout, PLAIN};
use super::trial::{Case, Trial};

fn trial<'a>() -> Trial<'a> {
    Trial::new(Case::new(16, ["f16", "f16", "f32"]))
}

fn fails(trial: &mut Trial<'_>, edit: fn(String) -> String) -> String {
    trial.edit = edit;
    trial.run().expect_err("the program is wrong").message
}

fn fails_alone(statements: &str, count: u32) -> String {
    let report = launch(&entry(statements), threads(count), &[0; 4096], 4096);
    report.expect_err("the program is wrong").message
}

/// Lanes for which the condition sets `%p8` do not execute the products.
fn skip(text: String, condition: &str) -> String {
    let fence = "wgmma.fence.sync.aligned;\n";
    text.replace(fence, &format!("{condition} @%p8 bra END;\n{fence}"))
        .replace("ret;\n}", "END: ret;\n}")
}

#[test]
fn all_warps_of_a_warpgroup_take_part() {
    let edits: [fn(String) -> String; 2] = [
        |text| skip(text, "setp.ge.u32 %p8, %t, 96;"),
        |text| skip(text, "setp.lt.u32 %p8, %t, 32;"),
    ];
    let expected = [
        "warp 3 of a warpgroup exits without a `wgmma` instruction that others execute",
        "warp 0 of the warpgroup has exited without this instruction",
    ];
    for (edit, expected) in edits.into_iter().zip(expected) {
        assert_eq!(fails(&mut trial(), edit), expected);
    }
    let message = fails_alone("wgmma.fence.sync.aligned; ret;", 96);
    assert_eq!(message, "the warpgroup has 3 warps instead of 4");
    let message = fails_alone("wgmma.commit_group.sync.aligned; ret;", 160);
    assert_eq!(message, "the warpgroup has 1 warps instead of 4");
}

#[test]
fn warps_of_a_warpgroup_execute_the_same() {
    let message = fails_alone(
        "setp.lt.u32 %p1, %t, 64; @%p1 bra OTHER; wgmma.fence.sync.aligned; ret;\n\
         OTHER: wgmma.commit_group.sync.aligned; ret;",
        128,
    );
    assert_eq!(
        message,
        "the warps of the warpgroup execute different instructions"
    );
    let message = fails(&mut trial(), |text| {
        let change = "setp.ge.u32 %p8, %t, 64; @%p8 add.u64 %db1, %db1, 2;\nwgmma.fence";
        text.replace("wgmma.fence", change)
    });
    assert_eq!(
        message,
        "the matrix descriptors of the warps of the warpgroup differ"
    );
    let message = fails(&mut trial(), |text| {
        let change = "setp.eq.u32 %p8, %t, 5; @%p8 add.u64 %da0, %da0, 2;\nwgmma.fence";
        text.replace("wgmma.fence", change)
    });
    assert_eq!(message, "the matrix descriptors of the lanes differ");
    let mut predicated = Trial::new(Case {
        first_scale: "%p8",
        ..trial().case
    });
    let message = fails(&mut predicated, |text| {
        text.replace("wgmma.fence", "setp.eq.u32 %p8, %t, 5;\nwgmma.fence")
    });
    assert_eq!(message, "scale-d differs between lanes");
}

#[test]
fn aligned_instructions_are_executed_by_whole_warps() {
    let instructions = [
        "wgmma.fence.sync.aligned;",
        "wgmma.wait_group.sync.aligned 0;",
        "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [tile];",
        "stmatrix.sync.aligned.m8n8.x1.shared.b16 [tile], {%r1};",
        "movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r2;",
        "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r1, %r2}, {%r3}, {%r4}, {%r5, %r6};",
    ];
    for instruction in instructions {
        let diverged = "the lanes of the warp reach this aligned instruction diverged";
        let text = format!("setp.ge.u32 %p1, %t, 16; @%p1 {instruction} ret;");
        let message = fails_alone(&text, 32);
        assert_eq!(
            message,
            format!("{diverged} (lanes 0xffff0000)"),
            "{instruction}"
        );
        let text = format!("setp.eq.u32 %p1, %t, 3; @%p1 bra X; bra Y; X: {instruction} Y: ret;");
        let message = fails_alone(&text, 32);
        assert_eq!(
            message,
            format!("{diverged} (lanes 0x00000008)"),
            "{instruction}"
        );
        let whole =
            "the instruction needs all 32 lanes of the warp: some do not exist or have exited";
        let text = format!("setp.ge.u32 %p1, %t, 16; @%p1 exit; {instruction} ret;");
        let message = fails_alone(&text, 32);
        assert_eq!(
            message,
            format!("{whole} (lanes 0x0000ffff)"),
            "{instruction}"
        );
        let message = fails_alone(&format!("{instruction} ret;"), 20);
        assert_eq!(
            message,
            format!("{whole} (lanes 0x000fffff)"),
            "{instruction}"
        );
    }
}

#[test]
fn rows_are_16_aligned_bytes_of_shared_memory() {
    let aligned = "shared address 0x408 is not a multiple of 16";
    for instruction in [
        "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r1];",
        "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], {%r2};",
    ] {
        let at = |address: &str| fails_alone(&format!("{address}\n{instruction} ret;"), 32);
        assert_eq!(
            at("mov.u32 %r1, tile; mad.lo.u32 %r1, %t, 8, %r1;"),
            aligned
        );
        let outside = at("mov.u32 %r1, tile; add.u32 %r1, %r1, 49152;");
        assert_eq!(
            outside,
            "16 bytes at shared address 0xc400 are in no variable"
        );
        // The last 8 bytes of a row are behind the variable's end.
        let half = at("mov.u32 %r1, tile; add.u32 %r1, %r1, 49144;");
        assert!(half.contains("not a multiple of 16"), "{half}");
    }
    let text = "ldmatrix.sync.aligned.m8n8.x1.b16 {%r2}, [%in]; ret;";
    assert!(fails_alone(text, 32).ends_with("of a matrix row is in global memory"));
}

#[test]
fn descriptors_have_no_reserved_bits() {
    let mut trial = trial();
    let mutations: [(u32, fn([u64; 2]) -> [u64; 2]); 7] = [
        (14, |[a, b]| [a, b | 1 << 14]),
        (31, |[a, b]| [a, b | 1 << 31]),
        (46, |[a, b]| [a, b | 1 << 46]),
        (48, |[a, b]| [a, b | 1 << 48]),
        (52, |[a, b]| [a, b | 1 << 52]),
        (57, |[a, b]| [a, b | 1 << 57]),
        (61, |[a, b]| [a, b | 1 << 61]),
    ];
    for (bit, mutation) in mutations {
        trial.descriptors = mutation;
        let message = trial.run().unwrap_err().message;
        let end = format!("has reserved bits: {:#018x}", 1_u64 << bit);
        assert!(message.ends_with(&end), "{message}");
    }
    let swizzle = |swizzle| Layout { swizzle, ..PLAIN };
    let mut plain = Trial::new(Case {
        a: swizzle(16),
        ..trial.case
    });
    plain.descriptors = |[a, b]| [a | 2 << 49, b];
    let message = plain.run().unwrap_err().message;
    assert_eq!(
        message,
        "the matrix descriptor has the base offset 2 without a swizzle"
    );
    let sparse = Trial::new(Case {
        b: swizzle(32),
        is_sparse: true,
        ..trial.case
    });
    let message = sparse.run().unwrap_err().message;
    let expected = "rows of 64 bytes with a swizzle of 32 bytes have no canonical layout";
    assert_eq!(message, expected);
}

#[test]
fn invalid_metadata_of_wgmma_is_reported() {
    let mut trial = Trial::new(Case {
        is_sparse: true,
        ..trial().case
    });
    let message = fails(&mut trial, |text| {
        text.replace("wgmma.fence", "and.b32 %e1, %e1, 0xffffff0f;\nwgmma.fence")
    });
    assert_eq!(
        message,
        "the metadata 0b0000 of row 0, columns 4 to 7, is not valid"
    );
}

#[test]
fn other_forms_are_refused_by_name() {
    let refused = |statement: &str, reason: &str| {
        let text = entry(&format!("{statement}; ret;"));
        let report = launch(&text, Launch { ..threads(128) }, &[], 16).unwrap_err();
        let mnemonic = statement.split(' ').next().unwrap();
        assert_eq!(
            report.message,
            format!("`{mnemonic}` is not implemented: {reason}")
        );
    };
    let f16 = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0, %d1, %d2, %d3}, %da0, %db0";
    refused(&format!("{f16}, 1, 2, 1, 0, 0"), "the scale 2");
    refused(&format!("{f16}, 1, 1, 1, 0, 2"), "the transposition 2");
    refused(&format!("{f16}, 1, 1, 1"), "it has 6 operands, not 8");
    refused(
        "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%d0, %d1, %d2, %d3}, %da0, %db0, 1, 1, 1, 0, 1",
        "it has 8 operands, not 6",
    );
    for (form, reason) in [
        ("m64n12k16.f32.f16.f16", "its shape with this type"),
        ("m64n264k16.f32.f16.f16", "its shape with this type"),
        ("m64n8k32.f32.f16.f16", "its shape with this type"),
        ("m64n40k32.s32.s8.s8", "its shape with this type"),
        ("m64n8k16.f16.bf16.bf16", "these types with each other"),
        ("m64n8k32.f32.e4m3.s8", "these types with each other"),
        ("m64n8k64.s32.s4.s4", "these types with each other"),
    ] {
        let statement = format!("wgmma.mma_async.sync.aligned.{form} {{%d0}}, %da0, %db0, 1");
        refused(&statement, reason);
    }
    refused(
        "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r1, %r2}, [tile]",
        "one of .m8n8 is missing",
    );
}
