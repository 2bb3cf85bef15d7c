//! Shifts, bits, float atomics and functions of single values (`values.co`).

use croq_sys::half::{bf16, f16};
use croq_sys::{Const, Error, Tensor};
use croq_tests::compare::assert_exact;
use croq_tests::kernels;

fn amounts(n: usize, most: i32, seed: u64) -> Tensor<i32, (usize,)> {
    Tensor::random((n,), 0..most, seed)
}

#[test]
fn shifts_by_run_time_amounts() {
    for n in [1usize, 32, 75] {
        let x = Tensor::<u32, _>::random((n,), 0..u32::MAX, 1);
        let by = amounts(n, 32, 2);
        let y = kernels::shifted_masks(&x, &by).unwrap();
        assert_exact(&y, |[i]| {
            let bit = x[[i]] >> (i % 32) & 1;
            bit.wrapping_add(x[[i]] << by[[i]])
        });
    }
}

#[test]
fn nibbles_of_bytes() {
    for n in [1usize, 9] {
        let packed = Tensor::<u8, _>::random((n, Const::<8>), 0..255, 3);
        let mut nibbles = Tensor::<u8, _>::zeros((n, Const::<16>));
        let mut again = Tensor::<u8, _>::zeros((n, Const::<8>));
        kernels::shifted_nibbles(&packed, &mut nibbles, &mut again).unwrap();
        assert_exact(&nibbles, |[r, k]| packed[[r, k / 2]] >> (4 * (k % 2)) & 15);
        assert_exact(&again, |i| packed[i]);
    }
}

#[test]
fn shifts_of_every_width() {
    for n in [1usize, 40] {
        let a = Tensor::<i8, _>::random((n,), -128..127, 4);
        let b = Tensor::<u16, _>::random((n,), 0..65535, 5);
        let c = Tensor::<i64, _>::random((n,), i64::MIN / 2..i64::MAX / 2, 6);
        let by = amounts(n, 31, 7);
        let mut y = Tensor::<i64, _>::zeros((n, Const::<7>));
        kernels::shifted_widths(&a, &b, &c, &by, 63, &mut y).unwrap();
        assert_exact(&y, |[p, column]| {
            let (a, b, c, by) = (a[[p]], b[[p]], c[[p]], by[[p]]);
            match column {
                0 => i64::from(a << (by & 7)),
                1 => i64::from(a >> (by & 7)),
                2 => i64::from(b << (by % 16)),
                3 => c << 63,
                4 => c >> by,
                5 => ((1u64 << (by + 32)) >> 3) as i64,
                _ => i64::from(1i32 << by),
            }
        });
    }
}

/// Amounts of data and of arguments that are outside end the call, with line and amount.
#[test]
fn an_amount_outside_is_an_error() {
    let x = Tensor::<u32, _>::from_fn((3,), |[i]| i as u32);
    for (amount, width) in [(32i64, 32u32), (-1, 32)] {
        let by = Tensor::from_vec((3,), vec![0, amount as i32, 5]).unwrap();
        match kernels::shifted_masks(&x, &by) {
            Err(Error::Check {
                code: "R20",
                line: 9,
                message,
                values,
                ..
            }) => {
                assert_eq!(values, [amount]);
                let expected = format!("a shift by {amount} is outside the {width} bits of `u32`");
                assert_eq!(message, expected);
            }
            other => panic!("{other:?}"),
        }
        if croq_tests::gpu::ends_at_failure() {
            return;
        }
    }
    let a = Tensor::<i8, _>::zeros((1,));
    let b = Tensor::<u16, _>::zeros((1,));
    let c = Tensor::<i64, _>::zeros((1,));
    let mut y = Tensor::<i64, _>::zeros((1, Const::<7>));
    let failed = kernels::shifted_widths(&a, &b, &c, &amounts(1, 1, 8), 64, &mut y);
    assert!(
        matches!(&failed, Err(Error::Check { code: "R20", line: 35, values, .. }) if values == &[64]),
        "{failed:?}"
    );
}

#[test]
fn bits_of_values() {
    for n in [1usize, 33, 200] {
        let x = Tensor::<f32, _>::random((n,), -1e9..1e9, 9);
        let narrow = Tensor::<f32, _>::random((n,), -9.0..9.0, 10);
        let narrow = narrow.as_slice().iter().map(|v| f16::from_f32(*v));
        let narrow = Tensor::from_vec((n,), narrow.collect()).unwrap();
        let wide = Tensor::<f64, _>::random((n,), -1e99..1e99, 11);
        let mut bits = Tensor::<u32, _>::zeros((n,));
        let mut y = Tensor::<f32, _>::zeros((n,));
        let mut z = Tensor::<u64, _>::zeros((n,));
        kernels::bits_and_back(&x, &narrow, &wide, &mut bits, &mut y, &mut z).unwrap();
        assert_exact(&bits, |i| x[i].to_bits());
        assert_exact(&y, |i| 1.5f32.copysign(x[i]));
        assert_exact(&z, |i| wide[i].to_bits() ^ u64::from(narrow[i].to_bits()));
        let doubled = kernels::bits_by_hand(&x).unwrap();
        assert_exact(&doubled, |i| 2.0 * x[i]);
    }
}

