//! Asynchronous operations as agents of their own: what their thread has seen is before them, and
//! they are before what follows a wait for them.

use std::collections::HashMap;
use std::rc::Rc;

use super::cell::Location;
use super::clock::WarpClock;
use super::record::{Effect, Kind, Scope};
use super::view::{Agent, Time, View};
use super::{Access, Failure, Found, Order, Ordering, Target};
use crate::machine::registers::{LANES, Mask};

/// An operation between its issue and its completion.
pub struct Operation {
    pub clock: WarpClock,
    /// The instruction that issued it.
    pub site: u32,
}

/// Bytes that an operation or a lane accesses, collected while it is executed.
#[derive(Clone, Copy, Debug)]
pub struct Touch {
    pub location: Location,
    pub bytes: u64,
    /// Of the allocation or the block's shared memory.
    pub size: u64,
    pub kind: Kind,
    pub lane: usize,
}

/// An operation as one of the [`LANES`] of an agent.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    agent: Agent,
    lane: usize,
    /// Of all accesses of the agent's operations: whoever has waited for one knows the whole of it. As it
    /// is the same for all, what is known of many of them is one entry.
    time: Time,
}

impl Slot {
    fn mask(self) -> Mask {
        1 << self.lane
    }
}

/// Agents of operations. One is used again, at a later time, when all of its operations are complete, by a
/// thread that has seen that.
#[derive(Default)]
pub struct Agents {
    next: HashMap<u32, u32>,
    /// Of each warp the slot that was taken last. Slots of one agent are of the same warp, because its
    /// operations are often waited for together.
    last: HashMap<Agent, Slot>,
    /// How many operations are complete, of agents with some that are not.
    complete: HashMap<Agent, usize>,
    free: HashMap<u32, Vec<(Agent, Time)>>,
}

impl Agents {
    fn take(&mut self, issuer: Agent, view: &View, now: Time) -> Slot {
        let slot = match self.last.get(&issuer) {
            Some(last) if last.lane + 1 < LANES => Slot {
                lane: last.lane + 1,
                ..*last
            },
            _ => Slot {
                agent: self.take_agent(issuer.block, view),
                lane: 0,
                time: now,
            },
        };
        self.last.insert(issuer, slot);
        slot
    }

    fn take_agent(&mut self, block: u32, view: &View) -> Agent {
        let free = self.free.entry(block).or_default();
        let seen = |entry: &(Agent, Time)| view.all.lanes(entry.0, entry.1) == Mask::MAX;
        match free.iter().position(seen) {
            Some(at) => free.swap_remove(at).0,
            None => self.add(block),
        }
    }

    fn add(&mut self, block: u32) -> Agent {
        let next = self.next.entry(block).or_default();
        *next += 1;
        Agent::operation(block, *next)
    }

    fn finish(&mut self, slot: Slot) {
        let complete = self.complete.entry(slot.agent).or_default();
        *complete += 1;
        if *complete == LANES {
            self.complete.remove(&slot.agent);
            let free = self.free.entry(slot.agent.block).or_default();
            free.push((slot.agent, slot.time));
        }
    }
}

impl WarpClock {
    /// Of an access now.
    pub fn time(&self, now: Time) -> Time {
        self.slot.map_or(now, |slot| slot.time)
    }

    /// The lane of an operation that is only one of its agent's.
    pub fn lane(&self) -> usize {
        self.slot.map_or(0, |slot| slot.lane)
    }
}

impl Order {
    /// An operation that these lanes issue.
    pub fn begin(&mut self, clock: &WarpClock, lanes: Mask, site: u32) -> Operation {
        let view = clock.own(lanes, self.now);
        let slot = self.agents.take(clock.agent, &view, self.now);
        let mut operation = self.begin_as(clock, view, (slot.agent, site));
        operation.clock.slot = Some(slot);
        operation
    }

    /// An agent for operations that only read, and for which all waits are together.
    pub fn add_agent(&mut self, block: u32) -> Agent {
        self.agents.add(block)
    }

    /// One of the operations of an agent.
    pub fn begin_of(
        &mut self,
        clock: &WarpClock,
        lanes: Mask,
        (agent, site): (Agent, u32),
    ) -> Operation {
        let view = clock.own(lanes, self.now);
        self.begin_as(clock, view, (agent, site))
    }

    fn begin_as(
        &mut self,
        clock: &WarpClock,
        view: View,
        (agent, site): (Agent, u32),
    ) -> Operation {
        self.advance();
        let mut own = WarpClock::new(agent, clock.domain.cluster);
        own.replace(Mask::MAX, Rc::new(view));
        Operation { clock: own, site }
    }

    pub fn touch(&self, touch: Touch) {
        self.touches.borrow_mut().push(touch);
    }

    pub fn forget_touches(&mut self) {
        self.touches.get_mut().clear();
    }

    /// What was touched is on the account of this agent.
    ///
    /// # Errors
    ///
    /// A race.
    pub fn settle(&mut self, clock: &mut WarpClock, site: u32) -> Result<(), Failure> {
        for touch in std::mem::take(self.touches.get_mut()) {
            let access = Access {
                site,
                kind: touch.kind,
                ordering: Ordering::default(),
                modifies: false,
                bytes: touch.bytes,
                addresses: &[touch.location.offset; LANES],
            };
            let target = Target {
                space: touch.location.space,
                start: 0,
                bytes: touch.size,
            };
            let lanes = clock.slot.map_or(1 << touch.lane, Slot::mask);
            self.access(clock, &access, &target, lanes)?;
        }
        Ok(())
    }

