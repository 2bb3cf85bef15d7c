//! `[[name(args)]]` before `parallel` and `mma`.

use chumsky::prelude::*;

use super::ast::{Block, ExprKind, Name, ParallelAttr, StmtKind, UnaryOp};
use super::expression::Exprs;
use super::fault::{Class, Expected, Fault};
use super::rule::*;
use super::{parallel, tensor};
use crate::diagnostics::{self, Diagnostic, codes};
use crate::source::token::{Keyword, Punct};

/// `[[launch_bounds(…)]] parallel …`, `[[schedule(k_tiles(…))]] mma.row.row …;`
pub fn attributed<'t>(e: &Exprs<'t>, block: Rule<'t, Block>) -> Rule<'t, StmtKind> {
    let attrs = attributes(e);
    let on_parallel = when_keyword(
        Keyword::Parallel,
        parallel::parallel(e, block).map(StmtKind::Parallel),
    );
    let bound = name().then_ignore(punct(Punct::Eq)).or_not();
    let bound = rule(|inp| match ahead(inp) {
        [Some(first), _, _] if first.kind.is_keyword(Keyword::Mma) => Ok(()),
        [Some(_), Some(second), Some(third)]
            if second.kind.is(Punct::Eq) && third.kind.is_keyword(Keyword::Mma) =>
        {
            Ok(())
        }
        _ => Err(Fault::expected(position(inp), Expected::default())),
    })
    .ignore_then(bound);
    let on_mma = bound
        .then(tensor::mma(e))
        .then_ignore(semi())
        .map(|(name, mma)| StmtKind::Mma(tensor::bind(mma, name)));
    attrs
        .then(choice((on_parallel, on_mma.boxed(), not_for_attributes())))
        .validate(|(attrs, kind), _, emitter| attach(attrs, kind, &mut |fault| emitter.emit(fault)))
        .boxed()
}

/// Attributes before another statement: it is parsed separately.
fn not_for_attributes<'t>() -> Rule<'t, StmtKind> {
    empty().map(|()| StmtKind::Error).boxed()
}

fn attach(attrs: Vec<ParallelAttr>, kind: StmtKind, emit: &mut dyn FnMut(Fault)) -> StmtKind {
    match kind {
        StmtKind::Parallel(mut parallel) => {
            let mut all = fit_attributes(attrs, &["launch_bounds", "maxnreg"], "`parallel`", emit);
            all.append(&mut parallel.attrs);
            parallel.attrs = all;
            StmtKind::Parallel(parallel)
        }
        StmtKind::Mma(mut mma) => {
            for attr in fit_attributes(attrs, &["schedule"], "`mma`", emit) {
                let order = match attr.args.as_slice() {
                    [only] => tensor::schedule(only),
                    _ => None,
                };
                let Some(order) = order else {
                    emit(Fault::known(
                        Diagnostic::new(codes::E0116, attr.span, "`schedule` needs `k_tiles`")
                            .label("no order is given")
                            .help("write `[[schedule(k_tiles(1, 0))]]`"),
                    ));
                    continue;
                };
                for entry in &order {
                    if let ExprKind::Unary(UnaryOp::Neg, _) = &*entry.kind {
                        emit(Fault::known(
                            Diagnostic::new(
                                codes::E0117,
                                entry.span,
                                "an entry of `k_tiles` is negative",
                            )
                            .label("tiles count from 0")
                            .help("write a permutation of 0, 1, 2, …"),
                        ));
                    }
                }
                mma.k_tiles = Some(order);
            }
            StmtKind::Mma(mma)
        }
        other => {
            fit_attributes(attrs, &[], "this statement", emit);
            other
        }
    }
}

/// `[[name(args)]] …`, one or more.
fn attributes<'t>(e: &Exprs<'t>) -> Rule<'t, Vec<ParallelAttr>> {
    let opens = rule(|inp| match ahead(inp) {
        [Some(first), Some(second)]
            if first.kind.is(Punct::LBracket)
                && second.kind.is(Punct::LBracket)
                // All tokens from one macro have the same span.
                && (first.span.end == second.span.start || first.span == second.span) =>
        {
            inp.next_ref();
            inp.next_ref();
            Ok(first.span)
        }
        _ => Err(Fault::expected(position(inp), Class::Attribute)),
    });
    let name = accept(Class::Attribute, |token| {
        let text = kind_text(&token.kind)?.to_string();
        Some(Name {
            text,
            span: token.span,
        })
    });
    let args = parens(
        e.tiling
            .clone()
            .separated_by(punct(Punct::Comma))
            .collect()
            .boxed(),
    )
    .map(|(args, _)| args);
    opens
        .then(name)
        .then(args.or_not())
        .then_ignore(punct(Punct::RBracket))
        .then(punct(Punct::RBracket))
        .map(|(((start, name), args), end)| ParallelAttr {
            name,
            args: args.unwrap_or_default(),
            in_body: false,
            span: start.to(end),
        })
        .repeated()
        .at_least(1)
        .collect()
        .boxed()
}

/// Reports attributes that are unknown or that the statement cannot have; returns the others.
fn fit_attributes(
    attrs: Vec<ParallelAttr>,
    fits: &[&str],
    what: &str,
    emit: &mut dyn FnMut(Fault),
) -> Vec<ParallelAttr> {
    const KNOWN: [&str; 3] = ["launch_bounds", "maxnreg", "schedule"];
    attrs
        .into_iter()
        .filter(|attr| {
            let text = attr.name.text.as_str();
            if fits.contains(&text) {
                return true;
            }
            let diagnostic = if KNOWN.contains(&text) {
                let place = if text == "schedule" {
                    "an `mma` multiply"
                } else {
                    "a `parallel` at block level"
                };
                Diagnostic::new(
                    codes::E0116,
                    attr.span,
                    format!("`{text}` is no attribute of {what}"),
                )
                .label("is not allowed here")
                .help(format!("it belongs before {place}"))
            } else {
                let near = diagnostics::nearest(text, KNOWN);
                let help = match near {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => {
                        "attributes are `launch_bounds(…)`, `maxnreg(…)` and `schedule(k_tiles(…))`"
                            .into()
                    }
                };
                Diagnostic::new(
                    codes::E0116,
                    attr.name.span,
                    format!("there is no attribute `{text}`"),
                )
                .label("unknown attribute")
                .help(help)
            };
            emit(Fault::known(diagnostic));
            false
        })
        .collect()
}
