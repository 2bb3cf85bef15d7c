//! The integers that a statement computes.

use super::need::{Narrowed, Need};
use crate::ir::{
    Access, BinOp, Buffer, Expr, ExprKind, Flow, Function, Kernel, ON, Scalar, Stmt, StmtKind,
    TmaOp, UnOp, Visitor, any_expr, walk,
};
use crate::source::Span;
use crate::symbolic::{Atom, Sym};

/// The largest coordinate of a TMA copy, and the largest `s32`.
const MOST_COORDINATE: i64 = i32::MAX as i64;
/// The maximum number of cases of one expression that are examined separately.
const MOST_CASES: usize = 16;

#[derive(Default)]
pub struct Needs {
    list: Vec<Need>,
    narrowed: Vec<Narrowed>,
    guards: Vec<(Expr, bool)>,
    /// Whether only integers that exceed the limits of the compiler are listed.
    only_large: bool,
}

impl Needs {
    /// The integers that the statement itself computes, without those of its body.
    pub fn of_stmt(stmt: &Stmt) -> Self {
        let mut needs = Self::default();
        needs.stmt(stmt);
        needs
    }

    /// A list of integers that exceed the limits of the compiler.
    pub fn only_large() -> Self {
        Self {
            only_large: true,
            ..Self::default()
        }
    }

    /// Adds the integers that the statement itself computes, without those of its body.
    pub fn stmt(&mut self, stmt: &Stmt) {
        let span = stmt.span;
        match &stmt.kind {
            StmtKind::For { lo, hi, step, .. } => {
                self.value(lo, span);
                // The variable takes one value beyond the last.
                self.value(&(hi + step), span);
                self.value(hi, span);
            }
            _ => {
                let _ = walk::stmt(&mut Collect(self, span), stmt);
            }
        }
        if let StmtKind::Tma(op) = &stmt.kind {
            self.coordinates(op, span);
        }
    }

    /// Adds what the host computes for a statement of its own: sizes of buffers, the extents of
    /// results, and those of a launch.
    pub fn host(&mut self, stmt: &Stmt, function: &Function, kernels: &[Kernel]) {
        match &stmt.kind {
            StmtKind::Alloc(id) => self.bytes(function.buffer(*id), stmt.span),
            StmtKind::Return(_) => {
                let shapes = function.results.iter().flat_map(|r| r.shape());
                shapes.for_each(|s| self.value(s, stmt.span));
            }
            StmtKind::Launch(id) => {
                if let Some(kernel) = kernels.get(id.index()) {
                    self.launch(kernel, function);
                }
            }
            _ => {}
        }
    }

    /// The place of the first integer that exceeds the limits of the compiler.
    pub fn first_large(&self) -> Option<Span> {
        let mut large = self.list.iter().filter(|need| need.sym.is_poison());
        large.next().map(|need| need.span)
    }

    /// The integers, and the converted values without a symbolic expression.
    pub fn into_lists(self) -> (Vec<Need>, Vec<Narrowed>) {
        (self.list, self.narrowed)
    }

    pub fn value(&mut self, sym: &Sym, span: Span) {
        self.within(sym, i64::MAX, None, span);
    }

    fn within(&mut self, sym: &Sym, most: i64, narrowed: Option<Scalar>, span: Span) {
        // What exceeds the limits is no operand of an atom.
        if self.only_large && !sym.is_poison() {
            return;
        }
        for (_, factors) in sym.terms() {
            for atom in factors {
                if let Atom::Div(a, b) | Atom::Rem(a, b) | Atom::Min(a, b) | Atom::Max(a, b) = atom
                {
                    self.value(a, span);
                    self.value(b, span);
                }
            }
        }
        if sym.as_int().is_some_and(|n| n <= most) || most == i64::MAX && is_part(sym) {
            return;
        }
        let same = |n: &Need| {
            n.sym == *sym && n.most <= most && n.narrowed == narrowed && n.guards.is_empty()
        };
        if !self.list.iter().any(same) {
            self.list.push(Need {
                sym: sym.clone(),
                parts: Vec::new(),
                guards: self.guards.clone(),
                most,
                narrowed,
                buffer: None,
                span,
            });
        }
    }

    /// The size of a buffer in bytes.
    pub fn bytes(&mut self, buffer: &Buffer, span: Span) {
        let before = self.list.len();
        self.size(&buffer.count, buffer.elem, span);
        for need in self.list.iter_mut().skip(before) {
            need.buffer = Some(buffer.name.clone());
        }
    }

