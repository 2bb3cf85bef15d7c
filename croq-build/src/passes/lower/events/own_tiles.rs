//! Tiles of shared memory that only their own block writes, and that threads read into registers.
//!
//! A load into such a tile follows a wait for an event of its block, at which each thread that reads
//! the tile arrives after it has read. So what orders the next load after these reads is within the
//! block: arrivals at other blocks have nothing to say of them.
//!
//! A tile is recognised where
//!
//! * nothing but TMA loads of its block write it, each after a wait for `empty` in its list of
//!   statements, and completing `full`, of the same slot;
//! * each read is, in a list of statements, behind a wait for `full` and before a trigger of `empty`, of
//!   its slot;
//! * threads trigger `empty` once for each wait for `full`, and `full` once for each wait for `empty`,
//!   and a generation of `empty` needs the arrivals of all threads that trigger it.

use super::answers::{is_answer, is_in_slot, slot};
use crate::ir::{
    Access, BufferId, Copy, Engine, EventAt, EventId, Flow, Function, Stmt, StmtKind, View,
    Visitor, walk,
};
use crate::sorted::SortedSet;
use crate::symbolic::Sym;

/// The buffers that are such tiles, or rings of them.
pub fn find(function: &Function, body: &[Stmt]) -> SortedSet<BufferId> {
    let mut loads = Vec::new();
    collect(function, body, &mut loads);
    let mut others = OtherWrites(Vec::new());
    let _ = others.block(body);
    let mut found = SortedSet::new();
    for load in &loads {
        // Copies that the collection did not recognise are other writes, too.
        let known = loads.iter().filter(|other| other.tile == load.tile);
        let writes = others.0.iter().filter(|id| **id == load.tile);
        let same = |other: &Load| (other.full, other.empty) == (load.full, load.empty);
        if writes.count() == known.clone().count() && known.clone().all(same) && load.is_safe(body)
        {
            found.insert(load.tile);
        }
    }
    found
}

/// A load of a tile, and the events of its slot.
struct Load<'a> {
    function: &'a Function,
    tile: BufferId,
    full: EventId,
    empty: EventId,
}

fn collect<'a>(function: &'a Function, stmts: &[Stmt], loads: &mut Vec<Load<'a>>) {
    // The last wait, with its slot, that no trigger has followed.
    let mut waited: Option<(EventId, Sym)> = None;
    for stmt in stmts {
        match &stmt.kind {
            StmtKind::WaitEvent(at) => waited = slot(function, at).map(|s| (at.event, s)),
            StmtKind::Trigger(_) => waited = None,
            StmtKind::Copy(copy) => {
                let known = completed(copy)
                    .zip(waited.as_ref())
                    .and_then(|(full, (empty, of))| {
                        let is_same = slot(function, full).as_ref() == Some(of);
                        let fits = is_in_slot(function, &copy.dest, full.event, of);
                        (is_same && fits).then_some((full.event, *empty))
                    });
                loads.extend(known.map(|(full, empty)| Load {
                    function,
                    tile: copy.dest.buffer,
                    full,
                    empty,
                }));
            }
            kind => {
                for block in kind.blocks() {
                    collect(function, block, loads);
                }
            }
        }
    }
}

/// The event that a load of this block alone completes.
fn completed(copy: &Copy) -> Option<&EventAt> {
    let Engine::Tma(tma) = &copy.engine else {
        return None;
    };
    tma.event.as_ref().filter(|_| tma.blocks == 1)
}

