//! The bytes of shared memory written by ordinary accesses that the async proxy (TMA, wgmma) may
//! not see yet: those whose writer has not executed `fence.proxy.async` since.
//!
//! For each sixteen bytes, which is the smallest unit that the async proxy reads, the last writer
//! is recorded: its line, its thread, and the number of such fences that it had executed.

use super::hazard::AccessRecord;

pub(super) const GRANULE: usize = 16;

/// Fences are counted modulo this.
const FENCES: u32 = 1 << 20;

pub(super) struct Proxies {
    /// Null if nothing is recorded.
    writers: *mut u64,
    /// For each thread.
    fences: Vec<u32>,
}

impl Default for Proxies {
    fn default() -> Self {
        Self {
            writers: std::ptr::null_mut(),
            fences: Vec::new(),
        }
    }
}

impl Proxies {
    /// # Safety
    /// There is a number for each granule of shared memory, or `writers` is null.
    pub(super) unsafe fn watch(&mut self, writers: *mut u64) {
        self.writers = writers;
    }

    pub(super) fn reset(&mut self, threads: usize, bytes: u64) {
        self.fences.clear();
        self.fences.resize(threads, 0);
        if !self.writers.is_null() {
            // SAFETY: a number for each granule.
            unsafe {
                self.writers
                    .write_bytes(0, bytes.div_ceil(GRANULE as u64) as usize)
            }
        }
    }

    pub(super) fn is_watching(&self) -> bool {
        !self.writers.is_null()
    }

    /// Counts a fence of the thread; returns the number of its fences.
    pub(super) fn fence(&mut self, thread: u32) -> u32 {
        match self.fences.get_mut(thread as usize) {
            Some(fences) => {
                *fences = (*fences + 1) % FENCES;
                *fences
            }
            None => 0,
        }
    }

    pub(super) fn fences(&self, thread: u32) -> u32 {
        self.fences.get(thread as usize).copied().unwrap_or(0)
    }

    /// Records a write, as device code does for its own.
    pub(super) fn wrote(&mut self, thread: u32, line: u32, first: usize, bytes: usize) {
        let fences = self.fences(thread);
        let stamp = u64::from(line) << 32 | u64::from(thread + 1) << 20 | u64::from(fences);
        self.put(first, bytes, stamp);
    }

    /// The async proxy itself wrote the bytes.
    pub(super) fn forget(&mut self, first: usize, bytes: usize) {
        self.put(first, bytes, 0);
    }

    fn put(&mut self, first: usize, bytes: usize, stamp: u64) {
        if !self.writers.is_null() {
            for granule in first / GRANULE..(first + bytes).div_ceil(GRANULE) {
                // SAFETY: callers pass bytes of shared memory.
                unsafe { self.writers.add(granule).write(stamp) }
            }
        }
    }

    /// The first of these bytes of shared memory, as an offset, that the async proxy may not see.
    pub(super) fn unseen(&self, first: usize, bytes: usize) -> Option<(usize, AccessRecord)> {
        if self.writers.is_null() {
            return None;
        }
        (first / GRANULE..(first + bytes).div_ceil(GRANULE)).find_map(|granule| {
            // SAFETY: callers pass bytes of shared memory.
            let stamp = unsafe { self.writers.add(granule).read() };
            let thread = ((stamp >> 20) as u32 & 0xfff).checked_sub(1)?;
            let fences = self.fences.get(thread as usize).copied()?;
            (fences == stamp as u32 % FENCES).then_some((
                granule * GRANULE,
                AccessRecord {
                    thread,
                    what: "wrote it, and has executed no fence_proxy_async since",
                    line: (stamp >> 32) as u32,
                },
            ))
        })
    }
}
