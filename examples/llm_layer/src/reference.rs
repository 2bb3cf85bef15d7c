//! The same layer in f64 by plain Rust, with limits for the errors of the kernels.
//!
//! The kernels round each result to a bf16 and compute in f32 within a step. The reference does not
//! round; its numbers are [`Near`], which know how far roundings may be from them.

use croq_sys::half::bf16;
use croq_sys::{Element, Tensor};

use crate::near::{BF16, F32, Linear, Matrix, Near};
use crate::trace::Trace;
use crate::weights::{One, Two, Weights};
use crate::{BASE, EPSILON, WIDTH};

/// The weights, and the keys and values of all tokens so far.
pub struct Reference<'a> {
    weights: &'a Weights,
    keys: Vec<Near>,
    values: Vec<Near>,
}

/// The results of the steps in order. If a trace of the device is given, each step begins with what
/// the device had computed before it.
struct Steps<'a> {
    results: Vec<(&'static str, Matrix)>,
    device: Option<&'a Trace>,
}

impl Steps<'_> {
    fn done(&mut self, name: &'static str, result: Matrix) -> Matrix {
        self.results.push((name, result.clone()));
        match self.device {
            None => result,
            Some(trace) => {
                let values = trace.values(name).iter().map(|&v| Near::exact(v));
                Matrix::new(result.columns, values.collect())
            }
        }
    }
}

impl<'a> Reference<'a> {
    pub fn new(weights: &'a Weights) -> Self {
        Self {
            weights,
            keys: Vec::new(),
            values: Vec::new(),
        }
    }

    /// The results of all steps, to the scores, for `ids` after the tokens of earlier calls.
    pub fn forward(&mut self, ids: &[i32], device: Option<&Trace>) -> Vec<(&'static str, Matrix)> {
        let w = self.weights;
        let sizes = w.sizes;
        let first = self.keys.len() / sizes.key();
        let mut steps = Steps {
            results: Vec::new(),
            device,
        };

        let x = steps.done("embedding", embedding(&w.embedding, ids));
        let normed = steps.done("norm before", norm(&x, &w.norm_before));
        let query = steps.done("query", rounded(&product(&normed, &w.query)));
        let key = steps.done("key", rounded(&product(&normed, &w.key)));
        let value = steps.done("value", rounded(&product(&normed, &w.value)));
        let query = steps.done("turned query", turned(&query, first));
        let key = steps.done("turned key", turned(&key, first));
        self.keys.extend(key.data);
        self.values.extend(value.data);
        let attended = steps.done("attention", self.attention(&query, first));
        let x = steps.done("output + x", plus(&product(&attended, &w.output), &x));

        let normed = steps.done("norm between", norm(&x, &w.norm_between));
        let wide =
            |weights, scales| rounded(&scaled_product(&normed, weights, scales, sizes.scaled));
        let gate = steps.done("gate", wide(&w.gate, &w.gate_scales));
        let up = steps.done("up", wide(&w.up, &w.up_scales));
        let gated = steps.done("swiglu", gate.map_with(&up, swiglu));
        let x = steps.done("down + x", plus(&product(&gated, &w.down), &x));

        let last = x.rows().next_back().unwrap_or_default().to_vec();
        let last = Matrix::new(sizes.model, last);
        let normed = steps.done("norm after", norm(&last, &w.norm_after));
        steps.done("scores", product(&normed, &w.scores));
        steps.results
    }

    /// A row of `query` uses the keys of its token and of those before.
    fn attention(&self, query: &Matrix, first: usize) -> Matrix {
        let sizes = self.weights.sizes;
        let share = sizes.heads / sizes.groups;
        query.map_rows(query.columns, |row, query| {
            let heads = query.chunks_exact(WIDTH).enumerate();
            let attended = heads.flat_map(|(h, query)| {
                let known = |cache| rows_of(cache, sizes.key(), h / share, first + row + 1);
                attend(query, &known(&self.keys), &known(&self.values))
            });
            attended.collect()
        })
    }
}

/// The part of head `head` of the first `count` rows of a cache.
fn rows_of(cache: &[Near], columns: usize, head: usize, count: usize) -> Vec<&[Near]> {
    let rows = cache.chunks_exact(columns).take(count);
    rows.map(|row| &row[head * WIDTH..][..WIDTH]).collect()
}

