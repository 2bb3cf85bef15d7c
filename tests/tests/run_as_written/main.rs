//! Programs in the style of users: the kernels of `tests/run/as_written` compared with plain Rust.

mod copies;
mod devices;
mod extents;
mod foreign;
mod fragments;
mod gemm_roles;
mod levels;
mod packed;
mod sparse;
mod templates;
mod words;
