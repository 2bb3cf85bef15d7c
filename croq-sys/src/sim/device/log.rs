//! The log of accesses of device memory by the blocks that one OS thread runs.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Buffer;
use super::details::Details;
use crate::abi::{croq_sim_device_cell, croq_sim_device_cells};

/// The number of cells that share one byte, which records whether any of them was used.
pub(super) const PAGE: usize = 128;

/// The thread's bits in `writer` and the readers of a cell, as in `sim/contended.h`.
pub(super) const THREAD: u32 = 0x3ff;
pub(super) const ATOMIC: u32 = 1 << 10;
/// Several threads accessed the element; the recorded thread is one of them.
pub(super) const MANY: u32 = 1 << 11;
/// The store did not change the value.
pub(super) const SAME: u32 = 1 << 12;
pub(super) const LINE: u32 = 13;
pub(super) const LINES: u32 = 0x7_ffff;

/// The blocks that the epochs from `first` on belong to.
#[derive(Clone, Copy)]
pub(super) struct Run {
    first: u32,
    pub(super) cluster: u64,
    /// The block of an epoch, by its distance from the first.
    blocks: Blocks,
}

#[derive(Clone, Copy)]
enum Blocks {
    /// One block for all epochs.
    One(u64),
    /// Successive blocks with one epoch each, in a sweep.
    Sequence {
        first: u64,
        count: u64,
        start: u64,
        step: u64,
    },
}

/// The place of an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Place {
    pub(super) block: u64,
    pub(super) cluster: u64,
}

pub(in super::super) struct Log {
    pub(super) buffers: Vec<Buffer>,
    /// Zero until used: the system allocates the memory page by page.
    cells: Vec<Vec<Cell<croq_sim_device_cell>>>,
    touched: Vec<Vec<Cell<u8>>>,
    /// The table that device code reads.
    table: Vec<croq_sim_device_cells>,
    reports_all: Box<Cell<u32>>,
    /// The last epoch that was assigned.
    epoch: u32,
    runs: Vec<Run>,
    /// All accesses of a cluster before this epoch are ordered before its current ones.
    pub(super) ordered_before: (u64, u32),
    pub(super) details: Details,
    /// How often accesses were published at an element where none were.
    pub(super) publications: u32,
}

// SAFETY: the pointers are into vectors that the log owns and never grows. Device code writes
// through them only on the OS thread that owns the log, and the launch has ended on it when another
// thread reads.
unsafe impl Send for Log {}

/// Warns once that a buffer is not checked because it is too large for its cells; this is not a
/// failure.
pub(super) fn warn_once_too_large(name: &str) {
    static WARNED: AtomicBool = AtomicBool::new(false);
    if !WARNED.swap(true, Ordering::Relaxed) {
        eprintln!(
            "croq: accesses of `{name}` are not checked for races: that would take more than half of the memory that the \
             simulated GPU may use (CROQ_SIM_MEMORY)"
        );
    }
}

impl Log {
    pub(super) fn new(buffers: &[Buffer]) -> Self {
        let cells: Vec<Vec<Cell<croq_sim_device_cell>>> =
            buffers.iter().map(|buffer| zeroed(buffer.count)).collect();
        let touched: Vec<Vec<Cell<u8>>> = buffers
            .iter()
            .map(|buffer| vec![Cell::new(0); buffer.count.div_ceil(PAGE)])
            .collect();
        let table = cells
            .iter()
            .zip(&touched)
            .map(|(cells, touched)| croq_sim_device_cells {
                first: match cells.is_empty() {
                    true => std::ptr::null_mut(),
                    false => cells.as_ptr().cast_mut().cast(),
                },
                touched: touched.as_ptr().cast_mut().cast(),
            })
            .collect();
        Self {
            buffers: buffers.to_vec(),
            cells,
            touched,
            table,
            reports_all: Box::default(),
            epoch: 0,
            runs: Vec::new(),
            ordered_before: (0, 0),
            details: Details::new(buffers.iter().map(|buffer| buffer.count)),
            publications: 0,
        }
    }

    pub(super) fn table(&self) -> *const croq_sim_device_cells {
        self.table.as_ptr()
    }

    pub(super) fn reports_all_at(&self) -> *mut u32 {
        self.reports_all.as_ptr()
    }

    pub(super) fn reports_all(&self) -> bool {
        self.reports_all.get() != 0
    }

    /// From now on every access is reported to the runtime.
    pub(super) fn report_all(&self) {
        self.reports_all.set(1);
    }

    /// Stops the checks.
    pub(super) fn give_up(&mut self) {
        for buffer in &mut self.table {
            buffer.first = std::ptr::null_mut();
        }
    }

