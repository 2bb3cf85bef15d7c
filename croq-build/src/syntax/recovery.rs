//! Error recovery after a statement that does not parse.
//!
//! The statement is skipped up to its `;` or the end of its block; blocks in it are still parsed to
//! report errors in them. A name that the statement would have declared is declared with an
//! erroneous value, so that later stages do not report it as unknown.

use chumsky::prelude::*;

use super::ast::{Block, Expr, ExprKind, Name, Stmt, StmtKind};
use super::control::skip_group;
use super::fault::{Class, Fault};
use super::rule::*;
use crate::source::steps::step;
use crate::source::token::{Keyword, Punct, Token, TokenKind};

/// Skips the rest of a statement that did not parse; at least one token.
pub fn recover<'t>(block: Rule<'t, Block>) -> Rule<'t, Vec<Stmt>> {
    rule(move |inp| {
        let Some(first) = inp.peek_ref() else {
            return Err(Fault::expected(position(inp), Class::Statement));
        };
        if first.kind.is(Punct::RBrace) {
            return Err(Fault::expected(position(inp), Class::Statement));
        }
        let start = inp.cursor();
        let stand_in = stand_in(inp);
        let mut taken = 0usize;
        let mut unreadable = false;
        while let Some(token) = inp.peek_ref() {
            step();
            // Invalid text, such as an unterminated string, extends to the end of its line.
            if unreadable && token.starts_line {
                break;
            }
            unreadable |= matches!(token.kind, TokenKind::Bad(_));
            match &token.kind {
                TokenKind::Punct(Punct::RBrace) => break,
                TokenKind::Punct(Punct::Semi) => {
                    inp.next_ref();
                    if first.kind.is_keyword(Keyword::If) && takes_else(inp) {
                        continue;
                    }
                    break;
                }
                TokenKind::Punct(Punct::LBrace) => {
                    if !holds_statements(inp) {
                        skip_group(inp);
                        taken += 1;
                        continue;
                    }
                    inp.parse(&block)?;
                    taken += 1;
                    if takes_else(inp) {
                        continue;
                    }
                    break;
                }
                // A statement keyword on a new line: the `;` before it is missing.
                TokenKind::Keyword(keyword)
                    if taken > 0 && token.starts_line && begins_statement(*keyword) =>
                {
                    break;
                }
                _ => {
                    inp.next_ref();
                }
            }
            taken += 1;
        }
        let span = cover(inp.slice_since(&start..));
        Ok(vec![Stmt {
            kind: stand_in,
            span,
        }])
    })
}

/// Skips an `else` here.
fn takes_else(inp: &mut In<'_, '_>) -> bool {
    let follows = inp.peek_ref();
    let is_else = follows.is_some_and(|token| token.kind.is_keyword(Keyword::Else));
    if is_else {
        inp.next_ref();
    }
    is_else
}

/// Skips to the end of the statement, without parsing its blocks.
pub fn skip_statement<'t>(inp: &mut In<'t, '_>) -> Vec<Stmt> {
    let start = inp.cursor();
    while let Some(token) = inp.peek_ref() {
        step();
        match &token.kind {
            TokenKind::Punct(Punct::RBrace) => break,
            TokenKind::Punct(Punct::LBrace) => skip_group(inp),
            TokenKind::Punct(Punct::Semi) => {
                inp.next_ref();
                break;
            }
            _ => {
                inp.next_ref();
            }
        }
    }
    let tokens = inp.slice_since(&start..);
    // The last word before `=` or the end is the name that it would have declared.
    let declared = tokens
        .iter()
        .take_while(|token| {
            !matches!(
                token.kind,
                TokenKind::Punct(Punct::Eq | Punct::Semi | Punct::LBrace | Punct::LBracket)
            )
        })
        .filter(|token| token.kind.word().is_some())
        .last();
    let kind = match declared {
        Some(token) => super::parsed::lost(Name {
            text: token.kind.word().unwrap_or_default().to_string(),
            span: token.span,
        }),
        None => StmtKind::Error,
    };
    vec![Stmt {
        kind,
        span: cover(tokens),
    }]
}

