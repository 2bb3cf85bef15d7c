//! TMA copies of boxes on the simulated GPU, compared element by element with a table, and reports.

use croq_conformance::{Failed, call_in};
use croq_sys::abi::{CROQ_CHECK, CROQ_HAZARD, croq_env};
use croq_sys::sim::Run;

type Rows = unsafe extern "C" fn(*const croq_env, *mut i32, *mut i32, i64, i64) -> u32;

unsafe extern "C" {
    fn conf_tma_load(e: *const croq_env, data: *mut u8, src: *const u8, numbers: *const i64)
    -> u32;
    fn conf_tma_store(
        e: *const croq_env,
        data: *mut u8,
        src: *const u8,
        numbers: *const i64,
    ) -> u32;
    fn conf_swizzle(width: i64, at: i64) -> i64;
    fn conf_swizzled(width: i64, row: i64, byte: i64, rows: i64) -> i64;
    fn conf_ring_of_boxes(e: *const croq_env, d: *mut i32, rows: *mut i32, n: i64, at: i64) -> u32;
    fn conf_groups_of_stores(
        e: *const croq_env,
        d: *mut i32,
        rows: *mut i32,
        n: i64,
        at: i64,
    ) -> u32;
    fn conf_misused_boxes(e: *const croq_env, d: *mut i32, rows: *mut i32, n: i64, at: i64) -> u32;
}

/// Device memory with CUDA's alignment.
#[repr(align(1024))]
struct Device<T, const N: usize>([T; N]);

/// The sizes of device memory, and of the shared memory that a test compares.
const GLOBAL: usize = 65536;
const SHARED: usize = 32768;

/// As read by the shims.
#[derive(Clone, Copy, Debug)]
struct Request {
    rank: usize,
    element: usize,
    swizzle: usize,
    extents: [i64; 5],
    strides: [i64; 5],
    box_: [i64; 5],
    at: [i64; 5],
    expected: i64,
}

impl Request {
    fn numbers(&self) -> Vec<i64> {
        let mut numbers = vec![self.rank as i64, self.element as i64, self.swizzle as i64];
        for list in [self.extents, self.strides, self.box_, self.at] {
            numbers.extend(list);
        }
        numbers.push(self.expected);
        numbers
    }

    fn elements(&self) -> usize {
        self.box_[..self.rank].iter().product::<i64>() as usize
    }

    /// For each element of the box: its offset in shared memory, and in the tensor if it is inside.
    fn places(&self) -> Vec<(usize, Option<usize>)> {
        let mut places = Vec::new();
        for element in 0..self.elements() {
            let mut rest = element as i64;
            let mut inside = true;
            let mut from = 0;
            for d in 0..self.rank {
                let at = self.at[d] + rest % self.box_[d];
                rest /= self.box_[d];
                inside &= (0..self.extents[d]).contains(&at);
                from += at * self.strides[d];
            }
            let to = stored(self.swizzle, element * self.element);
            places.push((to, inside.then(|| from as usize * self.element)));
        }
        places
    }
}

/// The swizzled offset of a byte, by the tables of the PTX ISA ("swizzling modes"): for each line
/// of 128 bytes, the order of the eight units of 16 bytes.
fn stored(swizzle: usize, byte: usize) -> usize {
    let table: &[[usize; 8]] = &[
        [0, 1, 2, 3, 4, 5, 6, 7],
        [1, 0, 3, 2, 5, 4, 7, 6],
        [2, 3, 0, 1, 6, 7, 4, 5],
        [3, 2, 1, 0, 7, 6, 5, 4],
        [4, 5, 6, 7, 0, 1, 2, 3],
        [5, 4, 7, 6, 1, 0, 3, 2],
        [6, 7, 4, 5, 2, 3, 0, 1],
        [7, 6, 5, 4, 3, 2, 1, 0],
    ];
    let lines = match swizzle {
        128 => 8,
        64 => 4,
        32 => 2,
        _ => 1,
    };
    let (line, unit) = (byte / 128, byte % 128 / 16);
    let place = table[line % lines].iter().position(|&u| u == unit);
    line * 128 + place.expect("each stands somewhere") * 16 + byte % 16
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, end: i64) -> i64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % end as u64) as i64
    }

    /// A tensor and a box of it, somewhere: inside, across an edge, or outside.
    fn request(&mut self, rank: usize, element: usize, swizzle: usize) -> Request {
        let unit = (16 / element) as i64;
        let mut r = Request {
            rank,
            element,
            swizzle,
            extents: [1; 5],
            strides: [1; 5],
            box_: [1; 5],
            at: [0; 5],
            expected: 0,
        };
        let most = [0, 256, 20, 8, 5, 4][rank];
        r.box_[0] = match swizzle {
            0 => unit * (1 + self.below(6)),
            _ => (swizzle / element) as i64,
        };
        r.extents[0] = 1 + self.below(2 * r.box_[0]);
        for d in 1..rank {
            r.box_[d] = 1 + self.below(most);
            r.extents[d] = 1 + self.below(most);
            let dense = r.strides[d - 1] * r.extents[d - 1];
            r.strides[d] = (dense + unit - 1) / unit * unit + unit * self.below(2);
        }
        for d in 0..rank {
            r.at[d] = match self.below(3) {
                0 => 0,
                _ => self.below(r.extents[d] + r.box_[d] + 2) - r.box_[d] - 1,
            };
        }
        r.expected = (r.elements() * element) as i64;
        r
    }
}

