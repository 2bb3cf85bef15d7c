//! Loops that wait for a value that other threads store: a warp in such a loop gives way to others, so
//! that many blocks can wait for one.

use super::access::Access;
use super::paths::Path;
use super::registers::Mask;
use super::warp::Frame;

/// A strong load, with the address and the value of its first lane.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Poll {
    frame: usize,
    pc: usize,
    active: Mask,
    address: u64,
    value: u64,
}

/// Of one warp.
#[derive(Default)]
pub struct Polls {
    last: Option<Poll>,
    is_repeated: bool,
}

impl Polls {
    /// Whether the load, which has been executed, is strong and has found what it found the last time.
    pub fn again(&mut self, path: &Path, load: &Access, active: Mask, frame: &Frame<'_>) -> bool {
        if load.order.kind.strong.is_none() || active == 0 {
            return false;
        }
        let lane = active.trailing_zeros() as usize;
        let value = load.elements.first();
        let new = Some(Poll {
            frame: path.frame,
            pc: path.pc,
            active,
            address: load.pointer.row(&frame.registers, frame.base)[lane],
            value: value.map_or(0, |element| element.row(&frame.registers)[lane]),
        });
        self.is_repeated = self.last == new;
        self.last = new;
        self.is_repeated
    }

    /// Whether others run next, because of the last load.
    pub fn ends_slice(&mut self) -> bool {
        std::mem::take(&mut self.is_repeated)
    }
}
