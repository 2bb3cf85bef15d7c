//! Named predicates: immutable booleans over integers that never change, such as `first = p == 0;`
//! and `bool twice = true;`. A condition with the name is equivalent to one with the expression.

use crate::ir::{BinOp, Expr, ExprKind, LocalId, Scalar, UnOp, as_sym, path_facts};
use crate::sema::state::elab::Elab;

/// The most comparisons, constants and operators in the expression of one name: names that are
/// built from names must not grow exponentially.
const LARGEST: usize = 64;

/// Records the expression of an immutable boolean, if it has the same value at every later use.
pub(crate) fn note(el: &mut Elab<'_>, local: LocalId, value: &Expr) {
    if value.ty != Scalar::Bool {
        return;
    }
    let mut parts = 0;
    if let Some(value) = lasting(el, value, &mut parts) {
        el.names.predicates.insert(local, value);
    }
}

/// The value of a condition that is decided at compile time.
pub(crate) fn decided(el: &Elab<'_>, cond: Expr) -> Option<bool> {
    path_facts::decided(&el.f, &resolve(el, cond))
}

/// The expression with names of predicates replaced. `None` if it reads a value that may change, or
/// is too large.
fn lasting(el: &Elab<'_>, e: &Expr, parts: &mut usize) -> Option<Expr> {
    *parts += 1;
    if *parts > LARGEST {
        return None;
    }
    let kind = match &*e.kind {
        ExprKind::Bool(_) => return Some(e.clone()),
        ExprKind::Local(local) => {
            let value = el.names.predicates.get(local)?;
            return lasting(el, value, parts);
        }
        ExprKind::Unary(UnOp::Not, a) => ExprKind::Unary(UnOp::Not, lasting(el, a, parts)?),
        ExprKind::Binary(op @ (BinOp::LogicAnd | BinOp::LogicOr), a, b) => {
            ExprKind::Binary(*op, lasting(el, a, parts)?, lasting(el, b, parts)?)
        }
        ExprKind::Binary(op, a, b) if op.is_comparison() => {
            as_sym(&el.f, a)?;
            as_sym(&el.f, b)?;
            return Some(e.clone());
        }
        _ => return None,
    };
    Some(Expr::new(kind, e.ty, e.span))
}

/// A condition with the names of predicates replaced by their expressions.
pub(crate) fn resolve(el: &Elab<'_>, cond: Expr) -> Expr {
    let kind = match *cond.kind {
        ExprKind::Local(local) => match el.names.predicates.get(&local) {
            Some(value) => (*value.kind).clone(),
            None => ExprKind::Local(local),
        },
        ExprKind::Unary(UnOp::Not, a) => ExprKind::Unary(UnOp::Not, resolve(el, a)),
        ExprKind::Binary(op @ (BinOp::LogicAnd | BinOp::LogicOr), a, b) => {
            ExprKind::Binary(op, resolve(el, a), resolve(el, b))
        }
        other => other,
    };
    Expr::new(kind, cond.ty, cond.span)
}
