//! Detects races in device memory: unordered accesses by different threads of a launch.
//!
//! The buffers that the compiler names are checked: those that the launch writes, and for which it
//! could not prove that each element belongs to one thread. Each OS thread that takes part in a
//! launch has a [`Log`], with a cell for each element that records the last store and the last
//! reads. Device text checks the cells itself (`sim/contended.h`) and calls the runtime if they do
//! not decide. Blocks that ran on different OS threads are compared at the end of the launch
//! ([`merge`]).
//!
//! An *epoch* is the part of a block's execution between two barriers of all its threads; it has a
//! unique number in the log. Accesses of one block in different epochs are ordered, those of
//! different blocks are not, except by barriers of a cluster or a grid. After a thread has executed
//! a fence for the device, or some threads of a block have used a barrier without the others, every
//! access is reported to the runtime, and [`sync`] tracks the order by fences and atomic
//! operations. Kernels in which that may happen run on one OS thread.
//!
//! Not races: atomic operations with each other, and stores of equal values.

mod covered;
mod details;
mod log;
mod merge;
mod report;
mod rules;
mod sync;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::ffi::CStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;

pub(super) use log::Log;
pub(super) use merge::races_between;
pub(super) use report::Race;
pub(super) use rules::{By, Watch};

use super::settings;
use crate::abi::{CROQ_RECORDS_UNWRITTEN, croq_sim_device_cell, croq_sim_launch};

/// Buffers that are only checked for elements that the launch leaves unwritten, which it does by its
/// structure and not by its size, are checked up to this number of elements.
const UNWRITTEN_ELEMENTS: u64 = 1 << 16;

/// A buffer that is checked.
#[derive(Clone)]
pub(super) struct Buffer {
    pub(super) name: String,
    pub(super) count: usize,
    /// Whether the launch must write all elements.
    written_whole: bool,
    /// Its address, the bytes of an element, and how many elements share them.
    memory: usize,
    element: usize,
    per_byte: usize,
}

impl Buffer {
    /// The index of the first element at an address.
    fn index(&self, at: *const u8) -> Option<usize> {
        let place = (at as usize).checked_sub(self.memory)? / self.element.max(1);
        let index = place.checked_mul(self.per_byte)?;
        (index < self.count).then_some(index)
    }
}

/// The checked buffers of a launch, and the logs.
pub(super) struct Watched {
    /// By number; those without elements are not checked.
    buffers: Vec<Buffer>,
    /// Buffers that are not checked, because code that is opaque to the compiler has their address.
    escaping: Vec<String>,
    logs: Mutex<HashMap<ThreadId, Arc<Mutex<Log>>>>,
    /// Whether there is only memory for the cells of one OS thread.
    pub(super) alone: bool,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Watched {
    /// `None` if there is nothing to check, or checks are disabled.
    ///
    /// # Safety
    /// `launch` is from the device API's `host::launch`.
    pub(super) unsafe fn of_launch(launch: &croq_sim_launch, threads: usize) -> Option<Self> {
        if launch.tracked_count == 0 || !settings::detects_device_races() {
            return None;
        }
        // SAFETY: the caller's promise: the launch's closure contains this number of records.
        let all =
            unsafe { std::slice::from_raw_parts(launch.tracked, launch.tracked_count as usize) };
        let cell = size_of::<croq_sim_device_cell>() as u64;
        let most = settings::memory_for_cells();
        let mut room = 0u64;
        let (mut buffers, mut escaping) = (Vec::new(), Vec::new());
        for tracked in all {
            // SAFETY: a literal of the shim.
            let name = unsafe { CStr::from_ptr(tracked.name) };
            let name = name.to_string_lossy().into_owned();
            let mut count = tracked.count;
            if tracked.records == 0 {
                escaping.push(name.clone());
                count = 0;
            } else if tracked.records == CROQ_RECORDS_UNWRITTEN && count > UNWRITTEN_ELEMENTS {
                count = 0;
            } else if room.saturating_add(count.saturating_mul(cell)) > most {
                log::warn_once_too_large(&name);
                count = 0;
            }
            room += count * cell;
            let count = usize::try_from(count).unwrap_or(0);
            buffers.push(Buffer {
                name,
                count,
                memory: tracked.memory as usize,
                element: tracked.element_bytes as usize,
                written_whole: tracked.records & CROQ_RECORDS_UNWRITTEN != 0,
                per_byte: tracked.per_byte as usize,
            });
        }
        if buffers.iter().all(|buffer| buffer.count == 0) {
            return None;
        }
        Some(Self {
            buffers,
            escaping,
            logs: Mutex::default(),
            alone: room.saturating_mul(threads as u64) > most,
        })
    }

    /// The log of this OS thread.
    pub(super) fn log(&self) -> Arc<Mutex<Log>> {
        let mut logs = locked(&self.logs);
        let own = logs.entry(std::thread::current().id());
        Arc::clone(own.or_insert_with(|| Arc::new(Mutex::new(Log::new(&self.buffers)))))
    }

    /// An element of a buffer that the launch had to write whole and that no block wrote: the
    /// buffer's name, and the element. For launches that are complete.
    pub(super) fn unwritten(&self) -> Option<(String, usize)> {
        let logs: Vec<_> = locked(&self.logs).values().cloned().collect();
        let logs: Vec<_> = logs.iter().map(|log| locked(log)).collect();
        // Such logs do not record all stores.
        if logs.iter().any(|log| log.is_incomplete()) {
            return None;
        }
        let is_written = |log: &Log, number: usize, element: usize| {
            log.is_touched(number, element / log::PAGE)
                && (log.cell(number as u32, element as u64)).is_some_and(|cell| cell.written != 0)
        };
        let whole = self
            .buffers
            .iter()
            .enumerate()
            .filter(|(_, b)| b.written_whole);
        whole.into_iter().find_map(|(number, buffer)| {
            let mut elements = 0..buffer.count;
            let missing = elements.find(|e| !logs.iter().any(|log| is_written(log, number, *e)));
            missing.map(|element| (buffer.name.clone(), element))
        })
    }

    /// The end of a report: the buffers that were not checked.
    pub(super) fn unseen(&self) -> String {
        let names: Vec<String> = self.escaping.iter().map(|n| format!("`{n}`")).collect();
        match names.as_slice() {
            [] => String::new(),
            [one] => format!("\n  accesses of {one} are not looked at: C++ text has its address"),
            _ => format!(
                "\n  accesses of {} are not looked at: C++ text has their addresses",
                names.join(", ")
            ),
        }
    }
}
