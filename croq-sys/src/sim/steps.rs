//! Loops end: what the loops of a launch may cost, and who is asked when.
//!
//! Device text counts its loops down (`device/sim/loops.h`) and calls [`count`](super::callbacks) when a
//! count has run out. A loop with a known trip count takes its iterations off `steps` at its entry. Every other loop
//! takes each iteration off `iterations`; when these have run out, the thread also gives way to others, so that a
//! thread that waits in a loop for another one does not keep it from running.
//!
//! Calls are charged to the [`Budget`] of the blocks that are resident together. When it is spent, the launch
//! ends with a report ([`super::report`]). The count depends on nothing but the text and the seed.
//!
//! An iteration that only asks memory (`CROQ_COUNT_SPIN`) leaves the thread as it was, unless an atomic operation
//! of its own changed memory. When all threads that have not left wait or iterate so, and a whole round of them has
//! changed nothing, nothing ever will: that is a deadlock, whatever is left of the budget.

use crate::abi::{CROQ_ENDLESS, CROQ_ITERATIONS, croq_failure};

/// `CROQ_SIM_STEPS` by default: some seconds of the shortest loop, a hundred times what a product of 512³ takes in one
/// block.
pub(super) const DEFAULT: u64 = 1 << 34;
/// What one iteration of a loop without a known trip count costs.
const ITERATION: i64 = 8;
/// What `iterations` of a thread stand for.
pub(super) const ITERATIONS: i64 = CROQ_ITERATIONS as i64 * ITERATION;
/// What `steps` of a thread begins with, where threads wait.
pub(super) const CHUNK: i64 = 1 << 16;
/// About what it costs to let another thread run, in steps.
pub(super) const SWITCH: i64 = 64;
/// Of the steps of a launch, what each thread adds to those of the blocks that are resident together: many
/// blocks get no more than one does in nearly the same time.
const SHARE_OF_A_THREAD: u64 = 1 << 15;

/// The steps of blocks that are resident together.
#[derive(Default)]
pub(super) struct Budget {
    /// What `CROQ_SIM_STEPS` says.
    pub(super) steps: u64,
    left: i64,
    /// How often a thread ran and did more than ask memory.
    pub(super) progress: u64,
    /// The thread that is suspended next only asked memory.
    pub(super) only_asks: bool,
}

impl Budget {
    /// For blocks that have so many threads together.
    pub(super) fn reset(&mut self, steps: u64, threads: usize) {
        let share = (steps / SHARE_OF_A_THREAD).saturating_mul(threads as u64);
        *self = Self {
            steps,
            left: i64::try_from(steps.saturating_add(share)).unwrap_or(i64::MAX),
            ..Self::default()
        };
    }

    /// For so many threads more.
    pub(super) fn grow(&mut self, threads: usize) {
        let share = (self.steps / SHARE_OF_A_THREAD).saturating_mul(threads as u64);
        let share = i64::try_from(share).unwrap_or(i64::MAX);
        self.left = self.left.saturating_add(share);
    }

    /// Some of the blocks have ended, so that the others have all of it again.
    pub(super) fn refill(&mut self) {
        self.left = self.left.max(i64::try_from(self.steps).unwrap_or(i64::MAX));
    }

    /// Whether there were so many left.
    pub(super) fn spend(&mut self, steps: i64) -> bool {
        self.left = self.left.saturating_sub(steps);
        self.left >= 0
    }
}

/// The record of a launch that has spent its steps.
#[cold]
pub(super) fn spent(steps: u64, line: u32) -> Box<croq_failure> {
    let mut failure = croq_failure::new(CROQ_ENDLESS).with_what("loop");
    failure.line = line;
    Box::new(failure.with_values(&[i64::try_from(steps).unwrap_or(i64::MAX)]))
}
