//! `cp.async.bulk` and `cp.reduce.async.bulk`

use croq_ptx::machine::{Asynchrony, Launch};

use crate::mbarriers::wait;
use crate::{Data, MODES, block, entry, execute, fails, is_refused, run, unchecked, words};

/// One thread loads 256 bytes for the block.
fn load(expected: u32, size: u32) -> String {
    format!(
        "setp.eq.u32 %p1, %t, 0; @%p1 mbarrier.init.shared.b64 [%bar], 1;\n\
         fence.mbarrier_init.release.cluster; bar.sync 0; @!%p1 bra WAITS;\n\
         mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%bar], {expected};\n\
         cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%tile], [%in], {size}, [%bar];\n\
         WAITS: {}shl.b32 %r1, %t, 2; add.u32 %r1, %r1, %tile; ld.shared.u32 %r2, [%r1];\n\
         st.global.u32 [%mine], %r2; ret;",
        wait("%bar", 0, "A"),
    )
}

#[test]
fn loads_complete_an_mbarrier() {
    for mode in MODES {
        let found = run(&load(256, 256), block(64, mode));
        assert_eq!(found, (1..=64).collect::<Vec<u32>>());
    }
}

/// Too many or too few bytes are expected.
#[test]
fn wrong_byte_counts_are_deadlocks() {
    for mode in MODES {
        let found = fails(&load(272, 256), block(64, mode));
        assert!(
            found.contains("in phase 0 with 0 pending arrivals and 16 missing bytes"),
            "{found}"
        );
        let found = fails(&load(240, 256), block(64, mode));
        assert!(
            found.contains("0 pending arrivals and -16 missing bytes"),
            "{found}"
        );
    }
}

/// Without `expect_tx` the phase completes at once, and the old bytes are read.
#[test]
fn bytes_that_are_not_expected() {
    let text = load(256, 256).replace("arrive.expect_tx.release", "arrive.release");
    let text = text.replace("_, [%bar], 256;", "_, [%bar];");
    let found = fails(&text, block(64, Asynchrony::Late));
    // The copy is then still under way when the block exits.
    assert!(
        found.contains("still writes to its shared memory"),
        "{found}"
    );
    let read = text.replace("[%mine], %r2; ret;", "[%mine], %r2; WAIT: bra WAIT;");
    let launch = Launch {
        instruction_limit: 5000,
        ..block(64, Asynchrony::Late)
    };
    assert!(fails(&read, launch).contains("goes on after"));
}

/// With the parity of the phase before, the wait is over at once.
#[test]
fn wrong_parities_read_old_bytes() {
    let text = load(256, 256).replace("[%bar], 0;\n", "[%bar], 1;\n");
    let text = text.replace(
        "[%mine], %r2; ret;",
        &format!("[%mine], %r2; bar.sync 0; {} ret;", wait("%bar", 0, "B")),
    );
    assert_eq!(run(&text, unchecked(block(64, Asynchrony::Late))), [0; 64]);
    // If the copy happens at once, the phase is over and the next one is waited for.
    let found = fails(&text, block(64, Asynchrony::AtOnce));
    assert!(
        found.contains("in phase 1 with 1 pending arrivals"),
        "{found}"
    );
}

/// An arrival of one thread of 64 is missing.
#[test]
fn too_few_arrivals_are_deadlocks() {
    let text = load(256, 256).replace("[%bar], 1;\n", "[%bar], 2;\n");
    let found = fails(&text, block(64, Asynchrony::Late));
    assert!(
        found.contains("1 pending arrivals and 0 missing bytes"),
        "{found}"
    );
}

/// While an arrival is missing, a wait does not need the copy: it reads its source after the last one.
#[test]
fn copies_wait_for_the_last_arrival() {
    let text = format!(
        "setp.eq.u32 %p1, %t, 0; @%p1 mbarrier.init.shared.b64 [%bar], 2; bar.sync 0;\n\
         setp.ge.u32 %p2, %t, 32; @%p2 bra LATER; @!%p1 bra WAITS;\n\
         mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 16;\n\
         cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%tile], [%in], 16, [%bar];\n\
         WAITS: {}ld.shared.u32 %r1, [%tile]; bra END;\n\
         LATER: mov.u32 %r1, 0; mov.u32 %r2, 0; SPIN: add.u32 %r2, %r2, 1; setp.lt.u32 %p3, %r2, 5000; @%p3 bra SPIN;\n\
         setp.eq.u32 %p4, %t, 32; @!%p4 bra END; st.global.u32 [%in], 70;\n\
         mbarrier.arrive.shared::cta.b64 _, [%bar];\n\
         END: st.global.u32 [%mine], %r1; ret;",
        wait("%bar", 0, "A"),
    );
    for (mode, word) in [(Asynchrony::Late, 70), (Asynchrony::AtOnce, 1)] {
        let mut launch = block(64, mode);
        // The source is overwritten while it is copied.
        launch.checks.races = false;
        assert_eq!(run(&text, launch)[..32], [word; 32]);
    }
}

