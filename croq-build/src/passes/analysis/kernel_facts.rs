//! Facts about a kernel's body that are recorded in its description.

use crate::diagnostics::Diagnostics;
use crate::ir::{Buffer, Function, KernelId, MmaOp, MoveMode, Stmt, StmtKind, Visit, walk_block};
use crate::passes::transform::barriers;

/// Records the device buffers on which instances may race. Where they may be ordered by anything
/// but a block's barriers, the simulated GPU runs the blocks one after the other, in order to
/// observe that order.
///
/// Without `for_text` these facts are incomplete.
pub fn note_shared(function: &mut Function, id: KernelId, for_text: bool, diags: &mut Diagnostics) {
    let shared = barriers::shared_by_instances(function, id, for_text, diags);
    if let Some(kernel) = function.kernels.get_mut(id.index()) {
        kernel.facts.ordered |= shared.synchronises;
        kernel.facts.tracked = shared.buffers;
        kernel.facts.escaping = shared.escaping;
    }
}

/// Records whether the result of the blocks' atomic operations on device memory depends on their
/// order.
pub fn note_order(function: &mut Function, id: KernelId) {
    struct Find<'a>(&'a [Buffer], bool);
    impl Visit for Find<'_> {
        fn stmt(&mut self, stmt: &Stmt) {
            if let StmtKind::Atomic(atomic) = &stmt.kind {
                let buffer = self.0.get(atomic.access.view.buffer.index());
                let of_all = buffer.is_some_and(|b| b.storage.is_global());
                self.1 |= of_all && atomic.depends_on_order();
            }
        }
    }
    if let Some(kernel) = function.kernels.get_mut(id.index()) {
        let mut find = Find(&function.buffers, false);
        walk_block(&kernel.body, &mut find);
        kernel.facts.ordered |= find.1;
    }
}

pub fn note_asynchronous(function: &mut Function, id: KernelId) {
    #[derive(Default)]
    struct Find(bool, bool);
    impl Visit for Find {
        fn stmt(&mut self, stmt: &Stmt) {
            self.0 |= match &stmt.kind {
                StmtKind::Move(m) => matches!(m.mode, MoveMode::Async { .. }),
                StmtKind::CommitCopies | StmtKind::WaitCopies { .. } | StmtKind::Tma(_) => true,
                _ => false,
            };
            self.1 |= matches!(&stmt.kind, StmtKind::Mma(op) if matches!(**op, MmaOp::Step(_)));
        }
    }
    if let Some(kernel) = function.kernels.get_mut(id.index()) {
        let mut find = Find::default();
        walk_block(&kernel.body, &mut find);
        kernel.warpgroups = find.1;
        kernel.asynchronous = find.0 || find.1;
    }
}
