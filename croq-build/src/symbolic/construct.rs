//! Quotients, remainders, minima and maxima, folded as far as bounds allow.

use super::division;
use super::factors::Factors;
use super::ops;
use super::prove::Prover;
use super::sym::{Atom, Sym, Term, Var};

impl Prover<'_> {
    /// `a / b`, truncating. A division by zero is not folded: nothing is ever proved about it.
    pub fn div(&self, a: &Sym, b: &Sym) -> Sym {
        if a.is_poison() || b.is_poison() {
            return Sym::poison();
        }
        match (a.as_int(), b.as_int()) {
            (_, Some(0)) => return Sym::atom(Atom::Div(a.clone(), b.clone())),
            (Some(a), Some(b)) => return a.checked_div(b).map_or_else(Sym::poison, Sym::int),
            (_, Some(1)) => return a.clone(),
            (_, Some(negative)) if negative < 0 => return -self.div(a, &-b),
            (Some(0), _) => return Sym::zero(),
            _ => {}
        }
        let (q, r) = self.split_known(a, b);
        if r.is_zero() {
            return q;
        }
        if self.positive(b) {
            if let Some((q, r)) = self.whole_part(a, b, q, r) {
                if self.nonneg(&(b - &r - 1)) {
                    return q;
                }
                return q + self.div_without_whole_part(&r, b);
            }
            if self.nonneg(&-a) {
                return -self.div(&-a, b);
            }
        }
        self.div_without_whole_part(a, b)
    }

    /// `a % b`, with the sign of `a`.
    pub fn rem(&self, a: &Sym, b: &Sym) -> Sym {
        if a.is_poison() || b.is_poison() {
            return Sym::poison();
        }
        match (a.as_int(), b.as_int()) {
            (_, Some(0)) => return Sym::atom(Atom::Rem(a.clone(), b.clone())),
            (Some(a), Some(b)) => return a.checked_rem(b).map_or_else(Sym::poison, Sym::int),
            (_, Some(1)) => return Sym::zero(),
            (_, Some(negative)) if negative < 0 => return self.rem(a, &-b),
            (Some(0), _) => return Sym::zero(),
            _ => {}
        }
        let (q, r) = self.split_known(a, b);
        if r.is_zero() || self.divides_by_form(b, a) {
            return Sym::zero();
        }
        if self.positive(b) {
            if let Some((_, r)) = self.whole_part(a, b, q, r) {
                if self.nonneg(&(b - &r - 1)) {
                    return r;
                }
                return self.rem_without_whole_part(&r, b);
            }
            if self.nonneg(&-a) {
                return -self.rem(&-a, b);
            }
        }
        self.rem_without_whole_part(a, b)
    }

    pub fn min(&self, a: &Sym, b: &Sym) -> Sym {
        if a.is_poison() || b.is_poison() {
            return Sym::poison();
        }
        if self.nonneg(&(b - a)) {
            return a.clone();
        }
        if self.nonneg(&(a - b)) {
            return b.clone();
        }
        let (first, second) = if a <= b { (a, b) } else { (b, a) };
        Sym::atom(Atom::Min(first.clone(), second.clone()))
    }

    pub fn max(&self, a: &Sym, b: &Sym) -> Sym {
        if a.is_poison() || b.is_poison() {
            return Sym::poison();
        }
        if self.nonneg(&(b - a)) {
            return b.clone();
        }
        if self.nonneg(&(a - b)) {
            return a.clone();
        }
        let (first, second) = if a <= b { (a, b) } else { (b, a) };
        Sym::atom(Atom::Max(first.clone(), second.clone()))
    }

    pub(super) fn positive(&self, b: &Sym) -> bool {
        self.nonneg(&(b - 1))
    }

    /// `a == q * b + r`, by polynomial division and by assumptions of divisibility.
    pub(super) fn split_known(&self, a: &Sym, b: &Sym) -> (Sym, Sym) {
        let (mut q, mut r) = division::split(a, b);
        for (d, multiple) in &self.facts.divisors {
            if r.is_zero() {
                break;
            }
            // `b` divides `d` divides `multiple`.
            if multiple.as_int().is_some() || division::exact_quotient(d, b).is_none() {
                continue;
            }
            let (times, rest) = division::split(&r, multiple);
            // `multiple` itself divided by `b` remains an atom, otherwise this would not terminate.
            if !times.is_zero() && a != multiple {
                q += times * Sym::atom(Atom::Div(multiple.clone(), b.clone()));
                r = rest;
            }
        }
        (q, r)
    }

    /// Adjusts `a == q * b + r` so that `r >= 0`. With `a >= 0` and `b >= 1`, `a / b` is then
    /// `q + r / b` and `a % b` is `r % b`. `None` when that cannot be shown.
    fn whole_part(&self, a: &Sym, b: &Sym, q: Sym, r: Sym) -> Option<(Sym, Sym)> {
        if !self.nonneg(a) {
            return None;
        }
        let (q, r) = match b.as_int() {
            Some(b) => {
                let steps = r.constant_part().div_euclid(b);
                // `w - 1` under `0 < w < 3` is a remainder although its constant is negative.
                let is_remainder =
                    steps < 0 && self.nonneg(&(Sym::int(b - 1) - &r)) && self.nonneg(&r);
                match is_remainder {
                    true => (q, r),
                    false => (q + steps, r - Sym::int(steps) * b),
                }
            }
            None => (q, r),
        };
        if self.nonneg(&r) {
            return Some((q, r));
        }
        let (q, r) = (q - 1, r + b);
        if self.nonneg(&r) {
            return Some((q, r));
        }
        Some((Sym::zero(), a.clone()))
    }

    fn div_without_whole_part(&self, a: &Sym, b: &Sym) -> Sym {
        if let Some(g) = common_factor(a, b)
            && let (Some(a), Some(b)) = (division::without(a, &g), division::without(b, &g))
        {
            return self.div(&a, &b);
        }
        if let Some((high, _, g)) = self.high_part(a, b)
            && let Some(b) = division::without(b, &g)
        {
            return self.div(&high, &b);
        }
        // (x / c + k) / b == (x + k * c) / (c * b)
        if let Some((Atom::Div(x, c), k)) = single_atom_plus_constant(a) {
            let flat = k == 0 || (k > 0 && self.nonneg(x) && self.positive(c) && self.positive(b));
            let (top, bottom) = (x + c * k, c * b);
            if flat && !top.is_poison() && !bottom.is_poison() && !c.is_zero() {
                return self.div(&top, &bottom);
            }
        }
        // (x % (b * c)) / b == (x / b) % c
        if let Some((Atom::Rem(x, n), 0)) = single_atom_plus_constant(a)
            && let Some(c) = division::exact_quotient(n, b)
            && self.nonneg(x)
            && self.positive(b)
            && self.positive(&c)
        {
            return self.rem(&self.div(x, b), &c);
        }
        Sym::atom(Atom::Div(a.clone(), b.clone()))
    }

    fn rem_without_whole_part(&self, a: &Sym, b: &Sym) -> Sym {
        if let Some(g) = common_factor(a, b)
            && let (Some(a), Some(b)) = (division::without(a, &g), division::without(b, &g))
        {
            return division::of_term(&g) * self.rem(&a, &b);
        }
        if let Some((high, low, g)) = self.high_part(a, b)
            && let Some(bottom) = division::without(b, &g)
        {
            return division::of_term(&g) * self.rem(&high, &bottom) + low;
        }
        // k * (x % c) % b == k * x % b when b divides k * c.
        if self.nonneg(a) {
            for (coef, factors) in a.terms() {
                if let [Atom::Rem(x, c)] = factors
                    && coef > 0
                    && division::exact_quotient(&ops::scaled(c, coef), b).is_some()
                    && self.nonneg(x)
                {
                    let inner = Sym::term(coef, factors);
                    return self.rem(&(a - inner + ops::scaled(x, coef)), b);
                }
            }
        }
        Sym::atom(Atom::Rem(a.clone(), b.clone()))
    }

    /// Finds a factor `g` of the product `b` with `a == g * high + low`, `0 <= low < g`,
    /// `high >= 0`. Then `a / b == high / (b / g)`.
    fn high_part(&self, a: &Sym, b: &Sym) -> Option<(Sym, Sym, Term)> {
        let [bottom] = b.raw_terms()? else {
            return None;
        };
        let mut tried: Vec<Term> = Vec::new();
        for term in a.raw_terms()? {
            let g = term.common(bottom);
            if g.is_unit() || term.factors.is_empty() || tried.contains(&g) {
                continue;
            }
            let divisor = division::of_term(&g);
            let (mut high, mut low) = division::split(a, &divisor);
            if let Some(g) = divisor.as_int() {
                let steps = low.constant_part().div_euclid(g);
                high += steps;
                low -= Sym::int(steps) * g;
            }
            if self.nonneg(&low)
                && self.nonneg(&(&divisor - &low - 1))
                && self.nonneg(&high)
                && self.positive(&divisor)
            {
                return Some((high, low, g));
            }
            tried.push(g);
        }
        None
    }

    /// `e` with `v` replaced by `by`.
    pub fn substitute(&self, e: &Sym, v: Var, by: &Sym) -> Sym {
        if !e.contains(v) {
            return e.clone();
        }
        self.rebuild(e, &|atom| match atom {
            Atom::Var(own) if *own == v => Some(by.clone()),
            _ if !atom.contains(v) => None,
            _ => self.with_operands(atom, |operand| self.substitute(operand, v, by)),
        })
    }

    /// `e` with an atom replaced by `by` wherever it occurs.
    pub fn replace(&self, e: &Sym, replaced: &Atom, by: &Sym) -> Sym {
        self.rebuild(e, &|atom| match atom == replaced {
            true => Some(by.clone()),
            false => self.with_operands(atom, |operand| self.replace(operand, replaced, by)),
        })
    }

    /// The operation of `atom` on other operands; `None` for a variable.
    fn with_operands(&self, atom: &Atom, of: impl Fn(&Sym) -> Sym) -> Option<Sym> {
        let (a, b) = atom.operands()?;
        let (a, b) = (of(a), of(b));
        let (a, b) = (&a, &b);
        Some(match atom {
            Atom::Div(..) => self.kept(|known| &known.quotient, (a, b), || self.div(a, b)),
            Atom::Rem(..) => self.kept(|known| &known.remainder, (a, b), || self.rem(a, b)),
            Atom::Min(..) => self.kept(|known| &known.lesser, (a, b), || self.min(a, b)),
            _ => self.kept(|known| &known.greater, (a, b), || self.max(a, b)),
        })
    }

    /// `e` with atoms replaced; `None` keeps an atom.
    pub(super) fn rebuild(&self, e: &Sym, replace: &dyn Fn(&Atom) -> Option<Sym>) -> Sym {
        let Some(terms) = e.raw_terms() else {
            return Sym::poison();
        };
        let mut all: Vec<Term> = Vec::with_capacity(terms.len());
        let mut is_same = true;
        // The same atom often occurs in several terms.
        let mut known: Vec<(&Atom, Option<Sym>)> = Vec::new();
        for term in terms {
            let mut own: Vec<Atom> = Vec::new();
            let mut product: Option<Sym> = None;
            for factor in &term.factors {
                let found = known
                    .iter()
                    .find(|(atom, _)| *atom == factor)
                    .map(|(_, by)| by.clone());
                let by = found.unwrap_or_else(|| {
                    let by = replace(factor);
                    known.push((factor, by.clone()));
                    by
                });
                match by {
                    None => own.push(factor.clone()),
                    Some(by) => product = Some(product.map_or_else(|| by.clone(), |p| p * &by)),
                }
            }
            let Some(product) = product else {
                all.push(term.clone());
                continue;
            };
            is_same = false;
            let own = Factors::from(own);
            let Some(parts) = product.raw_terms() else {
                return Sym::poison();
            };
            for part in parts {
                let Some(coef) = part.coef.checked_mul(term.coef) else {
                    return Sym::poison();
                };
                let factors = part.factors.merged(&own);
                all.push(Term { factors, coef });
            }
        }
        if is_same {
            return e.clone();
        }
        Sym::from_unsorted(all)
    }

    /// An equal expression, simplified with all facts.
    pub fn simplify(&self, e: &Sym) -> Sym {
        let e = self.with_values(e);
        if !e.has_compound_atoms() {
            return e;
        }
        let known = &self.facts.answers.operands;
        let outermost = self.depth() == 0;
        if outermost && let Some(known) = known.get(&e) {
            return known;
        }
        let folded = self.rebuild(&e, &|atom| {
            self.with_operands(atom, |operand| self.simplify(operand))
        });
        let joined = self.join_quotients(folded);
        if outermost && self.has_fuel() {
            known.keep(e, &joined);
        }
        joined
    }

    /// Substitutes variables that equal another expression.
    pub(super) fn with_values(&self, e: &Sym) -> Sym {
        let mut e = e.clone();
        for (v, value) in &self.facts.equalities {
            e = self.substitute(&e, *v, value);
        }
        if e.sorted_vars()
            .iter()
            .any(|v| self.only_value(*v).is_some())
        {
            for v in e.vars() {
                if let Some(value) = self.only_value(v) {
                    e = self.substitute(&e, v, &Sym::int(value));
                }
            }
        }
        e
    }

    fn only_value(&self, v: Var) -> Option<i64> {
        let range = self.facts.range_of(v);
        (range.lo == range.hi)
            .then_some(range.lo?)
            .and_then(|value| i64::try_from(value).ok())
    }

    /// `b * (a / b) + a % b == a`, and `b * (a / b) == a` where `b` divides `a`.
    fn join_quotients(&self, e: Sym) -> Sym {
        let mut e = e;
        for atom in e.clone().top_atoms() {
            let joined = match atom {
                Atom::Rem(a, b) => {
                    let quotient = Atom::Div(a.clone(), b.clone());
                    match e.collect(atom) {
                        Some((k, rest)) if e.top_atoms().contains(&&quotient) => {
                            k * (a - b * Sym::atom(quotient)) + rest
                        }
                        _ => continue,
                    }
                }
                Atom::Div(a, b) => match e.collect(atom) {
                    Some((k, rest)) if self.divides(b, a).is_yes() => {
                        let (whole, part) = division::split(&k, b);
                        whole * a + part * Sym::atom(atom.clone()) + rest
                    }
                    _ => continue,
                },
                _ => continue,
            };
            let shorter = joined.terms().count() < e.terms().count()
                || matches!(atom, Atom::Div(..)) && joined.terms().count() == e.terms().count();
            if shorter && !joined.is_poison() && !joined.top_atoms().contains(&atom) {
                e = joined;
            }
        }
        e
    }
}

/// The greatest term other than one that divides every term of both.
fn common_factor(a: &Sym, b: &Sym) -> Option<Term> {
    let common = division::content(a)?.common(&division::content(b)?);
    (!common.is_unit()).then_some(common)
}

fn single_atom_plus_constant(e: &Sym) -> Option<(&Atom, i64)> {
    let [first, others @ ..] = e.raw_terms()? else {
        return None;
    };
    let constant = match others {
        [] => 0,
        [last] if last.factors.is_empty() => last.coef,
        _ => return None,
    };
    match &*first.factors {
        [atom] if first.coef == 1 => Some((atom, constant)),
        _ => None,
    }
}
