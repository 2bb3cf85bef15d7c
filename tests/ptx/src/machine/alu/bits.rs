//! "Logic and Shift Instructions", and the integer instructions that count, find and move bits.

use super::super::decode::Form;
use super::super::lanewise::{Decoded, binary, quaternary, ternary, unary};
use crate::parse::Type;

pub fn logic(form: &Form<'_>) -> Decoded {
    match form.opcode() {
        "shf" => return funnel(form),
        "lop3" => return table(form),
        "prmt" => return permute(form),
        _ => {}
    }
    let mut words = form.words();
    let ty = words.ty()?;
    words.finish()?;
    match (form.opcode(), ty) {
        ("shl" | "shr", _) => shift(form, ty),
        ("not", Type::Pred) => unary(form, |a: bool| !a),
        ("not", Type::B16) => unary(form, |a: u16| !a),
        ("not", Type::B32) => unary(form, |a: u32| !a),
        ("not", Type::B64) => unary(form, |a: u64| !a),
        ("cnot", Type::B16) => unary(form, |a: u16| u16::from(a == 0)),
        ("cnot", Type::B32) => unary(form, |a: u32| u32::from(a == 0)),
        ("cnot", Type::B64) => unary(form, |a: u64| u64::from(a == 0)),
        (_, Type::Pred) => predicates(form),
        ("and", Type::B16) => binary(form, |a: u16, b: u16| a & b),
        ("and", Type::B32) => binary(form, |a: u32, b: u32| a & b),
        ("and", Type::B64) => binary(form, |a: u64, b: u64| a & b),
        ("or", Type::B16) => binary(form, |a: u16, b: u16| a | b),
        ("or", Type::B32) => binary(form, |a: u32, b: u32| a | b),
        ("or", Type::B64) => binary(form, |a: u64, b: u64| a | b),
        ("xor", Type::B16) => binary(form, |a: u16, b: u16| a ^ b),
        ("xor", Type::B32) => binary(form, |a: u32, b: u32| a ^ b),
        ("xor", Type::B64) => binary(form, |a: u64, b: u64| a ^ b),
        (_, other) => Err(form.refuse(format!("the type `.{other}`"))),
    }
}

/// Whole masks at once; operands may be negated.
fn predicates(form: &Form<'_>) -> Decoded {
    form.count(3)?;
    let d = form.destination::<bool>(form.operand(0)?)?;
    let a = form.predicate(form.operand(1)?)?;
    let b = form.predicate(form.operand(2)?)?;
    let f: fn(u32, u32) -> u32 = match form.opcode() {
        "and" => |a, b| a & b,
        "or" => |a, b| a | b,
        "xor" => |a, b| a ^ b,
        _ => return Err(form.refuse("predicates")),
    };
    Ok(Box::new(move |registers, mask| {
        let value = f(a.lanes(registers), b.lanes(registers));
        registers.set_predicate(d, mask, value);
    }))
}

/// Amounts above the width shift everything out ("clamped").
fn shift(form: &Form<'_>, ty: Type) -> Decoded {
    match (form.opcode(), ty) {
        ("shl", Type::B16) => binary(form, |a: u16, n: u32| a.checked_shl(n).unwrap_or(0)),
        ("shl", Type::B32) => binary(form, |a: u32, n: u32| a.checked_shl(n).unwrap_or(0)),
        ("shl", Type::B64) => binary(form, |a: u64, n: u32| a.checked_shl(n).unwrap_or(0)),
        ("shr", Type::B16 | Type::U16) => {
            binary(form, |a: u16, n: u32| a.checked_shr(n).unwrap_or(0))
        }
        ("shr", Type::B32 | Type::U32) => {
            binary(form, |a: u32, n: u32| a.checked_shr(n).unwrap_or(0))
        }
        ("shr", Type::B64 | Type::U64) => {
            binary(form, |a: u64, n: u32| a.checked_shr(n).unwrap_or(0))
        }
        ("shr", Type::S16) => binary(form, |a: i16, n: u32| a >> n.min(15)),
        ("shr", Type::S32) => binary(form, |a: i32, n: u32| a >> n.min(31)),
        ("shr", Type::S64) => binary(form, |a: i64, n: u32| a >> n.min(63)),
        (_, other) => Err(form.refuse(format!("the type `.{other}`"))),
    }
}

