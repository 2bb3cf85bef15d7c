//! Phases and waits of loads with mbarriers of their own.

use crate::ir::build;
use crate::ir::{Arrival, BinOp, Expr, ExprKind, Function, Level, PhaseBy, Stmt, StmtKind, TmaOp};
use crate::source::Span;

/// A statement that one block executes for the whole cluster.
pub fn by_first_block(body: Vec<Stmt>, span: Span) -> Stmt {
    let level = Level::Cluster;
    Stmt::new(build::once(level, body), span)
}

/// Flips the phase bit, for another load.
pub fn flip(function: &Function, arrival: &Arrival, span: Span) -> StmtKind {
    let ty = function.local(arrival.phases).ty;
    let op = |op, a, b| Expr::new(ExprKind::Binary(op, a, b), ty, span);
    let bit = match &arrival.bit {
        Some(at) => build::bit(ty, at, span),
        None => Expr::int(1, ty, span),
    };
    let phases = Expr::new(ExprKind::Local(arrival.phases), ty, span);
    StmtKind::Assign {
        local: arrival.phases,
        value: op(BinOp::Xor, phases, bit),
    }
}

/// Waits for the last load that has begun.
pub fn wait(function: &Function, arrival: &Arrival, span: Span) -> StmtKind {
    let ty = function.local(arrival.phases).ty;
    let op = |op, a, b| Expr::new(ExprKind::Binary(op, a, b), ty, span);
    let mut phases = Expr::new(ExprKind::Local(arrival.phases), ty, span);
    if let Some(at) = &arrival.bit {
        phases = build::bit_of(phases, at, span);
    }
    StmtKind::Tma(TmaOp::Wait {
        barriers: arrival.barriers,
        slot: arrival.slot.clone(),
        phase: op(BinOp::Xor, phases, Expr::int(1, ty, span)),
        by: PhaseBy::Parity,
        clustered: false,
    })
}
