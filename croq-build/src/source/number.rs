//! Integer and float literals.

use super::cursor::{Cursor, Lexeme, is_word_byte, is_word_start};
use super::token::{BadToken, TokenKind};
use crate::diagnostics::codes;

pub(super) fn number(c: &mut Cursor<'_>, start: usize) -> Lexeme {
    let is_hex = c.peek(0) == b'0' && matches!(c.peek(1), b'x' | b'X');
    if is_hex {
        c.pos += 2;
        let digits = c.pos;
        while c.peek(0).is_ascii_hexdigit() {
            c.pos += 1;
        }
        let text = c.since(digits);
        return integer(c, start, text, 16);
    }
    digits(c);
    let int_end = c.pos;
    let mut is_float = false;
    // `0..n` is a range of another language: its points are not the number's.
    if c.peek(0) == b'.' && c.peek(1) != b'.' {
        if c.peek(1).is_ascii_digit() {
            c.pos += 1;
            digits(c);
            is_float = true;
        } else if !is_word_start(c.peek(1)) || matches!(c.peek(1), b'f' | b'F' | b'e' | b'E') {
            // `1.` and `1.f`
            c.pos += 1;
            while is_word_byte(c.peek(0)) {
                c.pos += 1;
            }
            let whole = c.text.get(start..int_end).unwrap_or_default();
            let suffix = if c.since(start).ends_with(['f', 'F']) {
                "f"
            } else {
                ""
            };
            let help = format!("write `{whole}.0{suffix}`");
            return bad_number(
                c,
                start,
                "a fraction needs digits after the point",
                Some(help),
                TokenKind::Float {
                    value: 0.0,
                    single: true,
                },
            );
        }
    }
    if matches!(c.peek(0), b'e' | b'E')
        && (c.peek(1).is_ascii_digit()
            || (matches!(c.peek(1), b'+' | b'-') && c.peek(2).is_ascii_digit()))
    {
        c.pos += 2;
        digits(c);
        is_float = true;
    }
    if is_float {
        return float(c, start);
    }
    let text = c.text.get(start..int_end).unwrap_or_default();
    // `1f` is often intended as a float, but is not a literal.
    integer(c, start, text, 10)
}

fn digits(c: &mut Cursor<'_>) {
    while c.peek(0).is_ascii_digit() {
        c.pos += 1;
    }
}

fn suffix<'a>(c: &mut Cursor<'a>) -> &'a str {
    let start = c.pos;
    while is_word_byte(c.peek(0)) {
        c.pos += 1;
    }
    c.since(start)
}

fn float(c: &mut Cursor<'_>, start: usize) -> Lexeme {
    let value: f64 = c.since(start).parse().unwrap_or(0.0);
    let suffix = suffix(c);
    let single = match suffix {
        "" => false,
        "f" | "F" => true,
        _ => {
            let digits = c.since(start).trim_end_matches(suffix);
            let help = match suffix {
                "h" | "f16" | "bf16" => format!("convert: `__to<f16>({digits}f)`"),
                _ => format!("write `{digits}` (f64) or `{digits}f` (f32)"),
            };
            let what = format!("`{suffix}` is no suffix of a number");
            return bad_number(
                c,
                start,
                &what,
                Some(help),
                TokenKind::Float {
                    value,
                    single: true,
                },
            );
        }
    };
    c.token(TokenKind::Float { value, single }, start)
}

fn integer(c: &mut Cursor<'_>, start: usize, digits: &str, radix: u32) -> Lexeme {
    let stand_in = TokenKind::Int {
        value: 1,
        unsigned: false,
        long: false,
    };
    let suffix = suffix(c);
    let lower = suffix.to_ascii_lowercase();
    let (unsigned, long) = match lower.as_str() {
        "" => (false, false),
        "u" => (true, false),
        "l" | "ll" => (false, true),
        "ul" | "ull" | "lu" | "llu" => (true, true),
        _ => {
            let (what, help) = match lower.as_str() {
                "f" => (
                    "a float needs a point".to_string(),
                    Some(format!("write `{digits}.0f`")),
                ),
                _ if digits == "0" && lower.starts_with('b') => (
                    "there are no binary numbers".to_string(),
                    u64::from_str_radix(lower.strip_prefix('b').unwrap_or_default(), 2)
                        .ok()
                        .map(|v| format!("write `{v:#x}`")),
                ),
                _ if digits.is_empty() => ("digits are missing after `0x`".to_string(), None),
                _ => (
                    format!("`{suffix}` is no suffix of a number"),
                    Some("suffixes are `u`, `l`, `ll` and `ul`, `ull`".to_string()),
                ),
            };
            return bad_number(c, start, &what, help, stand_in);
        }
    };
    if digits.is_empty() {
        return bad_number(c, start, "digits are missing after `0x`", None, stand_in);
    }
    if radix == 10 && digits.len() > 1 && digits.starts_with('0') {
        let plain = digits.trim_start_matches('0');
        let plain = if plain.is_empty() { "0" } else { plain };
        let help = format!("decimal numbers have no leading zeros: `{plain}`");
        return bad_number(c, start, "there are no octal numbers", Some(help), stand_in);
    }
    let significant = digits.trim_start_matches('0');
    let value = if significant.is_empty() {
        Some(0)
    } else if significant.len() > 20 {
        None
    } else {
        u128::from_str_radix(significant, radix).ok()
    };
    // The smallest integer is a minus before a number that does not fit without it.
    let limit = match (unsigned, c.negated) {
        (true, _) => u128::from(u64::MAX),
        (false, true) => i64::MAX as u128 + 1,
        (false, false) => i64::MAX as u128,
    };
    match value {
        Some(value) if value <= limit => {
            let kind = TokenKind::Int {
                value: value as i128,
                unsigned,
                long,
            };
            c.token(kind, start)
        }
        _ => {
            let text = c.since(start);
            let (code, sign, range) = if unsigned {
                (codes::E0102, "unsigned", "0 to 18446744073709551615")
            } else {
                (
                    codes::E0101,
                    "signed",
                    "-9223372036854775808 to 9223372036854775807",
                )
            };
            let fits_unsigned = !unsigned && value.is_some_and(|v| v <= u128::from(u64::MAX));
            let bad = BadToken {
                code,
                message: format!("the {sign} integer `{text}` does not fit in 64 bits"),
                label: format!("the range is {range}"),
                help: fits_unsigned.then(|| format!("write `{text}u`")),
                stand_in: Some(stand_in),
            };
            c.token(TokenKind::Bad(Box::new(bad)), start)
        }
    }
}

fn bad_number(
    c: &mut Cursor<'_>,
    start: usize,
    what: &str,
    help: Option<String>,
    stand_in: TokenKind,
) -> Lexeme {
    let bad = BadToken {
        code: codes::E0103,
        message: format!("malformed number `{}`", c.since(start)),
        label: what.into(),
        help,
        stand_in: Some(stand_in),
    };
    c.token(TokenKind::Bad(Box::new(bad)), start)
}

pub(super) fn bare_fraction(c: &mut Cursor<'_>, start: usize) -> Lexeme {
    c.pos += 1;
    while is_word_byte(c.peek(0)) {
        c.pos += 1;
    }
    let help = format!("write `0{}`", c.since(start));
    bad_number(
        c,
        start,
        "a fraction needs digits before the point",
        Some(help),
        TokenKind::Float {
            value: 0.0,
            single: true,
        },
    )
}
