//! Estimates of the clocks that a kernel takes on an H100: from its machine code, what it executed on the
//! PTX machine, and its launch.
//!
//! Each unit of a multiprocessor does its work at its full rate, beside the others; the slowest one
//! limits the kernel. What this leaves out is in `docs/performance.md`: latencies, the beginning and the
//! end of a block, products that wait for other work of their warpgroup. So an estimate is good to 15% at
//! best, and only for kernels whose loops overlap their units.

/// Rates of one multiprocessor, for each clock. `docs/performance.md` has the sources.
#[derive(Clone, Copy, Debug)]
pub struct Gpu {
    pub multiprocessors: u64,
    /// Of tensor cores, with operands of 16 bits; twice as many with 8 bits.
    pub multiply_adds: f64,
    /// Bytes of shared memory: one wavefront is 128.
    pub shared: f64,
    /// Bytes from the L2 cache.
    pub l2: f64,
    /// Bytes of the GPU's memory.
    pub memory: f64,
    /// Instructions of warps, by four schedulers.
    pub issue: f64,
    /// Warps' instructions for special functions: 16 lanes.
    pub special: f64,
}

pub const H100: Gpu = Gpu {
    multiprocessors: 132,
    multiply_adds: 2048.0,
    shared: 128.0,
    l2: 42.0,
    // 3.35 TB/s at 1.83 GHz.
    memory: 13.9,
    issue: 4.0,
    special: 0.5,
};

/// What a launch does, over all its blocks.
#[derive(Clone, Copy, Default, Debug)]
pub struct Work {
    /// Parts of the result that blocks compute one after the other, or at the same time.
    pub tiles: u64,
    /// The largest tile, as a multiple of the mean; 0 if they are equal.
    pub largest: f64,
    /// How many tiles one multiprocessor has at a time.
    pub resident: u64,
    /// Threads wait for all products before their other work, and start products after it.
    pub alternates: bool,
    /// Of 16 bits; half of those of 8 bits.
    pub multiply_adds: u64,
    /// Bytes that threads, tensor cores and copies move through shared memory.
    pub shared: u64,
    /// Bytes that requests and copies move from and to the L2 cache.
    pub l2: u64,
    /// Bytes of the operands and the result.
    pub memory: u64,
    pub instructions: u64,
    pub special: u64,
}

