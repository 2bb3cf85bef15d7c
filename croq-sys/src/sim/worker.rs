//! The resources that an OS thread keeps from block to block, and from launch to launch.

use std::cell::Cell;
use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering};

use corosensei::{Coroutine, Yielder};

use super::arena::Arena;
use super::asynchronous::Asynchronous;
use super::barriers::Barriers;
use super::cluster::ClusterBarrier;
use super::device::{Race, Watched};
use super::hazard::Hazard;
use super::proxies::GRANULE;
use super::stacks::{PooledStack, StackPool};
use super::steps::Budget;
use super::{RunState, need, settings};
use crate::abi::{
    CROQ_ITERATIONS, CROQ_LAUNCH_ASYNC, CROQ_LAUNCH_PROXIES, CROQ_LAUNCH_SPINS,
    CROQ_LAUNCH_TOGETHER, CROQ_LAUNCH_TRACKS, CROQ_OUT_OF_MEMORY, croq_failure, croq_sim_launch,
    croq_sim_schedule, croq_sim_thread,
};
use crate::random;

/// A launch, as shared by all workers.
pub(super) struct Job<'a> {
    pub(super) launch: &'a croq_sim_launch,
    pub(super) run: Option<&'a RunState>,
    pub(super) kernel: &'a str,
    pub(super) file: &'a str,
    /// The device memory that is checked for races.
    pub(super) watched: Option<Watched>,
}

// SAFETY: the data of the launch, the closure and the texts, is not written while it runs, and its
// functions may be called from any thread.
unsafe impl Sync for Job<'_> {}

impl Job<'_> {
    /// Blocks wait for each other, so the scheduler treats the whole grid as one cluster.
    pub(super) fn is_together(&self) -> bool {
        self.launch.flags & CROQ_LAUNCH_TOGETHER != 0
    }

    /// Whether threads may poll memory that other blocks write.
    pub(super) fn spins(&self) -> bool {
        self.launch.flags & CROQ_LAUNCH_SPINS != 0 && !self.is_together()
    }

    /// The numbers of blocks that are resident together, along x, y, z.
    fn blocks_state(&self) -> [u32; 3] {
        match self.is_together() {
            true => self.launch.grid,
            false => self.launch.cluster,
        }
    }

    /// The coordinates of a block of the cluster with this linear index, x fastest.
    pub(super) fn block(&self, cluster: u64, rank: usize) -> [u32; 3] {
        let [dx, dy, dz] = self.blocks_state();
        let (x, y) = (
            u64::from(self.launch.grid[0] / dx),
            u64::from(self.launch.grid[1] / dy),
        );
        let rank = rank as u32;
        [
            (cluster % x) as u32 * dx + rank % dx,
            (cluster / x % y) as u32 * dy + rank / dx % dy,
            (cluster / x / y) as u32 * dz + rank / dx / dy,
        ]
    }

    /// The number of blocks of a cluster.
    pub(super) fn cluster(&self) -> usize {
        self.blocks_state().iter().map(|&n| n as usize).product()
    }

    /// The seed, which selects among the orders that the memory model allows.
    pub(super) fn seed(&self) -> u64 {
        self.run.map_or_else(settings::seed, |run| run.seed)
    }

    /// The steps that the loops of a block may take.
    pub(super) fn steps(&self) -> u64 {
        self.run.map_or_else(settings::steps, |run| run.steps)
    }

    /// The order in which a sweep runs its blocks, and the threads of each: by number, or with a
    /// seed another one.
    pub(super) fn schedule(&self, first: u64, last: u64) -> croq_sim_schedule {
        let seed = match self.seed() {
            0 => 0,
            seed => random::scrambled(seed ^ random::scrambled(first + 1)),
        };
        let (start, step) = permutation(last.saturating_sub(first), seed);
        let (thread, thread_step) = permutation(u64::from(self.launch.threads), seed >> 16);
        croq_sim_schedule {
            start,
            step,
            first_thread: (thread % thread_step) as u32,
            thread_step: thread_step as u32,
        }
    }

    /// The coordinates of the block with this linear index.
    pub(super) fn coordinates(&self, block: u64) -> [u32; 3] {
        let [x, y, _] = self.launch.grid.map(|n| u64::from(n).max(1));
        [block % x, block / x % y, block / x / y].map(|n| n as u32)
    }

    pub(super) fn linear(&self, block: [u32; 3]) -> u64 {
        let [x, y, _] = self.launch.grid.map(u64::from);
        let [bx, by, bz] = block.map(u64::from);
        bx + x * (by + y * bz)
    }
}

