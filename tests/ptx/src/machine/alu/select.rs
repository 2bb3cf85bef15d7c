//! `selp`, `slct`, `copysign`, and `mov` between registers.

use super::super::decode::{Form, Refusal};
use super::super::lanewise::{Decoded, binary, ternary, unary};
use super::super::registers::{Bank, LANES, Lane, Registers, Row, each};
use crate::parse::{Operand, Type};

pub fn decode(form: &Form<'_>) -> Decoded {
    match form.opcode() {
        "selp" => select(form),
        "slct" => by_sign(form),
        "copysign" => copy_sign(form),
        _ => copy(form),
    }
}

fn select(form: &Form<'_>) -> Decoded {
    fn rows<T: Lane>(form: &Form<'_>) -> Decoded {
        form.count(4)?;
        let d = form.destination::<T>(form.operand(0)?)?;
        let a = form.source::<T>(form.operand(1)?)?;
        let b = form.source::<T>(form.operand(2)?)?;
        let c = form.predicate(form.operand(3)?)?;
        Ok(Box::new(move |registers, mask| {
            let (a, b, c) = (a.row(registers), b.row(registers), c.lanes(registers));
            let row = each(|lane| if c >> lane & 1 == 1 { a[lane] } else { b[lane] });
            T::put(registers, d, mask, &row);
        }))
    }
    let mut words = form.words();
    let ty = words.ty()?;
    words.finish()?;
    match ty {
        Type::F32 => rows::<f32>(form),
        Type::F64 => rows::<f64>(form),
        Type::B16 | Type::U16 | Type::S16 => rows::<u16>(form),
        Type::B32 | Type::U32 | Type::S32 => rows::<u32>(form),
        Type::B64 | Type::U64 | Type::S64 => rows::<u64>(form),
        other => Err(form.refuse(format!("the type `.{other}`"))),
    }
}

/// A NaN selects b: it is not greater than or equal to zero.
fn by_sign(form: &Form<'_>) -> Decoded {
    macro_rules! rows {
        ($value:ty, $by:ty, $zeroed:expr) => {
            ternary(form, move |a: $value, b: $value, c: $by| {
                let c = $zeroed(c);
                if c >= <$by>::default() { a } else { b }
            })
        };
    }
    let mut words = form.words();
    let (ty, by) = (words.ty()?, words.ty()?);
    let flush = by == Type::F32 && words.flag("ftz");
    words.finish()?;
    let zeroed = move |c: f32| if flush && c.is_subnormal() { 0.0 } else { c };
    match (ty.bytes(), by) {
        (2, Type::S32) => rows!(u16, i32, |c| c),
        (4, Type::S32) => rows!(u32, i32, |c| c),
        (8, Type::S32) => rows!(u64, i32, |c| c),
        (2, Type::F32) => rows!(u16, f32, zeroed),
        (4, Type::F32) => rows!(u32, f32, zeroed),
        (8, Type::F32) => rows!(u64, f32, zeroed),
        _ => Err(form.refuse(format!("the types `.{ty}.{by}`"))),
    }
}

/// The sign of a, the rest of b.
fn copy_sign(form: &Form<'_>) -> Decoded {
    let mut words = form.words();
    let ty = words.ty()?;
    words.finish()?;
    match ty {
        Type::F32 => binary(form, |a: f32, b: f32| b.copysign(a)),
        Type::F64 => binary(form, |a: f64, b: f64| b.copysign(a)),
        other => Err(form.refuse(format!("the type `.{other}`"))),
    }
}

fn copy(form: &Form<'_>) -> Decoded {
    let mut words = form.words();
    let ty = words.ty()?;
    words.finish()?;
    form.count(2)?;
    match (form.operand(0)?, form.operand(1)?) {
        (Operand::Vector(parts), whole) => unpack(form, parts, whole),
        (whole, Operand::Vector(parts)) => pack(form, whole, parts),
        _ => match ty {
            Type::Pred => copy_predicate(form),
            Type::B16 | Type::U16 | Type::S16 => unary(form, |a: u16| a),
            Type::B32 | Type::U32 | Type::S32 => unary(form, |a: u32| a),
            Type::B64 | Type::U64 | Type::S64 => unary(form, |a: u64| a),
            Type::F32 => unary(form, |a: f32| a),
            Type::F64 => unary(form, |a: f64| a),
            other => Err(form.refuse(format!("the type `.{other}`"))),
        },
    }
}

