//! Shared buffers that are only read, or only written, between any two consecutive barriers of the
//! whole block.
//!
//! No race between a read and a write of such a buffer is possible, regardless of which thread
//! accesses which element, so the simulated GPU need not record its readers. The analysis runs on
//! the final code, inserted barriers included, and considers only the order of accesses and
//! barriers.

use crate::ir::{
    Access, BarrierScope, BufferId, Expr, Function, Kernel, MmaOp, Phase, Step, Stmt, StmtKind,
    Storage, TmaOp, View, Visit, walk_block, walk_exprs,
};
use crate::sorted::{SortedMap, SortedSet};

/// The accesses to a buffer.
#[derive(Clone, Copy, Default)]
struct Accesses {
    read: bool,
    written: bool,
}

type AccessMap = SortedMap<BufferId, Accesses>;

/// A statement sequence, summarised for the code before and after it.
#[derive(Default)]
struct Summary {
    /// Accesses before the first barrier in it, and after the last one.
    first: AccessMap,
    last: AccessMap,
    /// Every path through it contains a barrier of the whole block.
    separates: bool,
}

/// The shared buffers that are accessed, and never both read and written without a barrier of the
/// whole block between the two accesses.
pub fn separated<P: Phase>(function: &Function<P>, kernel: &Kernel<P>) -> SortedSet<BufferId> {
    let mut walk = Walk {
        function,
        accessed: SortedSet::new(),
        mixed: SortedSet::new(),
        inside_region: 0,
    };
    walk.block(&kernel.body);
    walk.accessed.difference(&walk.mixed).copied().collect()
}

struct Walk<'a, P: Phase> {
    function: &'a Function<P>,
    accessed: SortedSet<BufferId>,
    mixed: SortedSet<BufferId>,
    /// Depth of nested regions. A barrier inside a region does not synchronise the whole block.
    inside_region: usize,
}

fn join(into: &mut AccessMap, other: AccessMap) {
    for (id, accesses) in other {
        let here = into.entry(id).or_default();
        here.read |= accesses.read;
        here.written |= accesses.written;
    }
}

#[derive(Default)]
struct Found {
    accesses: Vec<(BufferId, bool)>,
    /// Buffers of pointers and tiles: their accesses may continue after the statement.
    views: Vec<BufferId>,
}

impl<P: Phase> Visit<P> for Found {
    fn access(&mut self, access: &Access, written: bool) {
        self.accesses.push((access.view.buffer, written));
    }

    fn view(&mut self, view: &View) {
        self.views.push(view.buffer);
    }
}

