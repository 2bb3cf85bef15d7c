//! Copies that are in flight at a point of a kernel.

use std::collections::BTreeMap;

use crate::ir::{Condition, Expr, Function, FutureId};
use crate::source::Span;

/// For each future that may be in flight: the least number of younger groups, and the copy. What
/// TMA moves is in no group: it is waited for by itself.
#[derive(Clone, Default, PartialEq)]
pub struct Flight {
    pub copies: BTreeMap<FutureId, (Option<u32>, Span)>,
    /// Of some of them: the condition under which alone they are, and whether it holds then.
    pub guards: BTreeMap<FutureId, (Condition, bool)>,
    /// No path leads here.
    pub nowhere: bool,
}

impl Flight {
    /// Each future has what the next one had, and the last one what the first one had.
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

    pub fn nowhere() -> Self {
        Self {
            nowhere: true,
            ..Self::default()
        }
    }

    pub fn join(&mut self, other: &Flight) {
        if other.nowhere {
            return;
        }
        if self.nowhere {
            *self = other.clone();
            return;
        }
        self.join_guards(other);
        for (id, (younger, span)) in &other.copies {
            self.copies
                .entry(*id)
                .and_modify(|(n, _)| *n = (*n).min(*younger))
                .or_insert((*younger, *span));
        }
    }

    pub fn begin_group(&mut self) {
        for (younger, _) in self.copies.values_mut() {
            *younger = younger.map(|n| n.saturating_add(1));
        }
    }

    /// What is in flight where a condition holds, or doesn't.
    pub fn under(&self, condition: Option<&Condition>, holds: bool) -> Flight {
        let mut flight = self.clone();
        let guards = &self.guards;
        flight.copies.retain(|id, _| {
            let guard = guards.get(id).filter(|(of, _)| Some(of) == condition);
            guard.is_none_or(|(_, under)| *under == holds)
        });
        flight
    }

    /// After an `if`: what was begun in one of its branches alone is in flight where the condition
    /// says so.
    pub fn guard(
        &mut self,
        condition: &Condition,
        before: &Flight,
        [then, otherwise]: [&Flight; 2],
    ) {
        for (this, other, holds) in [(then, otherwise, true), (otherwise, then, false)] {
            for (id, begun) in &this.copies {
                let before = before.copies.get(id).is_some_and(|b| b.1 == begun.1);
                if !before && !other.nowhere && !other.copies.contains_key(id) {
                    self.guards.insert(*id, (condition.clone(), holds));
                }
            }
        }
    }

    /// What is known of a copy is what both know, before `other` is joined.
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

/// A condition that is the same wherever it stands in an iteration of the loops around.
pub fn invariant_condition(func: &Function, cond: &Expr) -> Option<Condition> {
    Condition::of(func, cond).filter(Condition::is_without_literals)
}
