//! Conditions for statements of one thread, and the number of a thread's warpgroup, as expressions
//! of the thread number.
//!
//! A statement of one thread of a unit gets a condition on the thread number, and each warpgroup's
//! own barrier a number that is computed from it. Later passes treat them like any other expression
//! of the thread number, so that there is one variable for it.

use crate::ir::build;
use crate::ir::{
    BarrierScope, BinOp, Expr, ExprKind, Function, Intrinsic, KernelId, Level, Role, Scalar, Stmt,
    StmtKind, ThreadSet, TmaOp, WARPGROUP_THREADS,
};
use crate::source::Span;
use crate::symbolic::Sym;

pub fn write(function: &mut Function, id: KernelId) {
    function.with_kernel_body(id, |function, body| block(function, body, 0));
}

/// `first`: the first thread of the enclosing region.
fn block(function: &mut Function, stmts: &mut Vec<Stmt>, first: u32) {
    let mut out = Vec::with_capacity(stmts.len());
    for mut stmt in std::mem::take(stmts) {
        let span = stmt.span;
        let inside = match &stmt.kind {
            StmtKind::Region { set, .. } => set.as_ref().and_then(ThreadSet::lowest).unwrap_or(0),
            _ => first,
        };
        for inner in stmt.kind.blocks_mut() {
            block(function, inner, inside);
        }
        match &mut stmt.kind {
            StmtKind::SingleThread { level, cond, .. } => *cond = Some(is_it(*level, first, span)),
            StmtKind::Tma(TmaOp::Arrive { sharing, .. }) => {
                if let Some((unit, leader)) = &mut sharing.unit {
                    *leader = Some(is_it(*unit, first, span));
                }
            }
            StmtKind::Barrier { scope, .. } => {
                if let BarrierScope::WarpgroupFrom(first) = *scope {
                    let threads = i64::from(WARPGROUP_THREADS);
                    let number = number(BinOp::Div, thread(span), threads, span);
                    let (group, _) = build::index(function, "group", Role::Value, None, span);
                    out.push(build::declare(group, number));
                    *scope = BarrierScope::WarpgroupOf { first, group };
                }
            }
            _ => {}
        }
        out.push(stmt);
    }
    *stmts = out;
}

/// The condition that this thread is the one that acts for its unit.
fn is_it(level: Level, first: u32, span: Span) -> Expr {
    let in_block = || is(thread(span), first, span);
    match level {
        Level::Cluster => {
            let first_block = is(Expr::intrinsic(Intrinsic::ClusterRank, span), 0, span);
            let both = ExprKind::Binary(BinOp::LogicAnd, first_block, in_block());
            Expr::new(both, Scalar::Bool, span)
        }
        Level::Block => in_block(),
        Level::Warpgroup | Level::Warp | Level::Thread => match level.threads() {
            Some(unit) if unit > 1 => {
                let lane = number(BinOp::Rem, thread(span), i64::from(unit), span);
                is(lane, 0, span)
            }
            _ => Expr::bool(true, span),
        },
    }
}

fn thread(span: Span) -> Expr {
    Expr::intrinsic(Intrinsic::Thread, span)
}

fn number(op: BinOp, a: Expr, b: i64, span: Span) -> Expr {
    let b = Expr::index(Sym::int(b), span);
    Expr::new(ExprKind::Binary(op, a, b), Scalar::Index, span)
}

fn is(value: Expr, number: u32, span: Span) -> Expr {
    let number = Expr::new(ExprKind::Int(i128::from(number)), value.ty, span);
    Expr::new(
        ExprKind::Binary(BinOp::Eq, value, number),
        Scalar::Bool,
        span,
    )
}
