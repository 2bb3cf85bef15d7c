//! Streams: the order of work on a GPU.

use std::ffi::c_void;
use std::fmt;
use std::ptr;
use std::sync::Arc;

use crate::cuda::RawStream;
use crate::device::{Device, Kind};
use crate::error::Result;

/// A queue of work on one device: what a `stream` parameter of a kernel takes. Clones are the same
/// queue.
///
/// A call waits for its work also when it is given a stream. On the simulated GPU, where everything
/// is done when it is asked for, a stream only belongs to its device.
#[derive(Clone)]
pub struct Stream(Arc<Inner>);

struct Inner {
    device: Device,
    raw: RawStream,
}

impl Stream {
    /// A new queue.
    ///
    /// # Errors
    ///
    /// What the device failed with.
    pub fn new(device: &Device) -> Result<Self> {
        device.healthy()?;
        let raw = match device.kind() {
            Kind::Cuda(gpu) => {
                gpu.select()?;
                gpu.runtime.create_stream()?
            }
            _ => RawStream(ptr::null_mut()),
        };
        Ok(Self(Arc::new(Inner {
            device: device.clone(),
            raw,
        })))
    }

    /// The device whose work this orders.
    pub fn device(&self) -> &Device {
        &self.0.device
    }

    /// Waits until the queue is empty.
    ///
    /// # Errors
    ///
    /// What the work failed with.
    pub fn synchronize(&self) -> Result<()> {
        let device = self.device();
        device.healthy()?;
        match device.kind() {
            Kind::Cuda(gpu) => {
                gpu.select()?;
                gpu.runtime
                    .synchronize(self.0.raw)
                    .map_err(|e| device.poison(e))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn raw(&self) -> RawStream {
        self.0.raw
    }

    pub(crate) fn handle(&self) -> *mut c_void {
        self.0.raw.0
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Kind::Cuda(gpu) = self.device.kind()
            && self.device.healthy().is_ok()
            && gpu.select().is_ok()
        {
            // SAFETY: this was the last owner; CUDA itself lets queued work finish.
            unsafe { gpu.runtime.destroy_stream(self.raw) };
        }
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stream on {}", self.device())
    }
}
