//! The accesses since the last synchronisation of the threads.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::rc::Rc;

use super::access::{Executor, MemAccess, Region, Release};
use super::place::Place;
use super::vars::{Iterations, Vars};
use crate::ir::{BufferId, Level, ThreadSet};
use crate::symbolic::{Ctx, Sym};

#[derive(Clone, Debug, Default)]
pub struct Pending {
    accesses: Vec<MemAccess>,
    /// No thread reaches this point.
    unreachable: bool,
}

impl Pending {
    pub fn unreachable() -> Pending {
        Pending {
            accesses: Vec::new(),
            unreachable: true,
        }
    }

    pub fn is_reachable(&self) -> bool {
        !self.unreachable
    }

    pub fn accesses(&self) -> &[MemAccess] {
        &self.accesses
    }

    pub fn add(&mut self, accesses: Vec<MemAccess>) {
        if self.unreachable {
            return;
        }
        self.add_all(accesses.into_iter());
    }

    fn add_all(&mut self, accesses: impl ExactSizeIterator<Item = MemAccess>) {
        let mut index = (accesses.len() > FEW).then(|| Index::of(&self.accesses));
        for access in accesses {
            let Some(index) = &mut index else {
                self.add_one(access, 0..self.accesses.len());
                continue;
            };
            let (key, end) = (Index::key(&access), self.accesses.len());
            self.add_one(access, index.at(key));
            if self.accesses.len() > end {
                index.add(key, end);
            }
        }
    }

    /// `among`: the positions of accesses that may be the same.
    fn add_one(&mut self, mut access: MemAccess, among: impl IntoIterator<Item = usize>) {
        let since = (access.ordered_at, access.fenced);
        let own = kind(&access);
        let found = among.into_iter().find(|at| {
            // The cheap comparison first: hundreds of regions may each have accesses of their own.
            let same = self.accesses.get(*at).filter(|t| kind(t) == own);
            same.is_some_and(|t| {
                (access.ordered_at, access.fenced) = (t.ordered_at, t.fenced);
                *t == access
            })
        });
        // After a join of two paths, only the weaker ordering holds.
        let both = |a: Option<Level>, b: Option<Level>| match (a, b) {
            (Some(a), Some(b)) => Some(a.max(b)),
            _ => None,
        };
        match found.and_then(|at| self.accesses.get_mut(at)) {
            Some(same) => {
                same.ordered_at = both(same.ordered_at, since.0);
                same.fenced = both(same.fenced, since.1);
            }
            None => {
                (access.ordered_at, access.fenced) = since;
                self.accesses.push(access);
            }
        }
    }

    /// The accesses that may need ordering with those of a region's threads.
    pub fn without_others(&self, set: &ThreadSet) -> Pending {
        let others = |t: &&MemAccess| t.is_of_others(set) && !t.is_in_an_unknown_block();
        let own = self.accesses.iter().filter(|t| !others(t));
        Pending {
            accesses: own.cloned().collect(),
            unreachable: self.unreachable,
        }
    }

    /// Records a barrier over all threads of each unit of `level`, with or without proxy fences
    /// before it. Inside an `inthreads` it synchronises the threads `within` it, and orders only
    /// their accesses.
    pub fn order(&mut self, level: Level, fenced: bool, within: Option<&ThreadSet>) {
        let theirs = |access: &MemAccess| {
            let Some(within) = within else { return true };
            let made = access.inner_region.as_ref().and_then(|t| t.set.as_ref());
            made.is_some_and(|set| within.includes(set))
        };
        for access in self.accesses.iter_mut().filter(|t| theirs(t)) {
            access.ordered_at = Some(access.ordered_at.map_or(level, |s| s.min(level)));
            if fenced {
                access.fenced = Some(access.fenced.map_or(level, |s| s.min(level)));
            }
        }
        self.drop_ordered();
    }

    /// All threads of each unit of `level` have waited for an operation of its first thread, so the
    /// earlier accesses of that thread are complete.
    pub fn order_first(&mut self, level: Level, inner_region: Option<&Region>) {
        for access in &mut self.accesses {
            if access.executor == Executor::One(level)
                && access.inner_region.as_ref() == inner_region
            {
                access.ordered_at = Some(access.ordered_at.map_or(level, |s| s.min(level)));
            }
        }
        self.drop_ordered();
    }

    /// Advances the release of the accesses of a region's threads from one step to the next.
    pub fn advance_release(&mut self, set: &ThreadSet, from: Release, to: Release) {
        for access in &mut self.accesses {
            if access.set.as_ref() == Some(set) && access.released == from {
                access.released = to;
            }
        }
    }

    /// Whether a region's threads have written data that is not visible to TMA. A fence in front of a
    /// barrier of any level is one of each thread that wrote.
    pub fn has_unfenced_writes(&self, set: &ThreadSet) -> bool {
        let needs_proxy_fence = |t: &MemAccess| {
            t.needs_proxy_fence && t.released == Release::None && t.fenced.is_none()
        };
        self.accesses
            .iter()
            .any(|t| needs_proxy_fence(t) && t.set.as_ref() == Some(set))
    }

    /// The threads of a region have executed proxy fences, each for what it has written.
    pub fn fence(&mut self, set: &ThreadSet) {
        for access in &mut self.accesses {
            if access.set.as_ref() == Some(set) {
                access.fenced = access.fenced.or(Some(Level::Thread));
            }
        }
    }

