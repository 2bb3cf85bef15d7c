//! Tiles that a region writes again while another one may still read them.
//!
//! Two regions are a pipeline for a tile if one writes it in a loop and triggers an event there for
//! which the other waits in the loop that reads the tile. The next write to the same place must come
//! after the read, which only the reader can say: by an event, or a numbered barrier, that leads to
//! the writer directly or by other regions. Where nothing does, the writer does not wait for the
//! reader, however slow it is.
//!
//! Only places are compared that certainly overlap, with the reader in the same iteration as the
//! writer, and only regions of which all synchronisation is known.

use std::cell::OnceCell;
use std::slice;

use super::comparison::{Comparison, Links, Signals};
use super::threads::Threads;
use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::ir::{
    Access, BarrierScope, BufferId, EventId, ExprKind, Function, KernelId, Stmt, StmtKind, Storage,
    ThreadSet, View, Visit, any_in, walk_block,
};
use crate::sorted::SortedSet;
use crate::source::Span;
use crate::symbolic::{Sym, Var};

/// The slots of rings that are recognised.
const MOST_SLOTS: i64 = 32;

struct Loop {
    var: Option<Var>,
    lo: Sym,
    count: Sym,
    waits: SortedSet<EventId>,
    triggers: SortedSet<EventId>,
}

/// An access under no condition, in a loop.
struct Use {
    buffer: BufferId,
    first: Sym,
    end: Sym,
    span: Span,
    /// The loops around it, from outside in, by their numbers.
    loops: Vec<usize>,
    /// For a write, see [`Region::announced`].
    announced: OnceCell<SortedSet<EventId>>,
}

struct Region<'a> {
    function: &'a Function,
    set: ThreadSet,
    reads: Vec<Use>,
    writes: Vec<Use>,
    loops: Vec<Loop>,
    signals: Signals,
    /// Something in it may synchronise with other threads in a way that is not known.
    is_opaque: bool,
}

impl<'a> Region<'a> {
    fn of(function: &'a Function, set: &'a ThreadSet, body: &[Stmt]) -> Self {
        let stmt = |stmt: &Stmt| {
            matches!(
                stmt.kind,
                StmtKind::While { .. }
                    | StmtKind::Cpp { .. }
                    | StmtKind::Eval(_)
                    | StmtKind::Atomic(_)
                    | StmtKind::AwaitSignal { .. }
                    | StmtKind::TriggerSignal(_)
                    | StmtKind::Break
                    | StmtKind::Continue
                    | StmtKind::Yield
            )
        };
        let calls = |expr: &crate::ir::Expr| matches!(*expr.kind, ExprKind::Call(_));
        let mut region = Region {
            is_opaque: any_in(body, stmt, calls),
            ..Region::without_accesses(function, set.clone(), Signals::default())
        };
        region.block(body, &mut Vec::new(), false);
        region
    }

    /// A statement outside of asynchronous regions as the link of a chain of events.
    fn relay(function: &'a Function, stmt: &Stmt) -> Option<Self> {
        let signals = Some(Signals::of(stmt)).filter(|signals| !signals.is_empty())?;
        Some(Self::without_accesses(
            function,
            ThreadSet::default(),
            signals,
        ))
    }

    fn without_accesses(function: &'a Function, set: ThreadSet, signals: Signals) -> Self {
        Region {
            function,
            set,
            reads: Vec::new(),
            writes: Vec::new(),
            loops: Vec::new(),
            signals,
            is_opaque: false,
        }
    }

    /// `around`: the loops around the statements.
    fn block(&mut self, stmts: &[Stmt], around: &mut Vec<usize>, conditional: bool) {
        for stmt in stmts {
            self.signals.add(stmt);
            match &stmt.kind {
                StmtKind::WaitEvent(at) => {
                    self.in_loops(around, conditional, |l| l.waits.insert(at.event));
                }
                StmtKind::Trigger(at) => {
                    self.in_loops(around, conditional, |l| l.triggers.insert(at.event));
                }
                StmtKind::Barrier {
                    scope: BarrierScope::Block | BarrierScope::Cluster | BarrierScope::Grid,
                    ..
                } => self.is_opaque = true,
                StmtKind::Barrier { .. } => {}
                StmtKind::For {
                    local,
                    lo,
                    hi,
                    step,
                    body,
                    ..
                } => {
                    let var = self.function.local(*local).var.filter(|_| step.is_one());
                    around.push(self.loops.len());
                    self.loops.push(Loop {
                        var,
                        lo: lo.clone(),
                        count: hi - lo,
                        waits: SortedSet::new(),
                        triggers: SortedSet::new(),
                    });
                    self.block(body, around, conditional);
                    around.pop();
                }
                StmtKind::If { .. } => {
                    for block in stmt.kind.blocks() {
                        self.block(block, around, true);
                    }
                }
                kind if kind.blocks().next().is_some() => {
                    for block in kind.blocks() {
                        self.block(block, around, conditional);
                    }
                }
                _ if conditional || around.is_empty() => {}
                _ => self.uses(stmt, around),
            }
        }
    }

