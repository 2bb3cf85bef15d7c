//! PTX text → typed instructions.
//!
//! Guarantees for the machine: names of registers, variables of a function and labels are resolved
//! (scopes are gone), numbers are values, every instruction knows its line in the PTX text and, where
//! the text has `.loc` directives, its line in the source. The operand forms of an opcode are not
//! checked here: the machine knows which it executes.

mod body;
mod declaration;
mod error;
mod lexer;
mod module;
mod operand;
mod scope;
mod syntax;
#[cfg(test)]
mod tests;
mod types;

pub use error::ParseError;
pub use syntax::{
    Address, Base, Body, Extent, Function, FunctionKind, Guard, Initial, Instruction, Label,
    Limits, Linkage, Location, Mnemonic, Module, Operand, Place, RegisterId, Variable, VariableId,
};
pub use types::{Space, Type};

/// Reads a module.
///
/// # Errors
///
/// The first construct that is not PTX, with its line.
pub fn parse(text: &str) -> Result<Module, ParseError> {
    module::parse(text)
}
