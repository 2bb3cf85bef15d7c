//! What must be over when a block of a cluster exits.
//!
//! Shared memory has the lifetime of its block (ISA, "Memory Hierarchy"), and all accesses to it by
//! other blocks must happen before the block exits (CUDA C++ programming guide, "Distributed Shared
//! Memory"). So each of them, and each asynchronous operation, must be ordered before the end of one of
//! the block's threads: by an arrival that the block has waited for, or a barrier of the cluster.
//!
//! No document says whether a block may exit while a copy that it has issued goes on between global memory
//! and the shared memory of other blocks. CUTLASS waits for that (`producer_tail`: "This helps avoid
//! early exit of blocks in Cluster"), and here it is demanded.

use std::collections::{BTreeMap, HashMap};

use super::cell::Location;
use super::record::Record;
use super::shadow::{Cause, Code, GRANULE, Race, Shadow};
use super::view::{Agent, View};
use super::{Found, OBJECT, Operation, Order, Space, WarpClock, kind};
use crate::machine::registers::lanes;

/// Of each block the last operation of each agent and lane that has written to the memory of another block.
pub type Sent = HashMap<u32, BTreeMap<(Agent, usize), (Record, Location)>>;

impl Order {
    /// The operation is about to end, and has written there, in the memory of another block.
    pub fn sends(&mut self, operation: &Operation, to: Location) {
        let (agent, lane) = (operation.clock.agent, operation.clock.lane());
        let record = Record {
            agent,
            time: operation.clock.time(self.now),
            site: operation.site,
            mask: 1 << lane,
            kind: kind(true, true),
        };
        let sent = self.sent.entry(agent.block).or_default();
        sent.insert((agent, lane), (record, to));
    }

    /// An access that may happen after the exit of the block, to whose warps the clocks belong.
    pub fn outlasts<'a>(
        &mut self,
        block: u32,
        clocks: impl Iterator<Item = &'a WarpClock>,
    ) -> Option<Box<Found>> {
        let mut end = View::default();
        clocks.for_each(|clock| end.join(&clock.own(u32::MAX, self.now)));
        let sent = self.sent.get(&block).into_iter().flatten();
        let under_way = sent
            .map(|(_, sent)| sent)
            .find(|(record, _)| record.mask & !end.lanes_of_reads(record.agent, record.time) != 0);
        if let Some((record, location)) = under_way {
            return Some(found(record, 0, *location));
        }
        let shadow = self.shared.get(&block)?;
        let (record, lane, granule) = self.unseen(block, shadow, &end)?;
        let location = Location {
            space: Space::Shared(block),
            offset: granule as u64 * GRANULE,
        };
        Some(found(&record, lane, location))
    }

    fn unseen(&self, block: u32, shadow: &Shadow, end: &View) -> Option<(Record, usize, usize)> {
        let mut last = Code::default();
        for (granule, pair) in shadow.writes.iter().zip(&shadow.reads).enumerate() {
            for code in [*pair.0, *pair.1] {
                // Accesses to consecutive granules are often by the same lanes.
                if code == last || code.0 == 0 {
                    continue;
                }
                last = code;
                let parts = match code.is_set() {
                    true => self.table.sets[code.index()]
                        .iter()
                        .map(|entry| (entry.record as usize, entry.lanes))
                        .collect(),
                    false => vec![(code.index(), self.table.lanes_of(code))],
                };
                for (record, mask) in parts {
                    let record = self.table.records[record];
                    let mut all = lanes(mask);
                    if is_foreign(&record, block)
                        && let Some(lane) = all.find(|lane| !is_over(&record, *lane, end))
                    {
                        return Some((record, lane, granule));
                    }
                }
            }
        }
        None
    }
}

fn is_foreign(record: &Record, block: u32) -> bool {
    record.agent.block != block || record.agent.is_operation() && record.kind.is_async
}

/// Whoever has seen that a phase is complete knows that the arrivals have happened, at any scope.
fn is_over(record: &Record, lane: usize, end: &View) -> bool {
    let is_arrival = record.kind == OBJECT;
    let seen = match record.kind.writes() && !is_arrival {
        true => end.all.lanes(record.agent, record.time),
        false => end.lanes_of_reads(record.agent, record.time),
    };
    seen >> lane & 1 == 1
}

fn found(record: &Record, lane: usize, location: Location) -> Box<Found> {
    let race = Race {
        earlier: *record,
        earlier_lane: lane,
        later: record.kind,
        later_lane: 0,
        granule: (location.offset / GRANULE) as usize,
        cause: Cause::Exit,
    };
    Box::new(Found { race, location })
}
