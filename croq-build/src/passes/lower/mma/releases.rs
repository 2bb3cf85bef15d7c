//! Which triggers let other threads overwrite the operands of an MMA that is in flight.
//!
//! A `trigger` may lead to a write of an operand by any chain of events, so it waits for the MMA.
//! For one that the program waits for by itself the chains are followed where they are those of a
//! *ring*: TMA loads bring an operand, each after a wait for the event `empty` of its slot, and then
//! trigger `full`; the threads that wait for `full` trigger `empty` once for each such wait. The next
//! load into the slot then needs an arrival at `empty` of each thread that multiplies, which comes
//! after the MMA, so that only triggers of `empty` must wait for it. This is so because
//!
//! * all loads into the buffer are made by one thread, each after a wait of its own for `empty`, and
//!   before a trigger of `full`, of the same slot: a slot is filled at most once more than it was
//!   released;
//! * no thread arrives at `empty` more often than it has waited for `full`, and a generation of
//!   `empty` needs as many arrivals as threads may arrive: none can stand in for another. Those that
//!   multiply are among them.
//!
//! A buffer that one load fills once, before the threads have waited for it, is not overwritten.

use super::mma_group::operation;
use crate::ir::{
    Access, BufferId, Copy, Engine, EventAt, EventId, ExprKind, Function, MmaOp, ON, Stmt,
    StmtKind, Storage, ThreadSet, TmaOp, View, Visitor, any_in, any_stmt, walk,
};
use crate::ir::{Expr, Flow};
use crate::passes::lower::events::{is_answer, is_in_slot, slot};
use crate::sorted::SortedSet;
use crate::symbolic::Sym;

/// A wait that the threads have passed, in this list of statements or in one around it.
#[derive(Clone)]
pub struct Passed {
    event: EventId,
    slot: Sym,
    /// The events that they may have triggered since.
    triggered: SortedSet<EventId>,
}

impl Passed {
    pub fn of(function: &Function, at: &EventAt) -> Option<Self> {
        Some(Self {
            event: at.event,
            slot: slot(function, at)?,
            triggered: SortedSet::new(),
        })
    }

    /// The threads may trigger the events in the statement.
    pub fn triggers_of(&mut self, stmt: &Stmt) {
        any_stmt(std::slice::from_ref(stmt), |stmt| {
            if let StmtKind::Trigger(at) = &stmt.kind {
                self.triggered.insert(at.event);
            }
            false
        });
    }
}

/// A TMA load into shared memory.
struct Load {
    dest: View,
    /// The event that it completes, of this slot.
    full: EventId,
    slot: Sym,
    /// The waits of its thread in the list of statements.
    waited: Vec<Passed>,
    /// Whether it is executed at most once.
    once: bool,
}

/// How the operands of a kernel's MMAs get into shared memory.
#[derive(Default)]
pub struct Releases {
    loads: Vec<Load>,
    /// Shared memory that is written in any other way.
    written: SortedSet<BufferId>,
    /// Whether some code may write or trigger what the compiler does not see.
    foreign: bool,
}

impl Releases {
    pub fn of(function: &Function, body: &[Stmt]) -> Self {
        let mut found = Self::default();
        // Nothing else asks.
        if !any_stmt(body, |stmt| operation(stmt).is_some()) {
            return found;
        }
        found.foreign = any_in(
            body,
            |stmt| matches!(stmt.kind, StmtKind::Cpp { .. } | StmtKind::Eval(_)),
            |expr: &Expr| matches!(*expr.kind, ExprKind::Call(_)),
        );
        let around = Around::default();
        found.loads(function, body, around);
        let mut writes = Writes {
            function,
            loads: found.loads.iter().collect(),
            written: SortedSet::new(),
        };
        let _ = writes.block(body);
        found.written = writes.written;
        found
    }

