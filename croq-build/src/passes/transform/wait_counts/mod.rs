//! Wait counts: the copies that may be in flight at each point of a kernel, and the number of
//! younger ones.
//!
//! A thread's asynchronous copies form groups, one for each copy, that complete in the order in
//! which they were issued. A `wait` can leave the youngest groups in flight, and should: waiting
//! for the older of two copies must not wait for both. So the walk keeps, for each future that may
//! be in flight, the minimal number of copies issued after it, over all paths; loops are walked
//! until a fixpoint is reached.
//!
//! Where the branches of an `if` begin different numbers of copies, the branch with fewer gets
//! empty groups, so that the count is the same on all paths.

use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::ir::{
    Access, Atomic, BufferId, Copy, Function, FutureId, KernelId, Level, Stmt, StmtKind, Valid,
    View, Visit, Waited, overlaps, store_overlaps, walk_block,
};
use crate::sorted::{SortedMap, SortedSet};
use crate::source::Span;
use crate::symbolic::{Ctx, Sym};
use flight::{Begun, Flight};

mod copy_groups;
mod flight;

#[derive(Default)]
struct Exits {
    breaks: Flight,
    continues: Flight,
}

/// What a loop ends after, besides a `break`.
enum After {
    /// Its condition, which it computes in each iteration.
    Condition,
    /// An iteration; there is at least one.
    Iteration,
    IterationOrNone,
}

struct Walker<'c> {
    func: &'c Function,
    diags: &'c mut Diagnostics,
    loops: Vec<Exits>,
    /// The last walk, which reports and records the wait counts.
    last: bool,
    /// Copies whose early use was reported: one report for each.
    reported: SortedSet<Begun>,
    /// The sources of copies issued in this iteration of the enclosing loops: an index has the same
    /// value there and here.
    sources: SortedMap<Begun, View>,
    /// Likewise their destinations, where these are fixed.
    dests: SortedMap<Begun, View>,
    /// The destination and the level of each copy.
    dest_of: SortedMap<Begun, (BufferId, Level)>,
}

/// Computes the wait count of each `wait` of the kernel.
pub fn count(func: &mut Function, id: KernelId, diags: &mut Diagnostics) {
    func.with_kernel_body(id, |func, body| {
        let count = copy_groups::balance(body);
        if count != Some(0) || copy_groups::has_asynchronous(body) {
            let mut walker = Walker {
                func,
                diags,
                loops: Vec::new(),
                last: true,
                reported: SortedSet::new(),
                sources: SortedMap::new(),
                dests: SortedMap::new(),
                dest_of: SortedMap::new(),
            };
            let end = walker.block(body, Flight::default());
            walker.report_unwaited(&end);
        }
        copy_groups::drop_marks(body);
    });
}

