//! Graphs: sequences of calls that are recorded once and launched often.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering, fence};

use crate::after;
use crate::cuda::RawGraph;
use crate::device::{Device, Kind};
use crate::error::{Error, Result};
use crate::graph_tensors::{GraphTensors, Held};
use crate::last_use::EndOfWork;
use crate::memory::Memory;
use crate::recorder::{Recorder, Recording, Step, Use};
use crate::stream::{Stream, StreamId};
use crate::trace;

/// A sequence of `…_on` calls that was recorded once, and is launched with one operation: a CUDA graph.
/// On the simulated GPU the same calls are
/// recorded and executed.
///
/// A graph holds the tensors that its calls use, `T`: those that the closure of
/// [`capture`](Self::capture) returns. They are owned or borrowed, so neither can their memory be
/// freed while the graph exists, nor can anything else write them, nor read those that it writes.
/// Between launches [`tensors`](Self::tensors) and [`tensors_mut`](Self::tensors_mut) give access to
/// them, in order with the launches, as for calls: a copy to the host waits for those before it.
///
/// ```
/// use croq_sys::{Device, DeviceTensor, Graph, Stream, Tensor};
/// # // A kernel of the program: doubles every element.
/// # fn scale_on(_: &Stream, _: &mut DeviceTensor<f32, (usize,)>) -> croq_sys::Result<()> { Ok(()) }
///
/// let device = Device::default();
/// let mut x = Tensor::from_fn((3,), |[i]| i as f32).to_device(&device)?;
/// let mut graph = Graph::capture(&device, move |stream| {
///     scale_on(stream, &mut x)?;
///     scale_on(stream, &mut x)?;
///     Ok(x)
/// })?;
/// let stream = Stream::new(&device)?;
/// for _ in 0..3 {
///     graph.launch(&stream)?;
/// }
/// let x = graph.tensors().to_host()?;                // waits for the launches
/// graph.tensors_mut().copy_from_host(&Tensor::zeros((3,)))?;
/// # let _ = x;
/// # Ok::<(), croq_sys::Error>(())
/// ```
///
/// A tensor that is borrowed lives longer than the graph:
///
/// ```compile_fail,E0597
/// use croq_sys::{Device, DeviceTensor, Graph, Stream};
/// # fn scale_on(_: &Stream, _: &mut DeviceTensor<f32, (usize,)>) -> croq_sys::Result<()> { Ok(()) }
///
/// let device = Device::default();
/// let mut graph = {
///     let mut x = DeviceTensor::<f32, _>::zeros((3,), &device)?;
///     let borrowed = &mut x;
///     Graph::capture(&device, move |stream| {
///         scale_on(stream, borrowed)?;
///         Ok(borrowed)
///     })?
/// };
/// graph.launch(&Stream::new(&device)?)?;
/// # Ok::<(), croq_sys::Error>(())
/// ```
pub struct Graph<T> {
    tensors: T,
    device: Device,
    uses: Vec<Use>,
    /// On the simulated GPU.
    steps: Vec<Step>,
    /// Of page-locked memory that a launch writes.
    unchecked: Vec<Arc<AtomicBool>>,
    /// On a GPU.
    launchable: Option<Launchable>,
}

/// A graph of CUDA's.
struct Launchable {
    device: Device,
    raw: RawGraph,
    /// The stream that recorded it, by which the graph's failures are known.
    recorded_on: StreamId,
    last: Option<EndOfWork>,
}

// A panic leaves it as usable as before, as it does the memory that it holds.
impl<T: std::panic::UnwindSafe> std::panic::UnwindSafe for Graph<T> {}
impl<T: std::panic::RefUnwindSafe> std::panic::RefUnwindSafe for Graph<T> {}

/// Ends a recording also if the closure panics.
struct Capturing(Stream);

