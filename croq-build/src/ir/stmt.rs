//! Statements, on the host and in kernels.

use super::{
    Access, Atom, Atomic, BarrierReason, BarrierScope, BinOp, BufferId, CheckId, Columns, Copy,
    EventAt, Expr, FenceScope, FutureId, KernelId, Level, LocalId, Move, Part, Phase, Registers,
    Selected, SignalAt, Step, ThreadSet, Tiles, TmaOp, View, Waited, WarpgroupMma,
};
use crate::sorted::SortedSet;
use crate::source::Span;
use crate::symbolic::Sym;

#[derive(Clone, Debug)]
pub struct Stmt<P: Phase = Tiles> {
    pub kind: StmtKind<P>,
    pub span: Span,
}

impl<P: Phase> Stmt<P> {
    /// Whether a `break` or `continue` in it may end an iteration of the enclosing loop.
    pub fn leaves_iteration(&self) -> bool {
        match &self.kind {
            StmtKind::Break | StmtKind::Continue => true,
            StmtKind::For { .. } | StmtKind::While { .. } => false,
            kind => kind.blocks().flatten().any(Self::leaves_iteration),
        }
    }

    pub fn new(kind: StmtKind<P>, span: Span) -> Self {
        Self { kind, span }
    }
}

/// Two numbers of type `f32`, which one instruction converts to the type of the buffer.
#[derive(Clone, Debug)]
pub struct StorePair {
    /// The first of two consecutive elements of memory of the thread.
    pub access: Access,
    pub values: [Expr; 2],
}

/// Statements with a [`Phase::Only`] exist until lowering passes have removed them.
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
    /// Only the pass `pair-conversions` creates it.
    StorePair(Box<StorePair>),
    /// `for (local = lo; local < hi; local += step)`
    For {
        local: LocalId,
        lo: Sym,
        hi: Sym,
        step: Sym,
        unroll: Option<Unroll>,
        body: Vec<Stmt<P>>,
    },
    /// Each iteration runs `prelude`, then ends the loop if `cond` is false, then runs the body.
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
    /// Ends the kernel for this thread.
    Yield,
    /// The body runs at `level`: each unit of that level executes its statements.
    Parallel {
        level: Level,
        body: Vec<Stmt<P>>,
    },
    /// Only one thread of the enclosing unit, which has the level `level`, runs the body.
    SingleThread {
        level: P::Only<Level>,
        /// The condition for this thread, after `single-threads` has chosen it.
        cond: Option<Expr>,
        body: Vec<Stmt<P>>,
    },
    /// `inthreads`: only the threads that satisfy `pred`. `set` contains these threads, by linear
    /// id in the block, if they are known statically.
    Region {
        pred: Expr,
        set: Option<ThreadSet>,
        /// Set where a single thread was elected to run the body: the original condition, and the
        /// threads that satisfy it.
        elected_from: Option<(Expr, ThreadSet)>,
        is_async: bool,
        outermost: bool,
        body: Vec<Stmt<P>>,
    },
    Copy(P::Only<Copy>),
    /// Waits until the copies of these futures are complete, as far as this thread's share is
    /// concerned.
    Wait {
        futures: P::Only<Vec<Waited>>,
        /// The number of this thread's most recent groups that may still be in flight. `None`:
        /// there is nothing to wait for.
        pending: Option<u32>,
    },
    /// Waits until the TMA copies of these futures are complete, in any order.
    WaitTma {
        futures: P::Only<Vec<Waited>>,
    },
    /// An operation that a TMA copy is lowered to.
    Tma(TmaOp),
    /// This thread waits for the first generation of the event that it has not waited for yet.
    WaitEvent(P::Only<EventAt>),
    /// An arrival by every thread that executes the statement.
    Trigger(P::Only<EventAt>),
    /// This thread waits until the number of triggers by the host exceeds the number of waits in
    /// earlier launches by `ordinal + 1`.
    AwaitSignal {
        signal: SignalAt,
        ordinal: u32,
    },
    /// Each future takes the value of the next, and the last takes that of the first. Assignments
    /// around the statement move the handles with the locations of the data; this statement is for
    /// passes that count copies in flight.
    Rotate {
        futures: P::Only<Vec<FutureId>>,
    },
    /// The next statement reads the future's data.
    UseFuture(P::Only<FutureId>),
    /// An operation on fragments, executed by the threads of a warp together.
    Mma(Box<MmaOp<P>>),
    /// A move of a few adjacent elements by one thread.
    Move(Move),
    /// The asynchronous moves since the last commit become a group.
    CommitCopies,
    /// Waits for all groups of this thread except the `pending` most recent ones.
    WaitCopies {
        pending: u32,
    },
    /// Sets every element of a view; the threads of a unit of `level` share the work.
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
    /// Changes the register allocation (`setmaxnreg`), executed by whole warpgroups.
    Registers(Registers),
    /// Fails if `cond` is false: on the host before any other effect, on the device by stopping the
    /// kernel. The message shows `values`.
    Check {
        check: CheckId,
        cond: Expr,
        values: Vec<Expr>,
    },
    Print {
        newline: bool,
        parts: Vec<PrintPart>,
    },
    /// An expression that is evaluated for its effect: a call.
    Eval(Expr),
    /// `__cpp__`: text that is spliced unchanged. `names` has the names that the text may mention,
    /// innermost last.
    Cpp {
        text: String,
        names: Vec<CppName>,
        /// Whether GPUs before sm_90 cannot execute it.
        from_sm_90: bool,
    },
    /// On the host: allocates a buffer, cleared to zero. In a kernel: the declaration of a shared
    /// buffer, whose previous contents are lost; the shared-memory plan uses this statement and
    /// removes it.
    Alloc(BufferId),
    // Host only.
    Launch(KernelId),
    TriggerSignal(SignalAt),
    /// The host's copy of the buffer, which its loads and stores of elements access, is up to date:
    /// waits for the launches so far.
    Fetch(BufferId),
    /// Each buffer takes the memory of the next, and the last takes that of the first.
    Exchange(Vec<BufferId>),
    /// Waits for the device.
    Synchronize,
    /// One value for each result of the function.
    Return(Vec<ReturnValue>),
}

