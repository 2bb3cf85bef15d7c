//! WGMMA wait insertion: when a warpgroup waits for its MMAs.
//!
//! MMAs are asynchronous, and must be complete wherever the program could observe them: before an
//! access to their registers, before other threads may access an operand (a barrier, a `trigger`),
//! and where the control flow of threads may diverge. A wait is inserted there. An operand cannot
//! be overwritten without a preceding barrier or `trigger`: the barrier pass has treated MMAs as
//! reads by the whole warpgroup. A `trigger` that cannot lead to such a write ([`releases`]) leaves
//! MMAs in flight for which the program waits.
//!
//! Consecutive MMAs, and loops that consist only of these, form an MMA group: one fence before it,
//! one commit at its end. An MMA for which the program waits explicitly is a group of its own.
//! Consumers of rings are handled by [`release_pipelining`].

use super::mma_group::{
    MmaGroup, Registers, concerns_mmas, has, is_mma_group, is_part_of_group, operation, step,
};
use super::releases::{Passed, Releases};
use super::{computed_first, release_pipelining, zero_initialisation};
use crate::ir::{
    Access, BarrierScope, BufferId, EventAt, EventId, Expr, ExprKind, Function, KernelId, MmaOp,
    Step, Stmt, StmtKind, ThreadSet, View, Visit, any_in, walk_block,
};
use crate::source::Span;

use crate::sorted::SortedSet;

/// Inserts fences, commits and waits for the MMAs of a kernel.
pub fn insert(function: &mut Function, id: KernelId) {
    let Some(kernel) = function.kernels.get(id.index()) else {
        return;
    };
    if !has(&kernel.body, &concerns_mmas) {
        return;
    }
    let end = kernel.span;
    function.with_kernel_body(id, |function, body| {
        let whole = body.clone();
        let releases = Releases::of(function, &whole);
        let mut inserter = Inserter {
            function,
            whole: &whole,
            releases,
            passed: Vec::new(),
            threads: None,
        };
        let mut in_flight = InFlight::default();
        inserter.block(body, &mut in_flight);
        in_flight.wait_at_end(body, end);
    });
}

/// The groups of MMAs that may be in flight, the oldest first.
#[derive(Clone, Default)]
struct InFlight(Vec<Group>);

#[derive(Clone)]
struct Group {
    /// The program's number for it, if it waits for it explicitly.
    operation: Option<u32>,
    registers: Registers,
    /// The events whose triggers must wait for it; `None`: those of all events.
    released_by: Option<SortedSet<EventId>>,
}

impl Group {
    fn is_released_by(&self, at: &EventAt) -> bool {
        let events = self.released_by.as_ref().filter(|_| !at.cluster);
        events.is_none_or(|events| events.contains(&at.event))
    }
}

/// The maximum number of younger groups that a wait can leave in flight.
const YOUNGER: usize = 7;

impl InFlight {
    /// Waits for all of them.
    fn wait(&mut self, out: &mut Vec<Stmt>, span: Span) {
        self.wait_for(self.0.len(), out, span);
    }

    /// Waits for the oldest groups.
    fn wait_for(&mut self, oldest: usize, out: &mut Vec<Stmt>, span: Span) {
        let younger = self.0.len().saturating_sub(oldest).min(YOUNGER);
        let over = self.0.drain(..self.0.len() - younger);
        let registers: Registers = over.flat_map(|group| group.registers).collect();
        if !registers.is_empty() {
            let registers: Vec<BufferId> = registers.into_iter().collect();
            let younger = u32::try_from(younger).unwrap_or(0);
            out.push(step(Step::wait(younger, &registers), span));
        }
    }

    fn wait_at_end(&mut self, stmts: &mut Vec<Stmt>, span: Span) {
        let at = stmts.last().map_or(span, |s| s.span);
        self.wait(stmts, at);
    }

    /// The number of groups up to the youngest one that satisfies `found`.
    fn up_to(&self, found: impl Fn(&Group) -> bool) -> usize {
        self.0.iter().rposition(found).map_or(0, |at| at + 1)
    }
}

struct Inserter<'a> {
    function: &'a mut Function,
    /// The kernel's body before the pass.
    whole: &'a [Stmt],
    releases: Releases,
    /// The waits before this point in the lists of statements around it.
    passed: Vec<Passed>,
    /// The threads of the enclosing region.
    threads: Option<ThreadSet>,
}

