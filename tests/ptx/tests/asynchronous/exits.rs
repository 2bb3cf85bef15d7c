//! Blocks of a cluster that exit before others have finished with their shared memory, or before a
//! copy of theirs to another block, each beside the right program. They are found in every mode and
//! with every seed, whichever block happens to end first.

use croq_ptx::machine::{Asynchrony, Launch};

use crate::clusters::{SYNC, launch, pair};
use crate::mbarriers::wait;
use crate::{Data, MODES, execute};

fn launches() -> impl Iterator<Item = Launch> {
    let seeds = (1..6).map(|seed| Launch {
        seed,
        ..launch(2, Asynchrony::Seeded)
    });
    MODES.into_iter().map(|mode| launch(2, mode)).chain(seeds)
}

/// Right with `end` before each thread's end, and wrong without.
fn needs(end: &str, statements: &str) {
    for mut launch in launches() {
        launch.checks.unwritten = false;
        let right = execute(
            &pair(&format!("{statements} {end} ret;")),
            launch,
            &Data::default(),
        );
        right.unwrap_or_else(|report| panic!("{report}\n{launch:?}\n{statements}"));
        let wrong = execute(
            &pair(&format!("{statements} ret;")),
            launch,
            &Data::default(),
        );
        let message = match wrong {
            Err(report) => report.message,
            Ok(_) => panic!("no report with {launch:?} of\n{statements}"),
        };
        let known = [
            "exits, and nothing orders before that",
            "which has exited",
            "has exited",
            "exits while a bulk copy",
        ];
        assert!(
            known.iter().any(|words| message.contains(words)),
            "{message}"
        );
    }
}

/// `%p1` in the first thread, which initialises two mbarriers for one arrival each; `%p2` in the block with
/// rank 0; `%r1` the address of the thread's word, `%r3` that of the other block's.
fn start() -> String {
    format!(
        "setp.eq.u32 %p1, %t, 0; setp.eq.u32 %p2, %r10, 0; shl.b32 %r1, %t, 2; add.u32 %r1, %r1, %tile;\n\
         mapa.shared::cluster.u32 %r3, %r1, %r11; mapa.shared::cluster.u32 %r4, %bar, %r11;\n\
         @%p1 mbarrier.init.shared.b64 [%bar], 1; @%p1 mbarrier.init.shared.b64 [%bar+8], 1; st.shared.u32 [%r1], %t;\n\
         fence.mbarrier_init.release.cluster; fence.proxy.async; {SYNC}"
    )
}

#[test]
fn accesses_of_other_blocks() {
    for access in [
        "ld.shared::cluster.u32 %r5, [%r3]; st.global.u32 [%mine], %r5;",
        "st.shared::cluster.u32 [%r3], 7;",
        "atom.shared::cluster.add.u32 %r5, [%r3], 5;",
        "red.relaxed.cluster.shared::cluster.add.u32 [%r3], 5;",
        // Only one block accesses the other.
        "@%p2 st.shared::cluster.u32 [%r3], 7;",
        // The same bytes as before.
        "@%p2 st.shared::cluster.u32 [%r3], %t;",
    ] {
        needs(SYNC, &format!("{} {access}", start()));
    }
    // A relaxed arrival does not order a store.
    let relaxed = SYNC.replace("arrive.release", "arrive.relaxed");
    let store = format!(
        "{} @%p2 st.shared::cluster.u32 [%r3], 7; {relaxed}",
        start()
    );
    needs(SYNC, &store);
}

/// A block arrives at the mbarrier of the other, and that waits for it: also where the arrival and the
/// wait order no memory of the other block.
#[test]
fn arrivals_at_other_blocks() {
    let waits = format!("@%p2 bra END; {} END:", wait("%bar", 0, "A"));
    for form in [
        "mbarrier.arrive.release.cluster.shared::cluster",
        "mbarrier.arrive.shared::cluster",
        "mbarrier.arrive.relaxed.cluster.shared::cluster",
    ] {
        for rank in [0, 1] {
            let arrives = format!(
                "{} setp.eq.u32 %p2, %r10, {rank}; and.pred %p3, %p1, %p2; @%p3 {form}.b64 _, [%r4];",
                start()
            );
            needs(&waits, &arrives);
            needs(SYNC, &arrives);
        }
    }
}

/// Block 0 loads 128 bytes for both, and each waits for its part.
#[test]
fn multicast_loads() {
    let loads = format!(
        "{} @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 128; mov.b16 %h1, 3;\n\
         {SYNC} and.pred %p3, %p1, %p2;\n\
         @%p3 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster\n\
         [%tile], [%in], 128, [%bar], %h1;",
        start()
    );
    let waits = wait("%bar", 0, "A");
    // Nobody waits: in the late mode the copies go on when the blocks exit.
    needs(&format!("{waits} {SYNC}"), &loads);
    // Block 0 may exit before the copy to block 1 is complete, though its own part is.
    needs(SYNC, &format!("{loads} {waits}"));
    // Block 1 says so when it is, at another mbarrier.
    let says = format!(
        "@%p2 bra W; @%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r4+8]; bra E;\n\
         W: {} E:",
        wait("%bar+8", 0, "B")
    );
    needs(&says, &format!("{loads} {waits}"));
    // Not if it says so too early.
    let early = format!("{loads} {says} {waits}");
    needs(SYNC, &early);
}

/// From the memory of block 0 to that of block 1, which waits.
#[test]
fn copies_from_exited_blocks() {
    let copies = format!(
        "{} @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 128;\n\
         {SYNC} and.pred %p3, %p1, %p2;\n\
         @%p3 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes\n\
         [%r3+128], [%tile], 128, [%r4]; @%p2 bra END; {} END:",
        start(),
        wait("%bar", 0, "A")
    );
    needs(SYNC, &copies);
}
