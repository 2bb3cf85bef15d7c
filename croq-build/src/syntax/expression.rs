//! Expressions: operands, and the contexts of expressions.

use chumsky::prelude::*;

use super::ast::{Expr, ExprKind};
use super::call::{device_call, named};
use super::fault::{Class, Fault};
use super::literal::{literal, parenthesised, text_literal};
use super::operators::{Place, binary};
use super::postfix;
use super::rule::*;
use crate::diagnostics::{Diagnostic, codes};
use crate::source::token::{Keyword, Punct, TokenKind};

/// The expression rules that other rules use.
#[derive(Clone)]
pub struct Exprs<'t> {
    /// Any expression.
    pub any: Rule<'t, Expr>,
    /// An expression that is used as a shape, or for its extents.
    pub shape: Rule<'t, Expr>,
    /// An expression between `<` and `>`.
    pub angle: Rule<'t, Expr>,
    /// An operand with its subscripts, members and calls, but without operators.
    pub operand: Rule<'t, Expr>,
    /// Any expression, or `_` alone.
    pub tiling: Rule<'t, Expr>,
}

/// Rules that contain themselves use `recursive`, whose inner reference is weak: rules that own
/// each other would never be freed.
pub fn expressions<'t>() -> Exprs<'t> {
    let operand: Rule<'t, Expr> = recursive(|operand| {
        let operand: Rule<'t, Expr> = operand.boxed();
        let any = any_expression(&operand);
        let tiling = tiling_argument(any.clone());
        let pipe = binary(operand, Place::Pipe);
        let atom = atom(any.clone(), any.clone(), pipe, tiling.clone());
        postfix::operand(atom, &any, &tiling, false)
    })
    .boxed();
    let any = any_expression(&operand);
    let tiling = tiling_argument(any.clone());
    let shape = recursive(|shape| {
        let pipe = binary(operand.clone(), Place::Pipe);
        let atom = atom(any.clone(), shape.boxed(), pipe, tiling.clone());
        let operand = postfix::operand(atom, &any, &tiling, true);
        conditional(binary(operand, Place::Shape), any.clone())
    })
    .boxed();
    let angle = binary(operand.clone(), Place::Angle);
    Exprs {
        any,
        shape,
        angle,
        operand,
        tiling,
    }
}

fn any_expression<'t>(operand: &Rule<'t, Expr>) -> Rule<'t, Expr> {
    recursive(|any| conditional(binary(operand.clone(), Place::Any), any.boxed())).boxed()
}

/// `_` alone among the arguments of a tile operator, or an expression.
fn tiling_argument<'t>(any: Rule<'t, Expr>) -> Rule<'t, Expr> {
    let lone = rule(|inp| {
        if let [Some(token), next] = ahead(inp)
            && token.kind.word() == Some("_")
            && next.is_none_or(|next| {
                matches!(
                    next.kind,
                    TokenKind::Punct(Punct::Comma | Punct::RParen | Punct::Colon)
                )
            })
        {
            inp.next_ref();
            return Ok(expr(ExprKind::Wildcard, token.span));
        }
        Err(Fault::expected(position(inp), Class::Expression))
    });
    choice((lone, any)).boxed()
}

/// `condition ? yes : no`
fn conditional<'t>(condition: Rule<'t, Expr>, any: Rule<'t, Expr>) -> Rule<'t, Expr> {
    let question = accept(Class::Operator, |token| {
        token.kind.is(Punct::Question).then_some(())
    });
    let rest = question
        .ignore_then(any.clone())
        .then_ignore(punct(Punct::Colon))
        .then(any);
    condition
        .then(rest.or_not())
        .map(|(condition, rest)| match rest {
            None => condition,
            Some((yes, no)) => {
                let span = condition.span.to(no.span);
                expr(ExprKind::Ternary(condition, yes, no), span)
            }
        })
        .boxed()
}

/// The first part of an operand.
fn atom<'t>(
    any: Rule<'t, Expr>,
    list: Rule<'t, Expr>,
    pipe: Rule<'t, Expr>,
    tiling: Rule<'t, Expr>,
) -> Rule<'t, Expr> {
    choice((
        named(any.clone()),
        literal(),
        parenthesised(any.clone()),
        braces(any.clone()),
        bracket_list(list),
        count(pipe),
        text_literal(),
        cast(any.clone()),
        select(any.clone()),
        device_call(any, tiling),
        misused_word(),
    ))
    .boxed()
}

