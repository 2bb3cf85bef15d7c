//! Function templates: what a file declares of them, and the functions that their instances are.
//!
//! A template is expanded after macros and before the parser: an instance is the template's tokens
//! with its parameters replaced by arguments, without the branches of `if constexpr` that are not
//! taken. So nothing behind this stage knows templates, except that a function may be an instance.
//! Spans refer to the template's text.

pub(super) mod arguments;
pub(super) mod branches;
pub(super) mod constant;
pub(super) mod header;
pub(super) mod instances;
pub(super) mod parts;
pub(super) mod reader;
mod substitution;
#[cfg(test)]
mod tests;

pub use parts::{Argument, Instance, Parameter, ParameterKind, Template};
