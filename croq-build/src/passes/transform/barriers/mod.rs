//! Barriers: the fewest that make every read see the write it should.
//!
//! A unit (block, warpgroup, warp) runs its statements in order, but its threads don't run in step.
//! So wherever one statement writes a buffer that another reads or writes, and the two accesses to
//! one element may come from different threads, all of the unit's threads must meet in between. The
//! pass walks the statements in order with the accesses made since the last such meeting, and puts
//! a barrier in front of a statement at the moment it conflicts with one of those. That is as late
//! as possible, hence as few as possible.
//!
//! * A loop's body is walked twice. The second time the accesses of the iteration before are pending at
//!   its start, with everything that the loop changes standing for unknown earlier values; what
//!   conflicts across iterations so gets its barrier in the right place.
//! * The instances of a `parallel` are independent: threads of different instances never conflict
//!   inside its body. Where the threads of one warp or warpgroup do, a barrier over those is enough.
//!   Only copies that a whole unit makes inside a body of finer level bring that unit back in.
//! * If both accesses to an element are made by the same thread, whatever the element, no barrier is
//!   needed: the program's own order holds. `digits` proves it.
//! * A barrier in a place that only some threads reach would be a deadlock, so conflicts with what
//!   came before an `inthreads`, a masked statement, or a branch on something that may differ
//!   between threads are resolved in front of it.
//!
//! * TMA reads and writes shared memory past what threads have written there, until those
//!   threads execute a proxy fence: where it comes upon such, the fences go in front of the barrier. What
//!   it brings is there for all threads that wait for it, so no barrier follows.
//!
//! After this pass, reading and writing through the views of the program in program order is right;
//! `kernel.waits` says whether any thread can wait for another.
//!
//! Buffers that share memory come later, when [`crate::passes::analysis::shared_memory`] has placed them: a second walk finds
//! where one of two is used after the other with no barrier of the block in between.

mod access;
mod collect;
mod events;
mod independent;
mod injectivity;
mod instances;
mod overlaps;
mod owned;
mod pending;
mod place;
mod tma;
mod updates;
mod vars;

#[cfg(test)]
pub mod races;
#[cfg(test)]
mod tests;

use crate::ir::{
    BarrierReason, BarrierScope, Engine, Expr, ExprKind, FenceScope, Function, KernelId, Level,
    MmaOp, Stmt, StmtKind, any_in, any_stmt,
};
use crate::source::Span;
use crate::symbolic::{Sym, Var};
use access::{Executor, MemAccess, Sizes};
use collect::{Collector, Context};
use events::Exchanges;
pub use independent::independent;
use overlaps::Overlaps;
pub use overlaps::Pairs;
pub use owned::shared_by_instances;
use pending::Pending;
use std::collections::BTreeSet;
pub use tma::moved as moved_by_tma;
use vars::Iterations;
pub use vars::Vars;

pub fn insert_barriers(function: &mut Function, id: KernelId) {
    let Some(kernel) = function.kernels.get(id.index()) else {
        return;
    };
    // A lone thread can't be out of step, except with TMA.
    let alone = kernel.threads.is_one();
    function.with_kernel_body(id, |function, body| {
        if !alone || !moved_by_tma(body).is_empty() {
            if !alone {
                end_regions(body);
            }
            walk(function, id, body, Overlaps::default());
        }
    });
    note_waits(function, id);
}

/// Which of `pairs`, laid over each other, would need barriers that the kernel doesn't have.
pub fn out_of_step(function: &mut Function, id: KernelId, pairs: &Pairs) -> Pairs {
    let Some(kernel) = function.kernels.get(id.index()) else {
        return Pairs::new();
    };
    if kernel.threads.is_one() {
        return Pairs::new();
    }
    let mut body = kernel.body.clone();
    walk(function, id, &mut body, Overlaps::only_noted(pairs)).noted
}

/// Puts barriers between uses of the two buffers of each pair, which share memory.
pub fn part(function: &mut Function, id: KernelId, pairs: &Pairs) {
    let Some(kernel) = function.kernels.get_mut(id.index()) else {
        return;
    };
    if kernel.threads.is_one() {
        return;
    }
    function.with_kernel_body(id, |function, body| {
        walk(function, id, body, Overlaps::of(pairs));
    });
    note_waits(function, id);
}

