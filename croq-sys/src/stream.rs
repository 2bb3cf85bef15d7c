//! Streams: the order of work on a GPU.

use std::any::Any;
use std::ffi::c_void;
use std::fmt;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use crate::cuda::RawStream;
use crate::device::{Device, Kind};
use crate::error::{Error, Result};
use crate::event::Event;
use crate::last_use::EndOfWork;
use crate::memory::Owner;
use crate::recorder::Recorder;

/// `cudaStreamLegacy`: CUDA's default stream by its own handle.
const LEGACY: usize = 1;

/// A queue of work on one device. Clones are the same queue.
///
/// The `_on` form of a kernel (`scale_on(&stream, …)`) only enqueues: it returns before the kernel
/// has run. The program needs no further synchronisation: a tensor that is in use on a stream can
/// be read, passed to another kernel or dropped at any time. A copy to the host waits for that work,
/// a kernel on another stream begins after it without a wait here, and the memory is freed after the
/// work that uses it. A failure is returned by the next wait, or by a call before it that notices it.
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
    /// What keeps a stream alive that this crate has not created.
    owner: Option<Owner>,
    /// The graph for which work is recorded.
    recorder: Option<Recorder>,
}

// A panic leaves it as usable as before: an owner is only dropped, and a recording fails.
impl std::panic::UnwindSafe for Inner {}
impl std::panic::RefUnwindSafe for Inner {}

/// Distinguishes streams, destroyed ones included: CUDA reuses the address of a destroyed stream.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct StreamId(u64);

impl StreamId {
    /// The device's own stream.
    pub(crate) const OWN: Self = Self(0);

