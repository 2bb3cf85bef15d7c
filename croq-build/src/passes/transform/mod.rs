//! Passes that transform statements without replacing their kind by a simpler one.

pub mod agreement;
pub mod barriers;
pub mod bound_copies;
pub mod copies_for_others;
pub mod copy_propagation;
pub mod dead_code;
pub mod exact;
pub mod fewer_arrivals;
pub mod fewer_checks;
mod invariant_checks;
mod known;
pub mod launch_values;
pub mod named_divisions;
pub mod narrow_counters;
pub mod narrow_divisions;
pub mod operand_tiles;
pub mod pool_views;
mod register_pool;
pub mod registers;
pub mod ring_slots;
pub mod row_padding;
pub mod scalar_replacement;
pub mod single_thread_levels;
pub mod thread_order;
pub mod wait_counts;
pub mod warp_uniform;
pub mod wide_accesses;
