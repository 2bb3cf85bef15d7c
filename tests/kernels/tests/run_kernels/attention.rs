use croq_kernel_tests::compare::{Float, Near, assert_close, growth, near};
use croq_kernels as kernels;
use croq_sys::half::{bf16, f16};
use croq_sys::{Const, Device, DeviceTensor, Element, Error, Tensor};

type Dims<const D: usize> = (usize, usize, Const<D>);
type Heads<T, const D: usize> = Tensor<T, Dims<D>>;

/// The result for one query and the keys that are visible to it, with the tolerance of the kernels.
///
/// Scores are sums of `D` products in f32, scaled in f32: their errors are relative ones of the
/// weights. Weights are within 2 ulp of the exact power, and scaled down at most once per tile, in
/// f32; they are rounded to `T` for the second product, not for their sum. Sums of weighted values
/// are computed in f32, and the result is rounded to `T`.
pub(super) fn expected<T: Float, const D: usize>(
    q: &[T],
    keys: &[&[T]],
    values: &[&[T]],
) -> Vec<Near> {
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
    let [groups, n, _] = k.shape();
    assert_eq!(out.shape(), [heads, m, D]);
    let row = |t: &Heads<T, D>, rows: usize, h: usize, i: usize| {
        let from = (h * rows + i) * D;
        t.as_slice()[from..from + D].to_vec()
    };
    for h in 0..heads {
        let of = h / (heads / groups);
        let keys: Vec<Vec<T>> = (0..n).map(|j| row(k, n, of, j)).collect();
        let values: Vec<Vec<T>> = (0..n).map(|j| row(v, n, of, j)).collect();
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

type Inputs<T, const D: usize> = [Heads<T, D>; 3];

fn inputs<T, const D: usize>([heads, groups]: [usize; 2], [m, n]: [usize; 2]) -> Inputs<T, D>
where
    T: Float + Element<Bound = f32>,
{
    let random = |heads, rows, seed| Tensor::random((heads, rows, Const::<D>), -2.0..2.0, seed);
    [
        random(heads, m, 61),
        random(groups, n, 62),
        random(groups, n, 63),
    ]
}

type Kernel<T, const D: usize> = fn(
    &DeviceTensor<T, Dims<D>>,
    &DeviceTensor<T, Dims<D>>,
    &DeviceTensor<T, Dims<D>>,
    &mut DeviceTensor<T, Dims<D>>,
) -> Result<(), Error>;

fn result<T: Float, const D: usize>(
    kernel: Kernel<T, D>,
    inputs: &Inputs<T, D>,
) -> Result<Heads<T, D>, Error> {
    let device = Device::default();
    let [q, k, v] = inputs.each_ref().map(|t| t.to_device(&device).unwrap());
    let mut out = DeviceTensor::zeros(inputs[0].dims(), &device)?;
    kernel(&q, &k, &v, &mut out)?;
    out.to_host()
}

#[test]
fn heads_of_256() {
    for (m, n) in [(64, 64), (70, 33), (129, 200)] {
        let halves = inputs::<f16, 256>([2, 2], [m, n]);
        let out = result(kernels::attention_hopper, &halves).unwrap();
        check(&out, halves.each_ref(), false);
        let brains = inputs::<bf16, 256>([1, 1], [m, n]);
        let out = result(kernels::attention_hopper, &brains).unwrap();
        check(&out, brains.each_ref(), false);
    }
}

#[test]
fn heads_that_share_keys() {
    for [heads, groups] in [[4, 2], [6, 1], [3, 3]] {
        let full = inputs::<bf16, 64>([heads, groups], [70, 150]);
        let out = result(kernels::attention_hopper, &full).unwrap();
        check(&out, full.each_ref(), false);
        let causal = inputs::<f16, 128>([heads, groups], [140, 140]);
        let out = result(kernels::attention_causal_hopper, &causal).unwrap();
        check(&out, causal.each_ref(), true);
    }
    let uneven = inputs::<f16, 64>([3, 2], [70, 70]);
    for kernel in [
        kernels::attention_hopper as Kernel<f16, 64>,
        kernels::attention_causal_hopper,
    ] {
        let error = result(kernel, &uneven).unwrap_err();
        let text = "as many heads of queries for each head of keys";
        assert!(error.to_string().contains(text), "{error}");
    }
    let none = inputs::<f16, 64>([2, 2], [70, 0]);
    let error = result(kernels::attention_hopper, &none).unwrap_err();
    assert!(error.to_string().contains("at least one"), "{error}");
}

/// Values that are not numbers, infinite, and very small ones: a warpgroup arrives for a slot after it
/// has computed with them, whatever they are.
#[test]
fn values_that_are_no_numbers() {
    const ROWS: usize = 300;
    let mut tensors = inputs::<f16, 64>([1, 1], [ROWS, ROWS]);
    let usual = result(kernels::attention_hopper, &tensors).unwrap();
    tensors[0][[0, 5, 3]] = f16::NAN;
    for e in 0..64 {
        tensors[0][[0, 140, e]] = f16::INFINITY;
        tensors[0][[0, 201, e]] = f16::NEG_INFINITY;
    }
    let out = result(kernels::attention_hopper, &tensors).unwrap();
    for i in 0..ROWS {
        for e in 0..64 {
            let (found, usual) = (out[[0, i, e]], usual[[0, i, e]]);
            match [5, 140, 201].contains(&i) {
                true => assert!(found.is_nan(), "row {i}: {found}"),
                false => assert_eq!(found.to_bits(), usual.to_bits(), "row {i}"),
            }
        }
    }
    // A key: queries before it don't see it.
    let mut tensors = inputs::<f16, 64>([1, 1], [ROWS, ROWS]);
    let usual = result(kernels::attention_causal_hopper, &tensors).unwrap();
    tensors[1][[0, 150, 7]] = f16::NAN;
    let out = result(kernels::attention_causal_hopper, &tensors).unwrap();
    for i in 0..ROWS {
        for e in 0..64 {
            let (found, usual) = (out[[0, i, e]], usual[[0, i, e]]);
            match i < 150 {
                true => assert_eq!(found.to_bits(), usual.to_bits(), "row {i}"),
                false => assert!(found.is_nan(), "row {i}: {found}"),
            }
        }
    }
}
