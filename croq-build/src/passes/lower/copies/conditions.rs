//! Run-time conditions on symbolic integers, in readable form.

use crate::ir::{BinOp, Expr, ExprKind, Scalar};
use crate::source::Span;
use crate::symbolic::{Atom, Ctx, Sym};

pub fn less(a: &Sym, b: &Sym, span: Span) -> Expr {
    compare(BinOp::Lt, a, b, span)
}

pub fn at_most(a: &Sym, b: &Sym, span: Span) -> Expr {
    compare(BinOp::Le, a, b, span)
}

/// `a <= b`, with subtracted terms moved to the other side.
pub fn at_most_in_sums(cx: &Ctx, a: &Sym, b: &Sym, span: Span) -> Expr {
    let (mut low, mut high) = (Sym::zero(), Sym::zero());
    for (coef, atoms) in (b - a).terms() {
        let term = product(cx, coef, atoms);
        if coef < 0 {
            low -= term;
        } else {
            high += term;
        }
    }
    at_most(&low, &high, span)
}

/// `a % by == 0`.
pub fn is_multiple(cx: &Ctx, a: &Sym, by: &Sym, span: Span) -> Expr {
    compare(BinOp::Eq, &cx.rem(a, by), &Sym::zero(), span)
}

/// `a` without the terms that `by` is known to divide.
pub fn remainder(cx: &Ctx, a: &Sym, by: &Sym) -> Sym {
    a.terms()
        .map(|(coef, atoms)| product(cx, coef, atoms))
        .filter(|term| !cx.divides(by, term).is_yes())
        .sum()
}

pub fn both(a: Expr, b: Expr, span: Span) -> Expr {
    Expr::new(ExprKind::Binary(BinOp::LogicAnd, a, b), Scalar::Bool, span)
}

pub fn all(conditions: Vec<Expr>, span: Span) -> Option<Expr> {
    conditions.into_iter().reduce(|a, b| both(a, b, span))
}

fn compare(op: BinOp, a: &Sym, b: &Sym, span: Span) -> Expr {
    let [a, b] = [a, b].map(|s| Expr::index(s.clone(), span));
    Expr::new(ExprKind::Binary(op, a, b), Scalar::Bool, span)
}

fn product(cx: &Ctx, coef: i64, atoms: &[Atom]) -> Sym {
    let factor = |atom: &Atom| match atom {
        Atom::Var(v) => Sym::var(*v),
        Atom::Div(a, b) => cx.div(a, b),
        Atom::Rem(a, b) => cx.rem(a, b),
        Atom::Min(a, b) => cx.min(a, b),
        Atom::Max(a, b) => cx.max(a, b),
    };
    atoms
        .iter()
        .fold(Sym::int(coef), |product, atom| &product * &factor(atom))
}
