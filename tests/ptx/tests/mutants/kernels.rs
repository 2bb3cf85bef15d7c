//! Twelve kernels of croq, each with small sizes that are no multiples of its tiles, and plain Rust.

use croq_ptx::machine::Launch;
use croq_ptx::machine::tensor_map::DataType;

use crate::device::{Device, Done, Failure, How, from_half, half, integers, map, product};

type Case = Box<dyn Fn(&str, &How) -> Result<Done, Failure> + Sync>;

pub struct Kernel {
    pub name: &'static str,
    pub cases: Vec<Case>,
}

impl Kernel {
    pub fn text(&self) -> String {
        let path = format!("{}/kernels/{}.ptx", env!("CARGO_MANIFEST_DIR"), self.name);
        std::fs::read_to_string(path).unwrap()
    }

    /// All sizes.
    pub fn run(&self, text: &str, how: &How) -> Result<Done, Failure> {
        let mut all = Done::default();
        for case in &self.cases {
            let done = case(text, how)?;
            all.lines.extend(done.lines);
            all.warp_instructions = all.warp_instructions.max(done.warp_instructions);
        }
        Ok(all)
    }
}

fn kernel(name: &'static str, cases: Vec<Case>) -> Kernel {
    Kernel { name, cases }
}

pub fn kernels() -> Vec<Kernel> {
    vec![
        kernel(
            "row_sum",
            [(3, 1), (5, 128), (2, 1000), (1, 300)].map(row_sum).into(),
        ),
        kernel(
            "softmax",
            [(3, 5), (2, 128), (2, 301), (1, 450), (2, 600)]
                .map(softmax)
                .into(),
        ),
        kernel(
            "matmul_f32",
            [
                [64, 32, 64],
                [45, 41, 84],
                [22, 16, 60],
                [30, 5, 44],
                [33, 20, 36],
                [32, 20, 36],
            ]
            .map(matmul_f32)
            .into(),
        ),
        kernel(
            "linear_relu",
            [
                [150, 72, 104],
                [180, 40, 88],
                [200, 72, 120],
                [230, 40, 80],
                [130, 37, 71],
            ]
            .map(linear_relu)
            .into(),
        ),
        kernel("matmul_hopper", vec![matmul_hopper()]),
        kernel("matmul_hopper_persistent", vec![persistent()]),
        kernel("multicast_pairs", vec![multicast_pairs()]),
        kernel(
            "attention_hopper",
            [(150, 210), (70, 75)].map(attention).into(),
        ),
        kernel("tma_there_and_back", vec![there_and_back()]),
        kernel(
            "column_sum_streamed",
            [(50, 130), (7, 64), (64, 128), (6, 65), (23, 66), (9, 67)]
                .map(column_sum)
                .into(),
        ),
        kernel(
            "byte_counts",
            (0..16).map(|at| byte_counts(4097 + 256 * at)).collect(),
        ),
        kernel("race_look_back", vec![look_back()]),
    ]
}

fn shape(grid: [u32; 3], threads: u32, dynamic_shared: u32) -> Launch {
    Launch {
        grid,
        block: [threads, 1, 1],
        dynamic_shared,
        ..Launch::default()
    }
}

/// Addresses and extents.
fn launch_with_words(
    device: &mut Device,
    entry: &str,
    shape: &Launch,
    words: &[u64],
) -> Result<(), Failure> {
    let words: Vec<[u8; 8]> = words.iter().map(|word| word.to_le_bytes()).collect();
    let arguments: Vec<&[u8]> = words.iter().map(|bytes| &bytes[..]).collect();
    device.launch(entry, shape, &arguments)
}

fn bits(values: &[f32]) -> Vec<u32> {
    // Sums of integers: there is one zero.
    values.iter().map(|value| (value + 0.0).to_bits()).collect()
}

fn row_sum((m, n): (usize, usize)) -> Case {
    let x = integers(m * n, 4, 100);
    let expected = bits(
        &x.chunks(n)
            .map(|row| row.iter().sum())
            .collect::<Vec<f32>>(),
    );
    Box::new(move |text, how| {
        let mut device = Device::new(text, how)?;
        let from = device.floats("x", &x);
        let to = device.floats("sum", &vec![f32::NAN; m]);
        let shape = shape([m as u32, 1, 1], 128, 512);
        launch_with_words(&mut device, "row_sum", &shape, &[from, to, n as u64])?;
        device.expect_words(to, &expected)
    })
}

