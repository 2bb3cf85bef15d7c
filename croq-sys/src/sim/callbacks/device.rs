//! Accesses of device memory, and operations that order them.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::{internal_error, stop_seat};
use crate::abi::{CROQ_ACCESS_ATOMIC, CROQ_ACCESS_WRITES, croq_sim_access, croq_sim_thread};
use crate::sim::bulk;
use crate::sim::clocks::Clocks;
use crate::sim::device::{By, Race, Watch};
use crate::sim::steps;
use crate::sim::tensor::Tile;
use crate::sim::worker::{BlockState, Seat};

pub(super) unsafe extern "C" fn device_access(
    thread: *mut croq_sim_thread,
    access: *const croq_sim_access,
    buffer: u32,
    kind: u32,
    value: u32,
) {
    // SAFETY: device code passes the running thread and an access on its stack; the scheduler holds
    // no reference while a thread runs, and those made here end before the thread is suspended.
    unsafe {
        watch(thread, |blocks_state, tid| {
            let (access, element) = (&*access, (buffer, (*access).index as u64));
            let copy = match kind {
                CROQ_ACCESS_WRITES | CROQ_ACCESS_ATOMIC => {
                    bulk::reader_of(&blocks_state.asynchronous, access.at.cast())
                }
                _ => None,
            };
            let order = &mut blocks_state.barriers.order;
            let by = by(tid, access.line);
            let early = copy.and_then(|copy| order.device.race_with_copy(by, element, kind, copy));
            let outcome = match early {
                Some(race) => Err(race),
                None => {
                    (order.device).access(tid, access, buffer, (kind, value), &mut order.clocks)
                }
            };
            // A loop of atomic operations takes many times as long as its iterations alone.
            let compared = i64::try_from(order.device.compared()).unwrap_or(i64::MAX);
            (*thread).steps -= compared.saturating_mul(steps::COMPARISON);
            outcome
        })
    }
}

fn by(thread: u32, line: u32) -> By {
    let multicast = false;
    By {
        thread,
        line,
        multicast,
    }
}

/// TMA reads a box of device memory for the running thread; `multicast`: for all blocks of the
/// cluster.
///
/// # Safety
/// `thread` is the running thread.
pub(super) unsafe fn reads_box(
    thread: *mut croq_sim_thread,
    tile: &Tile,
    line: u32,
    multicast: bool,
) {
    // SAFETY: the caller's promise.
    unsafe {
        watch(thread, |blocks_state, tid| {
            let order = &mut blocks_state.barriers.order;
            let by = By {
                multicast,
                ..by(tid, line)
            };
            order.device.reads_box(by, tile, &mut order.clocks)
        })
    }
}

/// TMA writes a box of device memory for the running thread.
///
/// # Safety
/// `thread` is the running thread, and the box may be stored from `source`, which is in its shared
/// memory.
pub(super) unsafe fn writes_box(
    thread: *mut croq_sim_thread,
    tile: &Tile,
    source: &croq_sim_access,
) {
    // SAFETY: the caller's promise.
    unsafe {
        watch(thread, |blocks_state, tid| {
            let order = &mut blocks_state.barriers.order;
            let from: *const u8 = source.at.cast_const().cast();
            let offset = (from as usize).wrapping_sub(blocks_state.shared as usize);
            let by = by(tid, source.line);
            (order.device).writes_box(by, tile, (from, offset), &mut order.clocks)
        })
    }
}

/// Checks an access by the running thread, and stops the thread if the access races.
///
/// # Safety
/// `thread` is the running thread.
unsafe fn watch(
    thread: *mut croq_sim_thread,
    look: impl FnOnce(&mut BlockState, u32) -> Result<(), Box<Race>>,
) {
    // SAFETY: the caller's promise; the scheduler holds no reference while a thread runs, and those
    // made here end before the thread is suspended.
    unsafe {
        let seat = (*thread).runtime.cast::<Seat>();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            look(&mut *(*seat).blocks_state, (*thread).tid)
        }));
        match outcome {
            Ok(Ok(())) => {}
            Ok(Err(race)) => {
                let failure = race.record((*thread).block);
                (*(*seat).blocks_state).race = Some(race);
                stop_seat(seat, failure)
            }
            Err(_) => stop_seat(seat, internal_error()),
        }
    }
}

pub(super) unsafe extern "C" fn device_atomic(thread: *mut croq_sim_thread, at: *const c_void) {
    // SAFETY: device code passes the running thread.
    unsafe {
        with_watch(thread, |watch, tid, clocks| {
            watch.atomic_at(tid, at as u64, clocks)
        })
    }
}

pub(super) unsafe extern "C" fn device_fence(thread: *mut croq_sim_thread) {
    // SAFETY: device code passes the running thread.
    unsafe { with_watch(thread, |watch, tid, clocks| watch.fence(tid, clocks)) }
}

/// # Safety
/// `thread` is the running thread.
unsafe fn with_watch(
    thread: *mut croq_sim_thread,
    what: impl FnOnce(&mut Watch, u32, &mut Clocks),
) {
    // SAFETY: the caller's promise; the scheduler holds no reference while a thread runs, and those
    // made here end before the thread is suspended.
    unsafe {
        let seat = (*thread).runtime.cast::<Seat>();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let order = &mut (*(*seat).blocks_state).barriers.order;
            what(&mut order.device, (*thread).tid, &mut order.clocks);
        }));
        if outcome.is_err() {
            stop_seat(seat, internal_error());
        }
    }
}
