//! The order of accesses by fences and atomic operations.
//!
//! A thread that executes a fence for the device *releases* its own accesses so far and those
//! ordered before them. A later atomic operation by it, or a plain store (a flag), publishes these
//! at the element. A thread that reads the element by an atomic operation acquires them with its
//! own next fence. Barriers share all acquired accesses among their threads.
//!
//! The points published at an element are a list that only grows, so the state of a thread is the
//! length that each list had.

use std::collections::HashMap;
use std::rc::Rc;

use super::log::{ATOMIC, MANY, Place, SAME, THREAD};
use super::report::Did;
use super::rules::{Earlier, Now, Relation};
use crate::abi::{
    CROQ_ACCESS_ATOMIC, CROQ_ACCESS_READS, CROQ_ACCESS_SAME, CROQ_ACCESS_WRITES,
    croq_sim_device_cell,
};
use crate::sim::clocks::Clocks;

/// The most accesses of an element by mutually unordered threads that are kept.
const MOST: usize = 256;

/// A prefix of a list.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Prefix {
    list: u32,
    length: u32,
}

/// A thread's accesses up to a fence, and those of its block before the last barrier.
#[derive(Clone)]
struct Point {
    block: u64,
    epoch: u32,
    thread: u32,
    clock: u32,
    /// For each thread, the acquired clock value.
    others: Option<Vec<u32>>,
}

impl Point {
    fn covers(&self, epoch: u32, thread: u32, clock: u32) -> bool {
        if epoch != self.epoch {
            return epoch < self.epoch;
        }
        let of_other = || {
            let others = self.others.as_ref();
            others.and_then(|others| others.get(thread as usize).copied())
        };
        match thread == self.thread {
            true => clock <= self.clock,
            false => clock != 0 && of_other().is_some_and(|known| clock <= known),
        }
    }
}

/// The points published at an element.
#[derive(Default)]
pub(super) struct Published {
    length: u32,
    /// By block, with the index of each in the list.
    points: HashMap<u64, Vec<(u32, Point)>>,
    nested: Vec<(u32, Vec<Prefix>)>,
}

/// The points that a fence has released.
#[derive(Default)]
struct Release {
    points: Vec<Point>,
    known: Vec<Prefix>,
}

#[derive(Clone, Default)]
struct OfThread {
    known: Vec<Prefix>,
    /// Read by atomic operations, without a fence since.
    read: Vec<Prefix>,
    released: Option<Rc<Release>>,
}

impl OfThread {
    fn join(&mut self, other: &OfThread) {
        other.known.iter().for_each(|p| add(&mut self.known, *p));
        other.read.iter().for_each(|p| add(&mut self.read, *p));
        self.released = match (self.released.take(), &other.released) {
            (None, other) => other.clone(),
            (one, None) => one,
            (Some(one), Some(other)) if Rc::ptr_eq(&one, other) => Some(one),
            (Some(one), Some(other)) => {
                let mut both = Release {
                    points: one.points.clone(),
                    known: one.known.clone(),
                };
                both.points.extend(other.points.iter().cloned());
                other.known.iter().for_each(|p| add(&mut both.known, *p));
                Some(Rc::new(both))
            }
        };
    }
}

fn add(all: &mut Vec<Prefix>, new: Prefix) {
    match all.iter_mut().find(|old| old.list == new.list) {
        Some(old) => old.length = old.length.max(new.length),
        None => all.push(new),
    }
}

/// The points of other blocks that the threads of a block have acquired.
#[derive(Default)]
pub(super) struct Acquired {
    all: OfThread,
    /// For the threads that have acquired more since the last barrier.
    each: HashMap<u32, OfThread>,
}

impl Acquired {
    /// Finds an unordered access if fences, atomic operations or barriers of some threads may order
    /// accesses.
    pub(super) fn by_list(
        &mut self,
        now: &mut Now<'_>,
        clocks: &Clocks,
        at: (u32, u64),
        kind: u32,
        value: u32,
        cell: &croq_sim_device_cell,
    ) -> Result<(), Earlier> {
        let details = &mut now.log.details;
        let mut detail = match details.get_mut(&at) {
            Some(detail) => std::mem::take(detail),
            None => Detail::of_cell(cell),
        };
        let outcome = judge(now, &mut detail, self, clocks, kind, value);
        now.log.details.insert(at, detail);
        if outcome.is_ok() {
            exchange(now, self, at, kind);
        }
        outcome
    }

