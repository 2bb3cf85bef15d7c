//! Checks at run time, and lints.

pub(crate) mod lints;
pub(crate) mod operator_lints;
pub(crate) mod run_time;
pub(crate) mod targets;
pub(crate) mod unsupported;
