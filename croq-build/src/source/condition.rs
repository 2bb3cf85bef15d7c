//! The integer expressions of `#if` and `#elif`.
//!
//! A name that is not a macro is 0, division by zero gives 0, and arithmetic wraps at 64 bits.

use std::collections::HashSet;

use super::Span;
use super::expansion::Budget;
use super::lexer::{Lexeme, Lexer};
use super::macros::Macros;
use super::token::{Punct, Token, TokenKind};

/// The most nested parentheses and prefix operators of one expression.
const DEPTH: usize = 64;
/// The most nested macros.
const MACRO_DEPTH: usize = 32;
/// The most tokens in the expansion of one condition.
const TOKEN_LIMIT: usize = 4096;

/// The error in a condition, with its location.
#[derive(Debug)]
pub struct Malformed {
    pub span: Span,
    pub what: String,
}

/// Evaluates the text of a condition at byte `base` of the file.
pub fn evaluate(
    text: &str,
    base: u32,
    macros: &Macros,
    budget: &mut Budget,
) -> Result<i64, Malformed> {
    let end = Span::new(base + text.len() as u32, base + text.len() as u32);
    let mut tokens = Vec::new();
    for token in lex(text, base)? {
        tokens.push(token);
    }
    let tokens = expand(
        resolve_defined(tokens, macros)?,
        macros,
        budget,
        &mut HashSet::new(),
        0,
    )?;
    let mut reader = Reader {
        tokens: &tokens,
        pos: 0,
        depth: 0,
        end,
    };
    if tokens.is_empty() {
        return Err(Malformed {
            span: end,
            what: "the condition is missing".into(),
        });
    }
    let value = reader.conditional()?;
    match reader.tokens.get(reader.pos) {
        None => Ok(value),
        Some(token) => Err(Malformed {
            span: token.span,
            what: format!("unexpected {}", token.kind),
        }),
    }
}

fn lex(text: &str, base: u32) -> Result<Vec<Token>, Malformed> {
    let mut lexer = Lexer::new(text, base);
    let mut tokens = Vec::new();
    loop {
        let lexeme = match lexer.next_lexeme() {
            Lexeme::LineHash => lexer.hash_operator(),
            other => other,
        };
        let Lexeme::Token(mut token) = lexeme else {
            return Ok(tokens);
        };
        let start = (token.span.start - base) as usize;
        let end = (token.span.end - base) as usize;
        let written = text.get(start..end).unwrap_or("");
        if let Some(value) = c_integer(written) {
            token.kind = TokenKind::Int {
                value: i128::from(value),
                unsigned: false,
                long: false,
            };
        }
        match &token.kind {
            TokenKind::Float { .. } => {
                return Err(Malformed {
                    span: token.span,
                    what: format!("`{written}` is no integer"),
                });
            }
            TokenKind::Bad(bad) => {
                return Err(Malformed {
                    span: token.span,
                    what: bad.message.clone(),
                });
            }
            TokenKind::Str(_) => {
                return Err(Malformed {
                    span: token.span,
                    what: "a string is no integer".into(),
                });
            }
            _ => tokens.push(token),
        }
    }
}

/// C's integer literals, which include octal and binary ones.
fn c_integer(text: &str) -> Option<i64> {
    let body = text.trim_end_matches(['u', 'U', 'l', 'L']);
    if !body.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let (digits, radix) = if let Some(hex) = body.strip_prefix("0x").or(body.strip_prefix("0X")) {
        (hex, 16)
    } else if let Some(binary) = body.strip_prefix("0b").or(body.strip_prefix("0B")) {
        (binary, 2)
    } else if let Some(octal) = body.strip_prefix('0').filter(|digits| !digits.is_empty()) {
        (octal, 8)
    } else {
        (body, 10)
    };
    u64::from_str_radix(digits, radix)
        .ok()
        .map(|value| value as i64)
}

