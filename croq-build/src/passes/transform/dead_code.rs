//! Drops names that nothing reads: indices of a `parallel` that its body doesn't mention, coordinates
//! of a copy along an axis of stride zero. C++ compilers warn about them.

use crate::ir::{Expr, ExprKind, Function, KernelId, LocalId, Stmt, StmtKind, retain_stmts};
use crate::passes::analysis::uses::Uses;
use std::collections::BTreeSet;

pub fn eliminate(function: &mut Function, id: KernelId) {
    function.with_kernel_body(id, |function, body| {
        loop {
            let used = Uses::of_block(function, body).locals;
            let immutable =
                |id: &LocalId| function.locals.get(id.index()).is_some_and(|l| !l.mutable);
            if !sweep(body, &used, &immutable) {
                break;
            }
        }
    });
}

/// Whether anything was dropped.
fn sweep(
    stmts: &mut Vec<Stmt>,
    used: &BTreeSet<LocalId>,
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

/// Loads may stop a kernel on the sim, calls may do anything.
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