#[test]
fn what_is_no_number_loses() {
    for n in [1usize, 64, 333] {
        let mut x = Tensor::<f32, _>::random((n,), -50.0..50.0, 12);
        for i in (0..n).filter(|i| i % 5 == 2) {
            x[[i]] = f32::NAN;
        }
        let largest = x.as_slice().iter().copied().fold(f32::NAN, f32::max);
        let least = x.as_slice().iter().copied().fold(f32::NAN, f32::min);
        let mut y = Tensor::from_vec((Const::<2>,), vec![f32::NAN; 2]).unwrap();
        let mut wide = Tensor::from_vec((Const::<2>,), vec![f64::NAN; 2]).unwrap();
        kernels::float_extremes(&x, &mut y, &mut wide).unwrap();
        assert_eq!(y.as_slice(), [largest, least]);
        assert_eq!(wide.as_slice(), [f64::from(largest), f64::from(least)]);

        let narrow: Vec<f16> = x.as_slice().iter().map(|v| f16::from_f32(*v)).collect();
        let brain: Vec<bf16> = x.as_slice().iter().map(|v| bf16::from_f32(*v)).collect();
        let mut y = Tensor::from_vec((Const::<2>,), vec![f16::NAN; 2]).unwrap();
        let mut w = Tensor::from_vec((Const::<2>,), vec![bf16::NAN; 2]).unwrap();
        let mut before = Tensor::<f16, _>::zeros((n,));
        let (narrow, brain) = (
            Tensor::from_vec((n,), narrow).unwrap(),
            Tensor::from_vec((n,), brain).unwrap(),
        );
        kernels::narrow_extremes(&narrow, &brain, &mut y, &mut w, &mut before).unwrap();
        assert_eq!(y.as_slice(), [f16::from_f32(largest), f16::from_f32(least)]);
        assert_eq!(
            w.as_slice(),
            [bf16::from_f32(largest), bf16::from_f32(least)]
        );
        // What an operation gives is what was there.
        let found = |v: &f16| v.is_nan() || narrow.as_slice().contains(v);
        assert!(before.as_slice().iter().all(found));
    }
}

/// The order of equal zeros does not decide: -0 is less than +0.
#[test]
fn extremes_of_zeros() {
    for zeros in [[-0.0f32, 0.0], [0.0, -0.0]] {
        let x = Tensor::from_vec((2,), zeros.to_vec()).unwrap();
        let mut y = Tensor::from_vec((Const::<2>,), vec![f32::NAN; 2]).unwrap();
        let mut wide = Tensor::from_vec((Const::<2>,), vec![f64::NAN; 2]).unwrap();
        kernels::float_extremes(&x, &mut y, &mut wide).unwrap();
        let signs = |[largest, least]: [bool; 2]| assert!(!largest && least, "{zeros:?}");
        signs([0, 1].map(|i| y[[i]].is_sign_negative()));
        signs([0, 1].map(|i| wide[[i]].is_sign_negative()));
        let narrow = Tensor::from_vec((2,), zeros.map(f16::from_f32).to_vec()).unwrap();
        let brain = Tensor::from_vec((2,), zeros.map(bf16::from_f32).to_vec()).unwrap();
        let mut y = Tensor::from_vec((Const::<2>,), vec![f16::NAN; 2]).unwrap();
        let mut w = Tensor::from_vec((Const::<2>,), vec![bf16::NAN; 2]).unwrap();
        let mut before = Tensor::<f16, _>::zeros((2,));
        kernels::narrow_extremes(&narrow, &brain, &mut y, &mut w, &mut before).unwrap();
        signs([0, 1].map(|i| y[[i]].is_sign_negative()));
        signs([0, 1].map(|i| w[[i]].is_sign_negative()));
    }
}

/// erf by its series, which converges for every argument.
fn erf(x: f64) -> f64 {
    let (mut term, mut sum) = (x, x);
    for n in 1..200 {
        term *= -x * x / f64::from(n);
        sum += term / f64::from(2 * n + 1);
    }
    sum * std::f64::consts::FRAC_2_SQRT_PI
}

#[test]
fn error_functions() {
    for n in [1usize, 50] {
        let x = Tensor::<f32, _>::random((n,), -2.5..2.5, 13);
        let wide = Tensor::<f64, _>::random((n,), -2.5..2.5, 14);
        let narrow = x.as_slice().iter().map(|v| f16::from_f32(*v));
        let narrow = Tensor::from_vec((n,), narrow.collect()).unwrap();
        let mut y = Tensor::<f32, _>::zeros((n, Const::<2>));
        let mut z = Tensor::<f64, _>::zeros((n, Const::<2>));
        let mut w = Tensor::<f16, _>::zeros((n,));
        kernels::error_functions(&x, &wide, &narrow, &mut y, &mut z, &mut w).unwrap();
        for p in 0..n {
            let of = erf(f64::from(x[[p]]));
            assert!((f64::from(y[[p, 0]]) - of).abs() < 1e-6);
            assert!((f64::from(y[[p, 1]]) - (1.0 - of)).abs() < 1e-6);
            let of = erf(wide[[p]]);
            assert!((z[[p, 0]] - of).abs() < 1e-12);
            assert!((z[[p, 1]] - (1.0 - of)).abs() < 1e-12);
            let of = erf(narrow[[p]].to_f64());
            assert!((w[[p]].to_f64() - of).abs() < 1e-3);
        }
        let distribution = kernels::normal_distribution(&x).unwrap();
        for p in 0..n {
            let of = 0.5 * (1.0 + erf(f64::from(x[[p]]) * std::f64::consts::FRAC_1_SQRT_2));
            assert!((f64::from(distribution[[p]]) - of).abs() < 1e-6);
        }
    }
}
