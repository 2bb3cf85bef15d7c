//! Events that threads trigger once for each wait for another one, as in a ring of slots, and the slots'
//! parts of a buffer.

use crate::ir::{EventAt, EventId, Function, Slot, Stmt, StmtKind, VarHome, View};
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

/// Whether the view lies in the part of its buffer that belongs to the slot.
pub fn is_in_slot(function: &Function, tile: &View, event: EventId, slot: &Sym) -> bool {
    let slots = i64::from(function.event(event).slots);
    if slots == 1 {
        return true;
    }
    let count = function.buffer(tile.buffer).count.as_int();
    let (Some(size), Some(end)) = (
        count.filter(|n| n % slots == 0).map(|n| n / slots),
        tile.end(),
    ) else {
        return false;
    };
    let cx = &function.cx;
    let from = slot * size;
    let (first, end) = (
        cx.simplify(&(&tile.offset - &from)),
        cx.simplify(&(&end - &from)),
    );
    cx.le(&Sym::zero(), &first).is_yes() && cx.le(&end, &Sym::int(size)).is_yes()
}