    fn loads(&mut self, function: &Function, stmts: &[Stmt], around: Around) {
        let mut waited: Vec<Passed> = Vec::new();
        for (at, stmt) in stmts.iter().enumerate() {
            waited.iter_mut().for_each(|wait| wait.triggers_of(stmt));
            match &stmt.kind {
                StmtKind::WaitEvent(at) => waited.extend(Passed::of(function, at)),
                StmtKind::Copy(copy) if around.alone => {
                    let after = stmts.get(at..).unwrap_or_default();
                    let event = completed(function, copy);
                    let load = event.filter(|event| is_triggered(function, after, event));
                    self.loads.extend(load.map(|(full, slot)| Load {
                        dest: copy.dest.clone(),
                        full,
                        slot,
                        waited: waited.clone(),
                        once: !around.repeated,
                    }));
                }
                StmtKind::Region { set, body, .. } => {
                    let alone = set.as_ref().is_some_and(|set| set.len() == 1);
                    self.loads(function, body, Around { alone, ..around });
                }
                kind => {
                    let repeated = around.repeated
                        || matches!(kind, StmtKind::For { .. } | StmtKind::While { .. });
                    for block in kind.blocks() {
                        self.loads(function, block, Around { repeated, ..around });
                    }
                }
            }
        }
    }

    /// The events whose triggers must wait for a group of MMAs by these threads. `None`: those of all
    /// events. `passed`: the waits before it.
    pub fn of_group(
        &self,
        function: &Function,
        body: &[Stmt],
        mmas: &[Stmt],
        (passed, threads): (&[Passed], &ThreadSet),
    ) -> Option<SortedSet<EventId>> {
        let mut tiles = Vec::new();
        operands(mmas, &mut tiles);
        let mut events = SortedSet::new();
        for tile in tiles {
            if self.foreign || self.written.contains(&tile.buffer) {
                return None;
            }
            for load in self.loads.iter().filter(|l| l.dest.buffer == tile.buffer) {
                let last = passed.iter().rev().find(|p| p.event == load.full)?;
                let full = Full {
                    function,
                    body,
                    event: load.full,
                };
                if full.is_once(load, last) {
                    continue;
                }
                let in_slots = is_in_slot(function, &load.dest, load.full, &load.slot)
                    && is_in_slot(function, tile, load.full, &last.slot);
                let mut empty = load.waited.iter().filter(|wait| {
                    in_slots
                        && wait.slot == load.slot
                        && !wait.triggered.contains(&load.full)
                        && !last.triggered.contains(&wait.event)
                        && full.is_ring(wait.event, threads)
                });
                events.insert(empty.next()?.event);
            }
        }
        Some(events)
    }
}

/// The statements around a list.
#[derive(Clone, Copy, Default)]
struct Around {
    /// One thread executes them.
    alone: bool,
    /// Possibly several times.
    repeated: bool,
}

/// An event that loads complete.
struct Full<'a> {
    function: &'a Function,
    body: &'a [Stmt],
    event: EventId,
}

impl Full<'_> {
    /// Whether the load is complete wherever a thread has passed the wait, and is not repeated.
    fn is_once(&self, load: &Load, passed: &Passed) -> bool {
        let mut triggers = 0;
        any_stmt(self.body, |stmt| {
            triggers += usize::from(is_trigger(stmt, self.event));
            false
        });
        let event = self.function.event(self.event);
        let same = event.slots == 1 || passed.slot == load.slot;
        load.once && same && triggers == 1 && !event.ready && !event.clustered
    }

    /// Whether a load into a slot follows an arrival at `empty` of each of `threads`, after they have
    /// waited for the load before.
    fn is_ring(&self, empty: EventId, threads: &ThreadSet) -> bool {
        let [full, released] = [self.event, empty].map(|event| self.function.event(event));
        let count = initial_count(self.body, released.barriers);
        let arriving = self.all_that_trigger(empty);
        let filling = self.all_that_trigger(self.event);
        !full.ready
            && !full.clustered
            && !released.clustered
            && filling.is_some_and(|set| set.len() == 1)
            && arriving
                .is_some_and(|set| count == Some(i64::from(set.len())) && set.includes(threads))
            && is_answer(self.function, self.body, empty, self.event)
            && is_answer(self.function, self.body, self.event, empty)
    }

    /// The threads that may trigger the event.
    fn all_that_trigger(&self, event: EventId) -> Option<ThreadSet> {
        let mut sites = self.function.event(event).sites.iter();
        let first = sites.next()?.set.clone()?;
        sites.try_fold(first, |all, site| Some(all.union(site.set.as_ref()?)))
    }
}

