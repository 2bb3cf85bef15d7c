//! A thread's registers of fragments, and statements over them.

use super::pass::{Pass, elements_per_thread, load_of, register};
use crate::ir::{
    Access, BinOp, Expr, ExprKind, Flow, Fragment, FragmentLayout, Function, Intrinsic, LocalId,
    MathFn, ON, Part, Scalar, Stmt, StmtKind, Storage, View, Visit, VisitorMut, walk_block,
};
use crate::source::Span;
use crate::symbolic::Sym;

use crate::sorted::SortedMap;

/// The numbers of lanes that share a row differ in these bits.
const ACROSS: [i128; 2] = [1, 2];

/// A thread's position in the fragments that one `apply` uses.
pub(super) struct Place {
    /// The element of a matrix, and that of a column fragment with the same rows.
    pub(super) element: Sym,
    pub(super) row: Sym,
}

/// All of a thread's elements of one fragment, or of an array.
pub(super) fn all_of(pass: &Pass<'_>, part: &Part) -> (Sym, i64) {
    let Some(fragment) = pass.function.fragments.get(&part.buffer) else {
        return (Sym::zero(), 0);
    };
    let own = elements_per_thread(fragment);
    match &part.number {
        Some(number) => (number * own, own),
        None => (Sym::zero(), own * fragment.count),
    }
}

pub(super) fn elem(pass: &Pass<'_>, part: &Part) -> Scalar {
    pass.function.buffer(part.buffer).elem
}

pub(super) fn read(pass: &Pass<'_>, part: &Part, at: Sym, span: Span) -> Expr {
    load_of(register(part.buffer, at, span), elem(pass, part), span)
}

/// Executes statements that only use row values once for each row: with its first element.
pub(super) fn by_rows(
    pass: &Pass<'_>,
    body: &[Stmt],
    first: &Option<Expr>,
    once: &Expr,
    span: Span,
) -> Vec<Stmt> {
    let mut stmts = Vec::new();
    for stmt in body {
        if !uses_only_rows(pass, stmt) {
            stmts.push(stmt.clone());
            continue;
        }
        let mut then = vec![stmt.clone()];
        by_one_lane(pass.function, &mut then, once);
        match first {
            None => stmts.extend(then),
            Some(cond) => {
                let kind = StmtKind::If {
                    cond: cond.clone(),
                    then,
                    otherwise: Vec::new(),
                };
                stmts.push(Stmt::new(kind, span));
            }
        }
    }
    stmts
}

/// Whether a statement uses fragments with one value per row, and no matrix.
fn uses_only_rows<'a>(pass: &Pass<'a>, stmt: &Stmt) -> bool {
    struct Find<'a> {
        fragments: &'a SortedMap<crate::ir::BufferId, Fragment>,
        rows: bool,
        matrix: bool,
    }
    impl Find<'_> {
        fn is_column(&self, access: &Access) -> bool {
            let fragment = self.fragments.get(&access.view.buffer);
            fragment.is_some_and(|f| f.shape.len() == 1)
        }
    }
    impl Visit for Find<'_> {
        fn access(&mut self, access: &Access, _: bool) {
            match self.fragments.get(&access.view.buffer).map(|f| f.layout) {
                None => {}
                Some(_) if self.is_column(access) => self.rows = true,
                Some(_) => self.matrix = true,
            }
        }
    }
    let mut find = Find {
        fragments: &pass.function.fragments,
        rows: false,
        matrix: false,
    };
    walk_block(std::slice::from_ref(stmt), &mut find);
    find.rows && !find.matrix
}

/// Replaces elements of fragments by registers.
pub(super) fn in_registers<'a>(pass: &Pass<'a>, body: &mut [Stmt], place: &Place) {
    struct Registers<'a> {
        function: &'a Function,
        place: &'a Place,
    }
    impl VisitorMut for Registers<'_> {
        fn access(&mut self, access: &mut Access, _written: bool) -> Flow {
            let Some(fragment) = self.function.fragments.get(&access.view.buffer) else {
                return ON;
            };
            let elements = Sym::int(fragment.shape.iter().product());
            let number = self.function.cx.div(&access.view.offset, &elements);
            let at = match fragment.shape.len() {
                1 => &self.place.row,
                _ => &self.place.element,
            };
            let at = &(&number * elements_per_thread(fragment)) + at;
            *access = register(access.view.buffer, at, access.span);
            ON
        }
    }
    let function = &*pass.function;
    let _ = Registers { function, place }.block(body);
}

