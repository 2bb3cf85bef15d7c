//! Divisibility: residues modulo constants, and division of forms by symbolic divisors.

use super::division;
use super::division::gcd;
use super::prove::Prover;
use super::sym::{Atom, Sym, Term};
use super::truth::Truth;

/// The value is `residue` plus a multiple of `modulus`; with a modulus of zero it is the constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Residue {
    modulus: i64,
    residue: i64,
}

impl Residue {
    const ANY: Residue = Residue {
        modulus: 1,
        residue: 0,
    };

    fn new(modulus: i64, residue: i64) -> Residue {
        match modulus.checked_abs() {
            None => Residue::ANY,
            Some(0) => Residue {
                modulus: 0,
                residue,
            },
            Some(modulus) => Residue {
                modulus,
                residue: residue.rem_euclid(modulus),
            },
        }
    }

    fn plus(self, other: Residue) -> Residue {
        match self.residue.checked_add(other.residue) {
            Some(residue) => Residue::new(gcd(self.modulus, other.modulus), residue),
            None => Residue::ANY,
        }
    }

    fn times(self, other: Residue) -> Residue {
        // (m x + r)(n y + s) == m n xy + m s x + n r y + r s
        let all = (|| {
            let product = self.modulus.checked_mul(other.modulus)?;
            let left = self.modulus.checked_mul(other.residue)?;
            let right = other.modulus.checked_mul(self.residue)?;
            let residue = self.residue.checked_mul(other.residue)?;
            Some(Residue::new(gcd(gcd(product, left), right), residue))
        })();
        all.unwrap_or(Residue::ANY)
    }

    /// The residue of a value that is one of the two.
    fn either(self, other: Residue) -> Residue {
        match self.residue.checked_sub(other.residue) {
            Some(apart) => Residue::new(gcd(gcd(self.modulus, other.modulus), apart), self.residue),
            None => Residue::ANY,
        }
    }

    /// The more precise of two residues of the same value, if one implies the other; else the
    /// first.
    fn sharper(self, other: Residue) -> Residue {
        let implies =
            |a: Residue, b: Residue| b.modulus != 0 && a.modulus.checked_rem(b.modulus) == Some(0);
        if implies(other, self) { other } else { self }
    }
}

