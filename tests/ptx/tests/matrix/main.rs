//! Matrix instructions: results against plain products, and what is reported.
//!
//! Where the elements are is written down a second time here, from the formulas of the ISA's section
//! on each shape, so that the machine's rule for all of them is checked and not repeated.

mod asynchronous;
mod forms;
mod harness;
mod layouts;
mod mma;
mod placed;
mod sparse;
mod transfer;
mod trial;
mod wgmma;
mod wrong;
