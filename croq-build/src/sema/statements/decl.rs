//! Declarations of shapes, ituples and scalars.

use crate::diagnostics::{Diagnostic, codes};
use crate::sema::names::scope;
use crate::sema::state::cx::Cx;
use crate::sema::state::elab::Elab;
use crate::sema::state::scopes::{Entity, IntKind};
use crate::sema::state::value::Value;
use crate::sema::values::{constants, shape};
use crate::syntax::ast;

pub(crate) fn declare_mdspan(
    el: &mut Elab<'_>,
    rank: Option<&ast::Expr>,
    name: &ast::Name,
    value: &ast::Expr,
) {
    let v = el.expression(value);
    let entity = match v {
        Value::Shape(s) => Some(s),
        Value::Tuple(t) => Some(t.into_iter().map(|i| i.value).collect()),
        Value::Error => None,
        other => {
            let kind = other.kind();
            el.cx.report(
                Diagnostic::new(
                    codes::E0303,
                    value.span,
                    format!("`{}` is a shape, its initialiser is {kind}", name.text),
                )
                .label("not a shape")
                .help("write `[a, b]`, or `x.span`"),
            );
            None
        }
    };
    let Some(shape) = entity else {
        return scope::declare(el, name, Entity::Poison);
    };
    check_rank(&mut el.cx, rank, "mdspan", shape.len());
    let mut ok = true;
    for extent in &shape {
        ok &= shape::check_positive(el, extent, value.span);
    }
    scope::declare(
        el,
        name,
        if ok {
            Entity::Shape(shape)
        } else {
            Entity::Poison
        },
    );
}

fn check_rank(cx: &mut Cx<'_>, rank: Option<&ast::Expr>, what: &str, got: usize) {
    let Some(rank) = rank else { return };
    let want = constants::constant(rank);
    if want != i64::try_from(got).ok() {
        let text = cx.file.snippet(rank.span).to_owned();
        cx.report(
            Diagnostic::new(
                codes::E0424,
                rank.span,
                format!("`{what}<{text}>`, but the initialiser has rank {got}"),
            )
            .label(format!("expected {got}")),
        );
    }
}

pub(crate) fn declare_ituple(
    el: &mut Elab<'_>,
    rank: Option<&ast::Expr>,
    name: &ast::Name,
    value: &ast::Expr,
) {
    let entity = match el.expression(value) {
        Value::Tuple(values) => {
            check_rank(&mut el.cx, rank, "ituple", values.len());
            Entity::Tuple {
                values,
                kind: IntKind::Named,
            }
        }
        Value::Error => Entity::Poison,
        Value::Shape(_) => {
            el.cx.report(
                Diagnostic::new(codes::E0108, value.span, "an ituple is written in braces")
                    .label("a shape")
                    .help("write `{a, b}`"),
            );
            Entity::Poison
        }
        other => {
            let kind = other.kind();
            el.cx.report(
                Diagnostic::new(
                    codes::E0303,
                    value.span,
                    format!("`{}` is an ituple, its initialiser is {kind}", name.text),
                )
                .label("not an ituple")
                .help("write `{a, b}`"),
            );
            Entity::Poison
        }
    };
    scope::declare(el, name, entity);
}