impl<T: GraphTensors> Graph<T> {
    /// Records the `…_on` calls that `calls` makes on the stream it is given. They are not executed
    /// before the first launch.
    ///
    /// Everything else that the closure does is done once, while it runs: new tensors, copies, calls
    /// without a stream or on another one. The result of a recorded call is a tensor of zeros until
    /// the first launch, and so is one whose memory a recorded call allocates for itself. A view that
    /// a kernel cannot read in place is copied at each launch.
    ///
    /// Copies to and from a [`PinnedTensor`](crate::PinnedTensor) on the stream are recorded too: input
    /// that each launch reads, and results that the host reads after it.
    ///
    /// ```
    /// use croq_sys::{Device, DeviceTensor, Graph, PinnedTensor, Stream};
    ///
    /// let device = Device::default();
    /// let input = PinnedTensor::<f32, _>::zeros((3,), &device)?;
    /// let mut output = PinnedTensor::<f32, _>::zeros((3,), &device)?;
    /// let mut x = DeviceTensor::<f32, _>::zeros((3,), &device)?;
    /// let mut graph = Graph::capture(&device, move |stream| {
    ///     x.copy_from_host_on(stream, &input)?;
    ///     // … kernels on `stream` …
    ///     x.copy_to_host_on(stream, &mut output)?;
    ///     Ok((input, x, output))
    /// })?;
    /// let stream = Stream::new(&device)?;
    /// for round in 0..3 {
    ///     let (input, _, output) = graph.tensors_mut();
    ///     input.as_mut_slice()?.fill(round as f32);      // waits for the launch before
    ///     graph.launch(&stream)?;
    ///     assert_eq!(graph.tensors().2.as_slice()?, [round as f32; 3]);
    /// }
    /// # Ok::<(), croq_sys::Error>(())
    /// ```
    ///
    /// A graph for a struct of the program borrows its fields:
    ///
    /// ```
    /// # use croq_sys::{Device, DeviceTensor, Graph, Stream};
    /// # // A kernel of the program.
    /// # fn layer_on(_: &Stream, _: &DeviceTensor<f32, (usize,)>, _: &mut DeviceTensor<f32, (usize,)>) -> croq_sys::Result<()> { Ok(()) }
    /// struct Model {
    ///     weights: DeviceTensor<f32, (usize,)>,
    ///     state: DeviceTensor<f32, (usize,)>,
    /// }
    ///
    /// let device = Device::default();
    /// let zeros = || DeviceTensor::<f32, _>::zeros((3,), &device);
    /// let mut model = Model { weights: zeros()?, state: zeros()? };
    /// let Model { weights, state } = &mut model;
    /// let mut graph = Graph::capture(&device, |stream| {
    ///     layer_on(stream, weights, state)?;
    ///     Ok((weights, state))
    /// })?;
    /// graph.launch(&Stream::new(&device)?)?;
    /// drop(graph);
    /// model.state.to_host()?;
    /// # Ok::<(), croq_sys::Error>(())
    /// ```
    ///
    /// The closure returns the tensors that the graph holds. A tensor that the calls use, results
    /// included, is among them, or was dropped in the closure: the graph keeps its memory, then.
    ///
    /// # Errors
    ///
    /// [`Error::Capture`]
    ///
    /// * if a call has an argument in host memory, because that is copied once;
    /// * if host code of a kernel waits for the device: it reads elements, or has events;
    /// * if a tensor that the calls use is not among those that are returned, or is written and only
    ///   borrowed with `&`;
    /// * for an operation on the stream other than an `…_on` call, such as an event.
    ///
    /// Otherwise the error that `calls` returns, the failure of a call, or that of the device.
    ///
    /// ```
    /// use croq_sys::{Device, Error, Graph};
    ///
    /// let device = Device::sim();
    /// let failed = Graph::capture(&device, |stream| {
    ///     stream.synchronize()?;
    ///     Ok(())
    /// });
    /// assert!(matches!(failed, Err(Error::Capture { .. })));
    /// ```
    pub fn capture(device: &Device, calls: impl FnOnce(&Stream) -> Result<T>) -> Result<Self> {
        let capturing = Capturing(Stream::recording(device)?);
        let tensors = calls(&capturing.0)?;
        let (recording, launchable) = capturing.complete()?;
        let mut graph = Self {
            tensors,
            device: device.clone(),
            uses: recording.uses,
            steps: recording.steps,
            unchecked: recording.unchecked,
            launchable,
        };
        graph.check()?;
        Ok(graph)
    }