    pub(crate) fn fresh() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
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
        Ok(Self::of(device, raw, None, None))
    }

    /// A queue whose work is recorded for a graph.
    pub(crate) fn recording(device: &Device) -> Result<Self> {
        device.healthy()?;
        let raw = match device.kind() {
            Kind::Cuda(gpu) => {
                device.select(gpu)?;
                device.check(gpu.runtime.create_stream())?
            }
            _ => RawStream(ptr::null_mut()),
        };
        let stream = Self::of(device, raw, None, Some(Recorder::default()));
        if let Kind::Cuda(gpu) = device.kind() {
            device.check(gpu.runtime.begin_graph(raw))?;
        }
        Ok(stream)
    }

    pub(crate) fn recorder(&self) -> Option<&Recorder> {
        self.0.recorder.as_ref()
    }

    /// An error if work on the queue is not executed but recorded.
    pub(crate) fn executes(&self, operation: &'static str) -> Result<()> {
        match self.0.recorder {
            None => Ok(()),
            Some(_) => Err(Error::Capture {
                reason: format!("`{operation}` cannot be a part of a graph"),
                help: "only `…_on` calls are recorded; use another stream here",
            }),
        }
    }

    /// A stream of another library: a `cudaStream_t`, or null for CUDA's default stream. It is not
    /// destroyed: `owner` is dropped with the last clone of the result. It is what keeps the stream,
    /// or `()` if that needs nothing. On the simulated GPU `raw` has no meaning.
    ///
    /// Calls of kernels are in order with the stream's other work; tensors that such work uses are
    /// passed to it with [`with_device_ptr`](crate::DeviceTensor::with_device_ptr).
    ///
    /// # Errors
    ///
    /// The failure of the device.
    ///
    /// # Safety
    ///
    /// `raw` is a stream of `device`, which is not destroyed before `owner` is dropped, and captures
    /// no graph while it is used here.
    ///
    /// ```
    /// use croq_sys::{Device, Stream};
    ///
    /// let device = Device::sim();
    /// // SAFETY: the simulated GPU does not use the address.
    /// let stream = unsafe { Stream::from_raw(std::ptr::null_mut(), &device, ())? };
    /// assert!(stream.as_raw().is_null());
    /// # Ok::<(), croq_sys::Error>(())
    /// ```
    pub unsafe fn from_raw(
        raw: *mut c_void,
        device: &Device,
        owner: impl Any + Send + Sync,
    ) -> Result<Self> {
        device.healthy()?;
        let raw = match device.kind() {
            // To launches null is the device's own stream, which is not ordered with the default one.
            Kind::Cuda(_) if raw.is_null() => ptr::without_provenance_mut(LEGACY),
            Kind::Cuda(_) => raw,
            _ => ptr::null_mut(),
        };
        Ok(Self::of(
            device,
            RawStream(raw),
            Some(Box::new(owner)),
            None,
        ))
    }

    fn of(
        device: &Device,
        raw: RawStream,
        owner: Option<Owner>,
        recorder: Option<Recorder>,
    ) -> Self {
        let stream = Self(Arc::new(Inner {
            device: device.clone(),
            raw,
            id: StreamId::fresh(),
            owner,
            recorder,
        }));
        // What is only recorded must not be waited for.
        if let (Kind::Cuda(gpu), None) = (device.kind(), &stream.0.recorder) {
            gpu.remember(stream.downgrade());
        }
        stream
    }

    /// The `cudaStream_t`, which lives as long as the clones of this; null on the simulated GPU.
    /// Tensors are not ordered with work that other libraries put there, except in
    /// [`with_device_ptr`](crate::DeviceTensor::with_device_ptr).
    pub fn as_raw(&self) -> *mut c_void {
        self.0.raw.0
    }

    /// The device of the queue.
    ///
    /// ```
    /// use croq_sys::{Device, Stream};
    ///
    /// let stream = Stream::new(&Device::sim())?;
    /// assert_eq!(stream.device(), &Device::sim());
    /// # Ok::<(), croq_sys::Error>(())
    /// ```
    pub fn device(&self) -> &Device {
        &self.0.device
    }

    /// Whether the queue is empty, without waiting.
    ///
    /// # Errors
    ///
    /// [`Error::Capture`] if the stream is that of a [`Graph`](crate::Graph)'s closure, or the failure of
    /// the device.
    ///
    /// ```
    /// use croq_sys::{Device, Stream};
    ///
    /// let stream = Stream::new(&Device::default())?;
    /// while !stream.query()? {
    ///     // … other work of the program …
    /// }
    /// # Ok::<(), croq_sys::Error>(())
    /// ```
    pub fn query(&self) -> Result<bool> {
        self.executes("query")?;
        let device = self.device();
        device.healthy()?;
        match device.kind() {
            Kind::Cuda(gpu) => {
                device.select(gpu)?;
                device.check(gpu.runtime.is_idle(self.0.raw))
            }
            _ => Ok(true),
        }
    }

    /// The point after all work that is on the stream now.
    ///
    /// # Errors
    ///
    /// [`Error::Capture`] if the stream is that of a [`Graph`](crate::Graph)'s closure, or the failure of
    /// the device.
    ///
    /// ```
    /// use croq_sys::{Device, Stream};
    ///
    /// let device = Device::default();
    /// let (first, second) = (Stream::new(&device)?, Stream::new(&device)?);
    /// // … kernels on `first` …
    /// second.wait_for(&first.record()?)?;
    /// // … kernels on `second` that begin after these …
    /// second.synchronize()?;
    /// # Ok::<(), croq_sys::Error>(())
    /// ```
    pub fn record(&self) -> Result<Event> {
        self.executes("record")?;
        Event::record(self)
    }

    /// Orders later work on this stream after `event`, without waiting. The event may be of another
    /// device: only the simulated GPU waits for one of a GPU here, because it has no queues.
    ///
    /// # Errors
    ///
    /// [`Error::Capture`] if the stream is that of a [`Graph`](crate::Graph)'s closure, or the failure of
    /// one of the devices.
    pub fn wait_for(&self, event: &Event) -> Result<()> {
        self.executes("wait_for")?;
        self.device().healthy()?;
        match (self.device().kind(), event.end()) {
            (Kind::Cuda(_), Some(end)) => {
                event.device().healthy()?;
                end.comes_before(self.device(), self.0.raw)
            }
            _ => event.synchronize(),
        }
    }

    /// Waits until the queue is empty. Tensors need no such wait: access to their elements waits for the
    /// work that uses them.
    ///
    /// # Errors
    ///
    /// [`Error::Capture`] if the stream is that of a [`Graph`](crate::Graph)'s closure, or the failure of
    /// the work.
    pub fn synchronize(&self) -> Result<()> {
        self.executes("synchronize")?;
        let device = self.device();
        device.healthy()?;
        match device.kind() {
            Kind::Cuda(gpu) => {
                device.wait_for_raw(gpu, self.0.raw)?;
                gpu.records.of_stream(self.0.id)
            }
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

    /// The argument for a kernel.
    pub(crate) fn handle(&self) -> *mut c_void {
        match self.device().kind() {
            Kind::Cuda(_) => self.0.raw.0,
            _ => ptr::null_mut(),
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Kind::Cuda(gpu) = self.device.kind()
            && self.device.healthy().is_ok()
            && self.device.select(gpu).is_ok()
        {
            // Queued work continues, and `Device::synchronize` waits for it.
            if let Ok(end) = EndOfWork::of_raw(&self.device, gpu, (self.id, self.raw)) {
                gpu.stream_ends(end);
            }
            if self.owner.is_none() {
                // SAFETY: this was the last owner; CUDA itself completes queued work.
                unsafe { gpu.runtime.destroy_stream(self.raw) };
            }
        }
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stream on {}", self.device())
    }
}
