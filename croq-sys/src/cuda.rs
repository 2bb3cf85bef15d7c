//! The functions of the CUDA runtime that this crate uses, through a table in the part of the
//! user's program that nvcc compiled. This crate declares no CUDA symbol itself, so that it links
//! on every machine.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::{self, NonNull};
use std::sync::OnceLock;

use crate::abi::{CROQ_ABI_VERSION, croq_cuda_api, croq_cuda_device_info, croq_failure};
use crate::error::{Error, Result};

/// `cudaErrorMemoryAllocation`.
const OUT_OF_MEMORY: c_int = 2;

/// Whether CUDA returned that there is not enough memory.
pub(crate) fn is_out_of_memory(error: &Error) -> bool {
    matches!(error, Error::Cuda { code, .. } if *code == OUT_OF_MEMORY)
}

static REGISTERED: OnceLock<Runtime> = OnceLock::new();

/// Called by the nvcc-built part of a program, before `main`, with a table that remains valid. If
/// several crates of a program provide one, the first is used: there is one CUDA context.
///
/// # Safety
///
/// `api` is null or points to a table that lives for the rest of the program and whose functions
/// behave as specified in `croq_abi.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn croq_register_cuda(api: *const croq_cuda_api) {
    // SAFETY: as the caller promises.
    if let Some(api) = unsafe { api.as_ref() } {
        let _ = REGISTERED.set(Runtime { api });
    }
}

/// The registered table; an error if there is none, or if it has another version.
pub(crate) fn registered() -> Result<Runtime> {
    let runtime = *REGISTERED
        .get()
        .ok_or(Error::CudaNotBuilt { kernel: None })?;
    runtime.checked()
}

/// `CROQ_GPU_TIMEOUT`: the time limit of a wait in a kernel on a GPU, in nanoseconds; 0 without a
/// limit.
pub(crate) fn wait_limit() -> u64 {
    /// A minute: a block waits for work of other blocks, or for a trigger of the host.
    const SECONDS: f64 = 60.0;
    static LIMIT: OnceLock<u64> = OnceLock::new();
    *LIMIT.get_or_init(|| {
        let value = std::env::var("CROQ_GPU_TIMEOUT").unwrap_or_default();
        let seconds = match value.trim() {
            "" => SECONDS,
            text => text
                .parse()
                .ok()
                .filter(|seconds: &f64| seconds.is_finite() && *seconds >= 0.0)
                .unwrap_or_else(|| {
                    eprintln!(
                        "croq: `CROQ_GPU_TIMEOUT={text}` is no number of seconds; taken is {SECONDS}"
                    );
                    SECONDS
                }),
        };
        (seconds * 1e9) as u64
    })
}

/// Whether any part of the program was built with CUDA.
pub(crate) fn is_registered() -> bool {
    REGISTERED.get().is_some()
}

/// The table, with an interface in Rust.
#[derive(Clone, Copy)]
pub(crate) struct Runtime {
    api: &'static croq_cuda_api,
}

/// A CUDA stream of one device.
#[derive(Clone, Copy)]
pub(crate) struct RawStream(pub(crate) *mut c_void);

// SAFETY: a `cudaStream_t` is a handle that the runtime lets any thread use.
unsafe impl Send for RawStream {}
// SAFETY: as above.
unsafe impl Sync for RawStream {}

/// A position in a stream, after all work that was enqueued before it was recorded.
#[derive(Clone, Copy)]
pub(crate) struct RawEvent(pub(crate) *mut c_void);

// SAFETY: a `cudaEvent_t` is a handle that the runtime lets any thread use.
unsafe impl Send for RawEvent {}
// SAFETY: as above.
unsafe impl Sync for RawEvent {}

/// Recorded work that can be launched again.
#[derive(Clone, Copy)]
pub(crate) struct RawGraph(*mut c_void);

