//! Loops that end late or never, and operations of lanes that have exited, on the simulated GPU.

use croq_conformance::{Failed, call, call_in};
use croq_sys::abi::{CROQ_CHECK, CROQ_DEADLOCK, CROQ_ENDLESS, croq_env};
use croq_sys::sim::Run;

type Shim = unsafe extern "C" fn(*const croq_env, *mut i32, i64, i64) -> u32;

macro_rules! shims {
    ($($name:ident),*) => {
        unsafe extern "C" {
            $(fn $name(env: *const croq_env, data: *mut i32, extent: i64, at: i64) -> u32;)*
        }
    };
}
shims!(
    conf_doubles,
    conf_counted,
    conf_late,
    conf_lock,
    conf_user_lock,
    conf_kinds,
    conf_away,
    conf_votes,
    conf_short,
    conf_unnamed,
    conf_other
);

fn run(shim: Shim, data: &mut [i32], at: i64) -> Result<(), Failed> {
    let extent = data.len() as i64;
    // SAFETY: the shims bind `data` with its extent.
    call(|env| unsafe { shim(env, data.as_mut_ptr(), extent, at) })
}

/// With this step limit.
fn run_in(run: &Run, shim: Shim, data: &mut [i32], at: i64) -> Result<(), Failed> {
    let extent = data.len() as i64;
    // SAFETY: the shims bind `data` with its extent.
    call_in(run, |env| unsafe {
        shim(env, data.as_mut_ptr(), extent, at)
    })
}

const HELP: &str = "\nhelp: the loops of a block may take so many steps on the simulated GPU; \
                    CROQ_SIM_STEPS sets another number";

#[test]
fn a_loop_without_end_is_a_report() {
    let Failed { record, report } = run(conf_doubles, &mut [0; 32], 0).expect_err("does not end");
    assert_eq!(
        (record.kind, record.block, record.thread, record.line),
        (CROQ_ENDLESS, [0; 3], 0, 7)
    );
    let expected = format!(
        "no end in doubles_0: its 17179869184 steps are spent\n  thread 0 is in a loop, loops.co:7{HELP}"
    );
    assert_eq!(report, Some(expected));
    let mut data = [1; 32];
    run(conf_doubles, &mut data, 3).expect("ends, also after a failure");
    assert_eq!(data, [4; 32]);
}

#[test]
fn known_trip_counts_are_charged_at_the_entry() {
    let mut data = [1; 33];
    run(conf_counted, &mut data, 1000).expect("ends");
    assert_eq!(data[31], 1000);
    let Failed { record, report } =
        run(conf_counted, &mut data, 1 << 62).expect_err("would take years");
    assert_eq!((record.kind, record.line), (CROQ_ENDLESS, 16));
    assert_eq!(record.values(), [1 << 34]);
    assert!(report.is_some_and(|text| text.contains("thread 0 is in a loop, loops.co:16")));
    // The step limit is for all threads of a block.
    let (enough, short) = (Run::new().with_steps(3200), Run::new().with_steps(3199));
    run_in(&enough, conf_counted, &mut data, 100).expect("32 times 100");
    let failed = run_in(&short, conf_counted, &mut data, 100).expect_err("one is missing");
    assert_eq!(
        (failed.record.kind, failed.record.thread),
        (CROQ_ENDLESS, 31)
    );
}

#[test]
fn ten_million_iterations_are_none_too_many() {
    let mut data = [1; 33];
    run(conf_late, &mut data, 10_000_000 / 32).expect("ends");
    assert_eq!(data[1], 10_000_000 / 32);
}

#[test]
fn a_lock_is_taken_by_all_threads_of_a_warp() {
    for shim in [conf_lock as Shim, conf_user_lock] {
        for seed in 0..10 {
            let mut data = [0; 2];
            run_in(&Run::seeded(seed), shim, &mut data, 0).expect("each gets it");
            assert_eq!(data, [0, 64]);
        }
    }
}

#[test]
fn a_lock_that_is_kept_is_a_deadlock() {
    for seed in 0..10 {
        let failed = run_in(&Run::seeded(seed), conf_lock, &mut [0; 2], 1);
        let Failed { record, report } = failed.expect_err("nobody gives it back");
        assert_eq!((record.kind, record.line), (CROQ_DEADLOCK, 33));
        assert_eq!(record.what(), "a loop");
        // With a seed threads run in another order, so another number of threads may have exited
        // before thread 5 arrives.
        let report = report.unwrap_or_default();
        assert!(
            report.starts_with("deadlock in lock_0: no thread can go on\n  thread")
                && report.contains(" in a loop, loops.co:33"),
            "{report}"
        );
        let expected = "\
deadlock in lock_0: no thread can go on
  threads 0..5 have left the kernel
  threads 6..63 are in a loop, loops.co:33";
        assert!(seed > 0 || report == expected, "{report}");
    }
}

