//! Runs blocks whose threads do not wait: the C++ side runs them one after another.

use corosensei::{Coroutine, CoroutineResult};

use super::report;
use super::worker::{Job, Seat, Stopped, Worker};
use crate::abi::CROQ_ENDLESS;

/// Runs blocks `first..last` in one coroutine: a thread that fails is suspended permanently, and
/// with it the loop around it.
pub(super) fn run(worker: &mut Worker, job: &Job, first: u64, last: u64) -> Result<(), Stopped> {
    let Some(entry) = job.launch.run_blocks else {
        return Ok(());
    };
    let closure = job.launch.closure;
    worker.prepare(job, 1, 1).map_err(|failure| Stopped {
        cluster: first,
        failure,
        report: None,
    })?;
    if let Some(blocks_state) = worker.blocks_state.first_mut() {
        blocks_state.can_wait = false;
        blocks_state.stopped = None;
        blocks_state.hazard = None;
        blocks_state.race = None;
        let schedule = job.schedule(first, last);
        let device = &mut blocks_state.barriers.order.device;
        device.sweep(first, last - first, schedule.start, schedule.step);
        if let Some(seat) = worker.seats.first_mut() {
            seat.thread.schedule = schedule;
        }
    }
    worker.coroutines.clear();

    let seat: *mut Seat = worker.seats.as_mut_ptr();
    // SAFETY: the pool outlives the coroutine, and there is only this one.
    let stack = unsafe { worker.stacks.stack(0) };
    worker
        .coroutines
        .push(Coroutine::with_stack(stack, move |yielder, ()| {
            // SAFETY: the seat outlives the coroutine; `entry` is the shim's, for this closure.
            unsafe {
                (*seat).yielder = yielder;
                entry(closure, &raw mut (*seat).thread, first, last);
            }
        }));
    let result = worker
        .coroutines
        .first_mut()
        .map(|coroutine| coroutine.resume(()));
    worker.abandon();
    match result {
        Some(CoroutineResult::Yield(())) => {
            let blocks_state = worker.blocks_state.first_mut();
            let (failure, report) = blocks_state.map_or((None, None), |r| {
                let failure = r.stopped.take().unwrap_or_default();
                let report = r.report(job, failure.block);
                (Some(failure), report)
            });
            let failure = failure.unwrap_or_default();
            let report = match failure.kind {
                CROQ_ENDLESS => Some(report::endless_thread(job, &failure)),
                _ => report,
            };
            Err(Stopped {
                cluster: job.linear(failure.block),
                report,
                failure,
            })
        }
        _ => Ok(()),
    }
}
