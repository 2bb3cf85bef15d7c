//! Text → tokens (PTX ISA, "Syntax").

use super::error::Fault;

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Token<'a> {
    /// A name, with its percent or dollar signs.
    Word(&'a str),
    /// What follows a dot: a directive, a modifier, a component. Has `::` inside at most.
    Dot(&'a str),
    Integer(u64),
    /// `0f…`
    Float(u32),
    /// `0d…`, and decimal floats
    Double(u64),
    Text(&'a str),
    /// One character that stands for itself.
    Mark(char),
}

#[derive(Clone, Copy, Debug)]
pub struct Spanned<'a> {
    pub token: Token<'a>,
    pub line: u32,
}

pub fn lex(text: &str) -> Result<Vec<Spanned<'_>>, Fault> {
    let mut lexer = Lexer {
        rest: text,
        line: 1,
        tokens: Vec::new(),
    };
    while lexer.skip_space()? {
        lexer.token()?;
    }
    Ok(lexer.tokens)
}

struct Lexer<'a> {
    rest: &'a str,
    line: u32,
    tokens: Vec<Spanned<'a>>,
}

fn in_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '$'
}

impl<'a> Lexer<'a> {
    /// False at the end of the text.
    fn skip_space(&mut self) -> Result<bool, Fault> {
        loop {
            let trimmed = self.rest.trim_start();
            self.advance_to(trimmed);
            if let Some(comment) = self.rest.strip_prefix("/*") {
                let Some((_, after)) = comment.split_once("*/") else {
                    return Err(Fault::new(self.line, "a comment without its end"));
                };
                self.advance_to(after);
            } else if self.rest.starts_with("//") {
                let after = self.rest.find('\n').map_or("", |at| &self.rest[at..]);
                self.advance_to(after);
            } else {
                return Ok(!self.rest.is_empty());
            }
        }
    }

    /// `after` is a suffix of what is left.
    fn advance_to(&mut self, after: &'a str) {
        let passed = &self.rest[..self.rest.len() - after.len()];
        let lines = passed.bytes().filter(|byte| *byte == b'\n').count();
        self.line += u32::try_from(lines).unwrap_or(u32::MAX);
        self.rest = after;
    }

    fn take(&mut self, length: usize) -> &'a str {
        let (taken, after) = self.rest.split_at(length);
        self.rest = after;
        taken
    }

    fn push(&mut self, token: Token<'a>) {
        self.tokens.push(Spanned {
            token,
            line: self.line,
        });
    }

    fn token(&mut self) -> Result<(), Fault> {
        let mut chars = self.rest.chars();
        let Some(first) = chars.next() else {
            return Ok(());
        };
        let second = chars.next().unwrap_or(' ');
        match first {
            '.' if in_word(second) => self.dot(),
            '"' => self.text()?,
            '0'..='9' => self.number()?,
            '%' if in_word(second) => self.word(1),
            c if in_word(c) => self.word(0),
            c => {
                if !",;:()[]{}<>=+-!@|*%~&.".contains(c) {
                    return Err(Fault::new(self.line, format!("unexpected character `{c}`")));
                }
                self.take(c.len_utf8());
                self.push(Token::Mark(c));
            }
        }
        Ok(())
    }

    fn word_length(&self, from: usize) -> usize {
        let rest = &self.rest[from..];
        from + rest.find(|c| !in_word(c)).unwrap_or(rest.len())
    }

    fn word(&mut self, signs: usize) {
        let length = self.word_length(signs);
        let word = self.take(length);
        self.push(Token::Word(word));
    }

    /// `.shared::cta` is one modifier.
    fn dot(&mut self) {
        let mut length = self.word_length(1);
        while self.rest[length..].starts_with("::") && self.rest[length + 2..].starts_with(in_word)
        {
            length = self.word_length(length + 2);
        }
        let word = self.take(length);
        self.push(Token::Dot(&word[1..]));
    }

    fn text(&mut self) -> Result<(), Fault> {
        let inside = &self.rest[1..];
        let Some(end) = inside.find('"') else {
            return Err(Fault::new(self.line, "a string without its end"));
        };
        let inside = &inside[..end];
        let after = &self.rest[end + 2..];
        self.push(Token::Text(inside));
        self.advance_to(after);
        Ok(())
    }

    fn number(&mut self) -> Result<(), Fault> {
        let length = self.word_length(0);
        let fraction = self.rest[length..].strip_prefix('.');
        let is_decimal = self.rest[..length]
            .bytes()
            .all(|byte| byte.is_ascii_digit());
        if is_decimal && fraction.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        {
            return self.decimal_float(length);
        }
        let word = self.take(length);
        let token = number(word)
            .ok_or_else(|| Fault::new(self.line, format!("malformed number `{word}`")))?;
        self.push(token);
        Ok(())
    }

    fn decimal_float(&mut self, whole: usize) -> Result<(), Fault> {
        let mut length = self.word_length(whole + 1);
        if self.rest[..length].ends_with(['e', 'E']) && self.rest[length..].starts_with(['+', '-'])
        {
            length = self.word_length(length + 1);
        }
        let word = self.take(length);
        let value: f64 = word
            .parse()
            .map_err(|_| Fault::new(self.line, format!("malformed number `{word}`")))?;
        self.push(Token::Double(value.to_bits()));
        Ok(())
    }
}

fn number(word: &str) -> Option<Token<'static>> {
    let lower = word.to_ascii_lowercase();
    if let Some(hex) = lower.strip_prefix("0f") {
        let bits = (hex.len() == 8).then(|| u32::from_str_radix(hex, 16).ok())??;
        return Some(Token::Float(bits));
    }
    if let Some(hex) = lower.strip_prefix("0d") {
        let bits = (hex.len() == 16).then(|| u64::from_str_radix(hex, 16).ok())??;
        return Some(Token::Double(bits));
    }
    let digits = lower.strip_suffix('u').unwrap_or(&lower);
    let value = if let Some(hex) = digits.strip_prefix("0x") {
        u64::from_str_radix(hex, 16)
    } else if let Some(binary) = digits.strip_prefix("0b") {
        u64::from_str_radix(binary, 2)
    } else if digits.len() > 1 && digits.starts_with('0') {
        u64::from_str_radix(digits, 8)
    } else {
        digits.parse()
    };
    value.ok().map(Token::Integer)
}