    fn in_loops(
        &mut self,
        around: &[usize],
        conditional: bool,
        insert: impl Fn(&mut Loop) -> bool,
    ) {
        for at in around.iter().filter(|_| !conditional) {
            self.loops.get_mut(*at).map(&insert);
        }
    }

    fn uses(&mut self, stmt: &Stmt, around: &[usize]) {
        match &stmt.kind {
            StmtKind::Copy(copy) => {
                self.of_view(&copy.source, false, stmt.span, around);
                self.of_view(&copy.dest, true, stmt.span, around);
            }
            StmtKind::Fill { view, .. } => self.of_view(view, true, stmt.span, around),
            StmtKind::Mma(op) => {
                for (view, written) in op.views() {
                    self.of_view(view, written, stmt.span, around);
                }
            }
            StmtKind::Wait { .. } | StmtKind::WaitTma { .. } => {}
            _ => {
                struct Find<'r, 'a>(&'r mut Region<'a>, &'r [usize]);
                impl Visit for Find<'_, '_> {
                    fn access(&mut self, access: &Access, written: bool) {
                        let first = access.address();
                        let end = &first + 1;
                        let (buffer, span) = (access.view.buffer, access.span);
                        self.0.add(buffer, (first, end), written, span, self.1);
                    }
                }
                walk_block(slice::from_ref(stmt), &mut Find(self, around));
            }
        }
    }

    fn of_view(&mut self, view: &View, written: bool, span: Span, around: &[usize]) {
        if let Some(end) = view.end() {
            self.add(
                view.buffer,
                (view.offset.clone(), end),
                written,
                span,
                around,
            );
        }
    }

    fn add(
        &mut self,
        buffer: BufferId,
        (first, end): (Sym, Sym),
        written: bool,
        span: Span,
        around: &[usize],
    ) {
        let buffers = &self.function.buffers;
        let is_shared = |b: &crate::ir::Buffer| b.storage == Storage::Shared;
        if !buffers.get(buffer.index()).is_some_and(is_shared) {
            return;
        }
        let list = match written {
            true => &mut self.writes,
            false => &mut self.reads,
        };
        list.push(Use {
            buffer,
            first,
            end,
            span,
            loops: around.to_vec(),
            announced: OnceCell::new(),
        });
    }

    /// The place in the first iterations of the loops around it.
    fn in_first_iterations(&self, of: &Use) -> Sym {
        let cx = &self.function.cx;
        let loops = self.loops_of(of).collect::<Vec<_>>();
        let inner_first = loops.into_iter().rev();
        inner_first.fold(of.first.clone(), |first, l| match l.var {
            Some(var) => cx.substituted(&first, var, &l.lo),
            None => first,
        })
    }

    /// The events that the region triggers in the loops that write to the same place again.
    fn announced<'r>(&self, write: &'r Use) -> &'r SortedSet<EventId> {
        write.announced.get_or_init(|| {
            let triggering = self.loops_of(write).filter(|l| !l.triggers.is_empty());
            let repeating = triggering.filter(|l| repeats(self.function, l, write));
            repeating.flat_map(|l| &l.triggers).copied().collect()
        })
    }

    fn loops_of<'r>(&'r self, of: &'r Use) -> impl Iterator<Item = &'r Loop> {
        of.loops.iter().filter_map(|at| self.loops.get(*at))
    }
}

/// Reports pipelines whose reader does not lead to the writer.
pub fn check(function: &Function, id: KernelId, diags: &mut Diagnostics) {
    if let Some(kernel) = function.kernels.get(id.index()) {
        let mut comparison = Comparison::of(function, &kernel.body);
        in_block(function, &mut comparison, &kernel.body, diags);
    }
}

fn in_block(
    function: &Function,
    comparison: &mut Comparison<'_>,
    stmts: &[Stmt],
    diags: &mut Diagnostics,
) {
    let mut running: Vec<Region<'_>> = Vec::new();
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
                running.extend(Region::relay(function, stmt));
                compare(comparison, &std::mem::take(&mut running), diags);
            }
            StmtKind::Barrier { .. } => {
                compare(comparison, &std::mem::take(&mut running), diags);
            }
            kind => {
                running.extend(Region::relay(function, stmt));
                for block in kind.blocks() {
                    in_block(function, comparison, block, diags);
                }
            }
        }
    }
    compare(comparison, &running, diags);
}

