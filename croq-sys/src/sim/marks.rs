//! A mark for each byte of a block's shared memory: the operations in flight on it.
//!
//! Device code checks the marks itself, at every access of watched memory, and calls the runtime
//! only if one is set.

use std::ffi::CStr;

use super::arena::Arena;
use crate::abi::croq_sim_access;

/// A copy into this byte is in flight.
pub(super) const INCOMING: u8 = 1;
/// A copy from this byte is in flight.
pub(super) const OUTGOING: u8 = 2;
/// The byte is part of an mbarrier.
pub(super) const MBARRIER: u8 = 4;
/// An MMA that reads this byte is in flight.
pub(super) const FACTOR: u8 = 8;

pub(super) struct Marks {
    arena: *mut u8,
    marks: *mut u8,
    bytes: u64,
}

impl Default for Marks {
    fn default() -> Self {
        Self {
            arena: std::ptr::null_mut(),
            marks: std::ptr::null_mut(),
            bytes: 0,
        }
    }
}

impl Marks {
    /// # Safety
    /// Both memories are of `bytes`, and live until the next call.
    pub(super) unsafe fn watch(&mut self, arena: *mut u8, marks: *mut u8, bytes: u64) {
        (self.arena, self.marks, self.bytes) = (arena, marks, bytes);
    }

    pub(super) fn arena(&self) -> *const u8 {
        self.arena
    }

    /// The size of shared memory in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn clear(&mut self) {
        // SAFETY: the marks are of this size.
        unsafe { Arena::clear(self.marks, self.bytes) };
    }

    /// The offset of an address in the arena; `None` if fewer than `bytes` bytes follow it there.
    pub(super) fn offset(&self, at: *const u8, bytes: usize) -> Option<usize> {
        let first = (at as usize).wrapping_sub(self.arena as usize);
        let end = first.checked_add(bytes)?;
        (end as u64 <= self.bytes).then_some(first)
    }

    /// The marks of a range of bytes; empty if the range is not entirely in the arena.
    pub(super) fn of(&mut self, at: *const u8, bytes: usize) -> &mut [u8] {
        match self.offset(at, bytes) {
            // SAFETY: within the marks, which nothing else refers to while the runtime runs.
            Some(first) => unsafe { std::slice::from_raw_parts_mut(self.marks.add(first), bytes) },
            None => &mut [],
        }
    }

    /// The marks of `bytes` bytes at this offset in the arena; empty if they are not all there.
    pub(super) fn from(&mut self, offset: usize, bytes: usize) -> &mut [u8] {
        let at = self.arena.wrapping_add(offset);
        self.of(at, bytes)
    }

    /// The union of the marks of a range of bytes.
    pub(super) fn union(&mut self, access: &croq_sim_access) -> u8 {
        let marks = self.of(access.at.cast(), access.bytes as usize);
        marks.iter().fold(0, |union, mark| union | mark)
    }
}

/// `` `tile`[17] ``
pub(super) fn element(access: &croq_sim_access) -> String {
    match name(access) {
        "" => format!("element {} of shared memory", access.index),
        name => format!("`{name}`[{}]", access.index),
    }
}

fn name(access: &croq_sim_access) -> &str {
    // SAFETY: a literal of the device code, or null.
    let name = unsafe { access.name.as_ref().map(|name| CStr::from_ptr(name)) };
    name.and_then(|name| name.to_str().ok()).unwrap_or("")
}

/// Whether two ranges of memory have a byte in common.
pub(super) fn overlap(a: (*const u8, usize), b: (*const u8, usize)) -> bool {
    (a.0 as usize) < b.0 as usize + b.1 && (b.0 as usize) < a.0 as usize + a.1
}
