//! Loops of a thread over neighbouring elements.
//!
//! `foreach j in 4 acc += x.at(4 * t + j);` accesses four elements one by one. Where the iterations
//! access neighbours, and nothing but the thread itself can see the order of their accesses, the
//! elements are loaded by vectors before the first iteration, and stored after the last one. The
//! iterations run in their order, so that sums are the same.
//!
//! Run-time checks in the loop only choose between the two ways: the loop is the way on which one
//! fails.

use super::group::{Extreme, Group, Numbers, branch, extreme};
use super::survey::{self, Positions, conjuncts};
use super::{MOST_WORK, is_large, shows_instances, uses_long_argument, work};
use crate::ir::{
    BufferId, Expr, Function, KernelId, Placed, Stmt, StmtKind, Unroll, Visit, any_stmt, walk_block,
};
use crate::sorted::SortedSet;

/// The most iterations, which are all unrolled.
pub(super) const MOST_ITERATIONS: i64 = 16;

/// Changes statements, if it can; returns whether it has.
pub(super) type Change = fn(&mut Function, &[Placed], &mut Vec<Stmt>) -> bool;

pub fn widen_loops(function: &mut Function, id: KernelId) {
    change(function, id, block);
}

/// Changes the body of a kernel, unless its integers would exceed the limits of the compiler.
pub(super) fn change(function: &mut Function, id: KernelId, of_block: Change) {
    let Some(kernel) = function.kernels.get(id.index()) else {
        return;
    };
    let placed = kernel.shared.clone();
    let mut changed = kernel.body.clone();
    if of_block(function, &placed, &mut changed)
        && !is_large(function, id, &changed)
        && let Some(kernel) = function.kernels.get_mut(id.index())
    {
        kernel.body = changed;
    }
}

/// Returns whether a loop has become vectors.
fn block(function: &mut Function, placed: &[Placed], stmts: &mut Vec<Stmt>) -> bool {
    let mut any = false;
    for mut stmt in std::mem::take(stmts) {
        let mut inside = false;
        for inner in stmt.kind.blocks_mut() {
            inside |= block(function, placed, inner);
        }
        match vectors(function, placed, &stmt) {
            Some(grouped) => {
                inside = true;
                stmts.extend(grouped);
            }
            None => {
                if inside {
                    unroll(function, &mut stmt);
                    if let Some(all) = all_at_once(function, &stmt) {
                        stmts.extend(all);
                        any = true;
                        continue;
                    }
                }
                stmts.push(stmt);
            }
        }
        any |= inside;
    }
    any
}

/// Unrolls a loop around vectors that selects registers by its number: nvcc might not, because the
/// ways of the vectors make it long.
fn unroll(function: &Function, stmt: &mut Stmt) {
    let StmtKind::For {
        local,
        lo,
        hi,
        unroll: unroll @ None,
        body,
        ..
    } = &mut stmt.kind
    else {
        return;
    };
    let few = |n: i64| n <= MOST_ITERATIONS;
    let var = function.locals.get(local.index()).and_then(|l| l.var);
    if lo.is_zero()
        && hi.as_int().is_some_and(few)
        && var.is_some_and(|var| survey::indexes_registers(function, body, var))
    {
        *unroll = Some(Unroll::Full);
    }
}

/// One test instead of one for each iteration of an unrolled loop around vectors: on the way where
/// all succeed, nothing prevents ptxas from issuing all loads before it needs one of them.
fn all_at_once(function: &Function, stmt: &Stmt) -> Option<Vec<Stmt>> {
    let StmtKind::For {
        local,
        lo,
        hi,
        step,
        unroll: Some(Unroll::Full),
        body,
    } = &stmt.kind
    else {
        return None;
    };
    let [only] = body.as_slice() else {
        return None;
    };
    let StmtKind::If { cond, then, .. } = &only.kind else {
        return None;
    };
    let iterations = Numbers {
        local: *local,
        var: function.locals.get(local.index())?.var?,
        count: hi.as_int()?,
    };
    if !lo.is_zero() || !step.is_one() {
        return None;
    }
    let costly = work(then).saturating_mul(iterations.count) > MOST_WORK;
    if costly
        || any_stmt(then, |s| {
            matches!(s.kind, StmtKind::For { unroll: None, .. })
        })
    {
        return None;
    }
    let hardest = |cond| extreme(function, cond, iterations, Extreme::Hardest);
    let conditions: Option<Vec<Expr>> = conjuncts(cond).into_iter().map(hardest).collect();
    let mut all = stmt.clone();
    if let StmtKind::For { body, .. } = &mut all.kind {
        body.clone_from(then);
    }
    Some(branch(
        conditions?,
        vec![all],
        vec![stmt.clone()],
        stmt.span,
    ))
}

/// The statements that the loop becomes.
pub(super) fn vectors(
    function: &mut Function,
    placed: &[Placed],
    stmt: &Stmt,
) -> Option<Vec<Stmt>> {
    let StmtKind::For {
        local,
        lo,
        hi,
        step,
        unroll: None,
        body,
    } = &stmt.kind
    else {
        return None;
    };
    let count = hi.as_int()?;
    let counts = lo.is_zero() && step.is_one();
    let few =
        (2..=MOST_ITERATIONS).contains(&count) && u64::try_from(count).ok()?.is_power_of_two();
    let leaves = |stmt: &Stmt| {
        matches!(
            stmt.kind,
            StmtKind::Break | StmtKind::Continue | StmtKind::While { .. }
        )
    };
    if !counts || !few || shows_instances(body) || any_stmt(body, leaves) {
        return None;
    }
    let costly = work(body).saturating_mul(count) > MOST_WORK;
    if costly || uses_long_argument(function, body) || shares_memory(placed, body) {
        return None;
    }
    let var = function.locals.get(local.index())?.var?;
    let position = Numbers {
        local: *local,
        var,
        count,
    };
    let mut group = Group {
        function,
        position,
        vector: None,
        written: survey::written(body),
        positions: Positions::Iterations,
    };
    group.iterations(body)
}

/// Whether two buffers of the loop, one of which is written, may have bytes in common.
fn shares_memory(placed: &[Placed], body: &[Stmt]) -> bool {
    #[derive(Default)]
    struct Buffers(SortedSet<BufferId>);
    impl Visit for Buffers {
        fn access(&mut self, access: &crate::ir::Access, _written: bool) {
            self.0.insert(access.view.buffer);
        }
    }
    let mut all = Buffers::default();
    walk_block(body, &mut all);
    let written = survey::written(body);
    let of: Vec<&Placed> = placed
        .iter()
        .filter(|p| all.0.contains(&p.buffer))
        .collect();
    // Buffers that are alive at the same time have bytes of their own.
    let together = |a: &Placed, b: &Placed| a.points.0 <= b.points.1 && b.points.0 <= a.points.1;
    of.iter().any(|a| {
        written.contains(&a.buffer) && of.iter().any(|b| a.buffer != b.buffer && !together(a, b))
    })
}
