use croq_sys::Tensor;
use croq_sys::half::{bf16, f16};
use croq_tests::compare::{Float, Near, assert_close, assert_exact, near, rounded};
use croq_tests::kernels;

/// A function value with its condition number: the relative error of the result for a relative
/// error of the argument, and the error of the function itself in units in the last place. CUDA
/// documents at most 4 for the f32 functions used here; the arguments have up to two roundings.
fn function<T: Float>(value: f64, argument_error: f64) -> Near {
    let own = rounded::<T>(value, 8).tolerance;
    near(value, own + argument_error.abs() * 4.0 * T::ROUNDOFF)
}

#[test]
fn f32_functions() {
    let x = Tensor::<f32, _>::random((150,), -5.0..5.0, 1);
    let y = kernels::math_f32(&x).unwrap();
    assert_close(&y, |[row, i]| {
        let v = x[[i]].wide();
        let unit = v / (v.abs() + 1.0);
        let positive = v.abs() + 0.125;
        let slope = (1.0 - unit * unit).sqrt().recip();
        let sigmoid = 1.0 / (1.0 + (-v).exp());
        match row {
            0 => function::<f32>(unit.acos(), unit * slope),
            1 => function::<f32>(unit.asin(), unit * slope),
            2 => function::<f32>(v.atan(), 0.0),
            3 => near(v.ceil(), 0.0),
            4 => function::<f32>(v.cos(), 1.0),
            5 => function::<f32>(v.cosh(), 0.0),
            6 => function::<f32>(v.exp(), v * v.exp()),
            7 => function::<f32>(v.exp2(), v * v.exp2()),
            8 => function::<f32>(v.exp_m1(), 0.0),
            9 => near(v.abs(), 0.0),
            10 => near(v.floor(), 0.0),
            11 => function::<f32>(1.0 / positive, 1.0 / positive),
            12 => function::<f32>(gelu(v), v),
            13 => near(1.0, 0.0),
            14 => function::<f32>(positive.ln(), 1.0),
            15 => function::<f32>(positive.ln_1p(), 1.0),
            16 => near(v.round(), 0.0),
            17 => function::<f32>(positive.sqrt().recip(), positive.sqrt().recip()),
            18 => function::<f32>(sigmoid, v * sigmoid),
            19 => near(if v == 0.0 { 0.0 } else { v.signum() }, 0.0),
            20 => function::<f32>(v.sin(), 1.0),
            21 => function::<f32>(v.sinh(), 0.0),
            22 => function::<f32>(v.exp().ln_1p(), 1.0),
            23 => function::<f32>(positive.sqrt(), positive.sqrt()),
            24 => function::<f32>(unit.tan(), unit / unit.cos().powi(2)),
            25 => function::<f32>(v.tanh(), 0.0),
            26 => function::<f32>(v * unit + positive, v.abs() + positive),
            _ => function::<f32>(v.atan2(positive), 1.0),
        }
    });
}

#[test]
fn f32_functions_at_the_edges() {
    let x = Tensor::from_vec((6,), vec![0.0, -0.0, 90.0, -90.0, f32::INFINITY, f32::NAN]).unwrap();
    let y = kernels::math_f32(&x).unwrap();
    let row = |k: usize| -> Vec<f32> { (0..6).map(|i| y[[k, i]]).collect() };
    assert_eq!(row(13), [1.0, 1.0, 1.0, 1.0, 0.0, 0.0]);
    assert_eq!(row(19)[..5], [0.0, 0.0, 1.0, -1.0, 1.0]);
    // Stable where exp overflows or vanishes.
    assert_eq!(row(18)[2], 1.0);
    assert!((0.0..1e-38).contains(&row(18)[3]));
    assert_eq!(row(22)[2], 90.0);
    assert!((0.0..1e-38).contains(&row(22)[3]));
    assert_eq!(row(25)[2..4], [1.0, -1.0]);
}

