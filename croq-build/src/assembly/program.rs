//! PTX as a list of instructions.

use super::template::{Part, Template};
use super::types::Type;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program {
    pub steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// `{`
    Open,
    /// `}`
    Close,
    /// `.reg .b32 a, b;`
    Registers {
        ty: Type,
        names: Vec<String>,
    },
    Instruction(Instruction),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    /// `@p` or `@!p`: the register, and whether it must be false.
    pub guard: Option<(Operand, bool)>,
    /// `add.rn.f32` in its parts.
    pub name: Vec<String>,
    pub operands: Vec<Operand>,
    /// As written, with blanks folded.
    pub text: String,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// `%0`
    Placeholder(usize),
    /// A register that the text declares.
    Register(String),
    /// `%tid.x`, without the sign.
    Special(String),
    Integer(i128),
    /// `0f3F800000`
    Single(u32),
    /// `0d3FF0000000000000`
    Double(u64),
    /// `1.5`, as written.
    Decimal(String),
    /// `[…]`: what stands in it.
    Address(Vec<Operand>),
    /// `{a, b}`
    Vector(Vec<Operand>),
    /// `!p`
    Not(Box<Operand>),
    /// `_`
    Nothing,
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Placeholder(usize),
    Special(String),
    /// Names, opcodes and numbers.
    Word(String),
    Sign(char),
}

impl Program {
    /// Reads a text. The error is what could not be read.
    pub fn parse(template: &Template) -> Result<Self, String> {
        let tokens = tokens(template)?;
        let mut reader = Reader {
            tokens: &tokens,
            at: 0,
        };
        let mut steps = Vec::new();
        while let Some(token) = reader.peek() {
            match token {
                Token::Sign(';') => reader.at += 1,
                Token::Sign('{') => {
                    reader.at += 1;
                    steps.push(Step::Open);
                }
                Token::Sign('}') => {
                    reader.at += 1;
                    steps.push(Step::Close);
                }
                _ => {
                    let from = reader.at;
                    let step = reader.statement();
                    let written = || reader.written(from);
                    steps.push(step.ok_or_else(written)?);
                }
            }
        }
        Ok(Self { steps })
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.' | ':')
}

/// Whether a word of the text, such as an opcode with its modifiers, meets a condition. The text
/// need not be readable as a whole.
pub fn has_word(template: &Template, meets: impl Fn(&str) -> bool) -> bool {
    template.parts.iter().any(|part| match part {
        Part::Operand(_) => false,
        Part::Text(text) => uncommented(text).split(|c| !is_word(c)).any(&meets),
    })
}

/// The text without its comments.
fn uncommented(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('/') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        if let Some(comment) = from.strip_prefix("//") {
            rest = comment
                .find('\n')
                .and_then(|end| comment.get(end..))
                .unwrap_or_default();
        } else if let Some(comment) = from.strip_prefix("/*") {
            out.push(' ');
            rest = comment.split_once("*/").map_or("", |(_, after)| after);
        } else {
            out.push('/');
            rest = from.get(1..).unwrap_or_default();
        }
    }
    out.push_str(rest);
    out
}

fn tokens(template: &Template) -> Result<Vec<Token>, String> {
    let mut found = Vec::new();
    for part in &template.parts {
        let text = match part {
            Part::Operand(number) => {
                found.push(Token::Placeholder(*number));
                continue;
            }
            Part::Text(text) => uncommented(text),
        };
        let mut rest = text.trim_start();
        while let Some(first) = rest.chars().next() {
            let is_special = first == '%';
            let body = if is_special {
                rest.get(1..).unwrap_or_default()
            } else {
                rest
            };
            let length: usize = body
                .chars()
                .take_while(|c| is_word(*c))
                .map(char::len_utf8)
                .sum();
            let (word, after) = body.split_at(length);
            rest = match (is_special, word) {
                (true, "") => return Err(text.trim().to_owned()),
                (true, name) => {
                    found.push(Token::Special(name.to_owned()));
                    after
                }
                (false, "") => {
                    found.push(Token::Sign(first));
                    rest.get(first.len_utf8()..).unwrap_or_default()
                }
                (false, name) => {
                    found.push(Token::Word(name.to_owned()));
                    after
                }
            };
            rest = rest.trim_start();
        }
    }
    Ok(found)
}

