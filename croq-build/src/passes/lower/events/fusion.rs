//! Copy/trigger fusion: copies that a single thread issues directly before it triggers an event
//! complete that event.
//!
//! Only threads that wait for the event may use the tile then, so no wait is necessary before the
//! event; and the thread can continue with the next tile while the copy is in flight. But some thread
//! must wait for the event, and not under a condition: otherwise the copy could still be in flight
//! when the block ends, and write into the memory of the next one.

use std::collections::BTreeSet;

use crate::ir::{BufferId, Engine, EventAt, EventId, Function, Slot, Stmt, StmtKind, Storage};

pub fn fuse(function: &Function, body: &mut [Stmt]) {
    let mut waited = BTreeSet::new();
    waited_for(body, &mut waited);
    in_block(function, &waited, body);
}

/// The events that some thread waits for, whatever conditions hold.
fn waited_for(stmts: &[Stmt], waited: &mut BTreeSet<EventId>) {
    for stmt in stmts {
        match &stmt.kind {
            StmtKind::WaitEvent(at) => drop(waited.insert(at.event)),
            StmtKind::If { .. } => {}
            kind => kind.blocks().for_each(|block| waited_for(block, waited)),
        }
    }
}

fn in_block(function: &Function, waited: &BTreeSet<EventId>, stmts: &mut [Stmt]) {
    for stmt in stmts {
        if let StmtKind::Region {
            set: Some(set),
            body,
            ..
        } = &mut stmt.kind
            && set.len() == 1
        {
            let region = Region {
                function,
                waited,
                read: read_in(body),
            };
            region.block(body);
            continue;
        }
        for block in stmt.kind.blocks_mut() {
            in_block(function, waited, block);
        }
    }
}

/// A region of a single thread.
struct Region<'a> {
    function: &'a Function,
    waited: &'a BTreeSet<EventId>,
    /// The sources of its copies.
    read: BTreeSet<BufferId>,
}

impl Region<'_> {
    fn block(&self, stmts: &mut [Stmt]) {
        for at in 0..stmts.len() {
            if let Some(event) = triggered(stmts, at).filter(|e| self.waited.contains(&e.event)) {
                let (before, _) = stmts.split_at_mut(at);
                for stmt in before.iter_mut().rev() {
                    let StmtKind::Copy(copy) = &mut stmt.kind else {
                        break;
                    };
                    let dest = copy.dest.buffer;
                    let shared = self.function.buffer(dest).storage == Storage::Shared;
                    let used = self.read.contains(&dest);
                    match &mut copy.engine {
                        Engine::Tma(tma) if shared && copy.future.is_none() && !used => {
                            tma.event.get_or_insert_with(|| event.clone());
                        }
                        _ => break,
                    }
                }
            }
            if let Some(stmt) = stmts.get_mut(at) {
                for block in stmt.kind.blocks_mut() {
                    self.block(block);
                }
            }
        }
    }
}

/// The event that is triggered at `at`, if the next statement does not trigger another one.
fn triggered(stmts: &[Stmt], at: usize) -> Option<EventAt> {
    let StmtKind::Trigger(event) = &stmts.get(at)?.kind else {
        return None;
    };
    let next = stmts.get(at + 1).map(|s| &s.kind);
    let alone = !matches!(next, Some(StmtKind::Trigger(_)));
    (alone && event.slot != Slot::All).then(|| event.clone())
}

/// The sources of the copies in these statements.
fn read_in(stmts: &[Stmt]) -> BTreeSet<BufferId> {
    let mut read = BTreeSet::new();
    for stmt in stmts {
        if let StmtKind::Copy(copy) = &stmt.kind {
            read.insert(copy.source.buffer);
        }
        for block in stmt.kind.blocks() {
            read.extend(read_in(block));
        }
    }
    read
}
