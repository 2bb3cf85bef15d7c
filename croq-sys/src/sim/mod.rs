//! The simulated GPU: runs the device code of a kernel, compiled by the host's C++ compiler.
//!
//! The blocks of a launch run in parallel on the calling thread and on OS threads of the simulated
//! GPU ([`pool`]), each block on one OS thread from beginning to end, and the blocks of a cluster,
//! or all of a cooperative grid, on the same one. In a kernel whose threads wait for each other
//! every thread is a coroutine ([`block`]); in any other the C++ side runs them in a plain loop
//! ([`sweep`]).
//!
//! Nothing unwinds through C++. A thread that fails is suspended permanently, its block is
//! abandoned, and the contents of the coroutines' stacks are discarded: device code has no
//! destructors. The next launch begins with a clean state.
//!
//! # How a failure is reported
//!
//! `launch` returns the kind of the failure, and writes the record to `failure` (a shim passes
//! `env.failure` and returns the kind). If several blocks fail, the one with the lowest index is
//! reported, and in it the thread that failed first, so a failure is the same in every run. The
//! text of a deadlock does not fit a record: the [`Run`] whose [`Run::as_ptr`] was `env.device`
//! keeps it. A caller creates one `Run` per call of a shim:
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
mod pages;
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

/// The table for `env.sim`.
pub fn api() -> &'static croq_sim_api {
    &callbacks::API
}

/// The results of one call of a shim besides its failure record; `env.device` points to it.
///
/// It must outlive the call. Concurrent calls need one each.
#[derive(Debug, Default)]
pub struct Run {
    // Boxed, so that moving a `Run` does not change the address that C++ has.
    state: Box<RunState>,
}

/// Limits each launch to `most` OS threads, the calling thread included. The environment variable
/// `CROQ_SIM_THREADS` sets the same limit; the default is the number of processors.
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
    /// Failures after which the launch continued.
    reported: reported::Reported,
    /// The destination of `print`, if it is not standard output.
    output: Option<Mutex<Vec<u8>>>,
    /// Text that helpers have printed, to be written by the calling thread, which may hold the lock
    /// of standard output.
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

    /// With its own seed instead of the process's, `CROQ_SIM_SEED`.
    ///
    /// With 0, asynchronous operations are executed as late as the memory model allows, so that a
    /// missing wait is detected. Any other number selects random points from their issue on, so
    /// that a reuse of memory too early is detected; the same number gives the same points.
    pub fn seeded(seed: u64) -> Self {
        Self {
            state: Box::new(RunState {
                seed,
                ..RunState::default()
            }),
        }
    }

    /// With its own number of steps for the loops of a block instead of the process's,
    /// `CROQ_SIM_STEPS`.
    pub fn with_steps(mut self, steps: u64) -> Self {
        self.state.steps = steps;
        self
    }

    /// Keeps the text that the kernels print, for [`Run::output`].
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

    /// The text about the last failed launch that does not fit its record: the positions of the
    /// threads of a deadlock.
    pub fn report(&self) -> Option<String> {
        self.state
            .report
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// The first failure after which the launches continued (`Checks::Report`).
    pub fn reported(&self) -> Option<croq_failure> {
        self.state.reported.first()
    }

    /// The text that the kernels printed; empty unless this is a [`Run::capturing`].
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
    /// `device` is null or from [`Run::as_ptr`] of a `Run` that lives as long as the result is
    /// used.
    unsafe fn from_device<'a>(device: *mut c_void) -> Option<&'a RunState> {
        // SAFETY: the caller's promise; all mutation is behind a mutex.
        unsafe { device.cast::<RunState>().as_ref() }
    }

    fn set_report(&self, report: Option<String>) {
        *self.report.lock().unwrap_or_else(PoisonError::into_inner) = report;
    }

    /// Output that cannot be written is lost, as on a GPU.
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

    /// Writes the text that helpers have printed; called by the thread that launched.
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