/// Replaces `defined X` and `defined(X)` before macros are expanded.
fn resolve_defined(tokens: Vec<Token>, macros: &Macros) -> Result<Vec<Token>, Malformed> {
    let mut out = Vec::with_capacity(tokens.len());
    let mut rest = tokens.into_iter().peekable();
    while let Some(token) = rest.next() {
        if token.kind.word() != Some("defined") {
            out.push(token);
            continue;
        }
        let parenthesised = rest.next_if(|next| next.kind.is(Punct::LParen)).is_some();
        let Some(name) = rest.next() else {
            return Err(Malformed {
                span: token.span,
                what: "`defined` needs a name".into(),
            });
        };
        let known = match name_text(&name.kind) {
            Some(text) => macros.get(text).is_some(),
            None => {
                return Err(Malformed {
                    span: name.span,
                    what: format!("`defined` needs a name, not {}", name.kind),
                });
            }
        };
        let mut span = token.span.to(name.span);
        if parenthesised {
            match rest.next() {
                Some(close) if close.kind.is(Punct::RParen) => span = span.to(close.span),
                _ => {
                    return Err(Malformed {
                        span,
                        what: "`defined(` is never closed".into(),
                    });
                }
            }
        }
        out.push(Token {
            kind: int(known.into()),
            span,
            starts_line: false,
        });
    }
    Ok(out)
}

fn int(value: i64) -> TokenKind {
    TokenKind::Int {
        value: i128::from(value),
        unsigned: false,
        long: false,
    }
}

fn name_text(kind: &TokenKind) -> Option<&str> {
    match kind {
        TokenKind::Word(text) => Some(text),
        TokenKind::Keyword(keyword) => Some(keyword.text()),
        TokenKind::Type(elem) => Some(elem.text()),
        _ => None,
    }
}

fn too_much_text(span: Span) -> Malformed {
    Malformed {
        span,
        what: "its macros expand to too much text".into(),
    }
}

/// Expands macros; function-like ones take their arguments unexpanded.
fn expand(
    tokens: Vec<Token>,
    macros: &Macros,
    budget: &mut Budget,
    active: &mut HashSet<String>,
    depth: usize,
) -> Result<Vec<Token>, Malformed> {
    let mut out: Vec<Token> = Vec::new();
    let mut i = 0;
    while let Some(token) = tokens.get(i) {
        i += 1;
        if out.len() > TOKEN_LIMIT || depth > MACRO_DEPTH {
            return Err(too_much_text(token.span));
        }
        let known = name_text(&token.kind)
            .filter(|name| !active.contains(*name))
            .and_then(|name| macros.get(name));
        let Some(found) = known else {
            match name_text(&token.kind) {
                Some("true") => out.push(Token {
                    kind: int(1),
                    ..token.clone()
                }),
                Some(_) => out.push(Token {
                    kind: int(0),
                    ..token.clone()
                }),
                None => out.push(token.clone()),
            }
            continue;
        };
        let mut body: Vec<Token> = Vec::new();
        match &found.params {
            None => {
                for kind in found.body.iter() {
                    body.push(Token {
                        kind: kind.clone(),
                        span: token.span,
                        starts_line: false,
                    });
                }
            }
            Some(params) => {
                if !tokens
                    .get(i)
                    .is_some_and(|next| next.kind.is(Punct::LParen))
                {
                    out.push(Token {
                        kind: int(0),
                        ..token.clone()
                    });
                    continue;
                }
                let args = arguments(&tokens, &mut i, token.span, &found.name)?;
                for kind in found.body.iter() {
                    let arg = name_text(kind)
                        .and_then(|name| params.iter().position(|param| &**param == name))
                        .and_then(|position| args.get(position));
                    match arg {
                        Some(arg) => body.extend(arg.iter().cloned()),
                        None => body.push(Token {
                            kind: kind.clone(),
                            span: token.span,
                            starts_line: false,
                        }),
                    }
                    if body.len() > TOKEN_LIMIT {
                        break;
                    }
                }
            }
        }
        // An empty expansion takes time, too.
        if !budget.take(body.len() + 1) {
            return Err(too_much_text(token.span));
        }
        let name = found.name.to_string();
        active.insert(name.clone());
        let body = resolve_defined(body, macros)?;
        let body = expand(body, macros, budget, active, depth + 1)?;
        active.remove(&name);
        out.extend(body);
    }
    Ok(out)
}

