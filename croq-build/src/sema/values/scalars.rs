//! Operators on scalars of one element type.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{self, BinOp, CheckCode, Expr, ExprKind, Role, Scalar, StmtKind};
use crate::sema::build;
use crate::sema::checks::run_time::{self, Check, compare};
use crate::sema::state::cx::{Cx, source_text};
use crate::sema::state::elab::Elab;
use crate::sema::state::value::{Operand, Value};
use crate::sema::values::{arith, convert, operator_names, precision, shifts, widths};
use crate::source::Span;
use crate::symbolic::Sym;

/// The type in which a symbolic integer is computed when the other operand has type `ty`.
fn with_int(func: &ir::Function, ty: Scalar, int: &Value) -> Scalar {
    if ty.is_float() || ty == Scalar::Bool || ty == Scalar::Index {
        return ty;
    }
    let Some(i) = arith::int_of(int) else {
        return match int {
            Value::Scalar(e) if e.ty == Scalar::Index => with_choice(func, ty, e),
            _ => ty,
        };
    };
    if let Some(own) = widths::own_type(func, &i) {
        return convert::common_type(ty, own).unwrap_or(ty);
    }
    let fits = ir::is_within(func, &i.value, ty);
    if i.literal && fits || ty.bytes() == 8 {
        return ty;
    }
    match widths::type_of_sym(func, &i.value) {
        Scalar::S64 if !fits => Scalar::S64,
        _ if ty.bytes() >= 4 => ty,
        _ => Scalar::S32,
    }
}

/// The same of an integer that an expression chooses, `c ? i : j`.
fn with_choice(func: &ir::Function, ty: Scalar, choice: &Expr) -> Scalar {
    if are_literals_within(func, choice, ty) || ty.bytes() == 8 {
        return ty;
    }
    match widths::type_of_index(func, choice) {
        Scalar::S64 => Scalar::S64,
        _ if ty.bytes() >= 4 => ty,
        _ => Scalar::S32,
    }
}

/// Whether an expression chooses from literals, each of which has a value of the type.
fn are_literals_within(func: &ir::Function, choice: &Expr, ty: Scalar) -> bool {
    match &*choice.kind {
        ExprKind::Select(_, a, b) => {
            are_literals_within(func, a, ty) && are_literals_within(func, b, ty)
        }
        ExprKind::Index(value) => value.as_int().is_some() && ir::is_within(func, value, ty),
        _ => false,
    }
}

/// The type in which two values are computed, if they have one.
pub(crate) fn type_of_both(func: &ir::Function, a: &Value, b: &Value) -> Option<Scalar> {
    match (a, b) {
        (Value::Scalar(x), Value::Int(_)) => Some(with_int(func, x.ty, b)),
        (Value::Int(_), Value::Scalar(y)) => Some(with_int(func, y.ty, a)),
        (Value::Scalar(x), Value::Scalar(y)) => match (x.ty, y.ty) {
            (Scalar::Index, ty) if ty.is_integer() => Some(with_int(func, ty, a)),
            (ty, Scalar::Index) if ty.is_integer() => Some(with_int(func, ty, b)),
            (x, y) => convert::common_type(x, y),
        },
        _ => None,
    }
}

/// Reports the mixture of `f16` with `bf16`, which have no common type.
pub(crate) fn reports_halves(cx: &mut Cx<'_>, a: &Value, b: &Value, span: Span) -> bool {
    let (Value::Scalar(a), Value::Scalar(b)) = (a, b) else {
        return false;
    };
    let mixed = matches!(
        (a.ty, b.ty),
        (Scalar::F16, Scalar::Bf16) | (Scalar::Bf16, Scalar::F16)
    );
    if mixed {
        precision::report_mixed_halves(cx, span);
    }
    mixed
}

