//! Metadata of sparse matrices ("Sparse matrix storage", and the figures of the metadata's layouts
//! under "Matrix fragments for multiply-accumulate operation with sparse matrix A"; `wgmma` has the
//! same figures for the 16 rows of each warp).

use super::super::registers::Row;
use super::element::ElementType;
use super::product::Grid;

/// Which lanes of four hold the metadata.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Holders {
    /// The lane that the selector names: a row in its lower half, the row eight below in the upper.
    One,
    /// The two lanes of the pair that the selector names: each as above, for one half of k.
    Pair,
    /// All: each for one row and one half of k.
    All,
}

/// How an instruction's metadata is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Metadata {
    holders: Holders,
    ty: ElementType,
    /// Columns of the whole A.
    k: usize,
    /// `.sp::ordered_metadata`: the indices of a chunk ascend.
    is_ordered: bool,
}

const ROWS: usize = 16;

impl Metadata {
    /// None for a form that the machine does not know.
    pub fn new(ty: ElementType, k: usize, is_ordered: bool) -> Option<Metadata> {
        use ElementType::{Bf16, E4m3, E5m2, F16, S8, Tf32, U8};
        let holders = match (ty, k) {
            (F16 | Bf16, 16) | (Tf32, 8) => Holders::One,
            (F16 | Bf16, 32) | (Tf32, 16) => Holders::Pair,
            (E4m3 | E5m2 | S8 | U8, 64) => Holders::All,
            _ => return None,
        };
        Some(Metadata {
            holders,
            ty,
            k,
            is_ordered,
        })
    }

    pub fn selectors(self) -> u64 {
        match self.holders {
            Holders::One => 4,
            Holders::Pair => 2,
            Holders::All => 1,
        }
    }

    /// The lane with the four bits of a chunk, and where they are.
    fn place(self, row: usize, chunk: usize, selector: usize) -> (usize, usize) {
        let (group, lower) = (row % 8 * 4, row / 8);
        match self.holders {
            Holders::One => (group + selector, 16 * lower + 4 * chunk),
            Holders::Pair => {
                let lane = group + 2 * selector + chunk / 4;
                (lane, 16 * lower + 4 * (chunk % 4))
            }
            Holders::All => (group + lower + 2 * (chunk / 8), 4 * (chunk % 8)),
        }
    }

    /// For each stored element the column of the whole A that it is from.
    ///
    /// # Errors
    ///
    /// The lane that has bits without a meaning.
    pub fn places(self, words: &Row<u32>, selector: usize) -> Result<Grid<usize>, (usize, String)> {
        let mut grid = Grid::new(ROWS, self.k / 2);
        let single = self.ty == ElementType::Tf32;
        let width = if single { 2 } else { 4 };
        for row in 0..ROWS {
            for chunk in 0..self.k / width {
                let (lane, shift) = self.place(row, chunk, selector);
                let bits = words[lane] >> shift & 0xf;
                let (first, second) = ((bits & 3) as usize, (bits >> 2) as usize);
                let is_valid = match single {
                    true => bits == 0b0100 || bits == 0b1110,
                    false if self.is_ordered => first < second,
                    false => first != second,
                };
                if !is_valid {
                    let message = format!(
                        "the metadata {bits:#06b} of row {row}, columns {} to {}, is not valid",
                        chunk * width,
                        (chunk + 1) * width - 1
                    );
                    return Err((lane, message));
                }
                if single {
                    // Two halves of 16 bits name one element.
                    grid.set(row, chunk, chunk * 2 + first / 2);
                } else {
                    grid.set(row, chunk * 2, chunk * 4 + first);
                    grid.set(row, chunk * 2 + 1, chunk * 4 + second);
                }
            }
        }
        Ok(grid)
    }
}
