//! Events of the host: the host must not wait for a launch before it has executed all triggers for
//! which the launch waits.
//!
//! The n-th wait, in the order of launches, is for the n-th `trigger`. The host waits at
//! `sync.global`, at launches that are not `.async`, and at the end of the call. Only straight-line
//! code is examined, and only definite deadlocks are reported; the host also counts at run time,
//! and fails instead of waiting (`host::settled` of the device API).

use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::ir::{Function, Kernel, Phase, SignalAt, SignalId, Stmt, StmtKind, Visit, walk_block};
use crate::sorted::{SortedMap, SortedSet};
use crate::source::Span;

/// The events of the host for which a kernel waits, with the places.
pub fn awaited<P: Phase>(kernel: &Kernel<P>) -> SortedMap<SignalAt, Vec<Span>> {
    struct Find(SortedMap<SignalAt, Vec<Span>>);
    impl<P: Phase> Visit<P> for Find {
        fn stmt(&mut self, stmt: &Stmt<P>) {
            if let StmtKind::AwaitSignal { signal, .. } = &stmt.kind {
                self.0.entry(signal.clone()).or_default().push(stmt.span);
            }
        }
    }
    let mut find = Find(SortedMap::new());
    walk_block(&kernel.body, &mut find);
    find.0
}

/// One event of the host: an array has several.
type One = (SignalId, u32);

/// The events that an operand may stand for, and whether there is no choice.
fn events_of(function: &Function, at: &SignalAt) -> (Vec<One>, bool) {
    let slots = function.signal(at.signal).slots.unwrap_or(1);
    match at.slot.as_int().and_then(|n| u32::try_from(n).ok()) {
        Some(slot) => (vec![(at.signal, slot)], true),
        None => ((0..slots).map(|slot| (at.signal, slot)).collect(), false),
    }
}

fn name_of(function: &Function, (id, slot): One) -> String {
    let signal = function.signal(id);
    match signal.slots {
        Some(_) => format!("{}[{slot}]", signal.name),
        None => signal.name.clone(),
    }
}

pub fn check(function: &Function, diags: &mut Diagnostics) {
    if function.signals.is_empty() {
        return;
    }
    let mut all = Triggers {
        function,
        found: SortedMap::new(),
    };
    walk_block(&function.body, &mut all);
    let triggers = all.found;
    let mut waits: SortedMap<One, Span> = SortedMap::new();
    for (at, spans) in function.kernels.iter().flat_map(awaited) {
        for event in events_of(function, &at).0 {
            spans.first().map(|at| *waits.entry(event).or_insert(*at));
        }
    }
    let mut walk = Walk {
        function,
        excluded: SortedSet::new(),
        counts: SortedMap::new(),
        triggers,
        reported: false,
    };
    for (id, signal) in (0..).map(SignalId).zip(&function.signals) {
        let mut reported = false;
        for slot in 0..signal.slots.unwrap_or(1) {
            let event = (id, slot);
            walk.count(event).triggered = u32::from(signal.ready);
            let triggers = walk.triggers.get(&event);
            let Some(d) = one_sided(function, event, waits.get(&event), triggers) else {
                continue;
            };
            walk.excluded.insert(event);
            if !std::mem::replace(&mut reported, true) {
                diags.push(d);
            }
        }
    }
    walk.block(&function.body, diags);
    let end = Span::new(function.span.end.saturating_sub(1), function.span.end);
    walk.waits(end, "the call ends here, and waits for its launches", diags);
}

/// A report of an event that is waited for and never triggered, or the reverse.
fn one_sided(
    function: &Function,
    event: One,
    wait: Option<&Span>,
    triggers: Option<&Vec<Span>>,
) -> Option<Diagnostic> {
    let signal = function.signal(event.0);
    let name = name_of(function, event);
    match (wait, triggers) {
        (Some(wait), None) if !signal.ready => Some(
            Diagnostic::new(codes::E1008, *wait, format!("nothing triggers `{name}`"))
                .label("waits forever")
                .also(signal.span, "declared here")
                .help(format!("`trigger {name};` on the host, after the launch")),
        ),
        (None, Some(triggers)) => {
            let at = triggers.first().copied().unwrap_or(signal.span);
            Some(
                Diagnostic::new(codes::W1009, at, format!("nothing waits for `{name}`"))
                    .label("no thread waits for it")
                    .help("remove it, or `wait` in a kernel"),
            )
        }
        _ => None,
    }
}

