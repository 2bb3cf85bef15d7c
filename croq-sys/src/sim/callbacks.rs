//! The functions that device code calls. No panic leaves them: a panic stops the kernel.

mod device;
mod events;
mod groups;
mod loops;
mod unwritten;

use std::ffi::{CStr, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::asynchronous::Asynchronous;
use super::banks;
use super::barriers::{self, Arrival, Barriers};
use super::cluster::Step;
use super::hazard::{AccessRecord, Hazard};
use super::mbarriers::{Awaited, Wait};
use super::steps;
use super::tensor::Tile;
use super::worker::{BlockState, Seat, Stopped};
use super::{RunState, block, launch};
use crate::abi::{
    CROQ_ABI_VERSION, CROQ_ACCESS_WRITES, CROQ_CHECK, CROQ_CLUSTER_ARRIVE, CROQ_MBARRIER_ARRIVE,
    CROQ_MBARRIER_ARRIVE_EXPECT, CROQ_MBARRIER_EXPECT, CROQ_MBARRIER_INIT,
    CROQ_MBARRIER_INVALIDATE, CROQ_MBARRIER_TRY_WAIT, CROQ_MBARRIER_WAIT, CROQ_MBARRIER_WAIT_NEXT,
    CROQ_MBARRIER_WAIT_PHASE, CROQ_OK, croq_failure, croq_sim_access, croq_sim_api,
    croq_sim_launch, croq_sim_tensor_map, croq_sim_thread,
};
use crate::sim::bulk;

pub(super) static API: croq_sim_api = croq_sim_api {
    abi_version: CROQ_ABI_VERSION,
    launch: launch_kernel,
    barrier,
    barrier_named,
    barrier_arrive: groups::barrier_arrive,
    barrier_warp,
    stop,
    print,
    touch,
    copy_async,
    commit_copies,
    wait_copies,
    mbarrier,
    event_site: events::event_site,
    fence,
    tma_load,
    tma_store: groups::tma_store,
    bulk_commit: groups::bulk_commit,
    bulk_wait: groups::bulk_wait,
    trace,
    cluster_barrier,
    arrive_remote: events::arrive_remote,
    wgmma: groups::wgmma,
    commit_wgmma: groups::commit_wgmma,
    wait_wgmma: groups::wait_wgmma,
    touch_registers: groups::touch_registers,
    shared_access,
    packed_access,
    count: loops::count,
    lanes: loops::lanes,
    use_unwritten: unwritten::use_unwritten,
    report,
    device_access: device::device_access,
    device_atomic: device::device_atomic,
    device_fence: device::device_fence,
    agree: groups::agree,
    agree_named: groups::agree_named,
};

pub(super) fn internal_error() -> Box<croq_failure> {
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
            if let Some(run) = run {
                run.reported.begin_launch();
            }
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

/// Suspends the running thread permanently.
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
        (*(*seat).blocks_state).stopped = Some(failure);
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
        meet(thread, line, |seat| {
            at(&mut (*(*seat).blocks_state).barriers, (*thread).tid)
        });
    }
}

/// # Safety
/// `thread` is the running thread, and `at` keeps no reference.
unsafe fn meet(thread: *mut croq_sim_thread, line: u32, at: impl FnOnce(*mut Seat) -> Arrival) {
    // SAFETY: the caller's promise; the scheduler holds no reference while a thread runs, and those
    // made here end before the thread is suspended.
    unsafe {
        let seat = (*thread).runtime.cast::<Seat>();
        let arrival = catch_unwind(AssertUnwindSafe(|| {
            if (*(*seat).blocks_state).can_wait {
                let blocks_state = &mut *(*seat).blocks_state;
                if !(*blocks_state.budget).spend(steps::SWITCH) {
                    blocks_state.barriers.seen((*thread).tid, line);
                    return Arrival::Fails(steps::spent((*blocks_state.budget).steps, line));
                }
                let ready = &mut blocks_state.barriers.ready;
                match blocks_state.asynchronous.meet((*thread).tid, ready) {
                    Ok(()) => at(seat),
                    Err(hazard) => Arrival::Fails(blocks_state.fail(hazard, (*thread).block)),
                }
            } else if (*thread).threads == 1 && (*thread).cluster == 0x1_01_01 {
                Arrival::Continues
            } else {
                barriers::misuse(
                    "barrier in a kernel launched as one that never waits",
                    &[],
                    line,
                )
            }
        }));
        match arrival {
            Ok(Arrival::Continues) => {}
            Ok(Arrival::Waits) => suspend(seat),
            Ok(Arrival::Fails(failure)) => stop_seat(seat, failure),
            Err(_) => stop_seat(seat, internal_error()),
        }
    }
}