impl<P: Phase> StmtKind<P> {
    /// The lists of statements directly inside the statement.
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
    Scalar(Expr),
    /// A parameter is returned as a copy of its memory.
    Buffer(BufferId),
}

#[derive(Clone, Debug)]
pub enum PrintPart {
    Text(String),
    Value(Expr),
}

/// The locals that the statements declare, nested ones included.
pub fn declared_locals<P: Phase>(stmts: &[Stmt<P>], out: &mut SortedSet<LocalId>) {
    for stmt in stmts {
        if let StmtKind::Let { local, .. } | StmtKind::For { local, .. } = &stmt.kind {
            out.insert(*local);
        }
        stmt.kind
            .blocks()
            .for_each(|block| declared_locals(block, out));
    }
}

/// Operations on fragments.
#[derive(Clone, Debug)]
pub enum MmaOp<P: Phase = Tiles> {
    /// Sets each element to the value, or adds the value to it.
    FillElements {
        part: P::Only<Part>,
        add: bool,
        value: Expr,
    },
    Load {
        into: P::Only<Part>,
        source: View,
    },
    /// `acc += a b`, by instructions of one shape.
    Multiply {
        acc: P::Only<Part>,
        a: Part,
        b: Part,
        /// For a sparse A.
        metadata: Option<Part>,
        atom: Atom,
    },
    /// The same by a warpgroup, possibly with operands in shared memory.
    WarpgroupMma(P::Only<Box<WarpgroupMma>>),
    /// Waits for all MMAs of the unit so far: `mma.commit`.
    CommitAll(P::Only<()>),
    /// Waits for the MMA with this number, and for all before it.
    WaitMma(P::Only<u32>),
    /// Stores the fragment, or some of its columns; memory outside the valid part of the view is not
    /// changed.
    Store {
        from: P::Only<Part>,
        columns: Option<Columns>,
        dest: View,
        transposed: bool,
    },
    /// Runs the body once for each element, in the thread that has it; `indices` are the element's
    /// row and column.
    Apply {
        part: P::Only<Part>,
        indices: Vec<LocalId>,
        body: Vec<Stmt<P>>,
    },
    /// The maximum or the sum of each row.
    Reduce {
        into: P::Only<Part>,
        from: Part,
        largest: bool,
    },
    /// Replaces each row's value by the sum over the threads that share the row.
    AllReduce {
        part: P::Only<Part>,
    },
    /// Converts each element.
    Convert {
        into: P::Only<Part>,
        from: Part,
    },
    /// One MMA instruction, which the passes create. Each access is the first element.
    Instruction {
        atom: Atom,
        /// The accumulator, A and B.
        parts: Box<[Access; 3]>,
        metadata: Option<Box<Selected>>,
    },
    /// Moves up to four matrices of 8 rows of 16 bytes between a fragment and shared memory; each
    /// lane provides the address of one row.
    Matrices {
        count: u32,
        transposed: bool,
        registers: Box<Access>,
        memory: Box<Access>,
        /// Whether it stores the fragment to memory.
        stored: bool,
    },
    /// A step of warpgroup MMAs.
    Step(Step),
}

