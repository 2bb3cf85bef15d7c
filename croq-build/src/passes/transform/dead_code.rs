//! Dead-code elimination: names that are never read, such as indices of a `parallel` that its body
//! does not mention or coordinates of a copy along an axis of stride zero, for which C++ compilers
//! would print warnings; and statements without effect: branches and counted loops without a body.
//! A `while` without a body remains: it may be endless, which is reported.

use crate::ir::{Expr, ExprKind, Function, KernelId, LocalId, Stmt, StmtKind, UnOp, retain_stmts};
use crate::passes::analysis::uses::Uses;

use crate::sorted::SortedSet;

pub fn eliminate(function: &mut Function, id: KernelId) {
    function.with_kernel_body(id, |function, body| eliminate_in(function, body));
}

/// The same in a list of statements that no other statement reads names of.
pub(super) fn eliminate_in(function: &Function, body: &mut Vec<Stmt>) {
    loop {
        let used = Uses::of_block(function, body).locals;
        let immutable = |id: &LocalId| function.locals.get(id.index()).is_some_and(|l| !l.mutable);
        let swept = sweep(body, &used, &immutable);
        if !drop_empty(body) && !swept {
            break;
        }
    }
}

/// Removes unused names; whether any was removed.
fn sweep(
    stmts: &mut Vec<Stmt>,
    used: &SortedSet<LocalId>,
    immutable: &dyn Fn(&LocalId) -> bool,
) -> bool {
    let mut dropped = false;
    retain_stmts(stmts, &mut |stmt| {
        let keep = match &stmt.kind {
            StmtKind::Let {
                local,
                value: Some(value),
            } => used.contains(local) || !immutable(local) || !is_pure(value),
            _ => true,
        };
        dropped |= !keep;
        keep
    });
    dropped
}

/// Removes statements without a body; whether any was removed.
fn drop_empty(stmts: &mut Vec<Stmt>) -> bool {
    let mut dropped = false;
    stmts.retain_mut(|stmt| {
        for inner in stmt.kind.blocks_mut() {
            dropped |= drop_empty(inner);
        }
        only_otherwise(&mut stmt.kind);
        let keep = !does_nothing(&stmt.kind);
        dropped |= !keep;
        keep
    });
    dropped
}

/// `if (c) {} else { … }` becomes `if (!c) { … }`.
fn only_otherwise(kind: &mut StmtKind) {
    if let StmtKind::If {
        cond,
        then,
        otherwise,
    } = kind
        && then.is_empty()
        && !otherwise.is_empty()
    {
        let not = ExprKind::Unary(UnOp::Not, cond.clone());
        *cond = Expr::new(not, cond.ty, cond.span);
        *then = std::mem::take(otherwise);
    }
}

fn does_nothing(kind: &StmtKind) -> bool {
    let is_empty = || kind.blocks().all(|block| block.is_empty());
    match kind {
        StmtKind::If { cond, .. } | StmtKind::Region { pred: cond, .. } => {
            is_empty() && is_pure(cond)
        }
        StmtKind::For { .. } | StmtKind::Parallel { .. } | StmtKind::SingleThread { .. } => {
            is_empty()
        }
        _ => false,
    }
}

/// A load may abort a kernel on the simulated GPU, and a call may have any effect.
fn is_pure(e: &Expr) -> bool {
    match &*e.kind {
        ExprKind::Load(_) | ExprKind::Call(_) => false,
        ExprKind::Intrinsic(of, operands) => !of.info().converges && operands.iter().all(is_pure),
        ExprKind::Unary(_, a) | ExprKind::Cast(a) => is_pure(a),
        ExprKind::Binary(_, a, b) => is_pure(a) && is_pure(b),
        ExprKind::Select(a, b, c) => is_pure(a) && is_pure(b) && is_pure(c),
        ExprKind::Math(_, args) => args.iter().all(is_pure),
        _ => true,
    }
}
