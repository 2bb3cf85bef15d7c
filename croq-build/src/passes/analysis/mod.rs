//! What is found out about a kernel. Some are passes of the table, others answer when they are asked: what is the same
//! for all threads of a unit ([`uniformity`]), what a kernel is given ([`captures`], [`uses`]), which loops wait
//! for memory ([`spin_loops`]).

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
