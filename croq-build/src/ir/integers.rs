//! Conversion of integer expressions to symbolic ones.

use super::{BinOp, Expr, ExprKind, Function, Scalar, UnOp};
use crate::symbolic::Sym;

/// The symbolic integer that is equal to an expression. Exact: an operation that could wrap in the
/// expression's type is not converted.
pub fn as_sym(func: &Function, e: &Expr) -> Option<Sym> {
    match &*e.kind {
        ExprKind::Index(s) => Some(s.clone()),
        ExprKind::Int(n) => i64::try_from(*n).ok().map(Sym::int),
        ExprKind::Local(id) => func.locals.get(id.index())?.var.map(Sym::var),
        ExprKind::Cast(inner) if e.ty.is_integer() && inner.ty.is_integer() => {
            let s = as_sym(func, inner)?;
            fits(func, &s, e.ty).then_some(s)
        }
        ExprKind::Binary(op, a, b) if e.ty.is_integer() => {
            let (a, b) = (as_sym(func, a)?, as_sym(func, b)?);
            let s = match op {
                BinOp::Add => &a + &b,
                BinOp::Sub => &a - &b,
                BinOp::Mul => &a * &b,
                BinOp::Div if b.as_int().is_some_and(|n| n != 0) => func.cx.div(&a, &b),
                BinOp::Rem if b.as_int().is_some_and(|n| n != 0) => func.cx.rem(&a, &b),
                BinOp::Min => func.cx.min(&a, &b),
                BinOp::Max => func.cx.max(&a, &b),
                _ => return None,
            };
            fits(func, &s, e.ty).then_some(s)
        }
        ExprKind::Unary(UnOp::Neg, a) if e.ty.is_integer() => {
            let s = -as_sym(func, a)?;
            fits(func, &s, e.ty).then_some(s)
        }
        _ => None,
    }
}

fn fits(func: &Function, s: &Sym, ty: Scalar) -> bool {
    matches!(ty, Scalar::Index | Scalar::S64) || is_within(func, s, ty)
}

/// Whether all values provably fit the type; false for float types.
pub fn is_within(func: &Function, sym: &Sym, ty: Scalar) -> bool {
    let Some((least, most)) = ty.limits() else {
        return false;
    };
    func.cx.is_between(sym, least, most)
}