fn braces<'t>(any: Rule<'t, Expr>) -> Rule<'t, Expr> {
    between(Punct::LBrace, comma(any), Punct::RBrace)
        .map(|(items, span)| expr(ExprKind::Braces(items), span))
        .boxed()
}

fn bracket_list<'t>(item: Rule<'t, Expr>) -> Rule<'t, Expr> {
    between(Punct::LBracket, comma(item), Punct::RBracket)
        .map(|(items, span)| expr(ExprKind::List(items), span))
        .boxed()
}

/// `|e|` and `|s32|`
fn count<'t>(pipe: Rule<'t, Expr>) -> Rule<'t, Expr> {
    let inner = choice((
        elem_word().map(|(elem, _)| ExprKind::SizeOf(elem)).boxed(),
        pipe.map(ExprKind::Count).boxed(),
    ))
    .boxed();
    when(
        |kind| kind.is(Punct::Pipe),
        between(Punct::Pipe, inner, Punct::Pipe).map(|(kind, span)| expr(kind, span)),
    )
}

/// `__to<T>(e)`, `__to<"T*">(e)`
fn cast<'t>(any: Rule<'t, Expr>) -> Rule<'t, Expr> {
    let elem = elem_word()
        .then_ignore(punct(Punct::Gt))
        .then(parens(any.clone()))
        .map(|((elem, _), (value, close))| (ExprKind::Cast(elem, value), close));
    let cpp = text()
        .then_ignore(punct(Punct::Gt))
        .then(parens(any))
        .map(|(ty, (value, close))| (ExprKind::CppCast(ty, value), close));
    when_keyword(
        Keyword::To,
        keyword(Keyword::To, Class::Expression)
            .then_ignore(punct(Punct::Lt))
            .then(choice((elem.boxed(), cpp.boxed())))
            .map(|(start, (kind, close))| expr(kind, start.to(close))),
    )
}

fn select<'t>(any: Rule<'t, Expr>) -> Rule<'t, Expr> {
    when_keyword(
        Keyword::Select,
        rule(|inp| Ok(position(inp)))
            .then(keyword(Keyword::Select, Class::Expression))
            .then(parens(comma(any)))
            .map(|((number, start), (items, close))| {
                expr(ExprKind::Select(items, number), start.to(close))
            }),
    )
}

/// A keyword or a type in the place of a value: `x = shared + 1`, `float(x)`.
fn misused_word<'t>() -> Rule<'t, Expr> {
    rule(|inp| {
        let at = position(inp);
        let fail = Err(Fault::expected(at, Class::Expression));
        let [Some(token), next] = ahead(inp) else {
            return fail;
        };
        let next = next.map(|token| &token.kind);
        match &token.kind {
            TokenKind::Type(word) if next.is_some_and(|next| next.is(Punct::LParen)) => {
                inp.next_ref();
                inp.emit(Fault::known(
                    Diagnostic::new(
                        codes::E0126,
                        token.span,
                        "a conversion is written with `__to`",
                    )
                    .label("a type is no function")
                    .help(format!("write `__to<{}>(value)`", word.text())),
                ));
                // With its argument it is parsed as a call without a value.
                Ok(expr(ExprKind::Error, token.span))
            }
            TokenKind::Keyword(_) | TokenKind::Type(_) => {
                let used_as_value = next.is_some_and(|next| match next {
                    TokenKind::Punct(punct) => !matches!(
                        punct,
                        Punct::LBrace
                            | Punct::LBracket
                            | Punct::LParen
                            | Punct::Dot
                            | Punct::Lt
                            | Punct::Eq
                    ),
                    _ => false,
                });
                if !used_as_value || (token.starts_line && at > 0) {
                    return fail;
                }
                let text = written(inp, token);
                inp.next_ref();
                inp.emit(keyword_as_name(text, token.span));
                Ok(expr(ExprKind::Name(text.to_string()), token.span))
            }
            _ => fail,
        }
    })
}
