//! Conversions between run-time expressions and symbolic integers.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{
    self, BinOp, CheckCode, Expr, ExprKind, Level, Role, Scalar, StmtKind, UnOp, as_sym,
};
use crate::sema::build;
use crate::sema::checks::run_time;
use crate::sema::levels::uniformity;
use crate::sema::memory::origins;
use crate::sema::state::elab::Elab;
use crate::sema::state::value::{IntValue, Value};
use crate::sema::values::convert::integer_range;
use crate::source::Span;
use crate::symbolic::Sym;

/// Makes any integer value symbolic, binding it to a local when it isn't already.
pub(crate) fn to_sym(el: &mut Elab<'_>, value: Value, span: Span) -> Option<Sym> {
    match value {
        Value::Int(i) => Some(i.value),
        Value::Tuple(t) if t.len() == 1 => t.into_iter().next().map(|i| i.value),
        Value::Scalar(e) if e.ty.is_integer() => Some(bind_sym(el, e, span)),
        Value::Error => None,
        other => {
            let kind = other.kind();
            el.cx.report(
                Diagnostic::new(
                    codes::E0439,
                    span,
                    format!("expected an integer, found {kind}"),
                )
                .label("not an integer"),
            );
            None
        }
    }
}

/// Binds an integer expression to an immutable local that has a symbolic variable.
fn bind_sym(el: &mut Elab<'_>, e: Expr, span: Span) -> Sym {
    if let Some(s) = as_sym(&el.f, &e) {
        return s;
    }
    let ty = e.ty;
    let name = match &*e.kind {
        ExprKind::Local(id) => format!("{}_now", el.f.local(*id).name),
        ExprKind::Load(access) => format!("{}_at", el.f.buffer(access.view.buffer).name),
        _ => "value".to_owned(),
    };
    let local = build::new_local(&mut el.f, &name, Scalar::Index, false, Role::Value, span);
    let (lo, hi) = value_range(&el.f, &e, integer_range(ty));
    let var = build::local_var(&mut el.f, local, lo, hi);
    origins::note_data(el, var, &e);
    let value = if ty == Scalar::Index {
        e
    } else {
        Expr::new(ExprKind::Cast(e), Scalar::Index, span)
    };
    if let Some(level) = el.level().filter(|l| *l > Level::Block) {
        let before = el.build.reads.len();
        let read = uniformity::note_reads(el, &value).min(level);
        let reads = el.build.reads.len() > before;
        el.build.integer_reads |= reads;
        // Where threads leave loops apart, each may have a value of its own.
        let known = if reads && el.earlier.cautious {
            level
        } else {
            read
        };
        if known > Level::Block {
            el.build.vary(local, known);
        }
    }
    build::emit(
        el,
        StmtKind::Let {
            local,
            value: Some(value),
        },
        span,
    );
    if ty == Scalar::U64 {
        let message = "a `u64` of 2^63 or more is no size and no index".to_owned();
        let (zero, value) = (Sym::zero(), Sym::var(var));
        let check = run_time::Check::new(CheckCode::R19, message, span);
        run_time::emit_compare(el, check, BinOp::Le, &zero, &value);
    }
    Sym::var(var)
}

/// A tighter range than that of the type, for operations whose results are bounded.
fn value_range(
    func: &ir::Function,
    e: &Expr,
    by_type: (Option<Sym>, Option<Sym>),
) -> (Option<Sym>, Option<Sym>) {
    if let ExprKind::Binary(op, a, b) = &*e.kind {
        let constant = |e: &Expr| as_sym(func, e).and_then(|s| s.as_int());
        match (op, constant(a), constant(b)) {
            (BinOp::And, _, Some(n)) | (BinOp::And, Some(n), _) if n >= 0 => {
                return (Some(Sym::zero()), Some(Sym::int(n)));
            }
            (BinOp::Rem, _, Some(n)) if n > 0 => {
                let lo = if e.ty.is_signed() { 1 - n } else { 0 };
                return (Some(Sym::int(lo)), Some(Sym::int(n - 1)));
            }
            _ => {}
        }
    }
    by_type
}

/// The integer value of an operand, if it is already symbolic.
pub(crate) fn int_of(value: &Value) -> Option<IntValue> {
    match value {
        Value::Int(i) => Some(i.clone()),
        Value::Tuple(t) => match t.as_slice() {
            [one] => Some(one.clone()),
            _ => None,
        },
        _ => None,
    }
}

/// Adds the facts about symbolic integers that follow from a condition to the prover's assumptions.
pub(crate) fn assume(func: &mut ir::Function, cond: &Expr, holds: bool) {
    match &*cond.kind {
        ExprKind::Unary(UnOp::Not, inner) => assume(func, inner, !holds),
        ExprKind::Binary(BinOp::LogicAnd, a, b) if holds => {
            assume(func, a, true);
            assume(func, b, true);
        }
        ExprKind::Binary(BinOp::LogicOr, a, b) if !holds => {
            assume(func, a, false);
            assume(func, b, false);
        }
        ExprKind::Binary(op, a, b) if op.is_comparison() => {
            let (Some(a), Some(b)) = (as_sym(func, a), as_sym(func, b)) else {
                return;
            };
            match (op, holds) {
                (BinOp::Lt, true) | (BinOp::Ge, false) => func.cx.assume_lt(&a, &b),
                (BinOp::Le, true) | (BinOp::Gt, false) => func.cx.assume_le(&a, &b),
                (BinOp::Gt, true) | (BinOp::Le, false) => func.cx.assume_lt(&b, &a),
                (BinOp::Ge, true) | (BinOp::Lt, false) => func.cx.assume_le(&b, &a),
                (BinOp::Eq, true) | (BinOp::Ne, false) => func.cx.assume_eq(&a, &b),
                _ => {}
            }
        }
        _ => {}
    }
}

/// The value of a condition if it is decided: `Some(true)` or `Some(false)`.
pub(crate) fn decided(func: &ir::Function, cond: &Expr) -> Option<bool> {
    use crate::symbolic::Truth;
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
