//! Facts in addition to the declared bounds.

use super::answers::Answers;
use super::interval::{Interval, interval, range_of};
use super::model::Models;
use super::sym::{Sym, Var};

/// The facts of one scope beyond the declared bounds, those of enclosing scopes included.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    pub ranges: Vec<Interval>,
    /// Each is at least zero.
    pub inequalities: Vec<Sym>,
    /// The variable equals the expression, which contains no variable of this list.
    pub equalities: Vec<(Var, Sym)>,
    /// The first divides the second.
    pub divisors: Vec<(Sym, Sym)>,
    pub models: Models,
    /// To questions under these facts.
    pub answers: Answers,
}

impl Facts {
    pub fn range_of(&self, v: Var) -> Interval {
        range_of(&self.ranges, v)
    }

    pub fn count(&self) -> usize {
        self.inequalities.len() + self.equalities.len() + self.divisors.len()
    }

    /// Whether there are no facts beyond the declared bounds.
    pub fn is_bare(&self) -> bool {
        self.count() == 0
    }

    /// Narrows the ranges of the variables that occur linearly in `e`, given that `e` is at least
    /// zero.
    pub fn tighten(&mut self, e: &Sym) {
        for v in e.sorted_vars() {
            let Some((coefficient, rest)) = e.linear_in(*v) else {
                continue;
            };
            let Some(coef) = coefficient.as_int().filter(|coef| *coef != 0) else {
                continue;
            };
            // coef * v >= -rest >= -(greatest value of rest)
            let Some(most) = interval(&self.ranges, &rest).hi else {
                continue;
            };
            let coef = i128::from(coef);
            let Some(range) = self.ranges.get_mut(v.0 as usize) else {
                continue;
            };
            let end = if coef > 0 {
                let least = most.checked_neg().and_then(|m| ceil_div(m, coef));
                Interval {
                    lo: least,
                    hi: None,
                }
            } else {
                Interval {
                    lo: None,
                    hi: Some(most.div_euclid(-coef)),
                }
            };
            *range = range.intersect(end);
        }
    }
}

fn ceil_div(a: i128, b: i128) -> Option<i128> {
    a.checked_neg().map(|n| -n.div_euclid(b))
}
