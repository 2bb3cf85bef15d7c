//! Events: arrivals, waits, and their phases.
//!
//! A slot of an event is an mbarrier whose phases are the event's generations. A wait tests a phase
//! by its parity, so it distinguishes only the current one from the previous one: no phase may
//! complete while a thread still waits for the one before it. Each thread has a bit for each slot
//! that flips at each of its waits, so that the bit is right in any loops; with `.at(order)` the
//! order itself determines the generation.
//!
//! [`prepare`] runs before barriers are inserted, with [`checks`] first:
//!
//! 1. [`single_thread`]: a region whose work one thread can do (TMA copies, arrivals) is executed
//!    by one thread, including its waits. Threads that only wait could fall two phases behind.
//! 2. [`fusion`]: a copy that such a thread issues directly before a `trigger` completes the event.
//! 3. [`counts`]: the number of threads that arrive in a generation.
//! 4. No block of a cluster exits while others may still arrive at its events.
//! 5. [`readers`]: arrivals at other blocks that need not publish any writes.
//! 6. Threads of a region that wait in a loop and do not trigger anything in it synchronise after
//!    the wait.
//!
//! [`crate::passes::lower::tma::expand`] lowers waits and arrivals, because copies may take part in
//! them.

mod beginning;
mod checks;
mod counts;
mod declared_again;
mod first_iteration;
mod fusion;
mod leavers;
mod lowering;
mod readers;
mod single_thread;
mod threads;
mod trip_counts;
mod unordered;

pub use beginning::{Beginning, Slots};
pub use lowering::{arrive, place, wait};
pub use unordered::check as check_order;

use crate::diagnostics::Diagnostics;
use crate::ir::build;
use crate::ir::{
    BarrierReason, BarrierScope, EventId, Expr, Function, KernelId, LocalId, Role, Scalar, Slot,
    Stmt, StmtKind, ThreadSet, Unroll, Visit, walk_block,
};
use crate::source::Span;
use crate::symbolic::Sym;

pub fn prepare(function: &mut Function, id: KernelId, diags: &mut Diagnostics) -> Beginning {
    let mut beginning = Beginning::default();
    let own = |e: &crate::ir::Event| e.kernel == id.index();
    if !function.events.iter().any(own) {
        return beginning;
    }
    let Some(kernel) = function.kernels.get(id.index()) else {
        return beginning;
    };
    let (threads, span) = (kernel.threads.clone(), kernel.span);
    for event in readers::find(function, id) {
        if let Some(info) = function.events.get_mut(event.index()) {
            info.only_reads = true;
        }
    }
    function.with_kernel_body(id, |function, body| {
        checks::check(function, id, body, diags);
        single_thread::elect(function, body);
        let counted = counts::count(function, id, body, &threads, diags);
        fusion::fuse(function, body);
        expand_slots(function, body);
        let mut declared = Vec::new();
        for counts::Counted {
            event,
            count,
            sites,
        } in counted
        {
            let Some(info) = function.events.get_mut(event.index()) else {
                continue;
            };
            info.sites = sites;
            beginning.slots.push(Slots {
                barriers: info.barriers,
                slots: Sym::int(i64::from(info.slots)),
                count,
            });
            if !keeps_phases(body, event) {
                continue;
            }
            let (local, first) = phases(function, event, span);
            let value = Some(first);
            declared.push(Stmt::new(StmtKind::Let { local, value }, span));
        }
        let all_threads = threads
            .as_int()
            .and_then(|n| u32::try_from(n).ok())
            .map(ThreadSet::first);
        close_iterations(function, body, all_threads.as_ref(), None);
        declared_again::initialise(function, body, &beginning);
        body.splice(0..0, declared);
        beginning.clustered = function.events.iter().any(|e| own(e) && e.clustered);
        if beginning.clustered {
            leavers::check(body, all_threads.as_ref(), diags);
        }
    });
    beginning
}

