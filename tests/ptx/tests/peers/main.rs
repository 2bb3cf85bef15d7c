//! Kernels of other projects, which are known to work on GPUs, against f64: `make ptx-peers` compiles
//! and runs them. What they compute correctly here is evidence that the machine reads the ISA as
//! hardware does, for the instruction forms that they use.

mod compared;
mod cutlass;
mod function;
mod integer;
mod matrix;
mod peer;
mod scalar;
mod values;
