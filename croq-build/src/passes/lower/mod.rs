//! Passes that replace statements by simpler ones, until what is left is what single threads do.

pub mod barrier_ids;
pub mod copies;
pub mod events;
pub mod grid_copies;
pub mod mma;
pub mod seal;
pub mod swizzled_addressing;
pub mod thread_conditions;
pub mod tma;
