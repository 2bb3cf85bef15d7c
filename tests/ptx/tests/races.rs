//! Programs with a data race, each beside one in which something orders the accesses.

use croq_ptx::machine::{Launch, Machine, Report};

/// An entry with `%t` the thread's index, `%c` the block's and `%mine` the address of the thread's
/// word of `out`; `%at` is that of its word in shared memory.
fn entry(statements: &str) -> String {
    format!(
        ".version 9.0\n.target sm_90a\n.address_size 64\n.shared .align 16 .b8 tile[4096];\n\
         .visible .entry k(.param .u64 out)\n{{\n.reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<29>; .reg .b64 %d<9>;\n\
         .reg .b32 %t; .reg .b32 %c; .reg .b32 %n; .reg .b32 %at; .reg .b64 %out; .reg .b64 %mine;\n\
         ld.param.u64 %out, [out]; mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; mov.u32 %n, %ntid.x;\n\
         mad.lo.u32 %r1, %c, %n, %t; mul.wide.u32 %mine, %r1, 4; add.u64 %mine, %mine, %out;\n\
         shl.b32 %at, %t, 2; mov.u32 %r1, tile; add.u32 %at, %at, %r1; setp.eq.u32 %p1, %t, 0;\n{statements}\n}}\n"
    )
}

const SEEDS: u64 = 3;

fn launch(blocks: u32, threads: u32, seed: u64) -> Launch {
    Launch {
        grid: [blocks, 1, 1],
        block: [threads, 1, 1],
        seed,
        ..Launch::default()
    }
}

fn run(statements: &str, launch: &Launch) -> Result<(), Report> {
    let mut machine = Machine::load(&entry(statements)).unwrap_or_else(|error| panic!("{error}"));
    let out = machine.allocate("out", 8192);
    let mut launch = *launch;
    // Values do not matter here.
    launch.checks.unwritten = false;
    machine
        .launch("k", &launch, &[&out.to_le_bytes()])
        .map(|_| ())
}

/// Blocks one after the other, and all together.
fn all(blocks: u32, threads: u32) -> impl Iterator<Item = Launch> {
    let alone = (0..SEEDS).map(move |seed| launch(blocks, threads, seed));
    let together = (0..SEEDS).map(move |seed| Launch {
        is_cooperative: true,
        ..launch(blocks, threads, seed)
    });
    alone.chain(together)
}

fn races_with(statements: &str, launches: impl Iterator<Item = Launch>) {
    for launch in launches {
        match run(statements, &launch) {
            Err(report) => assert!(report.message.starts_with("a data race at"), "{report}"),
            Ok(()) => panic!("no race with {launch:?} in\n{statements}"),
        }
    }
}

fn is_ordered_with(statements: &str, launches: impl Iterator<Item = Launch>) {
    for launch in launches {
        run(statements, &launch)
            .unwrap_or_else(|report| panic!("{report}\n{launch:?}\n{statements}"));
    }
}

fn races(statements: &str, blocks: u32, threads: u32) {
    races_with(statements, all(blocks, threads));
}

fn is_ordered(statements: &str, blocks: u32, threads: u32) {
    is_ordered_with(statements, all(blocks, threads));
}

/// For blocks that wait for each other.
fn together(blocks: u32, threads: u32) -> impl Iterator<Item = Launch> {
    all(blocks, threads).filter(|launch| launch.is_cooperative)
}

/// Every thread writes a word and reads that of the thread on the other end of the block.
fn exchange(between: &str) -> String {
    format!(
        "st.shared.u32 [%at], %t; {between} sub.u32 %r2, %n, %t; shl.b32 %r2, %r2, 2; mov.u32 %r3, tile; add.u32 %r3, %r3, %r2;\n\
         ld.shared.u32 %r4, [%r3+-4]; st.global.u32 [%mine], %r4; ret;"
    )
}

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

#[test]
fn atomics_and_weak_accesses() {
    is_ordered(
        "red.shared.add.u32 [tile], 1; red.global.add.u32 [%out], 1; ret;",
        3,
        96,
    );
    for reader in [0, 31, 32, 95] {
        let text = format!(
            "setp.eq.u32 %p2, %t, {reader}; red.shared.add.u32 [tile], 1; BARRIER @%p2 ld.shared.u32 %r2, [tile]; ret;"
        );
        races(&text.replace("BARRIER", ""), 1, 96);
        races(&text.replace("BARRIER", "bar.warp.sync -1;"), 1, 96);
        is_ordered(&text.replace("BARRIER", "bar.sync 0;"), 1, 96);
        is_ordered(
            &text
                .replace("BARRIER", "")
                .replace("ld.shared", "ld.relaxed.cta.shared"),
            1,
            96,
        );
        let global = text.replace("shared.", "global.").replace("tile", "%out");
        races(&global.replace("BARRIER", "bar.sync 0;"), 2, 96);
    }
    races(
        "@%p1 st.shared.u32 [tile], 1; red.shared.add.u32 [tile], 1; ret;",
        1,
        64,
    );
    is_ordered(
        "@%p1 st.shared.u32 [tile], 1; bar.sync 0; red.shared.add.u32 [tile], 1; ret;",
        1,
        64,
    );
    races("red.relaxed.cta.global.add.u32 [%out], 1; ret;", 2, 32);
    is_ordered("red.relaxed.cta.global.add.u32 [%out], 1; ret;", 1, 64);
    // Strong operations of different sizes.
    races(
        "@%p1 red.shared.add.u64 [tile], 1; @!%p1 red.shared.add.u32 [tile], 1; ret;",
        1,
        32,
    );
}

