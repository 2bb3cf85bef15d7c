//! The devices that kernels run on: the simulated GPU, or a GPU through CUDA.

use std::ffi::c_int;
use std::fmt;
use std::io::Write as _;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::abi::croq_failure;
use crate::cuda::{self, RawStream, Runtime};
use crate::error::{Error, Result};
use crate::failure_records::{FailureRecords, Work};
use crate::last_use::EndOfWork;
use crate::stream::{Stream, StreamId, WeakStream};

/// A device that kernels run on. Clones are the same device.
///
/// A kernel called with host tensors runs on [`Device::default()`]; one called with
/// [`DeviceTensor`](crate::DeviceTensor)s runs on the device that contains them.
///
/// When a kernel fails on a GPU (a failed check, an illegal access), CUDA invalidates the whole
/// context: the device is *poisoned*, and every later operation on it returns [`Error::Poisoned`]
/// with the first failure inside. The simulated GPU remains usable.
#[derive(Clone)]
pub struct Device(Arc<Inner>);

struct Inner {
    kind: Kind,
    /// The failure that made the device unusable.
    failure: Mutex<Option<Error>>,
}

pub(crate) enum Kind {
    /// With its number.
    Sim(usize),
    Cuda(Gpu),
    /// `CROQ_DEVICE` selects a device that is not available; every use returns the reason.
    Missing,
}

/// One GPU and the resources of this crate on it.
pub(crate) struct Gpu {
    pub(crate) runtime: Runtime,
    pub(crate) index: c_int,
    name: String,
    /// The stream for operations without a stream argument, so that copies, kernels and frees have
    /// one order.
    pub(crate) stream: RawStream,
    /// The stream for freeing memory after work on the program's streams.
    pub(crate) frees: RawStream,
    pub(crate) records: FailureRecords,
    /// The streams that programs made.
    streams: Mutex<Vec<WeakStream>>,
    /// Work on streams that the program has dropped.
    dropped: Mutex<Vec<EndOfWork>>,
    /// The number of events that were recorded.
    recorded: Mutex<u64>,
}

impl Gpu {
    /// Records an event, one at a time: the number is greater than those of all recorded before.
    pub(crate) fn in_order<E>(&self, record: impl FnOnce() -> E) -> (u64, E) {
        let mut recorded = self.recorded.lock().unwrap_or_else(PoisonError::into_inner);
        *recorded += 1;
        (*recorded, record())
    }

    /// The record in which the kernel described at `kernel` stores the failures of this work, as a
    /// device address; `explain` converts one to an error.
    pub(crate) fn record(
        &self,
        kernel: usize,
        work: Work,
        explain: impl Fn(&croq_failure) -> Error + Send + Sync + 'static,
    ) -> Result<*mut croq_failure> {
        let in_use = || self.streams_with_work();
        self.records
            .place((kernel, work), self.runtime, in_use, explain)
    }

    /// The streams on which work may be enqueued, or is not complete.
    pub(crate) fn streams_with_work(&self) -> Vec<StreamId> {
        let mut all: Vec<StreamId> = self.live_streams().iter().map(Stream::id).collect();
        let mut dropped = self.dropped.lock().unwrap_or_else(PoisonError::into_inner);
        dropped.retain(|end| !end.is_over());
        all.extend(dropped.iter().map(EndOfWork::stream_id));
        all
    }

    pub(crate) fn remember(&self, stream: WeakStream) {
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        streams.retain(|known| known.upgrade().is_some());
        streams.push(stream);
    }

    /// The program has dropped a stream with work up to `end`.
    pub(crate) fn stream_ends(&self, end: EndOfWork) {
        let mut dropped = self.dropped.lock().unwrap_or_else(PoisonError::into_inner);
        dropped.push(end);
        dropped.retain(|end| !end.is_over());
    }

