//! The math builtins against Rust's f64.

use std::ffi::{CStr, c_char};

// Links the compiled C++.
use croq_conformance as _;

unsafe extern "C" {
    fn conf_math_f64(function: *const c_char, x: f64) -> f64;
    fn conf_math_f32(function: *const c_char, x: f32) -> f32;
    fn conf_math_f16(function: *const c_char, x: u16) -> u16;
    fn conf_math_bf16(function: *const c_char, x: u16) -> u16;
    fn conf_math2_f64(function: *const c_char, x: f64, y: f64) -> f64;
    fn conf_math2_f32(function: *const c_char, x: f32, y: f32) -> f32;
    fn conf_math2_f16(function: *const c_char, x: u16, y: u16) -> u16;
    fn conf_fma_f32(x: f32, y: f32, z: f32) -> f32;
    fn conf_fma_f64(x: f64, y: f64, z: f64) -> f64;
    fn conf_fma_f16(x: u16, y: u16, z: u16) -> u16;
    fn conf_is_finite_f64(x: f64) -> bool;
    fn conf_is_finite_f32(x: f32) -> bool;
    fn conf_is_finite_f16(x: u16) -> bool;
    fn conf_is_finite_bf16(x: u16) -> bool;
    fn conf_is_finite_f8_e4m3(x: u8) -> bool;
    fn conf_is_finite_f8_e5m2(x: u8) -> bool;
    fn conf_cdiv(a: i64, b: i64) -> i64;
    fn conf_min_s32(a: i32, b: i32) -> i32;
    fn conf_max_u32(a: u32, b: u32) -> u32;
    fn conf_div_s32(a: i32, b: i32) -> i32;
    fn conf_rem_s32(a: i32, b: i32) -> i32;
    fn conf_div_s8(a: i8, b: i8) -> i8;
    fn conf_div_u64(a: u64, b: u64) -> u64;
}

/// Abramowitz and Stegun's series, to f64 precision for the small arguments it is used on.
fn erf(x: f64) -> f64 {
    if x.abs() > 4.0 {
        return x.signum();
    }
    let (mut term, mut sum, mut n) = (x, x, 0.0);
    while term.abs() > 1e-18 * sum.abs() && n < 400.0 {
        n += 1.0;
        term *= -x * x / n;
        sum += term / (2.0 * n + 1.0);
    }
    sum * 2.0 / std::f64::consts::PI.sqrt()
}

type Reference = fn(f64) -> f64;

/// Name, reference, range of arguments, and the maximum error in f32: the C library is within two
/// units in the last place, formulas of it within a few.
const UNARY: &[(&CStr, Reference, (f64, f64), f64)] = &[
    (c"acos", f64::acos, (-1.0, 1.0), 2.0),
    (c"asin", f64::asin, (-1.0, 1.0), 2.0),
    (c"atan", f64::atan, (-20.0, 20.0), 2.0),
    (c"ceil", f64::ceil, (-9.0, 9.0), 0.0),
    (c"cos", f64::cos, (-30.0, 30.0), 2.0),
    (c"cosh", f64::cosh, (-9.0, 9.0), 3.0),
    (c"erf", erf, (-1.5, 1.5), 2.0),
    (c"erfc", |x| 1.0 - erf(x), (-1.5, 0.4), 2.0),
    (c"exp", f64::exp, (-80.0, 80.0), 2.0),
    (c"exp2", f64::exp2, (-100.0, 100.0), 2.0),
    (c"expm1", f64::exp_m1, (-5.0, 5.0), 2.0),
    (c"fabs", f64::abs, (-5.0, 5.0), 0.0),
    (c"floor", f64::floor, (-9.0, 9.0), 0.0),
    (c"recip", f64::recip, (-9.0, -0.01), 0.5),
    (c"log", f64::ln, (1e-6, 1e6), 2.0),
    (c"log1p", f64::ln_1p, (-0.99, 50.0), 2.0),
    (c"round", f64::round, (-9.0, 9.0), 0.0),
    (c"rsqrt", |x| x.sqrt().recip(), (1e-3, 1e3), 1.5),
    (c"sigmoid", |x| 1.0 / (1.0 + (-x).exp()), (-60.0, 60.0), 4.0),
    (c"sin", f64::sin, (-30.0, 30.0), 2.0),
    (c"sinh", f64::sinh, (-9.0, 9.0), 3.0),
    (
        c"softplus",
        |x| if x > 30.0 { x } else { x.exp().ln_1p() },
        (-60.0, 90.0),
        4.0,
    ),
    (c"sqrt", f64::sqrt, (0.0, 1e6), 0.5),
    (c"tan", f64::tan, (-1.5, 1.5), 3.0),
    (c"tanh", f64::tanh, (-9.0, 9.0), 3.0),
];

