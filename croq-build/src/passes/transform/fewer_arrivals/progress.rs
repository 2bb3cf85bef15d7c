//! What threads of a warpgroup may still have to do when one of them arrives for all.
//!
//! The statements are walked for one warpgroup, with the state since the last point that all its
//! threads have certainly passed. States of different ways are joined; loops are walked until the
//! state at their head no longer changes, after a first iteration on its own, in which an arrival
//! for the iteration before does not happen.

use super::units::{Units, is_common};
use crate::ir::{
    Access, BarrierReason, BarrierScope, BinOp, BufferId, Expr, ExprKind, Flow, Function,
    Intrinsic, Kernel, Level, LocalId, MmaOp, ON, Sharing, Step, Stmt, StmtKind, ThreadSet, TmaOp,
    View, Visitor, WARPGROUP_THREADS, walk,
};
use crate::sorted::SortedSet;
use crate::symbolic::{Sym, Var};

/// The mbarriers at which one thread of the warpgroup would arrive too early for the others.
pub fn late(
    function: &Function,
    kernel: &Kernel,
    units: &Units,
    group: u32,
) -> SortedSet<BufferId> {
    let first = group * WARPGROUP_THREADS;
    let all = ThreadSet {
        ranges: vec![(first, first + WARPGROUP_THREADS)],
    };
    let mut written = Written {
        kernel,
        buffers: kernel.facts.escaping.iter().copied().collect(),
    };
    let _ = written.block(&kernel.body);
    let mut progress = Progress {
        function,
        units,
        all,
        written: written.buffers,
        whole: true,
        leads: true,
        first: Vec::new(),
        loops: Vec::new(),
        late: SortedSet::new(),
    };
    let _ = progress.block(&kernel.body, Some(State::default()));
    progress.late
}

/// Something other than an access of memory that a thread has to do: a wait for a phase of these
/// mbarriers, or (`None`) an arrival of its own.
type Ahead = SortedSet<Option<BufferId>>;

/// At most as many groups of MMAs can be in flight after a wait.
const MOST_GROUPS: usize = 8;

/// What some threads may not have done yet, although one of them has.
#[derive(Clone, Default, PartialEq)]
struct State {
    /// They may access memory that other threads see. Only a barrier orders such accesses.
    accesses: bool,
    ahead: Ahead,
    /// The same since the last MMA of each group in flight, the oldest first.
    groups: Vec<Ahead>,
    /// The same since the last MMA, if no group ends after it.
    issued: Option<Ahead>,
}

impl State {
    fn add(&mut self, what: Option<BufferId>) {
        let groups = self.groups.iter_mut().chain(&mut self.issued);
        for since in groups.chain([&mut self.ahead]) {
            since.insert(what);
        }
    }

    /// All threads have come to this point.
    fn meet(&mut self) {
        self.accesses = false;
        self.ahead.clear();
        self.groups.iter_mut().for_each(SortedSet::clear);
        self.issued.iter_mut().for_each(SortedSet::clear);
    }

    fn commit(&mut self) {
        let since = self.issued.take().unwrap_or_else(|| self.ahead.clone());
        self.groups.push(since);
        if self.groups.len() > MOST_GROUPS {
            self.groups.remove(0);
        }
    }

    /// Waits for all groups except the `younger` most recent ones.
    fn wait(&mut self, younger: u32) {
        let younger = usize::try_from(younger).unwrap_or(MOST_GROUPS);
        let complete = self.groups.len().saturating_sub(younger);
        if let Some(since) = self.groups.drain(..complete).next_back() {
            self.ahead = since;
        }
    }

    fn join(mut self, mut other: State) -> State {
        self.accesses |= other.accesses;
        // A group that was only issued on one way proves nothing on the other.
        let groups = self.groups.len().max(other.groups.len());
        for state in [&mut self, &mut other] {
            let missing = groups - state.groups.len();
            let unknown = std::iter::repeat_n(state.ahead.clone(), missing);
            state.groups.splice(0..0, unknown);
        }
        for (since, more) in self.groups.iter_mut().zip(other.groups) {
            since.extend(more);
        }
        self.ahead.extend(other.ahead);
        self.issued = self.issued.zip(other.issued).map(|(mut since, more)| {
            since.extend(more);
            since
        });
        self
    }
}

/// `None`: no thread comes here.
type Reached = Option<State>;

fn join(a: Reached, b: Reached) -> Reached {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.join(b)),
        (one, other) => one.or(other),
    }
}

