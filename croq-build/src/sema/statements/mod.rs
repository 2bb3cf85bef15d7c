//! Statements, declarations and calls.

pub(crate) mod accounting;
pub(crate) mod assembly;
pub(crate) mod assign;
pub(crate) mod call;
mod choices;
pub(crate) mod control;
pub(crate) mod cpp;
mod cuda_functions;
pub(crate) mod decl;
pub(crate) mod device_calls;
mod hints;
pub(crate) mod increments;
pub(crate) mod inlined_bodies;
pub(crate) mod kernel_calls;
pub(crate) mod loops;
pub(crate) mod print;
pub(crate) mod ranges;
pub(crate) mod returns;
pub(crate) mod scalar_declarations;
pub(crate) mod stmt;