/// `shf`: 64 bits of which b is the upper half.
fn funnel(form: &Form<'_>) -> Decoded {
    let mut words = form.words();
    let left = words.required(&["l", "r"])? == "l";
    let wraps = words.required(&["wrap", "clamp"])? == "wrap";
    let ty = words.ty()?;
    words.finish()?;
    if ty != Type::B32 {
        return Err(form.refuse(format!("the type `.{ty}`")));
    }
    ternary(form, move |a: u32, b: u32, c: u32| {
        let n = if wraps { c & 31 } else { c.min(32) };
        let both = u64::from(b) << 32 | u64::from(a);
        match left {
            true => (both << n >> 32) as u32,
            false => (both >> n) as u32,
        }
    })
}

fn table(form: &Form<'_>) -> Decoded {
    let mut words = form.words();
    let combined = words.choice(&["or", "and"]);
    let ty = words.ty()?;
    words.finish()?;
    if ty != Type::B32 || combined.is_some() {
        return Err(form.refuse("predicates and other types than `.b32`"));
    }
    let entries = form.immediate(form.operand(4)?)?;
    quaternary(form, move |a: u32, b: u32, c: u32, _: u32| {
        (0..8)
            .filter(|entry| entries >> entry & 1 == 1)
            .fold(0, |result, entry| {
                let pick = |value: u32, bit| if entry >> bit & 1 == 1 { value } else { !value };
                result | pick(a, 2) & pick(b, 1) & pick(c, 0)
            })
    })
}

fn permute(form: &Form<'_>) -> Decoded {
    let mut words = form.words();
    let mode = words.choice(&["f4e", "b4e", "rc8", "ecl", "ecr", "rc16"]);
    let ty = words.ty()?;
    words.finish()?;
    if ty != Type::B32 {
        return Err(form.refuse(format!("the type `.{ty}`")));
    }
    // The table of the ISA's section on `prmt`: the source bytes by mode and by the two lowest bits
    // of c, from the most significant byte of the result.
    let bytes: Option<[u16; 4]> = mode.map(|mode| match mode {
        "f4e" => [0x3210, 0x4321, 0x5432, 0x6543],
        "b4e" => [0x5670, 0x6701, 0x7012, 0x0123],
        "rc8" => [0x0000, 0x1111, 0x2222, 0x3333],
        "ecl" => [0x3210, 0x3211, 0x3222, 0x3333],
        "ecr" => [0x0000, 0x1110, 0x2210, 0x3210],
        _ => [0x1010, 0x3232, 0x1010, 0x3232],
    });
    ternary(form, move |a: u32, b: u32, c: u32| {
        let source = u64::from(b) << 32 | u64::from(a);
        let (control, signs) = match &bytes {
            None => (c & 0xffff, true),
            Some(table) => (u32::from(table[(c & 3) as usize]), false),
        };
        (0..4).fold(0, |result, index| {
            let selector = control >> (4 * index) & 0xf;
            let byte = (source >> (8 * (selector & 7))) as u8;
            let byte = match signs && selector & 8 != 0 {
                true => (byte.cast_signed() >> 7).cast_unsigned(),
                false => byte,
            };
            result | u32::from(byte) << (8 * index)
        })
    })
}

pub fn field(form: &Form<'_>) -> Decoded {
    let mut words = form.words();
    match form.opcode() {
        "bmsk" | "szext" => return masks(form),
        "bfind" => return find(form),
        _ => {}
    }
    let ty = words.ty()?;
    words.finish()?;
    match (form.opcode(), ty) {
        ("bfe", Type::U32) => ternary(form, |a: u32, pos, len| {
            extract(u64::from(a), (pos, len), 31, false) as u32
        }),
        ("bfe", Type::S32) => ternary(form, |a: u32, pos, len| {
            extract(u64::from(a), (pos, len), 31, true) as u32
        }),
        ("bfe", Type::U64) => ternary(form, |a: u64, pos, len| extract(a, (pos, len), 63, false)),
        ("bfe", Type::S64) => ternary(form, |a: u64, pos, len| extract(a, (pos, len), 63, true)),
        ("bfi", Type::B32) => quaternary(form, |a: u32, b: u32, pos, len| {
            insert(u64::from(a), u64::from(b), (pos, len), 31) as u32
        }),
        ("bfi", Type::B64) => quaternary(form, |a: u64, b: u64, pos, len| {
            insert(a, b, (pos, len), 63)
        }),
        ("brev", Type::B32) => unary(form, u32::reverse_bits),
        ("brev", Type::B64) => unary(form, u64::reverse_bits),
        ("clz", Type::B32) => unary(form, u32::leading_zeros),
        ("clz", Type::B64) => unary(form, u64::leading_zeros),
        ("popc", Type::B32) => unary(form, u32::count_ones),
        ("popc", Type::B64) => unary(form, u64::count_ones),
        ("fns", Type::B32) => ternary(form, nth_set),
        (_, other) => Err(form.refuse(format!("the type `.{other}`"))),
    }
}

