//! Launches on the simulated GPU: ids, order, limits, and host operations.

use croq_conformance::call;
use croq_sys::abi::{
    CROQ_ABI_MISMATCH, CROQ_CHECK, CROQ_HAZARD, CROQ_OUT_OF_MEMORY, NO_ROW, croq_env, croq_failure,
};

unsafe extern "C" {
    fn conf_ids(
        env: *const croq_env,
        data: *mut i32,
        x: i64,
        y: i64,
        z: i64,
        threads: i64,
        shared_bytes: i64,
        waits: bool,
    ) -> u32;
    fn conf_order(env: *const croq_env, data: *mut i32, blocks: i64, waits: bool) -> u32;
    fn conf_foreign(env: *const croq_env, data: *mut f32, count: *mut i32, blocks: i64) -> u32;
    fn conf_whole(env: *const croq_env, data: *mut i32, blocks: i64, skipped: i64) -> u32;
    fn conf_lanes(env: *const croq_env, data: *mut i32) -> u32;
    fn conf_host_check(env: *const croq_env, value: i64) -> u32;
    fn conf_host_alloc(env: *const croq_env, extent: i64, result: *mut *mut f32) -> u32;
}

fn ids(grid: [usize; 3], threads: usize, waits: bool) {
    let [x, y, z] = grid;
    let mut data = vec![0; x * y * z * threads * 4];
    // SAFETY: four elements per thread.
    call(|env| unsafe {
        let [x, y, z] = [x as i64, y as i64, z as i64];
        conf_ids(env, data.as_mut_ptr(), x, y, z, threads as i64, 0, waits)
    })
    .expect("runs");
    for (i, found) in data.chunks(4).enumerate() {
        let (block, tid) = (i / threads, i % threads);
        let expected = [tid, block % x, block / x % y, block / x / y].map(|id| id as i32);
        assert_eq!(found, expected, "each thread exactly once");
    }
}

#[test]
fn every_thread_of_every_block_runs_once_as_itself() {
    for waits in [false, true] {
        ids([1, 1, 1], 1, waits);
        ids([7, 1, 1], 33, waits);
        ids([5, 3, 1], 64, waits);
        ids([3, 4, 5], 96, waits);
        ids([1, 1, 9], 1024, waits);
        ids([1000, 2, 1], 8, waits);
    }
}

#[test]
fn ordered_blocks_run_in_order() {
    for waits in [false, true] {
        let mut data = vec![0; 1001];
        // SAFETY: an element for each block and one for their number.
        call(|env| unsafe { conf_order(env, data.as_mut_ptr(), 1000, waits) }).expect("runs");
        assert_eq!(data[0], 1000);
        assert!(
            data[1..]
                .iter()
                .enumerate()
                .all(|(i, &block)| block == i as i32)
        );
    }
}

#[test]
fn launches_beyond_a_gpus_limits_fail() {
    let launch = |grid: [i64; 3], threads: i64, shared_bytes: i64| {
        let [x, y, z] = grid;
        // SAFETY: nothing runs.
        call(|env| unsafe {
            conf_ids(
                env,
                std::ptr::null_mut(),
                x,
                y,
                z,
                threads,
                shared_bytes,
                true,
            )
        })
    };
    for (what, grid, threads, shared_bytes) in [
        (
            "grid: {0} x {1} x {2} blocks do not fit",
            [1 << 31, 1, 1],
            32,
            0,
        ),
        (
            "grid: {0} x {1} x {2} blocks do not fit",
            [1, 65536, 1],
            32,
            0,
        ),
        (
            "grid: {0} x {1} x {2} blocks do not fit",
            [1, 1, 65536],
            32,
            0,
        ),
        (
            "threads: {0} in a block, of at most {1}",
            [1, 1, 1],
            1025,
            0,
        ),
        (
            "shared memory: {0} bytes a block, of at most {1}",
            [1, 1, 1],
            32,
            227 * 1024 + 1,
        ),
    ] {
        let record = launch(grid, threads, shared_bytes).expect_err(what).record;
        assert_eq!(
            (record.kind, record.check, record.what()),
            (CROQ_CHECK, NO_ROW, what)
        );
    }
    launch([0, 1, 1], 32, 0).expect("an empty grid is no launch");
}

