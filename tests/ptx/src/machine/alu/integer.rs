//! "Integer Arithmetic Instructions" and "Extended-Precision Integer Arithmetic Instructions".

use super::super::decode::Form;
use super::super::lanewise::{self, Decoded, binary, ternary, unary};
use crate::parse::Type;

/// A binary function of the type's own Rust integer.
macro_rules! same_binary {
    ($form:expr, $ty:expr, |$a:ident, $b:ident| $body:expr) => {
        match $ty {
            Type::U16 => binary($form, |$a: u16, $b: u16| -> u16 { $body }),
            Type::S16 => binary($form, |$a: i16, $b: i16| -> i16 { $body }),
            Type::U32 => binary($form, |$a: u32, $b: u32| -> u32 { $body }),
            Type::S32 => binary($form, |$a: i32, $b: i32| -> i32 { $body }),
            Type::U64 => binary($form, |$a: u64, $b: u64| -> u64 { $body }),
            Type::S64 => binary($form, |$a: i64, $b: i64| -> i64 { $body }),
            other => Err($form.refuse(format!("the type `.{other}`"))),
        }
    };
}

macro_rules! same_ternary {
    ($form:expr, $ty:expr, |$a:ident, $b:ident, $c:ident| $body:expr) => {
        match $ty {
            Type::U16 => ternary($form, |$a: u16, $b: u16, $c: u16| -> u16 { $body }),
            Type::S16 => ternary($form, |$a: i16, $b: i16, $c: i16| -> i16 { $body }),
            Type::U32 => ternary($form, |$a: u32, $b: u32, $c: u32| -> u32 { $body }),
            Type::S32 => ternary($form, |$a: i32, $b: i32, $c: i32| -> i32 { $body }),
            Type::U64 => ternary($form, |$a: u64, $b: u64, $c: u64| -> u64 { $body }),
            Type::S64 => ternary($form, |$a: i64, $b: i64, $c: i64| -> i64 { $body }),
            other => Err($form.refuse(format!("the type `.{other}`"))),
        }
    };
}

/// A function of a signed integer.
macro_rules! signed_unary {
    ($form:expr, $ty:expr, |$a:ident| $body:expr) => {
        match $ty {
            Type::S16 => unary($form, |$a: i16| -> i16 { $body }),
            Type::S32 => unary($form, |$a: i32| -> i32 { $body }),
            Type::S64 => unary($form, |$a: i64| -> i64 { $body }),
            other => Err($form.refuse(format!("the type `.{other}`"))),
        }
    };
}

/// Whether an integer division is by zero, and its largest pattern: all ones.
trait Divide: Copy {
    fn quotient(self, by: Self) -> Self;
    fn remainder(self, by: Self) -> Self;
}

macro_rules! divide {
    ($($ty:ty)*) => {$(
        impl Divide for $ty {
            fn quotient(self, by: $ty) -> $ty {
                if by == 0 { !0 } else { self.wrapping_div(by) }
            }

            fn remainder(self, by: $ty) -> $ty {
                if by == 0 { self } else { self.wrapping_rem(by) }
            }
        }
    )*};
}

divide!(u16 i16 u32 i32 u64 i64);

/// The upper half of a product.
trait High: Copy {
    fn high(self, by: Self) -> Self;
}

macro_rules! high {
    ($($ty:ty, $wide:ty;)*) => {$(
        impl High for $ty {
            fn high(self, by: $ty) -> $ty {
                ((<$wide>::from(self) * <$wide>::from(by)) >> <$ty>::BITS) as $ty
            }
        }
    )*};
}

high! { u16, u32; i16, i32; u32, u64; i32, i64; u64, u128; i64, i128; }

pub fn decode(form: &Form<'_>) -> Decoded {
    let mut words = form.words();
    let ty = words.ty()?;
    if matches!(form.opcode(), "mul" | "mad") {
        return product(form, ty);
    }
    let saturates = ty == Type::S32 && words.flag("sat");
    words.finish()?;
    match (form.opcode(), saturates) {
        ("add", true) => binary(form, i32::saturating_add),
        ("sub", true) => binary(form, i32::saturating_sub),
        ("add", false) => same_binary!(form, ty, |a, b| a.wrapping_add(b)),
        ("sub", false) => same_binary!(form, ty, |a, b| a.wrapping_sub(b)),
        ("div", false) => same_binary!(form, ty, |a, b| a.quotient(b)),
        ("rem", false) => same_binary!(form, ty, |a, b| a.remainder(b)),
        ("min", false) => same_binary!(form, ty, |a, b| a.min(b)),
        ("max", false) => same_binary!(form, ty, |a, b| a.max(b)),
        ("abs", false) => signed_unary!(form, ty, |a| a.wrapping_abs()),
        ("neg", false) => signed_unary!(form, ty, |a| a.wrapping_neg()),
        (other, true) => Err(form.refuse(format!("`.sat` of `{other}`"))),
        _ => Err(form.refuse("integers")),
    }
}

