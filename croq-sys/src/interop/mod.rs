//! Types of other libraries. Each module needs the feature of its name; none of them is on by default.

#[cfg(feature = "cuda-runtime-sys")]
pub mod cuda_runtime_sys;
#[cfg(feature = "cudarc")]
pub mod cudarc;
#[cfg(feature = "dlpack")]
pub mod dlpack;
#[cfg(feature = "float8")]
mod float8;
#[cfg(feature = "serde")]
mod serde;
