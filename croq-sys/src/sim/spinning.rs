//! Launches whose threads may poll device memory that other blocks write.
//!
//! They run on one OS thread, like the blocks of a cooperative grid. Clusters (of one block,
//! mostly) become resident in the order of their indices, as in hardware: another one when all
//! resident ones only poll memory, up to the capacity of a device or the limit of
//! `CROQ_SIM_MEMORY`. A resident cluster remains resident until it has ended. A cluster that does
//! not wait therefore runs alone, and the lowest one that has not ended is always among the running
//! ones.
//!
//! If a round of all resident clusters has changed nothing and none can be added, no thread of the
//! launch can ever continue.

use super::block::{self, Outcome};
use super::need;
use super::report;
use super::steps::Budget;
use super::worker::{Job, Stopped, Worker};

/// Multiprocessors of an H100.
const MULTIPROCESSORS: u64 = 132;
/// The capacity of one: blocks, threads, and bytes of shared memory, of which each block takes 1024
/// more than it requests.
const BLOCKS: u64 = 32;
const THREADS: u64 = 2048;
const SHARED_BYTES: u64 = 228 * 1024;

/// After this number of rounds another cluster becomes resident, even if the others make progress.
const PATIENCE: u32 = 16;

/// The number of blocks of the launch that are resident on a device at once.
fn blocks_of_device(job: &Job) -> u64 {
    let threads = u64::from(job.launch.threads).next_multiple_of(32).max(32);
    let by_memory = SHARED_BYTES / (job.launch.shared_bytes + 1024);
    MULTIPROCESSORS * BLOCKS.min(THREADS / threads).min(by_memory).max(1)
}

/// A resident cluster, with its own stacks and records.
struct Resident {
    worker: Box<Worker>,
    cluster: u64,
}

/// Runs all clusters of the launch.
pub(super) fn run(job: &Job, clusters: u64) -> Result<(), Stopped> {
    let of_device = blocks_of_device(job) / job.cluster() as u64;
    let of_memory = need::workers(job).unwrap_or(1);
    let most = usize::try_from(of_device.max(1))
        .unwrap_or(usize::MAX)
        .min(of_memory);
    let threads = job.launch.threads as usize * job.cluster();
    let mut budget = Box::<Budget>::default();
    budget.reset(job.steps(), threads);
    let mut all = ResidentClusters {
        job,
        resident: Vec::new(),
        spare: Vec::new(),
        budget: &raw mut *budget,
    };
    let (mut next, mut rounds) = (0, 0u32);
    loop {
        // Before the first round no thread has polled without success.
        let before = all.progress();
        let ended = all.round(false)?;
        if ended > 0 {
            all.budget().refill();
        }
        let quiet = ended == 0 && all.progress() == before;
        rounds = rounds.wrapping_add(1);
        // In the user's own C++, polling cannot be detected.
        let wanted = all.resident.is_empty() || quiet || rounds.is_multiple_of(PATIENCE);
        if wanted && next < clusters && all.resident.len() < most {
            all.admit(next)?;
            if next > 0 {
                all.budget().grow(threads);
            }
            next += 1;
        } else if all.resident.is_empty() {
            return Ok(());
        } else if quiet {
            // Operations in flight are completed last.
            let ended = all.round(true)?;
            if ended == 0 && all.progress() == before {
                return Err(all.deadlock());
            }
        }
    }
}

struct ResidentClusters<'a> {
    job: &'a Job<'a>,
    /// In the order of their indices.
    resident: Vec<Resident>,
    // Boxed, so that moving one only moves a pointer.
    #[allow(clippy::vec_box)]
    spare: Vec<Box<Worker>>,
    /// The budget that they share; device code accesses it through a pointer.
    budget: *mut Budget,
}

impl ResidentClusters<'_> {
    fn budget(&mut self) -> &mut Budget {
        // SAFETY: `run` keeps it in a box, and no thread runs now.
        unsafe { &mut *self.budget }
    }

    fn progress(&mut self) -> u64 {
        self.budget().progress
    }

    fn admit(&mut self, cluster: u64) -> Result<(), Stopped> {
        let mut worker = self.spare.pop().unwrap_or_default();
        block::prepare(&mut worker, self.job, cluster)?;
        for blocks_state in &mut worker.blocks_state {
            blocks_state.budget = self.budget;
        }
        block::begin_cluster(&mut worker, self.job, cluster);
        self.resident.push(Resident { worker, cluster });
        Ok(())
    }

    /// Each resident cluster runs until its threads have ended or only poll memory. Returns the
    /// number of clusters that have ended.
    fn round(&mut self, completes_operations: bool) -> Result<usize, Stopped> {
        let mut ended = 0;
        let mut failed = None;
        let mut rest = Vec::with_capacity(self.resident.len());
        for mut one in std::mem::take(&mut self.resident) {
            if failed.is_some() {
                one.worker.abandon();
                continue;
            }
            match block::run_threads(&mut one.worker, self.job, one.cluster, completes_operations) {
                Outcome::Ended if block::stuck(&one.worker, self.job, one.cluster).some_live() => {
                    let stopped = block::stopped(&one.worker, self.job, one.cluster, None);
                    one.worker.abandon();
                    failed = Some(stopped);
                }
                Outcome::Ended => {
                    one.worker.abandon();
                    self.spare.push(one.worker);
                    ended += 1;
                }
                Outcome::OnlyPolls => rest.push(one),
                Outcome::Failed(rank, failure) => {
                    let stopped =
                        block::stopped(&one.worker, self.job, one.cluster, Some((rank, failure)));
                    one.worker.abandon();
                    failed = Some(stopped);
                }
            }
        }
        self.resident = rest;
        match failed {
            Some(stopped) => {
                self.resident
                    .iter_mut()
                    .for_each(|one| one.worker.abandon());
                Err(stopped)
            }
            None => Ok(ended),
        }
    }

    /// The report: the first cluster, then the positions of the others' threads.
    fn deadlock(&mut self) -> Stopped {
        let others = self.resident.len().saturating_sub(1);
        let mut all = self.resident.iter();
        let stopped = all.next().map(|first| {
            let mut stopped = block::stopped(&first.worker, self.job, first.cluster, None);
            if let Some(text) = &mut stopped.report {
                report::add_others(
                    text,
                    others,
                    all.map(|one| block::stuck(&one.worker, self.job, one.cluster)),
                );
            }
            stopped
        });
        self.resident
            .iter_mut()
            .for_each(|one| one.worker.abandon());
        stopped.unwrap_or_else(|| Stopped {
            cluster: 0,
            failure: Box::default(),
            report: None,
        })
    }
}
