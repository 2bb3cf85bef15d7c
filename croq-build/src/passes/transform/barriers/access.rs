//! One access to one buffer, and when two of them need a barrier between.

use std::collections::BTreeSet;

use super::injectivity::{Forced, forced};
use super::place::Place;
use super::vars::Vars;
use crate::ir::{BarrierReason, BufferId, Function, Level, Storage, ThreadSet};
use crate::symbolic::{Ctx, Sym, Var};

/// Which threads of the unit that runs a statement make the access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Executor {
    /// Every thread, for itself.
    EachThread,
    /// One thread of the enclosing unit of this level.
    One(Level),
    /// All threads of a unit of this level share it out.
    Unit(Level),
}

/// A `parallel` that is being executed.
#[derive(Clone, PartialEq, Debug)]
pub struct Entry {
    /// Differs between two executions.
    pub instance: u32,
    pub level: Level,
    /// What tells its units apart.
    pub digits: BTreeSet<Var>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct MemAccess {
    pub buffer: BufferId,
    pub write: bool,
    /// `None` is anywhere in the buffer.
    pub place: Option<Place>,
    pub executor: Executor,
    pub chain: Vec<Entry>,
    /// The threads of the asynchronous region around, as far as they are known.
    pub set: Option<ThreadSet>,
    /// The innermost region around: which, and whose.
    pub inner_region: Option<Region>,
    pub opaque: bool,
    /// Of elements that others of the kind are made of at the same time.
    pub atomic: bool,
    /// TMA makes it for the thread, or a product of a warpgroup: by the async proxy.
    pub by_tma: bool,
    /// The source of a copy that nobody has waited for when its statement is over.
    pub in_flight: bool,
    /// TMA doesn't see what it wrote before a proxy fence.
    pub needs_proxy_fence: bool,
    /// Of memory that loads of another block of the cluster reach, too.
    pub clustered: bool,
    /// A barrier over the units of this level has come since.
    pub ordered_at: Option<Level>,
    /// And proxy fences before it.
    pub fenced: Option<Level>,
    /// What events have done about it since.
    pub released: Release,
}

/// The innermost `inthreads` around a statement.
#[derive(Clone, PartialEq, Debug)]
pub struct Region {
    /// Differs between regions of the same threads, too.
    pub region: u32,
    /// `None`: known at run time only.
    pub set: Option<ThreadSet>,
}

/// The way of an access from a region's `trigger` to its next `wait`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Release {
    #[default]
    Not,
    /// All threads of the region have triggered an event since.
    Over,
    /// And waited for threads that had waited for that.
    Back,
}

/// How two accesses stand to each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Relation {
    /// Nothing orders them, and nothing need.
    Divergence,
    /// By the program's order in one thread.
    OneThread,
    /// A barrier has come in between.
    Ordered,
    /// The threads of a unit of this level must wait for each other.
    Between(Level),
}

/// Threads of a unit.
pub struct Sizes {
    pub block: Sym,
    /// Those of the region around.
    pub region: Option<ThreadSet>,
}

impl Sizes {
    /// The block, or the region around, has only one unit of this level.
    pub fn is_whole_block(&self, level: Level) -> bool {
        match (&self.region, level.threads()) {
            (Some(set), Some(unit)) if unit > 1 => set.is_in_one(unit),
            _ => self.of(level) == self.block,
        }
    }

    /// The widest level whose units are these.
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

    /// The memory that `self` uses becomes that of another buffer.
    pub fn makes_room(&self, then: &MemAccess, function: &Function) -> BarrierReason {
        let name = |id: BufferId| {
            let buffer = function.buffers.get(id.index());
            buffer.map_or(String::new(), |b| b.name.clone())
        };
        BarrierReason::MakesRoom {
            before: name(self.buffer),
            then: name(then.buffer),
        }
    }

    /// The unit whose threads must wait for each other between `self` and the later `then`.
    pub fn conflict(
        &self,
        then: &MemAccess,
        cx: &mut Ctx,
        vars: &mut Vars,
        sizes: &Sizes,
    ) -> Option<Level> {
        match self.relation(then, self.ordered_at, cx, vars, sizes) {
            Relation::Between(level) => Some(level),
            _ => None,
        }
    }

    /// What has to come between `self` and the later `then` so that TMA, which makes that,
    /// sees what `self` wrote: nothing, or proxy fences and perhaps a barrier.
    pub fn hides_from(
        &self,
        then: &MemAccess,
        cx: &mut Ctx,
        vars: &mut Vars,
        sizes: &Sizes,
    ) -> Option<Option<Level>> {
        if !self.needs_proxy_fence || !then.by_tma {
            return None;
        }
        match self.relation(then, self.fenced, cx, vars, sizes) {
            Relation::Divergence | Relation::Ordered => None,
            Relation::OneThread => Some(None),
            Relation::Between(level) => Some(Some(level)),
        }
    }

