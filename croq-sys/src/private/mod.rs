//! What generated wrappers are made of. Not for people: it may change in any version.
//!
//! Crates that forbid unsafe code include generated code, so everything here can be named by safe code.
//! What keeps it sound: a [`Call`] can only be made of a [`Kernel`], a [`Kernel`] only of [`Shims`], and
//! [`Shims::new`] is `unsafe`. The one place that calls it is generated text, which reaches the crate through
//! [`kernels!`], a macro without input (see `croq-sys/macros`), in a module that is private to the wrappers
//! of one `.co` file. Those wrappers are safe Rust: their arguments are of the struct that the shim's C header
//! declares, every address in them comes from the [`Call`] they are used in, and shapes were checked
//! before. Generated text names no macro but by a path from the root of a crate: macros of the
//! including crate would otherwise be expanded inside that private module.

mod call;
mod kernel;
#[cfg(test)]
mod tests_on_cuda;

pub use std::ptr::null_mut;

pub use crate::abi;
pub use crate::abi::{croq_env, croq_i64, croq_u32, croq_u64};
pub use call::Call;
pub use croq_macros::kernels;
pub use kernel::{About, Check, Kernel, Prepared, Shim, Shims};
