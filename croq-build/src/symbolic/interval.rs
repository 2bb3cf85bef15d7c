//! Constant intervals: a fast answer before any search.

use std::cmp::Ordering;

use super::sym::{Atom, Sym, Term, Var, checked_product, order_of_products};

/// Inclusive; `None` is unbounded. Ends that exceed `i128` count as unbounded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Interval {
    pub lo: Option<i128>,
    pub hi: Option<i128>,
}

impl Interval {
    pub const ALL: Interval = Interval { lo: None, hi: None };

    pub fn point(v: i64) -> Interval {
        Interval {
            lo: Some(i128::from(v)),
            hi: Some(i128::from(v)),
        }
    }

    pub fn intersect(self, other: Interval) -> Interval {
        let lo = match (self.lo, other.lo) {
            (Some(a), Some(b)) => Some(a.max(b)),
            (a, b) => a.or(b),
        };
        let hi = match (self.hi, other.hi) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        Interval { lo, hi }
    }

    fn plus(self, other: Interval) -> Interval {
        Interval {
            lo: self.lo.zip(other.lo).and_then(|(a, b)| a.checked_add(b)),
            hi: self.hi.zip(other.hi).and_then(|(a, b)| a.checked_add(b)),
        }
    }

    fn times(self, other: Interval) -> Interval {
        let zero = |x: Interval| x.lo == Some(0) && x.hi == Some(0);
        if zero(self) || zero(other) {
            return Interval::point(0);
        }
        if let (Some(a), Some(b), Some(c), Some(d)) = (self.lo, self.hi, other.lo, other.hi) {
            let corners = (
                checked_product(a, c),
                checked_product(a, d),
                checked_product(b, c),
                checked_product(b, d),
            );
            let (Some(w), Some(x), Some(y), Some(z)) = corners else {
                return Interval::ALL;
            };
            return Interval {
                lo: Some(w.min(x).min(y).min(z)),
                hi: Some(w.max(x).max(y).max(z)),
            };
        }
        // An end is unbounded: the signs decide.
        match (self.sign(), other.sign()) {
            (Some(1), Some(1)) => Interval {
                lo: self
                    .lo
                    .zip(other.lo)
                    .and_then(|(a, b)| checked_product(a, b))
                    .or(Some(0)),
                hi: self
                    .hi
                    .zip(other.hi)
                    .and_then(|(a, b)| checked_product(a, b)),
            },
            (Some(-1), Some(-1)) => self.negated().times(other.negated()),
            (Some(-1), Some(1)) => self.negated().times(other).negated(),
            (Some(1), Some(-1)) => self.times(other.negated()).negated(),
            _ => Interval::ALL,
        }
    }

    /// `times` a constant.
    fn scaled(self, by: i64) -> Interval {
        let (Some(lo), Some(hi)) = (self.lo, self.hi) else {
            return Interval::point(by).times(self);
        };
        let by = i128::from(by);
        let (Some(a), Some(b)) = (checked_product(lo, by), checked_product(hi, by)) else {
            return Interval::ALL;
        };
        Interval {
            lo: Some(a.min(b)),
            hi: Some(a.max(b)),
        }
    }

    /// 1 if nowhere negative, -1 if nowhere positive.
    fn sign(self) -> Option<i32> {
        if self.lo.is_some_and(|lo| lo >= 0) {
            Some(1)
        } else if self.hi.is_some_and(|hi| hi <= 0) {
            Some(-1)
        } else {
            None
        }
    }

    fn negated(self) -> Interval {
        Interval {
            lo: self.hi.and_then(i128::checked_neg),
            hi: self.lo.and_then(i128::checked_neg),
        }
    }

    /// Truncating quotient; unbounded unless the divisor is known to be positive.
    fn over(self, by: Interval) -> Interval {
        let Some(least) = by.lo.filter(|lo| *lo >= 1) else {
            return Interval::ALL;
        };
        let towards_zero = |end: i128| by.hi.map_or(0, |most| end / most);
        Interval {
            lo: self.lo.map(|lo| {
                if lo >= 0 {
                    towards_zero(lo)
                } else {
                    lo / least
                }
            }),
            hi: self.hi.map(|hi| {
                if hi >= 0 {
                    hi / least
                } else {
                    towards_zero(hi)
                }
            }),
        }
    }

