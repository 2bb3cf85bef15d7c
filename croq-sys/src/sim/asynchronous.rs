//! All that is under way in a block besides its threads.

use std::collections::VecDeque;

use super::copies::Copies;
use super::hazard::{Deed, Hazard};
use super::marks::{INCOMING, MBARRIER, Marks, element};
use super::mbarriers::Mbarriers;
use crate::abi::croq_sim_access;

#[derive(Default)]
pub(super) struct Asynchronous {
    /// The launch is one in which something can be.
    watching: bool,
    pub(super) marks: Marks,
    pub(super) copies: Copies,
    pub(super) mbarriers: Mbarriers,
    seed: u64,
}

impl Asynchronous {
    /// For a launch.
    ///
    /// # Safety
    /// If it watches, the two memories are of `bytes`, and live until the next call.
    pub(super) unsafe fn watch(
        &mut self,
        watching: bool,
        arena: *mut u8,
        marks: *mut u8,
        bytes: u64,
        seed: u64,
    ) {
        (self.watching, self.seed) = (watching, seed);
        if watching {
            // SAFETY: the caller's promise.
            unsafe { self.marks.watch(arena, marks, bytes) }
        }
    }

    /// Nothing is under way in the block that begins.
    pub(super) fn reset(&mut self, block: u64, threads: usize) {
        if self.watching {
            self.marks.clear();
            self.copies.reset(self.seed, block, threads);
            self.mbarriers.reset();
        }
    }

    /// A thread has come to a barrier.
    pub(super) fn meet(&mut self, thread: u32) {
        if self.watching {
            self.copies.meet(thread);
        }
    }

    /// A thread reaches for marked memory.
    pub(super) fn touch(
        &mut self,
        thread: u32,
        access: &croq_sim_access,
        writes: bool,
    ) -> Result<(), Box<Hazard>> {
        let union = self.marks.union(access);
        if union & INCOMING != 0 {
            return Err(self.copies.race(thread, access, writes));
        }
        if union & MBARRIER != 0 {
            return Err(Box::new(Hazard {
                kind: "error",
                what: format!("{} is part of an mbarrier", element(access)),
                deeds: vec![Deed {
                    thread,
                    what: if writes { "writes it" } else { "reads it" },
                    line: access.line,
                }],
            }));
        }
        Ok(())
    }

    /// No thread can go on: something may happen that lets one.
    pub(super) fn relieve(&mut self, ready: &mut VecDeque<u32>) -> bool {
        self.watching && self.mbarriers.time_out(ready)
    }

    /// A thread has left the kernel.
    pub(super) fn exit(&mut self, thread: u32) -> Result<(), Box<Hazard>> {
        match self.watching {
            true => self.copies.exit(thread),
            false => Ok(()),
        }
    }

    /// All threads have left the kernel, or none can go on.
    pub(super) fn finish(&self) -> Result<(), Box<Hazard>> {
        match self.watching {
            true => self.mbarriers.finish(),
            false => Ok(()),
        }
    }
}
