//! Events that are declared in a loop: each iteration has new ones, so their mbarriers are
//! initialised again, when all threads have left the previous ones.

use super::beginning::{Beginning, first_phases};
use crate::ir::build;
use crate::ir::{
    BarrierReason, BarrierScope, EventId, FenceScope, Function, Level, Stmt, StmtKind, Storage,
    TmaOp,
};
use crate::source::Span;

/// Replaces the declarations of events in loops.
pub fn initialise(function: &Function, stmts: &mut Vec<Stmt>, beginning: &Beginning) {
    for mut stmt in std::mem::take(stmts) {
        for block in stmt.kind.blocks_mut() {
            initialise(function, block, beginning);
        }
        let StmtKind::Alloc(id) = &stmt.kind else {
            stmts.push(stmt);
            continue;
        };
        let buffer = function.buffers.get(id.index());
        if buffer.is_none_or(|b| b.storage != Storage::Mbarriers) {
            stmts.push(stmt);
            continue;
        }
        let slots = beginning.slots.iter().find(|s| s.barriers == *id);
        let event = function.events.iter().position(|e| e.barriers == *id);
        // An event that nothing waits for has no mbarriers.
        if let (Some(slots), Some(event)) = (slots, event) {
            let op = TmaOp::Initialise {
                barriers: slots.barriers,
                slots: slots.slots.clone(),
                count: slots.count.clone(),
                again: true,
            };
            let event = EventId(u32::try_from(event).unwrap_or(u32::MAX));
            again(function, event, op, stmt.span, stmts);
        }
    }
}

fn again(function: &Function, event: EventId, op: TmaOp, span: Span, stmts: &mut Vec<Stmt>) {
    let info = function.event(event);
    let scope = match info.clustered {
        true => BarrierScope::Cluster,
        false => BarrierScope::Block,
    };
    let barrier = |why| StmtKind::Barrier { scope, why };
    let once = [StmtKind::Tma(op), StmtKind::Fence(FenceScope::MbarrierInit)];
    let once = once.map(|kind| Stmt::new(kind, span)).to_vec();
    let phases = info.phases.map(|local| {
        let ty = function.local(local).ty;
        let value = first_phases(function, event, ty, span);
        StmtKind::Assign { local, value }
    });
    let kinds = [
        Some(barrier(BarrierReason::DeclaredAgain(info.name.clone()))),
        Some(build::once(Level::Block, once)),
        Some(barrier(BarrierReason::Initialised)),
        phases,
    ];
    let made = kinds.into_iter().flatten();
    stmts.extend(made.map(|kind| Stmt::new(kind, span)));
}
