//! Replaces the parameters of a template by arguments.

use super::parts::{Argument, Parameter};
use crate::source::token::{Keyword, Punct, Token, TokenKind};

/// The tokens with each parameter replaced by its argument. A word after a `.` is a member, except
/// where a type may follow, as in `mma.fill.T`.
pub fn substitute(tokens: &[Token], params: &[Parameter], arguments: &[Argument]) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
    for token in tokens {
        let after_dot = out.last().is_some_and(|last| last.kind.is(Punct::Dot));
        let argument = token
            .kind
            .word()
            .and_then(|word| params.iter().position(|param| *param.name == *word))
            .and_then(|at| arguments.get(at));
        let kind = match argument {
            Some(Argument::Type(elem)) => TokenKind::Type(*elem),
            Some(_) if after_dot => token.kind.clone(),
            Some(Argument::Int(value)) => {
                if *value == 4 && is_group(&out) {
                    replace_group(&mut out, token);
                    continue;
                }
                TokenKind::Int {
                    value: i128::from(*value),
                    unsigned: false,
                    long: false,
                }
            }
            Some(Argument::Bool(true)) => TokenKind::Keyword(Keyword::True),
            Some(Argument::Bool(false)) => TokenKind::Keyword(Keyword::False),
            None => token.kind.clone(),
        };
        out.push(Token {
            kind,
            ..token.clone()
        });
    }
    out
}

/// `: group-`, after which a count follows.
fn is_group(before: &[Token]) -> bool {
    match before {
        [.., colon, group, minus] => {
            colon.kind.is(Punct::Colon)
                && group.kind.word() == Some("group")
                && minus.kind.is(Punct::Minus)
        }
        _ => false,
    }
}

/// `group-4` is one token.
fn replace_group(out: &mut Vec<Token>, count: &Token) {
    out.pop();
    if let Some(group) = out.last_mut() {
        group.kind = TokenKind::Group4;
        group.span = group.span.to(count.span);
    }
}
