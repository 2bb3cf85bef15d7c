//! Kernels without matrix instructions.

use crate::peer::{Peer, Value};
use crate::values::{Format, Random, compare};

use Format::{Bf16, F16, F32};

fn sigmoid(value: f64) -> f64 {
    1.0 / (1.0 + (-value).exp())
}

#[test]
#[ignore = "run by `make ptx-peers`"]
fn elementwise() {
    for n in [1, 33, 1024, 3000] {
        let mut peer = Peer::load("elementwise");
        let mut random = Random::new(n as u64);
        let x = random.numbers(n, 4.0, F16);
        let gate = random.numbers(n, 10.0, F16);
        let bias = random.numbers(n, 1.0, F32);
        let scale = 0.7_f32;
        let out = peer.poisoned("out", 4 * n);
        let arguments = [
            ("x", peer.upload("x", &F16.to_bytes(&x))),
            ("gate", peer.upload("gate", &F16.to_bytes(&gate))),
            ("bias", peer.upload("bias", &F32.to_bytes(&bias))),
            ("out", out),
            ("n", Value::Integer(n as i32)),
            ("scale", Value::Float(scale)),
        ];
        peer.launch([n.div_ceil(peer.constant("BLOCK")), 1], &arguments);
        let product = |at: usize| f64::from(scale) * x[at] * sigmoid(gate[at]);
        let exact: Vec<f64> = (0..n).map(|at| product(at) + bias[at]).collect();
        let found = F32.to_values(&peer.download(out, 4 * n));
        // Two approximate operations, ten roundings (the exponent is up to 15, and its rounding is
        // an error of the power).
        compare("elementwise", &found, &exact, |at, _| {
            30.0 * F32.rounding(product(at)) + F32.rounding(product(at).abs() + bias[at].abs())
        });
    }
}

#[test]
#[ignore = "run by `make ptx-peers`"]
fn softmax() {
    for (rows, columns) in [(3, 1000), (9, 1), (2, 1024), (7, 33)] {
        check_softmax("softmax", 4, [rows, columns]);
    }
}

/// By so many programs.
pub fn check_softmax(name: &str, programs: usize, [rows, columns]: [usize; 2]) {
    let mut peer = Peer::load(name);
    let stride = usize::next_multiple_of(columns, 16);
    let x = Random::new(columns as u64).numbers(rows * stride, 12.0, F32);
    let out = peer.poisoned("out", 4 * rows * stride);
    let arguments = [
        ("x", peer.upload("x", &F32.to_bytes(&x))),
        ("out", out),
        ("rows", Value::Integer(rows as i32)),
        ("columns", Value::Integer(columns as i32)),
        ("stride", Value::Integer(stride as i32)),
    ];
    peer.launch([programs, 1], &arguments);
    let found = F32.to_values(&peer.download(out, 4 * rows * stride));
    for (x, found) in x.chunks(stride).zip(found.chunks(stride)) {
        let x = &x[..columns];
        let highest = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let powers: Vec<f64> = x.iter().map(|x| (x - highest).exp()).collect();
        let total: f64 = powers.iter().sum();
        let exact: Vec<f64> = powers.iter().map(|power| power / total).collect();
        // The exponent is up to 35 with a rounding of half a unit of 2^-24 each in the
        // difference and its product; the sum has about 16 roundings in a row.
        compare("softmax", &found[..columns], &exact, |_, exact| {
            100.0 * F32.rounding(exact)
        });
        // Columns outside of the row are not touched.
        assert!(found[columns..].iter().all(|value| value.is_nan()));
    }
}

#[test]
#[ignore = "run by `make ptx-peers`"]
fn layer_norm() {
    for (rows, columns) in [(3, 512), (2, 1200), (2, 16)] {
        check_layer_norm("layer_norm", [rows, columns]);
    }
}

pub fn check_layer_norm(name: &str, [rows, columns]: [usize; 2]) {
    let mut peer = Peer::load(name);
    let mut random = Random::new(columns as u64);
    let x = random.numbers(rows * columns, 3.0, Bf16);
    let weight = random.numbers(columns, 1.0, F32);
    let bias = random.numbers(columns, 1.0, F32);
    let epsilon = 1e-5_f32;
    let out = peer.poisoned("out", 2 * rows * columns);
    let mean = peer.poisoned("mean", 4 * rows);
    let deviation = peer.poisoned("deviation", 4 * rows);
    let arguments = [
        ("x", peer.upload("x", &Bf16.to_bytes(&x))),
        ("weight", peer.upload("weight", &F32.to_bytes(&weight))),
        ("bias", peer.upload("bias", &F32.to_bytes(&bias))),
        ("out", out),
        ("mean", mean),
        ("deviation", deviation),
        ("columns", Value::Integer(columns as i32)),
        ("epsilon", Value::Float(epsilon)),
    ];
    peer.launch([rows, 1], &arguments);
    let normal = Row::all(&x, columns, f64::from(epsilon));
    let means: Vec<f64> = normal.iter().map(|row| row.mean).collect();
    let scales: Vec<f64> = normal.iter().map(|row| row.scale).collect();
    // Sums of numbers up to 3 that have about 20 roundings in a row.
    let slack = 20.0 * F32.rounding(3.0);
    let found = F32.to_values(&peer.download(mean, 4 * rows));
    compare("mean", &found, &means, |_, _| slack);
    let found = F32.to_values(&peer.download(deviation, 4 * rows));
    compare("deviation", &found, &scales, |_, exact| slack * exact);
    let found = Bf16.to_values(&peer.download(out, 2 * rows * columns));
    let exact: Vec<f64> = (0..rows * columns)
        .map(|at| {
            let (row, column) = (&normal[at / columns], at % columns);
            (x[at] - row.mean) * row.scale * weight[column] + bias[column]
        })
        .collect();
    compare("layer norm", &found, &exact, |_, exact| {
        Bf16.rounding(exact) * 1.001 + 4.0 * slack
    });
}

struct Row {
    mean: f64,
    scale: f64,
}

impl Row {
    fn all(x: &[f64], columns: usize, epsilon: f64) -> Vec<Row> {
        let row = |x: &[f64]| {
            let mean = x.iter().sum::<f64>() / columns as f64;
            let squares: f64 = x.iter().map(|x| (x - mean).powi(2)).sum();
            let scale = 1.0 / (squares / columns as f64 + epsilon).sqrt();
            Row { mean, scale }
        };
        x.chunks(columns).map(row).collect()
    }
}
