//! The barriers of one block, and the threads that wait at them.
//!
//! Arrivals are counted per thread. At the block barrier a thread that has left the kernel counts
//! as arrived, as on the hardware; so it does at a warp barrier. A named barrier waits for its
//! count.

use std::collections::VecDeque;

use super::order::Order;
use crate::abi::{CROQ_CHECK, croq_failure};

pub(super) const WARP: u32 = 32;
pub(super) const NAMED_BARRIERS: u32 = 16;

/// The effect of a thread's arrival at a barrier.
#[derive(Debug, PartialEq)]
pub(super) enum Arrival {
    /// It was the last arrival: the thread continues, and the waiting threads are ready.
    Continues,
    Waits,
    /// The barrier is used in an undefined way. Boxed, to keep the frames of waiting threads small:
    /// a block has a thousand of them.
    Fails(Box<croq_failure>),
}

/// An undefined use of a barrier.
#[cold]
pub(super) fn misuse(what: &str, values: &[i64], line: u32) -> Arrival {
    let mut failure = Box::new(
        croq_failure::new(CROQ_CHECK)
            .with_what(what)
            .with_values(values),
    );
    failure.line = line;
    Arrival::Fails(failure)
}

#[derive(Default)]
pub(super) struct NamedBarrier {
    pub(super) expected: u32,
    pub(super) waiting: Vec<u32>,
    /// The number of threads that have arrived and do not wait.
    pub(super) not_waiting: u32,
    /// The number of completed phases.
    phase: u64,
    agreement: Agreement,
}

impl NamedBarrier {
    /// The number of threads that have arrived.
    pub(super) fn arrived(&self) -> u32 {
        self.waiting.len() as u32 + self.not_waiting
    }

    fn clear(&mut self) {
        self.waiting.clear();
        self.not_waiting = 0;
    }
}

/// A warp barrier at which some lane has arrived.
pub(super) struct WarpBarrier {
    pub(super) warp: u32,
    /// The operation of the lanes, `CROQ_LANES_…`; 0 is a barrier. Lanes with different operations
    /// do not wait for each other.
    pub(super) kind: u32,
    pub(super) mask: u32,
    pub(super) arrived: u32,
}

/// The address that represents a named barrier for race detection; it is not in shared memory.
fn order_of(id: u32) -> *const u8 {
    std::ptr::without_provenance(id as usize)
}

/// The threads of a warp that are in the mask.
fn lanes(warp: u32, mask: u32) -> impl Iterator<Item = u32> + Clone {
    (0..WARP).filter_map(move |lane| (mask >> lane & 1 != 0).then_some(warp * WARP + lane))
}

#[derive(Default)]
pub(super) struct Barriers {
    pub(super) threads: u32,
    /// The number of threads that have not left the kernel.
    pub(super) live: u32,
    /// The threads that can continue, in the order in which they run.
    pub(super) ready: VecDeque<u32>,
    pub(super) block: Vec<u32>,
    pub(super) named: [NamedBarrier; NAMED_BARRIERS as usize],
    pub(super) warps: Vec<WarpBarrier>,
    /// For each warp, the lanes that have left, or that do not exist.
    pub(super) gone: Vec<u32>,
    /// For each thread, the last places that are known.
    pub(super) places: Vec<Place>,
    /// For each thread, the lanes of the last warp barrier that it has passed.
    met: Vec<u32>,
    /// The threads that have yielded in loops.
    pub(super) polling: Vec<u32>,
    /// The accesses that barriers order.
    pub(super) order: Order,
    pub(super) agreement: Agreement,
}

/// The lines that a thread was seen at.
#[derive(Clone, Copy, Default)]
pub(super) struct Place {
    /// Of its last barrier.
    pub(super) line: u32,
    /// Of the loop that it has reached since, or 0.
    pub(super) in_loop: u32,
}

/// The values that threads compare at the block barrier.
#[derive(Default)]
pub(super) struct Agreement {
    /// The number of comparisons.
    round: u64,
    /// The value of the first thread that arrived.
    value: i64,
    /// The results of this round and the previous one, which some threads may not have read yet.
    differs: [bool; 2],
}

impl Agreement {
    /// The number of the round.
    fn compare(&mut self, value: i64, is_first: bool) -> u64 {
        if is_first {
            self.round += 1;
            self.value = value;
            self.differs[(self.round % 2) as usize] = false;
        } else if self.value != value {
            self.differs[(self.round % 2) as usize] = true;
        }
        self.round
    }

