//! The factors of a product.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

/// Sorted atoms, which may repeat. Most products have at most one factor and need no allocation; the
/// copies of a longer one share it.
#[derive(Clone, Default)]
pub(super) enum Factors<A> {
    #[default]
    None,
    One(A),
    Several(Arc<[A]>),
}

impl<A: Clone + Ord> Factors<A> {
    /// Those of both.
    pub fn merged(&self, other: &Factors<A>) -> Factors<A> {
        if self.is_empty() {
            return other.clone();
        }
        if other.is_empty() {
            return self.clone();
        }
        let mut all = Vec::with_capacity(self.len() + other.len());
        let (mut left, mut right) = (self.iter().peekable(), other.iter().peekable());
        while let (Some(x), Some(y)) = (left.peek(), right.peek()) {
            let next = if x <= y { left.next() } else { right.next() };
            all.extend(next.cloned());
        }
        all.extend(left.chain(right).cloned());
        all.into()
    }

    /// Without those of `other`; `None` if it has one that `self` lacks.
    pub fn without(&self, other: &[A]) -> Option<Factors<A>> {
        match (self, other) {
            (_, []) => return Some(self.clone()),
            (Factors::One(own), [one]) => return (own == one).then_some(Factors::None),
            _ if self.len() < other.len() => return None,
            _ => {}
        }
        let mut left = self.to_vec();
        for factor in other {
            let at = left.iter().position(|f| f == factor)?;
            left.remove(at);
        }
        Some(left.into())
    }

    /// Those that are in both.
    pub fn common(&self, other: &Factors<A>) -> Factors<A> {
        if self.is_empty() || other.is_empty() {
            return Factors::None;
        }
        let mut left = other.to_vec();
        let mut both = Vec::new();
        for factor in self {
            if let Some(at) = left.iter().position(|f| f == factor) {
                left.remove(at);
                both.push(factor.clone());
            }
        }
        both.into()
    }
}

impl<A> Deref for Factors<A> {
    type Target = [A];

    fn deref(&self) -> &[A] {
        match self {
            Factors::None => &[],
            Factors::One(atom) => std::slice::from_ref(atom),
            Factors::Several(atoms) => atoms,
        }
    }
}

impl<A> From<Vec<A>> for Factors<A> {
    fn from(mut atoms: Vec<A>) -> Factors<A> {
        if atoms.len() > 1 {
            return Factors::Several(atoms.into());
        }
        atoms.pop().map_or(Factors::None, Factors::One)
    }
}

impl<A: Clone> From<&[A]> for Factors<A> {
    fn from(atoms: &[A]) -> Factors<A> {
        match atoms {
            [] => Factors::None,
            [one] => Factors::One(one.clone()),
            _ => Factors::Several(atoms.into()),
        }
    }
}

impl<'a, A> IntoIterator for &'a Factors<A> {
    type Item = &'a A;
    type IntoIter = std::slice::Iter<'a, A>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<A: PartialEq> PartialEq for Factors<A> {
    fn eq(&self, other: &Factors<A>) -> bool {
        **self == **other
    }
}

impl<A: Eq> Eq for Factors<A> {}

impl<A: Ord> PartialOrd for Factors<A> {
    fn partial_cmp(&self, other: &Factors<A>) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<A: Ord> Ord for Factors<A> {
    fn cmp(&self, other: &Factors<A>) -> Ordering {
        (**self).cmp(&**other)
    }
}

impl<A: Hash> Hash for Factors<A> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}
