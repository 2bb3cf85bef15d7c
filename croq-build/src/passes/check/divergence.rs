//! Collective statements: either all threads of the unit execute each of them, or none.
//!
//! A barrier under a divergent condition never completes, or pairs with another barrier; a copy
//! that a block shares misses a part. So whatever determines which threads reach such a statement
//! must be uniform over its unit: the conditions and loop bounds around it, and those around each
//! `break` and `continue` before it. `passes/analysis/uniformity` computes the uniformity of
//! values.

use crate::diagnostics::{Code, Diagnostic, Diagnostics, codes};
use crate::ir::{
    Access, BarrierReason, BarrierScope, Expr, ExprKind, Flow, Function, Intrinsic, KernelId,
    Level, MmaOp, ON, Stmt, StmtKind, ThreadSet, Visitor, WARP_THREADS, WARPGROUP_THREADS, Waited,
    any_expr,
};
use crate::passes::analysis::uniformity::flow::{Around, FlowVisitor, Frame, walk};
use crate::passes::analysis::uniformity::scope::{Cause, Scope, Uniform, Verdict};
use crate::passes::lower::barrier_ids::same_lanes;
use crate::sorted::{SortedMap, SortedSet};
use crate::source::Span;

/// Reports proved divergence. Where uniformity is only known at run time, the conditions are
/// returned, by their numbers in the order of the walk, each with the threads that must agree on
/// it. Where threads cannot compare a value at run time, uniformity must be proved.
pub fn check(
    function: &Function,
    id: KernelId,
    diags: &mut Diagnostics,
) -> SortedMap<usize, Agreement> {
    let Some(kernel) = function.kernels.get(id.index()) else {
        return SortedMap::new();
    };
    // A single thread cannot diverge.
    if kernel.threads.is_one() && !kernel.is_clustered() {
        return SortedMap::new();
    }
    let threads = kernel.threads.as_int().and_then(|n| u32::try_from(n).ok());
    let mut found = Found {
        function,
        threads,
        after_errors: diags.has_errors(),
        reported: SortedSet::new(),
        reports: Vec::new(),
        agreements: SortedMap::new(),
        named: NamedBarriers::default(),
    };
    walk(function, kernel, &mut found);
    found.named.report(&mut found.reports);
    found.reports.into_iter().for_each(|d| diags.push(d));
    found.agreements
}

/// The threads that compare a condition at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Agreement {
    Warp,
    /// The same lanes of each warp.
    Lanes(u32),
    Warpgroup,
    /// This number of threads of a region, which are whole warps.
    Region(u32),
    Block,
}

impl Agreement {
    /// The smallest unit that contains the comparing threads.
    fn scope(self) -> Scope {
        match self {
            Self::Warp | Self::Lanes(_) => Scope::Warp,
            Self::Warpgroup => Scope::Warpgroup,
            Self::Region(_) | Self::Block => Scope::Block,
        }
    }
}

struct Found<'a> {
    function: &'a Function,
    /// The threads of the block, if their number is known.
    threads: Option<u32>,
    /// Earlier passes have reported errors.
    after_errors: bool,
    /// Conditions that have been reported.
    reported: SortedSet<usize>,
    reports: Vec<Diagnostic>,
    agreements: SortedMap<usize, Agreement>,
    named: NamedBarriers,
}

/// The threads that execute a statement together.
struct Unit {
    scope: Scope,
    name: &'static str,
}

impl FlowVisitor for Found<'_> {
    fn stmt(&mut self, stmt: &Stmt, around: &Around<'_>) {
        self.named.note(stmt, around);
        let Some((level, what)) = collective(self.function, stmt) else {
            return;
        };
        // Multicast loads are checked by `multicast`, and get barriers of the cluster.
        let inserted = !is_written(stmt);
        if level == Level::Cluster && inserted && self.after_errors {
            return;
        }
        let unit = Unit::of(level, around);
        self.check_tiles(stmt, &what, &unit, around);
        self.check_single_thread(stmt, &unit, around);
        for frame in around.frames() {
            match frame.value.over(unit.scope) {
                Verdict::Same => {}
                // Only the thread that executes the statement needs the condition.
                Verdict::Unknown(_) if matches!(stmt.kind, StmtKind::SingleThread { .. }) => {}
                Verdict::Unknown(cause) => {
                    if !self.agree(unit.scope, frame, around) {
                        self.report(stmt, &what, &unit, frame, (false, cause));
                    }
                }
                Verdict::Differs(cause) => {
                    return self.report(stmt, &what, &unit, frame, (true, cause));
                }
            }
        }
    }
}

