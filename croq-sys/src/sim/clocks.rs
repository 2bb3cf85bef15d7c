//! Vector clocks for the happens-before relation between the threads of a block.
//!
//! A thread's own clock advances when it releases its accesses to others: at a barrier, or at an
//! arrival at an mbarrier. An access is stamped with the clock at that time, and happens before
//! another thread's access if that thread has acquired this clock value or a later one, directly or
//! through other threads.
//!
//! A barrier over the whole block orders everything before it. It begins a new *epoch*: clocks only
//! describe accesses of the current epoch, and those of earlier ones are all ordered before.

use std::collections::HashMap;
use std::rc::Rc;

/// The clock of a thread that has not released anything.
pub(super) const FIRST: u32 = 1;

/// For each thread, the acquired clock value.
type Known = Rc<[u32]>;

/// The released state of a thread: its vector clock, and its own clock.
#[derive(Clone)]
pub(super) struct Stamp {
    known: Option<Known>,
    thread: u32,
    clock: u32,
}

/// The released states of several threads.
#[derive(Default)]
struct Gathered {
    /// Few entries: threads that were at one barrier share a vector clock.
    known: Vec<Known>,
    clocks: Vec<(u32, u32)>,
}

impl Gathered {
    fn add(&mut self, stamp: Stamp) {
        self.clocks.push((stamp.thread, stamp.clock));
        if let Some(known) = stamp.known {
            self.also(known);
        }
    }

    fn also(&mut self, known: Known) {
        if !self.known.iter().any(|k| Rc::ptr_eq(k, &known)) {
            self.known.push(known);
        }
    }

    fn is_empty(&self) -> bool {
        self.known.is_empty() && self.clocks.is_empty()
    }

    /// The maximum of all clocks, for a block of `threads` threads.
    fn together(&self, threads: usize) -> Known {
        let mut all = match self.known.first() {
            Some(first) => first.to_vec(),
            None => vec![0; threads],
        };
        for known in self.known.iter().skip(1) {
            for (clock, &other) in all.iter_mut().zip(known.iter()) {
                *clock = other.max(*clock);
            }
        }
        for &(thread, clock) in &self.clocks {
            if let Some(known) = all.get_mut(thread as usize) {
                *known = clock.max(*known);
            }
        }
        all.into()
    }
}

/// An mbarrier: the clocks that arrivals released.
#[derive(Default)]
struct Event {
    /// The number of completed phases when it was last used.
    phase: u64,
    /// Clocks released in this phase; a thread that waits for it acquires them.
    arriving: Gathered,
    /// Clocks released in all earlier phases.
    published: Option<Known>,
}

impl Event {
    fn advance_to(&mut self, phase: u64, threads: usize) {
        if phase > self.phase {
            self.phase = phase;
            let mut all = std::mem::take(&mut self.arriving);
            if !all.is_empty() {
                all.known.extend(self.published.take());
                self.published = Some(all.together(threads));
            }
        }
    }
}

#[derive(Default)]
pub(super) struct Clocks {
    own: Vec<u32>,
    known: Vec<Option<Known>>,
    events: HashMap<usize, Event>,
    /// The join of two vector clocks, cached because threads that wait for one phase mostly have
    /// the same vector clock before.
    joined: Option<(Known, Known, Known)>,
}

impl Clocks {
    /// Resets for a new block.
    pub(super) fn reset(&mut self, threads: usize) {
        self.own.clear();
        self.own.resize(threads, FIRST);
        self.known.clear();
        self.known.resize(threads, None);
        self.events.clear();
        self.joined = None;
    }

    pub(super) fn own(&self, thread: u32) -> u32 {
        self.own.get(thread as usize).copied().unwrap_or(0)
    }

    /// The clock of `other` that `thread` has acquired.
    pub(super) fn known(&self, thread: u32, other: u32) -> u32 {
        let known = self.known.get(thread as usize).and_then(Option::as_ref);
        known.map_or(0, |known| known.get(other as usize).copied().unwrap_or(0))
    }

    /// Whether the thread has acquired accesses of others in this epoch.
    pub(super) fn has_acquired(&self, thread: u32) -> bool {
        let known = self.known.get(thread as usize);
        known.is_some_and(Option::is_some)
    }

    /// All threads of the block were at a barrier.
    pub(super) fn begin_epoch(&mut self) {
        self.known.fill(None);
        self.joined = None;
    }

    /// Releases the thread's accesses so far, and advances its clock.
    fn stamp(&mut self, thread: u32) -> Stamp {
        let at = thread as usize;
        let stamp = Stamp {
            known: self.known.get(at).cloned().flatten(),
            thread,
            clock: self.own(thread),
        };
        if let Some(own) = self.own.get_mut(at) {
            *own += 1;
        }
        stamp
    }

