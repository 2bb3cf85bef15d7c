//! What an OS thread keeps from block to block, and from launch to launch.

use std::cell::Cell;
use std::ffi::c_void;

use corosensei::{Coroutine, Yielder};

use super::RunState;
use super::arena::Arena;
use super::asynchronous::Asynchronous;
use super::barriers::Barriers;
use super::hazard::Hazard;
use super::proxies::GRANULE;
use super::stacks::{PooledStack, StackPool};
use crate::abi::{
    CROQ_LAUNCH_ASYNC, CROQ_LAUNCH_PROXIES, CROQ_OUT_OF_MEMORY, croq_failure, croq_sim_launch,
    croq_sim_thread,
};

/// A launch, as every worker sees it.
pub(super) struct Job<'a> {
    pub(super) launch: &'a croq_sim_launch,
    pub(super) run: Option<&'a RunState>,
    pub(super) kernel: &'a str,
    pub(super) file: &'a str,
}

// SAFETY: what the launch points to, the closure and the texts, isn't written while it runs, and
// the functions in it may be called from any thread.
unsafe impl Sync for Job<'_> {}

impl Job<'_> {
    /// The coordinates of the block with this linear index, x fastest.
    pub(super) fn block(&self, linear: u64) -> [u32; 3] {
        let [x, y, _] = self.launch.grid.map(u64::from);
        [
            (linear % x) as u32,
            (linear / x % y) as u32,
            (linear / x / y) as u32,
        ]
    }

    /// Chooses among the orders that the memory model allows.
    pub(super) fn seed(&self) -> u64 {
        self.run.map_or_else(super::seed_of_process, |run| run.seed)
    }

    pub(super) fn linear(&self, block: [u32; 3]) -> u64 {
        let [x, y, _] = self.launch.grid.map(u64::from);
        let [bx, by, bz] = block.map(u64::from);
        bx + x * (by + y * bz)
    }
}

/// Why a block was given up.
#[derive(Debug)]
pub(super) struct Stopped {
    /// Its linear index.
    pub(super) block: u64,
    pub(super) failure: Box<croq_failure>,
    pub(super) report: Option<String>,
}

/// The threads that are resident together: those of one block.
#[derive(Default)]
pub(super) struct Residents {
    pub(super) barriers: Barriers,
    /// There is a coroutine for each, so that one can wait for another.
    pub(super) can_wait: bool,
    /// What stopped them.
    pub(super) stopped: Option<Box<croq_failure>>,
    /// Why, when it was that.
    pub(super) hazard: Option<Box<Hazard>>,
    pub(super) asynchronous: Asynchronous,
}

impl Residents {
    /// Keeps what was found for the report, and gives its record.
    pub(super) fn fail(&mut self, hazard: Box<Hazard>, block: [u32; 3]) -> Box<croq_failure> {
        let mut failure = hazard.record();
        failure.block = block;
        self.hazard = Some(hazard);
        failure
    }
}

/// What `croq_sim_thread::runtime` points to.
pub(super) struct Seat {
    pub(super) thread: croq_sim_thread,
    pub(super) residents: *mut Residents,
    /// How the thread suspends itself; set when it first runs.
    pub(super) yielder: *const Yielder<(), ()>,
    pub(super) run: *const RunState,
}

pub(super) type Thread = Coroutine<(), (), (), PooledStack>;

/// Field order is drop order: coroutines go before their stacks.
#[derive(Default)]
pub(super) struct Worker {
    pub(super) coroutines: Vec<Thread>,
    pub(super) seats: Vec<Seat>,
    pub(super) residents: Box<Residents>,
    pub(super) stacks: StackPool,
    pub(super) arena: Arena,
    pub(super) marks: Arena,
    /// Of the granules of shared memory.
    pub(super) writers: Arena,
}

thread_local! {
    static IDLE: Cell<Option<Box<Worker>>> = const { Cell::new(None) };
}

impl Worker {
    /// Lends this OS thread's worker to `work`.
    pub(super) fn with<R>(work: impl FnOnce(&mut Worker) -> R) -> R {
        // Taken, not borrowed: should rayon start another block while it waits within this one,
        // that finds none and makes its own.
        let mut worker = IDLE.take().unwrap_or_default();
        let result = work(&mut worker);
        IDLE.set(Some(worker));
        result
    }

    /// Stacks and an arena for a block of the launch, and one seat for each of `seats` threads.
    pub(super) fn prepare(&mut self, job: &Job, seats: u32) -> Result<(), Box<croq_failure>> {
        let bytes = job.launch.shared_bytes;
        let out_of_memory = |what: &str| {
            let failure = croq_failure::new(CROQ_OUT_OF_MEMORY).with_what(what);
            Box::new(failure.with_values(&[bytes as i64]))
        };
        self.stacks
            .reserve(seats as usize)
            .map_err(|_| out_of_memory("stacks"))?;
        let shared = self
            .arena
            .reserve(bytes)
            .ok_or_else(|| out_of_memory("shared memory"))?;
        let watches = job.launch.flags & CROQ_LAUNCH_ASYNC != 0;
        let marks = match watches {
            true => self.marks.reserve(bytes),
            false => Some(std::ptr::null_mut()),
        };
        let marks = marks.ok_or_else(|| out_of_memory("marks of shared memory"))?;
        let writers = match job.launch.flags & CROQ_LAUNCH_PROXIES {
            0 => Some(std::ptr::null_mut()),
            _ => self.writers.reserve(bytes.div_ceil(GRANULE as u64) * 8),
        };
        let writers = writers
            .ok_or_else(|| out_of_memory("writers of shared memory"))?
            .cast::<u64>();
        let residents: *mut Residents = &mut *self.residents;
        // SAFETY: reserved just now, and kept until the next `prepare`.
        unsafe {
            self.residents
                .asynchronous
                .watch(watches, shared, marks, writers, bytes, job.seed());
        }
        self.seats.clear();
        self.seats.extend((0..seats).map(|tid| Seat {
            thread: croq_sim_thread {
                tid,
                block: [0; 3],
                grid: job.launch.grid,
                threads: job.launch.threads,
                shared,
                shared_bytes: bytes,
                marks,
                writers,
                fences: 0,
                runtime: std::ptr::null_mut(),
            },
            residents,
            yielder: std::ptr::null(),
            run: job.run.map_or(std::ptr::null(), std::ptr::from_ref),
        }));
        for seat in &mut self.seats {
            seat.thread.runtime = std::ptr::from_mut(seat).cast::<c_void>();
        }
        Ok(())
    }

    /// Gives up whatever is still suspended, without unwinding it.
    pub(super) fn abandon(&mut self) {
        for coroutine in &mut self.coroutines {
            if coroutine.started() && !coroutine.done() {
                // SAFETY: on its stack are device text, which has no destructors, and this
                // module's own frames, which own nothing at a suspension.
                unsafe { coroutine.force_reset() }
            }
        }
        self.coroutines.clear();
    }
}