/// Shared memory that is written by anything but the loads.
struct Writes<'a> {
    function: &'a Function,
    /// Those that were not met yet.
    loads: Vec<&'a Load>,
    written: SortedSet<BufferId>,
}

impl Writes<'_> {
    fn write(&mut self, id: BufferId) {
        let buffer = self.function.buffers.get(id.index());
        if buffer.is_some_and(|b| b.storage == Storage::Shared) {
            self.written.insert(id);
        }
    }

    /// Each load is one copy: several that one macro makes have the same place.
    fn is_load(&mut self, copy: &Copy) -> bool {
        let Some((full, slot)) = completed(self.function, copy) else {
            return false;
        };
        let found = self.loads.iter().position(|load| {
            (load.full, &load.slot) == (full, &slot)
                && load.dest.buffer == copy.dest.buffer
                && load.dest.offset == copy.dest.offset
                && load.dest.span == copy.dest.span
        });
        found.map(|at| self.loads.remove(at)).is_some()
    }
}

impl Visitor for Writes<'_> {
    fn stmt(&mut self, stmt: &Stmt) -> Flow {
        match &stmt.kind {
            StmtKind::Copy(copy) if !self.is_load(copy) => self.write(copy.dest.buffer),
            StmtKind::Fill { view, .. } => self.write(view.buffer),
            StmtKind::Mma(op) => {
                let written = op.views().into_iter().filter(|(_, written)| *written);
                written.for_each(|(view, _)| self.write(view.buffer));
            }
            _ => {}
        }
        walk::stmt(self, stmt)
    }

    fn access(&mut self, access: &Access, written: bool) -> Flow {
        if written {
            self.write(access.view.buffer);
        }
        ON
    }
}

/// The event, with its slot, that a load of this block completes.
fn completed(function: &Function, copy: &Copy) -> Option<(EventId, Sym)> {
    let Engine::Tma(tma) = &copy.engine else {
        return None;
    };
    let event = tma.event.as_ref().filter(|_| tma.blocks == 1)?;
    Some((event.event, slot(function, event)?))
}

fn is_triggered(function: &Function, stmts: &[Stmt], (event, of): &(EventId, Sym)) -> bool {
    stmts.iter().any(|stmt| match &stmt.kind {
        StmtKind::Trigger(at) => at.event == *event && slot(function, at).as_ref() == Some(of),
        _ => false,
    })
}

fn is_trigger(stmt: &Stmt, event: EventId) -> bool {
    matches!(&stmt.kind, StmtKind::Trigger(at) if at.event == event)
}

/// The number of arrivals of a generation.
fn initial_count(body: &[Stmt], of: BufferId) -> Option<i64> {
    let mut counts = Vec::new();
    any_stmt(body, |stmt| {
        if let StmtKind::Tma(TmaOp::Initialise {
            barriers, count, ..
        }) = &stmt.kind
            && *barriers == of
        {
            counts.push(count.as_int());
        }
        false
    });
    let first = counts.first().copied().flatten();
    first.filter(|_| counts.iter().all(|count| *count == first))
}

/// The tiles in shared memory that the MMAs read.
fn operands<'s>(stmts: &'s [Stmt], tiles: &mut Vec<&'s View>) {
    for stmt in stmts {
        if let StmtKind::Mma(op) = &stmt.kind
            && let MmaOp::WarpgroupMma(mma) = &**op
        {
            tiles.extend(mma.tiles().map(|tile| &tile.view));
        }
        for block in stmt.kind.blocks() {
            operands(block, tiles);
        }
    }
}
