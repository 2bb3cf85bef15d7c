//! A machine that executes PTX, the text that nvcc makes of CUDA C++.
//!
//! The simulated GPU of croq-sys executes the same device text as a GPU, against an implementation
//! of the device API that is croq's own. It cannot see an error in the other implementation, the one
//! for CUDA, nor in what nvcc makes of it. This crate executes what nvcc emits. It is written from
//! the PTX ISA, and shares no code with croq-sys or with croq's device API.
//!
//! | module | contents |
//! |---|---|
//! | [`parse`] | PTX text → [`parse::Module`]: declarations and instructions, names resolved |
//! | [`census`] | the instruction forms of a set of modules, and which of them the machine executes |
//!
//! Two rules hold everywhere. An instruction is executed exactly as the ISA describes it, or refused
//! by name. What the ISA calls undefined is an error that names the instruction and the thread.

pub mod census;
pub mod machine;
pub mod parse;
