//! Launches a kernel: checks its limits, and distributes its blocks over the cores.

use std::ffi::{CStr, c_char};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::device::{Watched, races_between};
use super::worker::{Job, Stopped, Worker};
use super::{RunState, block, callbacks, need, pool, settings, spinning, sweep};
use crate::abi::{
    CROQ_CHECK, CROQ_HAZARD, CROQ_LAUNCH_ORDERED, CROQ_LAUNCH_TOGETHER, CROQ_LAUNCH_WAITS,
    croq_failure, croq_sim_launch,
};

/// The limit of all current GPUs.
const MOST_THREADS: u32 = 1024;
/// The largest cluster on sm_90, opted in.
const MOST_OF_A_CLUSTER: u32 = 16;
/// The blocks that an H100 can have resident at once: 32 on each of 132 multiprocessors. The device
/// API has a lower limit, which depends on threads and shared memory.
const MOST_TOGETHER: u64 = 132 * 32;
/// The limit of sm_90, opted in.
const MOST_SHARED_BYTES: u64 = 227 * 1024;

/// Enough pieces that the other cores do not wait long for a slow one at the end.
const PIECES_PER_CORE: u64 = 8;

/// # Safety
/// `launch` is from the device API's `host::launch`.
pub(super) unsafe fn launch(
    launch: &croq_sim_launch,
    run: Option<&RunState>,
) -> Result<(), Stopped> {
    check_limits(launch).map_err(|failure| Stopped {
        cluster: 0,
        failure,
        report: None,
    })?;
    // SAFETY: both are literals of the shim.
    let (kernel, file) = unsafe { (text(launch.kernel), text(launch.file)) };
    let job = Job {
        launch,
        run,
        kernel,
        file,
        // SAFETY: the caller's promise.
        watched: unsafe { Watched::of_launch(launch, settings::threads()) },
    };
    run_blocks(&job, run)?;
    match job.watched.as_ref().and_then(Watched::unwritten) {
        Some((name, element)) => Err(unwritten(&job, &name, element)),
        None => Ok(()),
    }
}

/// The compiler proved that this doesn't happen, so that is where the error is.
fn unwritten(job: &Job, name: &str, element: usize) -> Stopped {
    let what = format!(
        "`{name}`[{element}] was not written, although croq did not clear `{name}` because it proved that this launch \
         writes all of it"
    );
    let kernel = &job.kernel;
    Stopped {
        cluster: 0,
        report: Some(format!("unwritten memory in {kernel}: {what}")),
        failure: Box::new(croq_failure::new(CROQ_HAZARD).with_what(&what)),
    }
}

fn run_blocks(job: &Job, run: Option<&RunState>) -> Result<(), Stopped> {
    let launch = job.launch;
    // A block index is below 2^31 · 2^16 · 2^16, as `check_limits` verified.
    let blocks: u64 = launch
        .grid
        .iter()
        .map(|&extent| u64::from(extent))
        .product();
    // If no thread waits, the blocks of a cluster are independent.
    let workers = need::workers(job).map_err(|failure| Stopped {
        cluster: 0,
        failure,
        report: None,
    })?;
    let waits = launch.flags & CROQ_LAUNCH_WAITS != 0;
    let clusters = if waits {
        blocks / job.cluster() as u64
    } else {
        blocks
    };
    if job.spins() {
        return spinning::run(job, clusters);
    }
    let cores = settings::threads() as u64;
    let alone = job.watched.as_ref().is_some_and(|watched| watched.alone);
    if clusters == 1 || cores == 1 || alone || launch.flags & CROQ_LAUNCH_ORDERED != 0 {
        let outcome = run_piece(job, 0, clusters, |_| true);
        Worker::give_back();
        return outcome;
    }

    // The lowest cluster that failed: those above it need not run, all below it must.
    let lowest = AtomicU64::new(u64::MAX);
    let worst: Mutex<Option<Stopped>> = Mutex::new(None);
    let pieces =
        u32::try_from(clusters.min(cores.saturating_mul(PIECES_PER_CORE))).unwrap_or(u32::MAX);
    // The number of clusters is below 2^63; the product with the number of pieces may not fit 64
    // bits.
    let start = |piece| (u128::from(piece) * u128::from(clusters) / u128::from(pieces)) as u64;
    let work = |piece| {
        let wanted = |cluster| cluster < lowest.load(Ordering::Relaxed);
        let (first, last) = (start(piece), start(piece + 1));
        if !wanted(first) {
            return;
        }
        if let Err(stopped) = run_piece(job, first, last, wanted) {
            lowest.fetch_min(stopped.cluster, Ordering::Relaxed);
            let mut worst = worst.lock().unwrap_or_else(PoisonError::into_inner);
            if worst
                .as_ref()
                .is_none_or(|worst| stopped.cluster < worst.cluster)
            {
                *worst = Some(stopped);
            }
        }
    };
    let finished = pool::for_each(pieces, workers, &work, Worker::give_back);
    Worker::give_back();
    if let Some(run) = run {
        run.write_printed();
    }
    let worst = worst.into_inner().unwrap_or_else(PoisonError::into_inner);
    let worst = lowest_race(job, worst.as_ref()).or(worst);
    match (worst, finished) {
        (Some(stopped), _) => Err(stopped),
        (None, Ok(())) => Ok(()),
        (None, Err(pool::Panicked)) => Err(Stopped {
            cluster: 0,
            failure: callbacks::internal_error(),
            report: None,
        }),
    }
}

