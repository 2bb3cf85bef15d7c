//! Multicast loads of which each block of the cluster loads a part for all.
//!
//! Each block then reads its part of a tile from L2 once, and no block issues all loads. A block
//! that issues a load must know that the tile of *every* block is free. It does if it has waited
//! for the same things as the first block, for which the program is written:
//!
//! * Where threads wait for the copies themselves, a barrier of the cluster precedes each load
//!   ([`crate::passes::transform::barriers`]), so all blocks know the same.
//! * In a region, only events are waited for. If all blocks execute the same waits, for the same
//!   slots, and each arrival at these slots is an arrival at those of all blocks
//!   (`trigger.cluster`), all blocks know the same. Anything else by which a thread may learn from
//!   others (barriers, C++, control flow that differs between blocks) excludes it. So does a wait
//!   before the region that is not the same in all blocks, by threads of the region, or by any
//!   threads if there is a barrier.
//!
//! A part is a number of whole rows of the tile, whose bytes begin at a multiple of what TMA and
//! the swizzle require. Each block's mbarrier counts the bytes of all parts.

use std::slice;

use super::blocks::Blocks;
use crate::ir::{
    BOX_ALIGNMENT, Buffer, Engine, EventAt, EventId, Expr, ExprKind, Function, Intrinsic, Role,
    Scalar, Slot, Stmt, StmtKind, ThreadSet, any_expr, any_in, any_stmt, build,
};
use crate::passes::analysis::uniformity::Uniformity;
use crate::sorted::SortedSet;
use crate::source::Span;
use crate::symbolic::Sym;

/// The rows after which a swizzle repeats.
const SWIZZLED_ROWS: i64 = 8;

/// Sets [`crate::ir::Tma::shared`] of the multicast loads in `body`.
pub fn find(body: &mut [Stmt], uniformity: &Uniformity<'_, Blocks>) {
    let events = any_stmt(body, |stmt| {
        matches!(stmt.kind, StmtKind::WaitEvent(_) | StmtKind::Trigger(_))
    });
    let mut own = SortedSet::new();
    arrivals_in_one_block(body, &mut own);
    let known = Known { uniformity, own };
    let outside = !events || known.same(body);
    let mut inside = Vec::new();
    known.of_regions(body, &mut Vec::new(), &mut inside);
    regions(&mut inside.into_iter(), body, outside);
}

/// Events with an arrival in the thread's own block alone.
fn arrivals_in_one_block(stmts: &[Stmt], found: &mut SortedSet<EventId>) {
    for stmt in stmts {
        if let StmtKind::Trigger(EventAt {
            event,
            cluster: false,
            ..
        }) = &stmt.kind
        {
            found.insert(*event);
        }
        stmt.kind
            .blocks()
            .for_each(|block| arrivals_in_one_block(block, found));
    }
}

struct Known<'a> {
    uniformity: &'a Uniformity<'a, Blocks>,
    /// Events with an arrival in the thread's own block alone.
    own: SortedSet<EventId>,
}

