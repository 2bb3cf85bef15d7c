//! The kernel IR: what a `.co` file means, with no spelling left of how it was written and no CUDA
//! in it yet. `sema` produces it, `passes` rewrite it, `emit` prints it.
//!
//! The ideas to hold on to:
//!
//! * **Integers are symbolic.** Every extent, stride, offset, bound and index is a [`Sym`] over
//!   [`Var`]s; [`Function::var_home`] says where each variable lives at run time (a dimension, a
//!   parameter, a local). Whatever the prover can't express is first bound to a local by a
//!   [`StmtKind::Let`], and the local's variable stands for it.
//! * **Tile operators are gone.** `chunkat`, `subspan`, `view.from`, `span_as`, array subscripts and
//!   futures have all folded into one [`View`].
//! * **Levels are explicit.** A kernel's body runs at block level: every thread of the block runs
//!   every statement. [`StmtKind::Parallel`] marks the part that runs at a finer level; its index
//!   variables are ordinary locals, computed by `Let`s at its start. [`StmtKind::SingleThread`] holds what
//!   only one thread of the current unit may do.
//! * **Barriers are not in the source.** `passes` inserts them.
//!
//! Tensor cores, asynchronous copies and events extend this without changing it: a copy gets an
//! engine and a completion token, an event is a buffer of `mbarrier` slots with wait and trigger
//! statements, a [`StmtKind::Region`] already carries its static thread set, and a fragment is a
//! buffer distributed over a unit.

use std::collections::BTreeMap;

use crate::source::Span;
use crate::symbolic::{Ctx, Sym, Var};

mod atomic;
pub mod build;
pub mod cpp_names;
mod events;
mod expr;
pub mod fmt;
mod intrinsic;
mod math;
mod mma;
mod phase;
mod queries;
mod retain;
mod scalar;
mod stmt;
mod tma;
pub mod verify;
mod view;

mod visit;
mod warpgroup;

pub use atomic::{Atomic, AtomicOp};
pub use events::*;
pub use expr::*;
pub use intrinsic::{Intrinsic, IntrinsicInfo};
pub use math::MathFn;
pub use mma::*;
pub use phase::{Never, Phase, Threads, Tiles};
pub use retain::retain_stmts;
pub use scalar::{Class, Scalar, ScalarInfo};
pub use stmt::*;
pub use tma::*;
pub use view::*;

pub use queries::{
    Visit, any_expr, any_in, any_stmt, change_exprs, change_views, walk_block, walk_exprs,
};
pub use visit::{Flow, ON, Visitor, VisitorMut, walk, walk_mut};
pub use warpgroup::{Described, Instruction, Operand, Product, Source, Step, Tile};

