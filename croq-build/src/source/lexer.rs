//! Converts characters to tokens, for text inside a `__co__` function and for macro bodies.
//!
//! The lexer never fails: text that is not a token becomes [`TokenKind::Bad`], which is only
//! reported if it reaches a function, so that C++ macros that no function uses may contain
//! anything.

use std::sync::Arc;

use super::Span;
pub use super::cursor::Lexeme;
use super::cursor::{Cursor, is_word_byte};
use super::number;
use super::punctuation::{invisible, look_alike, punct_at};
use super::token::{BadToken, ElemType, Keyword, Punct, TokenKind};
use crate::diagnostics::codes;

/// Reads tokens from `text`, whose first byte is at `base` in the file.
pub struct Lexer<'a> {
    cursor: Cursor<'a>,
    /// Backslashes that continue a comment on the next line.
    pub continued_comments: Vec<Span>,
}

impl<'a> Lexer<'a> {
    pub fn new(text: &'a str, base: u32) -> Self {
        Self {
            cursor: Cursor::new(text, base),
            continued_comments: Vec::new(),
        }
    }

    /// Starts at byte `pos` of a whole file.
    pub fn at(text: &'a str, pos: usize, starts_line: bool) -> Self {
        let mut cursor = Cursor::new(text, 0);
        cursor.pos = pos;
        cursor.starts_line = starts_line;
        Self {
            cursor,
            continued_comments: Vec::new(),
        }
    }

    pub fn pos(&self) -> usize {
        self.cursor.pos
    }

    /// Continues at `pos`, which is at the beginning of a line.
    pub fn resume_at_line(&mut self, pos: usize) {
        self.cursor.pos = pos;
        self.cursor.starts_line = true;
    }

    pub fn next_lexeme(&mut self) -> Lexeme {
        if let Some(open) = self.skip_blanks() {
            self.cursor.pos = self.cursor.bytes.len();
            let open = self.cursor.base + open as u32;
            return Lexeme::OpenComment(Span::new(open, open + 2));
        }
        let start = self.cursor.pos;
        let Some(&first) = self.cursor.bytes.get(start) else {
            return Lexeme::End;
        };
        match first {
            b'#' if self.cursor.starts_line => Lexeme::LineHash,
            b'A'..=b'Z' | b'a'..=b'z' | b'_' => self.word(start),
            b'0'..=b'9' => number::number(&mut self.cursor, start),
            // The points of `a..8` are not a fraction's.
            b'.' if self.cursor.peek(1).is_ascii_digit()
                && self.cursor.bytes.get(start.wrapping_sub(1)) != Some(&b'.') =>
            {
                number::bare_fraction(&mut self.cursor, start)
            }
            b'"' => self.string(start),
            b'\'' => self.character(start),
            _ => self.punctuation(start),
        }
    }

    /// Reads the `#` of a [`Lexeme::LineHash`] as an operator.
    pub fn hash_operator(&mut self) -> Lexeme {
        self.cursor.starts_line = false;
        let start = self.cursor.pos;
        self.punctuation(start)
    }

    /// Skips white space and comments; returns the start of a comment that has no end, if there is
    /// one.
    fn skip_blanks(&mut self) -> Option<usize> {
        loop {
            match self.cursor.peek(0) {
                b'\n' => {
                    self.cursor.starts_line = true;
                    self.cursor.pos += 1;
                }
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c => self.cursor.pos += 1,
                // A line continuation outside a directive is white space.
                b'\\' if self.cursor.peek(1) == b'\n' => self.cursor.pos += 2,
                b'\\' if self.cursor.peek(1) == b'\r' && self.cursor.peek(2) == b'\n' => {
                    self.cursor.pos += 3
                }
                b'/' if self.cursor.peek(1) == b'/' => {
                    self.skip_line_comment();
                }
                b'/' if self.cursor.peek(1) == b'*' => {
                    let start = self.cursor.pos;
                    match block_comment_end(self.cursor.bytes, start) {
                        Some(end) => self.cursor.pos = end,
                        None => return Some(start),
                    }
                }
                _ => return None,
            }
        }
    }

    /// Skips to the end of the line, and of the next one after a backslash, as in C++.
    fn skip_line_comment(&mut self) {
        while self.cursor.pos < self.cursor.bytes.len() && self.cursor.peek(0) != b'\n' {
            let start = self.cursor.pos;
            self.cursor.pos += match (
                self.cursor.peek(0),
                self.cursor.peek(1),
                self.cursor.peek(2),
            ) {
                (b'\\', b'\n', _) => 2,
                (b'\\', b'\r', b'\n') => 3,
                _ => {
                    self.cursor.pos += 1;
                    continue;
                }
            };
            let at = self.cursor.base + start as u32;
            self.continued_comments.push(Span::new(at, at + 1));
        }
    }

    fn word(&mut self, start: usize) -> Lexeme {
        while is_word_byte(self.cursor.peek(0)) {
            self.cursor.pos += 1;
        }
        let text = self.cursor.since(start);
        if self.cursor.peek(0) == b'"' && text == "R" {
            return self.raw_string(start);
        }
        if text == "group"
            && self.cursor.peek(0) == b'-'
            && self.cursor.peek(1) == b'4'
            && !is_word_byte(self.cursor.peek(2))
        {
            self.cursor.pos += 2;
            return self.cursor.token(TokenKind::Group4, start);
        }
        let kind = word_kind(text);
        self.cursor.token(kind, start)
    }