/// A thread's phase bits for the slots of an event, and their initial value: the parity of the
/// phase for which it waits next.
fn phases(function: &mut Function, event: EventId, span: Span) -> (LocalId, Expr) {
    let (mut name, mut ty) = (String::new(), Scalar::U32);
    if let Some(info) = function.events.get(event.index()) {
        name = format!("{}_phase", info.name);
        if info.slots > 32 {
            ty = Scalar::U64;
        }
    }
    let local = function.new_local(&name, ty, true, span);
    if let Some(info) = function.events.get_mut(event.index()) {
        info.phases = Some(local);
    }
    (local, beginning::first_phases(function, event, ty, span))
}

fn keeps_phases(body: &[Stmt], event: EventId) -> bool {
    struct Find(EventId, bool);
    impl Visit for Find {
        fn stmt(&mut self, stmt: &Stmt) {
            if let StmtKind::WaitEvent(at) = &stmt.kind {
                self.1 |= at.event == self.0 && !matches!(at.slot, Slot::Order(_));
            }
        }
    }
    let mut find = Find(event, false);
    walk_block(body, &mut find);
    find.1
}

/// Replaces waits and triggers of whole arrays by loops over their slots.
fn expand_slots(function: &mut Function, stmts: &mut [Stmt]) {
    for stmt in stmts {
        let span = stmt.span;
        let (mut at, waits) = match &stmt.kind {
            StmtKind::WaitEvent(at) if at.slot == Slot::All => (at.clone(), true),
            StmtKind::Trigger(at) if at.slot == Slot::All => (at.clone(), false),
            _ => {
                for block in stmt.kind.blocks_mut() {
                    expand_slots(function, block);
                }
                continue;
            }
        };
        let slots = Sym::int(i64::from(function.event(at.event).slots));
        let (local, slot) = build::index(function, "slot", Role::Loop, Some(&slots), span);
        at.slot = Slot::At(slot);
        let one = match waits {
            true => StmtKind::WaitEvent(at),
            false => StmtKind::Trigger(at),
        };
        stmt.kind = StmtKind::For {
            local,
            lo: Sym::zero(),
            hi: slots,
            step: Sym::one(),
            unroll: Some(Unroll::Full),
            body: vec![Stmt::new(one, span)],
        };
    }
}

/// Synchronises threads after a wait in a loop if they trigger nothing in the loop, because they
/// might miss a phase.
///
/// A thread answers if all threads of its region trigger an event in the same loop: the threads
/// that publish the next generation wait for that, if they follow a protocol of credits.
fn close_iterations(
    function: &Function,
    stmts: &mut Vec<Stmt>,
    set: Option<&ThreadSet>,
    answered: Option<bool>,
) {
    let several = set.is_none_or(|s| s.len() > 1);
    let mut at = 0;
    while let Some(stmt) = stmts.get_mut(at) {
        at += 1;
        let span = stmt.span;
        match &mut stmt.kind {
            StmtKind::WaitEvent(waited) if several && answered == Some(false) => {
                let name = function.event(waited.event).name.clone();
                let kind = StmtKind::Barrier {
                    scope: BarrierScope::Block,
                    why: BarrierReason::Observed(name),
                };
                stmts.insert(at, Stmt::new(kind, span));
                at += 1;
            }
            StmtKind::Region { set, body, .. } => {
                // All threads execute the enclosing loop; the triggers that answer are in this
                // region.
                let inside = answered.map(|_| answers(body));
                close_iterations(function, body, set.as_ref(), inside);
            }
            StmtKind::For { body, .. } | StmtKind::While { body, .. } => {
                let inside = answers(body);
                close_iterations(function, body, set, Some(inside));
            }
            kind => {
                for block in kind.blocks_mut() {
                    close_iterations(function, block, set, answered);
                }
            }
        }
    }
}

/// Whether all threads that execute the statements trigger an event.
fn answers(stmts: &[Stmt]) -> bool {
    stmts.iter().any(|stmt| match &stmt.kind {
        StmtKind::Trigger(_) => true,
        StmtKind::Region { .. } | StmtKind::SingleThread { .. } => false,
        kind => kind.blocks().any(|block| answers(block)),
    })
}
