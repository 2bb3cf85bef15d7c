//! Programs, and the places of their barriers.

use crate::ir::{BarrierReason, BarrierScope, Kernel, Stmt, StmtKind};
use crate::sema::testing;

/// The first kernel of `text` after the pass.
fn kernel(text: &str) -> Kernel {
    let mut function = testing::function_after(text, "barriers");
    function.kernels.swap_remove(0)
}

/// One word for each relevant statement; nested ones in braces.
fn outline(stmts: &[Stmt]) -> String {
    let words: Vec<String> = stmts
        .iter()
        .filter_map(|stmt| {
            Some(match &stmt.kind {
                StmtKind::Barrier { scope, why } => {
                    let scope = match scope {
                        BarrierScope::Grid => "GRID",
                        BarrierScope::Cluster => "CLUSTER",
                        BarrierScope::Block => "BLOCK",
                        BarrierScope::Warpgroup => "GROUP4",
                        BarrierScope::Warp => "WARP",
                        _ => "NAMED",
                    };
                    let why = match why {
                        BarrierReason::Written => "written".to_owned(),
                        BarrierReason::ReadAfterWrite(name) => format!("read:{name}"),
                        BarrierReason::WriteAfterRead(name) => format!("reuse:{name}"),
                        BarrierReason::WriteAfterWrite(name) => format!("rewrite:{name}"),
                        BarrierReason::MakesRoom { before, then } => {
                            format!("room:{before}:{then}")
                        }
                        BarrierReason::RegionEnd => "end".to_owned(),
                        BarrierReason::Opaque => "opaque".to_owned(),
                        BarrierReason::Initialised => "ready".to_owned(),
                        BarrierReason::DeclaredAgain(name) => format!("new({name})"),
                        BarrierReason::NextLoad => "load".to_owned(),
                        BarrierReason::Arrivals => "arrivals".to_owned(),
                        BarrierReason::Observed(name) => format!("behind({name})"),
                        BarrierReason::Registers => "registers".to_owned(),
                    };
                    format!("{scope}({why})")
                }
                StmtKind::Copy(_) => "copy".to_owned(),
                StmtKind::WaitTma { .. } => "wait".to_owned(),
                StmtKind::Trigger(_) => "trigger".to_owned(),
                StmtKind::Fence(_) => "fence".to_owned(),
                StmtKind::Fill { .. } => "fill".to_owned(),
                StmtKind::Store { .. } => "store".to_owned(),
                StmtKind::Atomic(_) => "atomic".to_owned(),
                StmtKind::Eval(_) => "call".to_owned(),
                StmtKind::For { body, .. } => format!("for {{ {} }}", outline(body)),
                StmtKind::While { prelude, body, .. } => {
                    format!("while {{ {} do {} }}", outline(prelude), outline(body))
                }
                StmtKind::If {
                    then, otherwise, ..
                } if otherwise.is_empty() => {
                    format!("if {{ {} }}", outline(then))
                }
                StmtKind::If {
                    then, otherwise, ..
                } => {
                    format!(
                        "if {{ {} }} else {{ {} }}",
                        outline(then),
                        outline(otherwise)
                    )
                }
                StmtKind::Parallel { body, .. } => format!("par {{ {} }}", outline(body)),
                StmtKind::SingleThread { body, .. } => format!("once {{ {} }}", outline(body)),
                StmtKind::Region { body, .. } => format!("region {{ {} }}", outline(body)),
                _ => return None,
            })
        })
        .collect();
    words.join(" ")
}

fn barriers(body: &str) -> String {
    outline(&kernel(body).body)
}

#[test]
fn an_element_wise_kernel_has_none() {
    let k = kernel(
        "__co__ f32 [M, N] f(f32 [M, N] x) {
           f32 [M, N] y;
           parallel r by M : block
             parallel c by 64 : thread
               foreach k in [cdiv(N, 64)]
                 if (k # c < N) y.at(r, k # c) = x.at(r, k # c) + 1.0f;
           return y;
         }",
    );
    assert_eq!(outline(&k.body), "par { for { if { store } } }");
    assert!(!k.waits);
}

