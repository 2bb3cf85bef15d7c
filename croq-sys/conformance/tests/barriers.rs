//! Barriers on the simulated GPU: what they order, and reports when no thread can continue.

use croq_conformance::{Failed, call};
use croq_sys::abi::{CROQ_CHECK, CROQ_DEADLOCK, croq_env};

type Shim = unsafe extern "C" fn(*const croq_env, *mut i32, i64, i64) -> u32;

unsafe extern "C" {
    fn conf_rotate(
        env: *const croq_env,
        data: *mut i32,
        blocks: i64,
        threads: i64,
        rounds: i64,
    ) -> u32;
    fn conf_named(env: *const croq_env, data: *mut i32, extent: i64, at: i64) -> u32;
    fn conf_agree(env: *const croq_env, data: *mut i32, extent: i64, at: i64) -> u32;
    fn conf_warps(env: *const croq_env, data: *mut i32, extent: i64, at: i64) -> u32;
    fn conf_leave(env: *const croq_env, data: *mut i32, extent: i64, at: i64) -> u32;
    fn conf_leave_late(env: *const croq_env, data: *mut i32, extent: i64, at: i64) -> u32;
    fn conf_stuck(env: *const croq_env, data: *mut i32, extent: i64, at: i64) -> u32;
    fn conf_stuck_warp(env: *const croq_env, data: *mut i32, extent: i64, at: i64) -> u32;
    fn conf_bad_count(env: *const croq_env, data: *mut i32, extent: i64, at: i64) -> u32;
    fn conf_bad_number(env: *const croq_env, data: *mut i32, extent: i64, at: i64) -> u32;
    fn conf_stop_among_waiters(env: *const croq_env, data: *mut i32, extent: i64, at: i64) -> u32;
}

fn run(shim: Shim, data: &mut [i32], at: i64) -> Result<(), Failed> {
    let extent = data.len() as i64;
    // SAFETY: the shims bind `data` with its extent.
    call(|env| unsafe { shim(env, data.as_mut_ptr(), extent, at) })
}

fn rotate(blocks: usize, threads: usize, rounds: usize) {
    let mut data: Vec<i32> = (0..(blocks * threads) as i32).collect();
    // SAFETY: an element per thread.
    call(|env| unsafe {
        conf_rotate(
            env,
            data.as_mut_ptr(),
            blocks as i64,
            threads as i64,
            rounds as i64,
        )
    })
    .expect("no thread is left behind");
    for (i, &value) in data.iter().enumerate() {
        let (block, lane) = (i / threads, i % threads);
        assert_eq!(value as usize, block * threads + (lane + rounds) % threads);
    }
}

#[test]
fn the_block_barrier_holds() {
    for threads in [1, 2, 31, 32, 33, 64, 96, 255, 256, 1000, 1024] {
        rotate(3, threads, 5);
    }
}

#[test]
fn many_blocks_of_many_threads() {
    rotate(500, 128, 3);
    rotate(20, 1024, 10);
}

/// Set in the process that counts its mappings, because launches of other tests would count too.
const ALONE: &str = "CROQ_TEST_ALONE";

#[test]
fn thousands_of_launches_leave_nothing_behind() {
    if std::env::var_os(ALONE).is_none() {
        let this = std::env::current_exe().expect("a path");
        let status = std::process::Command::new(this)
            .args(["--exact", "thousands_of_launches_leave_nothing_behind"])
            .env(ALONE, "1")
            .status()
            .expect("it starts");
        assert!(status.success(), "see above");
        return;
    }
    let mapped = || {
        let maps = std::fs::read_to_string("/proc/self/maps").expect("Linux has it");
        maps.lines().count()
    };
    let launches = |n: usize| {
        for _ in 0..n {
            rotate(2, 64, 1);
        }
        for _ in 0..n / 4 {
            let _ = run(conf_stuck, &mut [0; 96], 32);
        }
    };
    // Until all workers exist, each with a few mappings and guarded stacks.
    rotate(4, 1024, 1);
    launches(200);
    let before = mapped();
    launches(2000);
    let after = mapped();
    assert!(
        after <= before + 100,
        "{before} mappings before 2500 launches, {after} after them"
    );
}

