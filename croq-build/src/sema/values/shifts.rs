//! Shifts. The width is that of the left operand's type.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{BinOp, CheckCode, Expr, ExprKind, Scalar};
use crate::sema::checks::run_time::{self, Check, both, compare};
use crate::sema::state::elab::Elab;
use crate::sema::state::value::{Operand, Value};
use crate::sema::values::{arith, convert, widths};
use crate::source::Span;
use crate::symbolic::{Sym, Truth};
use crate::syntax::ast;

/// A shift of a scalar, or by an amount that is known only at run time.
pub(crate) fn apply(
    el: &mut Elab<'_>,
    op: BinOp,
    at: Span,
    a: Operand,
    amount: Operand,
    span: Span,
) -> Value {
    let ty = match &a.value {
        Value::Int(i) => widths::type_of_shifted(&el.f, i),
        Value::Tuple(t) if t.len() == 1 => t
            .first()
            .map_or(Scalar::S32, |i| widths::type_of_shifted(&el.f, i)),
        Value::Scalar(e) if e.ty == Scalar::Index => widths::type_of_index(&el.f, e),
        Value::Scalar(e) => e.ty,
        _ => Scalar::S32,
    };
    if !ty.is_integer() {
        el.cx.report(
            Diagnostic::new(codes::E0343, at, format!("`{ty}` can't be shifted"))
                .label("needs an integer"),
        );
        return Value::Error;
    }
    let left = match a.value {
        // The operand keeps what an index is computed in where the amount is a constant.
        Value::Scalar(e) if e.ty == Scalar::Index && constant(&amount.value).is_some() => Some(e),
        value => convert::convert(el, value, ty, a.span),
    };
    let by = self::amount(el, amount, ty, at);
    let (Some(left), Some(by)) = (left, by) else {
        return Value::Error;
    };
    let ty = left.ty;
    Value::Scalar(Expr::new(ExprKind::Binary(op, left, by), ty, span))
}

/// The left operand of a shift: an integer by an amount of run time has the type that the suffix of a literal
/// in it gives. `None` if the amount is a constant outside of that type.
pub(crate) fn left(el: &mut Elab<'_>, operand: Operand, amount: &Value, at: Span) -> Option<Value> {
    let Value::Int(int) = &operand.value else {
        return Some(operand.value);
    };
    let (Some(ty), Some(n)) = (widths::own_type(&el.f, int), int.value.as_int()) else {
        return Some(operand.value);
    };
    let Some(by) = constant(amount) else {
        let n = Expr::int(i128::from(n), ty, operand.span);
        return Some(Value::Scalar(n));
    };
    let bits = width(ty);
    if (0..bits).contains(&by) {
        return Some(operand.value);
    }
    let text = format!("a shift by {by} is outside the {bits} bits of `{ty}`");
    report_outside(el, text, bits, at);
    None
}

/// Whether an integer is a run-time value because it is shifted by an amount that is no constant.
pub(crate) fn is_shift(e: &ast::Expr) -> bool {
    match &*e.kind {
        ast::ExprKind::Paren(inner) => is_shift(inner),
        ast::ExprKind::Binary(op, _, _, by) => {
            matches!(op, ast::BinOp::Shl | ast::BinOp::Shr)
                && !matches!(&*by.kind, ast::ExprKind::Int { .. })
        }
        _ => false,
    }
}

fn width(ty: Scalar) -> i64 {
    i64::try_from(ty.bits()).unwrap_or(64)
}

fn constant(amount: &Value) -> Option<i64> {
    arith::int_of(amount)?.value.as_int()
}

/// The amount of a shift of a value of type `ty`: an error if it is outside, a check at run time
/// if it may be.
fn amount(el: &mut Elab<'_>, amount: Operand, ty: Scalar, at: Span) -> Option<Expr> {
    let bits = width(ty);
    let span = amount.span;
    let is_integer = match &amount.value {
        Value::Scalar(e) => e.ty.is_integer(),
        Value::Error => return None,
        _ => true,
    };
    if !is_integer {
        let kind = amount.value.kind();
        el.cx.report(
            Diagnostic::new(
                codes::E0343,
                span,
                format!("a shift is by an integer, this is {kind}"),
            )
            .label("not an integer"),
        );
        return None;
    }
    let value = arith::to_sym(el, amount.value, span)?;
    if let Some(n) = value.as_int() {
        if (0..bits).contains(&n) {
            return Some(Expr::int(i128::from(n), Scalar::S32, span));
        }
        let text = format!("a shift by {n} is outside the {bits} bits of `{ty}`");
        report_outside(el, text, bits, at);
        return None;
    }
    let (zero, width) = (Sym::zero(), Sym::int(bits));
    let by = |value: Sym| Expr::new(ExprKind::Cast(Expr::index(value, span)), Scalar::S32, span);
    match (el.f.cx.le(&zero, &value), el.f.cx.lt(&value, &width)) {
        (Truth::Yes, Truth::Yes) => return Some(by(value)),
        (Truth::No, _) | (_, Truth::No) => {
            let shown = el.f.cx.show(&value);
            let text = format!("a shift by `{shown}` is outside the {bits} bits of `{ty}`");
            report_outside(el, text, bits, at);
            return None;
        }
        _ => {}
    }
    let cond = both(
        compare(BinOp::Le, &zero, &value, span),
        compare(BinOp::Lt, &value, &width, span),
    );
    let message = format!("a shift by {{0}} is outside the {bits} bits of `{ty}`");
    let check = Check::new(CheckCode::R20, message, at);
    let others = el.build.guards.len();
    run_time::emit_check(
        el,
        check,
        cond.clone(),
        std::slice::from_ref(&value),
        &[&value],
    );
    // Where the check only records its failure, nothing is shifted.
    let reported = el.build.guards.len() > others;
    el.build.guards.truncate(others);
    let amount = by(value);
    Some(match reported {
        true => {
            let none = Expr::int(0, Scalar::S32, span);
            Expr::new(ExprKind::Select(cond, amount, none), Scalar::S32, span)
        }
        false => amount,
    })
}

fn report_outside(el: &mut Elab<'_>, text: String, bits: i64, at: Span) {
    el.cx.report(
        Diagnostic::new(codes::E0345, at, text).label(format!("shifts are 0 to {}", bits - 1)),
    );
}