    fn work_of_dropped_streams(&self) -> Vec<EndOfWork> {
        std::mem::take(&mut *self.dropped.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn live_streams(&self) -> Vec<Stream> {
        let streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        streams.iter().filter_map(WeakStream::upgrade).collect()
    }
}

impl Device {
    /// The simulated GPU, which every machine has.
    ///
    /// ```
    /// use croq_sys::{Device, Tensor};
    ///
    /// let x = Tensor::from_fn((3,), |[i]| i as f32).to_device(&Device::sim())?;
    /// assert!(x.device().is_sim() && !x.device().is_cuda());
    /// assert_eq!(x.device().name(), "simulated GPU");
    /// # Ok::<(), croq_sys::Error>(())
    /// ```
    pub fn sim() -> Self {
        static SIM: OnceLock<Device> = OnceLock::new();
        SIM.get_or_init(|| Self::of(Kind::Sim(0), None)).clone()
    }

    /// One of any number of simulated GPUs, for programs that use several; number 0 is
    /// [`sim`](Self::sim). Each has its own tensors: a call with those of two is an
    /// [`Error::WrongDevice`], as on GPUs.
    ///
    /// ```
    /// use croq_sys::{Device, Tensor};
    ///
    /// let (first, second) = (Device::sim(), Device::sim_number(1));
    /// assert_ne!(first, second);
    /// let x = Tensor::from_fn((3,), |[i]| i as f32).to_device(&first)?;
    /// let y = x.to_device(&second)?;
    /// assert_eq!((y.device(), y.to_host()?), (&second, x.to_host()?));
    /// # Ok::<(), croq_sys::Error>(())
    /// ```
    pub fn sim_number(index: usize) -> Self {
        static MADE: Mutex<Vec<Device>> = Mutex::new(Vec::new());
        if index == 0 {
            return Self::sim();
        }
        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        let number = |device: &Device| matches!(device.kind(), Kind::Sim(n) if *n == index);
        if let Some(known) = made.iter().find(|device| number(device)) {
            return known.clone();
        }
        let device = Self::of(Kind::Sim(index), None);
        made.push(device.clone());
        device
    }

    /// The GPU that CUDA numbers `index`.
    ///
    /// ```
    /// use croq_sys::{Device, Error};
    ///
    /// let device = match Device::cuda(0) {
    ///     Ok(gpu) => gpu,
    ///     Err(Error::NoGpu { .. } | Error::CudaNotBuilt { .. }) => Device::sim(),
    ///     Err(other) => return Err(other),
    /// };
    /// # let _ = device;
    /// # Ok::<(), croq_sys::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::CudaNotBuilt`] when no kernel of the program was built with CUDA, [`Error::NoGpu`]
    /// when the machine has no such GPU or no driver for it.
    pub fn cuda(index: usize) -> Result<Self> {
        static OPENED: Mutex<Vec<Device>> = Mutex::new(Vec::new());
        let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(device) = opened.iter().find(|d| d.gpu_index() == Some(index)) {
            return Ok(device.clone());
        }
        let device = Self::open(cuda::registered()?, index)?;
        opened.push(device.clone());
        Ok(device)
    }

    pub(crate) fn open(runtime: Runtime, index: usize) -> Result<Self> {
        let missing = |found, reason: String| Error::NoGpu {
            index,
            found,
            reason,
        };
        let count = runtime
            .device_count()
            .map_err(|reason| missing(0, reason))?;
        let number = match c_int::try_from(index) {
            Ok(number) if index < count => number,
            _ => {
                return Err(missing(
                    count,
                    "this machine has no GPU\nhelp: use `Device::sim()`, or `CROQ_DEVICE=sim`"
                        .to_owned(),
                ));
            }
        };
        runtime.select(number)?;
        let gpu = Gpu {
            runtime,
            index: number,
            name: runtime.device_name(number)?,
            stream: runtime.create_stream()?,
            frees: runtime.create_stream()?,
            records: FailureRecords::default(),
            streams: Mutex::default(),
            dropped: Mutex::default(),
            recorded: Mutex::default(),
        };
        Ok(Self::of(Kind::Cuda(gpu), None))
    }

    fn of(kind: Kind, failure: Option<Error>) -> Self {
        Self(Arc::new(Inner {
            kind,
            failure: Mutex::new(failure),
        }))
    }

    pub(crate) fn kind(&self) -> &Kind {
        &self.0.kind
    }

    pub(crate) fn gpu_index(&self) -> Option<usize> {
        match &self.0.kind {
            Kind::Cuda(gpu) => usize::try_from(gpu.index).ok(),
            _ => None,
        }
    }

    /// Whether this is the simulated GPU.
    pub fn is_sim(&self) -> bool {
        matches!(self.0.kind, Kind::Sim(_))
    }

    /// Whether this is a GPU.
    pub fn is_cuda(&self) -> bool {
        matches!(self.0.kind, Kind::Cuda(_))
    }

    /// The device's name.
    pub fn name(&self) -> &str {
        match &self.0.kind {
            Kind::Sim(_) => "simulated GPU",
            Kind::Cuda(gpu) => &gpu.name,
            Kind::Missing => "missing device",
        }
    }

    /// Waits until all operations on the device are complete.
    ///
    /// ```
    /// use croq_sys::Device;
    ///
    /// let device = Device::default();
    /// // … kernels on several streams …
    /// device.synchronize()?;
    /// # Ok::<(), croq_sys::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The failure of the work, and [`Error::Poisoned`] after an earlier failure. Of several failures that
    /// kernels reported before they continued, each call returns one.
    pub fn synchronize(&self) -> Result<()> {
        self.synchronize_own()?;
        let Kind::Cuda(gpu) = &self.0.kind else {
            return Ok(());
        };
        let streams = gpu.live_streams();
        let streams = streams
            .iter()
            .map(|stream| self.wait_for_raw(gpu, stream.raw()));
        let dropped = gpu.work_of_dropped_streams();
        let waits = streams.chain(dropped.iter().map(EndOfWork::wait_only));
        // All of them, whatever the first one returns.
        waits.fold(Ok(()), Result::and)?;
        gpu.records.any()
    }

    /// An error if `found`, the device of an argument, is another one.
    pub(crate) fn expect(
        &self,
        operation: &'static str,
        param: &'static str,
        found: &Self,
    ) -> Result<()> {
        match self == found {
            true => Ok(()),
            false => Err(Error::WrongDevice {
                kernel: operation,
                param,
                expected: self.to_string(),
                found: found.to_string(),
            }),
        }
    }

    /// Waits for work that was enqueued on none of the program's streams.
    pub(crate) fn synchronize_own(&self) -> Result<()> {
        self.healthy()?;
        match &self.0.kind {
            Kind::Cuda(gpu) => self.wait_for_raw(gpu, gpu.stream),
            _ => Ok(()),
        }
    }

    /// Waits for a stream. What its kernels reported remains in their records.
    pub(crate) fn wait_for_raw(&self, gpu: &Gpu, stream: RawStream) -> Result<()> {
        self.select(gpu)?;
        self.check(gpu.runtime.synchronize(stream))
    }

    /// Selects the GPU for this thread's CUDA calls.
    pub(crate) fn select(&self, gpu: &Gpu) -> Result<()> {
        self.check(gpu.runtime.select(gpu.index))
    }

    /// The result of an operation of CUDA's. After a kernel has failed every operation returns an
    /// error, so whichever is the next one finds the kernel's record.
    pub(crate) fn check<T>(&self, result: Result<T>) -> Result<T> {
        result.map_err(|error| self.failed(error))
    }

    /// Makes the device unusable because of CUDA's `error`, unless it is a lack of memory; returns
    /// the reason, if a kernel recorded one.
    pub(crate) fn failed(&self, error: Error) -> Error {
        if cuda::is_out_of_memory(&error) {
            return error;
        }
        let reason = match &self.0.kind {
            Kind::Cuda(gpu) => gpu.records.reason(),
            _ => None,
        };
        self.poison(reason.unwrap_or(error))
    }

    /// An error if the device cannot be used (any more).
    pub(crate) fn healthy(&self) -> Result<()> {
        let failure = self
            .0
            .failure
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        match (&*failure, &self.0.kind) {
            (None, _) => Ok(()),
            (Some(reason), Kind::Missing) => Err(reason.clone()),
            (Some(reason), _) => Err(Error::Poisoned(Box::new(reason.clone()))),
        }
    }

    /// Makes the device unusable because of `failure`, and returns it.
    pub(crate) fn poison(&self, failure: Error) -> Error {
        let mut first = self
            .0
            .failure
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert_with(|| failure.clone());
        failure
    }

    /// The device selected by `CROQ_DEVICE`, or otherwise by the program and the machine; and a
    /// message for the user if it is not the kind of device that the program was built for.
    fn choose(
        wish: Option<&str>,
        has_cuda: bool,
        open: &dyn Fn(usize) -> Result<Self>,
    ) -> (Self, Option<String>) {
        let chosen = match wish.map(str::trim) {
            None | Some("") if !has_cuda => Ok(Self::sim()),
            None | Some("") => match open(0) {
                Ok(gpu) => Ok(gpu),
                Err(reason) => return (Self::sim(), Some(instead_of_a_gpu(&reason))),
            },
            Some("sim") => Ok(Self::sim()),
            Some("cuda") => open(0),
            Some(value) => {
                let number = |kind| value.strip_prefix(kind).and_then(|n| n.parse().ok());
                match (number("cuda:"), number("sim:")) {
                    (Some(index), _) => open(index),
                    (_, Some(index)) => Ok(Self::sim_number(index)),
                    _ => Err(Error::UnknownDevice {
                        value: value.to_owned(),
                    }),
                }
            }
        };
        let device = chosen.unwrap_or_else(|reason| Self::of(Kind::Missing, Some(reason)));
        (device, None)
    }
}

/// The message if a program that was built with CUDA runs without it: the user should know why it
/// is slow.
fn instead_of_a_gpu(reason: &Error) -> String {
    format!(
        "croq: this program was built with CUDA, but its kernels run on the simulated GPU: {reason}\n\
         help: `CROQ_DEVICE=sim` chooses the simulated GPU without this message, `CROQ_DEVICE=cuda` makes \
         the missing GPU an error\n"
    )
}

/// A GPU if the program was built with CUDA and finds one, else the simulated GPU. A program that
/// was built with CUDA and finds no GPU prints the reason once on standard error.
///
/// The environment variable `CROQ_DEVICE` overrides this: `sim`, `cuda`, or `cuda:1` for the second
/// GPU. If that device is not available, every use of the device returns the reason. The choice is
/// made once.
impl Default for Device {
    fn default() -> Self {
        static CHOSEN: OnceLock<Device> = OnceLock::new();
        CHOSEN
            .get_or_init(|| {
                let has_cuda = cuda::is_registered();
                let (device, message) = Self::choose(wish().as_deref(), has_cuda, &Self::cuda);
                if let Some(message) = message {
                    // A closed standard error is not a failure.
                    let _ = std::io::stderr().write_all(message.as_bytes());
                }
                device
            })
            .clone()
    }
}

fn wish() -> Option<String> {
    std::env::var_os("CROQ_DEVICE").map(|value| value.to_string_lossy().into_owned())
}

/// Whether the user selected a device with `CROQ_DEVICE`.
pub(crate) fn is_chosen_by_user() -> bool {
    wish().is_some_and(|value| !value.trim().is_empty())
}

impl PartialEq for Device {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Device {}

/// `sim`, `sim:1`, `cuda:0`, … as in `CROQ_DEVICE`.
impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.kind {
            Kind::Sim(0) => f.write_str("sim"),
            Kind::Sim(number) => write!(f, "sim:{number}"),
            Kind::Cuda(gpu) => write!(f, "cuda:{}", gpu.index),
            Kind::Missing => f.write_str("missing"),
        }
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Device({self}, {})", self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sim_is_one_device() {
        assert_eq!(Device::sim(), Device::sim());
        assert_eq!(Device::sim().to_string(), "sim");
        assert!(Device::sim().healthy().is_ok());
    }

    /// In a program without CUDA.
    fn plain(wish: Option<&str>) -> Device {
        let (device, message) = Device::choose(wish, false, &Device::cuda);
        assert_eq!(message, None);
        device
    }

    /// In a program with CUDA.
    fn with_cuda(wish: Option<&str>) -> (Device, Option<String>) {
        let runtime = Runtime::new(&crate::fake_cuda::API);
        Device::choose(wish, true, &|index| Device::open(runtime, index))
    }

    #[test]
    fn a_gpu_is_the_default_and_its_absence_is_said() {
        let (device, message) = with_cuda(None);
        assert_eq!((device.to_string().as_str(), message), ("cuda:0", None));

        crate::fake_cuda::NO_DRIVER.set(35);
        let (device, message) = with_cuda(None);
        assert!(device.is_sim() && device.healthy().is_ok());
        let message = message.expect("a message");
        for part in [
            "run on the simulated GPU: there is no CUDA device 0: CUDA error 35",
            "the NVIDIA driver is missing or older",
            "`CROQ_DEVICE=sim`",
        ] {
            assert!(message.contains(part), "no {part} in {message}");
        }
        // If the user selects a GPU, its absence is an error, and the simulated GPU needs no
        // message.
        let (device, message) = with_cuda(Some("cuda"));
        assert_eq!(message, None);
        assert!(matches!(device.healthy(), Err(Error::NoGpu { .. })));
        let (device, message) = with_cuda(Some("sim"));
        assert!(device.is_sim() && message.is_none());
        crate::fake_cuda::NO_DRIVER.set(0);
    }

    #[test]
    fn the_environment_chooses() {
        assert!(plain(None).is_sim());
        assert!(plain(Some(" ")).is_sim());
        assert!(plain(Some("sim")).is_sim());
        assert_eq!(plain(Some("sim:0")), Device::sim());
        assert_eq!(plain(Some("sim:2")), Device::sim_number(2));
        assert_eq!(Device::sim_number(2).to_string(), "sim:2");
        let e = plain(Some("cuda")).healthy().unwrap_err();
        assert_eq!(e, Error::CudaNotBuilt { kernel: None });
        for value in ["gpu", "cuda:x", "cuda:-1"] {
            let e = plain(Some(value)).healthy().unwrap_err();
            assert_eq!(
                e,
                Error::UnknownDevice {
                    value: value.to_owned()
                }
            );
        }
    }

    #[test]
    fn the_first_failure_poisons() {
        let device = Device::of(Kind::Sim(0), None);
        let (a, b) = (
            Error::NeedsCuda { kernel: "a" },
            Error::NeedsCuda { kernel: "b" },
        );
        assert_eq!(device.poison(a.clone()), a);
        device.poison(b);
        assert_eq!(device.healthy(), Err(Error::Poisoned(Box::new(a))));
    }
}