#[test]
fn named_barriers_hold_for_their_threads_only() {
    let mut data: Vec<i32> = (0..256).collect();
    run(conf_named, &mut data, 5).expect("runs");
    for (i, &value) in data.iter().enumerate() {
        let (half, lane) = (i / 128, i % 128);
        assert_eq!(value as usize, half * 128 + (lane + 5 * (half + 1)) % 128);
    }
}

#[test]
fn threads_compare_values_at_the_barriers_of_their_units() {
    for apart in [0, 40, 127, 1000] {
        let mut data = vec![0; 128];
        run(conf_agree, &mut data, apart).expect("runs");
        let apart = apart as usize;
        for (i, &same) in data.iter().enumerate() {
            let block = if apart < 128 { 0 } else { 3 };
            let is_of_region = apart < 128 && (apart < 32) == (i < 32);
            let region = if is_of_region { 0 } else { 12 };
            let warp = if apart / 32 == i / 32 { 0 } else { 48 };
            assert_eq!(same, block | region | warp, "thread {i}, {apart} apart");
        }
    }
}

#[test]
fn warp_barriers_hold_for_their_warp_only() {
    let mut data: Vec<i32> = (0..256).collect();
    run(conf_warps, &mut data, 3).expect("runs");
    for (i, &value) in data.iter().enumerate() {
        let (warp, lane) = (i / 32, i % 32);
        assert_eq!(value as usize, warp * 32 + (lane + 3 * warp) % 32);
    }
}

#[test]
fn threads_that_left_count_as_arrived() {
    let mut data = [0; 64];
    run(conf_leave, &mut data, 4).expect("the even threads meet");
    assert!(
        data.iter()
            .enumerate()
            .all(|(i, &value)| value == i32::from(i % 2 == 0))
    );
    let mut data = [0; 64];
    run(conf_leave_late, &mut data, 10).expect("the first ten are let go");
    assert_eq!(data, [1; 64]);
}

#[test]
fn a_deadlock_says_who_waits_where() {
    let Failed { record, report } = run(conf_stuck, &mut [0; 96], 32).expect_err("is stuck");
    assert_eq!(record.kind, CROQ_DEADLOCK);
    assert_eq!(
        (record.block, record.thread, record.line),
        ([0, 0, 0], 0, 71)
    );
    assert_eq!(record.what(), "named barrier 3 (32 of 64 have arrived)");
    let expected = "\
deadlock in stuck_0, block 0: no thread can go on
  threads 0..31 wait at named barrier 3 (32 of 64 have arrived), barriers.co:71
  threads 32..63 have left the kernel
  threads 64..95 wait at the block barrier, barriers.co:73";
    assert_eq!(report.as_deref(), Some(expected));

    let Failed { record, report } = run(conf_stuck_warp, &mut [0; 64], 0).expect_err("is stuck");
    assert_eq!(
        (record.kind, record.thread, record.line),
        (CROQ_DEADLOCK, 0, 81)
    );
    let expected = "\
deadlock in stuck_warp_0: no thread can go on
  threads 0..4, 6..31 wait at the barrier of warp 0, barriers.co:81
  thread 5 waits at the block barrier, barriers.co:79
  threads 32..63 have left the kernel";
    assert_eq!(report.as_deref(), Some(expected));
    rotate(2, 64, 2);
}

#[test]
fn a_named_barrier_without_meaning_is_an_error() {
    let record = run(conf_bad_count, &mut [0; 1], 0)
        .expect_err("64 and 32")
        .record;
    assert_eq!(
        (record.kind, record.line, record.thread),
        (CROQ_CHECK, 86, 32)
    );
    assert_eq!(record.what(), "named barrier: counts differ");
    assert_eq!(record.values(), [2, 32, 64]);
    let record = run(conf_bad_number, &mut [0; 1], 16)
        .expect_err("there are 16")
        .record;
    assert_eq!((record.kind, record.line), (CROQ_CHECK, 90));
    run(conf_bad_number, &mut [0; 1], 15).expect("is the last");
}

#[test]
fn a_thread_that_stops_takes_its_block_with_it() {
    for at in [0, 33, 63] {
        let record = run(conf_stop_among_waiters, &mut [0; 1], at)
            .expect_err("stops")
            .record;
        assert_eq!(
            (record.kind, record.check, record.line),
            (CROQ_CHECK, 2, 94)
        );
        assert_eq!((record.block, i64::from(record.thread)), ([0, 0, 0], at));
    }
    run(conf_stop_among_waiters, &mut [0; 1], 64).expect("nobody stops");
}
