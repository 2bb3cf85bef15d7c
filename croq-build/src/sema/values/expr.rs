//! Expressions.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{Expr, ExprKind, Scalar, UnOp};
use crate::sema::checks::operator_lints;
use crate::sema::memory::{access, choices, data, select, whole};
use crate::sema::names::scope;
use crate::sema::state::elab::Elab;
use crate::sema::state::path::Frame;
use crate::sema::state::scopes::Entity;
use crate::sema::state::value::{Derive, IntValue, Value};
use crate::sema::statements::{call, increments};
use crate::sema::values::{conditionals, convert, integers, operators, shape, tuples, widths};
use crate::source::Span;
use crate::symbolic::Sym;
use crate::syntax::ast;

pub(crate) fn lower(el: &mut Elab<'_>, e: &ast::Expr) -> Value {
    use ast::ExprKind as K;
    let span = e.span;
    match &*e.kind {
        K::Int { value, suffix } => match i64::try_from(*value) {
            Ok(n) => Value::Int(IntValue {
                ty: widths::type_of_literal(*value, *suffix),
                ..IntValue::plain(Sym::int(n))
            }),
            Err(_) => Value::Scalar(Expr::new(ExprKind::Int(*value), Scalar::U64, span)),
        },
        K::Float { value, single } => {
            let ty = if *single { Scalar::F32 } else { Scalar::F64 };
            let value = convert::finite_literal(&mut el.cx, *value, ty, span);
            Value::Scalar(Expr::new(ExprKind::Float(value), ty, span))
        }
        K::Inf => Value::Scalar(Expr::new(ExprKind::Float(f64::INFINITY), Scalar::F32, span)),
        K::Bool(b) => Value::Scalar(Expr::bool(*b, span)),
        K::Str(s) => Value::Str(s.clone()),
        K::Nullptr => Value::Null,
        K::Wildcard => Value::Wildcard,
        K::Error => Value::Error,
        K::Name(name) => lower_name(el, name, span),
        K::Paren(inner) => lower_paren(el, inner),
        K::Unary(op, a) => lower_unary(el, *op, a, span),
        K::Binary(op, at, a, b) => operators::lower(el, *op, *at, a, b, span),
        K::Ternary(c, a, b) => conditionals::lower_ternary(el, c, a, b, span),
        K::Extent(a) => lower_extent(el, a, span),
        K::Increment { prefix, by, target } => {
            increments::lower_increment(el, *prefix, *by, target, span)
        }
        K::List(items) => match shape::lower_items(el, items) {
            Some(shape) => Value::Shape(shape),
            None => Value::Error,
        },
        K::Braces(items) => tuples::lower_tuple(el, items),
        K::Element(base, k) => tuples::lower_element(el, base, k, span),
        K::Derive(base, items) => tuples::derive_tuple(el, base, items, span),
        K::Subscript(base, items) => shape::lower_subscript(el, base, items, span),
        K::Count(a) => shape::lower_count(el, a, span),
        K::SizeOf(elem) => match convert::scalar_type(&mut el.cx, *elem, span) {
            Some(t) => Value::Int(IntValue::plain(Sym::int(
                i64::try_from(t.bytes()).unwrap_or(i64::MAX),
            ))),
            None => Value::Error,
        },
        K::Member(base, member, _) => data::lower_member(el, e, base, *member, span),
        K::At(base, indices) => choices::lower_load(el, base, indices, span),
        K::View(..) => data::value_of(el, e),
        K::AddressOf(a) => data::address_of(el, a),
        K::Builtin { name, args } => shape::lower_builtin(el, name, args, span),
        K::Cast(elem, a) => lower_cast(el, *elem, a, span),
        K::CppCast(..) => {
            el.cx.report(
                Diagnostic::new(
                    codes::E0705,
                    span,
                    "a cast to a C++ type is only for `call` arguments",
                )
                .label("not an argument"),
            );
            Value::Error
        }
        K::Select(items, number) => select::lower_select(el, items, (span, *number)),
        K::Call(call) => call::lower_value(el, call, span),
    }
}