impl Walker<'_> {
    fn name(&self, id: FutureId) -> String {
        let future = self.func.futures.get(id.index());
        future.map(|f| f.name.clone()).unwrap_or_default()
    }

    /// Reports copies that are in flight where the kernel ends.
    fn report_unwaited(&mut self, end: &Flight) {
        for (id, (_, begun)) in &end.copies {
            self.diags
                .push(unwaited(&self.name(*id), begun.span, "the kernel's end"));
        }
    }

    fn block(&mut self, stmts: &mut [Stmt], mut flight: Flight) -> Flight {
        for stmt in stmts.iter_mut() {
            flight = self.stmt(stmt, flight);
        }
        self.end_of_block(stmts, &mut flight);
        flight
    }

    /// The memory of buffers that the block declares may be used for others behind it, so their
    /// copies are not in flight there.
    fn end_of_block(&mut self, stmts: &[Stmt], flight: &mut Flight) {
        if flight.copies.is_empty() {
            return;
        }
        let declared: SortedSet<BufferId> = stmts
            .iter()
            .filter_map(|stmt| match stmt.kind {
                StmtKind::Alloc(id) => Some(id),
                _ => None,
            })
            .collect();
        let ends = |begun: &Begun| {
            let dest = self.dest_of.get(begun);
            dest.is_some_and(|(buffer, _)| declared.contains(buffer))
        };
        let ended: Vec<_> = flight
            .copies
            .iter()
            .filter(|(_, (_, begun))| ends(begun))
            .map(|(id, (_, begun))| (*id, *begun))
            .collect();
        for (id, begun) in ended {
            flight.copies.remove(&id);
            if self.last {
                let place = "the end of the scope that declares its buffer";
                self.diags.push(unwaited(&self.name(id), begun.span, place));
            }
        }
    }

    fn stmt(&mut self, stmt: &mut Stmt, mut flight: Flight) -> Flight {
        let span = stmt.span;
        self.used_early(stmt, &flight);
        match &mut stmt.kind {
            StmtKind::Store { access, .. } | StmtKind::Atomic(Atomic { access, .. }) => {
                let access = &*access;
                self.overwritten(access.span, &flight, |cx, source| {
                    source.buffer == access.view.buffer && store_overlaps(cx, source, access)
                });
                flight
            }
            StmtKind::Copy(copy) => {
                self.copy(copy, span, &mut flight);
                flight
            }
            StmtKind::CommitCopies => {
                flight.begin_group();
                flight
            }
            StmtKind::Wait { futures, pending } => {
                self.wait(futures, pending, &mut flight);
                flight
            }
            StmtKind::WaitTma { futures } => {
                for waited in futures {
                    flight.copies.remove(&waited.future);
                }
                flight
            }
            StmtKind::Rotate { futures } => {
                flight.rotate(futures);
                flight
            }
            StmtKind::UseFuture(id) => {
                self.used(*id, span, &flight);
                flight
            }
            StmtKind::For { lo, hi, body, .. } => {
                let after = match self.func.cx.lt(lo, hi).is_yes() {
                    true => After::Iteration,
                    false => After::IterationOrNone,
                };
                self.iterations(flight, after, &mut |w, start| {
                    let end = w.block(body, start.clone());
                    (start, end)
                })
            }
            StmtKind::While { prelude, body, .. } => {
                self.iterations(flight, After::Condition, &mut |w, start| {
                    let stop = w.block(prelude, start);
                    let end = w.block(body, stop.clone());
                    (stop, end)
                })
            }
            StmtKind::If {
                cond,
                then,
                otherwise,
            } => {
                let condition = flight::invariant_condition(self.func, cond);
                let condition = condition.as_ref();
                let one = self.block(then, flight.under(condition, true));
                let other = self.block(otherwise, flight.under(condition, false));
                let mut after = one.clone();
                after.join(&other);
                if let Some(condition) = condition {
                    after.guard(condition, &flight, [&one, &other]);
                }
                after
            }
            StmtKind::Parallel { body, .. } => self.block(body, flight),
            // Other threads than those inside skip the body.
            StmtKind::SingleThread { body, .. } | StmtKind::Region { body, .. } => {
                let inside = self.block(body, flight.clone());
                flight.join(&inside);
                flight
            }
            StmtKind::Break => {
                if let Some(exits) = self.loops.last_mut() {
                    exits.breaks.join(&flight);
                }
                Flight::unreachable()
            }
            StmtKind::Continue => {
                if let Some(exits) = self.loops.last_mut() {
                    exits.continues.join(&flight);
                }
                Flight::unreachable()
            }
            StmtKind::Yield => {
                if self.last {
                    self.report_unwaited(&flight);
                }
                Flight::unreachable()
            }
            _ => flight,
        }
    }

    fn copy(&mut self, copy: &Copy, span: Span, flight: &mut Flight) {
        let dest = &copy.dest;
        self.overwritten(dest.span, flight, |cx, source| {
            source.buffer == dest.buffer && overlaps(cx, source, dest)
        });
        let Some(id) = copy.future else { return };
        let begun = Begun { span, future: id };
        self.sources.insert(begun, copy.source.clone());
        // The tiles of exchanged futures are only distinguished by their names.
        let future = self.func.futures.get(id.index());
        let exchanged = future.is_none_or(|f| f.tile.is_some());
        if !exchanged {
            self.dests.insert(begun, copy.dest.clone());
        }
        let groups = copy.engine.is_threads();
        self.dest_of.insert(begun, (copy.dest.buffer, copy.level));
        self.begun(begun, groups, flight);
    }

    /// Leaves the copies in flight that were issued after all that are waited for.
    fn wait(&mut self, futures: &mut Vec<Waited>, pending: &mut Option<u32>, flight: &mut Flight) {
        let counts = futures.iter().filter_map(|w| flight.copies.get(&w.future));
        let younger = counts.filter_map(|(n, _)| *n).min();
        if self.last {
            *pending = younger;
        }
        let Some(younger) = younger else { return };
        // A warp that waits for a copy of its own says nothing to the block about an older one:
        // that one stays in flight, and has a `wait` where all threads are.
        let unit = futures.iter().map(|w| w.level).min();
        let dest_of = &self.dest_of;
        let of_others = |begun: &Begun| {
            let level = dest_of.get(begun).map(|(_, level)| *level);
            level.zip(unit).is_some_and(|(level, unit)| level < unit)
        };
        let stays =
            |n: &Option<u32>, begun: &Begun| n.is_none_or(|n| n < younger) || of_others(begun);
        if self.last {
            let mut older = flight.copies.clone();
            older.retain(|_, (n, begun)| !stays(n, begun));
            self.add_older_copies(futures, &older);
        }
        flight.copies.retain(|_, (n, begun)| stays(n, begun));
    }

    fn begun(&mut self, now: Begun, groups: bool, flight: &mut Flight) {
        let Begun { span, future: id } = now;
        if self.last
            && let Some((_, earlier)) = flight.copies.get(&id).copied()
        {
            let name = self.name(id);
            let again = earlier == now;
            let mut d = Diagnostic::new(
                codes::E0842,
                span,
                format!("the copy `{name}` may still be in flight when it is issued again"),
            )
            .label(if again {
                "in the next iteration of the loop"
            } else {
                "begun again here"
            });
            if !again {
                d = d.also(earlier.span, "begun here, and not waited for on some way");
            }
            self.diags
                .push(d.help(format!("`wait {name};` before the next copy into it")));
        }
        if groups {
            flight.begin_group();
        }
        flight.guards.remove(&id);
        flight.copies.insert(id, (groups.then_some(0), now));
    }

    /// Reports a write, by the statement at `at`, to the source of a copy in flight.
    fn overwritten(&mut self, at: Span, flight: &Flight, overlaps: impl Fn(&Ctx, &View) -> bool) {
        if !self.last {
            return;
        }
        let cx = &self.func.cx;
        let found = flight.copies.iter().find(|(_, (_, begun))| {
            let source = self.sources.get(begun);
            source.is_some_and(|source| overlaps(cx, source))
        });
        let Some((id, (_, begun))) = found.map(|(id, copy)| (*id, *copy)) else {
            return;
        };
        let name = self.name(id);
        self.diags.push(
            Diagnostic::new(
                codes::E0880,
                at,
                format!("the copy `{name}` may still be reading what this overwrites"),
            )
            .label("overwritten while the copy is in flight")
            .also(begun.span, "the copy begins here")
            .help(format!("`wait {name};` first")),
        );
    }

    /// Waiting for one copy also waits for the older ones. A later `wait` for those has no effect,
    /// so their bytes arrive here.
    fn add_older_copies(
        &self,
        futures: &mut Vec<Waited>,
        older: &SortedMap<FutureId, (Option<u32>, Begun)>,
    ) {
        for (id, (_, begun)) in older {
            let named = futures.iter().any(|w| w.future == *id);
            let Some((buffer, level)) = self.dest_of.get(begun).copied() else {
                continue;
            };
            if named {
                continue;
            }
            let count = self.func.buffer(buffer).count.clone();
            futures.push(Waited {
                future: *id,
                // The place in the buffer is not known here.
                view: View {
                    buffer,
                    offset: Sym::zero(),
                    shape: vec![count],
                    strides: vec![Sym::one()],
                    valid: vec![Valid::default()],
                    frame: None,
                    span: begun.span,
                },
                level,
                arrival: None,
            });
        }
    }

    /// Reports accesses of a statement to the destination of a copy in flight, by any name.
    fn used_early(&mut self, stmt: &Stmt, flight: &Flight) {
        let nested = matches!(
            stmt.kind,
            StmtKind::For { .. }
                | StmtKind::While { .. }
                | StmtKind::If { .. }
                | StmtKind::Parallel { .. }
                | StmtKind::SingleThread { .. }
                | StmtKind::Region { .. }
                | StmtKind::Wait { .. }
                | StmtKind::WaitTma { .. }
        );
        if !self.last || flight.copies.is_empty() || nested {
            return;
        }
        let mut found = AccessCollector::default();
        walk_block(std::slice::from_ref(stmt), &mut found);
        let cx = &self.func.cx;
        let mut early = Vec::new();
        for (id, (_, begun)) in &flight.copies {
            // A copy that is issued again has a report of its own.
            let again = matches!(&stmt.kind, StmtKind::Copy(copy) if copy.future == Some(*id));
            let Some(dest) = self.dests.get(begun).filter(|_| !again) else {
                continue;
            };
            let element = found.accesses.iter().find(|access| {
                dest.buffer == access.view.buffer && store_overlaps(cx, dest, access)
            });
            let tile = found
                .views
                .iter()
                .find(|view| dest.buffer == view.buffer && overlaps(cx, dest, view));
            let at = element.map(|a| a.span).or(tile.map(|v| v.span));
            early.extend(at.map(|at| (*id, at)));
        }
        for (id, at) in early {
            self.used(id, at, flight);
        }
    }

    fn used(&mut self, id: FutureId, span: Span, flight: &Flight) {
        let Some((_, begun)) = flight.copies.get(&id).copied() else {
            return;
        };
        if !self.last || !self.reported.insert(begun) {
            return;
        }
        let name = self.name(id);
        self.diags.push(
            Diagnostic::new(
                codes::W0879,
                span,
                format!("`{name}` may not have arrived yet"),
            )
            .label("used while the copy is in flight")
            .also(begun.span, "the copy begins here")
            .help(format!("`wait {name};` first")),
        );
    }

    /// A loop: `iteration` walks one iteration, and returns the state where the loop may end and
    /// the state at the end of the iteration.
    fn iterations(
        &mut self,
        before: Flight,
        ends: After,
        iteration: &mut dyn FnMut(&mut Self, Flight) -> (Flight, Flight),
    ) -> Flight {
        let last = std::mem::replace(&mut self.last, false);
        let mut start = before.clone();
        // The counts only decrease and futures are only added, so a fixpoint is reached.
        loop {
            let (_, next, _) = self.one_iteration(start.clone(), iteration);
            let mut joined = before.clone();
            joined.join(&next);
            joined.join(&start);
            if joined == start {
                break;
            }
            start = joined;
        }
        self.last = last;
        let (stop, end, mut after) = self.one_iteration(start, iteration);
        match ends {
            After::Condition => after.join(&stop),
            After::Iteration => after.join(&end),
            After::IterationOrNone => {
                after.join(&before);
                after.join(&end);
            }
        }
        after
    }

    /// One iteration: returns the state where the loop may end, at the start of the next iteration,
    /// and after a `break`.
    fn one_iteration(
        &mut self,
        start: Flight,
        iteration: &mut dyn FnMut(&mut Self, Flight) -> (Flight, Flight),
    ) -> (Flight, Flight, Flight) {
        self.loops.push(Exits {
            breaks: Flight::unreachable(),
            continues: Flight::unreachable(),
        });
        let outside = (self.sources.clone(), self.dests.clone());
        // A condition may have another value in each iteration.
        let (stop, mut end) = iteration(self, start.unguarded());
        (self.sources, self.dests) = outside;
        let exits = self.loops.pop().unwrap_or_default();
        end.join(&exits.continues);
        (stop.unguarded(), end.unguarded(), exits.breaks.unguarded())
    }
}

/// The report of a copy that is in flight at the end of its buffer's block, or of the kernel.
fn unwaited(name: &str, begun: Span, end: &str) -> Diagnostic {
    let message = format!("nothing waits for the copy `{name}` on some way to {end}");
    Diagnostic::new(codes::E0842, begun, message)
        .label("may still be in flight here")
        .help(format!("add `wait {name};`"))
}

/// The memory that a statement reads or writes.
#[derive(Default)]
struct AccessCollector {
    accesses: Vec<Access>,
    views: Vec<View>,
}

impl Visit for AccessCollector {
    fn view(&mut self, view: &View) {
        self.views.push(view.clone());
    }

    fn access(&mut self, access: &Access, _written: bool) {
        self.accesses.push(access.clone());
    }
}