pub(crate) fn apply(
    el: &mut Elab<'_>,
    op: BinOp,
    at: Span,
    a: Operand,
    b: Operand,
    span: Span,
) -> Value {
    let operand = |o: Operand| Operand::new(convert::promoted(o.value), o.span);
    let (a, b) = (operand(a), operand(b));
    if matches!(op, BinOp::Shl | BinOp::Shr) {
        return shifts::apply(el, op, at, a, b, span);
    }
    let ((a, at_a), (b, at_b)) = ((a.value, a.span), (b.value, b.span));
    // Comparisons of symbolic integers remain symbolic.
    if op.is_comparison()
        && let (Some(x), Some(y)) = (sym_operand(&el.f, &a), sym_operand(&el.f, &b))
        && !wraps_beside(&el.f, &a, &y)
        && !wraps_beside(&el.f, &b, &x)
    {
        return Value::Scalar(compare(op, &x, &y, span));
    }
    let ty = type_of_both(&el.f, &a, &b);
    let bad_bits = matches!(op, BinOp::And | BinOp::Or | BinOp::Xor | BinOp::Rem)
        && ty.is_some_and(|t| t.is_float());
    let bad_bool = ty == Some(Scalar::Bool) && !matches!(op, BinOp::Eq | BinOp::Ne);
    let Some(ty) = ty.filter(|_| !bad_bits && !bad_bool) else {
        if !reports_halves(&mut el.cx, &a, &b, at) {
            operator_names::report_no_operator(&mut el.cx, op, at, &a, &b);
        }
        return Value::Error;
    };
    let (Some(x), Some(y)) = (
        convert::convert(el, a, ty, at_a),
        convert::convert(el, b, ty, at_b),
    ) else {
        return Value::Error;
    };
    if matches!(op, BinOp::Div | BinOp::Rem)
        && ty.is_integer()
        && let ExprKind::Int(0) = &*y.kind
    {
        el.cx.report(
            Diagnostic::new(codes::E0346, at, "division by zero").label("the right side is 0"),
        );
        return Value::Error;
    }
    let y = match op {
        BinOp::Div | BinOp::Rem if ty.is_integer() && el.kernel.is_none() => {
            check_host_divisor(el, y, at_b)
        }
        _ => y,
    };
    let result = if op.is_comparison() { Scalar::Bool } else { ty };
    Value::Scalar(Expr::new(ExprKind::Binary(op, x, y), result, span))
}

/// A divisor on the host, after a check that it is not 0. Kernels check where they divide.
fn check_host_divisor(el: &mut Elab<'_>, y: Expr, span: Span) -> Expr {
    if matches!(&*y.kind, ExprKind::Int(_)) {
        return y;
    }
    let ty = y.ty;
    let local = build::new_local(&mut el.f, "divisor", ty, false, Role::Value, span);
    let value = Some(y);
    build::emit(el, StmtKind::Let { local, value }, span);
    let y = Expr::new(ExprKind::Local(local), ty, span);
    let zero = Expr::new(ExprKind::Int(0), ty, span);
    let differs = ExprKind::Binary(BinOp::Ne, y.clone(), zero);
    let cond = Expr::new(differs, Scalar::Bool, span);
    let divisor = source_text(&el.cx, span, "the right side");
    let message = format!("division by zero: `{divisor}` is 0");
    let check = Check::new(CheckCode::R06, message, span);
    run_time::emit_check_at(el, false, check, cond, &[], &[]);
    y
}

/// Whether a value of 32 bits without a sign is compared with what may be negative, and wraps in that type.
fn wraps_beside(func: &ir::Function, v: &Value, other: &Sym) -> bool {
    matches!(v, Value::Scalar(e) if e.ty == Scalar::U32)
        && !func.cx.le(&Sym::zero(), other).is_yes()
}

fn sym_operand(func: &ir::Function, v: &Value) -> Option<Sym> {
    match v {
        Value::Int(i) => Some(i.value.clone()),
        Value::Scalar(e) if e.ty.is_integer() && e.ty != Scalar::U64 => ir::as_sym(func, e),
        _ => None,
    }
}
