//! Events of the host: the host must not wait for a launch before it has executed all triggers for
//! which the launch waits.
//!
//! The n-th wait, in the order of launches, is for the n-th `trigger`. The host waits at
//! `sync.global`, at launches that are not `.async`, and at the end of the call. Only straight-line
//! code is examined, and only definite deadlocks are reported; the host also counts at run time,
//! and fails instead of waiting (`host::settled` of the device API).

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::ir::{Function, Kernel, Phase, SignalId, Stmt, StmtKind, Visit, walk_block};
use crate::source::Span;

/// The events of the host for which a kernel waits, with the places.
pub fn awaited<P: Phase>(kernel: &Kernel<P>) -> BTreeMap<SignalId, Vec<Span>> {
    struct Find(BTreeMap<SignalId, Vec<Span>>);
    impl<P: Phase> Visit<P> for Find {
        fn stmt(&mut self, stmt: &Stmt<P>) {
            if let StmtKind::AwaitSignal { signal, .. } = stmt.kind {
                self.0.entry(signal).or_default().push(stmt.span);
            }
        }
    }
    let mut find = Find(BTreeMap::new());
    walk_block(&kernel.body, &mut find);
    find.0
}

pub fn check(function: &Function, diags: &mut Diagnostics) {
    if function.signals.is_empty() {
        return;
    }
    let mut all = Triggers(BTreeMap::new());
    walk_block(&function.body, &mut all);
    let mut waits: BTreeMap<SignalId, Span> = BTreeMap::new();
    for (id, spans) in function.kernels.iter().flat_map(awaited) {
        spans.first().map(|at| *waits.entry(id).or_insert(*at));
    }
    let mut one_sided = BTreeSet::new();
    for (id, signal) in (0..).map(SignalId).zip(&function.signals) {
        let name = &signal.name;
        let found = match (waits.get(&id), all.0.get(&id)) {
            (Some(wait), None) if !signal.ready => {
                Diagnostic::new(codes::E1008, *wait, format!("nothing triggers `{name}`"))
                    .label("waits forever")
                    .also(signal.span, "declared here")
                    .help(format!("`trigger {name};` on the host, after the launch"))
            }
            (None, Some(triggers)) => {
                let at = triggers.first().copied().unwrap_or(signal.span);
                Diagnostic::new(codes::W1009, at, format!("nothing waits for `{name}`"))
                    .label("no thread waits for it")
                    .help("remove it, or `wait` in a kernel")
            }
            _ => continue,
        };
        one_sided.insert(id);
        diags.push(found);
    }
    let mut walk = Walk {
        function,
        triggers: all.0,
        counts: BTreeMap::new(),
        excluded: one_sided,
        reported: false,
    };
    for (id, signal) in (0..).map(SignalId).zip(&function.signals) {
        walk.count(id).triggered = u32::from(signal.ready);
    }
    walk.block(&function.body, diags);
    let end = Span::new(function.span.end.saturating_sub(1), function.span.end);
    walk.waits(end, "the call ends here, and waits for its launches", diags);
}

/// The places where the host triggers each event.
struct Triggers(BTreeMap<SignalId, Vec<Span>>);

impl Visit for Triggers {
    fn stmt(&mut self, stmt: &Stmt) {
        if let StmtKind::TriggerSignal(id) = stmt.kind {
            self.0.entry(id).or_default().push(stmt.span);
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
    triggers: BTreeMap<SignalId, Vec<Span>>,
    counts: BTreeMap<SignalId, Count>,
    /// Events that are used in loops and conditions, or have been reported already.
    excluded: BTreeSet<SignalId>,
    reported: bool,
}

impl Walk<'_> {
    fn count(&mut self, id: SignalId) -> &mut Count {
        self.counts.entry(id).or_default()
    }

    fn block(&mut self, stmts: &[Stmt], diags: &mut Diagnostics) {
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::TriggerSignal(id) => self.count(*id).triggered += 1,
                StmtKind::Launch(kernel) => {
                    let kernel = self.function.kernel(*kernel);
                    for (id, spans) in awaited(kernel) {
                        self.count(id).waits.extend(spans);
                    }
                    if !kernel.attrs.is_async {
                        self.waits(stmt.span, "the host waits for this launch", diags);
                    }
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
                StmtKind::TriggerSignal(id) => drop(self.excluded.insert(*id)),
                StmtKind::Launch(kernel) => {
                    let found = awaited(self.function.kernel(*kernel));
                    self.excluded.extend(found.into_keys());
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
        let name = &self.function.signal(id).name;
        let mut found = Diagnostic::new(
            codes::E1047,
            at,
            format!("deadlock: the host waits for a launch that waits for `{name}`, which has not been triggered"),
        )
        .label(what)
        .also(wait, format!("waits for `{name}`"));
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
