//! Clusters: shared memory of other blocks, their barrier, multicast copies; and register pools.

use croq_ptx::machine::tensor_map::{DataType, TensorMap};
use croq_ptx::machine::{Asynchrony, Launch};

use crate::mbarriers::wait;
use crate::{Data, MODES, block, entry, execute, is_refused, unchecked, words};

/// Clusters of two blocks of 32 threads; `%r10` is the rank, `%r11` that of the other block.
pub fn pair(statements: &str) -> String {
    let text = format!(
        "mov.u32 %r10, %cluster_ctarank; xor.b32 %r11, %r10, 1; mov.u32 %r12, %ctaid.x;\n\
         mad.lo.u32 %r12, %r12, 32, %t; mul.wide.u32 %mine, %r12, 4; add.u64 %mine, %mine, %out;\n\
         {statements}"
    );
    entry(".reqnctapercluster 2, 1, 1", &text)
}

pub fn launch(blocks: u32, asynchrony: Asynchrony) -> Launch {
    Launch {
        grid: [blocks, 1, 1],
        ..block(32, asynchrony)
    }
}

fn run(statements: &str, blocks: u32, asynchrony: Asynchrony) -> Vec<u32> {
    let bytes = execute(
        &pair(statements),
        launch(blocks, asynchrony),
        &Data::default(),
    );
    words(&bytes.unwrap_or_else(|report| panic!("{report}")))[..blocks as usize * 32].to_vec()
}

fn fails(statements: &str) -> String {
    let result = execute(
        &pair(statements),
        launch(2, Asynchrony::Late),
        &Data::default(),
    );
    result.unwrap_err().message
}

pub const SYNC: &str =
    "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;\n";

#[test]
fn memory_of_the_other_block() {
    let text = format!(
        "shl.b32 %r1, %t, 2; add.u32 %r1, %r1, %tile; mad.lo.u32 %r2, %r10, 100, %t;\n\
         st.shared.u32 [%r1], %r2; st.shared.u32 [%r1+128], 0; {SYNC} mapa.shared::cluster.u32 %r3, %r1, %r11;\n\
         ld.shared::cluster.u32 %r4, [%r3]; getctarank.shared::cluster.u32 %r5, %r3;\n\
         mad.lo.u32 %r4, %r5, 1000, %r4; atom.shared::cluster.add.u32 %r6, [%r3+128], 5; {SYNC}\n\
         ld.shared.u32 %r7, [%r1+128]; mad.lo.u32 %r4, %r7, 10000, %r4;\n\
         st.global.u32 [%mine], %r4; ret;"
    );
    let found = run(&text, 4, Asynchrony::Late);
    for (at, word) in found.iter().enumerate() {
        let (other, thread) = (1 - at / 32 % 2, at % 32);
        assert_eq!(*word as usize, 50000 + other * 1100 + thread);
    }
}

#[test]
fn generic_addresses() {
    let text = format!(
        "st.shared.u32 [%tile], %r10; cvt.u64.u32 %d1, %tile; cvta.shared.u64 %d1, %d1;\n\
         mapa.u64 %d2, %d1, %r11; {SYNC} ld.u32 %r1, [%d2]; getctarank.u64 %r2, %d2;\n\
         isspacep.shared::cluster %p1, %d2; isspacep.shared::cta %p2, %d2;\n\
         isspacep.shared::cta %p3, %d1; isspacep.global %p4, %d2;\n\
         selp.u32 %r3, 10, 0, %p1; selp.u32 %r4, 100, 0, %p2; selp.u32 %r5, 1000, 0, %p3;\n\
         add.u32 %r1, %r1, %r3; add.u32 %r1, %r1, %r4; add.u32 %r1, %r1, %r5; @%p4 trap;\n\
         mad.lo.u32 %r1, %r2, 10000, %r1; {SYNC} st.global.u32 [%mine], %r1; ret;"
    );
    let found = run(&text, 2, Asynchrony::Late);
    assert_eq!((found[0], found[32]), (11011, 1010));
}

#[test]
fn special_registers() {
    let text = "mov.u32 %r1, %clusterid.x; mov.u32 %r2, %nclusterid.x; mov.u32 %r3, %cluster_ctaid.x;\n\
        mov.u32 %r4, %cluster_nctarank; mad.lo.u32 %r1, %r1, 10, %r2; mad.lo.u32 %r1, %r1, 10, %r3;\n\
        mad.lo.u32 %r1, %r1, 10, %r4; st.global.u32 [%mine], %r1; ret;";
    let found = run(text, 6, Asynchrony::Late);
    let firsts: Vec<u32> = found.iter().step_by(32).copied().collect();
    assert_eq!(firsts, [302, 312, 1302, 1312, 2302, 2312]);
}