#[test]
fn plain_cuda_text_runs() {
    let blocks = 6;
    let mut data: Vec<f32> = (0..64 * blocks).map(|i| i as f32).collect();
    let mut count = 0;
    // SAFETY: 64 elements per block, and a counter.
    call(|env| unsafe { conf_foreign(env, data.as_mut_ptr(), &mut count, blocks as i64) })
        .expect("runs");
    for (i, &value) in data.iter().enumerate() {
        assert_eq!(value, 2.0 * (i / 64 * 64 + 63 - i % 64) as f32);
    }
    assert_eq!(count, 64 * blocks);
}

#[test]
fn lanes_exchange_values() {
    let mut data = [0; 40 * 8];
    // SAFETY: eight elements per thread.
    call(|env| unsafe { conf_lanes(env, data.as_mut_ptr()) }).expect("runs");
    for (tid, found) in data.chunks(8).enumerate() {
        let (warp, lane) = (tid / 32 * 32, tid % 32);
        let lanes = if warp == 0 { 32 } else { 8 };
        let up = if lane >= 2 { tid - 2 } else { tid };
        let down = if lane % 4 < 2 { tid + 2 } else { tid };
        let odd = (0xaaaa_aaaau32 & (u32::MAX >> (32 - lanes))) as i32;
        let votes = if warp == 0 { 11 } else { 0 };
        let eight = tid / 8 * 8;
        let sum: usize = (eight..eight + 8).sum();
        let expected = [warp + 3, tid ^ 1, up, down].map(|v| v as i32);
        assert_eq!(found[..4], expected, "thread {tid}");
        assert_eq!(found[4..7], [odd, votes, sum as i32], "thread {tid}");
    }
}

#[test]
fn the_hosts_checks_and_allocations_report() {
    // SAFETY: the shim only reads the number.
    call(|env| unsafe { conf_host_check(env, 4) }).expect("4 > 3");
    // SAFETY: as above.
    let record = call(|env| unsafe { conf_host_check(env, 3) })
        .expect_err("3 > 3")
        .record;
    assert_eq!(
        (record.kind, record.check, record.line),
        (CROQ_CHECK, 7, 12)
    );
    assert_eq!(record.values(), [3, 3]);

    let mut memory = std::ptr::null_mut();
    // SAFETY: the shim writes the address.
    call(|env| unsafe { conf_host_alloc(env, 1000, &mut memory) }).expect("has 4000 bytes");
    assert!(!memory.is_null() && memory.addr().is_multiple_of(256));
    // SAFETY: as above.
    let failed = call(|env| unsafe { conf_host_alloc(env, 1 << 58, &mut memory) });
    let record = failed.expect_err("no machine has that").record;
    assert_eq!((record.kind, record.what()), (CROQ_OUT_OF_MEMORY, "made"));
    assert_eq!(record.values(), [1 << 60]);
}

#[test]
fn another_abi_is_refused() {
    let mut record = croq_failure::default();
    // SAFETY: the shim reads a copy of a valid environment with another version.
    let status = call(|env| unsafe {
        let mut other = *env;
        other.abi_version += 1;
        other.failure = &raw mut record;
        assert_eq!(conf_host_check(&other, 4), CROQ_ABI_MISMATCH);
        0
    });
    assert!(status.is_ok());
    assert_eq!(record.kind, CROQ_ABI_MISMATCH);
}

#[test]
fn memory_that_is_not_cleared_must_be_written_whole() {
    let run = |blocks: usize, skipped: i64| {
        let mut data = vec![-1; blocks * 64];
        // SAFETY: an element for each thread.
        call(|env| unsafe { conf_whole(env, data.as_mut_ptr(), blocks as i64, skipped) })
    };
    for blocks in [1, 3, 100] {
        run(blocks, -1).expect("writes all");
        for skipped in [0, 17, blocks as i64 * 64 - 1] {
            let failed = run(blocks, skipped).expect_err("leaves one out");
            assert_eq!(failed.record.kind, CROQ_HAZARD);
            let report = failed.report.unwrap_or_default();
            let expected = format!("unwritten memory in whole_0: `d`[{skipped}] was not written");
            assert!(report.starts_with(&expected), "{report}");
        }
    }
    // The proof is about the structure: large buffers are not checked.
    run(1025, 5).expect("is not checked");
}