/// A start and a step with which each of `count` numbers is visited once.
pub(super) fn permutation(count: u64, seed: u64) -> (u64, u64) {
    if seed == 0 || count < 2 {
        return (0, 1);
    }
    let divides = |mut a: u64, mut b: u64| {
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let wanted = random::scrambled(seed) % count;
    let step = (wanted.max(1)..count).find(|step| divides(*step, count) == 1);
    (seed % count, step.unwrap_or(1))
}

/// The reason why a block was stopped, and with it the others of its cluster.
#[derive(Debug)]
pub(super) struct Stopped {
    /// The linear index of the cluster.
    pub(super) cluster: u64,
    pub(super) failure: Box<croq_failure>,
    pub(super) report: Option<String>,
}

/// The state of one block.
pub(super) struct BlockState {
    /// Its memory.
    pub(super) shared: *mut u8,
    /// Marks of the bytes that were written, or null.
    pub(super) written: *mut u8,
    /// The first of the `blocks` blocks of its cluster, and its own rank.
    pub(super) cluster: *mut BlockState,
    pub(super) blocks: usize,
    pub(super) rank: usize,
    pub(super) cluster_barrier: *mut ClusterBarrier,
    /// The budget of its cluster.
    pub(super) budget: *mut Budget,
    pub(super) barriers: Barriers,
    /// The values that lanes exchange.
    lanes: Vec<u64>,
    /// Whether there is a coroutine for each thread, so that one can wait for another.
    pub(super) can_wait: bool,
    /// The failure that stopped the block.
    pub(super) stopped: Option<Box<croq_failure>>,
    /// The hazard, if that was the failure.
    pub(super) hazard: Option<Box<Hazard>>,
    /// The race, if that was the failure.
    pub(super) race: Option<Box<Race>>,
    pub(super) asynchronous: Asynchronous,
}

impl Default for BlockState {
    fn default() -> Self {
        Self {
            shared: std::ptr::null_mut(),
            written: std::ptr::null_mut(),
            cluster: std::ptr::null_mut(),
            blocks: 0,
            rank: 0,
            cluster_barrier: std::ptr::null_mut(),
            budget: std::ptr::null_mut(),
            barriers: Barriers::default(),
            lanes: Vec::new(),
            can_wait: false,
            stopped: None,
            hazard: None,
            race: None,
            asynchronous: Asynchronous::default(),
        }
    }
}

impl BlockState {
    /// Stores the hazard for the report, and returns its record.
    pub(super) fn fail(&mut self, hazard: Box<Hazard>, block: [u32; 3]) -> Box<croq_failure> {
        let mut failure = hazard.record();
        failure.block = block;
        self.hazard = Some(hazard);
        failure
    }

    /// The report of the failure that stopped the block.
    pub(super) fn report(&self, job: &Job, block: [u32; 3]) -> Option<String> {
        let race = self.race.as_ref();
        race.map(|race| race.text(job, job.watched.as_ref()))
            .or_else(|| Some(self.hazard.as_ref()?.text(job, block)))
    }
}

/// The target of `croq_sim_thread::runtime`.
pub(super) struct Seat {
    pub(super) thread: croq_sim_thread,
    pub(super) blocks_state: *mut BlockState,
    /// The handle with which the thread suspends itself; set when it first runs.
    pub(super) yielder: *const Yielder<(), ()>,
    pub(super) run: *const RunState,
    /// `thread.changes` when it last yielded in a loop.
    pub(super) changes: u32,
}

pub(super) type Thread = Coroutine<(), (), (), PooledStack>;

/// Fields are dropped in this order: coroutines before their stacks.
#[derive(Default)]
pub(super) struct Worker {
    pub(super) coroutines: Vec<Thread>,
    pub(super) seats: Vec<Seat>,
    /// By rank in the cluster, of which one runs at a time; there is always at least one.
    pub(super) blocks_state: Vec<BlockState>,
    pub(super) cluster_barrier: Box<ClusterBarrier>,
    pub(super) budget: Box<Budget>,
    pub(super) stacks: StackPool,
    memories: Vec<Memory>,
    /// One for each thread, adjacent.
    arenas: Arena,
    /// The most that a launch has needed of all this.
    held: u64,
    /// The part that is counted in `KEPT`.
    counted: u64,
}

/// The memory of a block.
#[derive(Default)]
struct Memory {
    arena: Arena,
    marks: Arena,
    /// The writers of the granules of shared memory.
    writers: Arena,
    /// For each byte of shared memory, the buffer as part of which it was written.
    written: Arena,
}

impl Memory {
    /// Allocates all memory that the launch needs.
    fn reserve(&mut self, job: &Job) -> Result<[*mut u8; 4], Box<croq_failure>> {
        let bytes = job.launch.shared_bytes;
        let found = |memory: Option<*mut u8>, what: &str| {
            memory.ok_or_else(|| out_of_memory(what, bytes, None))
        };
        let asked = |flag| job.launch.flags & flag != 0;
        let none = std::ptr::null_mut();
        let shared = found(self.arena.reserve(bytes), "shared memory")?;
        let marks = match asked(CROQ_LAUNCH_ASYNC) {
            true => found(self.marks.reserve(bytes), "marks of shared memory")?,
            false => none,
        };
        let granules = bytes.div_ceil(GRANULE as u64);
        let writers = match asked(CROQ_LAUNCH_PROXIES) {
            true => found(
                self.writers.reserve(granules * 8),
                "writers of shared memory",
            )?,
            false => none,
        };
        let written = match asked(CROQ_LAUNCH_TRACKS) && settings::detects_unwritten() {
            true => found(self.written.reserve(2 * bytes), "marks of shared memory")?,
            false => none,
        };
        Ok([shared, marks, writers, written])
    }
}

/// With the limit of `CROQ_SIM_MEMORY`, if that was exceeded.
pub(super) fn out_of_memory(what: &str, bytes: u64, limit: Option<u64>) -> Box<croq_failure> {
    let failure = croq_failure::new(CROQ_OUT_OF_MEMORY).with_what(what);
    let number = |bytes| i64::try_from(bytes).unwrap_or(i64::MAX);
    let values: Vec<i64> = [bytes].into_iter().chain(limit).map(number).collect();
    Box::new(failure.with_values(&values))
}

/// The most memory that one OS thread keeps between launches: enough for a few blocks of 1024
/// threads.
const MOST_KEPT: u64 = 64 << 20;
/// Amounts below this are not counted.
const LITTLE: u64 = 1 << 20;
/// The memory that all OS threads of the process keep, except for small amounts.
static KEPT: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static IDLE: Cell<Option<Box<Worker>>> = const { Cell::new(None) };
}

