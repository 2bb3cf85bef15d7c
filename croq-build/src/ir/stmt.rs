//! Statements, on the host and in kernels.

use std::collections::BTreeSet;

use super::{
    Access, Atom, Atomic, BarrierReason, BarrierScope, BinOp, BufferId, CheckId, Copy, EventAt,
    Expr, FenceScope, FutureId, KernelId, Level, LocalId, Move, Part, Phase, Registers, SignalId,
    Source, Step, ThreadSet, Tiles, TmaOp, View, Waited, WarpgroupMma,
};
use crate::source::Span;
use crate::symbolic::Sym;

#[derive(Clone, Debug)]
pub struct Stmt<P: Phase = Tiles> {
    pub kind: StmtKind<P>,
    pub span: Span,
}

impl<P: Phase> Stmt<P> {
    /// Whether a `break` or `continue` in it may end an iteration of the loop around.
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
    /// Each iteration runs `prelude`, then leaves when `cond` is false.
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
        /// Of the groups that this thread has begun, so many of the youngest may still be in flight.
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
    /// This thread waits until the host has triggered as often as launches before this one have waited, and `ordinal`
    /// times more, and once.
    AwaitSignal {
        signal: SignalId,
        ordinal: u32,
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

/// What is done with fragments.
#[derive(Clone, Debug)]
pub enum MmaOp<P: Phase = Tiles> {
    /// Each element becomes the value, or gets it added.
    FillElements {
        part: P::Only<Part>,
        add: bool,
        value: Expr,
    },
    Load {
        into: P::Only<Part>,
        source: View,
    },
    /// `sums += a b`, by instructions of one shape.
    Multiply {
        acc: P::Only<Part>,
        a: Part,
        b: Part,
        atom: Atom,
    },
    /// The same by a warpgroup, perhaps with operands in memory.
    WarpgroupMma(P::Only<Box<WarpgroupMma>>),
    /// All products of the unit so far are over: `mma.commit`.
    CommitAll(P::Only<()>),
    /// This one is over, and all before it.
    WaitMma(P::Only<u32>),
    /// What lies outside of the valid part of the view stays.
    Store {
        from: P::Only<Part>,
        dest: View,
        transposed: bool,
    },
    /// The body, once for each element, by who has it; `indices` are its row and column.
    Apply {
        part: P::Only<Part>,
        indices: Vec<LocalId>,
        body: Vec<Stmt<P>>,
    },
    /// The largest of each row, or its sum.
    Reduce {
        into: P::Only<Part>,
        from: Part,
        largest: bool,
    },
    /// Each row's value becomes the sum of what its owners had.
    AllReduce {
        part: P::Only<Part>,
    },
    /// Element by element, converted.
    Convert {
        into: P::Only<Part>,
        from: Part,
    },
    /// What the passes make of it: one instruction. Each access is of the first element.
    Instruction {
        atom: Atom,
        /// Sums, A and B.
        parts: Box<[Access; 3]>,
    },
    /// Up to four matrices of 8 rows of 16 bytes between a fragment and shared memory; each lane names a
    /// row.
    Matrices {
        count: u32,
        transposed: bool,
        registers: Box<Access>,
        memory: Box<Access>,
        /// From the fragment.
        stored: bool,
    },
    /// A step of a warpgroup's products.
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

    /// Memory that the threads of the unit read or write together, each with whether they write.
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

    /// What one instruction reaches, each with whether it writes.
    pub fn accesses(&self) -> Vec<(&Access, bool)> {
        match self {
            MmaOp::Instruction { parts, .. } => {
                let [acc, a, b] = &**parts;
                vec![(acc, true), (a, false), (b, false)]
            }
            MmaOp::Matrices {
                registers,
                memory,
                stored,
                ..
            } => vec![(registers, !stored), (memory, *stored)],
            MmaOp::Step(Step::Describe { of, .. }) => vec![(of, false)],
            MmaOp::Step(Step::Instruction(i)) => match &i.a {
                Source::Registers(a) => vec![(&i.acc, true), (a, false)],
                Source::Memory(_) => vec![(&i.acc, true)],
            },
            _ => Vec::new(),
        }
    }

    pub fn accesses_mut(&mut self) -> Vec<&mut Access> {
        match self {
            MmaOp::Instruction { parts, .. } => parts.iter_mut().collect(),
            MmaOp::Matrices {
                registers, memory, ..
            } => vec![registers, memory],
            MmaOp::Step(Step::Describe { of, .. }) => vec![of],
            MmaOp::Step(Step::Instruction(i)) => match &mut i.a {
                Source::Registers(a) => vec![&mut i.acc, a],
                Source::Memory(_) => vec![&mut i.acc],
            },
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
            MmaOp::Multiply { acc, a, b, .. } => vec![P::only(acc), a, b],
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
