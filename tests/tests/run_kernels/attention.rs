use croq_kernels as kernels;
use croq_sys::half::{bf16, f16};
use croq_sys::{Const, Device, Tensor};
use croq_tests::compare::{Float, Near, assert_close, growth, near};

type Heads<T, const D: usize> = Tensor<T, (usize, usize, Const<D>)>;

/// The result for one query and the keys that are visible to it, with the tolerance of the kernels.
///
/// Scores are sums of `D` products in f32, scaled in f32: their errors are relative ones of the
/// weights. Weights are within 2 ulp of the exact power, and scaled down at most once per tile, in
/// f32; they are rounded to `T` for the second product, not for their sum. Sums of weighted values
/// are computed in f32, and the result is rounded to `T`.
fn expected<T: Float, const D: usize>(q: &[T], keys: &[&[T]], values: &[&[T]]) -> Vec<Near> {
    let scale = 1.0 / (D as f64).sqrt();
    let scores: Vec<(f64, f64)> = keys
        .iter()
        .map(|key| {
            let products = q.iter().zip(*key).map(|(a, b)| a.wide() * b.wide());
            let (sum, size) = products.fold((0.0, 0.0), |(s, m), p| (s + p, m + p.abs()));
            (sum * scale, size * scale)
        })
        .collect();
    let peak = scores.iter().map(|s| s.0).fold(f64::MIN, f64::max);
    let largest = scores.iter().map(|s| s.1).fold(0.0, f64::max);
    let weights: Vec<f64> = scores.iter().map(|s| (s.0 - peak).exp()).collect();
    let total: f64 = weights.iter().sum();
    // The errors of a score and of the largest one before the power of 2 is taken, the rounding of
    // the scaling included.
    let power = 2.0 * largest * growth::<f32>(2 * D + 4);
    let relative = growth::<f32>(2 * keys.len() + 4 * keys.len().div_ceil(32) + 16);
    let weight = power.exp_m1() + relative;
    let smallest = T::SMALLEST * (1 + keys.len()) as f64;
    let column = |c: usize| {
        let weighted = weights.iter().zip(values).map(|(w, v)| w * v[c].wide());
        let (sum, size) = weighted.fold((0.0, 0.0), |(s, m), p| (s + p, m + p.abs()));
        let (value, size) = (sum / total, size / total);
        let inner = size * (2.0 * weight + T::ROUNDOFF) * 1.01;
        near(value, inner + value.abs() * T::ROUNDOFF + smallest)
    };
    (0..D).map(column).collect()
}

fn check<T: Float, const D: usize>(out: &Heads<T, D>, [q, k, v]: [&Heads<T, D>; 3], causal: bool) {
    let [heads, m, _] = q.shape();
    let n = k.shape()[1];
    assert_eq!(out.shape(), [heads, m, D]);
    let row = |t: &Heads<T, D>, rows: usize, h: usize, i: usize| {
        let from = (h * rows + i) * D;
        t.as_slice()[from..from + D].to_vec()
    };
    for h in 0..heads {
        let keys: Vec<Vec<T>> = (0..n).map(|j| row(k, n, h, j)).collect();
        let values: Vec<Vec<T>> = (0..n).map(|j| row(v, n, h, j)).collect();
        let keys: Vec<&[T]> = keys.iter().map(Vec::as_slice).collect();
        let values: Vec<&[T]> = values.iter().map(Vec::as_slice).collect();
        for i in 0..m {
            let seen = if causal { i + 1 } else { n };
            let query = row(q, m, h, i);
            let found = Tensor::<T, _>::from_vec((D,), row(out, m, h, i)).unwrap();
            let expected = expected::<T, D>(&query, &keys[..seen], &values[..seen]);
            assert_close(&found, |[c]| expected[c]);
        }
    }
}

/// Heads, queries and keys: sizes that are multiples of the tiles and others, one key, more queries
/// than keys and fewer.
const SIZES: [(usize, usize, usize); 5] = [
    (1, 1, 1),
    (2, 64, 64),
    (1, 70, 33),
    (1, 20, 200),
    (1, 129, 97),
];

macro_rules! attention {
    ($($test:ident: $kernel:ident, $causal:ident, $ty:ty, $d:literal;)*) => {$(
        #[test]
        fn $test() {
            for (seed, (heads, m, n)) in (50..).zip(SIZES) {
                // Large enough for weights that differ by orders of magnitude.
                let random = |rows, seed| {
                    Tensor::<$ty, _>::random((heads, rows, Const::<$d>), -2.0..2.0, seed)
                };
                let (q, k, v) = (random(m, seed), random(n, seed + 100), random(n, seed + 200));
                let device = Device::default();
                let there = |t: &Heads<$ty, $d>| t.to_device(&device).unwrap();
                let poisoned = || {
                    let nan = |_| <$ty>::from_f32(f32::NAN);
                    there(&Tensor::from_fn((heads, m, Const::<$d>), nan))
                };
                let mut out = poisoned();
                kernels::$kernel(&there(&q), &there(&k), &there(&v), &mut out).unwrap();
                check(&out.to_host().unwrap(), [&q, &k, &v], false);
                let (k, v) = (random(m, seed + 300), random(m, seed + 400));
                let mut out = poisoned();
                kernels::$causal(&there(&q), &there(&k), &there(&v), &mut out).unwrap();
                check(&out.to_host().unwrap(), [&q, &k, &v], true);
            }
        }
    )*};
}

attention! {
    f16_64: attention, attention_causal, f16, 64;
    f16_128: attention, attention_causal, f16, 128;
    bf16_64: attention, attention_causal, bf16, 64;
    bf16_128: attention, attention_causal, bf16, 128;
    hopper_f16_64: attention_hopper, attention_causal_hopper, f16, 64;
    hopper_f16_128: attention_hopper, attention_causal_hopper, f16, 128;
    hopper_bf16_64: attention_hopper, attention_causal_hopper, bf16, 64;
    hopper_bf16_128: attention_hopper, attention_causal_hopper, bf16, 128;
}
