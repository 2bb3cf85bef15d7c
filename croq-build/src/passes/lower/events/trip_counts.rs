//! Whether the numbers of generations agree between regions.
//!
//! Waits and triggers in loops of known trip counts are counted; a region that waits for an event
//! more often than it is published never terminates.

use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::ir::{EventId, Function, KernelId, Slot, Stmt, StmtKind};
use crate::sorted::SortedMap;
use crate::source::Span;
use crate::symbolic::Sym;

/// The number of times that a region waits for or triggers an event, over all its slots; `None` if
/// it is unknown.
#[derive(Clone)]
struct Count {
    times: Option<Sym>,
    /// The place with most of them.
    span: Span,
}

type Counts = SortedMap<EventId, Count>;

pub fn check(function: &Function, id: KernelId, body: &[Stmt], diags: &mut Diagnostics) {
    let mut regions: Vec<(Counts, Counts)> = Vec::new();
    let mut plain = true;
    gather(function, body, &mut regions, &mut plain);
    if !plain {
        return;
    }
    for (at, event) in function.events.iter().enumerate() {
        let event_id = EventId(u32::try_from(at).unwrap_or(u32::MAX));
        if event.kernel != id.index() {
            continue;
        }
        let triggers: Vec<&Count> = regions.iter().filter_map(|r| r.1.get(&event_id)).collect();
        let [given] = triggers.as_slice() else {
            continue;
        };
        let Some(mut published) = given.times.clone() else {
            continue;
        };
        if event.ready {
            published = &published + i64::from(event.slots);
        }
        for wait in regions.iter().filter_map(|r| r.0.get(&event_id)) {
            let Some(times) = &wait.times else { continue };
            if !function.cx.lt(&published, times).is_yes() {
                continue;
            }
            let (more, fewer) = (function.cx.show(times), function.cx.show(&published));
            diags.push(
                Diagnostic::new(
                    codes::E1045,
                    wait.span,
                    format!(
                        "`{}` is waited for {more} times, and published {fewer} times",
                        event.name
                    ),
                )
                .label(format!("{more} times"))
                .also(given.span, format!("{fewer} times"))
                .help("give both loops the same number of iterations"),
            );
        }
    }
}

/// `plain`: no events are used outside of regions, or in regions that are executed repeatedly.
fn gather(
    function: &Function,
    stmts: &[Stmt],
    regions: &mut Vec<(Counts, Counts)>,
    plain: &mut bool,
) {
    for stmt in stmts {
        match &stmt.kind {
            StmtKind::WaitEvent(_) | StmtKind::Trigger(_) => *plain = false,
            StmtKind::Region { body, .. } => {
                let mut own = (Counts::new(), Counts::new());
                count(function, body, &Some(Sym::one()), &mut own);
                regions.push(own);
            }
            StmtKind::For { .. } | StmtKind::While { .. } | StmtKind::If { .. } => {
                let mut inner = Vec::new();
                for block in stmt.kind.blocks() {
                    gather(function, block, &mut inner, plain);
                }
                *plain &= inner.iter().all(|(w, t)| w.is_empty() && t.is_empty());
            }
            kind => {
                for block in kind.blocks() {
                    gather(function, block, regions, plain);
                }
            }
        }
    }
}

/// `times`: how often these statements are executed.
fn count(function: &Function, stmts: &[Stmt], times: &Option<Sym>, own: &mut (Counts, Counts)) {
    for stmt in stmts {
        let (counts, at) = match &stmt.kind {
            StmtKind::WaitEvent(at) => (&mut own.0, at),
            StmtKind::Trigger(at) => (&mut own.1, at),
            StmtKind::For {
                lo, hi, step, body, ..
            } => {
                let iterations = (hi - lo).clone();
                let counted = step.is_one() && function.cx.le(&Sym::zero(), &iterations).is_yes();
                let leaves = body.iter().any(leaves);
                let times = times.as_ref().filter(|_| counted && !leaves);
                count(function, body, &times.map(|t| t * &iterations), own);
                continue;
            }
            kind => {
                for block in kind.blocks() {
                    count(function, block, &None, own);
                }
                continue;
            }
        };
        let slots = match at.slot {
            Slot::All => i64::from(function.event(at.event).slots),
            _ => 1,
        };
        let more = times.as_ref().map(|t| t * slots);
        let entry = counts.entry(at.event).or_insert_with(|| Count {
            times: Some(Sym::zero()),
            span: stmt.span,
        });
        // The last place is in the main loop, after the credits.
        entry.span = stmt.span;
        entry.times = match (&entry.times, more) {
            (Some(a), Some(b)) => Some(a + &b),
            _ => None,
        };
    }
}

/// Whether a statement in it may end the loop early.
fn leaves(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Break | StmtKind::Continue | StmtKind::Yield => true,
        kind => kind.blocks().flatten().any(leaves),
    }
}