    fn string(&mut self, start: usize) -> Lexeme {
        let mut value = String::new();
        self.cursor.pos += 1;
        loop {
            let Some(c) = self.cursor.rest().chars().next() else {
                return self.unterminated(start, "string");
            };
            match c {
                '\n' => return self.unterminated(start, "string"),
                '"' => {
                    self.cursor.pos += 1;
                    break;
                }
                '\\' => {
                    self.cursor.pos += 1;
                    let Some(escaped) = self.cursor.rest().chars().next() else {
                        return self.unterminated(start, "string");
                    };
                    match escaped {
                        'n' => value.push('\n'),
                        't' => value.push('\t'),
                        '"' | '\\' | '\'' => value.push(escaped),
                        '\n' => {}
                        // Other escapes may have a meaning in C++ or in assembly; they are kept
                        // unchanged.
                        _ => {
                            value.push('\\');
                            value.push(escaped);
                        }
                    }
                    self.cursor.pos += escaped.len_utf8();
                }
                _ => {
                    value.push(c);
                    self.cursor.pos += c.len_utf8();
                }
            }
        }
        self.cursor
            .token(TokenKind::Str(Arc::from(value.as_str())), start)
    }

    fn unterminated(&mut self, start: usize, what: &str) -> Lexeme {
        let bad = BadToken {
            code: codes::E0104,
            message: format!("this {what} is never closed"),
            label: "opened here".into(),
            help: Some(format!("a {what} ends on the line it starts on")),
            // The intended end of the literal is unknown.
            stand_in: None,
        };
        self.cursor.token(TokenKind::Bad(Box::new(bad)), start)
    }

    fn raw_string(&mut self, start: usize) -> Lexeme {
        match raw_string_end(self.cursor.text, self.cursor.pos) {
            Some((body, end)) => {
                let value: Arc<str> = Arc::from(self.cursor.text.get(body).unwrap_or_default());
                self.cursor.pos = end;
                self.cursor.token(TokenKind::Str(value), start)
            }
            None => {
                // Otherwise the rest of the file would be the string: it ends with the line.
                while self.cursor.pos < self.cursor.bytes.len() && self.cursor.peek(0) != b'\n' {
                    self.cursor.pos += 1;
                }
                let bad = BadToken {
                    code: codes::E0104,
                    message: "this raw string is never closed".into(),
                    label: "opened here".into(),
                    help: Some("a raw string is `R\"(…)\"` or `R\"tag(…)tag\"`".into()),
                    stand_in: None,
                };
                self.cursor.token(TokenKind::Bad(Box::new(bad)), start)
            }
        }
    }

    fn character(&mut self, start: usize) -> Lexeme {
        self.cursor.pos += 1;
        let line = self.cursor.rest().split('\n').next().unwrap_or("");
        match line.find('\'') {
            Some(close) if close <= 8 => self.cursor.pos += close + 1,
            _ => {}
        }
        let bad = BadToken {
            code: codes::E0104,
            message: "there are no character literals".into(),
            label: "unexpected `'`".into(),
            help: Some("strings are written with `\"`, characters as their number".into()),
            stand_in: (self.cursor.pos > start + 1).then_some(TokenKind::Int {
                value: 0,
                unsigned: false,
                long: false,
            }),
        };
        self.cursor.token(TokenKind::Bad(Box::new(bad)), start)
    }

    fn punctuation(&mut self, start: usize) -> Lexeme {
        let (punct, len) = match punct_at(self.cursor.rest().as_bytes()) {
            Some(found) => found,
            None => {
                let c = self.cursor.rest().chars().next().unwrap_or(' ');
                self.cursor.pos += c.len_utf8();
                return self
                    .cursor
                    .token(TokenKind::Bad(Box::new(unexpected(c))), start);
            }
        };
        self.cursor.pos += len;
        self.cursor.token(TokenKind::Punct(punct), start)
    }
}

fn unexpected(c: char) -> BadToken {
    let at = format!("U+{:04X}", u32::from(c));
    let (message, help) = match (invisible(c), look_alike(c)) {
        (Some((name, is_space)), _) => (
            format!("unexpected character {at}, {name}"),
            Some(match is_space {
                true => "replace it by a space".to_owned(),
                false => "remove it: it can't be seen".to_owned(),
            }),
        ),
        (None, Some((name, ascii))) => (
            format!("unexpected character `{c}` ({at}, {name})"),
            Some(format!("write `{ascii}`")),
        ),
        (None, None) if c.is_control() => (format!("unexpected character {at}"), None),
        (None, None) if c.is_ascii() => (format!("unexpected character `{c}`"), None),
        (None, None) => (format!("unexpected character `{c}` ({at})"), None),
    };
    BadToken {
        code: codes::E0104,
        message,
        label: "not part of the language".into(),
        help,
        stand_in: look_alike(c)
            .and_then(|(_, ascii)| Punct::from_text(ascii))
            .map(TokenKind::Punct),
    }
}

pub fn word_kind(text: &str) -> TokenKind {
    if let Some(keyword) = Keyword::from_text(text) {
        TokenKind::Keyword(keyword)
    } else if let Some(elem) = ElemType::from_text(text) {
        TokenKind::Type(elem)
    } else {
        TokenKind::Word(Arc::from(text))
    }
}

/// The byte after the `*/` of the comment that opens at `start`.
pub fn block_comment_end(bytes: &[u8], start: usize) -> Option<usize> {
    let body = bytes.get(start + 2..)?;
    let end = body.windows(2).position(|two| two == b"*/")?;
    Some(start + 2 + end + 2)
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