    /// Enqueues all calls of the graph on `stream`, after earlier work on their tensors; see
    /// [`Stream`]. On a GPU this returns at once, and the failure of a kernel is returned by the next
    /// wait, or by this call if the kernel fails before it returns. The simulated GPU executes them,
    /// and this returns the first failure.
    ///
    /// # Errors
    ///
    /// [`Error::WrongDevice`] if `stream` is of another device, [`Error::Capture`] if a tensor that
    /// the calls use was taken from the graph's, or the failure of the device.
    pub fn launch(&mut self, stream: &Stream) -> Result<()> {
        self.device
            .expect("Graph::launch", "stream", stream.device())?;
        stream.executes("Graph::launch")?;
        self.device.healthy()?;
        let _span = trace::graph(&self.device);
        self.check()?;
        for is_unchecked in &self.unchecked {
            is_unchecked.store(true, Ordering::Release);
        }
        let (Kind::Cuda(gpu), Some(launchable)) = (self.device.kind(), &mut self.launchable) else {
            let mut reported = None;
            let ended = self.steps.iter().try_for_each(|step| step(&mut reported));
            return reported.map_or(ended, Err);
        };
        self.device.select(gpu)?;
        for used in &self.uses {
            used.kept.order_on(stream, used.written)?;
        }
        gpu.records
            .launched(launchable.recorded_on, stream.id(), || {
                gpu.streams_with_work()
            });
        // SAFETY: the graph has a share of all memory that its work uses, which is freed after the
        // uses that are recorded below. Each launch is ordered behind the one before it.
        let launched = unsafe { gpu.runtime.launch_graph(launchable.raw, stream.raw()) };
        let launched = self.device.check(launched);
        let uses = self.uses.iter();
        Memory::used_on(uses.map(|used| (&**used.kept, used.written)), gpu, stream)?;
        launchable.last = Some(EndOfWork::of(gpu, stream)?);
        launched
    }

    /// Checks that nothing else has access to the memory that the graph writes, nor writes what it
    /// reads: each tensor is among those that it holds, or the graph alone has the memory.
    fn check(&mut self) -> Result<()> {
        let mut held: Vec<Held<'_>> = Vec::new();
        self.tensors.visit(true, &mut |tensor| held.push(tensor));
        for used in &mut self.uses {
            let memory = used.kept.memory();
            let mut found = held.iter().filter(|held| Arc::ptr_eq(held.memory, memory));
            let is_held = match used.written {
                true => found.any(|held| held.is_exclusive),
                false => found.next().is_some(),
            };
            if is_held {
                used.is_held = true;
                continue;
            }
            if held.iter().any(|held| Arc::ptr_eq(held.memory, memory)) {
                return Err(Error::Capture {
                    reason: "the graph writes a tensor that it holds only to be read".to_owned(),
                    help: "return the tensor itself, or the `&mut` to it, from the closure",
                });
            }
            if used.is_held {
                return Err(Error::Capture {
                    reason: format!(
                        "the graph uses a tensor of {} bytes on {} that it does not hold any more",
                        memory.bytes(),
                        self.device
                    ),
                    help: "write its elements, with `copy_from_host` for instance, instead of putting \
                           another tensor in its place",
                });
            }
            if Arc::strong_count(memory) != 1 {
                return Err(Error::Capture {
                    reason: format!(
                        "the graph uses a tensor of {} bytes on {} that it does not hold",
                        memory.bytes(),
                        self.device
                    ),
                    help: "return all tensors that the calls use from the closure, results \
                           included, and leave them with the graph",
                });
            }
        }
        // The accesses of former owners come before those of the graph.
        fence(Ordering::Acquire);
        Ok(())
    }
}

