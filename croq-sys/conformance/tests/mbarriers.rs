//! mbarriers on the simulated GPU, compared with the PTX ISA's rules for phases and counts.

use croq_conformance::{Failed, call_in};
use croq_sys::abi::{CROQ_DEADLOCK, CROQ_HAZARD, CROQ_OUT_OF_BOUNDS, croq_env};
use croq_sys::sim::Run;

type Shim = unsafe extern "C" fn(*const croq_env, *mut i32, i64, i64) -> u32;

unsafe extern "C" {
    fn conf_phases(env: *const croq_env, data: *mut i32, extent: i64, at: i64) -> u32;
    fn conf_pipeline(env: *const croq_env, data: *mut i32, extent: i64, at: i64) -> u32;
    fn conf_poll(env: *const croq_env, data: *mut i32, extent: i64, at: i64) -> u32;
    fn conf_misused(env: *const croq_env, data: *mut i32, extent: i64, at: i64) -> u32;
    fn conf_lagging(env: *const croq_env, data: *mut i32, extent: i64, at: i64) -> u32;
}

fn run(shim: Shim, at: i64) -> Result<[i32; 64], Failed> {
    let mut data = [0; 64];
    // SAFETY: the shims bind `data` with its extent.
    call_in(&Run::new(), |env| unsafe {
        shim(env, data.as_mut_ptr(), 64, at)
    })?;
    Ok(data)
}

/// `try_wait.parity`: "the phaseParity indicates the parity of either the current phase or the
/// immediately preceding phase": even phases have parity 0; the current one is never complete.
#[test]
fn a_parity_tells_the_current_phase_from_the_one_before() {
    let found = run(conf_phases, 0).expect("runs");
    let fresh = [0, 1];
    let after_one_phase = [1, 0];
    let expected = [
        fresh,
        fresh, // two of three have arrived
        after_one_phase,
        fresh, // two phases: as after none
        fresh, // initialised again
        after_one_phase,
    ];
    assert_eq!(found[..12], expected.concat());
}

#[test]
fn producers_and_consumers_go_round_a_ring() {
    for slots in 1..=4 {
        let found = run(conf_pipeline, slots).expect("nobody is stuck");
        for (lane, &sum) in found[..32].iter().enumerate() {
            let expected: usize = (0..40).map(|k| k * 32 + 31 - lane).sum();
            assert_eq!(sum as usize, expected, "{slots} slots");
        }
    }
}

#[test]
fn a_poll_comes_back_and_a_loop_of_polls_that_cannot_end_is_a_deadlock() {
    assert_eq!(run(conf_poll, 0).expect("is woken")[0], 3);
    assert_eq!(run(conf_poll, 1).expect("comes back")[0], 2);
    let Failed { record, report } = run(conf_poll, 2).expect_err("both wait");
    assert_eq!(record.kind, CROQ_DEADLOCK);
    let expected = "\
deadlock in poll_0: no thread can go on
  thread 0 waits at mbarrier `b`[0], phase 0 (0 of 1 have arrived; no thread ever has), mbarriers.co:86
  thread 1 waits at mbarrier `b`[0], phase 0 (0 of 1 have arrived; no thread ever has), mbarriers.co:80";
    assert_eq!(report.as_deref(), Some(expected));
}

#[test]
fn a_phase_that_lacks_an_arrival_is_a_deadlock_that_names_it() {
    let Failed { record, report } = run(conf_misused, 2).expect_err("one is missing");
    assert_eq!((record.kind, record.line), (CROQ_DEADLOCK, 107));
    let expected = "\
deadlock in misused_0: no thread can go on
  threads 0..63 wait at mbarrier `b`[0], phase 0 (31 of 32 have arrived; the last was thread 30, at mbarriers.co:105), \
   mbarriers.co:107";
    assert_eq!(report.as_deref(), Some(expected));
}

