//! Element types, and conversions between them (language 02 section 9).

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{self, Expr, ExprKind, Scalar};
use crate::sema::checks::unsupported;
use crate::sema::state::cx::{self, Cx};
use crate::sema::state::elab::Elab;
use crate::sema::state::value::{IntValue, Value};
use crate::sema::values::precision::{self, Relation};
use crate::sema::values::widths;
use crate::source::Span;
use crate::symbolic::Sym;
use crate::syntax::ast::ElemType;

/// The type of a scalar variable or cast.
pub(crate) fn scalar_type(cx: &mut Cx<'_>, elem: ElemType, span: Span) -> Option<Scalar> {
    named_scalar(elem).or_else(|| element_type(cx, elem, span))
}

/// The same without a report.
pub(crate) fn named_scalar(elem: ElemType) -> Option<Scalar> {
    match elem {
        ElemType::Bool => Some(Scalar::Bool),
        ElemType::Int => Some(Scalar::S32),
        _ => Scalar::named(elem.text()),
    }
}

/// Reports a scalar of a packed type, or of an integer of less than a byte, that a call passes or
/// returns: Rust has no such type.
pub(crate) fn refuse_small_scalar(cx: &mut Cx<'_>, ty: Scalar, span: Span) -> bool {
    let refused = ty.is_packed() || ty.is_small_integer();
    if refused {
        cx.report(
            Diagnostic::new(
                codes::E0701,
                span,
                format!("a call can't pass or return a scalar of type `{ty}`"),
            )
            .label("a value of less than a byte")
            .help("write `s32` or `f32`, and convert it with `__to` where it is used"),
        );
    }
    refused
}

/// The type of stored elements.
pub(crate) fn element_type(cx: &mut Cx<'_>, elem: ElemType, span: Span) -> Option<Scalar> {
    if elem == ElemType::Int {
        cx.report(
            Diagnostic::new(
                codes::E0701,
                span,
                "`int` is a type of scalars, not of elements",
            )
            .label("not an element type")
            .help("write `s32`"),
        );
        return None;
    }
    let scalar = Scalar::named(elem.text());
    if scalar.is_none() {
        unsupported::report(cx, span, "this element type");
    }
    scalar
}

/// The type of elements in registers.
pub(crate) fn register_type(cx: &mut Cx<'_>, elem: ElemType, span: Span) -> Option<Scalar> {
    let scalar = element_type(cx, elem, span)?;
    if scalar == Scalar::Bool {
        cx.report(
            Diagnostic::new(
                codes::E0701,
                span,
                "fragments have no elements of type `bool`",
            )
            .label("not the type of a register")
            .help("write `s32`, and 0 or 1"),
        );
        return None;
    }
    Some(scalar)
}

/// The value of a literal; reports one that is too large for its type.
pub(crate) fn finite_literal(cx: &mut Cx<'_>, value: f64, ty: Scalar, span: Span) -> f64 {
    let value = match round_to(value, ty).is_infinite() {
        true => f64::INFINITY,
        false => value,
    };
    if value.is_infinite() {
        let written = cx.file.snippet(span).to_owned();
        cx.report(
            Diagnostic::new(
                codes::W0707,
                span,
                format!("`{written}` is too large for `{ty}`"),
            )
            .label("becomes infinite")
            .help("write `inf` if infinity is meant"),
        );
    } else if round_to(value, ty) == 0.0 && (value != 0.0 || is_not_zero(cx.file.snippet(span))) {
        let written = cx.file.snippet(span).to_owned();
        cx.report(
            Diagnostic::new(
                codes::W0707,
                span,
                format!("`{written}` is too small for `{ty}`"),
            )
            .label("becomes 0")
            .help("write 0 if that is meant"),
        );
    }
    value
}

/// Whether the text is a number that is not 0, but perhaps less than all of `f64`.
fn is_not_zero(literal: &str) -> bool {
    let is_number = literal.starts_with(|c: char| c.is_ascii_digit());
    let digits = literal.split(['e', 'E']).next().unwrap_or_default();
    is_number && digits.contains(|c: char| ('1'..='9').contains(&c))
}