fn softmax((m, n): (usize, usize)) -> Case {
    let numbers = integers(m * n, 9, 64);
    let mut x: Vec<f32> = numbers.iter().map(|value| value / 16.0).collect();
    if [5, 600].contains(&n) {
        // The exponential function overflows if the maximum is wrong.
        (0..m).for_each(|row| x[row * n] += 200.0 * (row + 1) as f32);
    }
    let mut expected = Vec::new();
    for row in x.chunks(n) {
        let peak = row.iter().copied().fold(f32::MIN, f32::max);
        let weights: Vec<f64> = row
            .iter()
            .map(|value| f64::from(value - peak).exp())
            .collect();
        let sum: f64 = weights.iter().sum();
        expected.extend(weights.iter().map(|weight| weight / sum));
    }
    Box::new(move |text, how| {
        let mut device = Device::new(text, how)?;
        let from = device.floats("x", &x);
        let to = device.floats("y", &vec![f32::NAN; m * n]);
        let shape = shape([m as u32, 1, 1], 128, 512);
        launch_with_words(&mut device, "softmax", &shape, &[from, to, n as u64])?;
        let bytes = device.machine.read(to, m * n * 4).unwrap();
        let found = bytes.chunks_exact(4);
        let found = found.map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]).into());
        device.expect_close(found, &expected, 2e-6, 1e-9)
    })
}

fn matmul_f32([m, k, n]: [usize; 3]) -> Case {
    let (a, b) = (integers(m * k, 5, 20), integers(k * n, 6, 20));
    let columns: Vec<f32> = (0..n * k).map(|at| b[at % k * n + at / k]).collect();
    let expected = bits(&product(&a, &columns, k));
    Box::new(move |text, how| {
        let mut device = Device::new(text, how)?;
        let (from_a, from_b) = (device.floats("lhs", &a), device.floats("rhs", &b));
        let to = device.floats("out", &vec![f32::NAN; m * n]);
        let shape = shape([n.div_ceil(32) as u32, m.div_ceil(32) as u32, 1], 64, 4096);
        let words = [from_a, from_b, to, m as u64, k as u64, n as u64];
        launch_with_words(&mut device, "matmul_f32", &shape, &words)?;
        device.expect_words(to, &expected)
    })
}

fn linear_relu([m, k, n]: [usize; 3]) -> Case {
    let (a, b, bias) = (
        integers(m * k, 5, 2),
        integers(n * k, 6, 2),
        integers(n, 7, 9),
    );
    let sums = product(&a, &b, k);
    let expected: Vec<u16> = sums
        .iter()
        .enumerate()
        .map(|(at, sum)| half((sum + bias[at % n]).max(0.0)))
        .collect();
    Box::new(move |text, how| {
        let mut device = Device::new(text, how)?;
        let (from_a, from_b) = (device.halves("lhs", &a), device.halves("rhs", &b));
        let from_bias = device.floats("bias", &bias);
        let to = device.bytes("out", &vec![0xff; m * n * 2]);
        let shape = shape(
            [n.div_ceil(64) as u32, m.div_ceil(128) as u32, 1],
            128,
            24576,
        );
        let words = [from_a, from_b, from_bias, to, m as u64, k as u64, n as u64];
        launch_with_words(&mut device, "linear_relu", &shape, &words)?;
        device.expect_halves(to, &expected)
    })
}

/// lhs · rhsᵀ of f16 with operands and results by tensor copies.
struct Product {
    entry: &'static str,
    /// m, k, n
    extents: [usize; 3],
    rows: u32,
    /// The rows that are computed.
    computed: fn(usize) -> bool,
    shape: Launch,
    words: Vec<u64>,
}

fn tensor_product(of: Product) -> Case {
    let [m, k, n] = of.extents;
    let (a, b) = (integers(m * k, 5, 2), integers(n * k, 6, 2));
    let mut expected: Vec<u16> = vec![0xffff; m * n];
    for row in (0..m).filter(|row| (of.computed)(*row)) {
        let sums = product(&a[row * k..][..k], &b, k);
        for (expected, sum) in expected[row * n..].iter_mut().zip(sums) {
            *expected = half(sum);
        }
    }
    Box::new(move |text, how| {
        let mut device = Device::new(text, how)?;
        let (from_a, from_b) = (device.halves("lhs", &a), device.halves("rhs", &b));
        let to = device.bytes("out", &vec![0xff; m * n * 2]);
        let map = |address, rows: usize, columns: usize, box_rows| {
            let extents = [columns as u64, rows as u64, 0];
            map(address, DataType::F16, extents, [64, box_rows, 1])
        };
        let maps = [
            map(from_a, m, k, of.rows),
            map(from_b, n, k, 128),
            map(to, m, n, 64),
        ];
        let words: Vec<[u8; 8]> = of.words.iter().map(|word| word.to_le_bytes()).collect();
        let mut arguments: Vec<&[u8]> = maps.iter().map(|map| &map[..]).collect();
        arguments.extend(words.iter().map(|word| &word[..]));
        device.launch(of.entry, &of.shape, &arguments)?;
        device.expect_halves(to, &expected)
    })
}

