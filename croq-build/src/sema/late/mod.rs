//! Checks and rewritings of the finished IR: functions over an
//! [`ir::Function`](crate::ir::Function) and the facts that the walk recorded.

pub(crate) mod bound_copies;
pub(crate) mod copy_groups;
pub(crate) mod flight;
pub(crate) mod pool_views;
pub(crate) mod races;
pub(crate) mod swizzle_uses;
pub(crate) mod tma_boxes;
pub(crate) mod wait_counts;