/// Block 1 arrives at the mbarrier of block 0, which waits.
#[test]
fn remote_arrivals() {
    let text = |count: u32, scope: &str| {
        format!(
            "setp.eq.u32 %p1, %t, 0; @%p1 mbarrier.init.shared.b64 [%bar], {count};\n\
             fence.mbarrier_init.release.cluster; {SYNC} setp.eq.u32 %p2, %r10, 0; @%p2 bra WAITS;\n\
             mapa.shared::cluster.u32 %r1, %bar, 0; mapa.shared::cluster.u32 %r2, %tile, 0;\n\
             @%p1 st.shared::cluster.u32 [%r2], 77;\n\
             mbarrier.arrive.release.cluster.{scope}.b64 _, [%r1]; bra END;\n\
             WAITS: {}ld.shared.u32 %r4, [%tile]; st.global.u32 [%mine], %r4;\n\
             END: {SYNC} ret;",
            wait("%bar", 0, "A").replace("parity.shared", "parity.acquire.cluster.shared"),
        )
    };
    for mode in MODES {
        assert_eq!(run(&text(32, "shared::cluster"), 2, mode)[..32], [77; 32]);
    }
    let found = fails(&text(33, "shared::cluster"));
    assert!(
        found.starts_with("no thread of the cluster can go on"),
        "{found}"
    );
    assert!(
        found.contains("block [0, 0, 0] with rank 0, warp 0"),
        "{found}"
    );
    assert!(
        found.contains("at the barrier of the cluster, where 32 threads are missing"),
        "{found}"
    );
    assert!(fails(&text(32, "shared::cta")).contains("in the memory of another block"));
}

#[test]
fn waits_at_other_blocks_are_reported() {
    let text = format!(
        "setp.eq.u32 %p1, %t, 0; @%p1 mbarrier.init.shared.b64 [%bar], 1; {SYNC}\n\
         cvt.u64.u32 %d1, %bar; cvta.shared.u64 %d1, %d1; mapa.u64 %d2, %d1, %r11;\n\
         mbarrier.try_wait.parity.b64 %p2, [%d2], 0; ret;"
    );
    assert!(fails(&text).contains("where only arrivals and counts of bytes are allowed"));
}

/// A block that exits takes its memory with it.
#[test]
fn memory_of_blocks_that_have_exited() {
    let text = format!(
        "{SYNC} setp.eq.u32 %p1, %r10, 1; @%p1 exit;\n\
         mapa.shared::cluster.u32 %r1, %tile, 1; mov.u32 %r2, 0;\n\
         SPIN: add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 5000; @%p2 bra SPIN;\n\
         ld.shared::cluster.u32 %r3, [%r1]; ret;"
    );
    let found = fails(&text);
    assert!(
        found.contains("the block with rank 1, which has exited"),
        "{found}"
    );
}

#[test]
fn misused_cluster_barriers() {
    let twice = "barrier.cluster.arrive; barrier.cluster.arrive; ret;";
    assert!(fails(twice).contains("arrives twice"));
    assert!(fails("barrier.cluster.wait; ret;").contains("has not arrived"));
    let diverged = "setp.lt.u32 %p1, %t, 7; @%p1 barrier.cluster.arrive.aligned; ret;";
    assert!(fails(diverged).contains("diverged"));
    let missing = "setp.eq.u32 %p1, %r10, 0; @%p1 bra A; WAIT: bra WAIT; A: barrier.cluster.arrive;\n\
        barrier.cluster.wait; ret;";
    let text = pair(missing);
    let limited = Launch {
        instruction_limit: 10000,
        ..launch(2, Asynchrony::Late)
    };
    let found = execute(&text, limited, &Data::default())
        .unwrap_err()
        .message;
    assert!(found.contains("goes on after"), "{found}");
    assert!(fails("mapa.shared::cluster.u32 %r1, %tile, 2; ret;").contains("cluster of 2 blocks"));
}

/// Threads that exit are not waited for.
#[test]
fn cluster_barriers_go_on_without_exited_threads() {
    let text = "setp.eq.u32 %p1, %r10, 1; @%p1 exit; barrier.cluster.arrive.relaxed;\n\
        barrier.cluster.wait; st.global.u32 [%mine], 4; ret;";
    assert_eq!(run(text, 2, Asynchrony::Late)[31..33], [4, 0]);
}

