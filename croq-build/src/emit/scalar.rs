//! Element and scalar types, and literals of them, as C++.

use crate::ir::{Param, ParamKind, Scalar};

/// The type's name, valid in a declaration and as a template argument.
pub fn cpp(ty: Scalar) -> &'static str {
    ty.info().cpp
}

pub fn of_param(param: &Param) -> Option<Scalar> {
    match param.kind {
        ParamKind::Scalar { ty, .. } => Some(ty),
        _ => None,
    }
}

/// The unsigned type in which arithmetic of an integer type wraps without undefined behaviour.
pub fn wrapping_domain(ty: Scalar) -> Option<&'static str> {
    match ty {
        Scalar::S32 => Some("unsigned"),
        Scalar::S64 => Some("unsigned long long"),
        // C++ computes these types in `int`.
        _ if ty.is_integer() && ty.bytes() < 4 => Some("unsigned"),
        _ => None,
    }
}

/// An integer literal with exactly the type `ty`.
pub fn integer(value: i128, ty: Scalar) -> String {
    match ty {
        Scalar::S32 if value == i128::from(i32::MIN) => "(-2147483647 - 1)".to_owned(),
        Scalar::S32 => value.to_string(),
        Scalar::S64 | Scalar::Index if value == i128::from(i64::MIN) => {
            "(-9223372036854775807LL - 1)".to_owned()
        }
        Scalar::S64 => format!("{value}LL"),
        Scalar::Index => value.to_string(),
        Scalar::U32 => format!("{value}u"),
        Scalar::U64 => format!("{value}ull"),
        Scalar::Bool => (value != 0).to_string(),
        _ => format!("{}({value})", cast(ty)),
    }
}

/// A floating literal with exactly the type `ty`: the shortest decimal that is read as the value
/// rounded to the type.
pub fn float(value: f64, ty: Scalar) -> String {
    let text = |value: f64| match value {
        v if v.is_nan() => "croq::nan".to_owned(),
        v if v.is_infinite() => if v > 0.0 {
            "croq::infinity"
        } else {
            "-croq::infinity"
        }
        .to_owned(),
        v => format!("{v:?}"),
    };
    // One rounding, from f64 to f32; the narrow types are rounded from f32's decimal.
    #[allow(clippy::cast_possible_truncation)]
    let single = match (ty, ty.format()) {
        (Scalar::Tf32, Some(format)) => format.nearest(value) as f32,
        _ => value as f32,
    };
    let single = if single.is_finite() {
        format!("{single:?}f")
    } else {
        text(f64::from(single))
    };
    match ty {
        Scalar::F64 if value.is_finite() => text(value),
        Scalar::F64 => format!("double({})", text(value)),
        Scalar::F32 | Scalar::Tf32 => single,
        _ => format!("croq::to<{}>({})", cpp(ty), text(value)),
    }
}

/// The spelling of a C-style or functional cast to `ty`, to be followed by a parenthesis.
pub fn cast(ty: Scalar) -> String {
    let name = cpp(ty);
    if name.contains(' ') {
        format!("({name})")
    } else {
        name.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_have_the_type_and_value_they_stand_for() {
        assert_eq!(integer(-7, Scalar::S32), "-7");
        assert_eq!(
            integer(i128::from(i64::MIN), Scalar::S64),
            "(-9223372036854775807LL - 1)"
        );
        assert_eq!(integer(5, Scalar::U8), "(unsigned char)(5)");
        assert_eq!(integer(5, Scalar::S16), "short(5)");
        assert_eq!(float(0.1, Scalar::F32), "0.1f");
        assert_eq!(float(0.1, Scalar::F64), "0.1");
        assert_eq!(float(0.1, Scalar::Tf32), "0.099975586f");
        assert_eq!(float(1e30, Scalar::F32), "1e30f");
        assert_eq!(float(1e300, Scalar::F32), "croq::infinity");
        assert_eq!(
            float(f64::NEG_INFINITY, Scalar::F64),
            "double(-croq::infinity)"
        );
        assert_eq!(float(0.5, Scalar::F16), "croq::to<croq::f16>(0.5)");
    }
}
