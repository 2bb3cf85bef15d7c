//! Functions that compare the results of kernels with plain Rust. The tests are those of `kernels/`; they
//! are a package of their own because it is built with optimisation: what they expect are sums of many
//! millions of products.

pub mod compare;
pub mod gpu;
