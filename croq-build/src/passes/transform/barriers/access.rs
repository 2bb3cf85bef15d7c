//! One access to a buffer, and the condition under which two accesses need a barrier between them.

use std::rc::Rc;

use super::injectivity::{Comparisons, Forced};
use super::place::Place;
use super::vars::Vars;
use crate::ir::{BarrierReason, BufferId, Function, Level, Storage, ThreadSet};
use crate::sorted::SortedSet;
use crate::symbolic::{Ctx, Sym, Var};

/// The threads of the unit executing a statement that make the access.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Executor {
    /// Every thread makes its own access.
    EachThread,
    /// One thread of the enclosing unit of this level.
    One(Level),
    /// The threads of a unit of this level share the work.
    Unit(Level),
}

/// A `parallel` around the access.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Differs between two executions.
    pub instance: u32,
    pub level: Level,
    /// The indices that distinguish its units.
    pub digits: SortedSet<Var>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct MemAccess {
    pub buffer: BufferId,
    pub write: bool,
    /// `None`: any element of the buffer.
    pub place: Option<Rc<Place>>,
    pub executor: Executor,
    pub chain: Rc<Vec<Entry>>,
    /// The threads of the enclosing asynchronous region, if they are known.
    pub set: Option<ThreadSet>,
    /// The innermost enclosing region.
    pub inner_region: Option<Region>,
    pub opaque: bool,
    /// An atomic operation; these do not conflict with each other.
    pub atomic: bool,
    /// Made by the async proxy: by TMA, or by an MMA of a warpgroup.
    pub by_tma: bool,
    /// The source of a copy that is still in flight after its statement.
    pub in_flight: bool,
    /// The write is not visible to TMA before a proxy fence.
    pub needs_proxy_fence: bool,
    /// The memory is also accessed by multicast loads of another block of the cluster.
    pub clustered: bool,
    /// A barrier over the units of this level has followed.
    pub ordered_at: Option<Level>,
    /// A barrier of this level that was preceded by proxy fences has followed; of threads: only fences.
    pub fenced: Option<Level>,
    /// The events that have followed.
    pub released: Release,
}

/// The innermost `inthreads` around a statement.
#[derive(Clone, PartialEq, Debug)]
pub struct Region {
    /// Differs between regions of the same threads, too.
    pub region: u32,
    /// `None`: only known at run time.
    pub set: Option<ThreadSet>,
}

/// The progress of an access from a region's `trigger` to its next `wait`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Release {
    #[default]
    None,
    /// All threads of the region have triggered an event since.
    Triggered,
    /// And then waited for threads that had waited for that event.
    Answered,
}

/// The ordering between two accesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Relation {
    /// They need no ordering.
    Independent,
    /// Program order of one thread.
    OneThread,
    /// A barrier lies between them.
    Ordered,
    /// The threads of a unit of this level must wait for each other.
    Between(Level),
}

/// The context of a comparison of two accesses.
pub struct Comparing<'a> {
    pub cx: &'a mut Ctx,
    pub vars: &'a mut Vars,
    pub sizes: &'a Sizes,
    pub comparisons: &'a mut Comparisons,
}

/// The numbers of threads of units.
pub struct Sizes {
    pub block: Sym,
    /// The threads of the enclosing region.
    pub region: Option<ThreadSet>,
}

impl Sizes {
    /// Whether the block, or the enclosing region, is a single unit of this level.
    pub fn is_whole_block(&self, level: Level) -> bool {
        match (&self.region, level.threads()) {
            (Some(set), Some(unit)) if unit > 1 => set.is_in_one(unit),
            _ => self.of(level) == self.block,
        }
    }

    /// The widest level with the same units.
    pub fn widened(&self, level: Level) -> Level {
        if self.is_whole_block(level) {
            level.min(Level::Block)
        } else {
            level
        }
    }

