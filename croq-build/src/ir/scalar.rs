//! Element and scalar types that the IR can compute with or store. [`Scalar::info`] is the one description of each.

/// A value's type. `Index` is what symbolic integers are computed in: 64 bits, signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scalar {
    F64,
    F32,
    F16,
    Bf16,
    F8E4M3,
    F8E5M2,
    S64,
    S32,
    S16,
    S8,
    U64,
    U32,
    U16,
    U8,
    Bool,
    Index,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Float {
        /// Bits of the significand, the leading one included: integers up to 2^digits are exact.
        digits: u32,
    },
    Signed,
    Unsigned,
    Bool,
}

/// All that depends on a type alone.
#[derive(Debug)]
pub struct ScalarInfo {
    /// As a user writes it.
    pub name: &'static str,
    /// In memory.
    pub bytes: u64,
    pub class: Class,
    /// In C++: works in a declaration and as a template argument.
    pub cpp: &'static str,
    /// In the C struct of a shim's arguments: floats that C has no type for travel as their bits.
    pub c: &'static str,
    pub rust: &'static str,
}

/// Every type, in the order of the enum.
const ALL: [Scalar; 16] = {
    use Scalar::*;
    [
        F64, F32, F16, Bf16, F8E4M3, F8E5M2, S64, S32, S16, S8, U64, U32, U16, U8, Bool, Index,
    ]
};

impl Scalar {
    pub fn info(self) -> &'static ScalarInfo {
        use Class::{Float, Signed, Unsigned};
        macro_rules! info {
            ($name:literal, $bytes:literal, $class:expr, $cpp:literal, $c:literal, $rust:literal) => {
                &const {
                    ScalarInfo {
                        name: $name,
                        bytes: $bytes,
                        class: $class,
                        cpp: $cpp,
                        c: $c,
                        rust: $rust,
                    }
                }
            };
        }
        #[rustfmt::skip]
        let info = match self {
            Scalar::F64 => info!("f64", 8, Float { digits: 53 }, "double", "double", "f64"),
            Scalar::F32 => info!("f32", 4, Float { digits: 24 }, "float", "float", "f32"),
            Scalar::F16 => info!("f16", 2, Float { digits: 11 }, "croq::f16", "unsigned short", "f16"),
            Scalar::Bf16 => info!("bf16", 2, Float { digits: 8 }, "croq::bf16", "unsigned short", "bf16"),
            Scalar::F8E4M3 => info!("f8_e4m3", 1, Float { digits: 4 }, "croq::f8_e4m3", "unsigned char", "F8E4M3"),
            Scalar::F8E5M2 => info!("f8_e5m2", 1, Float { digits: 3 }, "croq::f8_e5m2", "unsigned char", "F8E5M2"),
            Scalar::S64 => info!("s64", 8, Signed, "long long", "long long", "i64"),
            Scalar::S32 => info!("s32", 4, Signed, "int", "int", "i32"),
            Scalar::S16 => info!("s16", 2, Signed, "short", "short", "i16"),
            Scalar::S8 => info!("s8", 1, Signed, "signed char", "signed char", "i8"),
            Scalar::U64 => info!("u64", 8, Unsigned, "unsigned long long", "unsigned long long", "u64"),
            Scalar::U32 => info!("u32", 4, Unsigned, "unsigned", "unsigned", "u32"),
            Scalar::U16 => info!("u16", 2, Unsigned, "unsigned short", "unsigned short", "u16"),
            Scalar::U8 => info!("u8", 1, Unsigned, "unsigned char", "unsigned char", "u8"),
            Scalar::Bool => info!("bool", 1, Class::Bool, "bool", "unsigned char", "bool"),
            Scalar::Index => info!("int", 8, Signed, "croq::idx", "croq_i64", "i64"),
        };
        info
    }

    /// The type that a user writes so.
    pub fn named(name: &str) -> Option<Scalar> {
        ALL.into_iter().find(|ty| ty.name() == name)
    }

    /// Bytes one element takes in memory.
    pub fn bytes(self) -> u64 {
        self.info().bytes
    }

    pub fn is_float(self) -> bool {
        matches!(self.info().class, Class::Float { .. })
    }

    pub fn is_integer(self) -> bool {
        matches!(self.info().class, Class::Signed | Class::Unsigned)
    }

    pub fn is_signed(self) -> bool {
        matches!(self.info().class, Class::Signed | Class::Float { .. })
    }

    /// The least and the largest value of an integer type, 0 and 1 of `bool`; `None` for floats.
    pub fn limits(self) -> Option<(i128, i128)> {
        let bits = self.bytes() * 8;
        match self.info().class {
            Class::Float { .. } => None,
            Class::Signed => Some((-(1 << (bits - 1)), (1 << (bits - 1)) - 1)),
            Class::Unsigned => Some((0, (1 << bits) - 1)),
            Class::Bool => Some((0, 1)),
        }
    }

    /// The name a user writes.
    pub fn name(self) -> &'static str {
        self.info().name
    }
}

impl std::fmt::Display for Scalar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
