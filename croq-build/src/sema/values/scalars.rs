//! Operators on scalars of one element type.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{self, BinOp, CheckCode, Expr, ExprKind, Role, Scalar, StmtKind};
use crate::sema::build;
use crate::sema::checks::run_time::{self, Check, compare};
use crate::sema::state::cx::source_text;
use crate::sema::state::elab::Elab;
use crate::sema::state::value::{Operand, Value};
use crate::sema::values::{arith, convert, operator_names, shifts, widths};
use crate::source::Span;
use crate::symbolic::Sym;

/// The type in which a symbolic integer is computed when the other operand has type `ty`.
pub(crate) fn with_int(func: &ir::Function, ty: Scalar, int: &Value) -> Scalar {
    if ty.is_float() || ty == Scalar::Bool || ty == Scalar::Index {
        return ty;
    }
    let Some(i) = arith::int_of(int) else {
        let wide = |e| widths::type_of_index(func, e) == Scalar::S64 && ty.bytes() < 8;
        return match int {
            Value::Scalar(e) if e.ty == Scalar::Index && wide(e) => Scalar::S64,
            _ => ty,
        };
    };
    let fits = ir::is_within(func, &i.value, ty);
    if i.literal && fits || ty.bytes() == 8 {
        return ty;
    }
    match widths::type_of_sym(func, &i.value) {
        Scalar::S64 if !i.literal && !fits => Scalar::S64,
        _ if ty.bytes() >= 4 => ty,
        _ => Scalar::S32,
    }
}

pub(crate) fn apply(
    el: &mut Elab<'_>,
    op: BinOp,
    at: Span,
    a: Operand,
    b: Operand,
    span: Span,
) -> Value {
    let mut reported = false;
    let operand = |o: Operand| Operand::new(convert::promoted(o.value), o.span);
    let (a, b) = (operand(a), operand(b));
    if matches!(op, BinOp::Shl | BinOp::Shr) {
        return shifts::apply(el, op, at, a, b, span);
    }
    let ((a, at_a), (b, at_b)) = ((a.value, a.span), (b.value, b.span));
    // Comparisons of symbolic integers remain symbolic.
    if op.is_comparison()
        && let (Some(x), Some(y)) = (sym_operand(&el.f, &a), sym_operand(&el.f, &b))
    {
        return Value::Scalar(compare(op, &x, &y, span));
    }
    let ty = match (&a, &b) {
        (Value::Scalar(x), Value::Int(_)) => Some(with_int(&el.f, x.ty, &b)),
        (Value::Int(_), Value::Scalar(y)) => Some(with_int(&el.f, y.ty, &a)),
        (Value::Scalar(x), Value::Scalar(y)) => {
            let (tx, ty) = (x.ty, y.ty);
            if tx == Scalar::Bool && ty == Scalar::Bool {
                matches!(op, BinOp::Eq | BinOp::Ne).then_some(Scalar::Bool)
            } else if tx == Scalar::Index && ty.is_integer() {
                Some(with_int(&el.f, ty, &a))
            } else if ty == Scalar::Index && tx.is_integer() {
                Some(with_int(&el.f, tx, &b))
            } else {
                let common = convert::common_type(&mut el.cx, tx, ty, at);
                reported = common.is_none() && tx != Scalar::Bool && ty != Scalar::Bool;
                common
            }
        }
        _ => None,
    };
    let bad_bits = matches!(op, BinOp::And | BinOp::Or | BinOp::Xor | BinOp::Rem)
        && ty.is_some_and(|t| t.is_float());
    let bad_bool = ty == Some(Scalar::Bool) && !matches!(op, BinOp::Eq | BinOp::Ne);
    let Some(ty) = ty.filter(|_| !bad_bits && !bad_bool) else {
        if !reported {
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

fn sym_operand(func: &ir::Function, v: &Value) -> Option<Sym> {
    match v {
        Value::Int(i) => Some(i.value.clone()),
        Value::Scalar(e) if e.ty.is_integer() && e.ty != Scalar::U64 => ir::as_sym(func, e),
        _ => None,
    }
}