impl Known<'_> {
    /// Whether the threads that execute the statements wait for the same in all blocks of a
    /// cluster, and this is all that they learn from other threads.
    fn same(&self, stmts: &[Stmt]) -> bool {
        !any_in(
            stmts,
            |stmt| !self.is_same(stmt),
            |e| matches!(&*e.kind, ExprKind::Call(_)),
        )
    }

    fn is_same(&self, stmt: &Stmt) -> bool {
        let executed = match &stmt.kind {
            StmtKind::WaitEvent(at) => {
                let slot = match &at.slot {
                    Slot::At(slot) | Slot::Order(slot) => !self.uniformity.sym(slot),
                    Slot::All => true,
                };
                slot && !self.own.contains(&at.event)
            }
            StmtKind::Let { .. }
            | StmtKind::Assign { .. }
            | StmtKind::For { .. }
            | StmtKind::While { .. }
            | StmtKind::If { .. }
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Parallel { .. }
            | StmtKind::SingleThread { .. }
            | StmtKind::Region { .. }
            | StmtKind::Copy(_)
            | StmtKind::Trigger(_)
            | StmtKind::Registers(_)
            | StmtKind::Check { .. }
            | StmtKind::Alloc(_) => true,
            _ => false,
        };
        executed && self.uniformity.split(stmt).is_none()
    }

    /// Whether the loads of each of the outermost regions may be shared. `before`: what may precede
    /// the statements.
    fn of_regions<'s>(&self, stmts: &'s [Stmt], before: &mut Vec<&'s Stmt>, found: &mut Vec<bool>) {
        let outside = before.len();
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::Region {
                    set,
                    body,
                    outermost: true,
                    ..
                } => found.push(self.same(body) && self.learned_the_same(before, set.as_ref())),
                kind => {
                    let first = before.len();
                    if matches!(kind, StmtKind::For { .. } | StmtKind::While { .. }) {
                        // In an earlier iteration.
                        before.push(stmt);
                    }
                    for block in kind.blocks() {
                        self.of_regions(block, before, found);
                    }
                    before.truncate(first);
                }
            }
            before.push(stmt);
        }
        before.truncate(outside);
    }

    /// Whether the threads of `set` have learned the same from these statements in all blocks.
    fn learned_the_same(&self, before: &[&Stmt], set: Option<&ThreadSet>) -> bool {
        let is_barrier = |stmt: &Stmt| matches!(stmt.kind, StmtKind::Barrier { .. });
        let mut all = before.iter().map(|stmt| slice::from_ref(*stmt));
        // A barrier passes on what other threads have learned.
        let set = set.filter(|_| !all.clone().any(|stmt| any_stmt(stmt, is_barrier)));
        all.all(|stmt| self.learns_the_same(stmt, set, false))
    }

    /// `split`: not all blocks execute the statements.
    fn learns_the_same(&self, stmts: &[Stmt], set: Option<&ThreadSet>, split: bool) -> bool {
        stmts.iter().all(|stmt| {
            let split = split || self.uniformity.split(stmt).is_some();
            match &stmt.kind {
                StmtKind::Region {
                    set: Some(others), ..
                } if set.is_some_and(|set| !others.meets(set)) => return true,
                // Until other threads write to memory, perhaps.
                StmtKind::WaitEvent(_) | StmtKind::While { .. } if split => return false,
                StmtKind::WaitEvent(_) if !self.is_same(stmt) => return false,
                StmtKind::AwaitSignal { .. } | StmtKind::Cpp { .. } | StmtKind::Eval(_) => {
                    return false;
                }
                _ => {}
            }
            let mut blocks = stmt.kind.blocks().peekable();
            let calls = |e: &Expr| matches!(&*e.kind, ExprKind::Call(_));
            let opaque = match &stmt.kind {
                StmtKind::If { cond, .. } => any_expr(cond, calls),
                _ => blocks.peek().is_none() && any_in(slice::from_ref(stmt), |_| false, calls),
            };
            !opaque && blocks.all(|block| self.learns_the_same(block, set, split))
        })
    }
}

/// `may`: whether the loads outside of further regions may be shared; `inside`: those of each of the
/// outermost regions, in order.
fn regions(inside: &mut impl Iterator<Item = bool>, stmts: &mut [Stmt], may: bool) {
    for stmt in stmts {
        if let StmtKind::Copy(copy) = &mut stmt.kind
            && let Engine::Tma(tma) = &mut copy.engine
        {
            tma.shared = may && tma.blocks > 1;
        }
        let may = match &stmt.kind {
            StmtKind::Region {
                outermost: true, ..
            } => inside.next().unwrap_or(false),
            _ => may,
        };
        for block in stmt.kind.blocks_mut() {
            regions(inside, block, may);
        }
    }
}

/// The part of a box that one block of a cluster loads.
pub struct Part {
    /// The axis of the box that is divided.
    pub axis: usize,
    /// Its extent in a part.
    pub rows: i64,
    /// The elements of a part, as far as they are adjacent in shared memory: of all groups of
    /// columns that a swizzle separates, those of one.
    pub size: i64,
}

