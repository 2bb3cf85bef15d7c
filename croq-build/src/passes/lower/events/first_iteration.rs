//! Deadlocks in the first iterations of regions that wait for each other.
//!
//! Every region is simulated through the first iteration of its loops, until a wait blocks it.
//! Unknowns are resolved optimistically: a `trigger` under a condition is executed, a `wait` is
//! not, and one `trigger` of any slot of an array counts for all slots. A region that is blocked at
//! the end is blocked permanently.

use std::collections::BTreeMap;

use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::ir::{EventId, Function, Slot, Stmt, StmtKind};
use crate::source::Span;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Action {
    Wait,
    Trigger,
    /// In a loop: any number of times.
    Triggers,
}

struct Step {
    action: Action,
    event: EventId,
    span: Span,
}

/// The progress of a region.
struct Walker {
    steps: Vec<Step>,
    at: usize,
    /// Waits so far, for each event.
    waited: BTreeMap<EventId, u64>,
}

pub fn check(function: &Function, body: &[Stmt], diags: &mut Diagnostics) {
    let mut regions = Regions {
        walkers: Vec::new(),
        outside: false,
    };
    regions.gather(body);
    // Events outside of regions, which all threads execute, are not analysed.
    if regions.outside {
        return;
    }
    check_credits(function, &regions.walkers, diags);
    let mut walkers = regions.walkers;
    // The number of times that each region has triggered each event.
    let mut triggered: BTreeMap<(usize, EventId), u64> = BTreeMap::new();
    let triggering = |walkers: &[Walker], event: EventId| -> Vec<usize> {
        let triggers = |w: &Walker| {
            let mut steps = w.steps.iter();
            steps.any(|s| s.event == event && s.action != Action::Wait)
        };
        (0..walkers.len())
            .filter(|at| walkers.get(*at).is_some_and(triggers))
            .collect()
    };
    let mut moved = true;
    while std::mem::take(&mut moved) {
        for number in 0..walkers.len() {
            while let Some((action, event)) = walkers
                .get(number)
                .and_then(|w| w.steps.get(w.at))
                .map(|s| (s.action, s.event))
            {
                let info = function.event(event);
                if action == Action::Wait {
                    let from = triggering(&walkers, event);
                    let published = from
                        .iter()
                        .map(|g| triggered.get(&(*g, event)).copied().unwrap_or(0))
                        .min()
                        .unwrap_or(0);
                    let published = published.saturating_add(u64::from(info.ready));
                    let Some(walker) = walkers.get_mut(number) else {
                        break;
                    };
                    let waited = walker.waited.entry(event).or_default();
                    let enough = if info.slots > 1 { 0 } else { *waited };
                    if published <= enough {
                        break;
                    }
                    *waited += 1;
                } else {
                    let many = if action == Action::Triggers {
                        1 << 40
                    } else {
                        1
                    };
                    let triggered = triggered.entry((number, event)).or_default();
                    *triggered = triggered.saturating_add(many);
                }
                if let Some(walker) = walkers.get_mut(number) {
                    walker.at += 1;
                }
                moved = true;
            }
        }
    }
    report_blocked(function, &walkers, diags);
}

