//! Work on registers alone: fills, `apply`, reductions of rows, copies.

use super::pass::{Pass, load_of, own, register};
use crate::ir::build;
use crate::ir::{
    Access, BinOp, Expr, ExprKind, Flow, Fragment, FragmentLayout, Function, Intrinsic, Layout,
    Level, LocalId, MathFn, MmaOp, ON, Part, Scalar, Stmt, StmtKind, Storage, Visit, VisitorMut,
    walk_block,
};
use crate::source::Span;
use crate::symbolic::Sym;
use std::collections::BTreeMap;

/// Lanes that have a row between them differ in these bits.
const ACROSS: [i128; 2] = [1, 2];

/// Where a thread is in the parts of fragments that meet in an `apply`.
struct Place {
    /// Of a matrix, and of a column beside it.
    element: Sym,
    row: Sym,
}

pub fn prepared(pass: &mut Pass<'_>, stmt: Stmt) -> Result<Vec<Stmt>, Stmt> {
    let span = stmt.span;
    let StmtKind::Mma(op) = &stmt.kind else {
        return Err(stmt);
    };
    let made = match &**op {
        MmaOp::FillElements { part, add, value } => {
            Some(each(pass, part, *add, value.clone(), span))
        }
        MmaOp::Apply {
            part,
            indices,
            body,
        } => apply(pass, part, indices, body, span),
        MmaOp::Reduce {
            into,
            from,
            largest,
        } => reduce(pass, into, from, *largest, span),
        MmaOp::AllReduce { part } => Some(all_reduce(pass, part, span)),
        MmaOp::Convert { into, from } => Some(convert(pass, into, from, span)),
        _ => return Err(stmt),
    };
    // What could not be lowered stays: `seal` reports it.
    made.ok_or(stmt)
}

/// All of a thread's elements of one fragment, or of an array.
fn all_of(pass: &Pass<'_>, part: &Part) -> (Sym, i64) {
    let Some(fragment) = pass.function.fragments.get(&part.buffer) else {
        return (Sym::zero(), 0);
    };
    let own = own(fragment);
    match &part.number {
        Some(number) => (number * own, own),
        None => (Sym::zero(), own * fragment.count),
    }
}

fn elem(pass: &Pass<'_>, part: &Part) -> Scalar {
    pass.function.buffer(part.buffer).elem
}

fn read(pass: &Pass<'_>, part: &Part, at: Sym, span: Span) -> Expr {
    load_of(register(part.buffer, at, span), elem(pass, part), span)
}

fn each(pass: &mut Pass<'_>, part: &Part, add: bool, value: Expr, span: Span) -> Vec<Stmt> {
    let (first, count) = all_of(pass, part);
    // A fill without a type has its value in one of its own.
    let value = cast(value, elem(pass, part), span);
    let mut stmts = Vec::new();
    let value = match &*value.kind {
        ExprKind::Float(_) | ExprKind::Int(_) | ExprKind::Local(_) => value,
        _ => {
            let (stmt, value) = build::value(pass.function, "filler", value);
            stmts.push(stmt);
            value
        }
    };
    stmts.extend(pass.loops(&[("e", count, 1)], span, |_, indices| {
        let at = &first + &indices.iter().sum::<Sym>();
        let mut stored = store(part, at, value.clone(), span);
        if let (true, StmtKind::Store { op, .. }) = (add, &mut stored.kind) {
            *op = Some(BinOp::Add);
        }
        vec![stored]
    }));
    stmts
}

fn convert(pass: &mut Pass<'_>, into: &Part, from: &Part, span: Span) -> Vec<Stmt> {
    let (to, count) = all_of(pass, into);
    let (first, _) = all_of(pass, from);
    pass.loops(&[("e", count, 1)], span, |pass, indices| {
        let e = indices.iter().sum::<Sym>();
        let value = cast(read(pass, from, &first + &e, span), elem(pass, into), span);
        vec![store(into, &to + &e, value, span)]
    })
}

