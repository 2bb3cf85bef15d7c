//! Concurrent regions that access one tile without any ordering.
//!
//! Two regions count as ordered if a chain of events leads from a trigger of one to a wait of the
//! other, or if both use the same numbered barrier. Threads outside of these regions may be links of
//! the chain. Only accesses are compared whose place is
//! uniform in the threads of both: where a thread's own indices determine it, the accesses may be
//! disjoint.

use super::threads::Threads;
use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::ir::{
    Access, BarrierScope, BufferId, EventId, Function, KernelId, Stmt, StmtKind, Storage,
    ThreadSet, View, Visit, walk_block,
};
use crate::passes::analysis::uniformity::Uniformity;
use crate::sorted::{SortedMap, SortedSet};
use crate::source::Span;
use crate::symbolic::Sym;

pub fn check(function: &Function, id: KernelId, diags: &mut Diagnostics) {
    if let Some(kernel) = function.kernels.get(id.index()) {
        let mut comparison = Comparison::of(function, &kernel.body);
        in_block(&mut comparison, &kernel.body, diags);
    }
}

/// What the comparisons of regions have in common.
pub(super) struct Comparison<'a> {
    function: &'a Function,
    kernel: &'a [Stmt],
    /// In the threads of two regions. Most pairs have one of a few sets, and each analysis takes as
    /// long as the kernel is.
    uniformity: SortedMap<ThreadSet, Uniformity<'a, Threads>>,
}

impl<'a> Comparison<'a> {
    pub(super) fn of(function: &'a Function, kernel: &'a [Stmt]) -> Self {
        Self {
            function,
            kernel,
            uniformity: SortedMap::new(),
        }
    }

    pub(super) fn uniformity(&mut self, threads: ThreadSet) -> &Uniformity<'a, Threads> {
        let (function, kernel) = (self.function, self.kernel);
        let found = self.uniformity.entry(threads);
        found.or_insert_with_key(|set| {
            Uniformity::of(function, kernel, Threads { set: set.clone() })
        })
    }
}

fn in_block(comparison: &mut Comparison, stmts: &[Stmt], diags: &mut Diagnostics) {
    let function = comparison.function;
    let mut running: Vec<Region> = Vec::new();
    for stmt in stmts {
        match &stmt.kind {
            StmtKind::Region {
                set: Some(set),
                is_async: true,
                body,
                ..
            } => running.push(Region::of(function, set, body)),
            // Everyone waits after it, and inserted barriers order its accesses.
            StmtKind::Region {
                is_async: false, ..
            } => {
                running.extend(Region::relay(stmt));
                compare(comparison, &running, diags);
                running.clear();
            }
            StmtKind::Barrier {
                scope: BarrierScope::Block | BarrierScope::Cluster | BarrierScope::Grid,
                ..
            } => {
                compare(comparison, &running, diags);
                running.clear();
            }
            kind => {
                running.extend(Region::relay(stmt));
                for block in kind.blocks() {
                    in_block(comparison, block, diags);
                }
            }
        }
    }
    compare(comparison, &running, diags);
}

struct MemAccess {
    buffer: BufferId,
    write: bool,
    first: Sym,
    /// One past the last element; `None` if it is not known.
    end: Option<Sym>,
    span: Span,
}

struct Region {
    set: ThreadSet,
    accesses: Vec<MemAccess>,
    waits: SortedSet<EventId>,
    /// The number of accesses before the last trigger of each event.
    triggers: SortedMap<EventId, usize>,
    numbers: SortedSet<u32>,
}

impl Region {
    fn of(function: &Function, set: &ThreadSet, body: &[Stmt]) -> Self {
        let region = Region {
            set: set.clone(),
            accesses: Vec::new(),
            waits: SortedSet::new(),
            triggers: SortedMap::new(),
            numbers: SortedSet::new(),
        };
        let mut gather = Gather {
            function,
            region,
            copied_to: Vec::new(),
            at: Span::default(),
        };
        walk_block(body, &mut gather);
        gather.region
    }

