//! Statements, on the host and in kernels.

use std::collections::BTreeSet;

use super::{
    Access, Arrival, Atomic, BinOp, BufferId, CheckId, Engine, EventAt, Expr, FutureId, KernelId,
    Level, LocalId, MmaOp, Phase, SignalId, Tiles, TmaOp, View,
};
use crate::source::Span;
use crate::symbolic::Sym;

#[derive(Clone, Debug)]
pub struct Stmt<P: Phase = Tiles> {
    pub kind: StmtKind<P>,
    pub span: Span,
}

impl<P: Phase> Stmt<P> {
    /// Whether a `break` or `continue` in it may end a turn of the loop around.
    pub fn leaves_turn(&self) -> bool {
        match &self.kind {
            StmtKind::Break | StmtKind::Continue => true,
            StmtKind::For { .. } | StmtKind::While { .. } => false,
            kind => kind.blocks().flatten().any(Self::leaves_turn),
        }
    }

    pub fn new(kind: StmtKind<P>, span: Span) -> Self {
        Self { kind, span }
    }
}

/// Statements with a [`Phase::Only`] are there as long as lowering passes have not removed them.
#[derive(Clone, Debug)]
pub enum StmtKind<P: Phase = Tiles> {
    /// Declares a local. `None` leaves a mutable one uninitialised.
    Let {
        local: LocalId,
        value: Option<Expr>,
    },
    Assign {
        local: LocalId,
        value: Expr,
    },
    /// `access = value`, or `access op= value` with the address evaluated once.
    Store {
        access: Access,
        op: Option<BinOp>,
        value: Expr,
    },
    Atomic(Atomic),
    /// `for (local = lo; local < hi; local += step)`
    For {
        local: LocalId,
        lo: Sym,
        hi: Sym,
        step: Sym,
        unroll: Option<Unroll>,
        body: Vec<Stmt<P>>,
    },
    /// Each turn runs `prelude`, then leaves when `cond` is false.
    While {
        prelude: Vec<Stmt<P>>,
        cond: Expr,
        body: Vec<Stmt<P>>,
    },
    If {
        cond: Expr,
        then: Vec<Stmt<P>>,
        otherwise: Vec<Stmt<P>>,
    },
    Break,
    Continue,
    /// Leaves the kernel for this thread.
    Yield,
    /// The body runs at `level`: its statements belong to each unit of that level on its own.
    Parallel {
        level: Level,
        body: Vec<Stmt<P>>,
    },
    /// Only one thread of the enclosing unit, which is at `level`, runs the body.
    SingleThread {
        level: Level,
        body: Vec<Stmt<P>>,
    },
    /// `inthreads`: only the threads that satisfy `pred`. `set` is that set over the block's linear
    /// thread ids, when static.
    Region {
        pred: Expr,
        set: Option<ThreadSet>,
        /// Where one thread does everything: what was asked for, and whom that meant.
        elected_from: Option<(Expr, ThreadSet)>,
        is_async: bool,
        outermost: bool,
        body: Vec<Stmt<P>>,
    },
    Copy(P::Only<Copy>),
    /// The copies that these futures stand for have arrived, as far as this thread's own share goes.
    Wait {
        futures: P::Only<Vec<Waited>>,
        /// Of the groups that this thread has begun, so many of the youngest may still be under way.
        /// `None`: there is nothing to wait for.
        pending: Option<u32>,
    },
    /// The boxes that these futures stand for have arrived, in any order.
    WaitTma {
        futures: P::Only<Vec<Waited>>,
    },
    /// What a copy of boxes comes down to.
    Tma(TmaOp),
    /// This thread waits for the generation of an event that it has not waited for yet.
    WaitEvent(P::Only<EventAt>),
    /// An arrival by every thread that comes here.
    Trigger(P::Only<EventAt>),
    /// This thread waits until the host has triggered as often as launches before this one have waited, and `turn`
    /// times more, and once.
    AwaitSignal {
        signal: SignalId,
        turn: u32,
    },
    /// Each future becomes what the next one was, the last what the first was. The handles that say
    /// where the data is are moved by assignments around it; this is for those who count copies.
    Rotate {
        futures: P::Only<Vec<FutureId>>,
    },
    /// The statement after it reads the future's data.
    UseFuture(P::Only<FutureId>),
    /// What is done with fragments, by the threads of a warp together.
    Mma(Box<MmaOp<P>>),
    /// A few neighbouring elements, moved by one thread.
    Move(Move),
    /// The asynchronous moves since the last one form a group.
    CommitCopies,
    /// All groups of this thread have arrived, but for the `pending` youngest.
    WaitCopies {
        pending: u32,
    },
    /// Sets every element of a view, by the threads of a unit of `level` together.
    Fill {
        view: P::Only<View>,
        value: Expr,
        level: Level,
    },
    Barrier {
        scope: BarrierScope,
        why: BarrierReason,
    },
    Fence(FenceScope),
    /// By whole warpgroups.
    Registers(Registers),
    /// Fails when `cond` is false: on the host before anything else happens, on the device by
    /// stopping the kernel. `values` are what the message shows.
    Check {
        check: CheckId,
        cond: Expr,
        values: Vec<Expr>,
    },
    Print {
        newline: bool,
        parts: Vec<PrintPart>,
    },
    /// An expression for its effect: a call.
    Eval(Expr),
    /// `__cpp__`: spliced as it is. `names` are what the text may mention, innermost last.
    Cpp {
        text: String,
        names: Vec<CppName>,
    },
    /// On the host: allocates a buffer, cleared to zero. In a kernel: a shared buffer is declared
    /// here, and what it held before is lost; the shared-memory plan is what this is for, and drops it.
    Alloc(BufferId),
    // Host only.
    Launch(KernelId),
    TriggerSignal(SignalId),
    /// Waits for the device.
    Synchronize,
    Return(ReturnValue),
}

