//! What the pass asks about statements, whatever is pending.

use crate::ir::{
    BarrierReason, BarrierScope, Expr, ExprKind, Function, Level, MmaOp, Stmt, StmtKind, any_in,
    any_stmt,
};
use crate::sorted::SortedSet;
use crate::symbolic::Var;

pub fn has_barrier(body: &[Stmt]) -> bool {
    any_stmt(body, |stmt| {
        matches!(
            stmt.kind,
            StmtKind::Barrier { .. }
                | StmtKind::WaitTma { .. }
                | StmtKind::WaitEvent(_)
                | StmtKind::Mma(_)
        )
    })
}

/// Whether lanes of a warp exchange values, for which they converge.
pub fn has_exchange(body: &[Stmt]) -> bool {
    let exchanges = |e: &Expr| match &*e.kind {
        ExprKind::Intrinsic(of, _) => of.info().converges,
        _ => false,
    };
    any_in(body, |_| false, exchanges)
}

/// Adds a barrier over the block after a plain `inthreads`, unless it is inside another one.
pub fn end_regions(stmts: &mut Vec<Stmt>) {
    let mut at = 0;
    while let Some(stmt) = stmts.get_mut(at) {
        at += 1;
        match &mut stmt.kind {
            StmtKind::Region {
                is_async: false,
                outermost: true,
                ..
            } => {
                let kind = StmtKind::Barrier {
                    scope: BarrierScope::Block,
                    why: BarrierReason::RegionEnd,
                };
                let barrier = Stmt::new(kind, stmt.span);
                stmts.insert(at, barrier);
                at += 1;
            }
            StmtKind::For { body, .. } | StmtKind::Parallel { body, .. } => end_regions(body),
            StmtKind::While { prelude, body, .. } => {
                end_regions(prelude);
                end_regions(body);
            }
            StmtKind::If {
                then, otherwise, ..
            } => {
                end_regions(then);
                end_regions(otherwise);
            }
            _ => {}
        }
    }
}

/// Whether there are only MMAs by warpgroups, which write only registers, names, and loops of
/// these.
pub fn only_mmas(stmts: &[Stmt]) -> bool {
    stmts.iter().all(|stmt| match &stmt.kind {
        StmtKind::Mma(op) => matches!(**op, MmaOp::WarpgroupMma(_)),
        StmtKind::Let {
            value: Some(value), ..
        } => matches!(*value.kind, ExprKind::Index(_)),
        StmtKind::UseFuture(_) => true,
        StmtKind::For { body, .. } => only_mmas(body),
        _ => false,
    })
}

/// Whether there are only computations, stores and loops of these, without a way out.
pub fn only_computations(stmts: &[Stmt]) -> bool {
    stmts.iter().all(|stmt| match &stmt.kind {
        StmtKind::Let { .. }
        | StmtKind::Assign { .. }
        | StmtKind::Store { .. }
        | StmtKind::UseFuture(_) => true,
        StmtKind::For { body, .. } => only_computations(body),
        StmtKind::If {
            then, otherwise, ..
        } => only_computations(then) && only_computations(otherwise),
        _ => false,
    })
}

/// Whether these are statements at thread level in which no thread waits for, cooperates with, or
/// leaves others.
pub fn only_private_work(stmts: &[Stmt]) -> bool {
    !any_stmt(stmts, |stmt| match &stmt.kind {
        StmtKind::Barrier { .. } | StmtKind::Region { .. } => true,
        StmtKind::Copy(copy) => copy.level != Level::Thread || copy.future.is_some(),
        StmtKind::Wait { .. } | StmtKind::WaitTma { .. } | StmtKind::Mma(_) => true,
        StmtKind::WaitEvent(_) | StmtKind::Trigger(_) => true,
        StmtKind::Fill { level, .. } => *level != Level::Thread,
        _ => false,
    })
}

/// The variables that the code sets, except indices of `parallel`, which have the same value each
/// time.
pub fn declared(function: &Function, body: &[Stmt]) -> SortedSet<Var> {
    let uses = crate::passes::analysis::uses::Uses::of_block(function, body);
    let locals = uses
        .declared
        .iter()
        .filter_map(|id| function.locals.get(id.index()));
    locals
        .filter(|l| !matches!(l.role, crate::ir::Role::Parallel(_)))
        .filter_map(|l| l.var)
        .collect()
}

pub fn follows_async_region(stmts: &[Stmt], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| stmts.get(before));
    before.is_some_and(is_async_region)
}

fn is_async_region(stmt: &Stmt) -> bool {
    matches!(stmt.kind, StmtKind::Region { is_async: true, .. })
}
