//! Statements, on the host and in kernels.

use super::{Access, BinOp, BufferId, CheckId, Expr, KernelId, Level, LocalId, View};
use crate::source::Span;
use crate::symbolic::Sym;

#[derive(Clone, Debug)]
pub struct Stmt {
    pub kind: StmtKind,
    pub span: Span,
}

impl Stmt {
    pub fn new(kind: StmtKind, span: Span) -> Self {
        Self { kind, span }
    }
}

#[derive(Clone, Debug)]
pub enum StmtKind {
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
    /// `for (local = lo; local < hi; local += step)`
    For {
        local: LocalId,
        lo: Sym,
        hi: Sym,
        step: Sym,
        unroll: Option<Unroll>,
        body: Vec<Stmt>,
    },
    /// Each turn runs `prelude`, then leaves when `cond` is false.
    While {
        prelude: Vec<Stmt>,
        cond: Expr,
        body: Vec<Stmt>,
    },
    If {
        cond: Expr,
        then: Vec<Stmt>,
        otherwise: Vec<Stmt>,
    },
    Break,
    Continue,
    /// Leaves the kernel for this thread.
    Yield,
    /// The body runs at `level`: its statements belong to each unit of that level on its own.
    Parallel {
        level: Level,
        body: Vec<Stmt>,
    },
    /// Only one thread of the enclosing unit, which is at `level`, runs the body.
    Once {
        level: Level,
        body: Vec<Stmt>,
    },
    /// `inthreads`: only the threads that satisfy `pred`. `set` is that set over the block's linear
    /// thread ids, when static.
    Region {
        pred: Expr,
        set: Option<ThreadSet>,
        is_async: bool,
        outermost: bool,
        body: Vec<Stmt>,
    },
    Copy(Copy),
    /// Sets every element of a view, by the threads of a unit of `level` together.
    Fill {
        view: View,
        value: Expr,
        level: Level,
    },
    Barrier {
        scope: BarrierScope,
        why: BarrierReason,
    },
    Fence(FenceScope),
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
    // Host only.
    /// Allocates a host-declared buffer, cleared to zero.
    Alloc(BufferId),
    Launch(KernelId),
    /// Waits for the device.
    Synchronize,
    Return(ReturnValue),
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
    /// The end of a plain `inthreads`.
    RegionEnd,
    /// Text that the compiler can't see into.
    Opaque,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarrierScope {
    Block,
    /// The enclosing warpgroup, by a named barrier.
    Group4,
    /// The enclosing warp.
    Group,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FenceScope {
    Block,
    Device,
}

/// Linear thread ids of one block, as sorted disjoint half-open ranges.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ThreadSet {
    pub ranges: Vec<(u32, u32)>,
}

impl ThreadSet {
    pub fn len(&self) -> u32 {
        self.ranges.iter().map(|(a, b)| b - a).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
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
