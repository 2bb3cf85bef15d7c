//! Statements under construction, and facts about their values.

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::{self, LocalId, Stmt};
use crate::source::Span;
use crate::symbolic::{Sym, Var};

/// Statements under construction, and facts about their values.
pub(crate) struct Builder {
    /// Statement lists under construction, innermost last.
    pub sinks: Vec<Vec<Stmt>>,
    /// Checks that depend on dimensions and parameters alone: they are emitted before all other
    /// statements.
    pub entry: Vec<Stmt>,
    pub check_rows: BTreeMap<(ir::CheckCode, String, Span), u32>,
    pub seen_checks: BTreeSet<(String, u32)>,
    /// The conditions of the current access's checks, where a failure does not end the launch.
    pub guards: Vec<ir::Expr>,
    /// Variables whose value depends on data: elements, calls, mutable locals.
    pub from_data: BTreeSet<Var>,
    /// Checks of tile numbers that contain such variables.
    pub by_data: Vec<(ir::CheckId, Sym)>,
    /// Locals whose value may differ between threads of a block.
    pub varying: BTreeSet<LocalId>,
}

impl Builder {
    pub fn new() -> Self {
        Self {
            sinks: vec![Vec::new()],
            entry: Vec::new(),
            check_rows: BTreeMap::new(),
            seen_checks: BTreeSet::new(),
            guards: Vec::new(),
            from_data: BTreeSet::new(),
            by_data: Vec::new(),
            varying: BTreeSet::new(),
        }
    }
}
