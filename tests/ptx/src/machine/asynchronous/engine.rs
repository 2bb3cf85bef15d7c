//! Asynchronous operations that have been issued, and when they happen.
//!
//! The ISA says from when on the effects of an operation are visible: behind a wait for its group or
//! for its mbarrier. When they happen before that is open, and a program that depends on it is wrong.
//! So the machine lets it be chosen ([`Asynchrony`]); the default is the latest moment: when a wait
//! needs it, or when the blocks end. By a seed, reading and writing have moments of their own.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::rc::Rc;

use super::source::Source;
use super::transfer::{Agent, Memory, Proxy, Thread, Transfer};
use crate::machine::order::{self, View};
use crate::machine::shared::SharedPlace;
use crate::machine::world::{Asynchrony, Launch};

/// Which waits are for an operation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Groups {
    /// `cp.async.wait_group`
    Copies,
    /// `cp.async.bulk.wait_group`
    Bulk,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Completion {
    Group(Groups),
    /// The bytes are subtracted from its tx-count.
    Mbarrier(SharedPlace),
}

struct Operation {
    /// For the detection of races.
    order: Option<order::Operation>,
    agent: Agent,
    work: Work,
    completion: Completion,
}

enum Work {
    Transfer {
        transfer: Box<Transfer>,
        /// Once the source has been read.
        data: Option<Vec<u8>>,
        source: Option<Rc<RefCell<Source>>>,
    },
    /// An arrival after these operations (`cp.async.mbarrier.arrive`).
    ArriveAfter(Vec<u64>, View),
}

/// Of one thread.
#[derive(Default, Debug)]
struct ThreadGroups {
    open: Vec<u64>,
    committed: VecDeque<Vec<u64>>,
}

pub struct Engine {
    asynchrony: Asynchrony,
    random: u64,
    /// In the order in which they were issued.
    operations: BTreeMap<u64, Operation>,
    next: u64,
    groups: HashMap<(Thread, Groups), ThreadGroups>,
    /// Operations that complete on an mbarrier.
    attached: HashMap<SharedPlace, Vec<u64>>,
    /// The operation that a thread is about to issue, for the detection of races.
    pub issuer: Option<order::Operation>,
    /// What the operations that are being issued read together.
    source: Option<Rc<RefCell<Source>>>,
    /// What waits for complete operations of groups acquire.
    views: HashMap<u64, Rc<View>>,
    /// What the last wait has acquired: of complete operations, and of those that have read.
    pub acquired: Vec<Rc<View>>,
    pub acquired_reads: Vec<View>,
    /// Counts what may let a waiting thread go on.
    pub events: u64,
    /// `try_wait` returns at its time limit, because no thread can go on otherwise.
    pub expires: bool,
}

impl Engine {
    pub fn new(launch: &Launch) -> Engine {
        Engine {
            asynchrony: launch.asynchrony,
            random: launch.seed,
            operations: BTreeMap::new(),
            next: 0,
            groups: HashMap::new(),
            attached: HashMap::new(),
            issuer: None,
            source: None,
            views: HashMap::new(),
            acquired: Vec::new(),
            acquired_reads: Vec::new(),
            events: 0,
            expires: false,
        }
    }

    /// # Errors
    ///
    /// What it reads or writes is not there.
    pub fn issue(
        &mut self,
        memory: &mut Memory<'_>,
        agent: Agent,
        transfer: Transfer,
        completion: Completion,
    ) -> Result<(), String> {
        if let Completion::Mbarrier(place) = completion {
            memory.shared.mbarrier(place)?;
        }
        if self.asynchrony != Asynchrony::AtOnce {
            transfer.read(agent, memory)?;
            transfer.write(agent, memory, None)?;
            memory.forget_touches();
        }
        let order = self.issuer.take();
        let work = Work::Transfer {
            transfer: Box::new(transfer),
            data: None,
            source: self.source.clone(),
        };
        self.add(
            memory,
            Operation {
                order,
                agent,
                work,
                completion,
            },
        )
    }

