//! The C ABI between generated code and this crate: a mirror of `croq-build/device/croq_abi.h`.
//!
//! The header documents each item; this file only has what Rust needs. The conformance crate
//! compares every size and offset with the result of a C++ compiler for the header. Names are those
//! of the header, so that bindgen's output can use them unchanged.

#![allow(non_camel_case_types)]

use std::ffi::{CStr, c_char, c_int, c_void};

pub type croq_i64 = i64;
pub type croq_u64 = u64;
pub type croq_u32 = u32;

pub const CROQ_ABI_VERSION: u32 = 28;

pub const CROQ_OK: u32 = 0;
pub const CROQ_CHECK: u32 = 1;
pub const CROQ_OUT_OF_BOUNDS: u32 = 2;
pub const CROQ_MISALIGNED: u32 = 3;
pub const CROQ_DEADLOCK: u32 = 4;
pub const CROQ_OUT_OF_MEMORY: u32 = 5;
pub const CROQ_CUDA_ERROR: u32 = 6;
pub const CROQ_NEEDS_CUDA: u32 = 7;
pub const CROQ_ABI_MISMATCH: u32 = 8;
pub const CROQ_HAZARD: u32 = 9;
pub const CROQ_BEING_WRITTEN: u32 = 0xffff;
pub const CROQ_ENDLESS: u32 = 10;
pub const CROQ_NOT_RECORDED: u32 = 11;
pub const CROQ_WAIT_MBARRIER: u32 = 0;
pub const CROQ_WAIT_GRID: u32 = 1;
pub const CROQ_WAIT_HOST: u32 = 2;

/// `croq_failure::check` of a [`CROQ_CHECK`] that is not in the function's table: the device API's
/// own checks (division by zero, launch limits), which `what` identifies.
pub const NO_ROW: u32 = u32::MAX;

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct croq_failure {
    pub kind: u32,
    pub check: u32,
    pub line: u32,
    pub thread: u32,
    pub block: [u32; 3],
    pub value_count: u32,
    pub values: [i64; 6],
    pub what: [c_char; 64],
}

impl Default for croq_failure {
    fn default() -> Self {
        Self {
            kind: CROQ_OK,
            check: 0,
            line: 0,
            thread: 0,
            block: [0; 3],
            value_count: 0,
            values: [0; 6],
            what: [0; 64],
        }
    }
}

impl croq_failure {
    pub fn new(kind: u32) -> Self {
        Self {
            kind,
            check: NO_ROW,
            ..Self::default()
        }
    }

    /// The name of the buffer or barrier; empty if there is none or it is not UTF-8.
    pub fn what(&self) -> &str {
        // SAFETY: `c_char` and `u8` have one size and alignment, and every bit pattern is a `u8`.
        let bytes =
            unsafe { std::slice::from_raw_parts(self.what.as_ptr().cast::<u8>(), self.what.len()) };
        CStr::from_bytes_until_nul(bytes)
            .ok()
            .and_then(|c| c.to_str().ok())
            .unwrap_or("")
    }

    /// Sets `what`, truncated at the last character that fits.
    pub fn with_what(mut self, name: &str) -> Self {
        let mut end = name.len().min(self.what.len() - 1);
        while !name.is_char_boundary(end) {
            end -= 1;
        }
        self.what = [0; 64];
        for (slot, byte) in self.what.iter_mut().zip(&name.as_bytes()[..end]) {
            *slot = *byte as c_char;
        }
        self
    }

    /// Sets the values that a message shows; more than six are dropped.
    pub fn with_values(mut self, values: &[i64]) -> Self {
        let count = values.len().min(self.values.len());
        self.values[..count].copy_from_slice(&values[..count]);
        self.value_count = count as u32;
        self
    }

