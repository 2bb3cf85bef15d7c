//! GEMM with producers and consumers in the usual shapes (`gemm_roles.co`).

use croq_sys::half::{bf16, f16};
use croq_sys::{Device, DeviceTensor, Dims, Element, F8E4M3, Tensor};
use croq_tests::compare::assert_exact;
use croq_tests::kernels;

/// Whole numbers from -2 to 2, whose products have exact sums.
fn small<T: Element, D: Dims + Copy>(dims: D, seed: u64, of: impl Fn(f32) -> T) -> Tensor<T, D> {
    let n = Tensor::<i32, _>::random(dims, -2..3, seed);
    let values = n.as_slice().iter().map(|v| of(*v as f32));
    Tensor::from_vec(dims, values.collect()).unwrap()
}

const SIZES: [[usize; 3]; 3] = [[128, 96, 128], [200, 104, 72], [64, 32, 264]];

macro_rules! compare {
    ($kernel:path, $input:ty, $output:ty, $from:expr, $value:expr, $to:expr, $sizes:expr) => {
        for [m, n, k] in $sizes {
            let lhs = small::<$input, _>((m, k), 1, $from);
            let rhs = small::<$input, _>((n, k), 2, $from);
            let device = Device::default();
            let [a, b] = [&lhs, &rhs].map(|t| t.to_device(&device).unwrap());
            let mut out = DeviceTensor::<$output, _>::zeros((m, n), &device).unwrap();
            $kernel(&a, &b, &mut out).unwrap();
            let out = out.to_host().unwrap();
            let value = $value;
            assert_exact(&out, |[i, j]| {
                let terms = (0..k).map(|at| value(lhs[[i, at]]) * value(rhs[[j, at]]));
                $to(terms.sum::<f32>())
            });
        }
    };
}

#[test]
fn one_producer_one_consumer() {
    compare!(
        kernels::roles_1p1c,
        f16,
        f16,
        f16::from_f32,
        f16::to_f32,
        f16::from_f32,
        SIZES
    );
}

#[test]
fn registers_of_a_producer_of_one_thread() {
    compare!(
        kernels::assembly_trade,
        f16,
        f16,
        f16::from_f32,
        f16::to_f32,
        f16::from_f32,
        SIZES
    );
}

#[test]
fn one_producer_two_consumers() {
    compare!(
        kernels::roles_1p2c,
        bf16,
        bf16,
        bf16::from_f32,
        bf16::to_f32,
        bf16::from_f32,
        SIZES
    );
}

#[test]
fn one_producer_three_consumers() {
    let sizes = [[192, 64, 128], [200, 40, 80], [64, 32, 272]];
    compare!(
        kernels::roles_1p3c,
        F8E4M3,
        f32,
        F8E4M3::from_f32,
        F8E4M3::to_f32,
        |v: f32| v,
        sizes
    );
}

#[test]
fn tiles_that_are_longer_than_a_box() {
    let sizes = [[384, 64, 128], [500, 72, 80], [100, 32, 272]];
    compare!(
        kernels::roles_long_tiles,
        f16,
        f32,
        f16::from_f32,
        f16::to_f32,
        |v: f32| v,
        sizes
    );
}

#[test]
fn columns_of_consumers() {
    for [m, n, k] in [[64, 128, 64], [100, 200, 72], [64, 40, 264]] {
        let lhs = small::<f16, _>((m, k), 3, f16::from_f32);
        let rhs = small::<f16, _>((k, n), 4, f16::from_f32);
        let device = Device::default();
        let [a, b] = [&lhs, &rhs].map(|t| t.to_device(&device).unwrap());
        let mut out = DeviceTensor::<f32, _>::zeros((m, n), &device).unwrap();
        kernels::roles_columns(&a, &b, &mut out).unwrap();
        assert_exact(&out.to_host().unwrap(), |[i, j]| {
            let terms = (0..k).map(|at| lhs[[i, at]].to_f32() * rhs[[at, j]].to_f32());
            terms.sum::<f32>()
        });
    }
}

#[test]
fn persistent_blocks() {
    let sizes = [[256, 128, 128], [300, 200, 72], [64, 64, 264]];
    compare!(
        kernels::roles_persistent,
        f16,
        f32,
        f16::from_f32,
        f16::to_f32,
        |v: f32| v,
        sizes
    );
}