    fn of(&self, thread: u32) -> &OfThread {
        self.each.get(&thread).unwrap_or(&self.all)
    }

    fn of_mut(&mut self, thread: u32) -> &mut OfThread {
        let all = &self.all;
        self.each.entry(thread).or_insert_with(|| all.clone())
    }

    pub(super) fn all_meet(&mut self) {
        for (_, one) in std::mem::take(&mut self.each) {
            self.all.join(&one);
        }
    }

    pub(super) fn meet(&mut self, threads: impl Iterator<Item = u32> + Clone) {
        let mut together = OfThread::default();
        let mut news = false;
        for thread in threads.clone() {
            if let Some(one) = self.each.get(&thread) {
                together.join(one);
                news = true;
            }
        }
        if news {
            together.join(&self.all);
            for thread in threads {
                self.each.insert(thread, together.clone());
            }
        }
    }

    pub(super) fn fence(&mut self, thread: u32, block: u64, epoch: u32, clocks: &mut Clocks) {
        let (clock, others) = clocks.release(thread);
        let own = self.of_mut(thread);
        let read = std::mem::take(&mut own.read);
        read.into_iter().for_each(|p| add(&mut own.known, p));
        own.released = Some(Rc::new(Release {
            points: vec![Point {
                block,
                epoch,
                thread,
                clock,
                others,
            }],
            known: own.known.clone(),
        }));
    }
}

/// One access of an element.
#[derive(Clone, Copy)]
struct Record {
    epoch: u32,
    who: u32,
    clock: u32,
    value: u32,
    kind: u32,
    /// A plain store after a fence: it may be a flag.
    release: bool,
    /// By a copy to all blocks of the cluster, each of which may have waited for it.
    multicast: bool,
}

/// The accesses of an element that may be unordered with later ones.
#[derive(Default)]
pub(in super::super) struct Detail {
    stores: Vec<Record>,
    reads: Vec<Record>,
    /// The list of the points published here.
    published: Option<u32>,
}

impl Detail {
    fn of_cell(cell: &croq_sim_device_cell) -> Self {
        let record = |epoch, who: u32, value| Record {
            epoch,
            who,
            clock: 0,
            value,
            kind: match who {
                who if who & ATOMIC != 0 => CROQ_ACCESS_ATOMIC,
                who if who & SAME != 0 => CROQ_ACCESS_SAME,
                _ => CROQ_ACCESS_WRITES,
            },
            release: false,
            multicast: false,
        };
        let mut detail = Detail::default();
        if cell.written != 0 {
            (detail.stores).push(record(cell.written, cell.writer, cell.value));
            if cell.writer & ATOMIC != 0 && cell.value != 0 {
                (detail.stores).push(record(cell.value, cell.other, 0));
            }
        }
        for (epoch, who) in [(cell.read, cell.reader), (cell.read_too, cell.reader_too)] {
            if epoch != 0 {
                detail.reads.push(record(epoch, who, 0));
            }
        }
        detail
    }
}

fn judge(
    now: &Now<'_>,
    detail: &mut Detail,
    acquired: &Acquired,
    clocks: &Clocks,
    kind: u32,
    value: u32,
) -> Result<(), Earlier> {
    let unknown = |r: &Record| !is_known(now, acquired, clocks, r);
    let earlier = |r: &Record, did: Did| Earlier {
        epoch: r.epoch,
        who: r.who,
        did,
    };
    let released = acquired.of(now.thread).released.is_some();
    for store in detail.stores.iter().filter(|r| unknown(r)) {
        let harmless = match (store.kind, kind) {
            (CROQ_ACCESS_ATOMIC, CROQ_ACCESS_ATOMIC) | (CROQ_ACCESS_SAME, CROQ_ACCESS_READS) => {
                true
            }
            // A flag that is stored after a fence and read by atomic operations.
            (CROQ_ACCESS_ATOMIC, CROQ_ACCESS_WRITES | CROQ_ACCESS_SAME) => released,
            (_, CROQ_ACCESS_ATOMIC) => store.release,
            (_, CROQ_ACCESS_WRITES | CROQ_ACCESS_SAME) => store.value == value,
            _ => false,
        };
        if !harmless {
            let atomic = store.kind == CROQ_ACCESS_ATOMIC;
            return Err(earlier(
                store,
                if atomic { Did::Changed } else { Did::Wrote },
            ));
        }
    }
    if matches!(kind, CROQ_ACCESS_WRITES | CROQ_ACCESS_ATOMIC)
        && let Some(read) = detail.reads.iter().find(|r| unknown(r))
    {
        return Err(earlier(read, Did::Read));
    }
    let record = Record {
        epoch: now.state.epoch,
        who: now.who,
        clock: clocks.own(now.thread),
        value,
        kind,
        release: released,
        multicast: now.multicast,
    };
    let list = match kind {
        CROQ_ACCESS_READS => &mut detail.reads,
        _ => &mut detail.stores,
    };
    // Later accesses that are ordered after this one are also ordered after those before it. But
    // atomic operations, and stores that change nothing, conflict with fewer accesses than others.
    let conflicts_with_fewer = matches!(kind, CROQ_ACCESS_ATOMIC | CROQ_ACCESS_SAME);
    list.retain(|r| unknown(r) || (conflicts_with_fewer && r.kind != kind));
    if list.len() >= MOST {
        list.remove(0);
    }
    list.push(record);
    Ok(())
}