    /// The size in bytes of `count` elements.
    pub fn size(&mut self, count: &Sym, elem: Scalar, span: Span) {
        let bytes = i64::try_from(elem.bytes()).unwrap_or(i64::MAX);
        self.value(&(count * bytes), span);
    }

    /// The values that the host computes for a launch.
    pub fn launch(&mut self, kernel: &Kernel, function: &Function) {
        let span = kernel.span;
        for extent in &kernel.grid {
            self.value(extent, span);
        }
        self.value(&kernel.threads, span);
        for placed in &kernel.shared {
            let buffer = function.buffer(placed.buffer);
            self.bytes(buffer, buffer.span);
            self.value(&(&placed.offset + &placed.bytes), buffer.span);
        }
        self.value(&kernel.shared_bytes, span);
        for map in &kernel.maps {
            let elem = function.buffer(map.buffer).elem;
            let own = map
                .extents
                .iter()
                .chain(&map.extent_of_box)
                .chain([&map.base]);
            own.for_each(|s| self.value(s, span));
            map.strides.iter().for_each(|s| self.size(s, elem, span));
        }
    }

    fn coordinates(&mut self, op: &TmaOp, span: Span) {
        if let TmaOp::Load { moved, .. } | TmaOp::Store { moved } = op {
            for coordinate in &moved.coordinates {
                self.within(coordinate, MOST_COORDINATE, None, span);
            }
        }
    }

    fn expr(&mut self, e: &Expr, span: Span) {
        match &*e.kind {
            ExprKind::Binary(op @ (BinOp::LogicAnd | BinOp::LogicOr), a, b) => {
                self.expr(a, span);
                self.guarded(a, *op == BinOp::LogicAnd, |needs| needs.expr(b, span));
            }
            ExprKind::Select(c, a, b) => {
                self.expr(c, span);
                self.guarded(c, true, |needs| needs.expr(a, span));
                self.guarded(c, false, |needs| needs.expr(b, span));
            }
            ExprKind::Cast(a) if a.ty == Scalar::Index => self.converted(a, e.ty, span),
            ExprKind::Binary(BinOp::And | BinOp::Or | BinOp::Xor, a, b) => {
                for e in [a, b].into_iter().filter(|e| !is_variable(e)) {
                    self.expr(e, span);
                }
            }
            ExprKind::Binary(BinOp::Add | BinOp::Sub | BinOp::Mul, ..)
            | ExprKind::Unary(UnOp::Neg, _)
                if e.ty == Scalar::Index =>
            {
                self.walk(e, span);
                if let Some(cases) = cases(e) {
                    self.each(&cases, |needs, sym| needs.value(sym, span));
                }
            }
            _ => self.walk(e, span),
        }
    }

    fn walk(&mut self, e: &Expr, span: Span) {
        let _ = walk::expr(&mut Collect(self, span), e);
    }

    /// An index is converted to a value of the type. A cast that is written in the program goes
    /// through another 64-bit type, which keeps its bits, and may truncate.
    fn converted(&mut self, e: &Expr, ty: Scalar, span: Span) {
        let Some(most) = limit(ty) else {
            // The bits of a `u64` are used as they are, except where they would become another
            // number.
            if ty == Scalar::S64 || !is_variable(e) {
                self.expr(e, span);
            }
            return;
        };
        if !is_variable(e) {
            self.expr(e, span);
        }
        let Some(cases) = cases(e) else {
            self.narrowed.push(Narrowed {
                expr: e.clone(),
                ty,
                most,
                guards: self.guards.clone(),
                span,
            });
            return;
        };
        self.each(&cases, |needs, sym| {
            needs.within(sym, most, Some(ty), span);
        });
    }

    fn each(&mut self, cases: &[Case], mut visit: impl FnMut(&mut Self, &Sym)) {
        for (guards, sym) in cases {
            let before = self.guards.len();
            self.guards.extend(guards.iter().cloned());
            visit(self, sym);
            self.guards.truncate(before);
        }
    }

    fn guarded(&mut self, guard: &Expr, holds: bool, visit: impl FnOnce(&mut Self)) {
        let before = self.guards.len();
        if !self.only_large && !calls(guard) {
            self.guards.push((guard.clone(), holds));
        }
        visit(self);
        self.guards.truncate(before);
    }

