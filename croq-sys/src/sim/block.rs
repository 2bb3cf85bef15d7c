//! Runs blocks whose threads wait for each other, with one coroutine per thread.
//!
//! The blocks of a cluster are resident together, and run alternately: each runs as long as one of
//! its threads can.

use corosensei::{Coroutine, CoroutineResult};

use super::arena::Arena;
use super::barriers::Barriers;
use super::report;
use super::steps::{self, Budget};
use super::worker::{BlockState, Job, Seat, Stopped, Worker};
use crate::abi::{CROQ_ENDLESS, CROQ_ITERATIONS, CROQ_OK, croq_failure};

/// The state of a cluster after it ran.
pub(super) enum Outcome {
    /// All threads have left, or none can continue.
    Ended,
    /// The threads that can continue only poll memory in loops.
    OnlyPolls,
    /// The block with this rank failed.
    Failed(usize, Box<croq_failure>),
}

/// Runs clusters `first..last` as long as `wanted` returns true.
pub(super) fn run(
    worker: &mut Worker,
    job: &Job,
    first: u64,
    last: u64,
    wanted: impl Fn(u64) -> bool,
) -> Result<(), Stopped> {
    prepare(worker, job, first)?;
    // With a seed, another order.
    let schedule = job.schedule(first, last);
    let count = last - first;
    let mut position = schedule.start;
    for _ in 0..count {
        let cluster = first + position;
        position = (position + schedule.step) % count;
        if wanted(cluster) {
            run_one(worker, job, cluster)?;
        }
    }
    Ok(())
}

pub(super) fn prepare(worker: &mut Worker, job: &Job, cluster: u64) -> Result<(), Stopped> {
    worker
        .prepare(job, job.launch.threads, job.cluster())
        .map_err(|failure| Stopped {
            cluster,
            failure,
            report: None,
        })
}

fn run_one(worker: &mut Worker, job: &Job, cluster: u64) -> Result<(), Stopped> {
    let threads = job.launch.threads as usize * job.cluster();
    worker.budget.reset(job.steps(), threads);
    begin_cluster(worker, job, cluster);
    let failed = loop {
        let before = worker.budget.progress;
        match run_threads(worker, job, cluster, false) {
            Outcome::Failed(rank, failure) => break Some((rank, failure)),
            Outcome::Ended => break None,
            Outcome::OnlyPolls if worker.budget.progress != before => {}
            // Only operations in flight can still change the memory that they poll.
            Outcome::OnlyPolls => match run_threads(worker, job, cluster, true) {
                Outcome::Failed(rank, failure) => break Some((rank, failure)),
                Outcome::OnlyPolls if worker.budget.progress != before => {}
                Outcome::OnlyPolls | Outcome::Ended => break None,
            },
        }
    };
    let blocks_state = worker.blocks_state.get(..job.cluster()).unwrap_or_default();
    let done = failed.is_none() && blocks_state.iter().all(|r| r.barriers.live == 0);
    let outcome = match done {
        true => Ok(()),
        false => Err(stopped(worker, job, cluster, failed)),
    };
    worker.abandon();
    outcome
}

/// Makes all threads of a cluster ready.
pub(super) fn begin_cluster(worker: &mut Worker, job: &Job, cluster: u64) {
    let (blocks, threads) = (job.cluster(), job.launch.threads as usize);
    worker
        .cluster_barrier
        .reset(blocks, threads, job.is_together());
    worker.coroutines.clear();
    for rank in 0..blocks {
        begin(worker, job, cluster, rank);
    }
}

/// A cluster that cannot continue, for reports.
pub(super) fn stuck<'a>(worker: &'a Worker, job: &'a Job<'a>, cluster: u64) -> report::Stuck<'a> {
    report::Stuck {
        blocks_state: worker.blocks_state.get(..job.cluster()).unwrap_or_default(),
        cluster_barrier: &worker.cluster_barrier,
        job,
        cluster,
    }
}

