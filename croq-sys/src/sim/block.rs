//! A block whose threads wait for each other: one coroutine per thread, taking turns.

use corosensei::{Coroutine, CoroutineResult};

use super::arena::Arena;
use super::report;
use super::worker::{Job, Residents, Seat, Stopped, Worker};
use crate::abi::CROQ_OK;

/// Runs blocks `first..last` while `wanted` says so.
pub(super) fn run(
    worker: &mut Worker,
    job: &Job,
    first: u64,
    last: u64,
    wanted: impl Fn(u64) -> bool,
) -> Result<(), Stopped> {
    worker
        .prepare(job, job.launch.threads)
        .map_err(|failure| Stopped {
            block: first,
            failure,
            report: None,
        })?;
    for block in first..last {
        if !wanted(block) {
            break;
        }
        run_one(worker, job, block)?;
    }
    Ok(())
}

fn run_one(worker: &mut Worker, job: &Job, block: u64) -> Result<(), Stopped> {
    let Some(entry) = job.launch.run else {
        return Ok(());
    };
    let closure = job.launch.closure;
    let coordinates = job.block(block);

    // From here on the callbacks reach residents and seats through pointers, in turn with us.
    let residents: *mut Residents = &mut *worker.residents;
    let seats = worker.seats.as_mut_ptr();
    let count = worker.seats.len();
    // SAFETY: no coroutine runs yet, so nothing else refers to them.
    unsafe {
        (*residents).barriers.reset(count as u32);
        (*residents).can_wait = true;
        (*residents).stopped = None;
        (*residents).hazard = None;
        (*residents).asynchronous.reset(block, count);
        if let Some(seat) = worker.seats.first() {
            Arena::poison(seat.thread.shared, seat.thread.shared_bytes);
        }
    }
    worker.coroutines.clear();
    for index in 0..count {
        // SAFETY: `seats` has `count` elements.
        let seat: *mut Seat = unsafe { seats.add(index) };
        // SAFETY: as above.
        unsafe { ((*seat).thread.block, (*seat).thread.fences) = (coordinates, 0) };
        // SAFETY: the pool outlives the coroutines, and each has its own number.
        let stack = unsafe { worker.stacks.stack(index) };
        worker
            .coroutines
            .push(Coroutine::with_stack(stack, move |yielder, ()| {
                // SAFETY: the seat outlives the coroutine; `entry` is the shim's, for this closure.
                unsafe {
                    (*seat).yielder = yielder;
                    entry(closure, &raw mut (*seat).thread);
                }
            }));
    }

    // SAFETY: while `resume` runs, this function holds no reference into residents or seats.
    let stopped = unsafe {
        loop {
            let Some(thread) = (*residents).barriers.ready.pop_front() else {
                let Residents {
                    barriers,
                    asynchronous,
                    ..
                } = &mut *residents;
                let outcome = match asynchronous.relieve(barriers) {
                    Ok(true) => continue,
                    Ok(false) => asynchronous.finish(),
                    Err(hazard) => Err(hazard),
                };
                break outcome
                    .err()
                    .map(|hazard| (*residents).fail(hazard, coordinates));
            };
            if let Some(&soon) = (*residents).barriers.ready.get(1) {
                worker.stacks.prefetch(soon as usize);
            }
            match worker.coroutines[thread as usize].resume(()) {
                CoroutineResult::Return(()) => {
                    (*residents).barriers.exit(thread);
                    if let Err(hazard) = (*residents).asynchronous.exit(thread) {
                        break Some((*residents).fail(hazard, coordinates));
                    }
                }
                CoroutineResult::Yield(()) => {
                    if let Some(failure) = (*residents).stopped.take() {
                        break Some(failure);
                    }
                }
            }
        }
    };
    let residents = &*worker.residents;
    let outcome = match stopped {
        Some(failure) => {
            let hazard = residents.hazard.as_ref();
            let text = hazard.map(|hazard| hazard.text(job, coordinates));
            Err((failure, text))
        }
        None if residents.barriers.live == 0 => Ok(()),
        None => Err((
            report::deadlock_failure(residents, coordinates),
            Some(report::deadlock_text(residents, job, coordinates)),
        )),
    };
    worker.abandon();
    outcome.map_err(|(failure, report)| {
        debug_assert_ne!(failure.kind, CROQ_OK);
        Stopped {
            block,
            failure,
            report,
        }
    })
}
