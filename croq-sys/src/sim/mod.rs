//! The simulated GPU: runs the device text that the host's C++ compiler made of a kernel.
//!
//! A launch's blocks run in parallel on the calling thread and on OS threads of the simulated GPU's own ([`pool`]), each
//! block on one OS thread for its whole
//! life, and the blocks of a cluster, or all of a cooperative grid, on the same one. In a kernel whose threads wait for each other
//! every thread is a coroutine ([`block`]); in any other the C++ side runs them in a plain loop
//! ([`sweep`]).
//!
//! Nothing unwinds through C++. A thread that fails is suspended for good, its block is given up
//! with it, and what stood on the coroutines' stacks is forgotten: device text has no destructors.
//! The next launch finds everything as if nothing had happened.
//!
//! # How a failure is read
//!
//! `launch` returns its kind, and writes the record to the `failure` that it was given (a shim
//! passes `env.failure` and returns the kind in turn). Of several failing blocks the one with the
//! lowest index counts, and in it the thread that failed first, so a failure is the same on every
//! run. The text of a deadlock doesn't fit a record: it is kept by the [`Run`] whose
//! [`Run::as_ptr`] was `env.device`. A caller makes one `Run` per call of a shim:
//!
//! ```
//! use croq_sys::sim::Run;
//!
//! let run = Run::new();
//! // env.device = run.as_ptr(); env.sim = croq_sys::sim::api(); … call the shim …
//! assert_eq!(run.report(), None);
//! ```

mod arena;
mod asynchronous;
pub mod banks;
mod barriers;
mod block;
mod bulk;
mod callbacks;
mod clocks;
mod cluster;
mod copies;
mod device;
mod events;
mod hazard;
mod launch;
mod marks;
mod matrices;
mod mbarriers;
mod missing_arrivals;
mod need;
mod order;
mod pool;
mod proxies;
mod report;
mod reported;
mod settings;
mod spinning;
mod stacks;
mod steps;
mod sweep;
mod tensor;
#[cfg(test)]
mod tests;
mod wgmma;
mod worker;

use std::ffi::c_void;
use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::abi::{croq_failure, croq_sim_api};

/// The table that a shim finds in `env.sim`.
pub fn api() -> &'static croq_sim_api {
    &callbacks::API
}

/// What one call of a shim leaves besides its failure record; `env.device` points to it.
///
/// It must outlive the call. Calls that run at the same time have one each.
#[derive(Debug, Default)]
pub struct Run {
    // In a box, so that moving a `Run` doesn't move what C++ holds the address of.
    state: Box<RunState>,
}

/// From now on no launch uses more than `most` OS threads, of which the calling thread is one. The environment variable
/// `CROQ_SIM_THREADS` sets it from outside; by default it is the number of processors.
pub fn limit_threads(most: usize) {
    settings::limit_threads(most);
}

/// `CROQ_SIM_STEPS`, for the loops of the host.
pub(crate) fn steps_of_process() -> u64 {
    settings::steps()
}

#[derive(Debug)]
struct RunState {
    seed: u64,
    steps: u64,
    report: Mutex<Option<String>>,
    /// Failures after which the launch went on.
    reported: reported::Reported,
    /// Where `print` goes when not to standard output.
    output: Option<Mutex<Vec<u8>>>,
    /// What helpers have printed, for the calling thread to write: it may hold the lock of standard output.
    printed: Mutex<Vec<u8>>,
}

impl Default for RunState {
    fn default() -> Self {
        Self {
            seed: settings::seed(),
            steps: settings::steps(),
            report: Mutex::default(),
            reported: reported::Reported::default(),
            output: None,
            printed: Mutex::default(),
        }
    }
}

impl Run {
    pub fn new() -> Self {
        Self::default()
    }

    /// With a seed of its own instead of the process's, `CROQ_SIM_SEED`.
    ///
    /// With 0 whatever is asynchronous happens as late as the memory model allows, so that a missing
    /// wait shows. Any other number places it at random points from its issue on, so that a reuse too
    /// soon shows; the same number gives the same points.
    pub fn seeded(seed: u64) -> Self {
        Self {
            state: Box::new(RunState {
                seed,
                ..RunState::default()
            }),
        }
    }

    /// With so many steps for the loops of a block instead of the process's, `CROQ_SIM_STEPS`.
    pub fn with_steps(mut self, steps: u64) -> Self {
        self.state.steps = steps;
        self
    }

    /// Keeps what the kernels print, for [`Run::output`].
    pub fn capturing() -> Self {
        Self {
            state: Box::new(RunState {
                output: Some(Mutex::default()),
                ..RunState::default()
            }),
        }
    }

    /// The value of `env.device`.
    pub fn as_ptr(&self) -> *mut c_void {
        std::ptr::from_ref(&*self.state).cast_mut().cast()
    }

    /// What the last failed launch has to say beyond its record: which threads of a deadlock wait
    /// where.
    pub fn report(&self) -> Option<String> {
        self.state
            .report
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// The first failure after which the launches went on (`Checks::Report`).
    pub fn reported(&self) -> Option<croq_failure> {
        self.state.reported.first()
    }

    /// What the kernels printed; empty unless this is a [`Run::capturing`].
    pub fn output(&self) -> String {
        let bytes = self.state.output.as_ref().map(|output| {
            output
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone()
        });
        String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned()
    }
}

impl RunState {
    /// # Safety
    /// `device` is null or from [`Run::as_ptr`] of a `Run` that lives as long as the result is used.
    unsafe fn from_device<'a>(device: *mut c_void) -> Option<&'a RunState> {
        // SAFETY: the caller's promise; all mutation is behind a mutex.
        unsafe { device.cast::<RunState>().as_ref() }
    }

    fn set_report(&self, report: Option<String>) {
        *self.report.lock().unwrap_or_else(PoisonError::into_inner) = report;
    }

    /// Output that can't be written is lost, as on a GPU.
    fn print(run: Option<&RunState>, text: &[u8]) {
        let kept = run.and_then(|run| match &run.output {
            Some(output) => Some(output),
            None => pool::is_helper().then_some(&run.printed),
        });
        match kept {
            Some(kept) => locked(kept).extend_from_slice(text),
            None => drop(std::io::stdout().lock().write_all(text)),
        }
    }

    /// Writes what helpers have printed; called by the thread that launched.
    fn write_printed(&self) {
        let printed = std::mem::take(&mut *locked(&self.printed));
        if !printed.is_empty() {
            drop(std::io::stdout().lock().write_all(&printed));
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