unsafe extern "C" fn barrier(thread: *mut croq_sim_thread, line: u32) {
    // SAFETY: device code passes the running thread.
    unsafe {
        arrive(thread, line, |barriers, tid| {
            barriers.arrive_block(tid, line)
        })
    }
}

unsafe extern "C" fn barrier_named(thread: *mut croq_sim_thread, id: u32, threads: u32, line: u32) {
    // SAFETY: device code passes the running thread.
    unsafe {
        arrive(thread, line, |barriers, tid| {
            barriers.arrive_named(tid, id, threads, line)
        })
    }
}

unsafe extern "C" fn barrier_warp(thread: *mut croq_sim_thread, mask: u32, line: u32) {
    // SAFETY: device code passes the running thread.
    unsafe {
        arrive(thread, line, |barriers, tid| {
            barriers.arrive_warp(tid, mask, line)
        })
    }
}

unsafe extern "C" fn cluster_barrier(thread: *mut croq_sim_thread, operation: u32, line: u32) {
    // SAFETY: device code passes the running thread; the blocks of its cluster are reached one
    // after another, and not while anything else refers to them.
    unsafe {
        meet(thread, line, |seat| {
            let tid = (*thread).tid;
            (*(*seat).blocks_state).barriers.seen(tid, line);
            let block = (*seat).blocks_state;
            let (member, blocks) = (((*block).rank, tid), (*block).blocks);
            let cluster_barrier = &mut *(*block).cluster_barrier;
            let phase = cluster_barrier.phase();
            let step = match operation {
                CROQ_CLUSTER_ARRIVE => cluster_barrier.arrive(member, blocks),
                _ => cluster_barrier.wait(member, blocks),
            };
            if cluster_barrier.phase() > phase {
                block::cluster_barrier_completed(
                    (*block).cluster,
                    blocks,
                    cluster_barrier.is_of_grid(),
                );
            }
            for (rank, thread) in cluster_barrier.released() {
                let ready = &mut (*(*block).cluster.add(rank)).barriers.ready;
                ready.push_back(thread);
            }
            match step {
                Step::Continues => Arrival::Continues,
                Step::Waits => Arrival::Waits,
                Step::Misused(what) => barriers::misuse(what, &[], line),
            }
        });
    }
}

unsafe extern "C" fn stop(thread: *mut croq_sim_thread, failure: *const croq_failure) {
    // SAFETY: device code passes the running thread and a record on its stack.
    unsafe { stop_seat((*thread).runtime.cast::<Seat>(), Box::new(*failure)) }
}

/// Records a failure after which the thread continues.
unsafe extern "C" fn report(thread: *mut croq_sim_thread, failure: *const croq_failure) {
    // A panic here would be that of a poisoned lock, which does not occur.
    let _ = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: device code passes the running thread and a record on its stack; the run outlives
        // the launch.
        unsafe {
            let seat = (*thread).runtime.cast::<Seat>();
            if let Some(run) = (*seat).run.as_ref() {
                run.reported.add(&*thread, &*failure);
            }
        }
    }));
}

unsafe extern "C" fn print(thread: *mut croq_sim_thread, text: *const c_char, length: u64) {
    // A panic here would come from standard output; the text is lost.
    let _ = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: device code passes the running thread, or null on the host, and a buffer of this
        // length; the run outlives the launch.
        unsafe {
            let text = std::slice::from_raw_parts(text.cast::<u8>(), length as usize);
            let seat = thread.as_ref().map(|t| t.runtime.cast::<Seat>());
            RunState::print(seat.and_then(|seat| (*seat).run.as_ref()), text);
        }
    }));
}

