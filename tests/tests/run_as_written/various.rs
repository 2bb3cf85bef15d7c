//! Forms that one kernel alone had, once more; routing, matrix times vector, copies of many ranks
//! (`various.co`).

use croq_sys::half::f16;
use croq_sys::{Const, Device, DeviceTensor, Tensor};
use croq_tests::compare::{assert_close, assert_exact, dot, rounded};
use croq_tests::kernels;

/// Small multiples of 1/4, whose products and sums are exact in f32.
fn quarter(i: usize) -> f32 {
    ((i * 7 + 3) % 17) as f32 / 4.0 - 2.0
}

#[test]
fn warps_multiply_rows_with_a_vector() {
    let device = Device::default();
    for (m, k) in [(1, 1), (4, 32), (7, 70), (13, 129)] {
        let w = Tensor::from_fn((m, k), |[i, j]| f16::from_f32(quarter(i * 31 + j)));
        let x = Tensor::from_fn((k,), |[j]| f16::from_f32(quarter(j + 5)));
        let mut y = DeviceTensor::<f32, _>::zeros((m,), &device).unwrap();
        let on_device = (w.to_device(&device).unwrap(), x.to_device(&device).unwrap());
        kernels::written_gemv(&on_device.0, &on_device.1, &mut y).unwrap();
        assert_exact(&y.to_host().unwrap(), |[i]| {
            (0..k).map(|j| w[[i, j]].to_f32() * x[[j]].to_f32()).sum()
        });
    }
}

#[test]
fn tokens_are_routed_to_two_experts() {
    for (tokens, experts) in [(1, 2), (33, 8), (70, 5)] {
        // Different scores of one token, so that the order of experts is unique.
        let scores = Tensor::from_fn((tokens, experts), |[t, e]| {
            1.0 + ((e * 5 + t * 3) % experts) as f32 + e as f32 / 64.0
        });
        let (chosen, weights, counts) = kernels::written_route(&scores).unwrap();
        let order = |t: usize| {
            let mut all: Vec<usize> = (0..experts).collect();
            all.sort_by(|a, b| scores[[t, *b]].total_cmp(&scores[[t, *a]]));
            [all[0], all[1]]
        };
        assert_exact(&chosen, |[t, at]| order(t)[at] as i32);
        assert_exact(&counts, |[e]| {
            (0..tokens).filter(|t| order(*t).contains(&e)).count() as i32
        });
        assert_close(&weights, |[t, at]| {
            let [best, next] = order(t).map(|e| f64::from(scores[[t, e]]));
            rounded::<f32>([best, next][at] / (best + next), 3)
        });
    }
}

#[test]
fn tiles_of_five_axes_are_copied() {
    for dims in [(1, 1, 1, 8, 16), (2, 3, 2, 11, 21), (1, 2, 1, 5, 40)] {
        let x = Tensor::from_fn(dims, |[b, h, c, s, d]| {
            f16::from_f32(quarter(b * 11 + h * 13 + c * 5 + s * 3 + d))
        });
        assert_exact(&kernels::written_five_axes(&x).unwrap(), |i| x[i]);
    }
}

#[test]
fn heads_come_before_positions() {
    for dims in [(1, 4, 2, 8), (2, 6, 3, 5), (2, 9, 1, 16)] {
        let x = Tensor::from_fn(dims, |[b, s, h, d]| quarter(b * 3 + s * 17 + h * 5 + d));
        let y = kernels::written_heads_first(&x).unwrap();
        assert_exact(&y, |[b, h, s, d]| x[[b, s, h, d]]);
    }
}

#[test]
fn booleans_decide_branches_and_instances() {
    let x = Tensor::from_fn((50,), |[i]| quarter(i));
    assert_exact(&kernels::written_decided(&x).unwrap(), |i| x[i] * 4.0 + 1.0);
}

#[test]
fn empty_slices_have_no_iterations() {
    let x = Tensor::<i32, _>::random((9, Const::<16>), -9..9, 4);
    for n in [1, 3, 6] {
        let y = kernels::written_no_iterations(&x, n).unwrap();
        assert_exact(&y, |i| x[i] * (n - 3).max(0) + 1);
    }
}

#[test]
fn calls_are_operands() {
    let logistic = |v: f64| 1.0 / (1.0 + v * v);
    let squares = |v: i32| v * v + 3 * 8;
    let x = Tensor::from_fn((70,), |[i]| quarter(i));
    let n = Tensor::from_fn((70,), |[i]| i as i32 % 6);
    let y = kernels::written_calls_inside(&x, &n).unwrap();
    assert_close(&y, |i| {
        let last = if squares(n[i]) - 1 > 30 {
            1.0
        } else {
            f64::from(squares(2))
        };
        let value = (logistic(f64::from(x[i])) + logistic(logistic(2.0))) * 0.5 + last;
        rounded::<f32>(value, 12)
    });
}

#[test]
fn names_with_underscores_stand_for_anything() {
    let device = Device::default();
    let x = Tensor::from_fn((5, Const::<8>), |[i, j]| quarter(i * 8 + j));
    let mut data = x.to_device(&device).unwrap();
    kernels::__scaled_twice(&mut data, 2.0).unwrap();
    assert_exact(&data.to_host().unwrap(), |[i, j]| {
        let next = (j + 1) % 8;
        x[[i, next]] * 2.0 + next as f32
    });
}

#[test]
fn fragments_are_used_between_levels() {
    for k in [32, 64, 70] {
        let x = Tensor::from_fn((Const::<16>, k), |[i, j]| f16::from_f32(quarter(i * 5 + j)));
        let w = Tensor::from_fn((Const::<24>, k), |[i, j]| f16::from_f32(quarter(i * 3 + j)));
        let mut y = Tensor::<f32, _>::zeros((Const::<16>, Const::<24>));
        let mut sums = Tensor::<f32, _>::zeros((Const::<16>,));
        kernels::between_levels(&x, &w, &mut y, &mut sums).unwrap();
        // Each part of K is scaled once for itself and once for each later part.
        let element = |i: usize, j: usize| {
            (0..k).step_by(32).fold(0.0f64, |sum, first| {
                let terms = (first..k.min(first + 32))
                    .map(|c| f64::from(x[[i, c]].to_f32() * w[[j, c]].to_f32()));
                (sum + terms.sum::<f64>()) * 0.25
            })
        };
        assert_close(&y, |[i, j]| dot::<f32>(element(i, j), 4.0 * k as f64, k));
        assert_close(&sums, |[i]| {
            let sum = (0..24).map(|j| element(i, j)).sum();
            dot::<f32>(sum, 4.0 * 24.0 * k as f64, k + 24)
        });
    }
}
