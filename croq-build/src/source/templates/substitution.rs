//! Replaces the parameters of a template by arguments.

use super::parts::{Argument, Parameter};
use crate::source::token::{Keyword, Punct, Token, TokenKind};

/// The tokens with each parameter replaced by its argument. A word after a `.` is a member, except
/// where a type may follow, as in `mma.fill.T`; and a parameter may have the name of a word that
/// the grammar needs.
pub fn substitute(tokens: &[Token], params: &[Parameter], arguments: &[Argument]) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
    for (at, token) in tokens.iter().enumerate() {
        let next = tokens.get(at + 1).map(|next| &next.kind);
        let argument = spelling(&token.kind)
            .and_then(|word| params.iter().position(|param| *param.name == *word))
            .and_then(|at| arguments.get(at))
            .filter(|argument| !is_of_the_grammar(&token.kind, argument, &out, next));
        let kind = match argument {
            Some(Argument::Type(elem)) => TokenKind::Type(*elem),
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

fn spelling(kind: &TokenKind) -> Option<&str> {
    match kind {
        TokenKind::Keyword(keyword) if kind.may_be_a_name() => Some(keyword.text()),
        other => other.word(),
    }
}

/// Whether a word with the name of a parameter is one that the grammar needs here: `t.data`,
/// `: block`, `swap(a, b)`.
fn is_of_the_grammar(
    word: &TokenKind,
    argument: &Argument,
    before: &[Token],
    next: Option<&TokenKind>,
) -> bool {
    let last = before.last().map(|token| &token.kind);
    let text = spelling(word).unwrap_or_default();
    let is_type = matches!(argument, Argument::Type(_));
    if last.is_some_and(|last| last.is(Punct::Dot)) {
        return !is_type || MEMBERS.contains(&text);
    }
    let is_level = LEVELS.contains(&text) && last.is_some_and(|last| last.is(Punct::Colon));
    if is_level && !in_conditional(before) {
        return true;
    }
    match word {
        // A keyword that begins a statement, or stands between two operands.
        TokenKind::Keyword(Keyword::By | Keyword::In | Keyword::Where) => ends_operand(last),
        TokenKind::Keyword(_) => {
            let begins = last.is_none_or(|last| {
                [Punct::Semi, Punct::LBrace, Punct::RBrace, Punct::FatArrow]
                    .iter()
                    .any(|punct| last.is(*punct))
            });
            let goes_on = next.is_some_and(|next| {
                next.is(Punct::Dot) || next.is(Punct::LParen) || next.word().is_some()
            });
            begins || goes_on || ends_operand(last)
        }
        _ => SUFFIXES.contains(&text) && ends_operand(last),
    }
}

/// Members and levels whose names a parameter may have, too.
const MEMBERS: [&str; 12] = [
    "data", "mdata", "span", "copy", "load", "store", "any", "fill", "row", "col", "view", "from",
];
const LEVELS: [&str; 5] = ["device", "cluster", "block", "group", "thread"];

/// Words that follow an operand.
const SUFFIXES: [&str; 3] = ["after", "unroll", "vectorize"];

/// Whether no operand can follow.
fn ends_operand(last: Option<&TokenKind>) -> bool {
    match last {
        Some(TokenKind::Word(_) | TokenKind::Int { .. } | TokenKind::Float { .. }) => true,
        Some(last) => last.is(Punct::RParen) || last.is(Punct::RBracket),
        None => false,
    }
}

/// Whether the colon at the end is the one of `c ? a : b`.
fn in_conditional(before: &[Token]) -> bool {
    let mut open = 0usize;
    for token in before.iter().rev() {
        match &token.kind {
            TokenKind::Punct(Punct::Colon) => open += 1,
            TokenKind::Punct(Punct::Question) => {
                open = open.saturating_sub(1);
                if open == 0 {
                    return true;
                }
            }
            TokenKind::Punct(Punct::Semi | Punct::LBrace | Punct::RBrace) => return false,
            _ => {}
        }
    }
    false
}
