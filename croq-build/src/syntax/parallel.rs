//! `parallel` and its header.

use chumsky::prelude::*;

use super::ast::{
    Binding, Block, CallKind, ExprKind, Level, LevelSpec, Name, ParallelAttr, ParallelBound,
    ParallelItem, ParallelStmt, StmtKind,
};
use super::expression::Exprs;
use super::fault::{Class, Expected, Fault};
use super::rule::*;
use crate::diagnostics::{Diagnostic, codes};
use crate::source::Span;
use crate::source::token::{Keyword, Punct, Token, TokenKind};

/// `parallel[.async][<s>] item, item block`, without its attributes. The reference also takes `(s)`.
pub fn parallel<'t>(e: &Exprs<'t>, block: Rule<'t, Block>) -> Rule<'t, ParallelStmt> {
    let in_brackets = |open, close| between(open, name(), close).map(|(name, _)| name);
    let one_in_parens = rule(|inp| {
        let is = |token: Option<&Token>, punct| token.is_some_and(|t| t.kind.is(punct));
        let [open, _, close] = ahead(inp);
        match is(open, Punct::LParen) && is(close, Punct::RParen) {
            true => Ok(()),
            false => Err(Fault::expected(position(inp), Expected::default())),
        }
    });
    let in_parens = one_in_parens.ignore_then(in_brackets(Punct::LParen, Punct::RParen));
    let stream = in_brackets(Punct::Lt, Punct::Gt).or(in_parens);
    // The reference also writes the stream after the level.
    let trailing = when_keyword(
        Keyword::Stream,
        keyword(Keyword::Stream, Class::Suffix).ignore_then(name()),
    );
    let header = keyword(Keyword::Parallel, Class::Statement)
        .ignore_then(member("async", Class::Suffix).or_not())
        .then(stream.or_not())
        .then(comma(item(e)))
        .then(trailing.or_not());
    spanned(header)
        .then(block)
        .map(
            |(((((is_async, stream), items), trailing), header), mut body)| ParallelStmt {
                attrs: attributes_inside(&items, &mut body),
                is_async,
                stream: stream.or(trailing),
                items,
                body,
                header,
            },
        )
        .boxed()
}

/// `parallel … { launch_bounds(2); … }` of older programs is `[[launch_bounds(_, 2)]] parallel … { … }`.
/// The body of a level of devices is host code, which may call a function of this name.
fn attributes_inside(items: &[ParallelItem], body: &mut Block) -> Vec<ParallelAttr> {
    let level = items.last().and_then(|item| item.level.as_ref());
    if level.is_some_and(|spec| spec.level == Level::Device) {
        return Vec::new();
    }
    let mut attrs = Vec::new();
    body.stmts.retain_mut(|stmt| {
        let StmtKind::Call(call) = &mut stmt.kind else {
            return true;
        };
        let ExprKind::Call(call) = &mut *call.kind else {
            return true;
        };
        if call.kind != CallKind::Plain || call.callee.text != "launch_bounds" {
            return true;
        }
        attrs.push(ParallelAttr {
            name: call.callee.clone(),
            args: std::mem::take(&mut call.args),
            in_body: true,
            span: stmt.span,
        });
        false
    });
    attrs
}

fn item<'t>(e: &Exprs<'t>) -> Rule<'t, ParallelItem> {
    let by = || keyword(Keyword::By, Class::By);
    let none = when_keyword(Keyword::By, by().map(|_| Binding::None));
    let head = choice((none, binding().then_ignore(by()).boxed()));
    spanned(head.then(e.shape.clone()).then(level(e).or_not()))
        .map(|(((binding, bound), level), span)| {
            let at = bound.span;
            let bound = match *bound.kind {
                ExprKind::List(items) => ParallelBound::List(items, at),
                kind => ParallelBound::Single(expr(kind, at)),
            };
            ParallelItem {
                binding,
                bound,
                level,
                span,
            }
        })
        .boxed()
}