    fn add(&mut self, memory: &mut Memory<'_>, operation: Operation) -> Result<(), String> {
        let id = self.next;
        self.next += 1;
        match operation.completion {
            Completion::Group(groups) => {
                let key = (operation.agent.thread, groups);
                self.groups.entry(key).or_default().open.push(id);
            }
            Completion::Mbarrier(place) => self.attached.entry(place).or_default().push(id),
        }
        self.operations.insert(id, operation);
        match self.asynchrony {
            Asynchrony::AtOnce => self.finish(memory, id),
            Asynchrony::Late => Ok(()),
            Asynchrony::Seeded => self.tick(memory),
        }
    }

    /// An arrival at the mbarrier once all copies of the thread so far are complete.
    ///
    /// # Errors
    ///
    /// There is no such mbarrier, or its count is at its limit.
    pub fn arrive_after_copies(
        &mut self,
        memory: &mut Memory<'_>,
        thread: Thread,
        place: SharedPlace,
        increments: bool,
    ) -> Result<(), String> {
        let mbarrier = memory.shared.mbarrier(place)?;
        if increments {
            mbarrier.add_pending()?;
        }
        let known = self.groups.get(&(thread, Groups::Copies));
        let before = known.map_or(Vec::new(), |known| {
            let all = known.committed.iter().flatten().chain(&known.open);
            all.copied()
                .filter(|id| self.operations.contains_key(id))
                .collect()
        });
        let agent = Agent {
            thread,
            proxy: Proxy::Generic,
        };
        let order = None;
        let mut view = View::default();
        if let Some(known) = self.groups.get(&(thread, Groups::Copies)) {
            let all = known.committed.iter().flatten().chain(&known.open);
            let complete = all.filter_map(|id| self.views.get(id));
            complete.for_each(|complete| view.join(complete));
        }
        let work = Work::ArriveAfter(before, view);
        let completion = Completion::Mbarrier(place);
        self.add(
            memory,
            Operation {
                order,
                agent,
                work,
                completion,
            },
        )
    }

    /// The operations of the thread that are in no group become one.
    pub fn commit(&mut self, thread: Thread, groups: Groups) {
        let known = self.groups.entry((thread, groups)).or_default();
        let group = std::mem::take(&mut known.open);
        known.committed.push_back(group);
    }

    /// All groups of the thread but the last `pending` are complete.
    ///
    /// # Errors
    ///
    /// What they read or write is not there any more.
    pub fn wait(
        &mut self,
        memory: &mut Memory<'_>,
        thread: Thread,
        groups: Groups,
        pending: usize,
    ) -> Result<(), String> {
        let Some(known) = self.groups.get_mut(&(thread, groups)) else {
            return Ok(());
        };
        let count = known.committed.len().saturating_sub(pending);
        let complete: Vec<u64> = known.committed.drain(..count).flatten().collect();
        for id in complete {
            self.finish(memory, id)?;
            self.acquired.extend(self.views.remove(&id));
        }
        Ok(())
    }

    /// All bulk groups of the thread but the last `pending` have read their sources.
    ///
    /// # Errors
    ///
    /// A source is not there any more.
    pub fn wait_for_reads(
        &mut self,
        memory: &mut Memory<'_>,
        thread: Thread,
        pending: usize,
    ) -> Result<(), String> {
        let Some(known) = self.groups.get_mut(&(thread, Groups::Bulk)) else {
            return Ok(());
        };
        // Of complete operations, what has been read is acquired; they matter no more.
        let count = known.committed.len().saturating_sub(pending);
        for id in known.committed.iter().take(count).flatten() {
            self.acquired_reads
                .extend(self.views.get(id).map(|view| View::clone(view)));
        }
        let (operations, views) = (&self.operations, &self.views);
        known.committed.iter_mut().for_each(|group| {
            group.retain(|id| operations.contains_key(id) || views.contains_key(id))
        });
        let count = known.committed.len().saturating_sub(pending);
        let ids: Vec<u64> = known
            .committed
            .iter()
            .take(count)
            .flatten()
            .copied()
            .collect();
        for id in ids {
            self.read(memory, id)?;
            if let Some(order) = &mut memory.order
                && let Some(found) = self.operations.get(&id)
                && let Some(operation) = &found.order
            {
                self.acquired_reads.push(order.has_read(operation));
            }
        }
        Ok(())
    }