    fn of(&self, level: Level) -> Sym {
        let fixed = level.threads().map(|n| Sym::int(i64::from(n)));
        fixed.unwrap_or_else(|| self.block.clone())
    }
}

impl MemAccess {
    pub fn reason(&self, then: &MemAccess, function: &Function) -> BarrierReason {
        let name = function
            .buffers
            .get(self.buffer.index())
            .map_or(String::new(), |b| b.name.clone());
        match (self.write, then.write) {
            _ if self.opaque || then.opaque => BarrierReason::Opaque,
            _ if function
                .buffers
                .get(self.buffer.index())
                .is_some_and(|b| b.storage == Storage::Mbarriers) =>
            {
                BarrierReason::NextLoad
            }
            (true, false) => BarrierReason::ReadAfterWrite(name),
            (false, _) => BarrierReason::WriteAfterRead(name),
            (true, true) => BarrierReason::WriteAfterWrite(name),
        }
    }

    /// The reason of a barrier after which another buffer uses the memory of this one.
    pub fn reuse_reason(&self, then: &MemAccess, function: &Function) -> BarrierReason {
        let name = |id: BufferId| {
            let buffer = function.buffers.get(id.index());
            buffer.map_or(String::new(), |b| b.name.clone())
        };
        BarrierReason::MakesRoom {
            before: name(self.buffer),
            then: name(then.buffer),
        }
    }

    /// It is unknown which block's memory is accessed.
    pub fn is_in_an_unknown_block(&self) -> bool {
        self.executor == Executor::One(Level::Cluster)
    }

    /// Whether it is in a region for other threads than these, which runs at the same time.
    pub fn is_of_others(&self, set: &ThreadSet) -> bool {
        self.set.as_ref().is_some_and(|own| !own.meets(set))
    }

    /// The unit whose threads must wait for each other between `self` and the later `then`.
    pub fn conflict(&self, then: &MemAccess, within: &mut Comparing<'_>) -> Option<Level> {
        match self.relation(then, self.ordered_at, within) {
            Relation::Between(level) => Some(level),
            _ => None,
        }
    }

    /// What the later access `then` by TMA needs in order to see the writes of `self`: nothing if
    /// `None`; otherwise proxy fences, and a barrier if a level is given.
    pub fn missing_fence(
        &self,
        then: &MemAccess,
        within: &mut Comparing<'_>,
    ) -> Option<Option<Level>> {
        if !self.needs_proxy_fence || !then.by_tma {
            return None;
        }
        match self.relation(then, self.fenced, within) {
            Relation::Independent | Relation::Ordered => None,
            Relation::OneThread => Some(None),
            Relation::Between(level) => Some(Some(level)),
        }
    }

    fn relation(
        &self,
        then: &MemAccess,
        ordered_at: Option<Level>,
        within: &mut Comparing<'_>,
    ) -> Relation {
        if self.buffer != then.buffer || !(self.write || then.write) {
            return Relation::Independent;
        }
        if self.atomic && then.atomic {
            return Relation::Independent;
        }
        let is_ordered = |level: Level| ordered_at.is_some_and(|s| s <= level);
        if self.is_in_an_unknown_block() || then.is_in_an_unknown_block() {
            return match is_ordered(Level::Cluster) {
                true => Relation::Ordered,
                false => Relation::Between(Level::Cluster),
            };
        }
        if then.set.as_ref().is_some_and(|set| self.is_of_others(set)) {
            return Relation::Independent;
        }
        let one = |inner_region: &Region| inner_region.set.as_ref().is_some_and(|s| s.len() == 1);
        if self.inner_region == then.inner_region && self.inner_region.as_ref().is_some_and(one) {
            return Relation::OneThread;
        }
        // An event has returned the buffer to the region, which may overwrite it.
        if self.released == Release::Answered && then.write && self.set == then.set {
            return Relation::Ordered;
        }
        // Units of one `parallel` are independent; only threads of the same unit can conflict.
        let common = self
            .chain
            .iter()
            .zip(then.chain.iter())
            .take_while(|(a, b)| a.instance == b.instance);
        let mut unit = common.last().map_or(Level::Block, |(entry, _)| entry.level);
        for executor in [self.executor, then.executor] {
            if let Executor::Unit(level) | Executor::One(level) = executor {
                unit = unit.min(level);
            }
        }
        if unit == Level::Thread {
            return Relation::OneThread;
        }
        if is_ordered(unit) {
            return Relation::Ordered;
        }
        let forced = match (&self.place, &then.place) {
            (Some(a), Some(b)) => {
                let context = (&mut *within.cx, &mut *within.vars);
                match within.comparisons.forced(context, a, b, unit) {
                    Some(forced) => forced,
                    None => return Relation::Independent,
                }
            }
            _ => Forced::default(),
        };
        for level in [Level::Thread, Level::Warp, Level::Warpgroup] {
            if level > unit && self.same_unit_within(then, [level, unit], &forced, within) {
                return match level {
                    Level::Thread => Relation::OneThread,
                    _ if is_ordered(level) => Relation::Ordered,
                    _ => Relation::Between(level),
                };
            }
        }
        Relation::Between(unit)
    }

