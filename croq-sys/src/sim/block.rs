//! Blocks whose threads wait for each other: one coroutine per thread, taking turns.
//!
//! The blocks of a cluster are resident together, and take turns, too: each goes on for as long as one of
//! its threads can.

use corosensei::{Coroutine, CoroutineResult};

use super::arena::Arena;
use super::barriers::Barriers;
use super::report;
use super::steps::{self, Budget};
use super::worker::{Job, Residents, Seat, Stopped, Worker};
use crate::abi::{CROQ_ENDLESS, CROQ_OK, CROQ_TURNS, croq_failure};

/// What has become of a cluster.
pub(super) enum Outcome {
    /// All threads have left, or none can go on.
    Ended,
    /// The threads that could go on only ask memory, in loops.
    Asks,
    /// The block of this rank was given up.
    Failed(usize, Box<croq_failure>),
}

/// Runs clusters `first..last` while `wanted` says so.
pub(super) fn run(
    worker: &mut Worker,
    job: &Job,
    first: u64,
    last: u64,
    wanted: impl Fn(u64) -> bool,
) -> Result<(), Stopped> {
    prepare(worker, job, first)?;
    // With a seed in any order.
    let turns = job.schedule(first, last);
    let count = last - first;
    let mut turn = turns.start;
    for _ in 0..count {
        let cluster = first + turn;
        turn = (turn + turns.step) % count;
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
        match go_on(worker, job, cluster, false) {
            Outcome::Failed(rank, failure) => break Some((rank, failure)),
            Outcome::Ended => break None,
            Outcome::Asks if worker.budget.progress != before => {}
            // Nobody else could change what they ask for, but what is under way.
            Outcome::Asks => match go_on(worker, job, cluster, true) {
                Outcome::Failed(rank, failure) => break Some((rank, failure)),
                Outcome::Asks if worker.budget.progress != before => {}
                Outcome::Asks | Outcome::Ended => break None,
            },
        }
    };
    let residents = worker.residents.get(..job.cluster()).unwrap_or_default();
    let done = failed.is_none() && residents.iter().all(|r| r.barriers.live == 0);
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
    worker.meeting.reset(blocks, threads, job.is_together());
    worker.coroutines.clear();
    for rank in 0..blocks {
        begin(worker, job, cluster, rank);
    }
}

/// A cluster that can't go on, for reports.
pub(super) fn stuck<'a>(worker: &'a Worker, job: &'a Job<'a>, cluster: u64) -> report::Stuck<'a> {
    report::Stuck {
        residents: worker.residents.get(..job.cluster()).unwrap_or_default(),
        meeting: &worker.meeting,
        job,
        cluster,
    }
}

