//! Deadlocks in the first iterations of regions that wait for each other.
//!
//! Every region is simulated through the first iteration of its loops, until a wait blocks it.
//! Regions of the same threads that follow each other are simulated as one.
//! Unknowns are resolved optimistically: a `trigger` under a condition is executed, a `wait` is
//! not. If a `trigger` of an array names a slot that is known only at run time, one `trigger` of any
//! slot counts for all slots. A region that is blocked at the end is blocked permanently.

use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::ir::{EventAt, EventId, Function, SlotsOf, Stmt, StmtKind, ThreadSet};
use crate::sorted::{SortedMap, SortedSet};
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
    slots: SlotsOf,
    span: Span,
}

/// The progress of a region.
struct Walker {
    /// Its threads, if they are known.
    set: Option<ThreadSet>,
    /// The block of statements that contains it, if an `if` or `while` contains any.
    under: Option<Span>,
    /// Regions whose threads are not known to be different have the same number.
    threads: usize,
    steps: Vec<Step>,
    at: usize,
    /// Waits so far, for each event and slot.
    waited: SortedMap<(EventId, u32), u64>,
}

/// The first iterations of all regions.
struct Walk<'a> {
    function: &'a Function,
    walkers: Vec<Walker>,
    /// The number of times that each region has triggered each event. Slots are distinguished if
    /// all triggers of the event name constants; otherwise all of them are slot 0.
    triggered: SortedMap<(usize, EventId, u32), u64>,
    /// The events of whose triggers at least one names a slot that is known only at run time.
    unknown: SortedSet<EventId>,
}

pub fn check(function: &Function, body: &[Stmt], diags: &mut Diagnostics) {
    let mut regions = Regions {
        function,
        walkers: Vec::new(),
        outside: false,
    };
    regions.gather(body, None);
    regions.number_threads();
    // Events outside of regions, which all threads execute, are not analysed.
    if regions.outside {
        return;
    }
    check_credits(function, &regions.walkers, diags);
    let steps = || regions.walkers.iter().flat_map(|w| &w.steps);
    let unknown = steps()
        .filter(|s| s.action != Action::Wait && s.slots == SlotsOf::Unknown)
        .map(|s| s.event)
        .collect();
    let mut walk = Walk {
        function,
        walkers: regions.walkers,
        triggered: SortedMap::new(),
        unknown,
    };
    // Each of them goes on in each round, whether others did or not.
    loop {
        let advanced = (0..walk.walkers.len()).filter(|number| walk.advance(*number));
        if advanced.count() == 0 {
            break;
        }
    }
    walk.report_blocked(diags);
}

impl Walk<'_> {
    /// The slots of `triggered` for a step.
    fn slots(&self, step: &Step) -> Vec<u32> {
        match step.slots {
            _ if self.unknown.contains(&step.event) => vec![0],
            SlotsOf::One(slot) => vec![slot],
            SlotsOf::All | SlotsOf::Unknown => (0..self.function.event(step.event).slots).collect(),
        }
    }

    /// Whether the step is a trigger of a slot of `triggered`.
    fn triggers(&self, step: &Step, event: EventId, slot: u32) -> bool {
        step.event == event && step.action != Action::Wait && self.slots(step).contains(&slot)
    }

    /// The number of generations of a slot that are published.
    fn published(&self, event: EventId, slot: u32) -> u64 {
        let mut by_threads: SortedMap<usize, u64> = SortedMap::new();
        for (number, walker) in self.walkers.iter().enumerate() {
            let mut steps = walker.steps.iter();
            if steps.any(|step| self.triggers(step, event, slot)) {
                let times = self.triggered.get(&(number, event, slot)).copied();
                let all = by_threads.entry(walker.threads).or_default();
                *all = all.saturating_add(times.unwrap_or(0));
            }
        }
        let triggered = by_threads.values().min().copied();
        let ready = u64::from(self.function.event(event).ready);
        triggered.unwrap_or(0).saturating_add(ready)
    }

    /// Executes the statements of a region until it is blocked; returns whether it executed any.
    fn advance(&mut self, number: usize) -> bool {
        let mut moved = false;
        while let Some(step) = self.walkers.get(number).and_then(|w| w.steps.get(w.at)) {
            let (action, event, slots) = (step.action, step.event, self.slots(step));
            if action == Action::Wait {
                let any = slots.len() > 1 || self.unknown.contains(&event);
                let published = slots.iter().map(|slot| self.published(event, *slot)).max();
                let key = (event, slots.first().copied().unwrap_or(0));
                let Some(walker) = self.walkers.get_mut(number) else {
                    break;
                };
                let waited = walker.waited.entry(key).or_default();
                if published.unwrap_or(0) <= if any { 0 } else { *waited } {
                    break;
                }
                *waited += u64::from(!any);
            } else {
                let many = match action {
                    Action::Triggers => 1 << 40,
                    _ => 1,
                };
                for slot in slots {
                    let triggered = self.triggered.entry((number, event, slot)).or_default();
                    *triggered = triggered.saturating_add(many);
                }
            }
            if let Some(walker) = self.walkers.get_mut(number) {
                walker.at += 1;
            }
            moved = true;
        }
        moved
    }
}

