//! Limits the loops of a launch: the cost of iterations, and when it is checked.
//!
//! Device text counts its loops down (`device/sim/loops.h`) and calls [`count`](super::callbacks)
//! when a counter is exhausted. A loop with a known trip count subtracts its iterations from
//! `steps` at its entry. Every other loop subtracts each iteration from `iterations`; when these
//! are exhausted, the thread also yields to others, so that a thread that polls does not prevent
//! the other thread from running.
//!
//! An atomic operation that is checked for races is compared with up to some hundred earlier accesses
//! of its element. These comparisons are subtracted from `steps`, too.
//!
//! Calls are charged to the [`Budget`] of the blocks that are resident together. When it is
//! exhausted, the launch ends with a report ([`super::report`]). The count depends only on the text
//! and the seed.
//!
//! An iteration that only polls memory (`CROQ_COUNT_SPIN`) does not change the thread's state,
//! unless an atomic operation of its own changed memory. When all threads that have not left wait
//! or iterate so, and a whole round of them has changed nothing, nothing will ever change: that is
//! a deadlock, whatever is left of the budget.

use crate::abi::{CROQ_ENDLESS, CROQ_ITERATIONS, croq_failure};

/// The default of `CROQ_SIM_STEPS`: some seconds of the shortest loop, a hundred times the steps of
/// a 512³ matrix product in one block.
pub(super) const DEFAULT: u64 = 1 << 34;
/// The cost of one iteration of a loop without a known trip count.
const ITERATION: i64 = 8;
/// The cost of a thread's `iterations`.
pub(super) const ITERATIONS: i64 = CROQ_ITERATIONS as i64 * ITERATION;
/// The initial `steps` of a thread, if threads wait.
pub(super) const CHUNK: i64 = 1 << 16;
/// The approximate cost of switching to another thread, in steps.
pub(super) const SWITCH: i64 = 64;
/// The cost of comparing an atomic operation with an earlier access of its element.
pub(super) const COMPARISON: i64 = 16;
/// The fraction of the launch's steps that each thread adds to the budget of the resident blocks:
/// so many blocks end after nearly the same time as one.
const SHARE_OF_A_THREAD: u64 = 1 << 15;

/// The steps of blocks that are resident together.
#[derive(Default)]
pub(super) struct Budget {
    /// The value of `CROQ_SIM_STEPS`.
    pub(super) steps: u64,
    left: i64,
    /// The number of times that a thread ran and did more than poll memory.
    pub(super) progress: u64,
    /// Whether the thread that is suspended next only polled memory.
    pub(super) only_polls: bool,
}

impl Budget {
    /// Resets the budget for blocks with `threads` threads in total.
    pub(super) fn reset(&mut self, steps: u64, threads: usize) {
        let share = (steps / SHARE_OF_A_THREAD).saturating_mul(threads as u64);
        *self = Self {
            steps,
            left: i64::try_from(steps.saturating_add(share)).unwrap_or(i64::MAX),
            ..Self::default()
        };
    }

    /// Adds the share of `threads` more threads.
    pub(super) fn grow(&mut self, threads: usize) {
        let share = (self.steps / SHARE_OF_A_THREAD).saturating_mul(threads as u64);
        let share = i64::try_from(share).unwrap_or(i64::MAX);
        self.left = self.left.saturating_add(share);
    }

    /// Some of the blocks have ended, so the others get the whole budget again.
    pub(super) fn refill(&mut self) {
        self.left = self.left.max(i64::try_from(self.steps).unwrap_or(i64::MAX));
    }

    /// Spends steps; false if there were not enough left.
    pub(super) fn spend(&mut self, steps: i64) -> bool {
        self.left = self.left.saturating_sub(steps);
        self.left >= 0
    }
}

/// The record of a launch whose steps are exhausted.
#[cold]
pub(super) fn spent(steps: u64, line: u32) -> Box<croq_failure> {
    let mut failure = croq_failure::new(CROQ_ENDLESS).with_what("loop");
    failure.line = line;
    Box::new(failure.with_values(&[i64::try_from(steps).unwrap_or(i64::MAX)]))
}
