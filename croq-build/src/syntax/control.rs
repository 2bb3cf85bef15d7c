//! Loops, masks and conditions.

use chumsky::prelude::*;

use super::ast::{
    Block, Expr, ExprKind, ForeachRange, ForeachRanges, ForeachStmt, LoopSuffix, Slice, StmtKind,
    UnaryOp, Within,
};
use super::expression::Exprs;
use super::fault::{Class, Expected, Fault};
use super::parallel::binding;
use super::rule::*;
use crate::diagnostics::{Diagnostic, codes};
use crate::source::steps::step;
use crate::source::token::{Keyword, Punct, TokenKind};

/// A body of `if`, `while` or `foreach`; warns about a body that is only a `;`.
fn body<'t>(block: Rule<'t, Block>, of: &'static str) -> Rule<'t, Block> {
    block
        .validate(move |block, _, emitter| {
            let lone =
                matches!(block.stmts.as_slice(), [stmt] if matches!(stmt.kind, StmtKind::Empty));
            if lone {
                emitter.emit(Fault::known(
                    Diagnostic::new(
                        codes::W0128,
                        block.span,
                        format!("the body of this `{of}` is empty"),
                    )
                    .label("ends here")
                    .help("remove the `;`, or write `{}` if nothing is meant to happen"),
                ));
            }
            block
        })
        .boxed()
}

/// `x in N`, `{a, b} in shape`, `t = {a, b} in shape`
fn within<'t>(e: &Exprs<'t>) -> Rule<'t, Within> {
    spanned(
        binding()
            .then_ignore(keyword(Keyword::In, Class::In))
            .then(e.shape.clone()),
    )
    .map(|((binding, bound), span)| Within {
        binding,
        bound,
        span,
    })
    .boxed()
}

/// `with x in N, y in M where x <-> y block`
pub fn with<'t>(e: &Exprs<'t>, block: Rule<'t, Block>) -> Rule<'t, StmtKind> {
    let pair = name()
        .then_ignore(punct(Punct::BothWays))
        .then(name())
        .boxed();
    let pairs = when_keyword(
        Keyword::Where,
        keyword(Keyword::Where, Class::Suffix).ignore_then(comma(pair)),
    );
    keyword(Keyword::With, Class::Statement)
        .ignore_then(comma(within(e)))
        .then(pairs.or_not())
        .then(block)
        .map(|((bindings, pairs), body)| StmtKind::With {
            bindings,
            where_: pairs.unwrap_or_default(),
            body,
        })
        .boxed()
}

/// `foreach x in N : unroll block`, `foreach a, c = b(1:-1) block`
pub fn foreach<'t>(e: &Exprs<'t>, block: Rule<'t, Block>) -> Rule<'t, StmtKind> {
    let is_within = rule(|inp| {
        let bound = match ahead(inp) {
            [Some(first), _, _] if first.kind.is(Punct::LBrace) => true,
            [_, Some(second), _] if second.kind.is_keyword(Keyword::In) => true,
            [_, Some(second), Some(third)] => {
                second.kind.is(Punct::Eq) && third.kind.is(Punct::LBrace)
            }
            _ => false,
        };
        if bound {
            Ok(())
        } else {
            Err(Fault::expected(position(inp), Expected::default()))
        }
    });
    let ranges = choice((
        is_within
            .ignore_then(comma(within(e)))
            .map(ForeachRanges::Within)
            .boxed(),
        comma(range(e)).map(ForeachRanges::Ranges).boxed(),
    ));
    let suffixes = punct(Punct::Colon)
        .ignore_then(comma(suffix(e)))
        .or_not()
        .map(Option::unwrap_or_default);
    let header = keyword(Keyword::Foreach, Class::Statement)
        .ignore_then(ranges)
        .then(suffixes);
    spanned(header)
        .then(body(block, "foreach"))
        .map(|(((ranges, suffixes), header), body)| {
            // `foreach i on N { … }`: the rest of the header was parsed as the body.
            let mistaken = matches!(&ranges, ForeachRanges::Ranges(ranges) if ranges.iter().all(|range| range.slice.is_none()))
                && matches!(body.stmts.as_slice(), [stmt] if stmt.span == body.span && matches!(stmt.kind, StmtKind::Error));
            if mistaken {
                return StmtKind::Error;
            }
            StmtKind::Foreach(ForeachStmt {
                ranges,
                suffixes,
                body,
                header,
            })
        })
        .boxed()
}

/// `[c =] b[(lo : hi [: step])]`
fn range<'t>(e: &Exprs<'t>) -> Rule<'t, ForeachRange> {
    let step = choice((
        punct(Punct::Minus)
            .then(integer())
            .map(|(minus, value)| {
                let span = minus.to(value.span);
                expr(ExprKind::Unary(UnaryOp::Neg, value), span)
            })
            .boxed(),
        e.any.clone(),
    ));
    // `::` if `hi` is omitted.
    let both = punct(Punct::ColonColon)
        .ignore_then(step.clone().or_not())
        .map(|step| (None, step));
    let single = punct(Punct::Colon)
        .ignore_then(e.any.clone().or_not())
        .then(punct(Punct::Colon).ignore_then(step.or_not()).or_not())
        .map(|(hi, step)| (hi, step.flatten()));
    let slice = parens(
        e.any
            .clone()
            .or_not()
            .then(choice((single.boxed(), both.boxed())))
            .boxed(),
    )
    .map(|((lo, (hi, step)), span)| Slice { lo, hi, step, span });
    let bare = index_name()
        .then(punct(Punct::Eq).ignore_then(name()).or_not())
        .then(when(|kind| kind.is(Punct::LParen), slice).or_not());
    // `foreach x` is parsed as a range until an `in` follows.
    let no_in = accept(Class::In, |_| None::<()>).or_not();
    spanned(bare.then_ignore(no_in))
        .map(|(((first, second), slice), span)| match second {
            Some(name) => ForeachRange {
                alias: Some(first),
                name,
                slice,
                span,
            },
            None => ForeachRange {
                alias: None,
                name: first,
                slice,
                span,
            },
        })
        .boxed()
}

