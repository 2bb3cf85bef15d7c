//! Slabs: products in a row.

use std::collections::BTreeSet;

use super::pass::mma;
use crate::ir::{BufferId, ExprKind, MmaOp, Step, Stmt, StmtKind, Unroll, Visit, walk_block};
use crate::source::Span;

/// Loops of products with so many iterations are unrolled: operands are then known distances from each other.
const ITERATIONS: i64 = 16;

pub type Registers = BTreeSet<BufferId>;

/// Products in a row, and names among them.
pub struct MmaGroup(pub Vec<Stmt>);

impl MmaGroup {
    pub fn of(stmts: Vec<Stmt>) -> Option<MmaGroup> {
        has(&stmts, &is_mma).then_some(MmaGroup(stmts))
    }

    pub fn span(&self) -> Span {
        let last = self.0.iter().rev().find(|s| !is_name(s));
        last.map_or_else(Span::default, |s| s.span)
    }

    pub fn registers(&self) -> Vec<BufferId> {
        registers_of(&self.0).into_iter().collect()
    }

    /// The program waits for one of them itself.
    pub fn is_waited_for(&self) -> bool {
        has(&self.0, &|s| operation(s).is_some())
    }

    /// The statements that begin them, as a group.
    pub fn begun(mut self) -> Vec<Stmt> {
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
pub fn is_finish(stmt: &Stmt) -> bool {
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

/// What the program calls a product that it waits for itself.
pub fn operation(stmt: &Stmt) -> Option<u32> {
    match &stmt.kind {
        StmtKind::Mma(op) => match &**op {
            MmaOp::WarpgroupMma(mma) => mma.operation,
            _ => None,
        },
        _ => None,
    }
}

/// A product, or a loop of products and names alone.
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
    (is_mma_group(stmt) && operation(stmt).is_none()) || is_name(stmt)
}

/// An integer that is given a name.
pub fn is_name(stmt: &Stmt) -> bool {
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
