//! The kernels of `co/`, built with `Checks::Report`.
#![forbid(unsafe_code)]

croq_sys::include_kernels!();

pub use kernels::*;
