//! The input of the parsers.

use crate::source::token::{Token, TokenKind};

pub type Tokens<'t> = &'t [Token];

/// The text of an identifier or a keyword.
pub fn kind_text(kind: &TokenKind) -> Option<&str> {
    match kind {
        TokenKind::Word(text) => Some(text),
        TokenKind::Keyword(keyword) => Some(keyword.text()),
        TokenKind::Type(elem) => Some(elem.text()),
        _ => None,
    }
}