    fn agreed(&self, round: u64) -> bool {
        !self.differs[(round % 2) as usize]
    }
}

impl Barriers {
    /// Resets: all threads are ready, in order.
    pub(super) fn reset(&mut self, threads: u32) {
        self.threads = threads;
        self.live = threads;
        self.ready.clear();
        self.ready.extend(0..threads);
        self.block.clear();
        for named in &mut self.named {
            named.clear();
        }
        self.warps.clear();
        self.gone.clear();
        self.gone.extend((0..threads.div_ceil(WARP)).map(|warp| {
            let lanes = (threads - warp * WARP).min(WARP);
            if lanes == WARP { 0 } else { u32::MAX << lanes }
        }));
        self.polling.clear();
        self.agreement = Agreement::default();
        self.places.clear();
        self.places.resize(threads as usize, Place::default());
        self.met.clear();
        self.met.resize(threads as usize, 0);
        self.order.reset(threads as usize);
    }

    /// Records the position of a thread.
    pub(super) fn seen(&mut self, thread: u32, line: u32) {
        if let Some(seen) = self.places.get_mut(thread as usize) {
            *seen = Place { line, in_loop: 0 };
        }
    }

    /// Records the position of a thread inside a loop.
    pub(super) fn seen_in_loop(&mut self, thread: u32, line: u32) {
        if let Some(seen) = self.places.get_mut(thread as usize) {
            seen.in_loop = line;
        }
    }

    /// The lanes of the last warp barrier that the thread has passed.
    pub(super) fn lanes_of_last_barrier(&self, thread: u32) -> u32 {
        self.met.get(thread as usize).copied().unwrap_or(0)
    }

    pub(super) fn arrive_block(&mut self, thread: u32, line: u32) -> Arrival {
        self.seen(thread, line);
        if self.block.len() as u32 + 1 == self.live {
            self.ready.extend(&self.block);
            self.block.clear();
            self.order.block_barrier_completed();
            return Arrival::Continues;
        }
        self.block.push(thread);
        Arrival::Waits
    }

    /// Arrives at the block barrier with a value to compare; returns the number of the round, for
    /// [`Self::agreed`]. A thread reads the result of round `n` before round `n + 2` begins.
    pub(super) fn arrive_with(&mut self, thread: u32, value: i64, line: u32) -> (Arrival, u64) {
        let round = self.agreement.compare(value, self.block.is_empty());
        (self.arrive_block(thread, line), round)
    }

    pub(super) fn agreed(&self, round: u64) -> bool {
        self.agreement.agreed(round)
    }

    /// The same at a named barrier.
    pub(super) fn arrive_named_with(
        &mut self,
        thread: u32,
        value: i64,
        (id, threads): (u32, u32),
        line: u32,
    ) -> (Arrival, u64) {
        let round = self.named.get_mut(id as usize).map_or(0, |barrier| {
            let is_first = barrier.arrived() == 0;
            barrier.agreement.compare(value, is_first)
        });
        (self.arrive_named(thread, id, threads, line), round)
    }

    pub(super) fn agreed_at(&self, id: u32, round: u64) -> bool {
        let barrier = self.named.get(id as usize);
        barrier.is_none_or(|barrier| barrier.agreement.agreed(round))
    }

    pub(super) fn arrive_named(
        &mut self,
        thread: u32,
        id: u32,
        threads: u32,
        line: u32,
    ) -> Arrival {
        // Barrier 0 of the hardware is the block barrier.
        if id == 0 && threads == self.threads {
            return self.arrive_block(thread, line);
        }
        self.seen(thread, line);
        let barrier = match self.named(id, threads, line) {
            Ok(barrier) => barrier,
            Err(misused) => return misused,
        };
        if barrier.arrived() + 1 == threads {
            self.release(id, Some(thread));
            return Arrival::Continues;
        }
        barrier.waiting.push(thread);
        Arrival::Waits
    }

    /// A thread arrives at a named barrier without waiting.
    pub(super) fn arrive_without_waiting(
        &mut self,
        thread: u32,
        id: u32,
        threads: u32,
        line: u32,
    ) -> Arrival {
        let barrier = match self.named(id, threads, line) {
            Ok(barrier) => barrier,
            Err(misused) => return misused,
        };
        barrier.not_waiting += 1;
        let (all_came, phase) = (barrier.arrived() == threads, barrier.phase);
        self.order.arrive(thread, order_of(id), phase);
        if all_came {
            self.release(id, None);
        }
        Arrival::Continues
    }