#[test]
fn a_tile_is_complete_before_it_is_read() {
    let k = kernel(
        "__co__ f32 [M, 64] scale(f32 [M, 64] src, f32 gain) {
           f32 [M, 64] dst;
           parallel r by cdiv(M, 8) : block {
             strip = dma.copy src.subspan(8, 64).at(r, 0) => shared;
             parallel {j, i} by [64, 8] : thread {
               if (r # i < M) dst.at(r # i, j) = strip.data.at(i, j) * gain;
             }
           }
           return dst;
         }",
    );
    assert_eq!(
        outline(&k.body),
        "copy BLOCK(read:strip) par { if { store } }"
    );
    assert!(k.waits);
}

#[test]
fn the_tiled_product_needs_two_barriers_per_iteration() {
    let text = |m: &str, n: &str| {
        format!(
            "__co__ auto mm(f32 [{m}, 128] lhs, f32 [128, {n}] rhs) {{
               f32 [{m}, {n}] out;
               parallel {{px, py}} by [{m} / 16, {n} / 16] : block {{
                 foreach k in [8] {{
                   a = dma.copy lhs.chunkat(px, k) => shared;
                   b = dma.copy rhs.chunkat(k, py) => shared;
                   parallel {{qx, qy}} by [16, 16] : thread
                     foreach i in [16]
                       out.at(px # qx, py # qy) += a.data.at(qx, i) * b.data.at(i, qy);
                 }}
               }}
               return out;
             }}"
        )
    };
    let expected = "for { BLOCK(reuse:a) copy copy BLOCK(read:a) par { for { store } } }";
    assert_eq!(barriers(&text("64", "96")), expected);
}

#[test]
fn block_copies_in_a_thread_body_need_block_barriers() {
    let outline = barriers(
        "__co__ auto f(f32 [64, 64] x) {
           f32 [64, 64] y;
           parallel r by 4 : block {
             shared f32 [16, 16] tile;
             parallel {i, j} by [16, 16] : thread {
               foreach k in [4] {
                 dma.copy x.chunkat(r, k) => tile;
                 y.at(r # j, k # i) = tile.at(i, j);
               }
             }
           }
           return y;
         }",
    );
    assert_eq!(
        outline,
        "par { for { BLOCK(reuse:tile) copy BLOCK(read:tile) store } }"
    );
}

#[test]
fn a_thread_may_read_its_own_writes() {
    let body = |index: &str| {
        format!(
            "__co__ auto f(f32 [512] x) {{
               f32 [512] y;
               parallel b by 2 : block {{
                 shared f32 [8, 32] tile;
                 parallel {{j, i}} by [32, 8] : thread tile.at(i, j) = x.at(b * 256 + i * 32 + j);
                 parallel {{m, n}} by [32, 8] : thread y.at(b * 256 + n * 32 + m) = tile.at({index});
               }}
               return y;
             }}"
        )
    };
    assert_eq!(barriers(&body("n, m")), "par { store } par { store }");
    assert_eq!(
        barriers(&body("7 - n, m")),
        "par { store } BLOCK(read:tile) par { store }"
    );
    assert_eq!(
        barriers(&body("n, 0")),
        "par { store } BLOCK(read:tile) par { store }"
    );
}

#[test]
fn threads_of_a_warp_wait_for_their_warp() {
    let outline = barriers(
        "__co__ auto f(s32 [256] x) {
           s32 [256] y;
           parallel b by 2 : block {
             parallel w by 4 : group {
               tile = dma.copy x.chunk(8).at(b * 4 + w) => shared;
               parallel t by 32 : thread y.at(b * 128 + w * 32 + t) = tile.data.at(31 - t);
             }
           }
           return y;
         }",
    );
    assert_eq!(outline, "par { copy WARP(read:tile) par { store } }");
}

