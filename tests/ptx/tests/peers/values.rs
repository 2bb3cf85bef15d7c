//! Numbers in the formats of the kernels, and comparisons.

/// A format of elements in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    F64,
    F32,
    F16,
    Bf16,
    /// The two formats of 8 bits: with 4 bits of exponent and no infinities, and with 5.
    E4m3,
    E5m2,
    I8,
    I32,
}

use Format::{Bf16, E4m3, E5m2, F16, F32, F64, I8, I32};

impl Format {
    pub fn bytes(self) -> usize {
        match self {
            F64 => 8,
            F32 | I32 => 4,
            F16 | Bf16 => 2,
            E4m3 | E5m2 | I8 => 1,
        }
    }

    /// Bits of the significand without the implicit one, and the exponent of the smallest normal
    /// number. Integers are as if they had subnormal numbers only.
    fn shape(self) -> (i32, i32) {
        match self {
            F64 => (52, -1022),
            F32 => (23, -126),
            F16 => (10, -14),
            Bf16 => (7, -126),
            E4m3 => (3, -6),
            E5m2 => (2, -14),
            I8 | I32 => (62, 62),
        }
    }

    /// Half of the distance between neighbours at this value.
    pub fn rounding(self, value: f64) -> f64 {
        let (fraction, least) = self.shape();
        let exponent = match value == 0.0 {
            true => least,
            false => (value.abs().log2().floor() as i32).max(least),
        };
        f64::from(exponent - fraction - 1).exp2()
    }

    /// The nearest number of the format, ties to even; numbers here are within its range.
    pub fn round(self, value: f64) -> f64 {
        let unit = 2.0 * self.rounding(value);
        (value / unit).round_ties_even() * unit
    }

    /// A number of the format.
    fn encode(self, value: f64) -> Vec<u8> {
        let bits = match self {
            F64 => value.to_bits(),
            I8 | I32 => value as i64 as u64,
            _ => {
                let (fraction, least) = self.shape();
                let unit = 2.0 * self.rounding(value);
                let exponent = unit.log2() as i32 + fraction;
                // The significand with its implicit bit, which increments the exponent's field.
                let size = ((exponent - least) as u64) << fraction;
                let sign = u64::from(value < 0.0) << (8 * self.bytes() - 1);
                sign | (size + (value.abs() / unit) as u64)
            }
        };
        bits.to_le_bytes()[..self.bytes()].to_vec()
    }

    fn decode(self, bytes: &[u8]) -> f64 {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        let bits = u64::from_le_bytes(word);
        let width = 8 * bytes.len();
        match self {
            F64 => return f64::from_bits(bits),
            I8 | I32 => return ((bits << (64 - width)) as i64 >> (64 - width)) as f64,
            _ => {}
        }
        let (fraction, least) = self.shape();
        let sign = if bits >> (width - 1) == 0 { 1.0 } else { -1.0 };
        let size = bits & !(1 << (width - 1));
        let (exponent, rest) = (size >> fraction, size & ((1 << fraction) - 1));
        let highest = (1 << (width - 1)) - 1;
        let is_special = match self {
            E4m3 => size == highest,
            _ => exponent == highest >> fraction,
        };
        if is_special {
            let is_infinite = rest == 0 && self != E4m3;
            return if is_infinite {
                sign * f64::INFINITY
            } else {
                f64::NAN
            };
        }
        let unit = f64::from(least - fraction).exp2();
        sign * match exponent {
            0 => rest as f64 * unit,
            _ => (rest + (1 << fraction)) as f64 * unit * (exponent as f64 - 1.0).exp2(),
        }
    }

    pub fn to_bytes(self, values: &[f64]) -> Vec<u8> {
        values
            .iter()
            .flat_map(|value| self.encode(*value))
            .collect()
    }

    pub fn to_values(self, bytes: &[u8]) -> Vec<f64> {
        let chunks = bytes.chunks_exact(self.bytes());
        chunks.map(|bytes| self.decode(bytes)).collect()
    }
}

/// Seeded bits (xorshift*, Vigna).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        // The low bits of successive states are alike.
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d).rotate_left(32)
    }

    /// From -`size` to `size`, rounded to the format.
    pub fn numbers(&mut self, count: usize, size: f64, format: Format) -> Vec<f64> {
        let number = |_| (self.bits() % 200_001) as f64 / 100_000.0 - 1.0;
        let numbers = (0..count).map(number);
        numbers.map(|value| format.round(size * value)).collect()
    }

    /// Multiples of `unit` from -`size` to `size`.
    pub fn multiples(&mut self, count: usize, unit: f64, size: f64) -> Vec<f64> {
        let most = (size / unit) as u64;
        let number = |_| (self.bits() % (2 * most + 1)) as f64 - most as f64;
        (0..count).map(number).map(|number| number * unit).collect()
    }
}

/// Fails at the first element that is further from the exact one than `tolerance` gives for it.
pub fn compare(what: &str, found: &[f64], exact: &[f64], tolerance: impl Fn(usize, f64) -> f64) {
    assert_eq!(found.len(), exact.len(), "{what}");
    for (at, (found, exact)) in found.iter().zip(exact).enumerate() {
        let allowed = tolerance(at, *exact);
        let apart = (found - exact).abs();
        // Not a comparison for "greater", which a NaN would pass.
        let is_close = apart <= allowed;
        assert!(
            is_close,
            "{what}: element {at} is {found:e}, not {exact:e} within {allowed:e}"
        );
    }
}

#[test]
fn formats_are_encoded_and_decoded() {
    for format in [F16, Bf16, E4m3, E5m2, I8] {
        let bytes = format.bytes();
        for bits in 0..1_u32 << (8 * bytes) {
            let bits = bits.to_le_bytes();
            let value = format.to_values(&bits[..bytes])[0];
            // The other zero is encoded as the positive one.
            if value.is_finite() && (value != 0.0 || bits == [0; 4]) {
                assert_eq!(format.round(value), value, "{format:?} {bits:x?}");
                assert_eq!(
                    format.to_bytes(&[value]),
                    bits[..bytes],
                    "{format:?} {value:e}"
                );
            }
        }
    }
    for value in [1.5_f32, -0.1, 3e38, 1e-40, -7e-3] {
        let value = f64::from(value);
        assert_eq!(F32.to_bytes(&[value]), (value as f32).to_le_bytes());
        assert_eq!(F32.to_values(&(value as f32).to_le_bytes()), [value]);
    }
    assert_eq!(I32.to_values(&I32.to_bytes(&[-70_000.0])), [-70_000.0]);
    // IEEE 754, binary16: 1, its successor, the largest, the smallest, -2.
    let words = [0x3c00_u16, 0x3c01, 0x7bff, 1, 0xc000].map(u16::to_le_bytes);
    let unit = (-10_f64).exp2();
    let expected = [1.0, 1.0 + unit, 65504.0, (-24_f64).exp2(), -2.0];
    assert_eq!(F16.to_values(&words.concat()), expected);
    assert_eq!(F16.round(1.0 + unit / 2.0), 1.0);
    assert_eq!(F16.round(1.0 + unit * 1.5), 1.0 + 2.0 * unit);
    // The largest numbers, one half, and the smallest (OCP, 8-bit floating point).
    let expected = [448.0, 0.5, (-9_f64).exp2()];
    assert_eq!(E4m3.to_values(&[0x7e, 0x30, 0x01]), expected);
    let expected = [57344.0, 0.5, (-16_f64).exp2()];
    assert_eq!(E5m2.to_values(&[0x7b, 0x38, 0x01]), expected);
}
