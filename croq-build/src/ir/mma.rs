//! Matrices in the registers of a warp or a warpgroup, and products of them.
//!
//! A fragment is a buffer of [`Storage::Fragment`](super::Storage): what a program says of it counts its
//! elements row by row, as of any matrix. From [`crate::passes`]' `mma::prepare` on the buffer stands for
//! what one thread has of it, and [`FragmentLayout`] says what that is.

use super::{Access, BufferId, Expr, LocalId, Phase, Product, Scalar, Source, Step, Tiles, View};
use crate::source::Span;
use crate::symbolic::Sym;

/// What is special about a buffer that is a fragment.
#[derive(Clone, Debug)]
pub struct Fragment {
    /// Rows and columns; rows alone of a vector; nothing as long as no product said.
    pub shape: Vec<i64>,
    /// How many there are of it.
    pub count: i64,
    /// Decided once the whole function is known.
    pub spread: Option<FragmentLayout>,
}

/// Which thread has what of a fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FragmentLayout {
    Matrix(Layout),
    /// A value for each row of a matrix of sums, which so many warps share: who has some of the row has it.
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
    pub fn sums(rows: i64, transposed: bool) -> Self {
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
    pub fn turn<T>(&self, [rows, columns]: [T; 2]) -> [T; 2] {
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
        let [_, columns] = self.turn(shape);
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

#[derive(Clone, Debug)]
pub enum MmaOp<P: Phase = Tiles> {
    /// Each element becomes the value, or gets it added.
    FillElements {
        part: P::Only<Part>,
        add: bool,
        value: Expr,
    },
    Load {
        into: P::Only<Part>,
        source: View,
    },
    /// `sums += a b`, by instructions of one shape.
    Multiply {
        sums: P::Only<Part>,
        a: Part,
        b: Part,
        atom: Atom,
    },
    /// The same by a warpgroup, perhaps with operands in memory.
    Product(P::Only<Box<Product>>),
    /// All products of the unit so far are over: `mma.commit`.
    CommitAll(P::Only<()>),
    /// This one is over, and all before it.
    WaitMma(P::Only<u32>),
    /// What lies outside of the valid part of the view stays.
    Store {
        from: P::Only<Part>,
        dest: View,
        transposed: bool,
    },
    /// The body, once for each element, by who has it; `indices` are its row and column.
    Apply {
        part: P::Only<Part>,
        indices: Vec<LocalId>,
        body: Vec<super::Stmt<P>>,
    },
    /// The largest of each row, or its sum.
    Reduce {
        into: P::Only<Part>,
        from: Part,
        largest: bool,
    },
    /// Each row's value becomes the sum of what its owners had.
    AllReduce {
        part: P::Only<Part>,
    },
    /// Element by element, converted.
    Convert {
        into: P::Only<Part>,
        from: Part,
    },
    /// What the passes make of it: one instruction. Each access is of the first element.
    Instruction {
        atom: Atom,
        /// Sums, A and B.
        parts: Box<[Access; 3]>,
    },
    /// Up to four matrices of 8 rows of 16 bytes between a fragment and shared memory; each lane names a
    /// row.
    Matrices {
        count: u32,
        transposed: bool,
        registers: Box<Access>,
        memory: Box<Access>,
        /// From the fragment.
        stored: bool,
    },
    /// A step of a warpgroup's products.
    Step(Step),
}

impl<P: Phase> MmaOp<P> {
    pub fn body(&self) -> Option<&Vec<super::Stmt<P>>> {
        match self {
            MmaOp::Apply { body, .. } => Some(body),
            _ => None,
        }
    }

    pub fn body_mut(&mut self) -> Option<&mut Vec<super::Stmt<P>>> {
        match self {
            MmaOp::Apply { body, .. } => Some(body),
            _ => None,
        }
    }

    /// Memory that the threads of the unit read or write together, each with whether they write.
    pub fn views(&self) -> Vec<(&View, bool)> {
        match self {
            MmaOp::Load { source, .. } => vec![(source, false)],
            MmaOp::Store { dest, .. } => vec![(dest, true)],
            MmaOp::Product(product) => P::only(product).tiles().map(|t| (&t.view, false)).collect(),
            _ => Vec::new(),
        }
    }

    pub fn views_mut(&mut self) -> Vec<&mut View> {
        match self {
            MmaOp::Load { source, .. } => vec![source],
            MmaOp::Store { dest, .. } => vec![dest],
            MmaOp::Product(product) => P::only_mut(product)
                .tiles_mut()
                .map(|t| &mut t.view)
                .collect(),
            _ => Vec::new(),
        }
    }

    /// What one instruction reaches, each with whether it writes.
    pub fn accesses(&self) -> Vec<(&Access, bool)> {
        match self {
            MmaOp::Instruction { parts, .. } => {
                let [sums, a, b] = &**parts;
                vec![(sums, true), (a, false), (b, false)]
            }
            MmaOp::Matrices {
                registers,
                memory,
                stored,
                ..
            } => vec![(registers, !stored), (memory, *stored)],
            MmaOp::Step(Step::Describe { of, .. }) => vec![(of, false)],
            MmaOp::Step(Step::Instruction(i)) => match &i.a {
                Source::Registers(a) => vec![(&i.sums, true), (a, false)],
                Source::Memory(_) => vec![(&i.sums, true)],
            },
            _ => Vec::new(),
        }
    }

    pub fn accesses_mut(&mut self) -> Vec<&mut Access> {
        match self {
            MmaOp::Instruction { parts, .. } => parts.iter_mut().collect(),
            MmaOp::Matrices {
                registers, memory, ..
            } => vec![registers, memory],
            MmaOp::Step(Step::Describe { of, .. }) => vec![of],
            MmaOp::Step(Step::Instruction(i)) => match &mut i.a {
                Source::Registers(a) => vec![&mut i.sums, a],
                Source::Memory(_) => vec![&mut i.sums],
            },
            _ => Vec::new(),
        }
    }

    pub fn parts(&self) -> Vec<&Part> {
        match self {
            MmaOp::FillElements { part, .. }
            | MmaOp::Apply { part, .. }
            | MmaOp::AllReduce { part } => {
                vec![P::only(part)]
            }
            MmaOp::Load { into, .. } => vec![P::only(into)],
            MmaOp::Store { from, .. } => vec![P::only(from)],
            MmaOp::Multiply { sums, a, b, .. } => vec![P::only(sums), a, b],
            MmaOp::Reduce { into, from, .. } | MmaOp::Convert { into, from } => {
                vec![P::only(into), from]
            }
            MmaOp::Product(product) => P::only(product).parts(),
            MmaOp::CommitAll(_)
            | MmaOp::WaitMma(_)
            | MmaOp::Instruction { .. }
            | MmaOp::Matrices { .. }
            | MmaOp::Step(_) => Vec::new(),
        }
    }
}
