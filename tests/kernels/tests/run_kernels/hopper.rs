//! Products by resident blocks of warpgroups, with what follows them: a bias and an activation, groups.

use croq_kernel_tests::compare::{Float, Near, assert_close, assert_exact, dot, inner, near, wide};
use croq_kernels as kernels;
use croq_sys::half::{bf16, f16};
use croq_sys::{Device, DeviceTensor, Element, F8E4M3, Tensor};

type Matrix<T> = Tensor<T, (usize, usize)>;
type OnDevice<T> = DeviceTensor<T, (usize, usize)>;
type Row<T> = DeviceTensor<T, (usize,)>;

/// Fewer rows than a tile, two tiles in both directions, and with edges everywhere; fewer steps than slots
/// and more.
const SIZES: [(usize, usize, usize); 3] = [(1, 16, 16), (300, 144, 272), (129, 400, 520)];
/// More tiles than blocks: some take a second one, with the ring where the first one left it.
const MANY: (usize, usize, usize) = (8600, 16, 264);

fn linear<T: Element, C: Element>(
    [lhs, rhs]: [&Matrix<T>; 2],
    bias: &Tensor<C, (usize,)>,
    poison: C,
    kernel: impl Fn(&OnDevice<T>, &OnDevice<T>, &Row<C>, &mut OnDevice<C>) -> croq_sys::Result<()>,
) -> Matrix<C> {
    let device = Device::default();
    let dims = (lhs.shape()[0], rhs.shape()[0]);
    let poisoned = Tensor::from_fn(dims, |_| poison);
    let mut out = poisoned.to_device(&device).unwrap();
    let [lhs, rhs] = [lhs, rhs].map(|t| t.to_device(&device).unwrap());
    let bias = bias.to_device(&device).unwrap();
    kernel(&lhs, &rhs, &bias, &mut out).unwrap();
    out.to_host().unwrap()
}

/// `lhs · rhsᵀ` and a bias, summed in f32, through `activation`, which is at most 1.1 times as steep as
/// the identity and exact to `slack`, and rounded once.
fn assert_linear<T: Element + Float, C: Element + Float>(
    out: &Matrix<C>,
    [lhs, rhs]: [&Matrix<T>; 2],
    bias: &Tensor<C, (usize,)>,
    (activation, slack): (fn(f64) -> f64, f64),
    factor: fn(f64) -> f64,
) {
    let [_, depth] = lhs.shape();
    let [lhs, rhs] = [lhs, rhs].map(|t| wide(t).into_iter().map(factor).collect::<Vec<f64>>());
    assert_close(out, |[i, j]| {
        let (a, b) = (&lhs[i * depth..][..depth], &rhs[j * depth..][..depth]);
        let (products, magnitudes) = inner(a, b);
        let offset = bias[[j]].wide();
        let (sum, magnitude) = (offset + products, offset.abs() + magnitudes);
        let tolerance = 1.1 * dot::<f32>(sum, magnitude, depth + 1).tolerance;
        let value = activation(sum);
        near(
            value,
            tolerance + value.abs() * (slack + C::ROUNDOFF) + C::SMALLEST,
        )
    });
}

#[test]
fn linear_hopper_relu_of_pairs_of_blocks() {
    for (m, k, n) in SIZES.into_iter().chain([MANY]) {
        let lhs = Tensor::<f16, _>::random((m, k), -1.0..1.0, 61);
        let rhs = Tensor::<f16, _>::random((n, k), -1.0..1.0, 62);
        let bias = Tensor::<f16, _>::random((n,), -4.0..4.0, 63);
        let out = linear([&lhs, &rhs], &bias, f16::NAN, kernels::linear_hopper);
        let relu: fn(f64) -> f64 = |v| v.max(0.0);
        assert_linear(&out, [&lhs, &rhs], &bias, (relu, 0.0), |v| v);
    }
}

