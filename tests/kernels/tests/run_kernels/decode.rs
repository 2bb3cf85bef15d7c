use croq_kernel_tests::compare::{Float, assert_close, growth, near};
use croq_kernels as kernels;
use croq_sys::half::{bf16, f16};
use croq_sys::{Const, Device, DeviceTensor, Element, Error, Tensor};

use super::attention::expected;

type Queries<T, const D: usize> = Tensor<T, (usize, usize, Const<D>)>;
type Cache<T, const D: usize> = Tensor<T, (usize, usize, usize, Const<D>)>;

/// Sequences, heads of queries and of keys, and the rows of the cache.
#[derive(Clone, Copy)]
struct Sizes {
    batch: usize,
    heads: usize,
    groups: usize,
    rows: usize,
}

struct Inputs<T, const D: usize> {
    q: Queries<T, D>,
    k: Cache<T, D>,
    v: Cache<T, D>,
    lengths: Tensor<i32, (usize,)>,
}

/// What a cache holds beyond the length of its sequence is NaN.
fn inputs<T, const D: usize>(sizes: Sizes, lengths: &[i32], seed: u64) -> Inputs<T, D>
where
    T: Float + Element<Bound = f32>,
{
    let dims = (sizes.batch, sizes.groups, sizes.rows, Const::<D>);
    let cache = |seed| {
        let known = Tensor::<T, _>::random(dims, -2.0..2.0, seed);
        let nan = Tensor::<T, _>::random((1,), f32::NAN..f32::NAN, 0);
        assert!(nan[[0]].wide().is_nan());
        let at = |[b, g, n, d]: [usize; 4]| match n < lengths[b].max(0) as usize {
            true => known[[b, g, n, d]],
            false => nan[[0]],
        };
        Tensor::from_fn(dims, at)
    };
    Inputs {
        q: Tensor::random((sizes.batch, sizes.heads, Const::<D>), -2.0..2.0, seed),
        k: cache(seed + 1),
        v: cache(seed + 2),
        lengths: Tensor::from_vec((sizes.batch,), lengths.to_vec()).unwrap(),
    }
}

type Kernel<T, const D: usize> = fn(
    &DeviceTensor<T, (usize, usize, Const<D>)>,
    &DeviceTensor<T, (usize, usize, usize, Const<D>)>,
    &DeviceTensor<T, (usize, usize, usize, Const<D>)>,
    &DeviceTensor<i32, (usize,)>,
    &mut DeviceTensor<T, (usize, usize, Const<D>)>,
    i32,
) -> Result<(), Error>;

fn result<T: Float, const D: usize>(
    kernel: Kernel<T, D>,
    inputs: &Inputs<T, D>,
    parts: i32,
) -> Result<Queries<T, D>, Error> {
    let device = Device::default();
    let mut out = DeviceTensor::zeros(inputs.q.dims(), &device)?;
    kernel(
        &inputs.q.to_device(&device)?,
        &inputs.k.to_device(&device)?,
        &inputs.v.to_device(&device)?,
        &inputs.lengths.to_device(&device)?,
        &mut out,
        parts,
    )?;
    out.to_host()
}

fn check<T: Float, const D: usize>(out: &Queries<T, D>, inputs: &Inputs<T, D>) {
    let [batch, heads, _] = out.shape();
    let groups = inputs.k.shape()[1];
    for b in 0..batch {
        let length = inputs.lengths[[b]] as usize;
        for h in 0..heads {
            let row = |t: &Cache<T, D>, n| -> Vec<T> {
                (0..D).map(|d| t[[b, h / (heads / groups), n, d]]).collect()
            };
            let keys: Vec<Vec<T>> = (0..length).map(|n| row(&inputs.k, n)).collect();
            let values: Vec<Vec<T>> = (0..length).map(|n| row(&inputs.v, n)).collect();
            let keys: Vec<&[T]> = keys.iter().map(Vec::as_slice).collect();
            let values: Vec<&[T]> = values.iter().map(Vec::as_slice).collect();
            let query: Vec<T> = (0..D).map(|d| inputs.q[[b, h, d]]).collect();
            let found: Vec<T> = (0..D).map(|d| out[[b, h, d]]).collect();
            if length == 0 {
                let zero = found.iter().all(|v| v.wide() == 0.0);
                assert!(zero, "sequence {b} without keys: {found:?}");
                continue;
            }
            let expected = expected::<T, D>(&query, &keys, &values);
            let found = Tensor::from_vec((D,), found).unwrap();
            assert_close(&found, |[d]| expected[d]);
        }
    }
}

