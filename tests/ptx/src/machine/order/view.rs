//! What a thread has seen of the others: vector clocks with one entry for many threads.
//!
//! There is one time for a whole launch, which advances at every release. An access has the time at
//! which it was executed, and a release at time `t` covers what its thread has accessed up to `t`.
//! So a thread that has seen another one *up to `t`* is ordered after all its accesses with times
//! that are not later, and a barrier of a block gives all of its threads the same entry: the block,
//! up to now.

use std::rc::Rc;

use crate::machine::registers::Mask;

pub type Time = u32;

/// A warp of a block, or an asynchronous operation that a thread of the block has begun.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Agent {
    /// Its index in the grid.
    pub block: u32,
    pub index: u32,
}

/// Indices of warps are below: a block has at most 1024 threads.
const FIRST_OPERATION: u32 = 64;

impl Agent {
    pub fn operation(block: u32, number: u32) -> Agent {
        Agent {
            block,
            index: FIRST_OPERATION + number,
        }
    }

    pub fn is_operation(self) -> bool {
        self.index >= FIRST_OPERATION
    }
}

/// Times up to which something is known of others, without what is known of all (the launch's start).
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Known {
    /// Of all threads of a block, in the order of blocks. Asynchronous operations are not covered.
    blocks: Vec<(u32, Time)>,
    /// Of lanes, in the order of agents; the masks of an agent have no common lanes.
    agents: Vec<Entry>,
}

type Entry = (Agent, Mask, Time);

impl Known {
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty() && self.agents.is_empty()
    }

    pub fn block(&self, block: u32) -> Time {
        let found = self.blocks.binary_search_by_key(&block, |entry| entry.0);
        found.map_or(0, |at| self.blocks[at].1)
    }

    /// The lanes whose accesses are known up to the time.
    pub fn lanes(&self, agent: Agent, time: Time) -> Mask {
        if !agent.is_operation() && self.block(agent.block) >= time {
            return Mask::MAX;
        }
        let start = self.agents.partition_point(|entry| entry.0 < agent);
        self.agents[start..]
            .iter()
            .take_while(|entry| entry.0 == agent)
            .filter(|entry| entry.2 >= time)
            .fold(0, |lanes, entry| lanes | entry.1)
    }

    pub fn add_block(&mut self, block: u32, time: Time) {
        match self.blocks.binary_search_by_key(&block, |entry| entry.0) {
            Ok(at) if self.blocks[at].1 >= time => return,
            Ok(at) => self.blocks[at].1 = time,
            Err(at) => self.blocks.insert(at, (block, time)),
        }
        self.agents.retain(|(agent, _, known)| {
            agent.block != block || agent.is_operation() || *known > time
        });
    }

    pub fn add(&mut self, agent: Agent, mask: Mask, time: Time) {
        if agent.is_operation() || self.block(agent.block) < time {
            let start = self.agents.partition_point(|entry| entry.0 < agent);
            add_lanes(&mut self.agents, start, (agent, mask, time));
        }
    }

    pub fn join(&mut self, other: &Known) {
        if self.is_empty() {
            self.clone_from(other);
            return;
        }
        if other.is_empty() || self == other {
            return;
        }
        if self.blocks != other.blocks {
            self.blocks = merged(&self.blocks, &other.blocks);
        }
        self.agents = merged_agents(&self.blocks, &self.agents, &other.agents);
    }
}

/// Makes the time that of the lanes for which an earlier one or none is known. The entries of the agent
/// begin at `start`, or would.
fn add_lanes(entries: &mut Vec<Entry>, start: usize, (agent, mut mask, time): Entry) {
    let mut at = start;
    while mask != 0 && at < entries.len() && entries[at].0 == agent {
        let entry = &mut entries[at];
        if entry.2 >= time {
            mask &= !entry.1;
        } else {
            entry.1 &= !mask;
            if entry.1 == 0 {
                entries.remove(at);
                continue;
            }
        }
        at += 1;
    }
    if mask == 0 {
        return;
    }
    let mut same = entries[start..].iter_mut();
    match same.find(|entry| entry.0 == agent && entry.2 == time) {
        Some(entry) => entry.1 |= mask,
        None => entries.insert(start, (agent, mask, time)),
    }
}

/// The later time of each lane, where it is later than that of its block.
fn merged_agents(blocks: &[(u32, Time)], a: &[Entry], b: &[Entry]) -> Vec<Entry> {
    let mut result: Vec<Entry> = Vec::with_capacity(a.len().max(b.len()) + 4);
    let mut blocks = blocks.iter().peekable();
    let mut is_later = |(agent, _, time): &Entry| {
        while blocks.next_if(|(block, _)| *block < agent.block).is_some() {}
        let block = blocks.peek().filter(|(block, _)| *block == agent.block);
        agent.is_operation() || block.is_none_or(|(_, floor)| time > floor)
    };
    let mut sides = [a, b];
    while let Some(agent) = sides.iter().filter_map(|side| Some(side.first()?.0)).min() {
        let start = result.len();
        for side in &mut sides {
            while let Some((entry, rest)) = side.split_first()
                && entry.0 == agent
            {
                *side = rest;
                if is_later(entry) {
                    add_lanes(&mut result, start, *entry);
                }
            }
        }
    }
    result
}