    /// A statement outside of asynchronous regions as the link of a chain of events.
    fn relay(stmt: &Stmt) -> Option<Self> {
        let signals = Signals::of(stmt);
        (!signals.is_empty()).then(|| Region {
            set: ThreadSet::default(),
            accesses: Vec::new(),
            waits: signals.waits,
            triggers: signals
                .triggers
                .into_iter()
                .map(|event| (event, 0))
                .collect(),
            numbers: signals.numbers,
        })
    }
}

/// What a statement tells other threads, and what it waits for.
#[derive(Default)]
pub(super) struct Signals {
    pub waits: SortedSet<EventId>,
    pub triggers: SortedSet<EventId>,
    pub numbers: SortedSet<u32>,
}

impl Signals {
    pub fn of(stmt: &Stmt) -> Self {
        let mut signals = Self::default();
        signals.gather(stmt);
        signals
    }

    fn gather(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::WaitEvent(at) => drop(self.waits.insert(at.event)),
            StmtKind::Trigger(at) => drop(self.triggers.insert(at.event)),
            StmtKind::Barrier {
                scope: BarrierScope::Named { id, .. } | BarrierScope::Arrive { id, .. },
                ..
            } => drop(self.numbers.insert(*id)),
            kind => kind.blocks().flatten().for_each(|inner| self.gather(inner)),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.waits.is_empty() && self.triggers.is_empty() && self.numbers.is_empty()
    }
}

struct Gather<'a> {
    function: &'a Function,
    region: Region,
    /// The views that the statement writes.
    copied_to: Vec<(BufferId, Sym)>,
    at: Span,
}

impl Gather<'_> {
    fn access(&mut self, buffer: BufferId, write: bool, first: Sym, end: Option<Sym>, span: Span) {
        let shared = self.function.buffers.get(buffer.index());
        if shared.is_some_and(|b| b.storage == Storage::Shared) {
            self.region.accesses.push(MemAccess {
                buffer,
                write,
                first,
                end,
                span,
            });
        }
    }
}

impl Visit for Gather<'_> {
    fn stmt(&mut self, stmt: &Stmt) {
        self.at = stmt.span;
        self.copied_to.clear();
        let region = &mut self.region;
        match &stmt.kind {
            StmtKind::WaitEvent(at) => drop(region.waits.insert(at.event)),
            StmtKind::Trigger(at) => {
                let before = region.accesses.len();
                region.triggers.insert(at.event, before);
            }
            StmtKind::Barrier {
                scope: BarrierScope::Named { id, .. } | BarrierScope::Arrive { id, .. },
                ..
            } => drop(region.numbers.insert(*id)),
            StmtKind::Copy(copy) => {
                let to = &copy.dest;
                self.copied_to.push((to.buffer, to.offset.clone()));
            }
            StmtKind::Fill { view, .. } => {
                self.copied_to.push((view.buffer, view.offset.clone()));
            }
            _ => {}
        }
    }

    fn view(&mut self, view: &View) {
        let write = self.copied_to.contains(&(view.buffer, view.offset.clone()));
        let end = view.end();
        self.access(view.buffer, write, view.offset.clone(), end, self.at);
    }

    fn access(&mut self, access: &Access, written: bool) {
        let first = access.address();
        let end = &first + 1;
        self.access(access.view.buffer, written, first, Some(end), access.span);
    }
}

fn compare(comparison: &mut Comparison, running: &[Region], diags: &mut Diagnostics) {
    let function = comparison.function;
    let waiting = waiting(running);
    let all = 0..running.len();
    let reached: Vec<SortedSet<usize>> = all.map(|at| reach(running, &waiting, at)).collect();
    let leads = |from: usize, to: usize| reached.get(from).is_some_and(|r| r.contains(&to));
    for (at, a) in running.iter().enumerate() {
        if a.accesses.is_empty() {
            continue;
        }
        for (b_at, b) in running.iter().enumerate().skip(at + 1) {
            if b.accesses.is_empty()
                || a.set.meets(&b.set)
                || !a.numbers.is_disjoint(&b.numbers)
                || leads(at, b_at)
                || leads(b_at, at)
            {
                continue;
            }
            if let Some((first, second)) = conflict(comparison, a, b) {
                let name = function.buffers.get(first.buffer.index());
                let name = name.map_or("a tile", |b| b.name.as_str());
                let (written, other) = if first.write {
                    (first, second)
                } else {
                    (second, first)
                };
                let does = if other.write { "also written" } else { "read" };
                diags.push(
                    Diagnostic::new(
                        codes::W0568,
                        other.span,
                        format!("regions that run at the same time use `{name}`, and no event orders them"),
                    )
                    .label(format!("{does} here"))
                    .also(written.span, "written by other threads")
                    .help("`trigger` an event after the one, and `wait` for it before the other"),
                );
            }
        }
    }
}

