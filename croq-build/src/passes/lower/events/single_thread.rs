//! Regions that are executed by a single thread.

use std::collections::BTreeSet;

use super::threads::Threads;
use crate::ir::{
    BinOp, Engine, Expr, ExprKind, Function, Intrinsic, Level, LocalId, Scalar, Stmt, StmtKind,
    ThreadSet, Visit, walk_block,
};
use crate::passes::analysis::uniformity::Uniformity;
use crate::symbolic::Sym;

/// Elects one thread for regions in which one thread can do all the work, TMA copies included.
pub fn elect(function: &Function, body: &mut Vec<Stmt>) {
    registers_first(body);
    let whole = body.clone();
    in_block(function, &whole, body);
}

/// Whole warpgroups change their register counts: if a region begins with that, it becomes a region
/// of its own.
fn registers_first(stmts: &mut Vec<Stmt>) {
    let rest = std::mem::take(stmts);
    for mut stmt in rest {
        if let StmtKind::Region {
            body,
            is_async: true,
            ..
        } = &mut stmt.kind
        {
            let sets = |s: &Stmt| matches!(s.kind, StmtKind::Registers(_));
            let first = body.iter().take_while(|s| sets(s)).count();
            if first > 0 && first < body.len() {
                let rest = body.split_off(first);
                let mut after = stmt.clone();
                if let StmtKind::Region { body, .. } = &mut after.kind {
                    *body = rest;
                }
                stmts.extend([stmt, after]);
                continue;
            }
        } else {
            for block in stmt.kind.blocks_mut() {
                registers_first(block);
            }
        }
        stmts.push(stmt);
    }
}

fn in_block(function: &Function, whole: &[Stmt], stmts: &mut [Stmt]) {
    for stmt in stmts {
        let span = stmt.span;
        let StmtKind::Region {
            pred,
            set: Some(set),
            elected_from,
            is_async: true,
            outermost: true,
            body,
        } = &mut stmt.kind
        else {
            for block in stmt.kind.blocks_mut() {
                in_block(function, whole, block);
            }
            continue;
        };
        let Some(first) = set.lowest().filter(|_| set.len() > 1) else {
            continue;
        };
        if !is_single_threaded(function, whole, body, set) {
            continue;
        }
        let thread = Expr::intrinsic(Intrinsic::Thread, pred.span);
        let number = Expr::new(ExprKind::Int(i128::from(first)), Scalar::Index, pred.span);
        let is_first = ExprKind::Binary(BinOp::Eq, thread, number);
        let region_pred = std::mem::replace(pred, Expr::new(is_first, Scalar::Bool, span));
        let one = ThreadSet {
            ranges: vec![(first, first + 1)],
        };
        *elected_from = Some((region_pred, std::mem::replace(set, one)));
        at_block_level(body);
    }
}

/// A unit's copies become those of the region, which now has one thread.
fn at_block_level(stmts: &mut [Stmt]) {
    for stmt in stmts {
        if let StmtKind::Copy(copy) = &mut stmt.kind {
            copy.level = Level::Block;
        }
        if let StmtKind::WaitTma { futures } = &mut stmt.kind {
            futures.iter_mut().for_each(|w| w.level = Level::Block);
        }
        for block in stmt.kind.blocks_mut() {
            at_block_level(block);
        }
    }
}

/// Whether the body consists of TMA copies and arrivals that are the same for all threads of `set`.
fn is_single_threaded(function: &Function, whole: &[Stmt], body: &[Stmt], set: &ThreadSet) -> bool {
    let mut one = Candidate {
        function,
        uniformity: Uniformity::of(function, whole, Threads { set: set.clone() }),
        declared: BTreeSet::new(),
        acts: false,
        fits: true,
    };
    walk_block(body, &mut one);
    one.fits && one.acts
}

struct Candidate<'a> {
    function: &'a Function,
    uniformity: Uniformity<'a, Threads>,
    declared: BTreeSet<LocalId>,
    acts: bool,
    fits: bool,
}

impl Visit for Candidate<'_> {
    fn stmt(&mut self, stmt: &Stmt) {
        self.fits &= match &stmt.kind {
            StmtKind::Let { local, .. } => {
                self.declared.insert(*local);
                true
            }
            // The variable is not visible outside.
            StmtKind::Assign { local, .. } => self.declared.contains(local),
            StmtKind::Copy(copy) => {
                self.acts = true;
                matches!(copy.engine, Engine::Tma(_)) && self.uniformity.domain.is_one(copy.level)
            }
            StmtKind::WaitTma { futures } => futures
                .iter()
                .all(|w| self.uniformity.domain.is_one(w.level)),
            StmtKind::Trigger(at) => {
                let event = self.function.event(at.event);
                event.count.is_none_or(|(n, _)| n == 1)
            }
            StmtKind::WaitEvent(_)
            | StmtKind::For { .. }
            | StmtKind::While { .. }
            | StmtKind::If { .. }
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Check { .. }
            | StmtKind::Rotate { .. }
            | StmtKind::UseFuture(_)
            | StmtKind::Alloc(_) => true,
            _ => false,
        };
    }

    fn expr(&mut self, e: &Expr) {
        self.fits &= !self.uniformity.expr(e);
    }

    fn sym(&mut self, sym: &Sym) {
        self.fits &= !self.uniformity.sym(sym);
    }
}
