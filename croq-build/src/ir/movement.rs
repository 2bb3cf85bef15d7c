//! Copies of tiles, and the element moves that passes expand them to.

use super::{Access, Arrival, Engine, Expr, FutureId, Level, View};
use crate::symbolic::Sym;

/// A copy of a tile by the threads of one unit, or by TMA.
#[derive(Clone, Debug)]
pub struct Copy {
    pub source: View,
    pub dest: View,
    pub transform: Transform,
    /// Whether destination elements without a valid source element become zero.
    pub zero_fill: bool,
    /// The level of the unit whose threads share the work. With `Thread`, each thread makes the
    /// whole copy.
    pub level: Level,
    /// The future to wait for before the data may be read.
    pub future: Option<FutureId>,
    pub engine: Engine,
}

#[derive(Clone, Debug)]
pub struct Waited {
    pub future: FutureId,
    /// The view of the data.
    pub view: View,
    /// The level of the unit whose threads shared the copy.
    pub level: Level,
    /// The mbarrier of a TMA load; known after `passes::lower::tma::prepare`.
    pub arrival: Option<Arrival>,
}

/// A move by one thread, with one access on each side.
#[derive(Clone, Debug)]
pub struct Move {
    pub dest: Access,
    pub source: Access,
    /// The number of elements, from the access on, along the innermost axis of both sides.
    pub elems: u32,
    pub mode: MoveMode,
}

#[derive(Clone, Debug)]
pub enum MoveMode {
    /// Complete when the statement is.
    Plain,
    /// From global to shared memory, complete at the wait for the group. Where `inside` is false,
    /// zeros are written.
    Async { inside: Option<Expr> },
    /// Adds the elements to those of device memory, each atomically by itself. Only the pass
    /// `wide-sums` creates it.
    Add,
}

#[derive(Clone, Debug)]
pub enum Transform {
    /// Same index on both sides, over the smaller of the two shapes.
    None,
    /// Destination axis `i` is source axis `perm[i]`.
    Transpose(Vec<usize>),
    /// The destination is filled with `value`; source element `i` goes to `low + i`.
    Pad { low: Vec<Sym>, value: Expr },
}