impl<T> Graph<T> {
    /// Of memory that no tensor has: the number of uses before the graph's.
    #[cfg(test)]
    pub(crate) fn known_uses_of_own_memory(&self) -> Vec<usize> {
        let own = self.uses.iter().filter(|used| !used.is_held);
        own.map(|used| used.kept.memory().known_uses()).collect()
    }

    /// The tensors that the graph holds.
    pub fn tensors(&self) -> &T {
        &self.tensors
    }

    /// The same to be written, for instance with new input. The next launch is an
    /// [`Error::Capture`] if one that its calls use is no longer there, because it was exchanged for
    /// another one.
    pub fn tensors_mut(&mut self) -> &mut T {
        &mut self.tensors
    }

    /// Drops the graph and returns its tensors. Launches that are enqueued complete.
    ///
    /// ```
    /// use croq_sys::{Device, DeviceTensor, Graph};
    ///
    /// let device = Device::sim();
    /// let graph = Graph::capture(&device, |_| DeviceTensor::<f32, _>::zeros((3,), &device))?;
    /// assert_eq!(graph.device(), &device);
    /// let x = graph.into_tensors();
    /// assert_eq!(x.shape(), [3]);
    /// # Ok::<(), croq_sys::Error>(())
    /// ```
    pub fn into_tensors(self) -> T {
        self.tensors
    }

    /// The device whose memory the graph uses.
    pub fn device(&self) -> &Device {
        &self.device
    }
}

impl<T> fmt::Debug for Graph<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Graph on {}", self.device)
    }
}

impl Capturing {
    /// What was recorded; on a GPU to be launched.
    fn complete(self) -> Result<(Recording, Option<Launchable>)> {
        // In this order: what another thread would enqueue now is refused.
        let recording = self.0.recorder().map(Recorder::take);
        let graph = self.end();
        // The failure of a call is the reason why there is no graph.
        let recording = recording.unwrap_or_else(|| Ok(Recording::default()))?;
        Ok((recording, graph.transpose()?))
    }

    /// Ends the recording of CUDA.
    fn end(&self) -> Option<Result<Launchable>> {
        let device = self.0.device();
        let Kind::Cuda(gpu) = device.kind() else {
            return None;
        };
        let ended = device
            .select(gpu)
            .and_then(|()| gpu.runtime.end_graph(self.0.raw()));
        Some(ended.map(|raw| Launchable {
            device: device.clone(),
            raw,
            recorded_on: self.0.id(),
            last: None,
        }))
    }
}

impl Drop for Capturing {
    fn drop(&mut self) {
        let is_open = self.0.recorder().is_some_and(Recorder::is_open);
        if is_open {
            // Nobody needs what was recorded.
            let _ = self.0.recorder().map(Recorder::take);
            drop(self.end());
        }
    }
}

impl Drop for Launchable {
    fn drop(&mut self) {
        let Kind::Cuda(gpu) = self.device.kind() else {
            return;
        };
        let last = self.last.as_ref().map(EndOfWork::stream_id);
        gpu.records.graph_ends(self.recorded_on, last);
        if self.device.healthy().is_err() || self.device.select(gpu).is_err() {
            return;
        }
        let (device, raw) = (self.device.clone(), self.raw);
        let destroy = move || {
            if let Kind::Cuda(gpu) = device.kind()
                && device.select(gpu).is_ok()
            {
                // SAFETY: this was its only owner, and its launches are complete.
                unsafe { gpu.runtime.destroy_graph(raw) };
            }
        };
        let last = self.last.take().filter(|last| !last.is_over());
        let Some(last) = last else {
            return destroy();
        };
        // Without waiting here.
        let left = match last.comes_before(&self.device, gpu.frees) {
            Ok(()) => after::call_after(&self.device, gpu, gpu.frees, Box::new(destroy)).err(),
            Err(_) => Some(Box::new(destroy) as after::Job),
        };
        if let Some(destroy) = left {
            let _ = last.wait_only();
            destroy();
        }
    }
}
