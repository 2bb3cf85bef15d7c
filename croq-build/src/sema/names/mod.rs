//! Names: scopes, parameters, results.

pub(crate) mod builtins;
pub(crate) mod dimensions;
pub(crate) mod hiding;
pub(crate) mod params;
pub(crate) mod returns;
pub(crate) mod scope;