fn integer<'t>() -> Rule<'t, Expr> {
    accept(Class::Integer, |token| match token.kind {
        TokenKind::Int {
            value,
            unsigned,
            long,
        } => {
            let suffix = super::ast::IntSuffix { unsigned, long };
            Some(expr(ExprKind::Int { value, suffix }, token.span))
        }
        _ => None,
    })
}

/// `unroll[(F)]`, `vectorize(v, L)`
fn suffix<'t>(e: &Exprs<'t>) -> Rule<'t, LoopSuffix> {
    let unroll = word("unroll", Class::LoopHint)
        .then(parens(e.any.clone()).or_not())
        .map(|(start, factor)| match factor {
            None => LoopSuffix::Unroll(None, start),
            Some((factor, end)) => LoopSuffix::Unroll(Some(factor), start.to(end)),
        });
    let vectorize = word("vectorize", Class::LoopHint)
        .then(parens(
            name()
                .then_ignore(punct(Punct::Comma))
                .then(e.any.clone())
                .boxed(),
        ))
        .map(|(start, ((name, lanes), end))| LoopSuffix::Vectorize(name, lanes, start.to(end)));
    choice((unroll.boxed(), vectorize.boxed())).boxed()
}

pub fn inthreads<'t>(e: &Exprs<'t>, block: Rule<'t, Block>) -> Rule<'t, StmtKind> {
    keyword(Keyword::Inthreads, Class::Statement)
        .ignore_then(member("async", Class::Suffix).or_not())
        .then(parens(e.any.clone()))
        .then(block)
        .map(|((is_async, (pred, _)), body)| StmtKind::Inthreads {
            is_async: is_async.is_some(),
            pred,
            body,
        })
        .boxed()
}

pub fn while_loop<'t>(e: &Exprs<'t>, block: Rule<'t, Block>) -> Rule<'t, StmtKind> {
    keyword(Keyword::While, Class::Statement)
        .ignore_then(parens(e.any.clone()))
        .then(body(block, "while"))
        .map(|((cond, _), body)| StmtKind::While { cond, body })
        .boxed()
}

pub fn condition<'t>(e: &Exprs<'t>, block: Rule<'t, Block>) -> Rule<'t, StmtKind> {
    let otherwise = when_keyword(
        Keyword::Else,
        keyword(Keyword::Else, Class::Statement).ignore_then(block.clone()),
    );
    keyword(Keyword::If, Class::Statement)
        .ignore_then(parens(e.any.clone()))
        .then(body(block, "if"))
        .then(otherwise.or_not())
        .map(|(((cond, _), then), otherwise)| StmtKind::If {
            cond,
            then,
            otherwise,
        })
        .boxed()
}

/// `apply {i, j} in t.span block`
pub fn apply<'t>(block: Rule<'t, Block>) -> Rule<'t, StmtKind> {
    keyword(Keyword::Apply, Class::Statement)
        .ignore_then(between(Punct::LBrace, comma(index_name()), Punct::RBrace))
        .then_ignore(keyword(Keyword::In, Class::In))
        .then(name())
        .then_ignore(member("span", Class::Member))
        .then(block)
        .map(|(((names, _), frag), body)| StmtKind::Apply { names, frag, body })
        .boxed()
}

/// `else` without an `if`.
pub fn stray_else<'t>(block: Rule<'t, Block>) -> Rule<'t, StmtKind> {
    keyword(Keyword::Else, Class::Statement)
        .then(block.or_not())
        .validate(|(span, _), _, emitter| {
            emitter.emit(Fault::known(
                Diagnostic::new(codes::E0120, span, "`else` without an `if`")
                    .label("belongs to nothing")
                    .help("an `else` follows the block of its `if` at once"),
            ));
            StmtKind::Error
        })
        .boxed()
}

/// Skips a bracketed group, up to the `}` of the enclosing block if it is not closed.
pub fn skip_group(inp: &mut In) {
    let mut open: Vec<Punct> = Vec::new();
    while let Some(token) = inp.peek_ref() {
        step();
        match token.kind {
            TokenKind::Punct(punct @ (Punct::LParen | Punct::LBracket | Punct::LBrace)) => {
                open.push(punct)
            }
            TokenKind::Punct(Punct::RBrace) => {
                while open.pop_if(|punct| *punct != Punct::LBrace).is_some() {}
                if open.pop().is_none() {
                    return;
                }
            }
            TokenKind::Punct(punct @ (Punct::RParen | Punct::RBracket)) => {
                let wanted = if punct == Punct::RParen {
                    Punct::LParen
                } else {
                    Punct::LBracket
                };
                if open.last() == Some(&wanted) {
                    open.pop();
                }
            }
            _ => {}
        }
        inp.next_ref();
        if open.is_empty() {
            return;
        }
    }
}
