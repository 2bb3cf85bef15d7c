//! Insertion of barriers: the minimal number that orders all conflicting accesses.
//!
//! A unit (block, warpgroup, warp) executes its statements in order, but its threads do not run in
//! lockstep. So wherever one statement writes a buffer that another reads or writes, and the two
//! accesses to one element may be made by different threads, the threads of the unit must
//! synchronise in between. The pass walks the statements in order with the accesses since the last
//! synchronisation (the pending accesses), and inserts a barrier before the first statement that
//! conflicts with one of them. That is as late as possible, hence as few as possible.
//!
//! * A loop's body is walked twice. In the second walk the accesses of the previous iteration are
//!   pending at its start, with fresh unknown values for everything that the loop changes, so a
//!   conflict between iterations gets its barrier in the right place.
//! * The instances of a `parallel` are independent: threads of different instances never conflict
//!   inside its body. Where the threads of one warp or warpgroup conflict, a barrier over that unit
//!   suffices. Only copies by a whole unit inside a body of finer level concern that unit again.
//! * If both accesses to an element are always made by the same thread, no barrier is needed:
//!   program order suffices. `injectivity` proves it.
//! * A barrier that only some threads reach would be a deadlock, so conflicts with accesses before
//!   an `inthreads`, a statement for a single thread, or a possibly divergent branch are resolved
//!   before it.
//! * TMA accesses shared memory through the async proxy: it does not see the writes of threads
//!   before these execute a proxy fence. Where TMA follows such writes, the fences are inserted
//!   before the barrier. Data that TMA writes is visible to all threads that wait for it, so no
//!   barrier follows.
//!
//! After this pass, accesses through the views of the program in program order are correct;
//! `kernel.waits` is whether any thread can wait for another.
//!
//! Buffers that share storage are handled later, when [`crate::passes::analysis::shared_memory`]
//! has placed them: a second walk finds the places where one of two is used after the other without
//! a barrier of the block in between.

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
mod shared_bytes;
mod statements;
mod tma;
mod updates;
mod vars;

#[cfg(test)]
pub mod races;
#[cfg(test)]
mod tests;

use crate::ir::{
    BarrierReason, BarrierScope, Engine, FenceScope, Function, KernelId, Level, Stmt, StmtKind,
    any_stmt,
};
use crate::source::Span;
use crate::symbolic::Sym;
use access::{Comparing, MemAccess, Sizes};
use collect::{Collector, Context};
use events::Handshakes;
pub use independent::independent;
use injectivity::Comparisons;
use overlaps::Overlaps;
pub use overlaps::Pairs;
pub use owned::shared_by_instances;
use pending::Pending;
pub use shared_bytes::find as shared_bytes;
use statements::{
    declared, end_regions, follows_async_region, has_barrier, has_exchange, only_computations,
    only_mmas, only_private_work,
};
pub use tma::moved as moved_by_tma;
use vars::Iterations;
pub use vars::Vars;

pub fn insert_barriers(function: &mut Function, id: KernelId) {
    let Some(kernel) = function.kernels.get(id.index()) else {
        return;
    };
    // A block of one thread only needs ordering with TMA.
    let one_thread = kernel.threads.is_one();
    function.with_kernel_body(id, |function, body| {
        if !one_thread || !moved_by_tma(body).is_empty() {
            if !one_thread {
                end_regions(body);
            }
            walk(function, id, body, Overlaps::default());
        }
    });
    record_waits(function, id);
}

/// The `pairs` of overlapping buffers that would need barriers that the kernel does not have.
pub fn missing_barriers(function: &mut Function, id: KernelId, pairs: &Pairs) -> Pairs {
    let Some(kernel) = function.kernels.get(id.index()) else {
        return Pairs::new();
    };
    if kernel.threads.is_one() {
        return Pairs::new();
    }
    let mut body = kernel.body.clone();
    walk(function, id, &mut body, Overlaps::only_noted(pairs)).noted
}

/// Inserts barriers between the uses of the two buffers of each pair, which overlap.
pub fn separate(function: &mut Function, id: KernelId, pairs: &Pairs) {
    let Some(kernel) = function.kernels.get_mut(id.index()) else {
        return;
    };
    if kernel.threads.is_one() {
        return;
    }
    function.with_kernel_body(id, |function, body| {
        walk(function, id, body, Overlaps::of(pairs));
    });
    record_waits(function, id);
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
    let handshakes = Handshakes::of(function, body);
    let mut walker = Walker {
        collector: Collector::new(function, vars, by_tma, tma::clustered(body)),
        comparisons: Comparisons::default(),
        sizes: Sizes {
            block: threads.unwrap_or_else(Sym::one),
            region: None,
        },
        handshakes,
        loops: Vec::new(),
        overlaps,
        fence,
        after_fences: false,
    };
    let context = Context::of_kernel();
    walker.block(body, &context, Pending::default());
    walker.overlaps
}

