//! The search for samples that satisfy all facts.

use super::facts::Facts;
use super::model::{Models, assign};
use super::sym::{Sym, Var};

const TRIES: u64 = 16;

/// Removes the samples that contradict the facts.
pub(super) fn retain(models: &mut Models, facts: &Facts) {
    models.samples.retain(|sample| satisfies(sample, facts));
}

/// Searches for more samples if few are left. A search that fails is not repeated until there are
/// twice as many variables and facts, so that all searches together take linear time.
pub(super) fn replenish<'a>(
    models: &mut Models,
    count: usize,
    bounds: impl Fn(Var) -> (Option<&'a Sym>, Option<&'a Sym>),
    facts: &Facts,
) {
    let size = count + facts.count();
    if !models.are_few() || size < models.next_search {
        return;
    }
    for seed in 100..100 + TRIES {
        let mut sample = Vec::new();
        if assign(&mut sample, count, seed, &bounds) {
            repair(&mut sample, facts);
            if within(&sample, &bounds) && satisfies(&sample, facts) {
                models.samples.push(sample);
            }
        }
        if !models.are_few() {
            return;
        }
    }
    models.next_search = size.saturating_mul(2);
}

/// Changes single variables so that violated facts hold; repairing one fact may violate another.
fn repair(sample: &mut [i128], facts: &Facts) {
    let value_of = |e: &Sym, sample: &[i128]| e.evaluate(&|v| sample.get(v.0 as usize).copied());
    for _ in 0..3 {
        for (d, multiple) in &facts.divisors {
            let over = value_of(d, sample).zip(value_of(multiple, sample));
            let Some(over) = over.and_then(|(d, m)| m.checked_rem_euclid(d)) else {
                continue;
            };
            // Rounding down keeps small values small, but sizes are positive.
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

/// The last variable with a constant coefficient for which `suits` is true.
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
    let value_of = |e: &Sym| e.evaluate(&|v| sample.get(v.0 as usize).copied());
    sample.iter().enumerate().all(|(at, value)| {
        let (lo, hi) = bounds(Var(at as u32));
        lo.is_none_or(|lo| value_of(lo).is_some_and(|lo| lo <= *value))
            && hi.is_none_or(|hi| value_of(hi).is_some_and(|hi| *value <= hi))
    })
}

fn satisfies(sample: &[i128], facts: &Facts) -> bool {
    let value_of = |e: &Sym| e.evaluate(&|v| sample.get(v.0 as usize).copied());
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
