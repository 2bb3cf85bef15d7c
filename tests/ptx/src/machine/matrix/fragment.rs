//! Which elements of a matrix are in which registers of which lanes ("Matrix Fragments for
//! mma.m16n8k…", and the same for `wgmma`, where a warp has 16 of the 64 rows).
//!
//! All fragments of one kind follow one rule. A 32-bit register has 32 / bits elements of a row of A
//! (a column of B), which are consecutive in k; four lanes have such a row between them, and the
//! eight groups of four lanes have eight rows. Further registers have the row eight below, then the
//! next elements in k. A register of 64 bits has one element.

use super::super::marks::{Bytes, all_bytes, mask_of};
use super::super::registers::{Bank, LANES, Lane, Mask, Registers, Row, Slot, each, lanes};
use super::element::{Accumulator, ElementType};
use super::product::Grid;

const GROUPS: usize = 8;
const LANES_OF_GROUP: usize = 4;

/// Registers that hold a fragment, in the order of the operand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fragment {
    pub registers: Vec<usize>,
    pub is_wide: bool,
}

impl Fragment {
    fn row(&self, registers: &Registers, index: usize) -> Row<u64> {
        match self.is_wide {
            true => u64::row(registers, index),
            false => u32::row(registers, index).map(u64::from),
        }
    }

    pub fn slots(&self) -> impl Iterator<Item = Slot> {
        let bank = if self.is_wide { Bank::B64 } else { Bank::B32 };
        self.registers.iter().map(move |index| Slot {
            bank,
            index: *index,
        })
    }

    /// A, of 8 or 16 rows.
    pub fn left(&self, registers: &Registers, ty: ElementType, rows: usize) -> Grid<f64> {
        let above = rows / GROUPS;
        let width = per_register(ty);
        let columns = self.registers.len() / above * width * LANES_OF_GROUP;
        let mut grid = Grid::new(rows, columns);
        self.each(registers, ty, |register, lane, element, value| {
            let row = lane / LANES_OF_GROUP + GROUPS * (register % above);
            let first = (register / above * LANES_OF_GROUP + lane % LANES_OF_GROUP) * width;
            grid.set(row, first + element, value);
        });
        grid
    }

    /// The rows of A that have marked elements.
    pub fn marked_rows(&self, rows: usize, of: impl Fn(Slot) -> Row<Bytes>) -> u16 {
        let above = rows / GROUPS;
        let registers = self.slots().enumerate();
        registers.fold(0, |found, (register, slot)| {
            let below = GROUPS * (register % above);
            lanes(mask_of(&of(slot))).fold(found, |found, lane| {
                found | 1 << (lane / LANES_OF_GROUP + below)
            })
        })
    }

    /// The columns of B that have marked elements.
    pub fn marked_columns(&self, of: impl Fn(Slot) -> Row<Bytes>) -> u8 {
        let all = self.slots().fold(0, |all, slot| all | mask_of(&of(slot)));
        lanes(all).fold(0, |found, lane| found | 1 << (lane / LANES_OF_GROUP))
    }

    /// B, of 8 columns.
    pub fn right(&self, registers: &Registers, ty: ElementType) -> Grid<f64> {
        let width = per_register(ty);
        let rows = self.registers.len() * width * LANES_OF_GROUP;
        let mut grid = Grid::new(rows, GROUPS);
        self.each(registers, ty, |register, lane, element, value| {
            let first = (register * LANES_OF_GROUP + lane % LANES_OF_GROUP) * width;
            grid.set(first + element, lane / LANES_OF_GROUP, value);
        });
        grid
    }

    /// Calls `f` with a register's position, a lane, an element's position there, and its value.
    fn each(
        &self,
        registers: &Registers,
        ty: ElementType,
        mut f: impl FnMut(usize, usize, usize, f64),
    ) {
        let bits = ty.bits();
        let (mask, decode) = (u64::MAX >> (64 - bits), ty.decoder());
        for (position, index) in self.registers.iter().enumerate() {
            let row = self.row(registers, *index);
            for (lane, word) in row.iter().enumerate() {
                for element in 0..per_register(ty) {
                    let value = decode(word >> (bits as usize * element) & mask);
                    f(position, lane, element, value);
                }
            }
        }
    }
}

fn per_register(ty: ElementType) -> usize {
    (32 / ty.bits() as usize).max(1)
}

/// How many registers a fragment of A (of `lines` rows) or B (of `lines` columns) has.
pub fn count(ty: ElementType, lines: usize, k: usize) -> usize {
    lines * k / LANES / per_register(ty)
}

/// Registers of an accumulator: two elements of a row in each lane, then those of the row eight
/// below, then the next eight columns.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Accumulators {
    pub ty: Accumulator,
    pub rows: usize,
    pub columns: usize,
    pub fragment: Fragment,
}

impl Accumulators {
    pub fn count(ty: Accumulator, rows: usize, columns: usize) -> usize {
        rows * columns / LANES / ty.per_register()
    }

    fn place(&self, lane: usize, element: usize) -> (usize, usize) {
        let above = self.rows / GROUPS;
        let (pair, within) = (element / 2, element % 2);
        let row = lane / LANES_OF_GROUP + GROUPS * (pair % above);
        let column = pair / above * GROUPS + lane % LANES_OF_GROUP * 2 + within;
        (row, column)
    }

    pub fn zeros(&self) -> Grid<f64> {
        Grid::new(self.rows, self.columns)
    }

    pub fn load(&self, registers: &Registers) -> Grid<f64> {
        let mut sums = self.zeros();
        let per = self.ty.per_register();
        for (position, index) in self.fragment.registers.iter().enumerate() {
            let words = self.fragment.row(registers, *index);
            for element in 0..per {
                for (lane, word) in words.iter().enumerate() {
                    let (row, column) = self.place(lane, position * per + element);
                    sums.set(row, column, self.ty.value(word >> (16 * element)));
                }
            }
        }
        sums
    }

    /// The marks of sums that are marked before or depend on something marked, by row and column.
    pub fn marks(
        &self,
        before: &[Row<Bytes>],
        depends: impl Fn(usize, usize) -> bool,
    ) -> Vec<(Slot, Row<Bytes>)> {
        let per = self.ty.per_register();
        let registers = self.fragment.slots().zip(before).enumerate();
        let marks = registers.map(|(position, (slot, before))| {
            let full = all_bytes(slot.bank);
            let element_bits = full.count_ones() as usize / per;
            let marks = each(|lane| {
                (0..per).fold(0, |marks, element| {
                    let bits = full >> (full.count_ones() as usize - element_bits)
                        << (element_bits * element);
                    let (row, column) = self.place(lane, position * per + element);
                    match before[lane] & bits != 0 || depends(row, column) {
                        true => marks | bits,
                        false => marks,
                    }
                })
            });
            (slot, marks)
        });
        marks.collect()
    }

    pub fn store(&self, registers: &mut Registers, sums: &Grid<f64>) {
        let per = self.ty.per_register();
        for (position, index) in self.fragment.registers.iter().enumerate() {
            let mut words = [0_u64; LANES];
            for element in 0..per {
                for (lane, word) in words.iter_mut().enumerate() {
                    let (row, column) = self.place(lane, position * per + element);
                    *word |= self.ty.bits(sums.get(row, column)) << (16 * element);
                }
            }
            match self.fragment.is_wide {
                true => u64::put(registers, *index, Mask::MAX, &words),
                false => u32::put(registers, *index, Mask::MAX, &words.map(|word| word as u32)),
            }
        }
    }
}
