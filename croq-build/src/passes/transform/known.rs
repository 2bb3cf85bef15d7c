//! What is known at a statement of a kernel, for passes that run after the kernel's facts have gone.

use crate::ir::{
    BinOp, CheckCode, Expr, ExprKind, Function, KernelId, Stmt, StmtKind, VarHome, as_sym,
};
use crate::symbolic::{Sym, Var};

/// The extents that the kernel's tensor maps have: a launch without its maps does not happen.
pub(super) fn extents_of_maps(function: &Function, id: KernelId) -> Vec<Sym> {
    let maps = function.kernels.get(id.index()).map(|kernel| &kernel.maps);
    (maps.into_iter().flatten())
        .flat_map(|map| map.extents.iter().cloned())
        .collect()
}

/// Assumes the largest extent of a tensor map that passes rely on.
pub(super) fn assume_extents(function: &mut Function, extents: &[Sym]) {
    for extent in extents {
        let most = Sym::int(i64::from(i32::MAX));
        function.cx.assume_le(extent, &most);
    }
}

/// At most as many assertions of the host are used.
const MOST_ASSERTIONS: usize = 16;

/// What the host's assertions before the launch have ensured, with the conditions around it.
pub(super) fn before_launch(function: &Function, id: KernelId) -> Vec<Expr> {
    let mut ensured = Vec::new();
    match reaches(function, &function.body, id, &mut ensured) {
        true => ensured,
        false => Vec::new(),
    }
}

fn reaches(function: &Function, block: &[Stmt], id: KernelId, ensured: &mut Vec<Expr>) -> bool {
    for stmt in block {
        match &stmt.kind {
            StmtKind::Launch(of) if *of == id => return true,
            StmtKind::Check { check, cond, .. } if ensured.len() < MOST_ASSERTIONS => {
                let info = function.checks.get(check.index());
                let is_assertion = info.is_some_and(|info| info.code == CheckCode::R14);
                ensured.extend(is_assertion.then(|| cond.clone()));
            }
            _ => {}
        }
        let outside = ensured.len();
        ensured.extend(condition(stmt).cloned());
        for inner in stmt.kind.blocks() {
            if reaches(function, inner, id, ensured) {
                return true;
            }
            // The second block of a branch is the other one.
            ensured.truncate(outside);
        }
        ensured.truncate(outside);
    }
    false
}

/// The condition under which the first block of a statement is executed, by the threads that execute it.
pub(super) fn condition(stmt: &Stmt) -> Option<&Expr> {
    match &stmt.kind {
        StmtKind::Region { pred: cond, .. } | StmtKind::If { cond, .. } => Some(cond),
        _ => None,
    }
}

/// Assumes a comparison of integers, or several that hold together, if their variables have one value.
pub(super) fn assume(function: &mut Function, cond: &Expr) {
    let ExprKind::Binary(op, a, b) = &*cond.kind else {
        return;
    };
    if *op == BinOp::LogicAnd {
        assume(function, a);
        assume(function, b);
        return;
    }
    let [Some(a), Some(b)] = [a, b].map(|e| as_sym(function, e)) else {
        return;
    };
    if a.sorted_vars()
        .iter()
        .chain(b.sorted_vars())
        .any(|var| changes(function, *var))
    {
        return;
    }
    match op {
        BinOp::Lt => function.cx.assume_lt(&a, &b),
        BinOp::Le => function.cx.assume_le(&a, &b),
        BinOp::Gt => function.cx.assume_lt(&b, &a),
        BinOp::Ge => function.cx.assume_le(&b, &a),
        BinOp::Eq => function.cx.assume_eq(&a, &b),
        _ => {}
    }
}

/// Whether the variable may have another value later.
pub(super) fn changes(function: &Function, var: Var) -> bool {
    match function.var_home.get(&var) {
        Some(VarHome::Local(id)) => function.local(*id).mutable,
        _ => false,
    }
}