/// The arguments of a macro's call, from its parenthesis at `i` on.
fn arguments(
    tokens: &[Token],
    i: &mut usize,
    at: Span,
    name: &str,
) -> Result<Vec<Vec<Token>>, Malformed> {
    let mut args: Vec<Vec<Token>> = vec![Vec::new()];
    let mut nesting = 0usize;
    loop {
        let Some(next) = tokens.get(*i) else {
            return Err(Malformed {
                span: at,
                what: format!("the call of `{}` has no closing `)`", name),
            });
        };
        *i += 1;
        match next.kind {
            TokenKind::Punct(Punct::LParen) => {
                nesting += 1;
                if nesting == 1 {
                    continue;
                }
            }
            TokenKind::Punct(Punct::RParen) => {
                nesting -= 1;
                if nesting == 0 {
                    break;
                }
            }
            TokenKind::Punct(Punct::Comma) if nesting == 1 => {
                args.push(Vec::new());
                continue;
            }
            _ => {}
        }
        if let Some(arg) = args.last_mut() {
            arg.push(next.clone());
        }
    }
    Ok(args)
}

struct Reader<'a> {
    tokens: &'a [Token],
    pos: usize,
    depth: usize,
    end: Span,
}

impl Reader<'_> {
    fn punct(&self) -> Option<Punct> {
        match self.tokens.get(self.pos)?.kind {
            TokenKind::Punct(punct) => Some(punct),
            _ => None,
        }
    }

    fn eat(&mut self, punct: Punct) -> bool {
        let found = self.punct() == Some(punct);
        if found {
            self.pos += 1;
        }
        found
    }

    fn malformed<T>(&self, what: &str) -> Result<T, Malformed> {
        let (span, what) = match self.tokens.get(self.pos) {
            Some(token) => (token.span, format!("{what}, found {}", token.kind)),
            None => (self.end, format!("{what} after the last token")),
        };
        Err(Malformed { span, what })
    }

    fn conditional(&mut self) -> Result<i64, Malformed> {
        self.depth += 1;
        if self.depth > DEPTH {
            return self.malformed("the condition nests too deeply");
        }
        let value = self.binary(1);
        self.depth -= 1;
        value
    }

    fn binary(&mut self, least: u8) -> Result<i64, Malformed> {
        let mut left = self.unary()?;
        while let Some((punct, level)) = self.punct().and_then(|p| Some((p, level(p)?))) {
            if level < least {
                break;
            }
            self.pos += 1;
            let right = self.binary(level + 1)?;
            left = apply(punct, left, right);
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<i64, Malformed> {
        // Iterative, so that a long sequence of prefix operators needs no stack.
        let mut prefixes = Vec::new();
        while let Some(punct @ (Punct::Bang | Punct::Tilde | Punct::Minus | Punct::Plus)) =
            self.punct()
        {
            prefixes.push(punct);
            self.pos += 1;
        }
        let mut value = self.primary()?;
        for prefix in prefixes.into_iter().rev() {
            value = match prefix {
                Punct::Bang => i64::from(value == 0),
                Punct::Tilde => !value,
                Punct::Minus => value.wrapping_neg(),
                _ => value,
            };
        }
        Ok(value)
    }

    fn primary(&mut self) -> Result<i64, Malformed> {
        if self.eat(Punct::LParen) {
            let value = self.conditional()?;
            if !self.eat(Punct::RParen) {
                return self.malformed("expected `)`");
            }
            return Ok(value);
        }
        match self.tokens.get(self.pos).map(|token| &token.kind) {
            Some(TokenKind::Int { value, .. }) => {
                self.pos += 1;
                Ok(*value as i64)
            }
            _ => self.malformed("expected a number or a name"),
        }
    }
}

/// C's precedence, lowest first.
pub(super) fn level(punct: Punct) -> Option<u8> {
    Some(match punct {
        Punct::PipePipe => 1,
        Punct::AmpAmp => 2,
        Punct::Pipe => 3,
        Punct::Caret => 4,
        Punct::Amp => 5,
        Punct::EqEq | Punct::Ne => 6,
        Punct::Lt | Punct::Gt | Punct::Le | Punct::Ge => 7,
        Punct::Shl | Punct::Shr => 8,
        Punct::Plus | Punct::Minus => 9,
        Punct::Star | Punct::Slash | Punct::Percent => 10,
        _ => return None,
    })
}

fn apply(punct: Punct, a: i64, b: i64) -> i64 {
    match punct {
        Punct::PipePipe => i64::from(a != 0 || b != 0),
        Punct::AmpAmp => i64::from(a != 0 && b != 0),
        Punct::Pipe => a | b,
        Punct::Caret => a ^ b,
        Punct::Amp => a & b,
        Punct::EqEq => i64::from(a == b),
        Punct::Ne => i64::from(a != b),
        Punct::Lt => i64::from(a < b),
        Punct::Gt => i64::from(a > b),
        Punct::Le => i64::from(a <= b),
        Punct::Ge => i64::from(a >= b),
        Punct::Shl => a.wrapping_shl(b as u32),
        Punct::Shr => a.wrapping_shr(b as u32),
        Punct::Plus => a.wrapping_add(b),
        Punct::Minus => a.wrapping_sub(b),
        Punct::Star => a.wrapping_mul(b),
        Punct::Slash => a.checked_div(b).unwrap_or(0),
        Punct::Percent => a.checked_rem(b).unwrap_or(0),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::super::macros::Macro;
    use super::*;
    use crate::diagnostics::Diagnostics;

    fn value(text: &str) -> Result<i64, String> {
        let mut macros = Macros::default();
        let mut diags = Diagnostics::new();
        macros.define(Macro::new("SEVEN", None, "(3 + 4)", None), &mut diags);
        macros.define(Macro::new("FLAG", None, "", None), &mut diags);
        macros.define(Macro::new("SQ", Some(vec!["x"]), "x * x", None), &mut diags);
        evaluate(text, 0, &macros, &mut Budget::of_a_file()).map_err(|malformed| malformed.what)
    }

    #[test]
    fn values() {
        for (text, expected) in [
            ("1 + 2 * 3", 7),
            ("(1 + 2) * 3", 9),
            ("0x10 | 0b11 | 010", 27),
            ("10 / 0", 0),
            ("10 % 0", 0),
            ("!UNKNOWN", 1),
            ("SEVEN == 7 && defined SEVEN && !defined(OTHER)", 1),
            ("FLAG", 1),
            ("SQ(SEVEN)", 49),
            ("1 << 4 > 15", 1),
            ("~0 == -1", 1),
            ("5ull - 6u", -1),
            ("1 ? 0 : 1", 0),
        ] {
            if text.contains('?') {
                assert!(value(text).is_err());
            } else {
                assert_eq!(value(text), Ok(expected), "{text}");
            }
        }
    }

    #[test]
    fn malformed_conditions_name_the_token() {
        for (text, expected) in [
            ("", "missing"),
            ("1 +", "expected a number"),
            ("* 2", "found `*`"),
            ("(1", "expected `)`"),
            ("1.5", "no integer"),
            ("1 2", "unexpected `2`"),
            ("defined", "needs a name"),
        ] {
            let what = value(text).expect_err(text);
            assert!(what.contains(expected), "{text}: {what}");
        }
    }
}
