//! A CUDA runtime for tests: its device memory is the host's, and it fails on demand. Every test
//! thread has its own. Streams run as late as possible: kernels run when a thread waits. Operations
//! that take no time (recording an event, waiting for one, freeing memory) are executed as soon as
//! no work is before them.

use std::alloc::{Layout, alloc, dealloc};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{c_char, c_int, c_void};
use std::ops::Range;
use std::rc::Rc;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::abi::{CROQ_ABI_VERSION, croq_cuda_api, croq_cuda_device_info};
use crate::cuda::Runtime;
use crate::device::Device;

/// Page-locked memory of all threads.
static PINNED: Mutex<BTreeMap<usize, usize>> = Mutex::new(BTreeMap::new());

thread_local! {
    static OWN_PINNED: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
    /// The error that every call returns, as after a failed kernel.
    pub(crate) static STICKY: Cell<c_int> = const { Cell::new(0) };
    /// The error that only the query for devices returns.
    pub(crate) static NO_DRIVER: Cell<c_int> = const { Cell::new(0) };
    /// The current allocations, and their limit.
    static ALLOCATED: RefCell<BTreeMap<usize, usize>> = const { RefCell::new(BTreeMap::new()) };
    /// The work on all streams, in the order in which it was enqueued.
    static QUEUED: RefCell<Vec<Queued>> = const { RefCell::new(Vec::new()) };
    static FOREIGN: RefCell<Vec<Range<usize>>> = const { RefCell::new(Vec::new()) };
    /// The number of `memset_async` calls.
    static FILLS: Cell<usize> = const { Cell::new(0) };
    static STREAMS: Cell<usize> = const { Cell::new(0) };
    static LIVE_STREAMS: Cell<usize> = const { Cell::new(0) };
    /// Streams that were destroyed.
    static DESTROYED: RefCell<BTreeSet<usize>> = const { RefCell::new(BTreeSet::new()) };
    /// The number of operations that were complete when each event was.
    static TIMES: RefCell<BTreeMap<usize, usize>> = const { RefCell::new(BTreeMap::new()) };
    static DONE: Cell<usize> = const { Cell::new(0) };
    /// The number of calls that wait.
    static WAITS: Cell<usize> = const { Cell::new(0) };
    /// Events that are not complete.
    static PENDING: RefCell<BTreeSet<usize>> = const { RefCell::new(BTreeSet::new()) };
    static SELECTED: Cell<c_int> = const { Cell::new(0) };
    static WAITED_ON: Cell<c_int> = const { Cell::new(-1) };
    /// The streams that capture graphs.
    static CAPTURED: RefCell<BTreeMap<usize, Recorded>> = const { RefCell::new(BTreeMap::new()) };
    static GRAPHS: RefCell<BTreeMap<usize, Recorded>> = const { RefCell::new(BTreeMap::new()) };
    static MADE_GRAPHS: Cell<usize> = const { Cell::new(0) };
    static EVENTS: Cell<usize> = const { Cell::new(0) };
    static LIVE_EVENTS: Cell<usize> = const { Cell::new(0) };
}

struct Queued {
    stream: usize,
    step: Step,
}

enum Step {
    Kernel(Work),
    Fill(Work),
    Record(usize),
    WaitFor(usize),
    Free(usize),
    Callback(Callback, usize),
}

/// What takes time, and can be a part of a graph.
type Work = Rc<dyn Fn()>;

/// Work in a graph, and whether it counts as a kernel.
type Recorded = Vec<(Work, bool)>;

type Callback = unsafe extern "C" fn(*mut c_void, c_int, *mut c_void);

/// `cudaErrorInvalidResourceHandle`
const INVALID_HANDLE: c_int = 400;

/// `cudaErrorStreamCaptureUnsupported`
const CAPTURING: c_int = 900;

/// The result of an operation on `stream`.
fn answer(stream: *mut c_void) -> c_int {
    let destroyed = DESTROYED.with_borrow(|all| all.contains(&stream.addr()));
    if destroyed {
        return INVALID_HANDLE;
    }
    if CAPTURED.with_borrow(|all| all.contains_key(&stream.addr())) {
        return CAPTURING;
    }
    STICKY.get()
}

/// A stream that the program made with CUDA itself.
pub(crate) fn foreign_stream() -> *mut c_void {
    let mut stream = std::ptr::null_mut();
    // SAFETY: a variable of this function.
    unsafe { stream_create(&mut stream) };
    stream
}

/// What the program does to a stream of its own.
pub(crate) fn destroy(stream: *mut c_void) {
    // SAFETY: it takes any address.
    unsafe { stream_destroy(stream) };
}

