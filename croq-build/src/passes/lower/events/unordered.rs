//! Concurrent regions that access one tile without any ordering.
//!
//! Two regions count as ordered if a chain of events leads from a trigger of one to a wait of the
//! other, or if both use the same numbered barrier. Threads outside of these regions may be links of
//! the chain. Only accesses are compared whose place is
//! uniform in the threads of both: where a thread's own indices determine it, the accesses may be
//! disjoint.

use super::comparison::{Comparison, Links, Signals};
use super::threads::Threads;
use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::ir::{
    Access, BarrierScope, BufferId, EventId, Function, KernelId, Stmt, StmtKind, Storage,
    ThreadSet, View, Visit, walk_block,
};
use crate::sorted::SortedMap;
use crate::source::Span;
use crate::symbolic::Sym;

pub fn check(function: &Function, id: KernelId, diags: &mut Diagnostics) {
    if let Some(kernel) = function.kernels.get(id.index()) {
        let mut comparison = Comparison::of(function, &kernel.body);
        in_block(&mut comparison, &kernel.body, diags);
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
    first: Place,
    /// One past the last element; `None` if it is not known.
    end: Option<Place>,
    span: Span,
}

/// The number of an element.
struct Place {
    sym: Sym,
    /// The same without its constant part.
    rest: Sym,
    constant: i64,
}

impl Place {
    fn of(sym: Sym) -> Self {
        let constant = sym.constant_part();
        let rest = match sym.is_poison() {
            true => Sym::poison(),
            false => &sym - constant,
        };
        Self {
            sym,
            rest,
            constant,
        }
    }

    fn is_before(&self, other: &Place, function: &Function) -> bool {
        match self.rest == other.rest && !self.sym.is_poison() {
            true => self.constant < other.constant,
            false => function.cx.lt(&self.sym, &other.sym).is_yes(),
        }
    }
}

struct Region {
    set: ThreadSet,
    accesses: Vec<MemAccess>,
    signals: Signals,
    /// The number of accesses before the last trigger of each event.
    before_triggers: SortedMap<EventId, usize>,
}

impl Region {
    fn of(function: &Function, set: &ThreadSet, body: &[Stmt]) -> Self {
        let region = Region {
            set: set.clone(),
            accesses: Vec::new(),
            signals: Signals::default(),
            before_triggers: SortedMap::new(),
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
            signals,
            before_triggers: SortedMap::new(),
        })
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
                first: Place::of(first),
                end: end.map(Place::of),
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
        region.signals.add(stmt);
        match &stmt.kind {
            StmtKind::Trigger(at) => {
                let before = region.accesses.len();
                region.before_triggers.insert(at.event, before);
            }
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
    let links = Links::of(running.iter().map(|region| &region.signals));
    for (at, a) in running.iter().enumerate() {
        let mut ordered = None;
        for (b_at, b) in running.iter().enumerate().skip(at + 1) {
            if !may_be_reported(comparison, a, b)
                || a.set.meets(&b.set)
                || !a.signals.numbers.is_disjoint(&b.signals.numbers)
            {
                continue;
            }
            let (after, before) =
                ordered.get_or_insert_with(|| (links.after(at), links.before(at)));
            if after.contains(b_at) || before.contains(b_at) {
                continue;
            }
            if let Some((first, second)) = conflict(comparison, a, b) {
                let report = report(comparison.function, first, second);
                comparison.push(report, diags);
            }
        }
    }
}

/// Accesses of two regions to one tile, one of them a write.
fn pairs<'r>(a: &'r Region, b: &'r Region) -> impl Iterator<Item = (&'r MemAccess, &'r MemAccess)> {
    a.accesses.iter().flat_map(|first| {
        let others = b.accesses.iter().filter(|t| t.buffer == first.buffer);
        let conflicting = others.filter(move |t| first.write || t.write);
        conflicting.map(move |second| (first, second))
    })
}

/// The write and the other access.
fn by_role<'r>(first: &'r MemAccess, second: &'r MemAccess) -> (&'r MemAccess, &'r MemAccess) {
    match first.write {
        true => (first, second),
        false => (second, first),
    }
}

