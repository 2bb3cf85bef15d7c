//! Granules whose accesses are a set: several that are not ordered among each other, or of some of the
//! bytes.

use super::clock::WarpClock;
use super::record::{Effect, Record, conflict};
use super::shadow::{
    ALL_BYTES, ALL_LANES, Cause, Code, Entry, LANE_BITS, Part, Race, SET, Shadow, Table,
    is_copy_over_copy,
};
use crate::machine::registers::{Mask, lanes};

impl Table {
    /// As [`Table::access`], where one write and one read do not tell everything.
    pub fn access_set(
        &mut self,
        clock: &WarpClock,
        shadow: &mut Shadow,
        number: u32,
        part: Part,
    ) -> Result<(), Race> {
        let mut set = self.take(shadow, part.granule);
        let of = Some((number, part.space, part.lanes, part.bytes));
        if self.last.of == of && self.last.before == set {
            set.clone_from(&self.last.after);
            self.put(shadow, part.granule, set);
            return Ok(());
        }
        let new = self.records[number as usize];
        let mut is_needed = true;
        for entry in &set {
            self.check(clock, &new, part, entry)?;
        }
        self.last.of = of;
        self.last.before.clone_from(&set);
        set.retain(|entry| {
            let old = &self.records[entry.record as usize];
            let same = entry.record == number && entry.bytes == part.bytes;
            let is_covered = entry.bytes & !part.bytes == 0
                && (new.kind.covers(old.kind) && old.kind.writes() <= new.kind.writes());
            is_needed &= !(old.agent.block != new.agent.block
                && self.is_final(old)
                && old.kind.covers(new.kind)
                && part.bytes & !entry.bytes == 0);
            let reads_suffice = is_copy_over_copy(old, new.kind, part.space);
            let old = (old, entry.lanes);
            same || !(is_covered && self.is_subsumed(clock, part.lanes, old, reads_suffice))
        });
        let same = |entry: &&mut Entry| entry.record == number && entry.bytes == part.bytes;
        match set.iter_mut().find(same) {
            Some(entry) => entry.lanes |= part.lanes,
            None if is_needed => set.push(Entry {
                record: number,
                lanes: part.lanes,
                bytes: part.bytes,
            }),
            None => {}
        }
        self.last.after.clone_from(&set);
        self.put(shadow, part.granule, set);
        Ok(())
    }

    fn check(
        &self,
        clock: &WarpClock,
        new: &Record,
        part: Part,
        entry: &Entry,
    ) -> Result<(), Race> {
        let old = &self.records[entry.record as usize];
        if entry.bytes & part.bytes == 0 {
            return Ok(());
        }
        let race = |earlier_lane: usize, later_lane: usize, cause: Cause| Race {
            earlier: *old,
            earlier_lane,
            later: new.kind,
            later_lane,
            granule: part.granule,
            cause,
        };
        let first = part.lanes.trailing_zeros() as usize;
        if new.kind.effect == Effect::ReadOnly && old.kind.writes() {
            let other = entry.lanes.trailing_zeros() as usize;
            return Err(race(other, first, Cause::ReadOnly));
        }
        let common = clock.domain.common(self.domain(old.agent.block));
        if !conflict(old.kind, new.kind, entry.bytes == part.bytes, common) {
            return Ok(());
        }
        let needs_fence =
            new.kind.is_async && !old.kind.is_async && old.kind.effect == Effect::Write;
        let reads_suffice = is_copy_over_copy(old, new.kind, part.space);
        let is_own = old.agent == clock.agent;
        let mut found: Option<(usize, usize, Cause)> = None;
        for (threads, view) in clock.views(part.lanes) {
            let unseen = entry.lanes & !self.seen(clock, view, old, reads_suffice);
            // Who accesses asynchronously is an operation, whose thread's own fences are entries of the view.
            let fenced = match needs_fence {
                true => view.fenced[part.space as usize].lanes(old.agent, old.time),
                false => Mask::MAX,
            };
            let unfenced = entry.lanes & !fenced;
            if unseen | unfenced == 0 {
                continue;
            }
            for lane in lanes(threads) {
                let own = if is_own { 1 << lane } else { 0 };
                let unseen = unseen & !own;
                let other = (unseen | unfenced).trailing_zeros() as usize;
                if unseen | unfenced != 0 && found.is_none_or(|found| lane < found.0) {
                    let cause = match unseen >> other & 1 {
                        1 => Cause::Unordered,
                        _ => Cause::Proxy,
                    };
                    found = Some((lane, other, cause));
                }
            }
        }
        found.map_or(Ok(()), |(lane, other, cause)| Err(race(other, lane, cause)))
    }

    fn take(&mut self, shadow: &Shadow, granule: usize) -> Vec<Entry> {
        let (write, read) = (shadow.writes[granule], shadow.reads[granule]);
        if write.is_set() {
            let index = write.index();
            self.free.push(index as u32);
            return std::mem::take(&mut self.sets[index]);
        }
        let mut set = Vec::with_capacity(8);
        for code in [write, read].into_iter().filter(|code| code.0 != 0) {
            set.push(Entry {
                record: code.index() as u32,
                lanes: self.lanes_of(code),
                bytes: ALL_BYTES,
            });
        }
        set
    }

    fn put(&mut self, shadow: &mut Shadow, granule: usize, set: Vec<Entry>) {
        let mut simple = [Code(0), Code(0)];
        for entry in &set {
            let record = &self.records[entry.record as usize];
            let code = match entry.lanes {
                lanes if lanes.is_power_of_two() => {
                    Code(entry.record << LANE_BITS | lanes.trailing_zeros())
                }
                lanes if lanes == record.mask => Code(entry.record << LANE_BITS | ALL_LANES),
                _ => Code(0),
            };
            let place = &mut simple[usize::from(!record.kind.writes())];
            if entry.bytes != ALL_BYTES || code.0 == 0 || place.0 != 0 {
                let code = self.allocate(set);
                shadow.writes[granule] = code;
                shadow.reads[granule] = code;
                return;
            }
            *place = code;
        }
        [shadow.writes[granule], shadow.reads[granule]] = simple;
    }

    fn allocate(&mut self, set: Vec<Entry>) -> Code {
        let index = self.free.pop().unwrap_or_else(|| {
            self.sets.push(Vec::new());
            self.sets.len() as u32 - 1
        });
        self.sets[index as usize] = set;
        Code(index << LANE_BITS | SET)
    }
}
