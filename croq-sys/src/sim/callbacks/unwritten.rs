//! Reports of uses of unwritten values.

use std::ffi::CStr;

use super::with;
use crate::abi::{croq_sim_thread, croq_sim_unwritten};
use crate::sim::hazard::{AccessRecord, Hazard};

/// The variants of `croq_sim_unwritten::use`, as numbered in `sim/unwritten.h`.
const USES: [&str; 7] = [
    "is stored in device memory",
    "decides a condition",
    "is part of an address",
    "goes to an atomic operation",
    "goes to a call",
    "is printed",
    "is an index, or decides an assertion",
];

/// ```text
/// unwritten value in dot_0, block 3: `acc`[2], declared on line 12, holds nothing that was written, and its value decides a condition
///   thread 5 uses the value, kernels/dot.co:20
///   thread 5 reads it, kernels/dot.co:18
/// ```
pub(super) unsafe extern "C" fn use_unwritten(
    thread: *mut croq_sim_thread,
    what: *const croq_sim_unwritten,
) {
    // SAFETY: device code passes the running thread and a record on its stack, whose name is text
    // of the program.
    unsafe {
        with(thread, |_, _, tid| -> Result<(), Box<Hazard>> {
            let name = CStr::from_ptr((*what).name).to_string_lossy();
            let used = USES.get((*what).use_of as usize).copied();
            let text = format!(
                "`{name}`[{}], declared on line {}, holds nothing that was written, and its value {}",
                (*what).index,
                (*what).declared,
                used.unwrap_or("is used")
            );
            let record = |what, line| AccessRecord {
                thread: tid,
                what,
                line,
            };
            let mut records = vec![record("uses the value", (*what).used)];
            if (*what).read != (*what).used {
                records.push(record("reads it", (*what).read));
            }
            Err(Box::new(Hazard {
                kind: "unwritten value",
                what: text,
                records,
            }))
        });
    }
}

/// Copies the written marks of the thread's own block to the same offset of another block.
///
/// # Safety
/// `written` is null, or marks of as many bytes as the thread's block has.
pub(super) unsafe fn same_marks(
    thread: &croq_sim_thread,
    written: *mut u8,
    offset: usize,
    bytes: usize,
) {
    let inside = offset
        .checked_add(bytes)
        .is_some_and(|end| end as u64 <= thread.shared_bytes);
    if !thread.written.is_null() && !written.is_null() && inside {
        // SAFETY: the caller's promise; the blocks of a cluster have memory of their own.
        unsafe { std::ptr::copy(thread.written.add(offset), written.add(offset), bytes) }
    }
}
