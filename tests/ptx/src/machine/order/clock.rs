//! The clocks of a warp's lanes. Lanes that know the same share a view.

use std::rc::Rc;

use super::operation::Slot;
use super::record::{Domain, Kind, Scope};
use super::view::{Agent, FencedSpace, Time, View, joined};
use crate::machine::registers::{LANES, Mask, lanes};

pub struct WarpClock {
    pub agent: Agent,
    pub domain: Domain,
    groups: Vec<(Mask, Rc<View>)>,
    /// All lanes have seen all of their block up to this.
    pub floor: Time,
    fences: Vec<Fences>,
    /// Lanes that have executed `fence.mbarrier_init`.
    pub initialised: Mask,
    pub recent: Recent,
    /// Of an operation that shares its agent.
    pub slot: Option<Slot>,
}

/// What a lane's fences do to its strong accesses.
#[derive(Clone, Default)]
struct Fences {
    /// What was before a fence of that scope, and the time of the fence: released by later strong
    /// writes.
    released: [Option<(Rc<View>, Time)>; 3],
    /// What strong reads have read, acquired by a later fence.
    pending: [Option<Rc<View>>; 3],
}

/// Records that were made last, found by their instruction.
pub struct Recent {
    entries: Vec<((u32, Time, Mask, Kind), u32)>,
}

const RECENT: usize = 64;

impl Recent {
    pub fn find(&self, key: (u32, Time, Mask, Kind)) -> Option<u32> {
        let entry = self.entries.get(key.0 as usize % RECENT)?;
        (entry.0 == key && entry.1 != 0).then_some(entry.1)
    }

    pub fn put(&mut self, key: (u32, Time, Mask, Kind), record: u32) {
        if self.entries.is_empty() {
            self.entries.resize(RECENT, (key, 0));
        }
        self.entries[key.0 as usize % RECENT] = (key, record);
    }
}

impl WarpClock {
    pub fn new(agent: Agent, cluster: u32) -> WarpClock {
        WarpClock {
            agent,
            domain: Domain {
                block: agent.block,
                cluster,
            },
            groups: vec![(Mask::MAX, Rc::default())],
            floor: 0,
            fences: Vec::new(),
            initialised: 0,
            recent: Recent {
                entries: Vec::new(),
            },
            slot: None,
        }
    }

    pub fn view(&self, lane: usize) -> &Rc<View> {
        let found = self.groups.iter().find(|(mask, _)| mask >> lane & 1 == 1);
        &found.unwrap_or(&self.groups[0]).1
    }

    /// The views of these lanes, and which of them have each.
    pub fn views(&self, lanes: Mask) -> impl Iterator<Item = (Mask, &View)> {
        let parts = self
            .groups
            .iter()
            .map(move |(mask, view)| (mask & lanes, &**view));
        parts.filter(|(mask, _)| *mask != 0)
    }

    /// What these lanes know together, themselves up to now included.
    pub fn own(&self, lanes: Mask, now: Time) -> View {
        let mut parts = self.views(lanes);
        let first = parts.next();
        let mut view = first.map(|(_, view)| view.clone()).unwrap_or_default();
        view.own_fenced = [0; 2];
        parts.for_each(|(_, part)| view.join(part));
        for (mask, part) in self.views(lanes) {
            view.add_own_fenced(self.agent, mask, part.own_fenced);
        }
        view.all.add(self.agent, lanes, now);
        view
    }

    /// What these lanes know, which includes what they knew.
    pub fn replace(&mut self, lanes: Mask, view: Rc<View>) {
        for (mask, _) in &mut self.groups {
            *mask &= !lanes;
        }
        self.groups.retain(|(mask, _)| *mask != 0);
        let mut same = self.groups.iter_mut();
        match same.find(|(_, known)| Rc::ptr_eq(known, &view) || *known == view) {
            Some((mask, _)) => *mask |= lanes,
            None => self.groups.push((lanes, view)),
        }
        let floors = self
            .groups
            .iter()
            .map(|(_, view)| view.all.block(self.agent.block));
        self.floor = floors.min().unwrap_or(0);
    }

    /// What these lanes know becomes more.
    fn extend(&mut self, lanes: Mask, more: impl Fn(&Rc<View>) -> Rc<View>) {
        for (mask, known) in self.groups.clone() {
            if mask & lanes != 0 {
                self.replace(mask & lanes, more(&known));
            }
        }
    }

    /// Orders what was released before what these lanes do from now on.
    pub fn acquire(&mut self, lanes: Mask, view: &Rc<View>) {
        self.extend(lanes, |known| joined(known, view));
    }

    /// Only that reads are complete.
    pub fn acquire_reads(&mut self, lanes: Mask, view: &View) {
        self.extend(lanes, |known| {
            let mut new = View::clone(known);
            new.join_reads(view);
            Rc::new(new)
        });
    }

    /// `bar.warp.sync`: "guarantees memory ordering among participating threads".
    pub fn meet(&mut self, lanes: Mask, now: Time) {
        let view = self.own(lanes, now);
        self.replace(lanes, Rc::new(view));
    }

    /// `fence.proxy.async`: the async proxy sees what these lanes know, of one state space or of both.
    pub fn fence_proxy(&mut self, lanes: Mask, space: Option<FencedSpace>, now: Time) {
        self.extend(lanes, |known| {
            let mut view = View::clone(known);
            for limit in [FencedSpace::Shared, FencedSpace::Global] {
                if space.is_none_or(|space| space == limit) {
                    view.fenced[limit as usize].join(&view.all);
                    view.own_fenced[limit as usize] = now;
                }
            }
            Rc::new(view)
        });
    }

    pub fn fence(&mut self, lanes: Mask, scope: Scope, now: Time) {
        if self.fences.is_empty() {
            self.fences = vec![Fences::default(); LANES];
        }
        let levels = scope as usize + 1;
        for lane in self::lanes(lanes) {
            for level in 0..levels {
                if let Some(view) = self.fences[lane].pending[level].take() {
                    self.acquire(1 << lane, &view);
                }
            }
            let view = Rc::clone(self.view(lane));
            for released in &mut self.fences[lane].released[..levels] {
                *released = Some((Rc::clone(&view), now));
            }
        }
    }

    /// What a strong write by the lane releases to threads within the scope of a level.
    pub fn released(&self, lane: usize, level: Scope, is_release: bool, now: Time) -> Option<View> {
        if is_release {
            return Some(self.own(1 << lane, now));
        }
        let (view, time) = self.fences.get(lane)?.released[level as usize].as_ref()?;
        let mut view = View::clone(view);
        let own_fenced = std::mem::take(&mut view.own_fenced);
        view.add_own_fenced(self.agent, 1 << lane, own_fenced);
        view.all.add(self.agent, 1 << lane, *time);
        Some(view)
    }

    /// What a strong read by these lanes has read is acquired by a later fence.
    pub fn read_before_fence(&mut self, lanes: Mask, level: Scope, view: &Rc<View>) {
        if self.fences.is_empty() {
            self.fences = vec![Fences::default(); LANES];
        }
        for lane in self::lanes(lanes) {
            let pending = &mut self.fences[lane].pending[level as usize];
            *pending = Some(match pending.take() {
                Some(known) => joined(&known, view),
                None => Rc::clone(view),
            });
        }
    }

    pub fn has_fences(&self) -> bool {
        !self.fences.is_empty()
    }
}
