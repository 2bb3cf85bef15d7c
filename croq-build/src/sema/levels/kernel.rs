//! What is known about the kernel under construction.

use std::collections::BTreeMap;

use crate::ir::{self, Level, LocalId};
use crate::source::Span;
use crate::symbolic::{Sym, Var};

/// What a kernel under construction is known to be.
pub(crate) struct KernelState {
    /// Threads of a block, once an inner level fixed them.
    pub threads: Option<Sym>,
    /// Where they were fixed, for the disagreement of siblings.
    pub threads_at: Span,
    /// The level that statements here run at.
    pub level: Level,
    /// All blocks are resident at the same time.
    pub cooperative: bool,
    /// Blocks of a cluster along x, y, z.
    pub cluster: [u32; 3],
    /// Where in it a block is.
    pub places: [Option<Var>; 3],
    /// The blocks along x, y, z, once their level was reached, and their indices.
    pub grid: Option<[Sym; 3]>,
    pub blocks: [Option<Var>; 3],
    /// The linear thread id, once some slice or predicate needed it.
    pub tid: Option<Var>,
    pub tid_local: Option<LocalId>,
    /// Locals from here on belong to the kernel, and below its block level.
    pub first_local: usize,
    pub first_inner_local: usize,
    /// For each index variable below block level: how it follows from the linear thread id.
    pub homes: BTreeMap<Var, ThreadIndex>,
    /// Inside `inthreads`: how deep.
    pub regions: u32,
    /// Of each `inthreads` around, outermost first: who comes there, as far as that is known.
    pub sets: Vec<Option<ir::ThreadSet>>,
    /// Their spans.
    pub regions_at: Vec<Span>,
    /// `if`s on a thread-dependent condition around here.
    pub divergent: u32,
    /// Span of the launch, for messages.
    pub header: Span,
    pub yielded: Option<Span>,
    /// What may keep the call from coming to the launch, of `Elab::uncertain`.
    pub uncertain: u32,
    /// How often it waits for each event of the host so far.
    pub awaited: BTreeMap<ir::SignalId, u32>,
}

/// `tid / divisor % modulus` (no modulus: the last component).
#[derive(Clone, Debug)]
pub(crate) struct ThreadIndex {
    pub divisor: Sym,
    pub modulus: Option<Sym>,
}
