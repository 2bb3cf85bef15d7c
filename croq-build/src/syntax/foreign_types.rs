//! Names of types in C, CUDA and Rust, and the element types that they mean.

use crate::source::token::{ElemType, Token, TokenKind};

/// The element type that another language calls `word`.
pub fn meant(word: &str) -> Option<ElemType> {
    Some(match word {
        "i8" | "int8" | "int8_t" | "char" | "schar" => ElemType::S8,
        "i16" | "int16" | "int16_t" | "short" => ElemType::S16,
        "i32" | "int32" | "int32_t" | "signed" => ElemType::S32,
        "i64" | "int64" | "int64_t" | "isize" | "ssize_t" | "ptrdiff_t" | "long" => ElemType::S64,
        "uint8" | "uint8_t" | "uchar" => ElemType::U8,
        "uint16" | "uint16_t" | "ushort" => ElemType::U16,
        "uint" | "uint32" | "uint32_t" | "unsigned" => ElemType::U32,
        "uint64" | "uint64_t" | "ulong" | "usize" | "size_t" => ElemType::U64,
        "float16" | "fp16" | "__half" => ElemType::F16,
        "bfloat16" | "nv_bfloat16" | "__nv_bfloat16" => ElemType::Bf16,
        "float32" | "fp32" => ElemType::F32,
        "float64" | "fp64" => ElemType::F64,
        _ => return None,
    })
}

/// The type that several words of C mean, `unsigned long long int`, and how many tokens they are.
/// What follows must show that they are a type: a name, extents, or the end of `<T>`.
pub fn at_beginning(tokens: &[Option<&Token>]) -> Option<(ElemType, usize)> {
    let words = tokens.iter().map_while(|token| part(&(*token)?.kind));
    let words: Vec<&str> = words.collect();
    let first = meant(words.first()?)?;
    let count = match first_of_several(words.first()?) {
        true => words.iter().take_while(|word| is_part(word)).count(),
        false => 1,
    };
    let words = words.get(..count)?;
    let elem = match first_of_several(words.first()?) {
        true => combined(words),
        false => first,
    };
    let next = &tokens.get(count).copied().flatten()?.kind;
    let is_type = match next {
        TokenKind::Word(_) | TokenKind::Keyword(_) => true,
        TokenKind::Punct(punct) => matches!(punct.text(), "[" | "*" | "&" | ">"),
        _ => false,
    };
    is_type.then_some((elem, count))
}

fn part(kind: &TokenKind) -> Option<&str> {
    match kind {
        TokenKind::Word(word) => Some(word),
        TokenKind::Type(ElemType::Int) => Some("int"),
        TokenKind::Type(ElemType::F64) => Some("double"),
        _ => None,
    }
}

fn first_of_several(word: &str) -> bool {
    matches!(word, "unsigned" | "signed" | "long" | "short")
}

fn is_part(word: &str) -> bool {
    first_of_several(word) || matches!(word, "int" | "char" | "double")
}

fn combined(words: &[&str]) -> ElemType {
    let has = |word| words.contains(&word);
    let unsigned = has("unsigned");
    match (has("double"), has("char"), has("short"), has("long")) {
        (true, ..) => ElemType::F64,
        (_, true, ..) if unsigned => ElemType::U8,
        (_, true, ..) => ElemType::S8,
        (_, _, true, _) if unsigned => ElemType::U16,
        (_, _, true, _) => ElemType::S16,
        (.., true) if unsigned => ElemType::U64,
        (.., true) => ElemType::S64,
        _ if unsigned => ElemType::U32,
        _ => ElemType::S32,
    }
}
