//! Passes that change statements without replacing their kind by a simpler one.

pub mod agreement;
pub mod barriers;
pub mod copy_propagation;
pub mod dead_code;
pub mod exact;
pub mod fewer_checks;
pub mod registers;
pub mod row_padding;
pub mod scalar_replacement;
pub mod single_thread_levels;
pub mod thread_order;
pub mod warp_uniform;