fn is_known(now: &Now<'_>, acquired: &Acquired, clocks: &Clocks, r: &Record) -> bool {
    let thread = r.who & THREAD;
    match now.relation_to(r.epoch) {
        Relation::Past => true,
        Relation::Now => {
            let one = r.who & MANY == 0;
            let known = || r.clock != 0 && clocks.known(now.thread, thread) >= r.clock;
            let published = || {
                let known = &acquired.of(now.thread).known;
                is_published(now, known, now.place.block, r.epoch, thread, r.clock)
            };
            one && (thread == now.thread || known() || published())
        }
        Relation::Concurrent => {
            let Place { block, cluster } = now.log.place(r.epoch);
            if r.multicast && cluster == now.place.cluster {
                return true;
            }
            let known = &acquired.of(now.thread).known;
            r.who & MANY == 0 && is_published(now, known, block, r.epoch, thread, r.clock)
        }
    }
}

/// Whether an access is covered by the points in these prefixes.
fn is_published(
    now: &Now<'_>,
    known: &[Prefix],
    block: u64,
    epoch: u32,
    thread: u32,
    clock: u32,
) -> bool {
    let mut seen: HashMap<u32, u32> = HashMap::new();
    let mut open = known.to_vec();
    while let Some(Prefix { list, length }) = open.pop() {
        let before = seen.insert(list, length).unwrap_or(0);
        if before >= length {
            seen.insert(list, before);
            continue;
        }
        let Some(published) = now.log.published.get(list as usize) else {
            continue;
        };
        let points = published.points.get(&block).into_iter().flatten();
        let mut within = points.take_while(|(at, _)| *at < length);
        if within.any(|(_, point)| point.covers(epoch, thread, clock)) {
            return true;
        }
        let nested = published.nested.iter().take_while(|(at, _)| *at < length);
        open.extend(nested.flat_map(|(_, known)| known.iter().copied()));
    }
    false
}

/// Publishes and reads points at the element, for an access that is ordered.
pub(super) fn exchange(now: &mut Now<'_>, acquired: &mut Acquired, at: (u32, u64), kind: u32) {
    if kind == CROQ_ACCESS_READS {
        return;
    }
    let released = acquired.of(now.thread).released.clone();
    let Some(detail) = now.log.details.get_mut(&at) else {
        return;
    };
    let plain = kind != CROQ_ACCESS_ATOMIC;
    if plain {
        // The points published here before are overwritten.
        detail.published = None;
    }
    if let Some(list) = detail.published {
        let length = now.log.published.get(list as usize).map_or(0, |t| t.length);
        add(
            &mut acquired.of_mut(now.thread).read,
            Prefix { list, length },
        );
    }
    let Some(release) = released else { return };
    let list = *detail.published.get_or_insert_with(|| {
        now.log.published.push(Published::default());
        now.log.published.len() as u32 - 1
    });
    let Some(published) = now.log.published.get_mut(list as usize) else {
        return;
    };
    let at = published.length;
    published.length += 1;
    for point in &release.points {
        let points = published.points.entry(point.block).or_default();
        points.push((at, point.clone()));
    }
    if !release.known.is_empty() {
        published.nested.push((at, release.known.clone()));
    }
}
