//! What conditions say about symbolic integers.

use super::{BinOp, Expr, ExprKind, Function, Stmt, StmtKind, UnOp, VarHome, any_expr, as_sym};
use crate::sorted::SortedSet;
use crate::symbolic::{Sym, Truth, Var};

/// The most comparisons of one condition from which facts are derived: each costs questions to the
/// prover.
const COMPARISONS: usize = 16;

/// One comparison of a condition that is known to hold.
struct Comparison {
    op: BinOp,
    left: Sym,
    right: Sym,
}

/// Visits each statement while it is known what the conditions around it say about values that do not
/// change.
pub fn visit(function: &mut Function, stmts: &[Stmt], visitor: &mut dyn FnMut(&Function, &Stmt)) {
    for stmt in stmts {
        visitor(function, stmt);
        let cond = match &stmt.kind {
            StmtKind::Region { pred: cond, .. } | StmtKind::If { cond, .. } => {
                Some(cond).filter(|cond| is_fixed(function, cond))
            }
            _ => None,
        };
        // The second block of a branch is the other one.
        for (block, holds) in stmt.kind.blocks().zip([true, false]) {
            function.cx.push_scope();
            if let Some(cond) = cond {
                assume(function, cond, holds);
            }
            visit(function, block, visitor);
            function.cx.pop_scope();
        }
    }
}

/// Whether the integers of the condition have one value each.
fn is_fixed(function: &Function, cond: &Expr) -> bool {
    let changes = |var: &Var| match function.var_home.get(var) {
        Some(VarHome::Local(id)) => function.local(*id).mutable,
        _ => false,
    };
    !any_expr(cond, |e| match &*e.kind {
        ExprKind::Index(sym) => sym.vars().iter().any(changes),
        ExprKind::Local(id) => function.local(*id).mutable,
        _ => false,
    })
}

/// Adds the facts about symbolic integers that follow from a condition to the prover's assumptions.
pub fn assume(func: &mut Function, cond: &Expr, holds: bool) {
    let mut known = Vec::new();
    let mut alternatives = Vec::new();
    flatten(func, cond, holds, &mut known, &mut alternatives);
    let mut unequal = Vec::new();
    for comparison in known {
        let Comparison { op, left, right } = &comparison;
        match op {
            BinOp::Lt => func.cx.assume_lt(left, right),
            BinOp::Le => func.cx.assume_le(left, right),
            BinOp::Gt => func.cx.assume_lt(right, left),
            BinOp::Ge => func.cx.assume_le(right, left),
            BinOp::Eq => func.cx.assume_eq(left, right),
            _ => unequal.push(comparison),
        }
    }
    // That something differs from the end of its range moves the end, which may then be the value
    // that something else differs from.
    unequal.truncate(COMPARISONS);
    while let Some(at) = unequal.iter().position(|c| assume_ne(func, c)) {
        unequal.remove(at);
    }
    for (either, or, holds) in alternatives {
        assume_either(func, either, or, holds);
    }
}

/// The comparisons that all hold if `cond` does (or does not), and pairs of conditions one of which
/// does.
fn flatten<'a>(
    func: &Function,
    cond: &'a Expr,
    holds: bool,
    known: &mut Vec<Comparison>,
    alternatives: &mut Vec<(&'a Expr, &'a Expr, bool)>,
) {
    match &*cond.kind {
        ExprKind::Unary(UnOp::Not, inner) => flatten(func, inner, !holds, known, alternatives),
        ExprKind::Binary(op @ (BinOp::LogicAnd | BinOp::LogicOr), a, b) => {
            if (*op == BinOp::LogicAnd) == holds {
                flatten(func, a, holds, known, alternatives);
                flatten(func, b, holds, known, alternatives);
            } else {
                alternatives.push((a, b, holds));
            }
        }
        ExprKind::Binary(op, a, b) if op.is_comparison() => {
            let op = if holds { Some(*op) } else { op.negated() };
            if let (Some(op), Some(left), Some(right)) = (op, as_sym(func, a), as_sym(func, b)) {
                known.push(Comparison { op, left, right });
            }
        }
        _ => {}
    }
}

/// Whether the fact could be used: only where one side is never above the other.
fn assume_ne(func: &mut Function, c: &Comparison) -> bool {
    if func.cx.le(&c.left, &c.right) == Truth::Yes {
        func.cx.assume_lt(&c.left, &c.right);
        true
    } else if func.cx.le(&c.right, &c.left) == Truth::Yes {
        func.cx.assume_lt(&c.right, &c.left);
        true
    } else {
        false
    }
}