fn matmul_hopper() -> Case {
    tensor_product(Product {
        entry: "matmul_hopper",
        extents: [100, 520, 200],
        rows: 64,
        computed: |_| true,
        shape: shape([2, 2, 1], 256, 114_752),
        words: vec![520],
    })
}

/// Each block computes every 132nd row of tiles. Only the first two blocks are launched: the first has
/// two rows of tiles, and those of other blocks stay as they are.
fn persistent() -> Case {
    let [m, k, n] = [132 * 64 + 10, 72, 136];
    tensor_product(Product {
        entry: "matmul_hopper_persistent",
        extents: [m, k, n],
        rows: 64,
        computed: |row| row / 64 % 132 < 2,
        shape: shape([2, 1, 1], 128, 40968),
        words: [m, k, n].map(|extent| extent as u64).into(),
    })
}

/// A tile for both blocks of a cluster, again and again at the same place.
fn multicast_pairs() -> Case {
    let (m, k) = (32_usize, 24_usize);
    let values = |count: usize, factor: usize| -> Vec<u32> {
        (0..count).map(|at| (at * factor % 1009) as u32).collect()
    };
    let (x, y) = (values(m * 64, 7), values(k * 64, 31));
    let element = |at: usize| {
        let (row, column) = (at / 64, at % 64);
        let mut sum = 0_u32;
        for tile in 0..k / 8 {
            let other = y[(tile * 8 + 7 - row % 8) * 64 + 63 - column];
            sum = sum.wrapping_mul(3).wrapping_add(other);
        }
        sum.wrapping_sub(x[at]).wrapping_add(row as u32 / 8 % 2)
    };
    let expected: Vec<u32> = (0..x.len()).map(element).collect();
    let floats =
        |values: &[u32]| -> Vec<f32> { values.iter().map(|v| f32::from_bits(*v)).collect() };
    let (x, y) = (floats(&x), floats(&y));
    Box::new(move |text, how| {
        let mut device = Device::new(text, how)?;
        let (from_x, from_y) = (device.floats("x", &x), device.floats("y", &y));
        let to = device.floats("dst", &vec![f32::NAN; x.len()]);
        let map =
            |address, rows: usize| map(address, DataType::S32, [64, rows as u64, 0], [64, 8, 1]);
        let extent = (k as u64).to_le_bytes();
        // The maps are in the order in which the kernel uses them.
        let arguments: [&[u8]; 4] = [&map(from_y, k), &map(from_x, m), &map(to, m), &extent];
        let launch = Launch {
            cluster: Some([2, 1, 1]),
            ..shape([4, 1, 1], 64, 6168)
        };
        device.launch("multicast_pairs", &launch, &arguments)?;
        device.expect_words(to, &expected)
    })
}

