//! Collective statements: all threads of the unit execute each of them, or none.
//!
//! A barrier under a condition that differs between its threads never completes, or pairs with
//! another barrier; a copy that a block shares misses a part. So whatever decides which threads
//! reach such a statement must be uniform over its unit: the conditions and loop bounds around it,
//! and those around each `break` and `continue` before it. `passes/analysis/uniformity` says which
//! values are.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::ir::{
    BarrierReason, BarrierScope, Function, KernelId, Level, MmaOp, Stmt, StmtKind, ThreadSet,
    WARP_THREADS, WARPGROUP_THREADS, Waited,
};
use crate::passes::analysis::uniformity::flow::{Around, Frame, Watch, walk};
use crate::passes::analysis::uniformity::scope::{Cause, Scope, Verdict};
use crate::source::Span;

/// Reports what is proved to diverge. What is known only at run time is returned: the conditions by
/// their numbers in the order of the walk, each with the unit that has to agree about it. Units that
/// cannot compare a value get a warning.
pub fn check(
    function: &Function,
    id: KernelId,
    diags: &mut Diagnostics,
) -> BTreeMap<usize, Agreement> {
    let Some(kernel) = function.kernels.get(id.index()) else {
        return BTreeMap::new();
    };
    // A single thread can't diverge.
    if kernel.threads.is_one() && !kernel.is_clustered() {
        return BTreeMap::new();
    }
    let mut found = Found {
        function,
        after_errors: diags.has_errors(),
        reported: BTreeSet::new(),
        reports: Vec::new(),
        agreements: BTreeMap::new(),
        named: NamedBarriers::default(),
    };
    walk(function, kernel, &mut found);
    found.named.report(&mut found.reports);
    found.reports.into_iter().for_each(|d| diags.push(d));
    found.agreements
}

/// Who compares a condition at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Agreement {
    Warp,
    Block,
}

struct Found<'a> {
    function: &'a Function,
    /// Of passes before this one.
    after_errors: bool,
    /// Conditions.
    reported: BTreeSet<usize>,
    reports: Vec<Diagnostic>,
    agreements: BTreeMap<usize, Agreement>,
    named: NamedBarriers,
}

/// The threads that execute a statement together.
struct Unit {
    scope: Scope,
    name: &'static str,
    /// How they can compare a value; others would need a barrier of their own.
    agreement: Option<Agreement>,
}

impl Watch for Found<'_> {
    fn stmt(&mut self, stmt: &Stmt, around: &Around<'_>) {
        self.named.note(stmt, around);
        let Some((level, what)) = collective(self.function, stmt) else {
            return;
        };
        // Loads for all blocks of a cluster are looked at by `multicast`, and get barriers of the cluster.
        let inserted = !is_written(stmt);
        if level == Level::Cluster && inserted && self.after_errors {
            return;
        }
        let unit = Unit::of(level, around);
        for frame in around.frames() {
            match (frame.value.over(unit.scope), unit.agreement) {
                (Verdict::Same, _) => {}
                // That thread alone decides.
                (Verdict::Unknown(_), _) if matches!(stmt.kind, StmtKind::SingleThread { .. }) => {}
                (Verdict::Unknown(_), Some(agreement)) => {
                    let known = self.agreements.entry(frame.id).or_insert(agreement);
                    *known = agreement.max(*known);
                }
                (Verdict::Unknown(cause), None) => {
                    self.report(stmt, &what, &unit, frame, (false, cause));
                }
                (Verdict::Differs(cause), _) => {
                    return self.report(stmt, &what, &unit, frame, (true, cause));
                }
            }
        }
    }
}

/// Who may come to the named barriers of a kernel.
#[derive(Default)]
struct NamedBarriers {
    /// By their numbers.
    barriers: BTreeMap<u32, NamedBarrier>,
    /// C++ text may arrive at any of them.
    is_open: bool,
}