impl Part {
    /// `None` if the box of this shape has no such parts.
    pub fn of(buffer: &Buffer, shape: &[Sym], blocks: u32) -> Option<Self> {
        let mut extents: Vec<i64> = shape.iter().map(Sym::as_int).collect::<Option<_>>()?;
        let axis = extents.iter().position(|e| *e > 1)?;
        let blocks = i64::from(blocks);
        let rows = extents.get(axis)?.checked_div(blocks)?;
        let whole = rows.checked_mul(blocks) == extents.get(axis).copied();
        *extents.get_mut(axis)? = rows;
        let last = extents.len().checked_sub(1)?;
        let columns = extents.get_mut(last)?;
        let bytes = i64::try_from(buffer.elem.bytes()).ok()?;
        let aligned = match &buffer.swizzle {
            Some(swizzle) => {
                *columns = swizzle.group(buffer.elem);
                let above = extents.get(..last)?.iter().product::<i64>();
                axis < last && above % SWIZZLED_ROWS == 0
            }
            None => (extents.iter().product::<i64>() * bytes) % BOX_ALIGNMENT == 0,
        };
        let size = extents.iter().product();
        let packed = buffer.elem.is_packed();
        (whole && aligned && !packed).then_some(Self { axis, rows, size })
    }
}

/// The block's rank in its cluster, with its declaration, if a load may be shared.
pub fn rank(function: &mut Function, body: &[Stmt], span: Span) -> Option<(Stmt, Sym)> {
    let mut blocks = None;
    any_stmt(body, |stmt| {
        if let StmtKind::Copy(copy) = &stmt.kind
            && let Engine::Tma(tma) = &copy.engine
            && tma.shared
        {
            blocks = Some(tma.blocks);
        }
        blocks.is_some()
    });
    let blocks = blocks?;
    let count = Sym::int(i64::from(blocks));
    let (local, rank) = build::index(function, "rank", Role::Value, Some(&count), span);
    let value = ExprKind::Cast(Expr::intrinsic(Intrinsic::ClusterRank, span));
    let value = Expr::new(value, Scalar::Index, span);
    Some((build::declare(local, value), rank))
}

#[cfg(test)]
mod tests {
    use crate::ir::{StmtKind, TmaOp, Visit, walk_block};
    use crate::sema::testing;

