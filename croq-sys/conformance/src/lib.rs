//! Test kernels for the device API, and functions to call them.
//!
//! The kernels in `cpp/` are compiled by `build.rs` like device code of croq, so that croq-sys
//! itself needs no C++ compiler.

pub mod atomics;
#[cfg(with_cuda)]
pub mod gpu;
#[cfg(not(with_cuda))]
#[path = "no_gpu.rs"]
pub mod gpu;
/// Shared with the run tests.
#[path = "../../../tests/src/orders.rs"]
pub mod orders;
pub mod products;
pub mod twins;
pub mod warpgroups;

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ffi::c_void;
use std::sync::Mutex;

use croq_sys::abi::{CROQ_ABI_VERSION, CROQ_OK, croq_env, croq_failure};
use croq_sys::sim::{self, Run};

/// A failed call: its record, and the report of a deadlock.
#[derive(Debug)]
pub struct Failed {
    pub record: Box<croq_failure>,
    pub report: Option<String>,
}

/// Device memory of one call, freed with it.
static ALLOCATIONS: Mutex<Vec<(usize, usize, Layout)>> = Mutex::new(Vec::new());

unsafe extern "C" fn alloc(env: *const croq_env, bytes: u64, _zero: u32) -> *mut c_void {
    let Some(layout) = usize::try_from(bytes)
        .ok()
        .filter(|&bytes| bytes > 0)
        .and_then(|bytes| Layout::from_size_align(bytes, 256).ok())
    else {
        return std::ptr::null_mut();
    };
    // SAFETY: the layout isn't empty.
    let memory = unsafe { alloc_zeroed(layout) };
    if !memory.is_null() {
        let mut list = ALLOCATIONS
            .lock()
            .expect("no test panics while it holds this");
        list.push((env as usize, memory as usize, layout));
    }
    memory.cast()
}

/// Calls a shim the way generated wrappers do.
pub fn call(shim: impl FnOnce(*const croq_env) -> u32) -> Result<(), Failed> {
    call_in(&Run::new(), shim)
}

/// [`call`] in the caller's run, whose output can be read afterwards.
pub fn call_in(run: &Run, shim: impl FnOnce(*const croq_env) -> u32) -> Result<(), Failed> {
    let mut record = croq_failure::default();
    let record_at = &raw mut record;
    let env = croq_env {
        abi_version: CROQ_ABI_VERSION,
        device: run.as_ptr(),
        stream: std::ptr::null_mut(),
        sim: sim::api(),
        failure: record_at,
        device_failure: record_at,
        alloc: Some(alloc),
        steps: 1 << 34,
        wait_limit: 10_000_000_000,
        mode: croq_sys::abi::CROQ_MODE_RUN,
    };
    let status = shim(&env);
    let mut list = ALLOCATIONS
        .lock()
        .expect("no test panics while it holds this");
    list.retain(|&(owner, memory, layout)| {
        if owner == &raw const env as usize {
            // SAFETY: allocated above with this layout; the call is over.
            unsafe { dealloc(memory as *mut u8, layout) };
            return false;
        }
        true
    });
    if status == CROQ_OK {
        return Ok(());
    }
    assert_eq!(status, record.kind, "a shim returns the kind of its record");
    Err(Failed {
        record: Box::new(record),
        report: run.report(),
    })
}
