//! Operations on registers only: fills, `apply`, reductions of rows, conversions.

use super::dealt;
use super::load::inside;
use super::pass::{Lanes, Pass, mma, zero};
use super::registers::{
    Place, across_lanes, all_of, by_one_lane, by_rows, cast, combined, elem, in_registers,
    let_index, pointers, read, store,
};
use crate::ir::build;
use crate::ir::{
    Access, BinOp, Expr, ExprKind, FragmentLayout, Layout, Level, LocalId, MmaOp, Part, Scalar,
    Stmt, StmtKind, View,
};
use crate::source::Span;
use crate::symbolic::Sym;

pub fn prepared(pass: &mut Pass<'_>, mut stmt: Stmt) -> Result<Vec<Stmt>, Stmt> {
    let span = stmt.span;
    let StmtKind::Mma(op) = &stmt.kind else {
        pointers(pass, &mut stmt);
        return Err(stmt);
    };
    let made = match &**op {
        MmaOp::FillElements { part, add, value } => {
            let (mut stmts, value) = filler(pass, part, value.clone(), span);
            match pass.multiplied.contains(&part.buffer) {
                // The MMA may not need the zeros.
                true => {
                    let (part, add) = (part.clone(), *add);
                    stmts.push(mma(MmaOp::FillElements { part, add, value }, span));
                }
                false => stmts.extend(filled(pass, part, *add, &value, span)),
            }
            Some(stmts)
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
    // A statement that could not be lowered remains: `seal` reports it.
    made.ok_or(stmt)
}

/// The value of a fill in a variable, unless it is a constant.
fn filler(pass: &mut Pass<'_>, part: &Part, value: Expr, span: Span) -> (Vec<Stmt>, Expr) {
    // The value of a fill without a type has a type of its own.
    let value = cast(value, elem(pass, part), span);
    match &*value.kind {
        ExprKind::Float(_) | ExprKind::Int(_) | ExprKind::Local(_) => (Vec::new(), value),
        _ => {
            let (stmt, value) = build::value(pass.function, "filler", value);
            (vec![stmt], value)
        }
    }
}

/// A fill as a loop over the thread's elements.
pub fn filled(pass: &mut Pass<'_>, part: &Part, add: bool, value: &Expr, span: Span) -> Vec<Stmt> {
    let (first, count) = all_of(pass, part);
    pass.loops(&[("e", count, 1)], span, |_, indices| {
        let at = &first + &indices.iter().sum::<Sym>();
        let mut stored = store(part, at, value.clone(), span);
        if let (true, StmtKind::Store { op, .. }) = (add, &mut stored.kind) {
            *op = Some(BinOp::Add);
        }
        vec![stored]
    })
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
    let once = first_of_lanes(&lanes, span);
    let stmts = match (fragment.layout?, fragment.shape.as_slice(), indices) {
        (FragmentLayout::Rows { warps }, [rows], [i]) => {
            pass.loops(&[("i", rows / (8 * warps), 1)], span, |pass, at| {
                let slot = at.iter().sum::<Sym>();
                let row = row_of_slot(pass, &lanes, warps, &slot);
                let place = Place {
                    element: Sym::zero(),
                    row: slot,
                };
                let mut stmts = vec![let_index(*i, row, span)];
                let mut body = body.to_vec();
                by_one_lane(pass.function, &mut body, &once);
                in_registers(pass, &mut body, &place);
                stmts.extend(body);
                stmts
            })
        }
        (FragmentLayout::Matrix(layout), [rows, columns], [i, j]) => {
            let shape = [*rows, *columns];
            let own = lanes.row_in(layout.warps, layout.rows);
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
        (FragmentLayout::Dealt(dealing), shape, indices) => {
            dealt::apply(pass, (dealing, shape), indices, body, span)?
        }
        _ => return None,
    };
    let kind = StmtKind::Parallel {
        level: Level::Thread,
        body: stmts,
    };
    Some(vec![Stmt::new(kind, span)])
}

/// Stores one value for each row of a matrix: of the lanes that share the row, the first.
pub(super) fn store_rows(
    pass: &mut Pass<'_>,
    from: &Part,
    dest: &View,
    span: Span,
) -> Option<Vec<Stmt>> {
    let Some(FragmentLayout::Rows { warps }) = pass.layout(from) else {
        return None;
    };
    let lanes = pass.lanes();
    let (first, slots) = all_of(pass, from);
    let to = pass.function.buffer(dest.buffer).elem;
    Some(pass.loops(&[("i", slots, 1)], span, |pass, at| {
        let slot = at.iter().sum::<Sym>();
        let row = row_of_slot(pass, &lanes, warps, &slot);
        let value = cast(read(pass, from, &first + &slot, span), to, span);
        let limits = inside(&pass.function.cx, dest, std::slice::from_ref(&row), span);
        let access = Access {
            view: dest.clone(),
            indices: vec![row],
            span,
        };
        let op = None;
        let store = Stmt::new(StmtKind::Store { access, op, value }, span);
        let mut conditions = vec![first_of_lanes(&lanes, span)];
        conditions.extend(limits);
        dealt::guarded(conditions, vec![store], span)
    }))
}

/// Whether a lane is the first of those that share a row.
fn first_of_lanes(lanes: &Lanes, span: Span) -> Expr {
    let place = Expr::index(lanes.place.clone(), span);
    let first = Expr::index(Sym::zero(), span);
    let equal = ExprKind::Binary(BinOp::Eq, place, first);
    Expr::new(equal, Scalar::Bool, span)
}

/// The row of a value of a thread in a column; of each 64 rows, a warp of a warpgroup has 16.
fn row_of_slot(pass: &Pass<'_>, lanes: &Lanes, warps: i64, slot: &Sym) -> Sym {
    if warps == 1 {
        return &(slot * 8) + &lanes.row_in(1, 8);
    }
    let cx = &pass.function.cx;
    let (tile, half) = (cx.div(slot, &Sym::int(2)), cx.rem(slot, &Sym::int(2)));
    &(&(&tile * (16 * warps)) + &(&half * 8)) + &lanes.row_in(warps, 16)
}

/// Loops over a thread's elements of a matrix, its rows outermost. `body` gets the indices `[tile,
/// pair, tile, element]`, the position without the lane's part, and the place in registers.
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
        let down = &(i * layout.below()) + &(h * 8);
        let along = &(j * layout.columns()) + e;
        let place = Place {
            element: &(&(i * by_tile) + &(j * by_column)) + &(&(h * by_pair) + e),
            row: &(i * (layout.rows / 8)) + h,
        };
        body(pass, at, [down, along], &place)
    })
}

