//! Levels whose order may be chosen.

use crate::ir::{BufferId, Expr, Level, LocalId};
use crate::symbolic::{Sym, Var};

/// A level of threads with several sub-levels.
pub(super) struct Candidate {
    /// Which `parallel` of the kernel it is, in order of the text.
    pub site: usize,
    pub indices: Vec<Index>,
    /// The quotient by all but the slowest needs no remainder: there are no more threads.
    pub open: bool,
    /// What the indices are the digits of.
    pub number: Expr,
    /// The levels around.
    pub around: Vec<Level>,
    /// What it touches.
    pub traffic: Vec<Traffic>,
}

pub(super) struct Index {
    pub local: LocalId,
    pub var: Var,
    pub extent: Sym,
}

impl Candidate {
    pub fn has_shape_of(&self, other: &Candidate) -> bool {
        let extents = |c: &Candidate| c.indices.iter().map(|i| i.extent.clone()).collect();
        let (a, b): (Vec<Sym>, Vec<Sym>) = (extents(self), extents(other));
        a == b && self.open == other.open && self.around == other.around
    }

    /// The program's first.
    pub fn orders(&self) -> &'static [&'static [usize]] {
        match self.indices.len() {
            2 => &[&[0, 1], &[1, 0]],
            3 => &[
                &[0, 1, 2],
                &[0, 2, 1],
                &[1, 0, 2],
                &[1, 2, 0],
                &[2, 0, 1],
                &[2, 1, 0],
            ],
            _ => &[],
        }
    }
}

/// Accesses by one statement.
pub struct Traffic {
    /// In elements, from the buffer's first.
    pub address: Sym,
    pub buffer: BufferId,
    pub times: u64,
}
