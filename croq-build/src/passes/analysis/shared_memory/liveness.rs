//! The live range of each shared buffer.
//!
//! Program points are statements at block level, including those inside loops and branches that are
//! uniform in the block. Anything finer (a `parallel`, an `inthreads`, a divergent branch) is a
//! single point, because its threads do not run in lockstep. A buffer whose value may be live from
//! one iteration of a loop to the next is live throughout the loop. No value is carried by a buffer
//! that is declared inside the loop, nor by one that each iteration overwrites completely before
//! any other use.

use crate::ir::{
    Access, Arg, BufferId, CppName, Engine, EventAt, Expr, ExprKind, Function, Level, Stmt,
    StmtKind, Storage, View, Visit, walk_block, walk_exprs,
};
use crate::passes::analysis::uses::identifiers;
use crate::passes::transform::barriers::Vars;
use crate::sorted::{SortedMap, SortedSet};
use crate::source::Span;

/// Program points from the first use to the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveRange {
    pub first: usize,
    pub last: usize,
    /// The source text between them.
    pub span: Span,
}

impl LiveRange {
    pub fn overlaps(&self, other: &LiveRange) -> bool {
        self.first <= other.last && other.first <= self.last
    }
}

/// The live ranges of a kernel's shared buffers; an unused buffer has none.
pub fn live_ranges(function: &Function, body: &[Stmt]) -> SortedMap<BufferId, LiveRange> {
    let mut walk = Walk {
        function,
        vars: Vars::of_block(function, body),
        texts: Vec::new(),
        loops: Vec::new(),
        around: Vec::new(),
        uses: SortedMap::new(),
        declared: SortedMap::new(),
        opaque: SortedSet::new(),
    };
    walk.block(body, true);
    walk.live_ranges()
}

struct Use {
    point: usize,
    /// The enclosing loops, outermost first.
    loops: Vec<usize>,
    /// Every iteration of the innermost loop overwrites the whole buffer here, if this is its first
    /// use.
    renews: bool,
}

struct Walk<'a> {
    function: &'a Function,
    vars: Vars,
    /// The source text of each point.
    texts: Vec<Span>,
    /// The first and the last point of each loop.
    loops: Vec<(usize, usize)>,
    around: Vec<usize>,
    uses: SortedMap<BufferId, Vec<Use>>,
    /// The number of loops around the declaration.
    declared: SortedMap<BufferId, usize>,
    /// Buffers to which opaque code may keep a pointer.
    opaque: SortedSet<BufferId>,
}

impl Walk<'_> {
    /// `every_iteration`: there is no branch between the innermost loop and these statements.
    fn block(&mut self, stmts: &[Stmt], every_iteration: bool) {
        for stmt in stmts {
            self.stmt(stmt, every_iteration);
        }
    }

    fn stmt(&mut self, stmt: &Stmt, every_iteration: bool) {
        match &stmt.kind {
            StmtKind::For { body, .. } => self.repeated(stmt.span, |walk| walk.block(body, true)),
            StmtKind::While {
                prelude,
                cond,
                body,
            } => self.repeated(stmt.span, |walk| {
                walk.block(prelude, true);
                walk.condition(cond);
                walk.block(body, true);
            }),
            StmtKind::If {
                cond,
                then,
                otherwise,
            } if self.vars.is_uniform(self.function, cond, Level::Block) => {
                self.condition(cond);
                self.block(then, false);
                self.block(otherwise, false);
            }
            _ => {
                let mut seen = Seen::new(self.function, stmt.span);
                walk_block(std::slice::from_ref(stmt), &mut seen);
                if let StmtKind::Region { is_async: true, .. } = &stmt.kind {
                    // The other threads run concurrently, and the region may wait for them.
                    seen.opaque.extend(&seen.used);
                }
                let renewed = if every_iteration {
                    self.renewed(stmt)
                } else {
                    None
                };
                self.point(seen, renewed);
            }
        }
    }

    fn repeated(&mut self, span: Span, iteration: impl FnOnce(&mut Self)) {
        let id = self.loops.len();
        let first = self.texts.len();
        self.texts.push(span);
        self.loops.push((first, first));
        self.around.push(id);
        iteration(self);
        self.around.pop();
        if let Some(ends) = self.loops.get_mut(id) {
            ends.1 = self.texts.len().saturating_sub(1);
        }
    }

    fn condition(&mut self, cond: &Expr) {
        let mut seen = Seen::new(self.function, cond.span);
        walk_exprs(cond, &mut seen);
        self.point(seen, None);
    }

    fn point(&mut self, seen: Seen<'_>, renewed: Option<BufferId>) {
        let point = self.texts.len();
        self.texts.push(seen.text);
        for buffer in seen.declared {
            self.declared.insert(buffer, self.around.len());
        }
        self.opaque.extend(seen.opaque);
        for buffer in seen.used {
            self.uses.entry(buffer).or_default().push(Use {
                point,
                loops: self.around.clone(),
                renews: renewed == Some(buffer),
            });
        }
    }

    /// The buffer that the statement overwrites completely.
    fn renewed(&self, stmt: &Stmt) -> Option<BufferId> {
        let dest = match &stmt.kind {
            StmtKind::Copy(copy)
                if copy.future.is_none()
                    && copy.level == Level::Block
                    && copy.source.buffer != copy.dest.buffer =>
            {
                &copy.dest
            }
            StmtKind::Fill { view, level, .. } if *level == Level::Block => view,
            _ => return None,
        };
        let buffer = self.function.buffers.get(dest.buffer.index())?;
        let elements = dest.shape.iter().product();
        let mut stride = crate::symbolic::Sym::one();
        let dense = dest.shape.iter().zip(&dest.strides).rev().all(|(n, s)| {
            let fits = n.is_one() || *s == stride;
            stride = &stride * n;
            fits
        });
        let whole = dense && dest.offset.is_zero() && buffer.count == elements;
        (whole && !dest.may_cross()).then_some(dest.buffer)
    }

    fn live_ranges(&self) -> SortedMap<BufferId, LiveRange> {
        let end = self.texts.len().saturating_sub(1);
        let live = |(buffer, uses): &(BufferId, Vec<Use>)| {
            let (mut first, mut last) = (usize::MAX, 0);
            for u in uses {
                first = first.min(u.point);
                last = last.max(u.point);
            }
            let depth = self.declared.get(buffer).copied().unwrap_or(0);
            for (at, id) in uses.iter().flat_map(|u| u.loops.iter().enumerate()) {
                let (begin, end) = self.loops.get(*id).copied().unwrap_or((0, end));
                if at >= depth && !stays_in_iteration(uses, *id) {
                    first = first.min(begin);
                    last = last.max(end);
                }
            }
            if self.opaque.contains(buffer) {
                (first, last) = (0, end);
            }
            (*buffer, self.live(first, last))
        };
        self.uses.iter().map(live).collect()
    }

    fn live(&self, first: usize, last: usize) -> LiveRange {
        let texts = self.texts.get(first..=last).unwrap_or_default();
        let span = texts.iter().copied().reduce(Span::to).unwrap_or_default();
        LiveRange { first, last, span }
    }
}

