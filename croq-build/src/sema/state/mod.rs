//! The state of the walk over one function, divided by topic. It depends on no rule of the
//! language.

pub(crate) mod asynchronous;
pub(crate) mod builder;
pub(crate) mod choices;
pub(crate) mod cx;
pub(crate) mod earlier;
pub(crate) mod elab;
pub(crate) mod fragments;
pub(crate) mod kernel;
pub(crate) mod nests;
pub(crate) mod path;
pub(crate) mod ranges;
pub(crate) mod results;
pub(crate) mod scopes;
pub(crate) mod settled_locals;
pub(crate) mod siblings;
pub(crate) mod storage;
pub(crate) mod value;
