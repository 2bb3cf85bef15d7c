//! Functions that are called after work on a stream, without a thread that waits for it.
//!
//! CUDA calls back on a thread of its own, which must not call CUDA, and which delays the stream.
//! So the callback only hands the function to one thread of this process.

use std::ffi::{c_int, c_void};
use std::sync::OnceLock;
use std::sync::mpsc::{self, Sender};

use crate::cuda::RawStream;
use crate::device::{Device, Gpu};
use crate::error::Result;

/// Any function, to be called once.
pub(crate) type Job = Box<dyn FnOnce() + Send>;

/// The thread that calls the functions; `None` if the system has no thread left.
fn jobs() -> Option<&'static Sender<Job>> {
    static JOBS: OnceLock<Option<Sender<Job>>> = OnceLock::new();
    let start = || {
        let (sender, receiver) = mpsc::channel::<Job>();
        let thread = std::thread::Builder::new().name("croq after".to_owned());
        let spawned = thread.spawn(move || {
            for job in receiver {
                // Its message was printed. Others are still to be called.
                let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(job));
            }
        });
        spawned.ok().map(|_| sender)
    };
    JOBS.get_or_init(start).as_ref()
}

/// Calls `job` on another thread after all work that is now on `stream`, also if that fails. The
/// job is given back if that is not possible.
pub(crate) fn call_after(
    device: &Device,
    gpu: &Gpu,
    stream: RawStream,
    job: Job,
) -> std::result::Result<(), Job> {
    let Some(_) = jobs() else { return Err(job) };
    let data = Box::into_raw(Box::new(job));
    let add = || -> Result<()> {
        device.select(gpu)?;
        // SAFETY: `run` takes this address, once, and what it owns may be sent to any thread.
        let added = unsafe { gpu.runtime.call_after(stream, run, data.cast()) };
        device.check(added)
    };
    // SAFETY: CUDA has refused the address, so it still belongs to this function.
    add().map_err(|_| *unsafe { Box::from_raw(data) })
}

/// # Safety
///
/// `data` is an address of [`call_after`], which is passed once.
unsafe extern "C" fn run(_: *mut c_void, _: c_int, data: *mut c_void) {
    // SAFETY: as the caller promises.
    let job = unsafe { Box::from_raw(data.cast::<Job>()) };
    if let Some(jobs) = jobs() {
        // The thread never ends.
        let _ = jobs.send(*job);
    }
}