/// The number of calls so far that waited for work.
pub(crate) fn waits() -> usize {
    WAITS.get()
}

fn push(stream: *mut c_void, step: Step) {
    let stream = stream.addr();
    QUEUED.with_borrow_mut(|all| all.push(Queued { stream, step }));
    advance();
}

/// Enqueues `work` on `stream`, or makes it a part of the graph that this captures.
pub(crate) fn enqueue(stream: *mut c_void, work: impl Fn() + 'static) {
    enqueue_work(stream, Rc::new(work), true);
}

fn enqueue_work(stream: *mut c_void, work: Work, is_kernel: bool) {
    let captured = CAPTURED.with_borrow_mut(|all| {
        let captured = all.get_mut(&stream.addr());
        captured.map(|recorded| recorded.push((work.clone(), is_kernel)))
    });
    match captured {
        Some(()) => {}
        None if is_kernel => push(stream, Step::Kernel(work)),
        None => push(stream, Step::Fill(work)),
    }
}

/// The number of graphs that were not destroyed.
pub(crate) fn live_graphs() -> usize {
    GRAPHS.with_borrow(BTreeMap::len)
}

/// The number of kernels that have not run yet.
pub(crate) fn queued() -> usize {
    let is_kernel = |q: &&Queued| matches!(q.step, Step::Kernel(_));
    QUEUED.with_borrow(|all| all.iter().filter(is_kernel).count())
}

pub(crate) fn live_streams() -> usize {
    LIVE_STREAMS.get()
}

pub(crate) fn live_events() -> usize {
    LIVE_EVENTS.get()
}

fn is_pending(event: usize) -> bool {
    PENDING.with_borrow(|all| all.contains(&event))
}

/// The first operation that takes no time and is the next one on its stream.
fn next_quick() -> Option<Queued> {
    QUEUED.with_borrow_mut(|all| {
        let mut blocked = BTreeSet::new();
        let at = all.iter().position(|q| {
            let quick = match q.step {
                Step::Kernel(_) | Step::Fill(_) => false,
                Step::WaitFor(event) => !is_pending(event),
                Step::Record(_) | Step::Free(_) | Step::Callback(..) => true,
            };
            let first = !blocked.contains(&q.stream);
            blocked.insert(q.stream);
            quick && first
        })?;
        Some(all.remove(at))
    })
}

fn advance() {
    while let Some(q) = next_quick() {
        carry_out(q.step);
    }
}

fn carry_out(step: Step) {
    DONE.set(DONE.get() + 1);
    match step {
        Step::Kernel(work) | Step::Fill(work) => work(),
        Step::Record(event) => {
            TIMES.with_borrow_mut(|all| all.insert(event, DONE.get()));
            PENDING.with_borrow_mut(|all| all.remove(&event));
        }
        Step::WaitFor(event) => finish_event(event),
        Step::Free(memory) => free(memory),
        Step::Callback(function, data) => {
            let data = std::ptr::with_exposed_provenance_mut(data);
            // SAFETY: the program gave both for this call.
            unsafe { function(std::ptr::null_mut(), STICKY.get(), data) };
        }
    }
}

/// Runs all work on all streams, without a call of the program.
pub(crate) fn run_all() {
    loop {
        let next = QUEUED.with_borrow(|all| all.first().map(|q| q.stream));
        match next {
            Some(stream) => finish(stream),
            None => break,
        }
    }
}

/// Runs all work on `stream`.
fn finish(stream: usize) {
    finish_until(stream, |_| false);
}

/// Runs the work before an event.
fn finish_event(event: usize) {
    let is_record = |q: &Queued| matches!(q.step, Step::Record(e) if e == event);
    let stream = QUEUED.with_borrow(|all| all.iter().find(|q| is_record(q)).map(|q| q.stream));
    if let Some(stream) = stream {
        finish_until(stream, is_record);
    }
}

fn finish_until(stream: usize, last: impl Fn(&Queued) -> bool) {
    let next = || {
        QUEUED.with_borrow_mut(|all| {
            let at = all.iter().position(|q| q.stream == stream)?;
            Some(all.remove(at))
        })
    };
    while let Some(q) = next() {
        let done = last(&q);
        carry_out(q.step);
        if done {
            break;
        }
    }
    advance();
}

/// Whether the address is currently allocated.
pub(crate) fn is_allocated(address: *mut c_void) -> bool {
    is_inside(address.addr(), address.addr() + 1)
}

const CAPACITY: u64 = 1 << 20;

pub(crate) fn device() -> Device {
    Device::open(Runtime::new(&API), 0).expect("the first of two devices")
}

