//! Types of matrix elements, and their values.

use super::super::alu::round::{F16, F32, Mode};

/// Of a multiplicand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ElementType {
    F16,
    Bf16,
    Tf32,
    E4m3,
    E5m2,
    F64,
    S8,
    U8,
    S4,
    U4,
    B1,
}

impl ElementType {
    pub const WORDS: [&'static str; 11] = [
        "f16", "bf16", "tf32", "e4m3", "e5m2", "f64", "s8", "u8", "s4", "u4", "b1",
    ];

    pub fn parse(word: &str) -> Option<ElementType> {
        use ElementType::{B1, Bf16, E4m3, E5m2, F16, F64, S4, S8, Tf32, U4, U8};
        let types = [F16, Bf16, Tf32, E4m3, E5m2, F64, S8, U8, S4, U4, B1];
        let found = ElementType::WORDS.iter().position(|known| *known == word)?;
        types.get(found).copied()
    }

    pub fn bits(self) -> u32 {
        match self {
            ElementType::F64 => 64,
            ElementType::Tf32 => 32,
            ElementType::F16 | ElementType::Bf16 => 16,
            ElementType::E4m3 | ElementType::E5m2 | ElementType::S8 | ElementType::U8 => 8,
            ElementType::S4 | ElementType::U4 => 4,
            ElementType::B1 => 1,
        }
    }

    pub fn is_integer(self) -> bool {
        use ElementType::{B1, S4, S8, U4, U8};
        matches!(self, S8 | U8 | S4 | U4 | B1)
    }

    pub fn is_small_float(self) -> bool {
        matches!(self, ElementType::E4m3 | ElementType::E5m2)
    }

    /// Whether an instruction may have these two types ("Matrix Data-types"): 8-bit floats and
    /// integers of one width go with each other.
    pub fn goes_with(self, other: ElementType) -> bool {
        self == other
            || self.is_small_float() && other.is_small_float()
            || self.is_integer() && other.is_integer() && self.bits() == other.bits()
    }

    /// The value of an element's bits, which is exact. A function for all elements of a matrix.
    pub fn decoder(self) -> fn(u64) -> f64 {
        match self {
            ElementType::F16 => half,
            ElementType::Bf16 => |bits| f32::from_bits((bits as u32) << 16).into(),
            // The 13 low bits are not part of the number.
            ElementType::Tf32 => |bits| f32::from_bits(bits as u32 & !0x1fff).into(),
            ElementType::E5m2 => |bits| half(bits << 8),
            ElementType::E4m3 => |bits| match bits & 0x7f {
                0x7f => f64::NAN,
                magnitude => {
                    // The exponent of an f16 is larger by 8.
                    let value = half(magnitude << 7) * 256.0;
                    if bits >> 7 & 1 == 1 { -value } else { value }
                }
            },
            ElementType::F64 => f64::from_bits,
            ElementType::S8 => |bits| (bits as i8).into(),
            ElementType::S4 => |bits| (((bits << 4) as i8) >> 4).into(),
            ElementType::U8 | ElementType::U4 | ElementType::B1 => |bits| bits as f64,
        }
    }
}

fn half(bits: u64) -> f64 {
    let magnitude = (bits & 0x7fff) as u32;
    let value = match magnitude >= 0x7c00 {
        // Infinity and NaN keep their fractions.
        true => f32::from_bits(0x7f80_0000 | (magnitude & 0x3ff) << 13),
        false => f32::from_bits(magnitude << 13) * f32::from_bits(0x7780_0000),
    };
    f64::from(if bits >> 15 & 1 == 1 { -value } else { value })
}

/// To the nearest even f16.
fn to_half(value: f64) -> u64 {
    let bits = value.to_bits();
    let magnitude = bits & !(1 << 63);
    // From the smallest normal number to below the largest: the ten digits after the first, and a
    // carry into the exponent.
    if (1009 << 52..1038 << 52).contains(&magnitude) {
        let rounded = (magnitude + ((1 << 41) - 1) + (magnitude >> 42 & 1)) >> 42;
        return (bits >> 63 << 15) | (rounded - (1008 << 10));
    }
    F16.round_f64(value, Mode::Even)
}

/// Of an accumulator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Accumulator {
    F16,
    F32,
    F64,
    /// Sums wrap around.
    S32,
    /// `.satfinite`: sums are clamped.
    SaturatedS32,
}

