//! Removes fills that are overwritten before they are read: a declaration gives every fragment a
//! value.

use super::zero_initialisation::{filled, remove_fills};
use crate::ir::{BufferId, ExprKind, Function, MmaOp, Stmt, StmtKind};

/// Removes them from `stmts` and the blocks inside.
pub fn remove(function: &Function, stmts: &mut Vec<Stmt>) {
    for stmt in stmts.iter_mut() {
        for inner in stmt.kind.blocks_mut() {
            remove(function, inner);
        }
    }
    let constant = |stmt: &Stmt| {
        let (id, value) = filled(function, stmt)?;
        matches!(&*value.kind, ExprKind::Float(_) | ExprKind::Int(_)).then_some(id)
    };
    remove_fills(stmts, constant, |next, id| overwrites(next, id));
}

/// Whether a statement writes every element, and reads none.
fn overwrites(stmt: &Stmt, id: BufferId) -> bool {
    let StmtKind::Mma(op) = &stmt.kind else {
        return false;
    };
    match &**op {
        MmaOp::Convert { into, from } | MmaOp::Reduce { into, from, .. } => {
            into.buffer == id && from.buffer != id
        }
        _ => false,
    }
}
