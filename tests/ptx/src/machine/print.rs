//! `printf` of device code: a call of `vprintf`, to which nvcc passes the addresses of the format and
//! of the arguments (CUDA C++ programming guide, "Formatted output").
//!
//! The arguments are one after the other, each aligned to its size: 32-bit integers, 64-bit integers,
//! addresses, and floats as f64.

use super::memory::{Window, to_bits};
use super::spaces::{At, Spaces};
use super::step::Call;

/// The function that a PTX module declares without a body.
const NAME: &str = "vprintf";

/// Most bytes of a format or a text.
const MOST_BYTES: u64 = 1 << 16;

/// Executes a call of a function that the device provides, for one lane. `base` is where the
/// caller's local memory starts. Gives what was printed.
///
/// # Errors
///
/// The device has no such function, or what it is given is wrong.
pub fn call(
    call: &Call,
    spaces: &mut Spaces<'_>,
    lane: usize,
    base: u64,
) -> Result<Vec<u8>, String> {
    let (NAME, [format, arguments], [result]) = (
        call.callee.as_str(),
        call.arguments.as_slice(),
        call.results.as_slice(),
    ) else {
        let name = &call.callee;
        return Err(format!(
            "a call of `{name}`, which has no body, is not implemented"
        ));
    };
    let parameter = |offset: u64| word(spaces, Window::Local, lane, (base + offset, 8));
    let (format, mut next) = (parameter(*format)?, parameter(*arguments)?);
    let format = text(spaces, lane, format)?;
    let mut out = Vec::new();
    let mut count = 0_u32;
    let mut rest = format.as_slice();
    while let Some(at) = rest.iter().position(|byte| *byte == b'%') {
        out.extend(&rest[..at]);
        let (directive, length) = Directive::parse(&rest[at + 1..])?;
        rest = &rest[at + 1 + length..];
        if directive.conversion == b'%' {
            out.push(b'%');
            continue;
        }
        let size = directive.size();
        let address = next.next_multiple_of(size);
        next = address + size;
        let bits = word(spaces, Window::Generic, lane, (address, size))?;
        let value = match directive.conversion {
            b's' => text(spaces, lane, bits)?,
            _ => directive.number(bits)?.into_bytes(),
        };
        directive.pad(value, &mut out);
        count += 1;
    }
    out.extend(rest);
    let at = At {
        address: base + result,
        bytes: 4,
        align: 4,
    };
    let place = spaces.get_mut(Window::Local, lane, at)?;
    place.copy_from_slice(&count.to_le_bytes());
    Ok(out)
}

fn word(
    spaces: &Spaces<'_>,
    window: Window,
    lane: usize,
    (address, bytes): (u64, u64),
) -> Result<u64, String> {
    let at = At {
        address,
        bytes,
        align: bytes,
    };
    Ok(to_bits(spaces.get(window, lane, at)?))
}

/// Up to the zero byte.
fn text(spaces: &Spaces<'_>, lane: usize, address: u64) -> Result<Vec<u8>, String> {
    let mut found = Vec::new();
    for offset in 0..MOST_BYTES {
        match word(spaces, Window::Generic, lane, (address + offset, 1))? {
            0 => return Ok(found),
            byte => found.push(byte as u8),
        }
    }
    Err(format!("the text at {address:#x} has no end"))
}

/// `%[flags][width][.precision][size]conversion`
#[derive(Clone, PartialEq, Eq, Default, Debug)]
struct Directive {
    left: bool,
    plus: bool,
    space: bool,
    alternative: bool,
    zeros: bool,
    width: usize,
    precision: Option<usize>,
    is_long: bool,
    conversion: u8,
}

