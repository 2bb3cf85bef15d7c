//! Element and scalar types that the IR can compute with or store.

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

impl Scalar {
    /// Bytes one element takes in memory.
    pub fn bytes(self) -> u64 {
        match self {
            Scalar::F64 | Scalar::S64 | Scalar::U64 | Scalar::Index => 8,
            Scalar::F32 | Scalar::S32 | Scalar::U32 => 4,
            Scalar::F16 | Scalar::Bf16 | Scalar::S16 | Scalar::U16 => 2,
            Scalar::F8E4M3 | Scalar::F8E5M2 | Scalar::S8 | Scalar::U8 | Scalar::Bool => 1,
        }
    }

    pub fn is_float(self) -> bool {
        use Scalar::*;
        matches!(self, F64 | F32 | F16 | Bf16 | F8E4M3 | F8E5M2)
    }

    pub fn is_integer(self) -> bool {
        !self.is_float() && self != Scalar::Bool
    }

    pub fn is_signed(self) -> bool {
        use Scalar::*;
        matches!(self, S64 | S32 | S16 | S8 | Index) || self.is_float()
    }

    /// The name a user writes.
    pub fn name(self) -> &'static str {
        match self {
            Scalar::F64 => "f64",
            Scalar::F32 => "f32",
            Scalar::F16 => "f16",
            Scalar::Bf16 => "bf16",
            Scalar::F8E4M3 => "f8_e4m3",
            Scalar::F8E5M2 => "f8_e5m2",
            Scalar::S64 => "s64",
            Scalar::S32 => "s32",
            Scalar::S16 => "s16",
            Scalar::S8 => "s8",
            Scalar::U64 => "u64",
            Scalar::U32 => "u32",
            Scalar::U16 => "u16",
            Scalar::U8 => "u8",
            Scalar::Bool => "bool",
            Scalar::Index => "int",
        }
    }
}

impl std::fmt::Display for Scalar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