struct NamedBarrier {
    span: Span,
    /// The fewest that one of its statements waits for.
    threads: u32,
    /// Of threads that come to any of them.
    warps: BTreeSet<u32>,
    /// Some only arrive, perhaps more than once, or all may come.
    is_fed: bool,
}

impl NamedBarriers {
    fn note(&mut self, stmt: &Stmt, around: &Around<'_>) {
        let StmtKind::Barrier { scope, .. } = &stmt.kind else {
            self.is_open |= matches!(stmt.kind, StmtKind::Cpp { .. });
            return;
        };
        let (id, threads, arrives) = match scope {
            BarrierScope::Named { id, threads } => (*id, *threads, false),
            BarrierScope::Arrive { id, threads } => (*id, *threads, true),
            _ => return,
        };
        let barrier = self.barriers.entry(id).or_insert_with(|| NamedBarrier {
            span: stmt.span,
            threads,
            warps: BTreeSet::new(),
            is_fed: arrives,
        });
        barrier.threads = barrier.threads.min(threads);
        // Where all may come it is said elsewhere that it takes no more than there are.
        let Some(active) = around.active() else {
            barrier.is_fed = true;
            return;
        };
        barrier.is_fed |= arrives;
        let comes = active.iter().enumerate().filter(|(_, comes)| **comes);
        let warp = |thread: usize| u32::try_from(thread).map_or(0, |t| t / WARP_THREADS);
        let warps = comes.map(|(thread, _)| warp(thread));
        barrier.warps.extend(warps);
    }

    /// Those that never have enough threads.
    fn report(&self, reports: &mut Vec<Diagnostic>) {
        for barrier in self
            .barriers
            .values()
            .filter(|b| !b.is_fed && !self.is_open)
        {
            let warps = u32::try_from(barrier.warps.len()).unwrap_or(u32::MAX);
            // Hardware counts whole warps.
            let most = warps.saturating_mul(WARP_THREADS);
            if most < barrier.threads && most > 0 {
                let threads = barrier.threads;
                let title = format!("a barrier of {threads} threads that at most {most} reach");
                let report = Diagnostic::new(codes::E0582, barrier.span, title)
                    .label("it waits without end for the others")
                    .help("let as many threads reach it as it counts, or give it their number");
                reports.push(report);
            }
        }
    }
}

fn is_written(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Barrier { why, .. } => *why == BarrierReason::Written,
        _ => true,
    }
}

impl Found<'_> {
    fn report(
        &mut self,
        stmt: &Stmt,
        what: &str,
        unit: &Unit,
        frame: &Frame,
        (proved, cause): (bool, Option<Cause>),
    ) {
        if !self.reported.insert(frame.id) {
            return;
        }
        let name = unit.name;
        let (code, perhaps, differs) = match proved {
            true => (codes::E0582, "", "differs"),
            false => (codes::W0590, "perhaps ", "may differ"),
        };
        let title = format!("{what} that {perhaps}only some threads of the {name} reach");
        let differs = format!("this {differs} between threads of the {name}");
        let mut report = Diagnostic::new(code, stmt.span, title).label(format!(
            "all threads of the {name} must execute this, or none"
        ));
        if let Some(leaves) = frame.leaves {
            report = report.also(leaves, "some threads leave here");
        }
        report = report.also(before(frame.span, stmt.span), differs);
        if let Some(cause) = cause.filter(|c| c.span != frame.span && c.span != Span::default()) {
            report = report.also(cause.span, cause.kind.text(self.function));
        }
        self.reports.push(report.help(HELP));
    }
}

const HELP: &str = "move it out, or let what decides about it be the same for all: a parameter, a dimension, one \
                    element that all of them read";

/// The part of a loop before a statement in it.
fn before(around: Span, inside: Span) -> Span {
    match around.start < inside.start && inside.start < around.end {
        true => Span {
            end: inside.start,
            ..around
        },
        false => around,
    }
}

