//! Replaces views of parts of pools by views of the pools.

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::{
    BufferId, Expr, Facts, Function, LocalId, Stmt, StmtKind, View, change_views, retain_stmts,
};
use crate::symbolic::Sym;

/// Rewrites every view of a part, and sets the first tiles of placeholders.
pub fn rewrite(func: &mut Function) {
    let Facts {
        pools, first_tiles, ..
    } = &func.facts;
    if pools.0.is_empty() && first_tiles.is_empty() {
        return;
    }
    for buffer in pools.0.keys() {
        let part = func.buffers.get(buffer.index());
        let (read, written) = part.map_or((false, false), |part| (part.read, part.written));
        let (root, _) = pools.find(*buffer);
        if let Some(root) = func.buffers.get_mut(root.index()) {
            root.read |= read;
            root.written |= written;
        }
    }
    let parts = pools.0.keys();
    let roots: BTreeSet<BufferId> = parts.map(|part| pools.find(*part).0).collect();
    for kernel in &mut func.kernels {
        // A pool is live while any of its parts may be.
        retain_stmts(&mut kernel.body, &mut |stmt| match &stmt.kind {
            StmtKind::Alloc(id) => !roots.contains(id) && !pools.0.contains_key(id),
            _ => true,
        });
        change_views(&mut kernel.body, &mut |view: &mut View| {
            let (root, place) = pools.find(view.buffer);
            view.buffer = root;
            view.offset = &view.offset + &place;
        });
        start_handles(&mut kernel.body, first_tiles);
    }
}

/// Sets the initial values of the handles of placeholders.
fn start_handles(stmts: &mut [Stmt], first: &BTreeMap<LocalId, Sym>) {
    for stmt in stmts {
        if let StmtKind::Let {
            local,
            value: Some(value),
        } = &mut stmt.kind
            && let Some(tile) = first.get(local)
        {
            *value = Expr::index(tile.clone(), value.span);
        }
        for block in stmt.kind.blocks_mut() {
            start_handles(block, first);
        }
    }
}