/// What is true in both cases: comparisons of one that the other implies, and for each variable the
/// least range that contains those of both.
fn assume_either(func: &mut Function, a: &Expr, b: &Expr, holds: bool) {
    match (decided(func, a), decided(func, b)) {
        (Some(x), _) if x != holds => return assume(func, b, holds),
        (_, Some(x)) if x != holds => return assume(func, a, holds),
        (None, None) => {}
        _ => return,
    }
    let mut candidates = Vec::new();
    let mut vars = SortedSet::new();
    for cond in [a, b] {
        let (mut known, mut nested) = (Vec::new(), Vec::new());
        flatten(func, cond, holds, &mut known, &mut nested);
        for c in known {
            vars.extend(c.left.sorted_vars().iter().copied());
            vars.extend(c.right.sorted_vars().iter().copied());
            candidates.extend(not_negative(&c));
        }
        while let Some((x, y, holds)) = nested.pop() {
            let mut inner = Vec::new();
            flatten(func, x, holds, &mut inner, &mut nested);
            flatten(func, y, holds, &mut inner, &mut nested);
            for c in inner {
                vars.extend(c.left.sorted_vars().iter().copied());
                vars.extend(c.right.sorted_vars().iter().copied());
            }
        }
    }
    if candidates.len() > COMPARISONS || vars.len() > COMPARISONS {
        return;
    }
    let mut ranges: Vec<Vec<(Option<i64>, Option<i64>)>> = Vec::new();
    for cond in [a, b] {
        func.cx.push_scope();
        assume(func, cond, holds);
        candidates.retain(|e| func.cx.le(&Sym::zero(), e) == Truth::Yes);
        ranges.push(vars.iter().map(|v| func.cx.range(&Sym::var(*v))).collect());
        func.cx.pop_scope();
    }
    for e in &candidates {
        func.cx.assume_le(&Sym::zero(), e);
    }
    if let [of_a, of_b] = &ranges[..] {
        for ((v, a), b) in vars.iter().zip(of_a).zip(of_b) {
            assume_hull(func, *v, *a, *b);
        }
    }
}

/// What is at least zero if the comparison holds.
fn not_negative(c: &Comparison) -> Vec<Sym> {
    let (up, down) = (&c.right - &c.left, &c.left - &c.right);
    match c.op {
        BinOp::Lt => vec![up - 1],
        BinOp::Le => vec![up],
        BinOp::Gt => vec![down - 1],
        BinOp::Ge => vec![down],
        BinOp::Eq => vec![up, down],
        _ => Vec::new(),
    }
}

type Range = (Option<i64>, Option<i64>);

fn assume_hull(func: &mut Function, v: Var, a: Range, b: Range) {
    let (lo, hi) = func.cx.range(&Sym::var(v));
    if let (Some(x), Some(y)) = (a.0, b.0)
        && lo.is_none_or(|lo| lo < x.min(y))
    {
        func.cx.assume_le(&Sym::int(x.min(y)), &Sym::var(v));
    }
    if let (Some(x), Some(y)) = (a.1, b.1)
        && hi.is_none_or(|hi| hi > x.max(y))
    {
        func.cx.assume_le(&Sym::var(v), &Sym::int(x.max(y)));
    }
}

/// The value of a condition if it is decided: `Some(true)` or `Some(false)`.
pub fn decided(func: &Function, cond: &Expr) -> Option<bool> {
    match &*cond.kind {
        ExprKind::Bool(b) => Some(*b),
        ExprKind::Unary(UnOp::Not, a) => decided(func, a).map(|b| !b),
        ExprKind::Binary(BinOp::LogicAnd, a, b) => match (decided(func, a), decided(func, b)) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        },
        ExprKind::Binary(BinOp::LogicOr, a, b) => match (decided(func, a), decided(func, b)) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (Some(false), Some(false)) => Some(false),
            _ => None,
        },
        ExprKind::Binary(op, a, b) if op.is_comparison() => {
            let (a, b) = (as_sym(func, a)?, as_sym(func, b)?);
            let cx = &func.cx;
            let truth = match op {
                BinOp::Lt => cx.lt(&a, &b),
                BinOp::Le => cx.le(&a, &b),
                BinOp::Gt => cx.lt(&b, &a),
                BinOp::Ge => cx.le(&b, &a),
                BinOp::Eq => cx.eq(&a, &b),
                BinOp::Ne => cx.ne(&a, &b),
                _ => return None,
            };
            match truth {
                Truth::Yes => Some(true),
                Truth::No => Some(false),
                Truth::Unknown => None,
            }
        }
        _ => None,
    }
}
