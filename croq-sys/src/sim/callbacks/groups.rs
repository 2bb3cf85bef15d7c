//! Asynchronous operations that device code groups and waits for: TMA stores and MMAs; arrivals at
//! barriers.

use super::{arrive, charge, device, meet, suspend, with};
use crate::abi::{
    CROQ_ACCESS_READS, croq_sim_access, croq_sim_part, croq_sim_tensor_map, croq_sim_thread,
    croq_sim_wgmma,
};
use crate::sim::bulk;
use crate::sim::tensor::Tile;
use crate::sim::wgmma;
use crate::sim::worker::Seat;

pub(super) unsafe extern "C" fn barrier_arrive(
    thread: *mut croq_sim_thread,
    id: u32,
    threads: u32,
    line: u32,
) {
    // SAFETY: device code passes the running thread.
    unsafe {
        arrive(thread, line, |barriers, tid| {
            barriers.arrive_without_waiting(tid, id, threads, line)
        })
    }
}

/// The block barrier, at which threads compare a value.
pub(super) unsafe extern "C" fn agree(thread: *mut croq_sim_thread, value: i64, line: u32) -> u32 {
    // SAFETY: device code passes the running thread; the references end before it is suspended.
    unsafe {
        let seat = (*thread).runtime.cast::<Seat>();
        // A block of one thread.
        if !(*(*seat).blocks_state).can_wait {
            return 1;
        }
        let tid = (*thread).tid;
        let mut round = 0;
        meet(thread, line, |seat| {
            let barriers = &mut (*(*seat).blocks_state).barriers;
            let arrival;
            (arrival, round) = barriers.arrive_with(tid, value, line);
            arrival
        });
        u32::from((*(*seat).blocks_state).barriers.agreed(round))
    }
}

/// The same at a named barrier.
pub(super) unsafe extern "C" fn agree_named(
    thread: *mut croq_sim_thread,
    value: i64,
    id: u32,
    threads: u32,
    line: u32,
) -> u32 {
    // SAFETY: device code passes the running thread; the references end before it is suspended.
    unsafe {
        let seat = (*thread).runtime.cast::<Seat>();
        let tid = (*thread).tid;
        let mut round = 0;
        meet(thread, line, |seat| {
            let barriers = &mut (*(*seat).blocks_state).barriers;
            let arrival;
            (arrival, round) = barriers.arrive_named_with(tid, value, (id, threads), line);
            arrival
        });
        u32::from((*(*seat).blocks_state).barriers.agreed_at(id, round))
    }
}

pub(super) unsafe extern "C" fn tma_store(
    thread: *mut croq_sim_thread,
    source: *const croq_sim_access,
    map: *const croq_sim_tensor_map,
    at: *const i64,
) {
    // SAFETY: as for `tma_load`.
    unsafe {
        let (map, at) = (*map, *at.cast::<[i64; 5]>());
        let tile = Tile { map, at };
        with(thread, |all, barriers, tid| {
            let bytes = tile.bytes() as u32;
            let whole = croq_sim_access { bytes, ..*source };
            (barriers.order).access(tid, &whole, map.element_bytes, CROQ_ACCESS_READS)?;
            bulk::tma_store(all, tid, &*source, tile)
        });
        device::writes_box(thread, &tile, &*source);
    }
}

pub(super) unsafe extern "C" fn bulk_commit(thread: *mut croq_sim_thread) {
    // SAFETY: device code passes the running thread.
    unsafe {
        with(thread, |all, _, tid| {
            bulk::bulk_commit(all, tid);
            Ok(())
        })
    }
}

pub(super) unsafe extern "C" fn bulk_wait(
    thread: *mut croq_sim_thread,
    pending: u32,
    only_read: u32,
) {
    // SAFETY: device code passes the running thread.
    unsafe {
        with(thread, |all, _, tid| {
            bulk::bulk_wait(all, tid, pending, only_read != 0);
            Ok(())
        })
    }
}

pub(super) unsafe extern "C" fn wgmma(thread: *mut croq_sim_thread, wgmma: *const croq_sim_wgmma) {
    // SAFETY: device code passes the running thread, and a record on its stack that refers to its
    // own fragments.
    unsafe {
        // 64 rows, 16 and more terms, by 128 threads.
        charge(
            thread,
            (*wgmma).line,
            i64::from((*wgmma).columns).saturating_mul(4),
        );
        let waits = with(thread, |all, barriers, tid| {
            barriers.seen(tid, (*wgmma).line);
            wgmma::join_wgmma(all, tid, &*wgmma, (*thread).wgmma_fences, barriers)
        });
        if waits {
            suspend((*thread).runtime.cast::<Seat>());
        }
    }
}

pub(super) unsafe extern "C" fn commit_wgmma(thread: *mut croq_sim_thread) {
    // SAFETY: device code passes the running thread.
    unsafe {
        with(thread, |all, _, tid| {
            all.wgmmas.commit(tid);
            Ok(())
        })
    }
}

pub(super) unsafe extern "C" fn wait_wgmma(thread: *mut croq_sim_thread, pending: u32) {
    // SAFETY: device code passes the running thread.
    unsafe {
        with(thread, |all, _, tid| {
            wgmma::wait_wgmma(all, tid, pending);
            Ok(())
        })
    }
}

pub(super) unsafe extern "C" fn touch_registers(
    thread: *mut croq_sim_thread,
    part: *const croq_sim_part,
    line: u32,
) {
    // SAFETY: device code passes the running thread and a record on its stack.
    unsafe { with(thread, |all, _, tid| all.wgmmas.touch(tid, &*part, line)) }
}
