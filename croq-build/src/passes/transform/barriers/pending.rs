//! The accesses since the last synchronisation of the threads.

use std::rc::Rc;

use super::access::{Executor, MemAccess, Region, Release};
use super::place::Place;
use super::vars::{Iterations, Vars};
use crate::ir::{Level, ThreadSet};
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
        for access in accesses {
            self.add_one(access);
        }
    }

    fn add_one(&mut self, mut access: MemAccess) {
        let since = (access.ordered_at, access.fenced);
        let region = |access: &MemAccess| {
            access
                .inner_region
                .as_ref()
                .map(|inner_region| inner_region.region)
        };
        let own = region(&access);
        let same = self.accesses.iter_mut().find(|t| {
            // The cheap comparison first: hundreds of regions may each have accesses of their own.
            if (t.buffer, t.write, region(t)) != (access.buffer, access.write, own) {
                return false;
            }
            (access.ordered_at, access.fenced) = (t.ordered_at, t.fenced);
            **t == access
        });
        // After a join of two paths, only the weaker ordering holds.
        let both = |a: Option<Level>, b: Option<Level>| match (a, b) {
            (Some(a), Some(b)) => Some(a.max(b)),
            _ => None,
        };
        match same {
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
        for access in &other.accesses {
            self.add_one(access.clone());
        }
    }

    /// Whether an access of `earlier` iterations is still pending that is not also in `own`.
    pub fn outlives(&self, earlier: &Pending, own: &Pending) -> bool {
        let same = |t: &MemAccess, u: &MemAccess| {
            t.buffer == u.buffer
                && t.write == u.write
                && t.place == u.place
                && t.executor == u.executor
        };
        self.accesses.iter().any(|t| {
            earlier.accesses.iter().any(|u| same(t, u)) && !own.accesses.iter().any(|u| same(t, u))
        })
    }

    /// The same accesses, from the point of view of a later iteration.
    pub fn in_earlier_iteration(
        &self,
        cx: &mut Ctx,
        vars: &mut Vars,
        iterations: &Iterations<'_>,
    ) -> Pending {
        let mut out = Pending {
            accesses: Vec::new(),
            unreachable: self.unreachable,
        };
        for access in &self.accesses {
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
            out.add_one(access);
        }
        out
    }
}
