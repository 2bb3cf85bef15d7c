//! State spaces and their addresses.
//!
//! A variable has an address within its state space, and a generic one: that of its space's window
//! plus the first. Windows lie below 4 GiB, because Triton keeps generic addresses of parameters in
//! 32-bit registers; global memory lies above, where both addresses are the same.
//!
//! Every access is inside one allocation, and aligned to its size.

use std::cell::Cell;
use std::ops::Range;

use super::written::Unwritten;

/// A state space of instructions; `Generic` where they name none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Window {
    Generic,
    Global,
    Shared,
    /// Shared memory of any block of the cluster (see `shared`).
    Cluster,
    Local,
    Param,
    Const,
}

pub const WINDOW_BYTES: u64 = 0x0100_0000;

/// The block's own window, and those of up to 16 blocks of its cluster.
const CLUSTER_BYTES: u64 = 17 * WINDOW_BYTES;

impl Window {
    const BELOW: [Window; 4] = [Window::Shared, Window::Local, Window::Param, Window::Const];

    /// The generic address of the space's address 0.
    pub fn base(self) -> u64 {
        match self {
            Window::Generic | Window::Global => 0,
            Window::Shared | Window::Cluster => 0x1000_0000,
            Window::Local => 0x3000_0000,
            Window::Param => 0x4000_0000,
            Window::Const => 0x5000_0000,
        }
    }

    /// The space of a generic address, and the address there.
    pub fn of_generic(address: u64) -> (Window, u64) {
        let found = Window::BELOW
            .into_iter()
            .find(|window| address.wrapping_sub(window.base()) < WINDOW_BYTES);
        match found {
            Some(window) => (window, address - window.base()),
            None if address.wrapping_sub(Window::Cluster.base()) < CLUSTER_BYTES => {
                (Window::Cluster, address - Window::Cluster.base())
            }
            None => (Window::Global, address),
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Window::Generic => "generic",
            Window::Global => "global",
            Window::Shared => "shared",
            Window::Cluster => "shared::cluster",
            Window::Local => "local",
            Window::Param => "param",
            Window::Const => "const",
        }
    }
}

/// An access that no allocation has room for.
pub type AccessError = String;

fn check_alignment(window: Window, address: u64, align: u64) -> Result<(), AccessError> {
    if address.is_multiple_of(align) {
        return Ok(());
    }
    let name = window.name();
    Err(format!(
        "{name} address {address:#x} is not a multiple of {align}"
    ))
}

/// Where shared memory begins: an H100 keeps the first KiB for itself.
pub const SHARED_START: u64 = 1024;

/// Variables of one space, with bytes of their own.
#[derive(Clone, Debug)]
pub struct Arena {
    window: Window,
    bytes: Vec<u8>,
    unwritten: Unwritten,
    layout: Layout,
}

/// Named ranges of addresses, in their order.
#[derive(Clone, Default, Debug)]
pub struct Layout {
    variables: Vec<(String, Range<u64>)>,
    end: u64,
}

impl Layout {
    pub fn starting_at(start: u64) -> Layout {
        Layout {
            variables: Vec::new(),
            end: start,
        }
    }

    /// The address of the new variable.
    pub fn add(&mut self, name: &str, bytes: u64, align: u64) -> u64 {
        let start = self.end.next_multiple_of(align.max(1));
        self.end = start.saturating_add(bytes);
        self.variables.push((name.to_owned(), start..self.end));
        start
    }

    pub fn address(&self, name: &str) -> Option<u64> {
        let found = self.variables.iter().find(|(known, _)| known == name);
        found.map(|(_, range)| range.start)
    }

    pub fn end(&self) -> u64 {
        self.end
    }

    /// The variable at the address, and where in it that is.
    pub fn name(&self, address: u64) -> Option<(&str, u64)> {
        let mut variables = self.variables.iter().rev();
        let (name, range) = variables.find(|(_, range)| range.contains(&address))?;
        Some((name, address - range.start))
    }

    fn contains(&self, access: &Range<u64>) -> bool {
        let after = self
            .variables
            .partition_point(|(_, range)| range.start <= access.start);
        // Variables without bytes may begin where another does.
        self.variables[..after]
            .iter()
            .rev()
            .take(4)
            .any(|(_, range)| access.end <= range.end)
    }
}

impl Arena {
    pub fn new(window: Window, layout: Layout) -> Arena {
        let length = usize::try_from(layout.end.min(WINDOW_BYTES)).unwrap_or(0);
        let mut unwritten = Unwritten::default();
        if window == Window::Shared {
            for (_, range) in &layout.variables {
                unwritten.add(range.start as usize..(range.end as usize).min(length));
            }
        }
        Arena {
            window,
            bytes: vec![0; length],
            unwritten,
            layout,
        }
    }

    /// The variables of one more function, whose addresses are from `base` on.
    pub fn push(&mut self, variables: &Layout, base: u64) {
        for (name, range) in &variables.variables {
            let moved = base + range.start..base + range.end;
            let end = moved.end.min(WINDOW_BYTES) as usize;
            self.unwritten.add(moved.start as usize..end);
            self.layout.variables.push((name.clone(), moved));
        }
        self.layout.end = base + variables.end;
        self.bytes
            .resize(self.layout.end.min(WINDOW_BYTES) as usize, 0);
    }

