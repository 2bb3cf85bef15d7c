//! The text of one function.

use std::collections::HashSet;
use std::sync::Arc;

use super::Span;
use super::intrinsics::Intrinsic;
use super::token::{Punct, Token};
use crate::diagnostics::InstanceName;

/// The text of one `__co__` function, with macros expanded and dead branches removed.
#[derive(Debug)]
pub struct FunctionText {
    /// From `__co__` to the closing brace.
    pub tokens: Vec<Token>,
    pub span: Span,
    /// The registrations that apply in the function.
    pub intrinsics: Vec<Intrinsic>,
    /// Whether its braces match; otherwise that was already reported.
    pub complete: bool,
    /// A `}` that was probably meant for a `{` that is missing.
    pub closed_early: Option<Span>,
    /// The instance of a template that this is.
    pub instance: Option<InstanceName>,
    /// The identifiers in branches of `if constexpr` that were removed before parsing.
    pub untaken: Arc<HashSet<Arc<str>>>,
}

impl FunctionText {
    /// The word before the parameters, whether or not the rest of the header parses.
    pub fn name(&self) -> Option<&str> {
        self.tokens.windows(2).find_map(|pair| match pair {
            [name, open] if open.kind.is(Punct::LParen) => name.kind.word(),
            _ => None,
        })
    }

    /// Whether `callee`, at the position `at`, is a registered intrinsic.
    pub fn is_intrinsic(&self, callee: &str, at: Span) -> bool {
        self.intrinsics
            .iter()
            .any(|intrinsic| intrinsic.covers(callee, at.start))
    }
}