// SAFETY: a `cudaGraphExec_t` is a handle that any thread may use, one at a time.
unsafe impl Send for RawGraph {}
// SAFETY: as above.
unsafe impl Sync for RawGraph {}

/// A failure record in host memory that a device can write.
pub(crate) struct MappedRecord {
    pub(crate) host: NonNull<croq_failure>,
    pub(crate) device: *mut croq_failure,
}

// SAFETY: two addresses of memory that is never freed; how the memory is accessed is up to the user
// of the addresses.
unsafe impl Send for MappedRecord {}
// SAFETY: as above.
unsafe impl Sync for MappedRecord {}

impl Runtime {
    #[cfg(test)]
    pub(crate) fn new(api: &'static croq_cuda_api) -> Self {
        Self { api }
    }

    /// Returns the table if it has this crate's version.
    pub(crate) fn checked(self) -> Result<Self> {
        if self.api.abi_version == CROQ_ABI_VERSION {
            Ok(self)
        } else {
            Err(Error::AbiMismatch {
                expected: CROQ_ABI_VERSION,
                found: self.api.abi_version,
            })
        }
    }

    fn message(self, code: c_int) -> String {
        // SAFETY: the table gives a static NUL-terminated text for any code.
        let text = unsafe { (self.api.error_string)(code) };
        text_at(text)
    }

    /// An error for a `cudaError_t`.
    pub(crate) fn error(self, code: c_int, during: &'static str) -> Error {
        Error::Cuda {
            code,
            message: self.message(code),
            during,
        }
    }

    fn check(self, code: c_int, during: &'static str) -> Result<()> {
        if code == 0 {
            Ok(())
        } else {
            Err(self.error(code, during))
        }
    }

    /// The number of GPUs, or the reason why none can be used.
    pub(crate) fn device_count(self) -> std::result::Result<usize, String> {
        let mut count = 0;
        // SAFETY: `count` outlives the call.
        match unsafe { (self.api.device_count)(&mut count) } {
            0 => Ok(usize::try_from(count).unwrap_or(0)),
            code => Err(self.error(code, "looking for GPUs").to_string()),
        }
    }

    pub(crate) fn device_name(self, device: c_int) -> Result<String> {
        let mut info = croq_cuda_device_info {
            name: [0; 256],
            major: 0,
            minor: 0,
            memory_bytes: 0,
            shared_bytes_per_block: 0,
            multiprocessors: 0,
        };
        // SAFETY: `info` outlives the call.
        self.check(
            unsafe { (self.api.device_info)(device, &mut info) },
            "asking what the GPU is",
        )?;
        if let Some(last) = info.name.last_mut() {
            *last = 0;
        }
        Ok(text_at(info.name.as_ptr()))
    }

    /// Selects `device` for this thread's following calls.
    pub(crate) fn select(self, device: c_int) -> Result<()> {
        // SAFETY: takes a plain number and reports a bad one.
        self.check(
            unsafe { (self.api.set_device)(device) },
            "selecting the GPU",
        )
    }

    pub(crate) fn create_stream(self) -> Result<RawStream> {
        let mut stream = ptr::null_mut();
        // SAFETY: `stream` outlives the call.
        self.check(
            unsafe { (self.api.stream_create)(&mut stream) },
            "creating a stream",
        )?;
        Ok(RawStream(stream))
    }

    /// # Safety
    ///
    /// `stream` is not used after this.
    pub(crate) unsafe fn destroy_stream(self, stream: RawStream) {
        // SAFETY: a stream created here, which by the caller's promise is no longer used. An error
        // cannot be reported.
        unsafe { (self.api.stream_destroy)(stream.0) };
    }

    /// Waits for all work on `stream`; returns errors of earlier work.
    pub(crate) fn synchronize(self, stream: RawStream) -> Result<()> {
        // SAFETY: `RawStream`s are made by `create_stream`.
        self.check(
            unsafe { (self.api.stream_synchronize)(stream.0) },
            "waiting for the GPU",
        )
    }

