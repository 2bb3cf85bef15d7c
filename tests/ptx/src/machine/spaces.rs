//! The state spaces that a thread sees, and accesses to them through any window.

use super::global::Global;
use super::memory::{AccessError, Arena, Window};
use super::registers::{Mask, Row, lanes};
use super::shared::{Shared, SharedPlace};

/// The state spaces that a thread sees.
pub struct Spaces<'a> {
    pub global: &'a mut Global,
    pub shared: &'a mut Shared,
    pub constants: &'a Arena,
    pub parameters: &'a Arena,
    /// Of each lane.
    pub local: &'a mut [Arena],
}

impl Spaces<'_> {
    /// A bit for each of up to eight bytes that nothing has written.
    pub fn unwritten(&self, window: Window, lane: usize, address: u64, bytes: u64) -> u8 {
        let of = |arena: &Arena, at: u64| arena.unwritten().bits(at as usize, bytes as usize);
        match window {
            Window::Generic => {
                let (window, address) = Window::of_generic(address);
                self.unwritten(window, lane, address, bytes)
            }
            Window::Global => self.global.unwritten_bits(address, bytes),
            Window::Shared => of(self.shared.own(), address),
            Window::Cluster => {
                let found = self.shared.place(address);
                found.map_or(0, |place| of(self.shared.part(place.rank), place.address))
            }
            Window::Local => self.local.get(lane).map_or(0, |local| of(local, address)),
            Window::Param | Window::Const => 0,
        }
    }

    /// Whether the lanes can have loaded unwritten bytes.
    pub fn may_be_unwritten(
        &self,
        window: Window,
        addresses: &Row<u64>,
        mask: Mask,
        bytes: u64,
    ) -> bool {
        if mask == 0 {
            return false;
        }
        let low = lanes(mask).fold(u64::MAX, |low, lane| low.min(addresses[lane]));
        let high = lanes(mask).fold(0, |high, lane| high.max(addresses[lane]));
        let (window, start) = match window {
            Window::Generic => Window::of_generic(low),
            window => (window, low),
        };
        let end = (start + (high - low)).saturating_add(bytes);
        match window {
            Window::Shared => {
                let unwritten = self.shared.own().unwritten();
                unwritten.first(start as usize..end as usize).is_some()
            }
            Window::Global => self.global.has_unwritten(),
            _ => true,
        }
    }

    /// What was stored is a copy of unwritten bytes. False in global memory.
    pub fn mark(&mut self, window: Window, lane: usize, address: u64, bits: u8) -> bool {
        match window {
            Window::Generic => {
                let (window, address) = Window::of_generic(address);
                return self.mark(window, lane, address, bits);
            }
            Window::Shared => {
                let rank = self.shared.rank;
                self.shared.mark(SharedPlace { rank, address }, bits);
            }
            Window::Cluster => {
                if let Ok(place) = self.shared.place(address) {
                    self.shared.mark(place, bits);
                }
            }
            Window::Local => {
                if let Some(local) = self.local.get_mut(lane) {
                    local.mark(address, bits);
                }
            }
            _ => return false,
        }
        true
    }

    pub fn get(&self, window: Window, lane: usize, at: At) -> Result<&[u8], AccessError> {
        let At {
            address,
            bytes,
            align,
        } = at;
        match window {
            Window::Generic => {
                let (window, address) = Window::of_generic(address);
                self.get(window, lane, At { address, ..at })
            }
            Window::Global => self.global.get(address, bytes, align),
            Window::Shared => self.shared.get(address, bytes, align),
            Window::Cluster => {
                let place = self.shared.place(address)?;
                self.shared.get_at(place, bytes, align)
            }
            Window::Local => local(self.local.get(lane))?.get(address, bytes, align),
            Window::Param => self.parameters.get(address, bytes, align),
            Window::Const => self.constants.get(address, bytes, align),
        }
    }

    /// The bytes from the lowest to the highest of a warp's addresses, if one check is enough for
    /// all: they are aligned, and in one allocation.
    pub fn common(
        &self,
        window: Window,
        addresses: &Row<u64>,
        mask: Mask,
        at: At,
    ) -> Option<(u64, &[u8])> {
        let (mut low, mut high, mut bits) = (u64::MAX, 0, 0);
        for lane in lanes(mask) {
            low = low.min(addresses[lane]);
            high = high.max(addresses[lane]);
            bits |= addresses[lane];
        }
        let bytes = high.checked_sub(low)?.checked_add(at.bytes)?;
        if !bits.is_multiple_of(at.align) {
            return None;
        }
        let (window, start) = match window {
            Window::Generic => Window::of_generic(low),
            window => (window, low),
        };
        let found = match window {
            Window::Global => self.global.get(start, bytes, 1),
            Window::Shared => self.shared.get(start, bytes, 1),
            Window::Const => self.constants.get(start, bytes, 1),
            Window::Param => self.parameters.get(start, bytes, 1),
            Window::Cluster | Window::Local | Window::Generic => return None,
        };
        found.ok().map(|bytes| (low, bytes))
    }

    pub fn get_mut(
        &mut self,
        window: Window,
        lane: usize,
        at: At,
    ) -> Result<&mut [u8], AccessError> {
        let At {
            address,
            bytes,
            align,
        } = at;
        match window {
            Window::Generic => {
                let (window, address) = Window::of_generic(address);
                self.get_mut(window, lane, At { address, ..at })
            }
            Window::Global => self.global.get_mut(address, bytes, align),
            Window::Shared => self.shared.get_mut(address, bytes, align),
            Window::Cluster => {
                let place = self.shared.place(address)?;
                self.shared.get_mut_at(place, bytes, align)
            }
            Window::Local => local(self.local.get_mut(lane))?.get_mut(address, bytes, align),
            Window::Param | Window::Const => {
                Err(format!("{} memory cannot be written", window.name()))
            }
        }
    }
}

fn local<T>(found: Option<T>) -> Result<T, AccessError> {
    found.ok_or_else(|| "this lane has no local memory".to_owned())
}

/// An access by one lane.
#[derive(Clone, Copy, Debug)]
pub struct At {
    pub address: u64,
    pub bytes: u64,
    pub align: u64,
}