impl Walk<'_> {
    /// Reports regions that are blocked.
    fn report_blocked(&self, diags: &mut Diagnostics) {
        let (function, walkers) = (self.function, &self.walkers);
        let blocked: Vec<(usize, &Step)> = walkers
            .iter()
            .enumerate()
            .filter_map(|(n, w)| Some((n, w.steps.get(w.at)?)))
            .collect();
        let Some((first, step)) = blocked.iter().min_by_key(|(_, s)| s.span.start) else {
            return;
        };
        let name = &function.event(step.event).name;
        let slots_waited_for = self.slots(step);
        let later = |walker: &Walker| {
            let mut rest = walker.steps.iter().skip(walker.at);
            let of_slot = |s: &&Step| {
                slots_waited_for
                    .iter()
                    .any(|slot| self.triggers(s, step.event, *slot))
            };
            rest.find(of_slot).map(|s| s.span)
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
                    format!(
                        "these threads wait for `{name}`, which they trigger themselves, later"
                    ),
                )
                .label("never gets past this")
                .also(own, "triggered here")
                .help("let other threads trigger it, or trigger it before"),
            );
            return;
        }
        let mut steps = walkers.iter().flat_map(|w| &w.steps);
        if let (SlotsOf::One(slot), false) = (
            step.slots,
            steps.any(|s| {
                slots_waited_for
                    .iter()
                    .any(|slot| self.triggers(s, step.event, *slot))
            }),
        ) {
            let event = function.event(step.event);
            let (shown, to_trigger) = match event.slots {
                1 => (format!("`{name}`"), name.clone()),
                _ => (format!("`{name}`[{slot}]"), format!("{name}[{slot}]")),
            };
            let title = format!("nothing triggers {shown}");
            diags.push(
                Diagnostic::new(codes::E1008, step.span, title)
                    .label("waits forever")
                    .also(event.span, "declared here")
                    .help(format!("`trigger {to_trigger};` where the others are done")),
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
            format!(
                "deadlock: `{name}` is triggered only after statements that follow this `wait`"
            ),
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

struct Regions<'a> {
    function: &'a Function,
    walkers: Vec<Walker>,
    outside: bool,
}

impl Regions<'_> {
    fn gather(&mut self, stmts: &[Stmt], under: Option<Span>) {
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::WaitEvent(_) | StmtKind::Trigger(_) => self.outside = true,
                StmtKind::Region {
                    is_async: true,
                    set,
                    body,
                    ..
                } => {
                    let mut steps = Vec::new();
                    follow(self.function, body, false, false, &mut steps);
                    self.add(set.clone(), under, steps);
                }
                StmtKind::For { body, .. } => self.gather(body, under),
                kind => {
                    for block in kind.blocks() {
                        let first = block.first().map(|s| s.span);
                        self.gather(block, first.or(under));
                    }
                }
            }
        }
    }

    /// Appends to a former region of the same threads, or adds a region.
    fn add(&mut self, set: Option<ThreadSet>, under: Option<Span>, steps: Vec<Step>) {
        let same = |w: &&mut Walker| set.is_some() && w.set == set && w.under == under;
        match self.walkers.iter_mut().find(same) {
            Some(walker) => walker.steps.extend(steps),
            None => self.walkers.push(Walker {
                set,
                under,
                threads: self.walkers.len(),
                steps,
                at: 0,
                waited: SortedMap::new(),
            }),
        }
    }

    fn number_threads(&mut self) {
        for later in 0..self.walkers.len() {
            for earlier in 0..later {
                let [Some(a), Some(b)] = [earlier, later].map(|n| self.walkers.get(n)) else {
                    continue;
                };
                let differ = match (&a.set, &b.set) {
                    (Some(a), Some(b)) => !a.meets(b),
                    _ => false,
                };
                let (to, from) = (a.threads, b.threads);
                if !differ {
                    let same = self.walkers.iter_mut().filter(|w| w.threads == from);
                    same.for_each(|w| w.threads = to);
                }
            }
        }
    }
}

/// `maybe`: not every thread, or not every iteration, executes these statements.
fn follow(function: &Function, stmts: &[Stmt], in_loop: bool, maybe: bool, steps: &mut Vec<Step>) {
    for stmt in stmts {
        let mut add = |action, at: &EventAt, slots| {
            steps.push(Step {
                action,
                event: at.event,
                slots,
                span: stmt.span,
            });
        };
        let of = |at: &EventAt| at.slots_of(function.event(at.event).slots);
        match &stmt.kind {
            StmtKind::WaitEvent(at) if !maybe => match of(at) {
                SlotsOf::All => {
                    for slot in 0..function.event(at.event).slots {
                        add(Action::Wait, at, SlotsOf::One(slot));
                    }
                }
                slots => add(Action::Wait, at, slots),
            },
            StmtKind::Trigger(at) => {
                let action = match in_loop {
                    true => Action::Triggers,
                    false => Action::Trigger,
                };
                add(action, at, of(at));
            }
            StmtKind::For { body, .. } => follow(function, body, true, maybe, steps),
            StmtKind::While { body, .. } => follow(function, body, true, true, steps),
            StmtKind::Break | StmtKind::Continue | StmtKind::Yield if maybe => {}
            kind => {
                for block in kind.blocks() {
                    follow(function, block, in_loop, true, steps);
                }
            }
        }
    }
}
