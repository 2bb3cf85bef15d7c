//! What must hold of the tokens before they are parsed: braces match, and nothing nests so deeply
//! that a reader of the tree could run out of stack.

use std::borrow::Cow;

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::source::Span;
use crate::source::token::{Keyword, Punct, Token, TokenKind};

/// Open brackets at one place.
const BRACKETS: usize = 128;
/// Operators, members and keywords that one tree may chain at one place, brackets included.
const LINKS: usize = 256;

/// Closes what is open and drops what closes nothing; only macros can bring such braces in, as the
/// function ends at its own.
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
                    Diagnostic::new("E0100", token.span, "this `}` closes nothing")
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
            Diagnostic::new("E0100", *span, "this `{` is never closed")
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

/// The place where the tokens nest too deeply, if they do.
pub fn too_deep(tokens: &[Token]) -> Option<Diagnostic> {
    // Links before the innermost open bracket, and of the chain at hand.
    let mut outer: Vec<usize> = Vec::new();
    let mut links = 0usize;
    let mut before = 0usize;
    for (i, token) in tokens.iter().enumerate() {
        match &token.kind {
            TokenKind::Punct(punct) => match punct {
                Punct::LParen | Punct::LBracket | Punct::LBrace => {
                    outer.push(links);
                    before += links + 1;
                    links = 0;
                }
                Punct::RParen | Punct::RBracket | Punct::RBrace => {
                    links = outer.pop().unwrap_or(0);
                    before = before.saturating_sub(links + 1);
                    match punct {
                        // A subscript or a call lengthens the chain that it stands in.
                        Punct::RParen | Punct::RBracket => links += 1,
                        _ => {
                            let goes_on = tokens.get(i + 1).is_some_and(|next| {
                                next.kind.is_keyword(Keyword::Else) || next.kind.is(Punct::Semi)
                            });
                            if !goes_on {
                                links = 0;
                            }
                        }
                    }
                }
                Punct::Comma | Punct::Semi => links = 0,
                Punct::Eq
                | Punct::Colon
                | Punct::ColonColon
                | Punct::FatArrow
                | Punct::BothWays => {}
                _ => links += 1,
            },
            TokenKind::Keyword(
                Keyword::If
                | Keyword::Else
                | Keyword::While
                | Keyword::Foreach
                | Keyword::With
                | Keyword::Parallel
                | Keyword::Inthreads
                | Keyword::Apply,
            ) => links += 1,
            _ => {}
        }
        if outer.len() > BRACKETS || before + links > LINKS {
            return Some(
                Diagnostic::new("E0100", token.span, "this nests too deeply")
                    .label(format!(
                        "more than {BRACKETS} brackets or {LINKS} operators inside each other"
                    ))
                    .help("give a part of it a name of its own"),
            );
        }
    }
    None
}
