//! Literals, and expressions in parentheses.

use chumsky::prelude::*;

use super::ast::{Expr, ExprKind, IntSuffix};
use super::fault::{Class, Fault};
use super::rule::*;
use crate::diagnostics::{Diagnostic, codes};
use crate::source::token::{Keyword, Punct, TokenKind};

pub fn literal<'t>() -> Rule<'t, Expr> {
    accept(Class::Expression, |token| {
        let kind = match &token.kind {
            TokenKind::Int {
                value,
                unsigned,
                long,
            } => ExprKind::Int {
                value: *value,
                suffix: IntSuffix {
                    unsigned: *unsigned,
                    long: *long,
                },
            },
            TokenKind::Float { value, single } => ExprKind::Float {
                value: *value,
                single: *single,
            },
            TokenKind::Keyword(Keyword::True) => ExprKind::Bool(true),
            TokenKind::Keyword(Keyword::False) => ExprKind::Bool(false),
            TokenKind::Keyword(Keyword::Inf) => ExprKind::Inf,
            TokenKind::Keyword(Keyword::Nullptr) => ExprKind::Nullptr,
            _ => return None,
        };
        Some(expr(kind, token.span))
    })
}

pub fn text_literal<'t>() -> Rule<'t, Expr> {
    when(
        |kind| matches!(kind, TokenKind::Str(_)),
        spanned(text()).map(|(text, span)| expr(ExprKind::Str(text), span)),
    )
}

/// `(e)`; `(a, b)` is reported as an intended `{a, b}`.
pub fn parenthesised<'t>(any: Rule<'t, Expr>) -> Rule<'t, Expr> {
    let group =
        parens(comma(any.clone())).map_with(|(items, span), e| (items, span, e.state().0.file));
    let group = group.validate(|(mut items, span, file), _, emitter| {
        if items.len() == 1
            && let Some(item) = items.pop()
        {
            return expr(ExprKind::Paren(item), span);
        }
        let inner: Vec<&str> = items.iter().map(|item| file.snippet(item.span)).collect();
        let report = Diagnostic::new(codes::E0108, span, "an ituple is written with braces")
            .label("parentheses hold one value")
            .help(format!("write `{{{}}}`", inner.join(", ")));
        emitter.emit(Fault::known(with_braces(report, file.snippet(span))));
        expr(ExprKind::Braces(items), span)
    });
    when(
        |kind| kind.is(Punct::LParen),
        choice((c_cast(any), group.boxed())),
    )
}

/// `(float) x`
fn c_cast<'t>(any: Rule<'t, Expr>) -> Rule<'t, Expr> {
    rule(|inp| {
        if let [Some(open), Some(ty), Some(close)] = ahead(inp)
            && open.kind.is(Punct::LParen)
            && close.kind.is(Punct::RParen)
            && let TokenKind::Type(word) = ty.kind
        {
            for _ in 0..3 {
                inp.next_ref();
            }
            let span = open.span.to(close.span);
            inp.emit(Fault::known(
                Diagnostic::new(codes::E0126, span, "there are no C casts")
                    .label("a type in parentheses")
                    .help(format!("write `__to<{}>(value)`", word.text())),
            ));
            return Ok(span);
        }
        Err(Fault::expected(position(inp), Class::Expression))
    })
    .then(any.or_not())
    .map(|(span, value)| {
        let end = value.map_or(span, |value| value.span);
        expr(ExprKind::Error, span.to(end))
    })
    .boxed()
}