    /// Takes back what was pushed at `base`.
    pub fn pop(&mut self, base: u64) {
        self.layout
            .variables
            .retain(|(_, range)| range.start < base);
        self.layout.end = base;
        self.unwritten
            .remove(base as usize..self.bytes.len().max(base as usize));
        self.bytes.truncate(base as usize);
    }

    pub fn end(&self) -> u64 {
        self.layout.end
    }

    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    fn range(&self, address: u64, bytes: u64, align: u64) -> Result<Range<usize>, AccessError> {
        check_alignment(self.window, address, align)?;
        let access = address..address.saturating_add(bytes);
        if !self.layout.contains(&access) || access.end > self.bytes.len() as u64 {
            let name = self.window.name();
            return Err(format!(
                "{bytes} bytes at {name} address {address:#x} are in no variable"
            ));
        }
        Ok(access.start as usize..access.end as usize)
    }

    pub fn get(&self, address: u64, bytes: u64, align: u64) -> Result<&[u8], AccessError> {
        self.range(address, bytes, align)
            .map(|range| &self.bytes[range])
    }

    pub fn get_mut(
        &mut self,
        address: u64,
        bytes: u64,
        align: u64,
    ) -> Result<&mut [u8], AccessError> {
        let range = self.range(address, bytes, align)?;
        self.unwritten.remove(range.clone());
        Ok(&mut self.bytes[range])
    }

    /// From one variable to another.
    pub fn copy(&mut self, from: u64, to: u64, bytes: u64) -> Result<(), AccessError> {
        let value = self.get(from, bytes, 1)?.to_vec();
        self.get_mut(to, bytes, 1)?.copy_from_slice(&value);
        for at in 0..bytes as usize {
            if self.unwritten.bits(from as usize + at, 1) != 0 {
                self.unwritten.add(to as usize + at..to as usize + at + 1);
            }
        }
        Ok(())
    }

    pub fn unwritten(&self) -> &Unwritten {
        &self.unwritten
    }

    /// What was written there is a copy of unwritten bytes, by the bits of `marks`.
    pub fn mark(&mut self, address: u64, marks: u8) {
        for at in (0..8).filter(|at| marks >> at & 1 == 1) {
            let start = address as usize + at;
            self.unwritten.add(start..start + 1);
        }
    }
}

/// Global memory: allocations that are apart from each other.
#[derive(Default, Debug)]
pub struct Global {
    /// In the order of their addresses.
    allocations: Vec<Allocation>,
    /// The allocation of the last access.
    recent: Cell<usize>,
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
const GLOBAL_START: u64 = 0x2000_0000_0000;

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
        self.allocations
            .iter()
            .any(|found| found.is_live && !found.unwritten.is_empty())
    }
}

/// Up to eight bytes, little-endian.
pub fn to_bits(bytes: &[u8]) -> u64 {
    match *bytes {
        [a] => u64::from(a),
        [a, b] => u64::from(u16::from_le_bytes([a, b])),
        [a, b, c, d] => u64::from(u32::from_le_bytes([a, b, c, d])),
        _ => bytes
            .iter()
            .rev()
            .fold(0, |bits, byte| bits << 8 | u64::from(*byte)),
    }
}

#[cfg(test)]
mod tests {
    use super::{Arena, Global, Layout, Window, to_bits};

    #[test]
    fn windows_do_not_overlap() {
        for window in Window::BELOW {
            assert_eq!(Window::of_generic(window.base() + 12), (window, 12));
            assert!(u32::try_from(window.base() + super::WINDOW_BYTES).is_ok());
        }
        let last = Window::Cluster.base() + super::CLUSTER_BYTES;
        assert!(last <= Window::Local.base());
        assert_eq!(Window::of_generic(last - 4).0, Window::Cluster);
        assert_eq!(Window::of_generic(last).0, Window::Global);
        assert_eq!(Window::of_generic(super::GLOBAL_START).0, Window::Global);
        assert_eq!(Window::of_generic(0), (Window::Global, 0));
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

    #[test]
    fn arenas_have_gaps() {
        let mut layout = Layout::starting_at(1024);
        assert_eq!(layout.add("x", 4, 4), 1024);
        assert_eq!(layout.add("y", 16, 16), 1040);
        assert_eq!(layout.address("y"), Some(1040));
        let arena = Arena::new(Window::Shared, layout);
        assert!(arena.get(1024, 4, 4).is_ok() && arena.get(1040, 16, 16).is_ok());
        for (address, bytes) in [(1028, 4), (1024, 8), (0, 4), (1056, 4), (1052, 8)] {
            assert!(arena.get(address, bytes, 4).is_err(), "{address}");
        }
    }

    #[test]
    fn bytes_are_little_endian() {
        assert_eq!(to_bits(&[1, 2, 3, 4, 5, 6, 7, 8]), 0x0807_0605_0403_0201);
        assert_eq!(to_bits(&[1, 2]), 0x0201);
    }
}
