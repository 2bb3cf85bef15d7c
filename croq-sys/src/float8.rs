//! The two 8-bit floating-point types of the OCP FP8 specification, as CUDA stores them.
//!
//! Conversion from wider types rounds to nearest even and saturates: values that are too large,
//! infinity included, become the largest finite value. NaN remains NaN.

use std::cmp::Ordering;
use std::fmt;

/// The division of a format's bits. Formats of six bits are in the low bits of a byte, and have
/// their sign in bit 5 there: conversions move it to bit 7.
struct Format {
    mantissa_bits: u32,
    bias: i32,
    /// The magnitude bits of the largest finite value.
    max_finite: u8,
    /// The magnitude bits of the NaN that conversion produces.
    nan: u8,
}

const E4M3: Format = Format {
    mantissa_bits: 3,
    bias: 7,
    max_finite: 0x7e,
    nan: 0x7f,
};
const E5M2: Format = Format {
    mantissa_bits: 2,
    bias: 15,
    max_finite: 0x7b,
    nan: 0x7f,
};

const E2M3: Format = Format {
    mantissa_bits: 3,
    bias: 1,
    max_finite: 0x1f,
    nan: 0x1f,
};
const E3M2: Format = Format {
    mantissa_bits: 2,
    bias: 3,
    max_finite: 0x1f,
    nan: 0x1f,
};

impl Format {
    fn encode(&self, value: f32) -> u8 {
        let bits = value.to_bits();
        let sign = ((bits >> 24) & 0x80) as u8;
        if value.is_nan() {
            return sign | self.nan;
        }
        if value.is_infinite() {
            return sign | self.max_finite;
        }
        let magnitude = bits & 0x7fff_ffff;
        if magnitude < 0x0080_0000 {
            // A subnormal f32 is far below half of the smallest value of either format.
            return sign;
        }
        let exponent = (magnitude >> 23) as i32 - 127;
        let significand = u64::from((magnitude & 0x007f_ffff) | 0x0080_0000);
        // The exponent of the unit in the last place, which is constant for subnormals.
        let ulp = exponent.max(1 - self.bias) - self.mantissa_bits as i32;
        let shift = (ulp - (exponent - 23)) as u32;
        if shift > 25 {
            return sign;
        }
        let kept = significand >> shift;
        let rest = significand & ((1 << shift) - 1);
        let half = 1u64 << (shift - 1);
        let up = rest > half || (rest == half && kept & 1 == 1);
        let rounded = kept + u64::from(up);
        // A normal number's leading one adds the first exponent step; a carry adds another.
        let steps = (exponent.max(1 - self.bias) + self.bias - 1) as u64;
        let encoded = (steps << self.mantissa_bits) + rounded;
        sign | encoded.min(u64::from(self.max_finite)) as u8
    }

    fn decode(&self, bits: u8) -> f32 {
        let magnitude = bits & 0x7f;
        let exponent = i32::from(magnitude >> self.mantissa_bits);
        let mantissa = f32::from(magnitude & ((1 << self.mantissa_bits) - 1));
        let unit = 2f32.powi(1 - self.bias - self.mantissa_bits as i32);
        let value = if exponent == 0 {
            mantissa * unit
        } else {
            (mantissa + f32::from(1u8 << self.mantissa_bits)) * unit * 2f32.powi(exponent - 1)
        };
        if bits & 0x80 == 0 { value } else { -value }
    }
}

macro_rules! float8 {
    ($(#[$doc:meta])* $name:ident, $format:ident, $decode:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Default, bytemuck::Pod, bytemuck::Zeroable)]
        #[repr(transparent)]
        pub struct $name(u8);

        impl $name {
            /// The largest finite value.
            pub const MAX: Self = Self($format.max_finite);
            /// Not a number.
            pub const NAN: Self = Self($format.nan);
            /// Positive zero.
            pub const ZERO: Self = Self(0);

            /// The value with this encoding.
            pub const fn from_bits(bits: u8) -> Self {
                Self(bits)
            }

            /// The encoding.
            pub const fn to_bits(self) -> u8 {
                self.0
            }

            /// Rounds to nearest even, saturating at [`Self::MAX`].
            pub fn from_f32(value: f32) -> Self {
                Self($format.encode(value))
            }

            /// Rounds once, to nearest even, saturating at [`Self::MAX`].
            pub fn from_f64(value: f64) -> Self {
                Self($format.encode(round_to_odd(value)))
            }

            /// Exact.
            pub fn to_f32(self) -> f32 {
                let decode: fn(u8) -> f32 = $decode;
                decode(self.0)
            }

            /// Exact.
            pub fn to_f64(self) -> f64 {
                f64::from(self.to_f32())
            }

            /// Whether it is not a number.
            pub fn is_nan(self) -> bool {
                self.to_f32().is_nan()
            }
        }

        impl From<$name> for f32 {
            fn from(value: $name) -> f32 {
                value.to_f32()
            }
        }

        impl From<$name> for f64 {
            fn from(value: $name) -> f64 {
                value.to_f64()
            }
        }

        /// As numbers: zeros are equal, NaN is not equal to itself.
        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                self.to_f32() == other.to_f32()
            }
        }

        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                self.to_f32().partial_cmp(&other.to_f32())
            }
        }

        impl std::ops::Neg for $name {
            type Output = Self;
            fn neg(self) -> Self {
                Self(self.0 ^ 0x80)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.to_f32(), f)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.to_f32(), f)
            }
        }
    };
}

