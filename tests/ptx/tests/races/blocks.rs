//! Accesses of several blocks, and what orders them through memory.

use croq_ptx::machine::Machine;

use crate::{entry, is_ordered, is_ordered_with, launch, races, races_with, together};

/// Each block adds its part; the last one sums all parts.
#[test]
fn the_last_block() {
    let text = "@!%p1 bra END; add.u32 %r2, %c, 100; st.global.u32 [%mine+64], %r2; RELEASE\n\
        ATOM.inc.u32 %r3, [%out], 3; ACQUIRE setp.ne.u32 %p2, %r3, 3; @%p2 bra END;\n\
        ld.global.u32 %r4, [%out+64]; ld.global.u32 %r5, [%out+192]; add.u32 %r4, %r4, %r5; st.global.u32 [%out+4], %r4;\nEND: ret;";
    let with = |release: &str, atom: &str, acquire: &str| {
        let text = text.replace("RELEASE", release).replace("ACQUIRE", acquire);
        text.replace("ATOM", atom)
    };
    let relaxed = "atom.global";
    races(&with("", relaxed, ""), 4, 32);
    races(&with("membar.gl;", relaxed, ""), 4, 32);
    races(&with("", relaxed, "membar.gl;"), 4, 32);
    races(&with("membar.cta;", relaxed, "membar.cta;"), 4, 32);
    races(&with("", "atom.release.gpu.global", ""), 4, 32);
    races(
        &with(
            "fence.acq_rel.gpu;",
            "atom.relaxed.cta.global",
            "fence.acq_rel.gpu;",
        ),
        4,
        32,
    );
    is_ordered(&with("membar.gl;", relaxed, "membar.gl;"), 4, 32);
    is_ordered(&with("fence.acq_rel.gpu;", relaxed, "fence.sc.sys;"), 4, 32);
    is_ordered(&with("", "atom.acq_rel.gpu.global", ""), 4, 32);
    is_ordered(
        &with("fence.acq_rel.gpu;", "atom.acquire.gpu.global", ""),
        4,
        32,
    );
    // The whole block writes; its first thread releases for all of them behind a barrier.
    let whole = "add.u32 %r2, %c, 100; st.global.u32 [%mine+64], %r2; BARRIER @!%p1 bra END;\n\
        atom.acq_rel.gpu.global.inc.u32 %r3, [%out], 3; setp.ne.u32 %p2, %r3, 3; @%p2 bra END;\n\
        ld.global.u32 %r4, [%out+68]; ld.global.u32 %r5, [%out+320]; st.global.u32 [%out+4], %r4;\nEND: ret;";
    races(&whole.replace("BARRIER", ""), 4, 64);
    is_ordered(&whole.replace("BARRIER", "bar.sync 0;"), 4, 64);
}

/// Block 0 writes data and sets a flag; block 1 waits for the flag.
#[test]
fn flags_between_blocks() {
    let text = "@!%p1 bra END; setp.ne.u32 %p2, %c, 0; @%p2 bra WAIT; st.global.u32 [%out+64], 5; BEFORE SET [%out], 1; bra END;\n\
        WAIT: GET %r2, [%out]; setp.eq.u32 %p3, %r2, 0; @%p3 bra WAIT; AFTER ld.global.u32 %r3, [%out+64];\nEND: ret;";
    let with = |[before, set, get, after]: [&str; 4]| {
        let text = text.replace("BEFORE", before).replace("SET", set);
        text.replace("GET", get).replace("AFTER", after)
    };
    let (relaxed_set, relaxed_get) = ("st.relaxed.gpu.global.u32", "ld.relaxed.gpu.global.u32");
    let right = [
        [
            "",
            "st.release.gpu.global.u32",
            "ld.acquire.gpu.global.u32",
            "",
        ],
        ["", "st.release.sys.global.u32", "ld.acquire.gpu.u32", ""],
        [
            "fence.acq_rel.gpu;",
            relaxed_set,
            relaxed_get,
            "fence.acq_rel.gpu;",
        ],
        [
            "membar.gl;",
            "st.volatile.global.u32",
            "ld.volatile.global.u32",
            "membar.gl;",
        ],
        ["membar.gl;", relaxed_set, "ld.acquire.gpu.global.u32", ""],
        [
            "",
            "st.release.gpu.global.u32",
            relaxed_get,
            "fence.acq_rel.gpu;",
        ],
    ];
    let wrong = [
        ["", relaxed_set, relaxed_get, ""],
        ["fence.acq_rel.gpu;", relaxed_set, relaxed_get, ""],
        ["", relaxed_set, relaxed_get, "fence.acq_rel.gpu;"],
        ["", relaxed_set, "ld.acquire.gpu.global.u32", ""],
        ["", "st.release.gpu.global.u32", relaxed_get, ""],
        [
            "",
            "st.release.cta.global.u32",
            "ld.acquire.cta.global.u32",
            "",
        ],
        [
            "",
            "st.release.gpu.global.u32",
            "ld.acquire.cta.global.u32",
            "",
        ],
        [
            "",
            "st.release.cta.global.u32",
            "ld.acquire.gpu.global.u32",
            "",
        ],
        [
            "fence.acq_rel.cta;",
            relaxed_set,
            relaxed_get,
            "fence.acq_rel.gpu;",
        ],
        [
            "fence.acq_rel.gpu;",
            "st.global.u32",
            relaxed_get,
            "fence.acq_rel.gpu;",
        ],
        [
            "fence.acq_rel.gpu;",
            relaxed_set,
            "ld.global.u32",
            "fence.acq_rel.gpu;",
        ],
    ];
    for parts in right {
        is_ordered_with(&with(parts), together(2, 32));
    }
    for parts in wrong {
        races_with(&with(parts), together(2, 32));
    }
    // Within one block, `.cta` is enough.
    let block = text
        .replace("%p1", "%p4")
        .replace("setp.ne.u32 %p2, %c, 0;", "setp.ne.u32 %p2, %t, 0;");
    let block = format!("setp.lt.u32 %p4, %t, 2; {block}");
    let block = |set: &str, get: &str| {
        let text = block.replace("BEFORE", "").replace("AFTER", "");
        text.replace("SET", set).replace("GET", get)
    };
    is_ordered(&block("st.release.cta.u32", "ld.acquire.cta.u32"), 1, 32);
    races(&block("st.relaxed.cta.u32", "ld.relaxed.cta.u32"), 1, 32);
}