/// Each block loads half of a box for both.
#[test]
fn multicast_copies() {
    let text = format!(
        "setp.eq.u32 %p1, %t, 0; @%p1 mbarrier.init.shared.b64 [%bar], 1;\n\
         fence.mbarrier_init.release.cluster; {SYNC} @!%p1 bra WAITS;\n\
         mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 256; mov.b16 %h1, 3;\n\
         shl.b32 %r1, %r10, 7; add.u32 %r2, %tile, %r1; shl.b32 %r3, %r10, 2; mov.b64 %d3, 0;\n\
         cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint\n\
         [%r2], [%map, {{8, %r3}}], [%bar], %h1, %d3;\n\
         WAITS: {}shl.b32 %r4, %t, 2; add.u32 %r4, %r4, %tile; ld.shared.u32 %r5, [%r4];\n\
         ld.shared.u32 %r6, [%r4+128]; mad.lo.u32 %r5, %r6, 1000, %r5; st.global.u32 [%mine], %r5;\n\
         {SYNC} ret;",
        wait("%bar", 0, "A"),
    );
    let data = Data {
        map: Some(|address| {
            let map = TensorMap {
                data_type: DataType::U32,
                rank: 2,
                address,
                extents: [24, 20, 0, 0, 0],
                strides: [96, 0, 0, 0],
                box_extents: [8, 4, 0, 0, 0],
                element_strides: [1; 5],
                ..TensorMap::default()
            };
            map.encode()
        }),
        ..Data::default()
    };
    for mode in MODES {
        let bytes = execute(&pair(&text), launch(2, mode), &data);
        let found = words(&bytes.unwrap_or_else(|report| panic!("{report}")));
        for (at, word) in found.iter().enumerate().take(64) {
            let (row, column) = (at % 32 / 8, at % 8);
            let value = |row: usize| 1 + row * 24 + 8 + column;
            assert_eq!(
                *word as usize,
                value(row) + 1000 * value(row + 4),
                "{mode:?} {at}"
            );
        }
    }
    // Without the second cluster barrier a block may exit before the other copies.
    let end = format!("[%mine], %r5;\n{SYNC} ret;");
    let exits = text
        .replace(&end, "[%mine], %r5; ret;")
        .replace("_, [%bar], 256", "_, [%bar], 128");
    let found = execute(&pair(&exits), unchecked(launch(2, Asynchrony::Late)), &data)
        .unwrap_err()
        .message;
    assert!(
        found.contains("still writes to the shared memory of another"),
        "{found}"
    );
}

/// From the memory of one block to that of the other; an mbarrier there counts the bytes.
#[test]
fn copies_between_blocks() {
    let text = |bar: &str| {
        format!(
            "setp.eq.u32 %p1, %t, 0; @%p1 mbarrier.init.shared.b64 [%bar], 1;\n\
             shl.b32 %r1, %t, 2; add.u32 %r1, %r1, %tile; mad.lo.u32 %r2, %r10, 100, %t;\n\
             st.shared.u32 [%r1], %r2; fence.proxy.async; {SYNC} @!%p1 bra WAITS;\n\
             mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 128;\n\
             mapa.shared::cluster.u32 %r3, %tile, %r11; mapa.shared::cluster.u32 %r4, %bar, %r11;\n\
             cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r3+128], [%tile], 128, [{bar}];\n\
             WAITS: {}ld.shared.u32 %r5, [%r1+128]; st.global.u32 [%mine], %r5; {SYNC} ret;",
            wait("%bar", 0, "A"),
        )
    };
    for mode in MODES {
        let found = run(&text("%r4"), 2, mode);
        assert_eq!(found[..32], (100..132).collect::<Vec<u32>>());
        assert_eq!(found[32..], (0..32).collect::<Vec<u32>>());
    }
    assert!(fails(&text("%bar")).contains("the destination in that of rank"));
}

