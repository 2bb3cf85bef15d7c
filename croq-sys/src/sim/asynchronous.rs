//! The asynchronous operations of a block that are in flight.

use std::collections::VecDeque;
use std::ptr::NonNull;

use super::barriers::Barriers;
use super::bulk::Bulk;
use super::copies::Copies;
use super::hazard::{AccessRecord, Hazard};
use super::marks::{FACTOR, INCOMING, MBARRIER, Marks, OUTGOING, element};
use super::mbarriers::Mbarriers;
use super::proxies::Proxies;
use super::wgmma::Wgmmas;
use crate::abi::{CROQ_FENCE_PROXY_ASYNC, croq_sim_access};
use crate::sim::bulk;

type Outcome<T = ()> = Result<T, Box<Hazard>>;

#[derive(Default)]
pub(super) struct Asynchronous {
    /// Whether the launch can have any.
    pub(super) watching: bool,
    pub(super) marks: Marks,
    pub(super) copies: Copies,
    pub(super) mbarriers: Mbarriers,
    pub(super) bulk: Bulk,
    pub(super) wgmmas: Wgmmas,
    pub(super) proxies: Proxies,
    /// For each byte of shared memory the buffer through which it was written, if this is tracked.
    pub(super) written: Option<NonNull<u8>>,
    bytes: u64,
    seed: u64,
}

impl Asynchronous {
    pub(super) fn written_marks(&self) -> *const u8 {
        self.written
            .map_or(std::ptr::null(), |marks| marks.as_ptr())
    }

    /// Prepares for a launch.
    ///
    /// # Safety
    /// If it watches, the two memories are of `bytes`, there is a number for each granule in
    /// `writers` or that is null, and they live until the next call.
    pub(super) unsafe fn watch(
        &mut self,
        watching: bool,
        arena: *mut u8,
        marks: *mut u8,
        writers: *mut u64,
        bytes: u64,
        seed: u64,
    ) {
        (self.watching, self.seed, self.bytes) = (watching, seed, bytes);
        if watching {
            // SAFETY: the caller's promise.
            unsafe {
                self.marks.watch(arena, marks, bytes);
                self.proxies.watch(writers);
            }
        }
    }

    /// Resets the state for a new block, in which nothing is in flight.
    pub(super) fn reset(&mut self, block: u64, threads: usize) {
        if self.watching {
            self.marks.clear();
            self.copies.reset(self.seed, block, threads);
            self.mbarriers.reset();
            self.bulk.reset(self.seed, block, threads);
            self.wgmmas.reset(self.seed, block, threads, self.bytes);
            self.proxies.reset(threads, self.bytes);
        }
    }

    /// Whether a thread that an arrival wakes runs before the thread that arrived. It does with an
    /// odd seed, which exposes uses of memory after it was released; with others it runs late,
    /// which exposes phases that no thread observes.
    pub(super) fn wakes_first(&self) -> bool {
        self.seed % 2 == 1
    }

    /// A thread has arrived at a barrier.
    #[inline]
    pub(super) fn meet(&mut self, thread: u32, ready: &mut VecDeque<u32>) -> Outcome {
        if self.watching {
            self.meet_watching(thread, ready)
        } else {
            Ok(())
        }
    }

    fn meet_watching(&mut self, thread: u32, ready: &mut VecDeque<u32>) -> Outcome {
        self.copies.meet(thread);
        bulk::maybe_complete(self, ready)
    }

    /// A thread accesses marked memory.
    pub(super) fn touch(&mut self, thread: u32, access: &croq_sim_access, writes: bool) -> Outcome {
        let union = self.marks.union(access);
        let record = if writes { "writes it" } else { "reads it" };
        let what = if union & INCOMING != 0 {
            match writes {
                true => "is written while a copy into it is in flight",
                false => "is read while a copy into it is in flight",
            }
        } else if union & OUTGOING != 0 && writes {
            "is written while a copy from it is in flight"
        } else if union & FACTOR != 0 && writes {
            "is written while a WGMMA that reads it is in flight"
        } else if union & MBARRIER != 0 {
            "is part of an mbarrier"
        } else {
            return Ok(());
        };
        Err(self.race(thread, access, what, record))
    }