impl<P: Phase> MmaOp<P> {
    pub fn body(&self) -> Option<&Vec<Stmt<P>>> {
        match self {
            MmaOp::Apply { body, .. } => Some(body),
            _ => None,
        }
    }

    pub fn body_mut(&mut self) -> Option<&mut Vec<Stmt<P>>> {
        match self {
            MmaOp::Apply { body, .. } => Some(body),
            _ => None,
        }
    }

    /// The memory that the threads of the unit read or write together, each view with whether it is
    /// written.
    pub fn views(&self) -> Vec<(&View, bool)> {
        match self {
            MmaOp::Load { source, .. } => vec![(source, false)],
            MmaOp::Store { dest, .. } => vec![(dest, true)],
            MmaOp::WarpgroupMma(mma) => P::only(mma).tiles().map(|t| (&t.view, false)).collect(),
            _ => Vec::new(),
        }
    }

    pub fn views_mut(&mut self) -> Vec<&mut View> {
        match self {
            MmaOp::Load { source, .. } => vec![source],
            MmaOp::Store { dest, .. } => vec![dest],
            MmaOp::WarpgroupMma(mma) => P::only_mut(mma).tiles_mut().map(|t| &mut t.view).collect(),
            _ => Vec::new(),
        }
    }

    /// The accesses of one instruction, each with whether it is a write.
    pub fn accesses(&self) -> Vec<(&Access, bool)> {
        match self {
            MmaOp::Instruction {
                parts, metadata, ..
            } => {
                let [acc, a, b] = &**parts;
                let metadata = metadata.iter().map(|m| (&m.register, false));
                let parts = [(acc, true), (a, false), (b, false)];
                parts.into_iter().chain(metadata).collect()
            }
            MmaOp::Matrices {
                registers,
                memory,
                stored,
                ..
            } => vec![(registers, !stored), (memory, *stored)],
            MmaOp::Step(Step::Describe { of, .. }) => vec![(of, false)],
            MmaOp::Step(Step::Instruction(i)) => {
                let read = i.registers_read().map(|access| (access, false));
                std::iter::once((&i.acc, true)).chain(read).collect()
            }
            _ => Vec::new(),
        }
    }

    pub fn accesses_mut(&mut self) -> Vec<&mut Access> {
        match self {
            MmaOp::Instruction {
                parts, metadata, ..
            } => {
                let metadata = metadata.iter_mut().map(|m| &mut m.register);
                parts.iter_mut().chain(metadata).collect()
            }
            MmaOp::Matrices {
                registers, memory, ..
            } => vec![registers, memory],
            MmaOp::Step(Step::Describe { of, .. }) => vec![of],
            MmaOp::Step(Step::Instruction(i)) => i.registers_mut().collect(),
            _ => Vec::new(),
        }
    }

    pub fn parts(&self) -> Vec<&Part> {
        match self {
            MmaOp::FillElements { part, .. }
            | MmaOp::Apply { part, .. }
            | MmaOp::AllReduce { part } => {
                vec![P::only(part)]
            }
            MmaOp::Load { into, .. } => vec![P::only(into)],
            MmaOp::Store { from, .. } => vec![P::only(from)],
            MmaOp::Multiply {
                acc,
                a,
                b,
                metadata,
                ..
            } => [P::only(acc), a, b].into_iter().chain(metadata).collect(),
            MmaOp::Reduce { into, from, .. } | MmaOp::Convert { into, from } => {
                vec![P::only(into), from]
            }
            MmaOp::WarpgroupMma(mma) => P::only(mma).parts(),
            MmaOp::CommitAll(_)
            | MmaOp::WaitMma(_)
            | MmaOp::Instruction { .. }
            | MmaOp::Matrices { .. }
            | MmaOp::Step(_) => Vec::new(),
        }
    }
}
