//! Ituples, and elements of shapes and ituples.

use crate::diagnostics::{Diagnostic, codes};
use crate::sema::state::cx::{self, Cx};
use crate::sema::state::elab::Elab;
use crate::sema::state::path::Frame;
use crate::sema::state::value::{Derive, IntValue, Value};
use crate::sema::statements::{call, kernel_calls};
use crate::sema::values::{arith, shape};
use crate::source::Span;
use crate::symbolic::Sym;
use crate::syntax::ast;

/// A compile-time integer, for element indices and similar uses.
pub(crate) fn constant_of(cx: &mut Cx<'_>, value: &Value, span: Span) -> Option<i64> {
    if value.is_error() {
        return None;
    }
    let n = arith::int_of(value).and_then(|i| i.value.as_int());
    if n.is_none() {
        cx.report(
            Diagnostic::new(
                codes::E0420,
                span,
                "an element number must be a compile-time integer",
            )
            .label("not a constant"),
        );
    }
    n
}

pub(crate) fn pick(cx: &mut Cx<'_>, items: Vec<IntValue>, k: i64, span: Span) -> Value {
    let rank = items.len();
    match usize::try_from(k)
        .ok()
        .and_then(|k| items.into_iter().nth(k))
    {
        Some(i) => Value::Int(IntValue {
            literal: i.value.as_int().is_some(),
            ..i
        }),
        None => {
            cx.report(
                Diagnostic::new(
                    codes::E0420,
                    span,
                    format!("there is no element {k}: the rank is {rank}"),
                )
                .label(format!("elements are 0 to {}", rank.saturating_sub(1))),
            );
            Value::Error
        }
    }
}

/// `x(k)`: an element of a shape or ituple, or get-ith of a bounded integer.
pub(crate) fn lower_element(
    el: &mut Elab<'_>,
    base: &ast::Expr,
    k: &ast::Expr,
    span: Span,
) -> Value {
    if let ast::ExprKind::Name(name) = &*base.kind
        && el.names.find(name).is_none()
        && el.cx.file.device_names().contains_key(name.as_str())
    {
        call::report_not_a_builtin(&mut el.cx, name, base.span);
        el.expression(k);
        return Value::Error;
    }
    if let ast::ExprKind::Name(name) = &*base.kind
        && kernel_calls::is_kernel(el, name)
    {
        return call::lower_kernel(el, name, base.span, std::slice::from_ref(k), span);
    }
    let b = el.expression(base);
    if matches!(b, Value::Data(_)) {
        el.within(Frame::Derivation(None), |el| el.expression(k));
        let text = |span, otherwise| cx::source_text(&el.cx, span, otherwise);
        let (base, index) = (text(base.span, "x"), text(k.span, "…"));
        let d = Diagnostic::new(
            codes::E0420,
            span,
            "elements and tiles are selected with `.at`",
        )
        .label("parentheses alone select an extent of a shape")
        .help(format!("write `{base}.at({index})`"));
        el.cx.report(d);
        return Value::Error;
    }
    let kv = el.within(Frame::Derivation(None), |el| el.expression(k));
    if b.is_error() || kv.is_error() {
        return Value::Error;
    }
    let Some(n) = constant_of(&mut el.cx, &kv, k.span) else {
        return Value::Error;
    };
    match b {
        Value::Shape(s) => pick(
            &mut el.cx,
            s.into_iter().map(IntValue::plain).collect(),
            n,
            span,
        ),
        Value::Tuple(t) => pick(&mut el.cx, t, n, span),
        Value::Int(IntValue {
            bound: Some(bound), ..
        }) => {
            let value = if n >= 0 { Sym::int(n) } else { &bound + n };
            let inside = el.f.cx.lt(&value, &bound);
            let non_negative = el.f.cx.le(&Sym::zero(), &value);
            use crate::symbolic::Truth::No;
            if inside == No || non_negative == No {
                let (shown, last) = (el.f.cx.show(&bound), el.f.cx.show(&(&bound - 1)));
                el.cx.report(
                    Diagnostic::new(
                        codes::E0577,
                        span,
                        format!("there is no value {n} of a bound of {shown}"),
                    )
                    .label(format!(
                        "values are 0 to {last}, or -1 to -{shown} from the end"
                    )),
                );
                return Value::Error;
            }
            Value::Int(IntValue {
                value,
                bound: Some(bound),
                literal: false,
                get_ith: true,
                ty: None,
            })
        }
        other => {
            let kind = other.kind();
            el.cx.report(
                Diagnostic::new(
                    codes::E0420,
                    span,
                    format!("{kind} has no elements to pick"),
                )
                .label("expected a shape, an ituple or a bounded integer"),
            );
            Value::Error
        }
    }
}

pub(crate) fn lower_tuple(el: &mut Elab<'_>, items: &[ast::Expr]) -> Value {
    let mut out = Vec::new();
    let mut failed = false;
    for item in items {
        match el.expression(item) {
            Value::Int(i) => out.push(i),
            Value::Tuple(t) => out.extend(t),
            Value::Shape(s) => out.extend(s.into_iter().map(IntValue::plain)),
            Value::Error => failed = true,
            Value::Scalar(e) if e.ty.is_integer() => {
                el.cx.report(
                    Diagnostic::new(
                        codes::E0332,
                        item.span,
                        "an ituple can't hold a mutable or run-time value",
                    )
                    .label("known only while the kernel runs")
                    .help("ituples are built from constants, dimensions and bounded variables"),
                );
                failed = true;
            }
            other => {
                let kind = other.kind();
                el.cx.report(
                    Diagnostic::new(
                        codes::E0332,
                        item.span,
                        format!("an ituple holds integers, this is {kind}"),
                    )
                    .label("not an integer"),
                );
                failed = true;
            }
        }
    }
    if failed || !shape::check_few_parts(&mut el.cx, items, out.len()) {
        Value::Error
    } else {
        Value::Tuple(out)
    }
}

pub(crate) fn derive_tuple(
    el: &mut Elab<'_>,
    base: &ast::Expr,
    items: &[ast::Expr],
    span: Span,
) -> Value {
    let b = el.expression(base);
    let derive = match b {
        Value::Tuple(t) => Derive::Tuple(t),
        Value::Shape(s) => Derive::Shape(s),
        Value::Error => return Value::Error,
        other => {
            let kind = other.kind();
            el.cx.report(
                Diagnostic::new(
                    codes::E0107,
                    span,
                    format!("only an ituple can be derived from, this is {kind}"),
                )
                .label("not an ituple")
                .help("write `t {(0), 4}` where `t` is an ituple"),
            );
            return Value::Error;
        }
    };
    el.within(Frame::Derivation(Some(derive)), |el| lower_tuple(el, items))
}
