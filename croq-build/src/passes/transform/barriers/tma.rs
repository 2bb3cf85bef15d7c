//! What the copy engine touches, and when.
//!
//! One thread of a unit begins a load or a store. A load's bytes are there for every thread that waits
//! for it; what comes after the wait also comes after everything that the first thread did before it
//! began the load. A store has read its source when the statement is over, as far as that thread goes.

use std::collections::BTreeSet;

use super::Walker;
use super::access::{Executor, MemAccess};
use super::collect::{Collector, Context, team};
use super::pending::Pending;
use crate::ir::{
    Access, Arg, Arrival, BufferId, Copy, CppName, Engine, Expr, ExprKind, FenceScope, Function,
    Level, MmaOp, Stmt, StmtKind, Tma, Valid, View, Visit, walk_block,
};
use crate::symbolic::Sym;

/// Buffers that the copy engine or products of warpgroups read or write: by the async proxy, past what
/// threads have written.
pub fn moved(body: &[Stmt]) -> BTreeSet<BufferId> {
    struct Find(BTreeSet<BufferId>);
    impl Visit for Find {
        fn stmt(&mut self, stmt: &Stmt) {
            if let StmtKind::Copy(copy) = &stmt.kind
                && !copy.engine.is_threads()
            {
                self.0.extend([copy.source.buffer, copy.dest.buffer]);
            }
            if let StmtKind::Mma(op) = &stmt.kind
                && let MmaOp::Product(product) = &**op
            {
                self.0.extend(product.tiles().map(|t| t.view.buffer));
            }
        }
    }
    let mut find = Find(BTreeSet::new());
    walk_block(body, &mut find);
    find.0
}

/// What a load for all blocks of a cluster reaches in each of them, and what it reads.
pub fn clustered(body: &[Stmt]) -> BTreeSet<BufferId> {
    struct Find(BTreeSet<BufferId>);
    impl Visit for Find {
        fn stmt(&mut self, stmt: &Stmt) {
            if let StmtKind::Copy(copy) = &stmt.kind
                && is_everybodys(copy)
            {
                self.0.extend([copy.source.buffer, copy.dest.buffer]);
                self.0.extend(copy.engine.arrival().map(|a| a.barriers));
            }
        }
    }
    let mut find = Find(BTreeSet::new());
    walk_block(body, &mut find);
    find.0
}

/// All threads of the cluster must be done with what it replaces. Where an event is completed, events say so.
fn is_everybodys(copy: &Copy) -> bool {
    let event = matches!(&copy.engine, Engine::Tma(tma) if tma.event.is_some());
    copy.engine.is_multicast() && !event
}

/// What must be fenced: shared memory, or device memory as well, if threads write where the copy engine
/// reads or writes.
pub fn fence(function: &Function, body: &[Stmt], by_tma: &BTreeSet<BufferId>) -> FenceScope {
    struct Find<'a> {
        function: &'a Function,
        by_tma: &'a BTreeSet<BufferId>,
        found: bool,
    }
    impl Find<'_> {
        fn written(&mut self, id: BufferId) {
            let buffer = self.function.buffers.get(id.index());
            self.found |=
                self.by_tma.contains(&id) && buffer.is_some_and(|b| b.storage.is_global());
        }
    }
    impl Visit for Find<'_> {
        fn stmt(&mut self, stmt: &Stmt) {
            match &stmt.kind {
                StmtKind::Copy(copy) if copy.engine.is_threads() => self.written(copy.dest.buffer),
                StmtKind::Fill { view, .. } => self.written(view.buffer),
                StmtKind::Mma(op) => {
                    for (view, written) in op.views() {
                        if written {
                            self.written(view.buffer);
                        }
                    }
                }
                StmtKind::Cpp { names, .. } => {
                    for name in names {
                        if let CppName::Buffer(id) = name {
                            self.written(*id);
                        }
                    }
                }
                _ => {}
            }
        }
        fn access(&mut self, access: &Access, written: bool) {
            if written {
                self.written(access.view.buffer);
            }
        }
        fn expr(&mut self, expr: &Expr) {
            if let ExprKind::Call(call) = &*expr.kind {
                for mut arg in &call.args {
                    while let Arg::Cast(_, inner) = arg {
                        arg = inner;
                    }
                    if let Arg::Pointer(view) = arg {
                        self.written(view.buffer);
                    }
                }
            }
        }
    }
    let mut find = Find {
        function,
        by_tma,
        found: false,
    };
    walk_block(body, &mut find);
    if find.found {
        FenceScope::AsyncProxyEverywhere
    } else {
        FenceScope::AsyncProxy
    }
}

