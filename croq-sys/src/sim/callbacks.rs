//! What device text calls. No panic leaves these functions: one that happens stops the kernel.

use std::ffi::{c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::barriers::{self, Arrival, Barriers};
use super::copies::Copies;
use super::hazard::Hazard;
use super::worker::{Seat, Stopped};
use super::{RunState, launch};
use crate::abi::{
    CROQ_ABI_VERSION, CROQ_CHECK, CROQ_OK, croq_failure, croq_sim_access, croq_sim_api,
    croq_sim_launch, croq_sim_thread,
};

pub(super) static API: croq_sim_api = croq_sim_api {
    abi_version: CROQ_ABI_VERSION,
    launch: launch_kernel,
    barrier,
    barrier_named,
    barrier_warp,
    stop,
    print,
    touch,
    copy_async,
    commit_copies,
    wait_copies,
};

fn internal_error() -> Box<croq_failure> {
    let failure = croq_failure::new(CROQ_CHECK);
    Box::new(failure.with_what("internal error in the simulated GPU"))
}

unsafe extern "C" fn launch_kernel(
    device: *mut c_void,
    launch: *const croq_sim_launch,
    failure: *mut croq_failure,
) -> u32 {
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: the shim passes `env.device`, a launch on its stack, and `env.failure`.
        unsafe {
            let run = RunState::from_device(device);
            let Err(Stopped {
                failure, report, ..
            }) = launch::launch(&*launch, run)
            else {
                return Ok(());
            };
            if let Some(run) = run {
                run.set_report(report);
            }
            Err(failure)
        }
    }));
    let record = match outcome {
        Ok(Ok(())) => return CROQ_OK,
        Ok(Err(record)) => record,
        Err(_) => internal_error(),
    };
    // SAFETY: null or `env.failure`, which the caller of the shim keeps for the call.
    if let Some(place) = unsafe { failure.as_mut() } {
        *place = *record;
    }
    record.kind
}

/// # Safety
/// `thread` is the running thread.
unsafe fn suspend(seat: *mut Seat) {
    // SAFETY: set when the coroutine began, and valid as long as it runs.
    unsafe { (*(*seat).yielder).suspend(()) }
}

/// Suspends the running thread for good.
///
/// # Safety
/// `seat` is that of the running thread.
#[cold]
#[inline(never)]
unsafe fn stop_seat(seat: *mut Seat, mut failure: Box<croq_failure>) -> ! {
    // SAFETY: the caller's promise; the scheduler holds no reference while a thread runs.
    unsafe {
        failure.thread = (*seat).thread.tid;
        failure.block = (*seat).thread.block;
        (*(*seat).residents).stopped = Some(failure);
        loop {
            suspend(seat);
        }
    }
}

/// # Safety
/// `thread` is the running thread.
unsafe fn arrive(
    thread: *mut croq_sim_thread,
    line: u32,
    at: impl FnOnce(&mut Barriers, u32) -> Arrival,
) {
    // SAFETY: the caller's promise; the scheduler holds no reference while a thread runs, and the
    // reference made here ends before the thread is suspended.
    unsafe {
        let seat = (*thread).runtime.cast::<Seat>();
        let arrival = catch_unwind(AssertUnwindSafe(|| {
            let residents = &mut *(*seat).residents;
            if residents.can_wait {
                residents.copies.meet(|| (*thread).tid);
                at(&mut residents.barriers, (*thread).tid)
            } else if (*thread).threads == 1 {
                Arrival::GoesOn
            } else {
                barriers::misuse(
                    "barrier in a kernel launched as one that never waits",
                    &[],
                    line,
                )
            }
        }));
        match arrival {
            Ok(Arrival::GoesOn) => {}
            Ok(Arrival::Waits) => suspend(seat),
            Ok(Arrival::Fails(failure)) => stop_seat(seat, failure),
            Err(_) => stop_seat(seat, internal_error()),
        }
    }
}

unsafe extern "C" fn barrier(thread: *mut croq_sim_thread, line: u32) {
    // SAFETY: device text passes the running thread.
    unsafe {
        arrive(thread, line, |barriers, tid| {
            barriers.arrive_block(tid, line)
        })
    }
}

unsafe extern "C" fn barrier_named(thread: *mut croq_sim_thread, id: u32, threads: u32, line: u32) {
    // SAFETY: device text passes the running thread.
    unsafe {
        arrive(thread, line, |barriers, tid| {
            barriers.arrive_named(tid, id, threads, line)
        })
    }
}

unsafe extern "C" fn barrier_warp(thread: *mut croq_sim_thread, mask: u32, line: u32) {
    // SAFETY: device text passes the running thread.
    unsafe {
        arrive(thread, line, |barriers, tid| {
            barriers.arrive_warp(tid, mask, line)
        })
    }
}

unsafe extern "C" fn stop(thread: *mut croq_sim_thread, failure: *const croq_failure) {
    // SAFETY: device text passes the running thread and a record on its stack.
    unsafe { stop_seat((*thread).runtime.cast::<Seat>(), Box::new(*failure)) }
}

unsafe extern "C" fn print(thread: *mut croq_sim_thread, text: *const c_char, length: u64) {
    // A panic here would be one of standard output's; the text is lost with it.
    let _ = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: device text passes the running thread, or null on the host, and a buffer of this
        // length; the run outlives the launch.
        unsafe {
            let text = std::slice::from_raw_parts(text.cast::<u8>(), length as usize);
            let seat = thread.as_ref().map(|t| t.runtime.cast::<Seat>());
            RunState::print(seat.and_then(|seat| (*seat).run.as_ref()), text);
        }
    }));
}

/// # Safety
/// `thread` is the running thread.
unsafe fn watch(
    thread: *mut croq_sim_thread,
    what: impl FnOnce(&mut Copies, u32) -> Result<(), Box<Hazard>>,
) {
    // SAFETY: the caller's promise; the scheduler holds no reference while a thread runs, and the
    // reference made here ends before the thread is suspended.
    unsafe {
        let seat = (*thread).runtime.cast::<Seat>();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            what(&mut (*(*seat).residents).copies, (*thread).tid)
        }));
        match outcome {
            Ok(Ok(())) => {}
            Ok(Err(hazard)) => {
                let failure = hazard.record();
                (*(*seat).residents).hazard = Some(hazard);
                stop_seat(seat, failure);
            }
            Err(_) => stop_seat(seat, internal_error()),
        }
    }
}

unsafe extern "C" fn touch(
    thread: *mut croq_sim_thread,
    access: *const croq_sim_access,
    writes: u32,
) {
    // SAFETY: device text passes the running thread and an access on its stack.
    unsafe {
        watch(thread, |copies, tid| {
            copies.touch(tid, &*access, writes != 0)
        })
    }
}

unsafe extern "C" fn copy_async(
    thread: *mut croq_sim_thread,
    dest: *const croq_sim_access,
    source: *const c_void,
) {
    // SAFETY: device text passes the running thread, an access on its stack, and device memory that
    // outlives the launch.
    unsafe {
        watch(thread, |copies, tid| {
            copies.issue(tid, &*dest, source.cast())
        })
    }
}

unsafe extern "C" fn commit_copies(thread: *mut croq_sim_thread) {
    // SAFETY: device text passes the running thread.
    unsafe {
        watch(thread, |copies, tid| {
            copies.commit(tid);
            Ok(())
        })
    }
}

unsafe extern "C" fn wait_copies(thread: *mut croq_sim_thread, pending: u32) {
    // SAFETY: device text passes the running thread.
    unsafe { watch(thread, |copies, tid| copies.wait(tid, pending)) }
}
