//! Which bytes of a warp's registers depend on bytes or registers that nothing has written.

use super::memory::Window;
use super::registers::{Assignment, Bank, LANES, Mask, Row, Slot, lanes};

/// A bit for each byte of a register's value.
pub type Bytes = u8;

/// The marks of the registers of one activation of a function.
#[derive(Default, Debug)]
pub struct Marks {
    registers: Vec<Row<Bytes>>,
    /// Where the marks of a register come from.
    origins: Vec<Origin>,
    /// How many registers are marked.
    count: usize,
}

/// What was read first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// A register before anything was written to it.
    Register(Slot),
    /// Memory, by the instruction with that number.
    Memory {
        site: u32,
        lane: usize,
        window: Window,
        address: u64,
    },
}

impl Default for Origin {
    fn default() -> Origin {
        Origin::Register(Slot {
            bank: Bank::Predicate,
            index: 0,
        })
    }
}

/// All bytes of a register.
pub fn all_bytes(bank: Bank) -> Bytes {
    match bank {
        Bank::Predicate => 1,
        Bank::B16 => 0b11,
        Bank::B32 => 0b1111,
        Bank::B64 => 0xff,
    }
}

impl Marks {
    /// `unwritten`: the registers that may be read before they are written.
    pub fn new(assignment: &Assignment, unwritten: &[Slot]) -> Marks {
        let mut marks = Marks::default();
        for slot in unwritten {
            let row = [all_bytes(slot.bank); LANES];
            marks.set(assignment, *slot, Mask::MAX, &row, Origin::Register(*slot));
        }
        marks
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub fn get(&self, assignment: &Assignment, slot: Slot) -> Row<Bytes> {
        let found = self.registers.get(assignment.number(slot));
        found.copied().unwrap_or_default()
    }

    pub fn origin(&self, assignment: &Assignment, slot: Slot) -> Origin {
        let found = self.origins.get(assignment.number(slot));
        found.copied().unwrap_or_default()
    }

    /// The lanes in which the register is marked.
    pub fn lanes(&self, assignment: &Assignment, slot: Slot) -> Mask {
        mask_of(&self.get(assignment, slot))
    }

    pub fn set(
        &mut self,
        assignment: &Assignment,
        slot: Slot,
        mask: Mask,
        row: &Row<Bytes>,
        origin: Origin,
    ) {
        let number = assignment.number(slot);
        if self.registers.len() <= number {
            if mask_of(row) & mask == 0 {
                return;
            }
            self.registers.resize(number + 1, [0; LANES]);
            self.origins.resize(number + 1, Origin::default());
        }
        let old = &mut self.registers[number];
        let was_marked = mask_of(old) != 0;
        for lane in lanes(mask) {
            old[lane] = row[lane];
        }
        let is_marked = mask_of(old) != 0;
        self.count = self.count + usize::from(is_marked) - usize::from(was_marked);
        if mask_of(row) & mask != 0 {
            self.origins[number] = origin;
        }
    }
}

pub fn mask_of(row: &Row<Bytes>) -> Mask {
    (0..LANES)
        .filter(|lane| row[*lane] != 0)
        .fold(0, |mask, lane| mask | 1 << lane)
}
