//! The memory that a launch needs besides its tensors, computed before it starts.
//!
//! An OS thread that works on a launch has a stack and an arena for every thread of the blocks that
//! are resident together, and for each of these blocks its shared memory and the records about it.

use super::worker::{Job, out_of_memory};
use super::{order, settings};
use crate::abi::{CROQ_LAUNCH_ASYNC, CROQ_LAUNCH_PROXIES, CROQ_LAUNCH_WAITS, croq_failure};

/// The part of a thread's stack that is used if it calls no library that needs more: the address
/// range is larger, but pages that are never touched need no memory.
pub(super) const STACK_IN_USE: u64 = 16 << 10;
/// The scheduler's records of a thread.
const RECORDS: u64 = 512;
/// The distance between arenas is chosen so that the same array of two threads is not in the same
/// cache set.
const ARENA_STEP: u64 = 64;

/// The distance from one thread's arena to the next.
pub(super) fn arena_stride(bytes: u64) -> u64 {
    match bytes {
        0 => 0,
        _ => (bytes.div_ceil(ARENA_STEP) | 1).saturating_mul(ARENA_STEP),
    }
}

/// The memory of each OS thread that works on the launch.
pub(super) fn of_one(job: &Job) -> u64 {
    let launch = job.launch;
    let (threads, blocks) = match launch.flags & CROQ_LAUNCH_WAITS {
        // The threads run one after another.
        0 => (1, 1),
        _ => (u64::from(launch.threads), job.cluster() as u64),
    };
    let asked = |flag, bytes: u64| u64::from(launch.flags & flag != 0) * bytes;
    let of_thread = arena_stride(launch.arena_bytes).saturating_add(STACK_IN_USE + RECORDS);
    // Below 2^18: `check_limits`.
    let shared = launch.shared_bytes;
    let of_block =
        shared + asked(CROQ_LAUNCH_ASYNC, shared) + asked(CROQ_LAUNCH_PROXIES, shared / 2);
    let cells = match settings::detects_races() {
        true => order::room(shared, blocks as usize),
        false => 0,
    };
    let threads = threads.saturating_mul(of_thread);
    let blocks = blocks.saturating_mul(threads.saturating_add(of_block));
    blocks.saturating_add(cells)
}

/// The number of OS threads that can work on the launch within `CROQ_SIM_MEMORY`: at least one, or
/// the launch fails.
pub(super) fn workers(job: &Job) -> Result<usize, Box<croq_failure>> {
    let (each, limit) = (of_one(job), settings::memory());
    match usize::try_from(limit / each.max(1)).unwrap_or(usize::MAX) {
        0 => Err(out_of_memory(
            "the stacks and local arrays of the threads",
            each,
            Some(limit),
        )),
        workers => Ok(workers),
    }
}
