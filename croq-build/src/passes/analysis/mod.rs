//! Analyses of a kernel. Some are passes of the table; others are called on demand: uniformity in
//! the threads of a unit ([`uniformity`]), a kernel's arguments ([`captures`], [`uses`]), and the
//! loops that wait for memory ([`spin_loops`]).

pub mod barrier_intervals;
pub mod captures;
pub mod grid_intervals;
pub mod kernel_facts;
pub mod local_arena;
pub mod shared_memory;
pub mod spin_loops;
pub mod uniformity;
pub mod unproven;
pub mod unwritten;
pub mod uses;
pub mod written_whole;