    /// Whether all work on `stream` is complete.
    pub(crate) fn is_idle(self, stream: RawStream) -> Result<bool> {
        let mut over = 0;
        // SAFETY: `over` outlives the call.
        let code = unsafe { (self.api.stream_query)(stream.0, &mut over) };
        self.check(code, "looking at a stream")?;
        Ok(over != 0)
    }

    /// Calls `function` on a thread of CUDA after all work on `stream`, failed work included. It
    /// must not call CUDA.
    ///
    /// # Safety
    ///
    /// `function` may be called once with `data`, on any thread, at any later time.
    pub(crate) unsafe fn call_after(
        self,
        stream: RawStream,
        function: unsafe extern "C" fn(*mut c_void, c_int, *mut c_void),
        data: *mut c_void,
    ) -> Result<()> {
        // SAFETY: as the caller promises.
        let code = unsafe { (self.api.stream_add_callback)(stream.0, function, data) };
        self.check(code, "adding a callback to a stream")
    }

    /// The same as [`Self::record_event`] for an event with a time.
    pub(crate) fn record_timed_event(self, stream: RawStream) -> Result<RawEvent> {
        let mut event = ptr::null_mut();
        // SAFETY: `event` outlives the call.
        let code = unsafe { (self.api.event_record_timed)(&mut event, stream.0) };
        self.check(code, "recording an event")?;
        Ok(RawEvent(event))
    }

    /// The milliseconds between two complete events of one device.
    ///
    /// # Safety
    ///
    /// Both are events with a time that were not destroyed.
    pub(crate) unsafe fn elapsed(self, from: RawEvent, to: RawEvent) -> Result<f32> {
        let mut milliseconds = 0.0;
        // SAFETY: as the caller promises; `milliseconds` outlives the call.
        let code = unsafe { (self.api.event_elapsed)(&mut milliseconds, from.0, to.0) };
        self.check(code, "comparing two events")?;
        Ok(milliseconds)
    }

    /// Records an event after all work on `stream`.
    pub(crate) fn record_event(self, stream: RawStream) -> Result<RawEvent> {
        let mut event = ptr::null_mut();
        // SAFETY: `event` outlives the call.
        self.check(
            unsafe { (self.api.event_record)(&mut event, stream.0) },
            "recording an event",
        )?;
        Ok(RawEvent(event))
    }

    /// Whether all work before `event` is complete.
    ///
    /// # Safety
    ///
    /// `event` was not destroyed.
    pub(crate) unsafe fn is_over(self, event: RawEvent) -> Result<bool> {
        let mut over = 0;
        // SAFETY: as the caller promises; `over` outlives the call.
        self.check(
            unsafe { (self.api.event_query)(event.0, &mut over) },
            "looking at an event",
        )?;
        Ok(over != 0)
    }

    /// Waits for all work before `event`; returns errors of that work.
    ///
    /// # Safety
    ///
    /// `event` was not destroyed.
    pub(crate) unsafe fn wait_for(self, event: RawEvent) -> Result<()> {
        // SAFETY: as the caller promises.
        self.check(
            unsafe { (self.api.event_synchronize)(event.0) },
            "waiting for the GPU",
        )
    }

    /// Work enqueued on `stream` from now on begins after `event`.
    ///
    /// # Safety
    ///
    /// `event` was not destroyed.
    pub(crate) unsafe fn begin_after(self, stream: RawStream, event: RawEvent) -> Result<()> {
        // SAFETY: as the caller promises.
        self.check(
            unsafe { (self.api.stream_wait_event)(stream.0, event.0) },
            "ordering two streams",
        )
    }

    /// # Safety
    ///
    /// `event` is not used after this.
    pub(crate) unsafe fn destroy_event(self, event: RawEvent) {
        // SAFETY: as the caller promises. An error is ignored.
        unsafe { (self.api.event_destroy)(event.0) };
    }

