//! The test cases.

use croq_conformance::twins::{self, Outcome};
use croq_conformance::{atomics, products, warpgroups};
use croq_sys::abi::CROQ_CHECK;

use crate::compare::{near, same};
use crate::elements::{ALL, Element, Kind};

/// A device that runs test kernels.
pub trait Machine {
    fn name(&self) -> String;
    fn run(&self, text: &str, memory: &[Vec<u8>], numbers: &[i64]) -> Outcome;
}

pub struct Sim;

impl Machine for Sim {
    fn name(&self) -> String {
        "the simulated GPU".to_owned()
    }

    fn run(&self, text: &str, memory: &[Vec<u8>], numbers: &[i64]) -> Outcome {
        twins::on_sim(text, memory, numbers)
    }
}

pub struct Case {
    pub name: &'static str,
    pub run: fn(&dyn Machine),
}

pub fn all() -> Vec<Case> {
    let case = |name, run| Case { name, run };
    vec![
        case("conversions", conversions),
        case("arithmetic", arithmetic),
        case("exact_functions", exact_functions),
        case("math_library", math_library),
        case("updates", updates),
        case("block_barriers", block_barriers),
        case("named_barriers", named_barriers),
        case("agreement", agreement),
        case("warp_barriers", warp_barriers),
        case("threads_that_leave", threads_that_leave),
        case("ids", ids),
        case("plain_cuda", plain_cuda),
        case("shuffles_and_votes", shuffles_and_votes),
        case("wide_copies", wide_copies),
        case("asynchronous_copies", asynchronous_copies),
        case("matrices", matrices),
        case("products", products),
        case("products_of_warpgroups", products_of_warpgroups),
        case("atomics", atomic_operations),
        case("vector_sums", vector_sums),
        case("mbarriers", mbarriers),
        case("boxes", boxes),
        case("clusters", clusters),
        case("boxes_for_clusters", boxes_for_clusters),
        case("grids", grids),
        case("launch_limits", launch_limits),
        case("failed_check", failed_check),
        case("failed_check_among_waiters", failed_check_among_waiters),
    ]
}

/// The buffers after a kernel that succeeds, on the simulated GPU and on `machine`.
fn both(
    machine: &dyn Machine,
    text: &str,
    memory: &[Vec<u8>],
    numbers: &[i64],
) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let run = |machine: &dyn Machine| match machine.run(text, memory, numbers) {
        Ok(memory) => memory,
        Err(record) => panic!("{text} on {}: {record:?}", machine.name()),
    };
    (run(&Sim), run(machine))
}

const POISON: u8 = 0xa5;

fn conversions(machine: &dyn Machine) {
    for from in ALL {
        let inputs = from.inputs();
        let count = inputs.len() / from.bytes;
        for to in ALL {
            // The kernel's own bounds are those of eight bytes per element.
            let memory = [inputs.clone(), vec![POISON; count * 8]];
            let numbers = [count as i64, from.number, to.number];
            let (expected, found) = both(machine, "convert", &memory, &numbers);
            let what = format!("{} to {}", from.name, to.name);
            let used = count * to.bytes;
            same(to, &expected[1][..used], &found[1][..used], &what);
            assert_eq!(found[1][used..], memory[1][used..], "{what} writes too far");
            // The value 1 is equal in all types: every type must be changed.
            assert_ne!(expected[1], memory[1], "{what}");
        }
    }
}

fn arithmetic(machine: &dyn Machine) {
    for element in ALL {
        if element.kind == Kind::Bool {
            continue;
        }
        let count = 1 << 16;
        let a = element.random(count, 1);
        let b = element.random(count, 2);
        for op in 0..9 {
            let memory = [a.clone(), b.clone(), vec![POISON; count * element.bytes]];
            let numbers = [count as i64, element.number, op];
            let (expected, found) = both(machine, "compute", &memory, &numbers);
            let what = format!("operation {op} on {}", element.name);
            same(element, &expected[2], &found[2], &what);
            assert_ne!(expected[2], memory[2], "{what}");
        }
    }
}

