//! Fragments: matrices in the registers of a warp or a warpgroup, and MMAs on them.
//!
//! A fragment is a buffer of [`Storage::Fragment`](super::Storage). In `sema` its elements are
//! numbered row by row, as in any matrix. From [`crate::passes`]' `mma::prepare` on, the buffer is
//! the part of the fragment that one thread has, and [`FragmentLayout`] maps elements to threads.

use super::{BufferId, Scalar};
use crate::source::Span;
use crate::symbolic::Sym;

/// The properties of a buffer that is a fragment.
#[derive(Clone, Debug)]
pub struct Fragment {
    /// Rows and columns; only rows for a vector; empty until an MMA determines it.
    pub shape: Vec<i64>,
    /// The number of fragments: more than 1 for an array.
    pub count: i64,
    /// Determined after the whole function has been elaborated.
    pub layout: Option<FragmentLayout>,
}

/// The distribution of a fragment's elements over threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FragmentLayout {
    Matrix(Layout),
    /// One value per row of an accumulator that `warps` warps share. Each thread that has elements
    /// of a row has the row's value: row `i` of a warp is element `i / 8` of lane `4 (i % 8)` and
    /// of the three lanes after it.
    Rows {
        warps: i64,
    },
}

impl FragmentLayout {
    /// The number of warps that share the matrix.
    pub fn warps(self) -> i64 {
        match self {
            FragmentLayout::Matrix(layout) => layout.warps,
            FragmentLayout::Rows { warps } => warps,
        }
    }
}

/// The family of layouts that all MMA instructions use. A matrix is cut into tiles of 8 rows by
/// four registers; in each tile, lane `l` has register `l % 4` of row `l / 4`. A thread's registers
/// are in row-major order of the tiles, except that where `rows` is 16, a pair of vertically
/// adjacent tiles stays together.
///
/// The layout does not depend on K for a given type, so a fragment can be loaded at once and
/// multiplied in parts, and an f32 accumulator has the layout that f16 operands need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Rows of a tile or of a pair of tiles: 8 or 16.
    pub rows: i64,
    /// Elements of a register; they are adjacent in a row.
    pub width: i64,
    /// Rows and columns are exchanged.
    pub transposed: bool,
    /// Warps that share a matrix, each with the same number of its rows; 4 for a warpgroup.
    pub warps: i64,
}

impl Layout {
    /// The layout of an operand whose rows run along K.
    pub fn operand(rows: i64, elem: Scalar, transposed: bool) -> Self {
        let bytes = i64::try_from(elem.bytes()).unwrap_or(8);
        Self {
            rows,
            width: (4 / bytes).max(1),
            transposed,
            warps: 1,
        }
    }

    /// The layout of an accumulator.
    pub fn accumulator(rows: i64, transposed: bool) -> Self {
        Self {
            rows,
            width: 2,
            transposed,
            warps: 1,
        }
    }

    /// The same layout for a warpgroup, each of whose warps has a quarter of the rows.
    pub fn of_warpgroup(self) -> Self {
        Self { warps: 4, ..self }
    }

    /// Swaps rows and columns if the layout is transposed.
    pub fn oriented<T>(&self, [rows, columns]: [T; 2]) -> [T; 2] {
        if self.transposed {
            [columns, rows]
        } else {
            [rows, columns]
        }
    }

    /// The number of columns of a tile.
    pub fn columns(&self) -> i64 {
        4 * self.width
    }

    /// Distances in a thread's registers between the first elements of vertically adjacent tiles
    /// (of `rows` rows), of horizontally adjacent tiles, and of the two tiles of a pair.
    pub fn steps(&self, shape: [i64; 2]) -> [i64; 3] {
        let [_, columns] = self.oriented(shape);
        let beside = self.rows / 8 * self.width;
        [columns / self.columns() * beside, beside, self.width]
    }
}

/// One fragment, possibly an element of an array of fragments.
#[derive(Clone, Debug)]
pub struct Part {
    pub buffer: BufferId,
    /// The index in the array; `None` is the whole array.
    pub number: Option<Sym>,
    pub span: Span,
}

/// The shape of an MMA instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Atom {
    pub m: i64,
    pub n: i64,
    pub k: i64,
    /// Whether the instruction's A is the program's B: then it computes the transpose.
    pub swapped: bool,
}