impl Unit {
    /// Whose statements of this level are; inside a region those of a block belong to the threads of that.
    fn of(level: Level, around: &Around<'_>) -> Self {
        let scope = Scope::of(level);
        let (scope, name) = match around.set().filter(|_| level == Level::Block) {
            Some(set) => (smallest(set), "region"),
            None => (scope, scope.name()),
        };
        let whole_warps = || match around.set() {
            Some(set) => set.is_whole(WARP_THREADS),
            None => !around.in_region(),
        };
        let agreement = match scope {
            Scope::Block if !around.in_region() => Some(Agreement::Block),
            Scope::Warp if whole_warps() => Some(Agreement::Warp),
            _ => None,
        };
        Self {
            scope,
            name,
            agreement,
        }
    }
}

/// The smallest unit with all of these threads.
fn smallest(set: &ThreadSet) -> Scope {
    if set.len() <= 1 {
        Scope::Thread
    } else if set.is_in_one(WARP_THREADS) {
        Scope::Warp
    } else if set.is_in_one(WARPGROUP_THREADS) {
        Scope::Warpgroup
    } else {
        Scope::Block
    }
}

/// Whose a statement is that several threads execute together, and what it is.
fn collective(function: &Function, stmt: &Stmt) -> Option<(Level, String)> {
    let (level, what) = match &stmt.kind {
        StmtKind::Barrier { scope, why } => (level_of(*scope)?, barrier(why)),
        StmtKind::Copy(copy) => (copy.level, "a copy".to_owned()),
        StmtKind::Fill { level, .. } => (*level, "a fill".to_owned()),
        StmtKind::Wait { futures, .. } | StmtKind::WaitTma { futures } => {
            (widest(futures)?, "a `wait`".to_owned())
        }
        StmtKind::Mma(op) => (
            of_fragments(function, op),
            "a fragment operation".to_owned(),
        ),
        StmtKind::Registers(_) => (Level::Warpgroup, "a change of registers".to_owned()),
        StmtKind::SingleThread { level, .. } => (
            *level,
            "a statement that one thread executes for all".to_owned(),
        ),
        _ => return None,
    };
    (level != Level::Thread).then_some((level, what))
}

fn barrier(why: &BarrierReason) -> String {
    match why {
        BarrierReason::Written => "a barrier".to_owned(),
        BarrierReason::RegionEnd => "the barrier after `inthreads`".to_owned(),
        why => format!("the barrier that is needed here ({why})"),
    }
}

/// Those of a grid are looked at by `grid-barriers`.
fn level_of(scope: BarrierScope) -> Option<Level> {
    match scope {
        BarrierScope::Grid => None,
        BarrierScope::Cluster => Some(Level::Cluster),
        BarrierScope::Block => Some(Level::Block),
        BarrierScope::Warpgroup | BarrierScope::WarpgroupFrom(_) => Some(Level::Warpgroup),
        BarrierScope::Warp => Some(Level::Warp),
        // Hardware counts whole warps.
        BarrierScope::Named { threads, .. } | BarrierScope::Arrive { threads, .. } => {
            (threads % WARP_THREADS == 0).then_some(Level::Warp)
        }
        BarrierScope::Lanes(_) => None,
    }
}

fn widest(futures: &[Waited]) -> Option<Level> {
    // Outer levels come first.
    futures.iter().map(|waited| waited.level).min()
}

/// The unit that shares the fragments.
fn of_fragments(function: &Function, op: &MmaOp) -> Level {
    let mut parts = op.parts().into_iter();
    let warpgroup = parts.any(|part| {
        let fragment = function.fragments.get(&part.buffer);
        fragment.is_some_and(|f| f.layout.is_some_and(|s| s.warps() > 1))
    });
    match (warpgroup, op) {
        (true, _) | (_, MmaOp::CommitAll(()) | MmaOp::WaitMma(_)) => Level::Warpgroup,
        _ => Level::Warp,
    }
}
