//! Arithmetic, operations on bits, and functions of floats.

use super::instruction::Scope;
use super::types::{B32, Kind, Type};

pub fn arithmetic(i: &Scope<'_>) -> Option<String> {
    let base = i.base();
    if base == "dp4a" {
        return dot(i);
    }
    let ty = i.ty()?;
    if ty.is_float() {
        let (known, count): (&[&str], usize) = match base {
            "add" | "sub" | "mul" => (&["rn", "ftz", "sat"], 2),
            "mad" | "fma" => (&["rn", "ftz", "sat"], 3),
            "min" | "max" => (&["ftz", "NaN"], 2),
            "div" => (&["rn", "approx", "full", "ftz"], 2),
            "abs" | "neg" => (&["ftz"], 1),
            "copysign" => (&[], 2),
            _ => return None,
        };
        i.only(known)?;
        let function = match (base, i.has("NaN")) {
            ("mad", _) => "fma",
            ("min", true) => "min_nan",
            ("max", true) => "max_nan",
            _ => base,
        };
        return i.apply_float(function, ty, count);
    }
    if !ty.is_arithmetic_integer() {
        return None;
    }
    match base {
        "mul" | "mad" => product(i, ty),
        "add" | "sub" if i.has("sat") && ty.cpp == "int" => {
            i.only(&["sat"])?;
            i.apply(&format!("{base}_saturated"), ty, 2)
        }
        "add" | "sub" | "min" | "max" | "div" | "rem" => {
            i.only(&[])?;
            i.apply(base, ty, 2)
        }
        "abs" | "neg" if ty.kind == Kind::Signed => {
            i.only(&[])?;
            i.apply(base, ty, 1)
        }
        _ => None,
    }
}

/// `mul` and `mad` of integers, by halves or wide.
fn product(i: &Scope<'_>, ty: Type) -> Option<String> {
    let way = match i.modifiers().as_slice() {
        [way @ ("lo" | "hi" | "wide")] => *way,
        _ => return None,
    };
    let wide = match (way, ty.cpp) {
        ("wide", "short") => Type::named("s32"),
        ("wide", "unsigned short") => Type::named("u32"),
        ("wide", "int") => Type::named("s64"),
        ("wide", "unsigned") => Type::named("u64"),
        ("wide", _) => None,
        _ => Some(ty),
    }?;
    let adds = i.base() == "mad";
    i.with_count(if adds { 4 } else { 3 })?;
    let (a, b) = (i.value(1, ty)?, i.value(2, ty)?);
    let mut result = match way {
        "wide" => format!("croq::ptx_mul_wide<{}, {}>({a}, {b})", wide.cpp, ty.cpp),
        _ => format!("croq::ptx_mul_{way}<{}>({a}, {b})", ty.cpp),
    };
    if adds {
        let c = i.value(3, wide)?;
        result = format!("croq::ptx_add<{}>({result}, {c})", wide.cpp);
    }
    i.set(&result)
}

/// `dp4a` of two words with the same signs.
fn dot(i: &Scope<'_>) -> Option<String> {
    i.only(&[])?;
    i.with_count(4)?;
    match i.types().as_slice() {
        [a, b] if a == b && a.bits == 32 && a.is_integer() => {
            let (x, y, z) = (i.value(1, *a)?, i.value(2, *a)?, i.value(3, *a)?);
            i.set(&format!("__dp4a({x}, {y}, {z})"))
        }
        _ => None,
    }
}

pub fn bits(i: &Scope<'_>) -> Option<String> {
    let ty = i.ty()?;
    let is_bits = ty.kind == Kind::Bits && ty.bits >= 16;
    let base = i.base();
    match base {
        "and" | "or" | "xor" if is_bits || ty.kind == Kind::Predicate => {
            i.only(&[])?;
            i.apply(base, ty, 2)
        }
        "not" if is_bits || ty.kind == Kind::Predicate => {
            i.only(&[])?;
            i.apply(base, ty, 1)
        }
        "shl" | "shr" if is_bits || base == "shr" && ty.is_arithmetic_integer() => {
            i.only(&[])?;
            i.with_count(3)?;
            let (a, by) = (i.value(1, ty)?, i.value(2, B32)?);
            i.set(&format!("croq::ptx_{base}<{}>({a}, {by})", ty.cpp))
        }
        "shf" if ty == B32 => {
            i.with_count(4)?;
            let function = match i.modifiers().as_slice() {
                ["l", "wrap"] => "__funnelshift_l",
                ["l", "clamp"] => "__funnelshift_lc",
                ["r", "wrap"] => "__funnelshift_r",
                ["r", "clamp"] => "__funnelshift_rc",
                _ => return None,
            };
            let (low, high, by) = (i.value(1, ty)?, i.value(2, ty)?, i.value(3, ty)?);
            i.set(&format!("{function}({low}, {high}, {by})"))
        }
        "popc" | "clz" | "brev" if is_bits && ty.bits >= 32 => {
            i.only(&[])?;
            i.apply(base, ty, 1)
        }
        "bfind" if ty.kind == Kind::Unsigned && ty.bits >= 32 => {
            i.only(&[])?;
            i.apply(base, ty, 1)
        }
        "bfe" if ty.is_integer() && ty.bits >= 32 => {
            i.only(&[])?;
            i.with_count(4)?;
            let (a, at, count) = (i.value(1, ty)?, i.value(2, B32)?, i.value(3, B32)?);
            i.set(&format!("croq::ptx_bfe<{}>({a}, {at}, {count})", ty.cpp))
        }
        "bfi" if is_bits && ty.bits >= 32 => {
            i.only(&[])?;
            i.with_count(5)?;
            let (a, b) = (i.value(1, ty)?, i.value(2, ty)?);
            let (at, count) = (i.value(3, B32)?, i.value(4, B32)?);
            i.set(&format!(
                "croq::ptx_bfi<{}>({a}, {b}, {at}, {count})",
                ty.cpp
            ))
        }
        "lop3" if ty == B32 => {
            i.only(&[])?;
            i.apply(base, ty, 4)
        }
        "prmt" if ty == B32 => {
            i.only(&[])?;
            i.with_count(4)?;
            let (a, b, c) = (i.value(1, ty)?, i.value(2, ty)?, i.value(3, ty)?);
            i.set(&format!("__byte_perm({a}, {b}, {c})"))
        }
        _ => None,
    }
}

/// Functions of floats.
pub fn approximated(i: &Scope<'_>) -> Option<String> {
    let ty = i.ty().filter(|ty| ty.is_float())?;
    let exact = matches!(i.base(), "rcp" | "sqrt") && i.has("rn");
    let approximate = ty.bits == 32 && i.has("approx");
    if exact == approximate {
        return None;
    }
    i.only(&["rn", "approx", "ftz"])?;
    i.apply_float(i.base(), ty, 1)
}
