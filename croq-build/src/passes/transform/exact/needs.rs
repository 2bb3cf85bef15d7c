//! Which integers a statement computes.

use super::need::Need;
use crate::ir::{
    Access, BinOp, Buffer, Expr, ExprKind, Function, Kernel, Scalar, Stmt, StmtKind, TmaOp, View,
    Visit, walk_block, walk_exprs,
};
use crate::source::Span;
use crate::symbolic::{Atom, Sym};

/// The largest coordinate of a TMA copy, and the largest `s32`.
const MOST_COORDINATE: i64 = i32::MAX as i64;

#[derive(Default)]
pub struct Needs {
    list: Vec<Need>,
    guards: Vec<(Expr, bool)>,
}

impl Needs {
    /// What the statement itself computes; the statements in it are not looked at.
    pub fn of_stmt(stmt: &Stmt) -> Self {
        let mut needs = Self::default();
        let span = stmt.span;
        match &stmt.kind {
            StmtKind::Let { value: Some(e), .. }
            | StmtKind::Assign { value: e, .. }
            | StmtKind::Eval(e) => needs.expr(e, span),
            StmtKind::If { cond, .. } | StmtKind::While { cond, .. } => needs.expr(cond, span),
            StmtKind::Check { cond, values, .. } => {
                needs.expr(cond, span);
                values.iter().for_each(|e| needs.expr(e, span));
            }
            StmtKind::Store { access, value, .. } => {
                needs.access(access, span);
                needs.expr(value, span);
            }
            StmtKind::For { lo, hi, step, .. } => {
                needs.value(lo, span);
                // The variable has one value beyond the last.
                needs.value(&(hi + step), span);
                needs.value(hi, span);
            }
            StmtKind::Region {
                pred, elected_from, ..
            } => {
                if let Some((asked, _)) = elected_from {
                    needs.expr(asked, span);
                }
                needs.expr(pred, span);
            }
            StmtKind::Parallel { .. } | StmtKind::SingleThread { .. } => {}
            StmtKind::Tma(op) => {
                let mut collect = Collect(&mut needs, span);
                walk_block(std::slice::from_ref(stmt), &mut collect);
                needs.coordinates(op, span);
            }
            _ if stmt.kind.blocks().next().is_some() => {}
            _ => {
                let mut collect = Collect(&mut needs, span);
                walk_block(std::slice::from_ref(stmt), &mut collect);
            }
        }
        needs
    }

    pub fn into_list(self) -> Vec<Need> {
        self.list
    }

    pub fn value(&mut self, sym: &Sym, span: Span) {
        self.within(sym, i64::MAX, None, span);
    }

    fn within(&mut self, sym: &Sym, most: i64, narrowed: Option<Scalar>, span: Span) {
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

    /// Of a buffer.
    pub fn bytes(&mut self, buffer: &Buffer, span: Span) {
        let before = self.list.len();
        self.size(&buffer.count, buffer.elem, span);
        for need in self.list.iter_mut().skip(before) {
            need.buffer = Some(buffer.name.clone());
        }
    }

    /// So many elements, in bytes.
    pub fn size(&mut self, count: &Sym, elem: Scalar, span: Span) {
        let bytes = i64::try_from(elem.bytes()).unwrap_or(i64::MAX);
        self.value(&(count * bytes), span);
    }

    /// What the host computes for a launch.
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
                self.guarded(a, *op == BinOp::LogicAnd, b, span);
            }
            ExprKind::Select(c, a, b) => {
                self.expr(c, span);
                self.guarded(c, true, a, span);
                self.guarded(c, false, b, span);
            }
            ExprKind::Unary(_, a) => self.expr(a, span),
            // Into the type of a smaller integer: a cast that is written there goes by way of `s64`.
            ExprKind::Cast(a)
                if let (Some(most), ExprKind::Index(sym)) = (limit(e.ty), &*a.kind) =>
            {
                if !is_variable(a) {
                    self.value(sym, span);
                }
                self.within(sym, most, Some(e.ty), span);
            }
            // A variable's own bits are asked for, in whatever type.
            ExprKind::Cast(a) if is_variable(a) => {}
            ExprKind::Binary(BinOp::And | BinOp::Or | BinOp::Xor, a, b) => {
                for e in [a, b].into_iter().filter(|e| !is_variable(e)) {
                    self.expr(e, span);
                }
            }
            ExprKind::Cast(a) => self.expr(a, span),
            ExprKind::Binary(_, a, b) => {
                self.expr(a, span);
                self.expr(b, span);
            }
            ExprKind::Load(access) => self.access(access, span),
            ExprKind::Math(_, args) => args.iter().for_each(|a| self.expr(a, span)),
            _ => walk_exprs(e, &mut Collect(self, span)),
        }
    }

    fn guarded(&mut self, guard: &Expr, holds: bool, e: &Expr, span: Span) {
        self.guards.push((guard.clone(), holds));
        self.expr(e, span);
        self.guards.pop();
    }

    fn access(&mut self, access: &Access, span: Span) {
        let mut parts = vec![(access.view.offset.clone(), Sym::one())];
        let steps = access.indices.iter().zip(&access.view.strides);
        for (index, stride) in steps.filter(|(i, s)| !i.is_zero() && !s.is_zero()) {
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

/// Nothing but a quotient or the like of what is looked at on its own.
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

/// The largest value of a type that integers which nobody cast must fit. For narrower types there is a warning (W0703).
fn limit(ty: Scalar) -> Option<i64> {
    let narrowed = matches!(ty, Scalar::S32 | Scalar::U32);
    let (_, most) = ty.limits().filter(|_| narrowed)?;
    i64::try_from(most).ok()
}

fn is_variable(e: &Expr) -> bool {
    matches!(&*e.kind, ExprKind::Index(sym) if sym.as_var().is_some())
}

/// Everything in a statement without conditions.
struct Collect<'a>(&'a mut Needs, Span);

impl Visit for Collect<'_> {
    fn sym(&mut self, sym: &Sym) {
        self.0.value(sym, self.1);
    }

    fn view(&mut self, view: &View) {
        self.0.value(&view.offset, self.1);
    }

    fn access(&mut self, access: &Access, _written: bool) {
        self.0.access(access, self.1);
    }
}
