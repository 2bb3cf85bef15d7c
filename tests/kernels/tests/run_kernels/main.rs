//! Every kernel of `kernels/`, run on random inputs of several sizes and compared with plain Rust
//! in wider arithmetic.

mod attention;
mod decode;
mod elementwise;
mod fractal;
mod gather;
mod hopper;
mod ladder;
mod matmul;
mod packed;
mod reduction;
mod scan;
mod stencil;
mod tiles;
