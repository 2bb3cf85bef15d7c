//! Loads that arrive at one mbarrier: those that complete an event, before its `trigger`, and
//! consecutive ones that are waited for immediately.
//!
//! Consecutive loads of the second kind are in flight together: they arrive at the mbarrier of the
//! first one, and are waited for once. Barriers were inserted for sequential loads, and are still
//! correct: there is no statement between the loads, and the wait for all of them is at the place
//! of the last one's.

use crate::ir::{
    Arrival, BufferId, Copy, Engine, EventId, ExprKind, LocalId, Slot, Stmt, StmtKind, Tma, TmaOp,
    Visit, any_in, retain_stmts, walk_block,
};
use crate::sorted::SortedSet;

/// The mbarriers of loads that arrive at other ones, with their phase bits.
#[derive(Default)]
pub struct UnusedMbarriers(Vec<(BufferId, LocalId)>);

impl UnusedMbarriers {
    /// Adds those of loads that arrive at the first one's mbarrier.
    pub fn add(&mut self, loads: &[Stmt]) {
        let loads = loads.iter().filter_map(waited_immediately);
        self.0
            .extend(loads.map(|(_, _, arrival)| (arrival.barriers, arrival.phases)));
    }

    /// Removes the declarations and initialisations of mbarriers that no load uses.
    pub fn drop_from(mut self, stmts: &mut Vec<Stmt>) {
        let mut loads = Loads::default();
        walk_block(stmts, &mut loads);
        self.0.retain(|(barriers, _)| !loads.0.contains(barriers));
        retain_stmts(stmts, &mut |stmt| match &stmt.kind {
            StmtKind::Let { local, .. } => self.0.iter().all(|(_, bits)| bits != local),
            StmtKind::Tma(TmaOp::Initialise { barriers, .. }) => {
                self.0.iter().all(|(unused, _)| unused != barriers)
            }
            _ => true,
        });
    }
}

/// The mbarriers at which loads arrive.
#[derive(Default)]
struct Loads(SortedSet<BufferId>);

impl Visit for Loads {
    fn stmt(&mut self, stmt: &Stmt) {
        if let StmtKind::Tma(TmaOp::Load { barriers, .. }) = &stmt.kind {
            self.0.insert(*barriers);
        }
    }
}

/// Whether the statement only names a value that does not depend on memory: it may precede loads.
pub fn is_name(stmt: &Stmt) -> bool {
    let StmtKind::Let { value: Some(_), .. } = &stmt.kind else {
        return false;
    };
    !any_in(
        std::slice::from_ref(stmt),
        |_| false,
        |e| {
            matches!(
                &*e.kind,
                ExprKind::Load(_) | ExprKind::Call(_) | ExprKind::Intrinsic(..)
            )
        },
    )
}

/// The event that the copies, of which `stmts` consists, all complete.
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
        // Bytes arrive only in the block, a `trigger` for the cluster in all of its blocks.
        StmtKind::Trigger(at) if !at.cluster => Some((at.event, at.slot.clone())),
        _ => None,
    }
}

/// A load for which only its own statement waits.
pub fn waited_immediately(stmt: &Stmt) -> Option<(&Copy, &Tma, &Arrival)> {
    let StmtKind::Copy(copy) = &stmt.kind else {
        return None;
    };
    let Engine::Tma(tma) = &copy.engine else {
        return None;
    };
    let arrival = tma.arrival.as_ref()?;
    let is_plain = copy.future.is_none() && tma.event.is_none() && !copy.engine.is_multicast();
    is_plain.then_some((copy, tma, arrival))
}

/// Whether `next` can be combined with the loads so far: by the same thread, to another buffer.
pub fn joins(so_far: &[Stmt], next: &Stmt) -> bool {
    let Some((copy, _, arrival)) = waited_immediately(next) else {
        return false;
    };
    so_far.iter().all(|stmt| {
        waited_immediately(stmt).is_some_and(|(other, _, before)| {
            other.level == copy.level
                && other.dest.buffer != copy.dest.buffer
                && before.barriers != arrival.barriers
        })
    })
}
