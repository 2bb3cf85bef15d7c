//! A CUDA runtime for tests: its device memory is the host's, and it fails on demand. Every test
//! thread has its own. Streams are as late as they may be: what was enqueued happens when somebody waits.

use std::alloc::{Layout, alloc, dealloc};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ffi::{c_char, c_int, c_void};

use crate::abi::{CROQ_ABI_VERSION, croq_cuda_api, croq_cuda_device_info};
use crate::cuda::Runtime;
use crate::device::Device;

thread_local! {
    /// The error that every call returns, as after a failed kernel.
    pub(crate) static STICKY: Cell<c_int> = const { Cell::new(0) };
    /// The error that only looking for devices returns.
    pub(crate) static NO_DRIVER: Cell<c_int> = const { Cell::new(0) };
    /// What is allocated now, and how much may be at once.
    static ALLOCATED: RefCell<BTreeMap<usize, usize>> = const { RefCell::new(BTreeMap::new()) };
    /// The work on all streams, in the order in which it was enqueued.
    static QUEUED: RefCell<Vec<Queued>> = const { RefCell::new(Vec::new()) };
    static STREAMS: Cell<usize> = const { Cell::new(0) };
}

struct Queued {
    stream: usize,
    work: Box<dyn FnOnce()>,
}

/// Puts `work` on `stream`.
pub(crate) fn enqueue(stream: *mut c_void, work: impl FnOnce() + 'static) {
    let (stream, work) = (stream.addr(), Box::new(work));
    QUEUED.with_borrow_mut(|all| all.push(Queued { stream, work }));
}

/// How much work nobody has waited for.
pub(crate) fn queued() -> usize {
    QUEUED.with_borrow(Vec::len)
}

/// Does what is on `stream`.
fn finish(stream: *mut c_void) {
    let all = QUEUED.take();
    let (due, rest) = all.into_iter().partition(|q| q.stream == stream.addr());
    QUEUED.set(rest);
    let due: Vec<Queued> = due;
    due.into_iter().for_each(|q| (q.work)());
}

/// Whether all of it is allocated now.
pub(crate) fn is_allocated(address: *mut c_void) -> bool {
    ALLOCATED.with_borrow(|all| all.contains_key(&address.addr()))
}

const CAPACITY: u64 = 1 << 20;

pub(crate) fn device() -> Device {
    Device::open(Runtime::new(&API), 0).expect("the first of two devices")
}

/// How many pieces of device memory there are.
pub(crate) fn allocations() -> usize {
    ALLOCATED.with_borrow(BTreeMap::len)
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
    malloc_async,
    free_async,
    copy_to_device: copy,
    copy_to_host: copy,
    copy_on_device: copy,
    memset_async,
    host_alloc_mapped,
    host_free,
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

unsafe extern "C" fn set_device(_: c_int) -> c_int {
    0
}

unsafe extern "C" fn stream_create(stream: *mut *mut c_void) -> c_int {
    STREAMS.set(STREAMS.get() + 1);
    // SAFETY: the caller's variable.
    unsafe { *stream = std::ptr::without_provenance_mut(STREAMS.get()) };
    STICKY.get()
}

unsafe extern "C" fn stream_destroy(_: *mut c_void) -> c_int {
    STICKY.get()
}

unsafe extern "C" fn stream_synchronize(stream: *mut c_void) -> c_int {
    finish(stream);
    STICKY.get()
}

unsafe extern "C" fn malloc_async(memory: *mut *mut c_void, bytes: u64, _: *mut c_void) -> c_int {
    if STICKY.get() != 0 {
        return STICKY.get();
    }
    if bytes > CAPACITY {
        return 2;
    }
    let bytes = bytes as usize;
    // SAFETY: at least one byte is asked for, and the pointer goes to the caller's variable.
    let address = unsafe { alloc(Layout::from_size_align(bytes, 256).expect("a small size")) };
    ALLOCATED.with_borrow_mut(|all| all.insert(address as usize, bytes));
    // SAFETY: the caller's variable.
    unsafe { *memory = address.cast() };
    0
}

unsafe extern "C" fn free_async(memory: *mut c_void, stream: *mut c_void) -> c_int {
    // Behind what is on the stream; at once where nothing is, so that tests can count.
    if QUEUED.with_borrow(|all| all.iter().any(|q| q.stream == stream.addr())) {
        enqueue(stream, move || free(memory));
    } else {
        free(memory);
    }
    STICKY.get()
}

fn free(memory: *mut c_void) {
    let bytes = ALLOCATED.with_borrow_mut(|all| all.remove(&(memory as usize)));
    let layout = Layout::from_size_align(bytes.expect("freed once"), 256).expect("a small size");
    // SAFETY: allocated above with this layout.
    unsafe { dealloc(memory.cast(), layout) };
}

unsafe extern "C" fn copy(
    dst: *mut c_void,
    src: *const c_void,
    bytes: u64,
    _: *mut c_void,
) -> c_int {
    if STICKY.get() == 0 {
        // SAFETY: the caller vouches for both ends.
        unsafe { dst.copy_from_nonoverlapping(src, bytes as usize) };
    }
    STICKY.get()
}

unsafe extern "C" fn memset_async(
    dst: *mut c_void,
    byte: c_int,
    bytes: u64,
    _: *mut c_void,
) -> c_int {
    // SAFETY: the caller vouches for the memory.
    unsafe { dst.write_bytes(byte as u8, bytes as usize) };
    STICKY.get()
}

unsafe extern "C" fn host_alloc_mapped(
    host: *mut *mut c_void,
    device: *mut *mut c_void,
    bytes: u64,
) -> c_int {
    let memory = Box::leak(vec![0u64; bytes.div_ceil(8) as usize].into_boxed_slice());
    // SAFETY: the caller's variables.
    unsafe {
        *host = memory.as_mut_ptr().cast();
        *device = *host;
    }
    STICKY.get()
}

unsafe extern "C" fn host_free(_: *mut c_void) -> c_int {
    0
}

unsafe extern "C" fn error_string(_: c_int) -> *const c_char {
    c"as asked".as_ptr()
}
