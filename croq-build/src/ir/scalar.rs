//! Element and scalar types that the IR can compute with or store. The table `scalars!` is the only
//! description of each.

use crate::symbolic::{Ctx, Sym};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Class {
    Float(Format),
    Signed,
    Unsigned,
    Bool,
}

/// The set of values of a float type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Format {
    /// Bits of the significand, the leading one included: integers up to 2^digits are exact.
    pub digits: u32,
    /// The exponent of the smallest positive value, subnormal ones included: it is 2^least.
    pub least: i32,
    /// The largest finite value.
    pub largest: f64,
}

impl Format {
    const fn new(digits: u32, least: i32, largest: f64) -> Self {
        Self {
            digits,
            least,
            largest,
        }
    }

    /// The nearest value of this format, the even one of two; an infinity where it would be above the largest.
    pub fn nearest(&self, value: f64) -> f64 {
        if value == 0.0 || !value.is_finite() {
            return value;
        }
        // Of an f64 below its normal numbers the exponent is too small, and `least` counts.
        let exponent = ((value.to_bits() >> 52) & 0x7ff) as i32 - 1023;
        let last = (exponent + 1 - self.digits as i32).max(self.least);
        // A power of two: the quotient and the product are exact.
        let unit = 2f64.powi(last);
        let nearest = (value / unit).round_ties_even() * unit;
        if nearest.abs() > self.largest {
            return f64::INFINITY.copysign(value);
        }
        nearest
    }

    /// Whether it represents every finite value of another format.
    pub fn contains(&self, other: &Format) -> bool {
        other.digits <= self.digits && other.least >= self.least && other.largest <= self.largest
    }
}

/// The properties of a type.
#[derive(Debug)]
pub struct ScalarInfo {
    /// The name in Croqtile.
    pub name: &'static str,
    /// The bits of a value. A type of 1, 2 or 4 bits is packed in memory; any other has whole bytes.
    pub bits: u64,
    pub class: Class,
    /// The type in C++, usable in a declaration and as a template argument.
    pub cpp: &'static str,
    /// The type in the C struct of a shim's arguments: floats that C lacks are passed as their
    /// bits.
    pub c: &'static str,
    pub rust: &'static str,
}

macro_rules! scalars {
    ($($scalar:ident: $name:literal, $bits:literal, $class:expr, $cpp:literal, $c:literal, $rust:literal;)*) => {
        /// The type of a value. `Index` is the type of symbolic integers: 64 bits, signed.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Scalar {
            $($scalar,)*
        }

        impl Scalar {
            /// All types, in the order of the table.
            pub const ALL: &[Scalar] = &[$(Scalar::$scalar,)*];

            pub fn info(self) -> &'static ScalarInfo {
                use Class::*;
                match self {
                    $(Scalar::$scalar => &const {
                        ScalarInfo {
                            name: $name,
                            bits: $bits,
                            class: $class,
                            cpp: $cpp,
                            c: $c,
                            rust: $rust,
                        }
                    },)*
                }
            }
        }
    };
}

// The name, bits, class, and the types in C++, C and Rust.
scalars! {
    F64: "f64", 64, Float(Format::new(53, -1074, f64::MAX)), "double", "double", "f64";
    F32: "f32", 32, Float(Format::new(24, -149, f32::MAX as f64)), "float", "float", "f32";
    Tf32: "tf32", 32, Float(Format::new(11, -136, 3.4011621342146535e+38)), "float", "float", "f32";
    F16: "f16", 16, Float(Format::new(11, -24, 65504.0)), "croq::f16", "unsigned short", "f16";
    Bf16: "bf16", 16, Float(Format::new(8, -133, 3.3895313892515355e+38)), "croq::bf16", "unsigned short", "bf16";
    F8E4M3: "f8_e4m3", 8, Float(Format::new(4, -9, 448.0)), "croq::f8_e4m3", "unsigned char", "F8E4M3";
    F8E5M2: "f8_e5m2", 8, Float(Format::new(3, -16, 57344.0)), "croq::f8_e5m2", "unsigned char", "F8E5M2";
    F6E2M3: "f6_e2m3", 6, Float(Format::new(4, -3, 7.5)), "croq::f6_e2m3", "unsigned char", "F6E2M3";
    F6E3M2: "f6_e3m2", 6, Float(Format::new(3, -4, 28.0)), "croq::f6_e3m2", "unsigned char", "F6E3M2";
    F4E2M1: "f4_e2m1", 4, Float(Format::new(2, -1, 6.0)), "croq::f4_e2m1", "unsigned char", "F4E2M1x2";
    S64: "s64", 64, Signed, "long long", "long long", "i64";
    S32: "s32", 32, Signed, "int", "int", "i32";
    S16: "s16", 16, Signed, "short", "short", "i16";
    S8: "s8", 8, Signed, "signed char", "signed char", "i8";
    S6: "s6", 6, Signed, "croq::s6", "unsigned char", "S6";
    S4: "s4", 4, Signed, "croq::s4", "unsigned char", "S4x2";
    S2: "s2", 2, Signed, "croq::s2", "unsigned char", "S2x4";
    U64: "u64", 64, Unsigned, "unsigned long long", "unsigned long long", "u64";
    U32: "u32", 32, Unsigned, "unsigned", "unsigned", "u32";
    U16: "u16", 16, Unsigned, "unsigned short", "unsigned short", "u16";
    U8: "u8", 8, Unsigned, "unsigned char", "unsigned char", "u8";
    U6: "u6", 6, Unsigned, "croq::u6", "unsigned char", "U6";
    U4: "u4", 4, Unsigned, "croq::u4", "unsigned char", "U4x2";
    U2: "u2", 2, Unsigned, "croq::u2", "unsigned char", "U2x4";
    U1: "u1", 1, Unsigned, "croq::u1", "unsigned char", "U1x8";
    Bool: "bool", 8, Bool, "bool", "unsigned char", "bool";
    Index: "int", 64, Signed, "croq::idx", "croq_i64", "i64";
}

