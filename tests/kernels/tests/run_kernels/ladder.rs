//! MMAs: by element type, batched, grouped, and with specialised warps.

use croq_kernel_tests::compare::{Float, Near, assert_close, dot, growth, near};
use croq_kernels as kernels;
use croq_sys::half::{bf16, f16};
use croq_sys::{Dims, F8E4M3, F8E5M2, Tensor};

/// The product of two rows, accumulated in f32 and rounded to `T` at the end; factors are rounded
/// as the instruction does.
fn product<T: Float>(pairs: impl Iterator<Item = (f64, f64)>) -> Near {
    let (mut sum, mut magnitude, mut terms) = (0.0, 0.0, 0);
    for (a, b) in pairs {
        sum += a * b;
        magnitude += (a * b).abs();
        terms += 1;
    }
    let inner = dot::<f32>(sum, magnitude, terms).tolerance;
    near(sum, inner + sum.abs() * T::ROUNDOFF + T::SMALLEST)
}

fn row<T: Float, D: Dims>(t: &Tensor<T, D>, length: usize, at: usize) -> impl Iterator<Item = f64> {
    t.as_slice()[at * length..][..length]
        .iter()
        .map(|v| v.wide())
}

/// Sizes that are multiples of the tile, and others in every direction; K shorter than a step, and
/// ending inside one.
const SIZES: [(usize, usize, usize); 6] = [
    (1, 1, 1),
    (128, 64, 64),
    (130, 40, 70),
    (60, 104, 33),
    (257, 17, 65),
    (128, 96, 128),
];

macro_rules! by_type {
    ($($test:ident: $lhs:ty, $rhs:ty, $out:ty, $factor:expr;)*) => {$(
        #[test]
        fn $test() {
            for (m, k, n) in SIZES {
                let lhs = Tensor::<$lhs, _>::random((m, k), -2.0..2.0, 41);
                let rhs = Tensor::<$rhs, _>::random((n, k), -2.0..2.0, 42);
                let bias = Tensor::<f32, _>::random((n,), -2.0..6.0, 33);
                let out = kernels::linear_relu(&lhs, &rhs, &bias).unwrap();
                assert_eq!(out.shape(), [m, n]);
                let factor: fn(f64) -> f64 = $factor;
                assert_close(&out, |[i, j]| {
                    let factors = row(&lhs, k, i).map(factor).zip(row(&rhs, k, j).map(factor));
                    let bias = (bias[[j]].wide(), 1.0);
                    let sum = product::<$out>(std::iter::once(bias).chain(factors));
                    near(sum.value.max(0.0), sum.tolerance)
                });
            }
        }
    )*};
}

by_type! {
    linear_relu_f16: f16, f16, f16, |v| v;
    linear_relu_bf16: bf16, bf16, bf16, |v| v;
    linear_relu_tf32: f32, f32, f32, |v| f64::from(f32::from_bits((v as f32).to_bits() & 0xffff_e000));
    linear_relu_f8: F8E4M3, F8E5M2, f32, |v| v;
}

#[test]
fn matmul_softmax() {
    for (m, k) in [(1, 1), (64, 32), (70, 100), (129, 40)] {
        let lhs = Tensor::<f16, _>::random((m, k), -1.0..1.0, 43);
        let rhs = Tensor::<f16, _>::random((croq_sys::Const::<128>, k), -1.0..1.0, 44);
        let out = kernels::matmul_softmax(&lhs, &rhs).unwrap();
        let mut rows = Vec::new();
        for i in 0..m {
            let sums = (0..128).map(|j| product::<f32>(row(&lhs, k, i).zip(row(&rhs, k, j))));
            rows.push(sums.collect::<Vec<Near>>());
        }
        assert_close(&out, |[i, j]| {
            let peak = rows[i].iter().map(|s| s.value).fold(f64::MIN, f64::max);
            let total: f64 = rows[i].iter().map(|s| (s.value - peak).exp()).sum();
            let value = (rows[i][j].value - peak).exp() / total;
            // The errors of the sums, and of the largest; the exponential has 2 ulp, their sum 128
            // additions.
            let off = rows[i].iter().map(|s| s.tolerance).fold(0.0, f64::max);
            let relative = 2.0 * ((2.0 * off).exp_m1() + growth::<f32>(128 + 8));
            near(value, value * (relative + f16::ROUNDOFF) + f16::SMALLEST)
        });
    }
}

