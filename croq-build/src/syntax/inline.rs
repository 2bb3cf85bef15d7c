//! Code for other compilers: `__cpp__` and inline assembly.

use chumsky::prelude::*;

use super::ast::{AsmOperand, AsmStmt, ExprKind, StmtKind};
use super::expression::Exprs;
use super::fault::{Class, Fault};
use super::rule::*;
use crate::diagnostics::{Diagnostic, codes};
use crate::source::token::{Keyword, Punct, TokenKind};

/// `__cpp__("text")`
pub fn cpp<'t>() -> Rule<'t, StmtKind> {
    keyword(Keyword::Cpp, Class::Statement)
        .ignore_then(parens(text()))
        .map(|(text, _)| StmtKind::Cpp(text))
        .boxed()
}

/// For each qualifier, whether it is `volatile`.
fn qualifiers<'t>() -> Rule<'t, Vec<bool>> {
    rule(|inp| {
        let Some(token) = inp.peek_ref() else {
            return Err(Fault::expected(position(inp), Punct::LParen));
        };
        match kind_text(&token.kind) {
            Some("volatile" | "__volatile__") => {
                inp.next_ref();
                Ok(true)
            }
            Some("goto") => {
                inp.next_ref();
                inp.emit(Fault::known(
                    Diagnostic::new(codes::E0790, token.span, "`asm goto` is not supported")
                        .label("can't jump out of the text")
                        .help("set an output instead, and test it with `if`"),
                ));
                Ok(false)
            }
            _ => Err(Fault::expected(position(inp), Punct::LParen)),
        }
    })
    .repeated()
    .collect::<Vec<bool>>()
    .boxed()
}

fn template<'t>() -> Rule<'t, String> {
    choice((
        text(),
        rule(|inp| {
            let Some(token) = inp.peek_ref() else {
                return Err(Fault::expected(position(inp), Class::Text));
            };
            inp.emit(Fault::known(
                Diagnostic::new(
                    codes::E0121,
                    token.span,
                    "inline assembly begins with its text",
                )
                .label("expected a string")
                .help("write `__asm__(\"instruction %0;\" : \"=r\"(x))`"),
            ));
            // Another token in the place of the text.
            if !matches!(token.kind, TokenKind::Punct(_)) {
                inp.next_ref();
            }
            Ok(String::new())
        }),
    ))
    .boxed()
}

/// `[name] "constraint" (value)`
fn operand<'t>(e: &Exprs<'t>) -> Rule<'t, AsmOperand> {
    let operand_name = between(Punct::LBracket, name(), Punct::RBracket).map(|(name, _)| name);
    let operand_value = choice((
        parens(e.any.clone()).map(|(value, _)| value).boxed(),
        rule(|inp| {
            let at = position(inp);
            let Some(token) = inp.peek_ref() else {
                return Err(Fault::expected(at, Punct::LParen));
            };
            inp.emit(Fault::known(
                Diagnostic::new(
                    codes::E0121,
                    token.span,
                    "an operand of inline assembly needs a value",
                )
                .label("expected `(value)` after the constraint")
                .help("write `\"r\"(x)`"),
            ));
            // `"r" x`: the value without its parentheses.
            if token.kind.word().is_some() {
                inp.next_ref();
            }
            Ok(expr(ExprKind::Error, token.span))
        }),
    ));
    operand_name
        .or_not()
        .then(text())
        .then(operand_value)
        .map(|((name, constraint), value)| AsmOperand {
            name,
            constraint,
            value,
        })
        .boxed()
}

/// `__asm__ volatile ("…" : outs : ins : clobbers)`
pub fn asm<'t>(e: &Exprs<'t>) -> Rule<'t, StmtKind> {
    let operand = operand(e);
    let operands = || {
        operand
            .clone()
            .separated_by(punct(Punct::Comma))
            .collect::<Vec<_>>()
    };
    let clobber = accept(Class::Text, |token| match &token.kind {
        TokenKind::Str(text) => Some(text.to_string()),
        _ => None,
    });
    let clobbers = clobber
        .separated_by(punct(Punct::Comma))
        .collect::<Vec<_>>();
    // `::` omits the list in between.
    let colon = || punct(Punct::Colon);
    let after_inputs = colon()
        .ignore_then(clobbers.clone())
        .or_not()
        .map(Option::unwrap_or_default)
        .boxed();
    let inputs = operands().then(after_inputs);
    let inputs = choice((
        colon().ignore_then(inputs.clone()).boxed(),
        punct(Punct::ColonColon)
            .ignore_then(clobbers)
            .map(|clobbers| (Vec::new(), clobbers))
            .boxed(),
    ));
    let outputs = operands()
        .then(inputs.or_not().map(Option::unwrap_or_default))
        .boxed();
    let sections = choice((
        colon().ignore_then(outputs).boxed(),
        punct(Punct::ColonColon)
            .ignore_then(
                operands().then(
                    colon()
                        .ignore_then(
                            accept(Class::Text, |token| match &token.kind {
                                TokenKind::Str(text) => Some(text.to_string()),
                                _ => None,
                            })
                            .separated_by(punct(Punct::Comma))
                            .collect::<Vec<_>>(),
                        )
                        .or_not()
                        .map(Option::unwrap_or_default),
                ),
            )
            .map(|inputs| (Vec::new(), inputs))
            .boxed(),
    ))
    .or_not()
    .map(Option::unwrap_or_default);
    keyword(Keyword::Asm, Class::Statement)
        .ignore_then(qualifiers())
        .then(parens(template().then(sections).boxed()))
        .map(
            |(qualifiers, ((template, (outputs, (inputs, clobbers))), _))| {
                let volatile = qualifiers.contains(&true);
                StmtKind::Asm(AsmStmt {
                    volatile,
                    template,
                    outputs,
                    inputs,
                    clobbers,
                })
            },
        )
        .boxed()
}
