//! Prints what the passes have decided: device text and launch shims in C++, the C header between
//! them and Rust, and safe Rust wrappers. Decides nothing itself.

mod args;
mod header;
pub mod names;
mod rust;
mod rust_types;
mod signature;

#[cfg(test)]
mod wrapper_tests;

pub use args::{Args, Field, FieldRole};
pub use header::header;
pub use rust::{wrapper_names, wrappers};

/// What generated text says about the `.co` file that it comes from.
#[derive(Clone, Debug)]
pub struct FileMeta {
    /// Everything generated from the file is named by this: `scale`, or `matmul/basic` in a folder.
    pub stem: String,
    /// The `.co` file as messages name it, such as `kernels/scale.co`.
    pub path: String,
    /// Eight hex digits in every C symbol: package, version, file, ABI version.
    pub hash: String,
    /// The file is also built for CUDA.
    pub cuda: bool,
    /// The check level was lowered, so that a call may reach undefined behaviour: wrappers are
    /// `unsafe fn`.
    pub unchecked: bool,
}
