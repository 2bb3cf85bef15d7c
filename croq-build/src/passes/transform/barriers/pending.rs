//! The accesses made since the threads last met.

use super::access::{Executor, MemAccess, Region, Release};
use super::vars::{Turns, Vars};
use crate::ir::{Level, ThreadSet};
use crate::symbolic::{Ctx, Sym};

#[derive(Clone, Debug, Default)]
pub struct Pending {
    touches: Vec<MemAccess>,
    /// No thread gets here.
    unreachable: bool,
}

impl Pending {
    pub fn nowhere() -> Pending {
        Pending {
            touches: Vec::new(),
            unreachable: true,
        }
    }

    pub fn is_somewhere(&self) -> bool {
        !self.unreachable
    }

    pub fn touches(&self) -> &[MemAccess] {
        &self.touches
    }

    pub fn add(&mut self, touches: Vec<MemAccess>) {
        if self.unreachable {
            return;
        }
        for touch in touches {
            self.add_one(touch);
        }
    }

    fn add_one(&mut self, mut touch: MemAccess) {
        let since = (touch.ordered_at, touch.fenced);
        let region = |touch: &MemAccess| touch.team.as_ref().map(|team| team.region);
        let own = region(&touch);
        let same = self.touches.iter_mut().find(|t| {
            // The quick half first: of hundreds of regions each has its own.
            if (t.buffer, t.write, region(t)) != (touch.buffer, touch.write, own) {
                return false;
            }
            (touch.ordered_at, touch.fenced) = (t.ordered_at, t.fenced);
            **t == touch
        });
        // Two ways to get here: only what both have waited for is over.
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
                (touch.ordered_at, touch.fenced) = since;
                self.touches.push(touch);
            }
        }
    }

    /// All threads of each unit of `level` have met, with proxy fences before or without.
    /// Inside an `inthreads` those are `within` it, and settle what such threads did.
    pub fn settle(&mut self, level: Level, fenced: bool, within: Option<&ThreadSet>) {
        let theirs = |touch: &MemAccess| {
            let Some(within) = within else { return true };
            let made = touch.team.as_ref().and_then(|t| t.set.as_ref());
            made.is_some_and(|set| set == within || set.threads().all(|t| within.contains(t)))
        };
        for touch in self.touches.iter_mut().filter(|t| theirs(t)) {
            touch.ordered_at = Some(touch.ordered_at.map_or(level, |s| s.min(level)));
            if fenced {
                touch.fenced = Some(touch.fenced.map_or(level, |s| s.min(level)));
            }
        }
        self.drop_settled();
    }

    /// All threads of each unit of `level` have waited for what its first thread began: what that did
    /// before is over.
    pub fn settle_first(&mut self, level: Level, team: Option<&Region>) {
        for touch in &mut self.touches {
            if touch.who == Executor::One(level) && touch.team.as_ref() == team {
                touch.ordered_at = Some(touch.ordered_at.map_or(level, |s| s.min(level)));
            }
        }
        self.drop_settled();
    }

    /// What a region's threads did is a step further on its way.
    pub fn hand(&mut self, set: &ThreadSet, from: Release, to: Release) {
        for touch in &mut self.touches {
            if touch.set.as_ref() == Some(set) && touch.released == from {
                touch.released = to;
            }
        }
    }

    /// A region's threads have written what the copy engine doesn't see.
    pub fn hides(&self, set: &ThreadSet) -> bool {
        let needs_proxy_fence = |t: &MemAccess| t.needs_proxy_fence && t.released == Release::Not;
        self.touches
            .iter()
            .any(|t| needs_proxy_fence(t) && t.set.as_ref() == Some(set))
    }

    fn drop_settled(&mut self) {
        self.touches.retain(|t| {
            let widest = match t.clustered {
                true => Level::Cluster,
                false => Level::Block,
            };
            let over = |level: Option<Level>| level.is_some_and(|level| level <= widest);
            !over(t.ordered_at) || (t.needs_proxy_fence && !over(t.fenced))
        });
    }

    pub fn end(&mut self) {
        *self = Pending::nowhere();
    }

    /// Either of two ways leads here.
    pub fn join(&mut self, other: &Pending) {
        if other.unreachable {
            return;
        }
        if self.unreachable {
            *self = other.clone();
            return;
        }
        for touch in &other.touches {
            self.add_one(touch.clone());
        }
    }

    /// An access of `earlier` turns is still pending, and it is not one that `own` has as well.
    pub fn outlives(&self, earlier: &Pending, own: &Pending) -> bool {
        let same = |t: &MemAccess, u: &MemAccess| {
            t.buffer == u.buffer && t.write == u.write && t.place == u.place && t.who == u.who
        };
        self.touches.iter().any(|t| {
            earlier.touches.iter().any(|u| same(t, u)) && !own.touches.iter().any(|u| same(t, u))
        })
    }

    /// Seen from a later turn.
    pub fn in_earlier_turn(&self, cx: &mut Ctx, vars: &mut Vars, turns: &Turns<'_>) -> Pending {
        let mut out = Pending {
            touches: Vec::new(),
            unreachable: self.unreachable,
        };
        for touch in &self.touches {
            let mut touch = touch.clone();
            if let Some(place) = &mut touch.place {
                let mut earlier = |sym: &Sym| vars.in_earlier_turn(cx, sym, turns);
                place.flat = earlier(&place.flat);
                if let Some(coordinates) = &mut place.coordinates {
                    for c in coordinates {
                        *c = earlier(c);
                    }
                }
            }
            out.add_one(touch);
        }
        out
    }
}