impl<P: Phase> Walk<'_, P> {
    fn is_shared(&self, id: BufferId) -> bool {
        let buffer = self.function.buffers.get(id.index());
        buffer.is_some_and(|b| b.storage == Storage::Shared)
    }

    fn note(&mut self, id: BufferId, writes: bool, into: &mut AccessMap) {
        if self.is_shared(id) {
            self.accessed.insert(id);
            let accesses = into.entry(id).or_default();
            accesses.read |= !writes;
            accesses.written |= writes;
        }
    }

    fn summary(&mut self, found: Found) -> Summary {
        let mut all = AccessMap::new();
        for (id, writes) in found.accesses {
            self.note(id, writes, &mut all);
        }
        self.mixed.extend(found.views);
        self.record_conflicts(&all, &all);
        Summary {
            first: all.clone(),
            last: all,
            separates: false,
        }
    }

    /// Records the conflicts of accesses that follow each other without a barrier between them.
    fn record_conflicts(&mut self, before: &AccessMap, behind: &AccessMap) {
        for (id, b) in before {
            let a = behind.get(id).copied().unwrap_or_default();
            if (b.read && a.written) || (b.written && a.read) {
                self.mixed.insert(*id);
            }
        }
    }

    fn then(&mut self, mut before: Summary, behind: Summary) -> Summary {
        self.record_conflicts(&before.last, &behind.first);
        if !before.separates {
            join(&mut before.first, behind.first);
        }
        let mut last = behind.last;
        if !behind.separates {
            join(&mut last, before.last);
        }
        Summary {
            first: before.first,
            last,
            separates: before.separates || behind.separates,
        }
    }

    /// The summary of a body that may not be executed.
    fn optional_block(&mut self, body: &[Stmt<P>]) -> Summary {
        Summary {
            separates: false,
            ..self.block(body)
        }
    }

    fn iterations(&mut self, prelude: &[Stmt<P>], condition: Summary, body: &[Stmt<P>]) -> Summary {
        let prelude = self.block(prelude);
        let head = self.then(prelude, condition);
        let body_summary = self.block(body);
        let mut iteration = self.then(head, body_summary);
        if body.iter().any(Stmt::leaves_iteration) {
            // The last access before the next iteration or the end may be any of these.
            let mut all = std::mem::take(&mut iteration.first);
            join(&mut all, std::mem::take(&mut iteration.last));
            let mut found = Found::default();
            walk_block(body, &mut found);
            for (id, writes) in found.accesses {
                self.note(id, writes, &mut all);
            }
            (iteration.first, iteration.last) = (all.clone(), all);
        }
        self.record_conflicts(&iteration.last, &iteration.first);
        iteration.separates = false;
        iteration
    }

    fn condition(&mut self, cond: &Expr) -> Summary {
        let mut found = Found::default();
        walk_exprs::<P>(cond, &mut found);
        self.summary(found)
    }

    fn block(&mut self, stmts: &[Stmt<P>]) -> Summary {
        let mut all = Summary::default();
        for stmt in stmts {
            let next = self.stmt(stmt);
            all = self.then(all, next);
        }
        all
    }

    fn stmt(&mut self, stmt: &Stmt<P>) -> Summary {
        match &stmt.kind {
            StmtKind::Barrier { scope, .. } => {
                let whole = matches!(
                    scope,
                    BarrierScope::Block | BarrierScope::Cluster | BarrierScope::Grid
                );
                Summary {
                    separates: whole && self.inside_region == 0,
                    ..Summary::default()
                }
            }
            StmtKind::For { body, .. } => self.iterations(&[], Summary::default(), body),
            StmtKind::While {
                prelude,
                cond,
                body,
            } => {
                let condition = self.condition(cond);
                let all = self.iterations(prelude, condition, body);
                // The last iteration ends after the condition, so the condition's accesses come
                // last.
                let prelude = self.leaves(prelude);
                let condition = self.condition(cond);
                let again = self.then(prelude, condition);
                self.then(all, again)
            }
            StmtKind::If {
                cond,
                then,
                otherwise,
            } => {
                let cond = self.condition(cond);
                let mut one = self.block(then);
                let other = self.block(otherwise);
                // Some threads may execute one branch while others execute the other, unless each has
                // a barrier of the block, which all threads reach together.
                if !(one.separates && other.separates) {
                    for a in [&one.first, &one.last] {
                        for b in [&other.first, &other.last] {
                            self.record_conflicts(a, b);
                        }
                    }
                }
                join(&mut one.first, other.first);
                join(&mut one.last, other.last);
                one.separates &= other.separates;
                self.then(cond, one)
            }
            StmtKind::Region {
                pred,
                elected_from,
                body,
                ..
            } => {
                let mut cond = self.condition(pred);
                if let Some((candidates, _)) = elected_from {
                    let candidates = self.condition(candidates);
                    cond = self.then(cond, candidates);
                }
                self.inside_region += 1;
                let body = self.optional_block(body);
                self.inside_region -= 1;
                self.then(cond, body)
            }
            StmtKind::SingleThread { body, .. } => self.optional_block(body),
            StmtKind::Parallel { body, .. } => self.block(body),
            _ => self.leaf(stmt),
        }
    }

    /// The summary of the accesses without the barriers among them.
    fn leaves(&mut self, stmts: &[Stmt<P>]) -> Summary {
        let mut found = Found::default();
        walk_block(stmts, &mut found);
        self.summary(found)
    }

    fn leaf(&mut self, stmt: &Stmt<P>) -> Summary {
        let mut found = Found::default();
        if let StmtKind::Copy(copy) = &stmt.kind {
            let copy = P::only(copy);
            if copy.future.is_none() && copy.engine.is_threads() {
                found.accesses = vec![(copy.source.buffer, false), (copy.dest.buffer, true)];
                return self.summary(found);
            }
        }
        walk_block(std::slice::from_ref(stmt), &mut found);
        match &stmt.kind {
            StmtKind::Tma(TmaOp::Load { moved, .. }) => found.accesses.push((moved.buffer, true)),
            // Asynchronous: these continue reading after the statement.
            StmtKind::Tma(op) => found.views.extend(op.buffers()),
            StmtKind::Mma(op) => {
                if let MmaOp::Step(Step::Describe { of, .. }) = &**op {
                    found.views.push(of.view.buffer)
                }
            }
            _ => {}
        }
        self.summary(found)
    }
}
