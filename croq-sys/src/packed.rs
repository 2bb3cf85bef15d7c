//! Units of packed elements: bytes of two, four or eight values, the first in the low bits.

use std::fmt;

use crate::element::Element;

/// A byte of several packed elements: the element type of a tensor whose kernel declares `s4`,
/// `u4`, `s2`, `u2`, `u1` or `f4_e2m1`.
///
/// The extents of such a tensor count single values, as in the kernel, and its last extent is a
/// multiple of the values in a byte. Its elements in Rust, as in
/// [`as_slice`](crate::Tensor::as_slice), are bytes; an index selects the byte that contains the
/// value.
///
/// ```
/// use croq_sys::{Packed, S4x2, Tensor};
///
/// let byte = S4x2::pack([-8, 7]).unwrap();
/// assert_eq!((byte.to_bits(), byte.value(1)), (0x78, 7));
/// assert!(S4x2::pack([0, 8]).is_none());
///
/// let t = Tensor::<S4x2, _>::pack((2, 4), |[i, j]| (i + j) as i8)?;
/// assert_eq!((t.shape(), t.as_slice().len()), ([2, 4], 4));
/// assert_eq!(t.value([1, 3]), Some(4));
/// # Ok::<(), croq_sys::Error>(())
/// ```
pub trait Packed: Element {
    /// A single value: an integer, or `f32`.
    type Value: Copy + PartialEq + fmt::Debug;

    /// A byte of values, the first in the low bits; `None` if one is outside of the range. An
    /// `f32` is rounded.
    fn packed(values: &[Self::Value]) -> Option<Self>;

    /// Value number `i`, counted modulo the values in a byte.
    fn value(self, i: usize) -> Self::Value;
}

macro_rules! integers {
    ($($(#[$doc:meta])* $name:ident $per:literal $value:ident $least:literal $most:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Default, PartialEq, Eq, Hash, bytemuck::Pod, bytemuck::Zeroable)]
        #[repr(transparent)]
        pub struct $name(u8);

        impl $name {
            /// The least and the largest value.
            pub const RANGE: std::ops::RangeInclusive<$value> = $least..=$most;
            const BITS: usize = 8 / $per;

            /// A byte of values, the first in the low bits; `None` if one is outside of
            /// [`Self::RANGE`].
            pub fn pack(values: [$value; $per]) -> Option<Self> {
                <Self as Packed>::packed(&values)
            }

            /// All values, the first one from the low bits.
            pub fn values(self) -> [$value; $per] {
                std::array::from_fn(|i| Packed::value(self, i))
            }

            /// The value with this encoding.
            pub const fn from_bits(bits: u8) -> Self {
                Self(bits)
            }

            /// The encoding.
            pub const fn to_bits(self) -> u8 {
                self.0
            }
        }

        impl Packed for $name {
            type Value = $value;

            fn packed(values: &[$value]) -> Option<Self> {
                let fit = values.len() == $per && values.iter().all(|v| Self::RANGE.contains(v));
                let mask = ((1u32 << Self::BITS) - 1) as u8;
                let bits = values.iter().enumerate();
                let bits = bits.map(|(i, v)| (*v as u8 & mask) << (i * Self::BITS));
                fit.then(|| Self(bits.fold(0, |all, v| all | v)))
            }

            fn value(self, i: usize) -> $value {
                // To the top, and back with the sign.
                let top = self.0 << (8 - Self::BITS - i % $per * Self::BITS);
                top as $value >> (8 - Self::BITS)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                debug_values(f, &self.values())
            }
        }
    )*};
}

integers! {
    /// Two values of `s4`: -8 to 7.
    S4x2 2 i8 -8 7;
    /// Two values of `u4`: 0 to 15.
    U4x2 2 u8 0 15;
    /// Four values of `s2`: -2 to 1.
    S2x4 4 i8 -2 1;
    /// Four values of `u2`: 0 to 3.
    U2x4 4 u8 0 3;
    /// Eight values of `u1`, or `bin1`: 0 or 1.
    U1x8 8 u8 0 1;
}

/// Two values of `f4_e2m1`: 0, 0.5, 1, 1.5, 2, 3, 4, 6, and their negatives.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(transparent)]
pub struct F4E2M1x2(u8);

/// The magnitudes of `f4_e2m1`, by their bits.
const MAGNITUDES: [f32; 8] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];

impl F4E2M1x2 {
    /// Rounds both values to nearest even; values that are too large become 6 with their sign, and
    /// a NaN becomes 6.
    ///
    /// ```
    /// use croq_sys::F4E2M1x2;
    ///
    /// let pair = F4E2M1x2::from_f32([1.4, -100.0]);
    /// assert_eq!(pair.values(), [1.5, -6.0]);
    /// assert_eq!(F4E2M1x2::from_bits(pair.to_bits()), pair);
    /// ```
    pub fn from_f32(values: [f32; 2]) -> Self {
        let [low, high] = values.map(encoded);
        Self(low | high << 4)
    }

    /// Both values, the first one from the low bits.
    pub fn values(self) -> [f32; 2] {
        [self.value(0), self.value(1)]
    }

    /// The value with this encoding.
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    /// The encoding.
    pub const fn to_bits(self) -> u8 {
        self.0
    }
}