impl Prover<'_> {
    /// Whether `d` divides `a`.
    pub fn divides(&self, d: &Sym, a: &Sym) -> Truth {
        if d.is_poison() || a.is_poison() || d.is_zero() {
            return Truth::Unknown;
        }
        if a.is_zero() || d.is_one() {
            return Truth::Yes;
        }
        if let Some(d) = d.as_int().and_then(i64::checked_abs) {
            let found = self.residue(a, 0);
            if let Some(0) = found.modulus.checked_rem(d) {
                return if found.residue % d == 0 {
                    Truth::Yes
                } else {
                    Truth::No
                };
            }
            if found.residue % gcd(found.modulus, d).max(1) != 0 {
                return Truth::No;
            }
        }
        if self.divides_by_form(d, a) {
            return Truth::Yes;
        }
        let (_, r) = self.split_known(a, d);
        // The remainder is strictly between zero and the divisor.
        if self.positive(d) {
            let below = |r: &Sym| self.nonneg(&(r - 1)) && self.nonneg(&(d - r - 1));
            if below(&r) || below(&-&r) {
                return Truth::No;
            }
        }
        Truth::Unknown
    }

    /// Divisibility without a search: by residue or by polynomial division.
    pub(super) fn divides_by_form(&self, d: &Sym, a: &Sym) -> bool {
        if let Some(d) = d.as_int().and_then(i64::checked_abs)
            && d != 0
        {
            let found = self.residue(a, 0);
            if found.modulus % d == 0 && found.residue % d == 0 {
                return true;
            }
        }
        let (_, mut r) = division::split(a, d);
        for (known, multiple) in &self.facts.divisors {
            if r.is_zero() {
                break;
            }
            if division::exact_quotient(known, d).is_some() {
                r = division::split(&r, multiple).1;
            }
        }
        r.is_zero() && !d.is_zero()
    }

    /// The greatest constant known to divide `a`.
    pub fn constant_divisor(&self, a: &Sym) -> Option<i64> {
        if a.is_poison() {
            return None;
        }
        let found = self.residue(&self.simplified(a), 0);
        Some(gcd(found.modulus, found.residue)).filter(|g| *g != 0)
    }

    pub(super) fn never_zero_by_residue(&self, e: &Sym) -> bool {
        if self.residue(e, 0).residue != 0 {
            return true;
        }
        // Modulo `b`, `x % b` equals `x`.
        e.top_atoms().into_iter().any(|atom| {
            let Atom::Rem(_, b) = atom else { return false };
            let same = self.rebuild(e, &|other| match other {
                Atom::Rem(x, c) if c == b => Some(x.clone()),
                _ => None,
            });
            self.divides(b, &same) == Truth::No
        })
    }

    fn residue(&self, e: &Sym, depth: u32) -> Residue {
        let Some(terms) = e.raw_terms() else {
            return Residue::ANY;
        };
        if depth > 8 {
            return Residue::ANY;
        }
        let by_terms = terms.iter().fold(Residue::new(0, 0), |sum, term| {
            sum.plus(self.residue_of_term(term, depth))
        });
        // A sum that is assumed to be divisible as a whole.
        let mut best = by_terms;
        for (d, multiple) in &self.facts.divisors {
            let Some(d) = d.as_int() else { continue };
            if terms.len() > 1 && multiple.raw_terms().is_some_and(|t| t.len() > 1) {
                let (times, rest) = division::split(e, multiple);
                if !times.is_zero() && rest.terms().count() < terms.len() {
                    let whole = self.residue(&times, depth + 1).times(Residue::new(d, 0));
                    best = best.sharper(whole.plus(self.residue(&rest, depth + 1)));
                }
            }
        }
        best
    }

    fn residue_of_term(&self, term: &Term, depth: u32) -> Residue {
        let mut product = Residue::new(0, term.coef);
        for factor in &term.factors {
            product = product.times(self.residue_of_atom(factor, depth));
        }
        // A product that is assumed to be divisible as a whole.
        for (d, multiple) in &self.facts.divisors {
            let (Some(d), Some([known])) = (d.as_int(), multiple.raw_terms()) else {
                continue;
            };
            let Some(others) = term.factors.without(&known.factors) else {
                continue;
            };
            if known.factors.len() < 2 {
                continue;
            }
            let part = d / gcd(d, known.coef).max(1);
            let mut whole = Residue::new(part, 0).times(Residue::new(0, term.coef));
            for factor in &others {
                whole = whole.times(self.residue_of_atom(factor, depth));
            }
            product = product.sharper(whole);
        }
        product
    }

    fn residue_of_atom(&self, atom: &Atom, depth: u32) -> Residue {
        let mut found = match atom {
            Atom::Var(v) => {
                let range = self.facts.range_of(*v);
                match range.lo.filter(|_| range.lo == range.hi).map(i64::try_from) {
                    Some(Ok(value)) => Residue::new(0, value),
                    _ => Residue::ANY,
                }
            }
            Atom::Min(a, b) | Atom::Max(a, b) => self
                .residue(a, depth + 1)
                .either(self.residue(b, depth + 1)),
            Atom::Rem(a, b) => {
                // a - b * q
                let by = self.residue(b, depth + 1);
                self.residue(a, depth + 1).plus(by.times(Residue::ANY))
            }
            Atom::Div(a, b) => match b.as_int() {
                Some(b) if b > 0 => {
                    let top = self.residue(a, depth + 1);
                    if top.modulus % b == 0 && top.residue % b == 0 {
                        Residue::new(top.modulus / b, top.residue / b)
                    } else {
                        Residue::ANY
                    }
                }
                _ => Residue::ANY,
            },
        };
        // k * atom + c is assumed to be divisible by d.
        for (d, multiple) in &self.facts.divisors {
            let Some(d) = d.as_int().and_then(i64::checked_abs).filter(|d| *d > 1) else {
                continue;
            };
            let (k, c) = match multiple.raw_terms() {
                Some([t]) => (t, 0),
                Some([t, last]) if last.factors.is_empty() => (t, last.coef),
                _ => continue,
            };
            if *k.factors != *std::slice::from_ref(atom) {
                continue;
            }
            let g = gcd(k.coef, d).max(1);
            let known = match (k.coef, c) {
                (_, 0) => Residue::new(d / g, 0),
                (1, c) => Residue::new(d, -(c % d)),
                (-1, c) => Residue::new(d, c),
                _ => continue,
            };
            found = found.sharper(known);
        }
        found
    }
}
