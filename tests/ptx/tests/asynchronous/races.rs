//! Programs in which something is missing between threads, asynchronous copies and other blocks,
//! each beside the right one.

use croq_ptx::machine::{Asynchrony, Launch};

use crate::mbarriers::wait;
use crate::{Data, MODES, block, entry, execute};

fn launches(blocks: u32, threads: u32) -> impl Iterator<Item = Launch> {
    let launch = move |mode, seed| Launch {
        grid: [blocks, 1, 1],
        seed,
        ..block(threads, mode)
    };
    let seeded = (1..4).map(move |seed| launch(Asynchrony::Seeded, seed));
    MODES
        .into_iter()
        .map(move |mode| launch(mode, 0))
        .chain(seeded)
}

fn is_ordered_in(directives: &str, statements: &str, (blocks, threads): (u32, u32)) {
    for mut launch in launches(blocks, threads) {
        launch.checks.unwritten = false;
        let result = execute(&entry(directives, statements), launch, &Data::default());
        result.unwrap_or_else(|report| panic!("{report}\n{launch:?}\n{statements}"));
    }
}

fn races_in(directives: &str, statements: &str, (blocks, threads): (u32, u32)) {
    for mut launch in launches(blocks, threads) {
        launch.checks.unwritten = false;
        match execute(&entry(directives, statements), launch, &Data::default()) {
            Err(report) => {
                let message = &report.message;
                assert!(
                    message.contains("a data race") || message.contains("by a proxy fence"),
                    "{report}"
                );
                assert!(report.related.is_some(), "{report}");
            }
            Ok(_) => panic!("no race with {launch:?} in\n{statements}"),
        }
    }
}

fn is_ordered(statements: &str, threads: u32) {
    is_ordered_in("", statements, (1, threads));
}

fn races(statements: &str, threads: u32) {
    races_in("", statements, (1, threads));
}

/// `%p1` in the first thread, `%r1` the address of the thread's word in the tile.
const START: &str = "setp.eq.u32 %p1, %t, 0; shl.b32 %r1, %t, 2; add.u32 %r1, %r1, %tile;\n";

#[test]
fn proxy_fences_before_stores() {
    let text = |before: &str, after: &str| {
        format!(
            "{START} st.shared.u32 [%r1], %t; {before} bar.sync 0; {after} @!%p1 bra END;\n\
             cp.async.bulk.global.shared::cta.bulk_group [%out], [%tile], 256;\n\
             cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\nEND: ret;"
        )
    };
    races(&text("", ""), 64);
    races(&text("membar.cta;", ""), 64);
    races(&text("@%p1 fence.proxy.async;", ""), 64);
    is_ordered(&text("fence.proxy.async;", ""), 64);
    is_ordered(&text("fence.proxy.async.shared::cta;", ""), 64);
    // For another state space.
    races(&text("fence.proxy.async.global;", ""), 64);
    // The issuing thread has seen all writes when it executes its fence.
    is_ordered(&text("", "@%p1 fence.proxy.async;"), 64);
}

#[test]
fn sources_of_stores() {
    let text = |wait: &str, sync: &str| {
        format!(
            "{START} st.shared.u32 [%r1], %t; fence.proxy.async; bar.sync 0;\n\
             @%p1 cp.async.bulk.global.shared::cta.bulk_group [%out], [%tile], 256;\n\
             @%p1 cp.async.bulk.commit_group; {wait} {sync} st.shared.u32 [%r1], 99;\n\
             cp.async.bulk.wait_group 0; bar.sync 0; ld.global.u32 %r2, [%mine]; ret;"
        )
    };
    is_ordered(&text("cp.async.bulk.wait_group.read 0;", "bar.sync 0;"), 64);
    is_ordered(&text("cp.async.bulk.wait_group 0;", "bar.sync 0;"), 64);
    races(&text("", "bar.sync 0;"), 64);
    races(&text("cp.async.bulk.wait_group.read 1;", "bar.sync 0;"), 64);
    races(&text("cp.async.bulk.wait_group.read 0;", ""), 64);
    // The result is read by threads that have not waited for it.
    let result = text("cp.async.bulk.wait_group.read 0;", "bar.sync 0;");
    races(
        &result
            .replace("cp.async.bulk.wait_group 0; bar.sync 0;", "bar.sync 0;")
            .replace("[%mine]; ret;", "[%mine]; cp.async.bulk.wait_group 0; ret;"),
        64,
    );
}

