//! `t {(0), 5}`, and the values of ituples.

use chumsky::prelude::*;

use super::ast::{Expr, ExprKind};
use super::expression::Exprs;
use super::fault::Fault;
use super::rule::*;
use crate::diagnostics::{Diagnostic, codes};
use crate::source::token::Punct;

/// The value of an ituple, or of a name that may be one.
pub fn tuple_value<'t>(e: &Exprs<'t>) -> Rule<'t, Expr> {
    with_derivation(e.shape.clone(), e)
        .map_with(|value, e| (value, e.state().0.file))
        .validate(|(value, file), _, emitter| match &*value.kind {
            ExprKind::List(items) => {
                let inner: Vec<&str> = items.iter().map(|item| file.snippet(item.span)).collect();
                emitter.emit(Fault::known(
                    Diagnostic::new(codes::E0108, value.span, "an ituple is written with braces")
                        .label("brackets enclose a shape")
                        .help(format!("write `{{{}}}`", inner.join(", "))),
                ));
                let span = value.span;
                match *value.kind {
                    ExprKind::List(items) => expr(ExprKind::Braces(items), span),
                    kind => expr(kind, span),
                }
            }
            ExprKind::Subscript(base, items)
                if items
                    .iter()
                    .any(|item| matches!(&*item.kind, ExprKind::Paren(_))) =>
            {
                let inner: Vec<&str> = items.iter().map(|item| file.snippet(item.span)).collect();
                emitter.emit(Fault::known(
                    Diagnostic::new(codes::E0107, value.span, "an ituple is derived with braces")
                        .label("brackets derive a shape")
                        .help(format!(
                            "write `{} {{{}}}`",
                            file.snippet(base.span),
                            inner.join(", ")
                        )),
                ));
                let span = value.span;
                match *value.kind {
                    ExprKind::Subscript(base, items) => expr(ExprKind::Derive(base, items), span),
                    kind => expr(kind, span),
                }
            }
            _ => value,
        })
        .boxed()
}

/// An expression, or `t {(0), 5}`.
pub fn with_derivation<'t>(base: Rule<'t, Expr>, e: &Exprs<'t>) -> Rule<'t, Expr> {
    let items = between(Punct::LBrace, comma(e.any.clone()), Punct::RBrace);
    base.then(when(|kind| kind.is(Punct::LBrace), items).or_not())
        .map(|(base, items)| match items {
            None => base,
            Some((items, end)) => {
                let span = base.span.to(end);
                expr(ExprKind::Derive(base, items), span)
            }
        })
        .boxed()
}
