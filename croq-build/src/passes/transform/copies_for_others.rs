//! Copies by TMA for which threads of other regions wait.
//!
//! The phase of a load's own mbarrier is known only to the threads that issue it. A load that others
//! wait for completes an event instead, which nothing else names: it is triggered where the copy is
//! issued, and each `wait` for the copy is one for the event, so all that holds for events holds for
//! the copy as well.

use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::ir::{
    Buffer, Engine, Event, EventAt, EventId, Function, FutureId, KernelId, Scalar, Sharing, Slot,
    Stmt, StmtKind, Storage,
};
use crate::sorted::{SortedMap, SortedSet};
use crate::source::Span;
use crate::symbolic::Sym;

/// Makes an event of each copy that threads of other regions wait for.
pub fn make_events(function: &mut Function, id: KernelId, diags: &mut Diagnostics) {
    if function.facts.elsewhere.is_empty() {
        return;
    }
    function.with_kernel_body(id, |function, body| {
        let mut found = Found {
            elsewhere: &function.facts.elsewhere,
            copied: SortedSet::new(),
            waited: SortedMap::new(),
            shared: SortedMap::new(),
        };
        found.block(body);
        let Found {
            copied,
            waited,
            shared,
            ..
        } = found;
        for (future, copy) in shared {
            let name = name_of(function, future);
            let text =
                format!("other threads wait for `{name}`, which brings a tile to several blocks");
            let report = Diagnostic::new(codes::E0842, copy, text)
                .label("has an mbarrier in each block")
                .help("name an event: `tma.copy.async<e> …`, then `trigger e;`, and `wait e;`");
            diags.push(match waited.get(&future) {
                Some(at) => report.also(*at, "waited for here"),
                None => report,
            });
        }
        let events: SortedMap<FutureId, EventId> = copied
            .into_iter()
            .map(|future| (future, new_event(function, id, future)))
            .collect();
        rewrite(body, &events);
    });
}

fn name_of(function: &Function, id: FutureId) -> String {
    let future = function.futures.get(id.index());
    future.map_or_else(String::new, |future| future.name.clone())
}

struct Found<'f> {
    elsewhere: &'f SortedSet<FutureId>,
    copied: SortedSet<FutureId>,
    waited: SortedMap<FutureId, Span>,
    /// Multicast copies.
    shared: SortedMap<FutureId, Span>,
}

impl Found<'_> {
    fn block(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::Copy(copy) => {
                    let future = copy.future.filter(|id| self.elsewhere.contains(id));
                    self.copied.extend(future);
                    if copy.engine.is_multicast() {
                        self.shared.extend(future.map(|id| (id, stmt.span)));
                    }
                }
                StmtKind::WaitTma { futures } => {
                    let waited = futures.iter().map(|w| (w.future, stmt.span));
                    self.waited.extend(waited);
                }
                _ => {}
            }
            stmt.kind.blocks().for_each(|block| self.block(block));
        }
    }
}

fn new_event(function: &mut Function, kernel: KernelId, future: FutureId) -> EventId {
    let name = name_of(function, future);
    let span = function.futures.get(future.index()).map(|f| f.span);
    let span = span.unwrap_or_default();
    let barriers = function.add_buffer(Buffer::line(
        name.clone(),
        Scalar::U64,
        Storage::Mbarriers,
        Sym::one(),
        span,
    ));
    let id = EventId(u32::try_from(function.events.len()).unwrap_or(u32::MAX));
    function.events.push(Event {
        name,
        span,
        kernel: kernel.index(),
        barriers,
        slots: 1,
        ready: false,
        count: None,
        phases: None,
        clustered: false,
        one_slot_each: false,
        only_reads: false,
        sites: Vec::new(),
    });
    id
}

fn rewrite(stmts: &mut Vec<Stmt>, events: &SortedMap<FutureId, EventId>) {
    let at = |event: EventId, span: Span| EventAt {
        event,
        slot: Slot::At(Sym::zero()),
        cluster: false,
        sharing: Sharing::default(),
        span,
    };
    for mut stmt in std::mem::take(stmts) {
        let span = stmt.span;
        let mut after = None;
        match &mut stmt.kind {
            StmtKind::Copy(copy) => {
                if let Some(event) = copy.future.and_then(|id| events.get(&id))
                    && let Engine::Tma(tma) = &mut copy.engine
                {
                    tma.event = Some(at(*event, span));
                    copy.future = None;
                    after = Some(Stmt::new(StmtKind::Trigger(at(*event, span)), span));
                }
            }
            StmtKind::WaitTma { futures } => {
                // A placeholder with several destinations is named once for each.
                let meant = futures.iter().filter_map(|w| events.get(&w.future));
                let meant: SortedSet<EventId> = meant.copied().collect();
                futures.retain(|w| !events.contains_key(&w.future));
                let waits = meant
                    .into_iter()
                    .map(|event| StmtKind::WaitEvent(at(event, span)));
                stmts.extend(waits.map(|kind| Stmt::new(kind, span)));
                if futures.is_empty() {
                    continue;
                }
            }
            // Not in flight for the threads here.
            StmtKind::UseFuture(id) if events.contains_key(id) => continue,
            _ => {}
        }
        for block in stmt.kind.blocks_mut() {
            rewrite(block, events);
        }
        stmts.push(stmt);
        stmts.extend(after);
    }
}
