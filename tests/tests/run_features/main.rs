//! Every feature of the language, run: the kernels of `tests/run/features` against plain Rust.

mod arithmetic;
mod bounded;
mod buffers;
mod checks;
mod chunks;
mod control;
mod device_code;
mod levels;
mod loops;
mod math;
mod movement;
mod params;
mod shapes;
mod spmd;
mod types;