    /// Remainder, with the sign of the dividend.
    fn modulo(self, by: Interval) -> Interval {
        if by.lo.is_none_or(|lo| lo < 1) {
            return Interval::ALL;
        }
        let most = by.hi.and_then(|hi| hi.checked_sub(1));
        let not_negative = self.lo.is_some_and(|lo| lo >= 0);
        let not_positive = self.hi.is_some_and(|hi| hi <= 0);
        let lo = match (self.lo, most.and_then(i128::checked_neg)) {
            _ if not_negative => Some(0),
            (Some(a), Some(b)) => Some(a.max(b)),
            (a, b) => a.or(b),
        };
        let hi = match (self.hi, most) {
            _ if not_positive => Some(0),
            (Some(a), Some(b)) => Some(a.max(0).min(b)),
            (a, b) => a.or(b),
        };
        Interval { lo, hi }
    }
}

/// The interval of `e`, from the intervals of its variables alone.
pub(super) fn interval(ranges: &[Interval], e: &Sym) -> Interval {
    let Some(terms) = e.raw_terms() else {
        return Interval::ALL;
    };
    let mut sum = Interval::point(0);
    for term in terms {
        sum = sum.plus(of_product(ranges, &term.factors, term.coef));
        if sum == Interval::ALL {
            break;
        }
    }
    sum
}

/// The lower end of the interval of `a - b`, which is not computed.
pub(super) fn least_difference(ranges: &[Interval], a: &Sym, b: &Sym) -> Option<i128> {
    let (mut left, mut right) = (a.raw_terms()?, b.raw_terms()?);
    let mut sum: i128 = 0;
    loop {
        let (x, y) = (left.first(), right.first());
        let order = match (x, y) {
            (Some(x), Some(y)) => order_of_products(&x.factors, &y.factors),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => return Some(sum),
        };
        let (x, y) = (x.filter(|_| order.is_le()), y.filter(|_| order.is_ge()));
        let coef_of = |term: Option<&Term>| term.map_or(0, |term| term.coef);
        let coef = coef_of(x).checked_sub(coef_of(y))?;
        if coef != 0 {
            let factors = &x.or(y)?.factors;
            sum = sum.checked_add(of_product(ranges, factors, coef).lo?)?;
        }
        left = left.get(usize::from(x.is_some())..)?;
        right = right.get(usize::from(y.is_some())..)?;
    }
}

fn of_product(ranges: &[Interval], factors: &[Atom], coef: i64) -> Interval {
    match factors {
        [] => Interval::point(coef),
        [first, others @ ..] => others
            .iter()
            .fold(of_atom(ranges, first).scaled(coef), |product, factor| {
                product.times(of_atom(ranges, factor))
            }),
    }
}

/// The range of one variable.
pub(super) fn range_of(ranges: &[Interval], v: Var) -> Interval {
    let range = ranges.get(v.0 as usize).copied();
    range.unwrap_or(Interval::ALL)
}

fn of_atom(ranges: &[Interval], atom: &Atom) -> Interval {
    match atom {
        Atom::Var(v) => range_of(ranges, *v),
        Atom::Div(a, b) => interval(ranges, a).over(interval(ranges, b)),
        Atom::Rem(a, b) => interval(ranges, a).modulo(interval(ranges, b)),
        Atom::Min(a, b) => {
            let (a, b) = (interval(ranges, a), interval(ranges, b));
            Interval {
                lo: a.lo.zip(b.lo).map(|(x, y)| x.min(y)),
                hi: a.intersect(b).hi,
            }
        }
        Atom::Max(a, b) => {
            let (a, b) = (interval(ranges, a), interval(ranges, b));
            Interval {
                lo: a.intersect(b).lo,
                hi: a.hi.zip(b.hi).map(|(x, y)| x.max(y)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Atom, Interval, Sym, Var, interval, least_difference};

    #[test]
    fn the_least_difference_is_that_of_the_interval() {
        let ends = [
            (Some(0), Some(5)),
            (Some(-3), None),
            (None, Some(4)),
            (Some(2), Some(2)),
        ];
        let ranges = ends.map(|(lo, hi)| Interval { lo, hi });
        let vars: Vec<Sym> = (0..4).map(|v| Sym::var(Var(v))).collect();
        let mut forms = vec![Sym::zero(), Sym::int(7), Sym::int(i64::MAX), Sym::poison()];
        for a in &vars {
            forms.extend([a.clone(), a * 3 - 1, Sym::int(i64::MIN) * a]);
            for b in &vars {
                let quotient = Sym::atom(Atom::Div(a + 9, b + 4));
                forms.extend([a - b, a * b + 2, quotient - a]);
            }
        }
        let mut bounded = 0;
        for (a, b) in forms.iter().flat_map(|a| forms.iter().map(move |b| (a, b))) {
            let (found, difference) = (least_difference(&ranges, a, b), a - b);
            // What overflows in the difference may cancel in its terms.
            if !difference.is_poison() {
                assert_eq!(found, interval(&ranges, &difference).lo);
            }
            bounded += usize::from(found.is_some());
        }
        assert!(bounded > 500, "{bounded}");
    }
}