/// A tile that a region writes before it triggers an event.
pub struct Published {
    pub buffer: String,
    pub written: Span,
    /// The first use by a region of other threads.
    pub used: Span,
}

/// What the triggers of an event announce to other threads: the first tile that their region
/// writes before them and that another region uses.
pub fn published(function: &Function, body: &[Stmt], event: EventId) -> Option<Published> {
    let regions = regions(function, body);
    // A region within another one comes after it.
    let mut triggering = regions.iter().rev();
    let (from, count) =
        triggering.find_map(|region| Some((region, *region.triggers.get(&event)?)))?;
    let mut before = from.accesses.iter().take(count).filter(|a| a.write);
    before.find_map(|written| {
        let others = regions.iter().filter(|to| !to.set.meets(&from.set));
        let mut accesses = others.flat_map(|to| &to.accesses);
        let used = accesses.find(|access| access.buffer == written.buffer)?;
        Some(Published {
            buffer: function.buffers.get(written.buffer.index())?.name.clone(),
            written: written.span,
            used: used.span,
        })
    })
}

fn regions(function: &Function, stmts: &[Stmt]) -> Vec<Region> {
    let mut found = Vec::new();
    for stmt in stmts {
        if let StmtKind::Region {
            set: Some(set),
            body,
            ..
        } = &stmt.kind
        {
            found.push(Region::of(function, set, body));
        }
        for block in stmt.kind.blocks() {
            found.extend(regions(function, block));
        }
    }
    found
}

/// The regions that wait for each event.
fn waiting(running: &[Region]) -> SortedMap<EventId, Vec<usize>> {
    let mut waiting: SortedMap<EventId, Vec<usize>> = SortedMap::new();
    for (at, region) in running.iter().enumerate() {
        for event in &region.waits {
            waiting.entry(*event).or_default().push(at);
        }
    }
    waiting
}

/// The regions that a chain of events reaches from a region.
fn reach(
    running: &[Region],
    waiting: &SortedMap<EventId, Vec<usize>>,
    from: usize,
) -> SortedSet<usize> {
    let mut reached = SortedSet::from([from]);
    let mut triggered = SortedSet::new();
    let mut open = vec![from];
    while let Some(region) = open.pop().and_then(|at| running.get(at)) {
        let events = region.triggers.keys();
        for event in events.filter(|event| triggered.insert(**event)) {
            let next = waiting.get(event).into_iter().flatten();
            open.extend(next.filter(|at| reached.insert(**at)));
        }
    }
    reached
}

/// Two accesses to overlapping memory, one of them a write.
fn conflict<'r>(
    comparison: &mut Comparison,
    a: &'r Region,
    b: &'r Region,
) -> Option<(&'r MemAccess, &'r MemAccess)> {
    let function = comparison.function;
    let of = |first: &'r MemAccess| {
        let others = b.accesses.iter().filter(|t| t.buffer == first.buffer);
        let conflicting = others.filter(move |t| first.write || t.write);
        conflicting.map(move |second| (first, second))
    };
    let mut pairs = a.accesses.iter().flat_map(of).peekable();
    pairs.peek()?;
    let uniformity = comparison.uniformity(a.set.union(&b.set));
    let own = |access: &MemAccess| {
        uniformity.sym(&access.first) || access.end.as_ref().is_none_or(|e| uniformity.sym(e))
    };
    let may_precede = |x: &MemAccess, y: &MemAccess| {
        let end = x.end.as_ref();
        end.is_none_or(|end| !function.cx.lt(&y.first, end).is_yes())
    };
    // A whole tile on one side overlaps every element of it on the other.
    pairs.find(|(first, second)| {
        !(own(first) && own(second) || may_precede(first, second) || may_precede(second, first))
    })
}
