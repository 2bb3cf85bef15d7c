//! Arrival counts: the number of threads that arrive before a generation of an event is published.

use std::collections::BTreeMap;

use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::ir::{EventId, Function, Kernel, KernelId, Site, Stmt, StmtKind, ThreadSet};
use crate::source::Span;
use crate::symbolic::Sym;

/// An event, its arrival count, and its triggers.
pub struct Counted {
    pub event: EventId,
    pub count: Sym,
    pub sites: Vec<Site>,
}

/// The events of a kernel with their arrivals.
pub fn count(
    function: &Function,
    id: KernelId,
    body: &[Stmt],
    threads: &Sym,
    diags: &mut Diagnostics,
) -> Vec<Counted> {
    let everybody = threads
        .as_int()
        .and_then(|n| u32::try_from(n).ok())
        .map(ThreadSet::first);
    let mut sites = BTreeMap::new();
    gather(body, &everybody, true, &mut sites);
    let mut counted = Vec::new();
    for (at, event) in function.events.iter().enumerate() {
        let event_id = EventId(u32::try_from(at).unwrap_or(u32::MAX));
        if event.kernel != id.index() {
            continue;
        }
        let sites = sites.remove(&event_id).unwrap_or_default();
        let inferred = inferred(&event.name, &sites, threads, event.count.is_some(), diags);
        let blocks = function.kernels.get(id.index()).map(Kernel::cluster_size);
        let inferred =
            inferred.and_then(|count| by_blocks(&event.name, count, &sites, blocks?, diags));
        let count = match (event.count, inferred) {
            (Some((n, at)), inferred) => {
                if let Some(other) = inferred.and_then(|s| s.as_int())
                    && other != i64::from(n)
                    && !under_a_condition(body, event_id, false)
                {
                    let (name, count) = (&event.name, many(n));
                    let text = format!("`{name}` waits for {count}, {other} trigger it");
                    let mut d = Diagnostic::new(codes::W1003, at, text)
                        .label("not as many as trigger it")
                        .help("leave the number out");
                    for site in sites.iter().take(2) {
                        d = d.also(site.span, "triggered here");
                    }
                    diags.push(d);
                }
                Sym::int(i64::from(n))
            }
            (None, Some(count)) => count,
            (None, None) => Sym::one(),
        };
        counted.push(Counted {
            event: event_id,
            count,
            sites,
        });
    }
    counted
}

/// Multiplies the count by the number of blocks for events that are triggered for the whole
/// cluster.
fn by_blocks(
    name: &str,
    count: Sym,
    sites: &[Site],
    blocks: u32,
    diags: &mut Diagnostics,
) -> Option<Sym> {
    let (everywhere, here): (Vec<&Site>, Vec<&Site>) = sites.iter().partition(|s| s.cluster);
    match (everywhere.first(), here.first()) {
        (None, _) => Some(count),
        (Some(_), None) => Some(&count * i64::from(blocks)),
        (Some(everywhere), Some(here)) => {
            let text =
                format!("`{name}` is triggered for the cluster here, for the block elsewhere");
            diags.push(
                Diagnostic::new(codes::E1004, everywhere.span, text)
                    .label(format!("{blocks} blocks arrive"))
                    .also(here.span, "one block arrives")
                    .help("write `.cluster` at each, or use two events"),
            );
            None
        }
    }
}

fn inferred(
    name: &str,
    sites: &[Site],
    threads: &Sym,
    reported: bool,
    diags: &mut Diagnostics,
) -> Option<Sym> {
    if sites.iter().any(|s| s.everybody) && sites.iter().all(|s| s.everybody) {
        return Some(threads.clone());
    }
    let mut sets: Vec<(&ThreadSet, Span)> = Vec::new();
    for site in sites {
        match &site.set {
            Some(set) => sets.push((set, site.span)),
            None if reported => return None,
            None => {
                diags.push(
                    Diagnostic::new(
                        codes::E1016,
                        site.span,
                        format!("the threads that trigger `{name}` are known only at run time"),
                    )
                    .label("a thread arrives only if it reaches this")
                    .help(format!("say how many arrive: `event<n> {name}`")),
                );
                return None;
            }
        }
    }
    let (first, first_at) = *sets.first()?;
    let mut union = first.clone();
    for (set, at) in sets.iter().skip(1) {
        // The same threads, or disjoint ones: each thread arrives once in a generation.
        let disjoint = !set.meets(&union);
        if !reported && (set.len() != first.len() || !(disjoint || is_within(set, &union))) {
            diags.push(
                Diagnostic::new(
                    codes::E1004,
                    *at,
                    format!(
                        "`{name}` is triggered by {} here, by {} elsewhere",
                        many(set.len()),
                        many(first.len())
                    ),
                )
                .label(format!("{} arrive{}", many(set.len()), third(set.len())))
                .also(
                    first_at,
                    format!("{} arrive{}", many(first.len()), third(first.len())),
                )
                .help("let the same number of threads execute each, or use two events"),
            );
            return None;
        }
        union = union.union(set);
    }
    Some(Sym::int(i64::from(union.len())))
}

fn is_within(set: &ThreadSet, other: &ThreadSet) -> bool {
    other.includes(set)
}

fn many(n: u32) -> String {
    match n {
        1 => "1 thread".to_owned(),
        _ => format!("{n} threads"),
    }
}

fn third(n: u32) -> &'static str {
    if n == 1 { "s" } else { "" }
}

/// Whether a `trigger` of the event is under an `if`, so that fewer threads may execute it.
fn under_a_condition(stmts: &[Stmt], event: EventId, under: bool) -> bool {
    stmts.iter().any(|stmt| match &stmt.kind {
        StmtKind::Trigger(at) => under && at.event == event,
        kind => {
            let under = under || matches!(kind, StmtKind::If { .. });
            let mut blocks = kind.blocks();
            blocks.any(|block| under_a_condition(block, event, under))
        }
    })
}

fn gather(
    stmts: &[Stmt],
    set: &Option<ThreadSet>,
    everybody: bool,
    sites: &mut BTreeMap<EventId, Vec<Site>>,
) {
    for stmt in stmts {
        match &stmt.kind {
            StmtKind::Trigger(at) => sites.entry(at.event).or_default().push(Site {
                set: set.clone(),
                everybody,
                cluster: at.cluster,
                span: stmt.span,
            }),
            StmtKind::Region { set, body, .. } => gather(body, set, false, sites),
            kind => {
                for block in kind.blocks() {
                    gather(block, set, everybody, sites);
                }
            }
        }
    }
}