/// `1 / 2` where a float is wanted.
fn lint_rounded_quotient(cx: &mut Cx<'_>, value: i64, target: Scalar, span: Span) {
    let text = cx.file.snippet(span);
    let bare = |c: char| c.is_whitespace() || c == '(' || c == ')';
    let numbers = text.split_once('/').and_then(|(a, b)| {
        let number = |text: &str| text.trim_matches(bare).parse::<u64>().ok();
        Some((number(a)?, number(b)?))
    });
    let Some((a, b)) = numbers.filter(|(a, b)| a.checked_rem(*b).is_some_and(|rest| rest != 0))
    else {
        return;
    };
    if target.is_float() {
        let written = text.to_owned();
        cx.report(
            Diagnostic::new(
                codes::W0708,
                span,
                format!("`{written}` is {value}: integers are divided without a remainder"),
            )
            .label(format!("becomes {value} as `{target}`"))
            .help(format!("divide floats: `{a}.0f / {b}.0f`")),
        );
    }
}

/// Converts a value to `target`, as for an initialiser, an operand or a stored element.
pub(crate) fn convert(el: &mut Elab<'_>, value: Value, target: Scalar, span: Span) -> Option<Expr> {
    match value {
        Value::Error => None,
        Value::Int(i) => {
            if target == Scalar::Index {
                return Some(Expr::index(i.value, span));
            }
            if let Some(n) = i.value.as_int() {
                lint_rounded_quotient(&mut el.cx, n, target, span);
                return literal_to(&mut el.cx, n, target, span);
            }
            index_to(el, i.value, target, span)
        }
        Value::Scalar(e) if is_chosen_integer(&e) && holds_all(el, &e, target) => {
            Some(Expr::new(ExprKind::Cast(e), target, span))
        }
        Value::Scalar(e) => convert_expr(&mut el.cx, e, target, span),
        Value::Tuple(mut t) if t.len() == 1 => {
            let only = t.pop()?;
            convert(el, Value::Int(only), target, span)
        }
        other => {
            let kind = other.kind();
            el.cx.report(
                Diagnostic::new(
                    codes::E0303,
                    span,
                    format!("{kind} can't be converted to `{target}`"),
                )
                .label(format!("this is {kind}")),
            );
            None
        }
    }
}

/// `c ? 1 : 0`, of integers without a type.
fn is_chosen_integer(e: &Expr) -> bool {
    e.ty == Scalar::Index && matches!(*e.kind, ExprKind::Select(..))
}

/// Whether a type represents each integer that an expression chooses from.
fn holds_all(el: &Elab<'_>, e: &Expr, target: Scalar) -> bool {
    match &*e.kind {
        ExprKind::Index(value) => holds(el, value, target),
        ExprKind::Select(_, a, b) => holds_all(el, a, target) && holds_all(el, b, target),
        _ => false,
    }
}

/// Whether a type represents all values of an integer.
fn holds(el: &Elab<'_>, value: &Sym, target: Scalar) -> bool {
    if target.is_float() {
        let (lo, hi) = el.f.cx.range(value);
        let exact: i64 = target.format().map_or(0, |format| 1 << format.digits);
        return lo.is_some_and(|l| l >= -exact) && hi.is_some_and(|h| h <= exact);
    }
    target != Scalar::Bool && target != Scalar::Index && ir::is_within(&el.f, value, target)
}

fn literal_to(cx: &mut Cx<'_>, n: i64, target: Scalar, span: Span) -> Option<Expr> {
    if target == Scalar::Bool {
        report_not_bool(cx, span, "an integer");
        return None;
    }
    if target.is_float() {
        let value = n as f64;
        let rounded = round_to(value, target);
        if rounded != value {
            cx.report(
                Diagnostic::new(
                    codes::W0707,
                    span,
                    format!("{n} is not representable in `{target}`"),
                )
                .label(format!("becomes {rounded}")),
            );
        }
        return Some(Expr::new(ExprKind::Float(value), target, span));
    }
    if let Some((lo, hi)) = target.limits()
        && !(lo..=hi).contains(&i128::from(n))
    {
        cx.report(
            Diagnostic::new(codes::W0707, span, format!("{n} does not fit `{target}`"))
                .label(format!("`{target}` holds {lo} to {hi}")),
        );
    }
    Some(Expr::new(ExprKind::Int(i128::from(n)), target, span))
}

