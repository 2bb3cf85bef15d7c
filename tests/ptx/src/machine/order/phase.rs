//! Phases of mbarriers and of the barriers of clusters: what arrivals release to waits.
//!
//! ISA, "mbarrier.arrive" and "mbarrier.test_wait": an arrival releases, a wait that returns true
//! acquires what the arrivals of its phase have released, both at their scopes. Reads are complete
//! when their thread arrives, so they are before what follows the wait at any scope.

use std::collections::HashMap;
use std::rc::Rc;

use super::cell::Location;
use super::clock::WarpClock;
use super::record::Scope;
use super::view::View;
use super::{Order, Space};
use crate::machine::registers::Mask;

/// What was released in one phase.
#[derive(Clone, Default)]
struct Phase {
    number: u64,
    /// By the scope that a wait needs at least.
    released: [Rc<View>; 3],
    /// Of which only reads are complete.
    reads: View,
}

#[derive(Default)]
pub struct Phases {
    /// The current phase and the one before, by even and odd numbers.
    mbarriers: HashMap<Location, [Phase; 2]>,
    clusters: HashMap<u32, [Phase; 2]>,
}

impl Phases {
    fn of(pair: &mut [Phase; 2], number: u64) -> &mut Phase {
        let phase = &mut pair[number as usize % 2];
        if phase.number != number {
            *phase = Phase {
                number,
                ..Phase::default()
            };
        }
        phase
    }
}

/// How a thread arrives or waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Semantics {
    pub scope: Scope,
    /// It releases or acquires, and is not `.relaxed`.
    pub orders: bool,
}

impl Order {
    /// A new mbarrier object, or none any more.
    pub fn forget_mbarrier(&mut self, location: Location) {
        self.phases.mbarriers.remove(&location);
    }

    /// Lanes arrive in the phase with that number.
    pub fn arrive_in_phase(
        &mut self,
        clock: &WarpClock,
        mask: Mask,
        (location, number): (Location, u64),
        how: Semantics,
    ) {
        let own = clock.own(mask, self.now);
        let Space::Shared(block) = location.space else {
            return;
        };
        let common = clock.domain.common(self.table.domain(block));
        let pair = self.phases.mbarriers.entry(location).or_default();
        let phase = Phases::of(pair, number);
        match how.orders && how.scope >= common {
            true => Rc::make_mut(&mut phase.released[common as usize]).join(&own),
            false => phase.reads.join(&own),
        }
        if common > Scope::Block {
            self.table.releases_beyond(clock.agent.block, self.now);
        }
        self.advance();
    }

    /// An asynchronous operation completes in the phase with that number. ISA, "Async proxy": what it
    /// has written is visible to whoever observes the completion.
    pub fn complete_in_phase(&mut self, location: Location, number: u64, view: &View) {
        let pair = self.phases.mbarriers.entry(location).or_default();
        Rc::make_mut(&mut Phases::of(pair, number).released[0]).join(view);
    }

    /// Lanes have seen the end of the phase with that number.
    pub fn wait_for_phase(
        &mut self,
        clock: &mut WarpClock,
        mask: Mask,
        (location, number): (Location, u64),
        how: Semantics,
    ) {
        let Some(pair) = self.phases.mbarriers.get_mut(&location) else {
            return;
        };
        acquire(Phases::of(pair, number), clock, mask, how);
    }

    /// Lanes arrive at the barrier of their cluster. A relaxed arrival releases nothing; the mbarriers
    /// that the thread has initialised before a `fence.mbarrier_init` are known behind the wait.
    pub fn arrive_at_cluster(&mut self, clock: &WarpClock, mask: Mask, number: u64, orders: bool) {
        let pair = self
            .phases
            .clusters
            .entry(clock.domain.cluster)
            .or_default();
        let phase = Phases::of(pair, number);
        if orders {
            Rc::make_mut(&mut phase.released[0]).join(&clock.own(mask, self.now));
        } else if clock.initialised & mask != 0 {
            phase
                .reads
                .join(&clock.own(clock.initialised & mask, self.now));
        }
        self.table.releases_beyond(clock.agent.block, self.now);
        self.advance();
    }

    pub fn wait_at_cluster(&mut self, clock: &mut WarpClock, mask: Mask, number: u64) {
        let how = Semantics {
            scope: Scope::Cluster,
            orders: true,
        };
        if let Some(pair) = self.phases.clusters.get_mut(&clock.domain.cluster) {
            acquire(Phases::of(pair, number), clock, mask, how);
        }
    }
}

fn acquire(phase: &Phase, clock: &mut WarpClock, mask: Mask, how: Semantics) {
    for scope in Scope::ALL {
        let released = &phase.released[scope as usize];
        if released.is_empty() {
            continue;
        }
        match how.orders && scope <= how.scope {
            true => clock.acquire(mask, released),
            false => clock.acquire_reads(mask, released),
        }
    }
    if !phase.reads.is_empty() {
        clock.acquire_reads(mask, &phase.reads);
    }
}
