//! Names, and the calls that begin with one.

use chumsky::prelude::*;

use super::ast::{CallExpr, CallKind, Expr, ExprKind, Name, TemplateArg};
use super::builtin_names::is_builtin;
use super::fault::{Class, Fault};
use super::literal::{literal, parenthesised, text_literal};
use super::operators::{Place, binary};
use super::rule::*;
use crate::source::Span;
use crate::source::token::{Keyword, Punct, TokenKind};

/// `a::b::c`, as one name.
pub fn qualified<'t>() -> Rule<'t, Name> {
    let part = accept(Class::Name, |token| {
        let text = match &token.kind {
            TokenKind::Word(text) => text,
            _ => return None,
        };
        Some(Name {
            text: text.to_string(),
            span: token.span,
        })
    });
    let more = punct(Punct::ColonColon).ignore_then(part.clone());
    part.foldl(more.repeated(), |mut whole: Name, part| {
        whole.text.push_str("::");
        whole.text.push_str(&part.text);
        whole.span = whole.span.to(part.span);
        whole
    })
    .boxed()
}

/// A name; a call with template arguments; `print!(…)`; `cdiv(…)` and similar ones.
pub fn named<'t>(any: Rule<'t, Expr>) -> Rule<'t, Expr> {
    let args = call_arguments(any.clone());
    let plain_name = rule(|inp| {
        let at = position(inp);
        let Some(token) = inp.peek_ref() else {
            return Err(Fault::expected(at, Class::Expression));
        };
        let Some(text) = token.kind.word() else {
            return Err(Fault::expected(at, Class::Expression));
        };
        inp.next_ref();
        let span = token.span;
        if text == "_" {
            inp.emit(wildcard(span));
            return Ok(expr(ExprKind::Wildcard, span));
        }
        Ok(expr(ExprKind::Name(text.to_string()), span))
    });
    let compile_time = rule(|inp| match ahead(inp) {
        [Some(name), Some(bang)]
            if bang.kind.is(Punct::Bang)
                && matches!(name.kind.word(), Some("print" | "println")) =>
        {
            inp.next_ref();
            inp.next_ref();
            let text = name.kind.word().unwrap_or_default().to_string();
            Ok(Name {
                text,
                span: name.span,
            })
        }
        _ => Err(Fault::expected(position(inp), Class::Expression)),
    })
    .then(args.clone())
    .map(|(callee, (args, close))| call(CallKind::CompileTime, callee, Vec::new(), args, close));
    let builtin = rule(|inp| match ahead(inp) {
        [Some(name), Some(open)]
            if open.kind.is(Punct::LParen)
                && matches!(name.kind.word(), Some("cdiv" | "__alignup" | "__aligndown")) =>
        {
            inp.next_ref();
            let text = name.kind.word().unwrap_or_default().to_string();
            Ok(Name {
                text,
                span: name.span,
            })
        }
        _ => Err(Fault::expected(position(inp), Class::Expression)),
    })
    .then(args.clone())
    .map(|(name, (args, close))| {
        let span = name.span.to(close);
        expr(ExprKind::Builtin { name, args }, span)
    });
    // `fast_sum<4>(x)`: only for a registered intrinsic, because `<` is a comparison otherwise.
    let with_targs = rule(|inp| {
        let here = position(inp);
        let not = Err(Fault::expected(here, Class::Expression));
        let [Some(first), Some(next)] = ahead(inp) else {
            return not;
        };
        let function = inp.state().0.function;
        let text = first.kind.word().unwrap_or_default();
        let plausible = match next.kind {
            TokenKind::Punct(Punct::Lt) => {
                is_builtin(text) || function.is_intrinsic(text, first.span)
            }
            TokenKind::Punct(Punct::ColonColon) => !text.is_empty(),
            _ => false,
        };
        if plausible { Ok(()) } else { not }
    })
    .ignore_then(qualified())
    .then(template_arguments(any.clone()))
    .then(args.or_not())
    .map(|((callee, targs), args)| match args {
        Some((args, close)) => call(CallKind::Plain, callee, targs, args, close),
        None => {
            let span = callee.span;
            expr(ExprKind::Name(callee.text), span)
        }
    });
    when(
        |kind| matches!(kind, TokenKind::Word(_)),
        choice((
            builtin.boxed(),
            compile_time.boxed(),
            with_targs.boxed(),
            plain_name,
        )),
    )
}

pub fn call(
    kind: CallKind,
    callee: Name,
    targs: Vec<TemplateArg>,
    args: Vec<Expr>,
    close: Span,
) -> Expr {
    let span = callee.span.to(close);
    expr(
        ExprKind::Call(CallExpr {
            kind,
            callee,
            targs,
            args,
        }),
        span,
    )
}

/// `( a, b )`, possibly empty, with the span of the parentheses.
pub fn call_arguments<'t>(any: Rule<'t, Expr>) -> Rule<'t, (Vec<Expr>, Span)> {
    let list = any
        .separated_by(punct(Punct::Comma))
        .collect::<Vec<_>>()
        .boxed();
    parens(list)
}

/// `<…>`, optional.
pub fn template_arguments<'t>(any: Rule<'t, Expr>) -> Rule<'t, Vec<TemplateArg>> {
    // A type or a qualified name, if `,` or `>` follows; otherwise an expression.
    let ends = |inp: &mut In<'t, '_>| {
        inp.peek_ref()
            .is_some_and(|token| matches!(token.kind, TokenKind::Punct(Punct::Comma | Punct::Gt)))
    };
    let end = move || {
        rule(move |inp| {
            if ends(inp) {
                Ok(())
            } else {
                Err(Fault::expected(position(inp), Punct::Gt))
            }
        })
    };
    let ty = elem_word()
        .then_ignore(end())
        .map(|(elem, span)| TemplateArg::Type(elem, span));
    let name = qualified().then_ignore(end()).map(TemplateArg::Name);
    let value = binary_in_angles(any).map(TemplateArg::Expr);
    let item = choice((ty.boxed(), name.boxed(), value.boxed())).boxed();
    punct(Punct::Lt)
        .ignore_then(item.separated_by(punct(Punct::Comma)).collect::<Vec<_>>())
        .then_ignore(punct(Punct::Gt))
        .or_not()
        .map(Option::unwrap_or_default)
        .boxed()
}

/// A simple expression as a template argument; others must be in parentheses.
fn binary_in_angles<'t>(any: Rule<'t, Expr>) -> Rule<'t, Expr> {
    let name = accept(Class::Expression, |token| {
        Some(expr(
            ExprKind::Name(token.kind.word()?.to_string()),
            token.span,
        ))
    });
    let text = text_literal();
    binary(
        choice((literal(), name, text, parenthesised(any))).boxed(),
        Place::Angle,
    )
}

/// `call ns::f<4>(a, b)`
pub fn device_call<'t>(any: Rule<'t, Expr>, tiling: Rule<'t, Expr>) -> Rule<'t, Expr> {
    when_keyword(
        Keyword::Call,
        keyword(Keyword::Call, Class::Expression)
            .then(qualified())
            .then(template_arguments(any))
            .then(call_arguments(tiling))
            .map(|(((start, callee), targs), (args, close))| {
                let span = start.to(close);
                let kind = CallKind::Device;
                expr(
                    ExprKind::Call(CallExpr {
                        kind,
                        callee,
                        targs,
                        args,
                    }),
                    span,
                )
            }),
    )
}
