//! When `wgmma` reads and writes, and which registers belong to it until then.

use croq_ptx::machine::{Asynchrony, Launch};

use super::trial::{Case, Trial};

const COMMIT: &str = "wgmma.commit_group.sync.aligned;\n";
const WAIT: &str = "wgmma.wait_group.sync.aligned 0;\n";
const FENCE: &str = "wgmma.fence.sync.aligned;\n";

fn trial<'a>() -> Trial<'a> {
    Trial::new(Case::new(16, ["f16", "f16", "f32"]))
}

/// The message of a changed program, in every mode.
fn fails(trial: &mut Trial<'_>, edit: fn(String) -> String) -> String {
    trial.edit = edit;
    let modes = [Asynchrony::Late, Asynchrony::AtOnce, Asynchrony::Seeded];
    let messages = modes.map(|mode| {
        trial.launch = Launch {
            asynchrony: mode,
            ..trial.launch
        };
        trial.run().expect_err("the program is wrong").message
    });
    assert_eq!([&messages[0]; 2], [&messages[1], &messages[2]]);
    messages[0].clone()
}

/// A matrix that is overwritten before the wait: the default mode sees it.
#[test]
fn matrices_are_read_when_they_are_waited_for() {
    let mut trial = trial();
    trial.edit = |text| {
        let overwrite = "shl.b32 %r1, %t, 2; st.shared.u32 [%r1+1024], 0; bar.sync 0;\n";
        text.replace(WAIT, &format!("{overwrite}{WAIT}"))
    };
    let race = trial.run().unwrap_err().message;
    assert!(race.starts_with("a data race at"), "{race}");
    trial.launch.checks.races = false;
    assert_ne!(trial.run().unwrap(), trial.expected());
    trial.launch.asynchrony = Asynchrony::AtOnce;
    assert_eq!(trial.run().unwrap(), trial.expected());
}

/// What threads have stored is visible to products behind a fence between the proxies.
#[test]
fn stored_matrices_need_a_proxy_fence() {
    for asynchrony in [Asynchrony::Late, Asynchrony::AtOnce, Asynchrony::Seeded] {
        let mut trial = trial();
        trial.launch.asynchrony = asynchrony;
        trial.run().unwrap();
        trial.edit = |text| text.replace("fence.proxy.async;", "");
        let missing = trial.run().unwrap_err().message;
        assert!(
            missing.ends_with("is not ordered after an earlier write by a proxy fence"),
            "{missing}"
        );
        trial.edit = |text| text.replace("fence.proxy.async; bar.sync 0;", "fence.proxy.async;");
        trial.launch.checks.unwritten = false;
        let race = trial.run().unwrap_err().message;
        assert!(race.starts_with("a data race at"), "{race}");
    }
}

/// Two groups; the matrices are overwritten with zeros when all warps have waited for all but
/// `pending` of them.
fn two_groups(text: String, pending: usize) -> String {
    let end = text.find(", %da0").expect("the first product is there");
    let (first, second) = text.split_at(end + text[end..].find('\n').unwrap() + 1);
    let stores: String = (0..4)
        .map(|i| {
            format!(
                "st.shared.v4.u32 [%r1+{}], {{%r2, %r2, %r2, %r2}};\n",
                1024 + i * 2048
            )
        })
        .collect();
    let overwrite =
        format!("bar.sync 0; shl.b32 %r1, %t, 4; mov.b32 %r2, 0;\n{stores}bar.sync 0;\n");
    let wait = format!("wgmma.wait_group.sync.aligned {pending};\n");
    let second = second.replace(WAIT, &format!("{wait}{overwrite}{WAIT}"));
    format!("{first}{COMMIT}{second}")
}