/// Replaces fragments that are passed to external C++ by a thread's part of them.
pub(super) fn pointers(pass: &Pass<'_>, stmt: &mut Stmt) {
    struct Pointers<'a>(&'a Function);
    impl VisitorMut for Pointers<'_> {
        fn pointer(&mut self, view: &mut View) -> Flow {
            let Some(fragment) = self.0.fragments.get(&view.buffer) else {
                return ON;
            };
            // One without extents is replaced already.
            if !view.shape.is_empty() {
                let elements = Sym::int(fragment.shape.iter().product());
                let number = self.0.cx.div(&view.offset, &elements);
                *view = register(
                    view.buffer,
                    &number * elements_per_thread(fragment),
                    view.span,
                )
                .view;
            }
            ON
        }
    }
    let _ = Pointers(pass.function).stmt(stmt);
}

/// Combines each row's value with those of the other lanes that share the row.
pub(super) fn across_lanes(
    pass: &mut Pass<'_>,
    part: &Part,
    largest: bool,
    span: Span,
) -> Vec<Stmt> {
    let layout = pass.function.fragments.get(&part.buffer);
    let apart: Vec<i128> = match layout.and_then(|f| f.layout) {
        Some(FragmentLayout::Dealt(dealing)) => {
            let bits = (0..).map(|bit| 1_i128 << bit);
            bits.take_while(|bit| *bit < i128::from(dealing.lanes))
                .collect()
        }
        _ => ACROSS.to_vec(),
    };
    let (first, count) = all_of(pass, part);
    pass.loops(&[("r", count, 1)], span, |pass, indices| {
        let at = &first + &indices.iter().sum::<Sym>();
        let elem = elem(pass, part);
        let step = |bits: i128| {
            let own = read(pass, part, at.clone(), span);
            let bits = Expr::new(ExprKind::Int(bits), Scalar::U32, span);
            let across_lanes = ExprKind::Intrinsic(Intrinsic::LaneAcross, vec![own.clone(), bits]);
            let other = Expr::new(across_lanes, elem, span);
            store(part, at.clone(), combined(own, other, largest, span), span)
        };
        apart.iter().copied().map(step).collect()
    })
}

pub(super) fn combined(a: Expr, b: Expr, largest: bool, span: Span) -> Expr {
    let elem = a.ty;
    let kind = match (largest, elem.is_float()) {
        (true, true) => ExprKind::Math(MathFn::Max, vec![a, b]),
        (true, false) => ExprKind::Binary(BinOp::Max, a, b),
        (false, _) => ExprKind::Binary(BinOp::Add, a, b),
    };
    Expr::new(kind, elem, span)
}

pub(super) fn cast(value: Expr, to: Scalar, span: Span) -> Expr {
    if value.ty == to {
        return value;
    }
    Expr::new(ExprKind::Cast(value), to, span)
}

pub(super) fn store(part: &Part, at: Sym, value: Expr, span: Span) -> Stmt {
    let store = StmtKind::Store {
        access: register(part.buffer, at, span),
        op: None,
        value,
    };
    Stmt::new(store, span)
}

pub(super) fn let_index(local: LocalId, value: Sym, span: Span) -> Stmt {
    let value = Some(Expr::index(value, span));
    Stmt::new(StmtKind::Let { local, value }, span)
}

/// Restricts stores to memory of a row's value to one of the lanes that share it.
pub(super) fn by_one_lane(function: &Function, stmts: &mut [Stmt], once: &Expr) {
    for stmt in stmts {
        for inner in stmt.kind.blocks_mut() {
            by_one_lane(function, inner, once);
        }
        let shared = match &stmt.kind {
            StmtKind::Store { access, .. } => {
                let buffer = function.buffers.get(access.view.buffer.index());
                buffer.is_some_and(|b| !matches!(b.storage, Storage::Local | Storage::Fragment))
            }
            StmtKind::Print { .. } | StmtKind::Eval(_) => true,
            _ => false,
        };
        if shared {
            let then = vec![stmt.clone()];
            stmt.kind = StmtKind::If {
                cond: once.clone(),
                then,
                otherwise: Vec::new(),
            };
        }
    }
}
