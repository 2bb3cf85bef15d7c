//! The header of a function, and the complete function.

use std::sync::Arc;

use chumsky::prelude::*;

use super::ast::{
    Dim, ElemType, Expr, Function, Name, Param, ParamType, ParamTypeKind, RetType, Stmt,
};
use super::call::template_arguments;
use super::expression::Exprs;
use super::fault::{Class, Expected, Fault};
use super::rule::*;
use super::statement::statements;
use super::variable::pointer;
use crate::diagnostics::{Diagnostic, codes};
use crate::source::Span;
use crate::source::steps::step;
use crate::source::token::{Keyword, Punct, TokenKind};

/// A header and a body; `None` if the header did not parse.
pub fn function<'t>(e: &Exprs<'t>) -> Rule<'t, Option<Function>> {
    let body = between(Punct::LBrace, statements(e), Punct::RBrace).map(|(stmts, _)| stmts);
    let header = header(e)
        .map(Some)
        .recover_with(via_parser(skip_header()))
        .boxed();
    let end = rule(|inp| match inp.peek_ref() {
        None => Ok(()),
        Some(_) => Err(Fault::expected(position(inp), Class::EndOfFunction)),
    });
    spanned(header.then(body))
        .then_ignore(end)
        .map_with(
            |((header, body), span): ((Option<Header>, Vec<Stmt>), Span), e| {
                header.map(|(ret, name, params)| Function {
                    name,
                    ret,
                    params,
                    body,
                    span,
                    complete: e.state().0.function.complete,
                    untaken: Arc::clone(&e.state().0.function.untaken),
                })
            },
        )
        .boxed()
}

type Header = (RetType, Name, Vec<Param>);

fn header<'t>(e: &Exprs<'t>) -> Rule<'t, Header> {
    let params = param(e)
        .separated_by(punct(Punct::Comma))
        .collect::<Vec<_>>()
        .boxed();
    // `f(void)`
    let nothing = rule(|inp| match ahead(inp) {
        [Some(void), Some(close)]
            if void.kind.is_keyword(Keyword::Void) && close.kind.is(Punct::RParen) =>
        {
            inp.next_ref();
            Ok(Vec::new())
        }
        _ => Err(Fault::expected(position(inp), Expected::default())),
    });
    keyword(Keyword::Co, Class::Function)
        .ignore_then(ret_type(e))
        .then(declared())
        .then(parens(choice((nothing, params)).boxed()))
        .map(|((ret, name), (params, _))| (ret, name, params))
        .boxed()
}

/// Skips to the body of a function whose header did not parse.
fn skip_header<'t>() -> Rule<'t, Option<Header>> {
    rule(|inp| {
        // A brace inside the parentheses of the parameters does not open the body.
        let mut parens = 0usize;
        while let Some(token) = inp.peek_ref() {
            step();
            match token.kind {
                TokenKind::Punct(Punct::LBrace) if parens == 0 => return Ok(None),
                TokenKind::Punct(Punct::LBrace) if token.starts_line => return Ok(None),
                TokenKind::Punct(Punct::LParen) => parens += 1,
                TokenKind::Punct(Punct::RParen) => parens = parens.saturating_sub(1),
                _ => {}
            }
            inp.next_ref();
        }
        Err(Fault::expected(position(inp), Class::Body))
    })
}

fn ret_type<'t>(e: &Exprs<'t>) -> Rule<'t, RetType> {
    choice((
        keyword(Keyword::Void, Class::Type)
            .map(RetType::Void)
            .boxed(),
        keyword(Keyword::Auto, Class::Type)
            .map(RetType::Auto)
            .boxed(),
        param_type(e).map(RetType::Typed).boxed(),
    ))
    .boxed()
}