fn product(form: &Form<'_>, ty: Type) -> Decoded {
    let mut words = form.words();
    words.ty()?;
    let half = words.required(&["lo", "hi", "wide"])?;
    let saturates = form.opcode() == "mad" && half == "hi" && ty == Type::S32 && words.flag("sat");
    words.finish()?;
    match (form.opcode(), half) {
        ("mul", "lo") => same_binary!(form, ty, |a, b| a.wrapping_mul(b)),
        ("mul", "hi") => same_binary!(form, ty, |a, b| a.high(b)),
        ("mad", "lo") => same_ternary!(form, ty, |a, b, c| a.wrapping_mul(b).wrapping_add(c)),
        ("mad", "hi") if saturates => {
            ternary(form, |a: i32, b: i32, c: i32| a.high(b).saturating_add(c))
        }
        ("mad", "hi") => same_ternary!(form, ty, |a, b, c| a.high(b).wrapping_add(c)),
        ("mul", _) => wide_product(form, ty),
        _ => wide_sum(form, ty),
    }
}

fn wide_product(form: &Form<'_>, ty: Type) -> Decoded {
    match ty {
        Type::U16 => binary(form, |a: u16, b: u16| u32::from(a) * u32::from(b)),
        Type::S16 => binary(form, |a: i16, b: i16| i32::from(a) * i32::from(b)),
        Type::U32 => binary(form, |a: u32, b: u32| u64::from(a) * u64::from(b)),
        Type::S32 => binary(form, |a: i32, b: i32| i64::from(a) * i64::from(b)),
        other => Err(form.refuse(format!("the type `.{other}`"))),
    }
}

fn wide_sum(form: &Form<'_>, ty: Type) -> Decoded {
    match ty {
        Type::U16 => ternary(form, |a: u16, b: u16, c: u32| {
            (u32::from(a) * u32::from(b)).wrapping_add(c)
        }),
        Type::S16 => ternary(form, |a: i16, b: i16, c: i32| {
            (i32::from(a) * i32::from(b)).wrapping_add(c)
        }),
        Type::U32 => ternary(form, |a: u32, b: u32, c: u64| {
            (u64::from(a) * u64::from(b)).wrapping_add(c)
        }),
        Type::S32 => ternary(form, |a: i32, b: i32, c: i64| {
            (i64::from(a) * i64::from(b)).wrapping_add(c)
        }),
        other => Err(form.refuse(format!("the type `.{other}`"))),
    }
}

/// `add.cc`, `addc`, `sub.cc`, `subc`, `mad.cc`, `madc`: signedness decides the upper half of a
/// product and nothing else.
pub fn carrying(form: &Form<'_>) -> Decoded {
    let mut words = form.words();
    let ty = words.ty()?;
    let sets = words.flag("cc");
    let (stem, takes) = match form.opcode() {
        "addc" => ("add", true),
        "subc" => ("sub", true),
        "madc" => ("mad", true),
        plain => (plain, false),
    };
    let half = match stem {
        "mad" => words.required(&["lo", "hi"])?,
        "add" | "sub" => "",
        other => return Err(form.refuse(format!("`.cc` of `{other}`"))),
    };
    words.finish()?;
    match ty {
        Type::U32 | Type::S32 => carrying_32(form, stem, half, (sets, takes, ty.is_signed())),
        Type::U64 | Type::S64 => carrying_64(form, stem, half, (sets, takes, ty.is_signed())),
        other => Err(form.refuse(format!("the type `.{other}`"))),
    }
}