/// `None` also after the OS thread has destroyed its thread-locals: destructors of others may still
/// launch.
fn take_idle() -> Option<Box<Worker>> {
    IDLE.try_with(Cell::take).ok().flatten()
}

/// Keeps the worker for the next launch on this OS thread; a thread that is ending drops it.
fn keep_idle(worker: Box<Worker>) {
    let _ = IDLE.try_with(move |idle| idle.set(Some(worker)));
}

impl Worker {
    /// Passes this OS thread's worker to `work`.
    pub(super) fn with<R>(work: impl FnOnce(&mut Worker) -> R) -> R {
        // Moved out, not borrowed: if a launch began within another on this OS thread, it would
        // find none and create its own.
        let mut worker = take_idle().unwrap_or_default();
        // A panic drops it.
        let result = work(&mut worker);
        keep_idle(worker);
        result
    }

    /// After a launch: frees memory that is too large to keep for the next one on this OS thread.
    pub(super) fn give_back() {
        let Some(mut worker) = take_idle() else {
            return;
        };
        let held = worker.held;
        if held > LITTLE && held != worker.counted {
            KEPT.fetch_sub(worker.counted, Ordering::Relaxed);
            KEPT.fetch_add(held, Ordering::Relaxed);
            worker.counted = held;
            let most = MOST_KEPT.saturating_mul(settings::threads() as u64);
            if held > MOST_KEPT || KEPT.load(Ordering::Relaxed) > most {
                return;
            }
        }
        keep_idle(worker);
    }