/// The number of allocations of device memory.
pub(crate) fn allocations() -> usize {
    ALLOCATED.with_borrow(BTreeMap::len)
}

/// The number of fills so far.
pub(crate) fn fills() -> usize {
    FILLS.get()
}

pub(crate) static API: croq_cuda_api = croq_cuda_api {
    abi_version: CROQ_ABI_VERSION,
    runtime_version: 13000,
    device_count,
    device_info,
    set_device,
    stream_create,
    stream_destroy,
    stream_synchronize,
    stream_query,
    stream_add_callback,
    stream_wait_event,
    event_record,
    event_record_timed: event_record,
    event_elapsed,
    event_query,
    event_synchronize,
    event_destroy,
    malloc_async,
    free_async,
    copy_to_device: copy,
    copy_to_host: copy,
    copy_on_device: copy_later,
    copy_rows_on_device,
    copy_to_peer,
    memset_async,
    host_alloc_mapped,
    host_free,
    graph_begin,
    graph_end,
    graph_launch,
    graph_destroy,
    error_string,
};

unsafe extern "C" fn device_count(count: *mut c_int) -> c_int {
    // SAFETY: the caller's variable.
    unsafe { *count = 2 };
    NO_DRIVER.get()
}

unsafe extern "C" fn device_info(device: c_int, info: *mut croq_cuda_device_info) -> c_int {
    let name = format!("Fake {device}");
    // SAFETY: the caller's variable.
    for (to, from) in unsafe { (*info).name.iter_mut() }.zip(name.bytes()) {
        *to = from as c_char;
    }
    0
}

unsafe extern "C" fn set_device(device: c_int) -> c_int {
    SELECTED.set(device);
    STICKY.get()
}

/// The device of the last wait of a stream for an event.
pub(crate) fn device_of_wait() -> c_int {
    WAITED_ON.get()
}

unsafe extern "C" fn stream_create(stream: *mut *mut c_void) -> c_int {
    STREAMS.set(STREAMS.get() + 1);
    LIVE_STREAMS.set(LIVE_STREAMS.get() + 1);
    // SAFETY: the caller's variable.
    unsafe { *stream = std::ptr::without_provenance_mut(STREAMS.get()) };
    STICKY.get()
}

unsafe extern "C" fn stream_destroy(stream: *mut c_void) -> c_int {
    LIVE_STREAMS.set(LIVE_STREAMS.get() - 1);
    DESTROYED.with_borrow_mut(|all| all.insert(stream.addr()));
    STICKY.get()
}

unsafe extern "C" fn stream_query(stream: *mut c_void, over: *mut u32) -> c_int {
    let work = QUEUED.with_borrow(|all| all.iter().any(|q| q.stream == stream.addr()));
    // SAFETY: the caller's variable.
    unsafe { *over = u32::from(!work) };
    answer(stream)
}

unsafe extern "C" fn stream_add_callback(
    stream: *mut c_void,
    function: Callback,
    data: *mut c_void,
) -> c_int {
    if answer(stream) != 0 {
        return answer(stream);
    }
    push(stream, Step::Callback(function, data.expose_provenance()));
    0
}

unsafe extern "C" fn event_elapsed(
    milliseconds: *mut f32,
    from: *mut c_void,
    to: *mut c_void,
) -> c_int {
    let times = [from, to].map(|e| TIMES.with_borrow(|all| all.get(&e.addr()).copied()));
    let [Some(from), Some(to)] = times else {
        // `cudaErrorNotReady`
        return 600;
    };
    // SAFETY: the caller's variable.
    unsafe { *milliseconds = to as f32 - from as f32 };
    STICKY.get()
}

unsafe extern "C" fn stream_wait_event(stream: *mut c_void, event: *mut c_void) -> c_int {
    WAITED_ON.set(SELECTED.get());
    if answer(stream) != 0 {
        return answer(stream);
    }
    push(stream, Step::WaitFor(event.addr()));
    STICKY.get()
}

unsafe extern "C" fn event_record(event: *mut *mut c_void, stream: *mut c_void) -> c_int {
    if answer(stream) != 0 {
        return answer(stream);
    }
    EVENTS.set(EVENTS.get() + 1);
    LIVE_EVENTS.set(LIVE_EVENTS.get() + 1);
    let made = EVENTS.get();
    PENDING.with_borrow_mut(|all| all.insert(made));
    // SAFETY: the caller's variable.
    unsafe { *event = std::ptr::without_provenance_mut(made) };
    push(stream, Step::Record(made));
    0
}