impl Scalar {
    /// The type with this name in Croqtile, where `bin1` is another name of `u1`.
    pub fn named(name: &str) -> Option<Scalar> {
        let name = if name == "bin1" { "u1" } else { name };
        Scalar::ALL.iter().copied().find(|ty| ty.name() == name)
    }

    /// The bits of a value.
    pub fn bits(self) -> u64 {
        self.info().bits
    }

    /// The bytes of a value in a register, and of an element in memory unless it is packed.
    pub fn bytes(self) -> u64 {
        self.bits().div_ceil(8)
    }

    /// The number of elements in a byte of memory, the first in the low bits; 1 for types of whole
    /// bytes.
    pub fn per_byte(self) -> u32 {
        match self.bits() {
            bits @ (1 | 2 | 4) => 8 / bits as u32,
            _ => 1,
        }
    }

    /// Whether elements share bytes in memory. Those of a thread's own memory do not.
    pub fn is_packed(self) -> bool {
        self.per_byte() > 1
    }

    /// The bytes of `count` elements in memory.
    pub fn bytes_of(self, cx: &Ctx, count: &Sym) -> Sym {
        match self.per_byte() {
            1 => count * self.size(),
            per_byte => {
                let per_byte = i64::from(per_byte);
                cx.div(&(count + (per_byte - 1)), &Sym::int(per_byte))
            }
        }
    }

    pub fn is_float(self) -> bool {
        self.format().is_some()
    }

    /// The format of a float type.
    pub fn format(self) -> Option<&'static Format> {
        match &self.info().class {
            Class::Float(format) => Some(format),
            _ => None,
        }
    }

    /// Whether it is a float type that C++ and C lack: it is computed in f32, and passed as its
    /// bits.
    pub fn is_narrow_float(self) -> bool {
        self.is_float() && self.bytes() < 4
    }

    pub fn is_integer(self) -> bool {
        matches!(self.info().class, Class::Signed | Class::Unsigned)
    }

    /// Whether it is an integer of less than a byte: computed in `s32`.
    pub fn is_small_integer(self) -> bool {
        self.is_integer() && self.bits() < 8
    }

    pub fn is_signed(self) -> bool {
        matches!(self.info().class, Class::Signed | Class::Float(_))
    }

    /// The integer of this type that has the low bits of `n`; `n` itself for other types.
    pub fn cut_off(self, n: i64) -> i128 {
        let n = i128::from(n);
        match self.limits() {
            Some((least, most)) if self.is_integer() => {
                (n - least).rem_euclid(most - least + 1) + least
            }
            _ => n,
        }
    }

    /// The least and the largest value of an integer type, 0 and 1 of `bool`; `None` for floats.
    pub fn limits(self) -> Option<(i128, i128)> {
        let bits = self.bits();
        match self.info().class {
            Class::Float(_) => None,
            Class::Signed => Some((-(1 << (bits - 1)), (1 << (bits - 1)) - 1)),
            Class::Unsigned => Some((0, (1 << bits) - 1)),
            Class::Bool => Some((0, 1)),
        }
    }

    /// Bytes of an element, as a factor of other sizes.
    pub fn size(self) -> i64 {
        i64::try_from(self.bytes()).unwrap_or(1).max(1)
    }

    /// The name in Croqtile.
    pub fn name(self) -> &'static str {
        self.info().name
    }
}

impl std::fmt::Display for Scalar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(ty: Scalar) -> &'static Format {
        match &ty.info().class {
            Class::Float(format) => format,
            _ => panic!("{ty} is no float"),
        }
    }

    #[test]
    fn values_of_a_format_and_what_is_between_them_round_to_the_nearest() {
        let (f16, bf16) = (format(Scalar::F16), format(Scalar::Bf16));
        for bits in 0..=u16::MAX {
            let (half, brain) = (half::f16::from_bits(bits), half::bf16::from_bits(bits));
            for (value, next, format, name) in [
                (
                    half.to_f64(),
                    half::f16::from_bits(bits ^ 1).to_f64(),
                    f16,
                    "f16",
                ),
                (
                    brain.to_f64(),
                    half::bf16::from_bits(bits ^ 1).to_f64(),
                    bf16,
                    "bf16",
                ),
            ] {
                if !value.is_finite() || !next.is_finite() {
                    continue;
                }
                assert_eq!(format.nearest(value), value, "{name} {bits:#x}");
                // From the middle to the even one of the two, from beside it to the nearer one.
                let middle = (value + next) / 2.0;
                let even = if bits % 2 == 0 { value } else { next };
                assert_eq!(format.nearest(middle), even, "{name} {bits:#x}");
                let nearer = middle + (value - middle) * 1e-6;
                assert_eq!(format.nearest(nearer), value, "{name} {bits:#x}");
            }
        }
    }

    #[test]
    fn values_above_the_largest_of_a_format_are_infinite() {
        let f16 = format(Scalar::F16);
        assert_eq!(f16.nearest(65519.9), 65504.0);
        assert_eq!(f16.nearest(65520.0), f64::INFINITY);
        assert_eq!(f16.nearest(-1e300), f64::NEG_INFINITY);
        assert_eq!(f16.nearest(-1e-300).to_bits(), (-0.0f64).to_bits());
        assert!(f16.nearest(f64::NAN).is_nan());
    }
}
