use croq_kernels as kernels;
use croq_sys::half::{bf16, f16};
use croq_sys::{Const, Device, DeviceTensor, Element, Error, Tensor};
use croq_tests::compare::{Float, assert_close};

use super::attention::expected;

type Rows<T, const D: usize> = Tensor<T, (usize, usize, Const<D>)>;
type Resident<T, const D: usize> = DeviceTensor<T, (usize, usize, Const<D>)>;

/// The queries and keys of each sequence, one after the other.
struct Inputs<T, const D: usize> {
    q: Rows<T, D>,
    k: Rows<T, D>,
    v: Rows<T, D>,
    at: Vec<i32>,
    key_at: Vec<i32>,
}

/// Where each of several lengths begins, and where the last one ends.
fn offsets(lengths: impl Iterator<Item = i32>) -> Vec<i32> {
    let mut all = vec![0];
    for length in lengths {
        all.push(all[all.len() - 1] + length);
    }
    all
}

fn inputs<T, const D: usize>(lengths: &[(i32, i32)], heads: [usize; 2], seed: u64) -> Inputs<T, D>
where
    T: Float + Element<Bound = f32>,
{
    let at = offsets(lengths.iter().map(|l| l.0));
    let key_at = offsets(lengths.iter().map(|l| l.1));
    let random = |rows: &[i32], heads, seed| {
        let rows = rows[rows.len() - 1] as usize;
        Tensor::random((rows, heads, Const::<D>), -2.0..2.0, seed)
    };
    Inputs {
        q: random(&at, heads[0], seed),
        k: random(&key_at, heads[1], seed + 1),
        v: random(&key_at, heads[1], seed + 2),
        at,
        key_at,
    }
}

type Kernel<T, const D: usize> = fn(
    &Resident<T, D>,
    &Resident<T, D>,
    &Resident<T, D>,
    &DeviceTensor<i32, (usize,)>,
    &DeviceTensor<i32, (usize,)>,
    &mut Resident<T, D>,
    i32,
) -> Result<(), Error>;

fn result<T: Float, const D: usize>(
    kernel: Kernel<T, D>,
    inputs: &Inputs<T, D>,
    longest: i32,
) -> Result<Rows<T, D>, Error> {
    let device = Device::default();
    let line = |all: &Vec<i32>| Tensor::from_vec((all.len(),), all.clone())?.to_device(&device);
    let mut out = DeviceTensor::zeros(inputs.q.dims(), &device)?;
    kernel(
        &inputs.q.to_device(&device)?,
        &inputs.k.to_device(&device)?,
        &inputs.v.to_device(&device)?,
        &line(&inputs.at)?,
        &line(&inputs.key_at)?,
        &mut out,
        longest,
    )?;
    out.to_host()
}

fn check<T: Float, const D: usize>(out: &Rows<T, D>, inputs: &Inputs<T, D>, causal: bool) {
    let [_, heads, _] = out.shape();
    let groups = inputs.k.shape()[1];
    let row =
        |t: &Rows<T, D>, n: usize, h: usize| -> Vec<T> { (0..D).map(|d| t[[n, h, d]]).collect() };
    for (at, key_at) in inputs.at.windows(2).zip(inputs.key_at.windows(2)) {
        let (first, first_key) = (at[0] as usize, key_at[0] as usize);
        let (rows, keys) = (at[1] - at[0], key_at[1] - key_at[0]);
        for (i, h) in (0..rows).flat_map(|i| (0..heads).map(move |h| (i, h))) {
            let seen = match causal {
                true => (i + 1 + keys - rows).max(0) as usize,
                false => keys as usize,
            };
            let of = h / (heads / groups);
            let rows_of =
                |t| -> Vec<Vec<T>> { (0..seen).map(|n| row(t, first_key + n, of)).collect() };
            let (keys, values) = (rows_of(&inputs.k), rows_of(&inputs.v));
            let found = row(out, first + i as usize, h);
            if seen == 0 {
                let zero = found.iter().all(|v| v.wide() == 0.0);
                assert!(zero, "row {i} without keys: {found:?}");
                continue;
            }
            let keys: Vec<&[T]> = keys.iter().map(Vec::as_slice).collect();
            let values: Vec<&[T]> = values.iter().map(Vec::as_slice).collect();
            let query = row(&inputs.q, first + i as usize, h);
            let expected = expected::<T, D>(&query, &keys, &values);
            let found = Tensor::from_vec((D,), found).unwrap();
            assert_close(&found, |[d]| expected[d]);
        }
    }
}

/// Lengths of queries and keys, and heads of both.
const CASES: [(&[(i32, i32)], [usize; 2]); 4] = [
    // One row, none, a tile, several, and more keys than queries.
    (&[(1, 1), (0, 3), (64, 64), (70, 70), (5, 150)], [2, 1]),
    // Queries without keys, also at the end; fewer keys than queries.
    (&[(3, 0), (20, 9), (2, 2), (7, 0)], [1, 1]),
    (&[(130, 131)], [4, 2]),
    (&[(0, 1), (0, 0), (1, 40)], [3, 3]),
];

fn all<T, const D: usize>(full: Kernel<T, D>, causal: Kernel<T, D>)
where
    T: Float + Element<Bound = f32>,
{
    for (seed, (lengths, heads)) in (90..).zip(CASES) {
        let inputs = inputs::<T, D>(lengths, heads, 10 * seed);
        let longest = lengths.iter().map(|l| l.0).max().unwrap();
        check(&result(full, &inputs, longest).unwrap(), &inputs, false);
        let out = result(causal, &inputs, longest + 70).unwrap();
        check(&out, &inputs, true);
    }
}

#[test]
fn packed_f16_64() {
    all::<f16, 64>(kernels::attention_packed, kernels::attention_packed_causal);
}

#[test]
fn packed_f16_128() {
    all::<f16, 128>(kernels::attention_packed, kernels::attention_packed_causal);
}

#[test]
fn packed_bf16_64() {
    all::<bf16, 64>(kernels::attention_packed, kernels::attention_packed_causal);
}

#[test]
fn packed_bf16_128() {
    all::<bf16, 128>(kernels::attention_packed, kernels::attention_packed_causal);
}

#[test]
fn packed_reports_wrong_offsets() {
    let right = || inputs::<f16, 64>(&[(10, 10), (20, 30)], [2, 2], 7);
    let error = |inputs: Inputs<f16, 64>, longest| {
        let error = result(kernels::attention_packed_causal, &inputs, longest).unwrap_err();
        error.to_string()
    };
    let found = error(
        Inputs {
            at: vec![0, 30],
            ..right()
        },
        20,
    );
    assert!(found.contains("as many offsets"), "{found}");
    for (at, key_at, longest, text) in [
        (vec![0, 10, 31], vec![0, 10, 40], 64, "sequences one after"),
        (vec![0, 10, 9], vec![0, 10, 40], 20, "sequences one after"),
        (vec![0, 10, 30], vec![0, -1, 40], 20, "keys one after"),
        (
            vec![0, 10, 30],
            vec![0, 10, 40],
            19,
            "no sequence is longer",
        ),
    ] {
        let found = error(
            Inputs {
                at,
                key_at,
                ..right()
            },
            longest,
        );
        assert!(found.contains(text), "{found}");
        if croq_tests::gpu::ends_at_failure() {
            break;
        }
    }
}
