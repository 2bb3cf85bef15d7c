//! Division of polynomials, without facts about the variables.

use super::sym::{Sym, Term};

pub(super) fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    // Only gcd(MIN, MIN) and gcd(MIN, 0) do not fit.
    i64::try_from(a).unwrap_or(1)
}

impl Term {
    /// The greatest common divisor as a term with a positive coefficient.
    pub(super) fn common(&self, other: &Term) -> Term {
        Term {
            factors: self.factors.common(&other.factors),
            coef: gcd(self.coef, other.coef).max(1),
        }
    }

    pub(super) fn is_unit(&self) -> bool {
        self.coef == 1 && self.factors.is_empty()
    }

    /// `self / other` if it is a term with an integer coefficient.
    pub(super) fn exact_quotient(&self, other: &Term) -> Option<Term> {
        if self.coef.checked_rem(other.coef)? != 0 {
            return None;
        }
        let coef = self.coef.checked_div(other.coef)?;
        Some(Term {
            factors: self.factors.without(&other.factors)?,
            coef,
        })
    }
}

/// `(q, r)` with `e == q * by + r`, where no term of `r` is divisible by the leading term of `by`
/// with a quotient of at least one. It is an identity of polynomials: the sign of `r` is arbitrary.
/// Division by zero and poison give `(0, e)`.
pub(super) fn split(e: &Sym, by: &Sym) -> (Sym, Sym) {
    let nothing = || (Sym::zero(), e.clone());
    let Some([lead, ..]) = by.raw_terms() else {
        return nothing();
    };
    let mut left = e.clone();
    let mut quotient = Sym::zero();
    let mut remainder: Vec<Term> = Vec::new();
    // Each iteration removes the leading term of the remainder; the limit only guards against an
    // error in the termination.
    for _ in 0..512 {
        let Some(top) = left.raw_terms().map(|terms| terms.first().cloned()) else {
            return nothing();
        };
        let Some(top) = top else {
            return (quotient, Sym::from_unsorted(remainder));
        };
        let factors = top.factors.without(&lead.factors);
        let coef = top.coef.checked_div(lead.coef).unwrap_or(0);
        if let Some(factors) = factors.filter(|_| coef != 0) {
            let step = Sym::term(coef, factors);
            quotient = &quotient + &step;
            left = &left - &step * by;
            if left.is_poison() || quotient.is_poison() {
                return nothing();
            }
            // If the coefficient was not divisible, a smaller multiple of the product remains the
            // leading term.
            if top.coef.checked_rem(lead.coef) == Some(0) {
                continue;
            }
        }
        if let Some((first, others)) = left.raw_terms().and_then(<[Term]>::split_first) {
            remainder.push(first.clone());
            left = Sym::from_sorted(others.to_vec());
        }
    }
    nothing()
}

/// The quotient if `by` divides `e` as a polynomial.
pub(super) fn exact_quotient(e: &Sym, by: &Sym) -> Option<Sym> {
    let (q, r) = split(e, by);
    (r.is_zero() && !by.is_zero()).then_some(q)
}

/// The greatest term that divides every term; `None` for zero and poison.
pub(super) fn content(e: &Sym) -> Option<Term> {
    let (first, others) = e.raw_terms()?.split_first()?;
    let own = Term {
        factors: first.factors.clone(),
        coef: gcd(first.coef, 0).max(1),
    };
    Some(others.iter().fold(own, |common, term| common.common(term)))
}

/// Divides every term by `by`, which must divide each.
pub(super) fn without(e: &Sym, by: &Term) -> Option<Sym> {
    let terms: Option<Vec<Term>> = e
        .raw_terms()?
        .iter()
        .map(|t| t.exact_quotient(by))
        .collect();
    Some(Sym::from_unsorted(terms?))
}

pub(super) fn of_term(term: &Term) -> Sym {
    Sym::term(term.coef, term.factors.clone())
}
