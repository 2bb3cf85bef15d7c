//! `##` in macros: two tokens become one.

use super::lexer::word_kind;
use super::token::{BadToken, Token, TokenKind};
use crate::diagnostics::codes;

/// Joining tokens.
pub(super) trait Pasting {
    /// What this token and another one are together. Names and decimal integers may be joined.
    fn pasted(&self, right: &Token) -> TokenKind;
}

impl Pasting for Token {
    fn pasted(&self, right: &Token) -> TokenKind {
        let joined = text(&self.kind).zip(text(&right.kind));
        let joined = joined.map(|(left, right)| left + &right);
        if let Some(kind) = joined.as_deref().and_then(one_token) {
            return kind;
        }
        let (left, right) = (&self.kind, &right.kind);
        let bad = BadToken {
            code: codes::E0104,
            message: format!("`##` makes no name and no integer of {left} and {right}"),
            label: "joined here".into(),
            help: Some("join a name with names and decimal integers".into()),
            stand_in: Some(left.clone()),
        };
        TokenKind::Bad(Box::new(bad))
    }
}

fn text(kind: &TokenKind) -> Option<String> {
    match kind {
        TokenKind::Word(text) => Some(text.to_string()),
        TokenKind::Keyword(keyword) => Some(keyword.text().to_owned()),
        TokenKind::Type(elem) => Some(elem.text().to_owned()),
        TokenKind::Int {
            value,
            unsigned: false,
            long: false,
        } if *value >= 0 => Some(value.to_string()),
        _ => None,
    }
}

fn one_token(text: &str) -> Option<TokenKind> {
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return Some(word_kind(text));
    }
    let value: i64 = text.parse().ok()?;
    // `0` before other digits makes an octal integer.
    (text == "0" || !text.starts_with('0')).then_some(TokenKind::Int {
        value: value.into(),
        unsigned: false,
        long: false,
    })
}
