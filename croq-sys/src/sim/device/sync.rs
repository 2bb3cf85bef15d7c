//! The order of accesses by fences and atomic operations.
//!
//! A thread that executes a fence for the device *releases* its own accesses so far and those
//! ordered before them. A later atomic operation by it, or a plain store (a flag), publishes these
//! at the element. A thread that reads the element by an atomic operation acquires them with its
//! own next fence. Barriers share all acquired accesses among their threads.
//!
//! What is published at an element is a set of accesses ([`Covered`]) that only grows.

use super::covered::{Covered, Front};
use super::details::At;
use super::log::{ATOMIC, MANY, Place, SAME, THREAD};
use super::report::Did;
use super::rules::{Earlier, Now, Relation};
use crate::abi::{
    CROQ_ACCESS_ATOMIC, CROQ_ACCESS_READS, CROQ_ACCESS_SAME, CROQ_ACCESS_WRITES,
    croq_sim_device_cell,
};
use crate::sim::clocks::{Clocks, FIRST};

/// The most accesses of an element by mutually unordered threads that are kept.
const MOST: usize = 256;

/// The accesses published at an element, from its last plain store on.
#[derive(Clone)]
struct Published {
    /// Distinguishes it from those at other elements, and before other stores.
    number: u32,
    all: Covered,
}

#[derive(Clone, Default)]
struct OfThread {
    known: Covered,
    /// Read by atomic operations, without a fence since.
    read: Covered,
    /// The accesses that a fence has released.
    released: Option<Covered>,
    /// The number of what contains `released` already.
    published: Option<u32>,
}

impl OfThread {
    fn join(&mut self, other: &OfThread) {
        self.known.add(&other.known);
        self.read.add(&other.read);
        if let Some(theirs) = &other.released {
            self.released.get_or_insert_default().add(theirs);
        }
        self.published = None;
    }
}

/// The points of other blocks that the threads of a block have acquired.
#[derive(Default)]
pub(super) struct Acquired {
    all: OfThread,
    /// By threads, for those that have acquired more since the last barrier.
    each: Vec<Option<Box<OfThread>>>,
    /// The number of earlier accesses that atomic operations were compared with.
    compared: usize,
}

impl Acquired {
    /// Finds an unordered access if fences, atomic operations or barriers of some threads may order
    /// accesses.
    pub(super) fn by_list(
        &mut self,
        now: &mut Now<'_>,
        clocks: &Clocks,
        at: At,
        kind: u32,
        value: u32,
        cell: &croq_sim_device_cell,
    ) -> Result<(), Earlier> {
        let known = now.log.details.get_mut(at).map(std::mem::take);
        let mut detail = match known {
            Some(detail) if !detail.is_empty() => detail,
            _ => Detail::of_cell(cell),
        };
        if kind == CROQ_ACCESS_ATOMIC {
            self.compared += detail.stores.as_slice().len() + detail.reads.as_slice().len();
        }
        let outcome = judge(now, &mut detail, self, clocks, kind, value);
        if let Some(place) = now.log.details.place(at) {
            *place = detail;
        }
        if outcome.is_ok() {
            exchange(now, self, at, kind);
        }
        outcome
    }

    /// The number of comparisons since the last call.
    pub(super) fn compared(&mut self) -> usize {
        std::mem::take(&mut self.compared)
    }

    fn of(&self, thread: u32) -> &OfThread {
        let own = self.each.get(thread as usize);
        own.and_then(Option::as_deref).unwrap_or(&self.all)
    }

    fn place(&mut self, thread: u32) -> &mut Option<Box<OfThread>> {
        let at = thread as usize;
        if self.each.len() <= at {
            self.each.resize_with(at + 1, Option::default);
        }
        &mut self.each[at]
    }

    fn of_mut(&mut self, thread: u32) -> &mut OfThread {
        let all = self.all.clone();
        self.place(thread).get_or_insert_with(|| Box::new(all))
    }

    pub(super) fn all_meet(&mut self) {
        for one in std::mem::take(&mut self.each).into_iter().flatten() {
            self.all.join(&one);
        }
    }

    pub(super) fn meet(&mut self, threads: impl Iterator<Item = u32> + Clone) {
        let mut together = OfThread::default();
        let mut news = false;
        for thread in threads.clone() {
            if let Some(Some(one)) = self.each.get(thread as usize) {
                together.join(one);
                news = true;
            }
        }
        if news {
            together.join(&self.all);
            for thread in threads {
                *self.place(thread) = Some(Box::new(together.clone()));
            }
        }
    }

