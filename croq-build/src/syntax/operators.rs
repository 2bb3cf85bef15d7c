//! The infix operators, by the language's table of precedences.

use chumsky::prelude::*;

use super::ast::{BinOp, Expr, ExprKind, UnaryOp};
use super::fault::{Class, Fault};
use super::rule::*;
use crate::source::token::{Punct, TokenKind};

/// The context of an expression, which restricts its operators.
///
/// Most contexts allow any expression. In a shape, `s [(0)/2, 1]` derives a shape. Between `<` and
/// `>`, operators with lower precedence than `+` are not allowed, and between two `|` no `|`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Any,
    Shape,
    Angle,
    Pipe,
}

/// Operators and their operands, by the table of section 2.
///
/// Precedence climbing over the token stream, with one comparison per token: chumsky's own
/// combinator tries every operator after every operand, which took most of the time of a parse.
pub fn binary<'t>(operand: Rule<'t, Expr>, place: Place) -> Rule<'t, Expr> {
    // Always fails, so that an error after an operand mentions that an operator could follow.
    let no_operator = accept(Class::Operator, |_| None::<()>).or_not();
    rule(move |inp| climb(inp, &operand, place, 0))
        .then_ignore(no_operator)
        .boxed()
}

/// An expression whose operators have at least the precedence `least`.
fn climb<'t>(
    inp: &mut In<'t, '_>,
    operand: &Rule<'t, Expr>,
    place: Place,
    least: u8,
) -> Result<Expr, Fault> {
    let mut left = match inp
        .peek_ref()
        .and_then(|token| Some((prefix(&token.kind)?, token.span)))
    {
        Some(((level, make), at)) => {
            inp.next_ref();
            let inner = climb(inp, operand, place, level)?;
            let span = at.to(inner.span);
            expr(make(inner), span)
        }
        None => inp.parse(operand)?,
    };
    while let Some(((level, op), at)) = inp
        .peek_ref()
        .and_then(|token| Some((infix(&token.kind, place)?, token.span)))
    {
        if level < least {
            break;
        }
        inp.next_ref();
        // All are left associative: the right operand has a higher precedence.
        let right = climb(inp, operand, place, level + 1)?;
        let span = left.span.to(at).to(right.span);
        left = expr(ExprKind::Binary(op, at, left, right), span);
    }
    Ok(left)
}

type Prefix = (u8, fn(Expr) -> ExprKind);

fn prefix(kind: &TokenKind) -> Option<Prefix> {
    let TokenKind::Punct(punct) = kind else {
        return None;
    };
    Some(match punct {
        Punct::Minus => (11, |e| ExprKind::Unary(UnaryOp::Neg, e)),
        Punct::Bang => (11, |e| ExprKind::Unary(UnaryOp::Not, e)),
        Punct::PlusPlus => (11, |target| ExprKind::Increment {
            prefix: true,
            by: 1,
            target,
        }),
        Punct::MinusMinus => (11, |target| ExprKind::Increment {
            prefix: true,
            by: -1,
            target,
        }),
        Punct::Hash => (14, ExprKind::Extent),
        Punct::Tilde => (14, |e| ExprKind::Unary(UnaryOp::BitNot, e)),
        Punct::Amp => (14, ExprKind::AddressOf),
        _ => return None,
    })
}

/// The precedence and the operation of an infix operator, if it is allowed here.
pub fn infix(kind: &TokenKind, place: Place) -> Option<(u8, BinOp)> {
    let TokenKind::Punct(punct) = kind else {
        return None;
    };
    let found = match punct {
        Punct::PipePipe => (2, BinOp::LogicOr),
        Punct::AmpAmp => (3, BinOp::LogicAnd),
        Punct::EqEq => (4, BinOp::Eq),
        Punct::Ne => (4, BinOp::Ne),
        Punct::Lt => (5, BinOp::Lt),
        Punct::Le => (5, BinOp::Le),
        Punct::Gt => (5, BinOp::Gt),
        Punct::Ge => (5, BinOp::Ge),
        Punct::Shl => (6, BinOp::Shl),
        Punct::Shr => (6, BinOp::Shr),
        Punct::Plus => (7, BinOp::Add),
        Punct::Minus => (7, BinOp::Sub),
        Punct::Star => (8, BinOp::Mul),
        Punct::Slash => (8, BinOp::Div),
        Punct::Percent => (8, BinOp::Rem),
        Punct::HashPlus => (9, BinOp::BoundAdd),
        Punct::HashMinus => (9, BinOp::BoundSub),
        Punct::HashStar => (10, BinOp::BoundMul),
        Punct::HashSlash => (10, BinOp::BoundDiv),
        Punct::HashPercent => (10, BinOp::BoundRem),
        Punct::Amp => (12, BinOp::And),
        Punct::Caret => (12, BinOp::Xor),
        Punct::Pipe => (12, BinOp::Or),
        Punct::Hash => (13, BinOp::Compose),
        _ => return None,
    };
    let fits = match place {
        Place::Any | Place::Shape => true,
        Place::Angle => found.0 >= 7,
        Place::Pipe => !matches!(punct, Punct::Pipe | Punct::PipePipe),
    };
    fits.then_some(found)
}