impl Directive {
    /// And its length.
    fn parse(text: &[u8]) -> Result<(Directive, usize), String> {
        let mut directive = Directive::default();
        let mut at = 0;
        while let Some(flag) = text.get(at) {
            match flag {
                b'-' => directive.left = true,
                b'+' => directive.plus = true,
                b' ' => directive.space = true,
                b'#' => directive.alternative = true,
                b'0' => directive.zeros = true,
                _ => break,
            }
            at += 1;
        }
        let number = |at: &mut usize| {
            let start = *at;
            while text.get(*at).is_some_and(u8::is_ascii_digit) {
                *at += 1;
            }
            let digits = String::from_utf8_lossy(&text[start..*at]);
            digits.parse().unwrap_or(0_usize).min(MOST_BYTES as usize)
        };
        directive.width = number(&mut at);
        if text.get(at) == Some(&b'.') {
            at += 1;
            directive.precision = Some(number(&mut at));
        }
        while let Some(size @ (b'h' | b'l')) = text.get(at) {
            directive.is_long = *size == b'l';
            at += 1;
        }
        directive.conversion = text.get(at).copied().unwrap_or(0);
        match directive.conversion {
            b'd' | b'i' | b'u' | b'o' | b'x' | b'X' | b'c' | b's' | b'p' | b'f' | b'F' | b'e'
            | b'E' | b'g' | b'G' | b'%' => Ok((directive, at + 1)),
            _ => {
                let shown = String::from_utf8_lossy(&text[..text.len().min(at + 1)]);
                Err(format!("`printf` with `%{shown}` is not implemented"))
            }
        }
    }

    /// Of its argument.
    fn size(&self) -> u64 {
        match self.conversion {
            b'd' | b'i' | b'u' | b'o' | b'x' | b'X' | b'c' if !self.is_long => 4,
            _ => 8,
        }
    }

    fn number(&self, bits: u64) -> Result<String, String> {
        let signed = match self.is_long {
            true => bits.cast_signed(),
            false => i64::from((bits as u32).cast_signed()),
        };
        let float = f64::from_bits(bits);
        let upper = self.conversion.is_ascii_uppercase();
        let text = match self.conversion {
            b'd' | b'i' => {
                let digits = self.digits(signed.unsigned_abs().to_string());
                return Ok(self.signed(signed < 0, digits));
            }
            b'u' => self.digits(bits.to_string()),
            b'o' => self.prefixed(if self.alternative { "0" } else { "" }, format!("{bits:o}")),
            b'x' | b'X' => {
                let prefix = if self.alternative && bits != 0 {
                    "0x"
                } else {
                    ""
                };
                self.prefixed(prefix, format!("{bits:x}"))
            }
            b'p' => format!("{bits:#x}"),
            b'c' => char::from(bits as u8).to_string(),
            _ => {
                let digits = self.float(float.abs());
                let digits = self.signed(float.is_sign_negative(), digits);
                return Ok(if upper { digits.to_uppercase() } else { digits });
            }
        };
        Ok(if upper { text.to_uppercase() } else { text })
    }

    /// At least as many as the precision says.
    fn digits(&self, digits: String) -> String {
        let least = self.precision.unwrap_or(1);
        match (least, digits.as_str()) {
            (0, "0") => String::new(),
            _ => format!("{digits:0>least$}"),
        }
    }

    fn prefixed(&self, prefix: &str, digits: String) -> String {
        format!("{prefix}{}", self.digits(digits))
    }

    fn signed(&self, negative: bool, digits: String) -> String {
        let sign = match (negative, self.plus, self.space) {
            (true, ..) => "-",
            (_, true, _) => "+",
            (_, _, true) => " ",
            _ => "",
        };
        format!("{sign}{digits}")
    }

    /// Of a value that is not negative.
    fn float(&self, value: f64) -> String {
        if value.is_nan() {
            return "nan".to_owned();
        }
        if value.is_infinite() {
            return "inf".to_owned();
        }
        let precision = self.precision.unwrap_or(6);
        match self.conversion.to_ascii_lowercase() {
            b'f' => format!("{value:.precision$}"),
            b'e' => exponential(value, precision),
            _ => self.shortest(value, precision.max(1)),
        }
    }

    /// `%g`
    fn shortest(&self, value: f64, precision: usize) -> String {
        let text = exponential(value, precision - 1);
        let exponent: i32 = text
            .split_once('e')
            .and_then(|(_, exponent)| exponent.parse().ok())
            .unwrap_or(0);
        let decimals = precision as i32 - 1 - exponent;
        let text = match (-4..precision as i32).contains(&exponent) {
            true => format!("{value:.*}", decimals.max(0) as usize),
            false => text,
        };
        let (mantissa, exponent) = match text.split_once('e') {
            Some((mantissa, exponent)) => (mantissa, format!("e{exponent}")),
            None => (text.as_str(), String::new()),
        };
        if self.alternative || !mantissa.contains('.') {
            return text;
        }
        let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.');
        format!("{mantissa}{exponent}")
    }