fn lower_name(el: &mut Elab<'_>, name: &str, span: Span) -> Value {
    let Some(entity) = scope::lookup(el, name, span) else {
        return Value::Error;
    };
    match entity {
        Entity::Int { value, .. } => Value::Int(value),
        Entity::Tuple { values, .. } => Value::Tuple(values),
        Entity::Range(id) => match el.ranges.values.get(id) {
            Some(r) => Value::Int(r.clone()),
            None => Value::Error,
        },
        Entity::RangeTuple(ids) => Value::Tuple(
            ids.iter()
                .filter_map(|id| el.ranges.values.get(*id).cloned())
                .collect(),
        ),
        Entity::Shape(s) => Value::Shape(s),
        Entity::Scalar { local, .. } => {
            let ty = el.f.local(local).ty;
            Value::Scalar(Expr::new(ExprKind::Local(local), ty, span))
        }
        Entity::ScalarParam { param, ty } => {
            Value::Scalar(Expr::new(ExprKind::Param(param), ty, span))
        }
        Entity::Word(id) => {
            let access = access::access_word(el, id, span);
            let elem = el.f.buffer(id).elem;
            whole::mark_accessed(&mut el.f, &access.view, true, false);
            Value::Scalar(Expr::new(ExprKind::Load(access), elem, span))
        }
        Entity::Buffer { .. } | Entity::View(_) | Entity::Future(_) | Entity::Chosen(_) => {
            data::named(el, name, entity, span)
        }
        Entity::Stream(_)
        | Entity::Event(_)
        | Entity::Signal(_)
        | Entity::Flag(_)
        | Entity::Operation(_) => {
            let kind = entity.kind();
            el.cx.report(
                Diagnostic::new(
                    codes::E0203,
                    span,
                    format!("`{name}` is {kind}, not a value"),
                )
                .label(kind),
            );
            Value::Error
        }
        Entity::Poison => Value::Error,
    }
}

/// `(i)` is element `i` of the base inside a derivation, plain parentheses elsewhere.
fn lower_paren(el: &mut Elab<'_>, inner: &ast::Expr) -> Value {
    let bare = matches!(
        &*inner.kind,
        ast::ExprKind::Int { .. } | ast::ExprKind::Name(_)
    );
    let Some(base) = el.path.derivation().cloned().filter(|_| bare) else {
        return lower(el, inner);
    };
    let k = el.within(Frame::Derivation(None), |el| lower(el, inner));
    let Some(k) = tuples::constant_of(&mut el.cx, &k, inner.span) else {
        return Value::Error;
    };
    match base {
        Derive::Shape(s) => tuples::pick(
            &mut el.cx,
            s.into_iter().map(IntValue::plain).collect(),
            k,
            inner.span,
        ),
        Derive::Tuple(t) => tuples::pick(&mut el.cx, t, k, inner.span),
    }
}

fn lower_unary(el: &mut Elab<'_>, op: ast::UnaryOp, a: &ast::Expr, span: Span) -> Value {
    let v = convert::promoted(lower(el, a));
    if v.is_error() {
        return Value::Error;
    }
    operator_lints::lint_mixed_prefix(el, op, a, span);
    match (op, v) {
        (ast::UnaryOp::Neg, Value::Int(i)) if (-&i.value).is_poison() => {
            integers::report_too_large(&mut el.cx, span);
            Value::Error
        }
        (ast::UnaryOp::Neg, Value::Int(i)) => Value::Int(IntValue {
            value: -i.value,
            bound: None,
            literal: i.literal,
            get_ith: false,
            ty: i.ty,
        }),
        (ast::UnaryOp::Neg, Value::Scalar(e)) if e.ty != Scalar::Bool => {
            if let ExprKind::Float(v) = &*e.kind {
                return Value::Scalar(Expr::new(ExprKind::Float(-*v), e.ty, span));
            }
            let ty = e.ty;
            Value::Scalar(Expr::new(ExprKind::Unary(UnOp::Neg, e), ty, span))
        }
        (ast::UnaryOp::Not, Value::Scalar(e)) if e.ty == Scalar::Bool => {
            Value::Scalar(Expr::new(ExprKind::Unary(UnOp::Not, e), Scalar::Bool, span))
        }
        (ast::UnaryOp::BitNot, Value::Int(i)) => {
            let ty = widths::own_type(&el.f, &i).unwrap_or(Scalar::Index);
            let operand = convert::convert(el, Value::Int(i), ty, span);
            operand.map_or(Value::Error, |e| {
                Value::Scalar(Expr::new(ExprKind::Unary(UnOp::BitNot, e), ty, span))
            })
        }
        (ast::UnaryOp::BitNot, Value::Scalar(e)) if e.ty.is_integer() => {
            let ty = e.ty;
            Value::Scalar(Expr::new(ExprKind::Unary(UnOp::BitNot, e), ty, span))
        }
        (ast::UnaryOp::Not, v @ (Value::Int(_) | Value::Scalar(_))) => {
            let kind = v.kind();
            // `!x` of a number in C.
            convert::report_no_condition(&mut el.cx, a.span, &kind, "==");
            Value::Error
        }
        (op, v) => {
            let sign = match op {
                ast::UnaryOp::Not => "!",
                ast::UnaryOp::Neg => "-",
                ast::UnaryOp::BitNot => "~",
            };
            let kind = v.kind();
            el.cx.report(
                Diagnostic::new(
                    codes::E0344,
                    span,
                    format!("`{sign}` can't be applied to {kind}"),
                )
                .label(format!("the operand is {kind}")),
            );
            Value::Error
        }
    }
}