#[test]
fn slots_of_an_array_are_disjoint() {
    let outline = barriers(
        "__co__ auto f(s32 [64] x) {
           s32 [64] y;
           parallel by 1 : block {
             shared s32 [32] ring[2];
             dma.copy x.chunk(2).at(0) => ring[0];
             parallel t by 32 : thread y.at(t) = ring[0].at(31 - t);
             dma.copy x.chunk(2).at(1) => ring[1];
             parallel u by 32 : thread y.at(32 + u) = ring[1].at(31 - u);
           }
           return y;
         }",
    );
    assert_eq!(
        outline,
        "copy BLOCK(read:ring) par { store } copy BLOCK(read:ring) par { store }"
    );
}

#[test]
fn a_ring_needs_one_barrier_per_iteration() {
    let text = |slots: u32| {
        format!(
            "__co__ auto f(s32 [8, 32] x) {{
               s32 [8, 32] y;
               parallel by 1 : block {{
                 shared s32 [32] ring[{slots}];
                 foreach k in [8] {{
                   dma.copy x.subspan(1, 32).at(k, 0).span_as(32) => ring[k % {slots}];
                   parallel t by 32 : thread y.at(k, t) = ring[k % {slots}].at(31 - t);
                 }}
               }}
               return y;
             }}"
        )
    };
    assert_eq!(
        barriers(&text(2)),
        "for { copy BLOCK(read:ring) par { store } }"
    );
    assert_eq!(
        barriers(&text(1)),
        "for { BLOCK(reuse:ring) copy BLOCK(read:ring) par { store } }"
    );
}

#[test]
fn accesses_without_barriers_stay_pending_for_many_iterations() {
    // Only the third iteration accesses the elements that the first one wrote.
    let outline = barriers(
        "__co__ auto f(s32 [64] x) {
           s32 [64] y;
           parallel by 1 : block {
             shared s32 [128] a;
             foreach k in [4]
               parallel t by 16 : thread {
                 a.at(k * 32 + t) = x.at(t);
                 if (k > 1) y.at(t) = a.at((k - 2) * 32 + 15 - t);
               }
           }
           return y;
         }",
    );
    assert_eq!(outline, "for { BLOCK(read:a) par { store if { store } } }");
}

#[test]
fn conflicts_between_iterations_get_barriers() {
    let outline = barriers(
        "__co__ auto f(s32 [64] x) {
           s32 [64] y;
           parallel by 1 : block {
             shared s32 [64] a;
             parallel t by 64 : thread a.at(t) = x.at(t);
             foreach k in [6] {
               parallel t by 64 : thread y.at(t) = a.at(63 - t);
               parallel t by 64 : thread a.at(t) = y.at(t) + k;
             }
           }
           return y;
         }",
    );
    assert_eq!(
        outline,
        "par { store } for { BLOCK(read:a) par { store } BLOCK(reuse:a) par { store } }"
    );
}

#[test]
fn single_thread_statements_are_in_program_order() {
    let outline = barriers(
        "__co__ auto f(s32 [64] x) {
           s32 [64] y;
           parallel by 1 : block {
             shared s32 [2] n;
             n.at(0) = 1;
             n.at(1) = 2;
             n.at(0) += 3;
             parallel t by 64 : thread y.at(t) = x.at(t) + n.at(0);
           }
           return y;
         }",
    );
    assert!(
        outline.ends_with("BLOCK(read:n) par { store }"),
        "{outline}"
    );
    assert_eq!(outline.matches("BLOCK").count(), 1, "{outline}");
}

#[test]
fn a_plain_inthreads_ends_with_a_barrier() {
    let outline = barriers(
        "__co__ auto f(s32 [64] x) {
           s32 [64] y;
           parallel by 1 : block {
             shared s32 [64] a;
             parallel t by 64 : thread {
               inthreads (t < 32) a.at(t) = x.at(t);
               inthreads (t >= 32) a.at(t) = a.at(t - 32);
               y.at(t) = a.at(63 - t);
             }
           }
           return y;
         }",
    );
    assert_eq!(
        outline,
        "par { region { store } BLOCK(end) region { store } BLOCK(end) store }"
    );
}