fn copy_predicate(form: &Form<'_>) -> Decoded {
    let d = form.destination::<bool>(form.operand(0)?)?;
    let a = form.predicate(form.operand(1)?)?;
    Ok(Box::new(move |registers, mask| {
        let value = a.lanes(registers);
        registers.set_predicate(d, mask, value);
    }))
}

/// A register or constant of any width, as bits.
#[derive(Clone, Copy)]
enum Part {
    Register(Bank, usize),
    Constant(u64),
    /// `_`, of a destination.
    Nothing,
}

impl Part {
    fn row(self, registers: &Registers) -> Row<u64> {
        match self {
            Part::Register(Bank::B16, index) => u16::row(registers, index).map(u64::from),
            Part::Register(Bank::B32, index) => u32::row(registers, index).map(u64::from),
            Part::Register(_, index) => u64::row(registers, index),
            Part::Constant(value) => [value; LANES],
            Part::Nothing => [0; LANES],
        }
    }

    fn put(self, registers: &mut Registers, mask: u32, row: &Row<u64>) {
        match self {
            Part::Register(Bank::B16, index) => {
                u16::put(registers, index, mask, &row.map(|bits| bits as u16));
            }
            Part::Register(Bank::B32, index) => {
                u32::put(registers, index, mask, &row.map(|bits| bits as u32));
            }
            Part::Register(_, index) => u64::put(registers, index, mask, row),
            Part::Constant(_) | Part::Nothing => {}
        }
    }
}

/// A part of that many bits.
fn part(form: &Form<'_>, operand: &Operand, bits: usize) -> Result<Part, Refusal> {
    let part = match operand {
        Operand::Integer(value) => return Ok(Part::Constant(*value & (u64::MAX >> (64 - bits)))),
        Operand::Float(value) if bits == 32 => return Ok(Part::Constant(u64::from(*value))),
        Operand::Sink => return Ok(Part::Nothing),
        register => form.slot_of(register)?,
    };
    match part.bank.bits() {
        found if found == bits => Ok(Part::Register(part.bank, part.index)),
        found => Err(form.refuse(format!("a part of {found} bits, not {bits}"))),
    }
}

/// The width of the parts of a register with `count` parts.
fn split(form: &Form<'_>, whole: &Operand, count: usize) -> Result<(Part, usize), Refusal> {
    let slot = form.slot_of(whole)?;
    let bits = slot.bank.bits();
    match (bits, count) {
        (32, 2) | (64, 2 | 4) => Ok((Part::Register(slot.bank, slot.index), bits / count)),
        _ => Err(form.refuse(format!("{count} parts of {bits} bits"))),
    }
}

/// The first part is the least significant.
fn unpack(form: &Form<'_>, parts: &[Operand], whole: &Operand) -> Decoded {
    let (whole, bits) = split(form, whole, parts.len())?;
    let parts: Result<Vec<_>, _> = parts
        .iter()
        .map(|operand| part(form, operand, bits))
        .collect();
    let parts = parts?;
    Ok(Box::new(move |registers, mask| {
        let row = whole.row(registers);
        for (index, part) in parts.iter().enumerate() {
            part.put(registers, mask, &row.map(|value| value >> (index * bits)));
        }
    }))
}

fn pack(form: &Form<'_>, whole: &Operand, parts: &[Operand]) -> Decoded {
    let (whole, bits) = split(form, whole, parts.len())?;
    if parts.contains(&Operand::Sink) {
        return Err(form.refuse("`_` in place of a source"));
    }
    let parts: Result<Vec<_>, _> = parts
        .iter()
        .map(|operand| part(form, operand, bits))
        .collect();
    let parts = parts?;
    Ok(Box::new(move |registers, mask| {
        let mut row = [0; LANES];
        for (index, part) in parts.iter().enumerate() {
            let values = part.row(registers);
            for (whole, value) in row.iter_mut().zip(values) {
                *whole |= value << (index * bits);
            }
        }
        whole.put(registers, mask, &row);
    }))
}