/// The types for which the shims are compiled.
const KINDS: [(usize, usize); 8] = [
    (1, 4),
    (2, 1),
    (2, 2),
    (2, 4),
    (2, 8),
    (3, 2),
    (4, 4),
    (5, 1),
];

fn requests() -> Vec<Request> {
    let mut random = Random(7);
    let mut requests = Vec::new();
    for (rank, element) in KINDS {
        for swizzle in [0, 32, 64, 128] {
            for _ in 0..40 {
                let r = random.request(rank, element, swizzle);
                let reach: i64 = (0..rank).map(|d| r.extents[d] * r.strides[d]).sum();
                let fits = r.expected as usize <= SHARED;
                if fits && reach as usize * element <= GLOBAL {
                    requests.push(r);
                }
            }
        }
    }
    assert!(requests.len() > 1000, "{}", requests.len());
    requests
}

fn pattern(i: usize) -> u8 {
    (i.wrapping_mul(0x9e37_79b1) >> 13) as u8
}

#[test]
fn the_swizzle_of_device_text_is_that_of_the_tables() {
    for width in [0, 32, 64, 128] {
        for at in 0..8192 {
            // SAFETY: arithmetic.
            let found = unsafe { conf_swizzle(width, at) };
            assert_eq!(found as usize, stored(width as usize, at as usize));
            // SAFETY: arithmetic.
            assert_eq!(unsafe { conf_swizzle(width, found) }, at);
        }
    }
    // A tile of several groups: each is stored like a tile of its own, after the previous one.
    for width in [32, 64, 128] {
        for (row, byte, rows) in [(0, 0, 8), (5, 17, 8), (3, 200, 24), (23, 511, 24)] {
            let before = byte / width * rows * width;
            let within = row * width + byte % width;
            // SAFETY: arithmetic.
            let found = unsafe { conf_swizzled(width, row, byte, rows) };
            let group = stored(width as usize, (before + within) as usize);
            assert_eq!(found as usize, group, "{width}: {row}, {byte}");
        }
    }
}

#[test]
fn a_load_brings_the_box_and_zeros_for_what_is_outside() {
    let source = Box::new(Device(std::array::from_fn::<u8, GLOBAL, _>(pattern)));
    let mut edges = 0;
    for (seed, request) in requests().into_iter().enumerate() {
        let mut found = Box::new(Device([0u8; SHARED]));
        let numbers = request.numbers();
        // SAFETY: the shim binds both with these sizes.
        call_in(&Run::seeded(seed as u64 % 3), |env| unsafe {
            conf_tma_load(
                env,
                found.0.as_mut_ptr(),
                source.0.as_ptr(),
                numbers.as_ptr(),
            )
        })
        .unwrap_or_else(|failed| panic!("{request:?}: {failed:?}"));
        let mut expected = vec![0xee; SHARED];
        let places = request.places();
        for &(to, from) in &places {
            for byte in 0..request.element {
                expected[to + byte] = from.map_or(0, |from| source.0[from + byte]);
            }
        }
        assert!(found.0[..] == expected[..], "{request:?}");
        let inside = places.iter().filter(|(_, from)| from.is_some()).count();
        edges += usize::from(inside != 0 && inside != places.len());
    }
    assert!(edges > 300, "{edges}");
}