    fn access(&mut self, access: &Access, span: Span) {
        let steps = || {
            let steps = access.indices.iter().zip(&access.view.strides);
            steps.filter(|(i, s)| !i.is_zero() && !s.is_zero())
        };
        if self.only_large {
            steps().for_each(|(index, _)| self.value(index, span));
            self.value(&access.view.offset, span);
            if steps().next().is_some() {
                self.value(&access.address(), span);
            }
            return;
        }
        let mut parts = vec![(access.view.offset.clone(), Sym::one())];
        for (index, stride) in steps() {
            self.value(index, span);
            parts.push((index.clone(), stride.clone()));
        }
        self.value(&access.view.offset, span);
        let sym = access.address();
        if parts.len() > 1 && sym.as_int().is_none() {
            self.list.push(Need {
                sym,
                parts,
                guards: self.guards.clone(),
                most: i64::MAX,
                narrowed: None,
                buffer: None,
                span,
            });
        }
    }
}

/// Whether the expression is only a quotient, remainder, minimum or maximum whose operands are
/// examined separately.
fn is_part(sym: &Sym) -> bool {
    let mut terms = sym.terms();
    match (terms.next(), terms.next()) {
        (Some((1, [atom])), None) => match atom {
            Atom::Var(_) => false,
            Atom::Div(_, by) | Atom::Rem(_, by) => by.as_int().is_some_and(|by| by > 0),
            Atom::Min(..) | Atom::Max(..) => true,
        },
        _ => false,
    }
}

/// The largest value of a type that integers without a cast must fit. For narrower types there is a
/// warning (W0703).
fn limit(ty: Scalar) -> Option<i64> {
    let narrowed = matches!(ty, Scalar::S32 | Scalar::U32);
    let (_, most) = ty.limits().filter(|_| narrowed)?;
    i64::try_from(most).ok()
}

fn is_variable(e: &Expr) -> bool {
    matches!(&*e.kind, ExprKind::Index(sym) if sym.as_var().is_some())
}

/// The value of an expression where these conditions have these values.
type Case = (Vec<(Expr, bool)>, Sym);

/// The cases of sums and products of `?:`; `None` for other operations, and for more than a few
/// cases.
fn cases(e: &Expr) -> Option<Vec<Case>> {
    let cases = match &*e.kind {
        ExprKind::Index(sym) => vec![(Vec::new(), sym.clone())],
        ExprKind::Int(n) => vec![(Vec::new(), Sym::int(i64::try_from(*n).ok()?))],
        ExprKind::Unary(UnOp::Neg, a) => {
            let negated = cases(a)?.into_iter().map(|(guards, sym)| (guards, -sym));
            negated.collect()
        }
        ExprKind::Select(c, a, b) => {
            let arm = |arm, holds| {
                let under = move |(mut guards, sym): Case| {
                    // A check does not repeat a call.
                    if !calls(c) {
                        guards.insert(0, (c.clone(), holds));
                    }
                    (guards, sym)
                };
                Some(cases(arm)?.into_iter().map(under))
            };
            arm(a, true)?.chain(arm(b, false)?).collect()
        }
        ExprKind::Binary(op @ (BinOp::Add | BinOp::Sub | BinOp::Mul), a, b) => {
            let (left, right) = (cases(a)?, cases(b)?);
            let both = |(of_a, a): &Case, (of_b, b): &Case| {
                let sym = match op {
                    BinOp::Add => a + b,
                    BinOp::Sub => a - b,
                    _ => a * b,
                };
                (of_a.iter().chain(of_b).cloned().collect(), sym)
            };
            let each = left.iter().flat_map(|a| right.iter().map(move |b| (a, b)));
            each.map(|(a, b)| both(a, b)).collect()
        }
        _ => return None,
    };
    (cases.len() <= MOST_CASES).then_some(cases)
}

fn calls(e: &Expr) -> bool {
    any_expr(e, |e| matches!(&*e.kind, ExprKind::Call(_)))
}

/// Visits all expressions that a statement itself evaluates, for any kind of statement.
struct Collect<'a>(&'a mut Needs, Span);

impl Visitor for Collect<'_> {
    fn block(&mut self, _stmts: &[Stmt]) -> Flow {
        ON
    }

    fn expr(&mut self, e: &Expr) -> Flow {
        self.0.expr(e, self.1);
        ON
    }

    fn access(&mut self, access: &Access, _written: bool) -> Flow {
        self.0.access(access, self.1);
        ON
    }

    fn sym(&mut self, sym: &Sym) -> Flow {
        self.0.value(sym, self.1);
        ON
    }

    fn note(&mut self, _sym: &Sym) -> Flow {
        ON
    }
}
