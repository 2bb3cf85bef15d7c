//! Element types by their numbers in `cpp/primitives.cc`, and test inputs.

use half::{bf16, f16};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element {
    pub number: i64,
    pub name: &'static str,
    pub bytes: usize,
    pub kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Float,
    Signed,
    Unsigned,
    Bool,
}

const fn element(number: i64, name: &'static str, bytes: usize, kind: Kind) -> Element {
    Element {
        number,
        name,
        bytes,
        kind,
    }
}

pub const ALL: [Element; 15] = [
    element(0, "f64", 8, Kind::Float),
    element(1, "f32", 4, Kind::Float),
    element(2, "f16", 2, Kind::Float),
    element(3, "bf16", 2, Kind::Float),
    element(4, "f8_e4m3", 1, Kind::Float),
    element(5, "f8_e5m2", 1, Kind::Float),
    element(6, "s64", 8, Kind::Signed),
    element(7, "s32", 4, Kind::Signed),
    element(8, "s16", 2, Kind::Signed),
    element(9, "s8", 1, Kind::Signed),
    element(10, "u64", 8, Kind::Unsigned),
    element(11, "u32", 4, Kind::Unsigned),
    element(12, "u16", 2, Kind::Unsigned),
    element(13, "u8", 1, Kind::Unsigned),
    element(14, "bool", 1, Kind::Bool),
];

/// splitmix64.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

impl Element {
    fn push(self, bits: u64, to: &mut Vec<u8>) {
        to.extend_from_slice(&bits.to_le_bytes()[..self.bytes]);
    }

    pub fn bits(self, memory: &[u8], at: usize) -> u64 {
        let mut word = [0; 8];
        let start = at * self.bytes;
        word[..self.bytes].copy_from_slice(&memory[start..start + self.bytes]);
        u64::from_le_bytes(word)
    }

    /// The value, where it is a float.
    pub fn float(self, bits: u64) -> f64 {
        match self.number {
            0 => f64::from_bits(bits),
            1 => f64::from(f32::from_bits(bits as u32)),
            2 => f16::from_bits(bits as u16).to_f64(),
            3 => bf16::from_bits(bits as u16).to_f64(),
            // One bit pattern of each sign is a NaN; the payload does not matter here.
            4 if bits & 0x7f == 0x7f => f64::NAN,
            // The upper half of an f16.
            5 => f16::from_bits((bits << 8) as u16).to_f64(),
            _ => 0.0,
        }
    }

    pub fn is_nan(self, bits: u64) -> bool {
        self.kind == Kind::Float && self.float(bits).is_nan()
    }

    /// Every value of a type of one or two bytes; for others edge cases and random bits, half of
    /// them in the range of other types.
    pub fn inputs(self) -> Vec<u8> {
        let mut memory = Vec::new();
        match (self.kind, self.bytes) {
            (Kind::Bool, _) => memory.extend([0, 1]),
            (_, 1) => (0..=0xff).for_each(|bits| self.push(bits, &mut memory)),
            (_, 2) => (0..=0xffff).for_each(|bits| self.push(bits, &mut memory)),
            (Kind::Float, _) => {
                let mut random = Random(self.bytes as u64);
                for edge in FLOATS {
                    for value in [edge, edge.next_up(), edge.next_down()] {
                        self.push_float(value, &mut memory);
                        self.push_float(-value, &mut memory);
                    }
                }
                for at in 0..1 << 15 {
                    let bits = random.next();
                    let spread = f64::from(bits as i32) * 2f64.powi((bits >> 56) as i32 % 64 - 48);
                    match at % 2 {
                        0 => self.push(bits, &mut memory),
                        _ => self.push_float(spread, &mut memory),
                    }
                }
            }
            _ => {
                let mut random = Random(self.number as u64);
                for shift in 0..self.bytes * 8 {
                    for near in -2i64..=2 {
                        self.push((1u64 << shift).wrapping_add_signed(near), &mut memory);
                        self.push(
                            (1u64 << shift).wrapping_neg().wrapping_add_signed(near),
                            &mut memory,
                        );
                    }
                }
                for at in 0..1u32 << 15 {
                    self.push(random.next() >> (at % 64), &mut memory);
                }
            }
        }
        memory
    }

    fn push_float(self, value: f64, to: &mut Vec<u8>) {
        match self.bytes {
            8 => self.push(value.to_bits(), to),
            _ => self.push(u64::from((value as f32).to_bits()), to),
        }
    }

    /// Random elements within a range, for functions that are defined there.
    pub fn within(self, (low, high): (f64, f64), count: usize) -> Vec<u8> {
        let mut memory = Vec::new();
        for at in 0..count {
            let value = low + (high - low) * at as f64 / count as f64;
            match self.number {
                0 | 1 => self.push_float(value, &mut memory),
                2 => self.push(u64::from(f16::from_f64(value).to_bits()), &mut memory),
                _ => self.push(u64::from(bf16::from_f64(value).to_bits()), &mut memory),
            }
        }
        memory
    }

    /// Elements of random bits. Integers are never zero: they may be divisors.
    pub fn random(self, count: usize, seed: u64) -> Vec<u8> {
        let mut random = Random(seed);
        let mut memory = Vec::new();
        while memory.len() < count * self.bytes {
            let bits = random.next();
            // More floats near 1: in sums of other exponents one operand is lost.
            let bits = match (self.number, bits % 2) {
                (0, 0) => (bits >> 12) | 0x3ff0_0000_0000_0000,
                (1, 0) => (bits >> 41) | 0x3f80_0000,
                (2, 0) => (bits >> 52) | 0x3c00,
                (3, 0) => (bits >> 56) | 0x3f80,
                _ => bits,
            };
            let mask = u64::MAX >> (64 - 8 * self.bytes as u32);
            if self.kind != Kind::Float && bits & mask == 0 {
                continue;
            }
            self.push(bits, &mut memory);
        }
        memory
    }
}

/// The limits of formats, and the midpoints between their values.
const FLOATS: [f64; 24] = [
    0.0,
    0.5,
    1.0,
    1.5,
    2.5,
    127.5,
    128.0,
    255.5,
    448.0,
    464.0,
    57344.0,
    61440.0,
    65504.0,
    65520.0,
    2147483647.5,
    4294967295.5,
    9.223_372_036_854_776e18,
    1.844_674_407_370_955_2e19,
    3.402_823_466_385_288_6e38,
    1.175_494_350_822_287_5e-38,
    5.960_464_477_539_063e-8,
    0.001953125,
    f64::INFINITY,
    f64::NAN,
];
