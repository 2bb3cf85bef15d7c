//! State spaces (PTX ISA, "State Spaces") and fundamental types ("Types").

use std::fmt;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Space {
    Global,
    Shared,
    Local,
    Param,
    Const,
}

impl Space {
    pub fn parse(word: &str) -> Option<Space> {
        Some(match word {
            "global" => Space::Global,
            "shared" => Space::Shared,
            "local" => Space::Local,
            "param" => Space::Param,
            "const" => Space::Const,
            _ => return None,
        })
    }
}

macro_rules! types {
    ($($variant:ident $word:literal $bytes:literal)*) => {
        /// A type of registers, variables and instructions.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Type { $($variant,)* }

        impl Type {
            pub fn parse(word: &str) -> Option<Type> {
                match word { $($word => Some(Type::$variant),)* _ => None }
            }

            /// As it is written, without the dot.
            pub fn word(self) -> &'static str {
                match self { $(Type::$variant => $word,)* }
            }

            /// The size in memory. A predicate has none.
            pub fn bytes(self) -> usize {
                match self { $(Type::$variant => $bytes,)* }
            }
        }
    };
}

types! {
    U8 "u8" 1  U16 "u16" 2  U32 "u32" 4  U64 "u64" 8
    S8 "s8" 1  S16 "s16" 2  S32 "s32" 4  S64 "s64" 8
    B8 "b8" 1  B16 "b16" 2  B32 "b32" 4  B64 "b64" 8  B128 "b128" 16
    F16 "f16" 2  Bf16 "bf16" 2  F16x2 "f16x2" 4  Bf16x2 "bf16x2" 4
    F32 "f32" 4  F64 "f64" 8
    Pred "pred" 0
}

impl Type {
    pub fn is_signed(self) -> bool {
        matches!(self, Type::S8 | Type::S16 | Type::S32 | Type::S64)
    }

    pub fn is_integer(self) -> bool {
        use Type::{S8, S16, S32, S64, U8, U16, U32, U64};
        matches!(self, U8 | U16 | U32 | U64 | S8 | S16 | S32 | S64)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
