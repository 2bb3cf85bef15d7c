//! The values of expressions.

use crate::ir::{Expr, FutureId, Scalar, View};
use crate::source::Span;
use crate::symbolic::Sym;

/// An integer with a symbolic value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct IntValue {
    pub value: Sym,
    /// `#x`, for a bounded integer.
    pub bound: Option<Sym>,
    /// Whether it is a literal, or folded from literals: it takes any type that it fits.
    pub literal: bool,
    /// `x(k)`: arithmetic directly on it is an error.
    pub get_ith: bool,
    /// The type in which it is computed beside data, where a literal with a suffix (`5ll`) or an argument for a
    /// parameter of 64 bits goes into it.
    pub ty: Option<Scalar>,
}

impl IntValue {
    pub fn plain(value: Sym) -> Self {
        let literal = value.as_int().is_some();
        Self {
            value,
            bound: None,
            literal,
            get_ith: false,
            ty: None,
        }
    }

    pub fn bounded(value: Sym, bound: Sym) -> Self {
        Self {
            value,
            bound: Some(bound),
            literal: false,
            get_ith: false,
            ty: None,
        }
    }
}

/// Data that tile operators and copies apply to.
#[derive(Clone, Debug)]
pub(crate) struct Data {
    pub view: View,
    /// Extents of an array of buffers that are still to be subscripted.
    pub array: Vec<u64>,
    /// The limits of its tile numbers, to be checked when it is copied.
    pub numbers: Vec<TileNumber>,
    /// Whether `.zfill` is applied to the view.
    pub zfill: bool,
    /// The name that it is derived from.
    pub name: String,
    /// A future named without `.data`.
    pub future: Option<FutureId>,
    /// Whether the last operator was a `subspan`, `span_as` or `view`: then `sqz` may follow.
    pub squeezable: bool,
    /// Whether a tile operator was applied.
    pub tiled: bool,
    /// A `subspan` without `.at` of a larger whole, if nothing was applied after it.
    pub first_tile: Option<Span>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub(crate) enum Value {
    Int(IntValue),
    Tuple(Vec<IntValue>),
    Shape(Vec<Sym>),
    Scalar(Expr),
    Data(Data),
    Str(String),
    Address(View),
    Null,
    Wildcard,
    /// Already reported.
    Error,
}

impl Value {
    /// Its kind, for messages.
    pub fn kind(&self) -> String {
        match self {
            Value::Int(i) if i.bound.is_some() => "a bounded integer".into(),
            Value::Int(_) => "an integer".into(),
            Value::Tuple(_) => "an ituple".into(),
            Value::Shape(_) => "a shape (mdspan)".into(),
            Value::Scalar(e) => format!("a scalar of type `{}`", e.ty),
            Value::Data(_) => "spanned data".into(),
            Value::Str(_) => "a string".into(),
            Value::Address(_) => "an address".into(),
            Value::Null => "`nullptr`".into(),
            Value::Wildcard => "the wildcard `_`".into(),
            Value::Error => "an erroneous expression".into(),
        }
    }

    /// A shorter form for an operand of an operator.
    pub fn operand(&self) -> String {
        match self {
            Value::Scalar(e) => format!("`{}`", e.ty),
            other => other.kind(),
        }
    }

    pub fn is_error(&self) -> bool {
        matches!(self, Value::Error)
    }
}

/// An operand of an operator, and its source location.
pub(crate) struct Operand {
    pub value: Value,
    pub span: Span,
}

impl Operand {
    pub fn new(value: Value, span: Span) -> Self {
        Self { value, span }
    }
}

/// The base that a bare `(i)` takes an element of.
#[derive(Clone, Debug)]
pub(crate) enum Derive {
    Shape(Vec<Sym>),
    Tuple(Vec<IntValue>),
}

/// `lo <= number < hi`, or the tile is outside; to be checked when it is copied.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TileNumber {
    pub number: Sym,
    pub lo: Sym,
    pub hi: Sym,
    /// The message, with `{0}` for the number and `{1}` for the limit.
    pub message: String,
    pub at: Span,
}
