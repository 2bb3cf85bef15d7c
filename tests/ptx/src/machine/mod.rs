//! Execution of PTX.
//!
//! [`Machine`] loads a module, has buffers in global memory, and launches entries. A [`Program`] is a
//! module without the memory, for a device with several modules. Inside, in the order in which they
//! build on each other:
//!
//! | module | contents |
//! |---|---|
//! | `registers`, `decode`, `lanewise`, `operands` | rows of 32 lanes, and how an instruction's operands become them |
//! | [`alu`] | what a lane computes on its own |
//! | `memory`, `global`, `spaces`, `access`, `atomic` | state spaces, loads and stores, read-modify-writes |
//! | `matrix` | products of matrices, and their way to and from registers |
//! | `collective`, `special`, `hints` | what lanes of a warp do together, and what they know of themselves |
//! | `shared`, `cluster`, `asynchronous` | what happens beside threads, and between blocks |
//! | `step`, `flow`, `image` | decoded instructions, meeting points of diverged lanes, entries |
//! | [`order`] | detection of data races |
//! | `check`, `observe` | what accesses of warps mean for it |
//! | `written`, `liveness`, `marks`, `propagate` | values that depend on bytes or registers that nothing has written |
//! | `paths`, `world`, `print`, `warp`, `calls`, `waits`, `block`, `group` | execution |
//! | `program`, `limits`, `report`, `launch` | modules, launches, and what went wrong in them |
//! | `count` | how many instructions, requests to memory and waits |

mod access;
mod alu;
mod asynchronous;
mod atomic;
mod block;
mod calls;
mod check;
mod cluster;
mod collective;
mod count;
mod decode;
mod flow;
mod global;
mod group;
mod hints;
mod image;
mod lanewise;
mod launch;
mod limits;
mod liveness;
mod marks;
mod matrix;
mod memory;
mod observe;
mod operands;
mod order;
mod paths;
mod polls;
mod print;
mod program;
mod propagate;
mod registers;
mod report;
mod shared;
mod spaces;
mod special;
mod step;
mod support;
mod waits;
mod warp;
mod world;
mod written;

pub use asynchronous::tensor_map;
pub use count::{Executed, Products, Profile, Requests};
pub use decode::Refusal;
pub use global::Global;
pub use launch::{EntryCall, LoadError, Machine};
pub use program::{Program, Resources};
pub use report::Report;
pub use support::unsupported;
pub use world::{Asynchrony, Checks, Counts, Host, Launch, Terminal};
