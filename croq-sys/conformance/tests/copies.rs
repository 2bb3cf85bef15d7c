//! Wide and asynchronous copies on the simulated GPU: the bytes that they move, when they are
//! executed, and reports.

use croq_conformance::orders::without_threads;
use croq_conformance::{Failed, call_in};
use croq_sys::abi::{CROQ_CHECK, CROQ_HAZARD, CROQ_MISALIGNED, CROQ_OUT_OF_BOUNDS, croq_env};
use croq_sys::sim::Run;

type Shim = unsafe extern "C" fn(*const croq_env, *mut i32, i64, i64) -> u32;
type WithSource<T> = unsafe extern "C" fn(*const croq_env, *mut T, *const T, i64, i64) -> u32;

unsafe extern "C" {
    fn conf_widths(env: *const croq_env, data: *mut u8, src: *const u8, extent: i64) -> u32;
    fn conf_bad_access(env: *const croq_env, data: *mut i32, extent: i64, at: i64) -> u32;
    fn conf_races(env: *const croq_env, data: *mut i32, extent: i64, at: i64) -> u32;
    fn conf_untold(env: *const croq_env, data: *mut i32, extent: i64, at: i64) -> u32;
    fn conf_groups(e: *const croq_env, d: *mut i32, s: *const i32, extent: i64, at: i64) -> u32;
    fn conf_empty_groups(
        e: *const croq_env,
        d: *mut i32,
        s: *const i32,
        extent: i64,
        at: i64,
    ) -> u32;
    fn conf_zfill(e: *const croq_env, d: *mut u8, s: *const u8, extent: i64, at: i64) -> u32;
    fn conf_ring(e: *const croq_env, d: *mut i32, s: *const i32, extent: i64, at: i64) -> u32;
}

/// The initial device memory, with CUDA's alignment.
#[repr(align(256))]
struct Device<T, const N: usize>([T; N]);

fn run(shim: Shim, seed: u64, at: i64) -> Result<[i32; 128], Failed> {
    run_with(shim, 128, seed, at)
}

fn run_with(shim: Shim, extent: i64, seed: u64, at: i64) -> Result<[i32; 128], Failed> {
    let mut data = Device(std::array::from_fn::<i32, 128, _>(|i| 1000 + i as i32));
    // SAFETY: the shims bind `data` with its extent.
    call_in(&Run::seeded(seed), |env| unsafe {
        shim(env, data.0.as_mut_ptr(), extent, at)
    })?;
    Ok(data.0)
}

fn run_with_source<T: Copy + Default, const N: usize>(
    shim: WithSource<T>,
    seed: u64,
    at: i64,
    source: impl Fn(usize) -> T,
) -> Result<[T; N], Failed> {
    let source = Device(std::array::from_fn::<T, N, _>(source));
    let mut data = Device([T::default(); N]);
    // SAFETY: the shims bind both with their extent.
    call_in(&Run::seeded(seed), |env| unsafe {
        shim(env, data.0.as_mut_ptr(), source.0.as_ptr(), N as i64, at)
    })?;
    Ok(data.0)
}

#[test]
fn every_width_moves_its_elements_and_no_others() {
    let source = Device(std::array::from_fn::<u8, 1024, _>(|i| {
        (i * 7 + i / 256) as u8
    }));
    let mut data = Device([0xee; 1024]);
    // SAFETY: the kernel's buffers have 1024 bytes.
    call_in(&Run::new(), |env| unsafe {
        conf_widths(env, data.0.as_mut_ptr(), source.0.as_ptr(), 1024)
    })
    .expect("runs");
    for (i, (&found, &from)) in data.0.iter().zip(&source.0).enumerate() {
        let moved = matches!(i, 0..128 | 192..256 | 448..512);
        assert_eq!(found, if moved { from } else { 0xee }, "byte {i}");
    }
}

#[test]
fn an_access_must_be_aligned_and_inside() {
    run_with(conf_bad_access, 16, 0, 0).expect("is aligned");
    for (what, kind, line, name, values) in [
        (1, CROQ_MISALIGNED, 52, "s", [6, 16]),
        (2, CROQ_MISALIGNED, 54, "data", [9, 8]),
        (3, CROQ_OUT_OF_BOUNDS, 56, "s", [16, 16]),
        (4, CROQ_OUT_OF_BOUNDS, 58, "local", [8, 8]),
        (5, CROQ_OUT_OF_BOUNDS, 60, "data", [16, 16]),
    ] {
        let record = run_with(conf_bad_access, 16, 0, what)
            .expect_err("is bad")
            .record;
        assert_eq!((record.kind, record.line), (kind, line), "{what}");
        assert_eq!((record.what(), record.values()), (name, &values[..]));
    }
    run_with(conf_bad_access, 16, 0, 6).expect("what isn't read needn't be there");
}

/// PTX ISA, `cp.async.wait_group N`: waits "until all but the N most recent" groups are complete.
#[test]
fn a_wait_leaves_the_youngest_groups() {
    let source = |i| 7 * i as i32 + 1;
    for copies in 0..=16 {
        let late: [i32; 512] = run_with_source(conf_groups, 0, copies, source).expect("runs");
        for (i, &found) in late.iter().enumerate() {
            let landed = ((i % 16) as i64) < copies - 3;
            assert_eq!(
                found,
                if landed { source(i) } else { -1 },
                "{i} of {copies}"
            );
        }
    }
    let mut early = 0;
    for seed in 1..20 {
        let found = || run_with_source::<_, 512>(conf_groups, seed, 8, source).expect("runs");
        let first = found();
        assert_eq!(first, found(), "a seed is one order");
        for (i, &found) in first.iter().enumerate() {
            let (landed, issued) = (i % 16 < 5, i % 16 < 8);
            let was_early = !landed && issued && found == source(i);
            assert!(found == if landed || was_early { source(i) } else { -1 });
            early += usize::from(was_early);
        }
    }
    // About half of them: a copy may be executed at once, at the commit, at a barrier (there is
    // none), or late.
    assert!((700..1100).contains(&early), "{early}");
}