/// The regions run at the same time.
fn compare(comparison: &mut Comparison<'_>, running: &[Region<'_>], diags: &mut Diagnostics) {
    let links = Links::of(running.iter().map(|region| &region.signals));
    for (reader_at, reader) in running.iter().enumerate() {
        if reader.is_opaque || reader.reads.is_empty() {
            continue;
        }
        let reached = links.after_with_barriers(reader_at);
        for (at, writer) in running.iter().enumerate() {
            if writer.is_opaque
                || writer.writes.is_empty()
                || reached.contains(at)
                || writer.set.meets(&reader.set)
            {
                continue;
            }
            of_pair(comparison, writer, reader)
                .into_iter()
                .for_each(|report| comparison.push(report, diags));
        }
    }
}

fn of_pair(
    comparison: &mut Comparison<'_>,
    writer: &Region<'_>,
    reader: &Region<'_>,
) -> Option<Diagnostic> {
    let reads = || reader.reads.iter();
    // One place has one report.
    if reads().all(|read| comparison.is_reported(read.span)) {
        return None;
    }
    let mut threads = None;
    for write in &writer.writes {
        for read in reads().filter(|r| r.buffer == write.buffer) {
            if !is_pipeline(writer, write, reader, read) || !overlap(writer, write, reader, read) {
                continue;
            }
            let union = || Threads {
                set: writer.set.union(&reader.set),
            };
            let threads = threads.get_or_insert_with(union);
            let mut own = |region: &Region<'_>, of: &Use| {
                let first = region.in_first_iterations(of);
                comparison.differs(threads, &first)
            };
            if own(writer, write) && own(reader, read) {
                continue;
            }
            return Some(report(writer, write, read));
        }
    }
    None
}

/// Whether the writer publishes the tile by an event in a loop that writes it again, and the reader
/// waits for the event in the loop that reads it.
fn is_pipeline(writer: &Region<'_>, write: &Use, reader: &Region<'_>, read: &Use) -> bool {
    let announced = writer.announced(write);
    let mut around = reader.loops_of(read);
    !announced.is_empty() && around.any(|l| !announced.is_disjoint(&l.waits))
}

/// Whether a later iteration of the loop writes to the same place.
fn repeats(function: &Function, around: &Loop, write: &Use) -> bool {
    let Some(var) = around.var else { return false };
    let cx = &function.cx;
    let ends_within = |n: i64| cx.le(&around.count, &Sym::int(n)).is_yes();
    if !write.first.vars().contains(&var) {
        return !ends_within(1);
    }
    let place = |slots: i64| cx.substituted(&write.first, var, &(&Sym::var(var) + slots));
    let slots = (1..=MOST_SLOTS).find(|n| cx.eq(&place(*n), &write.first).is_yes());
    slots.is_some_and(|n| !ends_within(n))
}

/// Whether the places certainly overlap where both regions are in the same iterations.
fn overlap(writer: &Region<'_>, write: &Use, reader: &Region<'_>, read: &Use) -> bool {
    let cx = &writer.function.cx;
    let (mut first, mut end) = (read.first.clone(), read.end.clone());
    for (l, m) in writer.loops_of(write).zip(reader.loops_of(read)) {
        if let (Some(own), Some(other)) = (l.var, m.var)
            && cx.eq(&l.lo, &m.lo).is_yes()
        {
            first = cx.substituted(&first, other, &Sym::var(own));
            end = cx.substituted(&end, other, &Sym::var(own));
        }
    }
    cx.lt(&first, &write.end).is_yes() && cx.lt(&write.first, &end).is_yes()
}

