use croq_kernel_tests::compare::{Float, assert_close};
use croq_kernels as kernels;
use croq_sys::half::{bf16, f16};
use croq_sys::{Const, Device, DeviceTensor, Element, Error, Tensor};

use super::attention::expected;

type Rows<T, const D: usize> = Tensor<T, (usize, usize, Const<D>)>;
type Resident<T, const D: usize> = DeviceTensor<T, (usize, usize, Const<D>)>;

/// The queries and keys of each sequence, one after the other. What belongs to no sequence is NaN.
struct Inputs<T, const D: usize> {
    q: Rows<T, D>,
    k: Rows<T, D>,
    v: Rows<T, D>,
    at: Vec<i32>,
    key_at: Vec<i32>,
}

/// Rows in front of the first sequence, and as many behind the last one.
const SPARE: i32 = 3;

/// Where each of several lengths begins, and where the last one ends.
fn offsets(lengths: impl Iterator<Item = i32>) -> Vec<i32> {
    let mut all = vec![SPARE];
    for length in lengths {
        all.push(all[all.len() - 1] + length);
    }
    all
}

fn nan<T: Element<Bound = f32>>() -> T {
    let value = Tensor::<T, _>::random((1,), f32::NAN..f32::NAN, 0);
    value.as_slice()[0]
}

