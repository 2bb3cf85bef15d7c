//! Removes fills that are overwritten before they are read: a declaration gives every fragment a
//! value.

use super::zero_initialisation::reached;
use crate::ir::{BufferId, ExprKind, Function, MmaOp, Stmt, StmtKind};

/// Removes them from `stmts` and the blocks inside.
pub fn remove(function: &Function, stmts: &mut Vec<Stmt>) {
    for stmt in stmts.iter_mut() {
        for inner in stmt.kind.blocks_mut() {
            remove(function, inner);
        }
    }
    let mut at = 0;
    while let Some(stmt) = stmts.get(at) {
        let filled = filled(function, stmt);
        at += 1;
        let Some((_, after)) = stmts.split_at_mut_checked(at) else {
            return;
        };
        let next = filled.and_then(|id| Some((id, reached(after, id)?)));
        if next.is_some_and(|(id, next)| overwrites(next, id)) {
            at -= 1;
            stmts.remove(at);
        }
    }
}

/// The fragment that a statement fills completely with a constant.
fn filled(function: &Function, stmt: &Stmt) -> Option<BufferId> {
    let StmtKind::Mma(op) = &stmt.kind else {
        return None;
    };
    let MmaOp::FillElements {
        part,
        add: false,
        value,
    } = &**op
    else {
        return None;
    };
    let constant = matches!(&*value.kind, ExprKind::Float(_) | ExprKind::Int(_));
    let alone = function.fragments.get(&part.buffer)?.count == 1;
    (constant && alone).then_some(part.buffer)
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
