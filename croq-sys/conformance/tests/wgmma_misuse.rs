//! MMAs by warpgroups: when they are executed, and reports of accesses to their registers or shared
//! memory before that.

use croq_conformance::orders::without_threads;
use croq_conformance::{Failed, call_in};
use croq_sys::abi::{CROQ_DEADLOCK, CROQ_HAZARD, croq_env};
use croq_sys::sim::Run;

unsafe extern "C" {
    fn conf_misuse(env: *const croq_env, data: *mut f32, which: i64) -> u32;
    fn conf_readers(env: *const croq_env, data: *mut f32, which: i64) -> u32;
}

#[repr(align(256))]
struct Device([f32; 256]);

type Shim = unsafe extern "C" fn(*const croq_env, *mut f32, i64) -> u32;

fn run(which: i64, seed: u64) -> Result<[f32; 256], Failed> {
    run_text(conf_misuse, which, seed)
}

fn run_text(shim: Shim, which: i64, seed: u64) -> Result<[f32; 256], Failed> {
    let mut data = Device([0.0; 256]);
    // SAFETY: the shims bind `data` with its extent.
    call_in(&Run::seeded(seed), |env| unsafe {
        shim(env, data.0.as_mut_ptr(), which)
    })?;
    Ok(data.0)
}

/// The first two accumulators of each thread, and two elements that no MMA wrote.
fn is(data: &[f32; 256], sums: f32) -> bool {
    data[..128].iter().all(|sum| *sum == sums) && data[128..].iter().all(|sum| *sum == 0.5)
}

#[test]
fn what_is_not_touched_may_be() {
    for seed in 0..8 {
        for (which, sums) in [(0, 16.5), (8, 32.5), (10, 16.5), (12, 16.5)] {
            let data = run(which, seed).unwrap_or_else(|f| panic!("{which}: {:?}", f.report));
            assert!(is(&data, sums), "{which}, seed {seed}: {}", data[0]);
        }
    }
}

/// Writes through raw pointers between the two, which are not checked, have an effect.
#[test]
fn a_product_reads_its_operands_when_it_is_waited_for_or_earlier() {
    let late = run(15, 0).expect("nobody watches pointers");
    assert!(is(&late, 32.5), "{}", late[0]);
    let mut early = 0;
    for seed in 1..40 {
        let data = run(15, seed).expect("nobody watches pointers");
        early += usize::from(is(&data, 16.5));
        assert!(is(&data, 16.5) || is(&data, 32.5), "{seed}: {}", data[0]);
    }
    assert!((3..25).contains(&early), "{early}");
}