/// A race between blocks on different OS threads, if it has a lower block than the failure that
/// stopped a block.
fn lowest_race(job: &Job, stopped: Option<&Stopped>) -> Option<Stopped> {
    let watched = job.watched.as_ref()?;
    if stopped.is_some() && job.cluster() > 1 {
        return None;
    }
    let race = races_between(watched, stopped.map_or(u64::MAX, |stopped| stopped.cluster))?;
    Some(Stopped {
        cluster: race.block(),
        failure: race.record(job.coordinates(race.block())),
        report: Some(race.text(job, Some(watched))),
    })
}

fn run_piece(
    job: &Job,
    first: u64,
    last: u64,
    wanted: impl Fn(u64) -> bool,
) -> Result<(), Stopped> {
    Worker::with(|worker| {
        let outcome = if job.launch.flags & CROQ_LAUNCH_WAITS != 0 {
            block::run(worker, job, first, last, wanted)
        } else {
            sweep::run(worker, job, first, last)
        };
        worker.forget_launch();
        outcome
    })
}

fn check_limits(launch: &croq_sim_launch) -> Result<(), Box<croq_failure>> {
    let limit = |what: &str, values: &[i64]| {
        let failure = croq_failure::new(CROQ_CHECK).with_what(what);
        Err(Box::new(failure.with_values(values)))
    };
    let [x, y, z] = launch.grid;
    if x == 0 || y == 0 || z == 0 || x > i32::MAX as u32 || y > 0xffff || z > 0xffff {
        return limit(
            "grid: {0} x {1} x {2} blocks do not fit",
            &[x, y, z].map(i64::from),
        );
    }
    let [cx, cy, cz] = launch.cluster;
    let within = [cx, cy, cz]
        .iter()
        .all(|&n| (1..=MOST_OF_A_CLUSTER).contains(&n))
        && cx * cy * cz <= MOST_OF_A_CLUSTER;
    if !within || x % cx != 0 || y % cy != 0 || z % cz != 0 {
        return limit(
            "cluster: {0} x {1} x {2} blocks do not fit the grid",
            &[cx, cy, cz].map(i64::from),
        );
    }
    if launch.flags & CROQ_LAUNCH_TOGETHER != 0 {
        // Below 2^63, as the grid's limits were checked.
        let blocks: u64 = launch.grid.iter().map(|&n| u64::from(n)).product();
        if [cx, cy, cz] != [1; 3] || blocks > MOST_TOGETHER {
            let blocks = i64::try_from(blocks).unwrap_or(i64::MAX);
            return limit(
                "cooperative grid: {0} blocks, of at most {1}",
                &[blocks, MOST_TOGETHER as i64],
            );
        }
    }
    if launch.threads == 0 || launch.threads > MOST_THREADS {
        return limit(
            "threads: {0} in a block, of at most {1}",
            &[launch.threads, MOST_THREADS].map(i64::from),
        );
    }
    if launch.shared_bytes > MOST_SHARED_BYTES {
        let bytes = i64::try_from(launch.shared_bytes).unwrap_or(i64::MAX);
        return limit(
            "shared memory: {0} bytes a block, of at most {1}",
            &[bytes, MOST_SHARED_BYTES as i64],
        );
    }
    Ok(())
}

/// # Safety
/// `literal` is null or a C string that outlives the result.
unsafe fn text<'a>(literal: *const c_char) -> &'a str {
    if literal.is_null() {
        return "";
    }
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(literal) }.to_str().unwrap_or("")
}