impl Inserter<'_> {
    /// Walks `stmts`; `in_flight` is the state at their start, and then at their end.
    fn block(&mut self, stmts: &mut Vec<Stmt>, in_flight: &mut InFlight) {
        zero_initialisation::elide_fills(self.function, stmts);
        let passed_outside = self.passed.len();
        let mut out = Vec::with_capacity(stmts.len());
        let mut rest = std::mem::take(stmts).into_iter().peekable();
        while let Some(stmt) = rest.next() {
            if !is_mma_group(&stmt) {
                self.statement(stmt, in_flight, &mut out);
                continue;
            }
            let operation = operation(&stmt);
            let mut mma_group = vec![stmt];
            while operation.is_none()
                && let Some(next) = rest.next_if(is_part_of_group)
            {
                mma_group.push(next);
            }
            let mma_group = MmaGroup(mma_group);
            in_flight.0.push(Group {
                operation,
                registers: mma_group.registers().into_iter().collect(),
                released_by: self.released_by(operation, &mma_group),
            });
            out.extend(mma_group.issued());
        }
        self.passed.truncate(passed_outside);
        *stmts = out;
    }

    fn released_by(&self, operation: Option<u32>, mmas: &MmaGroup) -> Option<SortedSet<EventId>> {
        operation?;
        let by = (self.passed.as_slice(), self.threads.as_ref()?);
        self.releases
            .of_group(self.function, self.whole, &mmas.0, by)
    }

    fn statement(&mut self, mut stmt: Stmt, in_flight: &mut InFlight, out: &mut Vec<Stmt>) {
        let span = stmt.span;
        self.passed.iter_mut().for_each(|p| p.triggers_of(&stmt));
        if let StmtKind::WaitEvent(at) = &stmt.kind {
            self.passed.extend(Passed::of(self.function, at));
        }
        if let StmtKind::Mma(op) = &stmt.kind {
            match **op {
                MmaOp::CommitAll(()) => return in_flight.wait(out, span),
                MmaOp::WaitMma(id) => {
                    let oldest = in_flight.up_to(|group| group.operation == Some(id));
                    return in_flight.wait_for(oldest, out, span);
                }
                _ => {}
            }
        }
        if let StmtKind::Trigger(at) = &mut stmt.kind {
            in_flight.wait_for(in_flight.up_to(|group| group.is_released_by(at)), out, span);
            if !in_flight.0.is_empty() {
                at.sharing.after = computed_first::values(self.function, out);
            }
            out.push(stmt);
            return;
        }
        if !stmt.kind.blocks().any(|block| has(block, &concerns_mmas)) {
            let oldest = match may_observe_mma(&stmt) {
                true => in_flight.0.len(),
                false => {
                    let accessed = fragments_of(&stmt);
                    in_flight.up_to(|group| !group.registers.is_disjoint(&accessed))
                }
            };
            in_flight.wait_for(oldest, out, span);
            out.push(stmt);
            return;
        }
        if let Some(delayed) = release_pipelining::delayed(self.function, self.whole, &stmt) {
            in_flight.wait(out, span);
            out.extend(delayed);
            return;
        }
        match &mut stmt.kind {
            // Both branches end without MMAs in flight.
            StmtKind::If {
                then, otherwise, ..
            } => {
                for way in [then, otherwise] {
                    let mut own = in_flight.clone();
                    self.block(way, &mut own);
                    own.wait_at_end(way, span);
                }
                in_flight.0.clear();
            }
            StmtKind::Parallel { body, .. } => self.block(body, in_flight),
            // No MMAs are in flight between iterations: ptxas would serialise them. Nor between
            // regions, whose threads are different.
            kind => {
                in_flight.wait(out, span);
                let outside = self.threads.clone();
                if let StmtKind::Region { set, .. } = kind {
                    self.threads = set.clone();
                }
                for inner in kind.blocks_mut() {
                    let mut own = InFlight::default();
                    self.block(inner, &mut own);
                    own.wait_at_end(inner, span);
                }
                self.threads = outside;
            }
        }
        out.push(stmt);
    }
}

/// Whether a statement without MMAs lets other threads access operands, or leaves the code that
/// would wait.
fn may_observe_mma(stmt: &Stmt) -> bool {
    let observes = |stmt: &Stmt| match &stmt.kind {
        // Lanes of one warp do not share operands.
        StmtKind::Barrier { scope, .. } => !matches!(scope, BarrierScope::Lanes(_)),
        StmtKind::Trigger(_)
        | StmtKind::Region { .. }
        | StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Yield
        | StmtKind::Cpp { .. } => true,
        _ => false,
    };
    let calls = |e: &Expr| matches!(&*e.kind, ExprKind::Call(_));
    any_in(std::slice::from_ref(stmt), observes, calls)
}

/// The fragments and other buffers that a statement accesses.
fn fragments_of(stmt: &Stmt) -> Registers {
    struct Find(Registers);
    impl Visit for Find {
        fn stmt(&mut self, stmt: &Stmt) {
            if let StmtKind::Mma(op) = &stmt.kind {
                self.0.extend(op.parts().iter().map(|part| part.buffer));
            }
        }
        fn access(&mut self, access: &Access, _written: bool) {
            self.0.insert(access.view.buffer);
        }
        fn view(&mut self, view: &View) {
            self.0.insert(view.buffer);
        }
    }
    let mut find = Find(Registers::new());
    walk_block(std::slice::from_ref(stmt), &mut find);
    find.0
}