/// A read-modify-write by another thread continues what a release began; a store does not.
#[test]
fn chains_of_writes() {
    let text = "@!%p1 bra END; setp.eq.u32 %p2, %c, 1; @%p2 bra MIDDLE; setp.eq.u32 %p2, %c, 2; @%p2 bra LAST;\n\
        st.global.u32 [%out+64], 5; st.release.gpu.u32 [%out], 1; bra END;\n\
        MIDDLE: ld.relaxed.gpu.u32 %r2, [%out]; setp.ne.u32 %p3, %r2, 1; @%p3 bra MIDDLE; NEXT; bra END;\n\
        LAST: ld.acquire.gpu.u32 %r2, [%out]; setp.ne.u32 %p3, %r2, 2; @%p3 bra LAST; ld.global.u32 %r3, [%out+64];\nEND: ret;";
    let with = |next: &str| text.replace("NEXT", next);
    is_ordered_with(
        &with("atom.relaxed.gpu.add.u32 %r4, [%out], 1"),
        together(3, 32),
    );
    is_ordered_with(
        &with("red.relaxed.gpu.global.add.u32 [%out], 1"),
        together(3, 32),
    );
    races_with(&with("st.relaxed.gpu.u32 [%out], 2"), together(3, 32));
    races_with(
        &with("red.relaxed.cta.global.add.u32 [%out], 1"),
        together(3, 32),
    );
    races_with(&with("st.release.gpu.u32 [%out], 2"), together(3, 32));
    is_ordered_with(
        &with("fence.acq_rel.gpu; st.release.gpu.u32 [%out], 2"),
        together(3, 32),
    );
}

/// As cooperative groups do it.
#[test]
fn barriers_of_grids() {
    let text = "st.global.u32 [%mine+64], %t; FIRST @!%p1 bra PASSED; BEFORE red.relaxed.gpu.global.add.u32 [%out], 1;\n\
        WAIT: ld.volatile.global.u32 %r2, [%out]; setp.lt.u32 %p2, %r2, 4; @%p2 bra WAIT; AFTER\n\
        PASSED: SECOND xor.b32 %r5, %c, 3; mad.lo.u32 %r5, %r5, %n, %t; mul.wide.u32 %d1, %r5, 4; add.u64 %d1, %d1, %out;\n\
        ld.global.u32 %r6, [%d1+64]; st.shared.u32 [%at], %r6; ret;";
    let with = |[first, before, after, second]: [&str; 4]| {
        let text = text.replace("FIRST", first).replace("BEFORE", before);
        text.replace("AFTER", after).replace("SECOND", second)
    };
    let (barrier, fence) = ("bar.sync 0;", "fence.acq_rel.gpu;");
    is_ordered_with(&with([barrier, fence, fence, barrier]), together(4, 64));
    let none = "";
    for missing in [
        [none, fence, fence, barrier],
        [barrier, none, fence, barrier],
        [barrier, fence, none, barrier],
        [barrier, fence, fence, none],
    ] {
        races_with(&with(missing), together(4, 64));
    }
}

#[test]
fn blocks_of_one_grid() {
    races("@%p1 st.global.u32 [%out], %c; ret;", 4, 32);
    is_ordered("st.global.u32 [%mine], %c; ret;", 4, 32);
    races(
        "ld.global.u32 %r2, [%out]; @%p1 st.global.u32 [%mine], 7; ret;",
        2,
        64,
    );
    is_ordered(
        "ld.global.u32 %r2, [%out+4096]; @%p1 st.global.u32 [%mine], 7; ret;",
        2,
        64,
    );
    // What a block has read is never seen by a later one.
    let late = "setp.ne.u32 %p2, %c, 3; @%p2 bra READ; @%p1 st.global.u32 [%out+WHERE], 9; ret;\nREAD: ld.global.u32 %r2, [%out+128]; ld.global.u32 %r2, [%mine+132]; ret;";
    races(&late.replace("WHERE", "128"), 4, 64);
    races(&late.replace("WHERE", "140"), 4, 64);
    is_ordered(&late.replace("WHERE", "0"), 4, 64);
    // Launches are ordered.
    let mut machine = Machine::load(&entry("@%p1 st.global.u32 [%out], %c; ret;")).unwrap();
    let out = machine.allocate("out", 64);
    for _ in 0..3 {
        machine
            .launch("k", &launch(1, 32, 0), &[&out.to_le_bytes()])
            .unwrap();
    }
}
