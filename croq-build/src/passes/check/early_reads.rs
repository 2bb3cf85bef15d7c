//! Reads of `shared` and `local` memory and of fragments that precede every write of the elements that they read
//! (W0621).
//!
//! A walk in source order. A read is reported if all accesses that write to its buffer follow it,
//! or certainly access other elements. In a loop, a later write precedes the read of the next
//! iteration, but not the read of the first one, unless that may be skipped. Shared memory is
//! written by all threads: where events, regions or spin loops order them, a write anywhere may
//! precede the read.

use std::cell::OnceCell;

use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::ir::{
    Access, BinOp, Buffer, BufferId, CppName, Expr, ExprKind, Flow, Function, KernelId, LocalId,
    MmaOp, ON, Operand, Part, Role, Stmt, StmtKind, Storage, VarHome, View, Visitor, walk,
};
use crate::sorted::{SortedMap, SortedSet};
use crate::source::Span;
use crate::symbolic::{Ctx, Sym};

/// For a buffer with more writes than this, the first one counts as a write to all elements.
const WRITES: usize = 64;

pub fn check(function: &Function, id: KernelId, diags: &mut Diagnostics) {
    let Some(kernel) = function.kernels.get(id.index()) else {
        return;
    };
    let mut walk = Walk {
        function,
        path: Vec::new(),
        loops: 0,
        declared: SortedMap::new(),
        reads: SortedMap::new(),
        writes: SortedMap::new(),
        escaped: SortedSet::new(),
        order: 0,
        unordered: false,
    };
    let _ = walk.block(&kernel.body);
    for (buffer, reads) in &walk.reads {
        let Some(info) = function.buffers.get(buffer.index()) else {
            continue;
        };
        // Never written: `sema` reports that at the declaration of a buffer, but of no fragment.
        let none = Vec::new();
        let writes = match walk.writes.get(buffer) {
            Some(writes) => writes,
            None if info.storage == Storage::Fragment => &none,
            None => continue,
        };
        let anywhere = info.storage == Storage::Shared && walk.unordered;
        if walk.escaped.contains(buffer) {
            continue;
        }
        let early = reads
            .iter()
            .find(|read| !writes_before(&function.cx, read, writes, anywhere));
        if let Some(read) = early {
            diags.push(report(info, read, writes, anywhere));
        }
    }
}

fn report(buffer: &Buffer, read: &Seen, writes: &[Seen], anywhere: bool) -> Diagnostic {
    let (name, declared) = (&buffer.name, buffer.span);
    let partly = anywhere || writes.iter().any(|write| write.order < read.order);
    let text = if writes.is_empty() {
        format!("`{name}` is read, but nothing is ever written to it")
    } else if partly {
        format!("what is read of `{name}` here has not been written")
    } else {
        format!("`{name}` is read before anything is written to it")
    };
    let mut report = Diagnostic::new(codes::W0621, read.span, text)
        .label("holds whatever was there before")
        .also(declared, "declared here, without an initial value");
    if let Some(write) = writes.iter().find(|write| write.span != read.span) {
        let label = match write.order < read.order {
            true => "this writes other elements",
            false => "written here, later",
        };
        report = report.also(write.span, label);
    }
    report.help(match buffer.may_be_scalar() {
        true => "write it first; a buffer, but no `shared` scalar, may also have an initial value: `{0}`",
        false => "write it first, or give it an initial value: `{0}`",
    })
}

/// Whether a write may precede the read.
fn writes_before(cx: &Ctx, read: &Seen, writes: &[Seen], anywhere: bool) -> bool {
    let before = |write: &Seen| {
        let again = read.outermost.is_some() && read.outermost == write.outermost;
        anywhere || write.order < read.order || (again && read.may_be_skipped)
    };
    if writes.len() > WRITES {
        return writes.iter().any(before);
    }
    let mut all = writes.iter().filter(|write| before(write));
    all.any(|write| !write.place.is_disjoint_from(cx, &read.place))
}

/// A read or a write, of one element or of a tile.
struct Seen {
    place: Place,
    /// Number in source order.
    order: usize,
    /// The outermost loop between the declaration of the buffer and the access.
    outermost: Option<usize>,
    /// The first iteration of that loop may skip the access.
    may_be_skipped: bool,
    span: Span,
}

type Range = (Option<i64>, Option<i64>);