/// A unit, and how many clocks one tile takes on it.
pub type Clocks = [(&'static str, f64); 6];

#[derive(Clone, Copy, Debug)]
pub struct Estimate {
    pub clocks: Clocks,
    /// The slowest unit.
    pub limit: &'static str,
    /// How often all multiprocessors get tiles.
    pub waves: u64,
    /// Clocks of the launch.
    pub total: f64,
    /// Of the clocks of the launch those in which tensor cores compute.
    pub busy: f64,
}

/// A launch without tiles takes no time.
pub fn estimate(gpu: &Gpu, work: &Work) -> Estimate {
    let tiles = work.tiles.max(1);
    let each = |amount: u64, rate: f64| amount as f64 / tiles as f64 / rate;
    let clocks = [
        ("tensor cores", each(work.multiply_adds, gpu.multiply_adds)),
        ("shared memory", each(work.shared, gpu.shared)),
        ("L2", each(work.l2, gpu.l2)),
        ("memory", each(work.memory, gpu.memory)),
        ("issue", each(work.instructions, gpu.issue)),
        ("MUFU", each(work.special, gpu.special)),
    ];
    let slowest = clocks.iter().max_by(|a, b| a.1.total_cmp(&b.1));
    let (mut limit, mut slowest) = slowest.copied().unwrap_or(("nothing", 0.0));
    let [tensor, _, _, _, issue, special] = clocks.map(|(_, clocks)| clocks);
    let in_turn = tensor + issue.max(special);
    if work.alternates && in_turn > slowest {
        slowest = in_turn;
        limit = match issue > special {
            true => "tensor cores, then issue",
            false => "tensor cores, then MUFU",
        };
    }
    // The multiprocessor with the most tiles; those that it has at a time share its units.
    let most = work.tiles.div_ceil(gpu.multiprocessors);
    let total = (most as f64).max(work.largest) * slowest;
    let all = work.multiply_adds as f64 / gpu.multiprocessors as f64 / gpu.multiply_adds;
    Estimate {
        clocks,
        limit,
        waves: most.div_ceil(work.resident.max(1)),
        total,
        busy: if total > 0.0 { all / total } else { 0.0 },
    }
}

#[cfg(test)]
mod tests {
    use super::{Gpu, H100, Work, estimate};

    fn close(found: f64, expected: f64) {
        assert!(
            (found - expected).abs() <= 1e-9 * expected.abs(),
            "{found} {expected}"
        );
    }

    /// A product of 2048 × 2048 × 1024 in tiles of 128 × 256: 128 tiles, of 128 · 256 · 1024 / 2048 =
    /// 16384 clocks on tensor cores. A block reads 16 steps of 48 KB, which take 18725 clocks at 42 bytes.
    #[test]
    fn a_product_is_limited_by_l2_without_a_cluster_and_by_tensor_cores_with_one() {
        let mut work = Work {
            tiles: 128,
            resident: 1,
            multiply_adds: 2048 * 2048 * 1024,
            l2: 128 * 16 * 48 * 1024,
            ..Work::default()
        };
        let found = estimate(&H100, &work);
        close(found.clocks[0].1, 16384.0);
        close(found.clocks[2].1, 786_432.0 / 42.0);
        assert_eq!((found.limit, found.waves), ("L2", 1));
        close(found.total, 786_432.0 / 42.0);
        // Of the tiles of 132 multiprocessors 128 are there.
        close(found.busy, 128.0 / 132.0 * 16384.0 / (786_432.0 / 42.0));
        work.l2 = work.l2 / 3 * 2;
        let found = estimate(&H100, &work);
        assert_eq!(found.limit, "tensor cores");
        close(found.busy, 128.0 / 132.0);
    }

    #[test]
    fn the_last_wave_costs_as_much_as_the_others() {
        let work = Work {
            tiles: 133,
            resident: 1,
            multiply_adds: 133 * 2048,
            ..Work::default()
        };
        let found = estimate(&H100, &work);
        assert_eq!(found.waves, 2);
        close(found.total, 2.0);
        // Two tiles at a time share the units: one wave, and the same time.
        let found = estimate(
            &H100,
            &Work {
                resident: 2,
                ..work
            },
        );
        assert_eq!(found.waves, 1);
        close(found.total, 2.0);
    }

    /// 1000 blocks of 3 · 4096 bytes each: eight of them for the busiest multiprocessor.
    #[test]
    fn a_kernel_without_products_is_limited_by_memory_or_by_its_instructions() {
        let gpu = Gpu {
            memory: 16.0,
            ..H100
        };
        let mut work = Work {
            tiles: 1000,
            resident: 4,
            l2: 1000 * 12288,
            memory: 1000 * 12288,
            instructions: 1000 * 400,
            special: 1000 * 100,
            ..Work::default()
        };
        let found = estimate(&gpu, &work);
        assert_eq!((found.limit, found.waves), ("memory", 2));
        close(found.total, 8.0 * 768.0);
        close(found.clocks[4].1, 100.0);
        close(found.clocks[5].1, 200.0);
        close(found.busy, 0.0);
        work.instructions *= 10;
        assert_eq!(estimate(&gpu, &work).limit, "issue");
        work.shared = 1000 * 128 * 1001;
        let found = estimate(&gpu, &work);
        assert_eq!(found.limit, "shared memory");
        close(found.total, 8.0 * 1001.0);
    }

    /// 100 tiles of 2048 clocks on tensor cores, 1500 of issue and 1600 for special functions.
    #[test]
    fn products_beside_other_work_or_before_it() {
        let mut work = Work {
            tiles: 100,
            resident: 1,
            multiply_adds: 100 * 2048 * 2048,
            instructions: 100 * 1500 * 4,
            special: 100 * 800,
            ..Work::default()
        };
        let found = estimate(&H100, &work);
        assert_eq!(found.limit, "tensor cores");
        close(found.total, 2048.0);
        work.alternates = true;
        let found = estimate(&H100, &work);
        assert_eq!(found.limit, "tensor cores, then MUFU");
        close(found.total, 2048.0 + 1600.0);
        close(found.busy, 100.0 / 132.0 * 2048.0 / 3648.0);
        // One tile is larger than the others, and then there are so many that it does not matter.
        work.largest = 1.5;
        close(estimate(&H100, &work).total, 1.5 * 3648.0);
        let many = Work {
            tiles: 1320,
            multiply_adds: work.multiply_adds / 100 * 1320,
            instructions: 1320 * 1700 * 4,
            special: work.special / 100 * 1320,
            ..work
        };
        let found = estimate(&H100, &many);
        assert_eq!((found.limit, found.waves), ("tensor cores, then issue", 10));
        close(found.total, 10.0 * 3748.0);
    }

    #[test]
    fn nothing_takes_no_time() {
        let found = estimate(&H100, &Work::default());
        assert_eq!((found.total, found.busy, found.waves), (0.0, 0.0, 0));
    }
}