/// Why a cluster was given up: the failure of one of its blocks, or a deadlock.
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
            let block = stuck.residents.get(rank);
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
    // From here on the callbacks reach residents and seats through pointers, in turn with us.
    let seats = worker.seats.as_mut_ptr().wrapping_add(rank * count);
    if let Some(residents) = worker.residents.get_mut(rank) {
        residents.barriers.reset(count as u32);
        let turns = job.schedule(cluster, cluster);
        if (turns.first_thread, turns.thread_step) != (0, 1) {
            let ready = &mut residents.barriers.ready;
            let mut thread = turns.first_thread;
            for place in ready.iter_mut() {
                *place = thread;
                thread = (thread + turns.thread_step) % count as u32;
            }
        }
        residents.can_wait = true;
        residents.stopped = None;
        residents.hazard = None;
        residents.race = None;
        let device = &mut residents.barriers.order.device;
        device.begin(job.linear(coordinates), cluster);
        residents.asynchronous.reset(job.linear(coordinates), count);
        // SAFETY: of this size, by `prepare`.
        unsafe { Arena::poison(residents.shared, job.launch.shared_bytes) };
        if !residents.written.is_null() {
            // SAFETY: of this size, by `prepare`.
            unsafe { Arena::clear(residents.written, job.launch.shared_bytes) };
        }
    }
    for index in 0..count {
        // SAFETY: there are `count` seats for each block.
        let seat: *mut Seat = unsafe { seats.add(index) };
        // SAFETY: no coroutine runs, so nothing else refers to it.
        unsafe {
            ((*seat).thread.block, (*seat).thread.fences) = (coordinates, 0);
            (*seat).thread.product_fences = 0;
            ((*seat).thread.turns, (*seat).thread.steps) = (CROQ_TURNS, steps::CHUNK);
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

/// All threads of the cluster's blocks have met, or of the grid's.
///
/// # Safety
/// There are so many blocks, and nothing else refers to them.
pub(super) unsafe fn cluster_has_met(all: *mut Residents, blocks: usize, is_grid: bool) {
    // SAFETY: the caller's promise.
    unsafe {
        (*all).barriers.order.device.cluster_has_met();
        for rank in 0..blocks {
            let order = &mut (*all.add(rank)).barriers.order;
            order.all_have_met();
            if is_grid {
                order.device.grid_has_met();
            }
        }
    }
}

/// Runs the threads until those that could go on only ask memory, or none can. With `relieves`, what is under way
/// asynchronously happens if nothing else does.
pub(super) fn go_on(worker: &mut Worker, job: &Job, cluster: u64, relieves: bool) -> Outcome {
    let blocks = job.cluster();
    let count = job.launch.threads as usize;
    let all: *mut Residents = worker.residents.as_mut_ptr();
    let budget: *mut Budget = (worker.residents.first()).map_or(std::ptr::null_mut(), |r| r.budget);
    let mut relieves = relieves;
    // With a seed any block may be ahead.
    let ahead = match job.seed() {
        0 => 0,
        seed => crate::random::scrambled(seed ^ cluster) as usize % blocks,
    };
    // SAFETY: while `resume` runs, this function holds no reference into residents or seats.
    unsafe {
        for rank in 0..blocks {
            let Barriers { ready, polling, .. } = &mut (*all.add(rank)).barriers;
            ready.extend(polling.drain(..));
        }
        loop {
            let mut went_on = false;
            for turn in 0..blocks {
                let rank = (turn + ahead) % blocks;
                let residents = all.add(rank);
                let fail = |hazard| (*residents).fail(hazard, job.block(cluster, rank));
                let first = rank * count;
                while let Some(thread) = (*residents).barriers.ready.pop_front() {
                    went_on = true;
                    if let Some(&soon) = (*residents).barriers.ready.get(1) {
                        worker.stacks.prefetch(first + soon as usize);
                    }
                    let result = worker.coroutines[first + thread as usize].resume(());
                    (*budget).progress += u64::from(!std::mem::take(&mut (*budget).only_asks));
                    match result {
                        CoroutineResult::Return(()) => {
                            (*residents).barriers.exit(thread);
                            let turn = worker.meeting.turn();
                            let some_met = worker.meeting.exit((rank, thread));
                            if worker.meeting.turn() > turn {
                                cluster_has_met(all, blocks, job.is_together());
                            }
                            if some_met {
                                for (rank, thread) in worker.meeting.released() {
                                    (*all.add(rank)).barriers.ready.push_back(thread);
                                }
                            }
                            if let Err(hazard) = (*residents).asynchronous.exit(thread) {
                                return Outcome::Failed(rank, fail(hazard));
                            }
                        }
                        CoroutineResult::Yield(()) => {
                            if let Some(failure) = (*residents).stopped.take() {
                                return Outcome::Failed(rank, failure);
                            }
                        }
                    }
                }
            }
            if went_on && blocks > 1 {
                continue;
            }
            let asks = (0..blocks).any(|rank| !(*all.add(rank)).barriers.polling.is_empty());
            if asks && !std::mem::take(&mut relieves) {
                return Outcome::Asks;
            }
            let mut relieved = false;
            for rank in 0..blocks {
                let Residents {
                    barriers,
                    asynchronous,
                    ..
                } = &mut *all.add(rank);
                match asynchronous.relieve(barriers) {
                    Ok(done) => relieved |= done,
                    Err(hazard) => {
                        let block = job.block(cluster, rank);
                        return Outcome::Failed(rank, (*all.add(rank)).fail(hazard, block));
                    }
                }
                if relieved {
                    break;
                }
            }
            if relieved {
                (*budget).progress += 1;
                continue;
            }
            for rank in 0..blocks {
                if asks {
                    break;
                }
                if let Err(hazard) = (*all.add(rank)).asynchronous.finish() {
                    let block = job.block(cluster, rank);
                    return Outcome::Failed(rank, (*all.add(rank)).fail(hazard, block));
                }
            }
            return if asks { Outcome::Asks } else { Outcome::Ended };
        }
    }
}
