//! Characters to tokens, for text inside a `__co__` function and for macro bodies.
//!
//! The lexer never fails: text that is no token becomes [`TokenKind::Bad`], which is reported only
//! if it reaches a function, so that C++ macros which no function uses may hold anything.

use std::sync::Arc;

use super::Span;
use super::punctuation::{look_alike, punct_at};
use super::steps::step;
use super::token::{BadToken, ElemWord, Keyword, Punct, Token, TokenKind};

/// Reads tokens from `text`, whose first byte stands at `base` in the file.
pub struct Lexer<'a> {
    pub(super) text: &'a str,
    bytes: &'a [u8],
    pub(super) pos: usize,
    base: u32,
    starts_line: bool,
    /// The token before is a `-` that negates.
    pub(super) negated: bool,
    /// The token before ends an operand.
    after_operand: bool,
}

/// Something that ends the reach of the lexer proper.
pub enum Lexeme {
    Token(Token),
    /// A `#` first on its line: perhaps a directive. The lexer stands on the `#`.
    LineHash,
    /// A comment that starts here and never ends.
    OpenComment(Span),
    End,
}

impl<'a> Lexer<'a> {
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

    /// Starts at byte `pos` of a whole file.
    pub fn at(text: &'a str, pos: usize, starts_line: bool) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            pos,
            base: 0,
            starts_line,
            negated: false,
            after_operand: false,
        }
    }

    pub fn pos(&self) -> usize {
        self.pos
    }

    /// Goes on from `pos`, which stands at the start of a line.
    pub fn resume_at_line(&mut self, pos: usize) {
        self.pos = pos;
        self.starts_line = true;
    }

    pub(super) fn peek(&self, ahead: usize) -> u8 {
        step();
        self.bytes.get(self.pos + ahead).copied().unwrap_or(0)
    }

    fn span(&self, start: usize) -> Span {
        Span::new(self.base + start as u32, self.base + self.pos as u32)
    }

    pub(super) fn token(&mut self, kind: TokenKind, start: usize) -> Lexeme {
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

    pub fn next_lexeme(&mut self) -> Lexeme {
        if let Some(open) = self.skip_blanks() {
            self.pos = self.bytes.len();
            let open = self.base + open as u32;
            return Lexeme::OpenComment(Span::new(open, open + 2));
        }
        let start = self.pos;
        let Some(&first) = self.bytes.get(start) else {
            return Lexeme::End;
        };
        match first {
            b'#' if self.starts_line => Lexeme::LineHash,
            b'A'..=b'Z' | b'a'..=b'z' | b'_' => self.word(start),
            b'0'..=b'9' => self.number(start),
            b'.' if self.peek(1).is_ascii_digit() => self.bare_fraction(start),
            b'"' => self.string(start),
            b'\'' => self.character(start),
            _ => self.punctuation(start),
        }
    }

    /// Takes the `#` that [`Lexeme::LineHash`] announced as an operator after all.
    pub fn hash_operator(&mut self) -> Lexeme {
        self.starts_line = false;
        let start = self.pos;
        self.punctuation(start)
    }

    /// Skips white space and comments; the start of a comment that has no end, if there is one.
    fn skip_blanks(&mut self) -> Option<usize> {
        loop {
            match self.peek(0) {
                b'\n' => {
                    self.starts_line = true;
                    self.pos += 1;
                }
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c => self.pos += 1,
                // A line continuation outside a directive is white space.
                b'\\' if self.peek(1) == b'\n' => self.pos += 2,
                b'\\' if self.peek(1) == b'\r' && self.peek(2) == b'\n' => self.pos += 3,
                b'/' if self.peek(1) == b'/' => {
                    while self.pos < self.bytes.len() && self.peek(0) != b'\n' {
                        self.pos += 1;
                    }
                }
                b'/' if self.peek(1) == b'*' => {
                    let start = self.pos;
                    match block_comment_end(self.bytes, start) {
                        Some(end) => self.pos = end,
                        None => return Some(start),
                    }
                }
                _ => return None,
            }
        }
    }

    fn word(&mut self, start: usize) -> Lexeme {
        while is_word_byte(self.peek(0)) {
            self.pos += 1;
        }
        let text = &self.text[start..self.pos];
        if self.peek(0) == b'"' && text == "R" {
            return self.raw_string(start);
        }
        if text == "group"
            && self.peek(0) == b'-'
            && self.peek(1) == b'4'
            && !is_word_byte(self.peek(2))
        {
            self.pos += 2;
            return self.token(TokenKind::Group4, start);
        }
        let kind = word_kind(text);
        self.token(kind, start)
    }

    fn string(&mut self, start: usize) -> Lexeme {
        let mut value = String::new();
        self.pos += 1;
        loop {
            let rest = &self.text[self.pos..];
            let Some(c) = rest.chars().next() else {
                return self.unterminated(start, "string");
            };
            match c {
                '\n' => return self.unterminated(start, "string"),
                '"' => {
                    self.pos += 1;
                    break;
                }
                '\\' => {
                    self.pos += 1;
                    let Some(escaped) = self.text[self.pos..].chars().next() else {
                        return self.unterminated(start, "string");
                    };
                    match escaped {
                        'n' => value.push('\n'),
                        't' => value.push('\t'),
                        '"' | '\\' | '\'' => value.push(escaped),
                        '\n' => {}
                        // Others mean something to C++ or to an assembler; they stay as written.
                        _ => {
                            value.push('\\');
                            value.push(escaped);
                        }
                    }
                    self.pos += escaped.len_utf8();
                }
                _ => {
                    value.push(c);
                    self.pos += c.len_utf8();
                }
            }
        }
        self.token(TokenKind::Str(Arc::from(value.as_str())), start)
    }

    fn unterminated(&mut self, start: usize, what: &str) -> Lexeme {
        let bad = BadToken {
            code: "E0104",
            message: format!("this {what} is never closed"),
            label: "opened here".into(),
            help: Some(format!("a {what} ends on the line it starts on")),
            // What the rest of the line was meant to be is anyone's guess.
            stand_in: None,
        };
        self.token(TokenKind::Bad(Box::new(bad)), start)
    }

    fn raw_string(&mut self, start: usize) -> Lexeme {
        match raw_string_end(self.text, self.pos) {
            Some((body, end)) => {
                let value: Arc<str> = Arc::from(&self.text[body]);
                self.pos = end;
                self.token(TokenKind::Str(value), start)
            }
            None => {
                // The rest of the file would be the string: end it with the line.
                while self.pos < self.bytes.len() && self.peek(0) != b'\n' {
                    self.pos += 1;
                }
                let bad = BadToken {
                    code: "E0104",
                    message: "this raw string is never closed".into(),
                    label: "opened here".into(),
                    help: Some("a raw string is `R\"(…)\"` or `R\"tag(…)tag\"`".into()),
                    stand_in: None,
                };
                self.token(TokenKind::Bad(Box::new(bad)), start)
            }
        }
    }

    fn character(&mut self, start: usize) -> Lexeme {
        self.pos += 1;
        let line = self.text[self.pos..].split('\n').next().unwrap_or("");
        match line.find('\'') {
            Some(close) if close <= 8 => self.pos += close + 1,
            _ => {}
        }
        let bad = BadToken {
            code: "E0104",
            message: "there are no character literals".into(),
            label: "unexpected `'`".into(),
            help: Some("strings are written with `\"`, characters as their number".into()),
            stand_in: (self.pos > start + 1).then_some(TokenKind::Int {
                value: 0,
                unsigned: false,
                long: false,
            }),
        };
        self.token(TokenKind::Bad(Box::new(bad)), start)
    }

    fn punctuation(&mut self, start: usize) -> Lexeme {
        let (punct, len) = match punct_at(&self.bytes[start..]) {
            Some(found) => found,
            None => {
                let c = self.text[start..].chars().next().unwrap_or(' ');
                self.pos += c.len_utf8();
                let shown = if c.is_control() {
                    format!("U+{:04X}", c as u32)
                } else {
                    c.to_string()
                };
                let bad = BadToken {
                    code: "E0104",
                    message: format!("unexpected character `{shown}`"),
                    label: "not part of the language".into(),
                    help: look_alike(c).map(|ascii| format!("write `{ascii}`")),
                    stand_in: look_alike(c)
                        .and_then(Punct::from_text)
                        .map(TokenKind::Punct),
                };
                return self.token(TokenKind::Bad(Box::new(bad)), start);
            }
        };
        self.pos += len;
        self.token(TokenKind::Punct(punct), start)
    }
}

