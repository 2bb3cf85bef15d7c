//! Matrices in the registers of a warp or a warpgroup, and products of them.
//!
//! A fragment is a buffer of [`Storage::Fragment`](super::Storage): what a program says of it counts its
//! elements row by row, as of any matrix. From [`crate::passes`]' `mma::prepare` on the buffer stands for
//! what one thread has of it, and [`FragmentLayout`] says what that is.

use super::{BufferId, Scalar};
use crate::source::Span;
use crate::symbolic::Sym;

/// What is special about a buffer that is a fragment.
#[derive(Clone, Debug)]
pub struct Fragment {
    /// Rows and columns; rows alone of a vector; nothing as long as no MMA said.
    pub shape: Vec<i64>,
    /// How many there are of it.
    pub count: i64,
    /// Decided once the whole function is known.
    pub layout: Option<FragmentLayout>,
}

/// Which thread has what of a fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FragmentLayout {
    Matrix(Layout),
    /// A value for each row of an accumulator, which so many warps share: who has some of the row has it.
    /// Row `i` of a warp's is number `i / 8` of the lanes `4 (i % 8)` and the three after.
    Rows {
        warps: i64,
    },
}

impl FragmentLayout {
    /// How many warps share the matrix.
    pub fn warps(self) -> i64 {
        match self {
            FragmentLayout::Matrix(layout) => layout.warps,
            FragmentLayout::Rows { warps } => warps,
        }
    }
}

/// The one family of layouts that all instructions share. A matrix is cut into tiles of 8 rows by four
/// registers; in each, lane `l` has the register `l % 4` of row `l / 4`. Tiles are numbered row by row, but
/// where `rows` is 16, pairs of tiles below each other stay together.
///
/// It is the same for every K of one type, so that a fragment can be loaded at once and multiplied in
/// parts; and sums in f32 have the place that operands in f16 need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// 16 or 8.
    pub rows: i64,
    /// Elements of a register, which are neighbours in a row.
    pub width: i64,
    /// What is said of rows holds for columns, and the other way round.
    pub transposed: bool,
    /// Warps that share a matrix, each with as many of its rows: 4 is a warpgroup.
    pub warps: i64,
}

impl Layout {
    /// Of an operand whose rows run along K.
    pub fn operand(rows: i64, elem: Scalar, transposed: bool) -> Self {
        let bytes = i64::try_from(elem.bytes()).unwrap_or(8);
        Self {
            rows,
            width: (4 / bytes).max(1),
            transposed,
            warps: 1,
        }
    }

    /// Of sums.
    pub fn accumulator(rows: i64, transposed: bool) -> Self {
        Self {
            rows,
            width: 2,
            transposed,
            warps: 1,
        }
    }

    /// The same for a warpgroup, each of whose warps has a quarter of the rows.
    pub fn of_warpgroup(self) -> Self {
        Self { warps: 4, ..self }
    }

    /// Rows and columns as the layout sees them.
    pub fn oriented<T>(&self, [rows, columns]: [T; 2]) -> [T; 2] {
        if self.transposed {
            [columns, rows]
        } else {
            [rows, columns]
        }
    }

    /// Columns of a tile.
    pub fn columns(&self) -> i64 {
        4 * self.width
    }

    /// How far from each other in a thread's part are the first elements of tiles below each other (of
    /// `rows` rows), beside each other, and the two of a pair.
    pub fn steps(&self, shape: [i64; 2]) -> [i64; 3] {
        let [_, columns] = self.oriented(shape);
        let beside = self.rows / 8 * self.width;
        [columns / self.columns() * beside, beside, self.width]
    }
}

/// One fragment, of an array perhaps.
#[derive(Clone, Debug)]
pub struct Part {
    pub buffer: BufferId,
    /// Which of the array; `None` is all of them.
    pub number: Option<Sym>,
    pub span: Span,
}

/// A shape that there is an instruction for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Atom {
    pub m: i64,
    pub n: i64,
    pub k: i64,
    /// The instruction's A is the program's B: it computes the transpose.
    pub swapped: bool,
}
