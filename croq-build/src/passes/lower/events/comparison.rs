//! What the comparisons of regions that run at the same time have in common.

use super::threads::Threads;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::ir::{BarrierScope, EventId, Function, Stmt, StmtKind, ThreadSet};
use crate::passes::analysis::uniformity::{Uniformity, known};
use crate::sorted::{SortedMap, SortedSet};
use crate::source::Span;
use crate::symbolic::Sym;

/// The parts of a kernel (statements, expressions) that all analyses together may visit.
const MOST_VISITED: usize = 4 << 20;

pub(super) struct Comparison<'a> {
    pub function: &'a Function,
    kernel: &'a [Stmt],
    /// In the threads of two regions. Each analysis takes as long as the kernel is.
    uniformity: SortedMap<ThreadSet, Uniformity<'a, Threads>>,
    /// How much of the kernel further analyses may visit.
    left: usize,
    /// The places that have a report.
    reported: SortedSet<Span>,
}

impl<'a> Comparison<'a> {
    pub fn of(function: &'a Function, kernel: &'a [Stmt]) -> Self {
        Self {
            function,
            kernel,
            uniformity: SortedMap::new(),
            left: MOST_VISITED,
            reported: SortedSet::new(),
        }
    }

    /// Whether a value may differ between these threads. After too many analyses it may.
    pub fn differs(&mut self, threads: &Threads, sym: &Sym) -> bool {
        if let Some(known) = known(self.function, threads, sym) {
            return known;
        }
        let set = &threads.set;
        if !self.uniformity.contains_key(set) && self.left > 0 {
            let domain = Threads { set: set.clone() };
            let found = Uniformity::of(self.function, self.kernel, domain);
            self.left = self.left.saturating_sub(found.visited());
            self.uniformity.insert(set.clone(), found);
        }
        self.uniformity.get(set).is_none_or(|found| found.sym(sym))
    }

    #[cfg(test)]
    pub fn limit(&mut self, visited: usize) {
        self.left = visited;
    }

    #[cfg(test)]
    pub fn analyses(&self) -> usize {
        self.uniformity.len()
    }

    /// One place has one report of the code.
    pub fn is_reported(&self, at: Span) -> bool {
        self.reported.contains(&at)
    }

    pub fn push(&mut self, report: Diagnostic, diags: &mut Diagnostics) {
        self.reported.insert(report.primary.span);
        diags.push(report);
    }
}

/// What a statement or a region tells other threads, and what it waits for.
#[derive(Default)]
pub(super) struct Signals {
    pub waits: SortedSet<EventId>,
    pub triggers: SortedSet<EventId>,
    pub numbers: SortedSet<u32>,
}

impl Signals {
    pub fn of(stmt: &Stmt) -> Self {
        let mut signals = Self::default();
        signals.gather(stmt);
        signals
    }

    fn gather(&mut self, stmt: &Stmt) {
        self.add(stmt);
        let blocks = stmt.kind.blocks();
        blocks.flatten().for_each(|inner| self.gather(inner));
    }

    /// Adds those of the statement itself, without its blocks.
    pub fn add(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::WaitEvent(at) => drop(self.waits.insert(at.event)),
            StmtKind::Trigger(at) => drop(self.triggers.insert(at.event)),
            StmtKind::Barrier {
                scope: BarrierScope::Named { id, .. } | BarrierScope::Arrive { id, .. },
                ..
            } => drop(self.numbers.insert(*id)),
            _ => {}
        }
    }

    pub fn is_empty(&self) -> bool {
        self.waits.is_empty() && self.triggers.is_empty() && self.numbers.is_empty()
    }
}

type Ends<Key> = SortedMap<Key, Vec<usize>>;

/// Which regions lead to which: by an event that one triggers and the other waits for, or by a barrier.
pub(super) struct Links<'r> {
    regions: Vec<&'r Signals>,
    waiting: Ends<EventId>,
    triggering: Ends<EventId>,
    numbered: Ends<u32>,
}

/// Some of the regions, by their positions.
pub(super) struct Reached(Vec<bool>);

impl Reached {
    pub fn contains(&self, at: usize) -> bool {
        self.0.get(at).copied().unwrap_or(false)
    }
}

impl<'r> Links<'r> {
    pub fn of(regions: impl IntoIterator<Item = &'r Signals>) -> Self {
        let mut links = Links {
            regions: regions.into_iter().collect(),
            waiting: Ends::new(),
            triggering: Ends::new(),
            numbered: Ends::new(),
        };
        for (at, signals) in links.regions.iter().enumerate() {
            let add = |ends: &mut Ends<EventId>, events: &SortedSet<EventId>| {
                for event in events {
                    ends.entry(*event).or_default().push(at);
                }
            };
            add(&mut links.waiting, &signals.waits);
            add(&mut links.triggering, &signals.triggers);
            for number in &signals.numbers {
                links.numbered.entry(*number).or_default().push(at);
            }
        }
        links
    }

    /// The regions that a chain of events reaches from a region.
    pub fn after(&self, region: usize) -> Reached {
        self.reach(region, |s| &s.triggers, &self.waiting, &Ends::new())
    }

    /// The regions from which a chain of events reaches a region.
    pub fn before(&self, region: usize) -> Reached {
        self.reach(region, |s| &s.waits, &self.triggering, &Ends::new())
    }

    /// The regions that events and numbered barriers reach from a region.
    pub fn after_with_barriers(&self, region: usize) -> Reached {
        self.reach(region, |s| &s.triggers, &self.waiting, &self.numbered)
    }

    fn reach(
        &self,
        from: usize,
        events: impl Fn(&Signals) -> &SortedSet<EventId>,
        ends: &Ends<EventId>,
        numbered: &Ends<u32>,
    ) -> Reached {
        let mut reached = vec![false; self.regions.len()];
        let mut followed = (SortedSet::new(), SortedSet::new());
        let mut open = vec![from];
        while let Some(signals) = open.pop().and_then(|at| self.regions.get(at)) {
            let events = events(signals).iter().filter(|e| followed.0.insert(**e));
            let numbers = signals.numbers.iter().filter(|n| followed.1.insert(**n));
            let next = events.filter_map(|event| ends.get(event));
            let next = next.chain(numbers.filter_map(|number| numbered.get(number)));
            for at in next.flatten() {
                if let Some(is_reached) = reached.get_mut(*at).filter(|r| !**r) {
                    *is_reached = true;
                    open.push(*at);
                }
            }
        }
        Reached(reached)
    }
}
