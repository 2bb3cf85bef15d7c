//! A kernel.

use super::{BufferId, LocalId, ParamId, Phase, Stmt, TensorMap, Tiles};
use crate::sorted::SortedSet;
use crate::source::Span;
use crate::symbolic::Sym;

#[derive(Clone, Debug)]
pub struct Kernel<P: Phase = Tiles> {
    /// `function_0`, `function_1`, … in order of appearance.
    pub name: String,
    pub span: Span,
    /// Blocks along x, y, z.
    pub grid: [Sym; 3],
    /// Blocks of a cluster along x, y, z; all 1 without clusters.
    pub cluster: [u32; 3],
    /// Threads of a block, as an expression that the host can evaluate.
    pub threads: Sym,
    pub attrs: LaunchAttrs,
    /// Set if a block has only one thread because the program has no thread level.
    pub one_thread: Option<Span>,
    pub body: Vec<Stmt<P>>,
    /// Indices of `parallel`s that the thread-ordering pass made the fastest of their level.
    pub fastest: Vec<LocalId>,
    /// Filled by the shared-memory plan: the place of each shared buffer, and the total size.
    pub shared: Vec<Placed>,
    pub shared_bytes: Sym,
    /// Filled by the barrier pass: whether a thread can wait for another.
    pub waits: bool,
    /// Filled when copies are expanded: whether data may arrive after the statement that copies it.
    pub asynchronous: bool,
    /// Filled when copies are expanded: whether the kernel has warpgroup MMAs.
    pub warpgroups: bool,
    pub facts: MemoryFacts,
    /// The tensor maps for TMA; filled when TMA copies are expanded.
    pub maps: Vec<TensorMap>,
}

impl<P: Phase> Kernel<P> {
    /// An empty kernel of one block, as `sema` creates it; the fields that passes fill have their
    /// defaults.
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

    /// The number of blocks of a cluster.
    pub fn cluster_size(&self) -> u32 {
        self.cluster.iter().product()
    }

    pub fn is_clustered(&self) -> bool {
        self.cluster_size() > 1
    }
}

/// Results of analyses of the memory that a kernel accesses.
#[derive(Clone, Debug, Default)]
pub struct MemoryFacts {
    /// Whether its results depend on the execution order of its blocks.
    pub ordered: bool,
    /// Device memory that it writes, and of which two instances may access the same element.
    pub tracked: Vec<BufferId>,
    /// Device memory that it writes and whose address is passed to code that is opaque to the
    /// compiler.
    pub escaping: Vec<BufferId>,
    /// Shared memory, local arrays and fragments of which a thread may read an element that was
    /// never written. `anew` contains those whose declaration in a loop makes their contents
    /// undefined again.
    pub unwritten: SortedSet<BufferId>,
    pub anew: SortedSet<BufferId>,
    /// Device memory that the call allocates, that this launch is the first to use, and all of which
    /// it writes: it is not cleared.
    pub whole: Vec<BufferId>,
}

impl MemoryFacts {
    /// Whether the simulated GPU records the accesses of the buffer.
    pub fn records(&self, id: BufferId) -> bool {
        self.tracked.contains(&id) || self.whole.contains(&id)
    }
}

/// A shared buffer's place in the memory of a block.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    pub buffer: BufferId,
    /// In bytes.
    pub offset: Sym,
    pub bytes: Sym,
    pub alignment: i64,
    /// The source range in which the buffer is live; another buffer may use its memory before and
    /// after.
    pub live: Span,
    /// The same range in program points of the kernel.
    pub points: (usize, usize),
}

#[derive(Clone, Debug, Default)]
pub struct LaunchAttrs {
    /// `[[launch_bounds(T, B, C)]]`; `T` is never less than the real count.
    pub launch_bounds: Option<[Option<u32>; 3]>,
    pub maxnreg: Option<u32>,
    /// `block<cooperative>`: all blocks are resident at the same time, so that they can wait for
    /// each other.
    pub cooperative: Option<Span>,
    /// `parallel.async`: the host does not wait.
    pub is_async: bool,
    pub stream: Option<ParamId>,
}
