//! One call of a kernel: its device, the device memory it uses, and the reporting of its failures.

use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr;
use std::sync::Arc;

use crate::abi::{self, CROQ_ABI_VERSION, CROQ_OUT_OF_MEMORY, croq_failure};
use crate::cuda::RawStream;
use crate::device::{Device, Gpu, Kind};
use crate::device_data::{DeviceData, DeviceDataMut};
use crate::device_tensor::{DeviceTensor, download};
use crate::dims::Dims;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::failure_records::Work;
use crate::memory::Memory;
use crate::recorder::{Recorder, Recording};
use crate::sim;
use crate::stream::{Stream, StreamId};
use crate::tensor::{HostData, HostDataMut, Tensor};
use crate::trace;

use super::arguments::Args;
use super::environment::{Env, Mode};
use super::failures;
use super::kernel::AnyKernel;
use super::recorded::{record_copy, record_copy_on_sim};
use super::used::{Copy, Origin, Used};

/// A call of a kernel whose shims take `A`. Everything but the type of its arguments is in
/// [`AnyCall`], so that it is compiled once and not for each kernel.
pub struct Call<A: 'static> {
    any: AnyCall,
    args: PhantomData<fn(A)>,
}

impl<A> Call<A> {
    /// `any` is a call of a kernel whose shims take `A`.
    pub(super) fn of(any: AnyCall) -> Self {
        Self {
            any,
            args: PhantomData,
        }
    }

    /// A stream that the kernel launches on.
    pub fn stream(&mut self, param: &'static str, stream: &Stream) -> Result<*mut c_void> {
        self.any.stream(param, stream)
    }

    /// Runs the kernel and waits for it.
    pub fn run(&mut self, args: &mut A) -> Result<()> {
        // SAFETY: the shims of this call's kernel take `A`.
        self.any.run(&unsafe { Args::new(args) })
    }

    /// Enqueues the kernel on `stream`; on the simulated GPU, runs it.
    pub fn enqueue(&mut self, args: &mut A, stream: &Stream) -> Result<()> {
        // SAFETY: as for `run`.
        self.any.enqueue(&unsafe { Args::new(args) }, stream)
    }
}

impl<A> Deref for Call<A> {
    type Target = AnyCall;

    fn deref(&self) -> &AnyCall {
        &self.any
    }
}

/// A call of `kernel` on one device. Every address in the kernel's arguments is provided by this,
/// and its memory lives at least as long.
pub struct AnyCall {
    kernel: &'static AnyKernel,
    device: Device,
    buffers: RefCell<Vec<Used>>,
    /// The streams on which the kernel itself launches.
    streams: Vec<Stream>,
    /// There is nothing to do: no tensor that the kernel writes has an element.
    is_empty: bool,
    /// The call is a part of the graph that this stream records.
    recorded_on: Option<Stream>,
}

impl AnyCall {
    pub(super) fn new(kernel: &'static AnyKernel, device: &Device) -> Result<Self> {
        device.healthy()?;
        if device.is_cuda() && !kernel.has_cuda() {
            return Err(Error::CudaNotBuilt {
                kernel: Some(kernel.about.name),
            });
        }
        Ok(Self {
            kernel,
            device: device.clone(),
            buffers: RefCell::default(),
            streams: Vec::new(),
            is_empty: false,
            recorded_on: None,
        })
    }

    pub(super) fn doing_nothing_if(mut self, is_empty: bool) -> Self {
        self.is_empty = is_empty;
        self
    }

    /// A device copy of a host tensor.
    pub fn copy_in<T: Element, D: Dims, S: HostData<T>>(
        &self,
        tensor: &Tensor<T, D, S>,
    ) -> Result<*mut c_void> {
        self.copy_in_for("&", tensor)
    }