    pub(super) fn fence(&mut self, thread: u32, block: u64, epoch: u32, clocks: &mut Clocks) {
        let (clock, others) = clocks.release(thread);
        let own = self.of_mut(thread);
        own.known.add(&std::mem::take(&mut own.read));
        let mut released = Covered::of(block, Front::of(epoch, thread, clock, others.as_deref()));
        released.add(&own.known);
        (own.released, own.published) = (Some(released), None);
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

/// Accesses, in their order. Most elements have one store and one read, which need no further memory.
#[derive(Default)]
enum Records {
    #[default]
    None,
    One(Record),
    Several(Vec<Record>),
}

impl Records {
    fn as_slice(&self) -> &[Record] {
        match self {
            Self::None => &[],
            Self::One(record) => std::slice::from_ref(record),
            Self::Several(records) => records,
        }
    }

    fn push(&mut self, record: Record) {
        *self = match std::mem::take(self) {
            Self::None => Self::One(record),
            Self::One(first) => Self::Several(vec![first, record]),
            Self::Several(mut records) => {
                if records.len() >= MOST {
                    records.remove(0);
                }
                records.push(record);
                Self::Several(records)
            }
        };
    }

    fn retain(&mut self, stays: impl Fn(&Record) -> bool) {
        match self {
            Self::None => {}
            Self::One(record) if stays(record) => {}
            Self::One(_) => *self = Self::None,
            Self::Several(records) => records.retain(stays),
        }
    }
}

/// The accesses of an element that may be unordered with later ones.
#[derive(Default)]
pub(super) struct Detail {
    stores: Records,
    reads: Records,
    published: Option<Box<Published>>,
}

impl Detail {
    /// Nothing is recorded, as before the first access.
    fn is_empty(&self) -> bool {
        matches!((&self.stores, &self.reads), (Records::None, Records::None))
    }

    /// Of accesses from before the first release, so each thread's clock is the first. Of several
    /// threads that accessed the element one is known: later accesses are compared with that one.
    fn of_cell(cell: &croq_sim_device_cell) -> Self {
        let record = |epoch, who: u32, value| Record {
            epoch,
            who,
            clock: FIRST,
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
    for store in detail.stores.as_slice() {
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
        if !harmless && unknown(store) {
            let atomic = store.kind == CROQ_ACCESS_ATOMIC;
            return Err(earlier(
                store,
                if atomic { Did::Changed } else { Did::Wrote },
            ));
        }
    }
    if matches!(kind, CROQ_ACCESS_WRITES | CROQ_ACCESS_ATOMIC)
        && let Some(read) = detail.reads.as_slice().iter().find(|r| unknown(r))
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
    list.push(record);
    Ok(())
}

fn is_known(now: &Now<'_>, acquired: &Acquired, clocks: &Clocks, r: &Record) -> bool {
    let thread = r.who & THREAD;
    let own = acquired.of(now.thread);
    match now.relation_to(r.epoch) {
        Relation::Past => true,
        // Of several threads the others are unordered with one that has acquired nothing.
        Relation::Now if thread == now.thread => {
            r.who & MANY == 0 || clocks.has_acquired(thread) || !own.known.is_empty()
        }
        Relation::Now => {
            clocks.known(now.thread, thread) >= r.clock
                || (own.known).covers(now.place.block, r.epoch, thread, r.clock)
        }
        Relation::Concurrent => {
            let Place { block, cluster } = now.log.place(r.epoch);
            let by_its_wait = r.multicast && cluster == now.place.cluster;
            by_its_wait || own.known.covers(block, r.epoch, thread, r.clock)
        }
    }
}

/// Publishes accesses at the element and reads those published there, for an access that is ordered.
pub(super) fn exchange(now: &mut Now<'_>, acquired: &mut Acquired, at: At, kind: u32) {
    if kind == CROQ_ACCESS_READS {
        return;
    }
    let Some(detail) = now.log.details.get_mut(at) else {
        return;
    };
    if kind != CROQ_ACCESS_ATOMIC {
        // What was published here before is overwritten.
        detail.published = None;
    }
    if detail.published.is_none() && acquired.of(now.thread).released.is_none() {
        return;
    }
    let own = acquired.of_mut(now.thread);
    if let Some(published) = &detail.published {
        own.read.add(&published.all);
    }
    let Some(released) = &own.released else {
        return;
    };
    let published = detail.published.get_or_insert_with(|| {
        now.log.publications += 1;
        Box::new(Published {
            number: now.log.publications,
            all: Covered::default(),
        })
    });
    if own.published != Some(published.number) {
        published.all.add(released);
        own.published = Some(published.number);
    }
}