/// The elements of a buffer that an access covers. Ranges are computed when they are needed first.
struct Place {
    /// The numbers of the first and of the last element, as far as they are expressions.
    ends: [Sym; 2],
    flat: OnceCell<Range>,
    /// Numbers of elements between which the range certainly extends.
    sampled: OnceCell<Option<(i128, i128)>>,
    /// The offset and strides of the view, and the positions in it.
    offset: Sym,
    strides: Vec<Sym>,
    axes: Axes,
}

enum Axes {
    /// An element at these indices.
    At(Vec<Sym>),
    /// All positions of a tile with these extents.
    All(Vec<Sym>),
}

impl Place {
    fn of_element(access: &Access) -> Self {
        let address = access.address();
        Self {
            ends: [address.clone(), address],
            flat: OnceCell::new(),
            sampled: OnceCell::new(),
            offset: access.view.offset.clone(),
            strides: access.view.strides.clone(),
            axes: Axes::At(access.indices.clone()),
        }
    }

    fn of_tile(view: &View) -> Self {
        let one = Sym::one();
        let steps = view.shape.iter().zip(&view.strides);
        let last = steps.fold(view.offset.clone(), |sum, (n, s)| &sum + &(&(n - &one) * s));
        Self {
            ends: [view.offset.clone(), last],
            flat: OnceCell::new(),
            sampled: OnceCell::new(),
            offset: view.offset.clone(),
            strides: view.strides.clone(),
            axes: Axes::All(view.shape.clone()),
        }
    }

    fn flat(&self, cx: &Ctx) -> Range {
        let [first, last] = &self.ends;
        let range = || match first == last {
            true => cx.range(first),
            false => (cx.range(first).0, cx.range(last).1),
        };
        *self.flat.get_or_init(range)
    }

    /// Whether the ranges of the numbers of elements overlap, by their values on samples.
    fn overlaps_on_samples(&self, cx: &Ctx, other: &Place) -> bool {
        let sampled = |place: &Place| {
            let [first, last] = &place.ends;
            let ends = || Some((cx.samples(first)?.0, cx.samples(last)?.1));
            *place.sampled.get_or_init(ends)
        };
        let both = sampled(self).zip(sampled(other));
        both.is_some_and(|(a, b)| a.0.max(b.0) <= a.1.min(b.1))
    }

    fn axis(&self, cx: &Ctx, axis: usize) -> Option<Range> {
        match &self.axes {
            Axes::At(indices) => Some(cx.range(indices.get(axis)?)),
            Axes::All(shape) => Some((Some(0), cx.range(shape.get(axis)?).1.map(|n| n - 1))),
        }
    }

    /// Whether they certainly have no element in common.
    fn is_disjoint_from(&self, cx: &Ctx, other: &Place) -> bool {
        if self.ends == other.ends {
            return false;
        }
        let same_view = self.offset == other.offset && self.strides == other.strides;
        let apart = |axis| {
            let both = self.axis(cx, axis).zip(other.axis(cx, axis));
            both.is_some_and(|(a, b)| disjoint(a, b))
        };
        let flat =
            || !self.overlaps_on_samples(cx, other) && disjoint(self.flat(cx), other.flat(cx));
        flat() || same_view && (0..self.strides.len()).any(apart)
    }
}

fn disjoint(a: Range, b: Range) -> bool {
    let below = |a: Range, b: Range| matches!((a.1, b.0), (Some(end), Some(start)) if end < start);
    below(a, b) || below(b, a)
}

/// A construct around a statement.
#[derive(Clone, Copy)]
enum Around {
    /// A loop with its number, and whether it has iterations whenever it is reached.
    Loop(usize, bool),
    Condition,
}

struct Walk<'a> {
    function: &'a Function,
    path: Vec<Around>,
    /// The number of loops so far.
    loops: usize,
    /// The number of constructs around the declaration of each buffer.
    declared: SortedMap<BufferId, usize>,
    reads: SortedMap<BufferId, Vec<Seen>>,
    writes: SortedMap<BufferId, Vec<Seen>>,
    /// Buffers whose address is available to C++ text.
    escaped: SortedSet<BufferId>,
    order: usize,
    /// Threads of a block may execute parts of the kernel in another order than that of the source.
    unordered: bool,
}

