//! Arrival counts: the number of threads that arrive before a generation of an event is published.

use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::ir::{
    Event, EventId, Function, Kernel, KernelId, Site, SlotsOf, Stmt, StmtKind, ThreadSet,
};
use crate::sorted::SortedMap;
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
    let mut sites = SortedMap::new();
    gather(function, body, &everybody, true, &mut sites);
    let mut counted = Vec::new();
    for (at, event) in function.events.iter().enumerate() {
        let event_id = EventId(u32::try_from(at).unwrap_or(u32::MAX));
        if event.kernel != id.index() {
            continue;
        }
        let sites = sites.remove(&event_id).unwrap_or_default();
        let inferred = of_slots(event, &sites, threads, diags);
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

/// The count of each slot. If all triggers name their slots by constants, it is that of the triggers
/// of one slot, which must be the same for all slots.
fn of_slots(event: &Event, sites: &[Site], threads: &Sym, diags: &mut Diagnostics) -> Option<Sym> {
    let (name, reported) = (&event.name, event.count.is_some());
    if sites.iter().any(|site| site.slots == SlotsOf::Unknown)
        || sites.iter().all(|site| site.slots == SlotsOf::All)
    {
        return inferred(name, sites, threads, reported, diags);
    }
    let mut first: Option<(u32, Sym)> = None;
    for slot in 0..event.slots {
        let here: Vec<Site> = sites
            .iter()
            .filter(|site| site.slots.may_be(slot))
            .cloned()
            .collect();
        let Some(site) = here.first() else { continue };
        let count = inferred(name, &here, threads, reported, diags)?;
        match &first {
            None => first = Some((slot, count)),
            Some((_, other)) if *other == count => {}
            Some(_) if reported => return None,
            Some((before, other)) => {
                let arrive = |count: &Sym| match count.as_int() {
                    Some(1) => "1 thread".to_owned(),
                    Some(n) => format!("{n} threads"),
                    None => "all threads".to_owned(),
                };
                let (here, there) = (arrive(&count), arrive(other));
                let text = format!(
                    "`{name}`[{slot}] is triggered by {here}, `{name}`[{before}] by {there}"
                );
                diags.push(
                    Diagnostic::new(codes::E1004, site.span, text)
                        .label(format!("a trigger of `{name}`[{slot}]"))
                        .help(
                            "let the same number of threads trigger each slot, or use two events",
                        ),
                );
                return None;
            }
        }
    }
    first.map(|(_, count)| count)
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
    function: &Function,
    stmts: &[Stmt],
    set: &Option<ThreadSet>,
    everybody: bool,
    sites: &mut SortedMap<EventId, Vec<Site>>,
) {
    for stmt in stmts {
        match &stmt.kind {
            StmtKind::Trigger(at) => sites.entry(at.event).or_default().push(Site {
                set: set.clone(),
                everybody,
                cluster: at.cluster,
                slots: at.slots_of(function.event(at.event).slots),
                span: stmt.span,
            }),
            StmtKind::Region { set, body, .. } => gather(function, body, set, false, sites),
            kind => {
                for block in kind.blocks() {
                    gather(function, block, set, everybody, sites);
                }
            }
        }
    }
}
