//! Elements of a result at the end of an axis that no statement writes (W0885).
//!
//! A grid of `N / 128` blocks of 128 threads leaves out the last `N % 128` elements, one of eight such
//! blocks all from 1024 on, and `N - 1` instances the last element. The result has zeros there. Reported is an
//! axis along which every statement that writes the tensor begins at 0 and ends before the extent, for all
//! values of the indices, or ends at the largest multiple of a constant. Where a place is not known (a
//! subscript that is loaded, an axis of another shape, C++ that has a pointer), there is no report.
//!
//! A parameter keeps what it had, so writing a part of it may be meant. Only multiples are reported for
//! one, and only if no kernel reads it.

use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::ir::{
    Access, BinOp, Buffer, BufferId, CppName, Expr, ExprKind, Flow, Frame, Function, MmaOp,
    ReturnValue, Stmt, StmtKind, Storage, VarHome, View, Visitor, any_stmt, as_sym, walk,
};
use crate::sorted::{SortedMap, SortedSet};
use crate::source::Span;
use crate::symbolic::{Atom, Sym, Var};

/// At most so many bounds of indices that depend on other indices are followed.
const BOUND_DEPTH: u32 = 4;

pub fn check(function: &Function, diags: &mut Diagnostics) {
    let mut walk = Walk {
        indices: indices(function),
        multiples: multiples(function),
        function,
        written: SortedMap::new(),
        opaque: SortedSet::new(),
        kinds: kinds(function),
    };
    let _ = walk.function(function);
    for (id, writes) in &walk.written {
        let (Some(buffer), Some(kind)) = (
            function.buffers.get(id.index()),
            walk.kinds.get(id).copied(),
        ) else {
            continue;
        };
        if walk.opaque.contains(id) {
            continue;
        }
        let found = writes.ends.iter().enumerate().find_map(|(axis, end)| {
            let reported =
                kind == Kind::Result || matches!(end.as_ref()?.short, Short::Multiple(..));
            Some((axis, end.as_ref().filter(|_| reported)?))
        });
        if let Some((axis, end)) = found {
            diags.push(report(function, buffer, writes, axis, end));
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Result,
    Parameter,
}

/// The tensors of which all elements should be written.
fn kinds(function: &Function) -> SortedMap<BufferId, Kind> {
    let mut kinds = SortedMap::new();
    for (index, buffer) in (0..).zip(&function.buffers) {
        if matches!(buffer.storage, Storage::Param(_)) && buffer.written && !buffer.read {
            kinds.insert(BufferId(index), Kind::Parameter);
        }
    }
    let mut add = |stmt: &Stmt| {
        if let StmtKind::Return(values) = &stmt.kind {
            for value in values {
                if let ReturnValue::Buffer(id) = value
                    && let Some(buffer) = function.buffers.get(id.index())
                    && buffer.storage == Storage::Host
                {
                    kinds.insert(*id, Kind::Result);
                }
            }
        }
        false
    };
    any_stmt(&function.body, &mut add);
    kinds
}

/// The variables of loops and parallel levels.
fn indices(function: &Function) -> SortedSet<Var> {
    let is_local = |home: &VarHome| matches!(home, VarHome::Local(_));
    let homes = function.var_home.iter();
    homes
        .filter(|(_, h)| is_local(h))
        .map(|(v, _)| *v)
        .collect()
}

/// What checks of the host ensure to be a multiple of a constant.
fn multiples(function: &Function) -> Vec<(Sym, i64)> {
    let mut found = Vec::new();
    for stmt in &function.body {
        if let StmtKind::Check { cond, .. } = &stmt.kind {
            collect_multiples(function, cond, &mut found);
        }
    }
    found
}

fn collect_multiples(function: &Function, cond: &Expr, found: &mut Vec<(Sym, i64)>) {
    let ExprKind::Binary(op, a, b) = &*cond.kind else {
        return;
    };
    match op {
        BinOp::LogicAnd => {
            collect_multiples(function, a, found);
            collect_multiples(function, b, found);
        }
        BinOp::Eq => {
            let sides = [a, b].map(|side| as_sym(function, side));
            let [Some(rest), Some(zero)] = sides else {
                return;
            };
            if let (Some((1, [Atom::Rem(of, by)])), None) =
                (rest.terms().next(), rest.terms().nth(1))
                && zero.is_zero()
                && let Some(by) = by.as_int()
            {
                found.push((of.clone(), by));
            }
        }
        _ => {}
    }
}

fn report(
    function: &Function,
    buffer: &Buffer,
    writes: &Writes,
    axis: usize,
    end: &End,
) -> Diagnostic {
    let cx = &function.cx;
    let name = &buffer.name;
    let extent = writes
        .extents
        .get(axis)
        .map(|e| cx.show(e))
        .unwrap_or_default();
    let reached = cx.show(&end.at);
    let along = match writes.extents.len() {
        1 => String::new(),
        _ => format!(" along axis {axis}"),
    };
    match &end.short {
        Short::Always => Diagnostic::new(
            codes::W0885,
            end.span,
            format!("nothing writes the elements of `{name}` from {reached} on{along}"),
        )
        .label(format!("ends at {reached} of {extent}"))
        .also(buffer.span, "the result has zeros there")
        .help("more instances or iterations, or a tensor with a smaller extent"),
        Short::Multiple(of, by) => {
            let (of, by) = (cx.show(of), cx.show(by));
            Diagnostic::new(
                codes::W0885,
                end.span,
                format!(
                    "nothing writes the last elements of `{name}`{along} if {of} is not a multiple of {by}"
                ),
            )
            .label(format!("ends at {reached} of {extent}"))
            .help(format!(
                "write the rest as well (`cdiv({of}, {by})` in place of a quotient, and a condition for the end), \
                 or state what sizes are meant: `assert({of} % {by} == 0, \"…\");`"
            ))
        }
    }
}

/// What the writes of one tensor have in common.
struct Writes {
    extents: Vec<Sym>,
    strides: Vec<Sym>,
    /// The element of the buffer that is the first of the frame.
    base: Sym,
    /// For each axis, where the writes end, if all end before the extent.
    ends: Vec<Option<End>>,
}

/// One past the last position that writes reach.
struct End {
    at: Sym,
    short: Short,
    span: Span,
}

/// Why it is before the extent.
#[derive(PartialEq)]
enum Short {
    Always,
    /// Unless the first is a multiple of the second.
    Multiple(Sym, Sym),
}

struct Walk<'a> {
    function: &'a Function,
    indices: SortedSet<Var>,
    multiples: Vec<(Sym, i64)>,
    written: SortedMap<BufferId, Writes>,
    /// Written in ways that are not followed.
    opaque: SortedSet<BufferId>,
    kinds: SortedMap<BufferId, Kind>,
}

impl Walk<'_> {
    /// A box within a view is written: for each axis of the view, the first position and the length.
    fn writes(&mut self, view: &View, parts: &[(Sym, Sym)], span: Span) {
        let id = view.buffer;
        if self.opaque.contains(&id) || !self.kinds.contains_key(&id) {
            return;
        }
        let Some(frame) = view.frame.as_ref().filter(|f| f.axes.len() == parts.len()) else {
            self.opaque.insert(id);
            return;
        };
        let base = frame.base(&view.offset);
        let Some(mut writes) = self.written.remove(&id) else {
            let axes = 0..frame.extents.len();
            let ends = axes.map(|axis| self.end(frame, axis, parts, span));
            let writes = Writes {
                ends: ends.collect(),
                extents: frame.extents.clone(),
                strides: frame.strides.clone(),
                base,
            };
            self.written.insert(id, writes);
            return;
        };
        let is_same = writes.extents == frame.extents
            && writes.strides == frame.strides
            && writes.base == base;
        for (axis, before) in writes.ends.iter_mut().enumerate() {
            let Some(last) = before.as_ref() else {
                continue;
            };
            let next = match is_same {
                true => self.end(frame, axis, parts, span),
                false => None,
            };
            let cx = &self.function.cx;
            match next {
                Some(next) if cx.le(&next.at, &last.at).is_yes() => {}
                Some(next) if cx.le(&last.at, &next.at).is_yes() => *before = Some(next),
                _ => *before = None,
            }
        }
        self.written.insert(id, writes);
    }

    /// Where boxes end along an axis of their frame, if that is before the extent although the first one is at the
    /// beginning.
    fn end(&self, frame: &Frame, axis: usize, parts: &[(Sym, Sym)], span: Span) -> Option<End> {
        let cx = &self.function.cx;
        let origin = frame.origin.get(axis)?;
        let extent = frame.extents.get(axis)?;
        let mut of_axis = frame.axes.iter().zip(parts).filter(|(of, _)| **of == axis);
        let one = (Sym::zero(), Sym::one());
        let (from, length) = of_axis.next().map_or(&one, |(_, part)| part);
        if of_axis.next().is_some() {
            return None;
        }
        let from = origin + from;
        let last = &from + length;
        // An interior, or one position, is meant.
        let is_from_the_first = || {
            from.sorted_vars().iter().any(|v| self.indices.contains(v))
                && cx.inf(&from, &self.indices).is_some_and(|e| e.is_zero())
        };
        let always = |at| {
            let short = Short::Always;
            End { at, short, span }
        };
        if let Some(extent) = extent.as_int() {
            // A sample of the indices says at once that the end is reached.
            let most = cx.samples(&last).map(|(_, most)| most);
            if most.is_some_and(|most| most >= i128::from(extent)) {
                return None;
            }
            let at = cx.sup(&last, &self.indices)?;
            let is_short = at.as_int().is_some_and(|at| at < extent) && is_from_the_first();
            return is_short.then(|| always(at));
        }
        if !self.may_end_before(&last, extent, BOUND_DEPTH) {
            return None;
        }
        let at = cx.simplify(&cx.sup(&last, &self.indices)?);
        let missing = extent - &at;
        if let Some(missing) = missing.as_int() {
            return (missing > 0 && is_from_the_first()).then(|| always(at));
        }
        if cx.eq(&missing, &Sym::zero()).is_yes() {
            return None;
        }
        let factors = at.terms().flat_map(|(_, atoms)| atoms);
        let divided = factors.filter_map(|atom| match atom {
            Atom::Div(of, by) => Some((of, by)),
            _ => None,
        });
        let (of, by) = divided
            .filter(|(of, by)| by.as_int().is_some_and(|by| by > 1) && *of == extent)
            .find(|(of, by)| cx.eq(&missing, &cx.rem(of, by)).is_yes())?;
        let whole = |(known, k): &(Sym, i64)| {
            let factor = by.as_int().and_then(|by| k.checked_rem(by));
            factor == Some(0) && cx.eq(known, of).is_yes()
        };
        if self.multiples.iter().any(whole) {
            return None;
        }
        let short = Short::Multiple(of.clone(), by.clone());
        Some(End { at, short, span })
    }

    /// Whether a quotient of the extent by a constant is a part of the expression, or of a bound of its indices, or
    /// a bound is less than the last position by a constant.
    fn may_end_before(&self, e: &Sym, extent: &Sym, depth: u32) -> bool {
        let is_quotient = |atom: &Atom| match atom {
            Atom::Div(of, by) => of == extent && by.as_int().is_some_and(|by| by > 1),
            _ => false,
        };
        let is_short = |hi: &Sym| (extent - hi).as_int().is_some_and(|rest| rest > 1);
        e.terms().any(|(_, atoms)| atoms.iter().any(is_quotient))
            || depth > 0
                && e.sorted_vars().iter().any(|var| {
                    let (_, hi) = self.function.cx.bounds(*var);
                    let hi = hi.filter(|_| self.indices.contains(var));
                    hi.is_some_and(|hi| is_short(hi) || self.may_end_before(hi, extent, depth - 1))
                })
    }
}