    /// The same for threads of other blocks: the thread's clock, and its vector clock.
    pub(super) fn release(&mut self, thread: u32) -> (u32, Option<Vec<u32>>) {
        let stamp = self.stamp(thread);
        (stamp.clock, stamp.known.map(|known| known.to_vec()))
    }

    fn learn(&mut self, thread: u32, news: &Known) {
        let Some(known) = self.known.get_mut(thread as usize) else {
            return;
        };
        *known = Some(match known.take() {
            None => Rc::clone(news),
            Some(old) if Rc::ptr_eq(&old, news) => old,
            Some(old) => match &self.joined {
                Some((a, b, both)) if Rc::ptr_eq(a, &old) && Rc::ptr_eq(b, news) => Rc::clone(both),
                _ => {
                    let pairs = old.iter().zip(news.iter());
                    let both: Known = pairs.map(|(a, b)| *a.max(b)).collect();
                    self.joined = Some((old, Rc::clone(news), Rc::clone(&both)));
                    both
                }
            },
        });
    }

    /// Some threads were at a barrier.
    pub(super) fn meet(&mut self, threads: impl Iterator<Item = u32> + Clone) {
        let mut all = Gathered::default();
        for thread in threads.clone() {
            let stamp = self.stamp(thread);
            all.add(stamp);
        }
        let all = all.together(self.own.len());
        for thread in threads {
            if let Some(known) = self.known.get_mut(thread as usize) {
                *known = Some(Rc::clone(&all));
            }
        }
    }

    /// An mbarrier is initialised, perhaps where another one was.
    pub(super) fn begin_mbarrier(&mut self, at: usize) {
        self.events.remove(&at);
    }

    /// A thread arrives at an mbarrier with `phase` completed phases.
    pub(super) fn arrive(&mut self, thread: u32, at: usize, phase: u64) {
        let stamp = self.stamp(thread);
        let threads = self.own.len();
        let event = self.events.entry(at).or_default();
        event.advance_to(phase, threads);
        event.arriving.add(stamp);
    }

    /// A thread has waited at an mbarrier with `phase` completed phases.
    pub(super) fn wait(&mut self, thread: u32, at: usize, phase: u64) {
        let threads = self.own.len();
        let Some(event) = self.events.get_mut(&at) else {
            return;
        };
        event.advance_to(phase, threads);
        if let Some(published) = event.published.clone() {
            self.learn(thread, &published);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clocks(threads: usize) -> Clocks {
        let mut clocks = Clocks::default();
        clocks.reset(threads);
        clocks
    }

    #[test]
    fn who_meets_knows_what_the_others_did_before() {
        let mut c = clocks(4);
        let before = c.own(1);
        c.meet([0, 1].into_iter());
        assert_eq!(c.known(0, 1), before);
        assert!(c.own(1) > before, "what comes now is not known");
        assert_eq!(c.known(2, 1), 0, "who was not there");
        // Through thread 0.
        c.meet([0, 2].into_iter());
        assert_eq!(c.known(2, 1), before);
        assert_eq!(c.known(3, 1), 0);
    }

    #[test]
    fn an_mbarrier_tells_of_the_phases_that_are_over() {
        let mut c = clocks(3);
        let first = c.own(0);
        c.arrive(0, 8, 0);
        c.wait(2, 8, 1);
        assert_eq!(c.known(2, 0), first);
        let second = c.own(0);
        c.arrive(0, 8, 1);
        // Still only the first phase is complete.
        c.wait(2, 8, 1);
        assert_eq!(c.known(2, 0), first);
        c.wait(2, 8, 2);
        assert_eq!(c.known(2, 0), second);
        c.wait(1, 16, 1);
        assert_eq!(c.known(1, 0), 0, "another mbarrier");
    }

    #[test]
    fn an_mbarrier_that_is_initialised_again_counts_from_its_first_phase() {
        let mut c = clocks(3);
        c.arrive(0, 8, 0);
        c.arrive(0, 8, 1);
        c.begin_mbarrier(8);
        let before = c.own(1);
        c.arrive(1, 8, 0);
        c.wait(2, 8, 0);
        assert_eq!(c.known(2, 1), 0, "the phase is not complete");
        c.wait(2, 8, 1);
        assert_eq!(c.known(2, 1), before);
        assert_eq!(c.known(2, 0), 0, "of the mbarrier before");
    }

    #[test]
    fn what_was_known_stays_known() {
        let mut c = clocks(3);
        let (zero, one) = (c.own(0), c.own(1));
        c.meet([0, 2].into_iter());
        c.arrive(1, 8, 0);
        c.wait(2, 8, 1);
        assert_eq!((c.known(2, 0), c.known(2, 1)), (zero, one));
    }
}
