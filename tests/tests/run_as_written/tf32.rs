//! `tf32` as a type (`tf32.co`).

use croq_sys::half::f16;
use croq_sys::{Const, Device, DeviceTensor, Tensor};
use croq_tests::compare::{assert_close, assert_exact, dot, near};
use croq_tests::kernels;

/// The nearest number with ten stored bits of the mantissa, the even one of two.
fn rounded(v: f32) -> f32 {
    let bits = v.to_bits();
    f32::from_bits((bits + 0xfff + (bits >> 13 & 1)) & !0x1fff)
}

/// What is read of an f32 that a caller passes.
fn used(v: f32) -> f32 {
    f32::from_bits(v.to_bits() & !0x1fff)
}

/// The nearest number of that kind, by whole numbers of its last place.
fn rounded_once(v: f64) -> f32 {
    if v == 0.0 {
        return 0.0;
    }
    let unit = 2f64.powi(v.abs().log2().floor() as i32 - 10);
    ((v / unit).round_ties_even() * unit) as f32
}

#[test]
fn rounded_when_stored_and_cut_off_when_read() {
    let device = Device::default();
    for n in [1, 63, 64, 200] {
        let x = Tensor::<f32, _>::random((n,), -100.0..100.0, 5);
        let y = kernels::tf32_rounded(&x).unwrap();
        assert_exact(&y, |i| rounded(x[i]) * 2.0);
        let mut third = DeviceTensor::<f32, _>::zeros((n,), &device).unwrap();
        let mut sum = DeviceTensor::<f32, _>::zeros((n,), &device).unwrap();
        kernels::tf32_read(&x, 1.234_567_8, &mut third, &mut sum).unwrap();
        let of_sum = |[i]: [usize; 1]| used(x[[i]]) + used(1.234_567_8);
        assert_exact(&sum.to_host().unwrap(), of_sum);
        let of_third = |[i]: [usize; 1]| rounded_once(f64::from(used(x[[i]])) / 3.0);
        assert_exact(&third.to_host().unwrap(), of_third);
    }
}

#[test]
fn one_rounding_from_other_types() {
    let device = Device::default();
    let n = 300;
    // Near the middle of two results, where a second rounding shows.
    let near = |[i]: [usize; 1]| {
        let middle = 1.0 + (2 * i + 1) as f64 / 2048.0;
        middle + [0.0, 1e-12, -1e-12][i % 3]
    };
    let d = Tensor::<f64, _>::from_fn((n,), near);
    let whole = |[i]: [usize; 1]| (1 << 30) + (2 * i as i32 + 1) * (1 << 19) + [0, 1, -1][i % 3];
    let s = Tensor::<i32, _>::from_fn((n,), whole);
    let h = Tensor::<f16, _>::from_fn((n,), |[i]| f16::from_f32(i as f32 / 7.0));
    let mut y = DeviceTensor::<f32, _>::zeros((Const::<4>, n), &device).unwrap();
    kernels::tf32_of_others(&d, &s, &h, &mut y).unwrap();
    assert_exact(&y.to_host().unwrap(), |[of, i]| match of {
        0 => rounded_once(d[[i]]),
        1 => rounded_once(f64::from(s[[i]])),
        2 => h[[i]].to_f32(),
        _ => rounded(0.1),
    });
}

#[test]
fn changed_in_place() {
    let device = Device::default();
    let x = Tensor::<f32, _>::random((100,), -3.0..3.0, 20);
    let mut y = DeviceTensor::<f32, _>::zeros((100,), &device).unwrap();
    kernels::tf32_steps(&x, &mut y).unwrap();
    assert_exact(&y.to_host().unwrap(), |i| {
        let v = rounded(used(x[i]) + 1.0);
        let sum = rounded(rounded(used(x[i]) + v) * 1.5);
        let more = rounded(0.25 + sum);
        if more > 0.0 { more } else { v }
    });
}

#[test]
fn operands_of_functions() {
    let device = Device::default();
    let x = Tensor::<f32, _>::random((100,), 0.1..3.0, 21);
    let mut y = DeviceTensor::<f32, _>::zeros((100,), &device).unwrap();
    let mut z = DeviceTensor::<f32, _>::zeros((Const::<3>, 100), &device).unwrap();
    kernels::tf32_functions(&x, &mut y, &mut z).unwrap();
    let of = |i: usize| used(x[[i]]);
    assert_exact(&y.to_host().unwrap(), |[i]| rounded(of(i).sqrt()));
    assert_close(&z.to_host().unwrap(), |[which, i]| match which {
        0 => near(f64::from(of(i)).powf(f64::from(of(i))), 1e-4),
        1 => near(f64::from(of(i).max(1.0)), 0.0),
        _ if of(i) < 1.0 => near(f64::from(of(i)), 0.0),
        _ => near(f64::from(-of(i)), 0.0),
    });
}

/// Compares sums of `terms` products of what is used of two numbers.
fn products(
    found: &Tensor<f32, (usize, usize)>,
    terms: usize,
    factors: impl Fn(usize, usize, usize) -> (f32, f32),
) {
    assert_close(found, |[i, j]| {
        let term = |k| {
            let (a, b) = factors(i, j, k);
            f64::from(used(a)) * f64::from(used(b))
        };
        let magnitude = (0..terms).map(|k| term(k).abs()).sum();
        dot::<f32>((0..terms).map(term).sum(), magnitude, terms)
    });
}

#[test]
fn operands_of_products() {
    let device = Device::default();
    for (m, n) in [(16, 8), (48, 40)] {
        let a = Tensor::<f32, _>::random((m, Const::<16>), -4.0..4.0, 9);
        let b = Tensor::<f32, _>::random((n, Const::<16>), -4.0..4.0, 10);
        let mut c = DeviceTensor::<f32, _>::zeros((m, n), &device).unwrap();
        kernels::tf32_product(&a, &b, &mut c).unwrap();
        products(&c.to_host().unwrap(), 16, |i, j, k| (a[[i, k]], b[[j, k]]));
    }
    for (m, n, k) in [(64, 32, 32), (100, 40, 72)] {
        let a = Tensor::<f32, _>::random((m, k), -4.0..4.0, 11);
        let b = Tensor::<f32, _>::random((n, k), -4.0..4.0, 12);
        let [x, y] = [&a, &b].map(|t| t.to_device(&device).unwrap());
        let mut c = DeviceTensor::<f32, _>::zeros((m, n), &device).unwrap();
        kernels::tf32_warpgroup(&x, &y, &mut c).unwrap();
        products(&c.to_host().unwrap(), k, |i, j, k| (a[[i, k]], b[[j, k]]));
    }
}
