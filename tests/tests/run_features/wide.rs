//! Element-wise kernels in which a thread takes several neighbours: the same results for any number
//! of elements and any alignment, and the same reports.

use std::process::Command;

use croq_sys::half::{bf16, f16};
use croq_sys::{Const, Device, Error, Tensor};
use croq_tests::compare::assert_exact;
use croq_tests::{gpu, kernels};

const SIZES: [usize; 13] = [1, 2, 3, 4, 5, 8, 31, 127, 128, 129, 513, 4099, 100_003];

/// The line of `wide.co` with `text`.
fn line_of(text: &str) -> u32 {
    let file = include_str!("../../run/features/wide.co");
    let at = file.lines().position(|line| line.contains(text));
    u32::try_from(at.unwrap_or_else(|| panic!("no line has {text}"))).unwrap() + 1
}

#[track_caller]
fn failed<T: std::fmt::Debug>(outcome: Result<T, Error>) -> (&'static str, u32, String) {
    match outcome.unwrap_err() {
        Error::Check {
            code,
            line,
            message,
            ..
        } => (code, line, message),
        other => panic!("{other}"),
    }
}

/// A number from -25 to 24 for each position, without a pattern of 16 elements.
fn small(i: usize, salt: usize) -> i8 {
    let mixed = (i + 1000 * salt).wrapping_mul(2_654_435_761) >> 9;
    i8::try_from(mixed % 50).unwrap() - 25
}

#[test]
fn sums_of_every_type() {
    macro_rules! sums {
        ($($ty:ty, $of:expr, $plus:expr;)*) => {$(
            let (of, plus): (fn(i8) -> $ty, fn($ty, $ty) -> $ty) = ($of, $plus);
            for n in SIZES {
                let x = Tensor::<$ty, _>::from_fn((n,), |[i]| of(small(i, 1)));
                let y = Tensor::<$ty, _>::from_fn((n,), |[i]| of(small(i, 2)));
                let z = kernels::wide_sum(&x, &y).unwrap();
                assert_eq!(z.shape(), [n]);
                assert_exact(&z, |i| plus(x[i], y[i]));
            }
        )*};
    }
    sums! {
        f16, |v| f16::from_f32(f32::from(v) * 1.25), |a, b| a + b;
        bf16, |v| bf16::from_f32(f32::from(v) * 1.25), |a, b| a + b;
        f32, |v| f32::from(v) * 0.1, |a, b| a + b;
        f64, |v| f64::from(v) * 0.1, |a, b| a + b;
        i8, |v| v.wrapping_mul(5), i8::wrapping_add;
        u16, |v| v.unsigned_abs().into(), u16::wrapping_add;
        i32, |v| i32::from(v) * 0x0400_0001, i32::wrapping_add;
        i64, |v| i64::from(v) << 40, i64::wrapping_add;
    }
}

#[test]
fn elements_of_three_sizes() {
    for n in SIZES {
        let x = Tensor::<f64, _>::from_fn((n,), |[i]| f64::from(small(i, 1)) / 3.0);
        let y = Tensor::<f32, _>::from_fn((n,), |[i]| f32::from(small(i, 2)));
        let z = Tensor::<i8, _>::from_fn((n,), |[i]| small(i, 3));
        let out = kernels::wide_mixed(&x, &y, &z).unwrap();
        assert_exact(&out, |i| x[i] + f64::from(y[i]) * f64::from(z[i]));
    }
}

#[test]
fn in_place() {
    for n in SIZES {
        let x = Tensor::<f32, _>::from_fn((n,), |[i]| f32::from(small(i, 1)));
        let mut on_device = x.to_device(&Device::default()).unwrap();
        kernels::wide_in_place(&mut on_device, 12.5).unwrap();
        let twice = |i| 2.0 * x[i];
        assert_exact(&on_device.to_host().unwrap(), |i| {
            if twice(i) > 12.5 {
                12.5 - twice(i)
            } else {
                twice(i)
            }
        });
    }
}

#[test]
fn two_vectors_of_one_buffer() {
    for m in [1, 3, 4, 5, 33] {
        let x = Tensor::<f32, _>::from_fn((m, Const::<64>), |[r, i]| small(r * 64 + i, 1).into());
        let mut on_device = x.to_device(&Device::default()).unwrap();
        kernels::wide_halves(&mut on_device).unwrap();
        assert_exact(&on_device.to_host().unwrap(), |[r, i]| match i {
            0..32 => x[[r, i]] - x[[r, i + 32]],
            _ => x[[r, i - 32]] + x[[r, i]],
        });
    }
}

#[test]
fn vectors_that_may_be_misaligned() {
    for n in SIZES {
        let x = Tensor::<i32, _>::from_fn((n,), |[i]| small(i, 1).into());
        for from in [0, 1, 2, 3, 4, 7, -1, -4, -130] {
            let y = kernels::wide_from(&x, from).unwrap();
            let first = usize::try_from(from).unwrap_or(0);
            // As many instances as elements, which begin at `from`.
            let end = i64::try_from(n.div_ceil(128) * 128).unwrap() + i64::from(from);
            assert_exact(&y, |[i]| {
                let inside = i >= first && i64::try_from(i).unwrap() < end;
                if inside { 3 * x[[i]] } else { 0 }
            });
        }
        let y = kernels::wide_beside(&x).unwrap();
        assert_exact(&y, |[i]| if i + 1 < n { x[[i]] - x[[i + 1]] } else { 0 });
    }
}

