//! Passes that replace statements by simpler ones, until only statements of single threads remain.

pub mod barrier_ids;
pub mod copies;
pub mod events;
pub mod grid_copies;
pub mod mma;
pub mod seal;
pub mod swizzled_addressing;
pub mod thread_conditions;
pub mod tma;