impl<P: Phase> StmtKind<P> {
    /// The lists of statements right inside.
    pub fn blocks(&self) -> impl Iterator<Item = &Vec<Stmt<P>>> {
        let blocks = match self {
            StmtKind::For { body, .. }
            | StmtKind::Parallel { body, .. }
            | StmtKind::SingleThread { body, .. }
            | StmtKind::Region { body, .. } => [Some(body), None],
            StmtKind::Mma(op) => [op.body(), None],
            StmtKind::While { prelude, body, .. } => [Some(prelude), Some(body)],
            StmtKind::If {
                then, otherwise, ..
            } => [Some(then), Some(otherwise)],
            _ => [None, None],
        };
        blocks.into_iter().flatten()
    }

    pub fn blocks_mut(&mut self) -> impl Iterator<Item = &mut Vec<Stmt<P>>> {
        let blocks = match self {
            StmtKind::For { body, .. }
            | StmtKind::Parallel { body, .. }
            | StmtKind::SingleThread { body, .. }
            | StmtKind::Region { body, .. } => [Some(body), None],
            StmtKind::Mma(op) => [op.body_mut(), None],
            StmtKind::While { prelude, body, .. } => [Some(prelude), Some(body)],
            StmtKind::If {
                then, otherwise, ..
            } => [Some(then), Some(otherwise)],
            _ => [None, None],
        };
        blocks.into_iter().flatten()
    }
}

#[derive(Clone, Debug)]
pub enum CppName {
    Local(LocalId),
    Buffer(BufferId),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unroll {
    Full,
    By(u32),
}

#[derive(Clone, Debug)]
pub enum ReturnValue {
    Nothing,
    Scalar(Expr),
    /// A parameter is returned as a copy.
    Buffer(BufferId),
}

#[derive(Clone, Debug)]
pub enum PrintPart {
    Text(String),
    Value(Expr),
}

/// Why a barrier stands where it does; printed as a comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BarrierReason {
    /// `sync.*` in the source.
    Written,
    /// Every thread must see what was written to the named buffer.
    ReadAfterWrite(String),
    /// The named buffer is about to be overwritten.
    WriteAfterRead(String),
    WriteAfterWrite(String),
    /// The memory of one buffer is about to be another's.
    MakesRoom {
        before: String,
        then: String,
    },
    /// The end of a plain `inthreads`.
    RegionEnd,
    /// Text that the compiler can't see into.
    Opaque,
    /// The mbarriers are ready.
    Initialised,
    /// A load begins whose mbarrier some thread may still ask for the load before.
    NextLoad,
    /// Others of the cluster may still arrive at this block's mbarriers.
    Arrivals,
    /// No phase of the named event may go by before all threads have seen the one before.
    Observed(String),
    /// The warpgroup's registers may have been changed before.
    Registers,
}

