//! Events that are declared in a loop: each iteration has new ones, so their mbarriers are
//! initialised again, when all threads have left the previous ones.

use super::beginning::{Beginning, first_phases};
use crate::ir::build;
use crate::ir::{
    BarrierReason, BarrierScope, EventId, FenceScope, Function, Level, Stmt, StmtKind, Storage,
    TmaOp,
};
use crate::source::Span;

/// An event that begins here, and how its mbarriers are initialised.
struct New {
    event: EventId,
    initialise: TmaOp,
    span: Span,
}

/// Replaces the declarations of events in loops.
pub fn initialise(function: &Function, stmts: &mut Vec<Stmt>, beginning: &Beginning) {
    let mut adjacent = Vec::new();
    for mut stmt in std::mem::take(stmts) {
        if is_declaration(function, &stmt) {
            // An event that nothing waits for has no mbarriers.
            adjacent.extend(new(function, &stmt, beginning));
            continue;
        }
        begin(function, std::mem::take(&mut adjacent), stmts);
        for block in stmt.kind.blocks_mut() {
            initialise(function, block, beginning);
        }
        stmts.push(stmt);
    }
    begin(function, adjacent, stmts);
}

fn is_declaration(function: &Function, stmt: &Stmt) -> bool {
    let StmtKind::Alloc(id) = &stmt.kind else {
        return false;
    };
    let buffer = function.buffers.get(id.index());
    buffer.is_some_and(|b| b.storage == Storage::Mbarriers)
}

fn new(function: &Function, stmt: &Stmt, beginning: &Beginning) -> Option<New> {
    let StmtKind::Alloc(id) = &stmt.kind else {
        return None;
    };
    let slots = beginning.slots.iter().find(|s| s.barriers == *id)?;
    let event = function.events.iter().position(|e| e.barriers == *id)?;
    Some(New {
        event: EventId(u32::try_from(event).ok()?),
        initialise: TmaOp::Initialise {
            barriers: slots.barriers,
            slots: slots.slots.clone(),
            count: slots.count.clone(),
            again: true,
        },
        span: stmt.span,
    })
}

/// The events of adjacent declarations begin between two barriers.
fn begin(function: &Function, events: Vec<New>, stmts: &mut Vec<Stmt>) {
    let Some(first) = events.first() else { return };
    let span = first.span;
    let infos = || events.iter().map(|new| function.event(new.event));
    let scope = match infos().any(|info| info.clustered) {
        true => BarrierScope::Cluster,
        false => BarrierScope::Block,
    };
    let barrier = |why| Stmt::new(StmtKind::Barrier { scope, why }, span);
    let names: Vec<&str> = infos().map(|info| info.name.as_str()).collect();
    stmts.push(barrier(BarrierReason::DeclaredAgain(names.join(", "))));
    let (mut once, mut phases) = (Vec::new(), Vec::new());
    for new in events {
        if let Some(local) = function.event(new.event).phases {
            let ty = function.local(local).ty;
            let value = first_phases(function, new.event, ty, new.span);
            phases.push(Stmt::new(StmtKind::Assign { local, value }, new.span));
        }
        once.push(Stmt::new(StmtKind::Tma(new.initialise), new.span));
    }
    once.push(Stmt::new(StmtKind::Fence(FenceScope::MbarrierInit), span));
    stmts.push(Stmt::new(build::once(Level::Block, once), span));
    stmts.push(barrier(BarrierReason::Initialised));
    stmts.append(&mut phases);
}
