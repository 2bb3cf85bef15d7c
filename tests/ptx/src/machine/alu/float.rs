//! "Floating Point Instructions" of single and double precision.
//!
//! Directed rounding of doubles is implemented for sums only; products and quotients are refused.

use super::super::decode::{Form, Refusal};
use super::super::lanewise::{Decoded, binary, ternary, unary};
use super::super::registers::Lane;
use super::round::{self, F32, Mode};

pub const CANONICAL: f32 = f32::from_bits(0x7fff_ffff);

/// What modifiers say about operands and results.
#[derive(Clone, Copy)]
pub struct Finish {
    pub flush: bool,
    pub saturate: bool,
}

impl Finish {
    /// `.ftz`: a subnormal operand counts as a zero of its sign.
    #[inline]
    pub fn operand(self, value: f32) -> f32 {
        if self.flush && value.is_subnormal() {
            0.0_f32.copysign(value)
        } else {
            value
        }
    }

    /// A subnormal result becomes a zero, a saturated one is from 0 to 1 and not NaN.
    #[inline]
    pub fn result(self, value: f32) -> f32 {
        let value = self.operand(value);
        if self.saturate {
            // NaN is not greater than 0 either.
            if value > 0.0 { value.min(1.0) } else { 0.0 }
        } else if value.is_nan() {
            CANONICAL
        } else {
            value
        }
    }
}

pub fn single(form: &Form<'_>) -> Decoded {
    let mut words = form.words();
    words.ty()?;
    let finish = Finish {
        flush: words.flag("ftz"),
        saturate: matches!(form.opcode(), "add" | "sub" | "mul" | "fma" | "mad")
            && words.flag("sat"),
    };
    match form.opcode() {
        "min" | "max" => return extreme(form, finish.flush),
        "abs" => {
            words.finish()?;
            return unary(form, move |a: f32| finish.operand(a).abs());
        }
        "neg" => {
            words.finish()?;
            return unary(form, move |a: f32| -finish.operand(a));
        }
        "div" => {
            let kind = words.required(&["approx", "full", "rn", "rz", "rm", "rp"])?;
            words.finish()?;
            return quotient(form, kind, finish);
        }
        "rem" => return Err(form.refuse("floats")),
        _ => {}
    }
    let mode = words.choice(&Mode::WORDS).map_or(Mode::Even, Mode::parse);
    words.finish()?;
    match form.opcode() {
        "add" => sum(form, mode, finish, 1.0),
        "sub" => sum(form, mode, finish, -1.0),
        "mul" => product(form, mode, finish),
        _ => fused(form, mode, finish),
    }
}

/// A sum of two f64 that is exact but for the rounding to odd, as an f32.
#[inline]
fn rounded_sum(a: f64, b: f64, mode: Mode) -> f32 {
    let sum = round::sum(a, b);
    if mode == Mode::Even {
        return sum as f32;
    }
    // A sum that cancels is a negative zero when rounding down (IEEE 754, 6.3).
    if sum == 0.0 && a.is_sign_negative() != b.is_sign_negative() {
        return if mode == Mode::Down { -0.0 } else { 0.0 };
    }
    f32::from_bits(F32.round_f64(sum, mode) as u32)
}

fn sum(form: &Form<'_>, mode: Mode, finish: Finish, sign: f32) -> Decoded {
    let (flush, negate) = (finish, sign < 0.0);
    if mode == Mode::Even {
        return binary(form, move |a: f32, b: f32| {
            let (a, b) = (flush.operand(a), flush.operand(b));
            finish.result(if negate { a - b } else { a + b })
        });
    }
    binary(form, move |a: f32, b: f32| {
        let (a, b) = (finish.operand(a), finish.operand(b) * sign);
        finish.result(rounded_sum(f64::from(a), f64::from(b), mode))
    })
}

fn product(form: &Form<'_>, mode: Mode, finish: Finish) -> Decoded {
    if mode == Mode::Even {
        return binary(form, move |a: f32, b: f32| {
            finish.result(finish.operand(a) * finish.operand(b))
        });
    }
    binary(form, move |a: f32, b: f32| {
        let exact = f64::from(finish.operand(a)) * f64::from(finish.operand(b));
        finish.result(f32::from_bits(F32.round_f64(exact, mode) as u32))
    })
}

/// `fma`, and `mad` of floats, which has been the same since sm_20.
fn fused(form: &Form<'_>, mode: Mode, finish: Finish) -> Decoded {
    ternary(form, move |a: f32, b: f32, c: f32| {
        let (a, b, c) = (finish.operand(a), finish.operand(b), finish.operand(c));
        let exact = f64::from(a) * f64::from(b);
        finish.result(rounded_sum(exact, f64::from(c), mode))
    })
}

