//! Global memory: allocations that are apart from each other, and host memory that is mapped.

use std::cell::Cell;
use std::ops::Range;

use super::memory::{AccessError, Window, check_alignment};
use super::written::Unwritten;

/// Global memory: allocations that are apart from each other.
#[derive(Default, Debug)]
pub struct Global {
    /// In the order of their addresses.
    allocations: Vec<Allocation>,
    /// The allocation of the last access.
    recent: Cell<usize>,
    /// No allocation has unwritten bytes.
    is_written: Cell<bool>,
    /// The end of the device's own allocations.
    end: u64,
    /// Ranges of host memory that were written, in that order.
    host_writes: Vec<Range<u64>>,
}

#[derive(Debug)]
struct Allocation {
    name: String,
    start: u64,
    /// Of one that was freed, none.
    bytes: Vec<u8>,
    unwritten: Unwritten,
    length: usize,
    is_live: bool,
    is_host: bool,
}

/// No process on Linux has memory here, unless it asks for it: addresses of the device's own memory
/// differ from those of the host.
pub const GLOBAL_START: u64 = 0x2000_0000_0000;

/// Between two allocations, so that no small index error reaches another one.
const GAP: u64 = 4096;

impl Global {
    /// Bytes are zero. The address is a multiple of 256, as `cudaMalloc` promises, and of `align`.
    pub fn allocate(&mut self, name: &str, bytes: usize, align: u64) -> u64 {
        let start = self.end.max(GLOBAL_START).next_multiple_of(align.max(256));
        self.end = start + bytes as u64 + GAP;
        self.insert(name, start, bytes, false);
        start
    }

    fn insert(&mut self, name: &str, start: u64, bytes: usize, is_host: bool) {
        let after = self
            .allocations
            .partition_point(|found| found.start < start);
        let new = Allocation {
            name: name.to_owned(),
            start,
            bytes: vec![0; bytes],
            unwritten: Unwritten::default(),
            length: bytes,
            is_live: true,
            is_host,
        };
        self.allocations.insert(after, new);
    }

    /// Makes host memory accessible, at the same address (unified addressing). The bytes here are a
    /// copy of it, which the caller keeps equal with the help of [`Global::take_host_writes`].
    ///
    /// # Errors
    ///
    /// The bytes overlap with others.
    pub fn map_host(&mut self, name: &str, start: u64, bytes: usize) -> Result<(), AccessError> {
        let end = start.saturating_add(bytes as u64);
        let overlaps = |found: &Allocation| {
            found.start < end && start < found.start + (found.length as u64).max(1)
        };
        if bytes == 0 || self.allocations.iter().any(overlaps) {
            return Err(format!("{bytes} bytes at {start:#x} cannot be mapped"));
        }
        self.insert(name, start, bytes, true);
        Ok(())
    }

    /// Of host memory that was mapped; its addresses may be used again.
    ///
    /// # Errors
    ///
    /// The address is not that of mapped host memory.
    pub fn unmap_host(&mut self, start: u64) -> Result<(), AccessError> {
        let mapped = |found: &Allocation| found.is_host && found.start == start;
        match self.allocations.iter().position(mapped) {
            Some(index) => {
                self.allocations.remove(index);
                self.recent.set(0);
                Ok(())
            }
            None => Err(format!("{start:#x} is not the address of mapped memory")),
        }
    }

    /// The parts of mapped host memory that were written since the last call, in that order.
    pub fn take_host_writes(&mut self) -> Vec<Range<u64>> {
        std::mem::take(&mut self.host_writes)
    }

    /// The start and the size of the allocation that has this address.
    pub fn allocation(&self, address: u64) -> Option<(u64, usize)> {
        let (index, _) = self.find(address, 1, 1).ok()?;
        let found = &self.allocations[index];
        Some((found.start, found.length))
    }

    /// # Errors
    ///
    /// The address is not that of an allocation that is in use.
    pub fn free(&mut self, address: u64) -> Result<(), AccessError> {
        let index = self
            .allocations
            .partition_point(|found| found.start < address);
        let found = self.allocations.get_mut(index);
        match found.filter(|found| found.is_live && !found.is_host && found.start == address) {
            Some(found) => {
                found.is_live = false;
                found.bytes = Vec::new();
                Ok(())
            }
            None => Err(format!("{address:#x} is not the address of an allocation")),
        }
    }

