//! Shared buffers that are only read or only written between two barriers of the whole block.
//!
//! No race between a read and a write of such a buffer is possible, whoever touches which element, so
//! that the simulated GPU need not write down who reads. It looks at the finished text, inserted barriers
//! included, and at nothing but their order.

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::{
    Access, BarrierScope, BufferId, Expr, Function, Kernel, MmaOp, Phase, Step, Stmt, StmtKind,
    Storage, TmaOp, View, Visit, walk_block, walk_exprs,
};

/// What is done to a buffer.
#[derive(Clone, Copy, Default)]
struct Accesses {
    read: bool,
    written: bool,
}

type AccessMap = BTreeMap<BufferId, Accesses>;

/// A piece of text as those before and behind it see it.
#[derive(Default)]
struct Piece {
    /// What may come before any barrier in it, and behind the last one.
    first: AccessMap,
    last: AccessMap,
    /// Every way through it meets a barrier.
    separates: bool,
}

pub fn separated<P: Phase>(function: &Function<P>, kernel: &Kernel<P>) -> BTreeSet<BufferId> {
    let mut walk = Walk {
        function,
        accessed: BTreeSet::new(),
        mixed: BTreeSet::new(),
        inside_region: 0,
    };
    walk.block(&kernel.body);
    walk.accessed.difference(&walk.mixed).copied().collect()
}

struct Walk<'a, P: Phase> {
    function: &'a Function<P>,
    accessed: BTreeSet<BufferId>,
    mixed: BTreeSet<BufferId>,
    /// A barrier there is not the whole block's.
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
    /// Pointers and tiles: what is done there may go on beyond the statement.
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

    fn piece(&mut self, found: Found) -> Piece {
        let mut all = AccessMap::new();
        for (id, writes) in found.accesses {
            self.note(id, writes, &mut all);
        }
        self.mixed.extend(found.views);
        self.meet(&all, &all);
        Piece {
            first: all.clone(),
            last: all,
            separates: false,
        }
    }

    /// One comes behind the other with no barrier between.
    fn meet(&mut self, before: &AccessMap, behind: &AccessMap) {
        for (id, b) in before {
            let a = behind.get(id).copied().unwrap_or_default();
            if (b.read && a.written) || (b.written && a.read) {
                self.mixed.insert(*id);
            }
        }
    }

    fn then(&mut self, mut before: Piece, behind: Piece) -> Piece {
        self.meet(&before.last, &behind.first);
        if !before.separates {
            join(&mut before.first, behind.first);
        }
        let mut last = behind.last;
        if !behind.separates {
            join(&mut last, before.last);
        }
        Piece {
            first: before.first,
            last,
            separates: before.separates || behind.separates,
        }
    }

    /// May be left out.
    fn perhaps(&mut self, body: &[Stmt<P>]) -> Piece {
        Piece {
            separates: false,
            ..self.block(body)
        }
    }

    fn iterations(&mut self, prelude: &[Stmt<P>], condition: Piece, body: &[Stmt<P>]) -> Piece {
        let prelude = self.block(prelude);
        let head = self.then(prelude, condition);
        let body_piece = self.block(body);
        let mut iteration = self.then(head, body_piece);
        if body.iter().any(Stmt::leaves_iteration) {
            // Whatever was done may be the last before the next iteration or the end.
            let mut all = std::mem::take(&mut iteration.first);
            join(&mut all, std::mem::take(&mut iteration.last));
            let mut found = Found::default();
            walk_block(body, &mut found);
            for (id, writes) in found.accesses {
                self.note(id, writes, &mut all);
            }
            (iteration.first, iteration.last) = (all.clone(), all);
        }
        self.meet(&iteration.last, &iteration.first);
        iteration.separates = false;
        iteration
    }

    fn condition(&mut self, cond: &Expr) -> Piece {
        let mut found = Found::default();
        walk_exprs::<P>(cond, &mut found);
        self.piece(found)
    }

    fn block(&mut self, stmts: &[Stmt<P>]) -> Piece {
        let mut all = Piece::default();
        for stmt in stmts {
            let next = self.stmt(stmt);
            all = self.then(all, next);
        }
        all
    }

    fn stmt(&mut self, stmt: &Stmt<P>) -> Piece {
        match &stmt.kind {
            StmtKind::Barrier { scope, .. } => {
                let whole = matches!(
                    scope,
                    BarrierScope::Block | BarrierScope::Cluster | BarrierScope::Grid
                );
                Piece {
                    separates: whole && self.inside_region == 0,
                    ..Piece::default()
                }
            }
            StmtKind::For { body, .. } => self.iterations(&[], Piece::default(), body),
            StmtKind::While {
                prelude,
                cond,
                body,
            } => {
                let condition = self.condition(cond);
                let all = self.iterations(prelude, condition, body);
                // The last iteration ends behind the condition, which is then what came last.
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
                if let Some((asked, _)) = elected_from {
                    let asked = self.condition(asked);
                    cond = self.then(cond, asked);
                }
                self.inside_region += 1;
                let body = self.perhaps(body);
                self.inside_region -= 1;
                self.then(cond, body)
            }
            StmtKind::SingleThread { body, .. } => self.perhaps(body),
            StmtKind::Parallel { body, .. } => self.block(body),
            _ => self.leaf(stmt),
        }
    }

    /// As if all of it came at once, without its barriers.
    fn leaves(&mut self, stmts: &[Stmt<P>]) -> Piece {
        let mut found = Found::default();
        walk_block(stmts, &mut found);
        self.piece(found)
    }

    fn leaf(&mut self, stmt: &Stmt<P>) -> Piece {
        let mut found = Found::default();
        if let StmtKind::Copy(copy) = &stmt.kind {
            let copy = P::only(copy);
            if copy.future.is_none() && copy.engine.is_threads() {
                found.accesses = vec![(copy.source.buffer, false), (copy.dest.buffer, true)];
                return self.piece(found);
            }
        }
        walk_block(std::slice::from_ref(stmt), &mut found);
        match &stmt.kind {
            StmtKind::Tma(TmaOp::Load { moved, .. }) => found.accesses.push((moved.buffer, true)),
            // They go on reading.
            StmtKind::Tma(op) => found.views.extend(op.buffers()),
            StmtKind::Mma(op) => {
                if let MmaOp::Step(Step::Describe { of, .. }) = &**op {
                    found.views.push(of.view.buffer)
                }
            }
            _ => {}
        }
        self.piece(found)
    }
}
