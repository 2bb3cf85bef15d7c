//! "Comparison and Selection Instructions": `setp`, `set`, and `testp`.

use std::cmp::Ordering;

use super::super::decode::{Form, Predicate, Refusal, Words};
use super::super::lanewise::{Decoded, unary};
use super::super::registers::{Lane, Mask, Registers};
use super::round::{BF16, F16};
use crate::parse::{Operand, Type};

pub fn decode(form: &Form<'_>) -> Decoded {
    match form.opcode() {
        "setp" => set_predicate(form),
        "set" => set_value(form),
        _ => test(form),
    }
}

const COMPARISONS: [&str; 18] = [
    "eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu", "gtu",
    "geu", "num", "nan",
];

/// What an ordering must be; `None` stands for unordered.
type Test = fn(Option<Ordering>) -> bool;

fn comparison(form: &Form<'_>, word: &str, ty: Type) -> Result<Test, Refusal> {
    use Ordering::{Equal, Greater, Less};
    let unsigned = matches!(ty, Type::U8 | Type::U16 | Type::U32 | Type::U64);
    let float = !ty.is_integer() && !matches!(ty, Type::B16 | Type::B32 | Type::B64);
    let bits = matches!(ty, Type::B16 | Type::B32 | Type::B64);
    let legal = match word {
        "eq" | "ne" => true,
        "lt" | "le" | "gt" | "ge" => !bits,
        "lo" | "ls" | "hi" | "hs" => unsigned,
        _ => float,
    };
    if !legal {
        return Err(form.refuse(format!("`.{word}` of `.{ty}`")));
    }
    Ok(match word {
        "eq" => |o| o == Some(Equal),
        "ne" => |o| matches!(o, Some(Less | Greater)),
        "lt" | "lo" => |o| o == Some(Less),
        "le" | "ls" => |o| matches!(o, Some(Less | Equal)),
        "gt" | "hi" => |o| o == Some(Greater),
        "ge" | "hs" => |o| matches!(o, Some(Greater | Equal)),
        "equ" => |o| matches!(o, None | Some(Equal)),
        "neu" => |o| o != Some(Equal),
        "ltu" => |o| matches!(o, None | Some(Less)),
        "leu" => |o| o != Some(Greater),
        "gtu" => |o| matches!(o, None | Some(Greater)),
        "geu" => |o| o != Some(Less),
        "num" => |o| o.is_some(),
        _ => |o| o.is_none(),
    })
}

/// The lanes of which the comparison holds.
type Compare = Box<dyn Fn(&Registers) -> Mask + Send + Sync>;

fn rows<T: Lane>(
    form: &Form<'_>,
    (a, b): (&Operand, &Operand),
    order: impl Fn(T, T) -> Option<Ordering> + Send + Sync + 'static,
    test: Test,
) -> Result<Compare, Refusal> {
    let (a, b) = (form.source::<T>(a)?, form.source::<T>(b)?);
    Ok(Box::new(move |registers| {
        let (a, b) = (a.row(registers), b.row(registers));
        (0..32).fold(0, |mask, lane| {
            mask | u32::from(test(order(a[lane], b[lane]))) << lane
        })
    }))
}

fn compare(
    form: &Form<'_>,
    ty: Type,
    operands: (&Operand, &Operand),
    words: &mut Words<'_>,
) -> Result<Compare, Refusal> {
    let word = words.required(&COMPARISONS)?;
    let test = comparison(form, word, ty)?;
    let flush = matches!(ty, Type::F32 | Type::F16) && words.flag("ftz");
    let flushed = move |value: f32| {
        if flush && value.is_subnormal() {
            0.0
        } else {
            value
        }
    };
    match ty {
        Type::B16 | Type::U16 => rows(form, operands, |a: u16, b| Some(a.cmp(&b)), test),
        Type::B32 | Type::U32 => rows(form, operands, |a: u32, b| Some(a.cmp(&b)), test),
        Type::B64 | Type::U64 => rows(form, operands, |a: u64, b| Some(a.cmp(&b)), test),
        Type::S16 => rows(form, operands, |a: i16, b| Some(a.cmp(&b)), test),
        Type::S32 => rows(form, operands, |a: i32, b| Some(a.cmp(&b)), test),
        Type::S64 => rows(form, operands, |a: i64, b| Some(a.cmp(&b)), test),
        Type::F32 => rows(
            form,
            operands,
            move |a: f32, b| flushed(a).partial_cmp(&flushed(b)),
            test,
        ),
        Type::F64 => rows(form, operands, |a: f64, b| a.partial_cmp(&b), test),
        Type::F16 if !flush => rows(
            form,
            operands,
            |a: u16, b| F16.widen(a.into()).partial_cmp(&F16.widen(b.into())),
            test,
        ),
        Type::Bf16 => rows(
            form,
            operands,
            |a: u16, b| BF16.widen(a.into()).partial_cmp(&BF16.widen(b.into())),
            test,
        ),
        other => Err(form.refuse(format!("the type `.{other}`"))),
    }
}