/// The later time of each block.
fn merged(a: &[(u32, Time)], b: &[(u32, Time)]) -> Vec<(u32, Time)> {
    let mut result = Vec::with_capacity(a.len() + b.len());
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    while let (Some(left), Some(right)) = (a.peek(), b.peek()) {
        match left.0.cmp(&right.0) {
            std::cmp::Ordering::Less => result.extend(a.next()),
            std::cmp::Ordering::Greater => result.extend(b.next()),
            std::cmp::Ordering::Equal => {
                result.push((left.0, left.1.max(right.1)));
                a.next();
                b.next();
            }
        }
    }
    result.extend(a);
    result.extend(b);
    result
}

/// A state space that a proxy fence may be limited to: an index of [`View::fenced`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FencedSpace {
    Shared,
    Global,
}

/// What a thread, a release or an asynchronous operation knows.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct View {
    pub all: Known,
    /// Of completed reads, beyond `all`: an arrival orders them before what follows the wait at any
    /// scope.
    pub reads: Known,
    /// What is visible to the async proxy in shared and in global memory, because a proxy fence is
    /// between: parts of `all`.
    pub fenced: [Known; 2],
    /// Of a thread: up to which time its own accesses are part of `fenced`. Threads that do the same
    /// share a view, so this is not an entry of it.
    pub own_fenced: [Time; 2],
}

impl View {
    pub fn is_empty(&self) -> bool {
        *self == View::default()
    }

    pub fn join(&mut self, other: &View) {
        self.all.join(&other.all);
        self.reads.join(&other.reads);
        for (known, other) in self.fenced.iter_mut().zip(&other.fenced) {
            known.join(other);
        }
    }

    /// Only that reads are complete.
    pub fn join_reads(&mut self, other: &View) {
        self.reads.join(&other.all);
        self.reads.join(&other.reads);
    }

    /// The lanes whose reads are known up to the time.
    pub fn lanes_of_reads(&self, agent: Agent, time: Time) -> Mask {
        self.all.lanes(agent, time) | self.reads.lanes(agent, time)
    }

    /// The entries of lanes that have the times of their own.
    pub fn add_own_fenced(&mut self, agent: Agent, lanes: Mask, times: [Time; 2]) {
        for (known, time) in self.fenced.iter_mut().zip(times) {
            if time != 0 {
                known.add(agent, lanes, time);
            }
        }
    }
}

/// Joins what one side or both know, without a copy where one of them is the result.
pub fn joined(a: &Rc<View>, b: &Rc<View>) -> Rc<View> {
    if Rc::ptr_eq(a, b) || b.is_empty() {
        return Rc::clone(a);
    }
    if a.is_empty() {
        return Rc::clone(b);
    }
    let mut view = View::clone(a);
    view.join(b);
    Rc::new(view)
}

#[cfg(test)]
mod tests {
    use super::{Agent, Known, Time};

    const WARP: Agent = Agent { block: 3, index: 1 };

    /// The last time up to which the lane is known.
    fn time(known: &Known, agent: Agent, lane: usize) -> Time {
        let is_known = |time: &Time| known.lanes(agent, *time) >> lane & 1 == 1;
        (1..100).take_while(is_known).last().unwrap_or(0)
    }

    #[test]
    fn the_latest_time_of_a_lane_is_seen() {
        let mut known = Known::default();
        known.add(WARP, 0xff, 5);
        known.add(WARP, 0x0f, 9);
        known.add(WARP, 0x3c, 7);
        let seen = |known: &Known| [0, 3, 5, 7, 8].map(|lane| time(known, WARP, lane));
        assert_eq!(seen(&known), [9, 9, 7, 5, 0]);
        known.add_block(3, 6);
        assert_eq!(seen(&known), [9, 9, 7, 6, 6]);
        known.add_block(3, 8);
        assert_eq!((seen(&known), known.agents.len()), ([9, 9, 8, 8, 8], 1));
    }

    /// By all orders of joining.
    #[test]
    fn joins_are_the_later_of_both() {
        let (mut a, mut b) = (Known::default(), Known::default());
        a.add_block(1, 4);
        a.add_block(3, 6);
        a.add(Agent { block: 2, index: 0 }, 0xff, 3);
        b.add_block(2, 5);
        b.add_block(3, 2);
        b.add(WARP, 1, 8);
        b.add(Agent { block: 1, index: 0 }, 1, 2);
        b.add(Agent::operation(3, 0), 1, 1);
        for (first, second) in [(&a, &b), (&b, &a)] {
            let mut joined = first.clone();
            joined.join(second);
            assert_eq!(joined.blocks, [(1, 4), (2, 5), (3, 6)]);
            assert_eq!((time(&joined, WARP, 0), time(&joined, WARP, 1)), (8, 6));
            assert_eq!(time(&joined, Agent::operation(3, 0), 0), 1);
            assert_eq!(time(&joined, Agent::operation(3, 1), 0), 0);
            assert_eq!(joined.agents.len(), 2);
        }
    }
}