    fn relation(
        &self,
        then: &MemAccess,
        ordered_at: Option<Level>,
        cx: &mut Ctx,
        vars: &mut Vars,
        sizes: &Sizes,
    ) -> Relation {
        if self.buffer != then.buffer || !(self.write || then.write) {
            return Relation::Divergence;
        }
        if self.atomic && then.atomic {
            return Relation::Divergence;
        }
        let is_ordered = |level: Level| ordered_at.is_some_and(|s| s <= level);
        // Of which block's memory it is is not known.
        if [self.executor, then.executor].contains(&Executor::One(Level::Cluster)) {
            return match is_ordered(Level::Cluster) {
                true => Relation::Ordered,
                false => Relation::Between(Level::Cluster),
            };
        }
        if let (Some(a), Some(b)) = (&self.set, &then.set)
            && !a.meets(b)
        {
            return Relation::Divergence;
        }
        let one = |inner_region: &Region| inner_region.set.as_ref().is_some_and(|s| s.len() == 1);
        if self.inner_region == then.inner_region && self.inner_region.as_ref().is_some_and(one) {
            return Relation::OneThread;
        }
        // What a region overwrites after such a wait was given back to it.
        if self.released == Release::Back && then.write && self.set == then.set {
            return Relation::Ordered;
        }
        // Units of one `parallel` are independent; only threads of the same one can conflict.
        let together = self
            .chain
            .iter()
            .zip(&then.chain)
            .take_while(|(a, b)| a.instance == b.instance);
        let mut unit = together
            .last()
            .map_or(Level::Block, |(entry, _)| entry.level);
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
            (Some(a), Some(b)) => match forced(cx, vars, a, b, unit) {
                Some(forced) => forced,
                None => return Relation::Divergence,
            },
            _ => Forced::default(),
        };
        for level in [Level::Thread, Level::Warp, Level::Warpgroup] {
            if level > unit && self.meets_within(then, [level, unit], &forced, cx, vars, sizes) {
                return match level {
                    Level::Thread => Relation::OneThread,
                    _ if is_ordered(level) => Relation::Ordered,
                    _ => Relation::Between(level),
                };
            }
        }
        Relation::Between(unit)
    }

    /// Whether both accesses of threads that meet are made inside one unit of `level`, within one `unit`.
    fn meets_within(
        &self,
        then: &MemAccess,
        [level, unit]: [Level; 2],
        forced: &Forced,
        cx: &Ctx,
        vars: &Vars,
        sizes: &Sizes,
    ) -> bool {
        if self.executor == Executor::EachThread
            && then.executor == Executor::EachThread
            && forced.vars().any(|v| vars.is_whole(v))
        {
            return true;
        }
        let (Some(a), Some(b)) = (self.pinned(level, unit), then.pinned(level, unit)) else {
            return false;
        };
        // The first thread of another region is another one.
        let ones = [self.executor, then.executor]
            .iter()
            .any(|executor| matches!(executor, Executor::One(_)));
        if ones && self.inner_region != then.inner_region {
            return false;
        }
        if a != b
            || !a
                .0
                .iter()
                .all(|v| forced.contains(cx, vars, *v) || is_single(cx, *v))
        {
            return false;
        }
        // The indices must tell all units of the level apart.
        let (digits, below) = a;
        let count = digits
            .iter()
            .try_fold(sizes.of(below), |count, v| match cx.bounds(*v) {
                (Some(lo), Some(hi)) if lo.is_zero() => Some(&count * &(hi + 1)),
                _ => None,
            });
        count.is_some_and(|count| cx.eq(&count, &sizes.of(unit)).is_yes())
    }

    /// The indices that tell which unit of `level` makes the access, among those of one `unit`, and
    /// the level of the units that they tell apart.
    fn pinned(&self, level: Level, unit: Level) -> Option<(BTreeSet<Var>, Level)> {
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
        let digits: BTreeSet<Var> = inside.flat_map(|e| e.digits.iter().copied()).collect();
        Some((digits, down_to.max(unit)))
    }
}

/// An index with only one value tells nothing apart.
fn is_single(cx: &Ctx, var: Var) -> bool {
    matches!(cx.bounds(var), (Some(lo), Some(hi)) if cx.eq(lo, hi).is_yes())
}