const LOAD: &str = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%tile], [%in], 256, [%bar];\n";

#[test]
fn loads() {
    let text = |init: &str, wait: &str| {
        format!(
            "{START} @%p1 mbarrier.init.shared.b64 [%bar], 1; {init} @!%p1 bra WAITS;\n\
             mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 256; {LOAD}\
             WAITS: {wait} ld.shared.u32 %r2, [%r1]; st.global.u32 [%mine], %r2; ret;"
        )
    };
    let waits = wait("%bar", 0, "A");
    is_ordered(&text("bar.sync 0;", &waits), 64);
    races(
        &text("bar.sync 0;", &format!("ld.shared.u32 %r6, [%r1]; {waits}")),
        64,
    );
    races(
        &text("bar.sync 0;", &format!("@%p1 bra SKIP; {waits} SKIP:")),
        64,
    );
    // A wait by one thread and a barrier.
    is_ordered(
        &text(
            "bar.sync 0;",
            &format!("@!%p1 bra SKIP; {waits} SKIP: bar.sync 0;"),
        ),
        64,
    );
    races(
        &text("bar.sync 0;", &format!("@!%p1 bra SKIP; {waits} SKIP:")),
        64,
    );
}

/// Whoever has waited for a copy may invalidate its mbarrier.
#[test]
fn mbarriers_that_end() {
    let text = |sync: &str| {
        format!(
            "{START} @%p1 mbarrier.init.shared.b64 [%bar], 1; bar.sync 0; @!%p1 bra WAITS;\n\
             mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 256; {LOAD}\
             WAITS: {} {sync} setp.eq.u32 %p2, %t, 40; @%p2 mbarrier.inval.shared.b64 [%bar]; ret;",
            wait("%bar", 0, "A")
        )
    };
    is_ordered(&text("bar.sync 0;"), 64);
    races(&text(""), 64);
}

/// The buffer is filled a second time.
#[test]
fn buffers_in_use() {
    let text = |release: &str, acquire: &str| {
        format!(
            "{START} @%p1 mbarrier.init.shared.b64 [%bar], 1; @%p1 mbarrier.init.shared.b64 [%bar+8], 64; bar.sync 0; @!%p1 bra FIRST;\n\
             mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 256; {LOAD} FIRST: {} ld.shared.u32 %r2, [%r1]; {release} @!%p1 bra SECOND;\n\
             {acquire} mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 256; {LOAD} SECOND: {} ld.shared.u32 %r3, [%r1]; ret;",
            wait("%bar", 0, "A"),
            wait("%bar", 1, "B"),
        )
    };
    let (arrive, waits) = (
        "mbarrier.arrive.shared::cta.b64 _, [%bar+8];",
        wait("%bar+8", 0, "C"),
    );
    is_ordered(&text(arrive, &waits), 64);
    // Reads are complete when a thread arrives, released or not.
    let relaxed = "mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [%bar+8];";
    is_ordered(&text(relaxed, &waits), 64);
    is_ordered(&text("bar.sync 0;", ""), 64);
    races(&text("", ""), 64);
    races(&text(arrive, ""), 64);
    // A write needs a release, and a proxy fence before the copy.
    let write = |fence: &str, arrive: &str| {
        text(&format!("st.shared.u32 [%r1], 7; {fence} {arrive}"), &waits)
    };
    is_ordered(&write("fence.proxy.async;", arrive), 64);
    races(&write("", arrive), 64);
    races(&write("fence.proxy.async;", relaxed), 64);
}

