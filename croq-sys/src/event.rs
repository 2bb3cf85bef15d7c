//! Events: points in the work of a stream.

use std::ffi::c_void;
use std::fmt;
use std::ptr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::device::{Device, Kind};
use crate::error::Result;
use crate::last_use::EndOfWork;
use crate::stream::Stream;

/// The point after all work that was on a [`Stream`] when it was [recorded](Stream::record). Clones
/// are the same point. An event keeps neither its stream nor any tensor.
///
/// Tensors need no events: work on them is in order on all streams. Events are for other work of the
/// program, such as that of other libraries, and for times.
///
/// ```
/// use croq_sys::{Device, DeviceTensor, Stream, Tensor};
///
/// let device = Device::default();
/// let (first, second) = (Stream::new(&device)?, Stream::new(&device)?);
/// let start = first.record()?;
/// // … kernels on `first` …
/// let end = first.record()?;
/// second.wait_for(&end)?;
/// // … work on `second` that begins after them …
/// let time: std::time::Duration = start.elapsed(&end)?;
/// assert!(end.query()?);
/// # let _ = time;
/// # Ok::<(), croq_sys::Error>(())
/// ```
#[derive(Clone)]
pub struct Event(Arc<Inner>);

struct Inner {
    device: Device,
    /// When it was recorded; on the simulated GPU work was complete then.
    recorded: Instant,
    end: Option<EndOfWork>,
}

impl Event {
    pub(crate) fn record(stream: &Stream) -> Result<Self> {
        let device = stream.device();
        device.healthy()?;
        let end = match device.kind() {
            Kind::Cuda(gpu) => Some(EndOfWork::timed(gpu, stream)?),
            _ => None,
        };
        Ok(Self(Arc::new(Inner {
            device: device.clone(),
            recorded: Instant::now(),
            end,
        })))
    }

    /// The device of the stream.
    ///
    /// ```
    /// use croq_sys::{Device, Stream};
    ///
    /// let event = Stream::new(&Device::sim())?.record()?;
    /// assert_eq!(event.device(), &Device::sim());
    /// assert!(event.query()?, "on the simulated GPU work is complete when a call returns");
    /// # Ok::<(), croq_sys::Error>(())
    /// ```
    pub fn device(&self) -> &Device {
        &self.0.device
    }

    /// Whether the work is complete, without waiting.
    ///
    /// # Errors
    ///
    /// The failure of the device.
    pub fn query(&self) -> Result<bool> {
        self.device().healthy()?;
        self.0.end.as_ref().map_or(Ok(true), EndOfWork::query)
    }

    /// Waits for the work.
    ///
    /// # Errors
    ///
    /// The failure of the work.
    pub fn synchronize(&self) -> Result<()> {
        self.device().healthy()?;
        self.0.end.as_ref().map_or(Ok(()), EndOfWork::wait)
    }

    /// The time from this event to `end`, after waiting for both: on a GPU that of the GPU, to about
    /// a microsecond, on the simulated GPU that of the calls. Zero if `end` was before.
    ///
    /// ```
    /// use croq_sys::{Device, Stream};
    ///
    /// let stream = Stream::new(&Device::default())?;
    /// let start = stream.record()?;
    /// // … kernels on `stream` …
    /// let time = start.elapsed(&stream.record()?)?;
    /// println!("{time:?}");
    /// # Ok::<(), croq_sys::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::WrongDevice`](crate::Error::WrongDevice) if `end` is of another device, or the
    /// failure of the work.
    pub fn elapsed(&self, end: &Event) -> Result<Duration> {
        self.device().expect("elapsed", "end", end.device())?;
        self.synchronize()?;
        end.synchronize()?;
        let (Kind::Cuda(gpu), Some(from), Some(to)) =
            (self.device().kind(), &self.0.end, &end.0.end)
        else {
            return Ok(end.0.recorded.saturating_duration_since(self.0.recorded));
        };
        self.device().select(gpu)?;
        // SAFETY: both were recorded with a time, and live as long as the events.
        let elapsed = unsafe { gpu.runtime.elapsed(from.raw(), to.raw()) };
        let milliseconds = self.device().check(elapsed)?;
        Ok(Duration::from_secs_f32(milliseconds.max(0.0) / 1e3))
    }

    /// The `cudaEvent_t`, which the event destroys; null on the simulated GPU.
    pub fn as_raw(&self) -> *mut c_void {
        let end = self.0.end.as_ref();
        end.map_or(ptr::null_mut(), |end| end.raw().0)
    }

    pub(crate) fn end(&self) -> Option<&EndOfWork> {
        self.0.end.as_ref()
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Event on {}", self.device())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn on_the_simulated_gpu_work_is_complete() {
        let stream = Stream::new(&Device::sim()).unwrap();
        let start = stream.record().unwrap();
        std::thread::sleep(Duration::from_millis(2));
        let end = stream.record().unwrap();
        assert!(start.query().unwrap() && stream.query().unwrap());
        assert!(start.elapsed(&end).unwrap() >= Duration::from_millis(2));
        assert_eq!(end.elapsed(&start).unwrap(), Duration::ZERO);
        assert!(start.as_raw().is_null());
        stream.wait_for(&end).unwrap();
    }
}
