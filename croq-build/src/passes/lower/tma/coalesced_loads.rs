//! Loads that arrive at one mbarrier: those that complete an event, in front of its `trigger`, and those that are waited
//! for at once.
//!
//! Of the second kind those directly one behind the other are under way at the same time: they arrive at the first
//! one's mbarrier, and only then is anything waited for. Barriers have been placed for one after the other, and still stand where they must: nothing is between the loads, and
//! the wait for all of them is where the last one's was.

use std::collections::BTreeSet;

use super::expand::{Expander, by_the_first_block, flip, wait};
use crate::ir::{
    Arrival, BufferId, Copy, Engine, EventId, LocalId, Slot, Stmt, StmtKind, Tma, TmaOp, Visit,
    retain_stmts, walk_block,
};
use crate::passes::lower::events;
use crate::symbolic::Sym;

/// The mbarriers of loads that arrive at others', and their bits.
#[derive(Default)]
pub struct Unneeded(Vec<(BufferId, LocalId)>);

impl Unneeded {
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
fn waited_at_once(stmt: &Stmt) -> Option<(&Copy, &Tma, &Arrival)> {
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

impl Expander<'_> {
    /// One arrival with the bytes of all copies, and the copies.
    ///
    /// `None` if they can't be lowered, and nothing was done.
    pub fn announced(&mut self, together: &[Stmt], out: &mut Vec<Stmt>) -> Option<()> {
        let (trigger, copies) = together.split_last()?;
        let StmtKind::Trigger(event) = &trigger.kind else {
            return None;
        };
        let (barriers, slot) = events::place(self.function, event)?;
        let mut bytes = Sym::zero();
        let mut loads = Vec::new();
        for stmt in copies {
            let StmtKind::Copy(copy) = &stmt.kind else {
                return None;
            };
            let Engine::Tma(tma) = &copy.engine else {
                return None;
            };
            let (own, ops) = self.loads(copy, tma, barriers, &slot)?;
            bytes = &bytes + &own;
            let ops = ops
                .into_iter()
                .map(|op| Stmt::new(StmtKind::Tma(op), stmt.span));
            match copy.engine.is_multicast() {
                true => loads.push(by_the_first_block(ops.collect(), stmt.span)),
                false => loads.extend(ops),
            }
        }
        let expect = TmaOp::Expect {
            barriers,
            slot,
            bytes,
        };
        out.push(Stmt::new(StmtKind::Tma(expect), trigger.span));
        out.extend(loads);
        Some(())
    }

    /// Two loads or more.
    pub fn arrive_together(&mut self, stmts: &[Stmt], out: &mut Vec<Stmt>) -> Option<()> {
        let (first, rest) = stmts.split_first()?;
        let (copy, _, arrival) = waited_at_once(first)?;
        let mut bytes = Sym::zero();
        let mut ops = Vec::new();
        for stmt in stmts {
            let (copy, tma, _) = waited_at_once(stmt)?;
            let (own, loads) = self.loads(copy, tma, arrival.barriers, &arrival.slot)?;
            bytes = &bytes + &own;
            let loads = loads.into_iter().map(StmtKind::Tma);
            ops.extend(loads.map(|kind| Stmt::new(kind, stmt.span)));
        }
        let expect = TmaOp::Expect {
            barriers: arrival.barriers,
            slot: arrival.slot.clone(),
            bytes,
        };
        ops.insert(0, Stmt::new(StmtKind::Tma(expect), first.span));
        out.push(Stmt::new(
            flip(self.function, arrival, first.span),
            first.span,
        ));
        match self.alone {
            true => out.extend(ops),
            false => {
                let (level, body) = (copy.level, ops);
                out.push(Stmt::new(
                    StmtKind::SingleThread { level, body },
                    first.span,
                ));
            }
        }
        let end = stmts.last().map_or(first.span, |s| s.span);
        out.push(Stmt::new(wait(self.function, arrival, end), end));
        let unneeded = rest.iter().filter_map(waited_at_once);
        let unneeded = unneeded.map(|(_, _, a)| (a.barriers, a.phases));
        self.unneeded.0.extend(unneeded);
        Some(())
    }
}
