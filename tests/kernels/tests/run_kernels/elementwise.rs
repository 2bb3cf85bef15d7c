use croq_kernel_tests::compare::{Float, assert_close, assert_exact, growth, near, rounded};
use croq_kernels as kernels;
use croq_sys::half::{bf16, f16};
use croq_sys::{Const, Device, DeviceTensor, F8E4M3, Tensor};

#[test]
fn add_1d() {
    for n in [1, 255, 256, 257, 1000] {
        let lhs = Tensor::<f32, _>::random((n,), -100.0..100.0, 1);
        let rhs = Tensor::<f32, _>::random((n,), -100.0..100.0, 2);
        let sum = kernels::add_1d(&lhs, &rhs).unwrap();
        assert_eq!(sum.shape(), [n]);
        assert_exact(&sum, |i| lhs[i] + rhs[i]);
    }
}

#[test]
fn add_2d() {
    let lhs = Tensor::<i32, _>::random((Const::<48>, Const::<96>), i32::MIN..i32::MAX, 3);
    let rhs = Tensor::<i32, _>::random((Const::<48>, Const::<96>), i32::MIN..i32::MAX, 4);
    let sum = kernels::add_2d(&lhs, &rhs).unwrap();
    assert_exact(&sum, |i| lhs[i].wrapping_add(rhs[i]));
}

#[test]
fn add_3d() {
    for (d, m, n) in [(1, 1, 1), (3, 8, 32), (2, 13, 45), (5, 9, 31)] {
        let lhs = Tensor::<f64, _>::random((d, m, n), -1.0..1.0, 5);
        let rhs = Tensor::<f64, _>::random((d, m, n), -1.0..1.0, 6);
        let sum = kernels::add_3d(&lhs, &rhs).unwrap();
        assert_eq!(sum.shape(), [d, m, n]);
        assert_exact(&sum, |i| lhs[i] + rhs[i]);
    }
}

#[test]
fn add_4d() {
    for dims in [(1, 1, 1, 1), (2, 3, 4, 5), (3, 7, 5, 11)] {
        let lhs = Tensor::<u16, _>::random(dims, 0..u16::MAX, 7);
        let rhs = Tensor::<u16, _>::random(dims, 0..u16::MAX, 8);
        let sum = kernels::add_4d(&lhs, &rhs).unwrap();
        assert_exact(&sum, |i| lhs[i].wrapping_add(rhs[i]));
    }
}

#[test]
fn axpy_updates_in_place() {
    for n in [1, 127, 128, 500] {
        let x = Tensor::<f32, _>::random((n,), -2.0..2.0, 9);
        let y = Tensor::<f32, _>::random((n,), -2.0..2.0, 10);
        let device = Device::default();
        let mut on_device = y.to_device(&device).unwrap();
        kernels::axpy(0.75, &x.to_device(&device).unwrap(), &mut on_device).unwrap();
        // One rounding of the product unless it is fused, one of the sum.
        assert_close(&on_device.to_host().unwrap(), |i| {
            let (product, own) = (0.75 * x[i].wide(), y[i].wide());
            near(
                product + own,
                (2.0 * product.abs() + own.abs()) * f32::ROUNDOFF * 1.01,
            )
        });
    }
}

#[test]
fn scale_in_place_copies_back() {
    for (m, n) in [(1, 1), (4, 32), (7, 45)] {
        let before = Tensor::<f64, _>::random((m, n), -3.0..3.0, 11);
        let mut x = before.clone();
        kernels::scale_in_place(&mut x, -1.75).unwrap();
        assert_exact(&x, |i| before[i] * -1.75);
    }
}

#[test]
fn scale_relu() {
    fn check<T: Float<Bound = f32> + kernels::ScaleReluInstance>() {
        for n in [1, 256, 777] {
            let x = Tensor::<T, _>::random((n,), -2.0..2.0, 12);
            let y = kernels::scale_relu(&x, 1.5, -0.25).unwrap();
            assert_close(&y, |i| {
                let product = 1.5 * x[i].wide();
                let value = (product - 0.25).max(0.0);
                near(
                    value,
                    rounded::<T>(value, 1).tolerance
                        + (2.0 * product.abs() + 0.25) * f32::ROUNDOFF * 1.01,
                )
            });
        }
    }
    check::<f32>();
    check::<f16>();
    check::<bf16>();
}

#[test]
fn scale_sigmoid() {
    let x = Tensor::<f32, _>::random((Const::<32>, Const::<80>), -6.0..6.0, 13);
    let y = kernels::scale_sigmoid(&x, 0.7).unwrap();
    // The exponential's argument carries one rounding, the function itself a few.
    assert_close(&y, |i| {
        let v = x[i].wide() * f64::from(0.7f32);
        let expected = 1.0 / (1.0 + (-v).exp());
        near(expected, expected * f32::ROUNDOFF * (8.0 + v.abs()))
    });
}

