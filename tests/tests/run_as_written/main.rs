//! Programs in the style of users: the kernels of `tests/run/as_written` compared with plain Rust.

mod assembly;
mod booleans;
mod copies;
mod devices;
mod early;
mod extents;
mod foreign;
mod forms;
mod fragments;
mod gemm_roles;
mod host;
mod host_calls;
mod levels;
mod models;
mod names;
mod numbers;
mod packed;
mod results;
mod sparse;
mod templates;
mod tf32;
mod values;
mod various;
mod words;