    /// The same for parameter `param`.
    pub(crate) fn copy_in_for<T: Element, D: Dims, S: HostData<T>>(
        &self,
        param: &'static str,
        tensor: &Tensor<T, D, S>,
    ) -> Result<*mut c_void> {
        let bytes = bytemuck::cast_slice(tensor.as_slice());
        let memory = Memory::upload(&self.device, bytes)?;
        Ok(self.keep(memory, Origin::Host(param)))
    }

    /// A device tensor that the kernel reads directly; a copy of a view with gaps, or of one whose
    /// first element has no suitable address.
    pub fn global<T: Element, D: Dims, S: DeviceData>(
        &self,
        param: &'static str,
        tensor: &DeviceTensor<T, D, S>,
    ) -> Result<*mut c_void> {
        self.same_device(param, tensor.device())?;
        match tensor.kernel_offset() {
            Some(offset) => Ok(self.share(tensor.memory().clone(), offset, false)),
            None => self.copy_of(tensor),
        }
    }

    /// A copy on the device of a tensor there, which the kernel writes.
    pub fn private_copy<T: Element, D: Dims, S: DeviceData>(
        &self,
        param: &'static str,
        tensor: &DeviceTensor<T, D, S>,
    ) -> Result<*mut c_void> {
        self.same_device(param, tensor.device())?;
        self.copy_of(tensor)
    }

    /// Memory for a copy of a tensor, which is made before the kernel runs.
    fn copy_of<T: Element, D: Dims, S: DeviceData>(
        &self,
        tensor: &DeviceTensor<T, D, S>,
    ) -> Result<*mut c_void> {
        let copy = Copy {
            from: tensor.memory().clone(),
            source: tensor.region(),
            to: tensor.dense_region(),
        };
        let memory = Memory::unwritten(&self.device, copy.to.bytes())?;
        Ok(self.keep(memory, Origin::Copy(Box::new(copy))))
    }

    /// A device tensor that the kernel writes directly.
    pub fn global_mut<T: Element, D: Dims, S: DeviceDataMut>(
        &self,
        param: &'static str,
        tensor: &mut DeviceTensor<T, D, S>,
    ) -> Result<*mut c_void> {
        self.same_device(param, tensor.device())?;
        let offset = tensor.kernel_offset().ok_or(Error::WrittenView {
            kernel: self.kernel.about.name,
            param,
        })?;
        Ok(self.share(tensor.memory().clone(), offset, true))
    }

    fn stream(&mut self, param: &'static str, stream: &Stream) -> Result<*mut c_void> {
        self.same_device(param, stream.device())?;
        stream.executes("stream argument")?;
        self.streams.push(stream.clone());
        Ok(stream.handle())
    }

    fn same_device(&self, param: &'static str, found: &Device) -> Result<()> {
        self.device.expect(self.kernel.about.name, param, found)
    }

    /// Memory of this call alone.
    fn keep(&self, memory: Memory, origin: Origin) -> *mut c_void {
        self.uses(Used {
            memory: Arc::new(memory),
            offset: 0,
            written: true,
            origin,
        })
    }

    /// Memory of a tensor of the caller.
    fn share(&self, memory: Arc<Memory>, offset: usize, written: bool) -> *mut c_void {
        self.uses(Used {
            memory,
            offset,
            written,
            origin: Origin::Tensor,
        })
    }

    fn uses(&self, used: Used) -> *mut c_void {
        let address = used.address();
        self.buffers.borrow_mut().push(used);
        address
    }

    fn run(&self, args: &Args<'_>) -> Result<()> {
        if self.is_empty {
            return Ok(());
        }
        let _span = trace::call(self.kernel.about.name, &self.device, false);
        self.make_copies()?;
        match self.device.kind() {
            Kind::Cuda(gpu) => self.run_on_gpu(gpu, args),
            _ => self.run_on_sim(args, Mode::Run),
        }
    }

