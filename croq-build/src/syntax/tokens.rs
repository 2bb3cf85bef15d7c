//! What parsers run over.

use crate::source::token::{Token, TokenKind};

pub type Tokens<'t> = &'t [Token];

/// The text of any word, reserved or not.
pub fn kind_text(kind: &TokenKind) -> Option<&str> {
    match kind {
        TokenKind::Word(text) => Some(text),
        TokenKind::Keyword(keyword) => Some(keyword.text()),
        TokenKind::Type(elem) => Some(elem.text()),
        _ => None,
    }
}