unsafe extern "C" fn event_query(event: *mut c_void, over: *mut u32) -> c_int {
    // SAFETY: the caller's variable.
    unsafe { *over = u32::from(!is_pending(event.addr())) };
    STICKY.get()
}

unsafe extern "C" fn event_synchronize(event: *mut c_void) -> c_int {
    WAITS.set(WAITS.get() + 1);
    finish_event(event.addr());
    STICKY.get()
}

unsafe extern "C" fn event_destroy(_: *mut c_void) -> c_int {
    LIVE_EVENTS.set(LIVE_EVENTS.get() - 1);
    STICKY.get()
}

unsafe extern "C" fn stream_synchronize(stream: *mut c_void) -> c_int {
    WAITS.set(WAITS.get() + 1);
    finish(stream.addr());
    answer(stream)
}

unsafe extern "C" fn malloc_async(memory: *mut *mut c_void, bytes: u64, _: *mut c_void) -> c_int {
    if STICKY.get() != 0 {
        return STICKY.get();
    }
    if bytes > CAPACITY {
        return 2;
    }
    let bytes = bytes as usize;
    // SAFETY: the size is at least one byte, and the pointer is stored in the caller's variable.
    let address = unsafe { alloc(Layout::from_size_align(bytes, 256).expect("a small size")) };
    ALLOCATED.with_borrow_mut(|all| all.insert(address.expose_provenance(), bytes));
    // SAFETY: the caller's variable.
    unsafe { *memory = address.cast() };
    0
}

unsafe extern "C" fn free_async(memory: *mut c_void, stream: *mut c_void) -> c_int {
    push(stream, Step::Free(memory.addr()));
    STICKY.get()
}

fn free(memory: usize) {
    let bytes = ALLOCATED.with_borrow_mut(|all| all.remove(&memory));
    let layout = Layout::from_size_align(bytes.expect("freed once"), 256).expect("a small size");
    // SAFETY: allocated above with this layout.
    unsafe { dealloc(std::ptr::with_exposed_provenance_mut(memory), layout) };
}

unsafe extern "C" fn copy(
    dst: *mut c_void,
    src: *const c_void,
    bytes: u64,
    stream: *mut c_void,
) -> c_int {
    let pinned = [dst.addr(), src.addr()].iter().any(|at| is_pinned(*at));
    if pinned {
        // SAFETY: as the caller promises.
        return unsafe { copy_later(dst, src, bytes, stream) };
    }
    finish(stream.addr());
    if STICKY.get() == 0 {
        // SAFETY: the caller is responsible for both addresses.
        unsafe { dst.copy_from_nonoverlapping(src, bytes as usize) };
    }
    STICKY.get()
}

fn pinned() -> MutexGuard<'static, BTreeMap<usize, usize>> {
    PINNED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The number of allocations of host memory by this thread that were not freed.
pub(crate) fn host_allocations() -> usize {
    let own = OWN_PINNED.with_borrow(Clone::clone);
    own.iter().filter(|at| pinned().contains_key(at)).count()
}

fn is_pinned(address: usize) -> bool {
    let pinned = pinned();
    let before = pinned.range(..=address).next_back();
    before.is_some_and(|(at, bytes)| address < at + bytes)
}

/// Copies when the stream executes it.
unsafe extern "C" fn copy_later(
    dst: *mut c_void,
    src: *const c_void,
    bytes: u64,
    stream: *mut c_void,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { copy_rows_on_device(dst, bytes, src, bytes, bytes, 1, stream) }
}

unsafe extern "C" fn copy_rows_on_device(
    dst: *mut c_void,
    dst_pitch: u64,
    src: *const c_void,
    src_pitch: u64,
    width: u64,
    height: u64,
    stream: *mut c_void,
) -> c_int {
    if dst_pitch < width || src_pitch < width {
        return 12; // `cudaErrorInvalidPitchValue`
    }
    if ![0, CAPTURING].contains(&answer(stream)) {
        return answer(stream);
    }
    let (dst, src) = (dst.expose_provenance(), src.expose_provenance());
    enqueue(stream, move || {
        for row in 0..height {
            let to = dst + (row * dst_pitch) as usize;
            let from = src + (row * src_pitch) as usize;
            for at in [to, from] {
                let end = at + width as usize;
                assert!(is_inside(at, end), "copied outside of an allocation");
            }
            let to = std::ptr::with_exposed_provenance_mut::<u8>(to);
            let from = std::ptr::with_exposed_provenance::<u8>(from);
            // SAFETY: inside of allocations, or the caller is responsible.
            unsafe { to.copy_from_nonoverlapping(from, width as usize) };
        }
    });
    0
}

