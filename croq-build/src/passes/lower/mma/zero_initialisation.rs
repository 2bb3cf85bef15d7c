//! Zero-initialisation elision: the first MMA overwrites the accumulators instead of adding to
//! zeros.
//!
//! A fill with zeros is removed if the next use of the accumulators is an MMA, or a loop that has
//! at least one iteration and in which each iteration begins with an MMA: it accumulates in all
//! iterations except the first. No statement before that MMA may leave the enclosing loop or the
//! iteration.

use crate::ir::{
    Access, BinOp, BufferId, Expr, ExprKind, Function, MmaOp, Scalar, Stmt, StmtKind, View, Visit,
    WarpgroupMma, walk_block,
};
use crate::symbolic::Sym;

/// Removes such fills from `stmts`.
pub fn elide_fills(function: &Function, stmts: &mut Vec<Stmt>) {
    let zeroed = |stmt: &Stmt| {
        let (acc, value) = filled(function, stmt)?;
        let zero = match &*value.kind {
            ExprKind::Float(v) => v.to_bits() == 0,
            ExprKind::Int(v) => *v == 0,
            _ => false,
        };
        zero.then_some(acc)
    };
    remove_fills(stmts, zeroed, |next, acc| begins_with(function, next, acc));
}

/// Removes fills from `stmts`, where `filled` gives the fragment: those for which the first
/// statement that uses the fragment `replaces` them.
pub(super) fn remove_fills(
    stmts: &mut Vec<Stmt>,
    filled: impl Fn(&Stmt) -> Option<BufferId>,
    mut replaces: impl FnMut(&mut Stmt, BufferId) -> bool,
) {
    let mut at = 0;
    while let Some(stmt) = stmts.get(at) {
        let filled = filled(stmt);
        at += 1;
        let Some((_, after)) = stmts.split_at_mut_checked(at) else {
            return;
        };
        let next = filled.and_then(|id| Some((id, reached(after, id)?)));
        if next.is_some_and(|(id, next)| replaces(next, id)) {
            at -= 1;
            stmts.remove(at);
        }
    }
}

/// The fragment that a statement fills completely, and with what.
pub(super) fn filled<'s>(function: &Function, stmt: &'s Stmt) -> Option<(BufferId, &'s Expr)> {
    let StmtKind::Mma(op) = &stmt.kind else {
        return None;
    };
    let MmaOp::FillElements {
        part,
        add: false,
        value,
    } = &**op
    else {
        return None;
    };
    let alone = function.fragments.get(&part.buffer)?.count == 1;
    alone.then_some((part.buffer, value))
}

/// Sets the `accumulate` operand of the MMA that is the statement's first use of the accumulators;
/// `false` if there is none.
fn begins_with(function: &Function, stmt: &mut Stmt, acc: BufferId) -> bool {
    let span = stmt.span;
    if let Some(mma) = mma_into(stmt, acc) {
        mma.accumulate = Expr::bool(false, span);
        return true;
    }
    let StmtKind::For {
        local,
        lo,
        hi,
        body,
        ..
    } = &mut stmt.kind
    else {
        return false;
    };
    let Some(var) = function.local(*local).var else {
        return false;
    };
    if !function.cx.lt(lo, hi).is_yes() {
        return false;
    }
    let Some(mma) = reached(body, acc).and_then(|s| mma_into(s, acc)) else {
        return false;
    };
    let [lo, iteration] = [lo.clone(), Sym::var(var)].map(|s| Expr::index(s, span));
    let later = ExprKind::Binary(BinOp::Lt, lo, iteration);
    mma.accumulate = Expr::new(later, Scalar::Bool, span);
    true
}

/// The first statement that uses the accumulators, unless an earlier one may leave.
fn reached(stmts: &mut [Stmt], acc: BufferId) -> Option<&mut Stmt> {
    let leaves = |s: &Stmt| s.leaves_iteration() || matches!(s.kind, StmtKind::Cpp { .. });
    let ends = |s: &&mut Stmt| mentions(std::slice::from_ref(s), acc) || leaves(s);
    let first = stmts.iter_mut().find(ends)?;
    (!leaves(first)).then_some(first)
}

fn mma_into(stmt: &mut Stmt, acc: BufferId) -> Option<&mut WarpgroupMma> {
    match &mut stmt.kind {
        StmtKind::Mma(op) => match &mut **op {
            MmaOp::WarpgroupMma(mma) if mma.acc.buffer == acc => Some(mma),
            _ => None,
        },
        _ => None,
    }
}

fn mentions(stmts: &[Stmt], id: BufferId) -> bool {
    struct Find(BufferId, bool);
    impl Visit for Find {
        fn stmt(&mut self, stmt: &Stmt) {
            if let StmtKind::Mma(op) = &stmt.kind {
                self.1 |= op.parts().iter().any(|part| part.buffer == self.0);
            }
        }
        fn access(&mut self, access: &Access, _written: bool) {
            self.1 |= access.view.buffer == self.0;
        }
        fn view(&mut self, view: &View) {
            self.1 |= view.buffer == self.0;
        }
    }
    let mut find = Find(id, false);
    walk_block(stmts, &mut find);
    find.1
}
