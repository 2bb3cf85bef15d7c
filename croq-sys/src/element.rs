//! Element types of tensors, and random values of them.

use std::fmt;
use std::ops::Range;

use half::{bf16, f16};

use crate::error::{Error, Result};
use crate::float8::{F6E2M3, F6E3M2, F8E4M3, F8E5M2};
use crate::packed::{F4E2M1x2, Packed, S2x4, S4x2, U1x8, U2x4, U4x2};
use crate::random::Generator;
use crate::six_bits::{S6, U6};

mod sealed {
    pub trait Sealed {}
}

/// An element type of tensors: the integers and floats of Rust, [`half::f16`], [`half::bf16`],
/// [`F8E4M3`], [`F8E5M2`], [`F6E2M3`], [`F6E3M2`], [`S6`], [`U6`],
/// `bool`, and the [`Packed`](crate::Packed) types.
#[diagnostic::on_unimplemented(
    message = "a tensor cannot hold elements of type `{Self}`",
    label = "expected `i8` to `i64`, `u8` to `u64`, `f32`, `f64`, `f16`, `bf16`, `F8E4M3`, `F8E5M2`, `bool`, or packed ones such as `S4x2`"
)]
pub trait Element:
    sealed::Sealed
    + bytemuck::NoUninit
    + bytemuck::Zeroable
    + Default
    + PartialEq
    + fmt::Debug
    + Send
    + Sync
    + 'static
{
    /// The name in a `.co` file.
    const NAME: &'static str;

    /// The type of the bounds of random values: the type itself, or `f32` for the floats without
    /// literals.
    type Bound: Copy;

    /// The number of elements of the language in one Rust value; more than 1 if the type is
    /// [`Packed`](crate::Packed).
    #[doc(hidden)]
    const COUNT: usize = 1;

    #[doc(hidden)]
    fn random(generator: &mut Generator, range: &Range<Self::Bound>) -> Self;

    /// Whether these bytes are elements. Not every byte is a `bool`.
    #[doc(hidden)]
    fn check(_bytes: &[u8]) -> Result<()> {
        Ok(())
    }

    /// Elements from memory of a device, as bytes that `read` provides. Not every byte is a `bool`.
    #[doc(hidden)]
    fn read_into(
        elements: &mut [Self],
        read: &mut dyn FnMut(&mut [u8]) -> Result<()>,
    ) -> Result<()>;
}

/// Of a type for which any bytes are a value.
macro_rules! of_any_bytes {
    () => {
        fn read_into(
            elements: &mut [Self],
            read: &mut dyn FnMut(&mut [u8]) -> Result<()>,
        ) -> Result<()> {
            read(bytemuck::cast_slice_mut(elements))
        }
    };
}

impl sealed::Sealed for bool {}
impl Element for bool {
    const NAME: &'static str = "bool";
    type Bound = bool;

    /// One of the two; `false..false` and `true..true` give only that value.
    fn random(generator: &mut Generator, range: &Range<bool>) -> bool {
        match range.start == range.end {
            true => range.start,
            false => generator.below(2) == 1,
        }
    }

    fn read_into(
        elements: &mut [Self],
        read: &mut dyn FnMut(&mut [u8]) -> Result<()>,
    ) -> Result<()> {
        let mut bytes = vec![0; elements.len()];
        read(&mut bytes)?;
        Self::check(&bytes)?;
        for (element, byte) in elements.iter_mut().zip(bytes) {
            *element = byte != 0;
        }
        Ok(())
    }

    fn check(bytes: &[u8]) -> Result<()> {
        match bytes.iter().enumerate().find(|(_, byte)| **byte > 1) {
            Some((index, &byte)) => Err(Error::NotBool { index, byte }),
            None => Ok(()),
        }
    }
}