#[test]
fn bias_gelu() {
    fn check<T: Float<Bound = f32> + kernels::BiasGeluInstance>() {
        for (b, t, c) in [(1, 1, 1), (2, 3, 64), (2, 5, 100)] {
            let x = Tensor::<T, _>::random((b, t, c), -4.0..4.0, 14);
            let bias = Tensor::<T, _>::random((c,), -1.0..1.0, 15);
            let y = kernels::bias_gelu(&x, &bias).unwrap();
            assert_close(&y, |[i, j, k]| {
                let v = x[[i, j, k]].wide() + bias[[k]].wide();
                let expected = gelu(v);
                // One rounding to T; below it, the cancellation in 1 + erf at the far left.
                near(
                    expected,
                    rounded::<T>(expected, 1).tolerance + v.abs() * 8.0 * f32::ROUNDOFF,
                )
            });
        }
    }
    check::<f32>();
    check::<f16>();
    check::<bf16>();
}

#[test]
fn scale_silu() {
    fn check<T: Float<Bound = f32> + kernels::ScaleSiluInstance>() {
        for dims in [(1, 1, 1, 1), (2, 3, 8, 16), (2, 3, 11, 21)] {
            let x = Tensor::<T, _>::random(dims, -4.0..4.0, 16);
            let gain = Tensor::<f32, _>::random((dims.1,), 0.5..1.5, 17);
            let y = kernels::scale_silu(&x, &gain).unwrap();
            assert_close(&y, |[n, c, h, w]| {
                let v = x[[n, c, h, w]].wide() * gain[[c]].wide();
                let expected = v / (1.0 + (-v).exp());
                near(
                    expected,
                    rounded::<T>(expected, 1).tolerance + expected.abs() * 16.0 * f32::ROUNDOFF,
                )
            });
        }
    }
    check::<f32>();
    check::<f16>();
    check::<bf16>();
}

#[test]
fn quantize_and_back() {
    for (m, n) in [(1, 1), (3, 128), (4, 200)] {
        let x = Tensor::<bf16, _>::random((m, n), -9.0..9.0, 18);
        let wide = Tensor::<f32, _>::from_fn((m, n), |i| x[i].to_f32());
        let scale = Tensor::<f32, _>::from_fn((m,), |[i]| [0.0625, 0.03125, 0.125][i % 3]);
        // Powers of two divide exactly.
        let divided = |[i, j]: [usize; 2]| wide[[i, j]] / scale[[i]];
        let rounded = |i| divided(i).round().clamp(-127.0, 127.0) as i8;
        let q = kernels::quantize_rows::<i8, _, _, _, _, _>(&wide, &scale).unwrap();
        assert_exact(&q, rounded);
        assert_exact(
            &kernels::quantize_rows::<i8, _, _, _, _, _>(&x, &scale).unwrap(),
            rounded,
        );
        let back = kernels::dequantize_rows(&q, &scale).unwrap();
        assert_exact(&back, |[i, j]| f32::from(q[[i, j]]) * scale[[i]]);

        let narrow = |i| F8E4M3::from_f32(divided(i));
        let q = kernels::quantize_rows::<F8E4M3, _, _, _, _, _>(&wide, &scale).unwrap();
        assert_exact(&q, narrow);
        assert_exact(
            &kernels::quantize_rows::<F8E4M3, _, _, _, _, _>(&x, &scale).unwrap(),
            narrow,
        );
        let back = kernels::dequantize_rows(&q, &scale).unwrap();
        assert_exact(&back, |[i, j]| q[[i, j]].to_f32() * scale[[i]]);
    }
}

/// Angles are products of two roundings and a power; each half has two products and a sum.
#[test]
fn rope_turns_pairs() {
    fn check<T: Float<Bound = f32> + kernels::RopeInstance<D>, const D: usize>() {
        for (b, s, h) in [(1, 1, 1), (2, 5, 3), (1, 70, 2)] {
            let x = Tensor::<T, _>::random((b, s, h, Const::<D>), -2.0..2.0, 19);
            let mut y = x.to_device(&Device::default()).unwrap();
            kernels::rope(&mut y, 3).unwrap();
            assert_close(&y.to_host().unwrap(), |[b, s, h, d]| {
                let pairs = D / 2;
                let i = d % pairs;
                let angle = (3 + s) as f64 * 10000f64.powf(-(i as f64) / pairs as f64);
                let (re, im) = (x[[b, s, h, i]].wide(), x[[b, s, h, i + pairs]].wide());
                let value = match d < pairs {
                    true => re * angle.cos() - im * angle.sin(),
                    false => re * angle.sin() + im * angle.cos(),
                };
                let error = (re.abs() + im.abs()) * (8.0 + 32.0 * angle) * f32::ROUNDOFF;
                near(value, rounded::<T>(value, 1).tolerance + error)
            });
        }
    }
    check::<f32, 64>();
    check::<f16, 64>();
    check::<bf16, 64>();
    check::<f16, 128>();
    check::<bf16, 128>();
}

