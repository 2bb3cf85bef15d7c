//! The shared memory of the blocks of a cluster, and the mbarrier objects in it.
//!
//! An address of `.shared::cta` is an offset in the memory of the block itself. One of
//! `.shared::cluster` is the same, or says the rank of a block: `mapa` makes such addresses.

use std::collections::BTreeMap;
use std::ops::Range;

use super::asynchronous::mbarrier::{self, Mbarrier};
use super::memory::{AccessError, Arena, WINDOW_BYTES, Window};

/// Where a byte of shared memory is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SharedPlace {
    /// `%cluster_ctarank` of its block.
    pub rank: usize,
    /// In the block's memory.
    pub address: u64,
}

#[derive(Debug)]
pub struct Shared {
    parts: Vec<Part>,
    /// Of the block that is being executed.
    pub rank: usize,
    /// The number of the first block in the grid.
    first: u32,
}

/// The memory of one block.
#[derive(Debug)]
struct Part {
    arena: Arena,
    mbarriers: BTreeMap<u64, Mbarrier>,
    /// From the first to the last of them.
    span: Range<u64>,
    has_exited: bool,
}

impl Shared {
    /// One part for each block, in the order of their ranks.
    pub fn new(first: u32, arenas: impl Iterator<Item = Arena>) -> Shared {
        let part = |arena| Part {
            arena,
            mbarriers: BTreeMap::new(),
            span: 0..0,
            has_exited: false,
        };
        Shared {
            parts: arenas.map(part).collect(),
            rank: 0,
            first,
        }
    }

    /// The number of a block in the grid.
    pub fn number(&self, rank: usize) -> u32 {
        self.first + rank as u32
    }

    /// The memory of the block that is being executed.
    pub fn own(&self) -> &Arena {
        &self.parts[self.rank].arena
    }

    pub fn part(&self, rank: usize) -> &Arena {
        &self.parts[rank].arena
    }

    /// What was written there is a copy of unwritten bytes, by the bits of `marks`.
    pub fn mark(&mut self, place: SharedPlace, marks: u8) {
        self.parts[place.rank].arena.mark(place.address, marks);
    }

    pub fn blocks(&self) -> usize {
        self.parts.len()
    }

    /// The end of the block's own memory.
    pub fn end(&self) -> u64 {
        self.parts[self.rank].arena.end()
    }

    /// No block may access its memory any more.
    pub fn exit(&mut self, rank: usize) {
        self.parts[rank].has_exited = true;
    }

    /// Bytes of the block's own memory, for a generic access.
    ///
    /// # Errors
    ///
    /// They are in no variable, not aligned, or part of an mbarrier object.
    #[inline]
    pub fn get(&self, address: u64, bytes: u64, align: u64) -> Result<&[u8], AccessError> {
        let part = &self.parts[self.rank];
        part.check(address, bytes)?;
        part.arena.get(address, bytes, align)
    }

    /// As [`Shared::get`].
    ///
    /// # Errors
    ///
    /// As for [`Shared::get`].
    #[inline]
    pub fn get_mut(
        &mut self,
        address: u64,
        bytes: u64,
        align: u64,
    ) -> Result<&mut [u8], AccessError> {
        let part = &mut self.parts[self.rank];
        part.check(address, bytes)?;
        part.arena.get_mut(address, bytes, align)
    }

    /// The place of an address of `.shared::cluster`.
    ///
    /// # Errors
    ///
    /// There is no such block, or it has exited.
    pub fn place(&self, address: u64) -> Result<SharedPlace, AccessError> {
        let rank = match (address / WINDOW_BYTES) as usize {
            0 => self.rank,
            window => window - 1,
        };
        let part = self.parts.get(rank).ok_or_else(|| {
            let count = self.parts.len();
            format!("shared::cluster address {address:#x} is of no block of the cluster of {count}")
        })?;
        if part.has_exited {
            return Err(format!(
                "shared::cluster address {address:#x} is of the block with rank {rank}, which has \
                 exited"
            ));
        }
        Ok(SharedPlace {
            rank,
            address: address % WINDOW_BYTES,
        })
    }

    /// The address of `.shared::cluster` of a place in the memory of a block.
    pub fn address_of(place: SharedPlace) -> u64 {
        (place.rank as u64 + 1) * WINDOW_BYTES + place.address
    }

    /// Bytes of any block's memory.
    ///
    /// # Errors
    ///
    /// As for [`Shared::get`], or the block has exited.
    pub fn get_at(&self, place: SharedPlace, bytes: u64, align: u64) -> Result<&[u8], AccessError> {
        let part = &self.parts[place.rank];
        part.check_life(place.rank)?;
        part.check(place.address, bytes)?;
        part.arena.get(place.address, bytes, align)
    }

    /// As [`Shared::get_at`].
    ///
    /// # Errors
    ///
    /// As for [`Shared::get_at`].
    pub fn get_mut_at(
        &mut self,
        place: SharedPlace,
        bytes: u64,
        align: u64,
    ) -> Result<&mut [u8], AccessError> {
        let part = &mut self.parts[place.rank];
        part.check_life(place.rank)?;
        part.check(place.address, bytes)?;
        part.arena.get_mut(place.address, bytes, align)
    }

