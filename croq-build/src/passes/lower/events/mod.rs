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

mod answers;
mod beginning;
mod checks;
mod comparison;
mod counts;
mod declared_again;
mod first_iteration;
mod fusion;
mod leavers;
mod lowering;
mod numbered_waits;
mod one_slot;
mod overwritten;
mod own_tiles;
mod readers;
mod single_thread;
mod threads;
mod trip_counts;
mod unordered;

pub use answers::{is_answer, is_in_slot, slot};
pub use beginning::{Beginning, Slots};
pub use lowering::{arrive, place, wait};
pub use numbered_waits::number as number_waits;

use crate::diagnostics::Diagnostics;
use crate::ir::build;
use crate::ir::{
    BarrierReason, BarrierScope, EventId, Expr, Function, KernelId, LocalId, Role, Scalar, Slot,
    Stmt, StmtKind, ThreadSet, Unroll, Visit, walk_block,
};
use crate::passes::analysis::uniformity::Uniformity;
use crate::source::Span;
use crate::symbolic::Sym;
use threads::Threads;

/// Reports accesses of different regions that no event orders.
pub fn check_order(function: &Function, id: KernelId, diags: &mut Diagnostics) {
    unordered::check(function, id, diags);
    overwritten::check(function, id, diags);
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
            let one_slot_each = one_slot::is_for_each_thread(function, body, event);
            if let Some(info) = function.events.get_mut(event.index()) {
                info.one_slot_each = one_slot_each;
            }
            let (local, first) = phases(function, event, span);
            let value = Some(first);
            declared.push(Stmt::new(StmtKind::Let { local, value }, span));
        }
        let all_threads = threads
            .as_int()
            .and_then(|n| u32::try_from(n).ok())
            .map(ThreadSet::first);
        let whole = body.clone();
        let iterations = Iterations {
            function,
            whole: &whole,
        };
        iterations.close(body, all_threads.as_ref(), None);
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
        if info.phase_bits() > 32 {
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

/// The iterations of loops in which threads wait.
struct Iterations<'a> {
    function: &'a Function,
    /// The kernel's body.
    whole: &'a [Stmt],
}

impl Iterations<'_> {
    /// Synchronises threads after a wait in a loop if they trigger nothing in the loop, because
    /// they might miss a phase.
    ///
    /// A thread answers if all threads of its region trigger an event in the same loop: the threads
    /// that publish the next generation wait for that, if they follow a protocol of credits.
    fn close(&self, stmts: &mut Vec<Stmt>, set: Option<&ThreadSet>, answered: Option<bool>) {
        let several = set.is_none_or(|s| s.len() > 1);
        let mut at = 0;
        while let Some(stmt) = stmts.get_mut(at) {
            at += 1;
            let span = stmt.span;
            match &mut stmt.kind {
                StmtKind::WaitEvent(waited) if several && answered == Some(false) => {
                    let name = self.function.event(waited.event).name.clone();
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
                    let inside = answered.map(|_| self.answer(body, set.as_ref()));
                    self.close(body, set.as_ref(), inside);
                }
                StmtKind::For { body, .. } | StmtKind::While { body, .. } => {
                    let inside = self.answer(body, set);
                    self.close(body, set, Some(inside));
                }
                kind => {
                    for block in kind.blocks_mut() {
                        self.close(block, set, answered);
                    }
                }
            }
        }
    }

    /// Whether all threads of `set` that execute the statements trigger an event.
    fn answer(&self, stmts: &[Stmt], set: Option<&ThreadSet>) -> bool {
        if !triggers(stmts, &|_| true) {
            return false;
        }
        // Under a condition that is not the same for all of them, some do.
        let Some(set) = set.filter(|_| !triggers(stmts, &|_| false)) else {
            return true;
        };
        let set = set.clone();
        let uniformity = Uniformity::of(self.function, self.whole, Threads { set });
        triggers(stmts, &|branch| uniformity.split(branch).is_none())
    }
}

/// Whether one of the statements triggers an event, under conditions of these branches only.
fn triggers(stmts: &[Stmt], within: &dyn Fn(&Stmt) -> bool) -> bool {
    stmts.iter().any(|stmt| match &stmt.kind {
        StmtKind::Trigger(_) => true,
        StmtKind::Region { .. } | StmtKind::SingleThread { .. } => false,
        StmtKind::If { .. } if !within(stmt) => false,
        kind => kind.blocks().any(|block| triggers(block, within)),
    })
}

#[cfg(test)]
mod tests {
    use crate::ir::{BarrierReason, StmtKind, any_stmt};
    use crate::sema::testing;

    /// Whether the threads of the second region wait for each other in each iteration.
    fn is_closed(answer: &str) -> bool {
        let text = format!(
            "__co__ void f(global s32 [N] x, global s32 [128] y, int n) {{
               parallel b by 1 : block {{
                 shared event full;
                 shared event<1> one = ready;
                 shared event<128> all = ready;
                 parallel w by 2 : group-4, t by 128 : thread {{
                   inthreads.async (w == 1) {{
                     foreach k in N {{ wait one; wait all; x.at(k) = k; trigger full; }}
                   }}
                   inthreads.async (w == 0) {{
                     foreach k in N {{ wait full; {answer} }}
                     y.at(t) = n;
                   }}
                 }}
               }}
             }}"
        );
        let function = testing::function_after(&text, "events");
        any_stmt(&function.kernels[0].body, |stmt| {
            let StmtKind::Barrier { why, .. } = &stmt.kind else {
                return false;
            };
            *why == BarrierReason::Observed("full".to_owned())
        })
    }

    #[test]
    fn threads_that_do_not_answer_wait_for_each_other() {
        assert!(!is_closed("trigger all; if (t == 0) { trigger one; }"));
        assert!(!is_closed(
            "if (k < n) { trigger all; } if (t == 0) { trigger one; }"
        ));
        assert!(is_closed("if (t == 0) { trigger one; }"));
        assert!(is_closed("inthreads (t == 0) { trigger one; }"));
        assert!(is_closed(""));
    }
}
