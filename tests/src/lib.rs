//! What the tests that cross crates share: the kernels of `run/features`, one per language feature,
//! and how their results are compared with plain Rust.

croq_sys::include_kernels!();

pub mod compare;
pub mod orders;