    fn find(
        &self,
        address: u64,
        bytes: u64,
        align: u64,
    ) -> Result<(usize, Range<usize>), AccessError> {
        check_alignment(Window::Global, address, align)?;
        let fits = |index: usize| {
            let found = self.allocations.get(index).filter(|found| found.is_live)?;
            let offset = address.checked_sub(found.start)?;
            let end = offset.checked_add(bytes)?;
            (end <= found.bytes.len() as u64).then_some((index, offset as usize..end as usize))
        };
        if let Some(found) = fits(self.recent.get()) {
            return Ok(found);
        }
        let after = self
            .allocations
            .partition_point(|found| found.start <= address);
        let found = after.checked_sub(1).and_then(fits);
        let (index, range) = found.ok_or_else(|| self.outside(address, bytes, after))?;
        self.recent.set(index);
        Ok((index, range))
    }

    /// The number of the allocation that has the address, and its range.
    pub fn numbered(&self, address: u64) -> Option<(usize, Range<u64>)> {
        let (index, _) = self.find(address, 1, 1).ok()?;
        let found = &self.allocations[index];
        Some((index, found.start..found.start + found.length as u64))
    }

    pub fn name(&self, index: usize) -> &str {
        self.allocations.get(index).map_or("", |found| &found.name)
    }

    /// Names the allocation before the address.
    fn outside(&self, address: u64, bytes: u64, after: usize) -> AccessError {
        let access = format!("{bytes} bytes at global address {address:#x} are in no allocation");
        let Some(nearest) = after.checked_sub(1).and_then(|at| self.allocations.get(at)) else {
            return access;
        };
        let length = nearest.length;
        let offset = address - nearest.start;
        if !nearest.is_live && offset < length as u64 {
            return format!("{access}: `{}` was freed", nearest.name);
        }
        format!(
            "{access}: offset {offset} of `{}`, which has {length} bytes",
            nearest.name
        )
    }

    /// # Errors
    ///
    /// No allocation has all of these bytes, or the address is not aligned.
    pub fn get(&self, address: u64, bytes: u64, align: u64) -> Result<&[u8], AccessError> {
        let (index, range) = self.find(address, bytes, align)?;
        Ok(&self.allocations[index].bytes[range])
    }

    /// # Errors
    ///
    /// As [`Global::get`].
    pub fn get_mut(
        &mut self,
        address: u64,
        bytes: u64,
        align: u64,
    ) -> Result<&mut [u8], AccessError> {
        let (index, range) = self.find(address, bytes, align)?;
        let found = &mut self.allocations[index];
        found.unwritten.remove(range.clone());
        if found.is_host {
            self.host_writes.push(address..address + bytes);
        }
        Ok(&mut found.bytes[range])
    }

    /// Forgets that the bytes of an allocation are written.
    pub fn forget(&mut self, address: u64, bytes: u64) -> Result<(), AccessError> {
        let (index, range) = self.find(address, bytes, 1)?;
        self.allocations[index].unwritten.add(range);
        self.is_written.set(false);
        Ok(())
    }

    /// What was copied from unwritten bytes is unwritten.
    ///
    /// # Errors
    ///
    /// As [`Global::get`].
    pub fn copy_unwritten(&mut self, from: u64, to: u64, bytes: u64) -> Result<(), AccessError> {
        let (source, from) = self.find(from, bytes, 1)?;
        let (target, to) = self.find(to, bytes, 1)?;
        let mut start = from.start;
        while let Some(first) = self.allocations[source].unwritten.first(start..from.end) {
            let at = to.start + (first - from.start);
            self.allocations[target].unwritten.add(at..at + 1);
            self.is_written.set(false);
            start = first + 1;
        }
        Ok(())
    }

    /// The first byte that is unwritten.
    pub fn first_unwritten(&self, address: u64, bytes: u64) -> Option<u64> {
        let (index, range) = self.find(address, bytes, 1).ok()?;
        let start = range.start;
        let found = self.allocations[index].unwritten.first(range)?;
        Some(address + (found - start) as u64)
    }

