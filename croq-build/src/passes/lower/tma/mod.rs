//! Copies by TMA.
//!
//! One thread of a unit issues a box: its tensor (by a map that the host creates before the
//! launch), its place in the tensor, and its place in shared memory. The bytes of a load arrive at
//! an mbarrier, which counts them; the thread that issued a store waits for it.
//!
//! An mbarrier counts phases, and a wait tests a phase by its parity. A thread knows the phase for
//! which it must wait from a bit of its own that flips when a load begins, in all threads of the
//! unit: the bit is the number of loads so far modulo 2, so the parity of the last one is the
//! inverse. A wait without a preceding load, or a second one, tests the previous phase, which is
//! complete. This requires that no load begins at a slot before every thread has passed its wait
//! for the previous one, which the barriers between threads ensure.
//!
//! [`prepare`] gives every load its mbarrier, before [`crate::passes::transform::barriers`] runs;
//! [`expand`] lowers the copies afterwards.

mod arrivals;
mod blocks;
mod coalesced_loads;
mod coordinates;
mod expand;
mod multicast;
mod shares;
mod waits;

pub use arrivals::prepare;
pub use expand::expand;
pub use multicast::{check as check_multicast, check_regions};

use crate::ir::{Stmt, StmtKind, any_stmt};

/// Whether a kernel has TMA copies or events.
pub fn uses_tma(body: &[Stmt]) -> bool {
    any_stmt(body, |stmt| match &stmt.kind {
        StmtKind::Copy(copy) => !copy.engine.is_threads(),
        StmtKind::WaitTma { .. }
        | StmtKind::WaitEvent(_)
        | StmtKind::Trigger(_)
        | StmtKind::Tma(_) => true,
        _ => false,
    })
}
