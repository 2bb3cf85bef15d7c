//! Constructors that passes use for new variables, expressions and statements.

use super::{
    BinOp, Expr, ExprKind, Function, Level, LocalId, Role, Scalar, Stmt, StmtKind, VarHome,
};
use crate::source::Span;
use crate::symbolic::Sym;

/// A new index with values `0 <= v < count`, or without bounds.
pub fn index(
    function: &mut Function,
    name: &str,
    role: Role,
    count: Option<&Sym>,
    span: Span,
) -> (LocalId, Sym) {
    let bounds = count.map(|n| (Sym::zero(), n - 1));
    let (lo, hi) = bounds.unzip();
    let var = function.cx.new_var(name, lo, hi);
    let id = function.new_local(name, Scalar::Index, false, span);
    function.var_home.insert(var, VarHome::Local(id));
    if let Some(local) = function.locals.get_mut(id.index()) {
        local.var = Some(var);
        local.role = role;
    }
    (id, Sym::var(var))
}

/// A constant of any type, bound once: `const ty name = value;`.
pub fn value(function: &mut Function, name: &str, value: Expr) -> (Stmt, Expr) {
    let (ty, span) = (value.ty, value.span);
    let local = function.new_local(name, ty, false, span);
    (declare(local, value), Expr::local(local, ty, span))
}

/// Declares a local with its first value.
pub fn declare(local: LocalId, value: Expr) -> Stmt {
    let span = value.span;
    let value = Some(value);
    Stmt::new(StmtKind::Let { local, value }, span)
}

/// The word of type `ty` in which bit `at` alone is set.
pub fn bit(ty: Scalar, at: &Sym, span: Span) -> Expr {
    if let Some(at) = at.as_int().and_then(|at| u32::try_from(at).ok()) {
        return Expr::int(1i128.checked_shl(at).unwrap_or(0), ty, span);
    }
    let shift = ExprKind::Binary(BinOp::Shl, Expr::int(1, ty, span), at_index(at, span));
    Expr::new(shift, ty, span)
}

/// Bit `at` of a word, as 0 or 1.
pub fn bit_of(word: Expr, at: &Sym, span: Span) -> Expr {
    let ty = word.ty;
    let shifted = match at.is_zero() {
        true => word,
        false => Expr::new(
            ExprKind::Binary(BinOp::Shr, word, at_index(at, span)),
            ty,
            span,
        ),
    };
    let lowest = ExprKind::Binary(BinOp::And, shifted, Expr::int(1, ty, span));
    Expr::new(lowest, ty, span)
}

fn at_index(at: &Sym, span: Span) -> Expr {
    Expr::index(at.clone(), span)
}

/// Statements of one thread of a unit.
pub fn once(level: Level, body: Vec<Stmt>) -> StmtKind {
    let cond = None;
    StmtKind::SingleThread { level, cond, body }
}

/// `if (cond) { then }`
pub fn only_if(cond: Expr, then: Vec<Stmt>) -> StmtKind {
    StmtKind::If {
        cond,
        then,
        otherwise: Vec::new(),
    }
}