/// One lane arrives for its warp, with the number of its threads as the count.
#[test]
fn arrivals_for_a_warp() {
    let text = |before: &str, meet: &str| {
        format!(
            "{START} @%p1 mbarrier.init.shared.b64 [%bar], 1; @%p1 mbarrier.init.shared.b64 [%bar+8], 64; bar.sync 0; @!%p1 bra FIRST;\n\
             mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 256; {LOAD} FIRST: {} {before} {meet} and.b32 %r4, %t, 31; setp.eq.u32 %p2, %r4, 0;\n\
             @%p2 mbarrier.arrive.shared::cta.b64 _, [%bar+8], 32; @!%p1 bra SECOND;\n\
             {} mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 256; {LOAD} SECOND: {} ld.shared.u32 %r3, [%r1]; ret;",
            wait("%bar", 0, "A"),
            wait("%bar+8", 0, "C"),
            wait("%bar", 1, "B"),
        )
    };
    let (read, meet) = ("ld.shared.u32 %r2, [%r1];", "bar.warp.sync -1;");
    is_ordered(&text(read, meet), 64);
    // The lane that arrives releases its own accesses alone.
    races(&text(read, ""), 64);
    races(&text("", &format!("{meet} {read}")), 64);
    // Each lane's own fence comes before the barrier of the warp.
    let write = |before: &str, after: &str| {
        text(
            &format!("st.shared.u32 [%r1], 7; {before}"),
            &format!("{meet} {after}"),
        )
    };
    let fence = "fence.proxy.async;";
    is_ordered(&write(fence, ""), 64);
    races(&write("", ""), 64);
    races(&text(&format!("st.shared.u32 [%r1], 7; {fence}"), ""), 64);
}

#[test]
fn small_copies() {
    let text = |wait: &str| {
        format!(
            "{START} mul.wide.u32 %d1, %t, 4; add.u64 %d1, %d1, %in; cp.async.ca.shared.global [%r1], [%d1], 4;\n\
             cp.async.commit_group; {wait} xor.b32 %r2, %t, 63; shl.b32 %r2, %r2, 2; add.u32 %r2, %r2, %tile;\n\
             ld.shared.u32 %r3, [%r2]; ret;"
        )
    };
    is_ordered(&text("cp.async.wait_group 0; bar.sync 0;"), 64);
    is_ordered(&text("cp.async.wait_all; bar.sync 0;"), 64);
    races(&text("bar.sync 0;"), 64);
    races(&text("cp.async.wait_group 1; bar.sync 0;"), 64);
    races(&text("cp.async.wait_group 0;"), 64);
    races(&text("@%p1 cp.async.wait_group 0; bar.sync 0;"), 64);
}

#[test]
fn initialised_mbarriers() {
    let text = |sync: &str| {
        format!(
            "{START} @%p1 mbarrier.init.shared.b64 [%bar], 64; {sync} mbarrier.arrive.shared::cta.b64 _, [%bar]; {} ret;",
            wait("%bar", 0, "A")
        )
    };
    is_ordered(&text("bar.sync 0;"), 64);
    races(&text("setp.eq.u32 %p3, %t, 99; @%p3 trap;"), 64);
    races(&text("bar.warp.sync -1;"), 64);
}

const CLUSTER: &str = ".reqnctapercluster 2, 1, 1";

