//! Kernels of croq, compiled by nvcc, against plain Rust.

use croq_ptx::machine::{Counts, Launch, Machine, Report};

fn machine(name: &str) -> Machine {
    let path = format!("{}/kernels/{name}.ptx", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    Machine::load(&text).unwrap_or_else(|error| panic!("{error}"))
}

/// A number from -1 to 1 with few digits, so that sums of products are exact in f32.
fn numbers(count: usize, seed: u32) -> Vec<f32> {
    let mut state = seed;
    let next = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        ((state >> 24) as f32 - 128.0) / 128.0
    };
    (0..count).map(next).collect()
}

fn upload(machine: &mut Machine, name: &str, values: &[f32]) -> u64 {
    let address = machine.allocate(name, values.len() * 4);
    let bytes: Vec<u8> = values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    machine.write(address, &bytes).unwrap();
    address
}

fn download(machine: &Machine, address: u64, count: usize) -> Vec<f32> {
    let bytes = machine.read(address, count * 4).unwrap();
    bytes
        .chunks_exact(4)
        .map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
        .collect()
}

/// Poison, so that an element that is not written shows.
fn poisoned(machine: &mut Machine, name: &str, count: usize) -> u64 {
    upload(machine, name, &vec![f32::NAN; count])
}

/// Croq's kernels begin with their context: a place for failures, and a time limit.
const CONTEXT: [u8; 16] = [0; 16];

fn launch(machine: &mut Machine, entry: &str, shape: Launch, arguments: &[&[u8]]) -> Counts {
    let all: Vec<&[u8]> = [&CONTEXT[..]]
        .into_iter()
        .chain(arguments.iter().copied())
        .collect();
    machine
        .launch(entry, &shape, &all)
        .unwrap_or_else(|report| panic!("{report}"))
}

/// The same with addresses and 64-bit integers.
fn launch_with_words(machine: &mut Machine, entry: &str, shape: Launch, words: &[u64]) {
    let words: Vec<[u8; 8]> = words.iter().map(|word| word.to_le_bytes()).collect();
    let arguments: Vec<&[u8]> = words.iter().map(|bytes| &bytes[..]).collect();
    launch(machine, entry, shape, &arguments);
}

fn shape(grid: [u32; 3], threads: u32, dynamic_shared: u32) -> Launch {
    Launch {
        grid,
        block: [threads, 1, 1],
        dynamic_shared,
        ..Launch::default()
    }
}

#[test]
fn axpy() {
    for n in [1_usize, 127, 128, 1000] {
        let mut machine = machine("axpy");
        let (x, y) = (numbers(n, 1), numbers(n, 2));
        let (to_x, to_y) = (upload(&mut machine, "x", &x), upload(&mut machine, "y", &y));
        let blocks = n.div_ceil(128) as u32;
        let arguments: [&[u8]; 4] = [
            &to_x.to_le_bytes(),
            &to_y.to_le_bytes(),
            &0.5_f32.to_le_bytes(),
            &(n as u64).to_le_bytes(),
        ];
        launch(
            &mut machine,
            "axpy",
            shape([blocks, 1, 1], 128, 0),
            &arguments,
        );
        let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| 0.5 * x + y).collect();
        assert_eq!(download(&machine, to_y, n), expected);
    }
}

#[test]
fn transpose() {
    for (m, n) in [(32_usize, 32_usize), (33, 65), (100, 7)] {
        let mut machine = machine("transpose");
        let source = numbers(m * n, 3);
        let from = upload(&mut machine, "src", &source);
        let to = poisoned(&mut machine, "dst", m * n);
        let grid = [n.div_ceil(32) as u32, m.div_ceil(32) as u32, 1];
        launch_with_words(
            &mut machine,
            "transpose",
            shape(grid, 256, 32 * 33 * 4),
            &[from, to, m as u64, n as u64],
        );
        let found = download(&machine, to, m * n);
        for (row, column) in (0..m).flat_map(|row| (0..n).map(move |column| (row, column))) {
            assert_eq!(
                found[column * m + row],
                source[row * n + column],
                "{row} {column}"
            );
        }
    }
}

#[test]
fn row_sum() {
    for (m, n) in [(3_usize, 1_usize), (5, 128), (2, 1000)] {
        let mut machine = machine("row_sum");
        let source = numbers(m * n, 4);
        let from = upload(&mut machine, "x", &source);
        let to = poisoned(&mut machine, "sum", m);
        launch_with_words(
            &mut machine,
            "row_sum",
            shape([m as u32, 1, 1], 128, 512),
            &[from, to, n as u64],
        );
        let expected: Vec<f32> = source.chunks(n).map(|row| row.iter().sum()).collect();
        assert_eq!(download(&machine, to, m), expected);
    }
}

#[test]
fn matmul_scalar() {
    let (m, n, k) = (65_usize, 70, 33);
    let mut machine = machine("matmul_scalar");
    let (a, b) = (numbers(m * k, 5), numbers(k * n, 6));
    let (to_a, to_b) = (upload(&mut machine, "a", &a), upload(&mut machine, "b", &b));
    // The kernel adds to its result, which croq fills with zeros.
    let to_c = upload(&mut machine, "c", &vec![0.0; m * n]);
    let extents = [m as u64, k as u64, n as u64].map(u64::to_le_bytes);
    let result = run_matmul(&mut machine, [to_a, to_b, to_c], extents, m * n);
    result.unwrap_or_else(|report| panic!("{report}"));
    let found = download(&machine, to_c, m * n);
    for (row, column) in (0..m).flat_map(|row| (0..n).map(move |column| (row, column))) {
        let products = (0..k).map(|at| f64::from(a[row * k + at]) * f64::from(b[at * n + column]));
        assert_eq!(f64::from(found[row * n + column]), products.sum::<f64>());
    }
}