    /// What a wait for the operation acquires.
    pub fn finish(&mut self, operation: &Operation) -> Rc<View> {
        if let Some(slot) = operation.clock.slot {
            self.agents.finish(slot);
        }
        let view = self.over(&operation.clock);
        self.table
            .releases_beyond(operation.clock.agent.block, self.now);
        self.advance();
        Rc::new(view)
    }

    /// What a wait for the agent's operations up to now acquires.
    pub fn finish_of(&mut self, agent: Agent) -> View {
        let mut view = View::default();
        view.all.add(agent, 1, self.now);
        self.table.releases_beyond(agent.block, self.now);
        self.advance();
        view
    }

    /// What a wait for its reads acquires.
    pub fn has_read(&mut self, operation: &Operation) -> View {
        let view = self.over(&operation.clock);
        self.advance();
        view
    }

    /// That the operation's accesses up to now are over.
    fn over(&self, clock: &WarpClock) -> View {
        let mut view = View::default();
        view.all
            .add(clock.agent, 1 << clock.lane(), clock.time(self.now));
        view
    }

    /// A race in the course of an operation, for its report.
    pub fn fail(&mut self, found: Box<Found>) {
        self.failure = Some(found);
    }

    pub fn failure(&mut self) -> Option<Box<Found>> {
        self.failure.take()
    }
}

/// Of an access by the async proxy, or by the generic one.
pub fn kind(writes: bool, is_async: bool) -> Kind {
    Kind {
        is_async,
        ..Kind::weak(if writes { Effect::Write } else { Effect::Read })
    }
}

/// Of an mbarrier object, by its own operations.
pub const OBJECT: Kind = Kind {
    effect: Effect::Write,
    strong: Some(Scope::Device),
    bytes: 8,
    is_async: false,
};

#[cfg(test)]
mod tests {
    use super::super::{Cause, Space};
    use super::*;

    /// A thread that issues copies to the bytes of one allocation.
    struct Issuer {
        order: Order,
        clock: WarpClock,
    }

    impl Issuer {
        fn new() -> Issuer {
            let warp = Agent { block: 0, index: 0 };
            Issuer {
                order: Order::new(1),
                clock: WarpClock::new(warp, 0),
            }
        }

        /// A copy to four bytes, up to its completion: the operation, and the cause of its race.
        fn copy(&mut self, offset: u64) -> (Operation, Option<Cause>) {
            let mut operation = self.order.begin(&self.clock, 1, 7);
            let space = Space::Global(0);
            self.order.touch(Touch {
                location: Location { space, offset },
                bytes: 4,
                size: 1024,
                kind: kind(true, true),
                lane: 0,
            });
            let site = operation.site;
            let race = match self.order.settle(&mut operation.clock, site) {
                Err(Failure::Race(found)) => Some(found.race.cause),
                Err(Failure::Limit(limit)) => panic!("{limit}"),
                Ok(()) => None,
            };
            (operation, race)
        }

        fn wait(&mut self, operation: &Operation) {
            let view = self.order.finish(operation);
            self.clock.acquire(1, &view);
        }
    }

    #[test]
    fn operations_of_one_agent_race() {
        let mut issuer = Issuer::new();
        let (first, race) = issuer.copy(0);
        assert_eq!(race, None);
        let (beside, race) = issuer.copy(4);
        assert_eq!((beside.clock.agent, race), (first.clock.agent, None));
        assert_eq!(issuer.copy(0).1, Some(Cause::Unordered));
        issuer.wait(&first);
        assert_eq!(issuer.copy(0).1, None);
        assert_eq!(issuer.copy(4).1, Some(Cause::Unordered));
    }

    #[test]
    fn an_agent_is_used_again_when_all_its_operations_are_seen() {
        let mut issuer = Issuer::new();
        let all: Vec<Operation> = (0..LANES as u64).map(|at| issuer.copy(4 * at).0).collect();
        let agents: Vec<Agent> = all.iter().map(|operation| operation.clock.agent).collect();
        assert_eq!(agents, [agents[0]; LANES]);
        for operation in &all[1..] {
            issuer.wait(operation);
        }
        let take_all = |issuer: &mut Issuer, start: u64| {
            let taken = (0..LANES as u64).map(|at| issuer.copy(start + 4 * at));
            let taken: Vec<Agent> = taken.map(|(operation, _)| operation.clock.agent).collect();
            assert_eq!(taken, [taken[0]; LANES]);
            taken[0]
        };
        // One goes on; then it is complete, but its thread has not waited for it.
        assert_ne!(take_all(&mut issuer, 128), agents[0]);
        let last = issuer.order.finish(&all[0]);
        assert_ne!(take_all(&mut issuer, 256), agents[0]);
        issuer.clock.acquire(1, &last);
        let (again, race) = issuer.copy(0);
        assert_eq!((again.clock.agent, race), (agents[0], None));
        // What was known of the agent's earlier operations says nothing of the later one.
        assert_eq!(issuer.copy(0).1, Some(Cause::Unordered));
    }
}