/// The first block of each cluster writes into the memory of the second, and arrives there.
#[test]
fn arrivals_at_other_blocks() {
    let text = |sync: &str, arrive: &str, acquire: &str| {
        format!(
            "{START} mov.u32 %r10, %cluster_ctarank; @%p1 mbarrier.init.shared.b64 [%bar], 1; {sync} setp.ne.u32 %p2, %r10, 0; @%p2 bra SECOND;\n\
             @!%p1 bra END; mov.u32 %r11, 1; mapa.shared::cluster.u32 %r3, %tile, %r11; mapa.shared::cluster.u32 %r4, %bar, %r11;\n\
             st.shared::cluster.u32 [%r3], 5; {arrive} _, [%r4]; bra END;\n\
             SECOND: {} ld.shared.u32 %r5, [%tile];\nEND: {SYNC} ret;",
            wait("%bar", 0, "A").replace("try_wait.parity", &format!("try_wait.parity{acquire}")),
        )
    };
    let arrive = |how: &str| format!("mbarrier.arrive{how}.shared::cluster.b64");
    let (release, acquire) = (arrive(".release.cluster"), ".acquire.cluster");
    let two = (4, 32);
    is_ordered_in(CLUSTER, &text(SYNC, &release, acquire), two);
    races_in(CLUSTER, &text(SYNC, &release, ""), two);
    races_in(CLUSTER, &text(SYNC, &arrive(""), acquire), two);
    races_in(
        CLUSTER,
        &text(SYNC, &arrive(".relaxed.cluster"), acquire),
        two,
    );
    races_in(CLUSTER, &text(SYNC, &release, ".relaxed.cluster"), two);
    // The objects must be known to the other block.
    let relaxed = "barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.acquire.aligned;\n";
    let fenced = format!("@%p1 fence.mbarrier_init.release.cluster; bar.warp.sync -1; {relaxed}");
    is_ordered_in(CLUSTER, &text(&fenced, &release, acquire), two);
    races_in(CLUSTER, &text(relaxed, &release, acquire), two);
}

const SYNC: &str =
    "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;\n";

#[test]
fn barriers_of_clusters() {
    let text = |sync: &str| {
        format!(
            "{START} mov.u32 %r10, %cluster_ctarank; xor.b32 %r11, %r10, 1; st.shared.u32 [%r1], %t; {sync}\n\
             mapa.shared::cluster.u32 %r3, %r1, %r11; ld.shared::cluster.u32 %r4, [%r3]; {SYNC} st.shared.u32 [%r1], 7; ret;"
        )
    };
    is_ordered_in(CLUSTER, &text(SYNC), (4, 64));
    races_in(
        CLUSTER,
        &text(&SYNC.replace(".release", ".relaxed")),
        (4, 64),
    );
    races_in(CLUSTER, &text("bar.sync 0;"), (4, 64));
    let last = text(SYNC);
    let end = last.rfind(SYNC).unwrap();
    let without = format!("{}{}", &last[..end], &last[end + SYNC.len()..]);
    races_in(
        CLUSTER,
        &without.replace("7; ret;", &format!("7; {SYNC} ret;")),
        (4, 64),
    );
}

