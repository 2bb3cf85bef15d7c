//! Fragments: matrices in the registers of a warp or a warpgroup, and MMAs on them.
//!
//! A fragment is a buffer of [`Storage::Fragment`](super::Storage). In `sema` its elements are
//! numbered row by row, as in any matrix. From [`crate::passes`]' `mma::prepare` on, the buffer is
//! the part of the fragment that one thread has, and [`FragmentLayout`] maps elements to threads.

use super::{Access, BufferId, Scalar, WARP_THREADS};
use crate::source::Span;
use crate::symbolic::Sym;

/// Lanes of a warp.
const LANES: i64 = WARP_THREADS as i64;

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
    /// The layout of a fragment that is used in no MMA.
    Dealt(Dealing),
    /// The positions of the stored elements of a sparse A.
    Metadata(Metadata),
}

/// A matrix or column distributed over threads: each `lanes` adjacent threads are a group, and row
/// `i` belongs to group number `i % groups`. In a group, lane `l` has each column `j` with `j %
/// lanes == l`; each lane has the value of a column vector's row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dealing {
    /// The number of threads of the unit.
    pub threads: i64,
    /// A power of two that divides `threads`, at most a warp.
    pub lanes: i64,
}

impl Dealing {
    pub fn groups(self) -> i64 {
        (self.threads / self.lanes).max(1)
    }

    /// The maximum number of rows of a thread.
    pub fn rows(self, rows: i64) -> i64 {
        (rows + self.groups() - 1) / self.groups()
    }

    /// The maximum number of columns of a thread.
    pub fn columns(self, columns: i64) -> i64 {
        (columns + self.lanes - 1) / self.lanes
    }
}

impl FragmentLayout {
    /// The number of threads that have parts of the matrix.
    pub fn threads(self) -> i64 {
        match self {
            FragmentLayout::Dealt(dealing) => dealing.threads,
            layout => layout.warps() * LANES,
        }
    }

    /// The number of warps that share the matrix.
    pub fn warps(self) -> i64 {
        match self {
            FragmentLayout::Matrix(layout) => layout.warps,
            FragmentLayout::Rows { warps } => warps,
            FragmentLayout::Dealt(dealing) => (dealing.threads + LANES - 1) / LANES,
            FragmentLayout::Metadata(metadata) => metadata.warps,
        }
    }
}

/// The distribution of metadata, as the PTX ISA defines it for sparse MMAs: 32-bit registers, each
/// with the positions for eight groups of four elements. The fragment's shape is rows by words, one
/// word for each `word` elements of K. For each 16 rows of a warp, a thread has `registers`
/// registers.
///
/// If K of an instruction is 16 or 32, thread `p` of a quad has 16 elements of K in each half of its
/// register: row `lane / 4` in the lower half, the row 8 below in the upper half. One or two
/// threads of the quad provide the metadata of an instruction, and the *selector* is the number of
/// the thread or pair. So a register is for four or two instructions: with K 32, instruction `i`
/// along K uses register `i / 2` and selector `i % 2`; with K 16, register `i / 4` and selector
/// `i % 4`.
///
/// If K is 64, all four provide it, and the selector is 0: thread `p` has 32 elements of K of row
/// `lane / 4 + 8 (p % 2)`, in the half `p / 2` of K.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// K of an instruction: 16, 32 or 64.
    pub k: i64,
    pub warps: i64,
}

/// The number of rows for which a register of metadata has positions.
pub const METADATA_ROWS: i64 = 16;
/// The number of elements along K for which a word of metadata has positions, except where K of an
/// instruction is smaller.
pub const METADATA_WORD: i64 = 32;
/// The number of elements along K for which half a word of metadata has positions.
pub const METADATA_HALF: i64 = 16;

impl Metadata {
    /// The number of elements along K for which a word has positions: all its bits are positions,
    /// or, if K of an instruction is 16, those of its lower half.
    pub fn word(self) -> i64 {
        self.k.min(METADATA_WORD)
    }

    /// The number of halves of words that have positions, in a row of `words` words.
    pub fn halves(self, words: i64) -> i64 {
        words * (self.word() / METADATA_HALF)
    }

    /// The number of registers of a thread for 16 rows of `words` words.
    pub fn registers(self, words: i64) -> i64 {
        (self.halves(words) + 3) / 4
    }

    /// The register and the selector for instruction `number` along K.
    pub fn of_instruction(self, number: i64) -> (i64, u32) {
        let selector = |of: i64| u32::try_from(number % of).unwrap_or(0);
        match self.k {
            METADATA_HALF => (number / 4, selector(4)),
            METADATA_WORD => (number / 2, selector(2)),
            _ => (number, 0),
        }
    }
}

/// The register of metadata that an instruction uses, and the threads of a quad that provide it.
#[derive(Clone, Debug)]
pub struct Selected {
    pub register: Access,
    pub selector: u32,
}

/// The family of layouts that all MMA instructions use. A matrix is cut into tiles of 8 rows by
/// four registers; in each tile, lane `l` has register `l % 4` of row `l / 4`. A thread's registers
/// are in row-major order of the tiles, except that where `rows` is 16, a pair of vertically
/// adjacent tiles stays together.
///
/// The layout does not depend on K for a given type, so a fragment can be loaded at once and
/// multiplied in parts, and an f32 accumulator has the layout that f16 operands need. Operands with
/// fewer elements along K than the four registers of a row have are the exception: each lane has
/// one element of the row, and the rest of its register is zero in the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Rows of a tile or of a pair of tiles: 8 or 16.
    pub rows: i64,
    /// Elements of a register that belong to the matrix; they are adjacent in a row.
    pub width: i64,
    /// Rows and columns are exchanged.
    pub transposed: bool,
    /// The number of warps that share a matrix; its tiles of rows are distributed cyclically. 4 for
    /// a warpgroup.
    pub warps: i64,
}

impl Layout {
    /// The layout of an operand whose rows run along K.
    pub fn operand(rows: i64, elem: Scalar, transposed: bool) -> Self {
        Self {
            rows,
            width: i64::try_from(32 / elem.bits().max(1)).unwrap_or(1).max(1),
            transposed,
            warps: 1,
        }
    }

    /// The layout of an operand of an instruction with this K.
    pub fn with_k(self, k: i64) -> Self {
        let width = self.width.min(k / 4).max(1);
        Self { width, ..self }
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

    /// The same layout for a warpgroup, each of whose warps has a quarter of each 64 rows.
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

    /// The distance between the rows of vertically adjacent tiles of one warp: those of the other
    /// warps are in between.
    pub fn below(&self) -> i64 {
        self.rows * self.warps
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

/// Adjacent columns of a fragment, with all their rows.
#[derive(Clone, Debug)]
pub struct Columns {
    pub first: Sym,
    pub count: i64,
}

/// The shape of an MMA instruction. K of a sparse one also counts the elements that are not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Atom {
    pub m: i64,
    pub n: i64,
    pub k: i64,
    /// Whether the instruction's A is the program's B: then it computes the transpose.
    pub swapped: bool,
}
