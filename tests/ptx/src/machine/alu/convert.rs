//! `cvt` between integers and floats ("Data Movement and Conversion Instructions: cvt").
//!
//! Operands may be wider than their type: a source is truncated to it, a result is extended to its
//! register by the sign of its type.

use super::super::decode::{Form, Refusal, Words};
use super::super::lanewise::{Decoded, unary};
use super::super::registers::{Bank, Lane};
use super::float::CANONICAL;
use super::narrow;
use super::round::{self, BF16, F16, F32, F64, Format, Mode};
use crate::parse::{Operand, Type};

#[derive(Clone, Copy)]
struct Conversion {
    to: Type,
    from: Type,
    /// For floats: how their digits are cut. For a float result of an integer operation too.
    mode: Mode,
    /// `.rni` and so on: to an integer, even in a float.
    integral: bool,
    flush: bool,
    saturate: bool,
    relu: bool,
    /// `.satfinite`
    finite: bool,
}

pub fn decode(form: &Form<'_>) -> Decoded {
    let modifiers = &form.instruction.mnemonic.modifiers;
    let unusual = |word: &String| word.contains("x2") || word == "tf32" || word == "pack";
    if modifiers.iter().any(unusual) || form.instruction.operands.len() != 2 {
        return narrow::decode(form);
    }
    let conversion = conversion(form, form.words())?;
    if let Some(fast) = fast(form, conversion) {
        return fast;
    }
    general(form, conversion)
}

fn format(ty: Type) -> Option<&'static Format> {
    Some(match ty {
        Type::F16 => &F16,
        Type::Bf16 => &BF16,
        Type::F32 => &F32,
        Type::F64 => &F64,
        _ => return None,
    })
}

fn conversion(form: &Form<'_>, mut words: Words<'_>) -> Result<Conversion, Refusal> {
    let (to, from) = (words.ty()?, words.ty()?);
    let supported = |ty: Type| ty.is_integer() || format(ty).is_some();
    if !supported(to) || !supported(from) {
        return Err(form.refuse(format!("the types `.{to}.{from}`")));
    }
    let integral = words.choice(&["rni", "rzi", "rmi", "rpi"]);
    let rounding = words.choice(&["rn", "rz", "rm", "rp", "rna"]);
    if rounding == Some("rna") || integral.is_some() && rounding.is_some() {
        return Err(form.refuse("this rounding"));
    }
    let narrow = matches!(to, Type::F16 | Type::Bf16) && from == Type::F32;
    let single = to == Type::F32 || from == Type::F32;
    let conversion = Conversion {
        to,
        from,
        mode: integral.or(rounding).map_or(Mode::Even, Mode::parse),
        integral: integral.is_some(),
        flush: single && words.flag("ftz"),
        saturate: words.flag("sat"),
        relu: narrow && words.flag("relu"),
        finite: narrow && words.flag("satfinite"),
    };
    words.finish()?;
    require_rounding(form, conversion, integral.is_some() || rounding.is_some())?;
    Ok(conversion)
}

/// The ISA requires a rounding where digits may be lost, and allows none elsewhere.
fn require_rounding(form: &Form<'_>, conversion: Conversion, present: bool) -> Result<(), Refusal> {
    let Conversion {
        to, from, integral, ..
    } = conversion;
    let required = match (format(to), format(from)) {
        (None, None) => false,
        (None, Some(_)) => integral || !present,
        (Some(_), None) => !integral,
        (Some(to), Some(from)) => to.precision < from.precision || to.least > from.least,
    };
    let same = to == from;
    match (format(to).is_some(), format(from).is_some()) {
        (false, true) if !integral => Err(form.refuse("its rounding is missing")),
        _ if required && !present => Err(form.refuse("its rounding is missing")),
        (false, false) if present => Err(form.refuse("a rounding of integers")),
        (true, true) if integral && !same => Err(form.refuse("an integer rounding of this pair")),
        _ => Ok(()),
    }
}

/// Frequent conversions, with all operands as wide as their types.
fn fast(form: &Form<'_>, conversion: Conversion) -> Option<Decoded> {
    use Type::{F16, F32, S32, S64, U16, U32, U64};
    let Conversion { to, from, .. } = conversion;
    let plain = !conversion.saturate && !conversion.flush && !conversion.relu && !conversion.finite;
    let exact = |index: usize, ty: Type| {
        let operand = form.operand(index).ok();
        let slot = operand.and_then(|operand| form.slot_of(operand).ok());
        slot.is_some_and(|slot| slot.bank.bits() == ty.bytes() * 8)
    };
    if !plain || !exact(0, to) || !exact(1, from) {
        return None;
    }
    Some(match (to, from) {
        (U64, U32) => unary(form, |a: u32| u64::from(a)),
        (S64, S32) => unary(form, |a: i32| i64::from(a)),
        (U32, U64) => unary(form, |a: u64| a as u32),
        (U32, U16) => unary(form, |a: u16| u32::from(a)),
        (U64, U16) => unary(form, |a: u16| u64::from(a)),
        (U16, U32) => unary(form, |a: u32| a as u16),
        (F32, S32) if conversion.mode == Mode::Even => unary(form, |a: i32| a as f32),
        (F32, F16) => unary(form, |a: u16| {
            let value = round::F16.widen(u64::from(a)) as f32;
            if value.is_nan() { CANONICAL } else { value }
        }),
        _ => return None,
    })
}

