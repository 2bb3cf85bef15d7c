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
    agents: Vec<(Agent, Mask, Time)>,
}

impl Known {
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty() && self.agents.is_empty()
    }

    pub fn block(&self, block: u32) -> Time {
        let found = self.blocks.binary_search_by_key(&block, |entry| entry.0);
        found.map_or(0, |at| self.blocks[at].1)
    }

    /// The time up to which the lane's accesses are known.
    pub fn seen(&self, agent: Agent, lane: usize) -> Time {
        let floor = match agent.is_operation() {
            true => 0,
            false => self.block(agent.block),
        };
        let start = self.agents.partition_point(|entry| entry.0 < agent);
        self.agents[start..]
            .iter()
            .take_while(|entry| entry.0 == agent)
            .filter(|entry| entry.1 >> lane & 1 == 1)
            .fold(floor, |time, entry| time.max(entry.2))
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
        if !agent.is_operation() && self.block(agent.block) >= time {
            return;
        }
        let mut mask = mask;
        let start = self.agents.partition_point(|entry| entry.0 < agent);
        let mut at = start;
        while mask != 0 && at < self.agents.len() && self.agents[at].0 == agent {
            let entry = &mut self.agents[at];
            if entry.2 >= time {
                mask &= !entry.1;
            } else {
                entry.1 &= !mask;
                if entry.1 == 0 {
                    self.agents.remove(at);
                    continue;
                }
            }
            at += 1;
        }
        if mask == 0 {
            return;
        }
        let mut same = self.agents[start..].iter_mut();
        match same.find(|entry| entry.0 == agent && entry.2 == time) {
            Some(entry) => entry.1 |= mask,
            None => self.agents.insert(start, (agent, mask, time)),
        }
    }

    pub fn join(&mut self, other: &Known) {
        if self.is_empty() {
            self.clone_from(other);
            return;
        }
        if self == other {
            return;
        }
        if self.blocks.is_empty() {
            for (block, time) in &other.blocks {
                self.add_block(*block, *time);
            }
        } else if !other.blocks.is_empty() {
            self.blocks = merged(&self.blocks, &other.blocks);
            let blocks = std::mem::take(&mut self.blocks);
            let floor = |block: u32| {
                let found = blocks.binary_search_by_key(&block, |entry| entry.0);
                found.map_or(0, |at| blocks[at].1)
            };
            self.agents
                .retain(|(agent, _, known)| agent.is_operation() || *known > floor(agent.block));
            self.blocks = blocks;
        }
        for (agent, mask, time) in &other.agents {
            self.add(*agent, *mask, *time);
        }
    }
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
}

impl View {
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

    pub fn seen_reads(&self, agent: Agent, lane: usize) -> Time {
        let all = self.all.seen(agent, lane);
        match self.reads.is_empty() {
            true => all,
            false => all.max(self.reads.seen(agent, lane)),
        }
    }
}

/// Joins what one side or both know, without a copy where one of them is the result.
pub fn joined(a: &Rc<View>, b: &Rc<View>) -> Rc<View> {
    if Rc::ptr_eq(a, b) || **b == View::default() {
        return Rc::clone(a);
    }
    let mut view = View::clone(a);
    view.join(b);
    Rc::new(view)
}

#[cfg(test)]
mod tests {
    use super::{Agent, Known};

    const WARP: Agent = Agent { block: 3, index: 1 };

    #[test]
    fn the_latest_time_of_a_lane_is_seen() {
        let mut known = Known::default();
        known.add(WARP, 0xff, 5);
        known.add(WARP, 0x0f, 9);
        known.add(WARP, 0x3c, 7);
        let seen = |known: &Known| [0, 3, 5, 7, 8].map(|lane| known.seen(WARP, lane));
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
            assert_eq!((joined.seen(WARP, 0), joined.seen(WARP, 1)), (8, 6));
            assert_eq!(joined.seen(Agent::operation(3, 0), 0), 1);
            assert_eq!(joined.seen(Agent::operation(3, 1), 0), 0);
            assert_eq!(joined.agents.len(), 2);
        }
    }
}