    fn pad(&self, mut value: Vec<u8>, out: &mut Vec<u8>) {
        if self.conversion == b's' {
            value.truncate(self.precision.unwrap_or(usize::MAX));
        }
        let fill = self.width.saturating_sub(value.len());
        let is_integer = matches!(self.conversion, b'd' | b'i' | b'u' | b'o' | b'x' | b'X');
        let is_number = is_integer
            || self.conversion.eq_ignore_ascii_case(&b'f')
            || self.conversion.eq_ignore_ascii_case(&b'e')
            || self.conversion.eq_ignore_ascii_case(&b'g');
        let zeros = self.zeros && is_number && !(is_integer && self.precision.is_some());
        let is_finite = value
            .last()
            .is_some_and(|byte| !b"nfNF".contains(byte) || is_integer);
        if self.left {
            out.extend(value);
            out.extend(std::iter::repeat_n(b' ', fill));
        } else if zeros && is_finite {
            let prefix = value
                .iter()
                .take_while(|byte| b"+- xX".contains(byte))
                .count();
            let prefix = match value.get(..2) {
                Some(b"0x" | b"0X") => 2,
                _ => prefix,
            };
            out.extend(&value[..prefix]);
            out.extend(std::iter::repeat_n(b'0', fill));
            out.extend(&value[prefix..]);
        } else {
            out.extend(std::iter::repeat_n(b' ', fill));
            out.extend(value);
        }
    }
}

/// C has a sign and at least two digits in exponents.
fn exponential(value: f64, precision: usize) -> String {
    let text = format!("{value:.precision$e}");
    let Some((mantissa, exponent)) = text.split_once('e') else {
        return text;
    };
    let (sign, digits) = match exponent.strip_prefix('-') {
        Some(digits) => ('-', digits),
        None => ('+', exponent),
    };
    format!("{mantissa}e{sign}{digits:0>2}")
}

#[cfg(test)]
mod tests {
    use super::Directive;

    fn shown(directive: &str, bits: u64) -> String {
        let (directive, length) = Directive::parse(&directive.as_bytes()[1..]).unwrap();
        assert_ne!(length, 0);
        let mut out = Vec::new();
        directive.pad(directive.number(bits).unwrap().into_bytes(), &mut out);
        String::from_utf8(out).unwrap()
    }

    /// The expected texts are those of C's `printf`.
    #[test]
    fn numbers_are_formatted_as_in_c() {
        let minus = u64::from((-5_i32).cast_unsigned());
        assert_eq!(shown("%d", minus), "-5");
        assert_eq!(shown("%u", minus), "4294967291");
        assert_eq!(shown("%lld", (-5_i64).cast_unsigned()), "-5");
        assert_eq!(shown("%05d|", minus), "-0005");
        assert_eq!(shown("%-5d", minus), "-5   ");
        assert_eq!(shown("%+.3d", 7), "+007");
        assert_eq!(shown("%#x", 255), "0xff");
        assert_eq!(shown("%#010X", 255), "0X000000FF");
        assert_eq!(shown("%#o", 8), "010");
        assert_eq!(shown("%5c", 65), "    A");
        assert_eq!(shown("%p", 4096), "0x1000");
        let f = |directive: &str, value: f64| shown(directive, value.to_bits());
        assert_eq!(f("%f", 1.5), "1.500000");
        assert_eq!(f("%.0f", 2.5), "2");
        assert_eq!(f("%08.2f", -2.345678), "-0002.35");
        assert_eq!(f("%e", 12345.678), "1.234568e+04");
        assert_eq!(f("%E", 1e-300), "1.000000E-300");
        assert_eq!(f("%g", 0.0001), "0.0001");
        assert_eq!(f("%g", 0.00001), "1e-05");
        assert_eq!(f("%g", 1_000_000.0), "1e+06");
        assert_eq!(f("%g", 100_000.0), "100000");
        assert_eq!(f("%#g", 1.0), "1.00000");
        assert_eq!(f("%g", 0.0), "0");
        assert_eq!(f("%08f", f64::NEG_INFINITY), "    -inf");
        assert_eq!(f("%F", f64::NAN), "NAN");
    }

    #[test]
    fn other_directives_are_refused_by_name() {
        for directive in ["a", "n", "*", ""] {
            let error = Directive::parse(directive.as_bytes()).unwrap_err();
            assert!(error.contains(&format!("%{directive}")), "{error}");
        }
    }
}