impl std::fmt::Display for BarrierReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Written => f.write_str("written in the program"),
            Self::ReadAfterWrite(name) => write!(f, "{name} is read after it was written"),
            Self::WriteAfterRead(name) => write!(f, "{name} is overwritten after it was read"),
            Self::WriteAfterWrite(name) => write!(f, "{name} is overwritten"),
            Self::MakesRoom { before, then } => write!(f, "{then} takes the place of {before}"),
            Self::RegionEnd => f.write_str("the end of inthreads"),
            Self::Initialised => f.write_str("mbarriers are ready"),
            Self::Arrivals => f.write_str("others may still arrive here"),
            Self::Observed(name) => write!(f, "no thread falls behind {name}"),
            Self::NextLoad => f.write_str("the load before has arrived for all"),
            Self::Registers => f.write_str("registers may change again"),
            Self::Opaque => f.write_str("what follows may touch what came before"),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarrierScope {
    /// All threads of all blocks, in a cooperative launch.
    Grid,
    /// All threads of all blocks of the cluster.
    Cluster,
    /// All threads that run the statement: of the innermost region around, if there is one.
    Block,
    /// The enclosing warpgroup, by a named barrier.
    Warpgroup,
    /// The enclosing warp.
    Warp,
    /// So many threads, by the named barrier of this number.
    Named { id: u32, threads: u32 },
    /// The same barrier, where these threads only arrive and don't wait.
    Arrive { id: u32, threads: u32 },
    /// Each warpgroup by a named barrier of its own; the first one's has this number.
    WarpgroupFrom(u32),
    /// These lanes of each warp that comes here.
    Lanes(u32),
}

/// How many registers each thread has from here on: of what others gave back, or giving some back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registers {
    pub per_thread: u32,
    pub more: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FenceScope {
    Block,
    Device,
    /// This thread's accesses of shared memory come before those of the async proxy that follow.
    AsyncProxy,
    /// Of device memory, too.
    AsyncProxyEverywhere,
    /// This thread's mbarriers are ready for the copy engine.
    MbarrierInit,
}

/// Linear thread ids of one block, as sorted disjoint half-open ranges.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ThreadSet {
    pub ranges: Vec<(u32, u32)>,
}

impl ThreadSet {
    /// All of a block of so many.
    pub fn first(threads: u32) -> Self {
        Self {
            ranges: vec![(0, threads)],
        }
    }

    pub fn contains(&self, tid: u32) -> bool {
        self.ranges.iter().any(|(a, b)| (*a..*b).contains(&tid))
    }

    pub fn lowest(&self) -> Option<u32> {
        self.ranges.first().map(|r| r.0)
    }

    pub fn threads(&self) -> impl Iterator<Item = u32> {
        self.ranges.iter().flat_map(|(a, b)| *a..*b)
    }

    pub fn intersect(&self, other: &ThreadSet) -> ThreadSet {
        let mut set = ThreadSet::default();
        for tid in self.threads().filter(|tid| other.contains(*tid)) {
            set.push(tid);
        }
        set
    }

    pub fn union(&self, other: &ThreadSet) -> ThreadSet {
        let mut all: Vec<u32> = self.threads().chain(other.threads()).collect();
        all.sort_unstable();
        all.dedup();
        let mut set = ThreadSet::default();
        all.into_iter().for_each(|tid| set.push(tid));
        set
    }

    /// Adds a thread above all that are in it.
    pub fn push(&mut self, tid: u32) {
        match self.ranges.last_mut() {
            Some((_, end)) if *end == tid => *end += 1,
            _ => self.ranges.push((tid, tid + 1)),
        }
    }

    pub fn meets(&self, other: &ThreadSet) -> bool {
        self.ranges
            .iter()
            .any(|(lo, hi)| other.ranges.iter().any(|(l, h)| lo < h && l < hi))
    }

    /// All of them are in one aligned unit of so many threads.
    pub fn is_in_one(&self, unit: u32) -> bool {
        match (self.ranges.first(), self.ranges.last()) {
            (Some((lo, _)), Some((_, hi))) => lo / unit == (hi - 1) / unit,
            _ => true,
        }
    }

    /// Whole aligned units of so many threads.
    pub fn is_whole(&self, unit: u32) -> bool {
        self.ranges
            .iter()
            .all(|(lo, hi)| lo % unit == 0 && hi % unit == 0)
    }
    pub fn len(&self) -> u32 {
        self.ranges.iter().map(|(a, b)| b - a).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }
}

/// Locals that statements declare, those inside of others included.
pub fn declared_locals<P: Phase>(stmts: &[Stmt<P>], out: &mut BTreeSet<LocalId>) {
    for stmt in stmts {
        if let StmtKind::Let { local, .. } | StmtKind::For { local, .. } = &stmt.kind {
            out.insert(*local);
        }
        stmt.kind
            .blocks()
            .for_each(|block| declared_locals(block, out));
    }
}

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
