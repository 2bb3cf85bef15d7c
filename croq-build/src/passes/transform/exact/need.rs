//! An integer that a statement computes.

use crate::ir::{Expr, Scalar};
use crate::source::Span;
use crate::symbolic::Sym;

/// An expression that must fit its type.
#[derive(Clone)]
pub struct Need {
    pub sym: Sym,
    /// The products that the printed code adds up, where it computes the expression from several.
    pub parts: Vec<(Sym, Sym)>,
    /// It is computed only where these conditions have these values.
    pub guards: Vec<(Expr, bool)>,
    pub most: i64,
    /// The smaller type to which it is converted.
    pub narrowed: Option<Scalar>,
    /// The buffer of which this is the size in bytes.
    pub buffer: Option<String>,
    pub span: Span,
}

/// An integer that is converted to a smaller type and has no symbolic expression: the result of a
/// bit operation, or a value that statements select.
pub struct Narrowed {
    pub expr: Expr,
    pub ty: Scalar,
    /// The largest value of the type.
    pub most: i64,
    pub guards: Vec<(Expr, bool)>,
    pub span: Span,
}
