//! Streams: the order of work on a GPU.

use std::ffi::c_void;
use std::fmt;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use crate::cuda::RawStream;
use crate::device::{Device, Kind};
use crate::error::Result;
use crate::last_use::EndOfWork;

/// A queue of work on one device. Clones are the same queue.
///
/// The `_on` form of a kernel (`scale_on(&stream, …)`) only enqueues: it returns before the kernel
/// has run. The program needs no further synchronisation: a tensor that is in use on a stream can
/// be read, passed to another kernel or dropped at any time, because every use waits for it first,
/// and its memory is freed after the work that uses it. A failure is returned by the next wait.
///
/// A `stream` parameter of a kernel takes one, too: the kernel itself determines its launches
/// there, and its call waits for all of them. On the simulated GPU, where every operation is
/// complete when it returns, a stream only identifies its device.
#[derive(Clone)]
pub struct Stream(Arc<Inner>);

/// A stream that may have been dropped.
pub(crate) struct WeakStream(Weak<Inner>);

impl WeakStream {
    pub(crate) fn upgrade(&self) -> Option<Stream> {
        self.0.upgrade().map(Stream)
    }
}

impl PartialEq for Stream {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Stream {}

struct Inner {
    device: Device,
    raw: RawStream,
    id: StreamId,
}

/// Distinguishes streams, destroyed ones included: CUDA reuses the address of a destroyed stream.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct StreamId(u64);

impl StreamId {
    fn fresh() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

impl Stream {
    /// A new queue.
    ///
    /// # Errors
    ///
    /// The failure of the device.
    pub fn new(device: &Device) -> Result<Self> {
        device.healthy()?;
        let raw = match device.kind() {
            Kind::Cuda(gpu) => {
                device.select(gpu)?;
                device.check(gpu.runtime.create_stream())?
            }
            _ => RawStream(ptr::null_mut()),
        };
        let stream = Self(Arc::new(Inner {
            device: device.clone(),
            raw,
            id: StreamId::fresh(),
        }));
        if let Kind::Cuda(gpu) = device.kind() {
            gpu.remember(stream.downgrade());
        }
        Ok(stream)
    }

    /// The device of the queue.
    pub fn device(&self) -> &Device {
        &self.0.device
    }

    /// Waits until the queue is empty.
    ///
    /// # Errors
    ///
    /// The failure of the work.
    pub fn synchronize(&self) -> Result<()> {
        let device = self.device();
        device.healthy()?;
        match device.kind() {
            Kind::Cuda(gpu) => device.synchronize_raw(gpu, self.0.raw),
            _ => Ok(()),
        }
    }

    pub(crate) fn downgrade(&self) -> WeakStream {
        WeakStream(Arc::downgrade(&self.0))
    }

    pub(crate) fn id(&self) -> StreamId {
        self.0.id
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
            && self.device.select(gpu).is_ok()
        {
            // Queued work continues, and `Device::synchronize` waits for it.
            if let Ok(end) = EndOfWork::of_dropped(&self.device, gpu, self.raw) {
                gpu.stream_ends(end);
            }
            // SAFETY: this was the last owner; CUDA itself completes queued work.
            unsafe { gpu.runtime.destroy_stream(self.raw) };
        }
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stream on {}", self.device())
    }
}