fn lower_extent(el: &mut Elab<'_>, a: &ast::Expr, span: Span) -> Value {
    match lower(el, a) {
        Value::Int(IntValue { bound: Some(b), .. }) => Value::Int(IntValue::plain(b)),
        Value::Tuple(t) if t.iter().all(|i| i.bound.is_some()) => Value::Tuple(
            t.into_iter()
                .filter_map(|i| i.bound)
                .map(IntValue::plain)
                .collect(),
        ),
        Value::Error => Value::Error,
        other => {
            let kind = other.kind();
            el.cx.report(
                    Diagnostic::new(codes::E0570, span, format!("`#` asks for a bound, but this is {kind}"))
                        .label("has no bound")
                        .help("only variables of `parallel`, `with` and `foreach`, and arithmetic on them, have one"),
                );
            Value::Error
        }
    }
}

/// Converts through a 64-bit type: an explicit cast may truncate.
fn written_cast(index: Expr, whole: Scalar, ty: Scalar, span: Span) -> Expr {
    let value = Expr::new(ExprKind::Cast(index), whole, span);
    if whole == ty {
        return value;
    }
    Expr::new(ExprKind::Cast(value), ty, span)
}

fn lower_cast(el: &mut Elab<'_>, elem: ast::ElemType, a: &ast::Expr, span: Span) -> Value {
    let v = lower(el, a);
    let Some(ty) = convert::scalar_type(&mut el.cx, elem, span) else {
        return Value::Error;
    };
    match v {
        Value::Error => Value::Error,
        Value::Int(i) => {
            let e = match i.value.as_int() {
                Some(n) if ty.is_float() => Expr::new(ExprKind::Float(n as f64), ty, span),
                Some(n) if !ty.is_small_integer() && ty.cut_off(n) != i128::from(n) => {
                    Expr::new(ExprKind::Int(ty.cut_off(n)), ty, span)
                }
                None if ty.is_integer() => {
                    let whole = widths::whole_type(&el.f, &i.value);
                    written_cast(Expr::index(i.value, span), whole, ty, span)
                }
                _ => Expr::new(ExprKind::Cast(Expr::index(i.value, span)), ty, span),
            };
            Value::Scalar(e)
        }
        Value::Scalar(e) if e.ty == ty => Value::Scalar(e),
        Value::Scalar(e) if e.ty == Scalar::Index && ty.is_integer() => {
            Value::Scalar(written_cast(e, Scalar::S64, ty, span))
        }
        Value::Scalar(e) => Value::Scalar(Expr::new(ExprKind::Cast(e), ty, span)),
        other => {
            let kind = other.kind();
            el.cx.report(
                Diagnostic::new(
                    codes::E0705,
                    span,
                    format!("{kind} can't be cast to `{ty}`"),
                )
                .label(format!("this is {kind}")),
            );
            Value::Error
        }
    }
}