fn attention((m, n): (usize, usize)) -> Case {
    let (heads, d) = (2_usize, 64_usize);
    let scaled = |count, seed, most: u32, by: f32| -> Vec<f32> {
        integers(count, seed, most)
            .iter()
            .map(|value| value / by)
            .collect()
    };
    let mut q = scaled(heads * m * d, 1, 16, 4.0);
    let mut k = scaled(heads * n * d, 2, 16, 16.0);
    // Scores of the second head are negative, so that keys beyond the edge would have the most weight.
    q[m * d..].iter_mut().for_each(|value| *value = value.abs());
    k[n * d..]
        .iter_mut()
        .for_each(|value| *value = -value.abs());
    let v = scaled(heads * n * d, 3, 64, 32.0);
    let mut expected = Vec::new();
    for head in 0..heads {
        let part = |x: &[f32], rows: usize| x[head * rows * d..][..rows * d].to_vec();
        let (q, k, v) = (part(&q, m), part(&k, n), part(&v, n));
        for scores in product(&q, &k, d).chunks(n) {
            let weights: Vec<f64> = scores.iter().map(|s| (f64::from(*s) / 8.0).exp()).collect();
            let sum: f64 = weights.iter().sum();
            for column in 0..d {
                let of = |(row, weight): (usize, &f64)| weight * f64::from(v[row * d + column]);
                expected.push(weights.iter().enumerate().map(of).sum::<f64>() / sum);
            }
        }
    }
    Box::new(move |text, how| {
        let mut device = Device::new(text, how)?;
        let (from_q, from_k, from_v) = (
            device.halves("q", &q),
            device.halves("k", &k),
            device.halves("v", &v),
        );
        let to = device.bytes("o", &vec![0xff; q.len() * 2]);
        let map = |address, rows: usize, box_rows| {
            let extents = [d as u64, rows as u64, heads as u64];
            map(address, DataType::F16, extents, [64, box_rows, 1])
        };
        let maps = [
            map(from_q, m, 128),
            map(from_k, n, 64),
            map(from_v, n, 64),
            map(to, m, 64),
        ];
        let mut arguments: Vec<&[u8]> = maps.iter().map(|map| &map[..]).collect();
        let words = (n as u64).to_le_bytes();
        arguments.push(&words);
        let shape = shape([m.div_ceil(128) as u32, heads as u32, 1], 384, 65608);
        device.launch("attention_hopper", &shape, &arguments)?;
        let bytes = device.machine.read(to, q.len() * 2).unwrap();
        let found = bytes
            .chunks_exact(2)
            .map(|b| from_half(u16::from_le_bytes([b[0], b[1]])));
        // Weights and results are f16.
        device.expect_close(found, &expected, 2e-3, 1.0)
    })
}

fn there_and_back() -> Case {
    let values = integers(40 * 72, 8, 1000);
    let expected = bits(&values.iter().map(|value| value * 2.0).collect::<Vec<f32>>());
    Box::new(move |text, how| {
        let mut device = Device::new(text, how)?;
        let from = device.floats("src", &values);
        let to = device.floats("dst", &vec![f32::NAN; values.len()]);
        let map = |address| map(address, DataType::F32, [72, 40, 0], [32, 16, 1]);
        let arguments: [&[u8]; 2] = [&map(from), &map(to)];
        let shape = shape([3, 3, 1], 128, 2056);
        device.launch("tma_there_and_back", &shape, &arguments)?;
        device.expect_words(to, &expected)
    })
}

fn column_sum((m, n): (usize, usize)) -> Case {
    let x = integers(m * n, 11, 100);
    let sum = |column: usize| x[column..].iter().step_by(n).sum();
    let expected = bits(&(0..n).map(sum).collect::<Vec<f32>>());
    Box::new(move |text, how| {
        let mut device = Device::new(text, how)?;
        let from = device.floats("src", &x);
        let to = device.floats("out", &vec![f32::NAN; n]);
        let shape = shape([n.div_ceil(64) as u32, 1, 1], 64, 12288);
        let words = [from, to, m as u64, n as u64];
        launch_with_words(&mut device, "column_sum_streamed", &shape, &words)?;
        device.expect_words(to, &expected)
    })
}

fn byte_counts(n: usize) -> Case {
    // Half of the bytes do not occur.
    let values = integers(n, 12, 63);
    let bytes: Vec<u8> = values.iter().map(|value| (value + 100.0) as u8).collect();
    let mut expected = vec![0; 256];
    bytes
        .iter()
        .for_each(|byte| expected[usize::from(*byte)] += 1);
    Box::new(move |text, how| {
        let mut device = Device::new(text, how)?;
        let from = device.bytes("x", &bytes);
        let to = device.bytes("total", &[0; 1024]);
        let shape = shape([n.div_ceil(4096) as u32, 1, 1], 256, 1024);
        launch_with_words(&mut device, "byte_counts", &shape, &[from, to, n as u64])?;
        device.expect_words(to, &expected)
    })
}

fn look_back() -> Case {
    let values = [5_u32, 11, 2, 7, 1, 30, 4, 9, 3];
    let mut sum = 0;
    let sums = values.map(|value| {
        sum += value;
        sum
    });
    Box::new(move |text, how| {
        let mut device = Device::new(text, how)?;
        let bytes: Vec<u8> = values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        let from = device.bytes("x", &bytes);
        let total = device.bytes("total", &[0xff; 36]);
        let ready = device.bytes("ready", &[0; 36]);
        let shape = Launch {
            is_cooperative: true,
            ..shape([9, 1, 1], 32, 0)
        };
        launch_with_words(&mut device, "race_look_back", &shape, &[from, total, ready])?;
        device.expect_words(total, &sums)
    })
}