macro_rules! packed {
    ($($ty:ident $name:literal $count:literal $bound:ident $least:literal..$end:literal;)*) => {$(
        impl sealed::Sealed for $ty {}
        impl Element for $ty {
            const NAME: &'static str = $name;
            type Bound = $bound;
            const COUNT: usize = $count;

            fn random(generator: &mut Generator, range: &Range<$bound>) -> $ty {
                let range = range.start.max($least)..range.end.min($end);
                let values: [$bound; $count] =
                    std::array::from_fn(|_| $bound::random(generator, &range));
                <$ty as Packed>::packed(&values).unwrap_or_default()
            }

            of_any_bytes!();
        }
    )*};
}

packed! {
    S4x2 "s4" 2 i8 -8..8;
    U4x2 "u4" 2 u8 0..16;
    S2x4 "s2" 4 i8 -2..2;
    U2x4 "u2" 4 u8 0..4;
    U1x8 "u1" 8 u8 0..2;
    F4E2M1x2 "f4_e2m1" 2 f32 -6.0..6.0;
}

macro_rules! six_bits {
    ($($ty:ident $name:literal $bound:ident $least:literal..$end:literal;)*) => {$(
        impl sealed::Sealed for $ty {}
        impl Element for $ty {
            const NAME: &'static str = $name;
            type Bound = $bound;

            fn random(generator: &mut Generator, range: &Range<$bound>) -> $ty {
                let range = range.start.max($least)..range.end.min($end);
                $ty::new($bound::random(generator, &range)).unwrap_or_default()
            }

            of_any_bytes!();
        }
    )*};
}

six_bits! {
    S6 "s6" i8 -32..32;
    U6 "u6" u8 0..64;
}

macro_rules! integers {
    ($($ty:ident $name:literal;)*) => {$(
        impl sealed::Sealed for $ty {}
        impl Element for $ty {
            const NAME: &'static str = $name;
            type Bound = $ty;

            fn random(generator: &mut Generator, range: &Range<$ty>) -> $ty {
                let (start, end) = (i128::from(range.start), i128::from(range.end));
                let width = (end - start).clamp(0, i128::from(u64::MAX)) as u64;
                (start + i128::from(generator.below(width))) as $ty
            }

            of_any_bytes!();
        }
    )*};
}

integers! {
    i8 "s8"; i16 "s16"; i32 "s32"; i64 "s64";
    u8 "u8"; u16 "u16"; u32 "u32"; u64 "u64";
}

impl sealed::Sealed for f64 {}
impl Element for f64 {
    const NAME: &'static str = "f64";
    type Bound = f64;

    fn random(generator: &mut Generator, range: &Range<f64>) -> f64 {
        let value = range.start + (range.end - range.start) * generator.unit();
        if value < range.end {
            value
        } else {
            range.start
        }
    }

    of_any_bytes!();
}

macro_rules! through_f32 {
    ($($ty:ident $name:literal $from:expr, $to:expr;)*) => {$(
        impl sealed::Sealed for $ty {}
        impl Element for $ty {
            const NAME: &'static str = $name;
            type Bound = f32;

            fn random(generator: &mut Generator, range: &Range<f32>) -> $ty {
                let value = f64::random(generator, &(range.start.into()..range.end.into()));
                let (from, to): (fn(f32) -> $ty, fn($ty) -> f32) = ($from, $to);
                // Rounding may reach the excluded end.
                let rounded = from(value as f32);
                if to(rounded) < range.end { rounded } else { from(range.start) }
            }

            of_any_bytes!();
        }
    )*};
}

through_f32! {
    f32 "f32" |v| v, |v| v;
    f16 "f16" f16::from_f32, f16::to_f32;
    bf16 "bf16" bf16::from_f32, bf16::to_f32;
    F6E2M3 "f6_e2m3" F6E2M3::from_f32, F6E2M3::to_f32;
    F6E3M2 "f6_e3m2" F6E3M2::from_f32, F6E3M2::to_f32;
    F8E4M3 "f8_e4m3" F8E4M3::from_f32, F8E4M3::to_f32;
    F8E5M2 "f8_e5m2" F8E5M2::from_f32, F8E5M2::to_f32;
}
