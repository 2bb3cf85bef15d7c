//! Clusters on the simulated GPU: positions, order, multicasts, and reports.

use croq_conformance::{Failed, call, call_in};
use croq_sys::abi::{CROQ_CHECK, CROQ_DEADLOCK, CROQ_HAZARD, croq_env};
use croq_sys::sim::Run;

unsafe extern "C" {
    fn conf_members(e: *const croq_env, d: *mut i32, numbers: *const i64) -> u32;
    fn conf_gather(e: *const croq_env, d: *mut i32, sums: *mut i32, b: i64, s: i64, r: i64) -> u32;
    fn conf_baton(e: *const croq_env, d: *mut i32, blocks: i64, size: i64, rounds: i64) -> u32;
    fn conf_boxes_for_all(e: *const croq_env, d: *mut i32, rows: *mut i32, n: *const i64) -> u32;
    fn conf_box_for_both(e: *const croq_env, d: *mut i32, source: *mut i32, rank: i64) -> u32;
    fn conf_misused_clusters(
        e: *const croq_env,
        d: *mut i32,
        rows: *mut i32,
        n: i64,
        what: i64,
    ) -> u32;
}

/// Device memory with CUDA's alignment.
#[repr(align(1024))]
struct Device<T, const N: usize>([T; N]);

const SEEDS: [u64; 5] = [0, 1, 2, 3, 4711];

fn members(grid: [usize; 3], cluster: [usize; 3], waits: bool) -> Result<(), Failed> {
    let blocks: usize = grid.iter().product();
    let mut data = vec![0; blocks * 4];
    let numbers: Vec<i64> = (grid.iter().chain(&cluster).map(|&n| n as i64))
        .chain([i64::from(waits)])
        .collect();
    // SAFETY: four elements per block.
    call(|env| unsafe { conf_members(env, data.as_mut_ptr(), numbers.as_ptr()) })?;
    for (block, found) in data.chunks(4).enumerate() {
        let at = [
            block % grid[0],
            block / grid[0] % grid[1],
            block / grid[0] / grid[1],
        ];
        let [x, y, z] = std::array::from_fn(|axis| at[axis] % cluster[axis]);
        let rank = x + cluster[0] * (y + cluster[1] * z);
        let expected = [rank, x, y, z].map(|n| n as i32);
        assert_eq!(found, expected, "block {block} of {grid:?} by {cluster:?}");
    }
    Ok(())
}

#[test]
fn every_block_has_its_place_in_its_cluster() {
    for waits in [false, true] {
        for (grid, cluster) in [
            ([6, 1, 1], [2, 1, 1]),
            ([6, 4, 2], [3, 2, 1]),
            ([4, 4, 6], [1, 2, 3]),
            ([16, 2, 1], [16, 1, 1]),
            ([5, 1, 1], [1, 1, 1]),
        ] {
            members(grid, cluster, waits).expect("runs");
        }
    }
}

#[test]
fn clusters_that_no_gpu_has_are_refused() {
    for (grid, cluster) in [
        ([6, 1, 1], [4, 1, 1]),
        ([6, 6, 1], [1, 4, 1]),
        ([32, 1, 1], [32, 1, 1]),
        ([8, 8, 1], [8, 4, 1]),
        ([4, 1, 1], [0, 1, 1]),
    ] {
        let record = members(grid, cluster, true).expect_err("is wrong").record;
        let values = cluster.map(|n| n as i64);
        let what = "cluster: {0} x {1} x {2} blocks do not fit the grid";
        assert_eq!((record.kind, record.what()), (CROQ_CHECK, what));
        assert_eq!(record.values(), values);
    }
}

#[test]
fn what_a_block_does_before_the_barrier_all_see_after_it() {
    for seed in SEEDS {
        for (blocks, size, rounds) in [(2, 2, 3), (8, 4, 2), (12, 3, 4), (32, 16, 2), (3, 1, 2)] {
            let mut data = vec![-1; blocks * 48];
            let mut sums = vec![-1; blocks * 48];
            let (b, s, r) = (blocks as i64, size as i64, rounds as i64);
            // SAFETY: 48 elements per block.
            call_in(&Run::seeded(seed), |env| unsafe {
                conf_gather(env, data.as_mut_ptr(), sums.as_mut_ptr(), b, s, r)
            })
            .expect("runs");
            for (at, &sum) in sums.iter().enumerate() {
                let (rank, t) = (at / 48 % size, at % 48);
                let early = rank == size - 1 && t >= 32;
                let expected = (0..rounds).fold(0, |sum, k| {
                    let all = (0..size).map(|r| k * 1000 + r * 100 + (t + 1) % 32);
                    sum * 3 + all.sum::<usize>()
                });
                let expected = if early { -1 } else { expected as i32 };
                assert_eq!(sum, expected, "{at} of {blocks} by {size}, seed {seed}");
            }
        }
    }
}

#[test]
fn a_baton_goes_round() {
    for seed in SEEDS {
        for (blocks, size, rounds) in [(2, 2, 5), (8, 4, 7), (6, 3, 10), (32, 16, 15), (2, 1, 9)] {
            let mut data = vec![0; blocks / size * 256];
            // SAFETY: 256 elements per cluster.
            call_in(&Run::seeded(seed), |env| unsafe {
                let (b, s, r) = (blocks as i64, size as i64, rounds as i64);
                conf_baton(env, data.as_mut_ptr(), b, s, r)
            })
            .expect("runs");
            for cluster in data.chunks(256) {
                let count = size * rounds;
                assert_eq!(cluster[0] as usize, count);
                for (at, &rank) in cluster[1..=count].iter().enumerate() {
                    assert_eq!(rank as usize, at % size);
                }
            }
        }
    }
}