/// Whether these addresses are allocated, on the device or the host, or the memory of a test.
fn is_inside(start: usize, end: usize) -> bool {
    if is_pinned(start) {
        return is_pinned(end - 1);
    }
    ALLOCATED.with_borrow(|all| {
        let before = all.range(..=start).next_back();
        let inside = before.is_some_and(|(at, bytes)| start < at + bytes && end <= at + bytes);
        inside || FOREIGN.with_borrow(|all| all.iter().any(|r| r.start <= start && end <= r.end))
    })
}

/// Memory that the program allocated with CUDA itself.
pub(crate) fn foreign_memory(memory: &[u8]) {
    let range = memory.as_ptr_range();
    FOREIGN.with_borrow_mut(|all| all.push(range.start.addr()..range.end.addr()));
}

unsafe extern "C" fn memset_async(
    dst: *mut c_void,
    byte: c_int,
    bytes: u64,
    stream: *mut c_void,
) -> c_int {
    FILLS.set(FILLS.get() + 1);
    let start = dst.expose_provenance();
    let fill = move || {
        let end = start + bytes as usize;
        assert!(is_inside(start, end), "cleared outside of an allocation");
        let dst = std::ptr::with_exposed_provenance_mut::<u8>(start);
        // SAFETY: inside of an allocation.
        unsafe { dst.write_bytes(byte as u8, bytes as usize) };
    };
    enqueue_work(stream, Rc::new(fill), false);
    STICKY.get()
}

unsafe extern "C" fn copy_to_peer(
    dst: *mut c_void,
    dst_device: c_int,
    src: *const c_void,
    src_device: c_int,
    bytes: u64,
    stream: *mut c_void,
) -> c_int {
    assert_ne!(dst_device, src_device);
    // SAFETY: as the caller promises.
    unsafe { copy_later(dst, src, bytes, stream) }
}

unsafe extern "C" fn graph_begin(stream: *mut c_void) -> c_int {
    CAPTURED.with_borrow_mut(|all| all.insert(stream.addr(), Vec::new()));
    STICKY.get()
}

unsafe extern "C" fn graph_end(stream: *mut c_void, graph: *mut *mut c_void) -> c_int {
    let recorded = CAPTURED.with_borrow_mut(|all| all.remove(&stream.addr()));
    let Some(recorded) = recorded else {
        return INVALID_HANDLE;
    };
    MADE_GRAPHS.set(MADE_GRAPHS.get() + 1);
    let made = MADE_GRAPHS.get();
    GRAPHS.with_borrow_mut(|all| all.insert(made, recorded));
    // SAFETY: the caller's variable.
    unsafe { *graph = std::ptr::without_provenance_mut(made) };
    STICKY.get()
}

unsafe extern "C" fn graph_launch(graph: *mut c_void, stream: *mut c_void) -> c_int {
    if answer(stream) != 0 {
        return answer(stream);
    }
    let Some(recorded) = GRAPHS.with_borrow(|all| all.get(&graph.addr()).cloned()) else {
        return INVALID_HANDLE;
    };
    for (work, is_kernel) in recorded {
        enqueue_work(stream, work, is_kernel);
    }
    0
}

unsafe extern "C" fn graph_destroy(graph: *mut c_void) -> c_int {
    match GRAPHS.with_borrow_mut(|all| all.remove(&graph.addr())) {
        Some(_) => STICKY.get(),
        None => INVALID_HANDLE,
    }
}

unsafe extern "C" fn host_alloc_mapped(
    host: *mut *mut c_void,
    device: *mut *mut c_void,
    bytes: u64,
) -> c_int {
    if bytes > CAPACITY {
        return 2;
    }
    let layout = Layout::from_size_align(bytes as usize, 256).expect("a small size");
    // SAFETY: the size is at least one byte.
    let memory = unsafe { alloc(layout) };
    pinned().insert(memory.expose_provenance(), bytes as usize);
    OWN_PINNED.with_borrow_mut(|own| own.push(memory.addr()));
    // SAFETY: the caller's variables.
    unsafe {
        *host = memory.cast();
        *device = *host;
    }
    STICKY.get()
}

/// Also on the thread that calls functions after work.
unsafe extern "C" fn host_free(host: *mut c_void) -> c_int {
    let bytes = pinned().remove(&host.addr()).expect("freed once");
    let layout = Layout::from_size_align(bytes, 256).expect("a small size");
    // SAFETY: allocated above with this layout.
    unsafe { dealloc(host.cast(), layout) };
    0
}

unsafe extern "C" fn error_string(_: c_int) -> *const c_char {
    c"as asked".as_ptr()
}
