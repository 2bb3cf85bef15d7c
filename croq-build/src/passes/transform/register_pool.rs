//! Whether each change of register counts is possible, and whether none waits forever.
//!
//! `setmaxnreg.inc` waits until the block has enough registers that no warp has. A warpgroup has at
//! most the largest number that it ever asks for, except before its first change, when it has that of
//! the block's start. If these largest numbers are together no more than the block has, each `.inc`
//! ends when all warpgroups have executed their first changes. So a first change that gives
//! registers back must not wait for others: the conditions and loops around it are around each `.inc`
//! as well, and no statement before it waits for another warpgroup, or may follow a barrier with one
//! that has asked for more.

use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::ir::{BarrierScope, Registers, Stmt, StmtKind, ThreadSet, WARPGROUP_THREADS};
use crate::sorted::SortedSet;
use crate::source::Span;

/// A warpgroup.
#[derive(Clone)]
struct Group {
    /// The numbers that each thread may have here.
    now: SortedSet<u32>,
    /// The largest request.
    most: Option<(u32, Span)>,
    /// It has asked for more.
    grown: bool,
    /// Something before this may wait for other warpgroups.
    waits: bool,
    /// The first change, if it gives registers back.
    first: Option<Given>,
}

/// The numbers of the branches and loops around a statement, outermost first.
type Path = Vec<u32>;

#[derive(Clone)]
struct Given {
    around: Path,
    waits: bool,
    span: Span,
}

struct Pool<'d> {
    /// The registers of each thread when a block starts.
    at_first: u32,
    threads: u32,
    groups: Vec<Group>,
    around: Path,
    /// The number of branches and loops so far.
    blocks: u32,
    /// Of each request for more.
    requests: Vec<Path>,
    reported: SortedSet<(u32, u32)>,
    diags: &'d mut Diagnostics,
}

/// Whether all changes are possible and none waits forever, if threads begin with so many registers.
pub fn fits(at_first: u32, threads: u32, body: &[Stmt]) -> bool {
    let mut diags = Diagnostics::default();
    check(at_first, threads, body, &mut diags);
    !diags.has_errors()
}

/// Whether each warpgroup makes a change.
pub fn all_change(threads: u32, body: &[Stmt]) -> bool {
    let mut diags = Diagnostics::default();
    let pool = walked(0, threads, body, &mut diags);
    pool.groups.iter().all(|group| group.most.is_some())
}

/// Reports changes that are impossible, and those that may wait forever.
pub fn check(at_first: u32, threads: u32, body: &[Stmt], diags: &mut Diagnostics) {
    walked(at_first, threads, body, diags).exhaustion();
}

fn walked<'d>(at_first: u32, threads: u32, body: &[Stmt], diags: &'d mut Diagnostics) -> Pool<'d> {
    let group = Group {
        now: SortedSet::from([at_first]),
        most: None,
        grown: false,
        waits: false,
        first: None,
    };
    let mut pool = Pool {
        at_first,
        threads,
        groups: vec![group; threads.div_ceil(WARPGROUP_THREADS) as usize],
        around: Path::new(),
        blocks: 0,
        requests: Vec::new(),
        reported: SortedSet::new(),
        diags,
    };
    pool.block(body, &ThreadSet::first(threads));
    pool
}