fn encoded(value: f32) -> u8 {
    if value.is_nan() {
        return 7;
    }
    let sign = u8::from(value.is_sign_negative()) << 3;
    let magnitude = value.abs();
    let above = MAGNITUDES.windows(2).take_while(|pair| {
        let [low, high] = [pair[0], pair[1]];
        let middle = (low + high) / 2.0;
        // The bits of every other magnitude are even.
        let is_even = MAGNITUDES
            .iter()
            .position(|m| *m == high)
            .is_some_and(|at| at % 2 == 0);
        magnitude > middle || (magnitude == middle && is_even)
    });
    sign | above.count() as u8
}

impl Packed for F4E2M1x2 {
    type Value = f32;

    fn packed(values: &[f32]) -> Option<Self> {
        <[f32; 2]>::try_from(values).ok().map(Self::from_f32)
    }

    fn value(self, i: usize) -> f32 {
        let bits = self.0 >> (i % 2 * 4);
        let magnitude = MAGNITUDES[usize::from(bits & 7)];
        if bits & 8 == 0 { magnitude } else { -magnitude }
    }
}

impl fmt::Debug for F4E2M1x2 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        debug_values(f, &self.values())
    }
}

fn debug_values(f: &mut fmt::Formatter<'_>, values: &[impl fmt::Debug]) -> fmt::Result {
    for (i, value) in values.iter().enumerate() {
        if i > 0 {
            f.write_str("|")?;
        }
        value.fmt(f)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Const, Device, DeviceTensor, Tensor};

    #[test]
    fn every_byte_is_its_values() {
        for bits in 0..=255u8 {
            let (a, b) = (S4x2::from_bits(bits), U4x2::from_bits(bits));
            assert_eq!(S4x2::pack(a.values()), Some(a));
            assert_eq!(U4x2::pack(b.values()), Some(b));
            let (a, b) = (S2x4::from_bits(bits), U2x4::from_bits(bits));
            assert_eq!(S2x4::pack(a.values()), Some(a));
            assert_eq!(U2x4::pack(b.values()), Some(b));
            assert_eq!(
                U1x8::pack(U1x8::from_bits(bits).values()).map(U1x8::to_bits),
                Some(bits)
            );
            let floats = F4E2M1x2::from_bits(bits);
            assert_eq!(F4E2M1x2::from_f32(floats.values()), floats);
        }
        assert_eq!(S4x2::pack([-8, 7]).map(S4x2::to_bits), Some(0x78));
        assert_eq!(
            S2x4::pack([-2, 1, 0, -1]).map(S2x4::to_bits),
            Some(0b1100_0110)
        );
        assert_eq!(
            U1x8::pack([1, 0, 0, 0, 0, 0, 0, 1]).map(U1x8::to_bits),
            Some(0x81)
        );
    }

    #[test]
    fn values_out_of_range_are_refused() {
        assert!(S4x2::pack([8, 0]).is_none() && S4x2::pack([0, -9]).is_none());
        assert!(U4x2::pack([16, 0]).is_none() && S2x4::pack([0, 0, 2, 0]).is_none());
        assert!(U2x4::pack([0, 4, 0, 0]).is_none() && U1x8::packed(&[2; 8]).is_none());
        assert!(U1x8::packed(&[1; 7]).is_none());
    }

    #[test]
    fn floats_round_to_nearest_even() {
        let one = |v| F4E2M1x2::from_f32([v, 0.0]).value(0);
        let pairs = [
            (0.25, 0.0),
            (0.75, 1.0),
            (1.25, 1.0),
            (1.75, 2.0),
            (2.5, 2.0),
        ];
        let more = [
            (3.5, 4.0),
            (5.0, 4.0),
            (5.1, 6.0),
            (1e9, 6.0),
            (-0.3, -0.5),
            (-7.0, -6.0),
        ];
        for (v, rounded) in pairs.into_iter().chain(more) {
            assert_eq!(one(v), rounded, "{v}");
        }
        assert_eq!(one(f32::NAN), 6.0);
    }

    #[test]
    fn tensors_count_values() {
        let t = Tensor::<U2x4, _>::pack((3, Const::<8>), |[i, j]| ((i + j) % 4) as u8).unwrap();
        assert_eq!((t.shape(), t.as_slice().len()), ([3, 8], 6));
        assert_eq!(t.value([2, 7]), Some(1));
        assert_eq!(t.value([2, 8]), None);
        assert_eq!(t[[1, 4]], t.as_slice()[3]);
        let device = t.to_device(&Device::sim()).unwrap();
        assert_eq!(device.to_host().unwrap(), t);
        assert_eq!(format!("{device:?}"), "DeviceTensor u2 [3, 8] on sim");
        assert_eq!(
            format!("{:?}", Tensor::<S4x2, _>::zeros((1, 4))),
            "Tensor [1, 4] [[0|0, 0|0]]"
        );
    }

    #[test]
    fn rows_are_whole_bytes() {
        assert!(Tensor::<S4x2, _>::from_vec((3, 3), vec![S4x2::default(); 5]).is_err());
        assert!(Tensor::<S4x2, _>::from_vec((2, 3), vec![S4x2::default(); 3]).is_err());
        assert!(Tensor::<S4x2, _>::pack((2, 3), |_| 0).is_err());
        assert!(Tensor::<S4x2, _>::pack((2, 2), |_| 9).is_err());
        assert!(DeviceTensor::<U1x8, _>::zeros((4, 12), &Device::sim()).is_err());
    }

    #[test]
    #[should_panic(expected = "not a multiple of 2")]
    fn zeros_of_a_part_of_a_byte_panic() {
        let _ = Tensor::<S4x2, _>::zeros((2, 3));
    }
}