/// Calls `what` with the operations in flight.
///
/// # Safety
/// `thread` is the running thread.
unsafe fn with<T>(
    thread: *mut croq_sim_thread,
    what: impl FnOnce(&mut Asynchronous, &mut Barriers, u32) -> Result<T, Box<Hazard>>,
) -> T {
    // SAFETY: the caller's promise; the reference ends before the thread is suspended.
    unsafe {
        with_cluster(thread, |seat| {
            let blocks_state = &mut *(*seat).blocks_state;
            let (all, barriers) = (&mut blocks_state.asynchronous, &mut blocks_state.barriers);
            what(all, barriers, (*thread).tid)
        })
    }
}

/// The same with those of other blocks of the cluster.
///
/// # Safety
/// `thread` is the running thread, and `what` keeps no reference.
unsafe fn with_cluster<T>(
    thread: *mut croq_sim_thread,
    what: impl FnOnce(*mut Seat) -> Result<T, Box<Hazard>>,
) -> T {
    // SAFETY: the caller's promise; the scheduler holds no reference while a thread runs, and the
    // references made here end before the thread is suspended.
    unsafe {
        let seat = (*thread).runtime.cast::<Seat>();
        let outcome = catch_unwind(AssertUnwindSafe(|| what(seat)));
        match outcome {
            Ok(Ok(value)) => value,
            Ok(Err(hazard)) => {
                let block = (*thread).block;
                let failure = (*(*seat).blocks_state).fail(hazard, block);
                stop_seat(seat, failure)
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
    // SAFETY: device code passes the running thread and an access on its stack.
    unsafe { with(thread, |all, _, tid| all.touch(tid, &*access, writes != 0)) }
}

unsafe extern "C" fn shared_access(
    thread: *mut croq_sim_thread,
    access: *const croq_sim_access,
    size: u32,
    kind: u32,
) {
    // SAFETY: device code passes the running thread and an access on its stack.
    unsafe {
        with(thread, |_, barriers, tid| {
            barriers.order.access(tid, &*access, size, kind)
        })
    }
}

unsafe extern "C" fn packed_access(
    thread: *mut croq_sim_thread,
    access: *const croq_sim_access,
    per_byte: u32,
    count: u32,
    kind: u32,
) {
    // SAFETY: device code passes the running thread and an access on its stack.
    unsafe {
        with(thread, |_, barriers, tid| {
            (barriers.order).packed_access(tid, &*access, (per_byte, count), kind)
        })
    }
}

unsafe extern "C" fn trace(thread: *const croq_sim_thread, access: *const croq_sim_access) {
    // An error here loses an access of the trace, which is no reason to stop a kernel.
    let _ = catch_unwind(|| {
        // SAFETY: device code passes the running thread and an access on its stack, whose name is
        // text of the program.
        unsafe {
            let name = CStr::from_ptr((*access).name);
            banks::note(&*thread, &*access, name);
        }
    });
}

unsafe extern "C" fn copy_async(
    thread: *mut croq_sim_thread,
    dest: *const croq_sim_access,
    source: *const c_void,
) {
    // SAFETY: device code passes the running thread, an access on its stack, and device memory that
    // outlives the launch.
    unsafe {
        with(thread, |all, _, tid| {
            all.copy_async(tid, &*dest, source.cast())
        })
    }
}

unsafe extern "C" fn commit_copies(thread: *mut croq_sim_thread) {
    // SAFETY: device code passes the running thread.
    unsafe {
        with(thread, |all, _, tid| {
            all.copies.commit(tid);
            Ok(())
        })
    }
}

unsafe extern "C" fn wait_copies(thread: *mut croq_sim_thread, pending: u32) {
    // SAFETY: device code passes the running thread.
    unsafe { with(thread, |all, _, tid| all.wait_copies(tid, pending)) }
}

/// Subtracts steps from the block's budget that no enclosing loop counts.
///
/// # Safety
/// `thread` is the running thread.
unsafe fn charge(thread: *mut croq_sim_thread, line: u32, cost: i64) {
    // SAFETY: the caller's promise.
    unsafe {
        let seat = (*thread).runtime.cast::<Seat>();
        let blocks_state = (*seat).blocks_state;
        if (*blocks_state).can_wait && !(*(*blocks_state).budget).spend(cost) {
            (*blocks_state).barriers.seen((*thread).tid, line);
            stop_seat(seat, steps::spent((*(*blocks_state).budget).steps, line));
        }
    }
}

unsafe extern "C" fn mbarrier(
    thread: *mut croq_sim_thread,
    at: *const croq_sim_access,
    operation: u32,
    value: i64,
) -> u32 {
    // SAFETY: device code passes the running thread and an access on its stack.
    unsafe {
        charge(thread, (*at).line, steps::SWITCH);
        let parity = value as u64 & 1;
        let awaited = match operation {
            CROQ_MBARRIER_WAIT | CROQ_MBARRIER_TRY_WAIT => Some(Awaited::Parity(parity)),
            CROQ_MBARRIER_WAIT_NEXT => Some(Awaited::Next(parity)),
            CROQ_MBARRIER_WAIT_PHASE => Some(Awaited::Phase(value)),
            _ => None,
        };
        if let Some(awaited) = awaited {
            let polls = operation == CROQ_MBARRIER_TRY_WAIT;
            return u32::from(wait_for_phase(thread, at, awaited, polls));
        }
        let wakes = with(thread, |all, barriers, tid| {
            let (at, ready) = (&*at, &mut barriers.ready);
            bulk::maybe_complete(all, ready)?;
            let first = all.wakes_first();
            let mbarriers = &mut all.mbarriers;
            if matches!(
                operation,
                CROQ_MBARRIER_ARRIVE | CROQ_MBARRIER_ARRIVE_EXPECT
            ) {
                let phase = mbarriers.phase(at.at as usize);
                barriers.order.arrive(tid, at.at.cast(), phase);
            }
            let done = match operation {
                CROQ_MBARRIER_INIT => {
                    barriers.order.begin_mbarrier(at.at.cast());
                    mbarriers.init(tid, at, value, &mut all.marks)
                }
                CROQ_MBARRIER_INVALIDATE => mbarriers.invalidate(tid, at, &mut all.marks),
                CROQ_MBARRIER_EXPECT => mbarriers.expect(tid, at, value),
                CROQ_MBARRIER_ARRIVE => {
                    return Ok(mbarriers.arrive(tid, None, at, ready)? && first);
                }
                _ => {
                    mbarriers.expect(tid, at, value)?;
                    return Ok(mbarriers.arrive(tid, None, at, ready)? && first);
                }
            };
            done.map(|()| false)
        });
        if wakes {
            yield_to_woken(thread);
        }
    }
    0
}

/// With some seeds, threads that were woken run first, so that accesses of released memory by this
/// thread are detected.
///
/// # Safety
/// `thread` is the running thread.
unsafe fn yield_to_woken(thread: *mut croq_sim_thread) {
    // SAFETY: the caller's promise; the reference ends before the thread is suspended.
    unsafe {
        let seat = (*thread).runtime.cast::<Seat>();
        let blocks_state = &mut *(*seat).blocks_state;
        blocks_state.barriers.ready.push_back((*thread).tid);
        suspend(seat);
    }
}

/// Returns whether the phase is complete; a thread that polls may return before.
///
/// # Safety
/// `thread` is the running thread, and `at` lives.
unsafe fn wait_for_phase(
    thread: *mut croq_sim_thread,
    at: *const croq_sim_access,
    mut awaited: Awaited,
    polls: bool,
) -> bool {
    let mut begun = false;
    loop {
        // SAFETY: the caller's promise.
        unsafe {
            let outcome = with(thread, |all, barriers, tid| {
                barriers.seen(tid, (*at).line);
                if polls && begun {
                    return all
                        .mbarriers
                        .is_over(tid, &*at, awaited)
                        .map(|over| match over {
                            true => Wait::Over,
                            false => Wait::GivenUp,
                        });
                }
                all.mbarriers.wait(tid, &*at, awaited, polls)
            });
            match outcome {
                Wait::Over => {
                    with(thread, |all, barriers, tid| {
                        let phase = all.mbarriers.phase((*at).at as usize);
                        barriers.order.wait(tid, (*at).at.cast(), phase);
                        Ok(())
                    });
                    return true;
                }
                Wait::GivenUp => return false,
                Wait::Begun(phase) => (awaited, begun) = (phase, true),
            }
            suspend((*thread).runtime.cast::<Seat>());
        }
    }
}

unsafe extern "C" fn fence(thread: *mut croq_sim_thread, kind: u32) {
    // SAFETY: device code passes the running thread.
    unsafe { (*thread).fences = with(thread, |all, _, tid| Ok(all.fence(tid, kind))) }
}

/// A block of the running thread's cluster, and the address in it that corresponds to one in the
/// thread's own block.
///
/// # Safety
/// `seat` is that of the running thread, and nothing else refers to the block.
unsafe fn block_of_cluster<'a>(
    seat: *mut Seat,
    rank: u32,
    access: &croq_sim_access,
) -> Result<(&'a mut BlockState, croq_sim_access), Box<Hazard>> {
    let record = |what| AccessRecord {
        // SAFETY: the caller's promise.
        thread: unsafe { (*seat).thread.tid },
        what,
        line: access.line,
    };
    let error = |what: String, record| {
        let (kind, records) = ("error", vec![record]);
        Err(Box::new(Hazard {
            kind,
            what,
            records,
        }))
    };
    // SAFETY: the caller's promise; the cluster has that many blocks.
    unsafe {
        let blocks = (*(*seat).blocks_state).blocks;
        if rank as usize >= blocks {
            let what = format!("there is no block {rank} in a cluster of {blocks}");
            return error(what, record("reaches for it"));
        }
        let blocks_state = &mut *(*(*seat).blocks_state).cluster.add(rank as usize);
        if blocks_state.barriers.live == 0 {
            let what = format!("block {rank} of the cluster has left the kernel");
            return error(what, record("reaches for its shared memory"));
        }
        let mut there = *access;
        let offset = (access.at as usize).wrapping_sub((*seat).thread.shared as usize);
        there.at = blocks_state.shared.wrapping_add(offset).cast();
        Ok((blocks_state, there))
    }
}

unsafe extern "C" fn tma_load(
    thread: *mut croq_sim_thread,
    dest: *const croq_sim_access,
    map: *const croq_sim_tensor_map,
    at: *const i64,
    arrival: *const croq_sim_access,
    blocks: u32,
) {
    // SAFETY: device code passes the running thread, accesses and five coordinates on its stack,
    // and a map that `make_tensor_map` made, of device memory that outlives the launch.
    unsafe {
        let (map, at) = (*map, *at.cast::<[i64; 5]>());
        let tile = Tile { map, at };
        let tid = (*thread).tid;
        charge(thread, (*dest).line, tile.bytes() as i64 / 8);
        device::reads_box(thread, &tile, (*dest).line, blocks != 0);
        with_cluster(thread, |seat| {
            let own = (*(*seat).blocks_state).rank as u32;
            let of_cluster = (0..u32::BITS).filter(|rank| blocks & (1 << rank) != 0);
            for rank in (blocks == 0).then_some(own).into_iter().chain(of_cluster) {
                let (_, dest) = block_of_cluster(seat, rank, &*dest)?;
                let (block, arrival) = block_of_cluster(seat, rank, &*arrival)?;
                let bytes = tile.bytes();
                let (order, all) = (&mut block.barriers.order, &mut block.asynchronous);
                if rank == own {
                    let whole = croq_sim_access {
                        bytes: bytes as u32,
                        ..dest
                    };
                    order.access(tid, &whole, map.element_bytes, CROQ_ACCESS_WRITES)?;
                    let phase = all.mbarriers.phase(arrival.at as usize);
                    order.arrive(tid, arrival.at.cast(), phase);
                } else {
                    order.forget(dest.at.cast(), bytes);
                    let offset = (dest.at as usize).wrapping_sub(block.shared as usize);
                    unwritten::same_marks(&(*seat).thread, block.written, offset, bytes);
                }
                bulk::tma_load(all, tid, &dest, tile, &arrival, &mut block.barriers.ready)?;
            }
            Ok(())
        })
    }
}