#[test]
fn a_store_writes_what_is_inside_and_nothing_else() {
    let source = Box::new(Device(std::array::from_fn::<u8, SHARED, _>(pattern)));
    for (seed, mut request) in requests().into_iter().enumerate() {
        // Only loads may begin before the tensor.
        request.at = request.at.map(|at| at.max(0));
        let mut found = Box::new(Device([0x77u8; GLOBAL]));
        let numbers = request.numbers();
        // SAFETY: the shim binds both with these sizes.
        call_in(&Run::seeded(seed as u64 % 3), |env| unsafe {
            conf_tma_store(
                env,
                found.0.as_mut_ptr(),
                source.0.as_ptr(),
                numbers.as_ptr(),
            )
        })
        .unwrap_or_else(|failed| panic!("{request:?}: {failed:?}"));
        let mut expected = vec![0x77; GLOBAL];
        for (at, to) in request.places() {
            if let Some(to) = to {
                expected[to..to + request.element]
                    .copy_from_slice(&source.0[at..at + request.element]);
            }
        }
        assert!(found.0[..] == expected[..], "{request:?}");
    }
}

/// The result of the shim for 128 rows of 32 ints.
fn rows(shim: Rows, seed: u64, at: i64) -> Result<(Vec<i32>, Vec<i32>), Failed> {
    let mut rows = Box::new(Device(std::array::from_fn::<i32, 4096, _>(|i| i as i32)));
    let mut data = Device([0i32; 64]);
    // SAFETY: the shims bind both with these sizes.
    call_in(&Run::seeded(seed), |env| unsafe {
        shim(env, data.0.as_mut_ptr(), rows.0.as_mut_ptr(), 128, at)
    })?;
    Ok((data.0.to_vec(), rows.0.to_vec()))
}

#[test]
fn boxes_go_round_a_ring_in_every_order() {
    for seed in 0..20 {
        let (found, _) = rows(conf_ring_of_boxes, seed, 16).expect("nobody is stuck");
        for (thread, &found) in found.iter().enumerate() {
            let sum: usize = (0..16)
                .flat_map(|k| (0..4).map(move |i| k * 256 + thread * 4 + i))
                .sum();
            assert_eq!(found as usize, sum, "{seed}");
        }
    }
}

#[test]
fn a_wait_for_reads_leaves_the_youngest_groups() {
    for seed in 0..10 {
        for what in [0, 2, 4] {
            let outcome = rows(conf_groups_of_stores, seed, what);
            if what == 4 {
                let failed = outcome.expect_err("the second group was not waited for");
                assert_eq!(
                    failed.report.as_deref(),
                    Some(
                        "unfinished copy in groups_of_stores_0: a thread left the kernel without \
                         waiting until its store had been read\n  \
                         thread 0 began the copy, tma.co:120"
                    )
                );
                continue;
            }
            let (_, rows) = outcome.expect("waits");
            let expected: Vec<i32> = (0..4096).collect();
            assert!(rows == expected, "what was stored is what was there");
        }
        for (what, at, line, began) in [(1, 0, 123, 118), (3, 511, 127, 120)] {
            let failed = rows(conf_groups_of_stores, seed, what).expect_err("is too soon");
            assert_eq!(
                failed.report,
                Some(format!(
                    "race in groups_of_stores_0: `s`[{at}] is written while a copy from it is in flight\n  thread 0 writes it, tma.co:{line}\n  \
                     thread 0 began the copy, tma.co:{began}"
                ))
            );
        }
    }
}

