//! Synchronisation through memory: what was released to the locations of strong writes.
//!
//! Memory consistency model, "Release and acquire patterns" and "Synchronizes with". A release
//! pattern is a release, or a fence with a later strong write; an acquire pattern is an acquire, or a
//! strong read with a later fence. The write precedes the read in observation order if the read has
//! its value, or that of a read-modify-write that continues it. Each step needs operations whose
//! scopes include each other's threads.
//!
//! One edge of the ISA is left out: that of two `fence.sc` by the order in which they happen to be
//! executed. In another execution they have the other order.

use std::collections::HashMap;
use std::rc::Rc;

use super::clock::WarpClock;
use super::record::{Domain, Scope};
use super::view::{Time, View, joined};
use crate::machine::registers::{Mask, lanes};

/// A location, by its space and its address there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Location {
    pub space: Space,
    pub offset: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Space {
    /// By the number of the allocation.
    Global(usize),
    /// Of a block.
    Shared(u32),
}

/// What the last strong write of a location and those that it continues have released, for each
/// scope: to threads of the writer's block, of its cluster, and to all.
#[derive(Clone, Debug)]
struct Cell {
    writer: Domain,
    released: [Option<Rc<View>>; 3],
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Ordering {
    pub acquires: bool,
    pub releases: bool,
}

#[derive(Default)]
pub struct Cells {
    cells: HashMap<Location, Cell>,
}

impl Cells {
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    pub fn forget(&mut self, location: Location) {
        self.cells.remove(&location);
    }

    pub fn contains(&self, location: Location) -> bool {
        self.cells.contains_key(&location)
    }

    pub fn read(
        &self,
        clock: &mut WarpClock,
        mask: Mask,
        (location, scope): (Location, Scope),
        acquires: bool,
    ) {
        let Some(cell) = self.cells.get(&location) else {
            return;
        };
        let common = clock.domain.common(cell.writer);
        for level in Scope::ALL
            .into_iter()
            .filter(|level| *level >= common && *level <= scope)
        {
            match &cell.released[level as usize] {
                Some(view) if acquires => clock.acquire(mask, view),
                Some(view) => clock.read_before_fence(mask, level, view),
                None => {}
            }
        }
    }

    /// By lanes in their order, which all write the location.
    pub fn write(
        &mut self,
        clock: &mut WarpClock,
        mask: Mask,
        (location, scope): (Location, Scope),
        ordering: Ordering,
        now: Time,
    ) {
        let last = lanes(mask).last().unwrap_or(0);
        self.put(clock, last, (location, scope), (ordering, now), false);
    }

    pub fn modify(
        &mut self,
        clock: &mut WarpClock,
        mask: Mask,
        (location, scope): (Location, Scope),
        ordering: Ordering,
        now: Time,
    ) {
        for lane in lanes(mask) {
            self.read(clock, 1 << lane, (location, scope), ordering.acquires);
            self.put(clock, lane, (location, scope), (ordering, now), true);
        }
    }

    fn put(
        &mut self,
        clock: &WarpClock,
        lane: usize,
        (location, scope): (Location, Scope),
        (ordering, now): (Ordering, Time),
        continues: bool,
    ) {
        let old = self.cells.get(&location).filter(|_| continues);
        let mut released = [None, None, None];
        for level in Scope::ALL.into_iter().filter(|level| *level <= scope) {
            let kept = old.filter(|cell| clock.domain.common(cell.writer) <= level);
            let kept = kept.and_then(|cell| cell.released[level as usize].clone());
            let new = clock
                .released(lane, level, ordering.releases, now)
                .map(Rc::new);
            released[level as usize] = match (kept, new) {
                (Some(kept), Some(new)) => Some(joined(&kept, &new)),
                (kept, new) => kept.or(new),
            };
        }
        if released.iter().all(Option::is_none) {
            self.cells.remove(&location);
            return;
        }
        let writer = clock.domain;
        self.cells.insert(location, Cell { writer, released });
    }
}