/// A pipeline of two buffers, filled by one warp and emptied by two: the arrival counts decide.
fn pipeline(empty_count: u32) -> String {
    let tiles = 6;
    format!(
        "setp.eq.u32 %p1, %t, 0; @!%p1 bra READY;\n\
         mbarrier.init.shared.b64 [%bar], 1; mbarrier.init.shared.b64 [%bar+8], 1;\n\
         mbarrier.init.shared.b64 [%bar+16], {empty_count}; mbarrier.init.shared.b64 [%bar+24], {empty_count};\n\
         READY: bar.sync 0; mov.u32 %r1, 0; mov.u32 %r9, 0; setp.lt.u32 %p2, %t, 32; @!%p2 bra CONSUME;\n\
         @!%p1 bra END;\n\
         PRODUCE: and.b32 %r2, %r1, 1; shr.u32 %r3, %r1, 1; and.b32 %r3, %r3, 1; xor.b32 %r4, %r3, 1;\n\
         shl.b32 %r5, %r2, 3; add.u32 %r5, %r5, %bar; shl.b32 %r6, %r2, 8; add.u32 %r6, %r6, %tile;\n\
         EMPTY: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r5+16], %r4; @!%p3 bra EMPTY;\n\
         mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 256;\n\
         cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r6], [%in], 256, [%r5];\n\
         add.u64 %in, %in, 256; add.u32 %r1, %r1, 1; setp.lt.u32 %p3, %r1, {tiles}; @%p3 bra PRODUCE;\n\
         bra END;\n\
         CONSUME: and.b32 %r2, %r1, 1; shr.u32 %r3, %r1, 1; and.b32 %r3, %r3, 1;\n\
         shl.b32 %r5, %r2, 3; add.u32 %r5, %r5, %bar; shl.b32 %r6, %r2, 8; add.u32 %r6, %r6, %tile;\n\
         FULL: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r5], %r3; @!%p3 bra FULL;\n\
         sub.u32 %r7, %t, 32; shl.b32 %r7, %r7, 2; add.u32 %r7, %r7, %r6; ld.shared.u32 %r8, [%r7];\n\
         add.u32 %r9, %r9, %r8; mbarrier.arrive.shared::cta.b64 _, [%r5+16];\n\
         add.u32 %r1, %r1, 1; setp.lt.u32 %p3, %r1, {tiles}; @%p3 bra CONSUME;\n\
         END: st.global.u32 [%mine], %r9; ret;"
    )
}

#[test]
fn pipelines() {
    for mode in MODES {
        let found = run(&pipeline(64), block(96, mode));
        let sum = |word: u32| (0..6).map(|tile| tile * 64 + word + 1).sum::<u32>();
        assert_eq!(
            found[32..],
            (0..64).map(sum).collect::<Vec<u32>>(),
            "{mode:?}"
        );
    }
    // 63 instead of 64: one arrival too many for a phase.
    let found = fails(&pipeline(63), block(96, Asynchrony::Late));
    assert!(
        found.contains("an arrival in phase 1") || found.contains("1 arrivals at"),
        "{found}"
    );
    let found = fails(&pipeline(65), block(96, Asynchrony::Late));
    assert!(
        found.contains("with 1 pending arrivals and 0 missing bytes"),
        "{found}"
    );
}

