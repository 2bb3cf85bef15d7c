//! `mbarrier`

use croq_ptx::machine::Asynchrony;

use crate::{MODES, block, fails, is_refused, run};

/// Waits in a loop for a phase, with a label that ends in `name`.
pub fn wait(bar: &str, parity: u32, name: &str) -> String {
    format!(
        "WAIT{name}: mbarrier.try_wait.parity.shared::cta.b64 %p8, [{bar}], {parity};\n\
         @!%p8 bra WAIT{name};\n"
    )
}

fn one(statements: &str) -> String {
    fails(statements, block(1, Asynchrony::Late))
}

/// Warp 1 stores what warp 0 reads once the mbarrier says so, and back.
#[test]
fn threads_wait_for_arrivals() {
    let text = format!(
        "setp.eq.u32 %p1, %t, 0; @%p1 mbarrier.init.shared.b64 [%bar], 32;\n\
         @%p1 mbarrier.init.shared.b64 [%bar+8], 32; bar.sync 0;\n\
         and.b32 %r1, %t, 31; shl.b32 %r2, %r1, 2; add.u32 %r2, %r2, %tile;\n\
         setp.lt.u32 %p2, %t, 32; @%p2 bra READS;\n\
         add.u32 %r3, %r1, 100; st.shared.u32 [%r2], %r3; mbarrier.arrive.shared.b64 _, [%bar];\n\
         {}ld.shared.u32 %r4, [%r2]; bra END;\n\
         READS: {}xor.b32 %r5, %r2, 124; ld.shared.u32 %r4, [%r5];\n\
         st.shared.u32 [%r5], 7; mbarrier.arrive.release.cta.shared::cta.b64 %state, [%bar+8];\n\
         END: st.global.u32 [%mine], %r4; ret;",
        wait("%bar+8", 0, "A"),
        wait("%bar", 0, "B"),
    );
    for mode in MODES {
        let found = run(&text, block(64, mode));
        assert_eq!(found[..32], (100..132).rev().collect::<Vec<u32>>());
        assert_eq!(found[32..], [7; 32]);
    }
}

/// An arrival's state names its phase; the phase after it is not waited for.
#[test]
fn states_and_counts() {
    let text = "mbarrier.init.shared::cta.b64 [%bar], 5;\n\
        mbarrier.arrive.noComplete.release.cta.shared::cta.b64 %state, [%bar], 2;\n\
        mbarrier.pending_count.b64 %r1, %state;\n\
        mbarrier.test_wait.acquire.cta.shared::cta.b64 %p1, [%bar], %state;\n\
        mbarrier.arrive.shared.b64 %d1, [%bar], 3;\n\
        mbarrier.test_wait.shared.b64 %p2, [%bar], %state;\n\
        mbarrier.try_wait.shared.b64 %p3, [%bar], %d1, 1000;\n\
        selp.u32 %r2, 10, 0, %p1; selp.u32 %r3, 100, 0, %p2; selp.u32 %r4, 1000, 0, %p3;\n\
        add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3; add.u32 %r1, %r1, %r4;\n\
        st.global.u32 [%mine], %r1; ret;";
    assert_eq!(run(text, block(1, Asynchrony::Late)), [1105]);
}

#[test]
fn drops_and_invalid_objects() {
    // After one drop of two arrivals, each phase needs one.
    let text = format!(
        "mbarrier.init.shared.b64 [%bar], 2; mbarrier.arrive_drop.shared.b64 _, [%bar];\n\
         mbarrier.arrive.shared.b64 _, [%bar]; {}mbarrier.arrive.shared.b64 _, [%bar]; {}\n\
         mbarrier.inval.shared.b64 [%bar]; st.shared.u64 [%bar], 0; ld.shared.u32 %r1, [%bar];\n\
         mbarrier.init.shared.b64 [%bar], 1; st.global.u32 [%mine], %r1; ret;",
        wait("%bar", 0, "A"),
        wait("%bar", 1, "B"),
    );
    assert_eq!(run(&text, block(1, Asynchrony::Late)), [0]);
}

#[test]
fn generic_addresses() {
    let text = "cvt.u64.u32 %d1, %bar; cvta.shared.u64 %d1, %d1;\n\
        mbarrier.init.b64 [%d1], 1; mbarrier.arrive.b64 %state, [%d1];\n\
        mbarrier.test_wait.b64 %p1, [%d1], %state; selp.u32 %r1, 1, 0, %p1;\n\
        st.global.u32 [%mine], %r1; ret;";
    assert_eq!(run(text, block(1, Asynchrony::Late)), [1]);
}

/// Bytes that a thread completes by itself.
#[test]
fn transactions_without_copies() {
    let text = format!(
        "mbarrier.init.shared.b64 [%bar], 1;\n\
         mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%bar], 48;\n\
         mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 16;\n\
         mbarrier.test_wait.parity.shared.b64 %p1, [%bar], 0;\n\
         mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%bar], 64; {}\n\
         selp.u32 %r1, 1, 2, %p1; st.global.u32 [%mine], %r1; ret;",
        wait("%bar", 0, "A"),
    );
    assert_eq!(run(&text, block(1, Asynchrony::Late)), [2]);
}