#[test]
fn groups_are_counted_even_when_empty_and_a_copy_without_commit_is_in_none() {
    let source = |i| 100 + i as i32;
    let found: [i32; 16] = run_with_source(conf_empty_groups, 0, 0, source).expect("runs");
    assert_eq!(found[..4], [-1, 100, -1, 104]);
}

#[test]
fn outside_becomes_zero() {
    for width in [1, 2, 4, 8, 16] {
        for seed in 0..4 {
            let found: [u8; 256] =
                run_with_source(conf_zfill, seed, width, |i| i as u8 | 1).expect("runs");
            for (i, &found) in found.iter().enumerate() {
                let from = (i + 37) % 256;
                assert_eq!(found, if from < 80 { from as u8 | 1 } else { 0 });
            }
        }
    }
}

#[test]
fn a_ring_of_buffers_works_in_every_order() {
    for seed in 0..10 {
        let source = |i: usize| (i * i) as i32;
        let found: [i32; 2048] = run_with_source(conf_ring, seed, 0, source).expect("runs");
        for (thread, &found) in found[..64].iter().enumerate() {
            let sum: i32 = (0..8)
                .flat_map(|k| (1..5).map(move |i| source(k * 256 + (thread * 4 + i) % 256)))
                .sum();
            assert_eq!(found, sum);
        }
    }
}

#[test]
fn a_ring_that_waits_or_commits_too_little_is_reported_in_every_order() {
    for seed in 0..10 {
        for (slip, line, other) in [(1, 144, 130), (2, 140, 130), (3, 144, 140)] {
            let failed = run_with_source::<_, 2048>(conf_ring, seed, slip, |i| i as i32)
                .expect_err("is a race");
            assert_eq!(failed.record.kind, CROQ_HAZARD);
            assert_eq!(failed.record.line, line, "{slip}: {:?}", failed.report);
            assert_eq!(failed.record.values(), [other]);
        }
    }
}

/// The report without the numbers of threads and of the element.
fn without_numbers(report: &str) -> String {
    let text = without_threads(report);
    match (text.find('['), text.find(']')) {
        (Some(open), Some(close)) => format!("{}{}", &text[..=open], &text[close..]),
        _ => text,
    }
}

#[test]
fn races_are_told_with_both_lines() {
    run(conf_races, 0, 0).expect("waits");
    for seed in 0..10 {
        for (what, line, others, report) in [
            (
                1,
                160,
                &[163][..],
                "race in races_0: `s`[4] is written by two threads, and no barrier or event orders the two\n  \
                 thread 1 writes it, copies.co:160\n  \
                 thread 0 wrote it, copies.co:163",
            ),
            (
                2,
                165,
                &[160],
                "race in races_0: `s`[3] is written while a copy into it is in flight\n  \
                 thread 0 writes it, copies.co:165\n  \
                 thread 0 began the copy, copies.co:160",
            ),
            (
                3,
                167,
                &[160],
                "race in races_0: `s`[2] is the destination of two copies at once\n  \
                 thread 0 begins a copy into it, copies.co:167\n  \
                 thread 0 began the copy, copies.co:160",
            ),
            (
                4,
                160,
                &[],
                "race in races_0: the source of a copy was written while the copy was in flight\n  \
                 thread 31 began the copy, copies.co:160",
            ),
            (
                5,
                160,
                &[],
                "unfinished copy in races_0: a thread left the kernel without waiting for its copy\n  \
                 thread 0 began the copy, copies.co:160",
            ),
            (
                6,
                172,
                &[160],
                "race in races_0: `s`[2] is read while a copy into it is in flight\n  \
                 thread 0 reads it, copies.co:172\n  \
                 thread 0 began the copy, copies.co:160",
            ),
        ] {
            let failed = run(conf_races, seed, what).expect_err("is a race");
            assert_eq!(failed.record.kind, CROQ_HAZARD);
            let place = (failed.record.line, failed.record.values());
            let found = failed.report.unwrap_or_default();
            // In index order thread 0 comes first; with a seed another thread may detect the race
            // first.
            let stored_last = seed != 0 && what == 1 && place == (163, &[160][..]);
            if seed == 0 {
                assert_eq!((place, found.as_str()), ((line, others), report));
            } else if stored_last {
                let report = "race in races_0: `s`[] is written while a copy into it is in flight\n  \
                              thread writes it, copies.co:163\n  \
                              thread began the copy, copies.co:160";
                assert_eq!(without_numbers(&found), report, "seed {seed}");
            } else {
                assert_eq!(place, (line, others), "{what}, seed {seed}: {found}");
                assert_eq!(
                    without_numbers(&found),
                    without_numbers(report),
                    "seed {seed}"
                );
            }
        }
    }
    run(conf_races, 0, 0).expect("the next launch knows nothing of it");
}

#[test]
fn watched_memory_needs_a_launch_that_watches() {
    let record = run(conf_untold, 0, 0)
        .expect_err("is not asynchronous")
        .record;
    assert_eq!((record.kind, record.line), (CROQ_CHECK, 180));
    assert_eq!(
        record.what(),
        "watched memory in a launch that is not asynchronous"
    );
}
