//! A kernel.

use std::collections::BTreeSet;

use super::{BufferId, LocalId, ParamId, Phase, Stmt, TensorMap, Tiles};
use crate::source::Span;
use crate::symbolic::Sym;

#[derive(Clone, Debug)]
pub struct Kernel<P: Phase = Tiles> {
    /// `function_0`, `function_1`, … in order of appearance.
    pub name: String,
    pub span: Span,
    /// Blocks along x, y, z.
    pub grid: [Sym; 3],
    /// Of which so many are resident together; 1 each where there are no clusters.
    pub cluster: [u32; 3],
    /// Threads of a block (host-computable).
    pub threads: Sym,
    pub attrs: LaunchAttrs,
    /// Where a block has one thread only because the program says nothing about threads.
    pub one_thread: Option<Span>,
    pub body: Vec<Stmt<P>>,
    /// Indices of `parallel`s that were made the fastest of their level.
    pub fastest: Vec<LocalId>,
    /// Filled by the shared-memory plan: where each shared buffer is, and the total.
    pub shared: Vec<Placed>,
    pub shared_bytes: Sym,
    /// Filled by the barrier pass: some thread can wait for another.
    pub waits: bool,
    /// Filled when copies are expanded: bytes may land after the statement that moves them.
    pub asynchronous: bool,
    /// Filled with it: warpgroups multiply.
    pub warpgroups: bool,
    pub facts: MemoryFacts,
    /// What the copy engine is told of device memory; filled when copies of boxes are expanded.
    pub maps: Vec<TensorMap>,
}

impl<P: Phase> Kernel<P> {
    /// An empty kernel of one block, as `sema` makes it: all that passes find out is still to come.
    pub fn new(name: String, span: Span, threads: Sym) -> Self {
        Self {
            name,
            span,
            grid: [Sym::one(), Sym::one(), Sym::one()],
            cluster: [1; 3],
            threads,
            attrs: LaunchAttrs::default(),
            one_thread: None,
            body: Vec::new(),
            fastest: Vec::new(),
            shared: Vec::new(),
            shared_bytes: Sym::zero(),
            waits: false,
            asynchronous: false,
            warpgroups: false,
            facts: MemoryFacts::default(),
            maps: Vec::new(),
        }
    }

    /// Blocks of a cluster.
    pub fn cluster_size(&self) -> u32 {
        self.cluster.iter().product()
    }

    pub fn is_clustered(&self) -> bool {
        self.cluster_size() > 1
    }

    /// It uses what older GPUs don't have.
    pub fn needs_sm_90(&self) -> bool {
        !self.maps.is_empty() || self.is_clustered() || self.warpgroups
    }
}

/// What analyses found out about the memory of a kernel.
#[derive(Clone, Debug, Default)]
pub struct MemoryFacts {
    /// What it leaves depends on the order in which its blocks come by.
    pub ordered: bool,
    /// Device memory that it writes and of which two instances may touch an element.
    pub tracked: Vec<BufferId>,
    /// That it writes and whose address text has that the compiler can't see into.
    pub escaping: Vec<BufferId>,
    /// Shared memory, local arrays and fragments of which a thread may read an element that nothing has
    /// written; and those of them that a declaration in a loop begins anew.
    pub unwritten: BTreeSet<BufferId>,
    pub anew: BTreeSet<BufferId>,
}

/// A shared buffer's place in the memory of a block.
#[derive(Clone, Debug)]
pub struct Placed {
    pub buffer: BufferId,
    /// In bytes.
    pub offset: Sym,
    pub bytes: Sym,
    pub alignment: i64,
    /// The text during which it holds something; another may have its memory before and after.
    pub live: Span,
    /// The same in points of the kernel.
    pub points: (usize, usize),
}

#[derive(Clone, Debug, Default)]
pub struct LaunchAttrs {
    /// `[[launch_bounds(T, B, C)]]`; `T` is never less than the real count.
    pub launch_bounds: Option<[Option<u32>; 3]>,
    pub maxnreg: Option<u32>,
    /// `block<cooperative>`: all blocks are resident at the same time, so that they can wait for each other.
    pub cooperative: Option<Span>,
    /// `parallel.async`: the host does not wait.
    pub is_async: bool,
    pub stream: Option<ParamId>,
}
