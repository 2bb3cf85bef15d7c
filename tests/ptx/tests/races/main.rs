//! Programs with a data race, each beside one in which something orders the accesses.

mod accesses;
mod barriers;
mod blocks;

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