/// The states where a loop's iterations end early.
#[derive(Default)]
struct Ends {
    breaks: Reached,
    continues: Reached,
}

struct Progress<'a> {
    function: &'a Function,
    units: &'a Units,
    /// The threads of the warpgroup.
    all: ThreadSet,
    /// Device memory that the kernel may write.
    written: SortedSet<BufferId>,
    /// All threads of the warpgroup, and whole warpgroups alone, are in the enclosing region.
    whole: bool,
    /// The region's first thread is the first one of a warpgroup.
    leads: bool,
    /// Variables of loops in their first iteration, with their values.
    first: Vec<(Var, Sym)>,
    loops: Vec<Ends>,
    late: SortedSet<BufferId>,
}

impl Progress<'_> {
    fn block(&mut self, stmts: &[Stmt], mut state: Reached) -> Reached {
        for stmt in stmts {
            state = self.stmt(stmt, state?);
        }
        state
    }

    fn stmt(&mut self, stmt: &Stmt, mut state: State) -> Reached {
        match &stmt.kind {
            StmtKind::Region {
                pred, set, body, ..
            } => {
                state.accesses |= self.accesses(pred);
                self.region(set.as_ref(), body, state)
            }
            StmtKind::SingleThread { level, body, .. } => match level {
                // The thread that arrives does this itself.
                Level::Warpgroup if self.whole => Some(state),
                Level::Block | Level::Cluster if self.whole && self.leads => Some(state),
                _ => {
                    let inside = self.block(body, Some(state.clone()));
                    join(Some(state), inside)
                }
            },
            StmtKind::Parallel { body, .. } => self.block(body, Some(state)),
            StmtKind::If {
                cond,
                then,
                otherwise,
            } => {
                state.accesses |= self.accesses(cond);
                let then = match self.is_later(cond) {
                    true => None,
                    false => self.block(then, Some(state.clone())),
                };
                let otherwise = self.block(otherwise, Some(state));
                join(then, otherwise)
            }
            StmtKind::For {
                local,
                lo,
                hi,
                body,
                ..
            } => {
                let before = match self.function.cx.lt(lo, hi).is_yes() {
                    true => None,
                    false => Some(state.clone()),
                };
                let after = self.counted(*local, lo, body, state);
                join(before, after)
            }
            StmtKind::While {
                prelude,
                cond,
                body,
            } => self.iterations(state, |walk, state| {
                let mut tested = walk.block(prelude, Some(state));
                if let Some(tested) = &mut tested {
                    tested.accesses |= walk.accesses(cond);
                }
                (tested.clone(), walk.block(body, tested))
            }),
            StmtKind::Break => self.leave(|ends| &mut ends.breaks, state),
            StmtKind::Continue => self.leave(|ends| &mut ends.continues, state),
            _ => {
                self.leaf(stmt, &mut state);
                Some(state)
            }
        }
    }

    fn region(&mut self, set: Option<&ThreadSet>, body: &[Stmt], state: State) -> Reached {
        if set.is_some_and(|set| !set.meets(&self.all)) {
            return Some(state);
        }
        let everybody = set.is_some_and(|set| set.includes(&self.all));
        let outside = (self.whole, self.leads);
        let whole = set.is_some_and(|set| set.is_whole(WARPGROUP_THREADS));
        self.whole = whole && everybody;
        let lowest = set.and_then(ThreadSet::lowest);
        self.leads = lowest.is_some_and(|first| first.is_multiple_of(WARPGROUP_THREADS));
        let inside = self.block(body, Some(state.clone()));
        (self.whole, self.leads) = outside;
        match everybody {
            true => inside,
            false => join(Some(state), inside),
        }
    }

    /// The state after the iterations of a loop that has some.
    fn counted(&mut self, local: LocalId, lo: &Sym, body: &[Stmt], state: State) -> Reached {
        let locals = self.function.locals.get(local.index());
        let var = locals.and_then(|local| local.var);
        let known = self.first.len();
        self.first.extend(var.map(|var| (var, lo.clone())));
        self.loops.push(Ends::default());
        let end = self.block(body, Some(state));
        let ends = self.loops.pop().unwrap_or_default();
        self.first.truncate(known);
        let end = join(end, ends.continues);
        let after = join(end.clone(), ends.breaks);
        let Some(end) = end else { return after };
        let others = self.iterations(end, |walk, state| {
            (Some(state.clone()), walk.block(body, Some(state)))
        });
        join(after, others)
    }

    /// The state after a loop. An iteration that begins with a state ends the loop with one state,
    /// and its body with another.
    fn iterations(
        &mut self,
        mut head: State,
        mut iteration: impl FnMut(&mut Self, State) -> (Reached, Reached),
    ) -> Reached {
        loop {
            self.loops.push(Ends::default());
            let (after, end) = iteration(self, head.clone());
            let ends = self.loops.pop().unwrap_or_default();
            let again = join(end, ends.continues);
            let next = join(Some(head.clone()), again);
            let after = join(after, ends.breaks);
            match next {
                Some(next) if next != head => head = next,
                _ => return after,
            }
        }
    }

    fn leave(&mut self, end: impl Fn(&mut Ends) -> &mut Reached, state: State) -> Reached {
        let end = end(self.loops.last_mut()?);
        *end = join(end.take(), Some(state));
        None
    }

    /// Whether the condition is false in the first iteration of an enclosing loop: `lo < k`.
    fn is_later(&self, cond: &Expr) -> bool {
        let ExprKind::Binary(BinOp::Lt, a, b) = &*cond.kind else {
            return false;
        };
        let (ExprKind::Index(a), ExprKind::Index(b)) = (&*a.kind, &*b.kind) else {
            return false;
        };
        let mut first = self.first.iter();
        first.any(|(var, lo)| a == lo && *b == Sym::var(*var))
    }

    fn leaf(&mut self, stmt: &Stmt, state: &mut State) {
        match &stmt.kind {
            StmtKind::Tma(TmaOp::Arrive {
                barriers, sharing, ..
            }) => self.arrive(*barriers, sharing, state),
            StmtKind::Tma(TmaOp::Wait { barriers, .. }) => state.add(Some(*barriers)),
            StmtKind::Barrier { scope, why } => match scope {
                BarrierScope::Grid
                | BarrierScope::Cluster
                | BarrierScope::Block
                | BarrierScope::Warpgroup
                | BarrierScope::WarpgroupFrom(_)
                | BarrierScope::WarpgroupOf { .. } => state.meet(),
                // Others may take part in one that the program has numbered.
                BarrierScope::Named { threads, .. } if *why != BarrierReason::Written => {
                    if self.whole && threads.is_multiple_of(WARPGROUP_THREADS) {
                        state.meet();
                    }
                }
                BarrierScope::Warp | BarrierScope::Lanes(_) => {}
                BarrierScope::Named { .. } | BarrierScope::Arrive { .. } => state.add(None),
            },
            StmtKind::Mma(op) => match &**op {
                MmaOp::Step(Step::Instruction(_)) => state.issued = Some(Ahead::new()),
                MmaOp::Step(Step::Commit) => state.commit(),
                MmaOp::Step(Step::Wait { younger, .. }) => state.wait(*younger),
                MmaOp::Step(_) | MmaOp::Instruction { .. } => {}
                _ => state.accesses = true,
            },
            StmtKind::Registers(_) | StmtKind::Alloc(_) => {}
            StmtKind::Let { .. }
            | StmtKind::Assign { .. }
            | StmtKind::Store { .. }
            | StmtKind::Move(_)
            | StmtKind::Check { .. } => state.accesses |= self.accesses_memory(stmt),
            _ => state.accesses = true,
        }
    }

    fn arrive(&mut self, barriers: BufferId, sharing: &Sharing, state: &mut State) {
        if self.units.get(&barriers) != Some(&Level::Warpgroup) {
            return state.add(None);
        }
        let expected = |what: &Option<BufferId>| what.is_some_and(|b| sharing.ahead.contains(&b));
        if state.accesses || !state.ahead.iter().all(expected) {
            self.late.insert(barriers);
        }
    }

    fn accesses_memory(&self, stmt: &Stmt) -> bool {
        let mut find = FindAccess {
            function: self.function,
            written: &self.written,
        };
        find.stmt(stmt).is_break()
    }

    fn accesses(&self, e: &Expr) -> bool {
        let mut find = FindAccess {
            function: self.function,
            written: &self.written,
        };
        Visitor::<crate::ir::Tiles>::expr(&mut find, e).is_break()
    }
}