/// The source is read at the latest when `.read` says so, and written when its group is complete.
#[test]
fn stores() {
    let text = |wait: &str| {
        format!(
            "st.shared.v4.u32 [%tile], {{5, 6, 7, 8}}; fence.proxy.async.shared::cta;\n\
             cp.async.bulk.global.shared::cta.bulk_group [%out+16], [%tile], 16;\n\
             cp.async.bulk.commit_group; {wait}\n\
             st.shared.v4.u32 [%tile], {{1, 1, 1, 1}}; ld.global.u32 %r1, [%out+16];\n\
             st.global.u32 [%mine], %r1; cp.async.bulk.wait_group 0; ret;"
        )
    };
    let found = |wait: &str, mode| {
        words(
            &execute(
                &entry("", &text(wait)),
                unchecked(block(1, mode)),
                &Data::default(),
            )
            .unwrap(),
        )[..8]
            .to_vec()
    };
    let read = "cp.async.bulk.wait_group.read 0;";
    assert_eq!(found(read, Asynchrony::Late), [0, 0, 0, 0, 5, 6, 7, 8]);
    assert_eq!(
        found("cp.async.bulk.wait_group 0;", Asynchrony::Late),
        [5, 0, 0, 0, 5, 6, 7, 8]
    );
    assert_eq!(found("", Asynchrony::Late), [0, 0, 0, 0, 1, 1, 1, 1]);
    assert_eq!(
        found("cp.async.bulk.wait_group.read 1;", Asynchrony::Late)[4],
        1
    );
    assert_eq!(found("", Asynchrony::AtOnce), [5, 0, 0, 0, 5, 6, 7, 8]);
    // What has been read is written at the end, at the latest; what has not is a report.
    let end = text(read).replace("cp.async.bulk.wait_group 0; ret;", "ret;");
    let bytes = execute(
        &entry("", &end),
        unchecked(block(1, Asynchrony::Late)),
        &Data::default(),
    )
    .unwrap();
    assert_eq!(words(&bytes)[4..8], [5, 6, 7, 8]);
    let end = text("").replace("cp.async.bulk.wait_group 0; ret;", "ret;");
    assert!(fails(&end, block(1, Asynchrony::Late)).contains("still reads its shared memory"));
}

#[test]
fn reductions() {
    let text = "mov.b32 %r1, 0f3F800000; mov.b32 %r2, 0f40000000; mov.b32 %r3, 0f00000001;\n\
        st.global.v4.u32 [%out], {%r1, %r1, %r1, %r3}; st.shared.v4.u32 [%tile], {%r1, %r2, 0, %r3};\n\
        fence.proxy.async; cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%out], [%tile], 16;\n\
        st.global.v4.u32 [%out+16], {5, 5, 5, 5}; st.shared.v4.u32 [%tile+16], {4, 6, -1, 5};\n\
        fence.proxy.async; cp.reduce.async.bulk.global.shared::cta.bulk_group.max.s32 [%out+16], [%tile+16], 16;\n\
        cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; ret;";
    let bytes = execute(
        &entry("", text),
        block(1, Asynchrony::Late),
        &Data::default(),
    )
    .unwrap();
    let floats = [2.0_f32, 3.0, 1.0, 0.0].map(f32::to_bits);
    assert_eq!(words(&bytes)[..4], floats, "subnormals are flushed");
    assert_eq!(words(&bytes)[4..8], [5, 6, 5, 5]);
}

#[test]
fn misuse_is_reported() {
    let init = "mbarrier.init.shared.b64 [%bar], 1;\n";
    let one = |text: &str| fails(&format!("{init}{text} ret;"), block(1, Asynchrony::Late));
    let load = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes";
    assert!(one(&format!("{load} [%tile], [%in], 24, [%bar];")).contains("24 bytes"));
    let target = one(&format!("{load} [%tile+8], [%in], 16, [%bar];"));
    assert!(target.contains("the destination address"));
    assert!(one(&format!("{load} [%tile], [%in+4], 16, [%bar];")).contains("the source address"));
    assert!(one(&format!("{load} [%tile], [%in], 16, [%bar+8];")).contains("no mbarrier object"));
    let outside = one(&format!("{load} [%tile], [%in+65520], 32, [%bar];"));
    assert!(outside.contains("offset 65520 of `in`"), "{outside}");
    let large = one(&format!("{load} [%tile], [%in], 65552, [%bar];"));
    assert!(
        large.contains("asynchronous operation of thread 0"),
        "{large}"
    );
    let invalid = format!("{load} [%tile], [%in], 16, [%bar]; mbarrier.inval.shared.b64 [%bar];");
    assert!(one(&invalid).contains("mbarrier.inval while"));
    let mask = format!(
        "mov.b16 %h1, 2; {} [%tile], [%in], 16, [%bar], %h1;",
        load.to_owned() + ".multicast::cluster"
    );
    assert!(one(&mask).contains("multicast to the blocks 0b10 of a cluster of 1"));
}

#[test]
fn unknown_forms_are_refused() {
    for text in [
        "cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%out], [%tile], 16, %h1;",
        "cp.async.bulk.global.global.bulk_group [%out], [%in], 16;",
        "cp.async.bulk.shared::cluster.global.bulk_group [%tile], [%in], 16;",
        "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%out], [%tile], 16;",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f16 [%out], [%tile], 16;",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.inc.u64 [%out], [%tile], 16;",
    ] {
        assert!(is_refused(text), "{text}");
    }
}
