//! Operations on fragments that are not operands of an MMA, and are distributed over the threads of
//! a level.

use super::pass::{Pass, zero};
use super::registers::{
    Place, across_lanes, all_of, by_one_lane, by_rows, cast, combined, elem, in_registers,
    let_index, read, store,
};
use crate::ir::build;
use crate::ir::{
    BinOp, Dealing, Expr, ExprKind, Intrinsic, LocalId, Part, Role, Scalar, Stmt, StmtKind,
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

/// The body of an `apply` for each element of the thread.
pub(super) fn apply(
    pass: &mut Pass<'_>,
    (dealing, shape): (Dealing, &[i64]),
    indices: &[LocalId],
    body: &[Stmt],
    span: Span,
) -> Option<Vec<Stmt>> {
    let (rows, columns, i, j) = match (shape, indices) {
        ([rows], [i]) => (*rows, 1, *i, None),
        ([rows, columns], [i, j]) => (*rows, *columns, *i, Some(*j)),
        _ => return None,
    };
    let own = own_place(pass, dealing, span);
    let wide = match j {
        Some(_) => dealing.columns(columns),
        None => 1,
    };
    let once = compare(BinOp::Eq, &own.lane, &Sym::zero(), span);
    let axes = [("i", dealing.rows(rows), 1), ("j", wide, 1)];
    let mut stmts = own.stmts;
    stmts.extend(pass.loops(&axes, span, |pass, at| {
        let [r, c] = at else {
            return Vec::new();
        };
        let row = &(r * dealing.groups()) + &own.group;
        let column = &(c * dealing.lanes) + &own.lane;
        let mut inside = Vec::new();
        if rows % dealing.groups() != 0 {
            inside.push(compare(BinOp::Lt, &row, &Sym::int(rows), span));
        }
        let mut stmts = vec![let_index(i, row, span)];
        let mut body = match j {
            // Each lane of a row has a column: the first is always inside.
            Some(j) => {
                if columns % dealing.lanes != 0 {
                    inside.push(compare(BinOp::Lt, &column, &Sym::int(columns), span));
                }
                stmts.push(let_index(j, column, span));
                let first = (wide > 1).then(|| compare(BinOp::Eq, c, &Sym::zero(), span));
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
        let place = Place {
            element: &(r * wide) + c,
            row: r.clone(),
        };
        in_registers(pass, &mut body, &place);
        stmts.extend(guarded(inside, body, span));
        stmts
    }));
    Some(stmts)
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

fn guarded(conditions: Vec<Expr>, then: Vec<Stmt>, span: Span) -> Vec<Stmt> {
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
