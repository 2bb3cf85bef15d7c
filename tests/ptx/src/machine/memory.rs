//! State spaces and their addresses.
//!
//! A variable has an address within its state space, and a generic one: that of its space's window
//! plus the first. Windows lie below 4 GiB, because Triton keeps generic addresses of parameters in
//! 32-bit registers; global memory lies above, where both addresses are the same.
//!
//! Every access is inside one allocation, and aligned to its size.

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

pub fn check_alignment(window: Window, address: u64, align: u64) -> Result<(), AccessError> {
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
    use super::super::global::GLOBAL_START;
    use super::{Arena, Layout, Window, to_bits};

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
        assert_eq!(Window::of_generic(GLOBAL_START).0, Window::Global);
        assert_eq!(Window::of_generic(0), (Window::Global, 0));
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
