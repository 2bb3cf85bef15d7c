//! MMAs by a warpgroup, which go on while its threads do something else.
//!
//! Sums, and A perhaps, are in registers; B, and A otherwise, are read from shared memory where they lie. A
//! *group of MMAs* of instructions is begun with a fence, for the registers' sake, and ended by being made a group;
//! threads wait for all groups but the youngest few.

use super::{Access, Atom, BufferId, Expr, LocalId, Part, View};
use crate::source::Span;
use crate::symbolic::Sym;

/// `sums += a b`, in flight until its warpgroup waits for it.
#[derive(Clone, Debug)]
pub struct WarpgroupMma {
    pub acc: Part,
    pub a: Operand,
    pub b: Tile,
    /// Of `64 x n x k`; K may be several times as large.
    pub atom: Atom,
    /// The parts of K, as they are added.
    pub order: Vec<i64>,
    /// Where it is false, the accumulators are what the MMA is.
    pub accumulate: Expr,
    /// The program waits for it by this number.
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
    /// K runs along the rows of memory.
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

    /// What of it is in registers.
    pub fn parts(&self) -> Vec<&Part> {
        match &self.a {
            Operand::Registers(a) => vec![&self.acc, a],
            Operand::Memory(_) => vec![&self.acc],
        }
    }
}

/// What passes make of MMAs.
#[derive(Clone, Debug)]
pub enum Step {
    /// What was done with these fragments' registers is done.
    Fence {
        registers: Vec<BufferId>,
    },
    /// The instructions since the last one are a group.
    Commit,
    /// All groups are over, but for so many of the youngest; then these fragments are used.
    Wait {
        younger: u32,
        registers: Vec<BufferId>,
    },
    /// Names a buffer as instructions want it named.
    Describe {
        local: LocalId,
        /// Its first element.
        of: Box<Access>,
        /// Bytes of the swizzle; from one group of columns to the next; from 8 rows to the next.
        swizzle: u32,
        leading: Sym,
        stride: i64,
    },
    /// Names what is so many bytes further on.
    Advance {
        local: LocalId,
        by: LocalId,
        bytes: Sym,
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
    pub accumulate: Expr,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum Source {
    Registers(Box<Access>),
    Memory(Described),
}

/// So many bytes from where a descriptor says.
#[derive(Clone, Debug)]
pub struct Described {
    pub by: LocalId,
    pub bytes: i64,
    pub k_last: bool,
    pub elem: super::Scalar,
}

impl Instruction {
    pub fn described(&self) -> impl Iterator<Item = &Described> {
        let a = match &self.a {
            Source::Memory(described) => Some(described),
            Source::Registers(_) => None,
        };
        a.into_iter().chain([&self.b])
    }
}
