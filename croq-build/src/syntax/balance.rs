//! Properties of the tokens that are checked before parsing: braces match, and the nesting depth is
//! limited, so that recursion over the tree does not overflow the stack.

use std::borrow::Cow;

use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::source::Span;
use crate::source::token::{Keyword, Punct, Token, TokenKind};

/// The maximum number of open brackets at one position.
const BRACKETS: usize = 128;
/// The maximum number of operators, members and keywords that one tree may chain at one position,
/// brackets included.
const LINKS: usize = 256;

/// Closes open braces, and removes closing ones without an opening one. Only macros can cause
/// these, because the function ends at its own closing brace.
pub fn repair<'t>(
    tokens: &'t [Token],
    complete: bool,
    diags: &mut Diagnostics,
) -> Cow<'t, [Token]> {
    let mut open: Vec<Span> = Vec::new();
    let mut stray: Vec<usize> = Vec::new();
    for (i, token) in tokens.iter().enumerate() {
        match token.kind {
            TokenKind::Punct(Punct::LBrace) => open.push(token.span),
            TokenKind::Punct(Punct::RBrace) if open.pop().is_none() => {
                diags.push(
                    Diagnostic::new(codes::E0100, token.span, "this `}` closes nothing")
                        .label("unmatched")
                        .help("remove it, or add the `{` that it closes"),
                );
                stray.push(i);
            }
            _ => {}
        }
    }
    if open.is_empty() && stray.is_empty() {
        return Cow::Borrowed(tokens);
    }
    if complete && let Some(span) = open.last() {
        diags.push(
            Diagnostic::new(codes::E0100, *span, "this `{` is never closed")
                .label("opened here")
                .help("add the missing `}`"),
        );
    }
    let end = tokens.last().map_or(Span::default(), |token| token.span);
    let mut stray = stray.into_iter().peekable();
    let mut out: Vec<Token> = Vec::with_capacity(tokens.len() + open.len());
    for (i, token) in tokens.iter().enumerate() {
        if stray.next_if_eq(&i).is_none() {
            out.push(token.clone());
        }
    }
    out.extend(open.iter().map(|_| Token {
        kind: TokenKind::Punct(Punct::RBrace),
        span: end,
        starts_line: false,
    }));
    Cow::Owned(out)
}

/// Reports the first bracket or parenthesis without a partner. In a function that is parsed, the
/// parser does that.
pub fn unmatched(tokens: &[Token]) -> Option<Diagnostic> {
    let mut open: Vec<&Token> = Vec::new();
    let mut alone = None;
    for token in tokens {
        let TokenKind::Punct(punct) = token.kind else {
            continue;
        };
        let wanted = match punct {
            Punct::LParen | Punct::LBracket | Punct::LBrace => {
                open.push(token);
                continue;
            }
            Punct::RParen => Punct::LParen,
            Punct::RBracket => Punct::LBracket,
            Punct::RBrace => Punct::LBrace,
            _ => continue,
        };
        match open.pop() {
            Some(partner) if partner.kind.is(wanted) => {}
            // Braces match, so what is inside of them has no partner.
            Some(partner) if wanted == Punct::LBrace => {
                alone = Some(partner);
                break;
            }
            _ => {
                alone = Some(token);
                break;
            }
        }
    }
    let alone = alone.or(open.first().copied())?;
    let text = format!("unmatched {} in a template", alone.kind);
    Some(
        Diagnostic::new(codes::E0100, alone.span, text)
            .label("has no partner")
            .help("even a template without an instance has matching brackets"),
    )
}

/// The depth of the tree at one position between two brackets.
#[derive(Clone, Copy, Default)]
struct Reach {
    /// Operators and statement keywords since the last separator: each may contain the previous
    /// one.
    operators: usize,
    /// Members, subscripts and calls since the last operator.
    postfix: usize,
}

impl Reach {
    fn depth(self) -> usize {
        self.operators + self.postfix
    }
}

/// The position at which the tokens nest too deeply, if any.
pub fn too_deep(tokens: &[Token]) -> Option<Diagnostic> {
    let mut outer: Vec<(Punct, Reach)> = Vec::new();
    let mut before = 0usize;
    let mut here = Reach::default();
    for (i, token) in tokens.iter().enumerate() {
        match &token.kind {
            TokenKind::Punct(open @ (Punct::LParen | Punct::LBracket | Punct::LBrace)) => {
                outer.push((*open, here));
                before += here.depth() + 1;
                here = Reach::default();
            }
            TokenKind::Punct(close @ (Punct::RParen | Punct::RBracket | Punct::RBrace)) => {
                let wanted = match close {
                    Punct::RParen => Punct::LParen,
                    Punct::RBracket => Punct::LBracket,
                    _ => Punct::LBrace,
                };
                // A closing brace ends all brackets that are open in it; other brackets only their
                // own kind.
                if *close == Punct::RBrace {
                    leave_statement(&mut outer, &mut before, &mut here);
                }
                if outer.last().is_some_and(|(open, _)| *open == wanted)
                    && let Some((_, saved)) = outer.pop()
                {
                    before -= saved.depth() + 1;
                    here = saved;
                }
                here.postfix += 1;
                let goes_on = tokens
                    .get(i + 1)
                    .is_some_and(|next| next.kind.is_keyword(Keyword::Else));
                if *close == Punct::RBrace
                    && !goes_on
                    && outer.last().is_none_or(|(open, _)| *open == Punct::LBrace)
                {
                    here = Reach::default();
                }
            }
            TokenKind::Punct(Punct::Semi) => {
                leave_statement(&mut outer, &mut before, &mut here);
                let goes_on = tokens
                    .get(i + 1)
                    .is_some_and(|next| next.kind.is_keyword(Keyword::Else));
                if !goes_on {
                    here = Reach::default();
                }
            }
            TokenKind::Punct(Punct::Comma) => here = Reach::default(),
            TokenKind::Punct(Punct::Dot | Punct::PlusPlus | Punct::MinusMinus | Punct::Arrow) => {
                here.postfix += 1
            }
            TokenKind::Punct(
                Punct::Eq | Punct::Colon | Punct::ColonColon | Punct::FatArrow | Punct::BothWays,
            ) => {}
            TokenKind::Punct(_) => {
                here.operators += 1;
                here.postfix = 0;
            }
            TokenKind::Keyword(
                Keyword::If
                | Keyword::Else
                | Keyword::While
                | Keyword::Foreach
                | Keyword::With
                | Keyword::Parallel
                | Keyword::Inthreads
                | Keyword::Apply,
            ) => {
                here.operators += 1;
                here.postfix = 0;
            }
            _ => {}
        }
        if outer.len() > BRACKETS || before + here.depth() > LINKS {
            return Some(
                Diagnostic::new(codes::E0100, token.span, "this nests too deeply")
                    .label(format!(
                        "more than {BRACKETS} brackets or {LINKS} operators inside each other"
                    ))
                    .help("give a part of it a name of its own"),
            );
        }
    }
    None
}

/// Drops parentheses that the statement leaves open.
fn leave_statement(outer: &mut Vec<(Punct, Reach)>, before: &mut usize, here: &mut Reach) {
    while let Some((_, saved)) = outer.pop_if(|(open, _)| *open != Punct::LBrace) {
        *before -= saved.depth() + 1;
        *here = saved;
    }
}