/// Finds accesses of memory that other threads may write or read. Device memory that the launch
/// only reads is none.
struct FindAccess<'a> {
    function: &'a Function,
    written: &'a SortedSet<BufferId>,
}

impl Visitor for FindAccess<'_> {
    fn expr(&mut self, e: &Expr) -> Flow {
        match &*e.kind {
            ExprKind::Call(_) => Flow::Break(()),
            ExprKind::Intrinsic(what, _) if what.info().converges => match what {
                Intrinsic::LaneAcross | Intrinsic::SameInWarp => walk::expr(self, e),
                _ => Flow::Break(()),
            },
            _ => walk::expr(self, e),
        }
    }

    fn view(&mut self, view: &View) -> Flow {
        match is_common(self.function, view.buffer) {
            true => Flow::Break(()),
            false => walk::view(self, view),
        }
    }

    fn access(&mut self, access: &Access, written: bool) -> Flow {
        let id = access.view.buffer;
        let buffer = self.function.buffers.get(id.index());
        let constant = buffer.is_some_and(|b| b.storage.is_global())
            && !written
            && !self.written.contains(&id);
        match is_common(self.function, id) && !constant {
            true => Flow::Break(()),
            // The view of an element is no access of all of it.
            false => ON,
        }
    }
}

/// The buffers that a kernel may write.
struct Written<'a> {
    kernel: &'a Kernel,
    buffers: SortedSet<BufferId>,
}