impl Walker<'_> {
    /// Walks the load or store at `at`; how many statements now stand in its place.
    pub(super) fn boxes(
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
        let touches = self.all_of(std::slice::from_ref(stmt), context);
        let inserted = self.wait_before(stmts, at, span, &touches, pending);
        let mut after = touches;
        let by_event = matches!(&copy.engine, Engine::Tma(tma) if tma.event.is_some());
        if by_event {
            // Who waits for the event comes after it.
            after.retain(|t| !t.write);
        } else if let Some(arrival) = copy.engine.arrival() {
            after.retain(|t| !t.write);
            if copy.future.is_none() {
                // Who has waited knows that it is over, what it read included.
                pending.settle_first(copy.level, context.team.as_ref());
                after.retain(|_| copy.level != Level::Block);
                for touch in &mut after {
                    touch.ordered_at = Some(copy.level);
                }
                let (view, level) = (&copy.dest, copy.level);
                self.collector
                    .arrived(arrival, view, level, context, &mut after);
            }
        }
        pending.add(after);
        1 + inserted
    }

    /// Other blocks may have the copy engine read or overwrite what threads of this one have written, and that
    /// it does not see before proxy fences.
    pub(super) fn hides_from_others(&self, stmts: &[Stmt], at: usize, pending: &Pending) -> bool {
        let everybodys = |touch: &MemAccess| {
            let buffer = self.collector.function.buffers.get(touch.buffer.index());
            buffer.is_some_and(|b| b.storage.is_global())
        };
        let fenced = stmts.get(..at).is_some_and(super::after_fences);
        let mut touches = pending.touches().iter();
        !fenced && touches.any(|touch| touch.needs_proxy_fence && everybodys(touch))
    }

    pub(super) fn wait_for_boxes(&mut self, stmt: &Stmt, context: &Context, pending: &mut Pending) {
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
}

impl Collector<'_> {
    /// One thread of the unit has the copy engine do it all.
    pub fn boxes(&mut self, copy: &Copy, tma: &Tma, context: &Context, out: &mut Vec<MemAccess>) {
        let context = match context.who {
            _ if is_everybodys(copy) => Self::once(context, Level::Cluster),
            Executor::One(_) => context.clone(),
            _ => Self::once(context, copy.level),
        };
        let first = out.len();
        self.view(&copy.source, false, context.clone(), out);
        self.view(&copy.dest, true, context.clone(), out);
        for touch in out.iter_mut().skip(first) {
            touch.by_tma = true;
            touch.in_flight = !touch.write && (copy.future.is_some() || tma.event.is_some());
            touch.needs_proxy_fence = false;
        }
        // No thread may still wait for an earlier load there.
        if let Some(arrival) = &tma.arrival {
            self.view(&slot(arrival), true, context, out);
        }
    }

    /// A load that this thread has waited for.
    fn arrived(
        &mut self,
        arrival: &Arrival,
        view: &View,
        level: Level,
        context: &Context,
        out: &mut Vec<MemAccess>,
    ) {
        // Units other than the one that waited have yet to wait for that one.
        if level != Level::Block {
            let first = out.len();
            self.view(view, true, team(context, level), out);
            for touch in out.iter_mut().skip(first) {
                touch.by_tma = true;
                touch.needs_proxy_fence = false;
                touch.ordered_at = Some(level);
            }
        }
        self.view(&slot(arrival), false, context.clone(), out);
    }
}

/// An mbarrier, as an element of its array.
fn slot(arrival: &Arrival) -> View {
    View {
        buffer: arrival.barriers,
        offset: arrival.slot.clone(),
        shape: vec![Sym::one()],
        strides: vec![Sym::one()],
        valid: vec![Valid::default()],
        frame: None,
        span: crate::source::Span::default(),
    }
}