/// The first block loads for both, again and again. The other block arrives at its mbarrier at the
/// scope of a block, as CUTLASS's consumers do.
#[test]
fn slots_that_are_filled_again() {
    let text = |in_second: &str, in_first: &str| {
        format!(
            "{START} mov.u32 %r10, %cluster_ctarank; mov.u32 %r11, 0; mov.u32 %r12, 1; mov.b16 %h1, 3;\n\
             @%p1 mbarrier.init.shared.b64 [%bar], 1; @%p1 mbarrier.init.shared.b64 [%bar+8], 32; {SYNC}\n\
             mapa.shared::cluster.u32 %r3, %bar, %r11; mapa.shared::cluster.u32 %r4, %tile, %r12; setp.ne.u32 %p2, %r10, 0;\n\
             @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 256; @%p2 bra SECOND;\n\
             @%p1 {MULTICAST} {first}\n\
             {again} {in_first} bra END;\n\
             SECOND: {in_second}\nEND: {SYNC} ret;",
            first = wait("%bar", 0, "A"),
            again = wait("%bar+8", 0, "B"),
        )
    };
    let arrive = "mbarrier.arrive.shared::cluster.b64 _, [%r3+8];";
    let waits = wait("%bar", 0, "C");
    let second = format!(
        "{waits} ld.shared.u32 %r5, [%r1]; @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 256;\n\
         {arrive} {} ld.shared.u32 %r6, [%r1];",
        wait("%bar", 1, "D")
    );
    let first = format!(
        "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 256; @%p1 {MULTICAST} {}",
        wait("%bar", 1, "E")
    );
    let two = (4, 32);
    is_ordered_in(CLUSTER, &text(&second, &first), two);
    let relaxed = second.replace("arrive.shared", "arrive.relaxed.cluster.shared");
    is_ordered_in(CLUSTER, &text(&relaxed, &first), two);
    // The thread that arrives has not waited for the first copy.
    let early = second.replace(arrive, "");
    races_in(CLUSTER, &text(&format!("{arrive} {early}"), &first), two);
    // Its own writes need the scope of the cluster.
    let writes = second.replacen(
        "ld.shared.u32 %r5, [%r1];",
        "st.shared.u32 [%r1], 9; fence.proxy.async;",
        1,
    );
    races_in(CLUSTER, &text(&writes, &first), two);
    let release = writes.replace(
        "arrive.shared::cluster",
        "arrive.release.cluster.shared::cluster",
    );
    let acquire = |text: String| {
        text.replace(
            "WAITB: mbarrier.try_wait.parity",
            "WAITB: mbarrier.try_wait.parity.acquire.cluster",
        )
    };
    is_ordered_in(CLUSTER, &acquire(text(&release, &first)), two);
    // Accesses by the generic proxy need it, too.
    let arrives = format!("{waits} {arrive}");
    for access in [
        "ld.shared::cluster.u32 %r7, [%r4];",
        "st.shared::cluster.u32 [%r4], 7;",
    ] {
        let access = format!("@%p1 {access}");
        races_in(CLUSTER, &text(&arrives, &access), two);
        let release = arrives.replace(
            "arrive.shared::cluster",
            "arrive.release.cluster.shared::cluster",
        );
        is_ordered_in(CLUSTER, &acquire(text(&release, &access)), two);
    }
    // And copies to global memory.
    let store = "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%out], [%tile], 256;\n\
        @%p1 cp.async.bulk.commit_group; @%p1 cp.async.bulk.wait_group 0;";
    let stores = format!("{waits} {store} {arrive}");
    races_in(CLUSTER, &text(&stores, store), (2, 32));
    let release = stores.replace(
        "arrive.shared::cluster",
        "arrive.release.cluster.shared::cluster",
    );
    is_ordered_in(CLUSTER, &acquire(text(&release, store)), (2, 32));
}

const MULTICAST: &str = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%tile], [%in], 256, [%bar], %h1;\n";

/// A multicast reads its source once, so behind the wait for its own part a block may store there.
#[test]
fn sources_of_multicast_loads() {
    let text = |early: &str, late: &str| {
        format!(
            "{START} mov.u32 %r10, %cluster_ctarank; @%p1 mbarrier.init.shared.b64 [%bar], 1;\n\
             @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 256; mov.b16 %h1, 3;\n\
             fence.mbarrier_init.release.cluster; {SYNC}\n\
             setp.eq.u32 %p2, %r10, 0; and.pred %p3, %p1, %p2; mul.wide.u32 %d1, %t, 4; add.u64 %d1, %d1, %in;\n\
             @%p3 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster\n\
             [%tile], [%in], 256, [%bar], %h1;\n\
             {early} {} {late} {SYNC} ret;",
            wait("%bar", 0, "A")
        )
    };
    let pair = (".reqnctapercluster 2, 1, 1", (2, 32));
    for store in [
        "@%p2 st.global.u32 [%d1], 7;",
        "@!%p2 st.global.u32 [%d1+128], 7;",
    ] {
        is_ordered_in(pair.0, &text("", store), pair.1);
        races_in(pair.0, &text(store, ""), pair.1);
    }
}