#[test]
fn a_lock_that_is_kept_is_found_in_user_text_too() {
    let run = Run::new().with_steps(1 << 24);
    let failed = run_in(&run, conf_user_lock, &mut [0; 2], 1).expect_err("nobody gives it back");
    assert_eq!((failed.record.kind, failed.record.line), (CROQ_ENDLESS, 43));
    let expected = format!(
        "\
no end in user_lock_0: its 16777216 steps are spent
  threads 0..5 have left the kernel
  threads 6..63 are in a loop, loops.co:43{HELP}"
    );
    assert_eq!(failed.report, Some(expected));
}

/// Range-for, `do`, conditions that declare, an `else` behind a loop, macros, lambdas.
#[test]
fn counted_loops_mean_what_they_meant() {
    let kinds = |mut n: i32| {
        let mut sum = 1 + 2 + 4;
        let (mut i, mut j) = (0, n);
        while i < j {
            sum += 1;
            i += 1;
            j -= 1;
        }
        loop {
            sum += 1;
            if sum >= 20 {
                break;
            }
        }
        if n > 0 {
            n = n.min(5);
        } else {
            sum += 1000;
        }
        while n != 0 {
            let left = n;
            n -= left;
            sum += left;
            if sum > 1000 {
                break;
            }
        }
        loop {
            sum += 1;
            if sum - 1 > 30 {
                break;
            }
        }
        loop {
            sum += 1;
            if sum > 40 {
                break;
            }
        }
        while sum < 50 {
            sum *= 2;
        }
        sum
    };
    for n in [-3, 0, 1, 4, 5, 9, 60] {
        let mut data = [0];
        run(conf_kinds, &mut data, i64::from(n)).expect("runs");
        assert_eq!(data[0], kinds(n), "of {n}");
    }
}

#[test]
fn a_mask_names_lanes_that_are_there() {
    let mut data = [0; 64];
    run(conf_away, &mut data, 64).expect("all are there");
    assert_eq!((data[0], data[31], data[62]), (1, 31, 63));
    let Failed { record, .. } = run(conf_away, &mut data, 40).expect_err("lane 8 is away");
    assert_eq!(
        (record.kind, record.line, record.values()),
        (CROQ_CHECK, 101, &[8, 0xffff_ffff][..])
    );
    assert_eq!(
        record.what(),
        "shuffle: lane {0}, which mask {1} names, has left the kernel"
    );
    let Failed { record, .. } = run(conf_votes, &mut data, 38).expect_err("lane 6 is away");
    assert_eq!((record.line, record.values()[0]), (108, 6));
    assert_eq!(
        record.what(),
        "vote: lane {0}, which mask {1} names, has left the kernel"
    );
    let Failed { record, .. } = run(conf_unnamed, &mut data, 9).expect_err("not in the mask");
    assert_eq!(
        record.what(),
        "shuffle: reads lane {0}, which is not there (mask {1})"
    );
    assert_eq!(record.values(), [9, 0xff]);
}

/// As in hardware: the incomplete last warp of a block has fewer lanes, whatever the mask is.
#[test]
fn short_warps_have_fewer_lanes() {
    let mut data = [0; 40];
    run(conf_votes, &mut data, 40).expect("runs");
    assert_eq!((data[0], data[31], data[39]), (-1, -1, 0xff));
    run(conf_short, &mut data, 4).expect("runs");
    assert_eq!((data[0], data[32], data[39]), (4, 36, 35));
    let Failed { record, .. } = run(conf_short, &mut data, 8).expect_err("there is no lane 15");
    // The last lane to arrive continues first.
    assert_eq!((record.thread, record.line), (39, 111));
    assert_eq!(record.values(), [15, 0xffff_ffff]);
}

#[test]
fn a_shuffle_does_not_meet_a_barrier() {
    let Failed { record, report } = run(conf_other, &mut [0; 32], 16).expect_err("apart");
    assert_eq!(record.kind, CROQ_DEADLOCK);
    let expected = "\
deadlock in other_0: no thread can go on
  threads 0..15 wait at a shuffle of warp 0, loops.co:117
  threads 16..31 wait at the barrier of warp 0, loops.co:118";
    assert_eq!(report.as_deref(), Some(expected));
}