/// The first 7 of `CONF_FUNCTIONS`, which IEEE 754 defines to the last bit.
fn exact_functions(machine: &dyn Machine) {
    for element in ALL.iter().take(6) {
        let inputs = element.inputs();
        let count = inputs.len() / element.bytes;
        for function in 0..7 {
            let memory = [inputs.clone(), vec![POISON; inputs.len()]];
            let numbers = [count as i64, element.number, function];
            let (expected, found) = both(machine, "math", &memory, &numbers);
            let what = format!("function {function} on {}", element.name);
            same(*element, &expected[1], &found[1], &what);
            assert_ne!(expected[1], memory[1], "{what}");
        }
    }
}

/// Number, name, range, the sum of the errors that the manuals of CUDA and the C library allow, in
/// units of f32's last place (including the error of a formula), and the additional error by
/// cancellation.
const LIBRARY: [(i64, &str, (f64, f64), f64, f64); 18] = [
    (7, "acos", (-1.0, 1.0), 4.0, 0.0),
    (8, "asin", (-1.0, 1.0), 4.0, 0.0),
    (9, "atan", (-20.0, 20.0), 4.0, 0.0),
    (10, "cos", (-30.0, 30.0), 4.0, 0.0),
    (11, "cosh", (-9.0, 9.0), 4.0, 0.0),
    (12, "exp", (-80.0, 80.0), 4.0, 0.0),
    (13, "exp2", (-100.0, 100.0), 4.0, 0.0),
    (14, "expm1", (-5.0, 5.0), 4.0, 0.0),
    // 1 + erf(x) cancels for negative x.
    (15, "gelu", (-4.0, 4.0), 8.0, 4.0),
    (16, "log", (1e-6, 1e6), 4.0, 0.0),
    (17, "log1p", (-0.99, 50.0), 4.0, 0.0),
    (18, "rsqrt", (1e-3, 1e3), 4.0, 0.0),
    (19, "sigmoid", (-60.0, 60.0), 8.0, 0.0),
    (20, "sin", (-30.0, 30.0), 4.0, 0.0),
    (21, "sinh", (-9.0, 9.0), 6.0, 0.0),
    (22, "softplus", (-60.0, 90.0), 8.0, 0.0),
    (23, "tan", (-1.5, 1.5), 6.0, 0.0),
    (24, "tanh", (-9.0, 9.0), 4.0, 0.0),
];

fn math_library(machine: &dyn Machine) {
    let count = 10_000;
    for element in ALL.iter().take(4) {
        let unit = if element.number == 0 {
            f64::EPSILON
        } else {
            f64::from(f32::EPSILON)
        };
        for (function, name, range, ulps, cancelled) in LIBRARY {
            let inputs = element.within(range, count);
            let memory = [inputs.clone(), vec![POISON; inputs.len()]];
            let numbers = [count as i64, element.number, function];
            let (expected, found) = both(machine, "math", &memory, &numbers);
            let what = format!("{name} on {}", element.name);
            // f16 and bf16 are computed in f32: an error of two neighbours at most.
            let ulps = if element.bytes == 2 { 1.0 } else { ulps };
            near(
                *element,
                &expected[1],
                &found[1],
                ulps,
                cancelled * unit,
                &what,
            );
            assert_ne!(expected[1], memory[1], "{what}");
        }
    }
}

const INT: Element = ALL[7];

fn ints(values: impl IntoIterator<Item = i32>) -> Vec<u8> {
    values.into_iter().flat_map(i32::to_le_bytes).collect()
}

/// A kernel over one buffer of integers.
fn integers(machine: &dyn Machine, text: &str, memory: Vec<u8>, numbers: &[i64]) {
    let memory = [memory];
    let (expected, found) = both(machine, text, &memory, numbers);
    same(INT, &expected[0], &found[0], text);
    assert_ne!(expected[0], memory[0], "{text} changes nothing");
}

fn updates(machine: &dyn Machine) {
    integers(machine, "updates", ints([100; 12]), &[]);
}

fn block_barriers(machine: &dyn Machine) {
    for threads in [2, 31, 32, 33, 64, 255, 256, 1000, 1024] {
        let blocks = 50;
        let numbers = [blocks, i64::from(threads), 5];
        integers(machine, "rotate", ints(0..threads * 50), &numbers);
    }
}

