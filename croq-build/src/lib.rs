//! Compiles Croqtile GPU kernels (`.co` files) into safe Rust functions, from `build.rs`:
//!
//! ```no_run
//! croq_build::compile("kernels/"); // every `.co` file below the folder
//! ```
//!
//! The crate then includes the generated code with `croq_sys::include_kernels!()`. [`Config`] has
//! the settings; users who cannot edit the `build.rs` can set environment variables:
//!
//! | variable | meaning |
//! |---|---|
//! | `CROQ_CUDA` | `auto` (when nvcc is found), `required`, `off` |
//! | `CROQ_CUDA_ARCH` | GPUs to build for, such as `sm_90a,sm_80` |
//! | `NVCC`, `CUDA_HOME`, `CUDA_PATH` | where nvcc is, before `PATH` and the usual places |
//! | `CROQ_MESSAGE_FORMAT` | `json`: one JSON object per diagnostic instead of a report |
//! | `CROQ_WARNINGS` | `deny`: any warning fails the build; `warn`: none that `build.rs` denies does |
//! | `CXX`, `CXXFLAGS`, `LIBCLANG_PATH` | the C++ compiler and libclang |
//!
//! Internally, each module is a stage that imports only those to its left: [`source`] → [`syntax`]
//! → [`sema`] → [`ir`] → [`passes`] → [`emit`] → [`toolchain`]. The first six are pure
//! ([`pipeline::compile_text`] runs all of them); only the last one runs processes and accesses
//! files. Every stage may use [`span`], [`diagnostics`], [`symbolic`] and `sorted`, maps and sets in
//! order; [`target`] describes the GPUs to compile for, `assembly` reads PTX, and `parallel` shares
//! work among threads.
//! `tests/structure.rs` verifies the order, and that no two source files depend on each other.
//!
//! The modules are hidden: they are for croq's own tests and programs, and change without notice. What
//! [`compile`], [`Config`] and the settings promise is in `docs/compatibility.md` of the repository.

#![warn(missing_docs)]
// No program may crash the compiler: an unexpected state is an internal error (E1199). Tests may
// panic.
#![cfg_attr(
    not(test),
    deny(
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::string_slice,
        clippy::unreachable,
        clippy::unwrap_used
    )
)]

mod assembly;
mod build_script;
mod cargo_warnings;
#[doc(hidden)]
pub mod command_line;
mod config;
#[doc(hidden)]
pub mod diagnostics;
#[doc(hidden)]
pub mod emit;
mod error;
#[doc(hidden)]
pub mod ir;
mod parallel;
#[doc(hidden)]
pub mod passes;
#[doc(hidden)]
pub mod pipeline;
#[doc(hidden)]
pub mod sema;
mod settings;
mod sorted;
#[doc(hidden)]
pub mod source;
#[doc(hidden)]
pub mod span;
#[doc(hidden)]
pub mod suppression;
#[doc(hidden)]
pub mod symbolic;
#[doc(hidden)]
pub mod syntax;
#[doc(hidden)]
pub mod target;
#[doc(hidden)]
pub mod toolchain;

pub use config::Config;
pub use error::Error;
pub use settings::{Checks, Cuda, ThreadOrder};

/// Compiles every `.co` file below a folder of the package with the default settings; see
/// [`Config::compile`].
pub fn compile(path: impl AsRef<std::path::Path>) {
    Config::new().compile(path);
}