/// Where the host triggers each.
struct Triggers<'a> {
    function: &'a Function,
    found: SortedMap<One, Vec<Span>>,
}

impl Visit for Triggers<'_> {
    fn stmt(&mut self, stmt: &Stmt) {
        if let StmtKind::TriggerSignal(at) = &stmt.kind {
            for event in events_of(self.function, at).0 {
                self.found.entry(event).or_default().push(stmt.span);
            }
        }
    }
}

#[derive(Default)]
struct Count {
    triggered: u32,
    /// The waits of all launches so far, in order.
    waits: Vec<Span>,
}

struct Walk<'a> {
    function: &'a Function,
    triggers: SortedMap<One, Vec<Span>>,
    counts: SortedMap<One, Count>,
    /// Events whose number of triggers or waits is not known, or that have been reported.
    excluded: SortedSet<One>,
    reported: bool,
}

impl Walk<'_> {
    fn count(&mut self, event: One) -> &mut Count {
        self.counts.entry(event).or_default()
    }

    /// Adds to the counts of the events that an operand stands for.
    fn add(&mut self, at: &SignalAt, more: impl Fn(&mut Count)) {
        let (events, certain) = events_of(self.function, at);
        for event in events {
            more(self.count(event));
            if !certain {
                self.excluded.insert(event);
            }
        }
    }

    fn block(&mut self, stmts: &[Stmt], diags: &mut Diagnostics) {
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::TriggerSignal(at) => self.add(at, |count| count.triggered += 1),
                StmtKind::Launch(kernel) => {
                    let kernel = self.function.kernel(*kernel);
                    for (at, spans) in awaited(kernel) {
                        self.add(&at, |count| count.waits.extend(&spans));
                    }
                    if !kernel.attrs.is_async {
                        self.waits(stmt.span, "the host waits for this launch", diags);
                    }
                }
                StmtKind::Fetch(_) => {
                    let what = "the host accesses an element here, and waits for its launches";
                    self.waits(stmt.span, what, diags);
                }
                StmtKind::Synchronize => self.waits(stmt.span, "the host waits here", diags),
                StmtKind::Return(_) => {
                    let what = "the call ends here, and waits for its launches";
                    self.waits(stmt.span, what, diags);
                }
                kind => kind.blocks().for_each(|block| self.exclude(block)),
            }
        }
    }

    /// It is unknown how often these statements are executed.
    fn exclude(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::TriggerSignal(at) => {
                    self.excluded.extend(events_of(self.function, at).0);
                }
                StmtKind::Launch(kernel) => {
                    for at in awaited(self.function.kernel(*kernel)).into_keys() {
                        self.excluded.extend(events_of(self.function, &at).0);
                    }
                }
                kind => kind.blocks().for_each(|block| self.exclude(block)),
            }
        }
    }

    /// The host waits for all launches so far.
    fn waits(&mut self, at: Span, what: &str, diags: &mut Diagnostics) {
        let missing = self.counts.iter().find_map(|(id, count)| {
            let wait = *count.waits.get(count.triggered as usize)?;
            (!self.excluded.contains(id)).then_some((*id, wait))
        });
        let Some((id, wait)) = missing.filter(|_| !self.reported) else {
            return;
        };
        self.reported = true;
        let name = name_of(self.function, id);
        let mut found = Diagnostic::new(
            codes::E1047,
            at,
            format!("deadlock: the host waits for a launch that waits for `{name}`, which has not been triggered"),
        )
        .label(what)
        .also(wait, format!("waits for `{name}`"))
        .of_the_whole();
        let triggers = self.triggers.get(&id);
        let later = triggers.and_then(|list| list.iter().find(|t| t.start > at.start));
        found = match later {
            Some(later) => found.also(*later, "triggered too late").help(format!(
                "`trigger {name};` before, and launch what waits for it by `parallel.async`"
            )),
            None => found.help(format!(
                "`trigger {name};` once for each wait of each launch"
            )),
        };
        diags.push(found);
    }
}
