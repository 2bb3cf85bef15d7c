//! MMAs (language 05): the fragments in registers, the instructions, and the layouts.
//!
//! Fragments are buffers of `Storage::Fragment`. Their properties become known step by step: the
//! extents of accumulators with the first MMA, the layout with the first statement that requires
//! one. So both are collected, and completed at the function's end (`layouts`).

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
mod stored_columns;
pub(crate) mod units;
pub(crate) mod warpgroup;

pub use instruction_table::{
    Typed, of_sparse_warpgroups, of_sparse_warps, of_warpgroups, of_warps,
};