fn walk(
    function: &mut Function,
    id: KernelId,
    body: &mut Vec<Stmt>,
    overlaps: Overlaps,
) -> Overlaps {
    let threads = function.kernels.get(id.index()).map(|k| k.threads.clone());
    let vars = Vars::of_block(function, body);
    let by_tma = moved_by_tma(body);
    let fence = tma::fence(function, body, &by_tma);
    let mut walker = Walker {
        collector: Collector::new(function, vars, by_tma, tma::clustered(body)),
        sizes: Sizes {
            block: threads.unwrap_or_else(Sym::one),
            region: None,
        },
        exchanges: Exchanges::of(body),
        loops: Vec::new(),
        overlaps,
        fence,
        after_fences: false,
    };
    let context = Context {
        chain: Vec::new(),
        executor: Executor::EachThread,
        set: None,
        inner_region: None,
    };
    walker.block(body, &context, Pending::default());
    walker.overlaps
}

fn note_waits(function: &mut Function, id: KernelId) {
    let Some(kernel) = function.kernels.get(id.index()) else {
        return;
    };
    let uses = crate::passes::analysis::uses::Uses::of_block(function, &kernel.body);
    let waits = uses.opaque || has_barrier(&kernel.body) || has_exchange(&kernel.body);
    if let Some(kernel) = function.kernels.get_mut(id.index()) {
        kernel.waits = waits;
    }
}

fn has_barrier(body: &[Stmt]) -> bool {
    any_stmt(body, |stmt| {
        matches!(
            stmt.kind,
            StmtKind::Barrier { .. }
                | StmtKind::WaitTma { .. }
                | StmtKind::WaitEvent(_)
                | StmtKind::Mma(_)
        )
    })
}

/// Lanes of a warp exchange values, which they do together.
fn has_exchange(body: &[Stmt]) -> bool {
    let exchanges = |e: &Expr| match &*e.kind {
        ExprKind::Intrinsic(of, _) => of.info().converges,
        _ => false,
    };
    any_in(body, |_| false, exchanges)
}

fn is_async_region(stmt: &Stmt) -> bool {
    matches!(stmt.kind, StmtKind::Region { is_async: true, .. })
}

/// A plain `inthreads` ends with a barrier over the block, unless it is inside another.
fn end_regions(stmts: &mut Vec<Stmt>) {
    let mut at = 0;
    while let Some(stmt) = stmts.get_mut(at) {
        at += 1;
        match &mut stmt.kind {
            StmtKind::Region {
                is_async: false,
                outermost: true,
                ..
            } => {
                let kind = StmtKind::Barrier {
                    scope: BarrierScope::Block,
                    why: BarrierReason::RegionEnd,
                };
                let barrier = Stmt::new(kind, stmt.span);
                stmts.insert(at, barrier);
                at += 1;
            }
            StmtKind::For { body, .. } | StmtKind::Parallel { body, .. } => end_regions(body),
            StmtKind::While { prelude, body, .. } => {
                end_regions(prelude);
                end_regions(body);
            }
            StmtKind::If {
                then, otherwise, ..
            } => {
                end_regions(then);
                end_regions(otherwise);
            }
            _ => {}
        }
    }
}

/// Loops within so many others are walked once, with every access in them pending at the start: each
/// level of nesting would double the time otherwise. Such a loop may get a barrier too many.
const PRECISE_NESTING: usize = 6;

/// What leaves a loop, or starts its next iteration, other than by the end of its body.
#[derive(Default)]
struct Exits {
    breaks: Pending,
    continues: Pending,
}

struct Walker<'a> {
    collector: Collector<'a>,
    sizes: Sizes,
    loops: Vec<Exits>,
    overlaps: Overlaps,
    exchanges: Exchanges,
    /// Which fence the kernel needs.
    fence: FenceScope,
    /// The statement before is a proxy fence.
    after_fences: bool,
}

