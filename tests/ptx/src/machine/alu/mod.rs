//! Arithmetic, logic, comparisons, selections, conversions and moves of each lane on its own.
//!
//! Every file says which section of the PTX ISA ("Instruction Set") it implements. What the ISA
//! leaves to the implementation is decided as follows:
//!
//! - an integer divided by zero is all ones, a remainder by zero is the dividend;
//! - a NaN that a single-precision or narrower instruction computes is the canonical one
//!   (`0x7fffffff`, `0x7fff`);
//! - approximations are computed in f64 and rounded once, so that they are within any error that
//!   the ISA documents for them.

mod approximate;
mod bits;
mod compare;
mod convert;
mod float;
mod half;
mod integer;
mod narrow;
pub mod round;
mod select;
#[cfg(test)]
mod tests;

use super::decode::{Form, Refusal};
use super::lanewise::{Decoded, Lanewise};
use crate::parse::Type;

/// None for an opcode of another part of the machine.
pub fn decode(form: &Form<'_>) -> Result<Option<Lanewise>, Refusal> {
    let decoded = match form.opcode() {
        "add" | "sub" | "mul" | "mad" | "fma" | "div" | "rem" | "min" | "max" | "abs" | "neg" => {
            arithmetic(form)
        }
        "addc" | "subc" | "madc" => integer::carrying(form),
        "mul24" | "mad24" | "sad" | "dp4a" | "dp2a" | "vabsdiff4" => integer::special(form),
        "and" | "or" | "xor" | "not" | "cnot" | "shl" | "shr" | "shf" | "lop3" | "prmt" => {
            bits::logic(form)
        }
        "bfe" | "bfi" | "bfind" | "brev" | "clz" | "popc" | "bmsk" | "szext" | "fns" => {
            bits::field(form)
        }
        "setp" | "set" | "testp" => compare::decode(form),
        "selp" | "slct" | "mov" | "copysign" => select::decode(form),
        "cvt" => convert::decode(form),
        "rcp" | "sqrt" | "rsqrt" | "ex2" | "lg2" | "sin" | "cos" | "tanh" => {
            approximate::decode(form)
        }
        _ => return Ok(None),
    };
    decoded.map(Some)
}

/// Opcodes of integers and floats alike, by the first type.
fn arithmetic(form: &Form<'_>) -> Decoded {
    let ty = form.words().ty()?;
    let carries = form.instruction.mnemonic.has("cc");
    match ty {
        _ if carries => integer::carrying(form),
        Type::F32 => float::single(form),
        Type::F64 => float::double(form),
        Type::F16 | Type::Bf16 | Type::F16x2 | Type::Bf16x2 => half::decode(form),
        _ => integer::decode(form),
    }
}