#[test]
fn older_copies_arrive_with_the_one_that_is_waited_for() {
    let outline = barriers(
        "__co__ auto f(s32 [64] x) {
           s32 [64] y;
           parallel by 1 : block {
             a = dma.copy.async x.chunk(2).at(0) => shared;
             b = dma.copy.async x.chunk(2).at(1) => shared;
             wait b;
             wait a;
             parallel t by 32 : thread y.at(t) = a.data.at(31 - t);
             parallel t by 32 : thread y.at(32 + t) = b.data.at(31 - t);
           }
           return y;
         }",
    );
    assert_eq!(
        outline,
        "copy copy BLOCK(read:a) par { store } par { store }"
    );
}

#[test]
fn a_block_of_one_thread_never_waits() {
    let k = kernel(
        "__co__ auto f(s32 [4] x) {
           s32 [4] y;
           parallel b by 1 : block {
             tile = dma.copy x => shared;
             foreach i in [4] y.at(i) = tile.data.at(3 - i);
           }
           return y;
         }",
    );
    assert_eq!(k.threads.as_int(), Some(1));
    assert!(!k.waits);
}

#[test]
fn copies_of_an_earlier_wait_are_read_after_a_barrier() {
    let outline = barriers(
        "__co__ void f(global s32 [64] x, global s32 [64] y) {
           parallel by 1 : block {
             a = dma.copy.async x => shared;
             b = dma.copy.async x => shared;
             wait b;
             wait a;
             parallel i by 64 : thread y.at(i) = a.data.at(63 - i);
           }
         }",
    );
    assert_eq!(outline, "copy copy BLOCK(read:a) par { store }");
}

/// The statements after the initialisation of the mbarriers.
fn with_tma(body: &str) -> String {
    let all = barriers(body);
    let rest = all.strip_prefix("once { fence } BLOCK(ready) ");
    rest.unwrap_or_else(|| panic!("{all}")).to_owned()
}

#[test]
fn loaded_data_is_visible_to_all_waiting_threads() {
    let outline = with_tma(
        "__co__ void f(global s32 [64] x, global s32 [64] y) {
           parallel by 1 : block {
             t = tma.load x => shared;
             parallel i by 64 : thread y.at(i) = t.data.at(63 - i);
           }
         }",
    );
    assert_eq!(outline, "copy par { store }");
}

#[test]
fn a_load_waits_for_readers_of_the_previous_tile() {
    let outline = with_tma(
        "__co__ void f(global s32 [N] x, global s32 [N] y) {
           parallel by 1 : block {
             shared s32 [64] t;
             foreach k in [cdiv(N, 64)] {
               tma.load x.subspan(64).at(k) => t;
               parallel i by 64 : thread y.at(k * 64 + i) = t.at(i);
             }
           }
         }",
    );
    assert_eq!(outline, "for { BLOCK(reuse:t) copy par { store } }");
}

#[test]
fn a_load_waits_for_waits_for_the_previous_load() {
    let outline = with_tma(
        "__co__ void f(global s32 [N] x, global s32 [64] y) {
           parallel by 1 : block {
             shared s32 [64] t;
             foreach k in [cdiv(N, 64)] tma.load x.subspan(64).at(k) => t;
             parallel i by 64 : thread y.at(i) = t.at(i);
           }
         }",
    );
    assert_eq!(outline, "for { BLOCK(load) copy } par { store }");
}

#[test]
fn stores_are_fenced_before_tma_reads() {
    let outline = with_tma(
        "__co__ void f(global s32 [N] x) {
           parallel by 1 : block {
             foreach k in [cdiv(N, 64)] {
               t = tma.load x.subspan(64).at(k) => shared;
               parallel i by 64 : thread t.data.at(i) += 1;
               parallel i by 64 : thread x.at(k) = t.data.at(63 - i);
               tma.copy t.data => x.subspan(64).at(k);
             }
           }
         }",
    );
    // The barrier for the reading threads has no fences before it. The load needs none: its own
    // thread has stored the data.
    assert_eq!(
        outline,
        "for { copy par { store } BLOCK(read:t) par { store } fence BLOCK(read:t) copy }"
    );
}

