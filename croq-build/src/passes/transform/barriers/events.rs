//! What events order.
//!
//! Regions of different threads run at the same time, and only events stand between them; nothing is
//! put there for them. Within one region a wait can save a barrier: what a region overwrites after it has
//! waited for others, who had waited for what it triggered, was given back to it, and all its threads had
//! been done with it when it was handed over.
//!
//! No proxy fence is due where TMA refills what threads have only read: their reads are over,
//! with their values in registers, before the arrival that releases them, so the engine's writes, which come
//! after a wait for that arrival, can't reach them. What threads have *written* the engine may miss, so they
//! fence before they trigger.

use super::access::Release;
use super::collect::Context;
use super::pending::Pending;
use super::tma::after_fences;
use crate::ir::{EventId, FenceScope, Stmt, StmtKind, ThreadSet};

/// Who waits for what, and who triggers it, in asynchronous regions.
#[derive(Debug, Default)]
pub struct Exchanges {
    waits: Vec<(Option<ThreadSet>, EventId)>,
    triggers: Vec<(Option<ThreadSet>, EventId)>,
}

impl Exchanges {
    pub fn of(body: &[Stmt]) -> Exchanges {
        let mut exchanges = Exchanges::default();
        exchanges.gather(body, None);
        exchanges
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

    /// Whoever triggers `event` has waited for something that `set` triggers.
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

/// Walks the `trigger` or `wait` at `at`; how many statements now stand in its place.
pub fn event(
    exchanges: &Exchanges,
    fence: FenceScope,
    stmts: &mut Vec<Stmt>,
    at: usize,
    context: &Context,
    pending: &mut Pending,
) -> usize {
    let Some(stmt) = stmts.get(at) else { return 1 };
    let span = stmt.span;
    // Part of a region doesn't speak for all of it.
    let whole = context.inner_region.as_ref().and_then(|t| t.set.as_ref()) == context.set.as_ref();
    let Some(set) = context.set.as_ref() else {
        return 1;
    };
    match &stmt.kind {
        StmtKind::WaitEvent(waited) => {
            if whole && exchanges.answers(waited.event, set) {
                pending.hand(set, Release::Over, Release::Back);
            }
            1
        }
        _ => {
            let hides = pending.hides(set);
            if whole {
                pending.hand(set, Release::Not, Release::Over);
            }
            if !hides || stmts.get(..at).is_some_and(after_fences) {
                return 1;
            }
            stmts.insert(at, Stmt::new(StmtKind::Fence(fence), span));
            2
        }
    }
}
