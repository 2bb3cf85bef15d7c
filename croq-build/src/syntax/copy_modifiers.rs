//! Configurations and modifiers of copies.

use chumsky::prelude::*;

use super::ast::{CopyModifier, Expr};
use super::expression::Exprs;
use super::fault::{Class, Expected, Fault};
use super::rule::*;
use crate::diagnostics::{Diagnostic, codes};
use crate::source::Span;
use crate::source::steps::step;
use crate::source::token::{Punct, TokenKind};

pub enum Modifier {
    /// With the event that it completes, or the operation's configuration.
    Async(Span, Config),
    Other(CopyModifier, Span),
    /// Reported already.
    Removed,
}

/// `<…>` behind an operation or `.async`.
pub enum Config {
    None,
    List(Vec<Expr>, Span),
    Pad(Vec<Vec<Expr>>, Expr, Span),
}

/// `<1, 0>`, `<{0, 0}, {1, 1}, {0, 0}, 0.0f>`
pub fn configuration<'t>(e: &Exprs<'t>) -> Rule<'t, Config> {
    let braces =
        between(Punct::LBrace, comma(e.any.clone()), Punct::RBrace).map(|(items, _)| items);
    let pad = braces
        .then_ignore(punct(Punct::Comma))
        .repeated()
        .at_least(1)
        .collect::<Vec<_>>()
        .then(e.angle.clone());
    let list = between(Punct::Lt, comma(e.angle.clone()), Punct::Gt)
        .map(|(items, span)| Config::List(items, span));
    let pad = between(Punct::Lt, pad.boxed(), Punct::Gt)
        .map(|((lists, value), span)| Config::Pad(lists, value, span));
    let opens_pad = rule(|inp| match ahead(inp) {
        [Some(lt), Some(brace)] if lt.kind.is(Punct::Lt) && brace.kind.is(Punct::LBrace) => Ok(()),
        _ => Err(Fault::expected(position(inp), Expected::default())),
    });
    choice((
        opens_pad.ignore_then(pad).boxed(),
        when(|kind| kind.is(Punct::Lt), list),
    ))
    .boxed()
}

pub fn modifiers<'t>(e: &Exprs<'t>) -> Rule<'t, Vec<Modifier>> {
    let angled = |inner: Rule<'t, Expr>| between(Punct::Lt, inner, Punct::Gt);
    let asynchronous = member("async", Class::Suffix)
        .then(configuration(e).or_not())
        .map(|(span, config)| Modifier::Async(span, config.unwrap_or(Config::None)));
    let swizzle = choice((
        member("swiz", Class::Suffix),
        member("swizzle", Class::Suffix),
    ))
    .then(swizzle_width(e).or_not())
    .map(|(span, width)| match width {
        None => Modifier::Other(CopyModifier::Swizzle(None), span),
        Some((width, end)) => Modifier::Other(CopyModifier::Swizzle(Some(width)), span.to(end)),
    });
    let promote = member("promote", Class::Suffix)
        .then(angled(e.angle.clone()))
        .map(|(span, (width, end))| Modifier::Other(CopyModifier::Promote(width), span.to(end)));
    let ratio_end = choice((punct(Punct::Colon), punct(Punct::Comma)));
    let ratio = between(
        Punct::Lt,
        e.angle
            .clone()
            .then(ratio_end.ignore_then(e.angle.clone()).or_not())
            .boxed(),
        Punct::Gt,
    );
    let sparse =
        member("sp", Class::Suffix)
            .then(ratio.or_not())
            .validate(|(span, ratio), _, emitter| {
                let (pattern, end) = match ratio {
                    None => (None, span),
                    Some(((n, Some(m)), end)) => (Some((n, m)), span.to(end)),
                    Some(((n, None), end)) => {
                        emitter.emit(Fault::known(
                            Diagnostic::new(
                                codes::E0118,
                                n.span,
                                "a sparse pattern is written `n:m`",
                            )
                            .label("not a pattern")
                            .help("write `.sp<2:4>`"),
                        ));
                        (None, span.to(end))
                    }
                };
                Modifier::Other(CopyModifier::Sparse(pattern), end)
            });
    let plain = |text: &'static str, make: fn() -> CopyModifier| {
        member(text, Class::Suffix)
            .map(move |span| Modifier::Other(make(), span))
            .boxed()
    };
    choice((
        asynchronous.boxed(),
        swizzle.boxed(),
        plain("zfill", || CopyModifier::Zfill),
        promote.boxed(),
        sparse.boxed(),
        plain("multicast", || CopyModifier::Multicast),
        plain("evict_first", || CopyModifier::EvictFirst),
        plain("evict_last", || CopyModifier::EvictLast),
        removed_hint(e),
    ))
    .repeated()
    .collect()
    .boxed()
}