impl Found<'_> {
    /// Reports tiles that are others in some of the threads that move them together.
    fn check_tiles(&mut self, stmt: &Stmt, what: &str, unit: &Unit, around: &Around<'_>) {
        let views = match &stmt.kind {
            StmtKind::Copy(copy) => vec![&copy.source, &copy.dest],
            StmtKind::Fill { view, .. } => vec![view],
            StmtKind::Mma(op) if op.body().is_none() => {
                op.views().into_iter().map(|(view, _)| view).collect()
            }
            _ => return,
        };
        for view in views {
            let Some((code, differs, cause)) = difference(around.sym(&view.offset), unit.scope)
            else {
                continue;
            };
            let name = unit.name;
            let text = format!("{what} whose tile {differs} between threads of the {name}");
            let report = Diagnostic::new(code, stmt.span, text)
                .label(format!("the threads of the {name} share one tile"))
                .help("let the same values select the tile in all of them");
            return self.reports.push(self.with_cause(report, cause, stmt.span));
        }
    }

    /// Adds what makes a value differ, unless it is the place `shown`.
    fn with_cause(&self, report: Diagnostic, cause: Option<Cause>, shown: Span) -> Diagnostic {
        match cause.filter(|cause| cause.span != shown && cause.span != Span::default()) {
            Some(cause) => report.also(cause.span, cause.kind.text(self.function)),
            None => report,
        }
    }

    /// Reports values of a statement that one thread executes for all if they are others in some of them.
    fn check_single_thread(&mut self, stmt: &Stmt, unit: &Unit, around: &Around<'_>) {
        let StmtKind::SingleThread { body, .. } = &stmt.kind else {
            return;
        };
        let mut values = ValuesOfOne {
            around,
            scope: unit.scope,
            differs: None,
        };
        let _ = values.block(body);
        let Some((span, (code, differs, cause))) = values.differs else {
            return;
        };
        let name = unit.name;
        let title = format!(
            "a statement that one thread executes for all, with a value that {differs} between threads of the {name}"
        );
        let mut report = Diagnostic::new(code, stmt.span, title)
            .label(format!("executed once for the {name}"))
            .help(
                "let the threads execute it, under a condition that selects one of them, or combine \
                 their values first",
            );
        if span != stmt.span && span != Span::default() {
            report = report.also(span, format!("each thread of the {name} has its own value"));
        }
        self.reports.push(self.with_cause(report, cause, span));
    }

    /// Adds a run-time comparison of the condition, if all comparing threads reach it.
    fn agree(&mut self, scope: Scope, frame: &Frame, around: &Around<'_>) -> bool {
        let Some(agreement) = self.agreement(scope, around.region_of(frame)) else {
            return false;
        };
        // The comparing threads may be more than those of the statement: then all of them must
        // reach the condition, too.
        let wider = agreement.scope();
        if wider > scope {
            let before = around.frames().take_while(|f| f.id != frame.id);
            let outside: Vec<Frame> = before.copied().collect();
            let all_reach = outside.iter().all(|f| match f.value.over(wider) {
                Verdict::Same => true,
                Verdict::Unknown(_) => self.agree(wider, f, around),
                Verdict::Differs(_) => false,
            });
            if !all_reach {
                return false;
            }
        }
        let known = self.agreements.entry(frame.id).or_insert(agreement);
        *known = agreement.max(*known);
        true
    }

    /// How threads of a unit can compare a value inside this region; `None` where that would need
    /// an additional barrier.
    fn agreement(&self, scope: Scope, region: Option<Option<&ThreadSet>>) -> Option<Agreement> {
        let set = match region {
            Some(set) => Some(set?),
            None => None,
        };
        match (scope, set) {
            (Scope::Warp, Some(set)) if !set.is_whole(WARP_THREADS) => {
                same_lanes(set).map(Agreement::Lanes)
            }
            (Scope::Warp, _) => Some(Agreement::Warp),
            (Scope::Warpgroup, Some(set)) if set.is_whole(WARPGROUP_THREADS) => {
                Some(Agreement::Warpgroup)
            }
            (Scope::Warpgroup, Some(set)) if set.is_in_one(WARPGROUP_THREADS) => of_region(set),
            (Scope::Warpgroup, None) => match self.threads? {
                n if n <= WARPGROUP_THREADS => Some(Agreement::Block),
                n if n % WARPGROUP_THREADS == 0 => Some(Agreement::Warpgroup),
                _ => None,
            },
            (Scope::Block, Some(set)) => of_region(set),
            (Scope::Block, None) => Some(Agreement::Block),
            _ => None,
        }
    }
}

