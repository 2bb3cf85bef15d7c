//! Levels whose order may be chosen.

use crate::ir::{BufferId, Expr, Level, LocalId};
use crate::symbolic::{Sym, Var};

/// A level of threads with several sub-levels.
pub(super) struct Candidate {
    /// The number of its `parallel` in the kernel, in the order of the source.
    pub site: usize,
    pub indices: Vec<Index>,
    /// The slowest index needs no remainder, because there are no more threads.
    pub open: bool,
    /// The number of which the indices are the digits.
    pub number: Expr,
    /// The enclosing levels.
    pub around: Vec<Level>,
    /// Its memory accesses.
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

    /// The program's order first.
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
    /// In elements from the start of the buffer.
    pub address: Sym,
    pub buffer: BufferId,
    pub times: u64,
}
