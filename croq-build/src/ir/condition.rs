//! Conditions over symbolic integers, in a form that can be compared and evaluated.

use super::{BinOp, Expr, ExprKind, Function, UnOp, as_sym};
use crate::symbolic::{Sym, Var};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Condition {
    Is(bool),
    Not(Box<Condition>),
    And(Box<Condition>, Box<Condition>),
    Or(Box<Condition>, Box<Condition>),
    Compare(BinOp, Sym, Sym),
}

impl Condition {
    /// Converts a condition that consists of comparisons of symbolic integers only.
    pub fn of(func: &Function, cond: &Expr) -> Option<Self> {
        let both = |a, b| Some((Box::new(Self::of(func, a)?), Box::new(Self::of(func, b)?)));
        Some(match &*cond.kind {
            ExprKind::Bool(b) => Condition::Is(*b),
            ExprKind::Unary(UnOp::Not, a) => Condition::Not(Box::new(Self::of(func, a)?)),
            ExprKind::Binary(BinOp::LogicAnd, a, b) => {
                let (a, b) = both(a, b)?;
                Condition::And(a, b)
            }
            ExprKind::Binary(BinOp::LogicOr, a, b) => {
                let (a, b) = both(a, b)?;
                Condition::Or(a, b)
            }
            ExprKind::Binary(op, a, b) => {
                Condition::Compare(*op, as_sym(func, a)?, as_sym(func, b)?)
            }
            _ => return None,
        })
    }

    /// Whether no part of it is a literal.
    pub fn is_without_literals(&self) -> bool {
        match self {
            Condition::Is(_) => false,
            Condition::Not(a) => a.is_without_literals(),
            Condition::And(a, b) | Condition::Or(a, b) => {
                a.is_without_literals() && b.is_without_literals()
            }
            Condition::Compare(..) => true,
        }
    }

    /// The value of the condition for these values of variables.
    pub fn holds(&self, at: &dyn Fn(Var) -> Option<i128>) -> Option<bool> {
        match self {
            Condition::Is(b) => Some(*b),
            Condition::Not(a) => a.holds(at).map(|a| !a),
            Condition::And(a, b) => Some(a.holds(at)? && b.holds(at)?),
            Condition::Or(a, b) => Some(a.holds(at)? || b.holds(at)?),
            Condition::Compare(op, a, b) => {
                let (a, b) = (a.evaluate(at)?, b.evaluate(at)?);
                Some(match op {
                    BinOp::Lt => a < b,
                    BinOp::Le => a <= b,
                    BinOp::Gt => a > b,
                    BinOp::Ge => a >= b,
                    BinOp::Eq => a == b,
                    BinOp::Ne => a != b,
                    _ => return None,
                })
            }
        }
    }
}
