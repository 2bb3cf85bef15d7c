//! "Half Precision Floating Point Instructions": f16, bf16, and pairs of them in 32 bits.
//!
//! Operands are widened to f64, where sums of products are rounded to odd and everything else is
//! exact, and results are rounded once.

use super::super::decode::Form;
use super::super::lanewise::{Decoded, binary, ternary, unary};
use super::float::ordered;
use super::round::{self, BF16, F16, Format, Mode};
use crate::parse::Type;

#[derive(Clone, Copy)]
struct Finish {
    format: &'static Format,
    flush: bool,
    saturate: bool,
    relu: bool,
}

impl Finish {
    fn operand(self, bits: u16) -> f64 {
        let value = self.format.widen(u64::from(bits));
        if self.flush && value.abs() < smallest_normal(self.format) {
            0.0_f64.copysign(value)
        } else {
            value
        }
    }

    fn result(self, value: f64) -> u16 {
        if value.is_nan() {
            return match self.saturate {
                true => 0,
                false => self.format.nan as u16,
            };
        }
        let value = match value {
            value if self.saturate => value.clamp(0.0, 1.0) + 0.0,
            value if self.relu => value.max(0.0) + 0.0,
            value => value,
        };
        let bits = self.format.round_f64(value, Mode::Even) as u16;
        if self.flush && self.operand(bits) == 0.0 {
            return bits & 0x8000;
        }
        bits
    }
}

fn smallest_normal(format: &Format) -> f64 {
    round::power_of_two(format.least + format.precision - 1)
}

/// An operation on one element, as wide as it needs.
type Operation = fn(&[f64]) -> f64;

pub fn decode(form: &Form<'_>) -> Decoded {
    let mut words = form.words();
    let ty = words.ty()?;
    let format = match ty {
        Type::F16 | Type::F16x2 => &F16,
        _ => &BF16,
    };
    let opcode = form.opcode();
    let rounds = matches!(opcode, "add" | "sub" | "mul" | "fma");
    if rounds {
        words.flag("rn");
    }
    let finish = Finish {
        format,
        flush: format == &F16 && words.flag("ftz"),
        saturate: rounds && format == &F16 && words.flag("sat"),
        relu: opcode == "fma" && words.flag("relu"),
    };
    let extreme = matches!(opcode, "min" | "max");
    let propagates = extreme && words.flag("NaN");
    words.finish()?;
    let packed = matches!(ty, Type::F16x2 | Type::Bf16x2);
    if matches!(opcode, "abs" | "neg") {
        return sign(form, finish, packed);
    }
    let operation: Operation = match (opcode, propagates) {
        ("add", _) => |v| round::sum(at(v, 0), at(v, 1)),
        ("sub", _) => |v| round::sum(at(v, 0), -at(v, 1)),
        ("mul", _) => |v| at(v, 0) * at(v, 1),
        ("fma", _) => |v| round::sum(at(v, 0) * at(v, 1), at(v, 2)),
        ("min", false) => |v| ordered(at(v, 0), at(v, 1), false, false),
        ("max", false) => |v| ordered(at(v, 0), at(v, 1), true, false),
        ("min", true) => |v| ordered(at(v, 0), at(v, 1), false, true),
        ("max", true) => |v| ordered(at(v, 0), at(v, 1), true, true),
        _ => return Err(form.refuse("half precision")),
    };
    let one =
        move |bits: [u16; 3]| finish.result(operation(&bits.map(|bits| finish.operand(bits))));
    match (packed, opcode) {
        (false, "fma") => ternary(form, move |a, b, c| one([a, b, c])),
        (false, _) => binary(form, move |a, b| one([a, b, 0])),
        (true, "fma") => ternary(form, move |a, b, c| both([a, b, c], one)),
        (true, _) => binary(form, move |a, b| both([a, b, 0], one)),
    }
}

fn at(values: &[f64], index: usize) -> f64 {
    values.get(index).copied().unwrap_or(0.0)
}

/// The operation on both halves of 32 bits.
fn both(operands: [u32; 3], one: impl Fn([u16; 3]) -> u16) -> u32 {
    let low = one(operands.map(|bits| bits as u16));
    let high = one(operands.map(|bits| (bits >> 16) as u16));
    u32::from(high) << 16 | u32::from(low)
}

/// `abs` and `neg` change the sign bit, of NaNs too.
fn sign(form: &Form<'_>, finish: Finish, packed: bool) -> Decoded {
    let negates = form.opcode() == "neg";
    let one = move |bits: u16| {
        let bits = match finish.flush && finish.operand(bits) == 0.0 {
            true => bits & 0x8000,
            false => bits,
        };
        if negates {
            bits ^ 0x8000
        } else {
            bits & 0x7fff
        }
    };
    if packed {
        unary(form, move |a: u32| both([a, 0, 0], |[a, _, _]| one(a)))
    } else {
        unary(form, one)
    }
}
