//! MMA groups: consecutive MMAs.

use super::pass::mma;
use crate::ir::{BufferId, ExprKind, MmaOp, Step, Stmt, StmtKind, Unroll, Visit, walk_block};
use crate::sorted::SortedSet;
use crate::source::Span;

/// Loops of MMAs with at most this many iterations are unrolled: the distances between operands are
/// then constant.
const ITERATIONS: i64 = 16;

pub type Registers = SortedSet<BufferId>;

/// Consecutive MMAs, and declarations among them.
pub struct MmaGroup(pub Vec<Stmt>);

impl MmaGroup {
    pub fn of(stmts: Vec<Stmt>) -> Option<MmaGroup> {
        has(&stmts, &is_mma).then_some(MmaGroup(stmts))
    }

    pub fn span(&self) -> Span {
        let last = self.0.iter().rev().find(|s| !is_declaration(s));
        last.map_or_else(Span::default, |s| s.span)
    }

    pub fn registers(&self) -> Vec<BufferId> {
        registers_of(&self.0).into_iter().collect()
    }

    /// Whether the program waits explicitly for one of them.
    pub fn is_waited_for(&self) -> bool {
        has(&self.0, &|s| operation(s).is_some())
    }

    /// The statements that issue them as one group.
    pub fn issued(mut self) -> Vec<Stmt> {
        let (registers, span) = (self.registers(), self.span());
        unroll(&mut self.0);
        let mut stmts = vec![step(Step::Fence { registers }, span)];
        stmts.extend(self.0);
        stmts.push(step(Step::Commit, span));
        stmts
    }
}

fn unroll(stmts: &mut [Stmt]) {
    for stmt in stmts {
        if let StmtKind::For {
            lo,
            hi,
            unroll: how,
            body,
            ..
        } = &mut stmt.kind
        {
            unroll(body);
            let few = (&*hi - &*lo).as_int().is_some_and(|n| n <= ITERATIONS);
            if few && how.is_none() {
                *how = Some(Unroll::Full);
            }
        }
    }
}

pub fn step(step: Step, span: Span) -> Stmt {
    mma(MmaOp::Step(step), span)
}

pub fn has(stmts: &[Stmt], wanted: &dyn Fn(&Stmt) -> bool) -> bool {
    stmts
        .iter()
        .any(|stmt| wanted(stmt) || stmt.kind.blocks().any(|inner| has(inner, wanted)))
}

pub fn is_mma(stmt: &Stmt) -> bool {
    matches!(&stmt.kind, StmtKind::Mma(op) if matches!(**op, MmaOp::WarpgroupMma(_)))
}

/// `mma.commit`
pub fn is_commit(stmt: &Stmt) -> bool {
    matches!(&stmt.kind, StmtKind::Mma(op) if matches!(**op, MmaOp::CommitAll(())))
}

pub fn concerns_mmas(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Mma(op) => {
            matches!(
                **op,
                MmaOp::WarpgroupMma(_) | MmaOp::CommitAll(()) | MmaOp::WaitMma(_)
            )
        }
        _ => false,
    }
}

/// The program's number of an MMA for which it waits explicitly.
pub fn operation(stmt: &Stmt) -> Option<u32> {
    match &stmt.kind {
        StmtKind::Mma(op) => match &**op {
            MmaOp::WarpgroupMma(mma) => mma.operation,
            _ => None,
        },
        _ => None,
    }
}

/// Whether the statement is an MMA, or a loop of only MMAs and declarations.
pub fn is_mma_group(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::For { body, .. } => {
            has(body, &is_mma)
                && body.iter().all(is_part_of_group)
                && !has(body, &|s| operation(s).is_some())
        }
        _ => is_mma(stmt),
    }
}

pub fn is_part_of_group(stmt: &Stmt) -> bool {
    (is_mma_group(stmt) && operation(stmt).is_none()) || is_declaration(stmt)
}

/// Whether the statement declares a variable for an integer expression, or uses a future.
pub fn is_declaration(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Let {
            value: Some(value), ..
        } => matches!(*value.kind, ExprKind::Index(_)),
        StmtKind::UseFuture(_) => true,
        _ => false,
    }
}

pub fn registers_of(stmts: &[Stmt]) -> Registers {
    struct Find(Registers);
    impl Visit for Find {
        fn stmt(&mut self, stmt: &Stmt) {
            if let StmtKind::Mma(op) = &stmt.kind
                && let MmaOp::WarpgroupMma(mma) = &**op
            {
                self.0.extend(mma.parts().iter().map(|part| part.buffer));
            }
        }
    }
    let mut find = Find(Registers::new());
    walk_block(stmts, &mut find);
    find.0
}