    /// The copies of tensors for the kernel; on a GPU they are enqueued.
    fn make_copies(&self) -> Result<()> {
        for used in self.buffers.borrow().iter() {
            if let Origin::Copy(copy) = &used.origin {
                // SAFETY: the region of a tensor is inside of its memory; that of the copy is new and as
                // large.
                unsafe { used.memory.copy(&copy.to, (&copy.from, &copy.source)) }?;
            }
        }
        Ok(())
    }

    fn run_on_sim(&self, args: &Args<'_>, mode: Mode<'_>) -> Result<()> {
        let mut reported = None;
        let ended = self.run_reporting(args, mode, &mut reported);
        // A recorded failure precedes the failure that ended a launch.
        reported.map_or(ended, Err)
    }

    /// Runs the kernel; `first` becomes what a kernel reports before it continues, unless it is something
    /// already. The result is the failure that ended a launch.
    fn run_reporting(
        &self,
        args: &Args<'_>,
        mode: Mode<'_>,
        first: &mut Option<Error>,
    ) -> Result<()> {
        let mut failure = croq_failure::default();
        let mut env = Env::new(
            (&self.device, &self.buffers),
            mode,
            &raw mut failure,
            &raw mut failure,
        );
        let run = sim::Run::new();
        env.abi.device = run.as_ptr();
        env.abi.sim = sim::api();
        // SAFETY: the shim of this kernel, with the struct it was generated with; `env` and the
        // data it points to live until it returns.
        let status = unsafe { (self.kernel.sim)((&raw const env).cast(), args.address()) };
        if let Some(reported) = run.reported() {
            first.get_or_insert_with(|| self.error(reported.kind, &reported));
        }
        match self.outcome(&env, status, || failure) {
            Err(Error::Deadlock { kernel, .. }) => {
                let report = self.kernel.report_now(&run.report().unwrap_or_default());
                Err(Error::Deadlock { kernel, report })
            }
            Err(Error::Hazard { kernel, .. }) => {
                let report = self.kernel.report_now(&run.report().unwrap_or_default());
                Err(Error::Hazard { kernel, report })
            }
            Err(Error::Endless { kernel, report }) => {
                let found = run.report();
                let report = found.map_or(report, |found| self.kernel.report_now(&found));
                Err(Error::Endless { kernel, report })
            }
            outcome => outcome,
        }
    }

    fn enqueue(&mut self, args: &Args<'_>, stream: &Stream) -> Result<()> {
        self.same_device("stream", stream.device())?;
        if let Some(recorder) = stream.recorder() {
            return self.record(args, stream, recorder);
        }
        if self.is_empty {
            return Ok(());
        }
        let _span = trace::call(self.kernel.about.name, &self.device, true);
        self.make_copies()?;
        let Kind::Cuda(gpu) = self.device.kind() else {
            return self.run_on_sim(args, Mode::Run);
        };
        for used in self.buffers.borrow().iter() {
            used.memory.order_on(stream, used.written)?;
        }
        let place = (stream.raw(), Work::Stream(stream.id()));
        let enqueued = self.submit(gpu, args, place, Mode::Run);
        let buffers = self.buffers.borrow();
        let used = buffers.iter().map(|used| (&*used.memory, used.written));
        Memory::used_on(used, gpu, stream)?;
        enqueued
    }

    fn run_on_gpu(&self, gpu: &Gpu, args: &Args<'_>) -> Result<()> {
        for used in self.buffers.borrow().iter() {
            used.memory.settle(used.written)?;
        }
        let call = StreamId::fresh();
        let place = (gpu.stream, Work::Call(call));
        let launched = self.submit(gpu, args, place, Mode::Run);
        let streams = [gpu.stream].into_iter();
        let mut streams = streams.chain(self.streams.iter().map(Stream::raw));
        // A failure of the kernel is returned by this wait.
        let Err(failed) = streams.try_for_each(|stream| gpu.runtime.synchronize(stream)) else {
            return gpu.records.end_of_call(call).and(launched);
        };
        Err(self.device.failed(launched.err().unwrap_or(failed)))
    }

