//! The ordering of accesses by events.
//!
//! Regions of different threads run concurrently and are ordered only by events; no barriers are
//! inserted between them. Within one region a handshake can save a barrier: the region triggers an
//! event `returned`, other threads wait for it and then trigger `granted`, and the region waits for
//! that. All threads of the region have then finished what they did before they triggered.
//!
//! This holds only if each generation of `granted` is triggered after the generation of `returned`
//! that the region has triggered last: with a ring of slots, or with several triggers, the others
//! may be ahead ([`Uses::handshake`]).
//!
//! No proxy fence is necessary where TMA refills a buffer that threads have only read: the reads
//! are complete, with their values in registers, before the arrival that releases the buffer, so
//! the writes of TMA, which follow a wait for that arrival, cannot affect them. Writes by threads
//! may be invisible to TMA, so the threads execute a proxy fence before they trigger. It serves all
//! triggers behind it, until the threads write again.

use super::access::Release;
use super::collect::Context;
use super::pending::Pending;
use super::tma::after_fences;
use crate::ir::{
    EventAt, EventId, FenceScope, Function, Slot, Stmt, StmtKind, ThreadSet, any_stmt,
};
use crate::sorted::{SortedMap, SortedSet};

/// The handshakes of asynchronous regions, each with the region's threads. Regions of the same
/// threads have at most one.
#[derive(Debug)]
pub struct Handshakes(SortedMap<ThreadSet, Handshake>);

/// A region triggers `returned`, and what it did before is complete when it has waited for
/// `granted`.
#[derive(Clone, Copy, Debug)]
struct Handshake {
    returned: EventId,
    granted: EventId,
}

impl Handshakes {
    pub fn of(function: &Function, body: &[Stmt]) -> Self {
        let mut uses = Uses::default();
        uses.gather(function, body, None);
        let sets = uses.triggers.iter().filter_map(|u| u.by.as_ref());
        let distinct: SortedSet<&ThreadSet> = sets.collect();
        let found = distinct.iter().filter_map(|set| {
            let handshake = uses.only_handshake(function, set)?;
            Some(((*set).clone(), handshake))
        });
        Self(found.collect())
    }

    fn by(&self, set: &ThreadSet) -> Option<Handshake> {
        self.0.get(set).copied()
    }
}

/// The waits and triggers of asynchronous regions.
#[derive(Debug, Default)]
struct Uses {
    waits: Vec<Use>,
    triggers: Vec<Use>,
    /// The number of statement lists.
    lists: usize,
}

/// A `wait` or `trigger`.
#[derive(Debug)]
struct Use {
    /// The threads of the region.
    by: Option<ThreadSet>,
    event: EventId,
    /// The list of statements, and the position there.
    list: usize,
    position: usize,
    /// Whether it is executed as often as the other statements of the list, each time for the next
    /// generation of an event with one slot, which counts the threads that trigger it here.
    in_turn: bool,
}

impl Uses {
    fn gather(&mut self, function: &Function, stmts: &[Stmt], around: Option<&ThreadSet>) {
        let list = self.lists;
        self.lists += 1;
        let exits = any_stmt(stmts, |stmt| {
            matches!(
                stmt.kind,
                StmtKind::Break | StmtKind::Continue | StmtKind::Yield
            )
        });
        for (position, stmt) in stmts.iter().enumerate() {
            let found = |at: &EventAt| {
                let event = function.events.get(at.event.index());
                let counts =
                    event.is_some_and(|e| e.slots == 1 && e.count.is_none() && !e.clustered);
                Use {
                    by: around.cloned(),
                    event: at.event,
                    list,
                    position,
                    in_turn: !exits && counts && matches!(at.slot, Slot::At(_)),
                }
            };
            match &stmt.kind {
                StmtKind::WaitEvent(at) => self.waits.push(found(at)),
                StmtKind::Trigger(at) => self.triggers.push(found(at)),
                StmtKind::Region {
                    set: Some(set),
                    is_async: true,
                    body,
                    ..
                } => self.gather(function, body, Some(set)),
                kind => {
                    for block in kind.blocks() {
                        self.gather(function, block, around);
                    }
                }
            }
        }
    }

