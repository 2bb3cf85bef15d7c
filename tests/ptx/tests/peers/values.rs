//! Numbers in the formats of the kernels, and comparisons.

/// A format of elements in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    F32,
    F16,
    Bf16,
}

impl Format {
    pub fn bytes(self) -> usize {
        match self {
            Format::F32 => 4,
            Format::F16 | Format::Bf16 => 2,
        }
    }

    /// Bits of the significand, the implicit one among them.
    fn precision(self) -> i32 {
        match self {
            Format::F32 => 24,
            Format::F16 => 11,
            Format::Bf16 => 8,
        }
    }

    /// The exponent of the smallest normal number.
    fn least(self) -> i32 {
        match self {
            Format::F16 => -14,
            Format::F32 | Format::Bf16 => -126,
        }
    }

    /// Half of the distance between neighbours at this value.
    pub fn rounding(self, value: f64) -> f64 {
        let exponent = match value == 0.0 {
            true => self.least(),
            false => (value.abs().log2().floor() as i32).max(self.least()),
        };
        f64::from(exponent - self.precision()).exp2()
    }

    /// The nearest number of the format, ties to even; numbers here are within its range.
    pub fn round(self, value: f64) -> f64 {
        let unit = 2.0 * self.rounding(value);
        (value / unit).round_ties_even() * unit
    }

    fn encode(self, value: f64) -> Vec<u8> {
        let single = (value as f32).to_bits();
        match self {
            Format::F32 => single.to_le_bytes().to_vec(),
            Format::Bf16 => ((single >> 16) as u16).to_le_bytes().to_vec(),
            Format::F16 => {
                let sign = if value < 0.0 { 0x8000 } else { 0 };
                let size = value.abs();
                let bits = match size < (-14_f64).exp2() {
                    true => (size * 24_f64.exp2()) as u16,
                    // The exponent's bias is 127 in f32, and 15 in f16.
                    false => (((single & 0x7fff_ffff) - (112 << 23)) >> 13) as u16,
                };
                (sign | bits).to_le_bytes().to_vec()
            }
        }
    }

    fn decode(self, bytes: &[u8]) -> f64 {
        let single = |bits: u32| f64::from(f32::from_bits(bits));
        match *bytes {
            [a, b, c, d] => single(u32::from_le_bytes([a, b, c, d])),
            [a, b] => {
                let bits = u16::from_le_bytes([a, b]);
                if self == Format::Bf16 {
                    return single(u32::from(bits) << 16);
                }
                let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
                let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 0x3ff));
                sign * match exponent {
                    0 => fraction * (-24_f64).exp2(),
                    31 if fraction == 0.0 => f64::INFINITY,
                    31 => f64::NAN,
                    _ => (1.0 + fraction / 1024.0) * f64::from(exponent - 15).exp2(),
                }
            }
            _ => panic!("{} bytes", bytes.len()),
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

/// Seeded bits (xorshift).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 16
    }

    /// From -`size` to `size`, rounded to the format.
    pub fn numbers(&mut self, count: usize, size: f64, format: Format) -> Vec<f64> {
        let number = |_| (self.next() % 200_001) as f64 / 100_000.0 - 1.0;
        let numbers = (0..count).map(number);
        numbers.map(|value| format.round(size * value)).collect()
    }

    /// Multiples of 1/64 from -1 to 1: sums of a few hundred of their products are exact in f32.
    pub fn short_numbers(&mut self, count: usize) -> Vec<f64> {
        let number = |_| ((self.next() % 129) as f64 - 64.0) / 64.0;
        (0..count).map(number).collect()
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
fn half_precision_is_encoded_and_decoded() {
    for format in [Format::F16, Format::Bf16] {
        for bits in 0..=u16::MAX {
            let value = format.to_values(&bits.to_le_bytes())[0];
            if value.is_finite() && bits != 0x8000 {
                assert_eq!(format.round(value), value, "{format:?} {bits:x}");
                assert_eq!(
                    format.to_bytes(&[value]),
                    bits.to_le_bytes(),
                    "{format:?} {value:e}"
                );
            }
        }
    }
    // Values of the binary16 format of IEEE 754: 1, its successor, the largest, the smallest.
    let values = [0x3c00_u16, 0x3c01, 0x7bff, 1, 0xc000]
        .map(u16::to_le_bytes)
        .concat();
    let unit = (-10_f64).exp2();
    let expected = [1.0, 1.0 + unit, 65504.0, (-24_f64).exp2(), -2.0];
    assert_eq!(Format::F16.to_values(&values), expected);
    assert_eq!(Format::F16.round(1.0 + unit / 2.0), 1.0);
    assert_eq!(Format::F16.round(1.0 + unit * 1.5), 1.0 + 2.0 * unit);
}