    /// The operations that are issued until [`Engine::end_multicast`] read the same, by the operation
    /// that the thread is about to issue.
    pub fn begin_multicast(&mut self) {
        let source = Source::new(self.issuer.take());
        self.source = Some(Rc::new(RefCell::new(source)));
    }

    pub fn end_multicast(&mut self) {
        self.source = None;
    }

    fn read(&mut self, memory: &mut Memory<'_>, id: u64) -> Result<(), String> {
        let Some(operation) = self.operations.get_mut(&id) else {
            return Ok(());
        };
        let Work::Transfer {
            transfer,
            data,
            source,
        } = &mut operation.work
        else {
            return Ok(());
        };
        if data.is_some() {
            return Ok(());
        }
        if let Some(source) = source {
            let mut source = source.borrow_mut();
            *data = Some(source.read(transfer, operation.agent, memory)?);
            return Ok(());
        }
        *data = Some(transfer.read(operation.agent, memory)?);
        memory.settle(&mut operation.order)
    }

    fn finish(&mut self, memory: &mut Memory<'_>, id: u64) -> Result<(), String> {
        self.read(memory, id)?;
        let Some(mut operation) = self.operations.remove(&id) else {
            return Ok(());
        };
        self.events += 1;
        if let Completion::Mbarrier(place) = operation.completion
            && let Some(attached) = self.attached.get_mut(&place)
        {
            attached.retain(|known| *known != id);
        }
        match operation.work {
            Work::Transfer {
                transfer,
                data,
                source,
            } => {
                transfer.write(operation.agent, memory, data.as_deref())?;
                memory.settle(&mut operation.order)?;
                // Before what waits acquire is fixed: the access is part of the operation.
                if let Completion::Mbarrier(place) = operation.completion {
                    memory.touch_mbarrier(place, &mut operation.order)?;
                }
                if let Some(to) = transfer.leaves(operation.agent.thread.rank) {
                    memory.sends(to, &operation.order);
                }
                let view = match (&mut memory.order, &operation.order) {
                    (Some(order), Some(operation)) => Some(order.finish(operation)),
                    _ => None,
                };
                let view = match source {
                    Some(source) => source.borrow().before(view),
                    None => view,
                };
                match operation.completion {
                    Completion::Mbarrier(place) => {
                        memory.complete_in_phase(place, view.as_deref())?;
                        let bytes = u32::try_from(transfer.bytes()).unwrap_or(u32::MAX);
                        memory.shared.mbarrier(place)?.complete_bytes(bytes)?;
                    }
                    Completion::Group(_) => {
                        self.views.extend(view.map(|view| (id, view)));
                    }
                }
            }
            Work::ArriveAfter(before, mut view) => {
                for id in before {
                    self.finish(memory, id)?;
                    if let Some(complete) = self.views.get(&id) {
                        view.join(complete);
                    }
                }
                if let Completion::Mbarrier(place) = operation.completion {
                    memory.complete_in_phase(place, Some(&view))?;
                    memory.shared.mbarrier(place)?.arrive(1)?;
                }
            }
        }
        Ok(())
    }

