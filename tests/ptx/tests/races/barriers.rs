//! Barriers of blocks and of warps.

use crate::{exchange, is_ordered, races};

#[test]
fn barriers_of_blocks() {
    for threads in [32, 64, 128] {
        races(&exchange(""), 2, threads);
        races(&exchange("bar.arrive 1, 128;"), 2, 128);
        for barrier in [
            "bar.sync 0;",
            "barrier.sync 3;",
            "bar.red.popc.u32 %r9, 1, %p1;",
        ] {
            is_ordered(&exchange(barrier), 2, threads);
        }
    }
    // A second iteration overwrites what others may still read.
    let twice = |end: &str| {
        let body = "st.shared.u32 [%at], %r5; bar.sync 0; ld.shared.u32 %r4, [tile+4];";
        format!("mov.u32 %r5, 7; {body} {end} mov.u32 %r5, 9; {body} ret;")
    };
    races(&twice(""), 1, 64);
    is_ordered(&twice("bar.sync 0;"), 1, 64);
}

#[test]
fn lanes_of_a_warp() {
    races(&exchange(""), 1, 32);
    races(
        &exchange("shfl.sync.idx.b32 %r9, %t, 0, 31, -1; vote.sync.any.pred %p2, %p1, -1;"),
        1,
        32,
    );
    races(
        &exchange("bar.warp.sync 0x0000ffff;")
            .replace("bar.warp", "setp.lt.u32 %p3, %t, 16; @%p3 bar.warp"),
        1,
        32,
    );
    is_ordered(&exchange("bar.warp.sync -1;"), 1, 32);
    races(&exchange("bar.warp.sync -1;"), 1, 64);
    // Two halves, each for itself.
    let halves = "st.shared.u32 [%at], %t; setp.lt.u32 %p3, %t, 16; @%p3 bra LOW; bar.warp.sync 0xffff0000; bra NEXT;\n\
        LOW: bar.warp.sync 0xffff; NEXT: mov.u32 %r3, tile; xor.b32 %r2, %t, MASK; shl.b32 %r2, %r2, 2; add.u32 %r3, %r3, %r2; ld.shared.u32 %r4, [%r3]; ret;";
    is_ordered(&halves.replace("MASK", "15"), 1, 32);
    races(&halves.replace("MASK", "16"), 1, 32);
}

#[test]
fn named_barriers() {
    // Warps 0 and 1 write, warps 2 and 3 read.
    let text = "setp.lt.u32 %p2, %t, 64; @%p2 bra PRODUCE;\nWAIT ld.shared.u32 %r4, [tile]; ld.shared.u32 %r4, [%at+-256]; ret;\n\
        PRODUCE: st.shared.u32 [%at], 5; ARRIVE ret;";
    let with = |wait: &str, arrive: &str| text.replace("WAIT", wait).replace("ARRIVE", arrive);
    is_ordered(&with("bar.sync 3, 128;", "bar.arrive 3, 128;"), 2, 128);
    is_ordered(&with("bar.sync 3, 128;", "bar.sync 3, 128;"), 2, 128);
    races(&with("bar.sync 3, 64;", "bar.sync 4, 64;"), 2, 128);
    races(&with("bar.arrive 3, 128;", "bar.sync 3, 128;"), 2, 128);
    // The producers go on after they have arrived.
    let after = with("bar.sync 3, 128;", "bar.arrive 3, 128; AGAIN");
    races(&after.replace("AGAIN", "st.shared.u32 [%at], 6;"), 2, 128);
    let answered = after.replace(
        "ld.shared.u32 %r4, [%at+-256];",
        "ld.shared.u32 %r4, [%at+-256]; bar.arrive 4, 128;",
    );
    is_ordered(
        &answered.replace("AGAIN", "bar.sync 4, 128; st.shared.u32 [%at], 6;"),
        2,
        128,
    );
}