fn quotient(form: &Form<'_>, kind: &str, finish: Finish) -> Decoded {
    match kind {
        "approx" => binary(form, move |a: f32, b: f32| {
            let (a, b) = (finish.operand(a), finish.operand(b));
            // "For |b| in [2^126, 2^128], if a is infinity the result is NaN, otherwise 0."
            if b.is_finite() && b.abs() >= 8.507_059e37 {
                let zero = if a.is_infinite() {
                    f32::NAN
                } else {
                    0.0 * a * b.signum()
                };
                return finish.result(zero);
            }
            finish.result(a / b)
        }),
        "full" | "rn" => binary(form, move |a: f32, b: f32| {
            finish.result(finish.operand(a) / finish.operand(b))
        }),
        _ => {
            let mode = Mode::parse(kind);
            binary(form, move |a: f32, b: f32| {
                let exact = round::quotient(finish.operand(a), finish.operand(b));
                finish.result(f32::from_bits(F32.round_f64(exact, mode) as u32))
            })
        }
    }
}

/// `min` and `max` of two or three operands: a NaN only if all are, or with `.NaN` if one is;
/// −0 is below +0.
fn extreme(form: &Form<'_>, flush: bool) -> Decoded {
    let mut words = form.words();
    words.ty()?;
    words.flag("ftz");
    let propagates = words.flag("NaN");
    let xor_sign = words.flag("xorsign");
    let absolute = words.flag("abs");
    words.finish()?;
    let finish = Finish {
        flush,
        saturate: false,
    };
    let is_max = form.opcode() == "max";
    let pick = move |a: f32, b: f32| {
        let (mut a, mut b) = (finish.operand(a), finish.operand(b));
        let sign = a.is_sign_negative() != b.is_sign_negative();
        if absolute {
            (a, b) = (a.abs(), b.abs());
        }
        let picked = ordered(f64::from(a), f64::from(b), is_max, propagates) as f32;
        let picked = if picked.is_nan() { CANONICAL } else { picked };
        if xor_sign && !picked.is_nan() {
            picked.copysign(if sign { -1.0 } else { 1.0 })
        } else {
            picked
        }
    };
    match form.instruction.operands.len() {
        4 if !xor_sign => ternary(form, move |a, b, c| pick(pick(a, b), c)),
        _ => binary(form, pick),
    }
}

/// The smaller or the larger of two floats of any width.
pub fn ordered(a: f64, b: f64, is_max: bool, propagates: bool) -> f64 {
    if a.is_nan() || b.is_nan() {
        return match (propagates, a.is_nan()) {
            (true, _) => f64::NAN,
            (false, true) => b,
            (false, false) => a,
        };
    }
    let a_is_less = a < b || a == b && a.is_sign_negative();
    if a_is_less == is_max { b } else { a }
}

pub fn double(form: &Form<'_>) -> Decoded {
    let mut words = form.words();
    words.ty()?;
    let mode = match form.opcode() {
        "add" | "sub" => words.choice(&Mode::WORDS),
        "mul" | "fma" | "mad" | "div" => words.choice(&["rn"]),
        _ => None,
    };
    let mode = mode.map_or(Mode::Even, Mode::parse);
    words.finish()?;
    match form.opcode() {
        "add" if mode != Mode::Even => binary(form, move |a, b| round::sum_of_doubles(a, b, mode)),
        "sub" if mode != Mode::Even => {
            binary(form, move |a, b: f64| round::sum_of_doubles(a, -b, mode))
        }
        "add" => binary(form, |a: f64, b: f64| a + b),
        "sub" => binary(form, |a: f64, b: f64| a - b),
        "mul" => binary(form, |a: f64, b: f64| a * b),
        "fma" | "mad" => ternary(form, f64::mul_add),
        "div" => binary(form, |a: f64, b: f64| a / b),
        "min" => binary(form, |a, b| ordered(a, b, false, false)),
        "max" => binary(form, |a, b| ordered(a, b, true, false)),
        "abs" => unary(form, f64::abs),
        "neg" => unary(form, |a: f64| -a),
        _ => Err(form.refuse("floats")),
    }
}

/// For instructions that have an exact f64 result: one rounding to an f32.
pub fn once<A: Lane>(
    form: &Form<'_>,
    finish: Finish,
    f: impl Fn(A) -> f64 + Send + Sync + 'static,
) -> Result<super::Lanewise, Refusal> {
    unary(form, move |a: A| finish.result(f(a) as f32))
}