fn inputs<T, const D: usize>(lengths: &[(i32, i32)], heads: [usize; 2], seed: u64) -> Inputs<T, D>
where
    T: Float + Element<Bound = f32>,
{
    let at = offsets(lengths.iter().map(|l| l.0));
    let key_at = offsets(lengths.iter().map(|l| l.1));
    let random = |rows: &[i32], heads, seed| {
        let used = rows[0] as usize..rows[rows.len() - 1] as usize;
        let dims = (used.end + SPARE as usize, heads, Const::<D>);
        let values = Tensor::random(dims, -2.0..2.0, seed);
        Tensor::from_fn(dims, |place: [usize; 3]| match used.contains(&place[0]) {
            true => values[place],
            false => nan(),
        })
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

fn result<T, const D: usize>(
    kernel: Kernel<T, D>,
    inputs: &Inputs<T, D>,
    longest: i32,
) -> Result<Rows<T, D>, Error>
where
    T: Float + Element<Bound = f32>,
{
    let device = Device::default();
    let line = |all: &Vec<i32>| Tensor::from_vec((all.len(),), all.clone())?.to_device(&device);
    let poisoned = Tensor::from_fn(inputs.q.dims(), |_| nan::<T>());
    let mut out = poisoned.to_device(&device)?;
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
    let sequences = inputs.at.len() - 1;
    for sequence in 0..sequences {
        check_sequence(out, inputs, causal, sequence);
    }
    let [rows, heads, _] = out.shape();
    let used = inputs.at[0] as usize..inputs.at[sequences] as usize;
    for i in (0..rows).filter(|i| !used.contains(i)) {
        let kept = (0..heads).all(|h| (0..D).all(|d| out[[i, h, d]].wide().is_nan()));
        assert!(kept, "row {i} belongs to no sequence");
    }
}

fn check_sequence<T: Float, const D: usize>(
    out: &Rows<T, D>,
    inputs: &Inputs<T, D>,
    causal: bool,
    sequence: usize,
) {
    let heads = out.shape()[1];
    let groups = inputs.k.shape()[1];
    let row =
        |t: &Rows<T, D>, n: usize, h: usize| -> Vec<T> { (0..D).map(|d| t[[n, h, d]]).collect() };
    let [at, key_at] = [&inputs.at, &inputs.key_at].map(|all| &all[sequence..sequence + 2]);
    let (first, first_key) = (at[0] as usize, key_at[0] as usize);
    let (rows, keys) = (at[1] - at[0], key_at[1] - key_at[0]);
    for (i, h) in (0..rows).flat_map(|i| (0..heads).map(move |h| (i, h))) {
        let seen = match causal {
            true => (i + 1 + keys - rows).max(0) as usize,
            false => keys as usize,
        };
        let of = h / (heads / groups);
        let rows_of = |t| -> Vec<Vec<T>> { (0..seen).map(|n| row(t, first_key + n, of)).collect() };
        let (keys, values) = (rows_of(&inputs.k), rows_of(&inputs.v));
        let found = row(out, first + i as usize, h);
        if seen == 0 {
            let zero = found.iter().all(|v| v.wide() == 0.0);
            assert!(
                zero,
                "row {i} of sequence {sequence} without keys: {found:?}"
            );
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

type Case = (&'static [(i32, i32)], [usize; 2]);

/// Lengths of queries and keys, and heads of both.
const CASES: [Case; 4] = [
    // One row, none, a tile, several, and more keys than queries.
    (&[(1, 1), (0, 3), (64, 64), (70, 70), (5, 150)], [2, 1]),
    // Queries without keys, also at the end; fewer keys than queries.
    (&[(3, 0), (20, 9), (2, 2), (7, 0)], [1, 1]),
    (&[(130, 131)], [4, 2]),
    (&[(0, 1), (0, 0), (1, 40)], [3, 3]),
];

/// The same for tiles of 128, and steps of two slots, odd and even numbers of them.
const HOPPER: [Case; 5] = [
    (&[(1, 1), (0, 3), (128, 128), (5, 300)], [2, 1]),
    (&[(3, 0), (150, 9), (2, 2), (7, 0)], [1, 1]),
    (&[(130, 327)], [1, 1]),
    (&[(200, 160), (64, 129)], [1, 1]),
    (&[(0, 1), (0, 0), (1, 40)], [3, 3]),
];

fn all<T, const D: usize>(full: Kernel<T, D>, causal: Kernel<T, D>, cases: &[Case])
where
    T: Float + Element<Bound = f32>,
{
    for (seed, (lengths, heads)) in (90..).zip(cases) {
        let inputs = inputs::<T, D>(lengths, *heads, 10 * seed);
        let longest = lengths.iter().map(|l| l.0).max().unwrap();
        check(&result(full, &inputs, longest).unwrap(), &inputs, false);
        let out = result(causal, &inputs, longest + 70).unwrap();
        check(&out, &inputs, true);
    }
}

macro_rules! packed {
    ($($test:ident: $full:ident, $causal:ident, $cases:ident, $ty:ty, $d:literal;)*) => {$(
        #[test]
        fn $test() {
            all::<$ty, $d>(kernels::$full, kernels::$causal, &$cases);
        }
    )*};
}

packed! {
    packed_f16_64: attention_packed, attention_packed_causal, CASES, f16, 64;
    packed_f16_128: attention_packed, attention_packed_causal, CASES, f16, 128;
    packed_bf16_64: attention_packed, attention_packed_causal, CASES, bf16, 64;
    packed_bf16_128: attention_packed, attention_packed_causal, CASES, bf16, 128;
    packed_hopper_f16_64: attention_packed_hopper, attention_packed_causal_hopper, HOPPER, f16, 64;
    packed_hopper_f16_128: attention_packed_hopper, attention_packed_causal_hopper, HOPPER, f16, 128;
    packed_hopper_bf16_64: attention_packed_hopper, attention_packed_causal_hopper, HOPPER, bf16, 64;
    packed_hopper_bf16_128: attention_packed_hopper, attention_packed_causal_hopper, HOPPER, bf16, 128;
}

/// More tiles of queries than blocks: four for each of sixteen blocks, each with a number of tiles of keys
/// of its own, and none for the other blocks.
#[test]
fn blocks_that_stay() {
    let lengths: Vec<(i32, i32)> = (0..4 * 132)
        .map(|s| match s % 132 < 16 {
            true => (1 + s % 4, s * 53 % 400),
            false => (0, 0),
        })
        .collect();
    let inputs = inputs::<f16, 64>(&lengths, [1, 1], 33);
    let out = result(kernels::attention_packed_hopper, &inputs, 4).unwrap();
    check(&out, &inputs, false);
    let out = result(kernels::attention_packed_causal_hopper, &inputs, 4).unwrap();
    check(&out, &inputs, true);
}

/// What is not finite in a sequence does not come into the results of those beside it.
fn alone<const D: usize>(kernels: [Kernel<f16, D>; 2], lengths: &[(i32, i32)]) {
    let tensors = inputs::<f16, D>(lengths, [1, 1], 77);
    for (causal, kernel) in [false, true].into_iter().zip(kernels) {
        for value in [f16::NAN, f16::INFINITY] {
            let spoil = |t: &Rows<f16, D>, at: &[i32]| {
                Tensor::from_fn(t.dims(), |place: [usize; 3]| {
                    let of = at.iter().filter(|first| **first <= place[0] as i32);
                    match of.count() % 2 {
                        0 => value,
                        _ => t[place],
                    }
                })
            };
            let spoiled = Inputs {
                q: spoil(&tensors.q, &tensors.at),
                k: spoil(&tensors.k, &tensors.key_at),
                v: spoil(&tensors.v, &tensors.key_at),
                at: tensors.at.clone(),
                key_at: tensors.key_at.clone(),
            };
            let out = result(kernel, &spoiled, 140).unwrap();
            for sequence in (0..lengths.len()).step_by(2) {
                check_sequence(&out, &spoiled, causal, sequence);
            }
        }
    }
}

/// Those that count are at even places: shorter than a tile, longer, and with no row.
const NEIGHBOURS: [(i32, i32); 9] = [
    (60, 60),
    (3, 140),
    (20, 150),
    (3, 1),
    (140, 140),
    (1, 200),
    (0, 90),
    (5, 5),
    (40, 30),
];

#[test]
fn sequences_beside_others() {
    let kernels = [kernels::attention_packed, kernels::attention_packed_causal];
    alone::<64>(kernels, &NEIGHBOURS);
}

#[test]
fn sequences_beside_others_by_warpgroups() {
    let kernels = [
        kernels::attention_packed_hopper,
        kernels::attention_packed_causal_hopper,
    ];
    alone::<128>(kernels, &NEIGHBOURS);
}

/// One call in each test: a check that fails makes a GPU unusable for its process.
fn refuses(kernel: Kernel<f16, 64>, at: &[i32], key_at: &[i32], longest: i32, text: &str) {
    let wrong = Inputs {
        at: at.to_vec(),
        key_at: key_at.to_vec(),
        // With the rows that are spare, 30 queries and 40 keys.
        ..inputs::<f16, 64>(&[(10, 10), (14, 24)], [2, 2], 7)
    };
    let error = result(kernel, &wrong, longest).unwrap_err();
    assert!(error.to_string().contains(text), "{error}");
}

macro_rules! refuses {
    ($($test:ident: [$($at:expr),*], [$($key_at:expr),*], $longest:expr, $text:literal;)*) => {
        mod by_warps {
            use super::*;
            $(
                #[test]
                fn $test() {
                    let kernel = kernels::attention_packed_causal;
                    refuses(kernel, &[$($at),*], &[$($key_at),*], $longest, $text);
                }
            )*
        }
        mod by_warpgroups {
            use super::*;
            $(
                #[test]
                fn $test() {
                    let kernel = kernels::attention_packed_causal_hopper;
                    refuses(kernel, &[$($at),*], &[$($key_at),*], $longest, $text);
                }
            )*
        }
    };
}

refuses! {
    fewer_offsets: [0, 30], [0, 10, 40], 30, "as many offsets";
    rows_behind_the_data: [0, 10, 31], [0, 10, 40], 64, "sequences one after";
    rows_in_front_of_the_data: [-1, 10, 30], [0, 10, 40], 64, "sequences one after";
    rows_that_run_backwards: [0, 10, 9], [0, 10, 40], 20, "sequences one after";
    distances_that_wrap: [1, i32::MIN, 30], [0, 10, 40], 64, "sequences one after";
    keys_in_front_of_the_data: [0, 10, 30], [0, -1, 40], 20, "keys one after";
    keys_behind_the_data: [0, 10, 30], [0, 10, 41], 20, "keys one after";
    a_longer_sequence: [0, 10, 30], [0, 10, 40], 19, "no sequence is longer";
}

#[test]
fn no_sequences() {
    refuses(
        kernels::attention_packed_hopper,
        &[0],
        &[0],
        10,
        "at least one sequence",
    );
}