#[test]
fn linear_hopper_silu_of_single_blocks() {
    for (m, k, n) in SIZES {
        let lhs = Tensor::<bf16, _>::random((m, k), -1.0..1.0, 64);
        let rhs = Tensor::<bf16, _>::random((n, k), -1.0..1.0, 65);
        // Far beyond where the exponential is infinite, or zero.
        let bias = Tensor::<bf16, _>::from_fn((n,), |[j]| {
            bf16::from_f32([-300.0, -3.0, 0.0, 2.5, 300.0][j % 5])
        });
        let out = linear([&lhs, &rhs], &bias, bf16::NAN, kernels::linear_hopper);
        let silu: fn(f64) -> f64 = |v| v / (1.0 + (-v).exp());
        assert_linear(&out, [&lhs, &rhs], &bias, (silu, 1e-4), |v| v);
    }
}

#[test]
fn linear_hopper_of_other_types() {
    for (m, k, n) in SIZES {
        // Small integers: their sums are exact.
        let whole = |rows, seed| Tensor::<i32, _>::random((rows, k), -4..5, seed);
        let (a, b) = (whole(m, 66), whole(n, 67));
        let offsets = Tensor::<i32, _>::random((n,), -100..100, 68);
        let expected = |[i, j]: [usize; 2]| {
            let (a, b) = (&a.as_slice()[i * k..][..k], &b.as_slice()[j * k..][..k]);
            offsets[[j]] + a.iter().zip(b).map(|(x, y)| x * y).sum::<i32>()
        };

        let [x, y] = [&a, &b].map(|t| Tensor::from_fn(t.dims(), |at| t[at] as i8));
        let out = linear([&x, &y], &offsets, i32::MIN, kernels::linear_hopper);
        assert_exact(&out, expected);

        let [x, y] = [&a, &b].map(|t| Tensor::from_fn(t.dims(), |at| t[at] as f32));
        let bias = Tensor::from_fn((n,), |at| offsets[at] as f32);
        let out = linear([&x, &y], &bias, f32::NAN, kernels::linear_hopper);
        assert_exact(&out, |at| expected(at) as f32);

        let [x, y] =
            [&a, &b].map(|t| Tensor::from_fn(t.dims(), |at| F8E4M3::from_f32(t[at] as f32)));
        let bias = Tensor::from_fn((n,), |at| bf16::from_f32(offsets[at] as f32));
        let out = linear([&x, &y], &bias, bf16::NAN, kernels::linear_hopper);
        assert_exact(&out, |at| bf16::from_f32(expected(at) as f32));
    }
}

/// One step of a part of the elements that a tile has along K.
#[test]
fn linear_hopper_of_few_products() {
    let lhs = Tensor::<f16, _>::random((70, 8), -1.0..1.0, 91);
    let rhs = Tensor::<f16, _>::random((8, 8), -1.0..1.0, 92);
    let bias = Tensor::<f16, _>::random((8,), -4.0..4.0, 93);
    let out = linear([&lhs, &rhs], &bias, f16::NAN, kernels::linear_hopper);
    let relu: fn(f64) -> f64 = |v| v.max(0.0);
    assert_linear(&out, [&lhs, &rhs], &bias, (relu, 0.0), |v| v);

    let lhs = Tensor::<f32, _>::from_fn((3, 4), |[i, e]| (i + e) as f32);
    let rhs = Tensor::<f32, _>::from_fn((4, 4), |[j, e]| (j * e) as f32);
    let bias = Tensor::<f32, _>::from_fn((4,), |[j]| j as f32);
    let out = linear([&lhs, &rhs], &bias, f32::NAN, kernels::linear_hopper);
    assert_exact(&out, |[i, j]| {
        (j + (0..4).map(|e| (i + e) * j * e).sum::<usize>()) as f32
    });
}