    /// Whether stores may be missing in the cells.
    pub(super) fn is_incomplete(&self) -> bool {
        let gave_up = |(table, cells): (&croq_sim_device_cells, &Vec<_>)| {
            table.first.is_null() && !cells.is_empty()
        };
        self.reports_all() || self.table.iter().zip(&self.cells).any(gave_up)
    }

    pub(super) fn last_epoch(&self) -> u32 {
        self.epoch
    }

    /// A new epoch of a block; `None` if the numbers are exhausted.
    pub(super) fn next_epoch(&mut self, place: Place) -> Option<u32> {
        self.epoch = self.epoch.checked_add(1)?;
        let same = self.runs.last().is_some_and(|run| {
            run.cluster == place.cluster
                && matches!(run.blocks, Blocks::One(block) if block == place.block)
        });
        if !same {
            self.runs.push(Run {
                first: self.epoch,
                cluster: place.cluster,
                blocks: Blocks::One(place.block),
            });
        }
        Some(self.epoch)
    }

    /// The epochs of a sweep over `count` blocks from `first` on; returns the epoch before the
    /// first of them.
    pub(super) fn sweep(&mut self, first: u64, count: u64, start: u64, step: u64) -> Option<u32> {
        let before = self.epoch;
        let last = u64::from(before).checked_add(count)?;
        self.epoch = u32::try_from(last).ok()?;
        self.runs.push(Run {
            first: before + 1,
            cluster: u64::MAX,
            blocks: Blocks::Sequence {
                first,
                count,
                start,
                step,
            },
        });
        Some(before)
    }

    /// The block of an epoch.
    pub(super) fn place(&self, epoch: u32) -> Place {
        let at = self.runs.partition_point(|run| run.first <= epoch);
        let Some(run) = at.checked_sub(1).and_then(|at| self.runs.get(at)) else {
            return Place {
                block: u64::MAX,
                cluster: u64::MAX,
            };
        };
        let block = match run.blocks {
            Blocks::One(block) => block,
            Blocks::Sequence {
                first,
                count,
                start,
                step,
            } => {
                let position = u128::from(epoch - run.first) * u128::from(step) + u128::from(start);
                first + (position % u128::from(count.max(1))) as u64
            }
        };
        Place {
            block,
            // In a sweep blocks are not ordered, whatever their cluster.
            cluster: match run.blocks {
                Blocks::One(_) => run.cluster,
                Blocks::Sequence { .. } => u64::MAX - 1 - block,
            },
        }
    }

    /// The buffer that contains this address.
    pub(super) fn buffer_at(&self, at: *const u8) -> Option<u32> {
        let found = self.buffers.iter().position(|b| b.index(at).is_some());
        found.and_then(|number| u32::try_from(number).ok())
    }

    pub(super) fn index(&self, buffer: u32, at: *const u8) -> Option<usize> {
        self.buffers.get(buffer as usize)?.index(at)
    }

    pub(super) fn cell(&self, buffer: u32, element: u64) -> Option<croq_sim_device_cell> {
        let cells = self.cells.get(buffer as usize)?;
        cells.get(usize::try_from(element).ok()?).map(Cell::get)
    }

    pub(super) fn put(&self, buffer: u32, element: u64, cell: croq_sim_device_cell) {
        let (at, page) = (element as usize, element as usize / PAGE);
        let cells = self.cells.get(buffer as usize);
        if let Some(place) = cells.and_then(|cells| cells.get(at)) {
            place.set(cell);
        }
        let touched = self.touched.get(buffer as usize);
        if let Some(place) = touched.and_then(|pages| pages.get(page)) {
            place.set(1);
        }
    }

    /// Whether a page of cells was used.
    pub(super) fn is_touched(&self, buffer: usize, page: usize) -> bool {
        let pages = self.touched.get(buffer);
        pages.is_some_and(|pages| pages.get(page).is_some_and(|touched| touched.get() != 0))
    }
}

/// Allocated as zeros by the system, and not written here.
fn zeroed(count: usize) -> Vec<Cell<croq_sim_device_cell>> {
    use std::alloc::{Layout, alloc_zeroed};
    let Ok(layout) = Layout::array::<croq_sim_device_cell>(count) else {
        return Vec::new();
    };
    if layout.size() == 0 {
        return Vec::new();
    }
    // SAFETY: the layout isn't empty; a zeroed cell is valid; the vector takes ownership of the
    // memory with its layout.
    unsafe {
        let memory = alloc_zeroed(layout).cast::<Cell<croq_sim_device_cell>>();
        match memory.is_null() {
            true => Vec::new(),
            false => Vec::from_raw_parts(memory, count, count),
        }
    }
}
