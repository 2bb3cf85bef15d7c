//! Execution of PTX.
//!
//! [`Machine`] loads a module, has buffers in global memory, and launches entries. Inside, in the
//! order in which they build on each other:
//!
//! | module | contents |
//! |---|---|
//! | `registers`, `decode`, `lanewise`, `operands` | rows of 32 lanes, and how an instruction's operands become them |
//! | [`alu`] | what a lane computes on its own |
//! | `memory`, `access`, `atomic` | state spaces, loads and stores, read-modify-writes |
//! | `collective`, `special` | what lanes of a warp do together, and what they know of themselves |
//! | `step`, `flow`, `image` | decoded instructions, meeting points of diverged lanes, entries |
//! | [`order`] | detection of data races |
//! | `check`, `observe` | what accesses of warps mean for it |
//! | `written`, `liveness`, `marks`, `propagate` | values that depend on bytes or registers that nothing has written |
//! | `paths`, `world`, `warp`, `block`, `launch` | execution |

mod access;
mod alu;
mod atomic;
mod block;
mod check;
mod collective;
mod decode;
mod flow;
mod image;
mod lanewise;
mod launch;
mod liveness;
mod marks;
mod memory;
mod observe;
mod operands;
mod order;
mod paths;
mod propagate;
mod registers;
mod special;
mod step;
mod support;
mod warp;
mod world;
mod written;

pub use decode::Refusal;
pub use launch::{LoadError, Machine, Report};
pub use support::unsupported;
pub use world::{Checks, Counts, Launch};
