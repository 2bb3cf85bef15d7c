//! Rewrites of the kernel IR between `sema` and `emit`. Each is a page or a folder of its own:
//!
//! 1. [`grid_copies`]: copies and fills between kernels are spread over a grid.
//! 2. [`helpers`]: blocks that the program gave only one thread get more.
//! 3. [`lanes`]: which index of a level is the fastest among its threads, where nothing can tell.
//! 4. [`events`]: who arrives at them; [`tma`]: where what the copy engine moves arrives.
//! 5. [`hazards`]: barriers, where threads must wait for each other.
//! 6. [`accumulators`]: elements that a loop updates are held in variables.
//! 7. [`padding`]: rows of transposed tiles are set apart.
//!    [`conflicts`] then says which accesses of shared memory the banks serve slowly.
//! 8. [`shared`]: shared buffers get addresses; those that don't live at the same time may get the same.
//! 9. [`participants`]: which of the hardware's barriers each one is.
//! 10. [`groups`]: elements of swizzled buffers are found by groups.
//! 11. [`tma`] and [`copies`]: copies and fills in kernels become what single threads do.
//! 12. [`accumulators`] again, where copies were in the way.
//! 13. [`warps`]: which warp a thread is in, and who speaks for one, told in words that ptxas understands.
//! 14. [`unused`]: names that nothing reads any more are dropped.
//!
//! [`signals`] looks at the host's events: whether it waits for launches that it has yet to tell something.
//!
//! [`mma`] comes before all others: fragments become what single threads have of them. Its products, loads
//! and stores become instructions between [`participants`] and [`groups`].
//!
//! Before them [`lower_checks`] leaves run-time checks out, where a build asks for fewer.
//!
//! [`differing`] answers [`tma`], [`together`] and [`events`] what is the same for all blocks of a cluster, all threads
//! of a grid, or of a region. [`together`] checks that all of a grid come to its barriers.
//!
//! After all others [`exact`] sees to it that no integer overflows that text computes.
//!
//! Afterwards nothing is left to decide: `emit` only spells. [`captures`] and [`uses`] answer its
//! questions about what a kernel is given, [`spins`] about loops that wait for memory.

mod accumulators;
pub mod captures;
mod checks;
mod conflicts;
mod copies;
mod differing;
mod events;
mod exact;
mod fresh;
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
pub mod phases;
mod registers;
mod shared;
mod signals;
pub mod spins;
mod tma;
mod together;
pub mod unproven;
mod unused;
mod unwritten;
pub mod uses;
mod warps;

pub use checks::lower as lower_checks;
pub use exact::check as keep_exact;

pub use shared::Limits;
pub use signals::awaited;

use crate::diagnostics::Diagnostics;
use crate::ir::{Buffer, Function, KernelId, MmaOp, MoveMode, Stmt, StmtKind, Visit, walk_block};

/// Runs all of them over a function that `sema` accepted. What only shows here is reported.
/// `reorder`: threads may get their indices in another order than the program's.
pub fn run(function: &mut Function, limits: Limits, reorder: bool, diags: &mut Diagnostics) {
    signals::check(function, diags);
    for at in 0..function.kernels.len() {
        unwritten::find(function, KernelId(u32::try_from(at).unwrap_or(u32::MAX)));
    }
    mma::prepare(function);
    for at in 0..function.kernels.len() {
        let id = KernelId(u32::try_from(at).unwrap_or(u32::MAX));
        if !grid_copies::spread(function, id) {
            note_shared(function, id, diags);
            if let Some(note) = helpers::add(function, id) {
                diags.push(note);
            }
            if reorder {
                lanes::choose(function, id);
            }
            tma::check_multicast(function, id, diags);
            together::check(function, id, diags);
            events::check_order(function, id, diags);
            registers::settle(function, id, diags);
            let events = events::prepare(function, id, diags);
            tma::check_regions(function, id, diags);
            tma::prepare(function, id, events);
            hazards::insert_barriers(function, id);
            accumulators::hold(function, id);
            padding::set_apart(function, id);
            for turns in conflicts::told(function, id) {
                diags.push(turns);
            }
            shared::plan(function, id, limits);
            participants::name(function, id, diags);
            mma::expand(function, id);
            groups::place(function, id);
            tma::expand(function, id);
            for slow in copies::expand(function, id) {
                diags.push(slow);
            }
        }
        note_asynchronous(function, id);
        note_order(function, id);
        accumulators::hold_around_copies(function, id);
        warps::tell(function, id);
        unused::drop_from(function, id);
        let kernel = function.kernels.get(id.index());
        if let Some(excess) = kernel.and_then(|kernel| shared::excess(function, kernel, limits)) {
            diags.push(excess);
        }
    }
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
