//! Loops that have run many iterations, and operations of the lanes of a warp.

use super::{meet, stop_seat, suspend};
use crate::abi::{
    CROQ_COUNT_ITERATIONS, CROQ_COUNT_SPIN, CROQ_COUNT_STEPS, CROQ_ITERATIONS, croq_sim_thread,
};
use crate::sim::steps;
use crate::sim::worker::Seat;

/// Charges the thread's loops, and lets other threads run; `sim/steps.rs` explains when and why.
pub(super) unsafe extern "C" fn count(thread: *mut croq_sim_thread, reason: u32, line: u32) {
    // SAFETY: device code passes the running thread; the scheduler holds no reference while a
    // thread runs, and those made here end before the thread is suspended.
    unsafe {
        let seat = (*thread).runtime.cast::<Seat>();
        let blocks_state = (*seat).blocks_state;
        let mut cost = match reason {
            CROQ_COUNT_STEPS => steps::CHUNK - (*thread).steps,
            CROQ_COUNT_ITERATIONS => {
                (*thread).iterations = CROQ_ITERATIONS;
                steps::ITERATIONS
            }
            _ => steps::SWITCH,
        };
        if !(*blocks_state).can_wait {
            // The whole budget is the thread's, and no other thread can run.
            if reason != CROQ_COUNT_STEPS {
                (*thread).steps -= cost;
            }
            if (*thread).steps < 0 {
                stop_seat(seat, steps::spent((*thread).budget as u64, line));
            }
            return;
        }
        if reason != CROQ_COUNT_STEPS && (*thread).steps < 0 {
            // Atomic operations have used them since the last loop with a known trip count.
            cost += steps::CHUNK - (*thread).steps;
            (*thread).steps = steps::CHUNK;
        }
        let budget = (*blocks_state).budget;
        (*blocks_state).barriers.seen_in_loop((*thread).tid, line);
        if !(*budget).spend(cost) {
            stop_seat(seat, steps::spent((*budget).steps, line));
        }
        if reason == CROQ_COUNT_STEPS {
            (*thread).steps = steps::CHUNK;
            return;
        }
        let changed = (*thread).changes != (*seat).changes;
        (*seat).changes = (*thread).changes;
        (*budget).only_polls = reason == CROQ_COUNT_SPIN && !changed;
        (*blocks_state).barriers.polling.push((*thread).tid);
        suspend(seat);
    }
}

pub(super) unsafe extern "C" fn lanes(
    thread: *mut croq_sim_thread,
    mask: u32,
    kind: u32,
    line: u32,
) -> u32 {
    // SAFETY: device code passes the running thread; the reference ends before it is suspended.
    unsafe {
        let seat = (*thread).runtime.cast::<Seat>();
        let tid = (*thread).tid;
        meet(thread, line, |seat| {
            (*(*seat).blocks_state)
                .barriers
                .arrive_lanes(tid, mask, kind, line)
        });
        match (*(*seat).blocks_state).can_wait {
            true => (*(*seat).blocks_state).barriers.lanes_of_last_barrier(tid),
            // A block of one thread.
            false => mask & 1,
        }
    }
}