#[test]
fn bytes() {
    let store =
        "mov.u32 %r2, tile; add.u32 %r3, %r2, %t; cvt.u16.u32 %h1, %t; st.shared.u8 [%r3], %h1;";
    is_ordered(&format!("{store} ret;"), 1, 64);
    is_ordered(
        &format!("{store} bar.sync 0; ld.shared.u32 %r4, [tile+4]; ret;"),
        1,
        64,
    );
    races(&format!("{store} ld.shared.u32 %r4, [tile+4]; ret;"), 1, 64);
    is_ordered(&format!("{store} ld.shared.u8 %r4, [%r3]; ret;"), 1, 64);
    races(
        &format!(
            "{store} xor.b32 %r5, %t, 1; add.u32 %r5, %r2, %r5; ld.shared.u8 %r4, [%r5]; ret;"
        ),
        1,
        32,
    );
    let words = "shl.b32 %r4, %t, 1; add.u32 %r4, %r2, %r4; st.shared.u16 [%r4+WHERE], %h1; ret;";
    is_ordered(&format!("{store} {}", words.replace("WHERE", "64")), 1, 64);
    races(&format!("{store} {}", words.replace("WHERE", "32")), 1, 64);
    // Eight bytes reach into the next granule.
    races(
        "shl.b32 %r2, %t, 2; add.u32 %r2, %r2, %at; sub.u32 %r2, %r2, %r1; @%p1 st.shared.v2.u32 [tile], {7, 7}; st.shared.u32 [%at], 9; ret;",
        1,
        32,
    );
}

#[test]
fn stores_of_the_same_value() {
    is_ordered(
        "st.shared.u32 [tile], 7; st.global.u32 [%out], 7; ret;",
        3,
        64,
    );
    races("st.shared.u32 [tile], %t; ret;", 1, 64);
    races(
        "st.shared.u32 [tile], 7; setp.eq.u32 %p2, %t, 63; @%p2 st.shared.u32 [tile], 8; ret;",
        1,
        64,
    );
    // The reader may come before the store that changes the word.
    races(
        "st.shared.u32 [tile], 7; ld.shared.u32 %r2, [tile]; ret;",
        1,
        64,
    );
    is_ordered(
        "st.shared.u32 [tile], 7; bar.sync 0; st.shared.u32 [tile], 7; ld.shared.u32 %r2, [tile]; ret;",
        1,
        64,
    );
}

/// All readers count, not only the last.
#[test]
fn many_readers() {
    for writer in [0, 31, 32, 127] {
        let text = format!(
            "setp.eq.u32 %p2, %t, {writer}; @%p1 st.shared.u32 [tile], 3; bar.sync 0; ld.shared.u32 %r2, [tile]; BARRIER @%p2 st.shared.u32 [tile], 9; ret;"
        );
        races(&text.replace("BARRIER", ""), 1, 128);
        races(&text.replace("BARRIER", "bar.warp.sync -1;"), 1, 128);
        is_ordered(&text.replace("BARRIER", "bar.sync 0;"), 1, 128);
    }
}

#[test]
fn the_read_only_cache() {
    let text = "st.global.u32 [%mine], 5; bar.sync 0; LOAD %r2, [%mine]; ret;";
    let report = run(&text.replace("LOAD", "ld.global.nc.u32"), &launch(1, 32, 0)).unwrap_err();
    assert!(
        report
            .message
            .ends_with("this read through the read-only cache follows a write of the same launch"),
        "{report}"
    );
    is_ordered(&text.replace("LOAD", "ld.global.u32"), 2, 32);
    is_ordered(
        "ld.global.nc.u32 %r2, [%mine]; ld.global.nc.u32 %r3, [%out]; ret;",
        2,
        64,
    );
}

/// Both accesses are named.
#[test]
fn reports() {
    let text = "setp.eq.u32 %p2, %t, 40; @%p2 st.shared.u32 [tile+12], 5;\n@%p1 ld.shared.u32 %r2, [tile+12]; ret;";
    let text = entry(text).replace("setp.eq.u32 %p2", ".loc 1 17 0\nsetp.eq.u32 %p2");
    let text = text.replace(".shared .align", ".file 1 \"a.co\"\n.shared .align");
    let mut machine = Machine::load(&text).unwrap();
    let out = machine.allocate("out", 8192);
    let report = machine
        .launch("k", &launch(2, 64, 0), &[&out.to_le_bytes()])
        .unwrap_err();
    // The first warp is executed first.
    assert_eq!(
        report.message,
        "a data race at offset 12 of `tile` in shared memory: this write is not ordered after an earlier read"
    );
    let place = |report: &Report| {
        (
            report.instruction.clone().unwrap(),
            report.block,
            report.thread,
        )
    };
    assert_eq!(
        place(&report),
        (
            (14, "st.shared.u32".to_owned()),
            Some([0; 3]),
            Some([40, 0, 0])
        )
    );
    let related = report.related.as_ref().unwrap();
    assert_eq!(
        place(related),
        ((15, "ld.shared.u32".to_owned()), Some([0; 3]), Some([0; 3]))
    );
    assert_eq!(related.source, Some(("a.co".to_owned(), 17)));
    let global = run(
        "ld.global.u32 %r2, [%out+20]; bar.sync 0; @%p1 st.global.u32 [%out+20], 3; ret;",
        &launch(3, 32, 0),
    );
    let report = global.unwrap_err();
    assert!(
        report
            .message
            .starts_with("a data race at offset 20 of `out`: this"),
        "{report}"
    );
    assert_ne!(report.block, report.related.unwrap().block);
}

/// Without the check, the programs run.
#[test]
fn the_check_can_be_switched_off() {
    let mut shape = launch(2, 64, 0);
    shape.checks.races = false;
    run(&exchange(""), &shape).unwrap_or_else(|report| panic!("{report}"));
}