/// Two warpgroups release a slot, and then write a tile each, which TMA stores. BEFORE and AFTER are
/// around the tile's store.
fn released(before: &str, after: &str) -> String {
    let outline = barriers(&format!(
        "__co__ void f(global s32 [256] x, global s32 [N, 256] y) {{
           parallel by 1 : block {{
             shared event full, empty = ready;
             shared s32 [256] t;
             shared s32 [2, 128] own;
             parallel w by 3 : group-4, i by 128 : thread {{
               inthreads.async (w == 0) {{
                 foreach k in [N] {{
                   wait empty;
                   tma.copy.async<full> x => t;
                   trigger full;
                 }}
               }}
               inthreads.async (w > 0) {{
                 foreach k in [N] {{
                   wait full;
                   trigger empty;
                   {before}
                   tma.copy own.subspan(1, 128).at(w - 1, 0) => y.subspan(1, 128).at(k, w - 1);
                   {after}
                 }}
               }}
             }}
           }}
         }}"
    ));
    let consumer = outline.rsplit("region { for { ").next().unwrap_or_default();
    consumer.trim_end_matches([' ', '}']).to_owned()
}

#[test]
fn a_trigger_needs_no_fence_for_what_is_fenced() {
    let write = "own.at(w - 1, i) = __to<s32>(k);";
    // All threads of each warpgroup have executed a fence before their own barrier.
    assert_eq!(
        released(write, ""),
        "trigger GROUP4(reuse:own) store fence GROUP4(read:own) copy"
    );
    // In the next iteration these writes precede the trigger.
    assert_eq!(
        released(write, write),
        "fence trigger store fence GROUP4(read:own) copy GROUP4(reuse:own) store"
    );
}

/// A warpgroup writes a tile that TMA stores, and then releases slots: one, and several in a loop.
/// WRITTEN is in the loop behind a trigger.
fn released_in_a_loop(written: &str) -> String {
    let outline = barriers(&format!(
        "__co__ void f(global s32 [128] x, global s32 [N, 128] y) {{
           parallel by 1 : block {{
             shared event full, empty = ready, again, once_more = ready;
             shared s32 [128] t, s, own;
             parallel w by 2 : group-4, i by 128 : thread {{
               inthreads.async (w == 0) {{
                 foreach k in [N] {{
                   wait empty;
                   tma.copy.async<full> x => t;
                   trigger full;
                   foreach j in [4] {{
                     wait once_more;
                     tma.copy.async<again> x => s;
                     trigger again;
                   }}
                 }}
               }}
               inthreads.async (w == 1) {{
                 foreach k in [N] {{
                   wait full;
                   trigger empty;
                   foreach j in [4] {{
                     wait again;
                     trigger once_more;
                     {written}
                   }}
                   own.at(i) = __to<s32>(k);
                   tma.copy own.span_as(1, 128) => y.subspan(1, 128).at(k, 0);
                   own.at(i) = 0;
                 }}
               }}
             }}
           }}
         }}"
    ));
    let consumer = outline.rsplit("region { for { ").next().unwrap_or_default();
    consumer.trim_end_matches([' ', '}']).to_owned()
}

#[test]
fn a_fence_serves_the_triggers_behind_it() {
    let stored = "store fence BLOCK(read:own) copy BLOCK(reuse:own) store";
    assert_eq!(
        released_in_a_loop(""),
        format!("fence trigger for {{ trigger }} {stored}")
    );
    // What is written after it needs another one.
    assert_eq!(
        released_in_a_loop("own.at(i) = 1;"),
        format!("fence trigger for {{ fence trigger store }} {stored}")
    );
}