fn rows() -> Box<Device<i32, 8192>> {
    Box::new(Device(std::array::from_fn(|i| i as i32 + 1)))
}

#[test]
fn boxes_come_to_every_block_that_is_asked_for() {
    for seed in SEEDS {
        for (blocks, size, mask) in [
            (2, 2, 3),
            (4, 4, 15),
            (8, 4, 0b1010),
            (4, 2, 1),
            (8, 8, 255),
        ] {
            let rounds = 3;
            let (mut source, count) = (rows(), 8192 / 32);
            let mut data = vec![0; blocks * rounds * 512];
            let numbers = [count, blocks, size, mask, rounds].map(|n| n as i64);
            // SAFETY: as many elements as the shim binds.
            call_in(&Run::seeded(seed), |env| unsafe {
                let n = numbers.as_ptr();
                conf_boxes_for_all(env, data.as_mut_ptr(), source.0.as_mut_ptr(), n)
            })
            .expect("runs");
            for (at, &found) in data.iter().enumerate() {
                let (block, k, i) = (at / 512 / rounds, at / 512 % rounds, at % 512);
                let comes = mask >> (block % size) & 1 == 1 && i >= 256;
                let row = k * 8 + 16 * (block / size * size) + (i.max(256) - 256) / 32;
                let value = if row < count {
                    row * 32 + i % 32 + 1
                } else {
                    0
                };
                let expected = if comes { value as i32 } else { -1 };
                assert_eq!(found, expected, "{at} of {blocks} by {size}, seed {seed}");
            }
        }
    }
}

#[test]
fn boxes_of_every_rank() {
    for rank in 1..=5 {
        let mut source = rows();
        let mut data = [0; 128];
        // SAFETY: as many elements as the shim binds.
        call(|env| unsafe {
            conf_box_for_both(env, data.as_mut_ptr(), source.0.as_mut_ptr(), rank)
        })
        .expect("runs");
        for block in data.chunks(64) {
            for (i, &found) in block[..4 << (rank - 1)].iter().enumerate() {
                let (mut stride, mut at) = (12, 4 + i % 4);
                for d in 1..rank {
                    at += stride * (1 + (i >> (d + 1)) % 2);
                    stride *= 3;
                }
                assert_eq!(found as usize, at + 1, "rank {rank}, element {i}");
            }
        }
    }
}

fn misused(what: i64) -> Failed {
    let mut source = rows();
    let mut data = [0; 64];
    // SAFETY: as many elements as the shim binds.
    call(|env| unsafe {
        conf_misused_clusters(env, data.as_mut_ptr(), source.0.as_mut_ptr(), 256, what)
    })
    .expect_err("is wrong")
}

#[test]
fn a_deadlock_of_a_cluster_says_who_waits_where() {
    let Failed { record, report } = misused(0);
    assert_eq!(record.kind, CROQ_DEADLOCK);
    assert_eq!(
        (record.block, record.thread, record.line),
        ([0, 0, 0], 0, 218)
    );
    let expected = "\
deadlock in misused_clusters_0, block 0, and the rest of its cluster: no thread can go on
  block 0, threads 0..4, 6..63 wait at the cluster barrier (95 of 96 have arrived), clusters.co:218
  block 0, thread 5 waits at the barrier of warp 0, lanes 0x00000060, clusters.co:207
  block 1, threads 0..31 wait at the cluster barrier (95 of 96 have arrived), clusters.co:218
  block 1, threads 32..63 have left the kernel";
    assert_eq!(report.as_deref(), Some(expected));
}

#[test]
fn a_cluster_barrier_without_meaning_is_an_error() {
    for (what, text, line) in [
        (1, "cluster barrier: waits without an arrival", 209),
        (2, "cluster barrier: arrives twice", 212),
    ] {
        let record = misused(what).record;
        assert_eq!(
            (record.kind, record.what(), record.line),
            (CROQ_CHECK, text, line)
        );
    }
}

#[test]
fn what_other_blocks_are_not_ready_for_is_reported() {
    let began = "\n  thread 0 began the copy, clusters.co:";
    for (what, expected) in [
        (
            3,
            "error in misused_clusters_0, block 0: mbarrier `b`[0] was initialised without \
             fence_mbarrier_init: a copy may not see it\n  thread 0 lets a copy arrive there, \
             clusters.co:225\n  thread 0 initialised it, clusters.co:215"
                .to_owned(),
        ),
        (
            4,
            "error in misused_clusters_0, block 0: there is no block 2 in a cluster of 2\n  \
             thread 0 reaches for it, clusters.co:221"
                .to_owned(),
        ),
        (
            5,
            "error in misused_clusters_0, block 0: mbarrier `b`[1] is not initialised\n  \
             thread 0 uses it, clusters.co:223"
                .to_owned(),
        ),
        (
            6,
            "error in misused_clusters_0, block 0: there is no block 2 in a cluster of 2\n  \
             thread 0 reaches for it, clusters.co:225"
                .to_owned(),
        ),
        (
            7,
            format!(
                "unfinished copy in misused_clusters_0, block 1: all threads left the kernel while a copy was in flight{began}227"
            ),
        ),
        (
            8,
            "error in misused_clusters_0, block 0: block 1 of the cluster has left the kernel\n  \
             thread 0 reaches for its shared memory, clusters.co:240"
                .to_owned(),
        ),
    ] {
        let failed = misused(what);
        assert_eq!(failed.record.kind, CROQ_HAZARD);
        assert_eq!(failed.report, Some(expected), "{what}");
    }
}