impl Pool<'_> {
    fn of<'s>(&'s mut self, set: &'s ThreadSet) -> impl Iterator<Item = &'s mut Group> {
        let groups = (0..)
            .step_by(WARPGROUP_THREADS as usize)
            .zip(&mut self.groups);
        groups
            .filter(|(first, _)| set.contains(*first))
            .map(|(_, group)| group)
    }

    fn block(&mut self, stmts: &[Stmt], set: &ThreadSet) {
        let mut concurrent = false;
        for stmt in stmts {
            self.stmt(stmt, set, concurrent);
            concurrent = matches!(stmt.kind, StmtKind::Region { is_async: true, .. });
        }
    }

    /// A branch, or a loop, which is walked a second time after another iteration.
    fn inner(&mut self, stmts: &[Stmt], set: &ThreadSet, times: u32) {
        self.blocks += 1;
        self.around.push(self.blocks);
        for _ in 0..times {
            let before = self.numbers();
            self.block(stmts, set);
            if times > 1 {
                self.join(&before);
            }
        }
        self.around.pop();
    }

    /// `concurrent`: it follows an asynchronous region, without a barrier if it is one itself.
    fn stmt(&mut self, stmt: &Stmt, set: &ThreadSet, concurrent: bool) {
        match &stmt.kind {
            StmtKind::Registers(registers) => self.change(set, *registers, stmt.span),
            StmtKind::Region {
                set: own,
                is_async,
                body,
                ..
            } => {
                if !(*is_async && concurrent) {
                    self.may_meet(set);
                }
                self.block(body, own.as_ref().unwrap_or(set));
                if !is_async {
                    self.may_meet(&ThreadSet::first(self.threads));
                }
            }
            StmtKind::If {
                then, otherwise, ..
            } => {
                let before = self.numbers();
                self.inner(then, set, 1);
                let after = self.replace(before);
                self.inner(otherwise, set, 1);
                self.join(&after);
            }
            StmtKind::For { body, .. } => self.inner(body, set, 2),
            StmtKind::While { body, .. } => {
                self.may_wait(set);
                self.inner(body, set, 2);
            }
            StmtKind::Parallel { body, .. } | StmtKind::SingleThread { body, .. } => {
                self.block(body, set);
            }
            StmtKind::Let { .. } => {}
            kind if may_not_go_on(kind) => self.may_wait(set),
            _ => self.may_meet(set),
        }
    }

    /// These threads may wait here for others; all of them for what none of them does later.
    fn may_wait(&mut self, set: &ThreadSet) {
        let waiting = self.of(set).count();
        if waiting < self.groups.len() {
            self.of(set).for_each(|group| group.waits = true);
        }
        self.may_meet(set);
    }

    /// A barrier of these threads may be here.
    fn may_meet(&mut self, set: &ThreadSet) {
        let grown = self.of(set).any(|group| group.grown);
        self.of(set).for_each(|group| group.waits |= grown);
    }

    fn change(&mut self, set: &ThreadSet, registers: Registers, span: Span) {
        let (asks, at_first) = (registers.per_thread, self.at_first);
        let around = self.around.clone();
        let mut wrong = None;
        for group in self.of(set) {
            let bad = group.now.iter().find(|now| match registers.more {
                true => asks < **now,
                false => asks > **now,
            });
            wrong = wrong.or(bad.map(|now| (*now, group.most.is_none())));
            if group.most.is_none() && asks < at_first {
                let (around, waits) = (around.clone(), group.waits);
                group.first = Some(Given {
                    around,
                    waits,
                    span,
                });
            }
            if group.most.is_none_or(|(most, _)| most < asks) {
                group.most = Some((asks, span));
            }
            group.grown |= registers.more;
            group.now = SortedSet::from([asks]);
        }
        if registers.more {
            self.requests.push(around);
        }
        if let Some((now, first)) = wrong
            && self.reported.insert((span.start, span.end))
        {
            let (way, other) = match registers.more {
                true => ("fewer", "setreg_dec"),
                false => ("more", "setreg_inc"),
            };
            let at = if first { "at first" } else { "here" };
            let text = format!("each thread has {now} registers {at}: {asks} are {way}");
            let report =
                Diagnostic::new(codes::E0779, span, text).label(format!("{way} than before"));
            self.diags.push(report.help(match first {
                true => format!("write `{other}`, or change how many they begin with: `[[maxnreg(…)]]`, or more threads"),
                false => format!("write `{other}`"),
            }));
        }
    }

    /// Reports if the warpgroups together need more registers than the block has.
    fn exhaustion(&mut self) {
        let at_first = self.at_first;
        let of_group = |n: u32| n * WARPGROUP_THREADS;
        let pool: u32 = self.groups.iter().map(|_| of_group(at_first)).sum();
        let most = |group: &Group| group.most.map_or(at_first, |(most, _)| most);
        let sum: u32 = self.groups.iter().map(|group| of_group(most(group))).sum();
        let largest = self.groups.iter().filter_map(|group| group.most);
        let Some((per_thread, at)) = largest.max_by_key(|(most, _)| *most) else {
            return;
        };
        if sum > pool {
            let text = format!(
                "the warpgroups of a block ask for {sum} registers together, and it has {pool}"
            );
            let threads = self.threads;
            self.diags.push(
                Diagnostic::new(codes::E0779, at, text)
                    .label(format!("waits for {per_thread} for each thread, forever"))
                    .help(format!("each of the {threads} threads has {at_first} at first: let other warpgroups give back more, or ask for fewer")),
            );
            return;
        }
        let late = |group: &Group| {
            let first = group.first.as_ref()?;
            let mut requests = self.requests.iter();
            let late = first.waits || requests.any(|path| !path.starts_with(&first.around));
            late.then_some(first.span)
        };
        let kept = |group: &Group| match late(group) {
            Some(_) => most(group).max(at_first),
            None => most(group),
        };
        let sum: u32 = self.groups.iter().map(|group| of_group(kept(group))).sum();
        let late = self.groups.iter().find_map(late);
        if let Some(late) = late.filter(|_| sum > pool) {
            let text = "registers are given back under a condition, or after something that may wait for other warpgroups";
            self.diags.push(
                Diagnostic::new(codes::E0779, late, text)
                    .label("may come too late, or never")
                    .also(at, "waits for these registers")
                    .help("write it at the start of the region, under no condition and in no loop"),
            );
        }
    }

    fn numbers(&self) -> Vec<SortedSet<u32>> {
        self.groups.iter().map(|group| group.now.clone()).collect()
    }

    /// Sets these numbers, and returns those before.
    fn replace(&mut self, numbers: Vec<SortedSet<u32>>) -> Vec<SortedSet<u32>> {
        let groups = self.groups.iter_mut().zip(numbers);
        groups
            .map(|(group, now)| std::mem::replace(&mut group.now, now))
            .collect()
    }

    fn join(&mut self, numbers: &[SortedSet<u32>]) {
        for (group, now) in self.groups.iter_mut().zip(numbers) {
            group.now.extend(now);
        }
    }
}

/// Whether the statement may wait for something that others do, or end the threads.
fn may_not_go_on(kind: &StmtKind) -> bool {
    match kind {
        StmtKind::WaitEvent(_) | StmtKind::AwaitSignal { .. } | StmtKind::Yield => true,
        StmtKind::Barrier { scope, .. } => matches!(
            scope,
            BarrierScope::Grid | BarrierScope::Cluster | BarrierScope::Named { .. }
        ),
        _ => false,
    }
}
