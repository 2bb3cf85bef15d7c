//! Compares `croq_sys::abi` with the layout of `croq_abi.h` by a C++ compiler.

use std::collections::BTreeMap;
use std::ffi::{CStr, c_char};
use std::mem::{offset_of, size_of};

// Links the compiled C++.
use croq_conformance as _;
use croq_sys::abi::*;

unsafe extern "C" {
    fn conf_layout(index: usize, bytes: *mut usize) -> *const c_char;
}

macro_rules! layout {
    ($($name:ident { $($field:ident),* })*) => {
        BTreeMap::from([$(
            (stringify!($name).to_owned(), size_of::<$name>()),
            $((format!("{}.{}", stringify!($name), stringify!($field)), offset_of!($name, $field)),)*
        )*])
    };
}

macro_rules! constants {
    ($($name:ident),*) => { [$((stringify!($name).to_owned(), $name as usize)),*] };
}

#[test]
fn the_mirror_has_the_headers_layout() {
    let mut ours = layout! {
        croq_failure { kind, check, line, thread, block, value_count, values, what }
        croq_sim_thread { tid, block, grid, threads, shared, shared_bytes, marks, writers, written, order, device, schedule, fences, cluster, wgmma_fences, iterations, changes, steps, budget, lanes, arena, arena_bytes, stack_end, finds_unwritten, runtime }
        croq_sim_cell { written, writer, read, reader }
        croq_sim_order { epoch, reports_all, plane, cells, parts }
        croq_sim_device_cell { written, writer, read, reader, read_too, reader_too, value, other }
        croq_sim_device_cells { first, touched }
        croq_sim_device { epoch, first, before, reports_all, buffers }
        croq_sim_schedule { start, step, first_thread, thread_step }
        croq_sim_tracked { name, memory, count, element_bytes, per_byte, records }
        croq_sim_launch {
            kernel, file, grid, cluster, threads, shared_bytes, arena_bytes, flags, tracked_count, tracked,
            closure, run, run_blocks
        }
        croq_sim_access { name, index, at, bytes, line }
        croq_sim_tensor_map { memory, extents, strides, box_extents, rank, element_bytes, swizzle }
        croq_sim_api {
            abi_version, launch, barrier, barrier_named, barrier_arrive, barrier_warp, stop, print, touch,
            copy_async, commit_copies, wait_copies, mbarrier, event_site, fence, tma_load, tma_store, bulk_commit, bulk_wait,
            trace, cluster_barrier, arrive_remote, wgmma, commit_wgmma, wait_wgmma, touch_registers, shared_access, packed_access, count, lanes, use_unwritten, report, device_access, device_atomic, device_fence,
            agree, agree_named
        }
        croq_sim_registers { pending, fences, first, end, line, unwritten }
        croq_sim_unwritten { name, index, declared, read, used, use_of }
        croq_sim_part { registers, at, first, count, bytes }
        croq_sim_factors { shared, a, b, sums, registers, columns, accumulate, written, number_of_a, number_of_b, unwritten_accumulators, unwritten_a, metadata, unwritten_metadata }
        croq_sim_wgmma { a, b, sums, registers, metadata, columns, flags, line, carry_out }
        croq_env { abi_version, device, stream, sim, failure, device_failure, alloc, steps, wait_limit, mode }
        croq_cuda_device_info {
            name, major, minor, memory_bytes, shared_bytes_per_block, multiprocessors
        }
        croq_cuda_api {
            abi_version, runtime_version, device_count, device_info, set_device, stream_create,
            stream_destroy, stream_synchronize, stream_query, stream_add_callback,
            stream_wait_event, event_record, event_record_timed, event_elapsed, event_query,
            event_synchronize, event_destroy, malloc_async, free_async, copy_to_device,
            copy_to_host, copy_on_device, copy_rows_on_device, copy_to_peer, memset_async, host_alloc_mapped, host_free,
            graph_begin, graph_end, graph_launch, graph_destroy, error_string
        }
    };
    ours.extend(constants!(
        CROQ_ABI_VERSION,
        CROQ_OK,
        CROQ_CHECK,
        CROQ_OUT_OF_BOUNDS,
        CROQ_MISALIGNED,
        CROQ_DEADLOCK,
        CROQ_OUT_OF_MEMORY,
        CROQ_CUDA_ERROR,
        CROQ_NEEDS_CUDA,
        CROQ_ABI_MISMATCH,
        CROQ_HAZARD,
        CROQ_LAUNCH_WAITS,
        CROQ_LAUNCH_ORDERED,
        CROQ_LAUNCH_ASYNC,
        CROQ_LAUNCH_PROXIES,
        CROQ_MBARRIER_INIT,
        CROQ_MBARRIER_INVALIDATE,
        CROQ_MBARRIER_ARRIVE,
        CROQ_MBARRIER_EXPECT,
        CROQ_MBARRIER_ARRIVE_EXPECT,
        CROQ_MBARRIER_WAIT,
        CROQ_MBARRIER_TRY_WAIT,
        CROQ_MBARRIER_WAIT_NEXT,
        CROQ_MBARRIER_WAIT_PHASE,
        CROQ_SITE_READY,
        CROQ_SITE_CLUSTER,
        CROQ_SITE_SLOT,
        CROQ_FENCE_MBARRIER_INIT,
        CROQ_FENCE_PROXY_ASYNC,
        CROQ_CLUSTER_ARRIVE,
        CROQ_CLUSTER_WAIT,
        CROQ_WGMMA_TRANSPOSED_A,
        CROQ_WGMMA_TRANSPOSED_B,
        CROQ_WGMMA_ACCUMULATES,
        CROQ_WAIT_MBARRIER,
        CROQ_WAIT_GRID,
        CROQ_WAIT_HOST,
        CROQ_ENDLESS,
        CROQ_NOT_RECORDED,
        CROQ_MODE_RUN,
        CROQ_MODE_RECORD,
        CROQ_MODE_REPLAY,
        CROQ_BEING_WRITTEN,
        CROQ_LAUNCH_TOGETHER,
        CROQ_LAUNCH_TRACKS,
        CROQ_LAUNCH_SPINS,
        CROQ_ACCESS_READS,
        CROQ_ACCESS_WRITES,
        CROQ_ACCESS_ATOMIC,
        CROQ_ACCESS_SAME,
        CROQ_RECORDS_RACES,
        CROQ_RECORDS_UNWRITTEN,
        CROQ_ITERATIONS,
        CROQ_COUNT_ITERATIONS,
        CROQ_COUNT_STEPS,
        CROQ_COUNT_SPIN,
        CROQ_COUNT_PAUSE,
        CROQ_LANES_SHUFFLE,
        CROQ_LANES_SHUFFLE_UP,
        CROQ_LANES_SHUFFLE_DOWN,
        CROQ_LANES_SHUFFLE_XOR,
        CROQ_LANES_VOTE,
        CROQ_LANES_MATRIX
    ));
    let mut theirs = BTreeMap::new();
    for index in 0.. {
        let mut bytes = 0;
        // SAFETY: the function gives a literal, or null after the last.
        let name = unsafe { conf_layout(index, &mut bytes) };
        if name.is_null() {
            break;
        }
        // SAFETY: as above.
        let name = unsafe { CStr::from_ptr(name) }.to_str().expect("a literal");
        theirs.insert(name.to_owned(), bytes);
    }
    assert_eq!(ours, theirs);
}