    /// Whether each multicast load of the kernel is shared by the blocks.
    fn shared(text: &str) -> Vec<bool> {
        let function = testing::function_after(text, "tma");
        struct Find<'a>(&'a crate::ir::Function, Vec<bool>);
        impl Visit for Find<'_> {
            fn stmt(&mut self, stmt: &crate::ir::Stmt) {
                if let StmtKind::Tma(TmaOp::Load { moved, blocks, .. }) = &stmt.kind
                    && *blocks > 1
                {
                    let named = |sym: &crate::symbolic::Sym| {
                        (sym.vars().iter()).any(|v| self.0.cx.name(*v) == "rank")
                    };
                    let place = moved.coordinates.iter().any(named);
                    assert_eq!(place, named(&moved.offset));
                    self.1.push(place);
                }
            }
        }
        let mut find = Find(&function, Vec::new());
        walk_block(&function.kernels[0].body, &mut find);
        find.1
    }

    fn ring(wait: &str, free: &str) -> Vec<bool> {
        let text = format!(
            "__co__ void f(global s32 [K, 64] y, global s32 [N, 64] out, global s32 [64] numbers) {{
               parallel c by 2 : cluster
                 parallel p by cdiv(N, 2) * 2 : block {{
                   shared event full[3], empty[3] = ready;
                   shared s32 [8, 64] both[3];
                   parallel w by 2 : group-4, t by 128 : thread {{
                     inthreads.async (w == 1) {{
                       foreach {{k}} in [cdiv(K, 8)] {{
                         {wait}
                         tma.copy.async<full[k % 3]>.multicast y.subspan(8, 64).at(k, 0) => both[k % 3];
                         trigger full[k % 3];
                       }}
                     }}
                     inthreads.async (w == 0) {{
                       local s32 [1] sum{{0}};
                       foreach {{k}} in [cdiv(K, 8)] {{
                         wait full[k % 3];
                         sum.at(0) += both[k % 3].at(t / 16, t % 64);
                         {free}
                       }}
                       if (p < N && t < 64) {{ out.at(p, t) = sum.at(0); }}
                     }}
                   }}
                 }}
             }}"
        );
        shared(&text)
    }

    #[test]
    fn blocks_that_wait_for_the_same_share_a_load() {
        let (wait, free) = ("wait empty[k % 3];", "trigger.cluster empty[k % 3];");
        assert_eq!(ring(wait, free), [true]);
        assert_eq!(
            ring(
                &format!("if (k % 2 == 0) {{ {wait} }} else {{ {wait} }}"),
                free
            ),
            [true]
        );
        // Only the first block knows that the tile is free in both.
        assert_eq!(ring(&format!("if (c == 0) {{ {wait} }}"), free), [false]);
        assert_eq!(ring("wait empty[(k + c) % 3];", free), [false]);
        assert_eq!(
            ring(&format!("if (numbers.at(c) > 0) {{ {wait} }}"), free),
            [false]
        );
        // Each block knows only that its own is.
        assert_eq!(ring(wait, "trigger empty[k % 3];"), [false]);
        // Something else may tell it.
        assert_eq!(
            ring(
                &format!("{wait} __bar_sync(1, 256);"),
                &format!("{free} __bar_sync(1, 256);")
            ),
            [false]
        );
    }

    /// A tile that is loaded again and again. `before` and `between` are in the loop, `wait` is in front of the load.
    fn one_tile(before: &str, between: &str, wait: &str) -> Vec<bool> {
        shared(&format!(
            "__co__ void f(global s32 [K, 64] y, global s32 [N, 64] out, global s32 [64] numbers) {{
               parallel c by 2 : cluster
                 parallel p by cdiv(N, 2) * 2 : block {{
                   shared event full, empty;
                   shared s32 [8, 64] both;
                   parallel w by 2 : group-4, t by 128 : thread {{
                     mutable s32 sum = 0;
                     {before}
                     foreach k in [cdiv(K, 8)] {{
                       {between}
                       inthreads.async (w == 1) {{
                         {wait}
                         tma.copy.async<full>.multicast y.subspan(8, 64).at(k, 0) => both;
                         trigger full;
                       }}
                       inthreads.async (w == 0) {{
                         wait full;
                         sum += both.at(t / 16, t % 64);
                         trigger.cluster empty;
                       }}
                     }}
                     if (p < N && t < 64 && w == 0) {{ out.at(p, t) = sum; }}
                   }}
                 }}
             }}"
        ))
    }

    #[test]
    fn what_precedes_the_region_may_tell_a_block_more() {
        let wait = "if (k > 0) { wait empty; }";
        let of_loader = |text: &str| format!("inthreads.async (w == 1) {{ {text} }}");
        assert_eq!(one_tile("", "", wait), [true]);
        assert_eq!(one_tile("", &of_loader(wait), ""), [true]);
        let of_first = &of_loader("if (c == 0 && k > 0) { wait empty; }");
        assert_eq!(one_tile("", of_first, ""), [false]);
        let of_first = &of_loader("if (c == 0) { wait empty; }");
        assert_eq!(one_tile(of_first, "", wait), [false]);
        // By other threads, which pass it on.
        let of_others = "inthreads.async (w == 0) { if (c == 0 && k > 0) { wait empty; } }";
        assert_eq!(one_tile("", of_others, ""), [true]);
        let passed_on = &format!("{of_others} sync.shared;");
        assert_eq!(one_tile("", passed_on, ""), [false]);
        // By memory.
        let spins = &of_loader("while (numbers.at(p) < k) {}");
        assert_eq!(one_tile("", spins, ""), [false]);
    }

    fn tile(rows: u32, columns: u32, blocks: u32, swizzle: &str) -> Vec<bool> {
        shared(&format!(
            "__co__ void f(global f16 [{rows}, {columns}] y, global f16 [N, {columns}] out) {{
               parallel c by {blocks} : cluster
                 parallel p by N / {blocks} * {blocks} : block {{
                   shared f16 [{rows}, {columns}] t;
                   tma.load.multicast{swizzle} y => t;
                   parallel i by {columns} : thread out.at(p, i) = t.at(0, i);
                 }}
             }}"
        ))
    }

    #[test]
    fn parts_are_whole_rows_where_boxes_may_begin() {
        assert_eq!(tile(8, 64, 2, ""), [true]);
        assert_eq!(tile(8, 64, 3, ""), [false]);
        assert_eq!(tile(4, 16, 2, ""), [false]);
        assert_eq!(tile(1, 256, 4, ""), [true]);
        assert_eq!(tile(1, 128, 4, ""), [false]);
        assert_eq!(tile(16, 64, 2, ".swiz<128>"), [true]);
        assert_eq!(tile(8, 64, 2, ".swiz<128>"), [false]);
        assert_eq!(tile(32, 128, 4, ".swiz<128>"), [true, true]);
        assert_eq!(tile(16, 16, 2, ".swiz<32>"), [true]);
    }
}