    /// The named barrier with this number of threads, when another thread arrives.
    fn named(&mut self, id: u32, threads: u32, line: u32) -> Result<&mut NamedBarrier, Arrival> {
        let of_block = self.threads;
        let Some(barrier) = self.named.get_mut(id as usize) else {
            let values = [i64::from(id)];
            return Err(misuse("named barrier: no such number", &values, line));
        };
        if threads == 0 || threads > of_block {
            let values = [i64::from(id), i64::from(threads), i64::from(of_block)];
            return Err(misuse("named barrier: impossible count", &values, line));
        }
        if barrier.arrived() == 0 {
            barrier.expected = threads;
        } else if barrier.expected != threads {
            let values = [id, threads, barrier.expected].map(i64::from);
            return Err(misuse("named barrier: counts differ", &values, line));
        }
        Ok(barrier)
    }

    /// All threads have arrived; `last` is among those that wait.
    fn release(&mut self, id: u32, last: Option<u32>) {
        if let Some(barrier) = self.named.get_mut(id as usize) {
            barrier.phase += 1;
            let met = barrier.waiting.iter().copied().chain(last);
            self.order.barrier_completed(met.clone());
            for thread in met {
                self.order.wait(thread, order_of(id), barrier.phase);
            }
            self.ready.extend(&barrier.waiting);
            barrier.clear();
        }
    }

    pub(super) fn arrive_warp(&mut self, thread: u32, mask: u32, line: u32) -> Arrival {
        self.arrive_lanes(thread, mask, 0, line)
    }

    /// A lane arrives at an operation of the lanes in `mask`.
    pub(super) fn arrive_lanes(&mut self, thread: u32, mask: u32, kind: u32, line: u32) -> Arrival {
        self.seen(thread, line);
        let (warp, lane) = (thread / WARP, 1 << (thread % WARP));
        if mask & lane == 0 {
            return misuse(
                "warp barrier: not in its own mask",
                &[i64::from(mask)],
                line,
            );
        }
        let at = self
            .warps
            .iter()
            .position(|b| b.warp == warp && b.mask == mask && b.kind == kind);
        let at = at.unwrap_or_else(|| {
            self.warps.push(WarpBarrier {
                warp,
                kind,
                mask,
                arrived: 0,
            });
            self.warps.len() - 1
        });
        self.warps[at].arrived |= lane;
        if self.warp_complete(at) {
            let barrier = self.warps.swap_remove(at);
            self.barrier_completed(&barrier);
            self.wake_lanes(warp, barrier.arrived & !lane);
            return Arrival::Continues;
        }
        Arrival::Waits
    }

    fn warp_complete(&self, at: usize) -> bool {
        let barrier = &self.warps[at];
        let gone = self.gone.get(barrier.warp as usize).copied().unwrap_or(0);
        barrier.mask & !(barrier.arrived | gone) == 0
    }

    fn barrier_completed(&mut self, barrier: &WarpBarrier) {
        let met = lanes(barrier.warp, barrier.arrived);
        for thread in met.clone() {
            if let Some(met) = self.met.get_mut(thread as usize) {
                *met = barrier.arrived;
            }
        }
        self.order.barrier_completed(met);
    }

    fn wake_lanes(&mut self, warp: u32, mask: u32) {
        self.ready.extend(lanes(warp, mask));
    }

    /// `thread` has left the kernel; threads that waited only for it are ready.
    pub(super) fn exit(&mut self, thread: u32) {
        self.live -= 1;
        if self.block.len() as u32 == self.live {
            self.ready.extend(&self.block);
            self.block.clear();
            self.order.block_barrier_completed();
        }
        let warp = thread / WARP;
        if let Some(gone) = self.gone.get_mut(warp as usize) {
            *gone |= 1 << (thread % WARP);
        }
        let mut at = 0;
        while at < self.warps.len() {
            if self.warps[at].warp == warp && self.warp_complete(at) {
                let barrier = self.warps.swap_remove(at);
                self.barrier_completed(&barrier);
                self.wake_lanes(warp, barrier.arrived);
            } else {
                at += 1;
            }
        }
    }

