//! Loads that arrive at one mbarrier: those that complete an event, in front of its `trigger`, and those that are waited
//! for at once.
//!
//! Of the second kind those directly one behind the other are in flight at the same time: they arrive at the first
//! one's mbarrier, and only then is anything waited for. Barriers have been placed for one after the other, and still stand where they must: nothing is between the loads, and
//! the wait for all of them is where the last one's was.

use std::collections::BTreeSet;

use crate::ir::{
    Arrival, BufferId, Copy, Engine, EventId, LocalId, Slot, Stmt, StmtKind, Tma, TmaOp, Visit,
    retain_stmts, walk_block,
};

/// The mbarriers of loads that arrive at others', and their bits.
#[derive(Default)]
pub struct Unneeded(Vec<(BufferId, LocalId)>);

impl Unneeded {
    /// Those of loads that arrive at the first one's.
    pub fn add(&mut self, loads: &[Stmt]) {
        let loads = loads.iter().filter_map(waited_at_once);
        self.0
            .extend(loads.map(|(_, _, arrival)| (arrival.barriers, arrival.phases)));
    }

    /// Forgets those that nothing arrives at.
    pub fn drop_from(mut self, stmts: &mut Vec<Stmt>) {
        let mut loads = Loads::default();
        walk_block(stmts, &mut loads);
        self.0.retain(|(barriers, _)| !loads.0.contains(barriers));
        retain_stmts(stmts, &mut |stmt| match &stmt.kind {
            StmtKind::Let { local, .. } => self.0.iter().all(|(_, bits)| bits != local),
            StmtKind::Tma(TmaOp::Initialise { barriers, .. }) => {
                self.0.iter().all(|(unneeded, _)| unneeded != barriers)
            }
            _ => true,
        });
    }
}

/// Where loads arrive.
#[derive(Default)]
struct Loads(BTreeSet<BufferId>);

impl Visit for Loads {
    fn stmt(&mut self, stmt: &Stmt) {
        if let StmtKind::Tma(TmaOp::Load { barriers, .. }) = &stmt.kind {
            self.0.insert(*barriers);
        }
    }
}

/// Where the copies among these statements, which are nothing else, all arrive.
pub fn completes(stmts: &[Stmt]) -> Option<(EventId, Slot)> {
    completed_by(stmts.last()?)
}

pub fn completed_by(stmt: &Stmt) -> Option<(EventId, Slot)> {
    let StmtKind::Copy(copy) = &stmt.kind else {
        return None;
    };
    match &copy.engine {
        Engine::Tma(Tma { event: Some(e), .. }) => Some((e.event, e.slot.clone())),
        _ => None,
    }
}

pub fn triggers(stmt: &Stmt) -> Option<(EventId, Slot)> {
    match &stmt.kind {
        // Bytes arrive in the block alone, a `trigger` for the cluster does so in all of them.
        StmtKind::Trigger(at) if !at.cluster => Some((at.event, at.slot.clone())),
        _ => None,
    }
}

/// A load that nothing but its own statement waits for.
pub fn waited_at_once(stmt: &Stmt) -> Option<(&Copy, &Tma, &Arrival)> {
    let StmtKind::Copy(copy) = &stmt.kind else {
        return None;
    };
    let Engine::Tma(tma) = &copy.engine else {
        return None;
    };
    let arrival = tma.arrival.as_ref()?;
    let alone = copy.future.is_none() && tma.event.is_none() && !copy.engine.is_multicast();
    alone.then_some((copy, tma, arrival))
}

/// Whether `next` goes on with the loads so far: by the same thread, to somewhere else.
pub fn goes_on(so_far: &[Stmt], next: &Stmt) -> bool {
    let Some((copy, _, arrival)) = waited_at_once(next) else {
        return false;
    };
    so_far.iter().all(|stmt| {
        waited_at_once(stmt).is_some_and(|(other, _, before)| {
            other.level == copy.level
                && other.dest.buffer != copy.dest.buffer
                && before.barriers != arrival.barriers
        })
    })
}
