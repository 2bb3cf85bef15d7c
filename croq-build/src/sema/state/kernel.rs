//! The state of the kernel under construction.

use crate::ir::{self, Level, LocalId};
use crate::sorted::SortedMap;
use crate::source::Span;
use crate::symbolic::{Sym, Var};

/// The state of the kernel under construction.
pub(crate) struct KernelState {
    pub threads: Threads,
    pub grid: Grid,
    /// The level at which statements here run.
    pub level: Level,
    /// The unit that executes collective statements here.
    pub unit: Unit,
    /// Locals with this id or a higher one belong to the kernel, and to levels below the block.
    pub first_local: usize,
    pub first_inner_local: usize,
    /// Span of the launch, for messages.
    pub header: Span,
    pub yielded: Option<Span>,
    /// The number of its waits for each host event so far.
    pub awaited: SortedMap<ir::SignalAt, u32>,
}

/// The threads that execute a collective statement together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unit {
    /// The level of the statements, or of the warp or warpgroup that a level of threads fills.
    pub level: Level,
    /// The number of threads, if the level has a constant number.
    pub threads: Option<u32>,
}

impl Unit {
    /// The unit of a level whose threads fill no wider one.
    pub fn of(level: Level) -> Self {
        let threads = level.threads_together();
        Self { level, threads }
    }

    /// All threads of a level, which are no warp or warpgroup.
    pub fn of_threads(threads: Option<u32>) -> Self {
        let level = Level::Thread;
        Self { level, threads }
    }
}

/// The threads of a block.
pub(crate) struct Threads {
    /// The number of threads, after an inner level determined it.
    pub count: Option<Sym>,
    /// The level that determined it, for reports about siblings with another number.
    pub declared: Span,
    /// The linear thread id, after some slice or predicate needed it.
    pub id: Option<Var>,
    pub id_local: Option<LocalId>,
    /// For each index variable below the block level, its expression in the linear thread id.
    pub indices: SortedMap<Var, ThreadIndex>,
}

impl Threads {
    pub fn new(declared: Span) -> Self {
        Self {
            count: None,
            declared,
            id: None,
            id_local: None,
            indices: SortedMap::new(),
        }
    }
}

/// The blocks of a kernel.
pub(crate) struct Grid {
    /// Whether all blocks are resident at the same time.
    pub cooperative: bool,
    /// The blocks of a cluster along x, y, z.
    pub cluster: [u32; 3],
    /// The position of a block in its cluster.
    pub places: [Option<Var>; 3],
    /// The blocks along x, y, z, after their level was lowered, and their indices.
    pub extents: Option<[Sym; 3]>,
    pub indices: [Option<Var>; 3],
}

impl Grid {
    pub fn new(cooperative: bool) -> Self {
        Self {
            cooperative,
            cluster: [1; 3],
            places: [None; 3],
            extents: None,
            indices: [None; 3],
        }
    }
}

/// `tid / divisor % modulus` (no modulus: the last component).
#[derive(Clone, Debug)]
pub(crate) struct ThreadIndex {
    pub divisor: Sym,
    pub modulus: Option<Sym>,
}