fn all<T, const D: usize>(kernel: Kernel<T, D>)
where
    T: Float + Element<Bound = f32>,
{
    let cases: [([usize; 3], i32, &[i32]); 5] = [
        // No key, one, parts of a tile, whole ones, and several per part.
        ([4, 4, 300], 3, &[0, 1, 63, 64, 65, 300]),
        ([8, 2, 200], 2, &[17, 200, 130]),
        // More heads than rows of a product.
        ([20, 1, 100], 1, &[100, 3]),
        // More parts than tiles.
        ([2, 1, 70], 7, &[70, 1, 0]),
        ([1, 1, 1], 1, &[1]),
    ];
    for (seed, ([heads, groups, rows], parts, lengths)) in (70..).zip(cases) {
        let batch = lengths.len();
        let sizes = Sizes {
            batch,
            heads,
            groups,
            rows,
        };
        let inputs = inputs::<T, D>(sizes, lengths, 10 * seed);
        check(&result(kernel, &inputs, parts).unwrap(), &inputs);
    }
}

/// Scores of -2^127, whose products with the scale are exact: also parts without keys and hidden keys
/// have no larger maximum.
#[test]
fn scores_near_the_least_number() {
    let sizes = Sizes {
        batch: 3,
        heads: 4,
        groups: 2,
        rows: 130,
    };
    let mut inputs = inputs::<bf16, 64>(sizes, &[1, 70, 130], 990);
    let only_first = |at: usize, value: f32| match at {
        0 => bf16::from_f32(value),
        _ => bf16::ZERO,
    };
    inputs.q = Tensor::from_fn(inputs.q.dims(), |[_, _, d]| only_first(d, 2.0_f32.powi(63)));
    inputs.k = Tensor::from_fn(inputs.k.dims(), |[.., d]| {
        only_first(d, -(2.0_f32.powi(64)))
    });
    for parts in [1, 3] {
        let out = result(kernels::attention_decode, &inputs, parts).unwrap();
        // All weights are equal.
        assert_close(&out, |[b, h, d]| {
            let length = inputs.lengths[[b]] as usize;
            let values = (0..length).map(|n| inputs.v[[b, h / 2, n, d]].wide());
            let (sum, size) = values.fold((0.0, 0.0), |(s, m), v| (s + v, m + v.abs()));
            let rounding = size * growth::<f32>(length + 8) + sum.abs() * bf16::ROUNDOFF;
            near(sum / length as f64, rounding / length as f64)
        });
    }
}

#[test]
fn decode_f16_64() {
    all::<f16, 64>(kernels::attention_decode);
}

#[test]
fn decode_f16_128() {
    all::<f16, 128>(kernels::attention_decode);
}

#[test]
fn decode_bf16_64() {
    all::<bf16, 64>(kernels::attention_decode);
}

#[test]
fn decode_bf16_128() {
    all::<bf16, 128>(kernels::attention_decode);
}

#[test]
fn decode_reports_wrong_arguments() {
    let sizes = Sizes {
        batch: 2,
        heads: 4,
        groups: 2,
        rows: 70,
    };
    let call = |sizes, lengths: [i32; 2], parts| {
        let inputs = inputs::<f16, 64>(sizes, &lengths, 5);
        let error = result(kernels::attention_decode, &inputs, parts).unwrap_err();
        error.to_string()
    };
    let error = call(sizes, [1, 2], 0);
    assert!(error.contains("at least one part"), "{error}");
    let uneven = Sizes { groups: 3, ..sizes };
    let error = call(uneven, [1, 2], 1);
    assert!(error.contains("as many heads of queries"), "{error}");
    for wrong in [-1, 71, i32::MAX] {
        let error = call(sizes, [3, wrong], 2);
        assert!(error.contains("lengths must be between 0 and"), "{error}");
        if croq_kernel_tests::gpu::ends_at_failure() {
            break;
        }
    }
}
