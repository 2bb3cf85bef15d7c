//! Waits, triggers, barriers, and exchanges of futures.

use chumsky::prelude::*;

use super::ast::StmtKind;
use super::expression::Exprs;
use super::fault::{Class, Fault};
use super::parallel::bare_level;
use super::rule::*;
use crate::diagnostics::{Diagnostic, codes};
use crate::source::Span;
use crate::source::token::{Keyword, Punct};

/// `wait a, b[s];`
pub fn wait<'t>(e: &Exprs<'t>) -> Rule<'t, StmtKind> {
    let phase = rule(|inp| {
        if is_member(inp, |kind| kind.word() == Some("phase")) {
            inp.next_ref();
            let span = inp.next_ref().map_or(Span::default(), |token| token.span);
            inp.emit(Fault::known(
                Diagnostic::new(codes::E0119, span, "there is no `wait.phase` any more")
                    .label("removed")
                    .help("write `wait event;`: the compiler keeps the phase"),
            ));
        }
        Ok(())
    });
    keyword(Keyword::Wait, Class::Statement)
        .ignore_then(phase)
        .ignore_then(comma(e.any.clone()))
        .map(StmtKind::Wait)
        .boxed()
}

/// `trigger[.cluster] e after f;`
pub fn trigger<'t>(e: &Exprs<'t>) -> Rule<'t, StmtKind> {
    let scope = punct(Punct::Dot)
        .ignore_then(accept(Class::Name, |token| {
            Some((kind_text(&token.kind)?.to_string(), token.span))
        }))
        .validate(|(text, span), _, emitter| {
            if text != "cluster" {
                emitter.emit(Fault::known(
                    Diagnostic::new(
                        codes::E0114,
                        span,
                        format!("a trigger has no scope `{text}`"),
                    )
                    .label("unknown scope")
                    .help("write `trigger e;` or `trigger.cluster e;`"),
                ));
            }
            text == "cluster"
        });
    let after = word("after", Class::Suffix).ignore_then(comma(name()));
    keyword(Keyword::Trigger, Class::Statement)
        .ignore_then(scope.or_not())
        .then(comma(e.any.clone()))
        .then(when(|kind| kind.word() == Some("after"), after).or_not())
        .map(|((cluster, events), after)| StmtKind::Trigger {
            cluster: cluster.unwrap_or(false),
            events,
            after: after.unwrap_or_default(),
        })
        .boxed()
}

/// `sync.shared`, `sync.barrier : block`, `sync.fence : group <shared>`
pub fn sync<'t>() -> Rule<'t, StmtKind> {
    let storage = rule(|inp| {
        let at = position(inp);
        let found = match ahead(inp) {
            [Some(dot), Some(next)] if dot.kind.is(Punct::Dot) => storage_of(&next.kind),
            _ => None,
        };
        let Some(storage) = found else {
            return Err(Fault::expected(at, Class::SyncKind));
        };
        inp.next_ref();
        inp.next_ref();
        Ok(StmtKind::SyncStorage(storage))
    });
    let barrier = member("barrier", Class::SyncKind)
        .then_ignore(punct(Punct::Colon))
        .ignore_then(bare_level())
        .map(StmtKind::SyncBarrier);
    let scope = between(Punct::Lt, storage_word(), Punct::Gt).map(|((storage, _), _)| storage);
    // The order of a fence: croq's has all of them.
    let order =
        choice(["acq", "rel", "acq_rel", "seq_cst"].map(|text| member(text, Class::Suffix)));
    let fence = member("fence", Class::SyncKind)
        .then_ignore(order.or_not())
        .then_ignore(punct(Punct::Colon))
        .ignore_then(bare_level())
        .then(scope.or_not())
        .map(|(level, storage)| StmtKind::SyncFence(level, storage));
    keyword(Keyword::Sync, Class::Statement)
        .ignore_then(choice((storage, barrier.boxed(), fence.boxed())))
        .boxed()
}

pub fn swap_or_rotate<'t>(which: Keyword) -> Rule<'t, StmtKind> {
    let names = choice((
        when(|kind| kind.is(Punct::LParen), parens(comma(name()))),
        spanned(comma(name())),
    ));
    keyword(which, Class::Statement)
        .ignore_then(names)
        .validate(move |(names, span), _, emitter| {
            let count = names.len();
            let fits = if which == Keyword::Swap {
                count == 2
            } else {
                count >= 2
            };
            if !fits {
                let (takes, help) = match which {
                    Keyword::Swap => (
                        "exactly two futures",
                        "write `swap(a, b);`; `rotate(a, b, c)` takes more",
                    ),
                    _ => ("at least two futures", "write `rotate(a, b, c);`"),
                };
                let word = which.text();
                emitter.emit(Fault::known(
                    Diagnostic::new(
                        codes::E0122,
                        span,
                        format!("`{word}` takes {takes}, not {count}"),
                    )
                    .label(format!("{count} given"))
                    .help(help),
                ));
                return StmtKind::Error;
            }
            match which {
                Keyword::Swap => StmtKind::Swap { names },
                _ => StmtKind::Rotate { names },
            }
        })
        .boxed()
}
