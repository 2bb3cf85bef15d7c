//! Integers that must be known at compile time.

use crate::syntax::ast;

/// An integer constant: literals and arithmetic on them.
pub(crate) fn constant(e: &ast::Expr) -> Option<i64> {
    use ast::{BinOp, ExprKind, UnaryOp};
    match &*e.kind {
        ExprKind::Int { value, .. } => i64::try_from(*value).ok(),
        ExprKind::Paren(inner) => constant(inner),
        ExprKind::Unary(UnaryOp::Neg, inner) => constant(inner)?.checked_neg(),
        ExprKind::Binary(op, _, a, b) => {
            let (a, b) = (constant(a)?, constant(b)?);
            match op {
                BinOp::Add => a.checked_add(b),
                BinOp::Sub => a.checked_sub(b),
                BinOp::Mul => a.checked_mul(b),
                BinOp::Div => a.checked_div(b),
                BinOp::Rem => a.checked_rem(b),
                _ => None,
            }
        }
        ExprKind::Builtin { name, args } if name.text == "cdiv" => {
            let [a, b] = args.as_slice() else { return None };
            let (a, b) = (constant(a)?, constant(b)?);
            a.checked_add(b)?.checked_sub(1)?.checked_div(b)
        }
        _ => None,
    }
}