    fn drop_ordered(&mut self) {
        self.accesses.retain(|t| {
            let widest = match t.clustered {
                true => Level::Cluster,
                false => Level::Block,
            };
            let over = |level: Option<Level>| level.is_some_and(|level| level <= widest);
            !over(t.ordered_at) || (t.needs_proxy_fence && !over(t.fenced))
        });
    }

    pub fn end(&mut self) {
        *self = Pending::unreachable();
    }

    /// Joins the state of another path.
    pub fn join(&mut self, other: &Pending) {
        if other.unreachable {
            return;
        }
        if self.unreachable {
            *self = other.clone();
            return;
        }
        self.add_all(other.accesses.iter().cloned());
    }

    /// Whether an access of `earlier` iterations is still pending that is not also in `own`.
    pub fn outlives(&self, earlier: &Pending, own: &Pending) -> bool {
        let of = |pending: &'_ Pending| -> HashSet<_> {
            let all = pending.accesses.iter();
            all.map(|t| (t.buffer, t.write, t.place.clone(), t.executor))
                .collect()
        };
        let (own, earlier, all) = (of(own), of(earlier), of(self));
        all.iter().any(|t| earlier.contains(t) && !own.contains(t))
    }

    /// The same accesses, from the point of view of a later iteration.
    pub fn in_earlier_iteration(
        &self,
        cx: &mut Ctx,
        vars: &mut Vars,
        iterations: &Iterations<'_>,
    ) -> Pending {
        let earlier = self.accesses.iter().map(|access| {
            let mut access = access.clone();
            let changes = |place: &Place| {
                let coordinates = place.coordinates.iter().flatten();
                let mut all = coordinates.chain([&place.flat]);
                all.any(|sym| iterations.change(sym))
            };
            if let Some(place) = access.place.as_mut().filter(|place| changes(place)) {
                let place = Rc::make_mut(place);
                let mut earlier = |sym: &Sym| vars.in_earlier_iteration(cx, sym, iterations);
                place.flat = earlier(&place.flat);
                if let Some(coordinates) = &mut place.coordinates {
                    for c in coordinates {
                        *c = earlier(c);
                    }
                }
            }
            access
        });
        let mut out = Pending {
            accesses: Vec::new(),
            unreachable: self.unreachable,
        };
        out.add_all(earlier);
        out
    }
}

/// So many accesses are compared with all that are pending, without an [`Index`].
const FEW: usize = 8;

/// What differs between most accesses.
fn kind(access: &MemAccess) -> (BufferId, bool, Option<u32>) {
    let region = access.inner_region.as_ref().map(|inner| inner.region);
    (access.buffer, access.write, region)
}

/// The positions of accesses, by a hash of their kind and place. Where hundreds of accesses are pending
/// in front of each of hundreds of regions, comparing all of them takes seconds.
struct Index(HashMap<u64, Vec<usize>>);

impl Index {
    fn of(accesses: &[MemAccess]) -> Index {
        let mut index = Index(HashMap::with_capacity(accesses.len()));
        for (at, access) in accesses.iter().enumerate() {
            index.add(Index::key(access), at);
        }
        index
    }

    fn key(access: &MemAccess) -> u64 {
        let mut hasher = DefaultHasher::new();
        (kind(access), &access.place).hash(&mut hasher);
        hasher.finish()
    }

    fn add(&mut self, key: u64, at: usize) {
        self.0.entry(key).or_default().push(at);
    }

    /// The positions that may hold an access with this key.
    fn at(&self, key: u64) -> impl Iterator<Item = usize> {
        self.0.get(&key).into_iter().flatten().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::transform::barriers::access::Executor;

    fn access(buffer: u32, at: i64, region: u32) -> MemAccess {
        let set = ThreadSet {
            ranges: vec![(region, region + 1)],
        };
        MemAccess {
            buffer: BufferId(buffer),
            write: at % 2 == 0,
            place: (at > 0).then(|| {
                Rc::new(Place {
                    coordinates: None,
                    flat: Sym::int(at),
                })
            }),
            executor: Executor::EachThread,
            chain: Rc::default(),
            set: Some(set.clone()),
            inner_region: Some(Region {
                region,
                set: Some(set),
            }),
            opaque: false,
            atomic: false,
            by_tma: false,
            in_flight: false,
            needs_proxy_fence: false,
            clustered: false,
            ordered_at: (at % 3 == 0).then_some(Level::Warp),
            fenced: None,
            released: Release::None,
        }
    }

    fn many() -> Vec<MemAccess> {
        let all = (0..200).map(|i: u32| access(i % 3, i64::from(i % 7), i % 5));
        all.collect()
    }

    #[test]
    fn many_accesses_are_added_as_one_after_the_other() {
        let (mut together, mut single, mut joined) = <(Pending, Pending, Pending)>::default();
        together.add(many());
        for access in many() {
            single.add(vec![access]);
        }
        joined.add(many().split_off(100));
        joined.join(&together);
        assert_eq!(together.accesses(), single.accesses());
        assert_eq!(together.accesses().len(), 105);
        assert_eq!(joined.accesses().len(), 105);
    }

    #[test]
    fn accesses_of_other_threads_are_left_out() {
        let mut pending = Pending::default();
        pending.add(many());
        let kept = pending.without_others(&ThreadSet {
            ranges: vec![(1, 3)],
        });
        let regions = kept.accesses().iter().filter_map(|t| kind(t).2);
        assert_eq!(
            regions.collect::<std::collections::BTreeSet<_>>(),
            [1, 2].into()
        );
        assert_eq!(kept.accesses().len(), 42);
    }
}