    /// Whether a copy into this memory may begin.
    pub(super) fn claim(&mut self, thread: u32, access: &croq_sim_access) -> Outcome {
        let union = self.marks.union(access);
        let what = if union & INCOMING != 0 {
            "is the destination of two copies at once"
        } else if union & OUTGOING != 0 {
            "becomes the destination of a copy while a copy from it is in flight"
        } else if union & FACTOR != 0 {
            "becomes the destination of a copy while a WGMMA that reads it is in flight"
        } else if union & MBARRIER != 0 {
            "is part of an mbarrier"
        } else {
            return Ok(());
        };
        Err(self.race(thread, access, what, "begins a copy into it"))
    }

    pub(super) fn copy_async(
        &mut self,
        thread: u32,
        dest: &croq_sim_access,
        source: *const u8,
    ) -> Outcome {
        self.claim(thread, dest)?;
        // SAFETY: device code passes memory that outlives the launch.
        unsafe { self.copies.issue(thread, dest, source, &mut self.marks) }
    }

    pub(super) fn wait_copies(&mut self, thread: u32, pending: u32) -> Outcome {
        self.copies
            .wait(thread, pending, &mut self.marks, &mut self.proxies)
    }

    /// The async proxy reads memory that threads wrote.
    pub(super) fn read_by_proxy(&mut self, thread: u32, access: &croq_sim_access) -> Outcome {
        let record = "has the async proxy read it";
        if self.marks.union(access) & INCOMING != 0 {
            let what = "is read while a copy into it is in flight";
            return Err(self.race(thread, access, what, record));
        }
        let reader = AccessRecord {
            thread,
            what: record,
            line: access.line,
        };
        let hazard = |kind, what, records| {
            Err(Box::new(Hazard {
                kind,
                what,
                records,
            }))
        };
        if !self.proxies.is_watching() {
            let what = "the async proxy reads in a kernel that was not launched as async_proxy";
            return hazard("error", what.to_owned(), vec![reader]);
        }
        let bytes = access.bytes as usize;
        let Some(first) = self.marks.offset(access.at.cast(), bytes) else {
            return hazard("error", "outside of shared memory".to_owned(), vec![reader]);
        };
        match self.proxies.unseen(first, bytes) {
            None => Ok(()),
            Some((at, writer)) => {
                let what = match at.saturating_sub(first) {
                    0 => element(access),
                    distance => format!("what lies {distance} bytes behind {}", element(access)),
                };
                let what = format!("{what} may not be seen by the async proxy");
                hazard("race", what, vec![reader, writer])
            }
        }
    }

    /// The number of fences that the thread has executed, this one included.
    pub(super) fn fence(&mut self, thread: u32, kind: u32) -> u32 {
        self.mbarriers.fence(thread);
        match kind {
            CROQ_FENCE_PROXY_ASYNC => self.proxies.fence(thread),
            _ => self.proxies.fences(thread),
        }
    }

    /// Reports an access that conflicts with an operation in flight.
    #[cold]
    fn race(
        &self,
        thread: u32,
        access: &croq_sim_access,
        what: &str,
        record: &'static str,
    ) -> Box<Hazard> {
        let mut records = vec![AccessRecord {
            thread,
            what: record,
            line: access.line,
        }];
        records.extend(self.accesses_at((access.at.cast_const().cast(), access.bytes as usize)));
        Box::new(Hazard {
            kind: "race",
            what: format!("{} {what}", element(access)),
            records,
        })
    }

    /// The thread that began an operation in flight on this memory.
    pub(super) fn accesses_at(&self, reached: (*const u8, usize)) -> Option<AccessRecord> {
        let offset = self.marks.offset(reached.0, reached.1);
        (self.copies.find(reached))
            .or_else(|| self.bulk.find(reached))
            .or_else(|| self.wgmmas.find(offset?, reached.1))
            .or_else(|| self.mbarriers.find(reached))
    }

    /// Called when no thread can continue: completes an operation that may release one.
    pub(super) fn complete_one(&mut self, barriers: &mut Barriers) -> Outcome<bool> {
        if !self.watching || barriers.live == 0 {
            return Ok(false);
        }
        let ready = &mut barriers.ready;
        Ok(bulk::land_one(self, ready)? || self.mbarriers.time_out(ready))
    }

    /// A thread has left the kernel.
    pub(super) fn exit(&mut self, thread: u32) -> Outcome {
        if self.watching {
            self.copies.exit(thread)?;
            self.bulk.exit(thread)?;
            self.wgmmas.exit(thread)?;
        }
        Ok(())
    }

    /// All threads have left the kernel, or none can continue.
    pub(super) fn finish(&mut self) -> Outcome {
        if self.watching {
            self.bulk.finish()?;
            self.mbarriers.finish()?;
        }
        Ok(())
    }
}
