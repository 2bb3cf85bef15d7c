//! What is known about the kernel under construction.

use std::collections::BTreeMap;

use crate::ir::{self, Level, LocalId};
use crate::source::Span;
use crate::symbolic::{Sym, Var};

/// What a kernel under construction is known to be.
pub(crate) struct KernelState {
    pub threads: Threads,
    pub grid: Grid,
    /// The level that statements here run at.
    pub level: Level,
    /// Locals from here on belong to the kernel, and below its block level.
    pub first_local: usize,
    pub first_inner_local: usize,
    /// Span of the launch, for messages.
    pub header: Span,
    pub yielded: Option<Span>,
    /// How often it waits for each event of the host so far.
    pub awaited: BTreeMap<ir::SignalId, u32>,
}

/// The threads of a block.
pub(crate) struct Threads {
    /// How many, once an inner level fixed that.
    pub count: Option<Sym>,
    /// Where that was, for the disagreement of siblings.
    pub declared: Span,
    /// The linear thread id, once some slice or predicate needed it.
    pub id: Option<Var>,
    pub id_local: Option<LocalId>,
    /// For each index variable below block level: how it follows from the linear thread id.
    pub indices: BTreeMap<Var, ThreadIndex>,
}

impl Threads {
    pub fn new(declared: Span) -> Self {
        Self {
            count: None,
            declared,
            id: None,
            id_local: None,
            indices: BTreeMap::new(),
        }
    }
}

/// The blocks of a kernel.
pub(crate) struct Grid {
    /// All blocks are resident at the same time.
    pub cooperative: bool,
    /// Blocks of a cluster along x, y, z.
    pub cluster: [u32; 3],
    /// Where in it a block is.
    pub places: [Option<Var>; 3],
    /// The blocks along x, y, z, once their level was reached, and their indices.
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
