//! Accesses of device memory, with symbolic addresses where these are equal in all threads.

use crate::ir::{Access, BufferId, LocalId};
use crate::sorted::SortedMap;
use crate::symbolic::Var;

/// A load: the buffer, and the range in the source.
pub type LoadId = (BufferId, u32, u32);

pub fn load_id(access: &Access) -> LoadId {
    (access.view.buffer, access.span.start, access.span.end)
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Term {
    /// The value of a local at the head of the loop of this depth.
    Head(usize, LocalId),
    /// A value that is fixed for the launch.
    Fixed(Var),
}

/// A sum that has the same value in all threads at one program point.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Value {
    pub terms: SortedMap<Term, i64>,
    pub constant: i64,
}

impl Value {
    pub fn int(constant: i64) -> Self {
        Self {
            constant,
            ..Self::default()
        }
    }

    pub fn term(term: Term) -> Self {
        Self {
            terms: SortedMap::from([(term, 1)]),
            constant: 0,
        }
    }

    pub fn plus(&self, other: &Self, times: i64) -> Option<Self> {
        let mut sum = self.clone();
        sum.constant = sum
            .constant
            .checked_add(other.constant.checked_mul(times)?)?;
        for (term, n) in &other.terms {
            let at = sum.terms.entry(*term).or_default();
            *at = at.checked_add(n.checked_mul(times)?)?;
        }
        sum.terms.retain(|_, n| *n != 0);
        Some(sum)
    }

    /// The constant `c` if the sum is `term + c`.
    pub fn beyond(&self, term: Term) -> Option<i64> {
        let rest = self.plus(&Self::term(term), -1)?;
        rest.terms.is_empty().then_some(rest.constant)
    }

    pub fn is_of_loop(&self, depth: usize) -> bool {
        let of = |term: &Term| matches!(term, Term::Head(at, _) if *at == depth);
        self.terms.keys().any(of)
    }
}

/// An access of device memory since the last grid barrier.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PastAccess {
    pub buffer: BufferId,
    /// `None` for a write.
    pub load: Option<LoadId>,
    /// The element; `None` for any.
    pub at: Option<Value>,
}

impl PastAccess {
    pub fn conflicts_with(&self, other: &PastAccess) -> bool {
        if self.buffer != other.buffer || self.load.is_some() == other.load.is_some() {
            return false;
        }
        let (Some(a), Some(b)) = (&self.at, &other.at) else {
            return true;
        };
        let distance = a.plus(b, -1).filter(|d| d.terms.is_empty());
        // Integers of 32 bits may wrap, so distances are known modulo 2^32 only.
        distance.is_none_or(|d| d.constant == 0 || d.constant.unsigned_abs() >= 1 << 31)
    }

    pub fn anywhere(self) -> Self {
        Self { at: None, ..self }
    }
}

/// The same access, with its element expressed by the values at the head of the next iteration.
pub fn at_next_head(
    past: &PastAccess,
    depth: usize,
    end: &SortedMap<LocalId, Value>,
) -> PastAccess {
    let at = past.at.as_ref().and_then(|at| {
        let mut at = at.clone();
        for (term, n) in at.terms.clone() {
            let Term::Head(of, local) = term else {
                continue;
            };
            if of != depth {
                continue;
            }
            let step = end.get(&local)?.beyond(term)?;
            at = at.plus(&Value::int(step), n.checked_neg()?)?;
        }
        Some(at)
    });
    PastAccess { at, ..past.clone() }
}