/// Whether a comparison may find a place without a report. Where many regions use one tile, the first
/// of them has been compared with all others.
fn may_be_reported(comparison: &Comparison, a: &Region, b: &Region) -> bool {
    pairs(a, b).any(|(first, second)| {
        let (_, other) = by_role(first, second);
        !comparison.is_reported(other.span)
    })
}

fn report(function: &Function, first: &MemAccess, second: &MemAccess) -> Diagnostic {
    let name = function.buffers.get(first.buffer.index());
    let name = name.map_or("a tile", |b| b.name.as_str());
    let (written, other) = by_role(first, second);
    let does = if other.write { "also written" } else { "read" };
    Diagnostic::new(
        codes::W0568,
        other.span,
        format!("regions that run at the same time use `{name}`, and no event orders them"),
    )
    .label(format!("{does} here"))
    .also(written.span, "written by other threads")
    .help("`trigger` an event after the one, and `wait` for it before the other")
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
        triggering.find_map(|region| Some((region, *region.before_triggers.get(&event)?)))?;
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

/// Two accesses to overlapping memory, one of them a write.
fn conflict<'r>(
    comparison: &mut Comparison,
    a: &'r Region,
    b: &'r Region,
) -> Option<(&'r MemAccess, &'r MemAccess)> {
    let function = comparison.function;
    let may_precede = |x: &MemAccess, y: &MemAccess| {
        let end = x.end.as_ref();
        end.is_none_or(|end| !y.first.is_before(end, function))
    };
    let mut threads = None;
    let mut own = |access: &MemAccess| {
        let union = || Threads {
            set: a.set.union(&b.set),
        };
        let threads = threads.get_or_insert_with(union);
        let mut places = [Some(&access.first), access.end.as_ref()].into_iter();
        places.any(|at| at.is_none_or(|at| comparison.differs(threads, &at.rest)))
    };
    // A whole tile on one side overlaps every element of it on the other.
    pairs(a, b).find(|(first, second)| {
        let apart = may_precede(first, second) || may_precede(second, first);
        !(apart || own(first) && own(second))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sema::testing;

    const REGIONS: usize = 40;

    /// The numbers of reports and of analyses for regions of one thread each that store at `place`.
    /// `around`: what is before them; `most`: how much the analyses may visit.
    fn compared(around: &str, place: &str, most: Option<usize>) -> (usize, usize) {
        let region = |i: usize| format!("inthreads.async (t == {i}) {{ s.at({place}) = 1.0f; }}\n");
        let regions: String = (0..REGIONS).map(region).collect();
        let text = format!(
            "__co__ void f(global f32 [64] x, int n) {{
               parallel b by 1 : block {{
                 shared f32 [64] s;
                 parallel t by 64 : thread {{ {around} {{ {regions} }} }}
               }}
             }}"
        );
        let function = testing::function(&text);
        let mut comparison = Comparison::of(&function, &function.kernels[0].body);
        if let Some(most) = most {
            comparison.limit(most);
        }
        let mut diags = Diagnostics::new();
        in_block(&mut comparison, &function.kernels[0].body, &mut diags);
        (diags.len(), comparison.analyses())
    }

    /// The time is a matter of the analyses: each visits the kernel.
    #[test]
    fn each_region_that_races_is_analysed_once() {
        let reported = REGIONS - 1;
        assert_eq!(
            compared("foreach k in [4]", "k", None),
            (reported, reported)
        );
    }

    #[test]
    fn constants_and_indices_of_threads_need_no_analysis() {
        assert_eq!(compared("", "7", None), (REGIONS - 1, 0));
        assert_eq!(compared("", "t", None), (0, 0));
        assert_eq!(compared("", "b", None), (REGIONS - 1, 0));
    }

    #[test]
    fn analyses_have_a_limit() {
        let own = "foreach k in [t]";
        let pairs = REGIONS * (REGIONS - 1) / 2;
        assert_eq!(compared(own, "k", None), (0, pairs));
        let (reports, analyses) = compared(own, "k", Some(1000));
        assert_eq!(reports, 0);
        assert!((1..pairs / 10).contains(&analyses), "{analyses}");
        // A place that no analysis has found to be the same may be each thread's own.
        assert_eq!(compared("foreach k in [4]", "k", Some(0)), (0, 0));
    }
}