fn whole(view: &View) -> Vec<(Sym, Sym)> {
    let part = |length: &Sym| (Sym::zero(), length.clone());
    view.shape.iter().map(part).collect()
}

impl Visitor for Walk<'_> {
    fn stmt(&mut self, stmt: &Stmt) -> Flow {
        match &stmt.kind {
            StmtKind::Copy(copy) => self.writes(&copy.dest, &whole(&copy.dest), stmt.span),
            StmtKind::Fill { view, .. } => self.writes(view, &whole(view), stmt.span),
            StmtKind::Mma(op) => {
                if let MmaOp::Store { dest, .. } = &**op {
                    self.writes(dest, &whole(dest), stmt.span);
                }
            }
            StmtKind::Cpp { names, .. } => {
                let buffers = names.iter().filter_map(|name| match name {
                    CppName::Buffer(id) => Some(*id),
                    CppName::Local(_) => None,
                });
                self.opaque.extend(buffers);
            }
            StmtKind::Exchange(buffers) => self.opaque.extend(buffers.iter().copied()),
            _ => {}
        }
        walk::stmt(self, stmt)
    }

    fn access(&mut self, access: &Access, written: bool) -> Flow {
        if written {
            let view = &access.view;
            let part = |index: &Sym| (index.clone(), Sym::one());
            let parts: Vec<_> = access.indices.iter().map(part).collect();
            self.writes(view, &parts, access.span);
        }
        walk::access(self, access)
    }

    fn pointer(&mut self, view: &View) -> Flow {
        self.opaque.insert(view.buffer);
        walk::view(self, view)
    }
}
