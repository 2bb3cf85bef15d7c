//! Compares the results of kernels with a reference in wider arithmetic.
//!
//! If the arithmetic of a kernel is exact, so is the comparison. Otherwise the caller derives a
//! tolerance from the arithmetic: the number of roundings, their type, and the size of the values.

use std::fmt::Debug;

use croq_sys::half::{bf16, f16};
use croq_sys::{Dims, Element, F8E4M3, F8E5M2, Tensor};

/// A floating-point element type, its values as `f64` and the size of its roundings.
pub trait Float: Element {
    /// The largest relative error of one rounding to nearest, 2^-p for a significand of p bits.
    const ROUNDOFF: f64;
    /// The smallest positive number: half of it is the largest error of a rounding near zero.
    const SMALLEST: f64;

    fn wide(self) -> f64;
}

macro_rules! floats {
    ($($ty:ty: $bits:literal, $smallest:literal, $wide:expr;)*) => {$(
        impl Float for $ty {
            const ROUNDOFF: f64 = 1.0 / (1u64 << $bits) as f64;
            const SMALLEST: f64 = $smallest;

            fn wide(self) -> f64 {
                let wide: fn($ty) -> f64 = $wide;
                wide(self)
            }
        }
    )*};
}

floats! {
    f64: 53, 5e-324, |v| v;
    f32: 24, 1.4e-45, f64::from;
    f16: 11, 5.96e-8, f16::to_f64;
    bf16: 8, 9.2e-41, bf16::to_f64;
    F8E4M3: 4, 0.001953125, F8E4M3::to_f64;
    F8E5M2: 3, 1.52587890625e-5, F8E5M2::to_f64;
}

/// A value, and the tolerance of a result.
#[derive(Clone, Copy, Debug)]
pub struct Near {
    pub value: f64,
    pub tolerance: f64,
}

/// `value` with a `tolerance`.
pub fn near(value: f64, tolerance: f64) -> Near {
    Near { value, tolerance }
}

/// `value` after `roundings` roundings to `T`, each at most of the size of `value`.
pub fn rounded<T: Float>(value: f64, roundings: usize) -> Near {
    near(
        value,
        value.abs() * growth::<T>(roundings) + roundings as f64 * T::SMALLEST,
    )
}

/// A sum of `terms` products whose magnitudes add up to `magnitude`, formed in `T` in any order:
/// the classical bound, two roundings per term at most.
pub fn dot<T: Float>(value: f64, magnitude: f64, terms: usize) -> Near {
    near(value, magnitude * growth::<T>(2 * terms) + T::SMALLEST)
}

/// The largest relative error of `n` successive roundings: n·u / (1 - n·u).
pub fn growth<T: Float>(n: usize) -> f64 {
    let nu = n as f64 * T::ROUNDOFF;
    nu / (1.0 - nu)
}

/// The elements of a tensor in row-major order.
pub fn wide<T: Float, D: Dims>(tensor: &Tensor<T, D>) -> Vec<f64> {
    tensor.as_slice().iter().map(|v| v.wide()).collect()
}

/// The sum of the products of two rows, and the sum of their magnitudes.
pub fn inner(lhs: &[f64], rhs: &[f64]) -> (f64, f64) {
    let products = lhs.iter().zip(rhs).map(|(a, b)| a * b);
    products.fold((0.0, 0.0), |(sum, magnitude), product| {
        (sum + product, magnitude + product.abs())
    })
}

/// Checks that every element of `found` is equal to `expected` of its index.
#[track_caller]
pub fn assert_exact<T: Element, D: Dims>(found: &Tensor<T, D>, expected: impl FnMut(D::Index) -> T)
where
    D::Index: Copy + Debug,
{
    assert_equal(found, &Tensor::from_fn(found.dims(), expected));
}

/// Compiled once for each type and number of axes, not for each expectation.
#[track_caller]
fn assert_equal<T: Element, D: Dims>(found: &Tensor<T, D>, expected: &Tensor<T, D>)
where
    D::Index: Copy + Debug,
{
    let mut wrong = Vec::new();
    let mut pairs = found.as_slice().iter().zip(expected.as_slice());
    Tensor::<u8, D>::from_fn(found.dims(), |index| {
        if let Some((f, e)) = pairs.next().filter(|(f, e)| f != e) {
            wrong.push(format!("{index:?}: {f:?} instead of {e:?}"));
        }
        0
    });
    report(&wrong, found.as_slice().len());
}

/// Checks that every element of `found` is within the tolerance of `expected`. A NaN is only near
/// to a NaN, an infinity only to itself.
#[track_caller]
pub fn assert_close<T: Float, D: Dims>(
    found: &Tensor<T, D>,
    mut expected: impl FnMut(D::Index) -> Near,
) where
    D::Index: Copy + Debug,
{
    assert_near(found, &mut expected);
}

/// Compiled once for each type and number of axes, not for each expectation.
#[track_caller]
fn assert_near<T: Float, D: Dims>(found: &Tensor<T, D>, expected: &mut dyn FnMut(D::Index) -> Near)
where
    D::Index: Copy + Debug,
{
    let mut wrong = Vec::new();
    let mut values = found.as_slice().iter();
    Tensor::<u8, D>::from_fn(found.dims(), |index| {
        let Some(f) = values.next().map(|value| value.wide()) else {
            return 0;
        };
        let Near { value, tolerance } = expected(index);
        let same = f == value || (f.is_nan() && value.is_nan());
        if !same && ((f - value).abs() > tolerance || (f - value).is_nan()) {
            wrong.push(format!(
                "{index:?}: {f} instead of {value} ± {tolerance:e}, off by {:e}",
                (f - value).abs()
            ));
        }
        0
    });
    report(&wrong, found.as_slice().len());
}

#[track_caller]
fn report(wrong: &[String], elements: usize) {
    assert!(elements > 0, "nothing to compare");
    assert!(
        wrong.is_empty(),
        "{} of {elements} elements are wrong:\n  {}",
        wrong.len(),
        wrong[..wrong.len().min(8)].join("\n  ")
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "1 of 6 elements are wrong")]
    fn one_wrong_integer_is_found() {
        let t = Tensor::from_fn((2, 3), |[i, j]| (i * 3 + j) as i32);
        assert_exact(&t, |[i, j]| {
            if [i, j] == [1, 1] {
                0
            } else {
                (i * 3 + j) as i32
            }
        });
    }

    #[test]
    #[should_panic(expected = "off by")]
    fn a_float_beyond_its_tolerance_is_found() {
        let t = Tensor::from_fn((4,), |[i]| i as f32);
        assert_close(&t, |[i]| near(i as f64 * 1.001, 1e-3));
    }

    #[test]
    #[should_panic(expected = "elements are wrong")]
    fn a_poisoned_element_is_found() {
        let t = Tensor::from_fn((4,), |_| f32::NAN);
        assert_close(&t, |_| near(0.0, 1e9));
    }

    #[test]
    fn tolerances_follow_the_type() {
        assert!(rounded::<f16>(1.0, 1).tolerance > 4000.0 * rounded::<f32>(1.0, 1).tolerance);
        assert!(dot::<f32>(0.0, 100.0, 50).tolerance < 1e-3);
    }
}