impl Walker<'_> {
    /// Walks `stmts` with `pending` at their start; what is pending at their end.
    fn block(&mut self, stmts: &mut Vec<Stmt>, context: &Context, mut pending: Pending) -> Pending {
        let mut at = 0;
        while at < stmts.len() {
            at += self.statement(stmts, at, context, &mut pending);
        }
        pending
    }

    /// Statements that have their own rules, and those that wait; `None` for any other.
    fn special(
        &mut self,
        stmts: &mut Vec<Stmt>,
        at: usize,
        context: &Context,
        pending: &mut Pending,
    ) -> Option<usize> {
        let Some(stmt) = stmts.get(at) else {
            return Some(1);
        };
        let span = stmt.span;
        match &stmt.kind {
            StmtKind::Copy(copy) if !copy.engine.is_threads() => {
                Some(self.boxes(stmts, at, context, pending))
            }
            StmtKind::WaitEvent(_) | StmtKind::Trigger(_) => Some(events::event(
                &self.exchanges,
                self.fence,
                stmts,
                at,
                context,
                pending,
            )),
            StmtKind::WaitTma { .. } => {
                self.wait_for_boxes(stmt, context, pending);
                Some(1)
            }
            StmtKind::Barrier {
                scope: BarrierScope::Grid,
                ..
            } if tma::hides_from_others(self.collector.function, stmts, at, pending) => {
                stmts.insert(at, Stmt::new(StmtKind::Fence(self.fence), span));
                pending.settle(Level::Cluster, true, None);
                Some(2)
            }
            // Its bytes are written at the wait; whoever still uses what they replace comes first.
            StmtKind::Copy(copy) if copy.future.is_some() => {
                let accesses = self.all_of(std::slice::from_ref(stmt), context);
                let reads = accesses.iter().filter(|t| !t.write).cloned().collect();
                let inserted = self.wait_before(stmts, at, span, &accesses, pending);
                pending.add(reads);
                Some(1 + inserted)
            }
            // Each thread waits for its own share: nobody need be waited for first.
            StmtKind::Wait { .. } => {
                let accesses = self.all_of(std::slice::from_ref(stmt), context);
                pending.add(accesses);
                Some(1)
            }
            _ => None,
        }
    }

    /// Walks the statement at `at`; how many statements now stand in its place.
    fn statement(
        &mut self,
        stmts: &mut Vec<Stmt>,
        at: usize,
        context: &Context,
        pending: &mut Pending,
    ) -> usize {
        if let Some(count) = self.special(stmts, at, context, pending) {
            return count;
        }
        let Some(stmt) = stmts.get(at) else { return 1 };
        let span = stmt.span;
        if self.is_plain(stmt, context) {
            let accesses = self.all_of(std::slice::from_ref(stmt), context);
            let inserted = self.wait_before(stmts, at, span, &accesses, pending);
            pending.add(accesses);
            return 1 + inserted;
        }
        // In front of the whole statement: its own condition, and everything inside that must not
        // meet a barrier there.
        let mut first = Vec::new();
        if !matches!(stmt.kind, StmtKind::While { .. }) {
            self.collector.shallow(stmt, context, &mut first);
        }
        let own = first.clone();
        let inner = self.accesses_inside(stmts, at, context, &mut first);
        let inserted = self.wait_before(stmts, at, span, &first, pending);
        pending.add(own);
        let Some((before, [stmt, ..])) = stmts.split_at_mut_checked(at + inserted) else {
            return 1 + inserted;
        };
        self.after_fences = tma::after_fences(before);
        self.inside(stmt, &inner, pending);
        1 + inserted
    }

    /// Adds what the statement at `at` accesses where no barrier may be inserted in it; the context of
    /// what is in it.
    fn accesses_inside(
        &mut self,
        stmts: &[Stmt],
        at: usize,
        context: &Context,
        first: &mut Vec<MemAccess>,
    ) -> Context {
        let Some(stmt) = stmts.get(at) else {
            return context.clone();
        };
        let mut inner = context.clone();
        match &stmt.kind {
            StmtKind::Parallel { level, body } => {
                inner = self.collector.enter(context, *level, body);
                self.collector.block(body, &inner, first);
            }
            StmtKind::SingleThread { level, body, .. } => {
                inner = Collector::once(context, *level);
                self.collector.block(body, &inner, first);
            }
            StmtKind::Region {
                set,
                body,
                is_async,
                ..
            } => {
                inner = Collector::region(context, set.as_ref(), *is_async, stmt.span);
                self.collector.block(body, &inner, first);
                if *is_async && !follows_async_region(stmts, at) {
                    self.regions_beside(stmts.get(at + 1..).unwrap_or_default(), context, first);
                }
            }
            StmtKind::If { cond, .. } if self.is_uniform(cond, context) => {}
            StmtKind::If {
                then, otherwise, ..
            } => {
                self.collector.block(then, context, first);
                self.collector.block(otherwise, context, first);
            }
            _ => {}
        }
        inner
    }

    fn is_uniform(&self, cond: &crate::ir::Expr, context: &Context) -> bool {
        let function = &*self.collector.function;
        self.collector
            .vars
            .is_uniform(function, cond, context.level())
    }

    /// Walks the load or store at `at`; how many statements now stand in its place.
    fn boxes(
        &mut self,
        stmts: &mut Vec<Stmt>,
        at: usize,
        context: &Context,
        pending: &mut Pending,
    ) -> usize {
        let Some(stmt) = stmts.get(at) else { return 1 };
        let StmtKind::Copy(copy) = &stmt.kind else {
            return 1;
        };
        let (span, copy) = (stmt.span, copy.clone());
        let accesses = self.all_of(std::slice::from_ref(stmt), context);
        let inserted = self.wait_before(stmts, at, span, &accesses, pending);
        let mut after = accesses;
        let by_event = matches!(&copy.engine, Engine::Tma(tma) if tma.event.is_some());
        if by_event {
            // Who waits for the event comes after it.
            after.retain(|t| !t.write);
        } else if let Some(arrival) = copy.engine.arrival() {
            after.retain(|t| !t.write);
            if copy.future.is_none() {
                // Who has waited knows that it is over, what it read included.
                pending.settle_first(copy.level, context.inner_region.as_ref());
                after.retain(|_| copy.level != Level::Block);
                for access in &mut after {
                    access.ordered_at = Some(copy.level);
                }
                let (view, level) = (&copy.dest, copy.level);
                self.collector
                    .arrived(arrival, view, level, context, &mut after);
            }
        }
        pending.add(after);
        1 + inserted
    }

    fn wait_for_boxes(&mut self, stmt: &Stmt, context: &Context, pending: &mut Pending) {
        let StmtKind::WaitTma { futures } = &stmt.kind else {
            return;
        };
        let mut after = Vec::new();
        for waited in futures {
            if let Some(arrival) = &waited.arrival {
                let (view, level) = (&waited.view, waited.level);
                self.collector
                    .arrived(arrival, view, level, context, &mut after);
            }
        }
        pending.add(after);
    }

    /// Concurrent regions begin together: a barrier in front of one must be in front of all.
    fn regions_beside(&mut self, stmts: &[Stmt], context: &Context, out: &mut Vec<MemAccess>) {
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::Region {
                    set,
                    body,
                    is_async: true,
                    ..
                } => {
                    let inner = Collector::region(context, set.as_ref(), true, stmt.span);
                    self.collector.block(body, &inner, out);
                }
                StmtKind::Let { .. } | StmtKind::Alloc(_) => {}
                _ => return,
            }
        }
    }

    fn inside(&mut self, stmt: &mut Stmt, context: &Context, pending: &mut Pending) {
        match &mut stmt.kind {
            StmtKind::Barrier { scope, .. } => {
                let level = match scope {
                    BarrierScope::Grid | BarrierScope::Cluster => Level::Cluster,
                    BarrierScope::Block => Level::Block,
                    BarrierScope::Warpgroup
                    | BarrierScope::WarpgroupFrom(_)
                    | BarrierScope::WarpgroupOf { .. } => Level::Warpgroup,
                    BarrierScope::Warp => Level::Warp,
                    // The program's own: who meets there is its business.
                    BarrierScope::Named { .. }
                    | BarrierScope::Arrive { .. }
                    | BarrierScope::Lanes(_) => return,
                };
                let level = self.sizes.widened(level);
                pending.settle(level, self.after_fences, self.sizes.region.as_ref());
            }
            StmtKind::Yield => pending.end(),
            StmtKind::Break => {
                if let Some(exits) = self.loops.last_mut() {
                    exits.breaks.join(pending);
                }
                pending.end();
            }
            StmtKind::Continue => {
                if let Some(exits) = self.loops.last_mut() {
                    exits.continues.join(pending);
                }
                pending.end();
            }
            StmtKind::Parallel { body, .. } => {
                *pending = self.block(body, context, pending.clone())
            }
            // Not every thread comes by.
            StmtKind::SingleThread { body, .. } => {
                let after = self.block(body, context, pending.clone());
                pending.join(&after);
            }
            StmtKind::Region { set, body, .. } => {
                // What is ordered in there is so among its threads.
                let mut own = Vec::new();
                self.collector.block(body, context, &mut own);
                let around = self.sizes.region.clone();
                self.sizes.region = set.clone().or(around.clone());
                let after = self.block(body, context, pending.clone());
                self.sizes.region = around;
                pending.join(&after);
                pending.add(own);
            }
            StmtKind::If {
                then, otherwise, ..
            } => {
                let mut after = self.block(then, context, pending.clone());
                after.join(&self.block(otherwise, context, pending.clone()));
                *pending = after;
            }
            StmtKind::For { .. } | StmtKind::While { .. } => {
                self.inside_loop(stmt, context, pending)
            }
            _ => {}
        }
    }

    fn inside_loop(&mut self, stmt: &mut Stmt, context: &Context, pending: &mut Pending) {
        match &mut stmt.kind {
            StmtKind::For {
                local,
                lo,
                hi,
                step,
                body,
                ..
            } => {
                let mut changing = declared(self.collector.function, body);
                let var = self.collector.function.locals.get(local.index());
                let var = var.and_then(|l| l.var);
                changing.extend(var);
                let last = var.map(|v| (v, &Sym::var(v) - &*step));
                let runs = self.collector.function.cx.lt(lo, hi).is_yes();
                let none = Pending::nowhere();
                let skipped = if runs { none } else { pending.clone() };
                let all = self.accesses_of_nested_loop(pending, &[body], context);
                let iteration = |w: &mut Self, start: Pending| {
                    let end = w.block(body, context, start);
                    (Pending::nowhere(), end)
                };
                let iterations = Iterations {
                    changing: &changing,
                    last: last.as_ref(),
                    only_one_ago: true,
                };
                let entry = (&*pending, all);
                let mut after = self.repeat(iterations, entry, iteration);
                after.join(&skipped);
                *pending = after;
            }
            StmtKind::While {
                prelude,
                cond,
                body,
            } => {
                let mut changing = declared(self.collector.function, body);
                changing.extend(declared(self.collector.function, prelude));
                let all = self.accesses_of_nested_loop(pending, &[prelude, body], context);
                let (span, cond) = (stmt.span, cond.clone());
                let iteration = |w: &mut Self, start: Pending| {
                    let mut here = w.block(prelude, context, start);
                    let mut accesses = Vec::new();
                    w.collector.expr(&cond, context, &mut accesses);
                    let end = prelude.len();
                    w.wait_before(prelude, end, span, &accesses, &mut here);
                    here.add(accesses);
                    let end = w.block(body, context, here.clone());
                    (here, end)
                };
                let iterations = Iterations {
                    changing: &changing,
                    last: None,
                    only_one_ago: true,
                };
                let entry = (&*pending, all);
                *pending = self.repeat(iterations, entry, iteration);
            }
            _ => {}
        }
    }

    /// For a loop within so many others that walking each several times would take too long: what is
    /// pending at its start, and every access in it.
    fn accesses_of_nested_loop(
        &mut self,
        before: &Pending,
        blocks: &[&Vec<Stmt>],
        context: &Context,
    ) -> Option<Pending> {
        if self.loops.len() < PRECISE_NESTING {
            return None;
        }
        let mut all = before.clone();
        for block in blocks {
            let mut accesses = Vec::new();
            self.collector.block(block, context, &mut accesses);
            all.add(accesses);
        }
        Some(all)
    }

    /// Walks a loop twice, or three times. `iteration` walks one iteration: what is pending where the
    /// loop may end, and at the end of the iteration. At entry `before` is pending. `all` is given
    /// where one walk must do: a superset of what an iteration leaves pending.
    fn repeat(
        &mut self,
        mut iterations: Iterations<'_>,
        (before, all): (&Pending, Option<Pending>),
        mut iteration: impl FnMut(&mut Self, Pending) -> (Pending, Pending),
    ) -> Pending {
        let mut walk = |w: &mut Self, start: Pending| {
            w.loops.push(Exits::default());
            let (stop, mut end) = iteration(w, start);
            let exits = w.loops.pop().unwrap_or_default();
            end.join(&exits.continues);
            (stop, end, exits.breaks)
        };
        let only_once = all.is_some();
        let first = all.unwrap_or_else(|| walk(self, before.clone()).1);
        let one_ago = self.earlier(&first, &iterations);
        iterations.only_one_ago = false;
        let mut start = before.clone();
        start.join(&one_ago);
        if only_once {
            start.join(&self.earlier(&first, &iterations));
        }
        let (mut stop, mut end, mut breaks) = walk(self, start);
        if !only_once && end.outlives(&one_ago, &first) {
            // No barrier in a whole iteration: any number of them may lie between.
            let mut start = before.clone();
            start.join(&one_ago);
            start.join(&self.earlier(&end, &iterations));
            (stop, end, breaks) = walk(self, start);
        }
        // A `while` only ends where its condition is; a `for` where an iteration does.
        let mut after = if stop.is_somewhere() { stop } else { end };
        after.join(&breaks);
        after
    }

    fn earlier(&mut self, pending: &Pending, iterations: &Iterations<'_>) -> Pending {
        let Collector { function, vars, .. } = &mut self.collector;
        pending.in_earlier_iteration(&mut function.cx, vars, iterations)
    }

    /// Puts a barrier in front of the statement at `at` if its accesses conflict with pending ones;
    /// the number of statements inserted.
    fn wait_before(
        &mut self,
        stmts: &mut Vec<Stmt>,
        at: usize,
        span: Span,
        accesses: &[MemAccess],
        pending: &mut Pending,
    ) -> usize {
        let mut widest: Option<(Level, BarrierReason)> = None;
        let mut fence = false;
        let Collector { function, vars, .. } = &mut self.collector;
        for then in accesses {
            for earlier in pending.accesses() {
                let most = match then.clustered {
                    true => Level::Cluster,
                    false => Level::Block,
                };
                let enough = widest.as_ref().is_some_and(|(w, _)| *w <= most);
                if enough && (fence || !then.by_tma) {
                    break;
                }
                if earlier.buffer != then.buffer {
                    // Whoever uses one of two buffers in the same memory may meet whoever uses the
                    // other, whatever `parallel` they are in.
                    if self.overlaps.conflict(earlier, then) {
                        widest = Some((Level::Block, earlier.makes_room(then, function)));
                    }
                    continue;
                }
                if self.overlaps.are_all_that_is_new() {
                    continue;
                }
                let needs_proxy_fence =
                    earlier.hides_from(then, &mut function.cx, vars, &self.sizes);
                fence |= needs_proxy_fence.is_some();
                let level = earlier
                    .conflict(then, &mut function.cx, vars, &self.sizes)
                    .into_iter()
                    .chain(needs_proxy_fence.flatten())
                    .min();
                let Some(level) = level else {
                    continue;
                };
                if widest.as_ref().is_none_or(|(widest, _)| level < *widest) {
                    widest = Some((level, earlier.reason(then, function)));
                }
            }
        }
        let mut inserted = 0;
        if fence && !stmts.get(..at).is_some_and(tma::after_fences) {
            let kind = StmtKind::Fence(self.fence);
            stmts.insert(at, Stmt::new(kind, span));
            inserted = 1;
        }
        let at = at + inserted;
        let wide = |(level, _): &(Level, BarrierReason)| *level == Level::Cluster;
        if self.sizes.block.is_one() && !widest.as_ref().is_some_and(wide) {
            pending.settle(Level::Block, fence, None);
            return inserted;
        }
        let Some((level, why)) = widest else {
            return inserted;
        };
        // A unit that is the whole block needs no name of its own.
        let whole = self.sizes.is_whole_block(level);
        let scope = match level {
            Level::Cluster => BarrierScope::Cluster,
            Level::Block => BarrierScope::Block,
            Level::Warpgroup if whole => BarrierScope::Block,
            Level::Warpgroup => BarrierScope::Warpgroup,
            Level::Warp if whole && self.sizes.region.is_some() => BarrierScope::Block,
            Level::Warp => BarrierScope::Warp,
            Level::Thread => return inserted,
        };
        stmts.insert(at, Stmt::new(StmtKind::Barrier { scope, why }, span));
        let level = self.sizes.widened(level);
        pending.settle(level, fence, self.sizes.region.as_ref());
        inserted + 1
    }

    fn all_of(&mut self, stmts: &[Stmt], context: &Context) -> Vec<MemAccess> {
        let mut accesses = Vec::new();
        self.collector.block(stmts, context, &mut accesses);
        accesses
    }

    /// Nothing inside can need a barrier, be one, or go elsewhere.
    fn is_plain(&self, stmt: &Stmt, context: &Context) -> bool {
        if context.level() == Level::Thread {
            return only_private_work(std::slice::from_ref(stmt));
        }
        match &stmt.kind {
            StmtKind::Parallel {
                level: Level::Thread,
                body,
            } => only_private_work(body),
            // One barrier in front will do for all its iterations: they only read.
            StmtKind::For { body, .. } if only_mmas(body) => true,
            StmtKind::Barrier { .. }
            | StmtKind::Yield
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Parallel { .. }
            | StmtKind::SingleThread { .. }
            | StmtKind::Region { .. }
            | StmtKind::If { .. }
            | StmtKind::For { .. }
            | StmtKind::While { .. } => false,
            _ => true,
        }
    }
}

