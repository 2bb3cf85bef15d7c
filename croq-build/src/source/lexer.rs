//! Characters to tokens, for text inside a `__co__` function and for macro bodies.
//!
//! The lexer never fails: text that is no token becomes [`TokenKind::Bad`], which is reported only
//! if it reaches a function, so that C++ macros which no function uses may hold anything.

use std::sync::Arc;

use super::Span;
use super::token::{BadToken, ElemWord, Keyword, Punct, Token, TokenKind};

/// Reads tokens from `text`, whose first byte stands at `base` in the file.
pub struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    pos: usize,
    base: u32,
    starts_line: bool,
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

    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.pos + ahead).copied().unwrap_or(0)
    }

    fn span(&self, start: usize) -> Span {
        Span::new(self.base + start as u32, self.base + self.pos as u32)
    }

    fn token(&mut self, kind: TokenKind, start: usize) -> Lexeme {
        let token = Token {
            kind,
            span: self.span(start),
            starts_line: self.starts_line,
        };
        self.starts_line = false;
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

    fn number(&mut self, start: usize) -> Lexeme {
        let is_hex = self.peek(0) == b'0' && matches!(self.peek(1), b'x' | b'X');
        if is_hex {
            self.pos += 2;
            let digits = self.pos;
            while self.peek(0).is_ascii_hexdigit() {
                self.pos += 1;
            }
            let text = &self.text[digits..self.pos];
            return self.integer(start, text, 16);
        }
        self.digits();
        let int_end = self.pos;
        let mut is_float = false;
        if self.peek(0) == b'.' {
            if self.peek(1).is_ascii_digit() {
                self.pos += 1;
                self.digits();
                is_float = true;
            } else if !is_word_start(self.peek(1))
                || matches!(self.peek(1), b'f' | b'F' | b'e' | b'E')
            {
                // `1.` and `1.f`
                self.pos += 1;
                while is_word_byte(self.peek(0)) {
                    self.pos += 1;
                }
                let whole = &self.text[start..int_end];
                let suffix = if self.text[start..self.pos].ends_with(['f', 'F']) {
                    "f"
                } else {
                    ""
                };
                let help = format!("write `{whole}.0{suffix}`");
                return self.bad_number(
                    start,
                    "a fraction needs digits after the point",
                    Some(help),
                    TokenKind::Float {
                        value: 0.0,
                        single: true,
                    },
                );
            }
        }
        if matches!(self.peek(0), b'e' | b'E')
            && (self.peek(1).is_ascii_digit()
                || (matches!(self.peek(1), b'+' | b'-') && self.peek(2).is_ascii_digit()))
        {
            self.pos += 2;
            self.digits();
            is_float = true;
        }
        if is_float {
            return self.float(start);
        }
        let text = &self.text[start..int_end];
        // `1f` is a float to many a hand, but no literal.
        self.integer(start, text, 10)
    }

    fn digits(&mut self) {
        while self.peek(0).is_ascii_digit() {
            self.pos += 1;
        }
    }

    fn suffix(&mut self) -> &'a str {
        let start = self.pos;
        while is_word_byte(self.peek(0)) {
            self.pos += 1;
        }
        &self.text[start..self.pos]
    }

    fn float(&mut self, start: usize) -> Lexeme {
        let value: f64 = self.text[start..self.pos].parse().unwrap_or(0.0);
        let suffix = self.suffix();
        let single = match suffix {
            "" => false,
            "f" | "F" => true,
            _ => {
                let digits = self.text[start..self.pos].trim_end_matches(suffix);
                let help = match suffix {
                    "h" | "f16" | "bf16" => format!("convert: `__to<f16>({digits}f)`"),
                    _ => format!("write `{digits}` (f64) or `{digits}f` (f32)"),
                };
                let what = format!("`{suffix}` is no suffix of a number");
                return self.bad_number(
                    start,
                    &what,
                    Some(help),
                    TokenKind::Float {
                        value,
                        single: true,
                    },
                );
            }
        };
        self.token(TokenKind::Float { value, single }, start)
    }

    fn integer(&mut self, start: usize, digits: &str, radix: u32) -> Lexeme {
        let stand_in = TokenKind::Int {
            value: 1,
            unsigned: false,
            long: false,
        };
        let suffix = self.suffix();
        let lower = suffix.to_ascii_lowercase();
        let (unsigned, long) = match lower.as_str() {
            "" => (false, false),
            "u" => (true, false),
            "l" | "ll" => (false, true),
            "ul" | "ull" | "lu" | "llu" => (true, true),
            _ => {
                let (what, help) = match lower.as_str() {
                    "f" => (
                        "a float needs a point".to_string(),
                        Some(format!("write `{digits}.0f`")),
                    ),
                    _ if digits == "0" && lower.starts_with('b') => (
                        "there are no binary numbers".to_string(),
                        u64::from_str_radix(&lower[1..], 2)
                            .ok()
                            .map(|v| format!("write `{v:#x}`")),
                    ),
                    _ if digits.is_empty() => ("digits are missing after `0x`".to_string(), None),
                    _ => (
                        format!("`{suffix}` is no suffix of a number"),
                        Some("suffixes are `u`, `l`, `ll` and `ul`, `ull`".to_string()),
                    ),
                };
                return self.bad_number(start, &what, help, stand_in);
            }
        };
        if digits.is_empty() {
            return self.bad_number(start, "digits are missing after `0x`", None, stand_in);
        }
        if radix == 10 && digits.len() > 1 && digits.starts_with('0') {
            let plain = digits.trim_start_matches('0');
            let plain = if plain.is_empty() { "0" } else { plain };
            let help = format!("decimal numbers have no leading zeros: `{plain}`");
            return self.bad_number(start, "there are no octal numbers", Some(help), stand_in);
        }
        let significant = digits.trim_start_matches('0');
        let value = if significant.is_empty() {
            Some(0)
        } else if significant.len() > 20 {
            None
        } else {
            u128::from_str_radix(significant, radix).ok()
        };
        let limit = if unsigned {
            u128::from(u64::MAX)
        } else {
            i64::MAX as u128
        };
        match value {
            Some(value) if value <= limit => {
                let kind = TokenKind::Int {
                    value: value as i128,
                    unsigned,
                    long,
                };
                self.token(kind, start)
            }
            _ => {
                let text = &self.text[start..self.pos];
                let (code, sign, range) = if unsigned {
                    ("E0102", "unsigned", "0 to 18446744073709551615")
                } else {
                    (
                        "E0101",
                        "signed",
                        "-9223372036854775808 to 9223372036854775807",
                    )
                };
                let fits_unsigned = !unsigned && value.is_some_and(|v| v <= u128::from(u64::MAX));
                let bad = BadToken {
                    code,
                    message: format!("the {sign} integer `{text}` does not fit in 64 bits"),
                    label: format!("the range is {range}"),
                    help: fits_unsigned.then(|| format!("write `{text}u`")),
                    stand_in: Some(stand_in),
                };
                self.token(TokenKind::Bad(Box::new(bad)), start)
            }
        }
    }

    fn bad_number(
        &mut self,
        start: usize,
        what: &str,
        help: Option<String>,
        stand_in: TokenKind,
    ) -> Lexeme {
        let bad = BadToken {
            code: "E0103",
            message: format!("malformed number `{}`", &self.text[start..self.pos]),
            label: what.into(),
            help,
            stand_in: Some(stand_in),
        };
        self.token(TokenKind::Bad(Box::new(bad)), start)
    }

    fn bare_fraction(&mut self, start: usize) -> Lexeme {
        self.pos += 1;
        while is_word_byte(self.peek(0)) {
            self.pos += 1;
        }
        let help = format!("write `0{}`", &self.text[start..self.pos]);
        self.bad_number(
            start,
            "a fraction needs digits before the point",
            Some(help),
            TokenKind::Float {
                value: 0.0,
                single: true,
            },
        )
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

/// The longest operator that `bytes` starts with, and its length.
fn punct_at(bytes: &[u8]) -> Option<(Punct, usize)> {
    use Punct::*;
    let at = |i: usize| bytes.get(i).copied().unwrap_or(0);
    let two = |second: u8, yes: Punct, no: Punct| {
        if at(1) == second { (yes, 2) } else { (no, 1) }
    };
    Some(match at(0) {
        b'+' => match at(1) {
            b'+' => (PlusPlus, 2),
            b'=' => (PlusEq, 2),
            _ => (Plus, 1),
        },
        b'-' => match at(1) {
            b'-' => (MinusMinus, 2),
            b'=' => (MinusEq, 2),
            b'>' => (Arrow, 2),
            _ => (Minus, 1),
        },
        b'*' => two(b'=', StarEq, Star),
        b'/' => two(b'=', SlashEq, Slash),
        b'%' => two(b'=', PercentEq, Percent),
        b'<' => match (at(1), at(2)) {
            (b'-', b'>') => (BothWays, 3),
            (b'<', b'=') => (ShlEq, 3),
            (b'<', _) => (Shl, 2),
            (b'=', _) => (Le, 2),
            _ => (Lt, 1),
        },
        b'>' => match (at(1), at(2)) {
            (b'>', b'=') => (ShrEq, 3),
            (b'>', _) => (Shr, 2),
            (b'=', _) => (Ge, 2),
            _ => (Gt, 1),
        },
        b'&' => match at(1) {
            b'&' => (AmpAmp, 2),
            b'=' => (AmpEq, 2),
            _ => (Amp, 1),
        },
        b'|' => match at(1) {
            b'|' => (PipePipe, 2),
            b'=' => (PipeEq, 2),
            _ => (Pipe, 1),
        },
        b'^' => two(b'=', CaretEq, Caret),
        b'~' => (Tilde, 1),
        b'!' => two(b'=', Ne, Bang),
        b'=' => match at(1) {
            b'=' => (EqEq, 2),
            b'>' => (FatArrow, 2),
            _ => (Eq, 1),
        },
        b'?' => two(b'?', QuestionQuestion, Question),
        b':' => two(b':', ColonColon, Colon),
        b'#' => match at(1) {
            b'+' => (HashPlus, 2),
            b'-' => (HashMinus, 2),
            b'*' => (HashStar, 2),
            // `#/*…*/p` and `#//` are a `#` and a comment.
            b'/' if !matches!(at(2), b'/' | b'*') => (HashSlash, 2),
            b'%' => (HashPercent, 2),
            _ => (Hash, 1),
        },
        b'(' => (LParen, 1),
        b')' => (RParen, 1),
        b'[' => (LBracket, 1),
        b']' => (RBracket, 1),
        b'{' => (LBrace, 1),
        b'}' => (RBrace, 1),
        b',' => (Comma, 1),
        b';' => (Semi, 1),
        b'.' => (Dot, 1),
        _ => return None,
    })
}

/// What a character pasted from prose stands for.
fn look_alike(c: char) -> Option<&'static str> {
    Some(match c {
        '\u{2212}' | '\u{2013}' | '\u{2014}' => "-",
        '\u{00d7}' => "*",
        '\u{00f7}' => "/",
        '\u{201c}' | '\u{201d}' => "\"",
        '\u{2264}' => "<=",
        '\u{2265}' => ">=",
        '\u{2260}' => "!=",
        '\u{21d2}' => "=>",
        '\u{ff1b}' => ";",
        '\u{ff0c}' => ",",
        '\u{ff08}' => "(",
        '\u{ff09}' => ")",
        _ => return None,
    })
}