/// All threads of a region.
fn of_region(set: &ThreadSet) -> Option<Agreement> {
    if set.is_in_one(WARP_THREADS) {
        return match set.is_whole(WARP_THREADS) {
            true => Some(Agreement::Warp),
            false => same_lanes(set).map(Agreement::Lanes),
        };
    }
    set.is_whole(WARP_THREADS)
        .then_some(Agreement::Region(set.len()))
}

/// The threads that may reach the named barriers of a kernel.
#[derive(Default)]
struct NamedBarriers {
    /// By their numbers.
    barriers: SortedMap<u32, NamedBarrier>,
    /// C++ text may arrive at any of them.
    is_open: bool,
}

struct NamedBarrier {
    span: Span,
    /// The minimal number for which one of its statements waits.
    threads: u32,
    /// The warps of the threads that reach any of its statements.
    warps: SortedSet<u32>,
    /// Some threads only arrive, possibly more than once, or all threads may reach it.
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
            warps: SortedSet::new(),
            is_fed: arrives,
        });
        barrier.threads = barrier.threads.min(threads);
        // Where all threads may reach it, another check reports a number larger than the block.
        let Some(active) = around.active() else {
            barrier.is_fed = true;
            return;
        };
        barrier.is_fed |= arrives;
        let reached = active.iter().enumerate().filter(|(_, reached)| **reached);
        let warp = |thread: usize| u32::try_from(thread).map_or(0, |t| t / WARP_THREADS);
        let warps = reached.map(|(thread, _)| warp(thread));
        barrier.warps.extend(warps);
    }

    /// Reports the barriers that never have enough threads.
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
            false => (codes::E0590, "perhaps ", "may differ"),
        };
        let code = match stmt.kind {
            StmtKind::Trigger(_) => codes::E1016,
            _ => code,
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
        report = self.with_cause(report, cause, frame.span);
        self.reports.push(match &stmt.kind {
            StmtKind::Copy(copy) if proved && copy.level == Level::Block => {
                report.help(of_all(name, "copy"))
            }
            StmtKind::Fill { level, .. } if proved && *level == Level::Block => {
                report.help(of_all(name, "fill"))
            }
            _ => report.help(HELP),
        });
    }
}

const HELP: &str = "move it out, or let what decides about it be the same for all: a parameter, a dimension, one \
                    element that all of them read";

/// A copy or a fill of which no warp or thread has a tile of its own.
fn of_all(unit: &str, what: &str) -> String {
    format!(
        "no index of a warp or thread selects its tiles, so all threads of the {unit} share the {what}: move it \
         out, let `inthreads (…)` select those that share it, or give each warp `w` a tile of its own, \
         `s.chunkat(w, _)`"
    )
}

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
    /// The unit of a statement at this level; inside a region, statements of a block belong to the
    /// region's threads.
    fn of(level: Level, around: &Around<'_>) -> Self {
        let scope = Scope::of(level);
        let (scope, name) = match around.set().filter(|_| level == Level::Block) {
            Some(set) => (smallest(set), "region"),
            None => (scope, scope.name()),
        };
        Self { scope, name }
    }
}

