//! A library of kernels by topic: every `.co` file below `co/`, as safe Rust functions.
//!
//! ```no_run
//! use croq_sys::Tensor;
//!
//! # fn main() -> croq_sys::Result<()> {
//! let lhs = Tensor::<f32, _>::random((300, 70), -1.0..1.0, 1);
//! let rhs = Tensor::<f32, _>::random((70, 45), -1.0..1.0, 2);
//! let product = croq_kernels::matmul_f32(&lhs, &rhs)?;
//! assert_eq!(product.shape(), [300, 45]);
//! # Ok(())
//! # }
//! ```

croq_sys::include_kernels!();

pub use kernels::*;

/// The folder of what croq-build has made of the files in `co/`, for tests of its objects.
#[doc(hidden)]
pub const OUTPUTS: &str = concat!(env!("OUT_DIR"), "/croq");
