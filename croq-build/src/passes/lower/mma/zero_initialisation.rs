//! Sums that begin with zeros need no zeros: the first product sets them.
//!
//! A fill with zeros is left out where the next thing that is done with the sums is a product, or a loop that
//! certainly runs and each iteration of which begins with one: that adds to the sums in all iterations but the first.
//! Nothing before such a product may leave the loop around, or the iteration.

use crate::ir::{
    Access, BinOp, BufferId, Expr, ExprKind, Function, MmaOp, Scalar, Stmt, StmtKind, Visit,
    WarpgroupMma, walk_block,
};
use crate::symbolic::Sym;

/// Leaves out the fills among `stmts`, which are followed by what is done with the sums.
pub fn leave_out(function: &Function, stmts: &mut Vec<Stmt>) {
    let mut at = 0;
    while let Some(stmt) = stmts.get(at) {
        at += 1;
        let Some(acc) = zeroed(function, stmt) else {
            continue;
        };
        let Some((_, after)) = stmts.split_at_mut_checked(at) else {
            return;
        };
        if reached(after, acc).is_some_and(|next| begins_with(function, next, acc)) {
            at -= 1;
            stmts.remove(at);
        }
    }
}

/// The fragment that a statement fills with zeros, all of it.
fn zeroed(function: &Function, stmt: &Stmt) -> Option<BufferId> {
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
    let zero = match &*value.kind {
        ExprKind::Float(v) => v.to_bits() == 0,
        ExprKind::Int(v) => *v == 0,
        _ => false,
    };
    let alone = function.fragments.get(&part.buffer)?.count == 1;
    (zero && alone).then_some(part.buffer)
}

/// Marks the product by which a statement begins to work on the sums.
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

/// The first statement that is about the sums, if nobody leaves in front of it.
pub(super) fn reached(stmts: &mut [Stmt], acc: BufferId) -> Option<&mut Stmt> {
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
    }
    let mut find = Find(id, false);
    walk_block(stmts, &mut find);
    find.1
}