fn named_barriers(machine: &dyn Machine) {
    integers(machine, "named", ints(0..256), &[256, 5]);
}

fn agreement(machine: &dyn Machine) {
    for apart in [0, 40, 127, 1000] {
        integers(machine, "agree", ints([0; 128]), &[128, apart]);
    }
}

fn warp_barriers(machine: &dyn Machine) {
    integers(machine, "warps", ints(0..256), &[256, 3]);
}

fn threads_that_leave(machine: &dyn Machine) {
    // The barrier is one of the threads that have not exited.
    integers(machine, "leave", ints([0; 64]), &[64, 4]);
}

fn ids(machine: &dyn Machine) {
    for [x, y, z, threads] in [[2, 1, 1, 1], [7, 1, 1, 33], [3, 4, 5, 64], [2, 3, 1, 1024]] {
        let count = x * y * z * threads * 4;
        let memory = vec![1; count as usize * 4];
        integers(machine, "ids", memory, &[x, y, z, threads, 0, 0]);
    }
    // More shared memory than a kernel has without opting in.
    integers(
        machine,
        "ids",
        vec![1; 64 * 16],
        &[1, 1, 1, 64, 100 * 1024, 1],
    );
}

fn plain_cuda(machine: &dyn Machine) {
    let blocks = 20;
    let values: Vec<u8> = (0..blocks * 64)
        .flat_map(|i| (i as f32).to_le_bytes())
        .collect();
    let memory = [values, ints([0])];
    let (expected, found) = both(machine, "foreign", &memory, &[blocks]);
    same(INT, &expected[1], &found[1], "the count");
    assert_eq!(expected[1], ints([blocks as i32 * 64]));
    // A block accesses its own elements only, and reads all before it writes one.
    same(ALL[1], &expected[0], &found[0], "the reversed blocks");
}

fn shuffles_and_votes(machine: &dyn Machine) {
    integers(machine, "lanes", ints([-1; 40 * 8]), &[]);
}

fn wide_copies(machine: &dyn Machine) {
    let source: Vec<u8> = (0..1024u32).map(|i| (i * 7 + i / 256) as u8).collect();
    let memory = [vec![0xee; 1024], source];
    let (expected, found) = both(machine, "widths", &memory, &[1024]);
    assert_eq!(expected, found);
    assert_ne!(expected[0], memory[0]);
}

/// The order of copies before a wait depends on the device; these kernels wait for all that they
/// read.
fn asynchronous_copies(machine: &dyn Machine) {
    for width in [1, 2, 4, 8, 16] {
        let memory = [vec![POISON; 256], (0..=255).collect()];
        let (expected, found) = both(machine, "zfill", &memory, &[256, width]);
        assert_eq!(expected, found, "width {width}");
        assert_ne!(expected[0], memory[0]);
    }
    let memory = [ints([0; 2048]), ints((0..2048).map(|i| i * i))];
    let (expected, found) = both(machine, "ring", &memory, &[2048, 0]);
    assert_eq!(expected, found);
    assert_ne!(expected[0], memory[0]);
}

/// Stores need sm_90.
fn matrices(machine: &dyn Machine) {
    for which in 0..6 {
        integers(machine, "load_matrices", ints([-1; 768]), &[768, which]);
        integers(machine, "store_matrices", ints([-1; 768]), &[768, which]);
    }
}

/// The returned values depend on the order of the threads; that no operation is lost does not.
fn atomic_operations(machine: &dyn Machine) {
    for atomic in atomics::all() {
        let (sim, other) = both(machine, "atomics", &atomic.memory(), &atomic.numbers());
        atomic.check(&sim);
        atomic.check(&other);
    }
}

fn vector_sums(machine: &dyn Machine) {
    for sums in atomics::vectors() {
        let (sim, other) = both(machine, "vector_sums", &sums.memory(), &sums.numbers());
        sums.check(&sim);
        sums.check(&other);
    }
}