#[test]
fn what_an_event_lacks_is_told_with_those_who_would_bring_it() {
    let Failed { record, report } = run(conf_misused, 11).expect_err("bytes are missing");
    assert_eq!(record.kind, CROQ_HAZARD);
    let expected = "\
wrong byte count in misused_0: generation 1 of `b`[0]: 64 bytes are missing, and no copy is in flight
  thread 6 announced bytes, mbarriers.co:131
  thread 0 initialised it, mbarriers.co:100";
    assert_eq!(report.as_deref(), Some(expected));
    let Failed { record, report } = run(conf_misused, 12).expect_err("an arrival, too");
    assert_eq!((record.kind, record.line), (CROQ_DEADLOCK, 133));
    let expected = "\
deadlock in misused_0: no thread can go on
  threads 0..63 wait for generation 1 of `b`[0] (31 of 32 have arrived, 64 bytes are missing), mbarriers.co:133
  generation 1 of `b`[0] lacks 1 of 32 arrivals and 64 bytes:
    thread 5 would trigger it at mbarriers.co:128, but waits at mbarriers.co:133";
    assert_eq!(report.as_deref(), Some(expected));
}

#[test]
fn a_thread_that_lags_behind_misses_a_phase() {
    assert_eq!(run(conf_lagging, 0).expect("is in time")[0], 1);
    let Failed { record, report } = run(conf_lagging, 1).expect_err("is late");
    assert_eq!((record.kind, record.line), (CROQ_DEADLOCK, 140));
    let expected = "\
deadlock in lagging_0: no thread can go on
  thread 0 has left the kernel
  thread 1 waits at mbarrier `b`[0], phase 0, which went by unseen: the next one is over, too, and parity 0 \
means phase 2 now, mbarriers.co:140";
    assert_eq!(report.as_deref(), Some(expected));
}

#[test]
fn misuse_is_told_with_its_lines() {
    let initialised = "\n  thread 0 initialised it, mbarriers.co:100";
    for (what, report) in [
        (
            1,
            // All 33 arrive: the last one is the first arrival of the next phase, which is not an
            // error.
            None,
        ),
        (
            3,
            Some(
                "error in misused_0: mbarrier `b`[1] is not initialised\n  \
                 thread 0 uses it, mbarriers.co:109"
                    .to_owned(),
            ),
        ),
        (
            4,
            Some(format!(
                "error in misused_0: mbarrier `b`[0] is initialised already\n  \
                 thread 0 initialised it, mbarriers.co:111{initialised}"
            )),
        ),
        (
            5,
            Some(
                "error in misused_0: mbarrier `b`[1] cannot wait for 0 arrivals: 1 to 1048575 it can\n  \
                 thread 0 initialised it, mbarriers.co:113"
                    .to_owned(),
            ),
        ),
        (
            6,
            Some(format!(
                "race in misused_0: `raw`[1] is part of an mbarrier\n  \
                 thread 0 reads it, mbarriers.co:115{initialised}"
            )),
        ),
        (
            8,
            Some(format!(
                "wrong byte count in misused_0: mbarrier `b`[0], phase 0: 64 bytes are missing, and no copy is in flight\n  thread 5 announced bytes, mbarriers.co:119{initialised}"
            )),
        ),
        (
            9,
            Some(format!(
                "wrong byte count in misused_0: mbarrier `b`[0], phase 0: 16 bytes are missing, and no copy is in flight\n  thread 0 announced bytes, mbarriers.co:123{initialised}"
            )),
        ),
        (
            10,
            Some(format!(
                "error in misused_0: mbarrier `b`[0] cannot count 1048576 bytes: 1048575 are the \
                 most\n  thread 0 announced bytes, mbarriers.co:126{initialised}"
            )),
        ),
    ] {
        let outcome = run(conf_misused, what);
        match report {
            None => drop(outcome.expect("is no error")),
            Some(_) => {
                let failed = outcome.expect_err("is an error");
                assert_eq!(failed.record.kind, CROQ_HAZARD);
                assert_eq!(failed.report, report, "{what}");
            }
        }
    }
    let record = run(conf_misused, 7).expect_err("there are two").record;
    assert_eq!((record.kind, record.line), (CROQ_OUT_OF_BOUNDS, 117));
    assert_eq!((record.what(), record.values()), ("b", &[2, 2][..]));
}
