//! Events: who arrives, who waits, and for which phase.
//!
//! A slot of an event is an mbarrier whose phases are the event's generations. A wait asks for a phase by
//! its parity, so it can tell only the current one from the one before: no phase may go by while a thread
//! still waits for the one before it. Each thread has a bit for each slot that flips at each of its waits,
//! so that it is right in any loops; with `.at(order)` the order itself says the generation.
//!
//! [`prepare`] comes before barriers are placed, and [`checks`] before that:
//!
//! 1. [`single_thread`]: a region of which everything is done by one thread (copies by TMA, arrivals)
//!    is that thread's alone, waits included. Threads that only wait could fall two phases behind.
//! 2. [`fusion`]: a copy that such a thread makes at once, directly before a `trigger`, completes the event.
//! 3. [`counts`]: how many threads arrive in a generation.
//! 4. No block of a cluster leaves while others may still arrive at its events.
//! 5. Where some threads of a region wait in a loop and don't answer there, they meet after the wait.
//!
//! [`crate::passes::lower::tma::expand`] spells waits and arrivals out, since copies may take part in them.

mod checks;
mod counts;
mod first_iteration;
mod fusion;
mod lowering;
mod single_thread;
mod threads;
mod trip_counts;
mod unordered;

pub use lowering::{arrive, place, wait};
pub use unordered::check as check_order;

use crate::diagnostics::Diagnostics;
use crate::ir::build;
use crate::ir::{
    BarrierReason, BarrierScope, BufferId, EventId, Expr, Function, KernelId, LocalId, Role,
    Scalar, Slot, Stmt, StmtKind, ThreadSet, Unroll, Visit, walk_block,
};
use crate::source::Span;
use crate::symbolic::Sym;

/// An event's mbarriers, for the kernel's beginning.
pub struct Slots {
    pub barriers: BufferId,
    pub slots: Sym,
    pub count: Sym,
}

/// What the kernel begins with.
#[derive(Default)]
pub struct Beginning {
    pub slots: Vec<Slots>,
    /// The bits of each thread.
    pub phases: Vec<Stmt>,
    /// Other blocks of the cluster arrive at them.
    pub clustered: bool,
}

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
    function.with_kernel_body(id, |function, body| {
        checks::check(function, id, body, diags);
        single_thread::elect(function, body);
        let counted = counts::count(function, id, body, &threads, diags);
        fusion::fold(function, body);
        each_slot(function, body);
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
            beginning
                .phases
                .push(Stmt::new(StmtKind::Let { local, value }, span));
        }
        let everybody = threads
            .as_int()
            .and_then(|n| u32::try_from(n).ok())
            .map(ThreadSet::first);
        close_iterations(function, body, everybody.as_ref(), None);
        beginning.clustered = function.events.iter().any(|e| own(e) && e.clustered);
        if beginning.clustered {
            let kind = StmtKind::Barrier {
                scope: BarrierScope::Cluster,
                why: BarrierReason::Arrivals,
            };
            body.push(Stmt::new(kind, span));
        }
    });
    beginning
}

/// A thread's bits for the slots of an event, and what they are at first: the parity of the phase that
/// it waits for next.
fn phases(function: &mut Function, event: EventId, span: Span) -> (LocalId, Expr) {
    let (mut name, mut ty, mut first) = (String::new(), Scalar::U32, 0);
    if let Some(info) = function.events.get(event.index()) {
        name = format!("{}_phase", info.name);
        if info.slots > 32 {
            ty = Scalar::U64;
        }
        // A fresh mbarrier's phase of parity 1 is over.
        if info.ready {
            first = (1_i128 << info.slots) - 1;
        }
    }
    let local = function.new_local(&name, ty, true, span);
    if let Some(info) = function.events.get_mut(event.index()) {
        info.phases = Some(local);
    }
    (local, Expr::int(first, ty, span))
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

/// Whole arrays become loops over their slots.
fn each_slot(function: &mut Function, stmts: &mut [Stmt]) {
    for stmt in stmts {
        let span = stmt.span;
        let (mut at, waits) = match &stmt.kind {
            StmtKind::WaitEvent(at) if at.slot == Slot::All => (at.clone(), true),
            StmtKind::Trigger(at) if at.slot == Slot::All => (at.clone(), false),
            _ => {
                for block in stmt.kind.blocks_mut() {
                    each_slot(function, block);
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

/// In a loop, threads that wait and don't answer might miss a phase: they meet after the wait.
///
/// A thread answers if all threads of its region trigger something in the same loop: whoever publishes
/// the next generation waits for that, as far as it keeps to a protocol of credits.
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
                // The loop around is everybody's, what answers in it is here.
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

/// Something is triggered, by all that come here.
fn answers(stmts: &[Stmt]) -> bool {
    stmts.iter().any(|stmt| match &stmt.kind {
        StmtKind::Trigger(_) => true,
        StmtKind::Region { .. } | StmtKind::SingleThread { .. } => false,
        kind => kind.blocks().any(|block| answers(block)),
    })
}