#[test]
fn matmul_batched() {
    for (b, (m, k, n)) in (1..).zip(SIZES).take(4) {
        let lhs = Tensor::<f16, _>::random((b, m, k), -1.0..1.0, 45);
        let rhs = Tensor::<f16, _>::random((b, n, k), -1.0..1.0, 46);
        let out = kernels::matmul_batched(&lhs, &rhs).unwrap();
        assert_eq!(out.shape(), [b, m, n]);
        assert_close(&out, |[b, i, j]| {
            product::<f16>(row(&lhs, k, b * m + i).zip(row(&rhs, k, b * n + j)))
        });
    }
}

/// Steps that four blocks share evenly and unevenly, and fewer than blocks; columns of which threads add
/// two at once, and others.
#[test]
fn matmul_split_k() {
    let sizes = [(1, 1, 1), (64, 128, 64), (20, 300, 70), (65, 100, 3)];
    let narrow = (1..=9).map(|n| (33, 70, n));
    for (m, k, n) in sizes.into_iter().chain(narrow) {
        let lhs = Tensor::<f16, _>::random((m, k), -1.0..1.0, 47);
        let rhs = Tensor::<f16, _>::random((n, k), -1.0..1.0, 48);
        let out = kernels::matmul_split_k(&lhs, &rhs).unwrap();
        assert_close(&out, |[i, j]| {
            // Three more additions combine the parts.
            let pairs = row(&lhs, k, i).zip(row(&rhs, k, j));
            product::<f32>(pairs.chain([(0.0, 0.0); 3]))
        });
    }
}

/// A scale per row of the weights and per group, one group and several, of which the last is short.
#[test]
fn matmul_weights() {
    fn check<T: Float<Bound = f32> + kernels::MatmulWeightsInstance>() {
        for (m, k, n, group) in [
            (1, 1, 1, 64),
            (64, 64, 64, 64),
            (70, 200, 33, 128),
            (33, 256, 130, 64),
            (5, 100, 48, 1000),
            (130, 336, 72, 64),
        ] {
            let groups = usize::div_ceil(k, group);
            let lhs = Tensor::<T, _>::random((m, k), -2.0..2.0, 56);
            let weights = Tensor::<i8, _>::random((n, k), -128..127, 57);
            let scales = Tensor::<f32, _>::random((groups, n), 0.001..0.02, 58);
            let out = kernels::matmul_weights(&lhs, &weights, &scales, group as i32).unwrap();
            assert_eq!(out.shape(), [m, n]);
            assert_close(&out, |[i, j]| {
                let scaled = (0..k).map(|e| {
                    let weight = f64::from(weights[[j, e]]) * scales[[e / group, j]].wide();
                    (lhs[[i, e]].wide(), weight)
                });
                // Two more roundings for each group.
                product::<T>(scaled.chain((0..groups).map(|_| (0.0, 0.0))))
            });
        }
    }
    check::<f16>();
    check::<bf16>();
}

#[test]
fn scales_that_do_not_fit_are_refused() {
    let lhs = Tensor::<bf16, _>::random((3, 200), -1.0..1.0, 59);
    let weights = Tensor::<i8, _>::random((8, 200), -9..9, 60);
    for (groups, group, text) in [
        (4, 0, "whole tiles"),
        (3, 96, "whole tiles"),
        (1, i32::MIN, "whole tiles"),
        (3, 64, "a scale for each group"),
        (2, 200, "a scale for each group"),
    ] {
        let scales = Tensor::<f32, _>::random((groups, 8), 0.5..1.0, 61);
        let error = kernels::matmul_weights(&lhs, &weights, &scales, group).unwrap_err();
        assert!(error.to_string().contains(text), "{group}: {error}");
    }
}

/// Groups of all sizes: empty ones, some within a tile, one of several tiles; more tiles than
/// blocks.
const GROUPS: [&[i32]; 4] = [
    &[0, 1],
    &[0, 0, 64, 64, 70],
    &[0, 3, 67, 200, 201],
    &[0, 640, 1300],
];