/// The body for each element of the thread, in unrolled loops.
fn apply(
    pass: &mut Pass<'_>,
    part: &Part,
    indices: &[LocalId],
    body: &[Stmt],
    span: Span,
) -> Option<Vec<Stmt>> {
    let fragment = pass.function.fragments.get(&part.buffer)?.clone();
    let lanes = pass.lanes();
    let once = ExprKind::Binary(
        BinOp::Eq,
        Expr::index(lanes.place.clone(), span),
        Expr::index(Sym::zero(), span),
    );
    let once = Expr::new(once, Scalar::Bool, span);
    let stmts = match (fragment.layout?, fragment.shape.as_slice(), indices) {
        (FragmentLayout::Rows { warps }, [rows], [i]) => {
            pass.loops(&[("i", rows / (8 * warps), 1)], span, |pass, at| {
                let slot = at.iter().sum::<Sym>();
                let row = &(&slot * 8) + &lanes.row_in(warps, rows / warps);
                let place = Place {
                    element: Sym::zero(),
                    row: slot,
                };
                let mut stmts = vec![let_index(*i, row, span)];
                let mut body = body.to_vec();
                alone(pass.function, &mut body, &once);
                in_registers(pass, &mut body, &place);
                stmts.extend(body);
                stmts
            })
        }
        (FragmentLayout::Matrix(layout), [rows, columns], [i, j]) => {
            let shape = [*rows, *columns];
            let [below, _] = layout.oriented(shape);
            let own = lanes.row_in(layout.warps, below / layout.warps);
            elements(
                pass,
                layout,
                shape,
                span,
                |pass, at, [down, along], place| {
                    let position =
                        layout.oriented([&down + &own, &along + &(&lanes.place * layout.width)]);
                    let [row, column] = position;
                    let mut stmts = vec![let_index(*i, row, span), let_index(*j, column, span)];
                    let first = first_of_row(at, span);
                    let body = by_rows(pass, body, &first, &once, span);
                    let mut body = body;
                    in_registers(pass, &mut body, place);
                    stmts.extend(body);
                    stmts
                },
            )
        }
        _ => return None,
    };
    let kind = StmtKind::Parallel {
        level: Level::Thread,
        body: stmts,
    };
    Some(vec![Stmt::new(kind, span)])
}