/// The code of the report, its verb, and what makes the value differ.
type Difference = (Code, &'static str, Option<Cause>);

/// Whether a value that a unit shares is another in some of its threads.
fn difference(value: Uniform, unit: Scope) -> Option<Difference> {
    match value.over(unit) {
        Verdict::Differs(cause) => Some((codes::E0582, "differs", cause)),
        // After a condition or a loop that the threads' numbers decide.
        Verdict::Unknown(cause) if cause.is_some_and(Cause::is_of_threads) => {
            Some((codes::E0590, "perhaps differs", cause))
        }
        _ => None,
    }
}

/// Finds a value that differs between the threads for which one of them executes a statement.
struct ValuesOfOne<'w> {
    around: &'w Around<'w>,
    scope: Scope,
    differs: Option<(Span, Difference)>,
}

impl ValuesOfOne<'_> {
    fn note(&mut self, value: Uniform, span: Span) -> Flow {
        match difference(value, self.scope) {
            None => ON,
            Some(difference) => {
                self.differs = Some((span, difference));
                Flow::Break(())
            }
        }
    }
}

impl Visitor for ValuesOfOne<'_> {
    fn expr(&mut self, expr: &Expr) -> Flow {
        self.note(self.around.expr(expr), expr.span)
    }

    fn access(&mut self, access: &Access, _written: bool) -> Flow {
        self.note(self.around.address(access), access.span)
    }
}

/// The smallest unit that contains all of these threads.
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

/// The unit and the description of a statement that several threads execute together.
fn collective(function: &Function, stmt: &Stmt) -> Option<(Level, String)> {
    let (level, what) = match &stmt.kind {
        StmtKind::Barrier { scope, why } => (level_of(*scope)?, barrier(why)),
        StmtKind::Copy(copy) => (copy.level, "a copy".to_owned()),
        StmtKind::Fill { level, .. } => (*level, "a fill".to_owned()),
        StmtKind::Wait { futures, .. } | StmtKind::WaitTma { futures } => {
            (widest(futures)?, "a `wait`".to_owned())
        }
        // Each thread's own registers.
        StmtKind::Mma(op) if matches!(**op, MmaOp::FillElements { .. }) => return None,
        StmtKind::Mma(op) => (
            of_fragments(function, op),
            "a fragment operation".to_owned(),
        ),
        // The number of arrivals was counted by the compiler.
        StmtKind::Trigger(at) if function.event(at.event).count.is_none() => {
            let name = &function.event(at.event).name;
            (Level::Block, format!("an arrival at `{name}`"))
        }
        // The lanes of a warp exchange their parts of the rows.
        StmtKind::Store { value, .. } if any_expr(value, is_of_another_lane) => {
            (Level::Warp, "a reduction of a fragment".to_owned())
        }
        StmtKind::Registers(_) => (Level::Warpgroup, "a change of registers".to_owned()),
        StmtKind::SingleThread { level, .. } => (
            *level,
            "a statement that one thread executes for all".to_owned(),
        ),
        _ => return None,
    };
    (level != Level::Thread).then_some((level, what))
}

fn is_of_another_lane(e: &Expr) -> bool {
    matches!(&*e.kind, ExprKind::Intrinsic(Intrinsic::LaneAcross, _))
}

fn barrier(why: &BarrierReason) -> String {
    match why {
        BarrierReason::Written => "a barrier".to_owned(),
        BarrierReason::RegionEnd => "the barrier after `inthreads`".to_owned(),
        why => format!("the barrier that is needed here ({why})"),
    }
}

/// Barriers of a grid are checked by `grid-barriers`.
fn level_of(scope: BarrierScope) -> Option<Level> {
    match scope {
        BarrierScope::Grid => None,
        BarrierScope::Cluster => Some(Level::Cluster),
        BarrierScope::Block => Some(Level::Block),
        BarrierScope::Warpgroup
        | BarrierScope::WarpgroupFrom(_)
        | BarrierScope::WarpgroupOf { .. } => Some(Level::Warpgroup),
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