#[test]
fn matmul_grouped() {
    fn check<T: Float<Bound = f32> + kernels::MatmulGroupedInstance>() {
        for (offsets, (k, n)) in GROUPS.iter().zip([(1, 1), (40, 64), (64, 70), (33, 130)]) {
            let (groups, rows) = (offsets.len() - 1, *offsets.last().unwrap() as usize);
            let lhs = Tensor::<T, _>::random((rows, k), -1.0..1.0, 49);
            let rhs = Tensor::<T, _>::random((groups, n, k), -1.0..1.0, 50);
            let offsets = Tensor::from_vec((offsets.len(),), offsets.to_vec()).unwrap();
            let out = kernels::matmul_grouped(&lhs, &rhs, &offsets).unwrap();
            assert_eq!(out.shape(), [rows, n]);
            assert_close(&out, |[i, j]| {
                let group = group_of(&offsets, i);
                product::<T>(row(&lhs, k, i).zip(row(&rhs, k, group * n + j)))
            });
        }
    }
    check::<f16>();
    check::<bf16>();
}

fn group_of(offsets: &Tensor<i32, (usize,)>, row: usize) -> usize {
    let after = offsets.as_slice().iter().skip(1);
    after.filter(|end| **end as usize <= row).count()
}

#[test]
fn groups_that_overlap_the_end_are_refused() {
    let lhs = Tensor::<f16, _>::random((10, 8), -1.0..1.0, 49);
    let rhs = Tensor::<f16, _>::random((2, 8, 8), -1.0..1.0, 50);
    for wrong in [[0, 4, 11], [-1, 4, 10], [0, 11, 10]] {
        let offsets = Tensor::from_vec((3,), wrong.to_vec()).unwrap();
        let error = kernels::matmul_grouped(&lhs, &rhs, &offsets).unwrap_err();
        assert!(
            error.to_string().contains("groups one after the other"),
            "{error}"
        );
    }
}

#[test]
fn matmul_experts() {
    fn check<T: Float<Bound = f32> + kernels::MatmulExpertsInstance>() {
        for (offsets, (k, n)) in GROUPS.iter().zip([(1, 1), (40, 64), (64, 70), (48, 66)]) {
            let (experts, tokens) = (offsets.len() - 1, 50);
            let rows = *offsets.last().unwrap() as usize;
            let x = Tensor::<T, _>::random((tokens, k), -1.0..1.0, 51);
            let weights = Tensor::<T, _>::random((experts, n, k), -1.0..1.0, 52);
            let picked = Tensor::<i32, _>::random((rows,), 0..tokens as i32 - 1, 53);
            let offsets = Tensor::from_vec((offsets.len(),), offsets.to_vec()).unwrap();
            let out = kernels::matmul_experts(&x, &picked, &offsets, &weights).unwrap();
            assert_eq!(out.shape(), [rows, n]);
            assert_close(&out, |[i, j]| {
                let (token, expert) = (picked[[i]] as usize, group_of(&offsets, i));
                product::<T>(row(&x, k, token).zip(row(&weights, k, expert * n + j)))
            });
        }
    }
    check::<f16>();
    check::<bf16>();
}

/// Fewer and more steps than the ring has slots; fewer and more tiles than blocks, and rows of
/// tiles that do not fill the last column of the order.
#[test]
fn matmul_by_teams() {
    for (m, k, n) in [
        (1, 8, 1),
        (128, 64, 64),
        (200, 328, 70),
        (300, 136, 200),
        (520, 72, 132),
    ] {
        let lhs = Tensor::<f16, _>::random((m, k), -1.0..1.0, 54);
        let rhs = Tensor::<f16, _>::random((n, k), -1.0..1.0, 55);
        let expected: Vec<Near> = (0..m * n)
            .map(|at| product::<f16>(row(&lhs, k, at / n).zip(row(&rhs, k, at % n))))
            .collect();
        for out in [
            kernels::matmul_teams::<1, _, _, _, _, _, _>(&lhs, &rhs).unwrap(),
            kernels::matmul_teams::<2, _, _, _, _, _, _>(&lhs, &rhs).unwrap(),
            kernels::matmul_teams::<3, _, _, _, _, _, _>(&lhs, &rhs).unwrap(),
            kernels::matmul_ordered(&lhs, &rhs).unwrap(),
        ] {
            assert_eq!(out.shape(), [m, n]);
            assert_close(&out, |[i, j]| expected[i * n + j]);
        }
    }
}
