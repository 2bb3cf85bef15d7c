//! Calls of instances by host code: `y = scaled<f16>(x, 1.0f);`.

use std::sync::Arc;

use super::parts::Request;
use crate::diagnostics::Asked;
use crate::source::token::{Keyword, Punct, Token, TokenKind};

/// The call of an instance of one of `templates` that begins at or after the token `from`, as a
/// request, and the place of its name and arguments.
pub fn next(
    tokens: &[Token],
    from: usize,
    is_template: impl Fn(&str) -> bool,
) -> Option<(Request, std::ops::Range<usize>)> {
    for at in from..tokens.len() {
        let [name, open, ..] = tokens.get(at..)? else {
            return None;
        };
        let Some(word) = name.kind.word().filter(|word| is_template(word)) else {
            continue;
        };
        let before = at.checked_sub(1).and_then(|at| tokens.get(at));
        // A template in C++ may have the same name.
        let is_device =
            before.is_some_and(|b| b.kind.is_keyword(Keyword::Call) || b.kind.is(Punct::Dot));
        // Without a list all arguments are defaults.
        let end = match &open.kind {
            _ if is_device => None,
            open if open.is(Punct::LParen) => Some(at),
            open if open.is(Punct::Lt) => end_of(tokens, at + 1),
            _ => None,
        };
        let Some(end) = end else {
            continue;
        };
        let span = name.span.to(tokens.get(end)?.span);
        let arguments = tokens.get(at + 2..end).unwrap_or_default();
        let request = Request {
            name: Arc::from(word),
            span,
            arguments: arguments.to_vec(),
            asked: Asked::Here(span),
        };
        return Some((request, at..end + 1));
    }
    None
}

/// The `>` before `(` that closes the list of arguments whose `<` is at `open`.
fn end_of(tokens: &[Token], open: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (at, token) in tokens.iter().enumerate().skip(open + 1) {
        match &token.kind {
            TokenKind::Punct(Punct::LParen | Punct::LBracket) => depth += 1,
            TokenKind::Punct(Punct::RParen | Punct::RBracket) => depth = depth.checked_sub(1)?,
            TokenKind::Punct(Punct::Semi | Punct::LBrace | Punct::RBrace) => return None,
            TokenKind::Punct(Punct::Gt) if depth == 0 => {
                let next = tokens.get(at + 1)?;
                return next.kind.is(Punct::LParen).then_some(at);
            }
            _ => {}
        }
    }
    None
}
