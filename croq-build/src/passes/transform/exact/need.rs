//! An integer that a statement computes.

use crate::ir::{Expr, Scalar};
use crate::source::Span;
use crate::symbolic::Sym;

/// An expression that must fit, wherever it stands.
#[derive(Clone)]
pub struct Need {
    pub sym: Sym,
    /// The products that are added up to it, where text computes it from several.
    pub parts: Vec<(Sym, Sym)>,
    /// It is computed only where these conditions have these values.
    pub guards: Vec<(Expr, bool)>,
    pub most: i64,
    /// The type of a smaller integer that it becomes.
    pub narrowed: Option<Scalar>,
    /// Whose bytes these are.
    pub buffer: Option<String>,
    pub span: Span,
}

/// An integer that becomes one of a smaller type, and of which the prover has no expression: the
/// result of an operation on bits, a value that statements choose.
pub struct Narrowed {
    pub expr: Expr,
    pub ty: Scalar,
    /// The largest value of the type.
    pub most: i64,
    pub guards: Vec<(Expr, bool)>,
    pub span: Span,
}
