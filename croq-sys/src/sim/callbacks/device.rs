//! Accesses of device memory, and what orders them.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::{internal_error, stop_seat};
use crate::abi::{croq_sim_access, croq_sim_thread};
use crate::sim::clocks::Clocks;
use crate::sim::device::Watch;
use crate::sim::worker::Seat;

pub(super) unsafe extern "C" fn device_access(
    thread: *mut croq_sim_thread,
    access: *const croq_sim_access,
    buffer: u32,
    kind: u32,
    value: u32,
) {
    // SAFETY: device text passes the running thread and an access on its stack; the scheduler holds no reference while a
    // thread runs, and those made here end before the thread is suspended.
    unsafe {
        let seat = (*thread).runtime.cast::<Seat>();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let order = &mut (*(*seat).residents).barriers.order;
            let clocks = &mut order.clocks;
            (order.device).access((*thread).tid, &*access, buffer, (kind, value), clocks)
        }));
        match outcome {
            Ok(Ok(())) => {}
            Ok(Err(race)) => {
                let failure = race.record((*thread).block);
                (*(*seat).residents).race = Some(race);
                stop_seat(seat, failure)
            }
            Err(_) => stop_seat(seat, internal_error()),
        }
    }
}

pub(super) unsafe extern "C" fn device_atomic(thread: *mut croq_sim_thread, at: *const c_void) {
    // SAFETY: device text passes the running thread.
    unsafe {
        tell(thread, |watch, tid, clocks| {
            watch.atomic_at(tid, at as u64, clocks)
        })
    }
}

pub(super) unsafe extern "C" fn device_fence(thread: *mut croq_sim_thread) {
    // SAFETY: device text passes the running thread.
    unsafe { tell(thread, |watch, tid, clocks| watch.fence(tid, clocks)) }
}

/// # Safety
/// `thread` is the running thread.
unsafe fn tell(thread: *mut croq_sim_thread, what: impl FnOnce(&mut Watch, u32, &mut Clocks)) {
    // SAFETY: the caller's promise; the scheduler holds no reference while a thread runs, and those made here end
    // before the thread is suspended.
    unsafe {
        let seat = (*thread).runtime.cast::<Seat>();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let order = &mut (*(*seat).residents).barriers.order;
            what(&mut order.device, (*thread).tid, &mut order.clocks);
        }));
        if outcome.is_err() {
            stop_seat(seat, internal_error());
        }
    }
}
