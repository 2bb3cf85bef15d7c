//! The memory accesses of TMA, and their order.
//!
//! One thread of a unit issues a load or a store. The bytes of a load are visible to every thread
//! that waits for it, and code after the wait is also ordered after everything that the issuing
//! thread did before it. A store has read its source when the statement is complete, with respect
//! to the issuing thread.

use super::access::MemAccess;
use super::pending::Pending;
use crate::ir::{
    Access, Arg, BufferId, Copy, CppName, Engine, Expr, ExprKind, FenceScope, Function, MmaOp,
    Stmt, StmtKind, Visit, walk_block,
};
use crate::sorted::SortedSet;

/// Buffers that TMA or MMAs of warpgroups read or write: by the async proxy, which does not see
/// unfenced writes of threads.
pub fn moved(body: &[Stmt]) -> SortedSet<BufferId> {
    struct Find(SortedSet<BufferId>);
    impl Visit for Find {
        fn stmt(&mut self, stmt: &Stmt) {
            if let StmtKind::Copy(copy) = &stmt.kind
                && !copy.engine.is_threads()
            {
                self.0.extend([copy.source.buffer, copy.dest.buffer]);
            }
            if let StmtKind::Mma(op) = &stmt.kind
                && let MmaOp::WarpgroupMma(mma) = &**op
            {
                self.0.extend(mma.tiles().map(|t| t.view.buffer));
            }
        }
    }
    let mut find = Find(SortedSet::new());
    walk_block(body, &mut find);
    find.0
}

/// Sources and destinations of loads that write shared memory of all blocks of a cluster.
pub fn clustered(body: &[Stmt]) -> SortedSet<BufferId> {
    struct Find(SortedSet<BufferId>);
    impl Visit for Find {
        fn stmt(&mut self, stmt: &Stmt) {
            if let StmtKind::Copy(copy) = &stmt.kind
                && is_multicast_without_event(copy)
            {
                self.0.extend([copy.source.buffer, copy.dest.buffer]);
                self.0.extend(copy.engine.arrival().map(|a| a.barriers));
            }
        }
    }
    let mut find = Find(SortedSet::new());
    walk_block(body, &mut find);
    find.0
}

/// Whether all threads of the cluster must have finished with the previous contents before the
/// copy. A copy that completes an event is ordered by events.
pub fn is_multicast_without_event(copy: &Copy) -> bool {
    let event = matches!(&copy.engine, Engine::Tma(tma) if tma.event.is_some());
    copy.engine.is_multicast() && !event
}

/// The memory to be fenced: shared memory, or device memory as well, if threads write where TMA
/// reads or writes.
pub fn fence(function: &Function, body: &[Stmt], by_tma: &SortedSet<BufferId>) -> FenceScope {
    struct Find<'a> {
        function: &'a Function,
        by_tma: &'a SortedSet<BufferId>,
        found: bool,
    }
    impl Find<'_> {
        fn written(&mut self, id: BufferId) {
            let buffer = self.function.buffers.get(id.index());
            self.found |=
                self.by_tma.contains(&id) && buffer.is_some_and(|b| b.storage.is_global());
        }
    }
    impl Visit for Find<'_> {
        fn stmt(&mut self, stmt: &Stmt) {
            match &stmt.kind {
                StmtKind::Copy(copy) if copy.engine.is_threads() => self.written(copy.dest.buffer),
                StmtKind::Fill { view, .. } => self.written(view.buffer),
                StmtKind::Mma(op) => {
                    for (view, written) in op.views() {
                        if written {
                            self.written(view.buffer);
                        }
                    }
                }
                StmtKind::Cpp { names, .. } => {
                    for name in names {
                        if let CppName::Buffer(id) = name {
                            self.written(*id);
                        }
                    }
                }
                _ => {}
            }
        }
        fn access(&mut self, access: &Access, written: bool) {
            if written {
                self.written(access.view.buffer);
            }
        }
        fn expr(&mut self, expr: &Expr) {
            if let ExprKind::Call(call) = &*expr.kind {
                for mut arg in &call.args {
                    while let Arg::Cast(_, inner) = arg {
                        arg = inner;
                    }
                    if let Arg::Pointer(view) = arg {
                        self.written(view.buffer);
                    }
                }
            }
        }
    }
    let mut find = Find {
        function,
        by_tma,
        found: false,
    };
    walk_block(body, &mut find);
    if find.found {
        FenceScope::AsyncProxyEverywhere
    } else {
        FenceScope::AsyncProxy
    }
}

/// The last statement is a proxy fence.
pub fn after_fences(stmts: &[Stmt]) -> bool {
    let last = stmts.last().map(|s| &s.kind);
    matches!(
        last,
        Some(StmtKind::Fence(
            FenceScope::AsyncProxy | FenceScope::AsyncProxyEverywhere
        ))
    )
}

/// Whether TMA copies of other blocks may read or overwrite data that threads of this block have
/// written without a proxy fence.
pub fn has_unfenced_global_writes(
    function: &Function,
    stmts: &[Stmt],
    at: usize,
    pending: &Pending,
) -> bool {
    let is_global = |access: &MemAccess| {
        let buffer = function.buffers.get(access.buffer.index());
        buffer.is_some_and(|b| b.storage.is_global())
    };
    let fenced = stmts.get(..at).is_some_and(after_fences);
    let mut accesses = pending.accesses().iter();
    !fenced && accesses.any(|access| access.needs_proxy_fence && is_global(access))
}
