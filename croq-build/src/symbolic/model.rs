//! Sample assignments that satisfy all that is known. One that contradicts a claim ends the search
//! for its proof at once; a bad sample could only cost a proof, never make a false one.

use super::ctx::Facts;
use super::sym::{Atom, Sym, Var};

const WANTED: usize = 8;
const TRIES: u64 = 16;

/// Values by variable number.
#[derive(Clone, Debug, Default)]
pub(super) struct Models {
    samples: Vec<Vec<i128>>,
    started: bool,
    /// After a search that found too few, the number of variables and facts to wait for.
    next_search: usize,
}

impl Models {
    /// Whether some sample makes `e` negative.
    pub fn refute(&self, e: &Sym) -> bool {
        self.samples.iter().any(|sample| {
            evaluate(e, &|v| sample.get(v.0 as usize).copied()).is_some_and(|value| value < 0)
        })
    }

    pub fn is_empty(&self) -> bool {
        self.started && self.samples.is_empty()
    }

    /// Gives new variables a value in each sample.
    pub fn extend<'a>(
        &mut self,
        count: usize,
        bounds: impl Fn(Var) -> (Option<&'a Sym>, Option<&'a Sym>),
    ) {
        if !self.started {
            self.started = true;
            self.samples = vec![Vec::new(); WANTED];
        }
        let mut seed = 0;
        self.samples.retain_mut(|sample| {
            seed += 1;
            assign(sample, count, seed, &bounds)
        });
    }

    /// Whether so few are left that it is worth looking for more.
    fn are_few(&self) -> bool {
        self.samples.len() < WANTED / 2
    }

    /// Keeps the samples for which a new fact holds; `value_of` evaluates on one.
    pub fn retain(&mut self, holds: impl Fn(&dyn Fn(&Sym) -> Option<i128>) -> bool) {
        self.samples
            .retain(|sample| holds(&|e: &Sym| evaluate(e, &|v| sample.get(v.0 as usize).copied())));
    }

    /// Drops the samples that the facts rule out.
    pub fn retain_by(&mut self, facts: &Facts) {
        self.samples.retain(|sample| satisfies(sample, facts));
    }

    /// Looks for more samples when few are left. A search that fails is not repeated until there
    /// are twice as many variables and facts, so that all searches together take linear time.
    pub fn replenish<'a>(
        &mut self,
        count: usize,
        bounds: impl Fn(Var) -> (Option<&'a Sym>, Option<&'a Sym>),
        facts: &Facts,
    ) {
        let size = count + facts.count();
        if !self.are_few() || size < self.next_search {
            return;
        }
        for seed in 100..100 + TRIES {
            let mut sample = Vec::new();
            if assign(&mut sample, count, seed, &bounds) {
                repair(&mut sample, facts);
                if within(&sample, &bounds) && satisfies(&sample, facts) {
                    self.samples.push(sample);
                }
            }
            if !self.are_few() {
                return;
            }
        }
        self.next_search = size.saturating_mul(2);
    }
}

/// Moves single variables so that facts hold that do not; one fact may undo another.
fn repair(sample: &mut [i128], facts: &Facts) {
    let value_of = |e: &Sym, sample: &[i128]| evaluate(e, &|v| sample.get(v.0 as usize).copied());
    for _ in 0..3 {
        for (d, multiple) in &facts.divisors {
            let over = value_of(d, sample).zip(value_of(multiple, sample));
            let Some(over) = over.and_then(|(d, m)| m.checked_rem_euclid(d)) else {
                continue;
            };
            // Downwards keeps small things small, but sizes are positive.
            let up = value_of(d, sample).map_or(0, i128::saturating_abs);
            let moved = linear_var(multiple, |coef| coef == 1);
            if let Some(slot) = moved.and_then(|(v, _)| sample.get_mut(v.0 as usize)) {
                let down = slot.saturating_sub(over);
                *slot = if down > 0 {
                    down
                } else {
                    down.saturating_add(up)
                };
            }
        }
        for e in &facts.inequalities {
            let Some(short) = value_of(e, sample).filter(|value| *value < 0) else {
                continue;
            };
            if let Some((v, coef)) = linear_var(e, |_| true)
                && let Some(slot) = sample.get_mut(v.0 as usize)
            {
                let coef = i128::from(coef);
                let steps = short.saturating_neg().saturating_add(coef.abs() - 1) / coef.abs();
                *slot = slot.saturating_add(if coef > 0 { steps } else { -steps });
            }
        }
        for (v, value) in &facts.equalities {
            let value = value_of(value, sample);
            if let (Some(slot), Some(value)) = (sample.get_mut(v.0 as usize), value) {
                *slot = value;
            }
        }
    }
}

