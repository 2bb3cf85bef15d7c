//! Loops of a thread over neighbouring elements: the same results and reports for any number of elements
//! and any alignment.

use croq_sys::half::f16;
use croq_sys::{Const, Device, Error, Tensor};
use croq_tests::compare::assert_exact;
use croq_tests::{gpu, kernels};

const SIZES: [usize; 12] = [1, 3, 4, 5, 31, 127, 128, 129, 512, 1000, 1031, 4099];

/// A number from -25 to 24 for each position, without a pattern of 16 elements.
fn small(i: usize) -> i8 {
    let mixed = (i + 1).wrapping_mul(2_654_435_761) >> 9;
    i8::try_from(mixed % 50).unwrap() - 25
}

#[test]
fn sums_keep_their_order() {
    macro_rules! sums {
        ($($ty:ty, $width:literal, $of:expr, $plus:expr;)*) => {$(
            let (of, plus): (fn(i8) -> $ty, fn($ty, $ty) -> $ty) = ($of, $plus);
            for n in SIZES {
                let x = Tensor::<$ty, _>::from_fn((3, n), |[r, i]| of(small(r * n + i)));
                let y = kernels::neighbour_sums::<$width, _, _, _, _>(&x).unwrap();
                assert_exact(&y, |[r, t]| {
                    let vectors = (0..n.div_ceil(32 * $width)).map(|k| (32 * k + t) * $width);
                    let all = vectors.flat_map(|from| from..from + $width).filter(|c| *c < n);
                    all.fold(of(0), |sum, c| plus(plus(sum, sum), x[[r, c]]))
                });
            }
        )*};
    }
    sums! {
        f32, 4, |v| f32::from(v) * 0.1, |a, b| a + b;
        f32, 16, |v| f32::from(v) * 0.1, |a, b| a + b;
        f64, 2, |v| f64::from(v) * 0.1, |a, b| a + b;
        i8, 16, |v| v, i8::wrapping_add;
        u16, 8, |v| v.unsigned_abs().into(), u16::wrapping_add;
        i64, 8, i64::from, i64::wrapping_add;
    }
}

#[test]
fn in_place() {
    for n in SIZES {
        for from in [0, 1, 2, 4, 7, -1, -4, -6] {
            let old = Tensor::<f32, _>::from_fn((n,), |[i]| f32::from(small(i)));
            let mut x = old.to_device(&Device::default()).unwrap();
            kernels::neighbours_in_place(&mut x, from, 9.0).unwrap();
            let new = x.to_host().unwrap();
            assert_exact(&new, |[i]| {
                let number = i as i64 - i64::from(from);
                let reached = (0..n.next_multiple_of(128) as i64).contains(&number);
                let doubled = 2.0 * old[[i]];
                match reached {
                    false => old[[i]],
                    true if doubled > 9.0 => 9.0 - doubled,
                    true => doubled,
                }
            });
        }
    }
}

#[test]
fn an_iteration_reads_what_the_one_before_stored() {
    for n in SIZES {
        let old = Tensor::<i32, _>::from_fn((n,), |[i]| small(i).into());
        let mut x = old.to_device(&Device::default()).unwrap();
        kernels::neighbours_running(&mut x).unwrap();
        let new = x.to_host().unwrap();
        assert_exact(&new, |[i]| (i / 4 * 4..=i).fold(1, |sum, c| sum + old[[c]]));
    }
}

#[test]
fn data_decides() {
    for n in SIZES {
        let x = Tensor::<i32, _>::from_fn((n,), |[i]| small(i).into());
        let mut at = Tensor::<i32, _>::from_fn((n,), |[i]| (i % 5) as i32);
        let table = Tensor::<i32, _>::from_fn((5,), |[i]| 10 + i as i32);
        let y = kernels::neighbours_some(&x, &at, &table).unwrap();
        let stored = |i: usize| if x[[i]] > 0 { 10 + (i % 5) as i32 } else { 0 };
        assert_exact(&y, |[i]| stored(i));
        let Some(wrong) = (0..n).rev().find(|i| x[[*i]] > 0) else {
            continue;
        };
        at[[wrong]] = 5;
        let error = kernels::neighbours_some(&x, &at, &table).unwrap_err();
        assert!(
            matches!(error, Error::Check { .. } | Error::OutOfBounds { .. }),
            "{error}"
        );
        if gpu::ends_at_failure() {
            return;
        }
    }
}

#[test]
fn through_shared_memory() {
    for n in SIZES {
        let x = Tensor::<f16, _>::from_fn((3, n), |[r, i]| f16::from_f32(small(r * n + i).into()));
        let y = kernels::neighbours_reversed(&x).unwrap();
        assert_exact(&y, |[r, i]| x[[r, n - 1 - i]] - x[[r, i]]);
    }
}

#[test]
fn registers_without_an_element_keep_their_value() {
    for n in [1, 5, 127, 128, 129, 256, 500, 511, 512] {
        let x = Tensor::<i32, _>::from_fn((3, n), |[r, i]| small(r * n + i).into());
        let y = kernels::neighbours_in_registers(&x).unwrap();
        let _: &Tensor<i32, (usize, Const<2>)> = &y;
        assert_exact(&y, |[r, which]| match which {
            0 => {
                let row: i32 = (0..n).map(|c| x[[r, c]] + 1).sum();
                row + 7 * (512 - n as i32)
            }
            _ if 391 < n => x[[r, 391]] + 1,
            _ => 7,
        });
    }
}

#[test]
fn the_first_element_outside_is_reported() {
    let text = include_str!("../../run/features/neighbours.co");
    let at = text.lines().position(|line| line.contains("// outside"));
    let line = u32::try_from(at.unwrap()).unwrap() + 1;
    for (n, rounds) in [(128, 1), (256, 2)] {
        let x = Tensor::<i32, _>::from_fn((n,), |[i]| i as i32);
        let y = kernels::neighbours_checked(&x, rounds).unwrap();
        assert_exact(&y, |[i]| i as i32 + 1);
    }
    for n in [1, 2, 127, 255] {
        let x = Tensor::<i32, _>::from_fn((n,), |[i]| i as i32);
        let error = kernels::neighbours_checked(&x, 2).unwrap_err();
        let text = error.to_string();
        match error {
            Error::Check { line: at, .. } | Error::OutOfBounds { line: at, .. } => {
                assert_eq!(at, line, "{text}");
            }
            _ => panic!("{text}"),
        }
        if gpu::ends_at_failure() {
            return;
        }
    }
}

#[test]
fn what_is_not_read_is_not_loaded() {
    for n in SIZES {
        let x = Tensor::<i32, _>::from_fn((n,), |[i]| small(i).into());
        let y = kernels::neighbours_unwritten(&x).unwrap();
        assert_exact(&y, |[i]| x[[i]] + i32::from(i % 4 != 2));
    }
}