    /// Reserves stacks and arenas for the blocks of a cluster of the launch, and one seat for each
    /// of `threads` threads of each of `blocks` blocks.
    pub(super) fn prepare(
        &mut self,
        job: &Job,
        threads: u32,
        blocks: usize,
    ) -> Result<(), Box<croq_failure>> {
        let bytes = job.launch.shared_bytes;
        let all = threads as usize * blocks;
        let need = need::of_one(job);
        self.stacks
            .reserve(all)
            .map_err(|_| out_of_memory("stacks", need, None))?;
        self.held = self.held.max(need);
        let stride = need::arena_stride(job.launch.arena_bytes);
        let arenas = self.arenas.reserve(stride.saturating_mul(all as u64));
        let arenas = arenas.ok_or_else(|| out_of_memory("local arrays", need, None))?;
        let watches = job.launch.flags & CROQ_LAUNCH_ASYNC != 0;
        // After it is as long as this launch needs, it does not move.
        if self.blocks_state.len() < blocks {
            self.blocks_state.resize_with(blocks, BlockState::default);
            self.memories.resize_with(blocks, Memory::default);
        }
        let cluster = self.blocks_state.as_mut_ptr();
        let [x, y, z] = job.launch.cluster;
        let cluster_barrier: *mut ClusterBarrier = &mut *self.cluster_barrier;
        let budget: *mut Budget = &mut *self.budget;
        let steps = job.steps();
        self.seats.clear();
        let both = self.memories.iter_mut().zip(&mut self.blocks_state);
        for (rank, (memory, blocks_state)) in both.take(blocks).enumerate() {
            let [shared, marks, writers, written] = memory.reserve(job)?;
            let writers = writers.cast::<u64>();
            let order = (blocks_state.barriers.order).prepare(
                settings::detects_races(),
                shared,
                bytes,
                blocks,
            );
            let device = (blocks_state.barriers.order.device).prepare(
                job.watched.as_ref(),
                job.launch.threads,
                blocks > 1 || job.spins(),
            );
            blocks_state.shared = shared;
            blocks_state.written = written;
            blocks_state.asynchronous.written = std::ptr::NonNull::new(written);
            blocks_state.cluster = cluster;
            blocks_state.cluster_barrier = cluster_barrier;
            blocks_state.budget = budget;
            blocks_state.lanes.resize(job.launch.threads as usize, 0);
            let lanes = blocks_state.lanes.as_mut_ptr();
            (blocks_state.rank, blocks_state.blocks) = (rank, blocks);
            // SAFETY: reserved just now, and kept until the next `prepare`.
            unsafe {
                blocks_state
                    .asynchronous
                    .watch(watches, shared, marks, writers, bytes, job.seed());
            }
            let first = rank * threads as usize;
            let (stacks, arena_bytes) = (&self.stacks, job.launch.arena_bytes);
            self.seats.extend((0..threads).map(|tid| Seat {
                thread: croq_sim_thread {
                    tid,
                    block: [0; 3],
                    grid: job.launch.grid,
                    threads: job.launch.threads,
                    shared,
                    shared_bytes: bytes,
                    marks,
                    writers,
                    written,
                    order,
                    device,
                    schedule: croq_sim_schedule {
                        start: 0,
                        step: 1,
                        first_thread: 0,
                        thread_step: 1,
                    },
                    fences: 0,
                    cluster: x | y << 8 | z << 16,
                    wgmma_fences: 0,
                    iterations: CROQ_ITERATIONS,
                    changes: 0,
                    steps: 0,
                    budget: i64::try_from(steps).unwrap_or(i64::MAX),
                    lanes,
                    arena: arenas.wrapping_add((first + tid as usize) * stride as usize),
                    arena_bytes,
                    stack_end: stacks.end(first + tid as usize),
                    finds_unwritten: u32::from(settings::detects_unwritten()),
                    runtime: std::ptr::null_mut(),
                },
                blocks_state: cluster.wrapping_add(rank),
                yielder: std::ptr::null(),
                run: job.run.map_or(std::ptr::null(), std::ptr::from_ref),
                changes: 0,
            }));
        }
        for seat in &mut self.seats {
            seat.thread.runtime = std::ptr::from_mut(seat).cast::<c_void>();
        }
        Ok(())
    }

    /// Releases the data of the launch.
    pub(super) fn forget_launch(&mut self) {
        for blocks_state in &mut self.blocks_state {
            blocks_state.barriers.order.device.end();
        }
    }

    /// Abandons all suspended coroutines, without unwinding them.
    pub(super) fn abandon(&mut self) {
        for coroutine in &mut self.coroutines {
            if coroutine.started() && !coroutine.done() {
                // SAFETY: on its stack are device code, which has no destructors, and this
                // module's own frames, which own nothing at a suspension.
                unsafe { coroutine.force_reset() }
            }
        }
        self.coroutines.clear();
    }
}

impl Drop for Worker {
    /// A coroutine that is dropped while it is suspended would unwind its stack, which has C++
    /// frames.
    fn drop(&mut self) {
        self.abandon();
        KEPT.fetch_sub(self.counted, Ordering::Relaxed);
    }
}
