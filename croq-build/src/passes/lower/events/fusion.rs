//! Copies that one thread makes at once, directly before it triggers an event, complete that event.
//!
//! Only who waits for the event may use the tile then, so nobody need wait before the event does; and
//! the thread can go on to the next tile while this one is on its way.

use std::collections::BTreeSet;

use crate::ir::{BufferId, Engine, EventAt, Function, Slot, Stmt, StmtKind, Storage};

pub fn fold(function: &Function, stmts: &mut [Stmt]) {
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
            fold(function, block);
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

/// The event that is triggered at `at`, if it is the only one.
fn triggered(stmts: &[Stmt], at: usize) -> Option<EventAt> {
    let StmtKind::Trigger(event) = &stmts.get(at)?.kind else {
        return None;
    };
    let next = stmts.get(at + 1).map(|s| &s.kind);
    let alone = !matches!(next, Some(StmtKind::Trigger(_)));
    (alone && event.slot != Slot::All).then(|| event.clone())
}

/// What copies in there take from.
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
