//! The types of PTX instructions.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Bits,
    Unsigned,
    Signed,
    Float,
    Predicate,
}

/// `.u32`, `.f64`, …
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Type {
    pub kind: Kind,
    pub bits: u32,
    /// In device text.
    pub cpp: &'static str,
}

pub const B32: Type = Type {
    kind: Kind::Bits,
    bits: 32,
    cpp: "unsigned",
};
pub const PREDICATE: Type = Type {
    kind: Kind::Predicate,
    bits: 1,
    cpp: "bool",
};

impl Type {
    pub fn named(name: &str) -> Option<Self> {
        use Kind::{Bits, Float, Predicate, Signed, Unsigned};
        let (kind, bits, cpp) = match name {
            "pred" => (Predicate, 1, "bool"),
            "b8" => (Bits, 8, "unsigned char"),
            "u8" => (Unsigned, 8, "unsigned char"),
            "s8" => (Signed, 8, "signed char"),
            "b16" => (Bits, 16, "unsigned short"),
            "u16" => (Unsigned, 16, "unsigned short"),
            "s16" => (Signed, 16, "short"),
            "b32" => (Bits, 32, "unsigned"),
            "u32" => (Unsigned, 32, "unsigned"),
            "s32" => (Signed, 32, "int"),
            "b64" => (Bits, 64, "unsigned long long"),
            "u64" => (Unsigned, 64, "unsigned long long"),
            "s64" => (Signed, 64, "long long"),
            "f16" => (Float, 16, "croq::f16"),
            "bf16" => (Float, 16, "croq::bf16"),
            "f32" => (Float, 32, "float"),
            "f64" => (Float, 64, "double"),
            _ => return None,
        };
        Some(Self { kind, bits, cpp })
    }

    pub fn is_integer(self) -> bool {
        matches!(self.kind, Kind::Unsigned | Kind::Signed)
    }

    /// `f32` or `f64`.
    pub fn is_float(self) -> bool {
        self.kind == Kind::Float && self.bits >= 32
    }

    /// Integers of 16 bits and more, which have arithmetic.
    pub fn is_arithmetic_integer(self) -> bool {
        self.is_integer() && self.bits >= 16
    }
}
