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
//! | [`machine`] | execution: memory, warps, blocks, launches |
//! | [`census`] | the instruction forms of a set of modules, and which of them the machine executes |
//!
//! ```
//! use croq_ptx::machine::{Launch, Machine};
//!
//! let text = ".version 9.0\n.target sm_90a\n.entry double(.param .u64 x) {\n\
//!     .reg .b64 %a; .reg .b32 %v, %t; .reg .b64 %o;\n\
//!     ld.param.u64 %a, [x]; mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, 4; add.u64 %a, %a, %o;\n\
//!     ld.global.u32 %v, [%a]; shl.b32 %v, %v, 1; st.global.u32 [%a], %v; ret;\n}";
//! let mut machine = Machine::load(text)?;
//! let x = machine.allocate("x", 8);
//! machine.write(x, &[1, 0, 0, 0, 2, 0, 0, 0])?;
//! let launch = Launch { block: [2, 1, 1], ..Launch::default() };
//! machine.launch("double", &launch, &[&x.to_le_bytes()])?;
//! assert_eq!(machine.read(x, 8)?, [2, 0, 0, 0, 4, 0, 0, 0]);
//!
//! // The third thread would be outside of the buffer.
//! let launch = Launch { block: [3, 1, 1], ..Launch::default() };
//! let report = machine.launch("double", &launch, &[&x.to_le_bytes()]).unwrap_err();
//! assert_eq!(report.thread, Some([2, 0, 0]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Two rules hold everywhere. An instruction is executed exactly as the ISA describes it, or refused
//! by name. What the ISA calls undefined is an error that names the instruction and the thread.

pub mod census;
pub mod machine;
pub mod parse;
