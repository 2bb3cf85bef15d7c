//! Floats of any format, rounded once.
//!
//! An exact result is an integer times a power of two. Where it has too many digits for that, f64
//! with *rounding to odd* stands for it: the last of the 53 bits is set if anything was cut off. A
//! result with at most 50 digits that is rounded from such a value is the exact value's, in every
//! rounding mode (Boldo and Melquiond, "When double rounding is odd").

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// `.rn`
    Even,
    /// `.rna`
    Away,
    /// `.rz`
    Zero,
    /// `.rm`
    Down,
    /// `.rp`
    Up,
}

impl Mode {
    pub const WORDS: [&'static str; 4] = ["rn", "rz", "rm", "rp"];

    pub fn parse(word: &str) -> Mode {
        match word {
            "rz" | "rzi" => Mode::Zero,
            "rm" | "rmi" => Mode::Down,
            "rp" | "rpi" => Mode::Up,
            "rna" => Mode::Away,
            _ => Mode::Even,
        }
    }
}

/// A binary floating-point format.
#[derive(PartialEq, Eq, Debug)]
pub struct Format {
    /// Digits of a normal number, with the first.
    pub precision: i32,
    /// The exponent of the smallest positive number.
    pub least: i32,
    /// The largest finite number.
    pub largest: u64,
    pub infinity: Option<u64>,
    pub nan: u64,
    pub sign: u32,
}

pub const F64: Format = Format {
    precision: 53,
    least: -1074,
    largest: 0x7fef_ffff_ffff_ffff,
    infinity: Some(0x7ff0_0000_0000_0000),
    nan: 0x7fff_ffff_ffff_ffff,
    sign: 63,
};
pub const F32: Format = Format {
    precision: 24,
    least: -149,
    largest: 0x7f7f_ffff,
    infinity: Some(0x7f80_0000),
    nan: 0x7fff_ffff,
    sign: 31,
};
pub const F16: Format = Format {
    precision: 11,
    least: -24,
    largest: 0x7bff,
    infinity: Some(0x7c00),
    nan: 0x7fff,
    sign: 15,
};
pub const BF16: Format = Format {
    precision: 8,
    least: -133,
    largest: 0x7f7f,
    infinity: Some(0x7f80),
    nan: 0x7fff,
    sign: 15,
};
/// The upper 19 bits of its register.
pub const TF32: Format = Format {
    precision: 11,
    least: -136,
    largest: 0x3fbff,
    infinity: Some(0x3fc00),
    nan: 0x3ffff,
    sign: 18,
};
pub const E4M3: Format = Format {
    precision: 4,
    least: -9,
    largest: 0x7e,
    infinity: None,
    nan: 0x7f,
    sign: 7,
};
pub const E5M2: Format = Format {
    precision: 3,
    least: -16,
    largest: 0x7b,
    infinity: Some(0x7c),
    nan: 0x7f,
    sign: 7,
};

impl Format {
    /// `magnitude · 2^exponent`, rounded. Overflow gives infinity, or the largest finite number where
    /// the mode rounds to that or there is no infinity.
    pub fn round(&self, negative: bool, magnitude: u128, exponent: i32, mode: Mode) -> u64 {
        let sign = u64::from(negative) << self.sign;
        if magnitude == 0 {
            return sign;
        }
        let digits = 128 - magnitude.leading_zeros().cast_signed();
        let unit = (exponent + digits - self.precision).max(self.least);
        let kept = shifted(negative, magnitude, unit - exponent, mode);
        let finite = self.encode(kept, unit);
        if finite <= u128::from(self.largest) {
            return sign | finite as u64;
        }
        let to_infinity = match mode {
            Mode::Even | Mode::Away => true,
            Mode::Zero => false,
            Mode::Down => negative,
            Mode::Up => !negative,
        };
        sign | self
            .infinity
            .filter(|_| to_infinity)
            .unwrap_or(self.largest)
    }

    /// The bits of `kept · 2^unit`, as if exponents had no limit. A number with one digit too many
    /// carries into the exponent, as it must.
    fn encode(&self, kept: u128, unit: i32) -> u128 {
        let stored = self.precision - 1;
        let hidden = 1_u128 << stored;
        if kept < hidden {
            return kept;
        }
        let exponent = u128::from((unit - self.least).unsigned_abs()) + 1;
        (exponent << stored) + (kept - hidden)
    }

    pub fn round_f64(&self, value: f64, mode: Mode) -> u64 {
        if value.is_nan() {
            return self.nan;
        }
        let sign = u64::from(value.is_sign_negative()) << self.sign;
        if value.is_infinite() {
            return sign | self.infinity.unwrap_or(self.nan);
        }
        let (magnitude, exponent) = parts(value);
        self.round(
            value.is_sign_negative(),
            u128::from(magnitude),
            exponent,
            mode,
        )
    }

