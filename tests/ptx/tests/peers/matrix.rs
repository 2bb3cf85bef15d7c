//! Products of matrices, and attention.

use croq_ptx::machine::Asynchrony;

use crate::peer::{MODES, Peer, Value};
use crate::values::{Format, Random, compare};

use Format::{Bf16, E4m3, E5m2, F16, F32, F64, I8, I32};

/// A product of matrices: formats of operands and result, and whether the second operand is stored
/// by columns.
pub struct Product {
    name: &'static str,
    operand: Format,
    result: Format,
    by_columns: bool,
}

impl Product {
    /// Numbers of so few digits that all partial sums are exact in the result's format.
    fn numbers(&self, random: &mut Random, count: usize) -> Vec<f64> {
        let (unit, size) = match (self.operand, self.result) {
            (I8, _) => (1.0, 127.0),
            (E4m3 | E5m2, _) => (0.125, 1.0),
            (F16, F16) => (0.5, 1.0),
            _ => (1.0 / 64.0, 1.0),
        };
        random.multiples(count, unit, size)
    }

    /// The kernel's result is the exact one.
    fn check(&self, sizes: &[[usize; 3]]) {
        for mode in MODES {
            sizes.iter().for_each(|sizes| self.check_in(mode, *sizes));
        }
    }

    pub fn check_in(&self, mode: Asynchrony, [m, n, k]: [usize; 3]) {
        {
            let mut peer = Peer::load(self.name);
            peer.asynchrony = mode;
            peer.seed = (m + n + k) as u64;
            let mut random = Random::new(peer.seed);
            let a = self.numbers(&mut random, m * k);
            let b = self.numbers(&mut random, k * n);
            let bytes = m * n * self.result.bytes();
            let c = peer.poisoned("c", bytes);
            let arguments = [
                ("a", peer.upload("a", &self.operand.to_bytes(&a))),
                ("b", peer.upload("b", &self.operand.to_bytes(&b))),
                ("c", c),
                ("m", Value::Integer(m as i32)),
                ("n", Value::Integer(n as i32)),
                ("k", Value::Integer(k as i32)),
            ];
            let [tile_m, tile_n] = ["M", "N"].map(|name| peer.constant(name));
            let grid = match peer.find_constant("WORKERS") {
                Some(workers) => [workers, 1],
                None => [m.div_ceil(tile_m), n.div_ceil(tile_n)],
            };
            peer.launch(grid, &arguments);
            let at = |row: usize, column: usize| match self.by_columns {
                true => column * k + row,
                false => row * n + column,
            };
            let sum = |row: usize, column: usize| -> f64 {
                let products = (0..k).map(|inner| a[row * k + inner] * b[at(inner, column)]);
                products.sum()
            };
            let exact: Vec<f64> = (0..m * n).map(|at| sum(at / n, at % n)).collect();
            let found = self.result.to_values(&peer.download(c, bytes));
            compare(
                &format!("{} {m} x {n} x {k}, {mode:?}", self.name),
                &found,
                &exact,
                |_, _| 0.0,
            );
        }
    }
}

pub fn product(name: &'static str, operand: Format, result: Format, by_columns: bool) -> Product {
    Product {
        name,
        operand,
        result,
        by_columns,
    }
}

/// Whole tiles of 32 x 64, several steps, and edges. Vectors of 16 elements are whole.
const WARPS: &[[usize; 3]] = &[[32, 64, 32], [64, 64, 160], [33, 80, 48], [1, 16, 16]];

/// The same for tiles of 128 x 128.
const WARPGROUPS: &[[usize; 3]] = &[[128, 128, 64], [128, 128, 320], [200, 144, 80], [1, 16, 16]];

#[test]
#[ignore = "run by `make ptx-peers`"]
fn product_by_warps() {
    product("product_mma", F16, F32, false).check(WARPS);
}

#[test]
#[ignore = "run by `make ptx-peers`"]
fn product_by_warps_of_other_types() {
    product("product_mma_bf16", Bf16, F32, false).check(WARPS);
    product("product_mma_f16", F16, F16, true).check(WARPS);
    product("product_mma_tf32", F32, F32, false).check(WARPS);
    product("product_mma_f64", F64, F64, false).check(WARPS);
    product("product_mma_i8", I8, I32, true).check(WARPS);
    product("product_mma_e4m3", E4m3, F32, true).check(WARPS);
}

#[test]
#[ignore = "run by `make ptx-peers`"]
fn product_by_warpgroups() {
    product("product_wgmma", F16, F32, false).check(WARPGROUPS);
}

#[test]
#[ignore = "run by `make ptx-peers`"]
fn product_by_warpgroups_of_other_types() {
    product("product_wgmma_bf16", Bf16, F32, true).check(WARPGROUPS);
    product("product_wgmma_f16", F16, F16, false).check(WARPGROUPS);
    product("product_wgmma_tf32", F32, F32, true).check(WARPGROUPS);
    product("product_wgmma_i8", I8, I32, true).check(WARPGROUPS);
    product("product_wgmma_e4m3", E4m3, F32, true).check(WARPGROUPS);
    product("product_wgmma_e5m2", E5m2, F32, true).check(WARPGROUPS);
}

#[test]
#[ignore = "run by `make ptx-peers`"]
fn product_with_tensor_maps() {
    product("product_tma", F16, F16, true).check(WARPGROUPS);
}

#[test]
#[ignore = "run by `make ptx-peers`"]
fn attention() {
    for (length, heads, mode) in [
        (64, 1, Asynchrony::AtOnce),
        (200, 2, Asynchrony::Late),
        (200, 2, Asynchrony::Seeded),
        (1, 1, Asynchrony::Late),
    ] {
        check_attention("attention", true, [length, heads], mode);
    }
}

/// The result of an attention with all keys, or with those up to the query.
pub fn check_attention(name: &str, causal: bool, [length, heads]: [usize; 2], mode: Asynchrony) {
    let mut peer = Peer::load(name);
    peer.asynchrony = mode;
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
        ("heads", Value::Integer(heads as i32)),
        ("scale", Value::Float(scale)),
    ];
    peer.launch([length.div_ceil(peer.constant("ROWS")), heads], &arguments);
    let found = F16.to_values(&peer.download(out, 2 * count));
    let rows = heads * length;
    let exact: Vec<f64> = (0..rows)
        .flat_map(|row| {
            let head = row / length * length;
            let keys = head..if causal { row + 1 } else { head + length };
            attend(&q[row * width..][..width], [&k, &v], keys, f64::from(scale))
        })
        .collect();
    // Weights are rounded to f16 (relative to the largest of the row, which is near 1), and so
    // is the result; the values are at most 1, and weights add up to 1.
    compare(name, &found, &exact, |_, exact| {
        F16.rounding(exact) + F16.rounding(1.0)
    });
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