    /// Allocates device memory; `None` if there is not enough.
    pub(crate) fn allocate(self, bytes: u64, stream: RawStream) -> Result<Option<NonNull<u8>>> {
        let mut memory = ptr::null_mut();
        // SAFETY: `memory` outlives the call.
        match unsafe { (self.api.malloc_async)(&mut memory, bytes, stream.0) } {
            OUT_OF_MEMORY => Ok(None),
            code => {
                self.check(code, "allocating device memory")?;
                Ok(NonNull::new(memory.cast()))
            }
        }
    }

    /// # Safety
    ///
    /// `memory` came from [`Self::allocate`], and only work already on `stream` uses it.
    pub(crate) unsafe fn free(self, memory: NonNull<u8>, stream: RawStream) {
        // SAFETY: as the caller promises. An error cannot be reported.
        unsafe { (self.api.free_async)(memory.as_ptr().cast(), stream.0) };
    }

    /// Copies from the host.
    ///
    /// # Safety
    ///
    /// There are so many bytes at both addresses, the first in device memory. Those of the host are not
    /// changed until the copy is complete.
    pub(crate) unsafe fn copy_in(
        self,
        to: NonNull<u8>,
        from: NonNull<u8>,
        bytes: usize,
        stream: RawStream,
    ) -> Result<()> {
        let (dst, src) = (to.as_ptr().cast(), from.as_ptr().cast());
        // SAFETY: as the caller promises.
        let code = unsafe { (self.api.copy_to_device)(dst, src, bytes as u64, stream.0) };
        self.check(code, "copying to the GPU")
    }

    /// Copies to the host.
    ///
    /// # Safety
    ///
    /// There are so many bytes at both addresses, the second in device memory. Those of the host are not
    /// used until the copy is complete.
    pub(crate) unsafe fn copy_out(
        self,
        to: NonNull<u8>,
        from: NonNull<u8>,
        bytes: usize,
        stream: RawStream,
    ) -> Result<()> {
        let (dst, src) = (to.as_ptr().cast(), from.as_ptr().cast());
        // SAFETY: as the caller promises.
        let code = unsafe { (self.api.copy_to_host)(dst, src, bytes as u64, stream.0) };
        self.check(code, "copying from the GPU")
    }

    /// Copies `height` rows of `width` bytes, which begin every `to.1` and `from.1` bytes.
    ///
    /// # Safety
    ///
    /// The rows are in device memory, and no row overlaps another one of either side.
    pub(crate) unsafe fn copy_rows(
        self,
        to: (NonNull<u8>, u64),
        from: (NonNull<u8>, u64),
        (width, height): (u64, u64),
        stream: RawStream,
    ) -> Result<()> {
        let (dst, src) = (to.0.as_ptr().cast(), from.0.as_ptr().cast());
        // SAFETY: as the caller promises.
        let code = unsafe {
            match height {
                1 => (self.api.copy_on_device)(dst, src, width, stream.0),
                _ => {
                    (self.api.copy_rows_on_device)(dst, to.1, src, from.1, width, height, stream.0)
                }
            }
        };
        self.check(code, "copying on the GPU")
    }

    /// Copies between the memory of two devices, which CUDA numbers so.
    ///
    /// # Safety
    ///
    /// There are so many bytes at both addresses, of these devices, until the copy is complete.
    pub(crate) unsafe fn copy_to_peer(
        self,
        to: (NonNull<u8>, c_int),
        from: (NonNull<u8>, c_int),
        bytes: u64,
        stream: RawStream,
    ) -> Result<()> {
        let (dst, src) = (to.0.as_ptr().cast(), from.0.as_ptr().cast());
        // SAFETY: as the caller promises.
        let code = unsafe { (self.api.copy_to_peer)(dst, to.1, src, from.1, bytes, stream.0) };
        self.check(code, "copying to another GPU")
    }