pub fn word_kind(text: &str) -> TokenKind {
    if let Some(keyword) = Keyword::from_text(text) {
        TokenKind::Keyword(keyword)
    } else if let Some(elem) = ElemWord::from_text(text) {
        TokenKind::Type(elem)
    } else {
        TokenKind::Word(Arc::from(text))
    }
}

pub fn is_word_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_'
}

pub fn is_word_start(b: u8) -> bool {
    b.is_ascii_alphabetic() || b == b'_'
}

/// The byte after the `*/` of the comment that opens at `start`.
pub fn block_comment_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut pos = start + 2;
    while pos + 1 < bytes.len() {
        if bytes[pos] == b'*' && bytes[pos + 1] == b'/' {
            return Some(pos + 2);
        }
        pos += 1;
    }
    None
}

/// For the `"` of `R"tag(body)tag"` at `quote`: the range of the body and the byte after the end.
pub fn raw_string_end(text: &str, quote: usize) -> Option<(std::ops::Range<usize>, usize)> {
    let rest = text.get(quote + 1..)?;
    // C++ allows at most 16 characters in the delimiter.
    let open = rest.bytes().take(17).position(|b| b == b'(')?;
    let tag = rest.get(..open)?;
    if tag
        .bytes()
        .any(|b| b == b'"' || b == b'\\' || b.is_ascii_whitespace())
    {
        return None;
    }
    let body = quote + 1 + open + 1;
    let close = format!("){tag}\"");
    let len = text.get(body..)?.find(&close)?;
    Some((body..body + len, body + len + close.len()))
}