impl Walk<'_> {
    /// Whether reads of the buffer are checked.
    fn is_checked(&self, buffer: BufferId) -> bool {
        let storage = self.function.buffers.get(buffer.index()).map(|b| b.storage);
        matches!(
            storage,
            Some(Storage::Shared | Storage::Local | Storage::Fragment)
        )
    }

    fn record(&mut self, buffer: BufferId, place: Place, writes: bool, span: Span) {
        let from = self.declared.get(&buffer).copied().unwrap_or(0);
        let inner = self.path.get(from..).unwrap_or_default();
        let is_loop = |around: &Around| matches!(around, Around::Loop(..));
        let first = inner.iter().position(is_loop);
        let skips = |around: &Around| !matches!(around, Around::Loop(_, true));
        self.order += 1;
        let seen = Seen {
            place,
            order: self.order,
            outermost: first.and_then(|at| match inner.get(at) {
                Some(Around::Loop(number, _)) => Some(*number),
                _ => None,
            }),
            may_be_skipped: first
                .is_some_and(|at| inner.get(at + 1..).unwrap_or_default().iter().any(skips)),
            span,
        };
        let all = if writes {
            &mut self.writes
        } else {
            &mut self.reads
        };
        all.entry(buffer).or_default().push(seen);
    }

    fn element(&mut self, access: &Access, writes: bool) {
        if !self.is_checked(access.view.buffer) {
            return;
        }
        let place = Place::of_element(access);
        self.record(access.view.buffer, place, writes, access.span);
    }

    fn tile(&mut self, view: &View, writes: bool) {
        if !self.is_checked(view.buffer) {
            return;
        }
        let place = Place::of_tile(view);
        self.record(view.buffer, place, writes, view.span);
    }

    /// A fragment, or all of an array.
    fn part(&mut self, part: &Part, writes: bool) {
        let whole = self.function.buffers.get(part.buffer.index());
        let whole = whole.map_or_else(Sym::zero, |buffer| buffer.count.clone());
        let one = self.function.fragments.get(&part.buffer);
        let one = one.map(|fragment| Sym::int(fragment.shape.iter().product()));
        let (first, count) = match (&part.number, one) {
            (Some(number), Some(one)) => (number * &one, one),
            _ => (Sym::zero(), whole),
        };
        let last = &(&first + &count) - &Sym::one();
        let place = Place {
            ends: [first.clone(), last],
            flat: OnceCell::new(),
            sampled: OnceCell::new(),
            offset: first,
            strides: vec![Sym::one()],
            axes: Axes::All(vec![count]),
        };
        self.record(part.buffer, place, writes, part.span);
    }

    fn within(&mut self, around: Around, body: &[Stmt]) -> Flow {
        self.path.push(around);
        self.block(body)?;
        self.path.pop();
        ON
    }

    fn new_loop(&mut self, certain: bool) -> Around {
        self.loops += 1;
        Around::Loop(self.loops, certain)
    }

    /// Reads some fragments, and then writes one.
    fn parts<'p>(&mut self, read: impl IntoIterator<Item = &'p Part>, written: &Part) {
        for part in read {
            self.part(part, false);
        }
        self.part(written, true);
    }

    /// Whether a loop has iterations whenever it is reached.
    fn is_certain(&self, lo: &Sym, hi: &Sym) -> bool {
        let changes = |id: LocalId| {
            let local = self.function.locals.get(id.index());
            !local.is_some_and(|l| matches!(l.role, Role::Parallel(_)))
        };
        let fixed = |s: &Sym| {
            s.vars()
                .iter()
                .all(|var| match self.function.var_home.get(var) {
                    Some(VarHome::Local(id)) => !changes(*id),
                    _ => true,
                })
        };
        // With fixed bounds, the first iteration of an enclosing loop is like all others.
        (fixed(lo) && fixed(hi)) || self.function.cx.lt(lo, hi).is_yes()
    }

    fn conditional(&mut self, expr: &Expr) -> Flow {
        self.path.push(Around::Condition);
        Visitor::expr(self, expr)?;
        self.path.pop();
        ON
    }

    fn mma(&mut self, op: &MmaOp) -> Flow {
        for (view, writes) in op.views() {
            self.tile(view, writes);
        }
        match op {
            MmaOp::Apply { body, .. } => {
                let around = self.new_loop(false);
                self.within(around, body)?;
            }
            MmaOp::FillElements { part, add, value } => {
                self.expr(value)?;
                self.parts(add.then_some(part), part);
            }
            MmaOp::Load { into, .. } => self.part(into, true),
            MmaOp::Multiply {
                acc,
                a,
                b,
                metadata,
                ..
            } => self.parts([a, b].into_iter().chain(metadata).chain([acc]), acc),
            MmaOp::WarpgroupMma(mma) => {
                self.expr(&mma.accumulate)?;
                let a = match &mma.a {
                    Operand::Registers(a) => Some(a),
                    Operand::Memory(_) => None,
                };
                let adds = matches!(*mma.accumulate.kind, ExprKind::Bool(true));
                let acc = adds.then_some(&mma.acc);
                self.parts(a.into_iter().chain(&mma.metadata).chain(acc), &mma.acc);
            }
            MmaOp::Store { from, .. } => self.part(from, false),
            MmaOp::Reduce { into, from, .. } | MmaOp::Convert { into, from } => {
                self.parts([from], into);
            }
            MmaOp::AllReduce { part } => self.parts([part], part),
            MmaOp::CommitAll(())
            | MmaOp::WaitMma(_)
            | MmaOp::Instruction { .. }
            | MmaOp::Matrices { .. }
            | MmaOp::Step(_) => {}
        }
        ON
    }
}