fn report(writer: &Region<'_>, write: &Use, read: &Use) -> Diagnostic {
    let name = &writer.function.buffer(write.buffer).name;
    let text = format!("`{name}` may be overwritten while these threads still read it");
    let answers = writer.loops_of(write).flat_map(|l| &l.waits).next();
    let help = match answers {
        Some(event) => {
            let event = &writer.function.event(*event).name;
            format!("`trigger {event}…;` after this, in each iteration, as other threads do")
        }
        None => "`trigger` an event after this, and `wait` for it before the write".to_owned(),
    };
    Diagnostic::new(codes::W0568, read.span, text)
        .label("the threads that write do not wait for this")
        .also(write.span, "written again in a later iteration")
        .help(help)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sema::testing;

    /// Whether the reader that `loops` in its region is reported. `first` is the region of the other
    /// reader, which triggers `empty`.
    fn is_reported(writer: &str, first: &str, loops: &str) -> bool {
        is_reported_in(writer, first, loops, "")
    }

    /// The same with statements after the regions.
    fn is_reported_in(writer: &str, first: &str, loops: &str, last: &str) -> bool {
        let text = format!(
            "__co__ void f(global f32 [N, 64] x, global f32 [N, 64] y, int n) {{
               parallel i by 1 : block {{
                 shared event full[3], empty[3] = ready, seen;
                 shared f32 [3, 64] s;
                 parallel p by 4 : group-4, t by 128 : thread {{
                   inthreads.async (p == 0) {{ {writer} }}
                   inthreads.async (p == 1) {{ {first} }}
                   inthreads.async (p == 2) {{ {loops} }}
                   {last}
                 }}
               }}
             }}"
        );
        let mut diags = Diagnostics::new();
        check(&testing::function(&text), KernelId(0), &mut diags);
        diags.into_sorted().iter().any(|d| d.code == codes::W0568)
    }

    const COPY: &str = "dma.copy x.chunkat(k, _) => s.subspan(1, 64).at(k % 3, 0);";

    fn writes(copy: &str) -> String {
        format!("foreach k in [N] {{ wait empty[k % 3]; {copy} trigger full[k % 3]; }}")
    }

    fn reads(read: &str, then: &str) -> String {
        format!("foreach j in [N] {{ wait full[j % 3]; {read} {then} }}")
    }

    const READ: &str = "f32 v = s.at(j % 3, t % 64);";
    const ANSWER: &str = "trigger empty[j % 3];";

    #[test]
    fn a_reader_that_answers_no_one_is_reported() {
        let (writer, first) = (writes(COPY), reads(READ, ANSWER));
        assert!(is_reported(&writer, &first, &reads(READ, "")));
        let one_slot = COPY.replace("k % 3", "1");
        let fixed = reads("f32 v = s.at(1, t % 64);", "");
        assert!(is_reported(&writes(&one_slot), &first, &fixed));
        let copied = "dma.copy s.subspan(1, 64).at(j % 3, 0) => y.chunkat(j, _);";
        assert!(is_reported(&writer, &first, &reads(copied, "")));
        let element = "s.at(k % 3, t % 64) = 1.0f;";
        assert!(is_reported(&writes(element), &first, &reads(copied, "")));
    }

    #[test]
    fn a_reader_that_leads_to_the_writer_is_not() {
        let (writer, first) = (writes(COPY), reads(READ, ANSWER));
        let clean = |loops: &str| assert!(!is_reported(&writer, &first, loops), "{loops}");
        clean(&reads(READ, ANSWER));
        clean(&reads(READ, "inthreads (t == 0) { trigger empty[j % 3]; }"));
        // By the other reader, or in a way that is not known.
        let barrier = "__bar_sync(3, 256);";
        let through = reads(&format!("{READ} {barrier}"), ANSWER);
        assert!(!is_reported(&writer, &through, &reads(READ, barrier)));
        let waits = reads(&format!("{READ} wait seen;"), ANSWER);
        assert!(!is_reported(&writer, &waits, &reads(READ, "trigger seen;")));
        clean(&reads(READ, "__cpp__(\"arrive();\");"));
        // By threads of a region that is not asynchronous.
        let relay = "foreach l in [N] { wait seen; trigger empty[l % 3]; }";
        let relayed = |last: &str| {
            !is_reported_in(
                &writer,
                &first,
                &reads(&format!("{READ} trigger seen;"), ""),
                last,
            )
        };
        assert!(relayed(&format!("inthreads (p == 3) {{ {relay} }}")));
        assert!(!relayed(&format!(
            "inthreads (p == 3) {{ {} }}",
            relay.replace("wait seen;", "")
        )));
        // Another place, after the loop, in some iterations, or nothing that is written again.
        clean(&reads("f32 v = s.at((j + 1) % 3, t % 64);", ""));
        let after = "foreach j in [N] { wait full[j % 3]; } f32 v = s.at(n % 3, t % 64);";
        clean(after);
        clean(&reads(&format!("if (j == N - 1) {{ {READ} }}"), ""));
        let three = |text: &str| {
            text.replace("[N]", "[3]")
                .replace("chunkat(k, _)", "subspan(1, 64).at(k, 0)")
        };
        assert!(!is_reported(
            &three(&writer),
            &three(&first),
            &three(&reads(READ, ""))
        ));
    }
}
