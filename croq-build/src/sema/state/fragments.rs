//! Facts about fragments that are collected until the function's end.

use crate::ir::{BufferId, LocalId, Part, ThreadSet};
use crate::sema::state::choices;
use crate::sema::state::kernel::Unit;
use crate::sorted::{SortedMap, SortedSet};
use crate::source::Span;
use crate::symbolic::Var;

#[derive(Default)]
pub(crate) struct FragmentState {
    /// Fragments that were filled without a type, and are not the accumulator of an MMA yet.
    pub untyped: SortedSet<BufferId>,
    /// The loads of operands.
    pub loaded: SortedMap<BufferId, Span>,
    /// Those that were declared without extents.
    pub open: SortedSet<BufferId>,
    /// The declarations of fragments.
    pub declared: SortedMap<BufferId, Declared>,
    /// The MMA that determined an accumulator's extents.
    pub shaped: SortedMap<BufferId, Span>,
    /// Fragments that were reported as large.
    pub reported: SortedSet<BufferId>,
    /// The first statement that required a layout of a fragment.
    pub asked: SortedMap<BufferId, Span>,
    /// Pairs of fragments that are combined element by element.
    pub alike: Vec<(BufferId, BufferId, Span)>,
    /// Whether an error was found: then missing facts are not reported.
    pub failed: bool,
    /// The enclosing `apply`.
    pub applied: Option<Applied>,
    /// Columns whose values are summed over the threads that share a row.
    pub columns: Vec<(BufferId, Span)>,
    /// MMAs that have a name.
    pub operations: Vec<Operation>,
    /// Indices of the `apply`s that scale MMAs.
    pub scaled: SortedSet<LocalId>,
    /// The threads that compute and that use accumulators.
    pub owners: Owners,
    /// Loads and stores, which require the layout of an MMA.
    pub needed: Vec<(BufferId, Span)>,
    /// Other operations, which take any layout, each with its unit.
    pub uses: Vec<(BufferId, Span, Unit)>,
}

/// The statement that declares a fragment, and the fragment's name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Declared {
    pub statement: Option<choices::Place>,
    pub span: Span,
    pub name: String,
}

/// The `apply` that is being lowered.
pub(crate) struct Applied {
    pub buffer: BufferId,
    pub indices: Vec<Var>,
}

/// An MMA with a name, for which the program waits.
pub(crate) struct Operation {
    pub name: String,
    pub span: Span,
    /// The `wait`, and the number of conditions around it.
    pub waited: Option<(Span, usize)>,
    /// The numbers of loops and conditions around it.
    pub loops: usize,
    pub conditions: usize,
}

#[derive(Default)]
pub(crate) struct Owners {
    pub mmas: Vec<Place>,
    pub uses: Vec<Place>,
    /// The numbers of iterations of the enclosing loops, as lower bounds.
    pub iterations: Vec<i64>,
    /// The number of loops around the last fill of an accumulator.
    pub filled: SortedMap<BufferId, usize>,
    pub lossy: SortedSet<BufferId>,
}

/// A statement on an accumulator, and the threads that execute it.
pub(crate) struct Place {
    pub acc: BufferId,
    pub set: ThreadSet,
    pub span: Span,
}

/// A fragment in an operand of a statement.
pub(crate) struct Named {
    pub part: Part,
    pub name: String,
    pub span: Span,
}