#[test]
fn f64_functions() {
    let x = Tensor::<f64, _>::random((150,), -3.0..3.0, 2);
    let y = kernels::math_f64(&x).unwrap();
    assert_close(&y, |[row, i]| {
        let v = x[[i]];
        let positive = v.abs() + 0.125;
        match row {
            0 => function::<f64>(v.exp(), 0.0),
            1 => function::<f64>(positive.ln(), 1.0),
            2 => function::<f64>(v.sin(), 0.0),
            3 => function::<f64>(v.tanh(), 0.0),
            4 => function::<f64>(positive.sqrt(), 0.0),
            5 => function::<f64>(positive.powf(v), 0.0),
            6 => near(v.max(0.25), 0.0),
            _ => function::<f64>(1.0 / (1.0 + (-v).exp()), 0.0),
        }
    });
}

#[test]
fn half_functions() {
    let x = Tensor::<f16, _>::random((150,), -4.0..4.0, 3);
    let y = kernels::math_f16(&x).unwrap();
    // One rounding of an f32 result: the last place of an f16, and slightly more for values near a
    // tie.
    assert_close(&y, |[row, i]| {
        let v = x[[i]].wide();
        let value = [v.exp(), v.tanh(), v.max(0.0), gelu(v)][row];
        near(
            value,
            rounded::<f16>(value, 1).tolerance * 1.01 + v.abs() * 8.0 * f32::ROUNDOFF,
        )
    });
    let x = Tensor::<bf16, _>::random((150,), -4.0..4.0, 4);
    let y = kernels::math_bf16(&x).unwrap();
    assert_close(&y, |[row, i]| {
        let v = x[[i]].wide();
        let value = [v.exp(), 1.0 / (1.0 + (-v).exp())][row];
        near(value, rounded::<bf16>(value, 1).tolerance * 1.01)
    });
}

#[test]
fn two_arguments() {
    let a = Tensor::<f32, _>::random((150,), -3.0..3.0, 5);
    let b = Tensor::<f32, _>::random((150,), -3.0..3.0, 6);
    let y = kernels::math_two(&a, &b).unwrap();
    assert_close(&y, |[row, i]| {
        let (u, v) = (a[[i]].wide(), b[[i]].wide());
        match row {
            0 => near(u.min(v), 0.0),
            1 => near(u.max(v), 0.0),
            _ => {
                let value = (u.abs() + 0.5).powf(v);
                function::<f32>(value, v * value)
            }
        }
    });
    // A number is preferred to a NaN.
    let a = Tensor::from_vec((3,), vec![f32::NAN, 1.0, f32::NAN]).unwrap();
    let b = Tensor::from_vec((3,), vec![2.0, f32::NAN, f32::NAN]).unwrap();
    let y = kernels::math_two(&a, &b).unwrap();
    assert_eq!(
        [y[[0, 0]], y[[0, 1]], y[[1, 0]], y[[1, 1]]],
        [2.0, 1.0, 2.0, 1.0]
    );
    assert!(y[[0, 2]].is_nan() && y[[1, 2]].is_nan());
    let a = Tensor::<i32, _>::random((150,), -300..300, 7);
    let b = Tensor::<i32, _>::random((150,), -300..300, 8);
    let y = kernels::math_integers(&a, &b).unwrap();
    assert_exact(&y, |[row, i]| [a[[i]].min(b[[i]]), a[[i]].max(b[[i]])][row]);
}

/// x · Φ(x) by Simpson's rule over the bell curve.
fn gelu(x: f64) -> f64 {
    let steps = 2000;
    let h = x / steps as f64;
    let bell = |t: f64| (-t * t / 2.0).exp();
    let inner: f64 = (1..steps)
        .map(|k| bell(k as f64 * h) * if k % 2 == 1 { 4.0 } else { 2.0 })
        .sum();
    let area = (bell(0.0) + inner + bell(x)) * h / 3.0;
    x * (0.5 + area / (2.0 * std::f64::consts::PI).sqrt())
}