fn samples((low, high): (f64, f64)) -> impl Iterator<Item = f64> {
    (0..=2000).map(move |i| low + (high - low) * f64::from(i) / 2000.0)
}

fn ulp32(v: f64) -> f64 {
    let near = (v.abs() as f32).max(f32::MIN_POSITIVE);
    f64::from(near.next_up()) - f64::from(near)
}

#[test]
fn functions_of_one_argument() {
    for &(name, reference, range, ulps) in UNARY {
        for x in samples(range) {
            let single = x as f32;
            let exact = reference(f64::from(single));
            // SAFETY: a function of a name and a number.
            let found = unsafe { conf_math_f32(name.as_ptr(), single) };
            // Rounding the reference to f32 has an error of half a unit.
            let allowed = ulp32(exact) * ulps.max(0.501);
            let off = (f64::from(found) - exact).abs();
            assert!(off <= allowed, "{name:?}({single}) = {found}, not {exact}");

            let exact = reference(x);
            // SAFETY: as above.
            let found = unsafe { conf_math_f64(name.as_ptr(), x) };
            let close = (found - exact).abs() <= exact.abs() * 1e-14 + 1e-300;
            assert!(close, "{name:?}({x}) = {found}, not {exact}");

            // Computed in f32 and rounded.
            let half = half::f16::from_f64(x);
            // SAFETY: as above.
            let (found, wide) = unsafe {
                (
                    conf_math_f16(name.as_ptr(), half.to_bits()),
                    conf_math_f32(name.as_ptr(), half.to_f32()),
                )
            };
            let (found, expected) = (half::f16::from_bits(found), half::f16::from_f32(wide));
            assert!(
                found == expected || found.is_nan() && wide.is_nan(),
                "{name:?}({half})"
            );
            let brain = half::bf16::from_f64(x);
            // SAFETY: as above.
            let (found, wide) = unsafe {
                (
                    conf_math_bf16(name.as_ptr(), brain.to_bits()),
                    conf_math_f32(name.as_ptr(), brain.to_f32()),
                )
            };
            let (found, expected) = (half::bf16::from_bits(found), half::bf16::from_f32(wide));
            assert!(
                found == expected || found.is_nan() && wide.is_nan(),
                "{name:?}({brain})"
            );
        }
    }
}

#[test]
fn gelu_is_the_one_with_erf() {
    for x in samples((-4.0, 4.0)) {
        let exact = 0.5 * x * (1.0 + erf(x / 2f64.sqrt()));
        // SAFETY: a function of a name and a number.
        let found = unsafe { conf_math_f64(c"gelu".as_ptr(), x) };
        assert!(
            (found - exact).abs() <= 1e-8,
            "gelu({x}) = {found}, not {exact}"
        );
        // SAFETY: as above.
        let found = unsafe { conf_math_f32(c"gelu".as_ptr(), x as f32) };
        assert!(
            (f64::from(found) - exact).abs() <= 2e-6,
            "gelu({x}) = {found}, not {exact}"
        );
    }
}

#[test]
fn signs_and_extremes() {
    let of = |name: &CStr, x: f32| {
        // SAFETY: a function of a name and a number.
        unsafe { conf_math_f32(name.as_ptr(), x) }
    };
    for (x, sign) in [(3.5, 1.0), (-1e-30, -1.0), (0.0, 0.0), (-0.0, 0.0)] {
        assert_eq!(of(c"sign", x), sign);
    }
    assert_eq!(of(c"sigmoid", -1000.0), 0.0);
    assert_eq!(of(c"sigmoid", 1000.0), 1.0);
    assert_eq!(of(c"softplus", 1000.0), 1000.0);
    assert_eq!(of(c"softplus", -1000.0), 0.0);
    assert_eq!(of(c"round", 2.5), 3.0);
    assert_eq!(of(c"round", -2.5), -3.0);
    assert!(of(c"sqrt", -1.0).is_nan());
    assert_eq!(of(c"recip", 0.0), f32::INFINITY);
}

