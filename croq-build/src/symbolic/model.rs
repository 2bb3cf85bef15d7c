//! Sample assignments that satisfy all facts. One that contradicts a claim ends the search for a
//! proof at once; an invalid sample could only prevent a proof, never produce a false one.

use super::sym::{Sym, Var};

const WANTED: usize = 8;

/// Values, indexed by variable.
#[derive(Clone, Debug, Default)]
pub(super) struct Models {
    pub samples: Vec<Vec<i128>>,
    started: bool,
    /// After a search that found too few, the number of variables and facts at which to search
    /// again.
    pub next_search: usize,
}

impl Models {
    /// Whether some sample makes `e` negative.
    pub fn refute(&self, e: &Sym) -> bool {
        let mut values = self.samples.iter().filter_map(|sample| value_on(sample, e));
        values.any(|value| value < 0)
    }

    /// The least and the greatest value of `e` on samples.
    pub fn extremes(&self, e: &Sym) -> Option<(i128, i128)> {
        let values = self.samples.iter().filter_map(|sample| value_on(sample, e));
        values.fold(None, |ends, value| {
            let (lo, hi) = ends.unwrap_or((value, value));
            Some((lo.min(value), hi.max(value)))
        })
    }

    pub fn is_empty(&self) -> bool {
        self.started && self.samples.is_empty()
    }

    /// Assigns a value to each new variable in each sample.
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

    /// Whether so few samples are left that a search for more is worthwhile.
    pub fn are_few(&self) -> bool {
        self.samples.len() < WANTED / 2
    }

    /// Keeps the samples for which a new fact holds; `value_of` evaluates an expression on one.
    pub fn retain(&mut self, holds: impl Fn(&dyn Fn(&Sym) -> Option<i128>) -> bool) {
        self.samples
            .retain(|sample| holds(&|e: &Sym| value_on(sample, e)));
    }
}

fn value_on(sample: &[i128], e: &Sym) -> Option<i128> {
    e.evaluate(&|v| sample.get(v.0 as usize).copied())
}

/// Extends the sample to `count` variables; false if the bounds admit no value.
pub(super) fn assign<'a>(
    sample: &mut Vec<i128>,
    count: usize,
    seed: u64,
    bounds: &impl Fn(Var) -> (Option<&'a Sym>, Option<&'a Sym>),
) -> bool {
    sample.reserve(count.saturating_sub(sample.len()));
    while sample.len() < count {
        let (lo, hi) = bounds(Var(sample.len() as u32));
        let value_of = |e: Option<&Sym>| match e {
            None => Some(None),
            Some(e) => e.evaluate(&|v| sample.get(v.0 as usize).copied()).map(Some),
        };
        let (Some(lo), Some(hi)) = (value_of(lo), value_of(hi)) else {
            return false;
        };
        let pick = scramble(seed, sample.len() as u64);
        // Ends first: most false claims fail there. Unbounded ends get round numbers as well as odd
        // ones, since sizes are often assumed to be divisible.
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