    /// The handshake of a region's threads, if they have only one.
    fn only_handshake(&self, function: &Function, set: &ThreadSet) -> Option<Handshake> {
        let own = self.triggers.iter().filter(|u| u.by.as_ref() == Some(set));
        only(own.filter_map(|returned| self.handshake(function, set, returned)))
    }

    /// The handshake that begins with a trigger of a region's threads, if each of its statements is
    /// the only one of its kind and executed in turn, and no generation of `granted` is ahead.
    fn handshake(&self, function: &Function, set: &ThreadSet, returned: &Use) -> Option<Handshake> {
        once(&self.triggers, returned.event)?;
        let theirs = once(&self.waits, returned.event)?;
        let beside = |u: &&Use| u.list == theirs.list && u.event != returned.event;
        let granted = only(self.triggers.iter().filter(beside))?;
        once(&self.triggers, granted.event)?;
        let by_set = |u: &&Use| u.event == granted.event && u.by.as_ref() == Some(set);
        let waited = only(self.waits.iter().filter(by_set))?;
        let others = theirs.by.as_ref().is_some_and(|by| !by.meets(set));
        let in_turn = [returned, theirs, granted, waited];
        if !others || waited.list != returned.list || !in_turn.iter().all(|u| u.in_turn) {
            return None;
        }
        let is_ready = |event: EventId| {
            let event = function.events.get(event.index());
            usize::from(event.is_some_and(|e| e.ready))
        };
        // Generations by which the others may be ahead of the region, and by which it is ahead of
        // its own wait.
        let theirs_ahead = is_ready(returned.event)
            + is_ready(granted.event)
            + usize::from(granted.position < theirs.position);
        let own_ahead = usize::from(waited.position < returned.position);
        (theirs_ahead <= own_ahead).then_some(Handshake {
            returned: returned.event,
            granted: granted.event,
        })
    }
}

/// The only use of an event.
fn once(uses: &[Use], event: EventId) -> Option<&Use> {
    only(uses.iter().filter(|u| u.event == event))
}

/// The only element.
fn only<T>(mut items: impl Iterator<Item = T>) -> Option<T> {
    let first = items.next()?;
    items.next().is_none().then_some(first)
}

/// Processes the `trigger` or `wait` at `at`, and returns the number of statements that replace it.
pub fn event(
    handshakes: &Handshakes,
    fence: FenceScope,
    stmts: &mut Vec<Stmt>,
    at: usize,
    context: &Context,
    pending: &mut Pending,
) -> usize {
    let Some(stmt) = stmts.get(at) else { return 1 };
    let span = stmt.span;
    // A part of a region's threads does not order the accesses of the whole region.
    let whole = context.inner_region.as_ref().and_then(|t| t.set.as_ref()) == context.set.as_ref();
    let Some(set) = context.set.as_ref() else {
        return 1;
    };
    let handshake = handshakes.by(set).filter(|_| whole);
    match &stmt.kind {
        StmtKind::WaitEvent(waited) => {
            if handshake.is_some_and(|h| h.granted == waited.event) {
                pending.advance_release(set, Release::Triggered, Release::Answered);
            }
            1
        }
        StmtKind::Trigger(triggered) => {
            let has_unfenced_writes = pending.has_unfenced_writes(set);
            if handshake.is_some_and(|h| h.returned == triggered.event) {
                pending.advance_release(set, Release::None, Release::Triggered);
            }
            if !has_unfenced_writes {
                return 1;
            }
            if whole {
                pending.fence(set);
            }
            if stmts.get(..at).is_some_and(after_fences) {
                return 1;
            }
            stmts.insert(at, Stmt::new(StmtKind::Fence(fence), span));
            2
        }
        _ => 1,
    }
}