/// `(64)`: a group without names, or one in front of the operand.
fn number_in_parentheses<'t>(e: &Exprs<'t>) -> Rule<'t, (Expr, Span)> {
    let begins = rule(|inp| {
        let start = inp.save();
        let (mut depth, mut is_number) = (0usize, true);
        while let Some(token) = inp.next_ref() {
            step();
            match &token.kind {
                TokenKind::Punct(Punct::LParen) => depth += 1,
                TokenKind::Punct(Punct::RParen) => depth = depth.saturating_sub(1),
                kind => is_number &= kind.word().is_none(),
            }
            if depth == 0 {
                break;
            }
        }
        let next = inp.peek_ref().map(|token| &token.kind);
        let is_operand = next.is_some_and(|kind| kind.word().is_some() || kind.is(Punct::LParen));
        inp.rewind(start);
        let opens = inp
            .peek_ref()
            .is_some_and(|token| token.kind.is(Punct::LParen));
        match opens && depth == 0 && (is_number || is_operand) {
            true => Ok(()),
            false => Err(Fault::expected(position(inp), Expected::default())),
        }
    });
    begins
        .ignore_then(between(Punct::LParen, e.any.clone(), Punct::RParen))
        .boxed()
}

/// The width behind `.swiz`: `<64>`, or `(64)`, as older programs have it. Other parentheses are around
/// the operand of the copy.
pub fn swizzle_width<'t>(e: &Exprs<'t>) -> Rule<'t, (Expr, Span)> {
    choice((
        when(
            |kind| kind.is(Punct::Lt),
            between(Punct::Lt, e.angle.clone(), Punct::Gt),
        ),
        number_in_parentheses(e),
    ))
    .boxed()
}

/// Cache hints that older programs contain.
fn removed_hint<'t>(e: &Exprs<'t>) -> Rule<'t, Modifier> {
    let word = rule(|inp| {
        let old = |text: &str| {
            text.starts_with("cache")
                || text.starts_with("evict")
                || matches!(text, "l2" | "no_allocate" | "hint")
        };
        if is_member(inp, |kind| kind.word().is_some_and(old)) {
            inp.next_ref();
            if let Some(token) = inp.next_ref() {
                inp.emit(Fault::known(
                    Diagnostic::new(
                        codes::E0119,
                        token.span,
                        format!("there is no modifier {} any more", token.kind),
                    )
                    .label("removed")
                    .help("cache hints are `.evict_first` and `.evict_last`"),
                ));
                return Ok(());
            }
        }
        Err(Fault::expected(position(inp), Class::Suffix))
    });
    let config = between(Punct::Lt, comma(e.angle.clone()), Punct::Gt).or_not();
    word.then(config).map(|_| Modifier::Removed).boxed()
}

type Checked = (Option<(Span, Option<Expr>)>, Vec<(CopyModifier, Span)>);

pub fn check_modifiers(written: Vec<Modifier>, emit: &mut dyn FnMut(Fault)) -> Checked {
    let mut is_async: Option<(Span, Option<Expr>)> = None;
    let mut kept: Vec<(CopyModifier, Span)> = Vec::new();
    let twice = |what: &str, first: Span, second: Span| {
        Fault::known(
            Diagnostic::new(codes::E0112, second, format!("{what} is given twice"))
                .label("again here")
                .also(first, "first here")
                .help("keep one of them"),
        )
    };
    for modifier in written {
        match modifier {
            Modifier::Async(span, config) => match &is_async {
                Some((first, _)) => emit(twice("`.async`", *first, span)),
                None => is_async = Some(completed_event(span, config, emit)),
            },
            Modifier::Removed => {}
            Modifier::Other(modifier, span) => {
                let group = group_of(&modifier);
                match kept.iter().find(|(other, _)| group_of(other) == group) {
                    Some((_, first)) => emit(twice(group, *first, span)),
                    None => kept.push((modifier, span)),
                }
            }
        }
    }
    (is_async, kept)
}

/// The event of `.async<e>`.
fn completed_event(
    span: Span,
    config: Config,
    emit: &mut dyn FnMut(Fault),
) -> (Span, Option<Expr>) {
    match config {
        Config::None => (span, None),
        Config::List(mut items, at) if items.len() == 1 => (span.to(at), items.pop()),
        Config::List(_, at) | Config::Pad(_, _, at) => {
            emit(Fault::known(
                Diagnostic::new(codes::E0837, at, "`.async` takes one event")
                    .label("not one event")
                    .help("only `.transp<…>` and `.pad<…>` have a configuration"),
            ));
            (span, None)
        }
    }
}

/// The group of a modifier; a copy may have one of each group.
fn group_of(modifier: &CopyModifier) -> &'static str {
    match modifier {
        CopyModifier::Swizzle(_) => "the swizzle",
        CopyModifier::Zfill => "`.zfill`",
        CopyModifier::Sparse(_) => "the sparse pattern",
        CopyModifier::Promote(_) => "the promotion",
        CopyModifier::Multicast => "`.multicast`",
        CopyModifier::EvictFirst | CopyModifier::EvictLast => "an eviction hint",
    }
}