impl Load<'_> {
    fn is_safe(&self, body: &[Stmt]) -> bool {
        let [full, empty] = [self.full, self.empty].map(|event| self.function.event(event));
        full.slots == empty.slots
            && full.count.is_none()
            && empty.count.is_none()
            && !full.ready
            && !full.clustered
            && is_answer(self.function, body, self.empty, self.full)
            && is_answer(self.function, body, self.full, self.empty)
            && self.reads_are_inside(body)
    }

    /// Whether each read of the tile is between a wait for `full` and a trigger of `empty`.
    fn reads_are_inside(&self, stmts: &[Stmt]) -> bool {
        let mut waited: Option<Sym> = None;
        stmts.iter().enumerate().all(|(number, stmt)| {
            match &stmt.kind {
                StmtKind::WaitEvent(at) if at.event == self.full => {
                    waited = slot(self.function, at);
                }
                StmtKind::Trigger(at) if at.event == self.empty => waited = None,
                _ => {}
            }
            if !self.reads(stmt, None).found {
                return true;
            }
            let after = stmts.get(number..).unwrap_or_default();
            let released = waited.as_ref().filter(|of| self.releases(after, of));
            if released.is_some_and(|of| !self.reads(stmt, Some(of)).outside) {
                return true;
            }
            // A list within the statement may have both.
            let mut alone = stmt.clone();
            alone.kind.blocks_mut().for_each(Vec::clear);
            !self.reads(&alone, None).found
                && stmt.kind.blocks().all(|block| self.reads_are_inside(block))
        })
    }

    fn reads(&self, stmt: &Stmt, within: Option<&Sym>) -> Reads<'_> {
        let mut reads = Reads {
            load: self,
            within: within.cloned(),
            found: false,
            outside: false,
        };
        let _ = reads.stmt(stmt);
        reads
    }

    /// Whether the first of the statements that signals or waits triggers `empty`, of this slot.
    fn releases(&self, stmts: &[Stmt], of: &Sym) -> bool {
        let next = stmts.iter().find_map(|stmt| match &stmt.kind {
            StmtKind::Trigger(at) if at.event == self.empty => Some(slot(self.function, at)),
            StmtKind::WaitEvent(at) if at.event == self.full => Some(None),
            StmtKind::Break | StmtKind::Continue => Some(None),
            _ => None,
        });
        next.flatten().as_ref() == Some(of)
    }
}

/// Reads of a tile, and whether one is outside of a slot.
struct Reads<'a> {
    load: &'a Load<'a>,
    within: Option<Sym>,
    found: bool,
    outside: bool,
}

impl Reads<'_> {
    fn read(&mut self, view: &View) {
        if view.buffer != self.load.tile {
            return;
        }
        self.found = true;
        let load = self.load;
        let fits = |of: &Sym| is_in_slot(load.function, view, load.full, of);
        self.outside |= !self.within.as_ref().is_some_and(fits);
    }
}

impl Visitor for Reads<'_> {
    fn stmt(&mut self, stmt: &Stmt) -> Flow {
        match &stmt.kind {
            StmtKind::Copy(copy) => self.read(&copy.source),
            StmtKind::Mma(op) => {
                let read = op.views().into_iter().filter(|(_, written)| !written);
                read.for_each(|(view, _)| self.read(view));
            }
            _ => {}
        }
        walk::stmt(self, stmt)
    }

    fn access(&mut self, access: &Access, written: bool) -> Flow {
        if !written {
            self.read(&access.view);
        }
        walk::access(self, access)
    }
}

/// The buffers of all statements that write shared memory, one for each statement.
struct OtherWrites(Vec<BufferId>);

impl Visitor for OtherWrites {
    fn stmt(&mut self, stmt: &Stmt) -> Flow {
        match &stmt.kind {
            StmtKind::Copy(copy) => self.0.push(copy.dest.buffer),
            StmtKind::Fill { view, .. } => self.0.push(view.buffer),
            StmtKind::Mma(op) => {
                let written = op.views().into_iter().filter(|(_, written)| *written);
                self.0.extend(written.map(|(view, _)| view.buffer));
            }
            _ => {}
        }
        walk::stmt(self, stmt)
    }

    fn access(&mut self, access: &Access, written: bool) -> Flow {
        if written {
            self.0.push(access.view.buffer);
        }
        walk::access(self, access)
    }
}