/// Reports regions that are blocked.
fn report_blocked(function: &Function, walkers: &[Walker], diags: &mut Diagnostics) {
    let blocked: Vec<(usize, &Step)> = walkers
        .iter()
        .enumerate()
        .filter_map(|(n, w)| Some((n, w.steps.get(w.at)?)))
        .collect();
    let Some((first, step)) = blocked.iter().min_by_key(|(_, s)| s.span.start) else {
        return;
    };
    let name = &function.event(step.event).name;
    let later = |walker: &Walker| {
        let mut rest = walker.steps.iter().skip(walker.at);
        rest.find(|s| s.event == step.event && s.action != Action::Wait)
            .map(|s| s.span)
    };
    let own = walkers.get(*first).and_then(later);
    let others = walkers
        .iter()
        .enumerate()
        .filter(|(n, _)| n != first)
        .find_map(|(n, w)| Some((n, later(w)?)));
    if let (Some(own), None) = (own, others) {
        diags.push(
            Diagnostic::new(
                codes::E1013,
                step.span,
                format!("these threads wait for `{name}`, which they trigger themselves, later"),
            )
            .label("never gets past this")
            .also(own, "triggered here")
            .help("let other threads trigger it, or trigger it before"),
        );
        return;
    }
    let slots = function.event(step.event).slots;
    let credits = if slots > 1 {
        format!("foreach {{i}} in [{slots}] trigger {name}[i];")
    } else {
        format!("trigger {name};")
    };
    let mut d = Diagnostic::new(
        codes::E1011,
        step.span,
        format!("deadlock: `{name}` is triggered only after statements that follow this `wait`"),
    )
    .label(format!("waits for `{name}`"));
    if let Some((number, trigger)) = others {
        d = d.also(trigger, format!("`{name}` is first triggered here"));
        if let Some(blocker) = blocked.iter().find(|(n, _)| *n == number) {
            let other = &function.event(blocker.1.event).name;
            d = d.also(blocker.1.span, format!("after waiting for `{other}`"));
        }
    }
    let array = if slots > 1 {
        format!("[{slots}]")
    } else {
        String::new()
    };
    diags.push(d.help(format!(
        "give the credits before the loop that waits for the others: `{credits}`; or declare `{name}{array} = ready`"
    )));
}

/// Reports credits that are given both by the declaration and by triggers.
fn check_credits(function: &Function, walkers: &[Walker], diags: &mut Diagnostics) {
    for walker in walkers {
        let first_wait = walker.steps.iter().position(|s| s.action == Action::Wait);
        let Some((early, late)) = first_wait.map(|at| walker.steps.split_at(at)) else {
            continue;
        };
        for step in early {
            let event = function.event(step.event);
            let again = late
                .iter()
                .find(|s| s.event == step.event && s.action != Action::Wait);
            if let (true, Some(again)) = (event.ready, again) {
                diags.push(
                    Diagnostic::new(
                        codes::W1012,
                        step.span,
                        format!(
                            "`{}` is ready from the start, and triggered first",
                            event.name
                        ),
                    )
                    .label("a second credit for one slot")
                    .also(event.span, "declared `= ready`")
                    .also(again.span, "given back here")
                    .help("remove one of the two"),
                );
            }
        }
    }
}

struct Regions {
    walkers: Vec<Walker>,
    outside: bool,
}

impl Regions {
    fn gather(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::WaitEvent(_) | StmtKind::Trigger(_) => self.outside = true,
                StmtKind::Region {
                    is_async: true,
                    body,
                    ..
                } => {
                    let mut steps = Vec::new();
                    follow(body, false, false, &mut steps);
                    self.walkers.push(Walker {
                        steps,
                        at: 0,
                        waited: BTreeMap::new(),
                    });
                }
                kind => {
                    for block in kind.blocks() {
                        self.gather(block);
                    }
                }
            }
        }
    }
}

/// `maybe`: not every thread, or not every iteration, executes these statements.
fn follow(stmts: &[Stmt], in_loop: bool, maybe: bool, steps: &mut Vec<Step>) {
    for stmt in stmts {
        let span = stmt.span;
        match &stmt.kind {
            StmtKind::WaitEvent(at) if !maybe => steps.push(Step {
                action: Action::Wait,
                event: at.event,
                span,
            }),
            StmtKind::Trigger(at) => steps.push(Step {
                action: if in_loop || at.slot == Slot::All {
                    Action::Triggers
                } else {
                    Action::Trigger
                },
                event: at.event,
                span,
            }),
            StmtKind::For { body, .. } => follow(body, true, maybe, steps),
            StmtKind::While { body, .. } => follow(body, true, true, steps),
            StmtKind::Break | StmtKind::Continue | StmtKind::Yield if maybe => {}
            kind => {
                for block in kind.blocks() {
                    follow(block, in_loop, true, steps);
                }
            }
        }
    }
}