#[test]
fn misuse_is_reported() {
    let none = "there is no mbarrier object";
    assert!(one("mbarrier.arrive.shared.b64 _, [%bar]; ret;").contains(none));
    assert!(one("mbarrier.inval.shared.b64 [%bar]; ret;").contains(none));
    assert!(one("mbarrier.try_wait.parity.shared.b64 %p1, [%bar], 0; ret;").contains(none));
    let init = "mbarrier.init.shared.b64 [%bar], 1;\n";
    let with = |text: &str| one(&format!("{init}{text} ret;"));
    assert!(with(init).contains("mbarrier.inval is missing"));
    assert!(one("mbarrier.init.shared.b64 [%bar], 0; ret;").contains("count of 0"));
    assert!(one("mbarrier.init.shared.b64 [%bar], 1048576; ret;").contains("count of 1048576"));
    assert!(one("mbarrier.init.shared.b64 [%bar+4], 1; ret;").contains("not a multiple of 8"));
    assert!(one("mbarrier.init.b64 [%out], 1; ret;").contains("not in shared memory"));
    assert!(with("mbarrier.arrive.shared.b64 _, [%bar], 2;").contains("2 arrivals"));
    assert!(with("mbarrier.arrive.shared.b64 _, [%bar], 0;").contains("count of 0"));
    let completes = "mbarrier.arrive.noComplete.shared.b64 %state, [%bar], 1;";
    assert!(with(completes).contains("completes the phase"));
    for access in [
        "ld.shared.u32 %r1, [%bar+4];",
        "st.shared.u8 [%bar+7], %r1;",
        "atom.shared.add.u32 %r1, [%bar], 1;",
        "ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [%bar];",
        "cp.async.ca.shared.global [%bar], [%in], 4;",
        "cp.async.bulk.global.shared::cta.bulk_group [%out], [%bar], 16;",
    ] {
        assert!(
            with(access).contains("part of the mbarrier object"),
            "{access}"
        );
    }
    let state =
        "mbarrier.init.shared.b64 [%bar+8], 1; mbarrier.arrive.shared.b64 %state, [%bar];\n";
    let with_state = |text: &str| with(&format!("{state}{text}"));
    let other = "mbarrier.test_wait.shared.b64 %p1, [%bar+8], %state;";
    assert!(with_state(other).contains("another mbarrier object"));
    assert!(with_state("mbarrier.pending_count.b64 %r1, %state;").contains(".noComplete"));
    assert!(with("mbarrier.test_wait.shared.b64 %p1, [%bar], %in;").contains("no state"));
    assert!(with("mbarrier.test_wait.parity.shared.b64 %p1, [%bar], 2;").contains("parity 2"));
    let twice = "mbarrier.arrive.shared.b64 _, [%bar]; mbarrier.arrive.shared.b64 _, [%bar];";
    assert!(with(twice).contains("no test_wait or try_wait has"));
    let bytes = "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%bar], 1048576;";
    assert!(with(bytes).contains("out of its range"));
}

/// The places of all threads that wait, long before the limit of instructions.
#[test]
fn deadlocks_name_the_mbarrier() {
    let text = format!(
        "setp.eq.u32 %p1, %t, 0; @%p1 mbarrier.init.shared.b64 [%bar], 64; bar.sync 0;\n\
         setp.eq.u32 %p1, %t, 5; @!%p1 mbarrier.arrive.shared.b64 _, [%bar]; {} ret;",
        wait("%bar", 0, "A"),
    );
    let found = fails(&text, block(64, Asynchrony::Late));
    assert!(
        found.starts_with("no thread of the block can go on"),
        "{found}"
    );
    let place = "for the mbarrier at shared address 0x10400, in phase 0 with 1 pending arrivals and \
                 0 missing bytes";
    assert_eq!(found.matches(place).count(), 2, "{found}");
    // A loop on test_wait is a deadlock as well.
    let tested = text.replace("try_wait", "test_wait");
    assert!(fails(&tested, block(64, Asynchrony::Late)).contains(place));
}

/// A thread that gives up waiting does what others wait for.
#[test]
fn waits_have_time_limits() {
    let text = format!(
        "setp.eq.u32 %p1, %t, 0; @%p1 mbarrier.init.shared.b64 [%bar], 1;\n\
         @%p1 mbarrier.init.shared.b64 [%bar+8], 1; bar.sync 0;\n\
         setp.ge.u32 %p2, %t, 32; @%p2 bra OTHERS;\n\
         mbarrier.try_wait.parity.shared.b64 %p3, [%bar], 0, 100; @%p3 bra END;\n\
         @%p1 mbarrier.arrive.shared.b64 _, [%bar+8]; {} bra END;\n\
         OTHERS: {} setp.eq.u32 %p1, %t, 32; @%p1 mbarrier.arrive.shared.b64 _, [%bar];\n\
         END: st.global.u32 [%mine], 3; ret;",
        wait("%bar", 0, "A"),
        wait("%bar+8", 0, "B"),
    );
    assert_eq!(run(&text, block(64, Asynchrony::Late)), [3; 64]);
}

#[test]
fn unknown_forms_are_refused() {
    for text in [
        "mbarrier.init.shared::cluster.b64 [%bar], 1;",
        "mbarrier.try_wait.parity.shared::cluster.b64 %p1, [%bar], 0;",
        "mbarrier.arrive.shared::cluster.b64 %state, [%bar];",
        "mbarrier.arrive.noComplete.expect_tx.shared.b64 %state, [%bar], 1;",
        "mbarrier.expect_tx.release.cta.shared::cta.b64 [%bar], 1;",
    ] {
        assert!(is_refused(text), "{text}");
    }
}