fn record_waits(function: &mut Function, id: KernelId) {
    let Some(kernel) = function.kernels.get(id.index()) else {
        return;
    };
    let uses = crate::passes::analysis::uses::Uses::of_block(function, &kernel.body);
    let waits = uses.opaque || has_barrier(&kernel.body) || has_exchange(&kernel.body);
    if let Some(kernel) = function.kernels.get_mut(id.index()) {
        kernel.waits = waits;
    }
}

/// Loops in at least this many others are walked once, with all of their accesses pending at the
/// start, because each level of nesting would double the time otherwise. Such a loop may get a
/// superfluous barrier.
const PRECISE_NESTING: usize = 6;

/// The accesses pending at the exits of a loop other than the end of its body.
#[derive(Default)]
struct Exits {
    breaks: Pending,
    continues: Pending,
}

struct Walker<'a> {
    collector: Collector<'a>,
    sizes: Sizes,
    comparisons: Comparisons,
    loops: Vec<Exits>,
    overlaps: Overlaps,
    handshakes: Handshakes,
    /// The fence that the kernel needs.
    fence: FenceScope,
    /// The previous statement is a proxy fence.
    after_fences: bool,
}

impl Walker<'_> {
    /// Walks `stmts` with `pending` at their start, and returns the accesses pending at their end.
    fn block(&mut self, stmts: &mut Vec<Stmt>, context: &Context, mut pending: Pending) -> Pending {
        let mut at = 0;
        while at < stmts.len() {
            at += self.statement(stmts, at, context, &mut pending);
        }
        pending
    }

    /// Statements with rules of their own, and waits; `None` for all others.
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
                Some(self.tma_copy(stmts, at, context, pending))
            }
            StmtKind::WaitEvent(_) | StmtKind::Trigger(_) => Some(events::event(
                &self.handshakes,
                self.fence,
                stmts,
                at,
                context,
                pending,
            )),
            StmtKind::WaitTma { .. } => {
                self.wait_for_tma(stmt, context, pending);
                Some(1)
            }
            StmtKind::Barrier {
                scope: BarrierScope::Grid,
                ..
            } if tma::has_unfenced_global_writes(self.collector.function, stmts, at, pending) => {
                stmts.insert(at, Stmt::new(StmtKind::Fence(self.fence), span));
                pending.order(Level::Cluster, true, None);
                Some(2)
            }
            // Its bytes are written at the wait; uses of the previous contents must precede it.
            StmtKind::Copy(copy) if copy.future.is_some() => {
                let accesses = self.all_of(std::slice::from_ref(stmt), context);
                let reads = accesses.iter().filter(|t| !t.write).cloned().collect();
                let inserted = self.wait_before(stmts, at, span, &accesses, pending);
                pending.add(reads);
                Some(1 + inserted)
            }
            // Each thread waits for its own part of the copy, so no barrier is needed before it.
            StmtKind::Wait { .. } => {
                let accesses = self.all_of(std::slice::from_ref(stmt), context);
                pending.add(accesses);
                Some(1)
            }
            _ => None,
        }
    }

    /// Walks the statement at `at`, and returns the number of statements that replace it.
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
        let whole = match self.is_plain(stmt, context) {
            true => Some(self.all_of(std::slice::from_ref(stmt), context)),
            false => self.of_reading_loop(stmt, context),
        };
        if let Some(accesses) = whole {
            let inserted = self.wait_before(stmts, at, span, &accesses, pending);
            pending.add(accesses);
            return 1 + inserted;
        }
        // Conflicts to resolve before the whole statement: those of its condition, and of
        // everything inside where no barrier may be inserted.
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

    /// Adds the accesses of the statement at `at` in bodies where no barrier may be inserted, and
    /// returns the context of its body.
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
                inner = Collector::single_thread(context, *level);
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
                    self.concurrent_regions(
                        stmts.get(at + 1..).unwrap_or_default(),
                        context,
                        first,
                    );
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

    /// Walks the TMA load or store at `at`, and returns the number of statements that replace it.
    fn tma_copy(
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
            // Threads that wait for the event follow the load.
            after.retain(|t| !t.write);
        } else if let Some(arrival) = copy.engine.arrival() {
            after.retain(|t| !t.write);
            if copy.future.is_none() {
                // The wait also implies that the reads of the copy are complete.
                pending.order_first(copy.level, context.inner_region.as_ref());
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

    fn wait_for_tma(&mut self, stmt: &Stmt, context: &Context, pending: &mut Pending) {
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

    /// Concurrent regions start together: a barrier before one of them must precede all of them.
    fn concurrent_regions(&mut self, stmts: &[Stmt], context: &Context, out: &mut Vec<MemAccess>) {
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
                    // An explicit barrier: the program determines its threads.
                    BarrierScope::Named { .. }
                    | BarrierScope::Arrive { .. }
                    | BarrierScope::Lanes(_) => return,
                };
                let level = self.sizes.widened(level);
                pending.order(level, self.after_fences, self.sizes.region.as_ref());
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
            // Not every thread executes it.
            StmtKind::SingleThread { body, .. } => {
                let after = self.block(body, context, pending.clone());
                pending.join(&after);
            }
            StmtKind::Region { set, body, .. } => {
                // Barriers inside order accesses only among the region's threads.
                let mut own = Vec::new();
                self.collector.block(body, context, &mut own);
                let around = self.sizes.region.clone();
                self.sizes.region = set.clone().or(around.clone());
                let before = self.before_region(body, &own, context, pending);
                let after = self.block(body, context, before);
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

    /// The accesses that are pending for the threads of a region, of which `own` are the accesses. Those
    /// of asynchronous regions of other threads are not: no barrier orders them.
    fn before_region(
        &self,
        body: &[Stmt],
        own: &[MemAccess],
        context: &Context,
        pending: &Pending,
    ) -> Pending {
        let grid = |stmt: &Stmt| {
            let kind = &stmt.kind;
            matches!(kind, StmtKind::Barrier { scope, .. } if *scope == BarrierScope::Grid)
        };
        let whole = own.iter().any(MemAccess::is_in_an_unknown_block)
            || self.overlaps.is_second_walk()
            || any_stmt(body, grid);
        match context.set.as_ref().filter(|_| !whole) {
            Some(set) => pending.without_others(set),
            None => pending.clone(),
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
                let none = Pending::unreachable();
                let skipped = if runs { none } else { pending.clone() };
                let all = self.accesses_of_nested_loop(pending, &[body], context);
                let iteration = |w: &mut Self, start: Pending| {
                    let end = w.block(body, context, start);
                    (Pending::unreachable(), end)
                };
                let iterations = Iterations {
                    changing: &changing,
                    last: last.as_ref(),
                    only_one_ago: true,
                };
                let entry = (&*pending, all);
                let mut after = self.walk_loop(iterations, entry, iteration);
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
                *pending = self.walk_loop(iterations, entry, iteration);
            }
            _ => {}
        }
    }

    /// For a loop that is nested too deeply for several walks: the accesses pending at its start,
    /// and all of its own.
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

    /// Walks a loop two or three times. `iteration` walks one iteration and returns the accesses
    /// pending where the loop may end, and at the end of the iteration. `before`: pending at the
    /// entry. `all`: given if only one walk is allowed; a superset of the accesses that an
    /// iteration leaves pending.
    fn walk_loop(
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
            // No barrier in a whole iteration: the accesses may be any number of iterations old.
            let mut start = before.clone();
            start.join(&one_ago);
            start.join(&self.earlier(&end, &iterations));
            (stop, end, breaks) = walk(self, start);
        }
        // A `while` ends only at its condition; a `for` at the end of an iteration.
        let mut after = if stop.is_reachable() { stop } else { end };
        after.join(&breaks);
        after
    }

    fn earlier(&mut self, pending: &Pending, iterations: &Iterations<'_>) -> Pending {
        let Collector { function, vars, .. } = &mut self.collector;
        pending.in_earlier_iteration(&mut function.cx, vars, iterations)
    }

    /// Inserts a barrier before the statement at `at` if its accesses conflict with pending ones,
    /// and returns the number of statements inserted.
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
                    // Accesses to two overlapping buffers conflict regardless of the `parallel`
                    // that they are in.
                    if self.overlaps.conflict(earlier, then) {
                        widest = Some((Level::Block, earlier.reuse_reason(then, function)));
                    }
                    continue;
                }
                if self.overlaps.is_second_walk() {
                    continue;
                }
                let mut within = Comparing {
                    cx: &mut function.cx,
                    vars,
                    sizes: &self.sizes,
                    comparisons: &mut self.comparisons,
                };
                let needs_proxy_fence = earlier.missing_fence(then, &mut within);
                fence |= needs_proxy_fence.is_some();
                let level = earlier
                    .conflict(then, &mut within)
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
            pending.order(Level::Block, fence, None);
            return inserted;
        }
        let Some((level, why)) = widest else {
            return inserted;
        };
        // A unit that is the whole block uses the block's barrier.
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
        pending.order(level, fence, self.sizes.region.as_ref());
        inserted + 1
    }

    fn all_of(&mut self, stmts: &[Stmt], context: &Context) -> Vec<MemAccess> {
        let mut accesses = Vec::new();
        self.collector.block(stmts, context, &mut accesses);
        accesses
    }

    /// The accesses of a loop that only computes and reads: one barrier before it suffices for all its
    /// iterations.
    fn of_reading_loop(&mut self, stmt: &Stmt, context: &Context) -> Option<Vec<MemAccess>> {
        let StmtKind::For { body, .. } = &stmt.kind else {
            return None;
        };
        let accesses =
            only_computations(body).then(|| self.all_of(std::slice::from_ref(stmt), context));
        accesses.filter(|all| all.iter().all(|access| !access.write))
    }

    /// Whether no statement inside can need a barrier, be one, or change the control flow.
    fn is_plain(&self, stmt: &Stmt, context: &Context) -> bool {
        if context.level() == Level::Thread {
            return only_private_work(std::slice::from_ref(stmt));
        }
        match &stmt.kind {
            StmtKind::Parallel {
                level: Level::Thread,
                body,
            } => only_private_work(body),
            // One barrier before the loop suffices for all its iterations: they only read.
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
