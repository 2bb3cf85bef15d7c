//! The interface of generated wrappers. It is not for other code, and may change in any version.
//!
//! Crates that forbid unsafe code include generated code, so everything here can be named by safe
//! code. It is sound for these reasons: a [`Call`] can only be created from a [`Kernel`], a
//! [`Kernel`] only from [`Shims`], and [`Shims::new`] is `unsafe`. It is only called by generated
//! text, which is included in the crate by [`kernels!`], a macro without input (see
//! `croq-sys/macros`), in a module that is private to the wrappers of one `.co` file. Those
//! wrappers are safe Rust: their arguments have the type of the struct that the shim's C header
//! declares, every address in them is provided by the [`Call`] they are used in, and shapes were
//! checked before. Generated text names every macro by a path from the root of a crate: otherwise
//! macros of the including crate would be expanded inside that private module.

mod arguments;
mod call;
mod environment;
mod failures;
mod kernel;
mod recorded;
#[cfg(test)]
mod tests_of_copies;
#[cfg(test)]
mod tests_of_graphs;
#[cfg(test)]
mod tests_of_streams;
#[cfg(test)]
mod tests_on_cuda;
mod used;

pub use std::ptr::null_mut;

pub use crate::abi;
pub use crate::abi::{croq_env, croq_i64, croq_u32, croq_u64};
pub use call::{AnyCall, Call};
pub use croq_macros::kernels;
pub use kernel::{About, AnyArguments, Arguments, Check, Kernel, Prepared, Shim, Shims};