#[test]
fn no_roles() {
    for [m, n, k] in SIZES {
        let lhs = small::<f16, _>((m, k), 1, f16::from_f32);
        let rhs = small::<f16, _>((n, k), 2, f16::from_f32);
        let bias = Tensor::<f32, _>::random((n,), -1.0..1.0, 3);
        let device = Device::default();
        let [a, b] = [&lhs, &rhs].map(|t| t.to_device(&device).unwrap());
        let mut out = DeviceTensor::<f32, _>::zeros((m, n), &device).unwrap();
        let row = bias.to_device(&device).unwrap();
        kernels::roles_together(&a, &b, &row, &mut out).unwrap();
        let out = out.to_host().unwrap();
        assert_exact(&out, |[i, j]| {
            let terms = (0..k).map(|at| lhs[[i, at]].to_f32() * rhs[[j, at]].to_f32());
            terms.sum::<f32>() + bias[[j]]
        });
    }
}

#[test]
fn experts_with_rows_of_their_own() {
    let (n, k) = (128, 256);
    for offsets in [vec![0, 64, 200], vec![0, 0, 70, 71, 150]] {
        let (experts, m) = (offsets.len() - 1, offsets[offsets.len() - 1] as usize);
        let lhs = small::<F8E4M3, _>((m, k), 1, F8E4M3::from_f32);
        let rhs = small::<F8E4M3, _>((experts * n, k), 2, F8E4M3::from_f32);
        let power = |[i, j]: [usize; 2]| [0.5, 1.0, 2.0][(i + 2 * j) % 3];
        let scale_a = Tensor::<f32, _>::from_fn((m, 2), power);
        let scale_b = Tensor::<f32, _>::from_fn((experts * 2, 2), power);
        let device = Device::default();
        let bounds = Tensor::<i32, _>::from_vec((experts + 1,), offsets.clone()).unwrap();
        let mut out = DeviceTensor::<bf16, _>::zeros((m, n), &device).unwrap();
        kernels::roles_experts(
            &lhs.to_device(&device).unwrap(),
            &scale_a.to_device(&device).unwrap(),
            &rhs.to_device(&device).unwrap(),
            &scale_b.to_device(&device).unwrap(),
            &bounds.to_device(&device).unwrap(),
            &mut out,
        )
        .unwrap();
        assert_exact(&out.to_host().unwrap(), |[i, j]| {
            let expert = (0..experts)
                .rposition(|e| offsets[e] as usize <= i)
                .unwrap_or(0);
            let parts = (0..2).map(|part| {
                let terms = (128 * part..128 * part + 128)
                    .map(|at| lhs[[i, at]].to_f32() * rhs[[expert * n + j, at]].to_f32());
                let scale = scale_b[[expert * 2 + j / 64, part]];
                terms.sum::<f32>() * scale_a[[i, part]] * scale
            });
            bf16::from_f32(parts.sum())
        });
    }
}

#[test]
fn tiles_of_a_loop_and_a_counter_of_one_thread() {
    compare!(
        kernels::roles_inner_tiles,
        f16,
        f32,
        f16::from_f32,
        f16::to_f32,
        |sum: f32| sum,
        SIZES
    );
}

#[test]
fn loads_with_cache_hints() {
    for (m, n, k) in [(64usize, 64usize, 64usize), (100, 70, 136)] {
        let (a, b) = (
            small((m, k), 31, f16::from_f32),
            small((n, k), 32, f16::from_f32),
        );
        let mut c = Tensor::<f32, _>::zeros((m, n));
        kernels::roles_with_hints(&a, &b, &mut c).unwrap();
        assert_exact(&c, |[i, j]| {
            (0..k)
                .map(|k| a[[i, k]].to_f32() * b[[j, k]].to_f32())
                .sum()
        });
    }
}

#[test]
fn loads_of_batches_with_cache_hints() {
    for [batches, m, n, k] in [[1, 128, 64, 64], [3, 70, 104, 136], [2, 200, 24, 264]] {
        let lhs = small((batches, m, k), 33, bf16::from_f32);
        let rhs = small((n, k), 34, bf16::from_f32);
        let device = Device::default();
        let mut out = DeviceTensor::<bf16, _>::zeros((batches, m, n), &device).unwrap();
        let (a, b) = (
            lhs.to_device(&device).unwrap(),
            rhs.to_device(&device).unwrap(),
        );
        kernels::roles_hints_of_batches(&a, &b, &mut out).unwrap();
        assert_exact(&out.to_host().unwrap(), |[batch, i, j]| {
            let terms = (0..k).map(|at| lhs[[batch, i, at]].to_f32() * rhs[[j, at]].to_f32());
            bf16::from_f32(terms.sum())
        });
    }
}
