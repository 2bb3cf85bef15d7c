//! Cooperative grids on the simulated GPU: the order by their barrier, how many blocks fit, and the
//! reports of deadlocks.

use croq_conformance::{Failed, call, call_in};
use croq_sys::abi::{CROQ_CHECK, CROQ_DEADLOCK, croq_env};
use croq_sys::sim::Run;

unsafe extern "C" {
    fn conf_rounds(e: *const croq_env, d: *mut i32, sums: *mut i32, n: *const i64) -> u32;
    fn conf_apart(e: *const croq_env, x: i64, y: i64, threads: i64, bytes: i64, what: i64) -> u32;
}

#[test]
fn what_a_block_does_before_the_barrier_all_see_after_it() {
    for seed in [0, 1, 2, 4711] {
        for (grid, threads, rounds) in [
            ([1, 1, 1], 1, 3),
            ([1, 1, 1], 64, 2),
            ([2, 1, 1], 32, 3),
            ([40, 1, 1], 33, 4),
            ([5, 3, 2], 64, 2),
            ([300, 1, 1], 1, 3),
        ] {
            let blocks: usize = grid.iter().product();
            let mut data = vec![-1; blocks * threads];
            let mut sums = data.clone();
            let numbers: Vec<i64> = (grid.iter().chain([&threads, &rounds]))
                .map(|&n| n as i64)
                .collect();
            // SAFETY: an element for each thread.
            call_in(&Run::seeded(seed), |env| unsafe {
                conf_rounds(env, data.as_mut_ptr(), sums.as_mut_ptr(), numbers.as_ptr())
            })
            .expect("runs");
            for (at, &sum) in sums.iter().enumerate() {
                let (block, t) = (at / threads, at % threads);
                let expected = (0..rounds).fold(0, |sum, k| {
                    let next = k * 1000 + (block + 1) % blocks * 10 + t;
                    let last = k * 1000 + (blocks - 1) * 10 + (t + 1) % threads;
                    sum * 3 + next + last
                });
                assert_eq!(sum as usize, expected, "{at} of {grid:?}, seed {seed}");
            }
        }
    }
}

fn apart(grid: [i64; 2], threads: i64, bytes: i64, what: i64) -> Result<(), Failed> {
    let [x, y] = grid;
    // SAFETY: no memory is bound.
    call(|env| unsafe { conf_apart(env, x, y, threads, bytes, what) })
}

#[test]
fn more_blocks_than_fit_are_refused() {
    for (grid, threads, bytes, room) in [
        ([4225, 1], 1, 0, 4224),
        ([1 << 30, 60_000], 1, 0, 4224),
        ([133, 2], 1024, 0, 264),
        ([529, 1], 512, 0, 528),
        ([529, 1], 500, 0, 528),
        ([265, 1], 32, 112 * 1024, 264),
        ([133, 1], 32, 227 * 1024, 132),
    ] {
        let record = apart(grid, threads, bytes, 0).expect_err("too many").record;
        let text = "cooperative grid: {0} blocks, an H100 holds {1} at once";
        assert_eq!(
            (record.kind, record.what(), record.line),
            (CROQ_CHECK, text, 9)
        );
        assert_eq!(record.values(), [grid[0] * grid[1], room]);
    }
    apart([4224, 1], 1, 0, 0).expect("as many as fit");
    apart([0, 1], 1, 0, 0).expect("an empty grid is no launch");
    let record = apart([1 << 31, 1], 1, 0, 0).expect_err("no grid").record;
    assert_eq!(record.what(), "grid: {0} x {1} x {2} blocks do not fit");
    let record = apart([1, 1], 32, 300 * 1024, 0).expect_err("too much");
    let text = "shared memory: {0} bytes a block, of at most {1}";
    assert_eq!(record.record.what(), text);
}

#[test]
fn a_deadlock_says_which_blocks_have_not_come() {
    let stuck = |grid, what| {
        let Failed { record, report } = apart(grid, 64, 0, what).expect_err("is stuck");
        assert_eq!(record.kind, CROQ_DEADLOCK);
        report.unwrap_or_default()
    };
    assert_eq!(
        stuck([5, 1], 1),
        "\
deadlock in apart_0, whose blocks wait for each other: no thread can go on
  blocks 0..3, threads 0..63 wait at the grid barrier (256 of 320 have arrived), grid.co:107
  block 4, threads 0..63 have left the kernel"
    );
    assert_eq!(
        stuck([3, 2], 2),
        "\
deadlock in apart_0, whose blocks wait for each other: no thread can go on
  blocks (0, 0, 0), (1, 0, 0), (2, 0, 0), (0, 1, 0) and 1 more, threads 0..63 wait at the grid barrier (352 of 384 have arrived), grid.co:107
  block (2, 1, 0), threads 0..31 wait at the grid barrier (352 of 384 have arrived), grid.co:107
  block (2, 1, 0), threads 32..63 wait at named barrier 3 (32 of 64 have arrived), grid.co:105"
    );
}
