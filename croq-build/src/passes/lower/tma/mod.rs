//! Copies by TMA.
//!
//! One thread of a unit tells the engine of a box: which tensor (by a map that the host makes before the
//! launch), where in it, where in shared memory. What a load brings arrives at an mbarrier, which counts
//! bytes; what a store takes is waited for by the thread that began it.
//!
//! An mbarrier counts phases, and is asked for a phase by its parity. Which one a thread must wait for
//! it knows from a bit of its own that flips when a load begins, in all threads of the unit: the bit is
//! the number of loads so far modulo 2, so the parity of the last is the other one. A wait with no load
//! before it, or a second one, asks for the phase before, which is over. That asks one thing of the
//! barriers between threads: no load may begin at a slot before every thread has come by its wait for the
//! one before.
//!
//! [`prepare`] gives every load its mbarrier, before [`crate::passes::transform::barriers`] looks at the kernel; [`expand`]
//! spells all of it out, after.

mod arrivals;
mod coalesced_loads;
mod expand;
mod multicast;
mod waits;

pub use arrivals::prepare;
pub use expand::expand;
pub use multicast::{check as check_multicast, check_regions};

use crate::ir::{Stmt, StmtKind, any_stmt};

/// Whether a kernel's text has copies of boxes, or events.
pub fn has_boxes(body: &[Stmt]) -> bool {
    any_stmt(body, |stmt| match &stmt.kind {
        StmtKind::Copy(copy) => !copy.engine.is_threads(),
        StmtKind::WaitTma { .. }
        | StmtKind::WaitEvent(_)
        | StmtKind::Trigger(_)
        | StmtKind::Tma(_) => true,
        _ => false,
    })
}
