//! Registers the events that device code describes, and arrivals at events of other blocks.

use std::ffi::c_char;

use super::{block_of_cluster, with, with_cluster, yield_to_woken};
use crate::abi::{croq_sim_access, croq_sim_thread};
use crate::sim::bulk;

pub(super) unsafe extern "C" fn event_site(
    thread: *mut croq_sim_thread,
    at: *const croq_sim_access,
    slots: u32,
    flags: u32,
    threads: *const c_char,
) {
    // SAFETY: device code passes the running thread, an access on its stack and a literal.
    unsafe {
        with(thread, |all, _, _| {
            all.mbarriers.events.describe(&*at, slots, flags, threads);
            Ok(())
        })
    }
}

pub(super) unsafe extern "C" fn arrive_remote(
    thread: *mut croq_sim_thread,
    at: *const croq_sim_access,
    rank: u32,
) {
    // SAFETY: device code passes the running thread and an access on its stack.
    unsafe {
        let tid = (*thread).tid;
        let wakes = with_cluster(thread, |seat| {
            let (block, at) = block_of_cluster(seat, rank, &*at)?;
            let (all, ready) = (&mut block.asynchronous, &mut block.barriers.ready);
            bulk::maybe_complete(all, ready)?;
            let own = (*(*seat).blocks_state).rank;
            if own as u32 == rank {
                let phase = all.mbarriers.phase(at.at as usize);
                block.barriers.order.arrive(tid, at.at.cast(), phase);
            }
            let first = all.wakes_first();
            Ok(all.mbarriers.arrive(tid, Some(own), &at, ready)? && first)
        });
        if wakes {
            yield_to_woken(thread);
        }
    }
}