impl Visitor for Written<'_> {
    fn stmt(&mut self, stmt: &Stmt) -> Flow {
        if let StmtKind::Tma(TmaOp::Store { moved }) = &stmt.kind {
            let map = self.kernel.maps.get(moved.map);
            self.buffers.extend(map.map(|map| map.buffer));
        }
        walk::stmt(self, stmt)
    }

    fn view(&mut self, view: &View) -> Flow {
        self.buffers.insert(view.buffer);
        walk::view(self, view)
    }

    fn access(&mut self, access: &Access, written: bool) -> Flow {
        if written {
            self.buffers.insert(access.view.buffer);
        }
        ON
    }
}

#[cfg(test)]
mod tests {
    use super::{Ahead, State};
    use crate::ir::BufferId;

    const FULL: Option<BufferId> = Some(BufferId(1));
    const MORE: Option<BufferId> = Some(BufferId(2));

    fn ahead(state: &State) -> Vec<Option<BufferId>> {
        state.ahead.iter().copied().collect()
    }

    fn products(state: &mut State) {
        state.issued = Some(Ahead::new());
        state.commit();
    }

    #[test]
    fn complete_products_prove_what_precedes_them() {
        let mut state = State::default();
        state.add(FULL);
        products(&mut state);
        // They may still be in flight.
        assert_eq!(ahead(&state), [FULL]);
        state.add(MORE);
        state.wait(0);
        assert_eq!(ahead(&state), [MORE]);
        // There are no others.
        state.wait(0);
        assert_eq!(ahead(&state), [MORE]);
        state.meet();
        assert!(ahead(&state).is_empty());
    }

    #[test]
    fn younger_products_prove_nothing() {
        let mut state = State::default();
        products(&mut state);
        state.add(FULL);
        products(&mut state);
        state.wait(2);
        assert_eq!(ahead(&state), [FULL]);
        state.wait(1);
        assert_eq!(ahead(&state), [FULL]);
        state.wait(0);
        assert!(ahead(&state).is_empty());
    }

    #[test]
    fn what_follows_the_last_product_of_a_group_is_not_proved() {
        let mut state = State {
            issued: Some(Ahead::new()),
            ..State::default()
        };
        state.add(FULL);
        state.commit();
        state.wait(0);
        assert_eq!(ahead(&state), [FULL]);
        // Nor does a group without products prove anything.
        state.commit();
        state.wait(0);
        assert_eq!(ahead(&state), [FULL]);
    }

    #[test]
    fn products_of_one_way_prove_nothing_on_the_other() {
        let mut before = State::default();
        before.add(FULL);
        let mut with = before.clone();
        products(&mut with);
        for mut joined in [with.clone().join(before.clone()), before.join(with.clone())] {
            joined.wait(0);
            assert_eq!(ahead(&joined), [FULL]);
        }
        let mut both = with.clone().join(with);
        both.wait(0);
        assert!(ahead(&both).is_empty());
    }

    #[test]
    fn accesses_are_only_ordered_by_barriers() {
        let mut state = State {
            accesses: true,
            ..State::default()
        };
        products(&mut state);
        state.wait(0);
        assert!(state.accesses);
        assert!(State::default().join(state.clone()).accesses);
        state.meet();
        assert!(!state.accesses);
    }
}