    /// # Errors
    ///
    /// The place is in no variable, not aligned, or has an mbarrier object.
    pub fn add_mbarrier(
        &mut self,
        place: SharedPlace,
        mbarrier: Mbarrier,
    ) -> Result<(), AccessError> {
        let part = &mut self.parts[place.rank];
        part.arena
            .get(place.address, mbarrier::BYTES, mbarrier::BYTES)?;
        if part.mbarriers.contains_key(&place.address) {
            return Err(format!(
                "an mbarrier object is initialised at shared address {:#x}, where one is already; \
                 mbarrier.inval is missing",
                place.address
            ));
        }
        part.mbarriers.insert(place.address, mbarrier);
        part.update_span();
        Ok(())
    }

    /// # Errors
    ///
    /// There is none.
    pub fn remove_mbarrier(&mut self, place: SharedPlace) -> Result<(), AccessError> {
        self.mbarrier(place)?;
        let part = &mut self.parts[place.rank];
        part.mbarriers.remove(&place.address);
        part.update_span();
        Ok(())
    }

    /// # Errors
    ///
    /// The place is in no variable, not aligned, or without an mbarrier object.
    pub fn mbarrier(&mut self, place: SharedPlace) -> Result<&mut Mbarrier, AccessError> {
        let part = &mut self.parts[place.rank];
        part.check_life(place.rank)?;
        part.arena
            .get(place.address, mbarrier::BYTES, mbarrier::BYTES)?;
        part.mbarriers.get_mut(&place.address).ok_or_else(|| {
            let SharedPlace { rank, address } = place;
            format!(
                "there is no mbarrier object at shared address {address:#x} of the block with rank \
                 {rank}"
            )
        })
    }
}

impl Part {
    #[inline]
    fn check(&self, address: u64, bytes: u64) -> Result<(), AccessError> {
        let end = address.saturating_add(bytes);
        if address >= self.span.end || end <= self.span.start {
            return Ok(());
        }
        let first = address.saturating_sub(mbarrier::BYTES - 1);
        match self.mbarriers.range(first..end).next() {
            None => Ok(()),
            Some((object, _)) => Err(format!(
                "{bytes} bytes at shared address {address:#x} are part of the mbarrier object at \
                 {object:#x}, which only mbarrier instructions may access"
            )),
        }
    }

    fn check_life(&self, rank: usize) -> Result<(), AccessError> {
        match self.has_exited {
            false => Ok(()),
            true => Err(format!(
                "the block with rank {rank}, to which this shared memory belongs, has exited"
            )),
        }
    }

    fn update_span(&mut self) {
        let first = self.mbarriers.keys().next().copied();
        let last = self.mbarriers.keys().next_back().copied();
        self.span = match (first, last) {
            (Some(first), Some(last)) => first..last + mbarrier::BYTES,
            _ => 0..0,
        };
    }
}

impl super::memory::Window {
    /// Whether accesses to the space are to shared memory.
    pub fn is_shared(self) -> bool {
        matches!(self, Window::Shared | Window::Cluster)
    }
}

#[cfg(test)]
mod tests {
    use super::super::memory::{Layout, SHARED_START, WINDOW_BYTES, Window};
    use super::{Arena, Mbarrier, Shared, SharedPlace};

    fn shared() -> Shared {
        let mut layout = Layout::starting_at(SHARED_START);
        layout.add("x", 64, 16);
        Shared::new(
            0,
            (0..2).map(|_| Arena::new(Window::Shared, layout.clone())),
        )
    }

    #[test]
    fn blocks_have_memory_of_their_own() {
        let mut shared = shared();
        let place = SharedPlace {
            rank: 1,
            address: 1024,
        };
        shared.get_mut_at(place, 4, 4).unwrap()[0] = 7;
        assert_eq!(shared.get(1024, 1, 1).unwrap(), [0]);
        assert_eq!(shared.place(Shared::address_of(place)), Ok(place));
        assert_eq!(shared.place(1024), Ok(SharedPlace { rank: 0, ..place }));
        assert!(
            shared
                .place(3 * WINDOW_BYTES)
                .unwrap_err()
                .contains("no block")
        );
        shared.rank = 1;
        assert_eq!(shared.get(1024, 1, 1).unwrap(), [7]);
        shared.exit(1);
        shared.rank = 0;
        assert!(
            shared
                .get_at(place, 1, 1)
                .unwrap_err()
                .contains("has exited")
        );
        assert!(shared.place(Shared::address_of(place)).is_err());
    }

    #[test]
    fn objects_are_kept_apart_from_bytes() {
        let mut shared = shared();
        let place = SharedPlace {
            rank: 0,
            address: 1040,
        };
        assert!(shared.mbarrier(place).is_err());
        shared
            .add_mbarrier(place, Mbarrier::new(1).unwrap())
            .unwrap();
        let other = SharedPlace {
            address: 1072,
            ..place
        };
        shared
            .add_mbarrier(other, Mbarrier::new(1).unwrap())
            .unwrap();
        assert!(
            shared
                .add_mbarrier(place, Mbarrier::new(1).unwrap())
                .is_err()
        );
        let misaligned = SharedPlace {
            address: 1052,
            ..place
        };
        assert!(
            shared
                .add_mbarrier(misaligned, Mbarrier::new(1).unwrap())
                .is_err()
        );
        for (address, bytes, allowed) in [
            (1036, 4, true),
            (1036, 8, false),
            (1047, 1, false),
            (1048, 4, true),
            (1024, 64, false),
        ] {
            assert_eq!(shared.get(address, bytes, 1).is_ok(), allowed, "{address}");
        }
        shared.remove_mbarrier(place).unwrap();
        assert!(shared.get(1040, 8, 8).is_ok() && shared.get(1072, 8, 8).is_err());
        assert!(shared.remove_mbarrier(place).is_err());
    }
}