    /// Exact.
    pub fn widen(&self, bits: u64) -> f64 {
        let magnitude = bits & ((1 << self.sign) - 1);
        let sign = if bits >> self.sign & 1 == 1 {
            -1.0
        } else {
            1.0
        };
        if magnitude > self.largest {
            return match Some(magnitude) == self.infinity {
                true => sign * f64::INFINITY,
                false => f64::NAN,
            };
        }
        let stored = self.precision - 1;
        let exponent = (magnitude >> stored).cast_signed() as i32;
        let fraction = magnitude & ((1 << stored) - 1);
        let (digits, exponent) = match exponent {
            0 => (fraction, self.least),
            _ => (fraction | 1 << stored, self.least + exponent - 1),
        };
        sign * digits as f64 * power_of_two(exponent)
    }
}

/// `2^exponent`, for exponents of f64's normal and subnormal numbers.
pub fn power_of_two(exponent: i32) -> f64 {
    if exponent >= -1022 {
        f64::from_bits(u64::from((exponent + 1023).unsigned_abs()) << 52)
    } else {
        f64::from_bits(1 << (exponent + 1074))
    }
}

/// The integer and the exponent of a finite number's magnitude.
pub fn parts(value: f64) -> (u64, i32) {
    let bits = value.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i32;
    let fraction = bits & ((1 << 52) - 1);
    match exponent {
        0 => (fraction, -1074),
        _ => (fraction | 1 << 52, exponent - 1075),
    }
}

/// `magnitude / 2^by`, rounded to an integer.
fn shifted(negative: bool, magnitude: u128, by: i32, mode: Mode) -> u128 {
    if by <= 0 {
        return magnitude << by.unsigned_abs();
    }
    if by > 127 {
        let away = mode == Mode::Up && !negative || mode == Mode::Down && negative;
        return u128::from(away && magnitude != 0);
    }
    let kept = magnitude >> by;
    let cut = magnitude - (kept << by);
    let half = 1_u128 << (by - 1);
    let up = match mode {
        Mode::Even => cut > half || cut == half && kept & 1 == 1,
        Mode::Away => cut >= half,
        Mode::Zero => false,
        Mode::Down => negative && cut != 0,
        Mode::Up => !negative && cut != 0,
    };
    kept + u128::from(up)
}

/// A finite number as an integer.
pub fn to_integer(value: f64, mode: Mode) -> i128 {
    let (magnitude, exponent) = parts(value);
    if exponent > 64 {
        return if value < 0.0 { i128::MIN } else { i128::MAX };
    }
    let integer = shifted(
        value.is_sign_negative(),
        u128::from(magnitude),
        -exponent,
        mode,
    );
    let integer = integer.cast_signed();
    if value.is_sign_negative() {
        -integer
    } else {
        integer
    }
}

/// The neighbour of `value` on the side of the rest that was cut off, if the last bit is 0.
fn odd(value: f64, rest: f64) -> f64 {
    let bits = value.to_bits();
    if rest == 0.0 || !value.is_finite() || bits & 1 == 1 {
        return value;
    }
    let outwards = (rest > 0.0) == (value > 0.0);
    f64::from_bits(if outwards { bits + 1 } else { bits - 1 })
}

/// `a + b`, rounded to odd (Knuth's two-sum gives the rest).
pub fn sum(a: f64, b: f64) -> f64 {
    let sum = a + b;
    if !sum.is_finite() {
        return sum;
    }
    let b_part = sum - a;
    odd(sum, (a - (sum - b_part)) + (b - b_part))
}

/// `a + b` of doubles, rounded in any direction.
pub fn sum_of_doubles(a: f64, b: f64, mode: Mode) -> f64 {
    let sum = a + b;
    if mode == Mode::Even || sum.is_nan() || a.is_infinite() || b.is_infinite() {
        return sum;
    }
    if sum.is_infinite() {
        let stays = mode == Mode::Zero || (mode == Mode::Down) == (sum > 0.0);
        return if stays { f64::MAX.copysign(sum) } else { sum };
    }
    if sum == 0.0 && a.is_sign_negative() != b.is_sign_negative() {
        return if mode == Mode::Down { -0.0 } else { 0.0 };
    }
    let b_part = sum - a;
    let rest = (a - (sum - b_part)) + (b - b_part);
    match mode {
        Mode::Down if rest < 0.0 => sum.next_down(),
        Mode::Up if rest > 0.0 => sum.next_up(),
        Mode::Zero if rest < 0.0 && sum > 0.0 => sum.next_down(),
        Mode::Zero if rest > 0.0 && sum < 0.0 => sum.next_up(),
        _ => sum,
    }
}

/// `a / b` for f32 operands, rounded to odd.
pub fn quotient(a: f32, b: f32) -> f64 {
    let (a, b) = (f64::from(a), f64::from(b));
    let quotient = a / b;
    if !quotient.is_finite() || quotient == 0.0 {
        return quotient;
    }
    let rest = (-quotient).mul_add(b, a);
    odd(quotient, if b > 0.0 { rest } else { -rest })
}

/// The square root of an f32, rounded to odd.
pub fn square_root(a: f32) -> f64 {
    let a = f64::from(a);
    let root = a.sqrt();
    if !root.is_finite() || root == 0.0 {
        return root;
    }
    odd(root, (-root).mul_add(root, a))
}
