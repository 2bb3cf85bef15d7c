//! Constant expressions: conditions of `if constexpr` and `static_assert`, and arguments of
//! templates.
//!
//! Parameters of templates and macros have been replaced before. Integers are exact: a result that
//! does not fit 64 bits is an error. An operand of `&&`, `||` and `?:` that is not evaluated may
//! divide by zero.

use crate::source::condition::level;
use crate::source::token::{ElemType, Keyword, Punct, Token, TokenKind};
use crate::span::Span;

/// The most nested parentheses and operators of one expression.
const DEPTH: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constant {
    Int(i64),
    Bool(bool),
}

impl Constant {
    fn int(self) -> i64 {
        match self {
            Self::Int(value) => value,
            Self::Bool(value) => i64::from(value),
        }
    }

    pub fn truth(self) -> bool {
        self.int() != 0
    }
}

/// The error in an expression, with its location.
#[derive(Debug, PartialEq, Eq)]
pub struct Malformed {
    pub span: Span,
    pub what: String,
}

/// Evaluates all tokens as one condition; `end` is the location after them.
pub fn condition(tokens: &[Token], end: Span) -> Result<bool, Malformed> {
    let mut reader = Reader::new(tokens, end);
    let value = reader.expression()?;
    match reader.peek() {
        None => Ok(value.truth()),
        Some(token) => Err(Malformed {
            span: token.span,
            what: format!("unexpected {}", token.kind),
        }),
    }
}

pub struct Reader<'t> {
    tokens: &'t [Token],
    pub pos: usize,
    end: Span,
    depth: usize,
    /// Whether a `>` ends the expression.
    angle: bool,
    /// Whether the current operand is not evaluated.
    unused: bool,
}

impl<'t> Reader<'t> {
    pub fn new(tokens: &'t [Token], end: Span) -> Self {
        Self {
            tokens,
            pos: 0,
            end,
            depth: 0,
            angle: false,
            unused: false,
        }
    }

    /// For a list of arguments, which ends at a `>`.
    pub fn of_list(tokens: &'t [Token], end: Span) -> Self {
        Self {
            angle: true,
            ..Self::new(tokens, end)
        }
    }