    /// A bit for each of up to eight bytes that are unwritten.
    #[inline]
    pub fn unwritten_bits(&self, address: u64, bytes: u64) -> u8 {
        let Ok((index, range)) = self.find(address, bytes, 1) else {
            return 0;
        };
        self.allocations[index]
            .unwritten
            .bits(range.start, range.len())
    }

    pub fn has_unwritten(&self) -> bool {
        if self.is_written.get() {
            return false;
        }
        // Kernels use the latest allocations; a process may have freed thousands before them.
        let mut latest = self.allocations.iter().rev();
        let found = latest.any(|found| found.is_live && !found.unwritten.is_empty());
        self.is_written.set(!found);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::Global;

    #[test]
    fn unwritten_bytes_of_any_allocation_count() {
        let mut global = Global::default();
        let (a, b) = (global.allocate("a", 16, 1), global.allocate("b", 8, 1));
        assert!(!global.has_unwritten());
        global.forget(a, 16).unwrap();
        assert!(global.has_unwritten());
        global.get_mut(a, 16, 1).unwrap();
        assert!(!global.has_unwritten());
        global.forget(a, 4).unwrap();
        global.get_mut(b, 8, 1).unwrap();
        global.copy_unwritten(a, b, 4).unwrap();
        global.get_mut(a, 16, 1).unwrap();
        assert!(global.has_unwritten());
        global.free(b).unwrap();
        assert!(!global.has_unwritten());
    }

    #[test]
    fn global_accesses_are_inside_one_allocation() {
        let mut global = Global::default();
        let (a, b) = (global.allocate("a", 16, 1), global.allocate("b", 8, 512));
        assert!(a.is_multiple_of(256) && b.is_multiple_of(512));
        global
            .get_mut(a + 12, 4, 4)
            .unwrap()
            .copy_from_slice(&[1, 2, 3, 4]);
        assert_eq!(global.get(a + 12, 4, 4).unwrap(), [1, 2, 3, 4]);
        assert_eq!(
            global.get(a + 14, 2, 4).unwrap_err(),
            format!("global address {:#x} is not a multiple of 4", a + 14)
        );
        let end = global.get(a + 16, 4, 4).unwrap_err();
        assert!(
            end.ends_with("offset 16 of `a`, which has 16 bytes"),
            "{end}"
        );
        assert!(global.get(a + 8, 16, 8).is_err());
        assert!(global.get(u64::MAX - 3, 4, 4).is_err());
        assert!(
            global
                .get(0, 4, 4)
                .unwrap_err()
                .ends_with("in no allocation")
        );
        global.free(b).unwrap();
        assert!(global.get(b, 4, 4).unwrap_err().ends_with("`b` was freed"));
        assert!(global.free(b).is_err() && global.free(a + 1).is_err());
    }

    #[test]
    fn host_memory_is_at_its_own_address() {
        let mut global = Global::default();
        let a = global.allocate("a", 16, 1);
        global.map_host("host", 0x7fff_0000_1000, 8).unwrap();
        assert!(global.map_host("again", 0x7fff_0000_1004, 8).is_err());
        let b = global.allocate("b", 16, 1);
        assert!(a < b && b < 0x7fff_0000_0000);
        for offset in [4, 0] {
            global.get_mut(0x7fff_0000_1000 + offset, 4, 4).unwrap()[0] = 1;
        }
        global.get_mut(b, 4, 4).unwrap()[0] = 1;
        let host = 0x7fff_0000_1000;
        assert_eq!(
            global.take_host_writes(),
            [host + 4..host + 8, host..host + 4]
        );
        assert!(global.take_host_writes().is_empty());
        assert_eq!(global.allocation(host + 7), Some((host, 8)));
        assert_eq!(global.allocation(host + 8), None);
        assert!(global.free(host).is_err() && global.unmap_host(a).is_err());
        global.unmap_host(host).unwrap();
        assert!(global.get(host, 1, 1).is_err() && global.get(b, 1, 1).is_ok());
    }
}