    /// Makes the call a part of the graph that `stream` records.
    fn record(&mut self, args: &Args<'_>, stream: &Stream, recorder: &Recorder) -> Result<()> {
        recorder.add(|recording| {
            self.has_only_device_memory()?;
            match self.device.kind() {
                _ if self.is_empty => Ok(()),
                Kind::Cuda(gpu) => self.record_on_gpu(gpu, args, stream, recording),
                _ => self.record_on_sim(args, recording),
            }
        })?;
        self.recorded_on = Some(stream.clone());
        Ok(())
    }

    /// An error if an argument is in host memory.
    fn has_only_device_memory(&self) -> Result<()> {
        for used in self.buffers.borrow().iter() {
            if let Origin::Host(param) = used.origin {
                return Err(Error::Capture {
                    reason: format!(
                        "{}: `{param}` is in host memory, which is not a part of a graph",
                        self.kernel.about.name
                    ),
                    help: "copy it to the device before, with `to_device`",
                });
            }
        }
        Ok(())
    }

    fn record_on_gpu(
        &self,
        gpu: &Gpu,
        args: &Args<'_>,
        stream: &Stream,
        recording: &mut Recording,
    ) -> Result<()> {
        self.device.select(gpu)?;
        for used in self.buffers.borrow().iter() {
            if let Origin::Copy(copy) = &used.origin {
                record_copy(recording, &used.memory, copy, stream)?;
            }
        }
        let place = (stream.raw(), Work::Graph(stream.id()));
        let submitted = self.submit(gpu, args, place, Mode::Record);
        for used in self.buffers.borrow().iter() {
            recording.keep(&used.memory, used.written);
        }
        submitted
    }

    fn record_on_sim(&self, args: &Args<'_>, recording: &mut Recording) -> Result<()> {
        let (kernel, device) = (self.kernel, self.device.clone());
        let start = args.copied();
        self.run_on_sim(args, Mode::Record)?;
        let mut allocated = Vec::new();
        for used in self.buffers.borrow().iter() {
            let kept = recording.keep(&used.memory, used.written);
            match &used.origin {
                Origin::Copy(copy) => record_copy_on_sim(recording, &used.memory, copy)?,
                Origin::Kernel(zero) => allocated.push((kept, *zero)),
                Origin::Tensor | Origin::Host(_) => {}
            }
        }
        recording.steps.push(Box::new(move |reported| {
            let call = AnyCall::new(kernel, &device)?;
            let next = Cell::new(0);
            let mode = Mode::Replay(&allocated, &next);
            call.run_reporting(&start.clone().args(), mode, reported)
        }));
        Ok(())
    }

    fn submit(
        &self,
        gpu: &Gpu,
        args: &Args<'_>,
        (stream, work): (RawStream, Work),
        mode: Mode<'_>,
    ) -> Result<()> {
        let kernel = self.kernel;
        let shim = kernel.cuda.ok_or(Error::CudaNotBuilt {
            kernel: Some(kernel.about.name),
        })?;
        self.device.select(gpu)?;
        let runtime = gpu.runtime;
        let place = gpu.record((&raw const *kernel).addr(), work, move |failure| {
            failures::error(kernel, failure.kind, failure, &|code| {
                runtime.error(code, "running the kernel")
            })
        });
        let place = self.device.check(place)?;
        let mut failure = croq_failure::default();
        let mut env = Env::new((&self.device, &self.buffers), mode, &raw mut failure, place);
        env.abi.stream = stream.0;
        // SAFETY: as on the sim.
        let status = unsafe { shim((&raw const env).cast(), args.address()) };
        self.outcome(&env, status, || failure)
    }

