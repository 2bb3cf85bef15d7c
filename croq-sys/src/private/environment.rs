//! The environment of a shim: where it allocates, and where failures go.

use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use crate::abi::{
    CROQ_ABI_VERSION, CROQ_MODE_RECORD, CROQ_MODE_REPLAY, CROQ_MODE_RUN, croq_env, croq_failure,
};
use crate::cuda::RawStream;
use crate::device::{Device, Kind};
use crate::error::{Error, Result};
use crate::memory::Memory;
use crate::recorder::Kept;

use super::used::{Origin, Used};

/// What a call does with its launches.
#[derive(Clone, Copy)]
pub(super) enum Mode<'a> {
    Run,
    /// They become a part of a graph.
    Record,
    /// They are executed again, with the memory that was allocated when they were recorded, of which
    /// each has its place.
    Replay(&'a [(Arc<Kept>, bool)], &'a Cell<usize>),
}

impl Mode<'_> {
    fn number(self) -> u32 {
        match self {
            Self::Run => CROQ_MODE_RUN,
            Self::Record => CROQ_MODE_RECORD,
            Self::Replay(..) => CROQ_MODE_REPLAY,
        }
    }
}

/// The environment of a shim; the C part is first, so that callbacks can access the rest through
/// its address.
#[repr(C)]
pub(super) struct Env<'a> {
    pub(super) abi: croq_env,
    device: &'a Device,
    buffers: &'a RefCell<Vec<Used>>,
    mode: Mode<'a>,
    /// The reason why the last allocation failed.
    refused: Cell<Option<Error>>,
}

impl<'a> Env<'a> {
    pub(super) fn new(
        (device, buffers): (&'a Device, &'a RefCell<Vec<Used>>),
        mode: Mode<'a>,
        failure: *mut croq_failure,
        on_device: *mut croq_failure,
    ) -> Self {
        let abi = croq_env {
            abi_version: CROQ_ABI_VERSION,
            device: ptr::null_mut(),
            stream: ptr::null_mut(),
            sim: ptr::null(),
            failure,
            device_failure: on_device,
            alloc: Some(alloc),
            steps: crate::sim::steps_of_process(),
            wait_limit: crate::cuda::wait_limit(),
            mode: mode.number(),
        };
        Self {
            abi,
            device,
            buffers,
            mode,
            refused: Cell::new(None),
        }
    }

    /// Memory for the kernel, with zeros if it needs them; otherwise the next launch that uses it
    /// writes all of its bytes.
    fn allocate(&self, bytes: usize, zero: bool) -> Result<*mut c_void> {
        let stream = match self.device.kind() {
            Kind::Cuda(_) => Some(RawStream(self.abi.stream)),
            _ => None,
        };
        let memory = match self.mode {
            Mode::Replay(allocated, next) => return Self::allocated(allocated, next, bytes, zero),
            Mode::Run if zero => Memory::zeroed_on(self.device, bytes, stream)?,
            Mode::Run => Memory::unwritten_on(self.device, bytes, stream)?,
            // Not a part of the graph, so that it lives as long as its tensor.
            Mode::Record => {
                let memory = Memory::zeroed(self.device, bytes)?;
                if let (Kind::Cuda(gpu), Some(stream), true) = (self.device.kind(), stream, zero) {
                    memory.clear_unordered(gpu, stream)?;
                }
                memory
            }
        };
        let used = Used {
            memory: Arc::new(memory),
            offset: 0,
            written: true,
            origin: Origin::Kernel(zero),
        };
        let address = used.address();
        self.buffers.borrow_mut().push(used);
        Ok(address)
    }

    /// The memory that the recorded call has allocated here.
    fn allocated(
        allocated: &[(Arc<Kept>, bool)],
        next: &Cell<usize>,
        bytes: usize,
        zero: bool,
    ) -> Result<*mut c_void> {
        let place = allocated.get(next.replace(next.get() + 1));
        // Host code has the same arguments each time.
        let (memory, _) = place
            .filter(|(memory, cleared)| memory.bytes() == bytes && *cleared == zero)
            .ok_or(Error::Capture {
                reason: "a call allocates other memory than when it was recorded".to_owned(),
                help: "its own C++ code on the host must do the same in each call",
            })?;
        memory.renew(zero);
        Ok(memory.address())
    }

    /// The reason why an allocation failed.
    pub(super) fn refused(&self) -> Option<Error> {
        self.refused.take()
    }
}

/// # Safety
///
/// `env` is the one that [`Call::run`](super::Call::run) passed, on the same thread.
unsafe extern "C" fn alloc(env: *const croq_env, bytes: u64, zero: u32) -> *mut c_void {
    // SAFETY: the shims are called with the first field of a live `Env`, by an address of all of
    // it.
    let env = unsafe { &*env.cast::<Env<'_>>() };
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    match env.allocate(bytes, zero != 0) {
        Ok(address) => address,
        Err(reason) => {
            env.refused.set(Some(reason));
            ptr::null_mut()
        }
    }
}
