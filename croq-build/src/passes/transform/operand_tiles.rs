//! Zero fill for tiles at the edge of the data that an MMA reads.
//!
//! A copy of such a tile writes only the elements that the data covers, but an MMA reads the whole
//! tile, so elements beyond the edge of K would be added to the results. Zeros do not change them.
//! TMA writes zeros by itself.

use crate::ir::{BufferId, Function, KernelId, MmaOp, Stmt, StmtKind, Storage, Valid, any_stmt};
use crate::sorted::SortedSet;

/// Sets zero fill for copies from global memory into the buffers of operands.
pub fn fill(function: &mut Function, id: KernelId) {
    let read = function
        .kernels
        .get(id.index())
        .map(|kernel| operands(function, &kernel.body))
        .unwrap_or_default();
    if read.is_empty() {
        return;
    }
    function.with_kernel_body(id, |function, body| copies(function, body, &read));
}

/// The shared buffers that MMAs read, directly or through fragments.
fn operands(function: &Function, body: &[Stmt]) -> SortedSet<BufferId> {
    let mut found = SortedSet::new();
    any_stmt(body, |stmt| {
        if let StmtKind::Mma(op) = &stmt.kind {
            match &**op {
                MmaOp::Load { source, .. } => {
                    found.insert(source.buffer);
                }
                MmaOp::WarpgroupMma(op) => found.extend(op.tiles().map(|tile| tile.view.buffer)),
                _ => {}
            }
        }
        false
    });
    found.retain(|id| function.buffer(*id).storage == Storage::Shared);
    found
}

fn copies(function: &Function, stmts: &mut [Stmt], read: &SortedSet<BufferId>) {
    for stmt in stmts {
        if let StmtKind::Copy(copy) = &mut stmt.kind
            && copy.engine.is_threads()
            && copy.source.valid.iter().any(is_cut)
            && function.buffer_is_global(copy.source.buffer)
            && read.contains(&copy.dest.buffer)
        {
            copy.zero_fill = true;
        }
        for block in stmt.kind.blocks_mut() {
            copies(function, block, read);
        }
    }
}

fn is_cut(valid: &Valid) -> bool {
    valid.lo.is_some() || valid.hi.is_some()
}
