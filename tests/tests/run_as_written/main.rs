//! Programs in the forms that people write: the kernels of `tests/run/as_written` against plain Rust.

mod assembly;
mod booleans;
mod copies;
mod devices;
mod extents;
mod foreign;
mod fragments;
mod gemm_roles;
mod levels;
mod names;
mod sparse;
mod templates;
mod values;
mod words;
