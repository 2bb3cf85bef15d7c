//! Run-time checks for conditions that the prover could neither prove nor refute.

use crate::ir::{
    self, BinOp, CheckCode, CheckId, CheckInfo, Expr, ExprKind, Scalar, Stmt, StmtKind, VarHome,
};
use crate::sema::state::elab::Elab;
use crate::source::Span;
use crate::symbolic::Sym;

/// A comparison of two symbolic integers.
pub(crate) fn compare(op: BinOp, a: &Sym, b: &Sym, span: Span) -> Expr {
    // A common factor is divided out: `K % 8 * 2 == 0` becomes `K % 8 == 0`.
    let a = &match op {
        BinOp::Eq | BinOp::Ne if b.is_zero() => a.primitive_part(),
        _ => a.clone(),
    };
    let (a, b) = (Expr::index(a.clone(), span), Expr::index(b.clone(), span));
    Expr::new(ExprKind::Binary(op, a, b), Scalar::Bool, span)
}

pub(crate) fn both(a: Expr, b: Expr) -> Expr {
    let span = a.span;
    Expr::new(ExprKind::Binary(BinOp::LogicAnd, a, b), Scalar::Bool, span)
}

pub(crate) fn either(a: Expr, b: Expr) -> Expr {
    let span = a.span;
    Expr::new(ExprKind::Binary(BinOp::LogicOr, a, b), Scalar::Bool, span)
}

/// A check at run time, with its message.
pub(crate) struct Check {
    pub code: CheckCode,
    pub message: String,
    pub span: Span,
}

impl Check {
    pub fn new(code: CheckCode, message: String, span: Span) -> Self {
        Self {
            code,
            message,
            span,
        }
    }
}

pub(crate) fn row(el: &mut Elab<'_>, check: Check) -> CheckId {
    let Check {
        code,
        message,
        span,
    } = check;
    let next = u32::try_from(el.f.checks.len()).unwrap_or(u32::MAX);
    let row = *el
        .build
        .check_rows
        .entry((code, message.clone(), span))
        .or_insert(next);
    if row == next {
        el.f.checks.push(CheckInfo {
            code,
            message,
            span,
        });
    }
    CheckId(row)
}

/// Whether every variable has its value before the function's first statement.
pub(crate) fn known_at_entry(func: &ir::Function, s: &Sym) -> bool {
    s.sorted_vars().iter().all(|v| {
        matches!(
            func.var_home.get(v),
            Some(VarHome::Dim(_) | VarHome::Param(_))
        )
    })
}

/// Emits a check where its inputs are first available: at entry, or else here. A check of one
/// access is also emitted here if the access may never be executed, because then the call is
/// correct.
pub(crate) fn emit_check(
    el: &mut Elab<'_>,
    check: Check,
    cond: Expr,
    values: &[Sym],
    inputs: &[&Sym],
) {
    let of_one_place = check.code.is_of_one_place();
    let early = el.path.is_certain() || !of_one_place;
    emit_check_at(el, early, check, cond, values, inputs);
}

/// Emits the check at entry if `early` is set and the inputs are available there.
pub(crate) fn emit_check_at(
    el: &mut Elab<'_>,
    early: bool,
    check: Check,
    cond: Expr,
    values: &[Sym],
    inputs: &[&Sym],
) {
    if el.path.is_dead() {
        return;
    }
    let span = check.span;
    let row = row(el, check);
    let entry = early && inputs.iter().all(|s| known_at_entry(&el.f, s));
    if entry && let Some(condition) = ir::Condition::of(&el.f, &cond) {
        let key = (row.0, condition, values.to_vec());
        if !el.build.seen_checks.insert(key) {
            return;
        }
    }
    if !entry && is_reporting(el) {
        el.build.guards.push(cond.clone());
    }
    let values = values.iter().map(|v| Expr::index(v.clone(), span));
    let kind = StmtKind::Check {
        check: row,
        cond,
        values: values.collect(),
    };
    let sink = match entry {
        true => Some(&mut el.build.entry),
        false => el.build.sinks.last_mut(),
    };
    if let Some(sink) = sink {
        sink.push(Stmt::new(kind, span));
    }
}

/// Checks `a op b` at run time; the message shows both values.
pub(crate) fn emit_compare(el: &mut Elab<'_>, check: Check, op: BinOp, a: &Sym, b: &Sym) {
    let cond = compare(op, a, b, check.span);
    emit_check(el, check, cond, &[a.clone(), b.clone()], &[a, b]);
    // A check that only records its failure proves nothing about the statements after it.
    if known_at_entry(&el.f, a) && known_at_entry(&el.f, b) && !is_reporting(el) {
        match op {
            BinOp::Le => el.f.cx.assume_le(a, b),
            BinOp::Lt => el.f.cx.assume_lt(a, b),
            BinOp::Eq => el.f.cx.assume_eq(a, b),
            _ => {}
        }
    }
}

pub(crate) fn emit_equal_at_entry(el: &mut Elab<'_>, check: Check, a: &Sym, b: &Sym) {
    emit_compare(el, check, BinOp::Eq, a, b);
}

/// Whether a failure here is recorded and does not end the launch.
pub(crate) fn is_reporting(el: &Elab<'_>) -> bool {
    el.cx.options.reports && el.kernel.is_some()
}
