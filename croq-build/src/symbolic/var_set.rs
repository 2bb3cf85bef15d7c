//! Variables, and the variables of an expression.

use std::ops::Deref;

/// A variable of a [`Ctx`](super::Ctx): a dimension, a parameter, a loop or parallel variable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Var(pub u32);

/// As many need no allocation.
const FEW: usize = 7;

/// Distinct variables in order.
#[derive(Clone)]
pub(super) enum VarSet {
    Few(u8, [Var; FEW]),
    Many(Vec<Var>),
}

impl VarSet {
    pub fn new() -> VarSet {
        VarSet::Few(0, [Var(0); FEW])
    }

    pub fn insert(&mut self, v: Var) {
        let Err(at) = self.binary_search(&v) else {
            return;
        };
        match self {
            VarSet::Few(count, few) if usize::from(*count) < FEW => {
                *count += 1;
                // The last place is free.
                if let Some(moved) = few.get_mut(at..usize::from(*count)) {
                    moved.rotate_right(1);
                }
                if let Some(place) = few.get_mut(at) {
                    *place = v;
                }
            }
            VarSet::Few(..) => {
                let mut many = self.to_vec();
                many.insert(at, v);
                *self = VarSet::Many(many);
            }
            VarSet::Many(many) => many.insert(at, v),
        }
    }

    pub fn extend(&mut self, others: &VarSet) {
        if self.is_empty() {
            self.clone_from(others);
        } else {
            others.iter().for_each(|v| self.insert(*v));
        }
    }
}

impl Deref for VarSet {
    type Target = [Var];

    fn deref(&self) -> &[Var] {
        match self {
            VarSet::Few(count, few) => few.get(..usize::from(*count)).unwrap_or_default(),
            VarSet::Many(many) => many,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{FEW, Var, VarSet};

    #[test]
    fn variables_are_distinct_and_sorted() {
        for count in 0..3 * FEW as u32 {
            let mut set = VarSet::new();
            for v in (0..count).chain((0..count).rev()) {
                set.insert(Var(v * 7 % 23));
            }
            let mut expected: Vec<Var> = (0..count).map(|v| Var(v * 7 % 23)).collect();
            expected.sort_unstable();
            expected.dedup();
            assert_eq!(*set, *expected);
        }
    }
}
