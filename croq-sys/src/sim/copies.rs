//! Asynchronous copies from device memory to shared memory (`cp.async`).
//!
//! A thread's copies belong to the group that its next commit closes; a wait applies to groups. The
//! time at which a copy is executed, between its issue and the wait that covers it, depends on the
//! seed. Its destination is marked for the whole interval, so that a race is found for every seed.

use std::collections::VecDeque;

use super::hazard::{AccessRecord, Hazard};
use super::marks::{INCOMING, Marks, overlap};
use super::proxies::Proxies;
use crate::abi::croq_sim_access;

/// The largest `cp.async`.
const MOST_BYTES: usize = 16;

/// The time at which a copy is executed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Landing {
    AtIssue,
    AtCommit,
    /// At the thread's next barrier.
    AtClusterBarrier,
    AtWait,
}

struct Copy {
    dest: *mut u8,
    /// Null: zeros.
    source: *const u8,
    bytes: usize,
    group: u64,
    landing: Landing,
    line: u32,
    has_landed: bool,
    /// The contents of the source at the issue.
    seen: [u8; MOST_BYTES],
}

impl Copy {
    /// # Safety
    /// Source and destination are alive.
    unsafe fn source(&self) -> [u8; MOST_BYTES] {
        let mut bytes = [0; MOST_BYTES];
        if !self.source.is_null() {
            // SAFETY: the caller's promise; `issue` checked the size.
            unsafe {
                self.source
                    .copy_to_nonoverlapping(bytes.as_mut_ptr(), self.bytes)
            };
        }
        bytes
    }

    /// # Safety
    /// Source and destination are alive.
    unsafe fn land(&mut self) {
        if !self.has_landed {
            self.has_landed = true;
            // SAFETY: the caller's promise; `issue` checked the size.
            unsafe {
                let source = self.source();
                self.dest
                    .copy_from_nonoverlapping(source.as_ptr(), self.bytes);
            }
        }
    }
}

/// The copies of one thread, oldest first.
#[derive(Default)]
struct Queue {
    copies: VecDeque<Copy>,
    /// The number of the group that has not been committed yet.
    open: u64,
}

/// The copies of a block that are in flight.
#[derive(Default)]
pub(super) struct Copies {
    seed: u64,
    /// The state of the random choices.
    random: u64,
    queues: Vec<Queue>,
}

impl Copies {
    /// Resets for a new block, in which nothing is in flight.
    pub(super) fn reset(&mut self, seed: u64, block: u64, threads: usize) {
        self.seed = seed;
        self.random = seed ^ block.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.queues.truncate(threads);
        for queue in &mut self.queues {
            queue.copies.clear();
            queue.open = 0;
        }
        self.queues.resize_with(threads, Queue::default);
    }

    fn landing(&mut self) -> Landing {
        if self.seed == 0 {
            return Landing::AtWait;
        }
        self.random = crate::random::scrambled(self.random);
        match self.random >> 62 {
            0 => Landing::AtIssue,
            1 => Landing::AtCommit,
            2 => Landing::AtClusterBarrier,
            _ => Landing::AtWait,
        }
    }

    /// # Safety
    /// `source` is null or readable for the copy's size until the launch is over.
    pub(super) unsafe fn issue(
        &mut self,
        thread: u32,
        dest: &croq_sim_access,
        source: *const u8,
        marks: &mut Marks,
    ) -> Result<(), Box<Hazard>> {
        let (at, bytes) = (dest.at.cast::<u8>(), dest.bytes as usize);
        let landing = self.landing();
        let marks = marks.of(at, bytes);
        if marks.len() != bytes || bytes > MOST_BYTES {
            return Err(unwatched(thread, dest.line));
        }
        marks.iter_mut().for_each(|mark| *mark |= INCOMING);
        let Some(queue) = self.queues.get_mut(thread as usize) else {
            return Ok(());
        };
        let mut copy = Copy {
            dest: at,
            source,
            bytes,
            group: queue.open,
            landing,
            line: dest.line,
            has_landed: false,
            seen: [0; MOST_BYTES],
        };
        // SAFETY: the caller's promise for the source; the destination is in the arena.
        unsafe {
            copy.seen = copy.source();
            if landing == Landing::AtIssue {
                copy.land();
            }
        }
        queue.copies.push_back(copy);
        Ok(())
    }