#[test]
fn groups_are_waited_for_in_their_order() {
    let mut trial = trial();
    for (pending, done) in [(0, 2), (1, 1)] {
        trial.edit = match pending {
            0 => |text| two_groups(text, 0),
            _ => |text| two_groups(text, 1),
        };
        // Without a wait for the second group, its matrices are overwritten too early.
        trial.launch.checks.races = pending == 0;
        trial.launch.asynchrony = Asynchrony::Late;
        assert_eq!(trial.run().unwrap(), trial.expected_of(done), "{pending}");
        trial.launch.asynchrony = Asynchrony::AtOnce;
        trial.check();
    }
    // By seed, some warps have executed their products before.
    let by_seed = |seed: u64| {
        let mut trial = Trial::new(trial.case);
        trial.edit = |text| two_groups(text, 2);
        let mode = Asynchrony::Seeded;
        trial.launch = Launch {
            asynchrony: mode,
            seed,
            ..trial.launch
        };
        trial.launch.checks.races = false;
        trial.run().unwrap()
    };
    let mut found: Vec<_> = (0..20).map(by_seed).collect();
    found.sort();
    found.dedup();
    assert!(found.len() > 5, "{} results", found.len());
}

/// A group is one of the warpgroup: a wait by one warp is for the products of all four.
#[test]
fn a_wait_is_for_all_warps() {
    let modes = [Asynchrony::Late, Asynchrony::AtOnce, Asynchrony::Seeded];
    for (asynchrony, seed) in modes.into_iter().zip([0, 0, 7]) {
        for warp in 0..4 {
            let mut trial = trial();
            trial.launch = Launch {
                asynchrony,
                seed,
                ..trial.launch
            };
            trial.edit = match warp {
                0 => |text| text.replace(WAIT, &format!("{WAIT}{}", overwrite(0))),
                1 => |text| text.replace(WAIT, &format!("{WAIT}{}", overwrite(1))),
                2 => |text| text.replace(WAIT, &format!("{WAIT}{}", overwrite(2))),
                _ => |text| text.replace(WAIT, &format!("{WAIT}{}", overwrite(3))),
            };
            trial.check();
            trial.launch.checks.races = false;
            trial.check();
        }
        // Not of products that it leaves pending.
        let mut trial = trial();
        trial.launch.asynchrony = asynchrony;
        trial.edit = |text| {
            let wait = "wgmma.wait_group.sync.aligned 1;\n";
            text.replace(WAIT, &format!("{wait}{}{WAIT}", overwrite(2)))
        };
        let race = trial.run().unwrap_err().message;
        assert!(race.starts_with("a data race at"), "{race}");
    }
}

/// The first lane of a warp overwrites the matrices.
fn overwrite(warp: usize) -> String {
    let first = 32 * warp;
    let stores: String = (0..40)
        .map(|row| {
            format!(
                "@%p4 st.shared.v4.u32 [%r1+{}], {{%r2, %r2, %r2, %r2}};\n",
                1024 + row * 256
            )
        })
        .collect();
    format!("setp.eq.u32 %p4, %t, {first}; mov.u32 %r1, tile; mov.b32 %r2, 0;\n{stores}")
}

/// A wait for products that the other warps issue only after it.
#[test]
fn a_wait_without_the_other_warps_is_a_deadlock() {
    let mut trial = trial();
    trial.edit = |text| {
        let warps = "setp.lt.u32 %p4, %t, 32; @%p4 bra ISSUE;\nbar.sync 1, 128;\nISSUE:\n";
        let rest = "@!%p4 bra REST;\nbar.sync 1, 128;\nREST:\n";
        let text = text.replace(FENCE, &format!("{warps}{FENCE}"));
        text.replace(WAIT, &format!("{WAIT}{rest}"))
    };
    let message = trial.run().unwrap_err().message;
    let wait = "warp 0, lanes 0xffffffff: for products of its warpgroup that are not committed by \
                warps 1, 2, 3, in line";
    assert!(message.contains(wait), "{message}");
}