/// As for `rope`; the logarithm of the base and the power have an error of the angle's size, too.
#[test]
fn rope_at_turns_pairs() {
    macro_rules! check {
        ($($kernel:ident, $adjacent:literal, $ty:ty, $d:literal;)*) => {$(
            for (h, at) in [(1, vec![0]), (3, vec![5, 0, 4095, 17]), (33, vec![2, 1])] {
                let dims = (at.len(), h, Const::<$d>);
                let x = Tensor::<$ty, _>::random(dims, -2.0..2.0, 21);
                let positions = Tensor::from_vec((at.len(),), at.clone()).unwrap();
                let device = Device::default();
                let mut y = x.to_device(&device).unwrap();
                let there = positions.to_device(&device).unwrap();
                kernels::$kernel(&mut y, &there, 500_000.0).unwrap();
                assert_close(&y.to_host().unwrap(), |[s, h, d]| {
                    let pairs = $d / 2;
                    let (i, real) = match $adjacent {
                        true => (d / 2, d % 2 == 0),
                        false => (d % pairs, d < pairs),
                    };
                    let (re, im) = match $adjacent {
                        true => (x[[s, h, 2 * i]], x[[s, h, 2 * i + 1]]),
                        false => (x[[s, h, i]], x[[s, h, i + pairs]]),
                    };
                    let (re, im) = (re.wide(), im.wide());
                    let angle = f64::from(at[s]) * 500_000f64.powf(-(i as f64) / pairs as f64);
                    let value = match real {
                        true => re * angle.cos() - im * angle.sin(),
                        false => re * angle.sin() + im * angle.cos(),
                    };
                    let error = (re.abs() + im.abs()) * (8.0 + 64.0 * angle) * f32::ROUNDOFF;
                    near(value, rounded::<$ty>(value, 1).tolerance + error)
                });
            }
        )*};
    }
    check! {
        rope_at, false, f32, 64;
        rope_pairs_at, true, f32, 64;
        rope_at, false, f16, 64;
        rope_pairs_at, true, f16, 64;
        rope_at, false, f16, 128;
        rope_pairs_at, true, f16, 128;
        rope_at, false, bf16, 64;
        rope_pairs_at, true, bf16, 64;
        rope_at, false, bf16, 128;
        rope_pairs_at, true, bf16, 128;
    }
    let device = Device::default();
    let mut x = DeviceTensor::<f32, _>::zeros((1, 1, Const::<64>), &device).unwrap();
    let at = DeviceTensor::<i32, _>::zeros((1,), &device).unwrap();
    let error = kernels::rope_pairs_at(&mut x, &at, 0.0).unwrap_err();
    assert!(error.to_string().contains("base"), "{error}");
}

#[test]
fn swiglu() {
    fn check<T: Float<Bound = f32> + kernels::SwigluInstance>() {
        for (m, n) in [(1, 1), (3, 64), (7, 301), (2, 4096), (5, 2051)] {
            let gate = Tensor::<T, _>::random((m, n), -6.0..6.0, 22);
            let up = Tensor::<T, _>::random((m, n), -3.0..3.0, 23);
            let y = kernels::swiglu(&gate, &up).unwrap();
            assert_close(&y, |i| {
                let v = gate[i].wide();
                let value = v / (1.0 + (-v).exp()) * up[i].wide();
                // The power has an error of its argument's size.
                let error = value.abs() * growth::<f32>(16) * (1.0 + v.abs());
                near(value, error + rounded::<T>(value, 1).tolerance)
            });
        }
    }
    check::<f32>();
    check::<f16>();
    check::<bf16>();
}

#[test]
fn extents_that_disagree_are_an_error() {
    let lhs = Tensor::<f32, _>::zeros((10,));
    let rhs = Tensor::<f32, _>::zeros((11,));
    let error = kernels::add_1d(&lhs, &rhs).unwrap_err();
    match error {
        croq_sys::Error::ShapeMismatch {
            param,
            axis,
            expected,
            found,
            ..
        } => {
            assert_eq!((param, axis, expected, found), ("rhs", 0, 10, 11));
        }
        other => panic!("{other}"),
    }
}

/// x · Φ(x), with the error function by its series or its continued fraction.
pub fn gelu(x: f64) -> f64 {
    0.5 * x * erfc(-x / std::f64::consts::SQRT_2)
}

fn erfc(x: f64) -> f64 {
    if x < 0.0 {
        return 2.0 - erfc(-x);
    }
    if x < 2.0 {
        let (mut term, mut sum) = (x, x);
        for n in 1..200 {
            term *= -x * x / n as f64;
            sum += term / (2 * n + 1) as f64;
        }
        return 1.0 - sum * std::f64::consts::FRAC_2_SQRT_PI;
    }
    let mut fraction = 0.0;
    for k in (1..200).rev() {
        fraction = 0.5 * k as f64 / (x + fraction);
    }
    (-x * x).exp() / (x + fraction) * 0.5 * std::f64::consts::FRAC_2_SQRT_PI
}

#[test]
fn the_reference_error_function() {
    for (x, expected) in [
        (0.0, 1.0),
        (0.5, 0.4795001221869535),
        (1.0, 0.15729920705028513),
        (2.5, 0.000_406_952_017_444_959),
        (-1.0, 1.8427007929497148),
    ] {
        assert!(
            (erfc(x) - expected).abs() < 1e-14,
            "erfc({x}) = {}",
            erfc(x)
        );
    }
}