    fn outcome(
        &self,
        env: &Env<'_>,
        status: u32,
        failure: impl FnOnce() -> croq_failure,
    ) -> Result<()> {
        if status == abi::CROQ_OK {
            return Ok(());
        }
        match env.refused() {
            Some(reason) if status == CROQ_OUT_OF_MEMORY => Err(reason),
            _ => Err(self.error(status, &failure())),
        }
    }

    /// The tensor that the kernel returned at `address`.
    pub fn result<T: Element, D: Dims>(
        &self,
        address: *const c_void,
        dims: D,
    ) -> Result<Tensor<T, D>> {
        if self.is_empty {
            return Tensor::try_zeros(dims);
        }
        let used = self.buffer_at(address)?;
        download(&used.memory, used.offset, dims)
    }

    /// The element of device memory that the kernel returned at `address`.
    pub fn element<T: Element>(&self, address: *const c_void) -> Result<T> {
        Ok(self.result::<T, ()>(address, ())?[[]])
    }

    /// The same tensor without a copy: work on it may be in flight.
    pub fn device_result<T: Element, D: Dims>(
        &self,
        address: *const c_void,
        dims: D,
    ) -> Result<DeviceTensor<T, D>> {
        if self.is_empty {
            return DeviceTensor::zeros(dims, &self.device);
        }
        let used = self.buffer_at(address)?;
        if !matches!(used.origin, Origin::Tensor) {
            return DeviceTensor::held(used.memory, dims);
        }
        // A tensor of its own for what is still the caller's.
        let Some(stream) = &self.recorded_on else {
            return DeviceTensor::copied(&used.memory, used.offset, dims);
        };
        let (tensor, source) = DeviceTensor::for_copy(&used.memory, used.offset, dims)?;
        let copy = Copy {
            from: used.memory,
            source,
            to: tensor.region(),
        };
        if let Some(recorder) = stream.recorder() {
            recorder.add(|recording| match self.device.kind() {
                Kind::Cuda(_) => record_copy(recording, tensor.memory(), &copy, stream),
                _ => record_copy_on_sim(recording, tensor.memory(), &copy),
            })?;
        }
        Ok(tensor)
    }

    /// Copies an `&` parameter's device copy, at `address`, back to the host.
    pub fn copy_back<T: Element, D: Dims, S: HostDataMut<T>>(
        &self,
        address: *const c_void,
        tensor: &mut Tensor<T, D, S>,
    ) -> Result<()> {
        if self.is_empty {
            return Ok(());
        }
        let used = self.buffer_at(address)?;
        let (memory, offset) = (&used.memory, used.offset);
        T::read_into(tensor.as_mut_slice(), &mut |bytes| {
            memory.download(offset, bytes)
        })
    }

    fn buffer_at(&self, address: *const c_void) -> Result<Used> {
        let buffers = self.buffers.borrow();
        let found = buffers.iter().find(|used| ptr::eq(used.address(), address));
        // Only a shim of another generator returns an address that is not of this call.
        let found = found.cloned();
        found.ok_or(Error::AbiMismatch {
            expected: CROQ_ABI_VERSION,
            found: 0,
        })
    }

    /// Converts a failure record to an error of this kernel.
    fn error(&self, kind: u32, failure: &croq_failure) -> Error {
        if kind == CROQ_OUT_OF_MEMORY {
            return Error::OutOfMemory {
                device: self.device.to_string(),
                bytes: failure.values().first().copied().unwrap_or(0) as u64,
                what: match self.device.is_cuda() {
                    true => String::new(),
                    false => failure.what().to_owned(),
                },
                limit: failure.values().get(1).map(|&limit| limit as u64),
            };
        }
        failures::error(
            self.kernel,
            kind,
            failure,
            &|code| match self.device.kind() {
                Kind::Cuda(gpu) => gpu.runtime.error(code, "launching the kernel"),
                _ => Error::Cuda {
                    code,
                    message: String::new(),
                    during: "launching the kernel",
                },
            },
        )
    }
}