#[test]
fn products_need_a_fence() {
    let message = fails(&mut trial(), |text| text.replace(FENCE, ""));
    assert_eq!(
        message,
        "there is no `wgmma.fence` before the first `wgmma.mma_async`"
    );
    let message = fails(&mut trial(), |text| {
        text.replace(FENCE, &format!("{FENCE}mov.b32 %d3, 0;\n"))
    });
    let unfenced = "was accessed since the last `wgmma.fence`";
    assert_eq!(message, format!("accumulator register 3 {unfenced}"));
    // A read is an access, too.
    let message = fails(&mut trial(), |text| {
        text.replace(FENCE, &format!("{FENCE}mov.b32 %c0, %d5;\n"))
    });
    assert_eq!(message, format!("accumulator register 5 {unfenced}"));
    let mut in_registers = Trial::new(Case {
        a_in_registers: true,
        ..trial().case
    });
    let message = fails(&mut in_registers, |text| {
        text.replace(FENCE, &format!("{FENCE}mov.b32 %a2, 0;\n"))
    });
    assert_eq!(message, format!("register 2 of A {unfenced}"));
}

#[test]
fn registers_are_not_accessed_before_the_wait() {
    let mut in_registers = Trial::new(Case {
        a_in_registers: true,
        ..trial().case
    });
    let message = |how, what| {
        format!("a register is {how} that is {what} of a `wgmma` which is not waited for")
    };
    let edits: [(&str, fn(String) -> String); 4] = [
        ("read", |text| text.replace(COMMIT, "mov.b32 %c0, %d4;\n")),
        ("read", |text| text.replace(WAIT, "mov.b32 %c0, %d4;\n")),
        ("written", |text| {
            text.replace(COMMIT, "@%p5 mov.b32 %d4, 0;\n")
        }),
        ("written", |text| {
            text.replace(WAIT, "@%p5 mov.b32 %d4, 0;\n")
        }),
    ];
    for (how, edit) in edits {
        assert_eq!(fails(&mut trial(), edit), message(how, "the accumulator"));
    }
    let found = fails(&mut in_registers, |text| {
        text.replace(WAIT, "mov.b32 %a1, 7;\n")
    });
    assert_eq!(found, message("written", "a fragment of A"));
    // Only the groups before the last are waited for; what is not committed is in none.
    let accumulator = message("read", "the accumulator");
    let found = fails(&mut trial(), |text| {
        text.replace(WAIT, "wgmma.wait_group.sync.aligned 1;\n")
    });
    assert_eq!(found, accumulator);
    assert_eq!(
        fails(&mut trial(), |text| text.replace(COMMIT, "")),
        accumulator
    );
}

/// The exemption that Triton's kernels with f16 sums force: an accumulator may be taken apart before
/// the wait. The halves have the sums behind it, and belong to the product until then.
#[test]
fn accumulators_may_be_taken_apart_before_the_wait() {
    let of_halves = || Trial::new(Case::new(16, ["f16", "f16", "f16"]));
    for mode in [Asynchrony::Late, Asynchrony::AtOnce, Asynchrony::Seeded] {
        let mut trial = of_halves();
        trial.launch.asynchrony = mode;
        trial.edit = |text| {
            let apart = "mov.b32 {%h0, %h1}, %d1;\n";
            // The halves change places twice.
            let back = "mov.b32 %c0, {%h1, %h0};\nprmt.b32 %d1, %c0, %c0, 0x1032;\n";
            text.replace(WAIT, &format!("{apart}{WAIT}{back}"))
        };
        trial.check();
    }
    let edits: [(&str, fn(String) -> String); 4] = [
        ("read", |text| {
            text.replace(WAIT, "mov.b32 {%h0, %h1}, %d1; cvt.f32.f16 %c0, %h1;\n")
        }),
        ("read", |text| {
            text.replace(WAIT, "mov.b32 {%h0, %h1}, %d1; mov.b32 %c0, {%h0, %h1};\n")
        }),
        ("written", |text| {
            text.replace(WAIT, "mov.b32 {%h0, %h1}, %d1; mov.b16 %h0, 0;\n")
        }),
        // Only the groups before the last are waited for.
        ("read", |text| {
            let wait = "wgmma.wait_group.sync.aligned 1;\n";
            text.replace(
                WAIT,
                &format!("mov.b32 {{%h0, %h1}}, %d1;\n{wait}mov.b16 %h2, %h0;\n"),
            )
        }),
    ];
    for (how, edit) in edits {
        let found = fails(&mut of_halves(), edit);
        let half = "half of the accumulator of a `wgmma` which is not waited for";
        assert_eq!(found, format!("a register is {how} that is {half}"));
    }
    // It is still an access: the next product needs a fence.
    let found = fails(&mut of_halves(), |text| {
        let first = text.find(", %da0").expect("the first product is there");
        let end = first + text[first..].find('\n').unwrap() + 1;
        let (before, after) = text.split_at(end);
        format!("{before}mov.b32 {{%h0, %h1}}, %d1;\n{after}")
    });
    assert_eq!(
        found,
        "accumulator register 1 was accessed since the last `wgmma.fence`"
    );
}