/// `.and`, `.or`, `.xor` with a predicate operand.
fn combination(
    form: &Form<'_>,
    words: &mut Words<'_>,
) -> Result<Option<(fn(Mask, Mask) -> Mask, Predicate)>, Refusal> {
    let f: fn(Mask, Mask) -> Mask = match words.choice(&["and", "or", "xor"]) {
        None => return form.count(3).map(|()| None),
        Some("and") => |a, b| a & b,
        Some("or") => |a, b| a | b,
        Some(_) => |a, b| a ^ b,
    };
    form.count(4)?;
    Ok(Some((f, form.predicate(form.operand(3)?)?)))
}

fn set_predicate(form: &Form<'_>) -> Decoded {
    let mut words = form.words();
    let ty = words.ty()?;
    let combined = combination(form, &mut words)?;
    let holds = compare(form, ty, (form.operand(1)?, form.operand(2)?), &mut words)?;
    words.finish()?;
    let index = |operand: &Operand| match operand {
        Operand::Sink => Ok(None),
        other => form.destination::<bool>(other).map(Some),
    };
    let (p, q) = match form.operand(0)? {
        Operand::Pair(p, q) => (index(p)?, index(q)?),
        p => (index(p)?, None),
    };
    Ok(Box::new(move |registers, mask| {
        let holds = holds(registers);
        let (yes, no) = match &combined {
            None => (holds, !holds),
            Some((f, c)) => {
                let c = c.lanes(registers);
                (f(holds, c), f(!holds, c))
            }
        };
        if let Some(p) = p {
            registers.set_predicate(p, mask, yes);
        }
        if let Some(q) = q {
            registers.set_predicate(q, mask, no);
        }
    }))
}

fn set_value(form: &Form<'_>) -> Decoded {
    let mut words = form.words();
    let (result, ty) = (words.ty()?, words.ty()?);
    let combined = combination(form, &mut words)?;
    let holds = compare(form, ty, (form.operand(1)?, form.operand(2)?), &mut words)?;
    words.finish()?;
    let truth: u32 = match result {
        Type::U32 | Type::S32 => u32::MAX,
        Type::F32 => 1.0_f32.to_bits(),
        other => return Err(form.refuse(format!("the result type `.{other}`"))),
    };
    let d = form.destination::<u32>(form.operand(0)?)?;
    Ok(Box::new(move |registers, mask| {
        let holds = holds(registers);
        let holds = match &combined {
            None => holds,
            Some((f, c)) => f(holds, c.lanes(registers)),
        };
        let row = std::array::from_fn(|lane| if holds >> lane & 1 == 1 { truth } else { 0 });
        u32::put(registers, d, mask, &row);
    }))
}

/// "Positive and negative zero are considered normal numbers."
fn test(form: &Form<'_>) -> Decoded {
    macro_rules! test_of {
        ($float:ty, $word:expr) => {
            match $word {
                "finite" => unary(form, |a: $float| a.is_finite()),
                "infinite" => unary(form, |a: $float| a.is_infinite()),
                "number" => unary(form, |a: $float| !a.is_nan()),
                "notanumber" => unary(form, |a: $float| a.is_nan()),
                "normal" => unary(form, |a: $float| a.is_normal() || a == 0.0),
                _ => unary(form, |a: $float| a.is_subnormal()),
            }
        };
    }
    let mut words = form.words();
    let kinds = [
        "finite",
        "infinite",
        "number",
        "notanumber",
        "normal",
        "subnormal",
    ];
    let word = words.required(&kinds)?;
    let ty = words.ty()?;
    words.finish()?;
    match ty {
        Type::F32 => test_of!(f32, word),
        Type::F64 => test_of!(f64, word),
        other => Err(form.refuse(format!("the type `.{other}`"))),
    }
}
