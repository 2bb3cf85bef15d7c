//! Operators on symbolic integers.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{BinOp, CheckCode, Expr, ExprKind, Scalar, path_facts};
use crate::sema::checks::run_time::{self, compare};
use crate::sema::state::cx::Cx;
use crate::sema::state::elab::Elab;
use crate::sema::state::value::{IntValue, Operand, Value};
use crate::sema::values::operator_names::sign;
use crate::sema::values::{convert, shifts};
use crate::source::Span;
use crate::symbolic::{Sym, Truth};

pub(crate) fn apply(
    el: &mut Elab<'_>,
    op: BinOp,
    at: Span,
    a: &IntValue,
    b: &IntValue,
    span: Span,
) -> Value {
    if (a.get_ith || b.get_ith) && !op.is_comparison() {
        el.cx.report(
            Diagnostic::new(codes::E0573, at, "arithmetic directly on `x(k)`")
                .label("one operand is a picked value")
                .help("name it first: `first = x(0);`"),
        );
        return Value::Error;
    }
    let bound = match (&a.bound, &b.bound) {
        (Some(n), None) | (None, Some(n)) => Some(n.clone()),
        _ => None,
    };
    let literal = a.literal && b.literal;
    let ty = convert::joined_type(a, b);
    let done = |value: Sym| {
        Value::Int(IntValue {
            value,
            bound,
            literal,
            get_ith: false,
            ty,
        })
    };
    let (x, y) = (&a.value, &b.value);
    let exact = match op {
        BinOp::Add => x + y,
        BinOp::Sub => x - y,
        BinOp::Mul => x * y,
        _ => Sym::zero(),
    };
    if exact.is_poison() {
        return report_overflow(el, op, at, x, y);
    }
    let cx = &el.f.cx;
    match op {
        BinOp::Add => done(x + y),
        BinOp::Sub => done(x - y),
        BinOp::Mul => done(x * y),
        BinOp::Min => done(cx.min(x, y)),
        BinOp::Max => done(cx.max(x, y)),
        BinOp::Div | BinOp::Rem => {
            if !check_divisor(el, y, at, span) {
                return Value::Error;
            }
            let cx = &el.f.cx;
            done(if op == BinOp::Div {
                cx.div(x, y)
            } else {
                cx.rem(x, y)
            })
        }
        BinOp::Shl | BinOp::Shr => apply_shift(el, op, at, a, b, span),
        BinOp::And | BinOp::Or | BinOp::Xor => {
            if let (Some(x), Some(y)) = (x.as_int(), y.as_int()) {
                let n = match op {
                    BinOp::And => x & y,
                    BinOp::Or => x | y,
                    _ => x ^ y,
                };
                return done(Sym::int(n));
            }
            let (l, r) = (Expr::index(x.clone(), span), Expr::index(y.clone(), span));
            Value::Scalar(Expr::new(ExprKind::Binary(op, l, r), Scalar::Index, span))
        }
        op if op.is_comparison() => {
            let e = compare(op, x, y, span);
            match (
                x.as_int().is_some() && y.as_int().is_some(),
                path_facts::decided(&el.f, &e),
            ) {
                (true, Some(b)) => Value::Scalar(Expr::bool(b, span)),
                _ => Value::Scalar(e),
            }
        }
        _ => Value::Error,
    }
}

pub(crate) fn report_too_large(cx: &mut Cx<'_>, at: Span) {
    cx.report(Diagnostic::too_large_integer(at));
}

/// Reports that `x op y` exceeds the 64-bit integers.
fn report_overflow(el: &mut Elab<'_>, op: BinOp, at: Span, x: &Sym, y: &Sym) -> Value {
    let (Some(a), Some(b)) = (x.as_int(), y.as_int()) else {
        report_too_large(&mut el.cx, at);
        return Value::Error;
    };
    let text = format!("{a} {} {b} does not fit in 64 bits", sign(op));
    let d = if el.path.in_count() {
        Diagnostic::new(codes::E0429, at, text).label("more than any memory or grid holds")
    } else {
        Diagnostic::new(codes::E0349, at, text)
            .label("a constant is exact")
            .help("compute it in a variable of an element type, such as `s64`, where it wraps")
    };
    el.cx.report(d);
    Value::Error
}

/// Checks that a divisor is not zero: an error if it is, a run-time check if it may be.
pub(crate) fn check_divisor(el: &mut Elab<'_>, y: &Sym, at: Span, span: Span) -> bool {
    match el.f.cx.ne(y, &Sym::zero()) {
        Truth::Yes => true,
        Truth::No => {
            el.cx.report(
                Diagnostic::new(codes::E0346, at, "division by zero").label("the right side is 0"),
            );
            false
        }
        Truth::Unknown => {
            let cond = compare(BinOp::Ne, y, &Sym::zero(), span);
            let shown = el.f.cx.show(y);
            run_time::emit_check_at(
                el,
                el.path.is_certain(),
                run_time::Check::new(
                    CheckCode::R06,
                    format!("division by zero: `{shown}` is 0"),
                    span,
                ),
                cond,
                &[],
                &[y],
            );
            true
        }
    }
}

fn apply_shift(
    el: &mut Elab<'_>,
    op: BinOp,
    at: Span,
    a: &IntValue,
    b: &IntValue,
    span: Span,
) -> Value {
    let Some(n) = b.value.as_int() else {
        let operand = |i: &IntValue| Operand::new(Value::Int(i.clone()), span);
        return shifts::apply(el, op, at, operand(a), operand(b), span);
    };
    if !(0..63).contains(&n) {
        el.cx.report(
            Diagnostic::new(
                codes::E0345,
                at,
                format!("a shift of an integer by {n} is outside its 63 bits"),
            )
            .label("shifts are 0 to 62"),
        );
        return Value::Error;
    }
    let factor = Sym::int(1i64 << n);
    let non_negative = el.f.cx.le(&Sym::zero(), &a.value) == Truth::Yes;
    let literal = a.literal && b.literal;
    if op == BinOp::Shl {
        if (&a.value * &factor).is_poison() {
            return report_overflow(el, BinOp::Mul, at, &a.value, &factor);
        }
        return Value::Int(IntValue {
            literal,
            ty: a.ty,
            ..IntValue::plain(&a.value * &factor)
        });
    }
    if non_negative {
        let q = el.f.cx.div(&a.value, &factor);
        return Value::Int(IntValue {
            literal,
            ty: a.ty,
            ..IntValue::plain(q)
        });
    }
    let (l, r) = (
        Expr::index(a.value.clone(), span),
        Expr::index(Sym::int(n), span),
    );
    Value::Scalar(Expr::new(ExprKind::Binary(op, l, r), Scalar::Index, span))
}
