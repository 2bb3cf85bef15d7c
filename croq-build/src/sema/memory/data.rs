//! Names of data, and the views they refer to.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{Valid, View};
use crate::sema::asynchronous::futures;
use crate::sema::checks::unsupported;
use crate::sema::memory::{access, guards, tiles, view, whole};
use crate::sema::state::elab::Elab;
use crate::sema::state::scopes::Entity;
use crate::sema::state::value::{Data, Value};
use crate::source::Span;
use crate::symbolic::Sym;
use crate::syntax::ast;

pub(crate) fn named(el: &mut Elab<'_>, name: &str, entity: Entity, span: Span) -> Value {
    match entity {
        Entity::Buffer { id, array } => {
            // A buffer that others were joined with keeps its shape under its name.
            let shape = el.storage.pools.declared_shape(id);
            let view = match shape.map(<[Sym]>::to_vec) {
                Some(shape) => whole::view_of_shape(id, shape, span),
                None => whole::whole_view(&el.f, id, span),
            };
            let mut data = whole::data_of(view, name, span);
            data.array = array;
            Value::Data(data)
        }
        Entity::View(data) | Entity::Chosen(data) => Value::Data(Data {
            span,
            name: name.to_owned(),
            ..data
        }),
        Entity::Future(id) => futures::value_of(el, id, span),
        _ => Value::Error,
    }
}

/// `base.span`, `f.data`
pub(crate) fn lower_member(
    el: &mut Elab<'_>,
    e: &ast::Expr,
    base: &ast::Expr,
    member: ast::Member,
    span: Span,
) -> Value {
    match member {
        ast::Member::Span => match el.expression(base) {
            Value::Data(d) => Value::Shape(d.view.shape),
            Value::Error => Value::Error,
            other => {
                let kind = other.kind();
                el.cx.report(
                    Diagnostic::new(codes::E0427, span, format!("{kind} has no `.span`"))
                        .label("has no shape"),
                );
                Value::Error
            }
        },
        ast::Member::Data => match el.expression(base) {
            Value::Data(d) if d.future.is_some() => {
                futures::emit_use(el, &d, span);
                Value::Data(Data {
                    future: None,
                    span: e.span,
                    ..d
                })
            }
            Value::Error => Value::Error,
            other => {
                let kind = other.kind();
                let name = el.cx.file.snippet(base.span).to_owned();
                el.cx.report(
                    Diagnostic::new(
                        codes::E0203,
                        span,
                        format!("only a data future has `.data`; `{name}` is {kind}"),
                    )
                    .label("not a future")
                    .help(format!("use `{name}` itself")),
                );
                Value::Error
            }
        },
        ast::Member::Mdata => {
            unsupported::report(&mut el.cx, span, "sparse data (`.mdata`)");
            Value::Error
        }
    }
}

/// Evaluates an expression that must be data, for copies and tile operators.
pub(crate) fn lower(el: &mut Elab<'_>, e: &ast::Expr) -> Option<Data> {
    lower_or(el, e, |kind| {
        Diagnostic::new(
            codes::E0833,
            e.span,
            format!("expected spanned data, found {kind}"),
        )
        .label("not data")
        .help("copies and tile operators take buffers, parameters, futures and views of them")
    })
}

/// The same; `otherwise` is the message for another kind of value.
fn lower_or(
    el: &mut Elab<'_>,
    e: &ast::Expr,
    otherwise: impl FnOnce(&str) -> Diagnostic,
) -> Option<Data> {
    match el.expression(e) {
        Value::Data(d) => whole::expect_whole(el, d, e.span),
        Value::Error => None,
        other => {
            let kind = other.kind();
            el.cx.report(otherwise(&kind));
            None
        }
    }
}

pub(crate) fn value_of(el: &mut Elab<'_>, e: &ast::Expr) -> Value {
    let ast::ExprKind::View(base, op, at) = &*e.kind else {
        return Value::Error;
    };
    let data = match op {
        ast::ViewOp::SpanAs(_) => lower_or(el, base, |kind| {
            Diagnostic::new(
                codes::E0826,
                base.span,
                format!("`span_as` gives data another shape; this is {kind}"),
            )
            .label("has no shape")
            .help("reshape a buffer, a parameter, a future's data or a view of them")
        }),
        _ => lower(el, base),
    };
    let Some(data) = data else {
        return Value::Error;
    };
    match view::lower_operator(el, data, op, *at) {
        Some(mut d) => {
            d.span = e.span;
            d.view.span = e.span;
            Value::Data(d)
        }
        None => Value::Error,
    }
}

pub(crate) fn address_of(el: &mut Elab<'_>, a: &ast::Expr) -> Value {
    if let ast::ExprKind::At(base, indices) = &*a.kind {
        return match access::lower_in_kernel(el, base, indices, a.span) {
            Some(access) => {
                let guard = guards::take(el);
                let offset = guards::guard_place(el, guard, access.address(), a.span);
                let mut view = View {
                    offset,
                    frame: None,
                    ..access.view
                };
                view.shape.fill(Sym::one());
                view.valid.fill(Valid::default());
                Value::Address(view)
            }
            None => Value::Error,
        };
    }
    match lower(el, a) {
        Some(mut d) => {
            tiles::emit_exists(el, &mut d);
            Value::Address(d.view)
        }
        None => Value::Error,
    }
}