/// A statement that declares the name of the current statement, without a value.
fn stand_in(inp: &mut In) -> StmtKind {
    let name = match ahead(inp) {
        [Some(first), Some(second), _] if second.kind.is(Punct::Eq) => first,
        [Some(first), Some(second), Some(third)]
            if matches!(
                first.kind,
                TokenKind::Type(_) | TokenKind::Keyword(Keyword::Mutable)
            ) && second.kind.word().is_some()
                && third.kind.is(Punct::Eq) =>
        {
            second
        }
        _ => match declared_like_c(inp) {
            Some(name) => name,
            None => return StmtKind::Error,
        },
    };
    let Some(text) = name.kind.word() else {
        return StmtKind::Error;
    };
    let value: Expr = expr(ExprKind::Error, name.span);
    let target = expr(ExprKind::Name(text.to_string()), name.span);
    StmtKind::Assign {
        target,
        op: None,
        value,
    }
}

/// The name of a declaration that begins with words that are none of the language:
/// `__shared__ float t[128];`.
fn declared_like_c<'t>(inp: &mut In<'t, '_>) -> Option<&'t Token> {
    let tokens: [Option<&Token>; 8] = ahead(inp);
    let words = tokens.iter().take_while(|token| {
        token.is_some_and(|token| {
            token.kind.word().is_some() || token.kind.is_keyword(Keyword::Shared)
        })
    });
    let at = words.count();
    let [ty, name, end] = *tokens.get(at..)?.first_chunk()?;
    let declares = at > 0
        && matches!(ty?.kind, TokenKind::Type(_))
        && end.is_some_and(|end| {
            matches!(
                end.kind,
                TokenKind::Punct(Punct::LBracket | Punct::Semi | Punct::Eq | Punct::Comma)
            )
        });
    name.filter(|name| declares && name.kind.word().is_some())
}

/// Whether the next `{` opens a block rather than an ituple.
fn holds_statements(inp: &mut In) -> bool {
    let start = inp.save();
    let mut depth = 0usize;
    let mut statements = false;
    let mut tokens = 0usize;
    while let Some(token) = inp.next_ref() {
        step();
        match token.kind {
            TokenKind::Punct(Punct::LBrace) => {
                depth += 1;
                // Only a block contains a block; where it ends does not matter.
                if depth > 1 {
                    statements = true;
                    break;
                }
            }
            // An ituple is never empty.
            TokenKind::Punct(Punct::RBrace) => {
                statements = tokens == 1;
                break;
            }
            TokenKind::Punct(Punct::Semi) => {
                statements = true;
                break;
            }
            _ => {}
        }
        tokens += 1;
    }
    inp.rewind(start);
    statements
}

fn begins_statement(keyword: Keyword) -> bool {
    matches!(
        keyword,
        Keyword::Parallel
            | Keyword::Foreach
            | Keyword::With
            | Keyword::If
            | Keyword::While
            | Keyword::Inthreads
            | Keyword::Wait
            | Keyword::Trigger
            | Keyword::Swap
            | Keyword::Rotate
            | Keyword::Return
            | Keyword::Break
            | Keyword::Continue
            | Keyword::Yield
            | Keyword::Sync
            | Keyword::Shared
            | Keyword::Local
            | Keyword::Global
            | Keyword::Frag
            | Keyword::Mutable
            | Keyword::Mdspan
            | Keyword::Ituple
    )
}

/// The single statement that is the body of a loop or a condition; a missing one is reported.
pub fn body_statement<'t>(statement: Rule<'t, Vec<Stmt>>) -> Rule<'t, Vec<Stmt>> {
    // Only tokens that can begin a statement: the rest of a wrong header must not be parsed as a
    // body.
    // body.
    let begins = rule(|inp| match inp.peek_ref().map(|token| &token.kind) {
        Some(
            TokenKind::Word(_)
            | TokenKind::Keyword(_)
            | TokenKind::Type(_)
            | TokenKind::Punct(
                Punct::Semi
                | Punct::LBracket
                | Punct::LParen
                | Punct::PlusPlus
                | Punct::MinusMinus
                | Punct::Star
                | Punct::Amp,
            ),
        ) => Ok(()),
        _ => Err(Fault::expected(position(inp), Class::Body)),
    });
    begins.ignore_then(statement).boxed()
}
