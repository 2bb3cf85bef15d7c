//! Kernels of croq beside kernels of other projects that solve the same problems.
//!
//! [`run`] executes croq's, on the device of `CROQ_DEVICE`; the others are run by
//! `tests/ptx/tests/peers`, or are programs of their own. [`table`] prints what all of them executed on
//! the PTX machine, and what ptxas made of them; [`estimate`] what that would take on an H100. Nothing
//! here measures time.

pub mod counts;
pub mod estimate;
pub mod loops;
pub mod model;
pub mod problem;
pub mod run;
pub mod sass;
pub mod table;