struct Reader<'t> {
    tokens: &'t [Token],
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn next(&mut self) -> Option<Token> {
        let token = self.tokens.get(self.at)?.clone();
        self.at += 1;
        Some(token)
    }

    fn accept(&mut self, sign: char) -> bool {
        let found = self.peek() == Some(&Token::Sign(sign));
        self.at += usize::from(found);
        found
    }

    /// The statement from a token on, for a message.
    fn written(&self, from: usize) -> String {
        let rest = self.tokens.get(from..).unwrap_or_default();
        let end = rest.iter().position(|t| matches!(t, Token::Sign(';')));
        let statement = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        let mut text = String::new();
        for token in statement {
            let (word, glued) = match token {
                Token::Placeholder(number) => (format!("%{number}"), false),
                Token::Special(name) => (format!("%{name}"), false),
                Token::Word(name) => (name.clone(), false),
                Token::Sign(sign @ ('@' | '[' | '{' | '!' | '-')) => (sign.to_string(), false),
                Token::Sign(sign) => (sign.to_string(), true),
            };
            let opens = text.is_empty() || text.ends_with(['@', '[', '{', '!', '-']);
            if !opens && !glued {
                text.push(' ');
            }
            text.push_str(&word);
        }
        text
    }

    /// A declaration of registers or an instruction, with its `;`.
    fn statement(&mut self) -> Option<Step> {
        let from = self.at;
        let guard = match self.accept('@') {
            true => {
                let negated = self.accept('!');
                Some((self.operand()?, negated))
            }
            false => None,
        };
        let Some(Token::Word(word)) = self.next() else {
            return None;
        };
        if word == ".reg" && guard.is_none() {
            return self.registers();
        }
        let name: Vec<String> = word.split('.').map(str::to_owned).collect();
        let mut operands = Vec::new();
        while !self.ends() {
            operands.push(self.operand()?);
            // `p|q`
            if !self.accept(',') && !self.ends() {
                return None;
            }
        }
        let text = self.written(from);
        self.accept(';');
        Some(Step::Instruction(Instruction {
            guard,
            name,
            operands,
            text,
        }))
    }

    fn ends(&self) -> bool {
        matches!(self.peek(), None | Some(Token::Sign(';')))
    }

    /// After `.reg`: `.b32 a, b<3>;`
    fn registers(&mut self) -> Option<Step> {
        let Some(Token::Word(ty)) = self.next() else {
            return None;
        };
        let ty = Type::named(ty.strip_prefix('.')?)?;
        let mut names = Vec::new();
        while !self.ends() {
            let name = match self.next()? {
                Token::Word(name) => name,
                Token::Special(name) => format!("%{name}"),
                _ => return None,
            };
            if self.accept('<') {
                let Some(Token::Word(count)) = self.next() else {
                    return None;
                };
                let count: u32 = count.parse().ok().filter(|n| *n <= 256)?;
                names.extend((0..count).map(|number| format!("{name}{number}")));
                if !self.accept('>') {
                    return None;
                }
            } else {
                names.push(name);
            }
            if !self.accept(',') && !self.ends() {
                return None;
            }
        }
        self.accept(';');
        Some(Step::Registers { ty, names })
    }

    fn operand(&mut self) -> Option<Operand> {
        Some(match self.next()? {
            Token::Placeholder(number) => Operand::Placeholder(number),
            Token::Special(name) => Operand::Special(name),
            Token::Word(word) if word == "_" => Operand::Nothing,
            Token::Word(word) => word_operand(&word)?,
            Token::Sign('-') => match self.operand()? {
                Operand::Integer(value) => Operand::Integer(-value),
                Operand::Decimal(value) => Operand::Decimal(format!("-{value}")),
                _ => return None,
            },
            Token::Sign('!') => Operand::Not(Box::new(self.operand()?)),
            Token::Sign('[') => Operand::Address(self.list(']')?),
            Token::Sign('{') => Operand::Vector(self.list('}')?),
            Token::Sign(_) => return None,
        })
    }

    fn list(&mut self, end: char) -> Option<Vec<Operand>> {
        let mut list = Vec::new();
        while !self.accept(end) {
            list.push(self.operand()?);
            let goes_on = self.accept(',') || self.accept('+');
            if !goes_on && self.peek() != Some(&Token::Sign(end)) {
                return None;
            }
        }
        Some(list)
    }
}

/// A number or the name of a register.
fn word_operand(word: &str) -> Option<Operand> {
    if !word.starts_with(|c: char| c.is_ascii_digit()) {
        return Some(Operand::Register(word.to_owned()));
    }
    let lower = word.to_ascii_lowercase();
    if let Some(bits) = lower.strip_prefix("0f") {
        return u32::from_str_radix(bits, 16).ok().map(Operand::Single);
    }
    if let Some(bits) = lower.strip_prefix("0d") {
        return u64::from_str_radix(bits, 16).ok().map(Operand::Double);
    }
    let whole = lower.strip_suffix('u').unwrap_or(&lower);
    let (digits, radix) = match whole {
        "0" => ("0", 10),
        _ if whole.starts_with("0x") => (whole.get(2..)?, 16),
        _ if whole.starts_with("0b") => (whole.get(2..)?, 2),
        _ if whole.starts_with('0') && !whole.contains('.') => (whole.get(1..)?, 8),
        _ => (whole, 10),
    };
    if let Ok(value) = i128::from_str_radix(digits, radix) {
        return Some(Operand::Integer(value));
    }
    let decimal = lower
        .parse::<f64>()
        .ok()
        .filter(|value| value.is_finite())?;
    Some(Operand::Decimal(format!("{decimal:?}")))
}
