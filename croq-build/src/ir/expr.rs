//! Typed run-time expressions.

use super::math::MathFn;
use super::{Access, Intrinsic, LocalId, ParamId, Scalar, View};
use crate::source::Span;
use crate::symbolic::Sym;

#[derive(Clone, Debug)]
pub struct Expr {
    pub kind: Box<ExprKind>,
    pub ty: Scalar,
    pub span: Span,
}

impl Expr {
    pub fn local(id: LocalId, ty: Scalar, span: Span) -> Self {
        Self::new(ExprKind::Local(id), ty, span)
    }

    pub fn int(value: i128, ty: Scalar, span: Span) -> Self {
        Self::new(ExprKind::Int(value), ty, span)
    }

    /// The type is that of the operands; `bool` for comparisons.
    pub fn binary(op: BinOp, a: Expr, b: Expr, span: Span) -> Self {
        let ty = match op.is_comparison() {
            true => Scalar::Bool,
            false => a.ty,
        };
        Self::new(ExprKind::Binary(op, a, b), ty, span)
    }

    pub fn new(kind: ExprKind, ty: Scalar, span: Span) -> Self {
        Self {
            kind: Box::new(kind),
            ty,
            span,
        }
    }

    /// A symbolic integer as a value.
    pub fn index(sym: Sym, span: Span) -> Self {
        Self::new(ExprKind::Index(sym), Scalar::Index, span)
    }

    /// An intrinsic without operands.
    pub fn intrinsic(of: Intrinsic, span: Span) -> Self {
        let ty = of.info().ty.unwrap_or(Scalar::Index);
        Self::new(ExprKind::Intrinsic(of, Vec::new()), ty, span)
    }

    pub fn bool(value: bool, span: Span) -> Self {
        Self::new(ExprKind::Bool(value), Scalar::Bool, span)
    }
}

#[derive(Clone, Debug)]
pub enum ExprKind {
    /// Type `Index`: a 64-bit signed integer.
    Index(Sym),
    Int(i128),
    /// Infinite values are allowed.
    Float(f64),
    Bool(bool),
    Local(LocalId),
    /// A scalar parameter.
    Param(ParamId),
    Unary(UnOp, Expr),
    /// Both operands have the same type, except the right side of shifts; comparisons give `Bool`.
    Binary(BinOp, Expr, Expr),
    Select(Expr, Expr, Expr),
    /// To the expression's own type.
    Cast(Expr),
    Math(MathFn, Vec<Expr>),
    Load(Access),
    /// A function of the device API, with its operands.
    Intrinsic(Intrinsic, Vec<Expr>),
    /// A function in the user's C++ text.
    Call(Call),
    /// Whether integers stay within their limits, computed with operations that detect overflow;
    /// type `Bool`. Only `passes::transform::exact` creates it.
    Fits(Fits),
}

/// A condition on the size of integers.
#[derive(Clone, Debug)]
pub enum Fits {
    /// The expression, and each step of its computation, fits a 64-bit signed integer.
    Value(Sym),
    /// The sum of `coefficient · max(1, |a|) · max(1, |b|) · …` is at most `most`.
    Bound {
        terms: Vec<(i64, Vec<Sym>)>,
        most: i64,
    },
}

impl Fits {
    pub fn syms(&self) -> impl Iterator<Item = &Sym> {
        let (value, terms) = match self {
            Fits::Value(value) => (Some(value), &[][..]),
            Fits::Bound { terms, .. } => (None, terms.as_slice()),
        };
        value
            .into_iter()
            .chain(terms.iter().flat_map(|(_, factors)| factors))
    }
}

#[derive(Clone, Debug)]
pub struct Call {
    pub callee: String,
    pub targs: Vec<String>,
    pub args: Vec<Arg>,
}

#[derive(Clone, Debug)]
pub enum Arg {
    Value(Expr),
    /// A typed pointer to the first element of the view.
    Pointer(View),
    /// `__to<"T*">(…)`: a C-style cast, spliced unchanged.
    Cast(String, Box<Arg>),
    Null,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnOp {
    Neg,
    /// Logical.
    Not,
    BitNot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Shl,
    Shr,
    And,
    Or,
    Xor,
    LogicAnd,
    LogicOr,
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
    Min,
    Max,
}

impl BinOp {
    pub fn is_comparison(self) -> bool {
        matches!(
            self,
            BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge | BinOp::Eq | BinOp::Ne
        )
    }

    /// The comparison of integers that holds where this one does not.
    pub fn negated(self) -> Option<BinOp> {
        Some(match self {
            BinOp::Lt => BinOp::Ge,
            BinOp::Le => BinOp::Gt,
            BinOp::Gt => BinOp::Le,
            BinOp::Ge => BinOp::Lt,
            BinOp::Eq => BinOp::Ne,
            BinOp::Ne => BinOp::Eq,
            _ => return None,
        })
    }
}