    /// The values that a message shows.
    pub fn values(&self) -> &[i64] {
        &self.values[..(self.value_count as usize).min(self.values.len())]
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct croq_sim_cell {
    pub written: u32,
    pub writer: u32,
    pub read: u32,
    pub reader: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct croq_sim_order {
    pub epoch: u32,
    pub reports_all: u32,
    pub plane: u64,
    pub cells: *mut croq_sim_cell,
    pub parts: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct croq_sim_device_cell {
    pub written: u32,
    pub writer: u32,
    pub read: u32,
    pub reader: u32,
    pub read_too: u32,
    pub reader_too: u32,
    pub value: u32,
    pub other: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct croq_sim_device_cells {
    pub first: *mut croq_sim_device_cell,
    pub touched: *mut u8,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct croq_sim_device {
    pub epoch: u32,
    pub first: u32,
    pub before: u32,
    pub reports_all: *mut u32,
    pub buffers: *const croq_sim_device_cells,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct croq_sim_schedule {
    pub start: u64,
    pub step: u64,
    pub first_thread: u32,
    pub thread_step: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct croq_sim_thread {
    pub tid: u32,
    pub block: [u32; 3],
    pub grid: [u32; 3],
    pub threads: u32,
    pub shared: *mut u8,
    pub shared_bytes: u64,
    pub marks: *mut u8,
    pub writers: *mut u64,
    pub written: *mut u8,
    pub order: *mut croq_sim_order,
    pub device: *mut croq_sim_device,
    pub schedule: croq_sim_schedule,
    pub fences: u32,
    pub cluster: u32,
    pub wgmma_fences: u32,
    pub iterations: u32,
    pub changes: u32,
    pub steps: i64,
    pub budget: i64,
    pub lanes: *mut u64,
    pub arena: *mut u8,
    pub arena_bytes: u64,
    pub stack_end: *mut u8,
    pub finds_unwritten: u32,
    pub runtime: *mut c_void,
}

pub const CROQ_LAUNCH_WAITS: u32 = 1;
pub const CROQ_LAUNCH_ORDERED: u32 = 2;
pub const CROQ_LAUNCH_ASYNC: u32 = 4;
pub const CROQ_LAUNCH_PROXIES: u32 = 8;
pub const CROQ_LAUNCH_TOGETHER: u32 = 16;
pub const CROQ_LAUNCH_SPINS: u32 = 128;

pub const CROQ_ITERATIONS: u32 = 4096;

pub const CROQ_COUNT_ITERATIONS: u32 = 0;
pub const CROQ_COUNT_STEPS: u32 = 1;
pub const CROQ_COUNT_SPIN: u32 = 2;
pub const CROQ_COUNT_PAUSE: u32 = 3;

pub const CROQ_LANES_SHUFFLE: u32 = 1;
pub const CROQ_LANES_SHUFFLE_UP: u32 = 2;
pub const CROQ_LANES_SHUFFLE_DOWN: u32 = 3;
pub const CROQ_LANES_SHUFFLE_XOR: u32 = 4;
pub const CROQ_LANES_VOTE: u32 = 5;
pub const CROQ_LANES_MATRIX: u32 = 6;
pub const CROQ_LAUNCH_TRACKS: u32 = 32;

pub const CROQ_SIM_FRAME_BYTES: usize = 32 << 10;
pub const CROQ_SIM_RESERVE_BYTES: usize = 32 << 10;

pub const CROQ_RECORDS_RACES: u32 = 1;
pub const CROQ_RECORDS_UNWRITTEN: u32 = 2;

pub const CROQ_ACCESS_READS: u32 = 0;
pub const CROQ_ACCESS_WRITES: u32 = 1;
pub const CROQ_ACCESS_ATOMIC: u32 = 2;
pub const CROQ_ACCESS_SAME: u32 = 3;

pub const CROQ_MBARRIER_INIT: u32 = 0;
pub const CROQ_MBARRIER_INVALIDATE: u32 = 1;
pub const CROQ_MBARRIER_ARRIVE: u32 = 2;
pub const CROQ_MBARRIER_EXPECT: u32 = 3;
pub const CROQ_MBARRIER_ARRIVE_EXPECT: u32 = 4;
pub const CROQ_MBARRIER_WAIT: u32 = 5;
pub const CROQ_MBARRIER_TRY_WAIT: u32 = 6;
pub const CROQ_MBARRIER_WAIT_NEXT: u32 = 7;
pub const CROQ_MBARRIER_WAIT_PHASE: u32 = 8;

pub const CROQ_SITE_READY: u32 = 1;
pub const CROQ_SITE_CLUSTER: u32 = 2;
pub const CROQ_SITE_SLOT: u32 = 4;

pub const CROQ_FENCE_MBARRIER_INIT: u32 = 0;
pub const CROQ_FENCE_PROXY_ASYNC: u32 = 1;

pub const CROQ_CLUSTER_ARRIVE: u32 = 0;
pub const CROQ_CLUSTER_WAIT: u32 = 1;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct croq_sim_tracked {
    pub name: *const c_char,
    pub memory: *mut c_void,
    pub count: u64,
    pub element_bytes: u32,
    pub per_byte: u32,
    /// 0: code that is opaque to the compiler has its address.
    pub records: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct croq_sim_launch {
    pub kernel: *const c_char,
    pub file: *const c_char,
    pub grid: [u32; 3],
    pub cluster: [u32; 3],
    pub threads: u32,
    pub shared_bytes: u64,
    pub arena_bytes: u64,
    pub flags: u32,
    pub tracked_count: u32,
    pub tracked: *const croq_sim_tracked,
    pub closure: *mut c_void,
    pub run: Option<unsafe extern "C" fn(closure: *mut c_void, thread: *mut croq_sim_thread)>,
    pub run_blocks: Option<
        unsafe extern "C" fn(
            closure: *mut c_void,
            thread: *mut croq_sim_thread,
            first: u64,
            last: u64,
        ),
    >,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct croq_sim_access {
    pub name: *const c_char,
    pub index: i64,
    pub at: *mut c_void,
    pub bytes: u32,
    pub line: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct croq_sim_registers {
    pub pending: u32,
    pub fences: u32,
    pub first: u32,
    pub end: u32,
    pub line: u32,
    pub unwritten: *mut u8,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct croq_sim_unwritten {
    pub name: *const c_char,
    pub index: i64,
    pub declared: u32,
    pub read: u32,
    pub used: u32,
    pub use_of: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct croq_sim_part {
    pub registers: *mut croq_sim_registers,
    pub at: *mut c_void,
    pub first: u32,
    pub count: u32,
    pub bytes: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct croq_sim_factors {
    pub shared: *const u8,
    pub a: *const u32,
    pub b: *const u32,
    pub sums: *const *mut c_void,
    pub registers: *const *mut c_void,
    pub columns: u32,
    pub accumulate: u32,
    pub written: *const u8,
    pub number_of_a: u32,
    pub number_of_b: u32,
    pub unwritten_accumulators: *const *mut u8,
    pub unwritten_a: *const *mut u8,
    pub metadata: *const *mut c_void,
    pub unwritten_metadata: *const *mut u8,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct croq_sim_wgmma {
    pub a: u64,
    pub b: u64,
    pub sums: croq_sim_part,
    pub registers: croq_sim_part,
    pub metadata: croq_sim_part,
    pub columns: u32,
    pub flags: u32,
    pub line: u32,
    pub carry_out: Option<unsafe extern "C" fn(factors: *const croq_sim_factors)>,
}

pub const CROQ_WGMMA_TRANSPOSED_A: u32 = 1;
pub const CROQ_WGMMA_TRANSPOSED_B: u32 = 2;
pub const CROQ_WGMMA_ACCUMULATES: u32 = 4;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct croq_sim_tensor_map {
    pub memory: *mut c_void,
    pub extents: [u64; 5],
    pub strides: [u64; 5],
    pub box_extents: [u32; 5],
    pub rank: u32,
    pub element_bytes: u32,
    pub swizzle: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct croq_sim_api {
    pub abi_version: u32,
    pub launch: unsafe extern "C" fn(
        device: *mut c_void,
        launch: *const croq_sim_launch,
        failure: *mut croq_failure,
    ) -> u32,
    pub barrier: unsafe extern "C" fn(thread: *mut croq_sim_thread, line: u32),
    pub barrier_named:
        unsafe extern "C" fn(thread: *mut croq_sim_thread, id: u32, threads: u32, line: u32),
    pub barrier_arrive:
        unsafe extern "C" fn(thread: *mut croq_sim_thread, id: u32, threads: u32, line: u32),
    pub barrier_warp: unsafe extern "C" fn(thread: *mut croq_sim_thread, mask: u32, line: u32),
    pub stop: unsafe extern "C" fn(thread: *mut croq_sim_thread, failure: *const croq_failure),
    pub print: unsafe extern "C" fn(thread: *mut croq_sim_thread, text: *const c_char, length: u64),
    pub touch: unsafe extern "C" fn(
        thread: *mut croq_sim_thread,
        access: *const croq_sim_access,
        writes: u32,
    ),
    pub copy_async: unsafe extern "C" fn(
        thread: *mut croq_sim_thread,
        dest: *const croq_sim_access,
        source: *const c_void,
    ),
    pub commit_copies: unsafe extern "C" fn(thread: *mut croq_sim_thread),
    pub wait_copies: unsafe extern "C" fn(thread: *mut croq_sim_thread, pending: u32),
    pub mbarrier: unsafe extern "C" fn(
        thread: *mut croq_sim_thread,
        at: *const croq_sim_access,
        operation: u32,
        value: i64,
    ) -> u32,
    pub event_site: unsafe extern "C" fn(
        thread: *mut croq_sim_thread,
        at: *const croq_sim_access,
        slots: u32,
        flags: u32,
        threads: *const c_char,
    ),
    pub fence: unsafe extern "C" fn(thread: *mut croq_sim_thread, kind: u32),
    pub tma_load: unsafe extern "C" fn(
        thread: *mut croq_sim_thread,
        dest: *const croq_sim_access,
        map: *const croq_sim_tensor_map,
        at: *const i64,
        arrival: *const croq_sim_access,
        blocks: u32,
    ),
    pub tma_store: unsafe extern "C" fn(
        thread: *mut croq_sim_thread,
        source: *const croq_sim_access,
        map: *const croq_sim_tensor_map,
        at: *const i64,
    ),
    pub bulk_commit: unsafe extern "C" fn(thread: *mut croq_sim_thread),
    pub bulk_wait: unsafe extern "C" fn(thread: *mut croq_sim_thread, pending: u32, only_read: u32),
    pub trace: unsafe extern "C" fn(thread: *const croq_sim_thread, access: *const croq_sim_access),
    pub cluster_barrier:
        unsafe extern "C" fn(thread: *mut croq_sim_thread, operation: u32, line: u32),
    pub arrive_remote:
        unsafe extern "C" fn(thread: *mut croq_sim_thread, at: *const croq_sim_access, rank: u32),
    pub wgmma: unsafe extern "C" fn(thread: *mut croq_sim_thread, wgmma: *const croq_sim_wgmma),
    pub commit_wgmma: unsafe extern "C" fn(thread: *mut croq_sim_thread),
    pub wait_wgmma: unsafe extern "C" fn(thread: *mut croq_sim_thread, pending: u32),
    pub touch_registers:
        unsafe extern "C" fn(thread: *mut croq_sim_thread, part: *const croq_sim_part, line: u32),
    pub shared_access: unsafe extern "C" fn(
        thread: *mut croq_sim_thread,
        access: *const croq_sim_access,
        size: u32,
        kind: u32,
    ),
    pub packed_access: unsafe extern "C" fn(
        thread: *mut croq_sim_thread,
        access: *const croq_sim_access,
        per_byte: u32,
        count: u32,
        kind: u32,
    ),
    pub count: unsafe extern "C" fn(thread: *mut croq_sim_thread, reason: u32, line: u32),
    pub lanes:
        unsafe extern "C" fn(thread: *mut croq_sim_thread, mask: u32, kind: u32, line: u32) -> u32,
    pub use_unwritten:
        unsafe extern "C" fn(thread: *mut croq_sim_thread, what: *const croq_sim_unwritten),
    pub report: unsafe extern "C" fn(thread: *mut croq_sim_thread, failure: *const croq_failure),
    pub device_access: unsafe extern "C" fn(
        thread: *mut croq_sim_thread,
        access: *const croq_sim_access,
        buffer: u32,
        kind: u32,
        value: u32,
    ),
    pub device_atomic: unsafe extern "C" fn(thread: *mut croq_sim_thread, at: *const c_void),
    pub device_fence: unsafe extern "C" fn(thread: *mut croq_sim_thread),
    pub agree: unsafe extern "C" fn(thread: *mut croq_sim_thread, value: i64, line: u32) -> u32,
    pub agree_named: unsafe extern "C" fn(
        thread: *mut croq_sim_thread,
        value: i64,
        id: u32,
        threads: u32,
        line: u32,
    ) -> u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct croq_env {
    pub abi_version: u32,
    pub device: *mut c_void,
    pub stream: *mut c_void,
    pub sim: *const croq_sim_api,
    pub failure: *mut croq_failure,
    pub device_failure: *mut croq_failure,
    pub alloc:
        Option<unsafe extern "C" fn(env: *const croq_env, bytes: u64, zero: u32) -> *mut c_void>,
    pub steps: u64,
    pub wait_limit: u64,
    pub mode: u32,
}

pub const CROQ_MODE_RUN: u32 = 0;
pub const CROQ_MODE_RECORD: u32 = 1;
pub const CROQ_MODE_REPLAY: u32 = 2;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct croq_cuda_device_info {
    pub name: [c_char; 256],
    pub major: u32,
    pub minor: u32,
    pub memory_bytes: u64,
    pub shared_bytes_per_block: u64,
    pub multiprocessors: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[rustfmt::skip]
pub struct croq_cuda_api {
    pub abi_version: u32,
    pub runtime_version: u32,
    pub device_count: unsafe extern "C" fn(count: *mut c_int) -> c_int,
    pub device_info: unsafe extern "C" fn(device: c_int, info: *mut croq_cuda_device_info) -> c_int,
    pub set_device: unsafe extern "C" fn(device: c_int) -> c_int,
    pub stream_create: unsafe extern "C" fn(stream: *mut *mut c_void) -> c_int,
    pub stream_destroy: unsafe extern "C" fn(stream: *mut c_void) -> c_int,
    pub stream_synchronize: unsafe extern "C" fn(stream: *mut c_void) -> c_int,
    pub stream_query: unsafe extern "C" fn(stream: *mut c_void, over: *mut u32) -> c_int,
    pub stream_add_callback: unsafe extern "C" fn(stream: *mut c_void, function: unsafe extern "C" fn(stream: *mut c_void, error: c_int, data: *mut c_void), data: *mut c_void) -> c_int,
    pub stream_wait_event: unsafe extern "C" fn(stream: *mut c_void, event: *mut c_void) -> c_int,
    pub event_record: unsafe extern "C" fn(event: *mut *mut c_void, stream: *mut c_void) -> c_int,
    pub event_record_timed: unsafe extern "C" fn(event: *mut *mut c_void, stream: *mut c_void) -> c_int,
    pub event_elapsed: unsafe extern "C" fn(milliseconds: *mut f32, from: *mut c_void, to: *mut c_void) -> c_int,
    pub event_query: unsafe extern "C" fn(event: *mut c_void, over: *mut u32) -> c_int,
    pub event_synchronize: unsafe extern "C" fn(event: *mut c_void) -> c_int,
    pub event_destroy: unsafe extern "C" fn(event: *mut c_void) -> c_int,
    pub malloc_async: unsafe extern "C" fn(memory: *mut *mut c_void, bytes: u64, stream: *mut c_void) -> c_int,
    pub free_async: unsafe extern "C" fn(memory: *mut c_void, stream: *mut c_void) -> c_int,
    pub copy_to_device: unsafe extern "C" fn(dst: *mut c_void, src: *const c_void, bytes: u64, stream: *mut c_void) -> c_int,
    pub copy_to_host: unsafe extern "C" fn(dst: *mut c_void, src: *const c_void, bytes: u64, stream: *mut c_void) -> c_int,
    pub copy_on_device: unsafe extern "C" fn(dst: *mut c_void, src: *const c_void, bytes: u64, stream: *mut c_void) -> c_int,
    pub copy_rows_on_device: unsafe extern "C" fn(dst: *mut c_void, dst_pitch: u64, src: *const c_void, src_pitch: u64, width: u64, height: u64, stream: *mut c_void) -> c_int,
    pub copy_to_peer: unsafe extern "C" fn(dst: *mut c_void, dst_device: c_int, src: *const c_void, src_device: c_int, bytes: u64, stream: *mut c_void) -> c_int,
    pub memset_async: unsafe extern "C" fn(dst: *mut c_void, byte: c_int, bytes: u64, stream: *mut c_void) -> c_int,
    pub host_alloc_mapped: unsafe extern "C" fn(host: *mut *mut c_void, device: *mut *mut c_void, bytes: u64) -> c_int,
    pub host_free: unsafe extern "C" fn(host: *mut c_void) -> c_int,
    pub graph_begin: unsafe extern "C" fn(stream: *mut c_void) -> c_int,
    pub graph_end: unsafe extern "C" fn(stream: *mut c_void, graph: *mut *mut c_void) -> c_int,
    pub graph_launch: unsafe extern "C" fn(graph: *mut c_void, stream: *mut c_void) -> c_int,
    pub graph_destroy: unsafe extern "C" fn(graph: *mut c_void) -> c_int,
    pub error_string: unsafe extern "C" fn(error: c_int) -> *const c_char,
}
