//! Copy/trigger fusion: copies that a single thread issues directly before it triggers an event
//! complete that event.
//!
//! Only threads that wait for the event may use the tile then, so no wait is necessary before the
//! event; and the thread can continue with the next tile while the copy is in flight.

use std::collections::BTreeSet;

use crate::ir::{BufferId, Engine, EventAt, Function, Slot, Stmt, StmtKind, Storage};

pub fn fuse(function: &Function, stmts: &mut [Stmt]) {
    for stmt in stmts {
        if let StmtKind::Region {
            set: Some(set),
            body,
            ..
        } = &mut stmt.kind
            && set.len() == 1
        {
            let read = read_in(body);
            in_region(function, &read, body);
            continue;
        }
        for block in stmt.kind.blocks_mut() {
            fuse(function, block);
        }
    }
}

fn in_region(function: &Function, read: &BTreeSet<BufferId>, stmts: &mut [Stmt]) {
    for at in 0..stmts.len() {
        if let Some(event) = triggered(stmts, at) {
            let (before, _) = stmts.split_at_mut(at);
            for stmt in before.iter_mut().rev() {
                let StmtKind::Copy(copy) = &mut stmt.kind else {
                    break;
                };
                let shared = function.buffer(copy.dest.buffer).storage == Storage::Shared;
                let used = read.contains(&copy.dest.buffer);
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
                in_region(function, read, block);
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