    /// Allocates page-locked host memory; `None` if there is not enough.
    pub(crate) fn allocate_host(self, bytes: u64) -> Result<Option<NonNull<u8>>> {
        let (mut host, mut device) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: both addresses outlive the call.
        match unsafe { (self.api.host_alloc_mapped)(&mut host, &mut device, bytes) } {
            OUT_OF_MEMORY => Ok(None),
            code => {
                self.check(code, "allocating page-locked memory")?;
                Ok(NonNull::new(host.cast()))
            }
        }
    }

    /// # Safety
    ///
    /// `memory` came from [`Self::allocate_host`], and nothing uses it any more.
    pub(crate) unsafe fn free_host(self, memory: NonNull<u8>) {
        // SAFETY: as the caller promises. An error cannot be reported.
        unsafe { (self.api.host_free)(memory.as_ptr().cast()) };
    }

    /// From now on work on `stream` is recorded and not executed.
    pub(crate) fn begin_graph(self, stream: RawStream) -> Result<()> {
        // SAFETY: `RawStream`s are made by `create_stream`.
        let code = unsafe { (self.api.graph_begin)(stream.0) };
        self.check(code, "beginning a graph")
    }

    /// The work that was recorded. The stream records no longer, also after an error.
    pub(crate) fn end_graph(self, stream: RawStream) -> Result<RawGraph> {
        let mut graph = ptr::null_mut();
        // SAFETY: `graph` outlives the call.
        let code = unsafe { (self.api.graph_end)(stream.0, &mut graph) };
        self.check(code, "ending a graph")?;
        Ok(RawGraph(graph))
    }

    /// # Safety
    ///
    /// The memory that the graph's work uses is allocated until that is complete, and the graph was
    /// not destroyed.
    pub(crate) unsafe fn launch_graph(self, graph: RawGraph, stream: RawStream) -> Result<()> {
        // SAFETY: as the caller promises.
        let code = unsafe { (self.api.graph_launch)(graph.0, stream.0) };
        self.check(code, "launching a graph")
    }

    /// # Safety
    ///
    /// The graph is not used after this, and its launches are complete.
    pub(crate) unsafe fn destroy_graph(self, graph: RawGraph) {
        // SAFETY: as the caller promises. An error is ignored.
        unsafe { (self.api.graph_destroy)(graph.0) };
    }

    /// # Safety
    ///
    /// `memory` is device memory of at least `bytes` bytes.
    pub(crate) unsafe fn clear(
        self,
        memory: NonNull<u8>,
        bytes: u64,
        stream: RawStream,
    ) -> Result<()> {
        // SAFETY: as the caller promises.
        let code = unsafe { (self.api.memset_async)(memory.as_ptr().cast(), 0, bytes, stream.0) };
        self.check(code, "clearing device memory")
    }

    /// A record that kernels of the selected device can write; it is never freed.
    pub(crate) fn mapped_record(self) -> Result<MappedRecord> {
        let (mut host, mut device) = (ptr::null_mut(), ptr::null_mut());
        let bytes = size_of::<croq_failure>() as u64;
        // SAFETY: both addresses outlive the call.
        let code = unsafe { (self.api.host_alloc_mapped)(&mut host, &mut device, bytes) };
        self.check(code, "allocating memory that the GPU shares")?;
        let Some(host) = NonNull::new(host.cast::<croq_failure>()) else {
            return Err(self.error(OUT_OF_MEMORY, "allocating memory that the GPU shares"));
        };
        // SAFETY: fresh memory of that size, aligned to a page.
        unsafe { host.write(croq_failure::default()) };
        Ok(MappedRecord {
            host,
            device: device.cast(),
        })
    }
}

fn text_at(text: *const c_char) -> String {
    if text.is_null() {
        return "unknown error".to_owned();
    }
    // SAFETY: the callers pass NUL-terminated text that lives through this call.
    unsafe { CStr::from_ptr(text) }
        .to_string_lossy()
        .into_owned()
}
