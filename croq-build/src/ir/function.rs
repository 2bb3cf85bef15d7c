//! A function and its declarations.

use super::{
    Buffer, BufferId, CheckCode, CheckId, Dim, DimId, Event, EventId, Facts, Fragment, Kernel,
    KernelId, Level, LocalId, Param, ParamId, Phase, ResultType, Scalar, Signal, SignalId, Stmt,
    Tiles,
};
use crate::sorted::SortedMap;
use crate::source::Span;
use crate::symbolic::{Ctx, Sym, Var};

/// One `__co__` function.
#[derive(Clone, Debug)]
pub struct Function<P: Phase = Tiles> {
    pub name: String,
    pub span: Span,
    /// Variables with their bounds, and the prover.
    pub cx: Ctx,
    /// The run-time location of each symbolic variable.
    pub var_home: SortedMap<Var, VarHome>,
    pub params: Vec<Param>,
    pub dims: Vec<Dim>,
    /// None for `void`, several for a braced list.
    pub results: Vec<ResultType>,
    pub buffers: Vec<Buffer>,
    pub locals: Vec<Local>,
    pub kernels: Vec<Kernel<P>>,
    /// Host statements in order; a kernel is a [`StmtKind::Launch`].
    pub body: Vec<Stmt<P>>,
    pub checks: Vec<CheckInfo>,
    pub futures: Vec<Future>,
    pub events: Vec<Event>,
    pub signals: Vec<Signal>,
    /// The properties of the buffers that are fragments.
    pub fragments: SortedMap<BufferId, Fragment>,
    /// Whether a failed check in a kernel is recorded and execution continues
    /// ([`crate::Checks::Report`]): then no access may move out of the guard around it.
    pub reports: bool,
    pub facts: Facts,
}

impl<P: Phase> Function<P> {
    /// Whether the buffer is in device memory.
    pub fn buffer_is_global(&self, id: BufferId) -> bool {
        let buffer = self.buffers.get(id.index());
        buffer.is_some_and(|b| b.storage.is_global())
    }
}

#[expect(
    clippy::indexing_slicing,
    reason = "an id is an index into a list of its own function: the verifier checks that after each pass"
)]
impl<P: Phase> Function<P> {
    pub fn add_buffer(&mut self, buffer: Buffer) -> BufferId {
        let id = BufferId(u32::try_from(self.buffers.len()).unwrap_or(u32::MAX));
        self.buffers.push(buffer);
        id
    }

    pub fn buffer(&self, id: BufferId) -> &Buffer {
        &self.buffers[id.index()]
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

    /// Whether a thread of a kernel whose check fails executes nothing behind it. A check that is not
    /// in the table yet is one of an integer that does not fit.
    pub fn stops(&self, check: CheckId) -> bool {
        let info = self.checks.get(check.index());
        !self.reports || info.is_none_or(CheckInfo::ends_launch)
    }
}

impl Function {
    /// Removes a kernel's body from the function while `edit` works on both, and puts it back.
    /// `None` if there is no such kernel.
    pub fn with_kernel_body<R>(
        &mut self,
        id: KernelId,
        edit: impl FnOnce(&mut Function, &mut Vec<Stmt>) -> R,
    ) -> Option<R> {
        let kernel = self.kernels.get_mut(id.index())?;
        let mut body = std::mem::take(&mut kernel.body);
        let result = edit(self, &mut body);
        if let Some(kernel) = self.kernels.get_mut(id.index()) {
            kernel.body = body;
        }
        Some(result)
    }

    /// A new local without a symbolic variable, so the prover has no facts about it.
    pub fn new_local(&mut self, name: &str, ty: Scalar, mutable: bool, span: Span) -> LocalId {
        let id = LocalId(u32::try_from(self.locals.len()).unwrap_or(u32::MAX));
        self.locals.push(Local {
            name: name.to_owned(),
            ty,
            mutable,
            var: None,
            role: Role::Value,
            span,
        });
        id
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VarHome {
    Dim(DimId),
    /// An integer scalar parameter.
    Param(ParamId),
    Local(LocalId),
}

/// The name of asynchronous copies.
#[derive(Clone, Debug)]
pub struct Future {
    pub name: String,
    pub span: Span,
    /// The number of elements of its tile, if it is swapped or rotated with other futures: their
    /// tiles are adjacent in memory.
    pub tile: Option<Sym>,
}

#[derive(Clone, Debug)]
pub struct Local {
    pub name: String,
    pub ty: Scalar,
    pub mutable: bool,
    /// The symbolic variable for this local's value, if it is an immutable integer.
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

/// A run-time check and the message that the wrapper returns when it fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckInfo {
    /// `R01` … of the catalogue.
    pub code: CheckCode,
    /// The text, with `{0}`, `{1}` for the values.
    pub message: String,
    pub span: Span,
}

impl CheckInfo {
    /// Whether its failure ends a launch even with `Checks::Report`: the code after it was proved
    /// for an integer that does not overflow, and is not safe for one that did.
    pub fn ends_launch(&self) -> bool {
        self.code.ends_launch()
    }
}
