//! Checks of the events of a kernel as a whole: events without a trigger, without a wait, or with
//! too many bytes, and copies that nothing waits for.

use super::first_iteration;
use super::trip_counts;
use super::unordered;
use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::ir::{
    BufferId, Engine, EventAt, EventId, Function, KernelId, Slot, Stmt, StmtKind, Storage,
};
use crate::sorted::SortedMap;
use crate::source::Span;
use crate::symbolic::Sym;

/// The maximum transaction count of an mbarrier in bytes.
const MOST_BYTES: i64 = (1 << 20) - 1;

pub fn check(function: &Function, id: KernelId, body: &[Stmt], diags: &mut Diagnostics) {
    let mut uses = Uses::default();
    uses.gather(body);
    let mut whole = true;
    for (at, event) in function.events.iter().enumerate() {
        if event.kernel != id.index() {
            continue;
        }
        let event_id = EventId(u32::try_from(at).unwrap_or(u32::MAX));
        let name = &event.name;
        let first = |list: &SortedMap<EventId, Vec<Span>>| list.get(&event_id)?.first().copied();
        match (first(&uses.waits), first(&uses.triggers)) {
            // One wait for an event that is published from the start goes on.
            (Some(_), None) if event.ready => {}
            (Some(wait), None) => {
                whole = false;
                let mut d =
                    Diagnostic::new(codes::E1008, wait, format!("nothing triggers `{name}`"))
                        .label("waits forever");
                d = match first(&uses.copies) {
                    Some(copy) => d
                        .also(
                            copy,
                            "its bytes arrive, but no `trigger` completes the phase",
                        )
                        .help(format!("`trigger {name}…;` after the copies")),
                    None => d
                        .also(event.span, "declared here")
                        .help(format!("`trigger {name};` where the others are done")),
                };
                diags.push(d);
            }
            (None, trigger) => match (first(&uses.copies), trigger) {
                (Some(copy), _) => diags.push(copies_never_waited_for(
                    function, body, event_id, name, copy,
                )),
                (None, Some(trigger)) => {
                    diags.push(never_waited_for(function, body, event_id, name, trigger));
                }
                (None, None) => {}
            },
            _ => {}
        }
    }
    bytes(function, body, diags);
    if whole {
        first_iteration::check(function, body, diags);
        trip_counts::check(function, id, body, diags);
    }
}

/// When the block has ended, its shared memory is another block's.
fn copies_never_waited_for(
    function: &Function,
    body: &[Stmt],
    event: EventId,
    name: &str,
    copy: Span,
) -> Diagnostic {
    let text = format!("nothing waits for the copies that complete `{name}`");
    let d = Diagnostic::new(codes::E0842, copy, text)
        .label("may still be in flight when the block ends, and its memory is another block's");
    match unordered::published(function, body, event) {
        Some(tile) => d
            .also(
                tile.used,
                format!("used here by other threads, without a `wait {name}…;`"),
            )
            .help(format!(
                "`wait {name}…;` before this use of `{}`",
                tile.buffer
            )),
        None => d.help(format!("`wait {name}…;` before the end of the kernel")),
    }
}

fn never_waited_for(
    function: &Function,
    body: &[Stmt],
    event: EventId,
    name: &str,
    trigger: Span,
) -> Diagnostic {
    let d = Diagnostic::new(codes::W1009, trigger, format!("nothing waits for `{name}`"))
        .label("no thread waits for it");
    match unordered::published(function, body, event) {
        Some(tile) => d
            .also(tile.written, format!("`{}` is written here, before the `trigger`", tile.buffer))
            .also(tile.used, format!("used here by other threads, without a `wait {name}…;`"))
            .help(format!("`wait {name}…;` before this use of `{}`", tile.buffer)),
        None => d.help(format!(
            "`wait {name}…;` where other threads use the results of preceding statements; if none do, remove it"
        )),
    }
}

/// The uses of events.
#[derive(Default)]
struct Uses {
    waits: SortedMap<EventId, Vec<Span>>,
    triggers: SortedMap<EventId, Vec<Span>>,
    copies: SortedMap<EventId, Vec<Span>>,
}

impl Uses {
    fn gather(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            let (list, event) = match &stmt.kind {
                StmtKind::WaitEvent(at) => (&mut self.waits, at.event),
                StmtKind::Trigger(at) => (&mut self.triggers, at.event),
                StmtKind::Copy(copy) => match &copy.engine {
                    Engine::Tma(tma) if tma.event.is_some() => {
                        let event = tma.event.as_ref().map(|e| e.event);
                        (&mut self.copies, event.unwrap_or(EventId(0)))
                    }
                    _ => continue,
                },
                kind => {
                    for block in kind.blocks() {
                        self.gather(block);
                    }
                    continue;
                }
            };
            list.entry(event).or_default().push(stmt.span);
        }
    }
}

/// Checks the sum of bytes of copies that complete the same generation.
fn bytes(function: &Function, stmts: &[Stmt], diags: &mut Diagnostics) {
    let mut sums: Vec<((EventId, Slot), i64)> = Vec::new();
    for stmt in stmts {
        match &stmt.kind {
            StmtKind::Copy(copy) => {
                let Engine::Tma(tma) = &copy.engine else {
                    continue;
                };
                let (Some(at), Some(bytes)) = (
                    &tma.event,
                    size(function, copy.dest.buffer, &copy.dest.shape),
                ) else {
                    continue;
                };
                let key = key(at);
                let before = sums.iter().position(|(k, _)| *k == key);
                let at = before.unwrap_or_else(|| {
                    sums.push((key, 0));
                    sums.len() - 1
                });
                let Some((_, sum)) = sums.get_mut(at) else {
                    continue;
                };
                let fitted = *sum <= MOST_BYTES;
                *sum += bytes;
                if fitted && *sum > MOST_BYTES {
                    diags.push(
                        Diagnostic::new(
                            codes::E1038,
                            stmt.span,
                            format!("{sum} bytes complete one generation, an mbarrier counts {MOST_BYTES}"),
                        )
                        .label("too many, with the copies before")
                        .help("copy smaller tiles, or complete two events"),
                    );
                }
            }
            StmtKind::Trigger(at) => sums.retain(|(k, _)| *k != key(at)),
            kind => {
                for block in kind.blocks() {
                    bytes(function, block, diags);
                }
            }
        }
    }
}

fn key(at: &EventAt) -> (EventId, Slot) {
    (at.event, at.slot.clone())
}

fn size(function: &Function, buffer: BufferId, shape: &[Sym]) -> Option<i64> {
    let buffer = function.buffers.get(buffer.index())?;
    if buffer.storage != Storage::Shared {
        return None;
    }
    let count: Sym = shape.iter().product();
    count
        .as_int()?
        .checked_mul(i64::try_from(buffer.elem.bytes()).ok()?)
}
