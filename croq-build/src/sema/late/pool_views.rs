//! Views of parts of pools become views of the pools.

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::{self, BufferId, Expr, LocalId, Stmt, StmtKind, View, change_views, retain_stmts};
use crate::sema::state::facts::Facts;
use crate::symbolic::Sym;

/// Rewrites every view of a part; fills in the first tiles of placeholders.
pub(crate) fn rewrite_views(func: &mut ir::Function, facts: &Facts) {
    if facts.pools.part_of.is_empty() && facts.first_tiles.is_empty() {
        return;
    }
    let pools = &facts.pools;
    for buffer in pools.part_of.keys() {
        let (read, written) = (func.buffer(*buffer).read, func.buffer(*buffer).written);
        let (root, _) = pools.find(*buffer);
        if let Some(root) = func.buffers.get_mut(root.index()) {
            root.read |= read;
            root.written |= written;
        }
    }
    let roots: BTreeSet<BufferId> = pools
        .part_of
        .keys()
        .map(|part| pools.find(*part).0)
        .collect();
    for kernel in &mut func.kernels {
        // A pool lives as long as any of its parts may.
        retain_stmts(&mut kernel.body, &mut |stmt| match &stmt.kind {
            StmtKind::Alloc(id) => !roots.contains(id) && !pools.part_of.contains_key(id),
            _ => true,
        });
        change_views(&mut kernel.body, &mut |view: &mut View| {
            let (root, place) = pools.find(view.buffer);
            view.buffer = root;
            view.offset = &view.offset + &place;
        });
        first_tiles(&mut kernel.body, &facts.first_tiles);
    }
}

pub(crate) fn first_tiles(stmts: &mut [Stmt], first: &BTreeMap<LocalId, Sym>) {
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
            first_tiles(block, first);
        }
    }
}
