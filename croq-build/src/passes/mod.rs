//! Checks, analyses, transformations and lowerings of the kernel IR between `sema` and `emit`.
//!
//! [`table`] lists them in the order in which they run, each with what it does and why it stands where it does;
//! [`driver`] runs them, and `docs/passes.md` is written from the table. After the last pass nothing is left to decide: `emit` only spells.
//!
//! Modules that are no passes answer questions: [`differing`] says what is the same for all threads of a unit,
//! [`captures`] and [`uses`] what a kernel is given, [`spins`] which loops wait for memory.

mod accumulators;
pub mod captures;
mod checks;
mod conflicts;
mod copies;
mod differing;
pub mod driver;
mod events;
mod exact;
mod grid_copies;
mod groups;
mod hazards;
mod helpers;
mod lanes;
pub mod locals;
mod mma;
#[cfg(test)]
mod model;
mod padding;
mod participants;
pub mod pass;
pub mod phases;
mod registers;
mod seal;
mod shared;
mod signals;
pub mod spins;
pub mod table;
mod tma;
mod together;
pub mod unproven;
mod unused;
mod unwritten;
pub mod uses;
mod warps;

pub use shared::Limits;
pub use signals::awaited;

use crate::diagnostics::Diagnostics;
#[cfg(test)]
use crate::ir::Threads;
use crate::ir::{Buffer, Function, KernelId, MmaOp, MoveMode, Stmt, StmtKind, Visit, walk_block};

/// All passes but `exact-integers`, whose checks would stand in the way of tests that look at text.
#[cfg(test)]
pub fn run(
    function: Function,
    limits: Limits,
    reorder: bool,
    diags: &mut Diagnostics,
) -> Option<Function<Threads>> {
    let checks = crate::config::Checks::All;
    let mut state = pass::State::new(limits, reorder, checks, true, diags);
    let passes = table::PASSES.iter();
    let passes: Vec<_> = passes.filter(|p| p.name != "exact-integers").collect();
    driver::lower_by(&passes, function, &mut state, &mut ())
}

/// Device memory in which instances may race. Where something may order them that is no barrier of a block, the
/// simulated GPU runs blocks one after the other, to see in which order.
fn note_shared(function: &mut Function, id: KernelId, diags: &mut Diagnostics) {
    let shared = hazards::shared_by_instances(function, id, diags);
    if let Some(kernel) = function.kernels.get_mut(id.index()) {
        kernel.ordered |= shared.synchronises;
        kernel.tracked = shared.buffers;
        kernel.escaping = shared.escaping;
    }
}

/// Blocks that meet at an element of device memory, where it matters which comes first.
fn note_order(function: &mut Function, id: KernelId) {
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
        kernel.ordered |= find.1;
    }
}

fn note_asynchronous(function: &mut Function, id: KernelId) {
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