    /// Whether all accesses to the same element are made inside one unit of `level`, within one
    /// `unit`.
    fn same_unit_within(
        &self,
        then: &MemAccess,
        [level, unit]: [Level; 2],
        forced: &Forced,
        within: &Comparing<'_>,
    ) -> bool {
        let (cx, vars, sizes) = (&*within.cx, &*within.vars, within.sizes);
        if self.executor == Executor::EachThread
            && then.executor == Executor::EachThread
            && forced.vars().any(|v| vars.is_whole(v))
        {
            return true;
        }
        let (Some(a), Some(b)) = (
            self.unit_indices(level, unit),
            then.unit_indices(level, unit),
        ) else {
            return false;
        };
        // The first thread of another region is a different thread.
        let single = [self.executor, then.executor]
            .iter()
            .any(|executor| matches!(executor, Executor::One(_)));
        if single && self.inner_region != then.inner_region {
            return false;
        }
        if a != b
            || !a
                .0
                .iter()
                .all(|v| forced.contains(vars, *v) || is_single(cx, *v))
        {
            return false;
        }
        // The indices must distinguish all units of the level.
        let (digits, below) = a;
        let count = digits
            .iter()
            .try_fold(sizes.of(below), |count, v| match cx.bounds(*v) {
                (Some(lo), Some(hi)) if lo.is_zero() => Some(&count * &(hi + 1)),
                _ => None,
            });
        count.is_some_and(|count| cx.eq(&count, &sizes.of(unit)).is_yes())
    }

    /// The indices that determine which unit of `level` inside a `unit` makes the access, and the
    /// level of the units that they distinguish.
    fn unit_indices(&self, level: Level, unit: Level) -> Option<(SortedSet<Var>, Level)> {
        let down_to = match self.executor {
            Executor::EachThread => self.chain.last().map(|e| e.level)?.min(level),
            // The first thread of such a unit.
            Executor::One(own) if level == Level::Thread => own,
            Executor::One(own) | Executor::Unit(own) => own.min(level),
        };
        let reaches = match self.executor {
            Executor::One(_) => level == Level::Thread || down_to == level,
            _ => down_to == level,
        };
        if !reaches {
            return None;
        }
        let inside = self
            .chain
            .iter()
            .filter(|e| e.level > unit && e.level <= down_to);
        let digits: SortedSet<Var> = inside.flat_map(|e| e.digits.iter().copied()).collect();
        Some((digits, down_to.max(unit)))
    }
}

/// An index with only one value distinguishes no units.
fn is_single(cx: &Ctx, var: Var) -> bool {
    matches!(cx.bounds(var), (Some(lo), Some(hi)) if cx.eq(lo, hi).is_yes())
}
