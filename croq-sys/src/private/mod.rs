//! What generated wrappers are made of. Not for people: it may change in any version.
//!
//! Generated code holds no `unsafe`, so that a crate that forbids unsafe code can include it. What
//! keeps it sound is that a [`Kernel`] and its arguments are written by the generator alone: the
//! arguments are of the struct that the shim's C header declares, every address in them comes from the
//! [`Call`] they are used in, and shapes were checked before.

mod call;
mod kernel;
#[cfg(test)]
mod tests_on_cuda;

pub use std::ptr::null_mut;

pub use crate::__croq_extern_c as extern_c;
pub use crate::abi;
pub use crate::abi::{croq_env, croq_i64, croq_u32, croq_u64};
pub use call::Call;
pub use kernel::{Check, Kernel, Shim};

/// A block of foreign functions. As a macro of this crate it passes in crates that forbid unsafe code:
/// declaring a function harms nobody, and [`Call::run`] is what calls it.
#[doc(hidden)]
#[macro_export]
macro_rules! __croq_extern_c {
    ($($declarations:tt)*) => {
        unsafe extern "C" { $($declarations)* }
    };
}