/// With numbers whose sums are exact in every type, so that the order of the additions has no
/// effect. MMAs of f8 need sm_89, wide ones of f64 sm_90.
fn products(machine: &dyn Machine) {
    integers(machine, "into_fragments", ints([-1; 256]), &[256, 0]);
    for (which, product) in products::all().into_iter().enumerate() {
        let memory = product.inputs();
        let (expected, found) = both(machine, "multiply", &memory, &[which as i64]);
        assert_eq!(expected, found, "{product:?}");
        assert_ne!(expected[0], memory[0], "{product:?}");
    }
}

/// The same for MMAs by a warpgroup, which need sm_90a: in every layout of the operands.
fn products_of_warpgroups(machine: &dyn Machine) {
    for (which, product) in warpgroups::all().iter().enumerate() {
        for setting in warpgroups::settings(product) {
            let memory = product.memory(&setting);
            let numbers = product.numbers(which, &setting, &memory);
            let (expected, found) = both(machine, "warpgroup", &memory, &numbers);
            assert_eq!(expected[0], found[0], "{product:?}, {setting:?}");
            assert_ne!(expected[0], memory[0], "{product:?}, {setting:?}");
        }
    }
}

fn mbarriers(machine: &dyn Machine) {
    integers(machine, "phases", ints([-1; 64]), &[64, 0]);
    for slots in 1..=4 {
        integers(machine, "pipeline", ints([-1; 64]), &[64, slots]);
    }
}

/// Needs the tensor TMA of sm_90.
fn boxes(machine: &dyn Machine) {
    let bytes = |count: u32| (0..count).map(|i| (i.wrapping_mul(0x9e37_79b1) >> 13) as u8);
    let tensor: Vec<u8> = bytes(65536).collect();
    // Rank, element bytes, extents, strides and box without a swizzle.
    let kinds: [(i64, i64, [i64; 5], [i64; 5], [i64; 5]); 5] = [
        (1, 4, [77, 1, 1, 1, 1], [1; 5], [36, 1, 1, 1, 1]),
        (
            2,
            2,
            [100, 50, 1, 1, 1],
            [1, 104, 1, 1, 1],
            [48, 20, 1, 1, 1],
        ),
        (3, 2, [20, 9, 7, 1, 1], [1, 24, 224, 1, 1], [16, 4, 5, 1, 1]),
        (4, 4, [10, 5, 4, 3, 1], [1, 12, 60, 240, 1], [8, 3, 3, 2, 1]),
        (
            5,
            1,
            [30, 5, 4, 3, 3],
            [1, 32, 160, 640, 1920],
            [16, 3, 3, 2, 2],
        ),
    ];
    for (rank, element, extents, strides, mut box_) in kinds {
        for swizzle in [0, 32, 64, 128] {
            if swizzle != 0 {
                box_[0] = swizzle / element;
            }
            for at in [[0; 5], [-5, -2, -1, 1, 2], [24, 4, 3, 2, 1], [1000; 5]] {
                let bytes = element * box_[..rank as usize].iter().product::<i64>();
                let mut numbers = vec![rank, element, swizzle];
                numbers.extend([extents, strides, box_, at].concat());
                numbers.push(bytes);
                let what = format!("rank {rank}, swizzle {swizzle}, at {at:?}");
                let memory = [vec![POISON; 32768], tensor.clone()];
                let (expected, found) = both(machine, "tma_load", &memory, &numbers);
                assert!(expected == found, "load of {what}");
                assert_ne!(expected[0], memory[0]);
                if at.iter().any(|at| *at < 0) {
                    // CUDA allows negative coordinates for loads only.
                    continue;
                }
                let memory = [vec![POISON; 65536], tensor[..32768].to_vec()];
                let (expected, found) = both(machine, "tma_store", &memory, &numbers);
                assert!(expected == found, "store of {what}");
            }
        }
    }
    let memory = [ints([0; 64]), ints(0..4096)];
    let (expected, found) = both(machine, "ring_of_boxes", &memory, &[128, 16]);
    assert_eq!(expected, found);
    assert_ne!(expected[0], memory[0]);
}

