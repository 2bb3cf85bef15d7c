//! Events that threads trigger once for each wait for another one, as in a ring of slots.

use crate::ir::{EventAt, EventId, Function, Slot, Stmt, StmtKind, VarHome};
use crate::symbolic::{Sym, Var};

/// Whether each trigger of an event follows a wait for the other one, in its list of statements:
/// for the same slot, and no other trigger does.
pub fn is_answer(function: &Function, stmts: &[Stmt], trigger: EventId, wait: EventId) -> bool {
    let mut waited: Option<Sym> = None;
    stmts.iter().all(|stmt| match &stmt.kind {
        StmtKind::WaitEvent(at) if at.event == wait => {
            waited = slot(function, at);
            true
        }
        StmtKind::Trigger(at) if at.event == trigger => {
            let waited = waited.take();
            waited.is_some() && waited == slot(function, at)
        }
        kind => {
            let mut blocks = kind.blocks();
            blocks.all(|block| is_answer(function, block, trigger, wait))
        }
    })
}

/// The slot, if its value is the same wherever it is named in an iteration.
pub fn slot(function: &Function, at: &EventAt) -> Option<Sym> {
    let Slot::At(slot) = &at.slot else {
        return None;
    };
    let changes = |var: &Var| match function.var_home.get(var) {
        Some(VarHome::Local(id)) => function.local(*id).mutable,
        _ => false,
    };
    let fixed = !slot.sorted_vars().iter().any(changes);
    fixed.then(|| slot.clone())
}
