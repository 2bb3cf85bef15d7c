//! Kernels of croq that nvcc compiled, against plain Rust, in every mode.

use croq_ptx::machine::tensor_map::{DataType, Swizzle, TensorMap};
use croq_ptx::machine::{Launch, Machine};

use crate::{MODES, words};

fn text(name: &str) -> String {
    let path = format!("{}/kernels/{name}.ptx", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap()
}

fn machine(name: &str) -> Machine {
    Machine::load(&text(name)).unwrap_or_else(|error| panic!("{error}"))
}

/// A buffer with these words.
fn upload(machine: &mut Machine, name: &str, words: &[u32]) -> u64 {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let address = machine.allocate(name, bytes.len());
    machine.write(address, &bytes).unwrap();
    address
}

fn download(machine: &Machine, address: u64, count: usize) -> Vec<u32> {
    words(machine.read(address, count * 4).unwrap())
}

/// Croq's kernels begin with their context.
fn run(machine: &mut Machine, entry: &str, launch: Launch, arguments: &[&[u8]]) {
    let all: Vec<&[u8]> = [&[0; 16][..]]
        .into_iter()
        .chain(arguments.iter().copied())
        .collect();
    machine
        .launch(entry, &launch, &all)
        .unwrap_or_else(|report| panic!("{report}"));
}

fn matrix(address: u64, data_type: DataType, extents: [u64; 2], boxes: [u32; 2]) -> TensorMap {
    TensorMap {
        data_type,
        rank: 2,
        address,
        extents: [extents[0], extents[1], 1, 1, 1],
        strides: [extents[0] * data_type.bytes(), 0, 0, 0],
        box_extents: [boxes[0], boxes[1], 1, 1, 1],
        element_strides: [1; 5],
        ..TensorMap::default()
    }
}

fn launches(
    grid: [u32; 3],
    threads: u32,
    cluster: Option<[u32; 3]>,
) -> impl Iterator<Item = Launch> {
    MODES.into_iter().flat_map(move |mode| {
        (0..4).map(move |seed| Launch {
            grid,
            block: [threads, 1, 1],
            dynamic_shared: 32768,
            cluster,
            asynchrony: mode,
            seed,
            ..Launch::default()
        })
    })
}

/// Tiles of 16 by 32 of a matrix of 40 by 72, doubled.
#[test]
fn tiles_go_there_and_back() {
    for launch in launches([3, 3, 1], 128, None) {
        let mut machine = machine("tma_there_and_back");
        let values: Vec<u32> = (0..40 * 72_u16).map(|at| f32::from(at).to_bits()).collect();
        let source = upload(&mut machine, "src", &values);
        let target = upload(&mut machine, "dst", &vec![7; 40 * 72]);
        let map = |address| matrix(address, DataType::F32, [72, 40], [32, 16]).encode();
        let maps = [map(source), map(target)];
        run(
            &mut machine,
            "tma_there_and_back",
            launch,
            &[&maps[0], &maps[1]],
        );
        for (at, word) in (0_u16..).zip(download(&machine, target, 40 * 72)) {
            assert_eq!(f32::from_bits(word), f32::from(at) * 2.0);
        }
    }
}

/// Two tiles, one after the other; the loads begin at columns that depend on the iteration.
#[test]
fn tiles_change_places() {
    let extent = 200;
    for launch in launches([4, 1, 1], 64, None) {
        let mut machine = machine("tma_ring");
        let values: Vec<u32> = (0..extent as u32).map(|at| at * at + 3).collect();
        let source = upload(&mut machine, "src", &values);
        let target = upload(&mut machine, "dst", &vec![7; extent]);
        let map = TensorMap {
            rank: 1,
            ..matrix(source, DataType::S32, [extent as u64, 1], [64, 1])
        };
        let arguments: [&[u8]; 3] = [
            &map.encode(),
            &target.to_le_bytes(),
            &(extent as u64).to_le_bytes(),
        ];
        run(&mut machine, "tma_ring", launch, &arguments);
        let at = |index: usize| values.get(index).copied().unwrap_or(0);
        for (index, word) in download(&machine, target, extent).into_iter().enumerate() {
            let (p, t) = (index / 64, index % 64);
            let starts = (0..8).map(|k| (p * 64 + (k + 1) * 32) % extent / 4 * 4);
            let sum: u32 = starts.map(|start| at(start + 63 - t)).sum();
            assert_eq!(word, sum + at(p * 64 + 63 - t), "{index}");
        }
    }
}

/// A tile for both blocks of a cluster, again and again at the same place.
#[test]
fn pairs_of_blocks_share_tiles() {
    let (m, k) = (32, 24);
    for launch in launches([4, 1, 1], 64, Some([2, 1, 1])) {
        let mut machine = machine("multicast_pairs");
        let values = |count: u32, factor: u32| (0..count).map(|at| at * factor % 1009).collect();
        let (x, y): (Vec<u32>, Vec<u32>) = (values(m * 64, 7), values(k * 64, 31));
        let addresses = [
            upload(&mut machine, "x", &x),
            upload(&mut machine, "y", &y),
            upload(&mut machine, "dst", &vec![7; x.len()]),
        ];
        let map = |index: usize, rows: u32| {
            matrix(addresses[index], DataType::S32, [64, rows.into()], [64, 8]).encode()
        };
        let maps = [map(0, m), map(1, k), map(2, m)];
        let extent = u64::from(k).to_le_bytes();
        // The maps are in the order in which the kernel uses them.
        let arguments: [&[u8]; 4] = [&maps[1], &maps[0], &maps[2], &extent];
        run(&mut machine, "multicast_pairs", launch, &arguments);
        for (at, word) in download(&machine, addresses[2], x.len())
            .into_iter()
            .enumerate()
        {
            let (row, column) = (at / 64, at % 64);
            let mut sum = 0_u32;
            for tile in 0..k as usize / 8 {
                let other = y[(tile * 8 + 7 - row % 8) * 64 + 63 - column];
                sum = sum.wrapping_mul(3).wrapping_add(other);
            }
            let expected = sum.wrapping_sub(x[at]).wrapping_add(row as u32 / 8 % 2);
            assert_eq!(word, expected, "{at}");
        }
    }
}

/// The map of the source for `multicast_swizzled`, and the address of its result.
fn swizzled(machine: &mut Machine) -> ([u8; 128], u64) {
    let values: Vec<u32> = (0..32 * 32)
        .map(|at| (at * 2) | ((at * 2 + 1) << 16))
        .collect();
    let source = upload(machine, "x", &values);
    let target = upload(machine, "dst", &vec![7; values.len()]);
    let map = TensorMap {
        swizzle: Swizzle::Bytes128,
        ..matrix(source, DataType::F16, [64, 32], [64, 16])
    };
    (map.encode(), target)
}

/// Rows of 128 bytes, swizzled, which threads read in the other order.
#[test]
fn swizzled_tiles_are_shared() {
    for launch in launches([4, 1, 1], 1, Some([2, 1, 1])) {
        let mut machine = machine("multicast_swizzled");
        let (map, target) = swizzled(&mut machine);
        let arguments: [&[u8]; 2] = [&map, &target.to_le_bytes()];
        run(&mut machine, "multicast_swizzled", launch, &arguments);
        for (at, word) in download(&machine, target, 32 * 32).into_iter().enumerate() {
            for (half, found) in [(0, word & 0xffff), (1, word >> 16)] {
                let (row, column) = (at / 32, at % 32 * 2 + half);
                let from = row / 16 * 16 + 15 - row % 8 - row / 8 % 2 * 8;
                assert_eq!(found as usize, from * 64 + 63 - column, "{row} {column}");
            }
        }
    }
}

/// Without the barrier that croq appends to such kernels, the block that loads may exit before the
/// other one has the tile.
#[test]
fn the_last_barrier_of_clusters_is_needed() {
    let text = text("multicast_swizzled");
    let (before, after) = text.rsplit_once("barrier.cluster.wait.acquire;").unwrap();
    let (start, between) = before
        .rsplit_once("barrier.cluster.arrive.release;")
        .unwrap();
    let text = format!("{start}{between}{after}");
    for launch in launches([4, 1, 1], 1, Some([2, 1, 1])) {
        let mut machine = Machine::load(&text).unwrap_or_else(|error| panic!("{error}"));
        let (map, target) = swizzled(&mut machine);
        let arguments: [&[u8]; 3] = [&[0; 16], &map, &target.to_le_bytes()];
        let found = machine.launch("multicast_swizzled", &launch, &arguments);
        let message = found.unwrap_err().message;
        assert!(message.contains("exits"), "{message}");
    }
}

/// Small copies, two tiles ahead, with zeros beyond the edges.
#[test]
fn columns_are_summed_in_a_stream() {
    let (m, n) = (50_u16, 130_u16);
    for launch in launches([3, 1, 1], 64, None) {
        let mut machine = machine("column_sum_streamed");
        let value = |at: u16| f32::from(at % 251);
        let values: Vec<u32> = (0..m * n).map(|at| value(at).to_bits()).collect();
        let source = upload(&mut machine, "src", &values);
        let target = upload(&mut machine, "out", &vec![7; n.into()]);
        let arguments = [source, target, m.into(), n.into()].map(u64::to_le_bytes);
        let arguments: Vec<&[u8]> = arguments.iter().map(|word| &word[..]).collect();
        run(&mut machine, "column_sum_streamed", launch, &arguments);
        for (column, word) in (0..n).zip(download(&machine, target, n.into())) {
            let sum: f32 = (0..m).map(|row| value(row * n + column)).sum();
            assert_eq!(f32::from_bits(word), sum, "{column}");
        }
    }
}

/// f16 of a small integer.
fn half(value: i32) -> u16 {
    if value == 0 {
        return 0;
    }
    let magnitude = value.unsigned_abs();
    let exponent = 31 - magnitude.leading_zeros();
    let fraction = ((magnitude << 10) >> exponent) & 0x3ff;
    let bits = ((exponent + 15) << 10) | fraction;
    (bits | (u32::from(value < 0) << 15)) as u16
}

/// A ring of four slots between a warpgroup that loads and one that multiplies; with edges along
/// every extent.
#[test]
fn products_of_tiles_in_a_ring() {
    let (m, n, k) = (100_usize, 200, 328);
    let value = |at: usize| (at * 7919 % 5) as i32 - 2;
    for launch in launches([2, 2, 1], 256, None) {
        let launch = Launch {
            dynamic_shared: 150_000,
            ..launch
        };
        let mut machine = machine("matmul_hopper");
        let pairs = |count: usize, salt: usize| -> Vec<u32> {
            let half = |at: usize| u32::from(half(value(at + salt)));
            (0..count / 2)
                .map(|at| half(2 * at) | (half(2 * at + 1) << 16))
                .collect()
        };
        let lhs = upload(&mut machine, "lhs", &pairs(m * k, 0));
        let rhs = upload(&mut machine, "rhs", &pairs(n * k, 3));
        let out = upload(&mut machine, "out", &vec![7; m * n / 2]);
        let map = |address, rows: usize, columns: usize, boxes, swizzle| {
            let extents = [columns as u64, rows as u64];
            let map = matrix(address, DataType::F16, extents, boxes);
            TensorMap { swizzle, ..map }.encode()
        };
        let maps = [
            map(lhs, m, k, [64, 64], Swizzle::Bytes128),
            map(rhs, n, k, [64, 128], Swizzle::Bytes128),
            // Stored in two halves.
            map(out, m, n, [64, 64], Swizzle::Bytes128),
        ];
        let extent = (k as u64).to_le_bytes();
        let arguments: [&[u8]; 4] = [&maps[0], &maps[1], &maps[2], &extent];
        run(&mut machine, "matmul_hopper", launch, &arguments);
        for (at, word) in download(&machine, out, m * n / 2).into_iter().enumerate() {
            for (index, found) in [(2 * at, word as u16), (2 * at + 1, (word >> 16) as u16)] {
                let (row, column) = (index / n, index % n);
                let products = (0..k).map(|e| value(row * k + e) * value(column * k + e + 3));
                assert_eq!(found, half(products.sum()), "{row} {column} {launch:?}");
            }
        }
    }
}
