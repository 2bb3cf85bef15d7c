//! Number types of C++ by name.

use crate::ir::Scalar;

/// The scalar with that name in C++, in CUDA's headers, or in the language.
pub(crate) fn scalar(name: &str) -> Option<Scalar> {
    Some(match name {
        "bool" => Scalar::Bool,
        "signed char" | "int8_t" => Scalar::S8,
        "unsigned char" | "uint8_t" => Scalar::U8,
        "short" | "short int" | "int16_t" => Scalar::S16,
        "unsigned short" | "unsigned short int" | "uint16_t" => Scalar::U16,
        "int" | "signed" | "signed int" | "int32_t" => Scalar::S32,
        "unsigned" | "unsigned int" | "uint32_t" => Scalar::U32,
        "long" | "long int" | "long long" | "long long int" | "int64_t" | "ptrdiff_t" => {
            Scalar::S64
        }
        "unsigned long"
        | "unsigned long int"
        | "unsigned long long"
        | "unsigned long long int"
        | "uint64_t"
        | "size_t" => Scalar::U64,
        "float" => Scalar::F32,
        "double" => Scalar::F64,
        "half" | "__half" => Scalar::F16,
        "bfp16" | "__nv_bfloat16" | "nv_bfloat16" => Scalar::Bf16,
        "__nv_fp8_e4m3" => Scalar::F8E4M3,
        "__nv_fp8_e5m2" => Scalar::F8E5M2,
        other => return Scalar::named(other).filter(|ty| *ty != Scalar::Index),
    })
}
