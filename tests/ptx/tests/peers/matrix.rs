//! Products of matrices, and attention.

use crate::peer::{Peer, Value};
use crate::values::{Format, Random, compare};

use Format::{F16, F32};

/// How the second matrix lies in memory.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Second {
    ByRows,
    ByColumns,
}

/// The kernel's result equals the exact one, rounded to its format: all partial sums are exact in f32.
fn check_product(name: &str, result: Format, second: Second, sizes: &[[usize; 3]]) {
    for &[m, n, k] in sizes {
        let mut peer = Peer::load(name);
        let mut random = Random::new((m + n + k) as u64);
        let (a, b) = (random.short_numbers(m * k), random.short_numbers(k * n));
        let bytes = m * n * result.bytes();
        let c = peer.poisoned("c", bytes);
        let arguments = [
            ("a", peer.upload("a", &F16.to_bytes(&a))),
            ("b", peer.upload("b", &F16.to_bytes(&b))),
            ("c", c),
            ("m", Value::Integer(m as i32)),
            ("n", Value::Integer(n as i32)),
            ("k", Value::Integer(k as i32)),
        ];
        let grid = [
            m.div_ceil(peer.constant("M")),
            n.div_ceil(peer.constant("N")),
        ];
        peer.launch(grid, &arguments);
        let at = |row: usize, column: usize| match second {
            Second::ByRows => row * n + column,
            Second::ByColumns => column * k + row,
        };
        let sum = |row: usize, column: usize| {
            let products = (0..k).map(|inner| a[row * k + inner] * b[at(inner, column)]);
            result.round(products.sum())
        };
        let exact: Vec<f64> = (0..m * n).map(|at| sum(at / n, at % n)).collect();
        let found = result.to_values(&peer.download(c, bytes));
        compare(
            &format!("{name} {m} x {n} x {k}"),
            &found,
            &exact,
            |_, _| 0.0,
        );
    }
}

#[test]
#[ignore = "run by `make ptx-peers`"]
fn product_by_warps() {
    let sizes = [[32, 64, 32], [64, 64, 160], [33, 80, 48], [1, 16, 16]];
    check_product("product_mma", F32, Second::ByRows, &sizes);
}

#[test]
#[ignore = "run by `make ptx-peers`"]
fn product_by_warpgroups() {
    let sizes = [[128, 128, 64], [128, 128, 320], [200, 144, 80], [1, 16, 16]];
    check_product("product_wgmma", F32, Second::ByRows, &sizes);
}

#[test]
#[ignore = "run by `make ptx-peers`"]
fn product_with_tensor_maps() {
    let sizes = [[128, 128, 64], [256, 128, 320], [200, 144, 80], [1, 16, 16]];
    check_product("product_tma", F16, Second::ByColumns, &sizes);
}

#[test]
#[ignore = "run by `make ptx-peers`"]
fn attention() {
    for (length, heads) in [(64, 1), (200, 2), (1, 1)] {
        let mut peer = Peer::load("attention");
        let width = peer.constant("WIDTH");
        let count = heads * length * width;
        let mut random = Random::new(length as u64);
        let [q, k, v] = [(); 3].map(|()| random.numbers(count, 1.0, F16));
        let scale = 1.0 / (width as f32).sqrt();
        let out = peer.poisoned("out", 2 * count);
        let arguments = [
            ("q", peer.upload("q", &F16.to_bytes(&q))),
            ("k", peer.upload("k", &F16.to_bytes(&k))),
            ("v", peer.upload("v", &F16.to_bytes(&v))),
            ("out", out),
            ("length", Value::Integer(length as i32)),
            ("scale", Value::Float(scale)),
        ];
        peer.launch([length.div_ceil(peer.constant("ROWS")), heads], &arguments);
        let found = F16.to_values(&peer.download(out, 2 * count));
        let rows = heads * length;
        let exact: Vec<f64> = (0..rows)
            .flat_map(|row| {
                let head = row / length * length;
                let keys = head..row + 1;
                attend(&q[row * width..][..width], [&k, &v], keys, f64::from(scale))
            })
            .collect();
        // Weights are rounded to f16 (relative to the largest of the row, which is near 1), and so
        // is the result; the values are at most 1, and weights add up to 1.
        compare("attention", &found, &exact, |_, exact| {
            F16.rounding(exact) + F16.rounding(1.0)
        });
    }
}

/// One row of the result.
fn attend(
    query: &[f64],
    [keys, values]: [&[f64]; 2],
    rows: std::ops::Range<usize>,
    scale: f64,
) -> Vec<f64> {
    let width = query.len();
    let score = |row: usize| {
        let products = query.iter().zip(&keys[row * width..]).map(|(q, k)| q * k);
        products.sum::<f64>() * scale
    };
    let weights: Vec<f64> = rows.clone().map(|row| score(row).exp()).collect();
    let total: f64 = weights.iter().sum();
    let element = |lane: usize| {
        let weighted = rows.clone().zip(&weights);
        weighted
            .map(|(row, weight)| weight * values[row * width + lane])
            .sum::<f64>()
            / total
    };
    (0..width).map(element).collect()
}