/// The ISA's loop over bits, for all of them at once. Position and length are bytes.
fn extract(a: u64, (pos, len): (u32, u32), msb: u32, signed: bool) -> u64 {
    let (pos, len) = (pos & 0xff, len & 0xff);
    let sign_at = (pos + len).saturating_sub(1).min(msb);
    let sign = signed && len != 0 && a >> sign_at & 1 == 1;
    (0..=msb).fold(0, |d, i| {
        let bit = match i < len && pos + i <= msb {
            true => a >> (pos + i) & 1 == 1,
            false => sign,
        };
        d | u64::from(bit) << i
    })
}

fn insert(a: u64, b: u64, (pos, len): (u32, u32), msb: u32) -> u64 {
    let (pos, len) = (pos & 0xff, len & 0xff);
    let count = len.min((msb + 1).saturating_sub(pos));
    if count == 0 {
        return b;
    }
    let ones = u64::MAX >> (64 - count);
    b & !(ones << pos) | (a & ones) << pos
}

fn nth_set(mask: u32, base: u32, offset: i32) -> u32 {
    let is_set = |at: i64| mask >> at & 1 == 1;
    let base = i64::from(base.cast_signed());
    if !(0..32).contains(&base) {
        return u32::MAX;
    }
    let step = if offset < 0 { -1 } else { 1 };
    let mut left = if offset == 0 {
        1
    } else {
        offset.unsigned_abs()
    };
    let mut at = base;
    while (0..32).contains(&at) {
        if is_set(at) {
            left -= 1;
            if left == 0 {
                return at as u32;
            }
        }
        if offset == 0 {
            break;
        }
        at += step;
    }
    u32::MAX
}

fn find(form: &Form<'_>) -> Decoded {
    let mut words = form.words();
    let as_shift = words.flag("shiftamt");
    let ty = words.ty()?;
    words.finish()?;
    // Leading zeros of what is left when the sign bits are zeros.
    let found = move |leading: u32, bits: u32| match (leading == bits, as_shift) {
        (true, _) => u32::MAX,
        (false, true) => leading,
        (false, false) => bits - 1 - leading,
    };
    match ty {
        Type::U32 => unary(form, move |a: u32| found(a.leading_zeros(), 32)),
        Type::U64 => unary(form, move |a: u64| found(a.leading_zeros(), 64)),
        Type::S32 => unary(form, move |a: i32| {
            found((a ^ (a >> 31)).leading_zeros(), 32)
        }),
        Type::S64 => unary(form, move |a: i64| {
            found((a ^ (a >> 63)).leading_zeros(), 64)
        }),
        other => Err(form.refuse(format!("the type `.{other}`"))),
    }
}

/// `bmsk` and `szext`: amounts are clamped to 32 or wrapped.
fn masks(form: &Form<'_>) -> Decoded {
    let mut words = form.words();
    let clamps = words.required(&["clamp", "wrap"])? == "clamp";
    let ty = words.ty()?;
    words.finish()?;
    let ones_from = |n: u64| (u64::from(u32::MAX) << n.min(32)) as u32;
    let amount = move |n: u32| u64::from(if clamps { n.min(32) } else { n & 31 });
    match (form.opcode(), ty) {
        ("bmsk", Type::B32) => binary(form, move |a, b| {
            let (a, b) = (amount(a), amount(b));
            ones_from(a) & !ones_from(a + b)
        }),
        ("szext", Type::U32) => binary(form, move |a: u32, b| a & !ones_from(amount(b))),
        ("szext", Type::S32) => binary(form, move |a: u32, b| {
            let n = amount(b);
            let negative = n > 0 && a >> (n - 1) & 1 == 1;
            a & !ones_from(n) | if negative { ones_from(n) } else { 0 }
        }),
        (_, other) => Err(form.refuse(format!("the type `.{other}`"))),
    }
}
