//! Compiles Croqtile GPU kernels into safe Rust functions, from `build.rs`.

pub mod diagnostics;
pub mod emit;
pub mod ir;
pub mod passes;
pub mod sema;
pub mod source;
pub mod symbolic;
pub mod syntax;
pub mod toolchain;