    /// A thread waits for the current phase of the mbarrier: what alone it still needs happens.
    ///
    /// # Errors
    ///
    /// What the operations read or write is not there any more.
    pub fn settle(&mut self, memory: &mut Memory<'_>, place: SharedPlace) -> Result<(), String> {
        let phase = memory.shared.mbarrier(place)?.phase;
        loop {
            let mbarrier = *memory.shared.mbarrier(place)?;
            let Some(attached) = self.attached.get(&place).filter(|list| !list.is_empty()) else {
                return Ok(());
            };
            let arrives = |id: &&u64| {
                let operation = self.operations.get(id);
                operation.is_some_and(|found| matches!(found.work, Work::ArriveAfter(..)))
            };
            let arrivals = attached.iter().filter(arrives).count();
            if mbarrier.phase != phase || mbarrier.pending as usize > arrivals {
                return Ok(());
            }
            let id = attached[0];
            self.finish(memory, id)?;
        }
    }

    pub fn is_attached(&self, place: SharedPlace) -> bool {
        self.attached
            .get(&place)
            .is_some_and(|list| !list.is_empty())
    }

    /// Whether something may happen at any moment.
    #[inline]
    pub fn is_busy(&self) -> bool {
        self.asynchrony == Asynchrony::Seeded && !self.operations.is_empty()
    }

    /// Time passes.
    ///
    /// # Errors
    ///
    /// What an operation reads or writes is not there any more.
    pub fn tick(&mut self, memory: &mut Memory<'_>) -> Result<(), String> {
        if self.asynchrony != Asynchrony::Seeded {
            return Ok(());
        }
        while !self.operations.is_empty() && self.random().is_multiple_of(4) {
            let nth = self.random() as usize % self.operations.len();
            let Some(id) = self.operations.keys().nth(nth).copied() else {
                return Ok(());
            };
            match self.random() % 2 {
                0 => self.read(memory, id)?,
                _ => self.finish(memory, id)?,
            }
        }
        Ok(())
    }

    /// SplitMix64.
    fn random(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.random;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (bits ^ bits >> 31) >> 8
    }

    /// Everything happens; says whether there was something.
    ///
    /// # Errors
    ///
    /// What an operation reads or writes is not there any more.
    pub fn flush(&mut self, memory: &mut Memory<'_>) -> Result<bool, String> {
        let ids: Vec<u64> = self.operations.keys().copied().collect();
        let was_busy = !ids.is_empty();
        ids.into_iter().try_for_each(|id| self.finish(memory, id))?;
        Ok(was_busy)
    }

    /// A block has exited.
    ///
    /// # Errors
    ///
    /// A bulk operation would still access its shared memory, or one of its own that of another block.
    pub fn exit(&mut self, memory: &mut Memory<'_>, rank: usize) -> Result<(), (Thread, String)> {
        let mut copies = Vec::new();
        // Arrivals that no thread waits for end with their mbarriers.
        self.attached.retain(|place, _| place.rank != rank);
        self.operations.retain(|_, operation| {
            operation.agent.thread.rank != rank || matches!(operation.work, Work::Transfer { .. })
        });
        for (id, operation) in &self.operations {
            let Work::Transfer { transfer, data, .. } = &operation.work else {
                continue;
            };
            let (to, from) = transfer.ranks();
            let thread = operation.agent.thread;
            if operation.completion == Completion::Group(Groups::Copies) {
                if thread.rank == rank {
                    copies.push(*id);
                }
                continue;
            }
            let message = match (to, from) {
                (Some(to), _) if to == rank => "writes to its shared memory",
                (_, Some(from)) if from == rank && data.is_none() => "reads its shared memory",
                (Some(_), _) if thread.rank == rank => "writes to the shared memory of another",
                _ => continue,
            };
            let Thread {
                rank: issuer,
                index,
            } = thread;
            let message = format!(
                "the block with rank {rank} exits while a bulk copy that thread {index} of the \
                 block with rank {issuer} issued still {message}: no thread has waited for it"
            );
            return Err((thread, message));
        }
        let finished = copies
            .into_iter()
            .try_for_each(|id| self.finish(memory, id));
        finished.map_err(|message| (Thread { rank, index: 0 }, message))
    }
}