#[test]
fn rows_that_begin_anywhere() {
    macro_rules! rows {
        ($($ty:ty, $of:expr, $to:expr;)*) => {$(
            let (of, to): (fn(i8) -> $ty, fn(f32) -> $ty) = ($of, $to);
            for (m, n) in [(1, 1), (3, 4), (5, 5), (4, 32), (7, 63), (9, 130), (13, 256)] {
                let x = Tensor::<$ty, _>::from_fn((m, n), |[r, i]| of(small(r * n + i, 1) / 4));
                let gain = Tensor::<f32, _>::from_fn((m,), |[r]| f32::from(small(r, 2) / 6));
                let bias = Tensor::<$ty, _>::from_fn((n,), |[i]| of(small(i, 3)));
                let y = kernels::wide_rows(&x, &gain, &bias).unwrap();
                assert_exact(&y, |[r, i]| {
                    to(f32::from(x[[r, i]]) * gain[[r]] + f32::from(bias[[i]]))
                });
            }
        )*};
    }
    rows! {
        f32, f32::from, |v| v;
        f16, |v| f16::from_f32(v.into()), f16::from_f32;
        i8, |v| v, |v| v as i8;
    }
}

#[test]
fn loops_around_elements() {
    for (c, h, w) in [(1, 1, 1), (3, 8, 16), (5, 9, 20), (6, 17, 33), (4, 3, 128)] {
        let x =
            Tensor::<f32, _>::from_fn((c, h, w), |[p, r, i]| small((p * h + r) * w + i, 1).into());
        let gain = Tensor::<f32, _>::from_fn((c,), |[p]| small(p, 2).into());
        let y = kernels::wide_loops(&x, &gain).unwrap();
        assert_exact(&y, |[p, r, i]| x[[p, r, i]] * gain[[p]]);
    }
}

#[test]
fn blocks_beyond_the_last_load_nothing() {
    for n in [1, 64, 65, 256, 257, 1000, 1024] {
        let x = Tensor::<f32, _>::from_fn((n,), |[i]| small(i, 1).into());
        let gain = Tensor::<f32, _>::from_fn((n.div_ceil(64),), |[b]| small(b, 2).into());
        let y = kernels::wide_of_blocks(&x, &gain).unwrap();
        assert_exact(&y, |[i]| x[[i]] * (gain[[i / 64]] + 1.0));
    }
}

#[test]
fn elements_that_are_not_written_stay_zero() {
    for n in SIZES {
        let x = Tensor::<i32, _>::from_fn((n,), |[i]| small(i, 1).into());
        let y = kernels::wide_some(&x).unwrap();
        assert_exact(&y, |[i]| {
            let before = if i > 0 { x[[i - 1]] } else { 7 };
            if x[[i]] > before { before } else { 0 }
        });
        for limit in [0, 1, 5, 126, 4098] {
            let y = kernels::wide_gaps(&x, limit).unwrap();
            assert_exact(&y, |[i]| if i < limit as usize { x[[i]] } else { 0 });
        }
    }
}

#[test]
fn a_check_that_fails_for_one_of_several_neighbours() {
    let x = Tensor::<i32, _>::from_fn((1000,), |[i]| i32::from(small(i, 1)).abs() + 1);
    assert_exact(&kernels::wide_assert(&x).unwrap(), |i| 2 * x[i]);
    assert_exact(&kernels::wide_divide(&x, &x).unwrap(), |_| 1);
    for bad in [0, 1, 6, 511, 514, 999] {
        let mut y = x.clone();
        y[[bad]] = -1;
        let (code, line, message) = failed(kernels::wide_assert(&y));
        assert_eq!((code, line), ("R14", line_of("assert(x.at(b # t) >= 0")));
        assert!(message.contains("no negative numbers, please"), "{message}");
        if gpu::ends_at_failure() {
            return;
        }
        y[[bad]] = 0;
        let (code, line, message) = failed(kernels::wide_divide(&x, &y));
        assert_eq!((code, line), ("R06", line_of("x.at(p) / by_what.at(p)")));
        assert!(message.contains("division by zero"), "{message}");
    }
}

#[test]
fn an_index_outside_is_the_first_one_outside() {
    for n in [1, 5, 126, 127, 129, 510, 511, 1021] {
        let x = Tensor::<i32, _>::from_fn((n,), |[i]| small(i, 1).into());
        let fits = i32::try_from(n).unwrap();
        assert_exact(&kernels::wide_outside(&x, fits).unwrap(), |i| x[i] + 1);
        assert_exact(&kernels::wide_outside(&x, fits - 1).unwrap(), |[i]| {
            if i + 1 < n { x[[i]] + 1 } else { 0 }
        });
        let (code, line, message) = failed(kernels::wide_outside(&x, fits + 1));
        assert_eq!(
            (code, line),
            ("R12", line_of("y.at(b # t) = x.at(b # t) + 1"))
        );
        assert!(message.contains(&n.to_string()), "{message}");
        if gpu::ends_at_failure() {
            return;
        }
    }
}

#[test]
fn a_race_of_neighbours_is_found() {
    if !Device::default().is_sim() {
        return;
    }
    let x = Tensor::<i32, _>::from_fn((300,), |[i]| i as i32);
    let error = kernels::wide_race(&x).unwrap_err().to_string();
    assert!(error.contains("race in wide_race_0"), "{error}");
    assert!(error.contains("is written by two threads"), "{error}");
}

/// The tests above again, each with threads and blocks in another order.
#[test]
fn by_other_seeds() {
    if !Device::default().is_sim() {
        return;
    }
    let this = std::env::current_exe().unwrap();
    for seed in 1..=10 {
        let run = Command::new(&this)
            .args(["wide::", "--skip", "by_other_seeds"])
            .env("CROQ_SIM_SEED", seed.to_string())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&run.stdout);
        assert!(run.status.success(), "seed {seed}:\n{said}");
        assert!(said.contains("12 passed"), "seed {seed}:\n{said}");
    }
}
