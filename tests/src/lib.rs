//! The kernels of `run/features`, one per language feature, those of `run/as_written`, in the forms
//! that other people's programs use, and functions that compare their
//! results with plain Rust, for tests that need several crates.

croq_sys::include_kernels!();

pub use croq_kernel_tests::{compare, gpu};

pub mod orders;
pub mod random_calls;
pub mod random_programs;
pub mod random_tiles_model;
