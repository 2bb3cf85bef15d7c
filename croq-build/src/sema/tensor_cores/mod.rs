//! Products of matrices (language 05): what is in registers, which instruction multiplies it, and
//! who has what of it.
//!
//! Fragments are buffers of `Storage::Fragment`. What they are is known piece by piece: extents
//! of sums with the first MMA, the spread over a warp with whatever asks for one. So both are
//! gathered, and completed at the function's end (`layout`).

pub(crate) mod apply;
pub(crate) mod elements;
pub(crate) mod fragments;
pub(crate) mod instruction_table;
pub(crate) mod layouts;
pub(crate) mod load_store;
pub(crate) mod memory_tiles;
pub(crate) mod mma;
pub(crate) mod multiply;
pub(crate) mod operands;
pub(crate) mod owners;
pub(crate) mod row_scales;
pub(crate) mod scale;
pub(crate) mod sparse_mma;
pub(crate) mod units;
pub(crate) mod warpgroup;

pub use instruction_table::{Typed, of_warpgroups, of_warps};
