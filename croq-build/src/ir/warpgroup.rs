//! Warpgroup MMAs, which are asynchronous: the threads continue while they execute.
//!
//! The accumulator, and possibly A, are in registers; B, and otherwise A, are read from shared
//! memory in place. A *group of MMAs* begins with a fence for the registers and ends with a commit;
//! threads wait for all groups except the most recent few.

use super::{Access, Atom, BufferId, Expr, LocalId, Part, Selected, View};
use crate::source::Span;
use crate::symbolic::Sym;

/// `acc += a b`, in flight until its warpgroup waits for it.
#[derive(Clone, Debug)]
pub struct WarpgroupMma {
    pub acc: Part,
    pub a: Operand,
    pub b: Tile,
    /// For a sparse A.
    pub metadata: Option<Part>,
    /// The shape `64 x n x k` of one instruction; K of the MMA may be a multiple of it.
    pub atom: Atom,
    /// The parts of K, in the order in which they are added.
    pub order: Vec<i64>,
    /// Where it is false, the MMA overwrites the accumulators instead of adding to them.
    pub accumulate: Expr,
    /// The number by which the program waits for it.
    pub operation: Option<u32>,
}

#[derive(Clone, Debug)]
pub enum Operand {
    Registers(Part),
    Memory(Tile),
}

/// An operand in shared memory.
#[derive(Clone, Debug)]
pub struct Tile {
    pub view: View,
    /// Whether K runs along the rows of memory.
    pub k_last: bool,
}

impl WarpgroupMma {
    pub fn tiles(&self) -> impl Iterator<Item = &Tile> {
        let a = match &self.a {
            Operand::Memory(tile) => Some(tile),
            Operand::Registers(_) => None,
        };
        a.into_iter().chain([&self.b])
    }

    pub fn tiles_mut(&mut self) -> impl Iterator<Item = &mut Tile> {
        let a = match &mut self.a {
            Operand::Memory(tile) => Some(tile),
            Operand::Registers(_) => None,
        };
        a.into_iter().chain([&mut self.b])
    }

    /// The operands in registers.
    pub fn parts(&self) -> Vec<&Part> {
        let a = match &self.a {
            Operand::Registers(a) => Some(a),
            Operand::Memory(_) => None,
        };
        let read = a.into_iter().chain(&self.metadata);
        std::iter::once(&self.acc).chain(read).collect()
    }
}

/// The operations that a warpgroup MMA is lowered to.
#[derive(Clone, Debug)]
pub enum Step {
    /// Orders earlier accesses of these fragments' registers before the MMAs that follow.
    Fence {
        registers: Vec<BufferId>,
    },
    /// The instructions since the last commit become a group.
    Commit,
    /// Waits for all groups except the `younger` most recent ones; then these fragments may be
    /// used.
    Wait {
        younger: u32,
        registers: Vec<BufferId>,
    },
    /// Computes the matrix descriptor of a buffer.
    Describe {
        local: LocalId,
        /// The first element of the buffer.
        of: Box<Access>,
        /// The width of the swizzle in bytes; the distance from one group of columns to the next;
        /// the distance from 8 rows to the next 8.
        swizzle: u32,
        leading: Sym,
        stride: i64,
        computed_once: bool,
    },
    /// Computes a descriptor from another one for memory `bytes` bytes further.
    Advance {
        local: LocalId,
        by: LocalId,
        bytes: Sym,
        /// The result of an instruction that ptxas does not execute again; whole warps execute it.
        computed_once: bool,
    },
    Instruction(Box<Instruction>),
}

impl Step {
    pub fn wait(younger: u32, registers: &[BufferId]) -> Self {
        let registers = registers.to_vec();
        Step::Wait { younger, registers }
    }
}

#[derive(Clone, Debug)]
pub struct Instruction {
    pub atom: Atom,
    pub acc: Access,
    pub a: Source,
    pub b: Described,
    /// For a sparse A.
    pub metadata: Option<Box<Selected>>,
    pub accumulate: Expr,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum Source {
    Registers(Box<Access>),
    Memory(Described),
}

/// An operand in memory, `bytes` bytes after the address in the descriptor `by`.
#[derive(Clone, Debug)]
pub struct Described {
    pub by: LocalId,
    pub bytes: i64,
    pub k_last: bool,
    pub elem: super::Scalar,
}

impl Instruction {
    /// A in registers, and metadata.
    pub fn registers_read(&self) -> impl Iterator<Item = &Access> {
        let a = match &self.a {
            Source::Registers(a) => Some(&**a),
            Source::Memory(_) => None,
        };
        a.into_iter()
            .chain(self.metadata.iter().map(|m| &m.register))
    }

    /// The same, after the accumulator.
    pub fn registers_mut(&mut self) -> impl Iterator<Item = &mut Access> {
        let a = match &mut self.a {
            Source::Registers(a) => Some(&mut **a),
            Source::Memory(_) => None,
        };
        let metadata = self.metadata.iter_mut().map(|m| &mut m.register);
        std::iter::once(&mut self.acc).chain(a).chain(metadata)
    }

    pub fn described(&self) -> impl Iterator<Item = &Described> {
        let a = match &self.a {
            Source::Memory(described) => Some(described),
            Source::Registers(_) => None,
        };
        a.into_iter().chain([&self.b])
    }
}