macro_rules! carrying_of {
    ($name:ident, $unsigned:ty, $signed:ty) => {
        fn $name(
            form: &Form<'_>,
            stem: &str,
            half: &str,
            (sets, takes, signed): (bool, bool, bool),
        ) -> Decoded {
            let add = |a: $unsigned, b: $unsigned, carry: bool| {
                let (sum, first) = a.overflowing_add(b);
                let (sum, second) = sum.overflowing_add(carry.into());
                (sum, first | second)
            };
            match (stem, half) {
                ("add", _) => lanewise::carrying(form, 2, sets, move |[a, b, _], carry| {
                    add(a, b, carry && takes)
                }),
                ("sub", _) => lanewise::carrying(form, 2, sets, move |[a, b, _], borrow| {
                    let (rest, first) = <$unsigned>::overflowing_sub(a, b);
                    let (rest, second) = rest.overflowing_sub((borrow && takes).into());
                    (rest, first | second)
                }),
                (_, "lo") => lanewise::carrying(form, 3, sets, move |[a, b, c], carry| {
                    add(<$unsigned>::wrapping_mul(a, b), c, carry && takes)
                }),
                _ => lanewise::carrying(form, 3, sets, move |[a, b, c], carry| {
                    let high = match signed {
                        true => (a as $signed).high(b as $signed) as $unsigned,
                        false => <$unsigned>::high(a, b),
                    };
                    add(high, c, carry && takes)
                }),
            }
        }
    };
}

carrying_of!(carrying_32, u32, i32);
carrying_of!(carrying_64, u64, i64);

/// `mul24`, `mad24`, `sad`, `dp4a`, `dp2a`, `vabsdiff4`.
pub fn special(form: &Form<'_>) -> Decoded {
    let mut words = form.words();
    let ty = words.ty()?;
    match form.opcode() {
        "sad" => {
            words.finish()?;
            same_ternary!(form, ty, |a, b, c| c
                .wrapping_add(a.max(b).wrapping_sub(a.min(b))))
        }
        "dp4a" | "dp2a" => dot_product(form),
        "vabsdiff4" => differences_of_bytes(form),
        _ => {
            let half = words.required(&["lo", "hi"])?;
            words.finish()?;
            product_of_24_bits(form, ty, half)
        }
    }
}

/// Operands hold 24 bits; the product has 48, of which the lower or the upper 32 are kept.
fn product_of_24_bits(form: &Form<'_>, ty: Type, half: &str) -> Decoded {
    let shift = if half == "hi" { 16 } else { 0 };
    let signed = match ty {
        Type::S32 => true,
        Type::U32 => false,
        other => return Err(form.refuse(format!("the type `.{other}`"))),
    };
    let low = move |value: u32| match signed {
        true => i64::from((value << 8).cast_signed() >> 8),
        false => i64::from(value & 0xff_ffff),
    };
    let product = move |a, b| ((low(a) * low(b)) >> shift) as u32;
    match form.opcode() {
        "mul24" => binary(form, product),
        _ => ternary(form, move |a, b, c: u32| product(a, b).wrapping_add(c)),
    }
}

/// `vabsdiff4` of unsigned bytes with `.add`: what compilers use of the video instructions.
fn differences_of_bytes(form: &Form<'_>) -> Decoded {
    let mut words = form.words();
    let types = [words.ty()?, words.ty()?, words.ty()?];
    words.required(&["add"])?;
    words.finish()?;
    if types != [Type::U32; 3] {
        return Err(form.refuse("signed bytes"));
    }
    ternary(form, |a: u32, b: u32, c: u32| {
        let bytes = a.to_le_bytes().into_iter().zip(b.to_le_bytes());
        bytes.fold(c, |sum, (a, b)| sum.wrapping_add(a.abs_diff(b).into()))
    })
}

fn dot_product(form: &Form<'_>) -> Decoded {
    let mut words = form.words();
    let (a_type, b_type) = (words.ty()?, words.ty()?);
    let both = [a_type, b_type];
    if both.iter().any(|ty| !matches!(ty, Type::U32 | Type::S32)) {
        return Err(form.refuse(format!("the types `.{a_type}.{b_type}`")));
    }
    let half = match form.opcode() {
        "dp2a" => Some(words.required(&["lo", "hi"])?),
        _ => None,
    };
    words.finish()?;
    let part = |value: u32, bits: u32, index: u32, signed: bool| {
        let part = value << (32 - bits - index * bits);
        match signed {
            true => part.cast_signed() >> (32 - bits),
            false => (part >> (32 - bits)).cast_signed(),
        }
    };
    let (a_signed, b_signed) = (a_type.is_signed(), b_type.is_signed());
    // `dp2a` multiplies the two halves of a by two bytes of b.
    let (count, a_bits, first) = match half {
        None => (4, 8, 0),
        Some("lo") => (2, 16, 0),
        Some(_) => (2, 16, 2),
    };
    ternary(form, move |a: u32, b: u32, c: i32| {
        (0..count).fold(c, |sum, index| {
            let a = part(a, a_bits, index, a_signed);
            let b = part(b, 8, first + index, b_signed);
            sum.wrapping_add(a.wrapping_mul(b))
        })
    })
}