/// What TMA cannot load or store: rows that are no multiples of 16 bytes.
#[test]
fn rows_of_other_lengths_are_an_error() {
    let device = Device::default();
    for (k, n) in [(1, 8), (12, 8), (8, 12), (8, 1)] {
        let there = |shape| Tensor::<f16, _>::zeros(shape).to_device(&device).unwrap();
        let bias = Tensor::<f16, _>::zeros((n,)).to_device(&device).unwrap();
        let mut out = there((5, n));
        let linear = kernels::linear_hopper(&there((5, k)), &there((n, k)), &bias, &mut out);

        let rhs = Tensor::<f16, _>::zeros((1, n, k));
        let rhs = rhs.to_device(&device).unwrap();
        let offsets = Tensor::from_vec((2,), vec![0, 5]).unwrap();
        let offsets = offsets.to_device(&device).unwrap();
        let grouped = kernels::matmul_hopper_grouped(&there((5, k)), &rhs, &offsets, &mut out);
        for outcome in [linear, grouped] {
            let text = outcome.unwrap_err().to_string();
            assert!(
                text.contains("needs steps of multiples of 16 bytes"),
                "{text}"
            );
        }
    }
}

/// Groups of sizes: none, one row, a warpgroup's rows and one more, a tile and one more, many.
const GROUPS: [&[usize]; 4] = [&[1], &[0, 65, 0, 1, 128, 0], &[129, 3, 300], &[0, 0]];

fn grouped<T>(k: usize, n: usize, heights: &[usize], poison: T)
where
    T: Element<Bound = f32> + Float + kernels::MatmulHopperGroupedInstance,
{
    let groups = heights.len();
    let mut offsets = vec![0];
    for height in heights {
        offsets.push(offsets[offsets.len() - 1] + *height as i32);
    }
    // Rows in front of the first group and behind the last one belong to none.
    let offsets: Vec<i32> = offsets.iter().map(|at| at + 2).collect();
    let rows = offsets[groups] as usize + 5;
    let lhs = Tensor::<T, _>::random((rows, k), -1.0..1.0, 71);
    let rhs = Tensor::<T, _>::random((groups, n, k), -1.0..1.0, 72);
    let device = Device::default();
    let poisoned = Tensor::from_fn((rows, n), |_: [usize; 2]| poison);
    let mut out = poisoned.to_device(&device).unwrap();
    let (a, b) = (
        lhs.to_device(&device).unwrap(),
        rhs.to_device(&device).unwrap(),
    );
    let at = Tensor::from_vec((groups + 1,), offsets.clone()).unwrap();
    let at = at.to_device(&device).unwrap();
    kernels::matmul_hopper_grouped(&a, &b, &at, &mut out).unwrap();
    let out = out.to_host().unwrap();
    let (lhs, rhs) = (wide(&lhs), wide(&rhs));
    for i in 0..rows {
        let group = (0..groups).find(|g| (offsets[*g]..offsets[*g + 1]).contains(&(i as i32)));
        for j in 0..n {
            let found = out[[i, j]].wide();
            let Some(g) = group else {
                assert!(found.is_nan(), "row {i} belongs to no group");
                continue;
            };
            let (a, b) = (&lhs[i * k..][..k], &rhs[(g * n + j) * k..][..k]);
            let (sum, magnitude) = inner(a, b);
            let Near { value, tolerance } = dot::<f32>(sum, magnitude, k);
            let most = tolerance + value.abs() * T::ROUNDOFF + T::SMALLEST;
            assert!(
                (found - value).abs() <= most,
                "[{i}, {j}]: {found} for {value}"
            );
        }
    }
}

#[test]
fn matmul_hopper_grouped() {
    for heights in GROUPS {
        grouped::<f16>(200, 264, heights, f16::NAN);
    }
    grouped::<bf16>(72, 8, &[70, 200], bf16::NAN);
    // Less than a step, and a single product.
    grouped::<f16>(8, 8, &[1, 0, 66], f16::NAN);
    grouped::<bf16>(8, 24, &[0], bf16::NAN);
}

/// One call in each test: a check that fails makes a GPU unusable for its process.
fn refuses(offsets: [i32; 3]) {
    let device = Device::default();
    let there = |shape| Tensor::<f16, _>::zeros(shape).to_device(&device).unwrap();
    let rhs = Tensor::<f16, _>::zeros((2, 8, 8))
        .to_device(&device)
        .unwrap();
    let offsets = Tensor::from_vec((3,), offsets.to_vec()).unwrap();
    let offsets = offsets.to_device(&device).unwrap();
    let mut out = there((10, 8));
    let error =
        kernels::matmul_hopper_grouped(&there((10, 8)), &rhs, &offsets, &mut out).unwrap_err();
    assert!(
        error.to_string().contains("groups one after the other"),
        "{error}"
    );
}

