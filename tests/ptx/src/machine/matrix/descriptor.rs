//! Matrices of `wgmma` in shared memory ("Matrix Descriptor Format", "Canonical Layouts").
//!
//! Everything is in units of 16 bytes, which hold T elements of one row (of one column, for a
//! matrix that is M- or N-major). Lines are rows of A and columns of B.

use super::element::ElementType;
use super::shared::ROW;

/// A decoded descriptor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Descriptor {
    start: u64,
    leading: u64,
    stride: u64,
    base: u64,
    /// Units of 16 bytes that are permuted: 1 (no swizzle), 2, 4 or 8.
    units: u64,
}

/// Which bits are defined: start address, leading and stride offsets, base offset, swizzle.
const DEFINED: u64 = 0x3fff | 0x3fff << 16 | 0x3fff << 32 | 0x7 << 49 | 0x3 << 62;

impl Descriptor {
    /// # Errors
    ///
    /// Bits that the ISA reserves, and a base offset where there is none.
    pub fn new(bits: u64) -> Result<Descriptor, String> {
        if bits & !DEFINED != 0 {
            let reserved = bits & !DEFINED;
            return Err(format!(
                "the matrix descriptor {bits:#018x} has reserved bits: {reserved:#018x}"
            ));
        }
        let field = |shift: u32| (bits >> shift & 0x3fff) << 4;
        let descriptor = Descriptor {
            start: field(0),
            leading: field(16),
            stride: field(32),
            base: bits >> 49 & 7,
            units: match bits >> 62 {
                0 => 1,
                1 => 8,
                2 => 4,
                _ => 2,
            },
        };
        if descriptor.units == 1 && descriptor.base != 0 {
            let base = descriptor.base;
            return Err(format!(
                "the matrix descriptor has the base offset {base} without a swizzle"
            ));
        }
        Ok(descriptor)
    }

    /// Swizzle<log2(units), 4, 3> of the address: bits 4 to 6 are combined with bits 7 to 9, which
    /// count rows of 128 bytes from where the pattern starts.
    fn swizzled(&self, address: u64) -> u64 {
        let row = (address >> 7).wrapping_sub(self.base);
        address ^ (row & (self.units - 1)) << 4
    }

    /// Of the unit with T elements of `line` from `unit`·T on.
    fn of_k_major(&self, line: u64, unit: u64) -> u64 {
        let (row, group) = (line % 8, line / 8);
        let within = match self.units {
            1 => unit * self.leading,
            _ => unit * ROW,
        };
        row * self.units * ROW + group * self.stride + within
    }

    /// Of the unit with T lines from `unit`·T on, of column `k`.
    fn of_line_major(&self, unit: u64, k: u64) -> u64 {
        let (column, columns) = (k % 8, k / 8);
        match self.units {
            1 => unit * self.stride + column * ROW + columns * self.leading,
            units => {
                let (within, next) = (unit % units, unit / units);
                within * ROW + next * self.leading + column * units * ROW + columns * self.stride
            }
        }
    }
}

/// A part of a matrix in shared memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tile {
    pub ty: ElementType,
    /// Rows of A or columns of B.
    pub first_line: usize,
    pub lines: usize,
    /// As stored: half of it for a sparse matrix.
    pub k: usize,
    /// M- or N-major.
    pub is_transposed: bool,
}

impl Tile {
    /// What the layouts of the ISA do not describe.
    pub fn check(&self, descriptor: &Descriptor) -> Result<(), String> {
        let row = self.k as u64 * u64::from(self.ty.bits()) / 8;
        if !self.is_transposed && descriptor.units > 1 && row > descriptor.units * ROW {
            let (held, swizzle) = (row, descriptor.units * ROW);
            return Err(format!(
                "rows of {held} bytes with a swizzle of {swizzle} bytes have no canonical layout"
            ));
        }
        Ok(())
    }

    /// Calls `f` with the line, k, and value of each element; `read` gives 16 bytes.
    pub fn each<'m, E>(
        &self,
        descriptor: &Descriptor,
        mut read: impl FnMut(u64) -> Result<&'m [u8], E>,
        mut f: impl FnMut(usize, usize, f64),
    ) -> Result<(), E> {
        let bits = self.ty.bits() as usize;
        let (mask, decode) = (u64::MAX >> (64 - bits), self.ty.decoder());
        let per_unit = 128 / bits;
        let mut unit = |offset: u64| -> Result<u128, E> {
            let bytes = read(descriptor.swizzled(descriptor.start + offset))?
                .iter()
                .rev();
            Ok(bytes.fold(0, |all, byte| all << 8 | u128::from(*byte)))
        };
        let element = |unit: u128, index: usize| decode((unit >> (index * bits)) as u64 & mask);
        if self.is_transposed {
            for first in (0..self.lines).step_by(per_unit) {
                let which = ((self.first_line + first) / per_unit) as u64;
                for k in 0..self.k {
                    let value = unit(descriptor.of_line_major(which, k as u64))?;
                    (0..per_unit).for_each(|index| f(first + index, k, element(value, index)));
                }
            }
            return Ok(());
        }
        for line in 0..self.lines {
            for first in (0..self.k).step_by(per_unit) {
                let which = (first / per_unit) as u64;
                let value = unit(descriptor.of_k_major((self.first_line + line) as u64, which))?;
                (0..per_unit).for_each(|index| f(line, first + index, element(value, index)));
            }
        }
        Ok(())
    }
}