fn embedding(table: &Tensor<bf16, Two>, ids: &[i32]) -> Matrix {
    let columns = table.shape()[1];
    let rows = ids
        .iter()
        .flat_map(|&id| (0..columns).map(move |j| Near::exact(table[[id as usize, j]])));
    Matrix::new(columns, rows.collect())
}

fn rounded(x: &Matrix) -> Matrix {
    Matrix::new(x.columns, x.data.iter().map(|v| v.to_bf16()).collect())
}

/// `x / sqrt(mean(x²) + ε) · weight`. With `s` for the reciprocal root, the slope of result i with
/// respect to element j is `s · weight` times one if they are the same, minus `s² · xᵢ · xⱼ / N`.
fn norm(x: &Matrix, weight: &Tensor<bf16, One>) -> Matrix {
    let n = x.columns as f64;
    x.map_rows(x.columns, |_, row| {
        let square: f64 = row.iter().map(|v| v.value * v.value).sum();
        let s = 1.0 / (square / n + f64::from(EPSILON)).sqrt();
        let mut all = Linear::default();
        for v in row {
            all.add(v.value, *v);
        }
        let all = all.of(0.0, 0.0);
        let weights = weight.as_slice().iter().map(|&w| f64::from(w));
        let results = row.iter().zip(weights).map(|(v, w)| {
            let mut errors = Linear::default();
            errors.add(s * w, *v);
            errors.add(s * s * s * w * v.value / n, all);
            let value = v.value * s * w;
            // Of the squares and their sum, half; the reciprocal root and two products.
            errors
                .of(value, (0.5 * n + 6.0) * F32 * value.abs())
                .to_bf16()
        });
        results.collect()
    })
}

/// The sum of `lhs · weight` over a row of weights.
fn dot<W: Into<f64> + Copy>(lhs: &[Near], weights: &[W], scale: impl Fn(usize) -> f64) -> Near {
    let (mut value, mut size) = (0.0, 0.0);
    let mut errors = Linear::default();
    for (j, (v, &w)) in lhs.iter().zip(weights).enumerate() {
        let w = w.into() * scale(j);
        value += v.value * w;
        size += (v.value * w).abs();
        errors.add(w, *v);
    }
    // An f32 rounding for each element of the sum, and for the scale and its product.
    errors.of(value, (lhs.len() as f64 + 2.0) * F32 * size)
}

fn product<W: Element + Into<f64>>(x: &Matrix, weights: &Tensor<W, Two>) -> Matrix {
    let [results, columns] = weights.shape();
    x.map_rows(results, |_, row| {
        let weights = weights.as_slice().chunks_exact(columns);
        weights.map(|w| dot(row, w, |_| 1.0)).collect()
    })
}

fn scaled_product(
    x: &Matrix,
    weights: &Tensor<i8, Two>,
    scales: &Tensor<f32, Two>,
    group: usize,
) -> Matrix {
    let [results, columns] = weights.shape();
    x.map_rows(results, |_, row| {
        let weights = weights.as_slice().chunks_exact(columns).enumerate();
        weights
            .map(|(i, w)| dot(row, w, |j| f64::from(scales[[j / group, i]])))
            .collect()
    })
}

/// The sum of two, one of which has not been rounded.
fn plus(sum: &Matrix, rest: &Matrix) -> Matrix {
    sum.map_with(rest, |a, b| {
        let mut errors = Linear::default();
        errors.add(1.0, a);
        errors.add(1.0, b);
        let value = a.value + b.value;
        errors.of(value, F32 * value.abs()).to_bf16()
    })
}

/// The halves of a head are the real and imaginary parts of numbers that are rotated.
fn turned(x: &Matrix, first: usize) -> Matrix {
    x.map_rows(x.columns, |row, heads| {
        let position = (first + row) as f64;
        let results = heads.chunks_exact(WIDTH).flat_map(|head| {
            let pairs = WIDTH / 2;
            (0..WIDTH).map(move |d| {
                let (re, im) = (head[d % pairs], head[d % pairs + pairs]);
                let rate = f64::from(BASE).powf(-((d % pairs) as f64) / pairs as f64);
                let angle = position * rate;
                let (a, b) = match d < pairs {
                    true => (angle.cos(), -angle.sin()),
                    false => (angle.sin(), angle.cos()),
                };
                let mut errors = Linear::default();
                errors.add(a, re);
                errors.add(b, im);
                // The logarithm of the base, the power and the angle have errors of the angle's size.
                let own = (re.value.abs() + im.value.abs()) * (4.0 + 32.0 * angle) * F32;
                errors.of(a * re.value + b * im.value, own).to_bf16()
            })
        });
        results.collect()
    })
}

