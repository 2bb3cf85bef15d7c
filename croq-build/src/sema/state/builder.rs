//! Statements under construction, and facts about their values.

use std::collections::HashSet;

use crate::ir::{self, Level, LocalId, Stmt};
use crate::sema::state::choices::Place;
use crate::sorted::{SortedMap, SortedSet};
use crate::source::Span;
use crate::symbolic::{Sym, Var};

/// Statements under construction, and facts about their values.
pub(crate) struct Builder {
    /// Statement lists under construction, innermost last.
    pub sinks: Vec<Vec<Stmt>>,
    /// Checks that depend on dimensions and parameters alone: they are emitted before all other
    /// statements.
    pub entry: Vec<Stmt>,
    pub check_rows: SortedMap<(ir::CheckCode, String, Span), u32>,
    /// Those that are there already: the row, the condition, and the values in the message.
    pub seen_checks: HashSet<(u32, ir::Condition, Vec<Sym>)>,
    /// The conditions of the current access's checks, where a failure does not end the launch.
    pub guards: Vec<ir::Expr>,
    /// Variables whose value depends on data: elements, calls, mutable locals.
    pub from_data: SortedSet<Var>,
    /// Those of them that depend on an element or a call.
    pub from_elements: SortedSet<Var>,
    /// Immutable locals whose value depends on data.
    pub data_locals: SortedSet<LocalId>,
    /// Checks of tile numbers that contain such variables.
    pub by_data: Vec<(ir::CheckId, Sym)>,
    /// Locals whose value may differ between threads of a block, each with the finest level between
    /// whose units it may differ.
    pub varying: SortedMap<LocalId, Level>,
    /// Mutable locals that not all units assign alike: conditions, regions and loops around an
    /// assignment, inside the local's scope, differ between units of this level.
    pub uneven: SortedMap<LocalId, Level>,
    /// The number of constructs around the declaration of each local.
    pub declared_at: SortedMap<LocalId, usize>,
    /// Whether a `break` or `continue` is under a condition that differs between threads.
    pub uneven_exit: bool,
    /// Reads of mutable locals, each with the level that was assumed.
    pub reads: Vec<(LocalId, Level)>,
    /// The numbers of threads of the kernels so far, by the statements of these.
    pub kernel_threads: Vec<(Option<Place>, Option<i64>)>,
    /// Whether one of them is an integer of which tiles and indices are made.
    pub integer_reads: bool,
}

impl Builder {
    /// Records that a local may differ between units of this level.
    pub fn vary(&mut self, local: LocalId, level: Level) {
        let known = self.varying.entry(local).or_insert(level);
        *known = level.max(*known);
    }

    pub fn new() -> Self {
        Self {
            sinks: vec![Vec::new()],
            entry: Vec::new(),
            check_rows: SortedMap::new(),
            seen_checks: HashSet::new(),
            guards: Vec::new(),
            from_data: SortedSet::new(),
            from_elements: SortedSet::new(),
            data_locals: SortedSet::new(),
            by_data: Vec::new(),
            kernel_threads: Vec::new(),
            varying: SortedMap::new(),
            uneven: SortedMap::new(),
            declared_at: SortedMap::new(),
            uneven_exit: false,
            reads: Vec::new(),
            integer_reads: false,
        }
    }
}
