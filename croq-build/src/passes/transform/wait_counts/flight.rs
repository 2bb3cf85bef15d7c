//! Copies that are in flight at a point of a kernel.

use crate::ir::{Condition, Expr, Function, FutureId};
use crate::sorted::SortedMap;
use crate::source::Span;

/// The statement that begins a copy. Those of one macro have the same span.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Begun {
    pub span: Span,
    /// The future of the statement, which may be exchanged later.
    pub future: FutureId,
}

/// For each future that may be in flight: the minimal number of younger groups, and the copy. A TMA
/// copy is in no group: it is waited for separately.
#[derive(Clone, Default, PartialEq)]
pub struct Flight {
    pub copies: SortedMap<FutureId, (Option<u32>, Begun)>,
    /// For some of them: a condition, and the value for which alone the copy is in flight.
    pub guards: SortedMap<FutureId, (Condition, bool)>,
    /// No path leads here.
    pub unreachable: bool,
}

impl Flight {
    /// Each future gets the copy of the next one, and the last one that of the first one.
    pub fn rotate(&mut self, futures: &[FutureId]) {
        for id in futures {
            self.guards.remove(id);
        }
        let mut moved: Vec<_> = futures.iter().map(|id| self.copies.remove(id)).collect();
        if !moved.is_empty() {
            moved.rotate_left(1);
        }
        for (id, copy) in futures.iter().zip(moved) {
            if let Some(copy) = copy {
                self.copies.insert(*id, copy);
            }
        }
    }

    pub fn unreachable() -> Self {
        Self {
            unreachable: true,
            ..Self::default()
        }
    }

    pub fn join(&mut self, other: &Flight) {
        if other.unreachable {
            return;
        }
        if self.unreachable {
            *self = other.clone();
            return;
        }
        self.join_guards(other);
        for (id, (younger, begun)) in &other.copies {
            self.copies
                .entry(*id)
                .and_modify(|(n, _)| *n = (*n).min(*younger))
                .or_insert((*younger, *begun));
        }
    }

    pub fn begin_group(&mut self) {
        for (younger, _) in self.copies.values_mut() {
            *younger = younger.map(|n| n.saturating_add(1));
        }
    }

    /// The copies in flight where a condition has this value.
    pub fn under(&self, condition: Option<&Condition>, holds: bool) -> Flight {
        let mut flight = self.clone();
        let guards = &self.guards;
        flight.copies.retain(|id, _| {
            let guard = guards.get(id).filter(|(of, _)| Some(of) == condition);
            guard.is_none_or(|(_, under)| *under == holds)
        });
        flight
    }

    /// After an `if`: copies that only one of its branches has begun are in flight only for that
    /// value of the condition.
    pub fn guard(
        &mut self,
        condition: &Condition,
        before: &Flight,
        [then, otherwise]: [&Flight; 2],
    ) {
        for (this, other, holds) in [(then, otherwise, true), (otherwise, then, false)] {
            for (id, begun) in &this.copies {
                let before = before.copies.get(id).is_some_and(|b| b.1 == begun.1);
                if !before && !other.unreachable && !other.copies.contains_key(id) {
                    self.guards.insert(*id, (condition.clone(), holds));
                }
            }
        }
    }

    /// Keeps the guards on which both agree, before `other` is joined.
    pub fn join_guards(&mut self, other: &Flight) {
        for id in other.copies.keys() {
            let guard = other.guards.get(id);
            if !self.copies.contains_key(id) {
                self.guards.remove(id);
                self.guards.extend(guard.map(|guard| (*id, guard.clone())));
            } else if self.guards.get(id) != guard {
                self.guards.remove(id);
            }
        }
    }

    pub fn unguarded(mut self) -> Flight {
        self.guards.clear();
        self
    }
}

/// A condition that has the same value everywhere in an iteration of the enclosing loops.
pub fn invariant_condition(func: &Function, cond: &Expr) -> Option<Condition> {
    Condition::of(func, cond).filter(Condition::is_without_literals)
}
