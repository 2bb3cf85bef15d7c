//! Boxes of tensors, decoded as by TMA.

use crate::abi::croq_sim_tensor_map;

/// The unit that a swizzle permutes, of which every width is a multiple.
pub(super) const UNIT: usize = 16;

/// A box of a tensor: the tensor, and the position of the box.
#[derive(Clone, Copy)]
pub(super) struct Tile {
    pub(super) map: croq_sim_tensor_map,
    /// Coordinates of its first element, innermost first; they may be outside of the tensor.
    pub(super) at: [i64; 5],
}

/// Sixteen bytes of a box.
pub(super) struct Unit {
    /// The offset in shared memory, relative to the beginning of the box.
    pub(super) stored: usize,
    /// The range of its bytes that are inside the tensor.
    pub(super) inside: std::ops::Range<usize>,
    /// The address of the first of those.
    pub(super) memory: *mut u8,
}

impl Tile {
    fn rank(&self) -> usize {
        (self.map.rank as usize).min(5)
    }

    fn row_bytes(&self) -> usize {
        self.map.box_extents[0] as usize * self.map.element_bytes as usize
    }

    fn rows(&self) -> usize {
        self.map.box_extents[1..self.rank()]
            .iter()
            .map(|&extent| extent as usize)
            .product()
    }

    /// The size in shared memory, which is also the number of bytes that arrive at the mbarrier.
    pub(super) fn bytes(&self) -> usize {
        self.row_bytes() * self.rows()
    }

    /// The alignment in shared memory.
    pub(super) fn alignment(&self) -> usize {
        if self.map.swizzle == 128 { 1024 } else { 128 }
    }

    /// The address at which a byte is stored: bits 4 and up of the address are combined with bits 7
    /// and up.
    fn swizzle(&self, address: usize) -> usize {
        let mask = match self.map.swizzle {
            128 => 7,
            64 => 3,
            32 => 1,
            _ => 0,
        };
        address ^ ((address >> 7 & mask) << 4)
    }

    /// The address of a row of the box in memory, and the range of its bytes that are inside the
    /// tensor.
    fn row(&self, row: usize) -> (*mut u8, std::ops::Range<u64>) {
        let map = &self.map;
        let element = i64::from(map.element_bytes);
        let mut rest = row;
        let mut inside = true;
        let mut memory = map.memory.cast::<u8>();
        for d in 1..self.rank() {
            let extent = map.box_extents[d] as usize;
            let at = self.at[d] + (rest % extent) as i64;
            rest /= extent;
            inside &= at >= 0 && at.unsigned_abs() < map.extents[d];
            memory = memory.wrapping_offset((at as isize).wrapping_mul(map.strides[d] as isize));
        }
        // The range within the row, in bytes from its first element in the box.
        let first = self.at[0]
            .min(0)
            .unsigned_abs()
            .saturating_mul(element as u64);
        let left = (map.extents[0] as i64).saturating_sub(self.at[0]).max(0);
        let end = (left as u64)
            .saturating_mul(element as u64)
            .min(self.row_bytes() as u64);
        let valid = if inside { first..end } else { 0..0 };
        (
            memory.wrapping_offset((self.at[0] * element) as isize),
            valid,
        )
    }

    /// The part of the box inside the tensor: each row's first byte in memory, and its length in
    /// bytes.
    pub(super) fn rows_inside(&self) -> impl Iterator<Item = (*mut u8, usize)> {
        let rows = (0..self.rows()).map(|row| self.row(row));
        rows.filter(|(_, valid)| !valid.is_empty())
            .map(|(memory, valid)| {
                let length = valid.end - valid.start;
                (memory.wrapping_add(valid.start as usize), length as usize)
            })
    }

    /// Whether a byte of memory is in the box.
    pub(super) fn has(&self, at: *const u8) -> bool {
        self.rows_inside()
            .any(|(first, length)| (at as usize).wrapping_sub(first as usize) < length)
    }

    /// All units of the box, which begins at `base` in the block's shared memory.
    pub(super) fn units(&self, base: usize, mut each: impl FnMut(Unit)) {
        let row_bytes = self.row_bytes();
        for row in 0..self.rows() {
            let (memory, valid) = self.row(row);
            for unit in (0..row_bytes).step_by(UNIT) {
                let clamp = |at: u64| at.clamp(unit as u64, (unit + UNIT) as u64) as usize;
                let (from, to) = (clamp(valid.start), clamp(valid.end));
                each(Unit {
                    stored: self.swizzle(base + row * row_bytes + unit) - base,
                    inside: from - unit..to.max(from) - unit,
                    memory: memory.wrapping_add(from),
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A box of 16-bit elements that is one group of the swizzle wide.
    fn tile(swizzle: u32) -> Tile {
        Tile {
            map: croq_sim_tensor_map {
                memory: std::ptr::null_mut(),
                extents: [64, 64, 1, 1, 1],
                strides: [2, 128, 1, 1, 1],
                box_extents: [swizzle / 2, 16, 1, 1, 1],
                rank: 2,
                element_bytes: 2,
                swizzle,
            },
            at: [0; 5],
        }
    }

    /// The tables of the PTX ISA, "swizzling modes": the unit at each position of 128 bytes, for
    /// the lines of 128 bytes from the first on, after which they repeat.
    #[test]
    fn units_stand_where_the_tables_say() {
        let tables: [(u32, &[[usize; 8]]); 3] = [
            (
                128,
                &[
                    [0, 1, 2, 3, 4, 5, 6, 7],
                    [1, 0, 3, 2, 5, 4, 7, 6],
                    [2, 3, 0, 1, 6, 7, 4, 5],
                    [3, 2, 1, 0, 7, 6, 5, 4],
                    [4, 5, 6, 7, 0, 1, 2, 3],
                    [5, 4, 7, 6, 1, 0, 3, 2],
                    [6, 7, 4, 5, 2, 3, 0, 1],
                    [7, 6, 5, 4, 3, 2, 1, 0],
                ],
            ),
            (
                64,
                &[
                    [0, 1, 2, 3, 4, 5, 6, 7],
                    [1, 0, 3, 2, 5, 4, 7, 6],
                    [2, 3, 0, 1, 6, 7, 4, 5],
                    [3, 2, 1, 0, 7, 6, 5, 4],
                ],
            ),
            (32, &[[0, 1, 2, 3, 4, 5, 6, 7], [1, 0, 3, 2, 5, 4, 7, 6]]),
        ];
        for (swizzle, table) in tables {
            let mut number = 0;
            tile(swizzle).units(1024, |unit| {
                let (line, place) = (unit.stored / 128, unit.stored % 128 / 16);
                assert_eq!(table[line % table.len()][place], number % 8);
                assert_eq!(line, number / 8);
                number += 1;
            });
            assert_eq!(number as u32, swizzle);
        }
    }

    #[test]
    fn what_is_outside_is_not_reached() {
        let mut tile = tile(0);
        tile.map.box_extents = [8, 4, 1, 1, 1];
        tile.at = [-3, 62, 0, 0, 0];
        let mut found = Vec::new();
        tile.units(0, |unit| found.push((unit.inside, unit.memory as usize)));
        let row = |y: usize| (6..16, y * 128);
        assert_eq!(found[..2], [row(62), row(63)]);
        assert!(found[2..].iter().all(|(inside, _)| inside.is_empty()));
        tile.at = [60, -1, 0, 0, 0];
        let mut found = Vec::new();
        tile.units(0, |unit| found.push(unit.inside));
        assert_eq!(found, [0..0, 0..8, 0..8, 0..8]);
        assert_eq!((tile.bytes(), tile.alignment()), (64, 128));
    }
}