/// The reason why a cluster was stopped: the failure of one of its blocks, or a deadlock.
pub(super) fn stopped(
    worker: &Worker,
    job: &Job,
    cluster: u64,
    failed: Option<(usize, Box<croq_failure>)>,
) -> Stopped {
    let stuck = stuck(worker, job, cluster);
    let (failure, report) = match failed {
        Some((_, failure)) if failure.kind == CROQ_ENDLESS => {
            (failure, Some(stuck.endless(job.steps())))
        }
        Some((rank, failure)) => {
            let block = stuck.blocks_state.get(rank);
            let text = block.and_then(|r| r.report(job, job.block(cluster, rank)));
            (failure, text)
        }
        None => (stuck.failure(), Some(stuck.text())),
    };
    debug_assert_ne!(failure.kind, CROQ_OK);
    Stopped {
        cluster,
        failure,
        report,
    }
}

/// Makes the threads of a block ready.
fn begin(worker: &mut Worker, job: &Job, cluster: u64, rank: usize) {
    let coordinates = job.block(cluster, rank);
    let Some(entry) = job.launch.run else {
        return;
    };
    let closure = job.launch.closure;
    let count = job.launch.threads as usize;
    // From here on, the callbacks and this function alternately access the block state and the
    // seats through pointers.
    let seats = worker.seats.as_mut_ptr().wrapping_add(rank * count);
    if let Some(blocks_state) = worker.blocks_state.get_mut(rank) {
        blocks_state.barriers.reset(count as u32);
        let schedule = job.schedule(cluster, cluster);
        if (schedule.first_thread, schedule.thread_step) != (0, 1) {
            let ready = &mut blocks_state.barriers.ready;
            let mut thread = schedule.first_thread;
            for place in ready.iter_mut() {
                *place = thread;
                thread = (thread + schedule.thread_step) % count as u32;
            }
        }
        blocks_state.can_wait = true;
        blocks_state.stopped = None;
        blocks_state.hazard = None;
        blocks_state.race = None;
        let device = &mut blocks_state.barriers.order.device;
        device.begin(job.linear(coordinates), cluster);
        blocks_state
            .asynchronous
            .reset(job.linear(coordinates), count);
        // SAFETY: of this size, by `prepare`.
        unsafe { Arena::poison(blocks_state.shared, job.launch.shared_bytes) };
        if !blocks_state.written.is_null() {
            // SAFETY: of this size, by `prepare`.
            unsafe { Arena::clear(blocks_state.written, job.launch.shared_bytes) };
        }
    }
    for index in 0..count {
        // SAFETY: there are `count` seats for each block.
        let seat: *mut Seat = unsafe { seats.add(index) };
        // SAFETY: no coroutine runs, so nothing else refers to it.
        unsafe {
            ((*seat).thread.block, (*seat).thread.fences) = (coordinates, 0);
            (*seat).thread.wgmma_fences = 0;
            ((*seat).thread.iterations, (*seat).thread.steps) = (CROQ_ITERATIONS, steps::CHUNK);
        }
        // SAFETY: the pool outlives the coroutines, and each has its own number.
        let stack = unsafe { worker.stacks.stack(rank * count + index) };
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
}

/// All threads of the cluster's blocks, or of the grid's, have arrived at its barrier.
///
/// # Safety
/// `all` points to `blocks` blocks, and nothing else refers to them.
pub(super) unsafe fn cluster_barrier_completed(all: *mut BlockState, blocks: usize, is_grid: bool) {
    // SAFETY: the caller's promise.
    unsafe {
        (*all).barriers.order.device.cluster_barrier_completed();
        for rank in 0..blocks {
            let order = &mut (*all.add(rank)).barriers.order;
            order.block_barrier_completed();
            if is_grid {
                order.device.grid_barrier_completed();
            }
        }
    }
}

/// Completes one operation in flight of the blocks that run together; whether there was one.
///
/// # Safety
///
/// `all` are the states of the job's blocks, to which there is no reference.
unsafe fn complete_operation(
    all: *mut BlockState,
    job: &Job,
    cluster: u64,
) -> Result<bool, Outcome> {
    for rank in 0..job.cluster() {
        // SAFETY: the caller's promise; the reference ends with the iteration.
        let state = unsafe { &mut *all.add(rank) };
        match state.asynchronous.complete_one(&mut state.barriers) {
            Ok(true) => return Ok(true),
            Ok(false) => {}
            Err(hazard) => {
                let failure = state.fail(hazard, job.block(cluster, rank));
                return Err(Outcome::Failed(rank, failure));
            }
        }
    }
    Ok(false)
}

/// Runs the threads until none can continue, or those that can only poll memory. With
/// `completes_operations`, operations in flight are completed if nothing else can run.
pub(super) fn run_threads(
    worker: &mut Worker,
    job: &Job,
    cluster: u64,
    completes_operations: bool,
) -> Outcome {
    let blocks = job.cluster();
    let count = job.launch.threads as usize;
    let all: *mut BlockState = worker.blocks_state.as_mut_ptr();
    let budget: *mut Budget =
        (worker.blocks_state.first()).map_or(std::ptr::null_mut(), |r| r.budget);
    let mut completes_operations = completes_operations;
    // With a seed any block may run first.
    let ahead = match job.seed() {
        0 => 0,
        seed => crate::random::scrambled(seed ^ cluster) as usize % blocks,
    };
    // SAFETY: while `resume` runs, this function holds no reference to block states or seats.
    unsafe {
        for rank in 0..blocks {
            let Barriers { ready, polling, .. } = &mut (*all.add(rank)).barriers;
            ready.extend(polling.drain(..));
        }
        loop {
            let mut went_on = false;
            for position in 0..blocks {
                let rank = (position + ahead) % blocks;
                let blocks_state = all.add(rank);
                let fail = |hazard| (*blocks_state).fail(hazard, job.block(cluster, rank));
                let first = rank * count;
                while let Some(thread) = (*blocks_state).barriers.ready.pop_front() {
                    went_on = true;
                    if let Some(&soon) = (*blocks_state).barriers.ready.get(1) {
                        worker.stacks.prefetch(first + soon as usize);
                    }
                    let result = worker.coroutines[first + thread as usize].resume(());
                    (*budget).progress += u64::from(!std::mem::take(&mut (*budget).only_polls));
                    match result {
                        CoroutineResult::Return(()) => {
                            (*blocks_state).barriers.exit(thread);
                            let phase = worker.cluster_barrier.phase();
                            let some_met = worker.cluster_barrier.exit((rank, thread));
                            if worker.cluster_barrier.phase() > phase {
                                cluster_barrier_completed(all, blocks, job.is_together());
                            }
                            if some_met {
                                for (rank, thread) in worker.cluster_barrier.released() {
                                    (*all.add(rank)).barriers.ready.push_back(thread);
                                }
                            }
                            if let Err(hazard) = (*blocks_state).asynchronous.exit(thread) {
                                return Outcome::Failed(rank, fail(hazard));
                            }
                        }
                        CoroutineResult::Yield(()) => {
                            if let Some(failure) = (*blocks_state).stopped.take() {
                                return Outcome::Failed(rank, failure);
                            }
                        }
                    }
                }
            }
            if went_on && blocks > 1 {
                continue;
            }
            let polls = (0..blocks).any(|rank| !(*all.add(rank)).barriers.polling.is_empty());
            if polls && !std::mem::take(&mut completes_operations) {
                return Outcome::OnlyPolls;
            }
            let relieved = match complete_operation(all, job, cluster) {
                Ok(relieved) => relieved,
                Err(outcome) => return outcome,
            };
            if relieved {
                (*budget).progress += 1;
                continue;
            }
            for rank in 0..blocks {
                if polls {
                    break;
                }
                if let Err(hazard) = (*all.add(rank)).asynchronous.finish() {
                    let block = job.block(cluster, rank);
                    return Outcome::Failed(rank, (*all.add(rank)).fail(hazard, block));
                }
            }
            return if polls {
                Outcome::OnlyPolls
            } else {
                Outcome::Ended
            };
        }
    }
}