macro_rules! id {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub struct $name(pub u32);
        impl $name {
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

id! {
    /// A parameter of the function, by position.
    ParamId,
    /// A symbolic dimension, in order of first occurrence.
    DimId,
    BufferId,
    /// A scalar variable, on the host or in a kernel.
    LocalId,
    KernelId,
    /// A row of [`Function::checks`].
    CheckId,
    /// An asynchronous copy's name.
    FutureId,
    EventId,
    /// An event of the host.
    SignalId,
}

/// One `__co__` function.
#[derive(Clone, Debug)]
pub struct Function<P: Phase = Tiles> {
    pub name: String,
    pub span: Span,
    /// Variables with their bounds, and the prover.
    pub cx: Ctx,
    /// Where each symbolic variable lives at run time.
    pub var_home: BTreeMap<Var, VarHome>,
    pub params: Vec<Param>,
    pub dims: Vec<Dim>,
    pub ret: Return,
    pub buffers: Vec<Buffer>,
    pub locals: Vec<Local>,
    pub kernels: Vec<Kernel<P>>,
    /// Host statements in order; kernels appear as [`StmtKind::Launch`].
    pub body: Vec<Stmt<P>>,
    pub checks: Vec<CheckInfo>,
    pub futures: Vec<Future>,
    pub events: Vec<Event>,
    pub signals: Vec<Signal>,
    /// What is special about the buffers that are fragments.
    pub fragments: BTreeMap<BufferId, Fragment>,
    /// Checks in kernels record what fails and go on ([`crate::Checks::Report`]): no access may move out
    /// of the guard around it.
    pub reports: bool,
}

impl<P: Phase> Function<P> {
    pub fn buffer(&self, id: BufferId) -> &Buffer {
        &self.buffers[id.index()]
    }

    /// Whether it is device memory.
    pub fn buffer_is_global(&self, id: BufferId) -> bool {
        let buffer = self.buffers.get(id.index());
        buffer.is_some_and(|b| b.storage.is_global())
    }

    pub fn local(&self, id: LocalId) -> &Local {
        &self.locals[id.index()]
    }

    pub fn param(&self, id: ParamId) -> &Param {
        &self.params[id.index()]
    }

    pub fn event(&self, id: EventId) -> &Event {
        &self.events[id.index()]
    }

    pub fn signal(&self, id: SignalId) -> &Signal {
        &self.signals[id.index()]
    }

    pub fn kernel(&self, id: KernelId) -> &Kernel<P> {
        &self.kernels[id.index()]
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VarHome {
    Dim(DimId),
    /// An integer scalar parameter.
    Param(ParamId),
    Local(LocalId),
}

/// A symbolic dimension: `M`, or an anonymous one (named `param_axis`, such as `src_0`).
#[derive(Clone, Debug)]
pub struct Dim {
    pub name: String,
    pub var: Var,
    pub anonymous: bool,
    /// The parameter and axis that declare it: where its run-time value is read.
    pub param: ParamId,
    pub axis: usize,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Param {
    /// Unnamed parameters get `arg<position>`.
    pub name: String,
    pub named: bool,
    pub span: Span,
    pub kind: ParamKind,
}

#[derive(Clone, Debug)]
pub enum ParamKind {
    /// `var` is set for integer parameters, which the prover knows.
    Scalar {
        ty: Scalar,
        var: Option<Var>,
    },
    Stream,
    Tensor(TensorParam),
}

#[derive(Clone, Debug)]
pub struct TensorParam {
    pub passing: Passing,
    pub elem: Scalar,
    pub extents: Vec<Extent>,
    pub buffer: BufferId,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passing {
    /// `T [..] x`: copied in.
    In,
    /// `T [..] & x`: copied in, and back at the end.
    InOut,
    /// `global T [..] x`: the caller's device memory, in place.
    Global,
}

/// One axis of a tensor parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Extent {
    Static(u64),
    /// `declares` at the first occurrence of the name (or an anonymous dimension).
    Dim {
        dim: DimId,
        declares: bool,
    },
    /// `??`
    Unbounded,
}

#[derive(Clone, Debug)]
pub enum Return {
    Void,
    Scalar(Scalar),
    Tensor { elem: Scalar, shape: Vec<Sym> },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// A tensor parameter's device memory.
    Param(ParamId),
    /// Declared on the host: one device allocation per call.
    Host,
    Shared,
    /// In shared memory: an array of mbarriers, which count what arrives.
    Mbarriers,
    Local,
    /// In the registers of a warp.
    Fragment,
}

impl Storage {
    /// Every thread has its own, or its own part: others never see it.
    pub fn is_private(self) -> bool {
        matches!(self, Storage::Local | Storage::Fragment)
    }

    pub fn is_global(self) -> bool {
        matches!(self, Storage::Param(_) | Storage::Host)
    }
}

/// A name for asynchronous copies.
#[derive(Clone, Debug)]
pub struct Future {
    pub name: String,
    pub span: Span,
    /// Elements of its tile, when it is exchanged with others: their tiles lie side by side.
    pub tile: Option<Sym>,
}

/// Memory with a name. Dense; views give it strides.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// As written; anonymous copy destinations take the future's name.
    pub name: String,
    pub elem: Scalar,
    pub storage: Storage,
    pub shape: Vec<Sym>,
    /// Elements in all, arrays and per-instance slices included.
    pub count: Sym,
    pub span: Span,
    /// What kernels do to it; text that sema can't see into counts as both.
    pub read: bool,
    pub written: bool,
    /// Only of shared memory. Views don't know of it: they count elements row by row. Accesses do so
    /// until copies are expanded, and by groups then.
    pub swizzle: Option<Swizzle>,
}

/// Where the elements of a shared buffer are in memory: the layout of TMA and of tensor cores, from
/// a multiple of 1024 bytes on. Each `rows` rows of `columns` elements are stored as groups of `bytes`
/// bytes of all rows, one group after the other, and within 128 bytes units of 16 trade places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Swizzle {
    /// 32, 64 or 128.
    pub bytes: u32,
    pub columns: Sym,
    pub rows: Sym,
}

impl Buffer {
    /// The swizzle, if rows are wider than its groups.
    pub fn grouped(&self) -> Option<&Swizzle> {
        self.swizzle.as_ref().filter(|s| s.is_grouped(self.elem))
    }

    /// Where the element that is number `at` row by row is by groups, before units trade places. What
    /// it is without a swizzle or with rows of one group.
    pub fn by_groups(&self, cx: &Ctx, at: &Sym) -> Sym {
        let Some(swizzle) = self.grouped() else {
            return at.clone();
        };
        let Swizzle { columns, rows, .. } = swizzle;
        let width = Sym::int(swizzle.group(self.elem));
        let size = rows * columns;
        // Whole tiles, if the rest is certainly within one: no division has to find them.
        let whole = size.as_int().filter(|n| *n > 0);
        let whole = whole.map_or_else(Sym::zero, |size| {
            let whole = at.part(|coef, _| coef % size == 0);
            let rest = at - &whole;
            let within =
                cx.le(&Sym::zero(), &rest).is_yes() && cx.lt(&rest, &Sym::int(size)).is_yes();
            if within { whole } else { Sym::zero() }
        });
        let at = at - &whole;
        let (row, column) = (cx.div(&at, columns), cx.rem(&at, columns));
        let (tile, row) = if self.count == size || !whole.is_zero() {
            (Sym::zero(), row)
        } else {
            (cx.div(&row, rows), cx.rem(&row, rows))
        };
        let (group, within) = (cx.div(&column, &width), cx.rem(&column, &width));
        let steps = [
            whole,
            &(&tile * rows) * columns,
            &(&group * rows) * &width,
            &row * &width,
            within,
        ];
        steps.into_iter().sum()
    }
}

impl Swizzle {
    /// Elements of one row of a group.
    pub fn group(&self, elem: Scalar) -> i64 {
        i64::from(self.bytes) / i64::try_from(elem.bytes()).unwrap_or(1).max(1)
    }

    /// Where boxes may begin, in bytes: where the pattern does.
    pub fn alignment(&self) -> i64 {
        if self.bytes == 128 { 1024 } else { 128 }
    }

    /// A row is wider than a group, so that neighbouring rows are not neighbours in memory.
    pub fn is_grouped(&self, elem: Scalar) -> bool {
        self.columns.as_int() != Some(self.group(elem)) && !self.rows.is_one()
    }

    /// Elements after which the pattern repeats.
    pub fn period(&self, elem: Scalar) -> i64 {
        8 * self.group(elem)
    }
}

#[derive(Clone, Debug)]
pub struct Local {
    pub name: String,
    pub ty: Scalar,
    pub mutable: bool,
    /// The symbolic variable that stands for this local's value, when it is an immutable integer.
    pub var: Option<Var>,
    pub role: Role,
    pub span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// An ordinary scalar.
    Value,
    /// A `foreach` variable.
    Loop,
    /// An index of a `parallel` at this level.
    Parallel(Level),
}

/// Levels below the grid, outer to inner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Blocks that are resident together. No statement runs here: a kernel's body is a block's.
    Cluster,
    Block,
    /// A warpgroup: 128 threads.
    Warpgroup,
    /// A warp: 32 threads.
    Warp,
    Thread,
}

impl Level {
    /// Threads of a unit, where the level fixes them.
    pub const fn threads(self) -> Option<u32> {
        match self {
            Level::Cluster | Level::Block => None,
            Level::Warpgroup => Some(WARPGROUP_THREADS),
            Level::Warp => Some(WARP_THREADS),
            Level::Thread => Some(1),
        }
    }
}

/// Of a warp.
pub const WARP_THREADS: u32 = 32;
/// Of a warpgroup.
pub const WARPGROUP_THREADS: u32 = 128;

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
    /// What it leaves depends on the order in which its blocks come by.
    pub ordered: bool,
    /// Device memory that it writes and of which two instances may touch an element.
    pub tracked: Vec<BufferId>,
    /// That it writes and whose address text has that the compiler can't see into.
    pub escaping: Vec<BufferId>,
    /// Filled when copies are expanded: bytes may land after the statement that moves them.
    pub asynchronous: bool,
    /// Filled with it: warpgroups multiply.
    pub warpgroups: bool,
    /// Shared memory, local arrays and fragments of which a thread may read an element that nothing has
    /// written; and those of them that a declaration in a loop begins anew.
    pub unwritten: std::collections::BTreeSet<BufferId>,
    pub anew: std::collections::BTreeSet<BufferId>,
    /// What the copy engine is told of device memory; filled when copies of boxes are expanded.
    pub maps: Vec<TensorMap>,
}

impl<P: Phase> Kernel<P> {
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

/// A run-time check: what the wrapper says when it fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckInfo {
    /// `R01` … of the catalogue.
    pub code: &'static str,
    /// With `{0}`, `{1}` for the values.
    pub message: String,
    pub span: Span,
}

impl CheckInfo {
    /// Whether its failure ends a launch even with `Checks::Report`: what comes after it was proved of the integer
    /// that fits, not of what is left of one that does not.
    pub fn ends_launch(&self) -> bool {
        matches!(self.code, "R10" | "R19")
    }
}

/// The IR as `emit` prints it.
pub mod threads {
    use super::Threads;

    pub type Function = super::Function<Threads>;
    pub type Kernel = super::Kernel<Threads>;
    pub type Stmt = super::Stmt<Threads>;
    pub type StmtKind = super::StmtKind<Threads>;
    pub type MmaOp = super::MmaOp<Threads>;
}
