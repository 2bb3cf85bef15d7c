//! Handles on the simulated GPU: their operations, and the errors that they detect.

use croq_conformance::{Failed, call, call_in};
use croq_sys::abi::{CROQ_CHECK, CROQ_OUT_OF_BOUNDS, NO_ROW, croq_env};
use croq_sys::sim::Run;

type Shim = unsafe extern "C" fn(*const croq_env, *mut i32, i64, i64) -> u32;

unsafe extern "C" {
    fn conf_updates(env: *const croq_env, data: *mut i32) -> u32;
    fn conf_global_bounds(env: *const croq_env, data: *mut i32, extent: i64, at: i64) -> u32;
    fn conf_shared_bounds(env: *const croq_env, data: *mut i32, extent: i64, at: i64) -> u32;
    fn conf_local_bounds(env: *const croq_env, data: *mut i32, extent: i64, at: i64) -> u32;
    fn conf_arena_bounds(env: *const croq_env, data: *mut i32, extent: i64, at: i64) -> u32;
    fn conf_division(env: *const croq_env, data: *mut i32, extent: i64, at: i64) -> u32;
    fn conf_checks(env: *const croq_env, data: *mut i32, extent: i64, at: i64) -> u32;
    fn conf_misused_barrier(env: *const croq_env, data: *mut i32, extent: i64, at: i64) -> u32;
    fn conf_prints(env: *const croq_env, data: *mut i32, extent: i64, at: i64) -> u32;
    fn conf_poison(env: *const croq_env, data: *mut i32, extent: i64, waits: i64) -> u32;
}

fn run(shim: Shim, data: &mut [i32], at: i64) -> Result<(), Failed> {
    let extent = data.len() as i64;
    // SAFETY: the shims bind `data` with its extent.
    call(|env| unsafe { shim(env, data.as_mut_ptr(), extent, at) })
}

#[test]
fn updates_compute() {
    let mut data = [100; 12];
    // SAFETY: the kernel's buffer has 12 elements.
    call(|env| unsafe { conf_updates(env, data.as_mut_ptr()) }).expect("runs");
    assert_eq!(
        data[..10],
        [103, 97, 300, 33, 1, 800, 12, 100 & 3, 100 | 3, 100 ^ 3]
    );
    assert_eq!(data[10], 3 * (100 ^ 3));
    assert_eq!(data[11], 5 + 6 + 7);
}

#[test]
fn a_global_access_outside_is_stopped_with_its_line() {
    for at in [128, 129, -1, i64::MAX, i64::MIN] {
        let mut data = [0; 128];
        let failed = run(conf_global_bounds, &mut data, at).expect_err("is outside");
        let record = failed.record;
        assert_eq!(record.kind, CROQ_OUT_OF_BOUNDS);
        assert_eq!(record.what(), "data");
        assert_eq!(record.values(), [at, 128]);
        assert_eq!(record.line, 27);
        // Block 9 fails too, at any time: the lowest block is reported.
        assert_eq!((record.block, record.thread), ([5, 0, 0], 7));
        assert_eq!(data, [0; 128], "the access didn't happen");
    }
}

#[test]
fn a_shared_access_outside_is_stopped_among_coroutines() {
    for at in [16, -1] {
        let failed = run(conf_shared_bounds, &mut [0; 1], at).expect_err("is outside");
        let record = failed.record;
        assert_eq!(record.kind, CROQ_OUT_OF_BOUNDS);
        assert_eq!(record.what(), "strip");
        assert_eq!(record.values(), [at, 16]);
        assert_eq!(record.line, 35);
        assert_eq!((record.block, record.thread), ([2, 0, 0], 40));
    }
    run(conf_shared_bounds, &mut [0; 1], 15).expect("the next launch finds all well");
}

#[test]
fn a_local_access_outside_is_stopped() {
    let record = run(conf_local_bounds, &mut [0; 1], 4)
        .expect_err("is outside")
        .record;
    assert_eq!((record.kind, record.line), (CROQ_OUT_OF_BOUNDS, 42));
    assert_eq!((record.what(), record.values()), ("local", &[4, 4][..]));
    run(conf_local_bounds, &mut [0; 1], 0).expect("is inside");
}

#[test]
fn a_buffer_beyond_the_arena_is_stopped() {
    run(conf_arena_bounds, &mut [0; 1], 64).expect("fits");
    let record = run(conf_arena_bounds, &mut [0; 1], 68)
        .expect_err("4 bytes too far")
        .record;
    assert_eq!((record.kind, record.line), (CROQ_OUT_OF_BOUNDS, 46));
    assert_eq!((record.what(), record.values()), ("strip", &[132, 128][..]));
}

#[test]
fn a_division_by_zero_is_stopped() {
    let mut data = [0];
    run(conf_division, &mut data, 2).expect("7 / 2");
    assert_eq!(data, [3]);
    let record = run(conf_division, &mut data, 0).expect_err("7 / 0").record;
    assert_eq!(
        (record.kind, record.check, record.line),
        (CROQ_CHECK, NO_ROW, 52)
    );
    assert_eq!(record.what(), "division by zero");
}

#[test]
fn a_failed_check_has_its_row_line_and_values() {
    run(conf_checks, &mut [0; 32], 32).expect("all below 32");
    let record = run(conf_checks, &mut [0; 32], 9)
        .expect_err("thread 9")
        .record;
    assert_eq!(
        (record.kind, record.check, record.line),
        (CROQ_CHECK, 5, 56)
    );
    assert_eq!((record.thread, record.values()), (9, &[9, 9, 2][..]));
}

#[test]
fn a_barrier_where_none_was_announced_is_an_error() {
    let record = run(conf_misused_barrier, &mut [0; 1], 0)
        .expect_err("can't wait")
        .record;
    assert_eq!((record.kind, record.line), (CROQ_CHECK, 61));
    assert_eq!(
        record.what(),
        "barrier in a kernel launched as one that never waits"
    );
}

#[test]
fn print_gives_one_text() {
    let run = Run::capturing();
    let mut data = [-7];
    // SAFETY: one element.
    call_in(&run, |env| unsafe {
        conf_prints(env, data.as_mut_ptr(), 1, 1 << 40)
    })
    .expect("runs");
    assert_eq!(
        run.output(),
        "at 1099511627776 truefalse 1.500000 0.100000 0.250000 -3 200 -7\n"
    );
}

#[test]
fn uninitialised_shared_memory_shows_in_every_block() {
    for waits in [0, 1] {
        let mut data = [0; 32 * 50];
        run(conf_poison, &mut data, waits).expect("runs");
        // A plain kernel's threads run one after another and see the block's earlier writes to
        // other elements only.
        assert_eq!(data, [-1; 32 * 50]);
    }
}