/// `p`, `{a, b}`, `t = {a, b}`
pub fn binding<'t>() -> Rule<'t, Binding> {
    let parts =
        || between(Punct::LBrace, comma(index_name()), Punct::RBrace).map(|(parts, _)| parts);
    choice((
        when(
            |kind| kind.is(Punct::LBrace),
            parts().map(|parts| Binding::Tuple { whole: None, parts }),
        ),
        index_name()
            .then(punct(Punct::Eq).ignore_then(parts()).or_not())
            .map(|(name, parts)| match parts {
                None => Binding::One(name),
                Some(parts) => Binding::Tuple {
                    whole: Some(name),
                    parts,
                },
            })
            .boxed(),
    ))
    .boxed()
}

pub fn level_of(kind: &TokenKind) -> Option<(Level, bool)> {
    Some(match kind {
        TokenKind::Group4 => (Level::Group4, false),
        TokenKind::Word(text) => match &**text {
            "device" => (Level::Device, false),
            "cluster" => (Level::Cluster, false),
            "block" => (Level::Block, false),
            "group" => (Level::Group, false),
            "thread" => (Level::Thread, false),
            "term" => (Level::Thread, true),
            _ => return None,
        },
        _ => return None,
    })
}

/// `: block<cooperative>`, `: device(name)`
fn level<'t>(e: &Exprs<'t>) -> Rule<'t, LevelSpec> {
    let word = accept(Class::Level, |token| {
        let (level, term) = level_of(&token.kind)?;
        Some((level, term, token.span))
    });
    let word = word.then_ignore(other_group().or_not());
    let cooperative = punct(Punct::Lt)
        .ignore_then(word_or_reported(
            "cooperative",
            "a level takes `<cooperative>` only",
        ))
        .then_ignore(punct(Punct::Gt));
    punct(Punct::Colon)
        .ignore_then(word)
        .then(parens(e.any.clone()).or_not())
        .then(cooperative.or_not())
        .validate(|(((level, term, span), target), cooperative), _, emitter| {
            let device = target.and_then(|(target, at)| {
                let text = match *target.kind {
                    ExprKind::Name(text) | ExprKind::Str(text) if level == Level::Device => text,
                    _ => {
                        emitter.emit(Fault::known(
                            Diagnostic::new(
                                codes::E0113,
                                at,
                                "only the level `device` takes a parameter, a name",
                            )
                            .label("not allowed here")
                            .help("remove it, or write `device(\"name\")`"),
                        ));
                        return None;
                    }
                };
                Some(Name {
                    text,
                    span: target.span,
                })
            });
            LevelSpec {
                level,
                span,
                device,
                cooperative: cooperative.flatten(),
                term,
            }
        })
        .boxed()
}

/// `-3` after `group`: warps form groups of four only.
fn other_group<'t>() -> Rule<'t, ()> {
    rule(|inp| {
        let [Some(minus), Some(count)] = ahead(inp) else {
            return Err(Fault::expected(position(inp), Expected::default()));
        };
        let TokenKind::Int { value, .. } = count.kind else {
            return Err(Fault::expected(position(inp), Expected::default()));
        };
        if !minus.kind.is(Punct::Minus) {
            return Err(Fault::expected(position(inp), Expected::default()));
        }
        inp.next_ref();
        inp.next_ref();
        let text = format!("there is no level `group-{value}`");
        inp.emit(Fault::known(
            Diagnostic::new(codes::E0113, minus.span.to(count.span), text)
                .label("warps form groups of four only")
                .help("write `: group` for warps, `: group-4` for warpgroups"),
        ));
        Ok(())
    })
}

fn word_or_reported<'t>(text: &'static str, what: &'static str) -> Rule<'t, Option<Span>> {
    accept(Class::Name, move |token| {
        Some((token.kind.word() == Some(text), token.span))
    })
    .validate(move |(fits, span), _, emitter| {
        if !fits {
            emitter.emit(Fault::known(
                Diagnostic::new(codes::E0113, span, what)
                    .label("unknown here")
                    .help(format!("write `<{text}>`")),
            ));
        }
        fits.then_some(span)
    })
    .boxed()
}

/// A level on its own, for `sync.barrier : level`.
pub fn bare_level<'t>() -> Rule<'t, Level> {
    accept(Class::Level, |token| {
        level_of(&token.kind).map(|(level, _)| level)
    })
}
