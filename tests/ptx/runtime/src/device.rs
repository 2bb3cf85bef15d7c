//! The device of the process.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use croq_ptx::machine::Global;

use crate::code::{Code, Done};
use crate::handles::{Event, Streams, Table};
use crate::limits;
use crate::memory::{Memory, locked};
use crate::stream::{Point, Recorded, Stream};

#[derive(Default)]
pub struct Device {
    pub memory: Memory,
    pub streams: Streams,
    pub events: Mutex<Table<Arc<Event>>>,
    pub graphs: Mutex<Table<Arc<Vec<Recorded>>>>,
    pub allocations: Mutex<Allocations>,
    /// The error of the first failure; 0 without one.
    failure: AtomicI32,
}

/// What the program has allocated, by address.
#[derive(Default)]
pub struct Allocations {
    live: BTreeMap<u64, Allocation>,
    used: u64,
    pub pool: Pool,
}

#[derive(Clone, Copy)]
struct Allocation {
    bytes: u64,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Plain,
    /// Of the memory pool (`cudaMallocAsync`).
    Pooled,
    /// A variable of a module.
    Variable,
}

/// The default memory pool: memory that is free remains reserved until the program waits for work,
/// and then as much as the release threshold says (`cudaMemPoolAttrReleaseThreshold`, 0 at first).
#[derive(Default)]
pub struct Pool {
    pub threshold: u64,
    pub used: u64,
    pub reserved: u64,
    pub most_used: u64,
    pub most_reserved: u64,
    /// How often memory was obtained from the system, which is slow.
    pub growths: u64,
}

/// Memory without a defined content has this in every byte, up to a size: as floats no numbers.
const UNDEFINED: u8 = 0xff;
const MOST_FILLED: usize = 256 << 20;

/// The device, which exists from the first call on.
pub fn device() -> &'static Device {
    static DEVICE: OnceLock<Device> = OnceLock::new();
    DEVICE.get_or_init(Device::default)
}

impl Device {
    /// The failure that makes all later calls fail.
    pub fn healthy(&self) -> Done {
        match self.failure.load(Ordering::SeqCst) {
            0 => Ok(()),
            code => Err(Code(code)),
        }
    }

    /// The first failure remains.
    pub fn fail(&self, code: Code) {
        let _ = self
            .failure
            .compare_exchange(0, code.0, Ordering::SeqCst, Ordering::SeqCst);
    }

    /// Enqueues work, which begins also after `after`. It is skipped once the device has failed; an
    /// error of the work is the device's failure.
    pub fn issue(
        &'static self,
        stream: &Arc<Stream>,
        mut after: Vec<Point>,
        work: impl FnOnce() -> Done + Send + 'static,
    ) -> Point {
        after.extend(self.streams.before(stream));
        let work = move || {
            if self.healthy().is_err() {
                return;
            }
            // A panic has printed its message.
            let done = catch_unwind(AssertUnwindSafe(work)).unwrap_or(Err(Code::LAUNCH_FAILURE));
            if let Err(code) = done {
                self.fail(code);
            }
        };
        stream.push(after, Box::new(work))
    }

    /// Enqueues work, or makes it a part of the graph that the stream captures.
    pub fn issue_or_capture(&'static self, stream: &Arc<Stream>, work: Recorded) -> Point {
        if let Some(captured) = &mut *locked(&stream.captured) {
            captured.push(work);
            return stream.end();
        }
        self.issue(stream, Vec::new(), move || work())
    }

    /// Waits, and reports what has failed until then.
    pub fn wait(&self, for_points: &[Point]) -> Done {
        for_points.iter().for_each(Point::wait);
        locked(&self.allocations).pool.trim();
        self.healthy()
    }

    pub fn wait_for_all(&self) -> Done {
        self.wait(&self.streams.ends())
    }

    /// Device memory with undefined content.
    pub fn allocate(&self, bytes: u64, kind: Kind) -> Done<u64> {
        let size = usize::try_from(bytes).map_err(|_| Code::OUT_OF_MEMORY)?;
        let mut allocations = locked(&self.allocations);
        let left = limits::MEMORY_BYTES - allocations.used;
        if bytes > left || Vec::<u8>::new().try_reserve_exact(size).is_err() {
            return Err(Code::OUT_OF_MEMORY);
        }
        allocations.used += bytes;
        if kind == Kind::Pooled {
            allocations.pool.take(bytes);
        }
        drop(allocations);
        let mut global = self.memory.take();
        let address = global.allocate("device memory", size, 512);
        if size <= MOST_FILLED
            && let Ok(place) = global.get_mut(address, bytes, 1)
        {
            place.fill(UNDEFINED);
        }
        // Nothing has written it (`Checks::unwritten`).
        let _ = global.forget(address, bytes);
        drop(global);
        let new = Allocation { bytes, kind };
        locked(&self.allocations).live.insert(address, new);
        Ok(address)
    }

    /// Makes a variable known to copies.
    pub fn know(&self, address: u64, bytes: u64) {
        let kind = Kind::Variable;
        let new = Allocation { bytes, kind };
        locked(&self.allocations).live.insert(address, new);
    }

    /// From now on the program must not use the memory, but earlier work may: then [`Device::drop`].
    pub fn forget(&self, address: u64) -> Done<Kind> {
        let mut allocations = locked(&self.allocations);
        let found = allocations.live.get(&address).copied();
        let found = found.filter(|found| found.kind != Kind::Variable);
        let Allocation { bytes, kind } = found.ok_or(Code::INVALID_VALUE)?;
        allocations.live.remove(&address);
        allocations.used -= bytes;
        if kind == Kind::Pooled {
            allocations.pool.used -= bytes;
        }
        Ok(kind)
    }

    /// Frees memory that was forgotten.
    pub fn drop(global: &mut Global, address: u64) -> Done {
        global.free(address).map_err(|_| Code::INVALID_VALUE)
    }

    /// The start and the size of the allocation with these bytes.
    pub fn find(&self, address: u64, bytes: u64) -> Option<(u64, u64)> {
        let allocations = locked(&self.allocations);
        let (start, found) = allocations.live.range(..=address).next_back()?;
        let end = address.checked_add(bytes)?;
        (end <= start + found.bytes).then_some((*start, found.bytes))
    }

    pub fn free_bytes(&self) -> u64 {
        limits::MEMORY_BYTES - locked(&self.allocations).used
    }
}

impl Pool {
    fn take(&mut self, bytes: u64) {
        self.used += bytes;
        if self.used > self.reserved {
            self.reserved = self.used;
            self.growths += 1;
        }
        self.most_used = self.most_used.max(self.used);
        self.most_reserved = self.most_reserved.max(self.reserved);
    }

    /// Gives memory back to the system.
    fn trim(&mut self) {
        self.trim_to(self.threshold);
    }

    pub fn trim_to(&mut self, least: u64) {
        self.reserved = self.used.max(least.min(self.reserved));
    }
}

#[cfg(test)]
mod tests {
    use super::Pool;

    #[test]
    fn the_pool_keeps_what_the_threshold_says() {
        let mut pool = Pool::default();
        for (threshold, reserved, growths) in [(0, 0, 2), (1 << 40, 100, 1), (60, 60, 2)] {
            pool = Pool {
                threshold,
                ..Pool::default()
            };
            for _ in 0..2 {
                pool.take(100);
                pool.used -= 100;
                pool.trim();
            }
            assert_eq!((pool.reserved, pool.growths), (reserved, growths));
        }
        assert_eq!((pool.most_used, pool.most_reserved), (100, 100));
    }
}
