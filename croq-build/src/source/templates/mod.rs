//! Function templates: the declarations in a file, and the functions of their instances.
//!
//! A template is expanded after macros and before the parser: an instance consists of the
//! template's tokens with its parameters replaced by arguments, without the branches of `if
//! constexpr` that are not taken. Later stages have no rules for templates; they only see that a
//! function may be an instance. Spans refer to the template's text.

pub(super) mod arguments;
pub(super) mod branches;
mod calls;
pub(super) mod constant;
pub(super) mod header;
pub(super) mod instances;
pub(super) mod parts;
pub(super) mod reader;
mod substitution;
#[cfg(test)]
mod tests;

pub use parts::{Argument, Instance, Parameter, ParameterKind, Template};
