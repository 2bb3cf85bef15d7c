//! A position in the text, and the construction of tokens from it.

use super::Span;
use super::steps::step;
use super::token::{Punct, Token, TokenKind};

/// A position in `text`, whose first byte is at `base` in the file, and properties of the last
/// token.
pub(super) struct Cursor<'a> {
    pub text: &'a str,
    pub bytes: &'a [u8],
    pub pos: usize,
    pub base: u32,
    pub starts_line: bool,
    /// The previous token is a `-` that negates.
    pub negated: bool,
    /// The previous token ends an operand.
    after_operand: bool,
}

/// A token, or something that only the caller can handle.
pub enum Lexeme {
    Token(Token),
    /// A `#` that is first on its line, and may begin a directive. The lexer is at the `#`.
    LineHash,
    /// A comment that begins here and has no end.
    OpenComment(Span),
    End,
}

impl<'a> Cursor<'a> {
    pub fn new(text: &'a str, base: u32) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            pos: 0,
            base,
            starts_line: true,
            negated: false,
            after_operand: false,
        }
    }

    /// The text from `start` to the current position.
    pub fn since(&self, start: usize) -> &'a str {
        self.text.get(start..self.pos).unwrap_or_default()
    }

    /// The text from the current position on.
    pub fn rest(&self) -> &'a str {
        self.text.get(self.pos..).unwrap_or_default()
    }

    pub fn peek(&self, ahead: usize) -> u8 {
        step();
        self.bytes.get(self.pos + ahead).copied().unwrap_or(0)
    }

    pub fn span(&self, start: usize) -> Span {
        Span::new(self.base + start as u32, self.base + self.pos as u32)
    }

    pub fn token(&mut self, kind: TokenKind, start: usize) -> Lexeme {
        let token = Token {
            kind,
            span: self.span(start),
            starts_line: self.starts_line,
        };
        self.starts_line = false;
        self.negated = token.kind.is(Punct::Minus) && !self.after_operand;
        self.after_operand = matches!(
            token.kind,
            TokenKind::Word(_)
                | TokenKind::Int { .. }
                | TokenKind::Float { .. }
                | TokenKind::Punct(Punct::RParen | Punct::RBracket)
        );
        Lexeme::Token(token)
    }
}

pub fn is_word_start(b: u8) -> bool {
    b.is_ascii_alphabetic() || b == b'_'
}

pub fn is_word_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_'
}
