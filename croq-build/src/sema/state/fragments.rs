//! What is gathered about fragments until the function's end.

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::{BufferId, LocalId, Part, ThreadSet};
use crate::source::Span;
use crate::symbolic::Var;

#[derive(Default)]
pub(crate) struct FragmentState {
    /// Filled without a type, and not multiplied into yet.
    pub untyped: BTreeSet<BufferId>,
    /// Where operands are loaded.
    pub loaded: BTreeMap<BufferId, Span>,
    /// Which product gave sums their extents.
    pub shaped: BTreeMap<BufferId, Span>,
    /// Of these it was said that they are large.
    pub reported: BTreeSet<BufferId>,
    /// What asked for a spread first.
    pub asked: BTreeMap<BufferId, Span>,
    /// Matrices that meet element by element.
    pub alike: Vec<(BufferId, BufferId, Span)>,
    /// Something was wrong: what is still unknown would be known otherwise.
    pub failed: bool,
    /// The `apply` that this is in.
    pub applied: Option<Applied>,
    /// Columns whose values are added over their owners.
    pub columns: Vec<(BufferId, Span)>,
    /// MMAs with names of their own.
    pub operations: Vec<Operation>,
    /// Indices of the `apply`s that scale MMAs.
    pub scaled: BTreeSet<LocalId>,
    /// Who multiplies into sums, and who uses them.
    pub owners: Owners,
    /// Loads and stores, which need to know.
    pub needed: Vec<(BufferId, Span)>,
}

/// An `apply` in flight.
pub(crate) struct Applied {
    pub buffer: BufferId,
    pub indices: Vec<Var>,
}

/// An MMA with a name, for which the program waits.
pub(crate) struct Operation {
    pub name: String,
    pub span: Span,
    /// Where, and under how many conditions.
    pub waited: Option<(Span, usize)>,
    /// Loops and conditions around it.
    pub loops: usize,
    pub conditions: usize,
}

#[derive(Default)]
pub(crate) struct Owners {
    pub mmas: Vec<Place>,
    pub uses: Vec<Place>,
    /// Iterations of the loops around, as far as they are known.
    pub iterations: Vec<i64>,
    /// In how many loops sums were filled last.
    pub filled: BTreeMap<BufferId, usize>,
    pub lossy: BTreeSet<BufferId>,
}

/// A statement about sums, and which threads come to it.
pub(crate) struct Place {
    pub acc: BufferId,
    pub set: ThreadSet,
    pub span: Span,
}

/// A fragment as a statement names it.
pub(crate) struct Named {
    pub part: Part,
    pub name: String,
    pub span: Span,
}