/// Each thread first reduces its own part of a row, then the lanes that share the row combine their
/// results.
fn reduce(
    pass: &mut Pass<'_>,
    into: &Part,
    from: &Part,
    largest: bool,
    span: Span,
) -> Option<Vec<Stmt>> {
    let fragment = pass.function.fragments.get(&from.buffer)?.clone();
    if let (Some(FragmentLayout::Dealt(dealing)), [rows, columns]) =
        (fragment.layout, fragment.shape.as_slice())
    {
        let shape = [*rows, *columns];
        return Some(dealt::reduce(
            pass,
            (dealing, shape),
            [into, from],
            largest,
            span,
        ));
    }
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
    // The initial value of a row: its first element, or zero.
    let mut stmts = pass.loops(&axes, span, |pass, at| {
        let [i, h] = at else {
            return Vec::new();
        };
        let slot = &to + &(&(i * pairs) + h);
        let value = if largest {
            let at = &first + &(&(i * by_tile) + &(h * by_pair));
            cast(read(pass, from, at, span), elem, span)
        } else {
            zero(elem, span)
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
            let value = combined(before, cast(value, elem, span), largest, span);
            vec![store(into, slot, value, span)]
        },
    ));
    stmts.extend(across_lanes(pass, into, largest, span));
    Some(stmts)
}

fn all_reduce(pass: &mut Pass<'_>, part: &Part, span: Span) -> Vec<Stmt> {
    across_lanes(pass, part, false, span)
}

/// The condition that an element is the first of its row in the thread; `None` if it always is.
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