impl Visitor for Walk<'_> {
    fn block(&mut self, stmts: &[Stmt]) -> Flow {
        let before = self.path.len();
        for stmt in stmts {
            self.stmt(stmt)?;
            if stmt.leaves_iteration() {
                self.path.push(Around::Condition);
            }
        }
        self.path.truncate(before);
        ON
    }

    fn stmt(&mut self, stmt: &Stmt) -> Flow {
        match &stmt.kind {
            StmtKind::Alloc(id) => drop(self.declared.insert(*id, self.path.len())),
            StmtKind::Store { access, op, value } => {
                self.expr(value)?;
                if op.is_some() {
                    self.element(access, false);
                }
                self.element(access, true);
            }
            StmtKind::Atomic(atomic) => {
                for operand in atomic.operands() {
                    self.expr(operand)?;
                }
                self.element(&atomic.access, false);
                self.element(&atomic.access, true);
            }
            StmtKind::Copy(copy) => {
                self.tile(&copy.source, false);
                self.tile(&copy.dest, true);
            }
            StmtKind::Fill { view, value, .. } => {
                self.expr(value)?;
                self.tile(view, true);
            }
            StmtKind::Mma(op) => self.mma(op)?,
            StmtKind::For { lo, hi, body, .. } => {
                let certain = self.is_certain(lo, hi);
                let around = self.new_loop(certain);
                self.within(around, body)?;
            }
            StmtKind::While {
                prelude,
                cond,
                body,
            } => {
                self.unordered = true;
                let around = self.new_loop(false);
                self.path.push(around);
                self.block(prelude)?;
                self.expr(cond)?;
                self.block(body)?;
                self.path.pop();
            }
            StmtKind::If {
                cond,
                then,
                otherwise,
            } => {
                self.expr(cond)?;
                self.within(Around::Condition, then)?;
                self.within(Around::Condition, otherwise)?;
            }
            StmtKind::Region { pred, body, .. } => {
                self.unordered = true;
                self.expr(pred)?;
                self.within(Around::Condition, body)?;
            }
            StmtKind::Wait { .. } | StmtKind::WaitTma { .. } => {}
            StmtKind::WaitEvent(_) | StmtKind::Trigger(_) => self.unordered = true,
            StmtKind::Cpp { names, .. } => {
                for name in names {
                    if let CppName::Buffer(id) = name {
                        self.escaped.insert(*id);
                    }
                }
            }
            _ => walk::stmt(self, stmt)?,
        }
        ON
    }

    fn expr(&mut self, expr: &Expr) -> Flow {
        match &*expr.kind {
            ExprKind::Select(cond, a, b) => {
                self.expr(cond)?;
                self.conditional(a)?;
                self.conditional(b)
            }
            ExprKind::Binary(BinOp::LogicAnd | BinOp::LogicOr, a, b) => {
                self.expr(a)?;
                self.conditional(b)
            }
            _ => walk::expr(self, expr),
        }
    }

    fn access(&mut self, access: &Access, written: bool) -> Flow {
        self.element(access, written);
        ON
    }

    fn pointer(&mut self, view: &View) -> Flow {
        self.escaped.insert(view.buffer);
        ON
    }
}