float8! {
    /// 8-bit float with 4 exponent and 3 mantissa bits: `f8_e4m3` in a `.co` file. It has no
    /// infinity; the largest value is 448.
    ///
    /// ```
    /// use croq_sys::F8E4M3;
    /// assert_eq!(F8E4M3::from_f32(1.0 / 3.0).to_f32(), 0.34375);
    /// assert_eq!(F8E4M3::from_f32(1e9), F8E4M3::MAX);
    /// ```
    F8E4M3, E4M3, |bits| if bits & 0x7f == 0x7f { f32::NAN } else { E4M3.decode(bits) }
}

float8! {
    /// 8-bit float with 5 exponent and 2 mantissa bits: `f8_e5m2` in a `.co` file. The largest
    /// finite value is 57344.
    F8E5M2, E5M2, |bits| match bits & 0x7f {
        0..=0x7b => E5M2.decode(bits),
        0x7c if bits & 0x80 == 0 => f32::INFINITY,
        0x7c => f32::NEG_INFINITY,
        _ => f32::NAN,
    }
}

macro_rules! float6 {
    ($(#[$doc:meta])* $name:ident, $format:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Default, bytemuck::Pod, bytemuck::Zeroable)]
        #[repr(transparent)]
        pub struct $name(u8);

        impl $name {
            /// The largest value.
            pub const MAX: Self = Self($format.max_finite);

            /// The two high bits are ignored.
            pub const fn from_bits(bits: u8) -> Self {
                Self(bits & 0x3f)
            }

            /// The encoding.
            pub const fn to_bits(self) -> u8 {
                self.0 & 0x3f
            }

            /// Rounds to nearest even, saturating at [`Self::MAX`], which is also the result for a
            /// NaN.
            pub fn from_f32(value: f32) -> Self {
                if value.is_nan() {
                    return Self::MAX;
                }
                let bits = $format.encode(value);
                Self((bits & 0x1f) | (bits >> 7) << 5)
            }

            /// Exact.
            pub fn to_f32(self) -> f32 {
                $format.decode((self.0 & 0x1f) | (self.0 & 0x20) << 2)
            }
        }

        impl From<$name> for f32 {
            fn from(value: $name) -> f32 {
                value.to_f32()
            }
        }

        /// As numbers: zeros are equal.
        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                self.to_f32() == other.to_f32()
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.to_f32(), f)
            }
        }
    };
}

float6! {
    /// 6-bit float with 2 exponent and 3 mantissa bits in the low bits of a byte: `f6_e2m3` in a
    /// `.co` file. It has no infinity and no NaN; the largest value is 7.5.
    F6E2M3, E2M3
}

float6! {
    /// 6-bit float with 3 exponent and 2 mantissa bits in the low bits of a byte: `f6_e3m2` in a
    /// `.co` file. It has no infinity and no NaN; the largest value is 28.
    F6E3M2, E3M2
}

