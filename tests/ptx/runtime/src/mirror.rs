//! Host memory that kernels access.
//!
//! The machine has bytes of its own for it. What the host has stored is fetched, and what kernels
//! have stored is flushed, whenever the memory passes to another thread and between time slices. Both
//! keep the order of stores: a flag that is stored after the data is seen after the data.

use std::ops::Range;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

use croq_ptx::machine::Global;

#[derive(Default)]
pub struct Mirrors {
    list: Vec<Mirror>,
}

struct Mirror {
    /// The same for the host and the device.
    start: usize,
    /// What both sides had when they were last compared.
    known: Vec<u8>,
}

/// The host may store again and again; then the next time slice has a newer value.
const MOST_PASSES: usize = 64;

impl Mirrors {
    /// # Safety
    ///
    /// The bytes are readable and writable until they are removed here.
    pub unsafe fn add(
        &mut self,
        start: usize,
        bytes: usize,
        global: &mut Global,
    ) -> Result<(), String> {
        global.map_host("host memory", start as u64, bytes)?;
        self.list.push(Mirror {
            start,
            known: vec![0; bytes],
        });
        self.fetch(global);
        Ok(())
    }

    /// The number of bytes that were there.
    pub fn remove(&mut self, start: usize, global: &mut Global) -> Option<usize> {
        let index = self.list.iter().position(|mirror| mirror.start == start)?;
        let removed = self.list.swap_remove(index);
        global.unmap_host(start as u64).ok()?;
        Some(removed.known.len())
    }

    pub fn contains(&self, range: &Range<usize>) -> bool {
        self.list
            .iter()
            .any(|mirror| mirror.start <= range.start && range.end <= mirror.end())
    }

    pub fn bytes(&self) -> usize {
        self.list.iter().map(|mirror| mirror.known.len()).sum()
    }

    /// Gives the device what the host has stored.
    pub fn fetch(&mut self, global: &mut Global) {
        for _ in 0..MOST_PASSES {
            // A pass after which nothing is new has seen all that was stored before the last flag.
            let mut changed = false;
            for mirror in &mut self.list {
                changed |= mirror.fetch(global);
            }
            if !changed {
                break;
            }
        }
        global.take_host_writes();
    }

    /// Gives the host what kernels have stored, in the order of the last stores to each place.
    pub fn flush(&mut self, global: &mut Global) {
        let writes = global.take_host_writes();
        let mut last: Vec<Range<u64>> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        for range in writes.into_iter().rev() {
            if seen.insert((range.start, range.end)) {
                last.push(range);
            }
        }
        for range in last.into_iter().rev() {
            let (start, end) = (range.start as usize, range.end as usize);
            let mut mirrors = self.list.iter_mut();
            let Some(mirror) = mirrors.find(|m| m.start <= start && end <= m.end()) else {
                continue;
            };
            let Ok(bytes) = global.get(range.start, range.end - range.start, 1) else {
                continue;
            };
            mirror.store(start - mirror.start, bytes);
        }
    }
}

impl Mirror {
    fn end(&self) -> usize {
        self.start + self.known.len()
    }

    /// Whether there was something new.
    fn fetch(&mut self, global: &mut Global) -> bool {
        let mut changed = false;
        for piece in pieces(self.start, self.end()) {
            let value = load(piece.clone()).to_le_bytes();
            let place = piece.start - self.start..piece.end - self.start;
            let value = &value[..place.len()];
            if self.known[place.clone()] != *value {
                changed = true;
                self.known[place].copy_from_slice(value);
                if let Ok(bytes) = global.get_mut(piece.start as u64, value.len() as u64, 1) {
                    bytes.copy_from_slice(value);
                }
            }
        }
        changed
    }

    fn store(&mut self, offset: usize, bytes: &[u8]) {
        let start = self.start + offset;
        for piece in pieces(start, start + bytes.len()) {
            let place = piece.start - self.start..piece.end - self.start;
            let value = &bytes[piece.start - start..piece.end - start];
            if self.known[place.clone()] != *value {
                self.known[place].copy_from_slice(value);
                store(piece, value);
            }
        }
    }
}

/// Aligned words of up to eight bytes that make up a range.
fn pieces(start: usize, end: usize) -> impl Iterator<Item = Range<usize>> {
    let mut at = start;
    std::iter::from_fn(move || {
        let size = [8, 4, 2, 1]
            .into_iter()
            .find(|size| at.is_multiple_of(*size) && at + size <= end)?;
        at += size;
        Some(at - size..at)
    })
}

fn load(piece: Range<usize>) -> u64 {
    // SAFETY: the caller of `Mirrors::add` promised memory there; the address is a multiple of the
    // size. The host's threads may store at the same time, so the access is atomic.
    unsafe {
        match piece.len() {
            8 => AtomicU64::from_ptr(piece.start as *mut u64).load(Ordering::Acquire),
            4 => AtomicU32::from_ptr(piece.start as *mut u32)
                .load(Ordering::Acquire)
                .into(),
            2 => AtomicU16::from_ptr(piece.start as *mut u16)
                .load(Ordering::Acquire)
                .into(),
            _ => AtomicU8::from_ptr(piece.start as *mut u8)
                .load(Ordering::Acquire)
                .into(),
        }
    }
}

fn store(piece: Range<usize>, value: &[u8]) {
    let bits = value
        .iter()
        .rev()
        .fold(0, |bits, byte| bits << 8 | u64::from(*byte));
    // SAFETY: as for `load`.
    unsafe {
        match piece.len() {
            8 => AtomicU64::from_ptr(piece.start as *mut u64).store(bits, Ordering::Release),
            4 => AtomicU32::from_ptr(piece.start as *mut u32).store(bits as u32, Ordering::Release),
            2 => AtomicU16::from_ptr(piece.start as *mut u16).store(bits as u16, Ordering::Release),
            _ => AtomicU8::from_ptr(piece.start as *mut u8).store(bits as u8, Ordering::Release),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Mirrors, pieces};
    use croq_ptx::machine::Global;

    #[test]
    fn ranges_are_made_of_aligned_words() {
        let list: Vec<_> = pieces(3, 22).collect();
        assert_eq!(list, [3..4, 4..8, 8..16, 16..20, 20..22]);
        assert_eq!(pieces(8, 8).count(), 0);
    }

    #[test]
    fn stores_of_both_sides_arrive() {
        let mut words = vec![1_u32, 2, 3];
        let start = words.as_mut_ptr();
        let at = |index: usize| start as u64 + 4 * index as u64;
        let (mut mirrors, mut global) = (Mirrors::default(), Global::default());
        // SAFETY: the vector is not moved or freed before the mirror is removed.
        unsafe { mirrors.add(start as usize, 12, &mut global).unwrap() };
        assert_eq!(global.get(at(2), 4, 4).unwrap(), [3, 0, 0, 0]);
        // SAFETY: as above, and there is no other thread.
        unsafe { start.add(1).write_volatile(7) };
        global.get_mut(at(0), 4, 4).unwrap()[0] = 9;
        // Read, but not changed: the host's value is kept.
        global.get_mut(at(1), 4, 4).unwrap();
        mirrors.flush(&mut global);
        mirrors.fetch(&mut global);
        assert_eq!(global.get(at(1), 4, 4).unwrap(), [7, 0, 0, 0]);
        // SAFETY: as above.
        assert_eq!(unsafe { [start.read(), start.add(1).read()] }, [9, 7]);
        assert_eq!(mirrors.remove(start as usize, &mut global), Some(12));
        assert!(global.get(at(0), 1, 1).is_err());
        drop(words);
    }
}