fn index_to(
    el: &mut Elab<'_>,
    value: crate::symbolic::Sym,
    target: Scalar,
    span: Span,
) -> Option<Expr> {
    if target == Scalar::Bool {
        report_not_bool(&mut el.cx, span, "an integer");
        return None;
    }
    let fits = holds(el, &value, target);
    let e = Expr::index(value, span);
    if target.is_float() {
        if !fits && target != Scalar::F64 {
            let from = widths::type_of_index(&el.f, &e);
            precision::lint_lossy(&mut el.cx, from, target, span);
        }
    } else {
        let from = widths::type_of_index(&el.f, &e);
        let narrower = target.bits() < from.bits();
        if narrower && !fits {
            precision::lint_lossy(&mut el.cx, from, target, span);
        }
    }
    Some(Expr::new(ExprKind::Cast(e), target, span))
}

pub(crate) fn convert_expr(cx: &mut Cx<'_>, e: Expr, target: Scalar, span: Span) -> Option<Expr> {
    let from = e.ty;
    if from == target {
        return Some(e);
    }
    if let ExprKind::Float(v) = &*e.kind
        && target.is_float()
    {
        // A literal takes the target's type; that 0.1 is rounded to f32 is expected.
        let v = *v;
        if v.is_finite() && round_to(v, target).is_infinite() {
            cx.report(
                Diagnostic::new(
                    codes::W0707,
                    span,
                    format!("{v} is too large for `{target}`"),
                )
                .label("becomes infinite or the largest finite value"),
            );
        } else if v != 0.0 && round_to(v, target) == 0.0 {
            cx.report(
                Diagnostic::new(
                    codes::W0707,
                    span,
                    format!("{v:e} is too small for `{target}`"),
                )
                .label("becomes 0"),
            );
        }
        return Some(Expr::new(ExprKind::Float(v), target, span));
    }
    if target == Scalar::Bool {
        report_not_bool(cx, span, &format!("a value of type `{from}`"));
        return None;
    }
    if from == Scalar::Bool {
        cx.report(
            Diagnostic::new(
                codes::E0303,
                span,
                format!("a `bool` can't be converted to `{target}`"),
            )
            .label("a `bool`")
            .help(format!(
                "write `{} ? 1 : 0`",
                cx::source_text(cx, span, "cond")
            )),
        );
        return None;
    }
    if matches!(
        (from, target),
        (Scalar::F16, Scalar::Bf16) | (Scalar::Bf16, Scalar::F16)
    ) {
        precision::report_mixed_halves(cx, span);
        return None;
    }
    let from = precision::type_of_operands(&e);
    match precision::relation(from, target) {
        Relation::Preserving => {}
        Relation::Sign => cx.report(
            Diagnostic::new(
                codes::W0702,
                span,
                format!("implicit conversion from `{from}` to `{target}` changes signedness"),
            )
            .label(format!("`{from}` here"))
            .help(format!(
                "write `__to<{target}>({})` if that is meant",
                cx::source_text(cx, span, "…")
            )),
        ),
        Relation::Lossy => match precision::literal_without_f(cx, &e).filter(|_| target.is_float())
        {
            Some(literal) => precision::lint_computed_in_double(cx, target, span, literal),
            None => precision::lint_lossy(cx, from, target, span),
        },
    }
    Some(Expr::new(ExprKind::Cast(e), target, span))
}

/// An operand: integers of less than a byte are computed in `s32`, and `tf32` in `f32`.
pub(crate) fn promoted(value: Value) -> Value {
    let computed = |e: &Expr| match e.ty {
        Scalar::Tf32 => Some(Scalar::F32),
        ty => ty.is_small_integer().then_some(Scalar::S32),
    };
    match value {
        Value::Scalar(e) => Value::Scalar(match computed(&e) {
            Some(ty) => {
                let span = e.span;
                Expr::new(ExprKind::Cast(e), ty, span)
            }
            None => e,
        }),
        value => value,
    }
}

pub(crate) fn report_not_bool(cx: &mut Cx<'_>, span: Span, what: &str) {
    report_no_condition(cx, span, what, "!=");
}

/// The same; `operator 0` makes a condition of the number.
pub(crate) fn report_no_condition(cx: &mut Cx<'_>, span: Span, what: &str, operator: &str) {
    let mut text = cx::source_text(cx, span, "x");
    if text.contains(' ') {
        text = format!("({text})");
    }
    cx.report(
        Diagnostic::new(
            codes::E0340,
            span,
            format!("expected a `bool`, found {what}"),
        )
        .label("not a `bool`")
        .help(format!("compare it: `{text} {operator} 0`")),
    );
}