impl Accumulator {
    pub fn parse(word: &str, saturates: bool) -> Option<Accumulator> {
        match (word, saturates) {
            ("f16", false) => Some(Accumulator::F16),
            ("f32", false) => Some(Accumulator::F32),
            ("f64", false) => Some(Accumulator::F64),
            ("s32", false) => Some(Accumulator::S32),
            ("s32", true) => Some(Accumulator::SaturatedS32),
            _ => None,
        }
    }

    /// In a register.
    pub fn per_register(self) -> usize {
        if self == Accumulator::F16 { 2 } else { 1 }
    }

    pub fn is_integer(self) -> bool {
        matches!(self, Accumulator::S32 | Accumulator::SaturatedS32)
    }

    /// Exact.
    pub fn value(self, bits: u64) -> f64 {
        match self {
            Accumulator::F16 => half(bits & 0xffff),
            Accumulator::F32 => f32::from_bits(bits as u32).into(),
            Accumulator::F64 => f64::from_bits(bits),
            Accumulator::S32 | Accumulator::SaturatedS32 => (bits as i32).into(),
        }
    }

    /// Rounded to nearest even, or made 32 bits. A NaN is the canonical one.
    pub fn bits(self, sum: f64) -> u64 {
        match self {
            Accumulator::F16 => to_half(sum),
            Accumulator::F32 if sum.is_nan() => F32.nan,
            Accumulator::F32 => (sum as f32).to_bits().into(),
            Accumulator::F64 => sum.to_bits(),
            Accumulator::S32 => (sum as i64 as u32).into(),
            Accumulator::SaturatedS32 => (sum as i32).cast_unsigned().into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::alu::round::{BF16, E4M3, E5M2, F16, Format, Mode, TF32};
    use super::{Accumulator, ElementType};

    #[test]
    fn all_small_floats_have_the_values_of_their_formats() {
        let types: [(ElementType, &Format, u32); 4] = [
            (ElementType::F16, &F16, 16),
            (ElementType::Bf16, &BF16, 16),
            (ElementType::E4m3, &E4M3, 8),
            (ElementType::E5m2, &E5M2, 8),
        ];
        for (ty, format, bits) in types {
            for pattern in 0..1_u64 << bits {
                let (found, expected) = (ty.decoder()(pattern), format.widen(pattern));
                let same = found.to_bits() == expected.to_bits();
                let nan = found.is_nan() && expected.is_nan();
                assert!(same || nan, "{ty:?} {pattern:#x}: {found} {expected}");
            }
        }
        for pattern in (0..1_u64 << 19).step_by(7) {
            let found = ElementType::Tf32.decoder()(pattern << 13 | 0x1abc);
            let expected = TF32.widen(pattern);
            assert!(found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan());
        }
    }

    #[test]
    fn integers_are_extended_by_their_sign() {
        for (ty, bits, value) in [
            (ElementType::S8, 0x80, -128.0),
            (ElementType::U8, 0x80, 128.0),
            (ElementType::S4, 0x8, -8.0),
            (ElementType::S4, 0x7, 7.0),
            (ElementType::U4, 0xf, 15.0),
            (ElementType::B1, 1, 1.0),
        ] {
            assert_eq!(ty.decoder()(bits), value);
        }
    }

    #[test]
    fn sums_are_rounded_wrapped_or_clamped() {
        let large = f64::from(i32::MAX) + 2.0;
        assert_eq!(Accumulator::S32.bits(large), 0x8000_0001);
        assert_eq!(Accumulator::SaturatedS32.bits(large), 0x7fff_ffff);
        assert_eq!(Accumulator::SaturatedS32.bits(-large - 9.0), 0x8000_0000);
        assert_eq!(Accumulator::F16.bits(65520.0), 0x7c00);
        assert_eq!(Accumulator::F16.bits(2049.0), 0x6800);
        assert_eq!(Accumulator::F32.bits(16_777_217.0), 0x4b80_0000);
        assert_eq!(Accumulator::F32.bits(f64::NAN), 0x7fff_ffff);
    }

    #[test]
    fn f16_is_rounded_as_its_format_says() {
        for pattern in 0..0x7c00_u64 {
            let (low, high) = (F16.widen(pattern), F16.widen(pattern + 1).min(65536.0));
            for part in [0.0, 0.25, 0.5, 0.75] {
                let exact = low + (high - low) * part;
                let near = [exact, exact.next_up(), exact.next_down()];
                for value in near.into_iter().flat_map(|value| [value, -value]) {
                    let expected = F16.round_f64(value, Mode::Even);
                    assert_eq!(Accumulator::F16.bits(value), expected, "{value}");
                }
            }
        }
    }
}