    /// Executes the copies of a thread that are due.
    fn land(&mut self, thread: u32, now: Landing) {
        // With seed 0 nothing is executed before the wait.
        if self.seed == 0 {
            return;
        }
        if let Some(queue) = self.queues.get_mut(thread as usize) {
            for copy in queue.copies.iter_mut().filter(|copy| copy.landing == now) {
                // SAFETY: promised at the issue.
                unsafe { copy.land() }
            }
        }
    }

    pub(super) fn commit(&mut self, thread: u32) {
        self.land(thread, Landing::AtCommit);
        if let Some(queue) = self.queues.get_mut(thread as usize) {
            queue.open += 1;
        }
    }

    /// A thread has arrived at a barrier.
    pub(super) fn meet(&mut self, thread: u32) {
        self.land(thread, Landing::AtClusterBarrier);
    }

    pub(super) fn wait(
        &mut self,
        thread: u32,
        pending: u32,
        marks: &mut Marks,
        proxies: &mut Proxies,
    ) -> Result<(), Box<Hazard>> {
        while let Some(queue) = self.queues.get_mut(thread as usize) {
            let done = queue.open.saturating_sub(u64::from(pending));
            if queue.copies.front().is_none_or(|copy| copy.group >= done) {
                break;
            }
            let Some(mut copy) = queue.copies.pop_front() else {
                break;
            };
            // SAFETY: promised at the issue.
            let source = unsafe {
                copy.land();
                copy.source()
            };
            if source != copy.seen {
                return Err(Box::new(Hazard {
                    kind: "race",
                    what: "the source of a copy was written while the copy was in flight"
                        .to_owned(),
                    records: vec![began(thread, &copy)],
                }));
            }
            for mark in marks.of(copy.dest, copy.bytes) {
                *mark &= !INCOMING;
            }
            // The copy is an ordinary write at this time.
            if proxies.is_watching()
                && let Some(first) = marks.offset(copy.dest, copy.bytes)
            {
                proxies.wrote(thread, copy.line, first, copy.bytes);
            }
        }
        Ok(())
    }

    /// The thread that began a copy with a byte in common with this memory.
    pub(super) fn find(&self, reached: (*const u8, usize)) -> Option<AccessRecord> {
        self.queues.iter().zip(0..).find_map(|(queue, owner)| {
            let copy = queue
                .copies
                .iter()
                .find(|copy| overlap(reached, (copy.dest, copy.bytes)));
            copy.map(|copy| began(owner, copy))
        })
    }

    /// A thread has left the kernel.
    pub(super) fn exit(&mut self, thread: u32) -> Result<(), Box<Hazard>> {
        let copy = self
            .queues
            .get(thread as usize)
            .and_then(|queue| queue.copies.front());
        match copy {
            None => Ok(()),
            Some(copy) => Err(Box::new(Hazard {
                kind: "unfinished copy",
                what: "a thread left the kernel without waiting for its copy".to_owned(),
                records: vec![began(thread, copy)],
            })),
        }
    }
}

fn began(thread: u32, copy: &Copy) -> AccessRecord {
    AccessRecord {
        thread,
        what: "began the copy",
        line: copy.line,
    }
}

/// The launch has no records, or the destination is not in the arena.
#[cold]
fn unwatched(thread: u32, line: u32) -> Box<Hazard> {
    Box::new(Hazard {
        kind: "error",
        what: "an asynchronous copy in a kernel that was not launched as asynchronous".to_owned(),
        records: vec![AccessRecord {
            thread,
            what: "begins the copy",
            line,
        }],
    })
}