/// An f32 that rounds to eight bits as `value` itself does: truncated, with the last bit set if the
/// truncation was not exact.
fn round_to_odd(value: f64) -> f32 {
    let nearest = value as f32;
    if f64::from(nearest) == value || !nearest.is_finite() || value.is_nan() {
        return nearest;
    }
    let toward_zero = if f64::from(nearest).abs() > value.abs() {
        f32::from_bits(nearest.to_bits() - 1)
    } else {
        nearest
    };
    f32::from_bits(toward_zero.to_bits() | 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every value of a format, by brute force over the definition.
    fn nearest(value: f64, all: &[(u8, f64)]) -> u8 {
        let mut best = all[0];
        for &(bits, candidate) in all {
            let (a, b) = ((candidate - value).abs(), (best.1 - value).abs());
            if a < b || (a == b && bits & 1 == 0) {
                best = (bits, candidate);
            }
        }
        best.0
    }

    fn samples() -> impl Iterator<Item = f32> {
        (0..10_000u32).map(|i| {
            let exponent = 100 + i % 50;
            f32::from_bits((exponent << 23) | (i.wrapping_mul(2_654_435_761) >> 9))
        })
    }

    #[test]
    fn e4m3_rounds_to_the_nearest_value() {
        let all: Vec<_> = (0..=0x7e)
            .map(|b| (b, F8E4M3::from_bits(b).to_f64()))
            .collect();
        assert_eq!(all.last(), Some(&(0x7e, 448.0)));
        for v in samples() {
            assert_eq!(
                F8E4M3::from_f32(v).to_bits(),
                nearest(v.into(), &all),
                "{v}"
            );
            assert_eq!(
                F8E4M3::from_f32(-v).to_bits(),
                nearest(v.into(), &all) | 0x80,
                "-{v}"
            );
        }
    }

    #[test]
    fn e5m2_rounds_to_the_nearest_value() {
        let all: Vec<_> = (0..=0x7b)
            .map(|b| (b, F8E5M2::from_bits(b).to_f64()))
            .collect();
        assert_eq!(all.last(), Some(&(0x7b, 57344.0)));
        for v in samples() {
            assert_eq!(
                F8E5M2::from_f32(v).to_bits(),
                nearest(v.into(), &all),
                "{v}"
            );
        }
    }

    #[test]
    fn every_value_survives_a_round_trip() {
        for bits in 0..=255u8 {
            let (a, b) = (F8E4M3::from_bits(bits), F8E5M2::from_bits(bits));
            if !a.is_nan() {
                assert_eq!(F8E4M3::from_f32(a.to_f32()).to_bits(), bits);
            }
            if b.to_f32().is_finite() {
                assert_eq!(F8E5M2::from_f32(b.to_f32()).to_bits(), bits);
            }
        }
    }

    #[test]
    fn halves_go_to_even() {
        // 17 is halfway between 16 and 18, 19 between 18 and 20.
        assert_eq!(F8E4M3::from_f32(17.0).to_f32(), 16.0);
        assert_eq!(F8E4M3::from_f32(19.0).to_f32(), 20.0);
    }

    #[test]
    fn from_f64_rounds_once() {
        // Through f32 this would become exactly 17, a tie, which rounds down to 16.
        assert_eq!(F8E4M3::from_f64(17.0 + 1e-12).to_f32(), 18.0);
        assert_eq!(F8E4M3::from_f64(-17.0 - 1e-12).to_f32(), -18.0);
    }

    #[test]
    fn six_bits_are_a_sign_and_the_nearest_value() {
        let e2m3: Vec<_> = (0..0x20)
            .map(|b| (b, f64::from(F6E2M3::from_bits(b).to_f32())))
            .collect();
        let e3m2: Vec<_> = (0..0x20)
            .map(|b| (b, f64::from(F6E3M2::from_bits(b).to_f32())))
            .collect();
        assert_eq!((e2m3[1].1, e2m3[0x1f].1), (0.125, 7.5));
        assert_eq!((e3m2[1].1, e3m2[0x1f].1), (0.0625, 28.0));
        for v in samples() {
            assert_eq!(F6E2M3::from_f32(v).to_bits(), nearest(v.into(), &e2m3));
            assert_eq!(
                F6E3M2::from_f32(-v).to_bits(),
                nearest(v.into(), &e3m2) | 0x20
            );
        }
        assert_eq!(F6E3M2::from_f32(f32::NAN).to_f32(), 28.0);
    }

    #[test]
    fn infinity_saturates_and_nan_stays() {
        assert_eq!(F8E4M3::from_f32(f32::NEG_INFINITY).to_f32(), -448.0);
        assert_eq!(F8E5M2::from_f32(f32::INFINITY).to_f32(), 57344.0);
        assert!(F8E5M2::from_bits(0x7c).to_f32().is_infinite());
        assert!(F8E4M3::from_f32(f32::NAN).is_nan() && F8E5M2::from_f32(f32::NAN).is_nan());
    }
}