#[test]
fn functions_of_two_and_three_arguments() {
    for x in samples((-6.0, 6.0)).step_by(37) {
        for y in samples((-6.0, 6.0)).step_by(41) {
            // SAFETY: functions of a name and numbers.
            unsafe {
                let near = |found: f64, exact: f64| (found - exact).abs() <= exact.abs() * 1e-14;
                assert!(near(conf_math2_f64(c"atan2".as_ptr(), x, y), x.atan2(y)));
                assert!(near(
                    conf_math2_f64(c"pow".as_ptr(), x.abs(), y),
                    x.abs().powf(y)
                ));
                assert_eq!(conf_math2_f64(c"min".as_ptr(), x, y), x.min(y));
                assert_eq!(
                    conf_math2_f32(c"max".as_ptr(), x as f32, y as f32),
                    x.max(y) as f32
                );
                assert_eq!(conf_fma_f64(x, y, 0.1), x.mul_add(y, 0.1));
                let (x, y) = (x as f32, y as f32);
                let exact = f64::from(x).atan2(f64::from(y));
                let found = f64::from(conf_math2_f32(c"atan2".as_ptr(), x, y));
                assert!((found - exact).abs() <= 2.0 * ulp32(exact));
                assert_eq!(conf_fma_f32(x, y, 0.1), x.mul_add(y, 0.1));
                let (p, q) = (half::f16::from_f32(x), half::f16::from_f32(y));
                let sum = conf_fma_f16(p.to_bits(), q.to_bits(), half::f16::ONE.to_bits());
                let exact = half::f16::from_f32(p.to_f32().mul_add(q.to_f32(), 1.0));
                assert_eq!(half::f16::from_bits(sum), exact);
            }
        }
    }
    // If one operand is a NaN, the result is the other one.
    // SAFETY: functions of a name and numbers.
    unsafe {
        for name in [c"min", c"max"] {
            assert_eq!(conf_math2_f32(name.as_ptr(), f32::NAN, 2.0), 2.0);
            assert_eq!(conf_math2_f64(name.as_ptr(), 2.0, f64::NAN), 2.0);
            assert_eq!(conf_math2_f16(name.as_ptr(), 0x7e00, 0x3c00), 0x3c00);
        }
    }
}

#[test]
fn finiteness() {
    // SAFETY: functions of numbers.
    unsafe {
        for v in [
            0.0,
            1.0,
            f64::MAX,
            f64::MIN_POSITIVE,
            f64::INFINITY,
            f64::NAN,
            -f64::INFINITY,
        ] {
            assert_eq!(conf_is_finite_f64(v), v.is_finite());
            assert_eq!(conf_is_finite_f32(v as f32), (v as f32).is_finite());
        }
        for bits in 0..=u16::MAX {
            assert_eq!(
                conf_is_finite_f16(bits),
                half::f16::from_bits(bits).is_finite()
            );
            assert_eq!(
                conf_is_finite_bf16(bits),
                half::bf16::from_bits(bits).is_finite()
            );
        }
        for bits in 0..=u8::MAX {
            assert_eq!(conf_is_finite_f8_e4m3(bits), bits & 0x7f != 0x7f);
            assert_eq!(conf_is_finite_f8_e5m2(bits), bits & 0x7c != 0x7c);
        }
    }
}

#[test]
fn integers() {
    // SAFETY: functions of numbers.
    unsafe {
        assert_eq!(
            (
                conf_cdiv(0, 8),
                conf_cdiv(1, 8),
                conf_cdiv(8, 8),
                conf_cdiv(9, 8)
            ),
            (0, 1, 1, 2)
        );
        assert_eq!(
            (conf_min_s32(-3, 2), conf_max_u32(3, u32::MAX)),
            (-3, u32::MAX)
        );
        assert_eq!((conf_div_s32(-7, 2), conf_rem_s32(-7, 2)), (-3, -1));
        assert_eq!(
            (conf_div_s32(i32::MIN, -1), conf_rem_s32(i32::MIN, -1)),
            (i32::MIN, 0)
        );
        assert_eq!(
            (conf_div_s8(i8::MIN, -1), conf_div_s8(-128, 3)),
            (i8::MIN, -42)
        );
        assert_eq!(conf_div_u64(u64::MAX, u64::MAX - 1), 1);
        // On the host there is no thread to stop.
        assert_eq!(
            (conf_div_s32(7, 0), conf_rem_s32(7, 0), conf_cdiv(7, 0)),
            (0, 0, 0)
        );
    }
}