/// Illegal launches are reported with the same text.
fn clusters(machine: &dyn Machine) {
    for of in [
        [6, 1, 1, 2, 1, 1],
        [6, 4, 2, 3, 2, 1],
        [4, 4, 6, 1, 2, 3],
        [16, 1, 1, 8, 1, 1],
    ] {
        let blocks: i64 = of[..3].iter().product();
        let numbers = [&of[..], &[1]].concat();
        integers(
            machine,
            "members",
            ints(vec![0; blocks as usize * 4]),
            &numbers,
        );
    }
    for numbers in [[2, 2, 3], [8, 4, 2], [12, 3, 4], [16, 8, 2]] {
        let [blocks, size, _] = numbers;
        let memory = [
            vec![POISON; blocks as usize * 192],
            vec![POISON; blocks as usize * 192],
        ];
        let (expected, found) = both(machine, "gather", &memory, &numbers);
        same(INT, &expected[1], &found[1], "gather");
        let memory = ints(vec![0; (blocks / size) as usize * 256]);
        integers(machine, "baton", memory, &numbers);
    }
}

fn grids(machine: &dyn Machine) {
    for numbers in [
        [1, 1, 1, 64, 3],
        [40, 1, 1, 33, 4],
        [5, 3, 2, 64, 20],
        [132, 1, 1, 64, 50],
    ] {
        let threads: i64 = numbers[..4].iter().product();
        let memory = [
            vec![POISON; threads as usize * 4],
            vec![POISON; threads as usize * 4],
        ];
        let (expected, found) = both(machine, "rounds", &memory, &numbers);
        same(INT, &expected[1], &found[1], "rounds");
    }
}

fn boxes_for_clusters(machine: &dyn Machine) {
    let source = ints(1..=8192);
    for (blocks, size, mask) in [
        (2, 2, 3),
        (4, 4, 15),
        (8, 4, 0b1010),
        (4, 2, 1),
        (8, 8, 255),
    ] {
        let memory = [vec![POISON; blocks * 3 * 2048], source.clone()];
        let numbers = [256, blocks as i64, size, mask, 3];
        let (expected, found) = both(machine, "boxes_for_all", &memory, &numbers);
        same(INT, &expected[0], &found[0], "boxes_for_all");
        assert_ne!(expected[0], memory[0]);
    }
    for rank in 1..=5 {
        let memory = [vec![POISON; 512], source.clone()];
        let (expected, found) = both(machine, "box_for_both", &memory, &[rank]);
        same(INT, &expected[0], &found[0], "box_for_both");
        assert_ne!(expected[0], memory[0]);
    }
}

fn launch_limits(machine: &dyn Machine) {
    for numbers in [
        [1i64 << 31, 1, 1, 1, 0, 0],
        [1, 65536, 1, 1, 0, 0],
        [1, 1, 65536, 1, 0, 0],
        [1, 1, 1, 1025, 0, 0],
        [1, 1, 1, 32, 228 * 1024, 0],
    ] {
        let memory = [vec![0; 16]];
        let expected = Sim.run("ids", &memory, &numbers).expect_err("refused");
        let found = machine.run("ids", &memory, &numbers).expect_err("refused");
        assert_eq!(
            (found.kind, found.what(), found.values()),
            (expected.kind, expected.what(), expected.values())
        );
    }
}

fn failed_check(machine: &dyn Machine) {
    let record = machine
        .run("checks", &[ints([0; 32])], &[32, 9])
        .expect_err("threads from the ninth on");
    assert_eq!(
        (record.kind, record.check, record.line),
        (CROQ_CHECK, 5, 56)
    );
    // Any thread may be the first.
    let [thread, limit, third] = record.values() else {
        panic!("three values, not {:?}", record.values())
    };
    assert_eq!((i64::from(record.thread), 9, 2), (*thread, *limit, *third));
    assert!((9..32).contains(&record.thread));
}

fn failed_check_among_waiters(machine: &dyn Machine) {
    let record = machine
        .run("stop_among_waiters", &[ints([0])], &[1, 33])
        .expect_err("thread 33");
    assert_eq!(
        (record.kind, record.check, record.line),
        (CROQ_CHECK, 2, 94)
    );
    assert_eq!((record.thread, record.values()), (33, &[33][..]));
    assert!(record.block[0] < 4);
}
