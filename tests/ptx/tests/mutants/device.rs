//! A machine with one kernel, its buffers, and what a mutant did there.

use std::collections::BTreeSet;

use croq_ptx::machine::tensor_map::{DataType, Swizzle, TensorMap};
use croq_ptx::machine::{Asynchrony, Launch, Machine};

/// How a kernel is executed.
#[derive(Clone, Copy, Debug)]
pub struct How {
    pub asynchrony: Asynchrony,
    pub seed: u64,
    pub instruction_limit: u64,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    /// Not PTX, or a form that the machine refuses: no mutant.
    Invalid(String),
    Wrong(String),
    Report(String),
}

#[derive(Clone, Default, Debug)]
pub struct Done {
    pub lines: BTreeSet<u32>,
    pub warp_instructions: u64,
}

pub struct Device {
    pub machine: Machine,
    how: How,
    warp_instructions: u64,
}

impl Device {
    pub fn new(text: &str, how: &How) -> Result<Device, Failure> {
        let machine = Machine::load(text).map_err(|error| Failure::Invalid(error.to_string()))?;
        Ok(Device {
            machine,
            how: *how,
            warp_instructions: 0,
        })
    }

    pub fn bytes(&mut self, name: &str, bytes: &[u8]) -> u64 {
        let address = self.machine.allocate(name, bytes.len());
        self.machine.write(address, bytes).unwrap();
        address
    }

    pub fn floats(&mut self, name: &str, values: &[f32]) -> u64 {
        let bytes: Vec<u8> = values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        self.bytes(name, &bytes)
    }

    pub fn halves(&mut self, name: &str, values: &[f32]) -> u64 {
        let halves = values.iter().map(|value| half(*value));
        let bytes: Vec<u8> = halves.flat_map(u16::to_le_bytes).collect();
        self.bytes(name, &bytes)
    }

    /// Croq's kernels begin with their context.
    pub fn launch(
        &mut self,
        entry: &str,
        launch: &Launch,
        arguments: &[&[u8]],
    ) -> Result<(), Failure> {
        let launch = Launch {
            asynchrony: self.how.asynchrony,
            seed: self.how.seed,
            instruction_limit: self.how.instruction_limit,
            ..*launch
        };
        let all: Vec<&[u8]> = [&[0; 16][..]]
            .into_iter()
            .chain(arguments.iter().copied())
            .collect();
        let counts = self
            .machine
            .launch(entry, &launch, &all)
            .map_err(|report| {
                let text = report.to_string();
                match report.message.contains("is not implemented") {
                    true => Failure::Invalid(text),
                    false => Failure::Report(text),
                }
            })?;
        self.warp_instructions += counts.warp_instructions;
        Ok(())
    }

    pub fn done(&self) -> Done {
        Done {
            lines: self.machine.executed_lines(),
            warp_instructions: self.warp_instructions,
        }
    }

    pub fn expect_words(&self, address: u64, expected: &[u32]) -> Result<Done, Failure> {
        let bytes = self.machine.read(address, expected.len() * 4).unwrap();
        let found = bytes
            .chunks_exact(4)
            .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        self.compare(found, expected)
    }

    pub fn expect_halves(&self, address: u64, expected: &[u16]) -> Result<Done, Failure> {
        let bytes = self.machine.read(address, expected.len() * 2).unwrap();
        let found = bytes
            .chunks_exact(2)
            .map(|b| u16::from_le_bytes([b[0], b[1]]));
        self.compare(found, expected)
    }

    fn compare<T: PartialEq + std::fmt::Debug>(
        &self,
        found: impl Iterator<Item = T>,
        expected: &[T],
    ) -> Result<Done, Failure> {
        for (at, (found, expected)) in found.zip(expected).enumerate() {
            if found != *expected {
                let message = format!("element {at} is {found:x?} instead of {expected:x?}");
                return Err(Failure::Wrong(message));
            }
        }
        Ok(self.done())
    }

    /// Relative to the larger of the exact result and `floor`.
    pub fn expect_close(
        &self,
        found: impl Iterator<Item = f64>,
        expected: &[f64],
        tolerance: f64,
        floor: f64,
    ) -> Result<Done, Failure> {
        for (at, (found, expected)) in found.zip(expected).enumerate() {
            // In this order a NaN is wrong.
            let close = (found - expected).abs() <= tolerance * expected.abs().max(floor);
            if !close {
                let message = format!("element {at} is {found} instead of {expected}");
                return Err(Failure::Wrong(message));
            }
        }
        Ok(self.done())
    }
}

/// f16 of a number that is one.
pub fn half(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 16 & 0x8000) as u16;
    if value == 0.0 {
        return sign;
    }
    let exponent = (bits >> 23 & 0xff) as i32 - 112;
    assert!((1..31).contains(&exponent) && bits & 0x1fff == 0, "{value}");
    sign | (exponent as u16) << 10 | (bits >> 13 & 0x3ff) as u16
}

pub fn from_half(bits: u16) -> f64 {
    let magnitude = match bits >> 10 & 31 {
        0 => f64::from(bits & 0x3ff) / 1024.0 * 2_f64.powi(-14),
        31 => f64::NAN,
        exponent => (1.0 + f64::from(bits & 0x3ff) / 1024.0) * 2_f64.powi(i32::from(exponent) - 15),
    };
    if bits & 0x8000 == 0 {
        magnitude
    } else {
        -magnitude
    }
}

/// Rows of f16 or f32, and a box with rows of 128 bytes that are swizzled if it is of f16.
pub fn map(address: u64, data_type: DataType, extents: [u64; 3], boxes: [u32; 3]) -> [u8; 128] {
    let row = extents[0] * data_type.bytes();
    TensorMap {
        data_type,
        rank: if extents[2] == 0 { 2 } else { 3 },
        address,
        extents: [extents[0], extents[1], extents[2].max(1), 1, 1],
        strides: [row, row * extents[1], 0, 0],
        box_extents: [boxes[0], boxes[1], boxes[2], 1, 1],
        element_strides: [1; 5],
        swizzle: match data_type {
            DataType::F16 => Swizzle::Bytes128,
            _ => Swizzle::default(),
        },
        ..TensorMap::default()
    }
    .encode()
}

/// Integers from -`most` to `most`.
pub fn integers(count: usize, seed: u32, most: u32) -> Vec<f32> {
    let mut state = seed;
    let next = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        ((state >> 16) % (2 * most + 1)) as f32 - most as f32
    };
    (0..count).map(next).collect()
}

/// lhs · rhsᵀ
pub fn product(lhs: &[f32], rhs: &[f32], k: usize) -> Vec<f32> {
    let rows = || rhs.chunks(k);
    let element = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum();
    lhs.chunks(k)
        .flat_map(|a| rows().map(move |b| element(a, b)))
        .collect()
}