/// Whether no iteration of the loop reads a value that an earlier one left in the buffer.
fn stays_in_iteration(uses: &[Use], id: usize) -> bool {
    let inside = uses.iter().all(|u| u.loops.contains(&id));
    let first = uses.iter().min_by_key(|u| u.point);
    inside && first.is_some_and(|u| u.renews && u.loops.last() == Some(&id))
}

/// The uses of shared memory at one point.
struct Seen<'a> {
    function: &'a Function,
    text: Span,
    used: SortedSet<BufferId>,
    declared: SortedSet<BufferId>,
    opaque: SortedSet<BufferId>,
}

impl<'a> Seen<'a> {
    fn new(function: &'a Function, text: Span) -> Self {
        Self {
            function,
            text,
            used: SortedSet::new(),
            declared: SortedSet::new(),
            opaque: SortedSet::new(),
        }
    }

    fn is_shared(&self, id: BufferId) -> bool {
        let buffer = self.function.buffers.get(id.index());
        buffer.is_some_and(|b| matches!(b.storage, Storage::Shared | Storage::Mbarriers))
    }

    fn uses(&mut self, id: BufferId) {
        if self.is_shared(id) {
            self.used.insert(id);
        }
    }

    /// A use of the event's mbarriers.
    fn signals(&mut self, at: &EventAt) {
        let event = self.function.events.get(at.event.index());
        event.iter().for_each(|event| self.uses(event.barriers));
    }

    fn loses(&mut self, arg: &Arg) {
        match arg {
            Arg::Pointer(view) if self.is_shared(view.buffer) => {
                self.opaque.insert(view.buffer);
            }
            Arg::Cast(_, inner) => self.loses(inner),
            _ => {}
        }
    }
}

impl Visit for Seen<'_> {
    fn stmt(&mut self, stmt: &Stmt) {
        self.text = self.text.to(stmt.span);
        match &stmt.kind {
            StmtKind::Alloc(id) => drop(self.declared.insert(*id)),
            StmtKind::Copy(copy) => {
                // Another block of the cluster may load into it while this one is still in earlier
                // code.
                if copy.engine.is_multicast() {
                    self.opaque.insert(copy.dest.buffer);
                }
                if let Engine::Tma(tma) = &copy.engine {
                    tma.event.iter().for_each(|at| self.signals(at));
                    tma.arrival.iter().for_each(|at| self.uses(at.barriers));
                }
            }
            StmtKind::WaitEvent(at) | StmtKind::Trigger(at) => self.signals(at),
            StmtKind::Wait { futures, .. } | StmtKind::WaitTma { futures } => {
                let arrivals = futures.iter().flat_map(|waited| &waited.arrival);
                arrivals.for_each(|at| self.uses(at.barriers));
            }
            StmtKind::Tma(op) => op.buffers().into_iter().for_each(|id| self.uses(id)),
            StmtKind::Cpp { text, names, .. } => {
                let words = identifiers(text);
                for name in names {
                    if let CppName::Buffer(id) = name
                        && let Some(buffer) = self.function.buffers.get(id.index())
                        && words.contains(buffer.name.as_str())
                    {
                        self.uses(*id);
                        self.opaque.insert(*id);
                    }
                }
            }
            _ => {}
        }
    }

    fn expr(&mut self, expr: &Expr) {
        if let ExprKind::Call(call) = &*expr.kind {
            call.args.iter().for_each(|arg| self.loses(arg));
        }
    }

    fn view(&mut self, view: &View) {
        self.uses(view.buffer);
    }

    fn access(&mut self, access: &Access, _written: bool) {
        self.text = self.text.to(access.span);
        self.uses(access.view.buffer);
    }
}