/// Loops over a thread's elements of a matrix, its rows outermost: `[tile, pair, tile, element]`, where
/// the element is without the lane's part, and its place.
fn elements(
    pass: &mut Pass<'_>,
    layout: Layout,
    shape: [i64; 2],
    span: Span,
    body: impl FnOnce(&mut Pass<'_>, &[Sym], [Sym; 2], &Place) -> Vec<Stmt>,
) -> Vec<Stmt> {
    let [rows, columns] = layout.oriented(shape);
    let rows = rows / layout.warps;
    let [by_tile, by_column, by_pair] = layout.steps(shape);
    let axes = [
        ("i", rows / layout.rows, 1),
        ("half", layout.rows / 8, 1),
        ("j", columns / layout.columns(), 1),
        ("e", layout.width, 1),
    ];
    pass.loops(&axes, span, |pass, at| {
        let [i, h, j, e] = at else {
            return Vec::new();
        };
        let down = &(i * layout.rows) + &(h * 8);
        let along = &(j * layout.columns()) + e;
        let place = Place {
            element: &(&(i * by_tile) + &(j * by_column)) + &(&(h * by_pair) + e),
            row: &(i * (layout.rows / 8)) + h,
        };
        body(pass, at, [down, along], &place)
    })
}

/// Statements that work on rows alone run once for each: with its first element.
fn by_rows(
    pass: &Pass<'_>,
    body: &[Stmt],
    first: &Option<Expr>,
    once: &Expr,
    span: Span,
) -> Vec<Stmt> {
    let mut stmts = Vec::new();
    for stmt in body {
        if !of_rows(pass, stmt) {
            stmts.push(stmt.clone());
            continue;
        }
        let mut then = vec![stmt.clone()];
        alone(pass.function, &mut then, once);
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

/// Whether a statement has to do with columns of values by row, and with no matrix.
fn of_rows<'a>(pass: &Pass<'a>, stmt: &Stmt) -> bool {
    struct Find<'a> {
        fragments: &'a BTreeMap<crate::ir::BufferId, Fragment>,
        rows: bool,
        matrix: bool,
    }
    impl Visit for Find<'_> {
        fn access(&mut self, access: &Access, _: bool) {
            match self.fragments.get(&access.view.buffer).map(|f| f.layout) {
                Some(Some(FragmentLayout::Rows { .. })) => self.rows = true,
                Some(_) => self.matrix = true,
                None => {}
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

/// Elements of fragments become registers.
fn in_registers<'a>(pass: &Pass<'a>, body: &mut [Stmt], place: &Place) {
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
            let at = match fragment.layout {
                Some(FragmentLayout::Rows { .. }) => &self.place.row,
                _ => &self.place.element,
            };
            let at = &(&number * own(fragment)) + at;
            *access = register(access.view.buffer, at, access.span);
            ON
        }
    }
    let function = &*pass.function;
    let _ = Registers { function, place }.block(body);
}

/// First each thread what it has of a row, then the lanes that have it among themselves.
fn reduce(
    pass: &mut Pass<'_>,
    into: &Part,
    from: &Part,
    largest: bool,
    span: Span,
) -> Option<Vec<Stmt>> {
    let fragment = pass.function.fragments.get(&from.buffer)?.clone();
    let (Some(FragmentLayout::Matrix(layout)), [rows, columns]) =
        (fragment.layout, fragment.shape.as_slice())
    else {
        return None;
    };
    let (to, slots) = all_of(pass, into);
    let (first, _) = all_of(pass, from);
    let elem = elem(pass, into);
    let [by_tile, _, by_pair] = layout.steps([*rows, *columns]);
    let pairs = layout.rows / 8;
    let axes = [("i", slots / pairs, 1), ("half", pairs, 1)];
    // What a row begins with: its first element, or nothing.
    let mut stmts = pass.loops(&axes, span, |pass, at| {
        let [i, h] = at else {
            return Vec::new();
        };
        let slot = &to + &(&(i * pairs) + h);
        let value = if largest {
            let at = &first + &(&(i * by_tile) + &(h * by_pair));
            cast(read(pass, from, at, span), elem, span)
        } else {
            super::pass::zero(elem, span)
        };
        vec![store(into, slot, value, span)]
    });
    stmts.extend(elements(
        pass,
        layout,
        [*rows, *columns],
        span,
        |pass, _, _, place| {
            let slot = &to + &place.row;
            let before = read(pass, into, slot.clone(), span);
            let value = read(pass, from, &first + &place.element, span);
            let value = together(before, cast(value, elem, span), largest, span);
            vec![store(into, slot, value, span)]
        },
    ));
    stmts.extend(across(pass, into, largest, span));
    Some(stmts)
}

fn all_reduce(pass: &mut Pass<'_>, part: &Part, span: Span) -> Vec<Stmt> {
    across(pass, part, false, span)
}

/// Each row's value together with those of the other lanes that have the row.
fn across(pass: &mut Pass<'_>, part: &Part, largest: bool, span: Span) -> Vec<Stmt> {
    let (first, count) = all_of(pass, part);
    pass.loops(&[("r", count, 1)], span, |pass, indices| {
        let at = &first + &indices.iter().sum::<Sym>();
        let elem = elem(pass, part);
        let step = |bits: i128| {
            let own = read(pass, part, at.clone(), span);
            let bits = Expr::new(ExprKind::Int(bits), Scalar::U32, span);
            let across = ExprKind::Intrinsic(Intrinsic::LaneAcross, vec![own.clone(), bits]);
            let other = Expr::new(across, elem, span);
            store(part, at.clone(), together(own, other, largest, span), span)
        };
        ACROSS.map(step).to_vec()
    })
}

fn together(a: Expr, b: Expr, largest: bool, span: Span) -> Expr {
    let elem = a.ty;
    let kind = match (largest, elem.is_float()) {
        (true, true) => ExprKind::Math(MathFn::Max, vec![a, b]),
        (true, false) => ExprKind::Binary(BinOp::Max, a, b),
        (false, _) => ExprKind::Binary(BinOp::Add, a, b),
    };
    Expr::new(kind, elem, span)
}

fn cast(value: Expr, to: Scalar, span: Span) -> Expr {
    if value.ty == to {
        return value;
    }
    Expr::new(ExprKind::Cast(value), to, span)
}

fn store(part: &Part, at: Sym, value: Expr, span: Span) -> Stmt {
    let store = StmtKind::Store {
        access: register(part.buffer, at, span),
        op: None,
        value,
    };
    Stmt::new(store, span)
}

fn let_index(local: LocalId, value: Sym, span: Span) -> Stmt {
    let value = Some(Expr::index(value, span));
    Stmt::new(StmtKind::Let { local, value }, span)
}

/// Whether an element is the first of its row that the thread has.
fn first_of_row(at: &[Sym], span: Span) -> Option<Expr> {
    let [_, _, j, e] = at else {
        return None;
    };
    let sum = j + e;
    if sum.is_zero() {
        return None;
    }
    let kind = ExprKind::Binary(
        BinOp::Eq,
        Expr::index(sum, span),
        Expr::index(Sym::zero(), span),
    );
    Some(Expr::new(kind, Scalar::Bool, span))
}

/// Memory gets a row's value from one of the lanes that have it.
fn alone(function: &Function, stmts: &mut [Stmt], once: &Expr) {
    for stmt in stmts {
        for inner in stmt.kind.blocks_mut() {
            alone(function, inner, once);
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