/// Products by warpgroups, which write only registers, and names; loops of such.
fn only_mmas(stmts: &[Stmt]) -> bool {
    stmts.iter().all(|stmt| match &stmt.kind {
        StmtKind::Mma(op) => matches!(**op, MmaOp::WarpgroupMma(_)),
        StmtKind::Let {
            value: Some(value), ..
        } => matches!(*value.kind, ExprKind::Index(_)),
        StmtKind::UseFuture(_) => true,
        StmtKind::For { body, .. } => only_mmas(body),
        _ => false,
    })
}

/// Statements at thread level in which no thread waits for, works with, or leaves others.
fn only_private_work(stmts: &[Stmt]) -> bool {
    !any_stmt(stmts, |stmt| match &stmt.kind {
        StmtKind::Barrier { .. } | StmtKind::Region { .. } => true,
        StmtKind::Copy(copy) => copy.level != Level::Thread || copy.future.is_some(),
        StmtKind::Wait { .. } | StmtKind::WaitTma { .. } | StmtKind::Mma(_) => true,
        StmtKind::WaitEvent(_) | StmtKind::Trigger(_) => true,
        StmtKind::Fill { level, .. } => *level != Level::Thread,
        _ => false,
    })
}

/// The variables that a piece of code sets, indices of `parallel` excepted: those are the same each
/// time.
fn declared(function: &Function, body: &[Stmt]) -> BTreeSet<Var> {
    let uses = crate::passes::analysis::uses::Uses::of_block(function, body);
    let locals = uses
        .declared
        .iter()
        .filter_map(|id| function.locals.get(id.index()));
    locals
        .filter(|l| !matches!(l.role, crate::ir::Role::Parallel(_)))
        .filter_map(|l| l.var)
        .collect()
}

fn follows_async_region(stmts: &[Stmt], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| stmts.get(before));
    before.is_some_and(is_async_region)
}
