//! Passes that only report.

pub mod bank_conflicts;
mod conditional;
pub mod divergence;
pub mod early_reads;
pub mod grid_barriers;
pub mod instance_races;
pub mod lost_reductions;
pub mod restarted_orders;
pub mod signals;
pub mod swizzle_uses;
pub mod tma_boxes;
pub mod unreached_elements;