#[test]
fn what_is_wrong_is_reported_with_both_lines() {
    let began = "\n  thread 127 issued the WGMMA, misuse.co:27";
    let used =
        "race in misuse_0: the accumulator of a WGMMA is used before a wait for it\n  thread";
    let of_a = "race in misuse_0: A of a WGMMA is used before a wait for it\n  thread";
    for (which, report) in [
        (
            1,
            format!(
                "race in misuse_0: byte 1168 of shared memory, in A of a WGMMA, may not be seen by \
                 the async proxy{began}\n  \
                 thread 73 wrote it, and has executed no fence_proxy_async since, misuse.co:9"
            ),
        ),
        (
            2,
            format!(
                "error in misuse_0: A of a WGMMA begins 896 bytes into a pattern of swizzle 128{began}"
            ),
        ),
        (
            3,
            format!(
                "error in misuse_0: A of a WGMMA reaches byte 10255 of 10240 of shared memory{began}"
            ),
        ),
        (
            4,
            "error in misuse_0: a WGMMA before the thread's first wgmma_fence\n  \
             thread 127 issues the WGMMA, misuse.co:27"
                .to_owned(),
        ),
        (
            5,
            "error in misuse_0: registers of a WGMMA were accessed without a wgmma_fence after the access\n  thread 127 issues the WGMMA, misuse.co:27\n  \
             thread 127 used them, misuse.co:21"
                .to_owned(),
        ),
        (
            6,
            "deadlock in misuse_0: no thread can go on\n  \
             threads 0..95 wait at a WGMMA of warpgroup 0 (96 of 128 threads have arrived), misuse.co:27\n  \
             threads 96..127 have left the kernel"
                .to_owned(),
        ),
        (
            7,
            "error in misuse_0: threads of a warpgroup execute a WGMMA with different operands\n  \
             thread 100 issues the WGMMA, misuse.co:24\n  \
             thread 127 issues the WGMMA, misuse.co:27"
                .to_owned(),
        ),
        (9, format!("{used} 126 uses them, misuse.co:29{began}")),
        (
            11,
            format!(
                "race in misuse_0: `s`[4097] is written while a WGMMA that reads it is in flight\n  thread 9 writes it, misuse.co:31{began}"
            ),
        ),
        (
            13,
            format!(
                "{of_a} 127 uses them, misuse.co:33\n  thread 127 issued the WGMMA, misuse.co:26"
            ),
        ),
        (
            14,
            format!(
                "{of_a} 127 uses them, misuse.co:34\n  thread 127 issued the WGMMA, misuse.co:26"
            ),
        ),
        (
            16,
            format!(
                "unfinished WGMMA in misuse_0: a thread left the kernel without waiting for its WGMMA{began}"
            ),
        ),
        (
            17,
            format!(
                "error in misuse_0: the accumulator of a WGMMA in flight is used by one of another shape\n  thread 127 issues the WGMMA, misuse.co:39{began}"
            ),
        ),
        (
            18,
            format!(
                "race in misuse_0: `s`[3] is written while a WGMMA that reads it is in flight\n  \
                 thread 0 writes it, misuse.co:41{began}"
            ),
        ),
        (
            19,
            format!(
                "{used} 127 uses them, misuse.co:56\n  thread 127 issued the WGMMA, misuse.co:43"
            ),
        ),
        (
            20,
            format!(
                "{used} 125 uses them, misuse.co:49\n  thread 127 issued the WGMMA, misuse.co:45"
            ),
        ),
        (
            21,
            format!(
                "race in misuse_0: `s`[64] becomes the destination of a copy while a WGMMA that reads it is in flight\n  thread 3 begins a copy into it, misuse.co:51{began}"
            ),
        ),
        (
            22,
            "error in misuse_0: registers of a WGMMA were accessed without a wgmma_fence after the access\n  thread 124 issues the WGMMA, misuse.co:60\n  \
             thread 124 used them, misuse.co:56"
                .to_owned(),
        ),
        (
            23,
            "error in misuse_0: a WGMMA by a warpgroup of fewer than 128 threads\n  \
             thread 95 issues the WGMMA, misuse.co:27"
                .to_owned(),
        ),
        (
            24,
            "error in misuse_0: a WGMMA in a kernel that was not launched as async_proxy\n  \
             thread 127 issues the WGMMA, misuse.co:27"
                .to_owned(),
        ),
    ] {
        for seed in 0..4 {
            let failed = run(which, seed)
                .err()
                .unwrap_or_else(|| panic!("{which} is found"));
            let found = failed.report.unwrap_or_default();
            if seed == 0 {
                assert_eq!(found, report, "{which}");
            } else {
                // With another order of the threads.
                let (found, report) = (without_threads(&found), without_threads(&report));
                assert_eq!(found, report, "{which}, seed {seed}");
            }
            let kind = if which == 6 {
                CROQ_DEADLOCK
            } else {
                CROQ_HAZARD
            };
            assert_eq!(failed.record.kind, kind, "{which}");
        }
    }
}

/// One reader has waited, but not the other.
#[test]
fn an_operand_is_free_when_all_who_read_it_have_waited() {
    for seed in 0..4 {
        let data = run_text(conf_readers, 2, seed).unwrap_or_else(|f| panic!("{:?}", f.report));
        assert!(data.iter().all(|sum| *sum == 16.0), "{data:?}");
        for (which, began) in [(0, 81), (1, 84)] {
            let failed = run_text(conf_readers, which, seed);
            let failed = failed.err().unwrap_or_else(|| panic!("{which} is found"));
            let found = failed.report.unwrap_or_default();
            let race =
                "race in readers_0: `s`[4096] is written while a WGMMA that reads it is in flight";
            assert!(found.starts_with(race), "{which}: {found}");
            let line = format!("issued the WGMMA, misuse.co:{began}");
            assert!(found.ends_with(&line), "{which}: {found}");
        }
    }
}
