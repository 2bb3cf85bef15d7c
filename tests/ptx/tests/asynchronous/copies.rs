//! `cp.async`

use croq_ptx::machine::{Asynchrony, Launch};

use crate::mbarriers::wait;
use crate::{MODES, block, fails, is_refused, run, unchecked};

/// Each thread copies 16 bytes, with one word fewer than its index says.
#[test]
fn sources_may_be_shorter() {
    let text = "shl.b32 %r1, %t, 4; add.u32 %r2, %tile, %r1; mul.wide.u32 %d1, %t, 16;\n\
        add.u64 %d1, %d1, %in; and.b32 %r3, %t, 3; shl.b32 %r3, %r3, 2;\n\
        st.shared.v4.u32 [%r2], {9, 9, 9, 9};\n\
        cp.async.cg.shared.global [%r2], [%d1], 16, %r3; cp.async.commit_group;\n\
        cp.async.wait_group 0; ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r2];\n\
        add.u32 %r4, %r4, %r5; add.u32 %r4, %r4, %r6; add.u32 %r4, %r4, %r7;\n\
        st.global.u32 [%mine], %r4; ret;";
    for mode in MODES {
        let sum = |thread: u32| (1..=thread % 4).map(|nth| 4 * thread + nth).sum::<u32>();
        assert_eq!(
            run(text, block(8, mode)),
            (0..8).map(sum).collect::<Vec<u32>>()
        );
    }
}

#[test]
fn predicates_ignore_sources() {
    let text = "shl.b32 %r1, %t, 3; add.u32 %r2, %tile, %r1; mul.wide.u32 %d1, %t, 8;\n\
        add.u64 %d1, %d1, %in; setp.lt.u32 %p1, %t, 2; st.shared.v2.u32 [%r2], {9, 9};\n\
        cp.async.ca.shared::cta.global.L2::128B [%r2], [%d1], 8, %p1; cp.async.wait_all;\n\
        ld.shared.u32 %r4, [%r2+4]; st.global.u32 [%mine], %r4; ret;";
    for mode in MODES {
        assert_eq!(run(text, block(4, mode)), [0, 0, 6, 8]);
    }
}

/// Two groups; waiting for all but one completes the first. As late as allowed, the second has not
/// been copied, and it is read when it is waited for.
#[test]
fn groups_complete_in_their_order() {
    let text = "cp.async.ca.shared.global [%tile], [%in], 4; cp.async.commit_group;\n\
        cp.async.ca.shared.global [%tile+4], [%in+4], 4; cp.async.commit_group;\n\
        cp.async.wait_group 1; ld.shared.v2.u32 {%r1, %r2}, [%tile];\n\
        st.global.u32 [%in+4], 70; cp.async.wait_group 0; ld.shared.u32 %r3, [%tile+4];\n\
        mad.lo.u32 %r1, %r1, 100, %r2; mad.lo.u32 %r1, %r1, 100, %r3;\n\
        st.global.u32 [%mine], %r1; ret;";
    assert_eq!(run(text, unchecked(block(1, Asynchrony::Late))), [10070]);
    assert_eq!(run(text, unchecked(block(1, Asynchrony::AtOnce))), [10202]);
    let seeded = |seed| {
        let launch = Launch {
            seed,
            ..block(1, Asynchrony::Seeded)
        };
        run(text, unchecked(launch))[0]
    };
    let mut found: Vec<u32> = (0..60).map(seeded).collect();
    found.sort_unstable();
    found.dedup();
    // Read early and written early; read early and written late; both late.
    assert_eq!(found, [10002, 10070, 10202]);
}

/// Without a wait the old bytes are read, and a wait by another thread changes nothing.
#[test]
fn data_before_the_wait_are_old() {
    let text = "setp.eq.u32 %p1, %t, 0; @%p1 cp.async.ca.shared.global [%tile], [%in], 4;\n\
        cp.async.commit_group; @!%p1 cp.async.wait_group 0; bar.sync 0;\n\
        ld.shared.u32 %r1, [%tile]; st.global.u32 [%mine], %r1; ret;";
    assert_eq!(run(text, unchecked(block(64, Asynchrony::Late))), [0; 64]);
    assert_eq!(run(text, unchecked(block(64, Asynchrony::AtOnce))), [1; 64]);
    let right = text.replace("@!%p1 cp.async.wait", "cp.async.wait");
    assert_eq!(run(&right, block(64, Asynchrony::Late)), [1; 64]);
}

/// `.noinc`: the arrivals are among those that the mbarrier was initialised with.
#[test]
fn mbarriers_track_copies() {
    for (count, form) in [(32, ".noinc"), (1, "")] {
        let text = format!(
            "setp.eq.u32 %p1, %t, 0; @%p1 mbarrier.init.shared.b64 [%bar], {count}; bar.sync 0;\n\
             shl.b32 %r1, %t, 2; add.u32 %r2, %tile, %r1; mul.wide.u32 %d1, %t, 4;\n\
             add.u64 %d1, %d1, %in; cp.async.ca.shared.global [%r2], [%d1], 4;\n\
             cp.async.mbarrier.arrive{form}.shared::cta.b64 [%bar];\n\
             setp.eq.u32 %p2, %t, {count}; @%p2 mbarrier.arrive.shared.b64 _, [%bar];\n\
             {} xor.b32 %r2, %r2, 124; ld.shared.u32 %r3, [%r2]; st.global.u32 [%mine], %r3; ret;",
            wait("%bar", 0, "A"),
        );
        for mode in MODES {
            let expected: Vec<u32> = (1..=32).rev().collect();
            assert_eq!(run(&text, block(32, mode)), expected, "{mode:?} {form}");
        }
    }
}

#[test]
fn misuse_is_reported() {
    let one = |text: &str| fails(&format!("{text} ret;"), block(1, Asynchrony::Late));
    let short = one("cp.async.ca.shared.global [%tile], [%in], 4, 8;");
    assert_eq!(short, "8 source bytes of a copy of 4");
    let source = one("cp.async.cg.shared.global [%tile], [%in+8], 16;");
    assert!(source.contains("the source address") && source.contains("a multiple of 16"));
    let target = one("cp.async.ca.shared.global [%tile+4], [%in], 8;");
    assert!(target.contains("the destination address"));
    assert!(one("cp.async.ca.shared.global [%tile], [%in+65536], 4;").contains("`in`"));
    let outside = one("cp.async.ca.shared.global [%tile+65600], [%in], 4;");
    assert!(outside.contains("in no variable"), "{outside}");
    // Nothing is read there.
    let nothing = "cp.async.ca.shared.global [%tile], [%in+65536], 4, 0; cp.async.wait_all; ret;";
    assert_eq!(run(nothing, block(1, Asynchrony::Late)), [0]);
}

#[test]
fn unknown_forms_are_refused() {
    for text in [
        "cp.async.cg.shared.global [%tile], [%in], 8;",
        "cp.async.ca.shared.global [%tile], [%in], 12;",
        "cp.async.ca.shared::cluster.global [%tile], [%in], 4;",
        "cp.async.ca.shared.global [%tile], [%in], 4, 4, 4;",
        "cp.async.wait_group.read 0;",
    ] {
        assert!(is_refused(text), "{text}");
    }
}
