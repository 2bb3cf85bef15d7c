//! Replaces views of parts of pools by views of the pools.

use crate::ir::{
    BufferId, Expr, Facts, Function, LocalId, PoolParts, Stmt, StmtKind, View, change_views,
    retain_stmts,
};
use crate::sorted::{SortedMap, SortedSet};
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
    let roots: SortedSet<BufferId> = parts.map(|part| pools.find(*part).0).collect();
    let mut to_pool = |view: &mut View| {
        let (root, place) = pools.find(view.buffer);
        view.buffer = root;
        view.offset = &view.offset + &place;
    };
    change_views(&mut func.body, &mut to_pool);
    allocate_together(&mut func.body, pools, &mut SortedSet::new());
    for kernel in &mut func.kernels {
        // A pool is live while any of its parts may be.
        retain_stmts(&mut kernel.body, &mut |stmt| match &stmt.kind {
            StmtKind::Alloc(id) => !roots.contains(id) && !pools.0.contains_key(id),
            _ => true,
        });
        change_views(&mut kernel.body, &mut to_pool);
        start_handles(&mut kernel.body, first_tiles);
    }
}

/// Buffers of the host are allocated where the first of their pool is.
fn allocate_together(stmts: &mut Vec<Stmt>, pools: &PoolParts, made: &mut SortedSet<BufferId>) {
    stmts.retain_mut(|stmt| {
        for block in stmt.kind.blocks_mut() {
            allocate_together(block, pools, made);
        }
        match &mut stmt.kind {
            StmtKind::Alloc(id) => {
                *id = pools.find(*id).0;
                made.insert(*id)
            }
            StmtKind::Fetch(id) => {
                *id = pools.find(*id).0;
                true
            }
            _ => true,
        }
    });
}

/// Sets the initial values of the handles of placeholders.
fn start_handles(stmts: &mut [Stmt], first: &SortedMap<LocalId, Sym>) {
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