fn general(form: &Form<'_>, conversion: Conversion) -> Decoded {
    form.count(2)?;
    let bank = |operand: &Operand, ty: Type| match operand {
        Operand::Register(_) => {
            let bank = form.slot_of(operand)?.bank;
            match bank.bits() >= ty.bytes() * 8 {
                true => Ok(bank),
                false => Err(form.refuse("a register that is narrower than its type")),
            }
        }
        _ => Ok(match ty.bytes() {
            1 | 2 => Bank::B16,
            4 => Bank::B32,
            _ => Bank::B64,
        }),
    };
    let d = bank(form.operand(0)?, conversion.to)?;
    let a = bank(form.operand(1)?, conversion.from)?;
    macro_rules! from_to {
        ($to:ty, $from:ty) => {
            unary(form, move |a: $from| {
                <$to>::of_bits(convert(a.into(), conversion))
            })
        };
    }
    match (d, a) {
        (Bank::B16, Bank::B16) => from_to!(u16, u16),
        (Bank::B16, Bank::B32) => from_to!(u16, u32),
        (Bank::B16, Bank::B64) => from_to!(u16, u64),
        (Bank::B32, Bank::B16) => from_to!(u32, u16),
        (Bank::B32, Bank::B32) => from_to!(u32, u32),
        (Bank::B32, Bank::B64) => from_to!(u32, u64),
        (Bank::B64, Bank::B16) => from_to!(u64, u16),
        (Bank::B64, Bank::B32) => from_to!(u64, u32),
        (Bank::B64, Bank::B64) => from_to!(u64, u64),
        _ => Err(form.refuse("predicates")),
    }
}

/// The low bits of the operand → the result, extended to 64 bits.
fn convert(bits: u64, conversion: Conversion) -> u64 {
    match format(conversion.from) {
        None => from_integer(integer(bits, conversion.from), conversion),
        Some(from) => from_float(bits, from, conversion),
    }
}

fn integer(bits: u64, ty: Type) -> i128 {
    let unused = 64 - 8 * ty.bytes() as u32;
    match ty.is_signed() {
        true => i128::from((bits << unused).cast_signed() >> unused),
        false => i128::from(bits << unused >> unused),
    }
}

/// The smallest and the largest value of an integer type.
fn limits(ty: Type) -> (i128, i128) {
    let bits = 8 * ty.bytes() as u32;
    match ty.is_signed() {
        true => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        false => (0, (1 << bits) - 1),
    }
}

/// Extended to 64 bits by the sign of its type.
fn stored(value: i128, ty: Type) -> u64 {
    integer(value as u64, ty) as u64
}

fn from_integer(value: i128, conversion: Conversion) -> u64 {
    let Conversion { to, mode, .. } = conversion;
    let Some(format) = format(to) else {
        let (least, largest) = limits(to);
        return match conversion.saturate {
            true => stored(value.clamp(least, largest), to),
            false => stored(value, to),
        };
    };
    let value = if conversion.saturate {
        value.clamp(0, 1)
    } else {
        value
    };
    format.round(value < 0, value.unsigned_abs(), 0, mode)
}

fn from_float(bits: u64, from: &Format, conversion: Conversion) -> u64 {
    let mut value = from.widen(bits & (u64::MAX >> (63 - from.sign)));
    if conversion.flush && conversion.from == Type::F32 && (value as f32).is_subnormal() {
        value = 0.0_f64.copysign(value);
    }
    match format(conversion.to) {
        None => to_integer(value, conversion),
        Some(to) => to_float(value, to, conversion),
    }
}

/// Out of range is clamped. A NaN is zero, or the most significant bit alone where 64-bit types or
/// doubles are involved.
fn to_integer(value: f64, conversion: Conversion) -> u64 {
    let Conversion { to, from, mode, .. } = conversion;
    if value.is_nan() {
        return match to.bytes() == 8 || from == Type::F64 {
            true => stored(1 << (8 * to.bytes() - 1), to),
            false => 0,
        };
    }
    let (least, largest) = limits(to);
    let integer = match value {
        f64::INFINITY => largest,
        f64::NEG_INFINITY => least,
        finite => round::to_integer(finite, mode),
    };
    stored(integer.clamp(least, largest), to)
}

fn to_float(value: f64, to: &Format, conversion: Conversion) -> u64 {
    let mut value = value;
    if conversion.integral && value.is_finite() && value.abs() < 1e18 {
        let integer = round::to_integer(value, conversion.mode) as f64;
        value = integer.copysign(value);
    }
    if conversion.saturate {
        // NaN becomes 0.
        value = if value > 0.0 { value.min(1.0) } else { 0.0 };
    }
    if conversion.relu && value < 0.0 {
        value = 0.0;
    }
    let bits = to.round_f64(value, conversion.mode);
    let magnitude = bits & !(1 << to.sign);
    if conversion.finite && Some(magnitude) == to.infinity {
        return bits - 1;
    }
    let smallest_normal = 1 << (to.precision - 1);
    if conversion.flush && conversion.to == Type::F32 && magnitude < smallest_normal {
        return bits & 1 << to.sign;
    }
    bits
}