/// An instruction that no lane executes accesses nothing.
#[test]
fn skipped_instructions_are_no_accesses() {
    let mut trial = trial();
    trial.edit = |text| text.replace(WAIT, &format!("@%p6 mov.b32 %d4, 0;\n{WAIT}"));
    trial.check();
}

#[test]
fn functions_do_not_end_before_the_wait() {
    for edit in [
        (|text| text.replace(WAIT, "ret;\n")) as fn(String) -> String,
        |text| text.replace(WAIT, "exit;\n"),
        |text| text.replace(COMMIT, "ret;\n"),
    ] {
        let message = fails(&mut trial(), edit);
        let expected = "the function ends before `wgmma.wait_group` has waited for its products";
        assert_eq!(message, expected);
    }
}

/// A product of the smallest shape, with four registers.
fn small(registers: &str) -> String {
    let mnemonic = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16";
    format!("{mnemonic} {{{registers}}}, %da0, %db0, 1, 1, 1, 0, 0;\n")
}

/// Accumulators may be passed from product to product of one shape only.
#[test]
fn accumulators_are_of_one_shape() {
    let message = fails(&mut trial(), |text| {
        text.replace(COMMIT, &small("%d0, %d1, %d2, %d3"))
    });
    let pending = "is the accumulator of a pending product of another shape";
    assert_eq!(message, format!("accumulator register 0 {pending}"));
    let message = fails(&mut trial(), |text| {
        text.replace(WAIT, &format!("{WAIT}{}", small("%d4, %d5, %d6, %d7")))
    });
    let completed = "is of a product of another shape, since the last `wgmma.fence`";
    assert_eq!(message, format!("accumulator register 0 {completed}"));
    // A fence between them, after the wait, is enough.
    let mut trial = trial();
    trial.edit = |text| {
        let next = small("%d4, %d5, %d6, %d7");
        text.replace(WAIT, &format!("{WAIT}{FENCE}{next}{COMMIT}{WAIT}"))
    };
    assert!(trial.run().is_ok());
}

#[test]
fn accumulators_are_no_fragments_of_a() {
    let message = fails(&mut trial(), |text| {
        let next = small("%c0, %c1, %c2, %c3").replace("%da0", "{%d0, %d1, %d2, %d3}");
        text.replace(COMMIT, &next.replace(", 0, 0;", ", 0;"))
    });
    let pending = "register 0 of A is the accumulator of a pending product";
    assert_eq!(message, pending);
    let mut in_registers = Trial::new(Case {
        a_in_registers: true,
        ..trial().case
    });
    let message = fails(&mut in_registers, |text| {
        let next = small("%c0, %c1, %a2, %c3").replace("%da0", "%db0");
        text.replace(COMMIT, &next)
    });
    assert_eq!(
        message,
        "accumulator register 2 is a fragment of A of a pending product"
    );
}

/// A late failure is of the product, not of the wait.
#[test]
fn late_reports_name_the_product() {
    let mut trial = trial();
    trial.descriptors = |[a, b]| [a, b & !0x3fff | (49152 + 1024) >> 4];
    let report = trial.run().unwrap_err();
    let message = "matrix B: 16 bytes at shared address 0xc400 are in no variable";
    assert_eq!(report.message, message);
    assert_eq!(report.instruction.unwrap().1, trial.case.mnemonic());
}
