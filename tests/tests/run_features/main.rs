//! Runs every feature of the language: the kernels of `tests/run/features` compared with plain
//! Rust.

// a wrapper taken as a path hides which types it is called with
#![allow(clippy::redundant_closure)]

mod arithmetic;
mod atomic_races;
mod atomics;
mod bounded;
mod buffers;
mod checks;
mod chunks;
mod clusters;
mod control;
mod device_code;
mod device_races;
mod divergence;
mod endless;
mod events;
mod exact;
mod excused;
mod graphs;
mod grids;
mod helpers;
mod levels;
mod loops;
mod math;
mod memory;
mod mistakes;
mod mma;
mod movement;
mod multicast;
mod neighbours;
mod own_memory;
mod params;
mod pipelines;
mod races;
mod random_launches;
mod random_movement;
mod random_programs;
mod random_tiles;
mod resident;
mod rings;
mod selected;
mod shapes;
mod signals;
mod spmd;
mod stops;
mod streams;
mod swizzle;
mod tiles_by_data;
mod tma;
mod types;
mod unwritten;
mod vector_sums;
mod warpgroups;
mod wide;
