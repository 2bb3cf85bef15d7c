//! `rcp`, `sqrt`, `rsqrt`, `ex2`, `lg2`, `sin`, `cos`, `tanh`.
//!
//! The ISA gives errors for the approximate forms (`ex2`: 2 ulp; `rcp`, `rsqrt`: 1 or 2^-22.9
//! relative; `lg2`: 2^-22; `sin`, `cos`: 2^-20.9 absolute from -pi to pi; `tanh`: 2^-11
//! relative). Here each is the f64 result, rounded once. Hardware may differ by that error, and
//! programs may not rely on less.

use super::super::decode::Form;
use super::super::lanewise::{Decoded, unary};
use super::float::{Finish, once};
use super::round::{self, BF16, F16, F32, Format, Mode};
use crate::parse::Type;

pub fn decode(form: &Form<'_>) -> Decoded {
    let mut words = form.words();
    let ty = words.ty()?;
    let approximate = words.flag("approx");
    let mode = match approximate {
        true => None,
        false => words.choice(&Mode::WORDS).map(Mode::parse),
    };
    let finish = Finish {
        flush: words.flag("ftz"),
        saturate: false,
    };
    words.finish()?;
    match (ty, approximate, mode) {
        (Type::F32, true, _) => single(form, finish),
        (Type::F32, false, Some(mode)) => rounded(form, mode, finish),
        (Type::F64, false, Some(Mode::Even)) if !finish.flush => match form.opcode() {
            "rcp" => unary(form, |a: f64| 1.0 / a),
            "sqrt" => unary(form, f64::sqrt),
            _ => Err(form.refuse("this rounding")),
        },
        (Type::F64, true, _) => gross(form, finish.flush),
        (Type::F16 | Type::F16x2, true, _) => narrow(form, &F16, ty == Type::F16x2),
        (Type::Bf16 | Type::Bf16x2, true, _) => narrow(form, &BF16, ty == Type::Bf16x2),
        _ => Err(form.refuse("this rounding of its type")),
    }
}

fn single(form: &Form<'_>, finish: Finish) -> Decoded {
    let f = function(form.opcode());
    once(form, finish, move |a: f32| f(f64::from(finish.operand(a))))
}

fn function(opcode: &str) -> fn(f64) -> f64 {
    match opcode {
        "rcp" => |a| 1.0 / a,
        "sqrt" => f64::sqrt,
        "rsqrt" => |a| 1.0 / a.sqrt(),
        "ex2" => f64::exp2,
        "lg2" => f64::log2,
        "sin" => f64::sin,
        "cos" => f64::cos,
        _ => f64::tanh,
    }
}

fn rounded(form: &Form<'_>, mode: Mode, finish: Finish) -> Decoded {
    let f: fn(f32) -> f64 = match form.opcode() {
        "rcp" => |a| round::quotient(1.0, a),
        "sqrt" => round::square_root,
        _ => return Err(form.refuse("a rounding")),
    };
    unary(form, move |a: f32| {
        let exact = f(finish.operand(a));
        finish.result(f32::from_bits(F32.round_f64(exact, mode) as u32))
    })
}

/// `rcp.approx.ftz.f64`, `rsqrt.approx.f64`, `rsqrt.approx.ftz.f64`: of the upper halves of operand
/// and result; the lower half of a result of the `.ftz` forms is zero.
fn gross(form: &Form<'_>, flush: bool) -> Decoded {
    const UPPER: u64 = 0xffff_ffff_0000_0000;
    let f: fn(f64) -> f64 = match (form.opcode(), flush) {
        ("rcp", true) => |a| 1.0 / a,
        ("rsqrt", true) => |a| 1.0 / a.sqrt(),
        ("rsqrt", false) => return unary(form, |a: f64| 1.0 / a.sqrt()),
        _ => return Err(form.refuse("this approximation of doubles")),
    };
    let zeroed = |a: f64| {
        if a.is_subnormal() {
            0.0_f64.copysign(a)
        } else {
            a
        }
    };
    unary(form, move |a: f64| {
        let a = zeroed(f64::from_bits(a.to_bits() & UPPER));
        let result = zeroed(f(a));
        if result.is_nan() {
            return result;
        }
        f64::from_bits(result.to_bits() & UPPER)
    })
}

/// `ex2` and `tanh` of half precision.
fn narrow(form: &Form<'_>, format: &'static Format, packed: bool) -> Decoded {
    if !matches!(form.opcode(), "ex2" | "tanh") {
        return Err(form.refuse("half precision"));
    }
    let f = function(form.opcode());
    let one = move |bits: u32| {
        let value = f(format.widen(u64::from(bits)));
        format.round_f64(value, Mode::Even) as u32
    };
    match packed {
        true => unary(form, move |a: u32| one(a & 0xffff) | one(a >> 16) << 16),
        false => unary(form, move |a: u16| one(u32::from(a)) as u16),
    }
}