#[test]
fn groups_behind_the_rows_are_an_error() {
    refuses([0, 5, 11]);
}

#[test]
fn groups_that_run_backwards_are_an_error() {
    refuses([0, 7, 3]);
}

#[test]
fn groups_before_the_rows_are_an_error() {
    refuses([-1, 2, 3]);
}

fn batches<T: Element<Bound = f32> + Float>(
    (count, m, k, n): (usize, usize, usize, usize),
    poison: T,
    kernel: impl Fn(&Batch<T>, &Batch<T>, &mut Batch<T>) -> croq_sys::Result<()>,
) {
    let device = Device::default();
    let lhs = Tensor::<T, _>::random((count, m, k), -1.0..1.0, 81);
    let rhs = Tensor::<T, _>::random((count, n, k), -1.0..1.0, 82);
    let poisoned = Tensor::from_fn((count, m, n), |_: [usize; 3]| poison);
    let mut out = poisoned.to_device(&device).unwrap();
    let [a, b] = [&lhs, &rhs].map(|t| t.to_device(&device).unwrap());
    kernel(&a, &b, &mut out).unwrap();
    if count * m * n == 0 {
        return;
    }
    let (lhs, rhs) = (wide(&lhs), wide(&rhs));
    assert_close(&out.to_host().unwrap(), |[h, i, j]| {
        let (a, b) = (&lhs[(h * m + i) * k..][..k], &rhs[(h * n + j) * k..][..k]);
        let (sum, magnitude) = inner(a, b);
        let tolerance = dot::<f32>(sum, magnitude, k).tolerance;
        near(sum, tolerance + sum.abs() * T::ROUNDOFF + T::SMALLEST)
    });
}

type Batch<T> = DeviceTensor<T, (usize, usize, usize)>;

macro_rules! of_blocks {
    ($count:literal) => {
        kernels::matmul_hopper_batches::<$count, _, _, _, _, _, _, _, _, _, _>
    };
}

/// Products with one tile, with several in both directions, and with edges everywhere: fewer tiles than
/// blocks, and more, so that some blocks take a second one; fewer steps than slots and more.
fn sizes(most_at_once: usize) -> [(usize, usize, usize, usize); 3] {
    [
        (1, 1, 8, 8),
        (2, 300, 328, 264),
        (most_at_once + 2, 9, 8, 8),
    ]
}

#[test]
fn matmul_hopper_batches_of_single_blocks() {
    for of_batch in sizes(132) {
        batches(of_batch, f16::NAN, of_blocks!(1));
    }
    batches((3, 70, 136, 72), bf16::NAN, of_blocks!(1));
}

#[test]
fn matmul_hopper_batches_of_pairs_of_blocks() {
    for of_batch in sizes(66) {
        batches(of_batch, f16::NAN, of_blocks!(2));
    }
    batches((3, 270, 136, 72), bf16::NAN, of_blocks!(2));
}

/// Without a product, a row or a column there is nothing to compute; sums of nothing are an error.
#[test]
fn batches_without_results() {
    let device = Device::default();
    let there = |shape| Tensor::<f16, _>::zeros(shape).to_device(&device).unwrap();
    let (lhs, rhs) = (there((2, 3, 0)), there((2, 8, 0)));
    let text = of_blocks!(1)(&lhs, &rhs, &mut there((2, 3, 8)))
        .unwrap_err()
        .to_string();
    assert!(
        text.contains("at least one element along every axis"),
        "{text}"
    );

    for sizes in [(0, 70, 8, 8), (3, 0, 8, 8), (3, 70, 8, 0)] {
        batches(sizes, f16::NAN, of_blocks!(1));
        batches(sizes, f16::NAN, of_blocks!(2));
    }
}