fn param<'t>(e: &Exprs<'t>) -> Rule<'t, Param> {
    let storage = storage_word().or_not();
    let ignored_const = accept(Class::Type, |token| {
        (token.kind.word() == Some("const")).then_some(token.span)
    })
    .validate(|span, _, emitter| {
        emitter.emit(Fault::known(
            Diagnostic::new(codes::E0126, span, "there is no `const`")
                .label("not part of a type")
                .help("leave it out: a parameter without `&` is never written back"),
        ));
    })
    .or_not();
    let name = when(
        |kind| {
            matches!(
                kind,
                TokenKind::Word(_) | TokenKind::Keyword(_) | TokenKind::Type(_)
            )
        },
        declared(),
    );
    let c_extents = between(
        Punct::LBracket,
        comma(e.any.clone()).or_not().boxed(),
        Punct::RBracket,
    )
    .map(|(_, span)| span)
    .repeated()
    .collect::<Vec<Span>>();
    spanned(
        storage
            .then_ignore(ignored_const)
            .then(param_type(e))
            .then_ignore(pointer().or_not())
            .then(punct(Punct::Amp).or_not())
            .then(name.or_not())
            .then(c_extents),
    )
    .map_with(|parsed, e| (parsed, e.state().0.file))
    .validate(
        |((((((storage, ty), by_ref), name), extents), span), file), _, emitter| {
            if let Some(at) = extents.into_iter().reduce(Span::to) {
                let name = name.as_ref().map_or("x", |name| name.text.as_str());
                let elem = file.snippet(ty.span);
                emitter.emit(Fault::known(
                    Diagnostic::new(codes::E0126, at, "extents are written before the name")
                        .label("this is how C writes an array")
                        .help(format!(
                            "write `{elem} {} {name}`",
                            file.snippet(at).replace("][", ", ")
                        )),
                ));
            }
            Param {
                storage,
                ty,
                by_ref,
                name,
                span,
            }
        },
    )
    .boxed()
}

fn param_type<'t>(e: &Exprs<'t>) -> Rule<'t, ParamType> {
    let dims = || between(Punct::LBracket, comma(dim(e)), Punct::RBracket).map(|(dims, _)| dims);
    let rank = between(Punct::Lt, e.angle.clone(), Punct::Gt).map(|(rank, _)| rank);
    enum Shape {
        Dims(Vec<Dim>),
        Rank(Expr),
    }
    let mdspan = keyword(Keyword::Mdspan, Class::Type).ignore_then(choice((
        when(|kind| kind.is(Punct::Lt), rank.map(Shape::Rank)),
        dims().map(Shape::Dims).boxed(),
    )));
    let shape = choice((
        when(|kind| kind.is(Punct::LBracket), dims().map(Shape::Dims)),
        when_keyword(Keyword::Mdspan, mdspan),
    ));
    let data = elem_word()
        .then(shape.or_not())
        .map(|((elem, _), shape): ((ElemType, Span), _)| match shape {
            None => ParamTypeKind::Scalar(elem),
            Some(Shape::Dims(dims)) => ParamTypeKind::Spanned { elem, dims },
            Some(Shape::Rank(rank)) => ParamTypeKind::SpannedRank { elem, rank },
        });
    let stream = keyword(Keyword::Stream, Class::Type).map(|_| ParamTypeKind::Stream);
    spanned(choice((data.boxed(), stream.boxed(), unsupported(e))))
        .map(|(kind, span)| ParamType { kind, span })
        .boxed()
}

/// A word that is not a type of a parameter; the next stage reports it.
fn unsupported<'t>(e: &Exprs<'t>) -> Rule<'t, ParamTypeKind> {
    let word = rule(|inp| {
        let at = position(inp);
        let fail = Err(Fault::expected(at, Class::Type));
        let [Some(token), next] = ahead(inp) else {
            return fail;
        };
        let text = match &token.kind {
            TokenKind::Word(text) => text.to_string(),
            TokenKind::Keyword(
                keyword @ (Keyword::Event
                | Keyword::Mdspan
                | Keyword::Ituple
                | Keyword::Frag
                | Keyword::Auto
                | Keyword::Void),
            ) => keyword.text().to_string(),
            _ => return fail,
        };
        // A word alone is more likely a name whose type is missing.
        let names_nothing = next.is_none_or(|next| {
            matches!(
                next.kind,
                TokenKind::Punct(Punct::Comma | Punct::RParen | Punct::LParen)
            )
        });
        if names_nothing && token.kind.word().is_some() {
            return fail;
        }
        inp.next_ref();
        Ok(text)
    });
    let more = punct(Punct::ColonColon).ignore_then(accept(Class::Name, |token| {
        token.kind.word().map(str::to_string)
    }));
    let rank = template_arguments(e.any.clone());
    let shape = when(
        |kind| kind.is(Punct::LBracket),
        between(Punct::LBracket, comma(e.any.clone()), Punct::RBracket).map(|(dims, _)| dims),
    )
    .or_not();
    word.foldl(more.repeated(), |whole, part| format!("{whole}::{part}"))
        .then_ignore(rank)
        .then(shape)
        .map(|(word, dims)| ParamTypeKind::Unsupported(word, dims.unwrap_or_default()))
        .boxed()
}

fn dim<'t>(e: &Exprs<'t>) -> Rule<'t, Dim> {
    choice((
        punct(Punct::Question).map(Dim::Anonymous).boxed(),
        punct(Punct::QuestionQuestion).map(Dim::Unbounded).boxed(),
        e.any.clone().map(Dim::Expr).boxed(),
    ))
    .boxed()
}
