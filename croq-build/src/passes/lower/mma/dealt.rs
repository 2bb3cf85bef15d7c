//! Operations on fragments that are not operands of an MMA, and are distributed over the threads of
//! a level.

use super::load::inside;
use super::pass::{Pass, load_of, zero};
use super::registers::{
    Place, across_lanes, all_of, by_one_lane, by_rows, cast, combined, elem, in_registers,
    let_index, read, store,
};
use crate::ir::build;
use crate::ir::{
    Access, BinOp, Dealing, Expr, ExprKind, FragmentLayout, Intrinsic, LocalId, Part, Role, Scalar,
    Stmt, StmtKind, View,
};
use crate::source::Span;
use crate::symbolic::Sym;

/// The position of a thread among those of the level.
struct Own {
    stmts: Vec<Stmt>,
    group: Sym,
    lane: Sym,
}

fn own_place(pass: &mut Pass<'_>, dealing: Dealing, span: Span) -> Own {
    let threads = pass.threads.clone();
    let thread = Expr::intrinsic(Intrinsic::Thread, span);
    let (local, thread_sym) =
        build::index(pass.function, "thread", Role::Value, Some(&threads), span);
    let value = Some(thread);
    let mut stmts = vec![Stmt::new(StmtKind::Let { local, value }, span)];
    let cx = &pass.function.cx;
    let number = cx.rem(&thread_sym, &Sym::int(dealing.threads));
    let lanes = Sym::int(dealing.lanes);
    let (group, lane) = (cx.div(&number, &lanes), cx.rem(&number, &lanes));
    let group = pass.named("group", group, dealing.groups(), span, &mut stmts);
    let lane = pass.named("lane_of_row", lane, dealing.lanes, span, &mut stmts);
    Own { stmts, group, lane }
}

/// One of a thread's elements.
struct Element {
    /// Its row and column, by unrolled loops.
    at: [Sym; 2],
    /// Its place in the fragment; a fragment with one extent has only a row.
    row: Sym,
    column: Sym,
    /// Whether the fragment has an element there, where that is not certain.
    inside: Vec<Expr>,
    place: Place,
}

/// The statements of `body` for each element of the thread in a fragment of this shape.
fn elements(
    pass: &mut Pass<'_>,
    (dealing, own): (Dealing, &Own),
    shape: &[i64],
    span: Span,
    body: impl FnOnce(&mut Pass<'_>, Element) -> Vec<Stmt>,
) -> Option<Vec<Stmt>> {
    let (rows, columns) = match shape {
        [rows] => (*rows, None),
        [rows, columns] => (*rows, Some(*columns)),
        _ => return None,
    };
    let wide = columns.map_or(1, |columns| dealing.columns(columns));
    let axes = [("i", dealing.rows(rows), 1), ("j", wide, 1)];
    Some(pass.loops(&axes, span, |pass, at| {
        let [r, c] = at else {
            return Vec::new();
        };
        let row = &(r * dealing.groups()) + &own.group;
        let column = &(c * dealing.lanes) + &own.lane;
        let mut inside = Vec::new();
        if rows % dealing.groups() != 0 {
            inside.push(compare(BinOp::Lt, &row, &Sym::int(rows), span));
        }
        // Each lane of a row has a column: the first is always inside.
        if let Some(columns) = columns.filter(|columns| columns % dealing.lanes != 0) {
            inside.push(compare(BinOp::Lt, &column, &Sym::int(columns), span));
        }
        let place = Place {
            element: &(r * wide) + c,
            row: r.clone(),
        };
        let at = [r.clone(), c.clone()];
        let element = Element {
            at,
            row,
            column,
            inside,
            place,
        };
        body(pass, element)
    }))
}

/// The body of an `apply` for each element of the thread.
pub(super) fn apply(
    pass: &mut Pass<'_>,
    (dealing, shape): (Dealing, &[i64]),
    indices: &[LocalId],
    body: &[Stmt],
    span: Span,
) -> Option<Vec<Stmt>> {
    let (i, j) = match indices {
        [i] => (*i, None),
        [i, j] => (*i, Some(*j)),
        _ => return None,
    };
    let own = own_place(pass, dealing, span);
    let once = compare(BinOp::Eq, &own.lane, &Sym::zero(), span);
    let of_elements = elements(pass, (dealing, &own), shape, span, |pass, of| {
        let [_, c] = &of.at;
        let mut stmts = vec![let_index(i, of.row, span)];
        let mut body = match j {
            Some(j) => {
                stmts.push(let_index(j, of.column, span));
                let first = (!c.is_zero()).then(|| compare(BinOp::Eq, c, &Sym::zero(), span));
                by_rows(pass, body, &first, &once, span)
            }
            None => {
                let mut body = body.to_vec();
                if dealing.lanes > 1 {
                    by_one_lane(pass.function, &mut body, &once);
                }
                body
            }
        };
        in_registers(pass, &mut body, &of.place);
        stmts.extend(guarded(of.inside, body, span));
        stmts
    });
    let mut stmts = own.stmts;
    stmts.extend(of_elements?);
    Some(stmts)
}

/// Stores or loads each element of the thread. An element outside of the memory's data is not
/// stored, and loaded as zero.
pub(super) fn moved(
    pass: &mut Pass<'_>,
    part: &Part,
    memory: &View,
    motion: Motion,
    span: Span,
) -> Option<Vec<Stmt>> {
    let fragment = pass.function.fragments.get(&part.buffer)?;
    let (Some(FragmentLayout::Dealt(dealing)), shape) = (fragment.layout, fragment.shape.clone())
    else {
        return None;
    };
    let own = own_place(pass, dealing, span);
    let (first, _) = all_of(pass, part);
    let types = [part.buffer, memory.buffer].map(|id| pass.function.buffer(id).elem);
    let of_elements = elements(pass, (dealing, &own), &shape, span, |pass, of| {
        let once = (shape.len() == 1 && dealing.lanes > 1 && motion != Motion::Load)
            .then(|| compare(BinOp::Eq, &own.lane, &Sym::zero(), span));
        let at = match shape.len() {
            1 => &first + &of.place.row,
            _ => &first + &of.place.element,
        };
        let indices = match (shape.len(), motion) {
            (1, _) => vec![of.row],
            (_, Motion::StoreTransposed) => vec![of.column, of.row],
            _ => vec![of.row, of.column],
        };
        let limits = inside(&pass.function.cx, memory, &indices, span);
        let access = Access {
            view: memory.clone(),
            indices,
            span,
        };
        let [of_part, of_memory] = types;
        let mut conditions = of.inside;
        conditions.extend(once);
        let stmt = match motion {
            Motion::Load => {
                let mut value = load_of(access, of_memory, span);
                if let Some(limits) = limits {
                    let none = zero(of_memory, span);
                    let kind = ExprKind::Select(limits, value, none);
                    value = Expr::new(kind, of_memory, span);
                }
                store(part, at, cast(value, of_part, span), span)
            }
            Motion::Store | Motion::StoreTransposed => {
                conditions.extend(limits);
                let value = cast(read(pass, part, at, span), of_memory, span);
                let op = None;
                Stmt::new(StmtKind::Store { access, op, value }, span)
            }
        };
        guarded(conditions, vec![stmt], span)
    });
    let mut stmts = own.stmts;
    stmts.extend(of_elements?);
    Some(stmts)
}

/// What is done with a fragment and memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Motion {
    Load,
    Store,
    StoreTransposed,
}