/// `softmax(q · kᵀ / √d) · v` for one query.
fn attend(query: &[Near], keys: &[&[Near]], values: &[&[Near]]) -> Vec<Near> {
    let root = (WIDTH as f64).sqrt();
    let scores: Vec<Near> = keys
        .iter()
        .map(|key| {
            let (mut score, mut size) = (0.0, 0.0);
            let mut errors = Linear::default();
            for (q, k) in query.iter().zip(*key) {
                score += q.value * k.value / root;
                size += (q.value * k.value / root).abs();
                errors.add(k.value / root, *q);
                errors.add(q.value / root, *k);
            }
            // Besides those of the sum: scaled, minus the maximum, and the power.
            errors.of(score, (WIDTH as f64 + 8.0) * F32 * size + 8.0 * F32)
        })
        .collect();
    let peak = scores.iter().fold(f64::MIN, |peak, s| peak.max(s.value));
    let total: f64 = scores.iter().map(|s| (s.value - peak).exp()).sum();
    // The slope of a weight is right for small errors of the scores; for others it is at most this
    // many times as large.
    let largest = scores.iter().fold(0.0_f64, |most, s| most.max(s.bound));
    let growth = (2.0 * largest).exp();
    let weights: Vec<f64> = scores
        .iter()
        .map(|s| (s.value - peak).exp() / total)
        .collect();
    let result = |d: usize| {
        let terms = || weights.iter().zip(values).map(|(w, v)| (w, v[d]));
        let value: f64 = terms().map(|(w, v)| w * v.value).sum();
        let size: f64 = terms().map(|(w, v)| (w * v.value).abs()).sum();
        let mut errors = Linear::default();
        for ((w, v), score) in terms().zip(&scores) {
            errors.add(w * (v.value - value), *score);
            errors.add(*w, v);
            // The weights are multiplied as bf16, and their sum is one of f32.
            errors.add(w * v.value, Near::exact(0.0).plus_error(BF16));
        }
        let count = weights.len() as f64;
        let mut result = errors.of(value, (2.0 * count + 8.0) * F32 * size);
        result.bound *= growth;
        result.to_bf16()
    };
    (0..WIDTH).map(result).collect()
}

fn swiglu(gate: Near, up: Near) -> Near {
    let sigmoid = 1.0 / (1.0 + (-gate.value).exp());
    let silu = gate.value * sigmoid;
    let slope = sigmoid * (1.0 + gate.value * (1.0 - sigmoid));
    let mut errors = Linear::default();
    errors.add(slope * up.value, gate);
    errors.add(silu, up);
    let value = silu * up.value;
    // The power's error grows with its exponent; three more operations. No second slope exceeds 1/2.
    let own = (8.0 + gate.value.abs()) * F32 * value.abs();
    let curved = 0.25 * gate.bound * gate.bound * up.value.abs() + gate.bound * up.bound * 1.1;
    let mut result = errors.of(value, own);
    result.bound += curved;
    result.to_bf16()
}

/// The largest error of a step, and its largest share of what is allowed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Worst {
    pub error: f64,
    pub share: f64,
}

/// Compares a step with the reference; another number of values counts as an infinite error.
pub fn compare(found: &[f64], expected: &[Near]) -> Worst {
    if found.len() != expected.len() {
        return Worst {
            error: f64::INFINITY,
            share: f64::INFINITY,
        };
    }
    let mut worst = Worst::default();
    for (f, e) in found.iter().zip(expected) {
        let error = (f - e.value).abs();
        let error = if error.is_nan() { f64::INFINITY } else { error };
        let share = match error == 0.0 {
            true => 0.0,
            false => error / e.tolerance(),
        };
        worst.error = worst.error.max(error);
        worst.share = worst.share.max(share);
    }
    worst
}

/// The `count` largest of `scores` and their places, those further left first if they are equal.
pub fn largest(scores: &[f64], count: usize) -> Vec<(f64, usize)> {
    let mut all: Vec<_> = scores.iter().copied().zip(0..).collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    all.truncate(count);
    all
}
