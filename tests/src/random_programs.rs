//! Calls of random kernels, which are compared with the same programs in Rust:
//! `scripts/random_programs.py` writes both.

use std::fmt::Debug;

use croq_sys::{Element, Result, Tensor};

pub use crate::random_calls::Calls;

/// An integer type of elements.
pub trait Number: Element + PartialEq + Debug {
    /// Often a small number, the least or the greatest one.
    fn of(bits: u64) -> Self;
}

macro_rules! numbers {
    ($($t:ty)*) => { $(impl Number for $t {
        fn of(bits: u64) -> Self {
            let any = bits as $t;
            [any, any, any, any % 16, <$t>::MIN, <$t>::MAX, 0, !0][(bits >> 32) as usize & 7]
        }
    })* }
}
numbers!(u8 i8 u16 i16 u32 i32 u64 i64);

/// The same numbers for the same seed.
fn numbers<T: Number>(seed: u64, count: usize) -> Vec<T> {
    let number = |i: u64| {
        let mut bits = ((seed << 40) ^ i).wrapping_add(0x9e37_79b9_7f4a_7c15);
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        T::of(bits ^ (bits >> 31))
    };
    (0..count as u64).map(number).collect()
}

/// `m`, `n` and the scalar argument of a call.
pub type Sizes = (usize, usize, i32);

/// A program in Rust: of the elements of both arguments, the scalar, `m` and `n`.
pub type Reference<X, Z, Y> = fn(&[X], &[Z], i64, i64, i64) -> Vec<Y>;

impl Calls {
    /// Calls a kernel whose first argument has `n` elements.
    pub fn flat<X: Number, Z: Number, Y: Number>(
        &mut self,
        name: &str,
        kernel: impl Fn(&Tensor<X, (usize,)>, &Tensor<Z, (usize,)>, i32) -> Result<Vec<Y>>,
        reference: Reference<X, Z, Y>,
        sizes: &[Sizes],
    ) {
        self.call(name, reference, sizes, |x, z, (_, n, a)| {
            kernel(&Tensor::from_vec((n,), x)?, &Tensor::from_vec((n,), z)?, a)
        });
    }

    /// Calls a kernel whose first argument has `m` rows of `n` elements.
    pub fn rows<X: Number, Z: Number, Y: Number>(
        &mut self,
        name: &str,
        kernel: impl Fn(&Tensor<X, (usize, usize)>, &Tensor<Z, (usize,)>, i32) -> Result<Vec<Y>>,
        reference: Reference<X, Z, Y>,
        sizes: &[Sizes],
    ) {
        self.call(name, reference, sizes, |x, z, (m, n, a)| {
            let x = Tensor::from_vec((m, n), x)?;
            kernel(&x, &Tensor::from_vec((n,), z)?, a)
        });
    }

    fn call<X: Number, Z: Number, Y: Number>(
        &mut self,
        name: &str,
        reference: Reference<X, Z, Y>,
        sizes: &[Sizes],
        kernel: impl Fn(Vec<X>, Vec<Z>, Sizes) -> Result<Vec<Y>>,
    ) {
        self.compare(name, sizes, |&(m, n, a)| {
            let (x, z) = (numbers(1, m * n), numbers(2, n));
            let expected = reference(&x, &z, a.into(), m as i64, n as i64);
            let found = kernel(x, z, (m, n, a))?;
            let i = (0..expected.len()).find(|&i| found.get(i) != expected.get(i));
            Ok(i.map(|i| {
                let (found, expected) = (found.get(i), expected.get(i));
                format!("element {i} is {found:?}, not {expected:?}")
            }))
        });
    }
}