#[test]
fn a_tma_ring_has_one_barrier_per_iteration() {
    let outline = with_tma(
        "__co__ void f(global s32 [N] x, global s32 [64] y) {
           parallel by 1 : block {
             b = dma.any;
             a = tma.load.async x.subspan(64).at(0) => shared;
             foreach k in [cdiv(N, 64)] {
               b = tma.load.async x.view(64).from(k * 64) => shared;
               wait a;
               parallel i by 64 : thread y.at(i) += a.data.at(63 - i);
               swap(a, b);
             }
             wait a;
           }
         }",
    );
    assert_eq!(
        outline,
        "copy for { BLOCK(reuse:a_ring) copy wait par { store } } wait"
    );
}

#[test]
fn warps_wait_for_their_own_loads() {
    let outline = with_tma(
        "__co__ void f(global s32 [512] x, global s32 [512] y) {
           parallel by 1 : block {
             shared s32 [4, 128] t;
             parallel w by 4 : group {
               tma.load x.span_as(4, 128).subspan(1, 128).at(w, 0) => t.subspan(1, 128).at(w, 0);
               parallel i by 32 : thread t.at(w, i) += t.at(w, 31 - i + 32);
               tma.copy t.subspan(1, 128).at(w, 0) => y.span_as(4, 128).subspan(1, 128).at(w, 0);
             }
             parallel i by 128 : thread t.at(3, i) = t.at(2, 127 - i);
           }
         }",
    );
    assert_eq!(
        outline,
        "par { copy par { store } fence WARP(read:t) copy } BLOCK(read:t) par { store }"
    );
}

#[test]
fn a_block_load_at_thread_level_waits_for_the_block() {
    let outline = with_tma(
        "__co__ void f(global s32 [N] x, global s32 [64] y) {
           parallel by 1 : block {
             b = dma.any;
             a = tma.load.async x.subspan(64).at(0) => shared;
             parallel i by 64 : thread {
               foreach k in [cdiv(N, 64)] {
                 if (k + 1 < cdiv(N, 64)) {
                   b = tma.load.async x.subspan(64).at(k + 1) => shared;
                 }
                 wait a;
                 y.at(i) += a.data.at(63 - i);
                 swap(a, b);
               }
               wait a;
             }
           }
         }",
    );
    assert_eq!(
        outline,
        "copy par { for { if { BLOCK(reuse:a_ring) copy } wait store } wait }"
    );
}

#[test]
fn a_multicast_load_waits_for_all_blocks_of_the_cluster() {
    let outline = barriers(
        "__co__ void f(global s32 [M, 64] x, global s32 [64, 64] y, global s32 [M, 64] z) {
           parallel c by 2 : cluster, p by M : block {
             shared s32 [64] sum;
             parallel i by 64 : thread sum.at(i) = 0;
             foreach k in [64] {
               own = tma.load x.subspan(1, 64).at(p, 0) => shared;
               parallel i by 64 : thread sum.at(i) += own.data.at(0, 63 - i);
               all = tma.load.multicast y.subspan(1, 64).at(k, 0) => shared;
               parallel i by 64 : thread sum.at(i) += all.data.at(0, 63 - i);
             }
             parallel i by 64 : thread z.at(p, i) = sum.at(63 - i);
           }
         }",
    );
    assert_eq!(
        outline,
        "once { fence } CLUSTER(ready) par { store } for { BLOCK(reuse:own) copy par { store } \
         CLUSTER(reuse:all) copy par { store } } BLOCK(read:sum) par { store } CLUSTER(arrivals)"
    );
}

/// A barrier of the grid is also one of the block. Data that TMA copies of other blocks may read
/// after it is fenced before it, even if this block itself has no such copy.
#[test]
fn a_grid_barrier_suffices() {
    let of = |read: &str| {
        barriers(&format!(
            "__co__ void f(global s32 [64, 64] x, global s32 [64] y) {{
               parallel p by 64 : block<cooperative> {{
                 shared s32 [64] a;
                 parallel i by 64 : thread {{ a.at(i) = i; x.at(p, i) = i; }}
                 sync.barrier : device;
                 {read}
                 parallel i by 64 : thread y.at(i) = a.at(63 - i) + other.data.at(0, i);
               }}
             }}"
        ))
    };
    assert_eq!(
        of("other = dma.copy x.subspan(1, 64).at(63 - p, 0) => shared;"),
        "par { store store } GRID(written) copy BLOCK(read:other) par { store }"
    );
    assert_eq!(
        of("other = tma.copy x.subspan(1, 64).at(63 - p, 0) => shared;"),
        "once { fence } BLOCK(ready) par { store store } fence GRID(written) copy par { store }"
    );
}

