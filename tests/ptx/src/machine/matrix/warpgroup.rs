//! Four warps that execute the same `wgmma` instructions with the same descriptors.
//!
//! ISA, `wgmma.commit_group` and `wgmma.wait_group`: a group is one of the warpgroup, and a thread that
//! waits for it waits for all products in it. So a wait by one warp is for the products of all four,
//! and what follows it is after their reads of shared memory. Registers belong to the products of
//! their own warp until that warp has waited.

use std::collections::VecDeque;
use std::rc::Rc;

use super::super::order::{Agent, Order, View};

/// An instruction: an address that stands for its function, its position, and its descriptors.
pub type Entry = (usize, usize, [u64; 2]);

#[derive(Clone, Debug)]
pub struct Warpgroup {
    warps: usize,
    /// Instructions that not all warps have executed yet.
    log: VecDeque<Entry>,
    /// How many came before them.
    earlier: usize,
    executed: [usize; 4],
    has_exited: [bool; 4],
    groups: Groups,
}

/// Committed groups, numbered from 0. The counts are of each warp.
#[derive(Clone, Default, Debug)]
struct Groups {
    committed: [u64; 4],
    /// Groups whose products the warp has executed.
    complete: [u64; 4],
    /// Groups for which the warp has waited.
    waited: [u64; 4],
    /// So many groups are needed by a wait.
    awaited: u64,
    /// From `first` on: the groups for which some warp has not waited.
    list: VecDeque<Group>,
    first: u64,
    /// Agents of earlier groups, for which all warps have waited.
    free: Vec<Agent>,
}

/// For the detection of races. The products of a group only read memory, and whoever waits for some of
/// them waits for all: they are of one agent.
#[derive(Clone, Default, Debug)]
struct Group {
    agent: Option<Agent>,
    /// What waits acquire.
    view: Rc<View>,
}

impl Groups {
    fn at(&mut self, number: u64) -> &mut Group {
        let index = (number - self.first) as usize;
        if self.list.len() <= index {
            self.list.resize_with(index + 1, Group::default);
        }
        &mut self.list[index]
    }
}

impl Warpgroup {
    /// For all warps of a block.
    pub fn of_block(warps: usize) -> Vec<Warpgroup> {
        let group = |first: usize| Warpgroup {
            warps: (warps - first).min(4),
            log: VecDeque::new(),
            earlier: 0,
            executed: [0; 4],
            has_exited: [false; 4],
            groups: Groups::default(),
        };
        (0..warps).step_by(4).map(group).collect()
    }

    /// # Errors
    ///
    /// The warps of the group do not execute the same.
    pub fn execute(&mut self, warp: usize, entry: Entry) -> Result<(), String> {
        if self.warps < 4 {
            let warps = self.warps;
            return Err(format!("the warpgroup has {warps} warps instead of 4"));
        }
        let own = self.executed[warp];
        let gone = (0..4).find(|other| self.has_exited[*other] && self.executed[*other] <= own);
        if let Some(other) = gone {
            return Err(format!(
                "warp {other} of the warpgroup has exited without this instruction"
            ));
        }
        match self.log.get(own - self.earlier) {
            None => self.log.push_back(entry),
            Some(known) if *known == entry => {}
            Some(known) if (known.0, known.1) == (entry.0, entry.1) => {
                return Err(
                    "the matrix descriptors of the warps of the warpgroup differ".to_owned(),
                );
            }
            Some(_) => {
                return Err("the warps of the warpgroup execute different instructions".to_owned());
            }
        }
        self.executed[warp] += 1;
        while self.executed.iter().all(|count| *count > self.earlier) {
            self.log.pop_front();
            self.earlier += 1;
        }
        Ok(())
    }

    /// # Errors
    ///
    /// Others have executed more.
    pub fn exit(&mut self, warp: usize) -> Result<(), String> {
        self.has_exited[warp] = true;
        let most = self.executed.iter().max().copied().unwrap_or(0);
        match self.executed[warp] < most {
            true => Err(format!(
                "warp {warp} of a warpgroup exits without a `wgmma` instruction that others execute"
            )),
            false => Ok(()),
        }
    }

    /// Of the group that the warp commits next.
    pub fn agent(&mut self, warp: usize, order: &mut Order, block: u32) -> Agent {
        let groups = &mut self.groups;
        let number = groups.committed[warp];
        match groups.at(number).agent {
            Some(agent) => agent,
            None => {
                let agent = groups.free.pop().unwrap_or_else(|| order.add_agent(block));
                groups.at(number).agent = Some(agent);
                agent
            }
        }
    }

    pub fn commit(&mut self, warp: usize) {
        self.groups.committed[warp] += 1;
    }

    /// A warp waits for all groups but the last `pending`: how many these are.
    pub fn await_groups(&mut self, warp: usize, pending: u64) -> u64 {
        let groups = &mut self.groups;
        let count = groups.committed[warp].saturating_sub(pending);
        groups.awaited = groups.awaited.max(count);
        count
    }

    /// Which of the groups that the warp has committed and not waited for is needed next.
    pub fn needed(&self, warp: usize) -> Option<usize> {
        let groups = &self.groups;
        let next = groups.complete[warp];
        let is_needed = next < groups.awaited.min(groups.committed[warp]);
        is_needed.then(|| (next - groups.waited[warp]) as usize)
    }

    /// The warp has executed its products of the group that it needed.
    pub fn complete(&mut self, warp: usize, order: Option<&mut Order>) {
        let number = self.groups.complete[warp];
        let group = self.groups.at(number);
        if let (Some(order), Some(agent)) = (order, group.agent) {
            group.view = Rc::new(order.finish_of(agent));
        }
        self.groups.complete[warp] += 1;
    }

    /// What a wait for so many groups acquires; none if products of some warp are missing.
    pub fn acquire(&mut self, warp: usize, count: u64) -> Option<Vec<Rc<View>>> {
        let groups = &mut self.groups;
        if groups.complete.iter().any(|complete| *complete < count) {
            return None;
        }
        let range = groups.waited[warp]..count;
        groups.waited[warp] = groups.waited[warp].max(count);
        let views = range.map(|number| Rc::clone(&groups.at(number).view));
        let views = views.collect();
        let oldest = groups.waited.iter().min().copied().unwrap_or(0);
        while groups.first < oldest {
            let group = groups.list.pop_front();
            groups.free.extend(group.and_then(|group| group.agent));
            groups.first += 1;
        }
        Some(views)
    }

    /// For reports: the warps that have not committed so many groups.
    pub fn missing(&self, count: u64) -> impl Iterator<Item = usize> {
        let committed = self.groups.committed.into_iter().enumerate();
        committed.filter_map(move |(warp, groups)| (groups < count).then_some(warp))
    }
}