/// Each thread first reduces its own part of a row, then the lanes that share the row combine their
/// results.
pub(super) fn reduce(
    pass: &mut Pass<'_>,
    (dealing, [rows, columns]): (Dealing, [i64; 2]),
    [into, from]: [&Part; 2],
    largest: bool,
    span: Span,
) -> Vec<Stmt> {
    let own = own_place(pass, dealing, span);
    let (to, _) = all_of(pass, into);
    let (first, _) = all_of(pass, from);
    let elem = elem(pass, into);
    let wide = dealing.columns(columns);
    let mut stmts = own.stmts;
    stmts.extend(
        pass.loops(&[("i", dealing.rows(rows), 1)], span, |pass, at| {
            let r = at.iter().sum::<Sym>();
            let slot = &to + &r;
            let begin = &first + &(&r * wide);
            let value = match largest {
                true => cast(read(pass, from, begin.clone(), span), elem, span),
                false => zero(elem, span),
            };
            let mut stmts = vec![store(into, slot.clone(), value, span)];
            stmts.extend(pass.loops(&[("j", wide, 1)], span, |pass, at| {
                let c = at.iter().sum::<Sym>();
                let before = read(pass, into, slot.clone(), span);
                let value = read(pass, from, &begin + &c, span);
                let value = combined(before, cast(value, elem, span), largest, span);
                let sum = vec![store(into, slot, value, span)];
                let column = &(&c * dealing.lanes) + &own.lane;
                let inside = (columns % dealing.lanes != 0)
                    .then(|| compare(BinOp::Lt, &column, &Sym::int(columns), span));
                guarded(inside.into_iter().collect(), sum, span)
            }));
            stmts
        }),
    );
    stmts.extend(across_lanes(pass, into, largest, span));
    stmts
}

pub(super) fn guarded(conditions: Vec<Expr>, then: Vec<Stmt>, span: Span) -> Vec<Stmt> {
    let both = |a, b| Expr::new(ExprKind::Binary(BinOp::LogicAnd, a, b), Scalar::Bool, span);
    match conditions.into_iter().reduce(both) {
        None => then,
        Some(cond) => {
            let otherwise = Vec::new();
            let kind = StmtKind::If {
                cond,
                then,
                otherwise,
            };
            vec![Stmt::new(kind, span)]
        }
    }
}

fn compare(op: BinOp, a: &Sym, b: &Sym, span: Span) -> Expr {
    let [a, b] = [a, b].map(|s| Expr::index(s.clone(), span));
    Expr::new(ExprKind::Binary(op, a, b), Scalar::Bool, span)
}