    pub fn peek(&self) -> Option<&'t Token> {
        self.tokens.get(self.pos)
    }

    pub fn eat(&mut self, punct: Punct) -> bool {
        let found = self.peek().is_some_and(|token| token.kind.is(punct));
        self.pos += usize::from(found);
        found
    }

    /// The location of the next token.
    pub fn here(&self) -> Span {
        self.peek().map_or(self.end, |token| token.span)
    }

    fn malformed<T>(&self, what: impl Into<String>) -> Result<T, Malformed> {
        Err(Malformed {
            span: self.here(),
            what: what.into(),
        })
    }

    fn expected<T>(&self, what: &str) -> Result<T, Malformed> {
        match self.peek() {
            Some(token) => self.malformed(format!("expected {what}, found {}", token.kind)),
            None => self.malformed(format!("expected {what}")),
        }
    }

    fn expect(&mut self, punct: Punct) -> Result<(), Malformed> {
        match self.eat(punct) {
            true => Ok(()),
            false => self.expected(&format!("`{}`", punct.text())),
        }
    }

    /// An element type, if one is next.
    pub fn elem_type(&mut self) -> Option<ElemType> {
        let TokenKind::Type(elem) = self.peek()?.kind else {
            return None;
        };
        self.pos += 1;
        Some(canonical(elem))
    }

    pub fn expression(&mut self) -> Result<Constant, Malformed> {
        self.depth += 1;
        if self.depth > DEPTH {
            return self.malformed("this nests too deeply");
        }
        let condition = self.binary(1)?;
        let value = if self.eat(Punct::Question) {
            let outer = self.unused;
            self.unused = outer || !condition.truth();
            let then = self.expression()?;
            self.expect(Punct::Colon)?;
            self.unused = outer || condition.truth();
            let otherwise = self.expression()?;
            self.unused = outer;
            if condition.truth() { then } else { otherwise }
        } else {
            condition
        };
        self.depth -= 1;
        Ok(value)
    }

    fn operator(&self) -> Option<(Punct, u8)> {
        let TokenKind::Punct(punct) = self.peek()?.kind else {
            return None;
        };
        let ends_list = self.angle && matches!(punct, Punct::Gt | Punct::Ge | Punct::Shr);
        level(punct)
            .filter(|_| !ends_list)
            .map(|level| (punct, level))
    }

    fn binary(&mut self, least: u8) -> Result<Constant, Malformed> {
        let mut left = self.unary()?;
        while let Some((punct, level)) = self.operator() {
            if level < least {
                break;
            }
            let at = self.here();
            self.pos += 1;
            let outer = self.unused;
            self.unused |= match punct {
                Punct::AmpAmp => !left.truth(),
                Punct::PipePipe => left.truth(),
                _ => false,
            };
            let right = self.binary(level + 1)?;
            self.unused = outer;
            left = match apply(punct, left, right) {
                Some(value) => value,
                None if self.unused => Constant::Int(0),
                None => {
                    let what = match (punct, right.int()) {
                        (Punct::Slash | Punct::Percent, 0) => "divides by zero",
                        (Punct::Shl | Punct::Shr, _) => "shifts by no amount from 0 to 63",
                        _ => "does not fit 64 bits",
                    };
                    return Err(Malformed {
                        span: at,
                        what: what.to_owned(),
                    });
                }
            };
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Constant, Malformed> {
        // Iterative, so that a long sequence of prefix operators needs no stack.
        let mut prefixes = Vec::new();
        while let Some(TokenKind::Punct(
            punct @ (Punct::Bang | Punct::Tilde | Punct::Minus | Punct::Plus),
        )) = self.peek().map(|token| &token.kind)
        {
            prefixes.push(*punct);
            self.pos += 1;
        }
        let mut value = self.primary()?;
        for prefix in prefixes.into_iter().rev() {
            value = match prefix {
                Punct::Bang => Constant::Bool(!value.truth()),
                Punct::Tilde => Constant::Int(!value.int()),
                Punct::Minus => match value.int().checked_neg() {
                    Some(value) => Constant::Int(value),
                    None => return self.malformed("does not fit 64 bits"),
                },
                _ => Constant::Int(value.int()),
            };
        }
        Ok(value)
    }

    fn primary(&mut self) -> Result<Constant, Malformed> {
        if self.eat(Punct::LParen) {
            let angle = std::mem::replace(&mut self.angle, false);
            let value = self.expression()?;
            self.angle = angle;
            self.expect(Punct::RParen)?;
            return Ok(value);
        }
        let Some(token) = self.peek() else {
            return self.expected("an integer or a boolean");
        };
        let value = match &token.kind {
            TokenKind::Int { value, .. } => match i64::try_from(*value) {
                Ok(value) => Constant::Int(value),
                Err(_) => return self.malformed("does not fit 64 bits"),
            },
            TokenKind::Keyword(Keyword::True) => Constant::Bool(true),
            TokenKind::Keyword(Keyword::False) => Constant::Bool(false),
            TokenKind::Word(word) if &**word == "__is_same" => return self.is_same(),
            TokenKind::Word(word) => {
                return self.malformed(format!(
                    "`{word}` is not known before the function is: only parameters of the template, \
                     macros and literals are"
                ));
            }
            TokenKind::Type(elem) => {
                return self.malformed(format!(
                    "`{}` is a type: compare types with `__is_same<A, B>`",
                    elem.text()
                ));
            }
            _ => return self.expected("an integer or a boolean"),
        };
        self.pos += 1;
        Ok(value)
    }

    /// `__is_same<A, B>`
    fn is_same(&mut self) -> Result<Constant, Malformed> {
        self.pos += 1;
        self.expect(Punct::Lt)?;
        let mut operand = || match self.elem_type() {
            Some(elem) => Ok(elem),
            None => self.expected("an element type"),
        };
        let left = operand()?;
        self.expect(Punct::Comma)?;
        let Some(right) = self.elem_type() else {
            return self.expected("an element type");
        };
        self.expect(Punct::Gt)?;
        Ok(Constant::Bool(left == right))
    }
}

/// `int` is an alias of `s32`.
fn canonical(elem: ElemType) -> ElemType {
    match elem {
        ElemType::Int => ElemType::S32,
        other => other,
    }
}

/// Returns `None` if the result does not fit, or is undefined.
fn apply(punct: Punct, left: Constant, right: Constant) -> Option<Constant> {
    let (a, b) = (left.int(), right.int());
    let amount = || u32::try_from(b).ok().filter(|amount| *amount < 64);
    Some(match punct {
        Punct::PipePipe => Constant::Bool(left.truth() || right.truth()),
        Punct::AmpAmp => Constant::Bool(left.truth() && right.truth()),
        Punct::EqEq => Constant::Bool(a == b),
        Punct::Ne => Constant::Bool(a != b),
        Punct::Lt => Constant::Bool(a < b),
        Punct::Gt => Constant::Bool(a > b),
        Punct::Le => Constant::Bool(a <= b),
        Punct::Ge => Constant::Bool(a >= b),
        Punct::Pipe => Constant::Int(a | b),
        Punct::Caret => Constant::Int(a ^ b),
        Punct::Amp => Constant::Int(a & b),
        Punct::Shl => {
            let shifted = a.checked_shl(amount()?)?;
            (shifted >> amount()? == a).then_some(Constant::Int(shifted))?
        }
        Punct::Shr => Constant::Int(a >> amount()?),
        Punct::Plus => Constant::Int(a.checked_add(b)?),
        Punct::Minus => Constant::Int(a.checked_sub(b)?),
        Punct::Star => Constant::Int(a.checked_mul(b)?),
        Punct::Slash => Constant::Int(a.checked_div(b)?),
        Punct::Percent => Constant::Int(a.checked_rem(b)?),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::lexer::{Lexeme, Lexer};

    fn tokens(text: &str) -> Vec<Token> {
        let mut lexer = Lexer::new(text, 0);
        let mut tokens = Vec::new();
        while let Lexeme::Token(token) = lexer.next_lexeme() {
            tokens.push(token);
        }
        tokens
    }

    fn value(text: &str) -> Result<bool, String> {
        condition(&tokens(text), Span::default()).map_err(|malformed| malformed.what)
    }

    #[test]
    fn conditions_have_the_values_of_cpp() {
        for (text, expected) in [
            ("1 + 2 * 3 == 7", true),
            ("(1 + 2) * 3 == 9", true),
            ("0x10 - 16", false),
            ("__is_same<f16, half> && !__is_same<f16, bf16>", true),
            ("__is_same<int, s32>", true),
            ("true == 1 && false == 0", true),
            ("-3 / 2 == -1 && -3 % 2 == -1", true),
            ("0 != 0 && 4 / 0 == 1", false),
            ("1 || 4 % 0", true),
            ("64 > 32 ? 1 : 1 / 0", true),
            ("1 << 4 == 16 && (16 >> 2) == 4", true),
            ("!~0", false),
            ("(6 & 3) == 2 && (6 | 1) == 7 && (6 ^ 3) == 5", true),
        ] {
            assert_eq!(value(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn malformed_conditions_name_the_token() {
        for (text, expected) in [
            ("", "expected an integer"),
            ("1 +", "expected an integer"),
            ("(1", "expected `)`"),
            ("1.5 > 1", "expected an integer"),
            ("1 2", "unexpected `2`"),
            ("n > 2", "`n` is not known"),
            ("f16 == f16", "compare types"),
            ("__is_same(f16, f16)", "expected `<`"),
            ("__is_same<f16, 3>", "expected an element type"),
            ("1 / 0", "divides by zero"),
            ("9223372036854775807 + 1", "does not fit"),
            ("1 << 64", "shifts by no amount"),
        ] {
            let what = value(text).expect_err(text);
            assert!(what.contains(expected), "{text}: {what}");
        }
        let deep = format!("{}1{}", "(".repeat(99), ")".repeat(99));
        assert_eq!(value(&deep), Err("this nests too deeply".to_owned()));
    }
}