#[test]
fn misuse_is_told_with_its_lines() {
    rows(conf_misused_boxes, 0, 0).expect("all have fenced");
    rows(conf_misused_boxes, 0, 12).expect("is right");
    let began = "\n  thread 0 began the copy, tma.co:157";
    let barrier = "\n  thread 0 initialised it, tma.co:140";
    for (what, report) in [
        (
            1,
            "race in misused_boxes_0: `s`[0] may not be seen by the async proxy\n  \
             thread 0 has the async proxy read it, tma.co:149\n  \
             thread 0 wrote it, and has executed no fence_proxy_async since, tma.co:145"
                .to_owned(),
        ),
        (
            2,
            "race in misused_boxes_0: what lies 32 bytes behind `s`[0] may not be seen by the async \
             proxy\n  thread 0 has the async proxy read it, tma.co:149\n  \
             thread 1 wrote it, and has executed no fence_proxy_async since, tma.co:145"
                .to_owned(),
        ),
        (
            3,
            format!(
                "wrong byte count in misused_boxes_0: mbarrier `b`[0], phase 0: 24 bytes are too \
                 many, and no copy is in flight\n  thread 0 announced bytes, tma.co:156{began}\
                 {barrier}"
            ),
        ),
        (
            4,
            format!(
                "wrong byte count in misused_boxes_0: mbarrier `b`[0], phase 0: 16 bytes are \
                 missing, and no copy is in flight\n  thread 0 announced bytes, tma.co:156{barrier}"
            ),
        ),
        (
            5,
            format!(
                "error in misused_boxes_0: mbarrier `b`[0] was initialised without \
                 fence_mbarrier_init: a copy may not see it\n  \
                 thread 0 lets a copy arrive there, tma.co:157{barrier}"
            ),
        ),
        (
            6,
            format!(
                "error in misused_boxes_0: `s`[16] is not at a multiple of 128 bytes, as a box with \
                 swizzle 0 must be{began}"
            ),
        ),
        (
            7,
            format!(
                "error in misused_boxes_0: `s`[32] is not at a multiple of 1024 bytes, as a box \
                 with swizzle 128 must be{began}"
            ),
        ),
        (
            8,
            format!(
                "error in misused_boxes_0: a box's coordinate is 2147483648: they have 32 bits\
                 {began}"
            ),
        ),
        (
            9,
            format!(
                "race in misused_boxes_0: `s`[0] is the destination of two copies at once\n  \
                 thread 0 begins a copy into it, tma.co:159{began}"
            ),
        ),
        (
            10,
            "race in misused_boxes_0: `s`[0] is written by one thread and read by another, and no \
             barrier or event orders the two\n  \
             thread 0 writes it, tma.co:157\n  thread 31 read it, tma.co:162"
                .to_owned(),
        ),
        (
            11,
            format!(
                "unfinished copy in misused_boxes_0: all threads left the kernel while a copy was in flight{began}"
            ),
        ),
        (
            13,
            "error in misused_boxes_0: a box at the coordinate -1 is stored: it begins before the tensor\n  \
             thread 0 began the copy, tma.co:149"
                .to_owned(),
        ),
    ] {
        let failed = rows(conf_misused_boxes, 0, what).expect_err("is wrong");
        assert_eq!(failed.record.kind, CROQ_HAZARD);
        assert_eq!(failed.report, Some(report), "{what}");
    }
}

#[test]
fn a_tensor_map_that_the_hardware_refuses_is_refused() {
    let good = Request {
        rank: 2,
        element: 2,
        swizzle: 64,
        extents: [100, 50, 1, 1, 1],
        strides: [1, 104, 1, 1, 1],
        box_: [32, 8, 1, 1, 1],
        at: [0; 5],
        expected: 512,
    };
    let outcome = |request: Request, shift: usize| {
        let source = Box::new(Device([0u8; GLOBAL + 16]));
        let mut data = Box::new(Device([0u8; SHARED]));
        let numbers = request.numbers();
        // SAFETY: the shim binds both with these sizes.
        call_in(&Run::new(), |env| unsafe {
            conf_tma_load(
                env,
                data.0.as_mut_ptr(),
                source.0.as_ptr().add(shift),
                numbers.as_ptr(),
            )
        })
    };
    outcome(good, 0).expect("is right");
    let with = |change: fn(&mut Request)| {
        let mut request = good;
        change(&mut request);
        request
    };
    for (request, shift, what, values) in [
        (good, 8, "not at a multiple of 16 bytes", [0, 0]),
        (
            with(|r| r.strides[0] = 2),
            0,
            "innermost elements are apart",
            [0, 2],
        ),
        (
            with(|r| r.extents[1] = 0),
            0,
            "extent not in 1..2^31-1",
            [1, 0],
        ),
        (
            with(|r| r.extents[1] = 1 << 31),
            0,
            "extent not in 1..2^31-1",
            [1, 1 << 31],
        ),
        (with(|r| r.box_[1] = 257), 0, "box not in 1..256", [1, 257]),
        (with(|r| r.box_[1] = 0), 0, "box not in 1..256", [1, 0]),
        (
            with(|r| r.strides[1] = 100),
            0,
            "stride not a multiple of 16 bytes",
            [1, 200],
        ),
        (
            with(|r| r.strides[1] = 1 << 39),
            0,
            "stride not below 2^40 bytes",
            [1, 1 << 39],
        ),
        (
            with(|r| r.box_[0] = 30),
            0,
            "inner box not a multiple of 16 bytes",
            [0, 60],
        ),
        (
            with(|r| r.box_[0] = 64),
            0,
            "inner box is not as wide as the swizzle",
            [0, 128],
        ),
        (
            with(|r| r.swizzle = 16),
            0,
            "swizzle is not 0, 32, 64 or 128",
            [0, 16],
        ),
        (
            with(|r| r.extents[1] = 1000),
            0,
            "reaches beyond the buffer",
            [103_995, 32768],
        ),
    ] {
        let record = outcome(request, shift).expect_err(what).record;
        assert_eq!((record.kind, record.line), (CROQ_CHECK, 7));
        assert_eq!(record.what(), format!("tensor map: {what}"));
        assert_eq!(record.values(), values, "{what}");
    }
}