fn run_matmul(
    machine: &mut Machine,
    buffers: [u64; 3],
    [m, k, n]: [[u8; 8]; 3],
    elements: usize,
) -> Result<Counts, Report> {
    let [a, b, c] = buffers.map(u64::to_le_bytes);
    let grid = [elements.div_ceil(256) as u32, 1, 1];
    machine.launch(
        "matmul_scalar",
        &shape(grid, 256, 0),
        &[&CONTEXT, &a, &b, &c, &m, &k, &n],
    )
}

/// What nvcc makes of the C library's functions: thousands of instructions, of which a wrong one
/// shows in the last digits.
#[test]
fn single_precision_functions() {
    let values: Vec<f32> = (-60..60)
        .map(|at| at as f32 * 0.37)
        .chain([1e5, -3e7, 0.0])
        .collect();
    let n = values.len();
    let mut machine = machine("math");
    let from = upload(&mut machine, "x", &values);
    let to = poisoned(&mut machine, "y", 28 * n);
    launch_with_words(
        &mut machine,
        "math_f32",
        shape([1, 1, 1], 256, 0),
        &[from, to, n as u64],
    );
    let found = download(&machine, to, 28 * n);
    for (at, v) in values.iter().enumerate() {
        let unit = f64::from(v / (v.abs() + 1.0));
        let positive = f64::from(v.abs() + 0.125);
        let v = f64::from(*v);
        let expected = [
            (0, unit.acos()),
            (1, unit.asin()),
            (2, v.atan()),
            (3, v.ceil()),
            (4, v.cos()),
            (5, v.cosh()),
            (6, v.exp()),
            (7, v.exp2()),
            (8, v.exp_m1()),
            (9, v.abs()),
            (10, v.floor()),
            (11, 1.0 / positive),
            (14, positive.ln()),
            (15, positive.ln_1p()),
            (16, v.round()),
            (17, 1.0 / positive.sqrt()),
            (18, 1.0 / (1.0 + (-v).exp())),
            (20, v.sin()),
            (21, v.sinh()),
            (23, positive.sqrt()),
            (24, unit.tan()),
            (25, v.tanh()),
            (26, v * unit + positive),
            (27, v.atan2(positive)),
        ];
        for (row, exact) in expected {
            let found = found[row * n + at];
            let exact = exact as f32;
            let close = (found - exact).abs() <= 1e-6 * exact.abs().max(1e-2);
            assert!(close || found == exact, "row {row} of {v}: {found} {exact}");
        }
    }
}

#[test]
fn double_precision_functions() {
    // The large ones need the slow reduction of angles, which is a call.
    let values: Vec<f64> = (-40..40)
        .map(|at| f64::from(at) * 0.37)
        .chain([1e12, -1e18])
        .collect();
    let n = values.len();
    let mut machine = machine("math");
    let bytes: Vec<u8> = values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    let from = machine.allocate("x", bytes.len());
    machine.write(from, &bytes).unwrap();
    let to = machine.allocate("y", 8 * bytes.len());
    launch_with_words(
        &mut machine,
        "math_f64",
        shape([1, 1, 1], 256, 0),
        &[from, to, n as u64],
    );
    let found = machine.read(to, 8 * bytes.len()).unwrap();
    let words = found.chunks_exact(8).map(|bytes| bytes.try_into().unwrap());
    let found: Vec<f64> = words.map(f64::from_le_bytes).collect();
    for (at, &v) in values.iter().enumerate() {
        let positive = v.abs() + 0.125;
        let exact = [
            v.exp(),
            positive.ln(),
            v.sin(),
            v.tanh(),
            positive.sqrt(),
            positive.powf(v),
            v.max(0.25),
            1.0 / (1.0 + (-v).exp()),
        ];
        for (row, exact) in exact.into_iter().enumerate() {
            let found = found[row * n + at];
            let close = (found - exact).abs() <= 4e-15 * exact.abs().max(1e-2);
            assert!(
                close || found == exact,
                "row {row} of {v}: {found:e} {exact:e}"
            );
        }
    }
}

/// An access outside of a buffer is reported where the `.co` file has it.
#[test]
fn a_buffer_that_is_too_small() {
    let mut machine = machine("axpy");
    let (x, y) = (
        upload(&mut machine, "x", &[0.0; 100]),
        upload(&mut machine, "y", &[0.0; 128]),
    );
    let arguments: [&[u8]; 5] = [
        &CONTEXT,
        &x.to_le_bytes(),
        &y.to_le_bytes(),
        &1_f32.to_le_bytes(),
        &128_u64.to_le_bytes(),
    ];
    let report = machine
        .launch("axpy", &shape([1, 1, 1], 128, 0), &arguments)
        .unwrap_err();
    assert!(
        report
            .message
            .ends_with("offset 400 of `x`, which has 400 bytes"),
        "{report}"
    );
    assert_eq!(report.thread, Some([100, 0, 0]));
    assert_eq!(report.block, Some([0, 0, 0]));
    assert_eq!(
        report.instruction.map(|found| found.1).as_deref(),
        Some("ld.global.nc.f32")
    );
}