/// The type that the result of an operation on two integers has of its own.
pub(crate) fn joined_type(a: &IntValue, b: &IntValue) -> Option<Scalar> {
    match (a.ty, b.ty) {
        (Some(a), Some(b)) => common_type(a, b),
        (a, b) => a.or(b),
    }
}

/// The type in which two scalar operands are computed. `None` for a `bool` with another type, and for
/// `f16` with `bf16`.
pub(crate) fn common_type(a: Scalar, b: Scalar) -> Option<Scalar> {
    if a == b {
        return Some(a);
    }
    if a == Scalar::Bool || b == Scalar::Bool {
        return None;
    }
    match (a.is_float(), b.is_float()) {
        (true, false) => return Some(a),
        (false, true) => return Some(b),
        (true, true) => {
            if matches!(
                (a, b),
                (Scalar::F16, Scalar::Bf16) | (Scalar::Bf16, Scalar::F16)
            ) {
                return None;
            }
            return Some(if precision::relation(a, b) == Relation::Preserving {
                b
            } else if precision::relation(b, a) == Relation::Preserving {
                a
            } else {
                precision::narrowest_of_both(a, b)
            });
        }
        (false, false) => {}
    }
    Some(match (a.is_signed(), b.is_signed()) {
        (true, true) | (false, false) => {
            if a.bits() >= b.bits() {
                a
            } else {
                b
            }
        }
        (true, false) => {
            if a.bits() > b.bits() {
                a
            } else {
                b
            }
        }
        (false, true) => {
            if b.bits() > a.bits() {
                b
            } else {
                a
            }
        }
    })
}

/// Rounds a value to a float type; for 8-bit types, only detects overflow.
fn round_to(value: f64, ty: Scalar) -> f64 {
    match (ty, ty.format()) {
        (Scalar::F32, _) => f64::from(value as f32),
        (Scalar::F16 | Scalar::Bf16 | Scalar::Tf32, Some(format)) => format.nearest(value),
        (_, Some(format)) if value.abs() > format.largest => value.signum() * f64::INFINITY,
        _ => value,
    }
}

/// The range of an integer type, within the 64-bit signed integers.
pub(crate) fn integer_range(ty: Scalar) -> (Option<Sym>, Option<Sym>) {
    let small = ty.limits().filter(|_| ty.bytes() < 8);
    let bound = |n: i128| i64::try_from(n).ok().map(Sym::int);
    small.map_or((None, None), |(lo, hi)| (bound(lo), bound(hi)))
}

#[cfg(test)]
mod tests {
    use crate::sema::testing::codes;

    #[test]
    fn literals_that_become_infinite_are_reported_once() {
        for (value, reported) in [
            ("1e999f", true),
            ("1e39f", true),
            ("-1e39f", true),
            ("1e999", true),
            ("__to<f16>(1e39f)", true),
            ("3.4028235e38f", false),
            ("inf", false),
        ] {
            let text = format!(
                "__co__ void f(global f64 [8] x) {{ parallel p by 8 : thread x.at(p) = {value}; }}\n"
            );
            let found = codes(&text, &[]);
            let times = found.iter().filter(|code| **code == "W0707").count();
            assert_eq!(times, usize::from(reported), "{value}: {found:?}");
        }
    }

    #[test]
    fn literals_that_become_zero_are_reported_once() {
        for (value, element, reported) in [
            ("1e-999f", "f32", true),
            ("1e-46f", "f32", true),
            ("-1e-46f", "f32", true),
            ("1e-999", "f64", true),
            ("0.1e-999", "f64", true),
            ("1e-9f", "f16", true),
            ("1e-46f", "f16", true),
            ("1e-45f", "f32", false),
            ("1e-7f", "f16", false),
            ("0e-999f", "f32", false),
            ("0.0f", "f16", false),
            ("1e-300", "f64", false),
        ] {
            let text = format!(
                "__co__ void f(global {element} [8] x) {{ parallel p by 8 : thread x.at(p) = {value}; }}\n"
            );
            let found = codes(&text, &[]);
            let times = found.iter().filter(|code| **code == "W0707").count();
            assert_eq!(times, usize::from(reported), "{value}: {found:?}");
        }
    }
}
