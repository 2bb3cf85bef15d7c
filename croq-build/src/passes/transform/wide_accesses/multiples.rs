//! Which extents and arguments must be multiples of a number, so that a place is one.

use crate::ir::{BinOp, Expr, Function, VarHome};
use crate::source::Span;
use crate::symbolic::{Atom, Sym, Var};

/// The condition that it is a multiple.
pub(super) fn is_multiple(function: &Function, sym: &Sym, by: i64, span: Span) -> Expr {
    let rest = function.cx.rem(sym, &Sym::int(by));
    let [rest, zero] = [rest, Sym::zero()].map(|sym| Expr::index(sym, span));
    Expr::binary(BinOp::Eq, rest, zero, span)
}

/// Extents and arguments, or sums of them, which must all be multiples of `by` so that `sym` is one for
/// all values of its other variables; `None` if it is not one even then.
pub(super) fn multiples(function: &Function, sym: &Sym, by: i64) -> Option<Vec<Sym>> {
    if sym.is_poison() {
        return None;
    }
    let is_fixed = |atom: &Atom| {
        let of_launch = |var: &Var| {
            let home = function.var_home.get(var);
            matches!(home, Some(VarHome::Dim(_) | VarHome::Param(_)))
        };
        Sym::atom(atom.clone()).sorted_vars().iter().all(of_launch)
    };
    // The sum of what stands in front of each product of other variables.
    let mut groups: Vec<(Vec<Atom>, Sym)> = Vec::new();
    for (coefficient, factors) in sym.terms() {
        if coefficient % by == 0 {
            continue;
        }
        let (fixed, others): (Vec<Atom>, Vec<Atom>) = factors.iter().cloned().partition(is_fixed);
        let fixed = Sym::product(coefficient, &fixed);
        match groups.iter_mut().find(|(known, _)| *known == others) {
            Some((_, sum)) => *sum = &*sum + &fixed,
            None => groups.push((others, fixed)),
        }
    }
    let mut found: Vec<Sym> = Vec::new();
    for (_, sum) in groups {
        let divides = function.cx.divides(&Sym::int(by), &sum);
        if divides.is_no() {
            return None;
        }
        if !divides.is_yes() && !found.contains(&sum) {
            found.push(sum);
        }
    }
    Some(found)
}