#[test]
fn launches_are_checked() {
    let text = pair("ret;");
    let message = |launch| {
        execute(&text, launch, &Data::default())
            .unwrap_err()
            .message
    };
    assert!(message(launch(3, Asynchrony::Late)).contains("no multiple of the cluster [2, 1, 1]"));
    let other = Launch {
        cluster: Some([4, 1, 1]),
        ..launch(4, Asynchrony::Late)
    };
    assert!(message(other).contains("`.reqnctapercluster` demands"));
    let given = Launch {
        cluster: Some([2, 1, 1]),
        ..launch(4, Asynchrony::Late)
    };
    let text = entry(
        "",
        "mov.u32 %r1, %is_explicit_cluster; st.global.u32 [%mine], %r1; ret;",
    );
    assert_eq!(
        words(&execute(&text, given, &Data::default()).unwrap())[0],
        1
    );
    let large = Launch {
        cluster: Some([32, 1, 1]),
        ..launch(32, Asynchrony::Late)
    };
    let found = execute(&text, large, &Data::default()).unwrap_err().message;
    assert!(found.contains("at most 16"), "{found}");
}

fn with_registers(directives: &str, statements: &str, threads: u32) -> Result<(), String> {
    let text = entry(directives, statements);
    let result = execute(&text, block(threads, Asynchrony::Late), &Data::default());
    result.map(|_| ()).map_err(|report| report.message)
}

const TWO_GROUPS: &str = ".maxntid 256, 1, 1\n.minnctapersm 2";

/// 128 registers each: one warpgroup gives 40, the other takes them.
#[test]
fn registers_move() {
    let text = |takes: u32| {
        format!(
            "setp.lt.u32 %p1, %t, 128; @%p1 bra TAKES; setmaxnreg.dec.sync.aligned.u32 88; bra END;\n\
             TAKES: setmaxnreg.inc.sync.aligned.u32 {takes}; END: ret;"
        )
    };
    assert_eq!(with_registers(TWO_GROUPS, &text(168), 256), Ok(()));
    assert_eq!(with_registers(".maxnreg 128", &text(168), 256), Ok(()));
    let found = with_registers(TWO_GROUPS, &text(176), 256).unwrap_err();
    assert!(
        found.starts_with("no thread of the block can go on"),
        "{found}"
    );
    assert!(found.contains("for 176 registers, where"), "{found}");
    let found = with_registers("", &text(168), 256).unwrap_err();
    assert!(found.contains("neither .maxnreg nor .maxntid"), "{found}");
}

#[test]
fn misused_registers() {
    let fails = |text: &str| with_registers(TWO_GROUPS, text, 256).unwrap_err();
    let found = fails("setmaxnreg.inc.sync.aligned.u32 120; ret;");
    assert!(
        found.contains("setmaxnreg.inc to 120 registers by a warp that has 128"),
        "{found}"
    );
    let some = "setp.lt.u32 %p1, %t, 96; @%p1 bra LESS; bra END;\n\
        LESS: setmaxnreg.dec.sync.aligned.u32 88; END: ret;";
    assert!(fails(some).contains("without the setmaxnreg that other warps"));
    let diverged = "setp.lt.u32 %p1, %t, 5; @%p1 bra LESS; bra END;\n\
        LESS: setmaxnreg.dec.sync.aligned.u32 88; END: ret;";
    assert!(fails(diverged).contains("diverged"));
    assert!(is_refused("setmaxnreg.dec.sync.aligned.u32 20;"));
    assert!(is_refused("setmaxnreg.dec.sync.aligned.u32 90;"));
}

#[test]
fn fences_and_hints() {
    let text = "fence.proxy.async; fence.proxy.async.global; fence.proxy.async.shared::cta;\n\
        fence.proxy.alias; fence.acq_rel.cluster; fence.sc.sys; fence.acquire.gpu; membar.gl;\n\
        fence.proxy.tensormap::generic.release.gpu; fence.mbarrier_init.release.cluster;\n\
        fence.proxy.tensormap::generic.acquire.cta [%out], 128;\n\
        fence.acquire.sync_restrict::shared::cluster.cluster;\n\
        fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;\n\
        griddepcontrol.wait; griddepcontrol.launch_dependents;\n\
        createpolicy.fractional.L2::evict_first.b64 %d1, 1.0; createpolicy.fractional.L2::evict_last.b64 %d1;\n\
        cp.async.bulk.prefetch.L2.global [%in], 64; prefetch.global.L2 [%in];\n\
        st.global.u32 [%mine], 6; ret;";
    assert_eq!(run(text, 2, Asynchrony::Late)[0], 6);
    for text in [
        "fence.proxy.async.cta;",
        "fence.mbarrier_init.release.cta;",
        "fence.proxy.tensormap::generic.acquire.gpu [%out], 64;",
        "fence.gpu.extra;",
        "griddepcontrol.launch;",
        "createpolicy.range.L2::evict_last.b64 %d1, [%in], 64, 64;",
    ] {
        assert!(is_refused(text), "{text}");
    }
}
