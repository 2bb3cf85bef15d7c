//! Copies of tiles, and the moves of elements that passes make of them.

use super::{Access, Arrival, Engine, Expr, FutureId, Level, View};

/// A tile moved by the threads of one unit.
#[derive(Clone, Debug)]
pub struct Copy {
    pub source: View,
    pub dest: View,
    pub transform: Transform,
    /// Positions of the destination that no valid source element covers become zero.
    pub zero_fill: bool,
    /// Whose threads share the work. `Thread`: each thread copies all of it for itself.
    pub level: Level,
    /// The bytes are there after a wait for this future.
    pub future: Option<FutureId>,
    pub engine: Engine,
}

#[derive(Clone, Debug)]
pub struct Waited {
    pub future: FutureId,
    /// Where the data is.
    pub view: View,
    /// Whose threads shared the copy.
    pub level: Level,
    /// Where boxes arrive; known after `passes::lower::tma::prepare`.
    pub arrival: Option<Arrival>,
}

/// One access of the memory on each side.
#[derive(Clone, Debug)]
pub struct Move {
    pub dest: Access,
    pub source: Access,
    /// Along the innermost axis of both, from the access on.
    pub elems: u32,
    pub mode: MoveMode,
}

#[derive(Clone, Debug)]
pub enum MoveMode {
    /// Done when the statement is.
    Plain,
    /// From global to shared memory; the bytes land between here and the wait for the group. Zeros
    /// land where `inside` is false.
    Async { inside: Option<Expr> },
}

#[derive(Clone, Debug)]
pub enum Transform {
    /// Same index on both sides, over the smaller of the two shapes.
    None,
    /// Destination axis `i` is source axis `perm[i]`.
    Transpose(Vec<usize>),
    /// The destination is filled with `value`; source element `i` goes to `low + i`.
    Pad { low: Vec<u64>, value: Expr },
}
