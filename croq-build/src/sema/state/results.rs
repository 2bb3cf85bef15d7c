//! The results of the function.

use std::collections::BTreeSet;

use crate::ir::{self, Scalar};
use crate::source::Span;
use crate::symbolic::Sym;
use crate::syntax::ast;

/// The results of the function.
pub(crate) struct Results {
    /// The value of each `return`.
    pub returned: Vec<(Span, ReturnShape)>,
    pub declared: ast::RetType,
    /// Whether a `return` is in error.
    pub poisoned: bool,
    /// Buffers that are returned.
    pub buffers: BTreeSet<ir::BufferId>,
}

impl Results {
    pub fn new(declared: &ast::RetType) -> Self {
        Self {
            returned: Vec::new(),
            declared: declared.clone(),
            poisoned: false,
            buffers: BTreeSet::new(),
        }
    }
}

#[derive(Clone, PartialEq)]
pub(crate) enum ReturnShape {
    Nothing,
    Scalar(Scalar),
    Tensor(Scalar, Vec<Sym>),
}