/// Atomic operations on one element are ordered; other accesses need a barrier.
#[test]
fn atomics_wait_only_for_ordinary_accesses() {
    let of = |body: &str| {
        barriers(&format!(
            "__co__ auto f(s32 [64] x) {{
               s32 [64] y;
               parallel b by 4 : block {{ shared s32 [64] a; {body} }}
               return y;
             }}"
        ))
    };
    let add = "parallel t by 64 : thread __atomic_add(a.at(x.at(t) % 64), 1);";
    let max = "parallel t by 64 : thread __atomic_max(a.at(0), x.at(t));";
    let store = "parallel t by 64 : thread a.at(t) = 0;";
    let load = "parallel t by 64 : thread y.at(t) = a.at(t);";
    assert_eq!(
        of(&format!("{add} {max} {add}")),
        "par { atomic } par { atomic } par { atomic }"
    );
    assert_eq!(
        of(&format!("{store} {add} {load} {add}")),
        "par { store } BLOCK(rewrite:a) par { atomic } BLOCK(read:a) par { store } \
         BLOCK(reuse:a) par { atomic }"
    );
    assert_eq!(
        of(&format!("foreach k in [3] {{ {add} }} {load}")),
        "for { par { atomic } } BLOCK(read:a) par { store }"
    );
    // All threads use the result, and in the next iteration also the memory through which it was
    // broadcast.
    assert_eq!(
        of(
            "s32 n = 0; foreach k in [3] { n = __atomic_add(a.at(0), 1); }
             parallel t by 64 : thread y.at(t) = n;"
        ),
        "for { BLOCK(reuse:before) once { atomic store } BLOCK(read:before) } par { store }"
    );
    assert_eq!(
        of("parallel w by 2 : group { s32 n = __atomic_add(a.at(0), 1);
              parallel t by 32 : thread y.at(w # t) = n; }"),
        "par { once { atomic store } WARP(read:before) par { store } }"
    );
}

/// One barrier before a loop that only reads serves all of its iterations.
#[test]
fn before_a_loop_that_reads() {
    let of = |after: &str| {
        let text = format!(
            "__co__ f32 [64] f(f32 [64] x) {{
  f32 [64] y;
  parallel by 1 : block {{
    shared f32 [64] s;
    parallel t by 64 : thread s.at(t) = x.at(t);
    mutable f32 sum = 0.0f;
    {after}
    parallel t by 64 : thread y.at(t) = sum;
  }}
  return y;
}}
"
        );
        outline(&kernel(&text).body)
    };
    let before = "par { store } BLOCK(read:s)";
    for reads in [
        "foreach i in 64 sum = sum + s.at(i);",
        "foreach i in 8 foreach j in 8 sum = sum + s.at(i # j);",
        "foreach i in 64 { if (s.at(i) > 0.0f) sum = sum + s.at(i); }",
    ] {
        let found = of(reads);
        assert!(found.starts_with(before), "{reads}: {found}");
        assert_eq!(found.matches("BLOCK").count(), 1, "{reads}: {found}");
    }
    // Other threads read what an iteration writes: a barrier in each.
    for (writes, expected) in [
        (
            "foreach i in 63 s.at(i + 1) = s.at(i) + 1.0f;",
            "par { store } for { BLOCK(read:s) ",
        ),
        (
            "foreach i in 64 { sum = sum + s.at(i); if (sum > 9.0f) break; }",
            "par { store } for { BLOCK(read:s) ",
        ),
    ] {
        let found = of(writes);
        assert!(found.starts_with(expected), "{writes}: {found}");
    }
}
