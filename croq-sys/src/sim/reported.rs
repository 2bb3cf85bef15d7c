//! Failures after which a launch continues (`Checks::Report`): the first of a call is its error.
//!
//! First is the first launch, in it the block with the lowest index, and in that the thread that
//! failed first. The threads of a block share an OS thread and a schedule, so the choice is the
//! same in every run, whichever OS threads the blocks run on.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::abi::{croq_failure, croq_sim_thread};

#[derive(Debug)]
pub(super) struct Reported {
    /// The number of launches of the call so far.
    launches: AtomicU64,
    /// The lowest place in `first`, so that most failures of a launch in which all threads fail
    /// take no lock.
    least: Mutex<Option<(Place, croq_failure)>>,
    /// The block of the recorded failure, in the current launch; failures of a later launch are not
    /// recorded.
    open_below: AtomicU64,
}

/// The launch, and the block in it.
type Place = (u64, u64);

impl Default for Reported {
    fn default() -> Self {
        Self {
            launches: AtomicU64::new(0),
            least: Mutex::default(),
            open_below: AtomicU64::new(u64::MAX),
        }
    }
}

impl Reported {
    pub(super) fn begin_launch(&self) {
        self.launches.fetch_add(1, Ordering::Relaxed);
        if self.first().is_some() {
            self.open_below.store(0, Ordering::Relaxed);
        }
    }

    pub(super) fn add(&self, thread: &croq_sim_thread, failure: &croq_failure) {
        let [x, y, z] = thread.block.map(u64::from);
        let [width, height, _] = thread.grid.map(u64::from);
        // Below 2^63: the limits of a grid are checked before it runs.
        let block = x + width * (y + height * z);
        if block >= self.open_below.load(Ordering::Relaxed) {
            return;
        }
        let place = (self.launches.load(Ordering::Relaxed), block);
        let mut least = self.least.lock().unwrap_or_else(PoisonError::into_inner);
        if least.as_ref().is_none_or(|(known, _)| place < *known) {
            let mut failure = *failure;
            failure.thread = thread.tid;
            failure.block = thread.block;
            *least = Some((place, failure));
            self.open_below.store(block, Ordering::Relaxed);
        }
    }

    pub(super) fn first(&self) -> Option<croq_failure> {
        let least = self.least.lock().unwrap_or_else(PoisonError::into_inner);
        least.as_ref().map(|(_, failure)| *failure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::CROQ_CHECK;

    fn fails(reported: &Reported, block: [u32; 3], tid: u32, check: u32) {
        // SAFETY: numbers and pointers, all of which may be zero.
        let mut thread: croq_sim_thread = unsafe { std::mem::zeroed() };
        (thread.block, thread.grid, thread.tid) = (block, [4, 4, 4], tid);
        let mut failure = croq_failure::new(CROQ_CHECK);
        failure.check = check;
        reported.add(&thread, &failure);
    }

    #[test]
    fn the_lowest_block_of_the_first_launch_counts() {
        let reported = Reported::default();
        reported.begin_launch();
        assert_eq!(reported.first(), None);
        fails(&reported, [3, 1, 0], 5, 1);
        fails(&reported, [0, 0, 1], 5, 2);
        fails(&reported, [2, 1, 0], 7, 3);
        fails(&reported, [2, 1, 0], 0, 4);
        reported.begin_launch();
        fails(&reported, [0, 0, 0], 0, 5);
        let first = reported.first().expect("a failure");
        assert_eq!((first.check, first.block, first.thread), (3, [2, 1, 0], 7));
    }
}
