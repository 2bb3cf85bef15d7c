//! The ordering of accesses by events.
//!
//! Regions of different threads run concurrently and are ordered only by events; no barriers are
//! inserted between them. Within one region a wait can save a barrier: a buffer that a region
//! overwrites after such a wait has been returned to it. The wait is for threads that had waited
//! for the region's own trigger, and all of its threads had finished their accesses before that
//! trigger.
//!
//! No proxy fence is necessary where TMA refills a buffer that threads have only read: the reads
//! are complete, with their values in registers, before the arrival that releases the buffer, so
//! the writes of TMA, which follow a wait for that arrival, cannot affect them. Writes by threads
//! may be invisible to TMA, so the threads execute a proxy fence before they trigger.

use super::access::Release;
use super::collect::Context;
use super::pending::Pending;
use super::tma::after_fences;
use crate::ir::{EventId, FenceScope, Stmt, StmtKind, ThreadSet};

/// The waits and triggers of asynchronous regions, with the threads that execute them.
#[derive(Debug, Default)]
pub struct EventUses {
    waits: Vec<(Option<ThreadSet>, EventId)>,
    triggers: Vec<(Option<ThreadSet>, EventId)>,
}

impl EventUses {
    pub fn of(body: &[Stmt]) -> EventUses {
        let mut event_uses = EventUses::default();
        event_uses.gather(body, None);
        event_uses
    }

    fn gather(&mut self, stmts: &[Stmt], around: Option<&ThreadSet>) {
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::WaitEvent(at) => self.waits.push((around.cloned(), at.event)),
                StmtKind::Trigger(at) => self.triggers.push((around.cloned(), at.event)),
                StmtKind::Region {
                    set: Some(set),
                    is_async: true,
                    body,
                    ..
                } => self.gather(body, Some(set)),
                kind => {
                    for block in kind.blocks() {
                        self.gather(block, around);
                    }
                }
            }
        }
    }

    /// Whether all threads that trigger `event` have waited for an event that `set` triggers.
    fn answers(&self, event: EventId, set: &ThreadSet) -> bool {
        let mut sites = self.triggers.iter().filter(|(_, e)| *e == event).peekable();
        let own = |f: &EventId| {
            self.triggers
                .iter()
                .any(|(by, e)| e == f && by.as_ref() == Some(set))
        };
        sites.peek().is_some()
            && sites.all(|(by, _)| {
                by.as_ref().is_some_and(|by| !by.meets(set))
                    && self
                        .waits
                        .iter()
                        .any(|(executor, f)| executor == by && own(f))
            })
    }
}

/// Processes the `trigger` or `wait` at `at`, and returns the number of statements that replace it.
pub fn event(
    event_uses: &EventUses,
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
    match &stmt.kind {
        StmtKind::WaitEvent(waited) => {
            if whole && event_uses.answers(waited.event, set) {
                pending.advance_release(set, Release::Triggered, Release::Answered);
            }
            1
        }
        _ => {
            let has_unfenced_writes = pending.has_unfenced_writes(set);
            if whole {
                pending.advance_release(set, Release::None, Release::Triggered);
            }
            if !has_unfenced_writes || stmts.get(..at).is_some_and(after_fences) {
                return 1;
            }
            stmts.insert(at, Stmt::new(StmtKind::Fence(fence), span));
            2
        }
    }
}