    pub(super) fn has_left(&self, thread: u32) -> bool {
        self.gone
            .get((thread / WARP) as usize)
            .is_some_and(|gone| gone & (1 << (thread % WARP)) != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn barriers(threads: u32) -> Barriers {
        let mut barriers = Barriers::default();
        barriers.reset(threads);
        barriers.ready.clear();
        barriers
    }

    #[test]
    fn the_last_to_arrive_goes_on_and_frees_the_others_in_their_order() {
        let mut b = barriers(3);
        assert_eq!(b.arrive_block(2, 1), Arrival::Waits);
        assert_eq!(b.arrive_block(0, 1), Arrival::Waits);
        assert_eq!(b.arrive_block(1, 1), Arrival::Continues);
        assert_eq!(b.ready, [2, 0]);
        assert_eq!(b.arrive_block(0, 2), Arrival::Waits, "the next generation");
    }

    #[test]
    fn threads_that_meet_with_different_values_disagree() {
        let mut b = barriers(2);
        let (_, first) = b.arrive_with(0, 7, 1);
        b.arrive_with(1, 7, 1);
        // One thread is in the next round before the other has read the result.
        let (_, second) = b.arrive_with(1, 8, 2);
        assert!(b.agreed(first));
        b.arrive_with(0, 9, 2);
        assert!(!b.agreed(second));
    }

    #[test]
    fn threads_of_a_region_compare_at_their_own_barrier() {
        let mut b = barriers(128);
        let mut come = |thread, id, value| b.arrive_named_with(thread, value, (id, 2), 1).1;
        let (first, other) = (come(0, 1, 7), come(64, 2, 8));
        come(1, 1, 7);
        come(65, 2, 9);
        let second = come(0, 1, 3);
        assert!(b.agreed_at(1, first) && !b.agreed_at(2, other));
        b.arrive_named_with(1, 4, (1, 2), 1);
        assert!(!b.agreed_at(1, second));
    }

    #[test]
    fn who_leaves_is_no_longer_waited_for() {
        let mut b = barriers(34);
        assert_eq!(b.arrive_warp(33, u32::MAX, 1), Arrival::Waits);
        assert_eq!(b.arrive_block(0, 1), Arrival::Waits);
        b.exit(32);
        assert_eq!(b.ready, [33], "lanes 2..31 of the last warp never were");
        (1..32).chain([33]).for_each(|thread| b.exit(thread));
        assert_eq!(b.ready, [33, 0]);
        assert!(b.has_left(32) && !b.has_left(0));
    }

    #[test]
    fn a_named_barrier_waits_for_its_count_even_when_threads_leave() {
        let mut b = barriers(64);
        assert_eq!(b.arrive_named(0, 1, 2, 1), Arrival::Waits);
        (2..64).for_each(|thread| b.exit(thread));
        assert!(b.ready.is_empty());
        assert_eq!(b.arrive_named(1, 1, 2, 1), Arrival::Continues);
        assert_eq!(b.ready, [0]);
    }

    #[test]
    fn who_comes_by_a_named_barrier_counts_and_goes_on() {
        let mut b = barriers(64);
        assert_eq!(b.arrive_without_waiting(3, 1, 3, 1), Arrival::Continues);
        assert_eq!(b.arrive_named(7, 1, 3, 1), Arrival::Waits);
        assert!(b.ready.is_empty());
        assert_eq!(b.arrive_without_waiting(3, 1, 3, 1), Arrival::Continues);
        assert_eq!(b.ready, [7]);
        assert_eq!(
            b.arrive_without_waiting(9, 1, 2, 1),
            Arrival::Continues,
            "the next generation"
        );
        assert_eq!(b.arrive_named(8, 1, 2, 1), Arrival::Continues);
        assert!(matches!(
            b.arrive_without_waiting(9, 16, 2, 1),
            Arrival::Fails(_)
        ));
    }

    #[test]
    fn barriers_without_meaning_fail() {
        let mut b = barriers(64);
        assert!(matches!(b.arrive_named(0, 16, 32, 1), Arrival::Fails(_)));
        assert!(matches!(b.arrive_named(0, 1, 65, 1), Arrival::Fails(_)));
        assert!(matches!(b.arrive_warp(3, 0b0111, 1), Arrival::Fails(_)));
    }
}