/// The last variable with a constant coefficient that suits.
fn linear_var(e: &Sym, suits: impl Fn(i64) -> bool) -> Option<(Var, i64)> {
    e.sorted_vars().iter().rev().find_map(|v| {
        let coef = e.linear_in(*v)?.0.as_int()?;
        (coef != 0 && suits(coef)).then_some((*v, coef))
    })
}

fn within<'a>(
    sample: &[i128],
    bounds: &impl Fn(Var) -> (Option<&'a Sym>, Option<&'a Sym>),
) -> bool {
    let value_of = |e: &Sym| evaluate(e, &|v| sample.get(v.0 as usize).copied());
    sample.iter().enumerate().all(|(at, value)| {
        let (lo, hi) = bounds(Var(at as u32));
        lo.is_none_or(|lo| value_of(lo).is_some_and(|lo| lo <= *value))
            && hi.is_none_or(|hi| value_of(hi).is_some_and(|hi| *value <= hi))
    })
}

fn satisfies(sample: &[i128], facts: &Facts) -> bool {
    let value_of = |e: &Sym| evaluate(e, &|v| sample.get(v.0 as usize).copied());
    facts
        .inequalities
        .iter()
        .all(|e| value_of(e).is_some_and(|x| x >= 0))
        && facts.equalities.iter().all(|(v, e)| {
            value_of(e).is_some_and(|x| sample.get(v.0 as usize).is_some_and(|y| x == *y))
        })
        && facts.divisors.iter().all(|(d, e)| {
            value_of(d)
                .zip(value_of(e))
                .is_some_and(|(d, e)| e.checked_rem(d) == Some(0))
        })
}

/// Extends the sample to `count` variables; false when the bounds leave no value.
fn assign<'a>(
    sample: &mut Vec<i128>,
    count: usize,
    seed: u64,
    bounds: &impl Fn(Var) -> (Option<&'a Sym>, Option<&'a Sym>),
) -> bool {
    while sample.len() < count {
        let (lo, hi) = bounds(Var(sample.len() as u32));
        let value_of = |e: Option<&Sym>| match e {
            None => Some(None),
            Some(e) => evaluate(e, &|v| sample.get(v.0 as usize).copied()).map(Some),
        };
        let (Some(lo), Some(hi)) = (value_of(lo), value_of(hi)) else {
            return false;
        };
        let pick = scramble(seed, sample.len() as u64);
        // Ends first: most false claims fail there. Open ends get round numbers as well as odd
        // ones, as sizes are often assumed to be divisible.
        const STEPS: [i128; 8] = [0, 4096, 1, 64, 7, 1000, 128, 12_345];
        let kind = if seed <= 8 { seed - 1 } else { pick % 8 };
        let step = STEPS.get(kind as usize).copied().unwrap_or(0);
        let value = match (lo, hi) {
            (Some(lo), Some(hi)) if lo > hi => return false,
            (Some(lo), Some(hi)) => {
                let span = hi.saturating_sub(lo);
                lo.saturating_add(match seed {
                    1 | 3 => 0,
                    2 | 4 => span,
                    5 => span / 2,
                    6 => span.min(1),
                    _ => i128::from(pick >> 8) % span.saturating_add(1),
                })
            }
            (Some(lo), None) => lo.max(step),
            (None, Some(hi)) => hi.min(step),
            (None, None) if pick & 16 == 0 => step,
            (None, None) => -step,
        };
        sample.push(value);
    }
    true
}

fn scramble(seed: u64, at: u64) -> u64 {
    let mut x = seed
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .wrapping_add(at.wrapping_mul(0xbf58_476d));
    x ^= x >> 29;
    x = x.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x ^ (x >> 32)
}

/// The value of `e`; `None` on division by zero, overflow, or a variable without a value.
pub(super) fn evaluate(e: &Sym, value_of: &dyn Fn(Var) -> Option<i128>) -> Option<i128> {
    let mut sum: i128 = 0;
    for term in e.raw_terms()? {
        let mut product = i128::from(term.coef);
        for factor in &term.factors {
            let value = match factor {
                Atom::Var(v) => value_of(*v)?,
                Atom::Div(a, b) => evaluate(a, value_of)?.checked_div(evaluate(b, value_of)?)?,
                Atom::Rem(a, b) => evaluate(a, value_of)?.checked_rem(evaluate(b, value_of)?)?,
                Atom::Min(a, b) => evaluate(a, value_of)?.min(evaluate(b, value_of)?),
                Atom::Max(a, b) => evaluate(a, value_of)?.max(evaluate(b, value_of)?),
            };
            product = product.checked_mul(value)?;
        }
        sum = sum.checked_add(product)?;
    }
    Some(sum)
}
