//! Random matrices that are made on the device (`co/fill.co`), and what is in them.

use croq_sys::half::{bf16, f16};
use croq_sys::{Device, DeviceTensor, Element, F8E4M3, Result};

use crate::kernels;

pub type Matrix<T> = DeviceTensor<T, (usize, usize)>;

/// Element types of operands and sums.
pub trait Number: Element {
    /// What rounding to it takes from a value, at most, as a part of the value.
    const ROUNDING: f64;

    fn of(value: f32) -> Self;
    fn value(self) -> f64;
}

/// Those that operands have.
pub trait Operand: Number {
    /// As `shapes.txt` calls it.
    const CALLED: &'static str;
    /// K of the instructions that multiply them.
    const DEPTH: usize;
    /// What one such instruction loses, at most, as a part of the largest number that it adds: tensor cores
    /// cut off what f32, or for f8 a sum of 14 bits, has no place for.
    const PLACE: f64;

    fn fill(out: &mut Matrix<Self>, seed: u32) -> Result<()>;

    fn filled(shape: [usize; 2], seed: u32, device: &Device) -> Result<Matrix<Self>> {
        let mut matrix = Matrix::zeros((shape[0], shape[1]), device)?;
        Self::fill(&mut matrix, seed)?;
        Ok(matrix)
    }

    /// Element `at` of such a matrix, counted row by row: what `co/fill.co` computes.
    fn element(at: usize, seed: u32) -> f64 {
        let mut x = (at as u32)
            .wrapping_mul(747_796_405)
            .wrapping_add(seed.wrapping_mul(2_891_336_453));
        x = (x ^ (x >> 16)).wrapping_mul(2_146_121_005);
        x = (x ^ (x >> 15)).wrapping_mul(2_221_713_035);
        x = (x ^ (x >> 16)) & 255;
        Self::of((x as f32 - 128.0) * 0.007_812_5).value()
    }
}

macro_rules! numbers {
    ($($T:ty, $rounding:expr;)*) => {$(
        impl Number for $T {
            const ROUNDING: f64 = $rounding;
            fn of(value: f32) -> Self { <$T>::from_f32(value) }
            fn value(self) -> f64 { self.to_f64() }
        }
    )*};
}
numbers!(f16, 1.0 / 2048.0; bf16, 1.0 / 256.0; F8E4M3, 1.0 / 16.0;);

impl Number for f32 {
    const ROUNDING: f64 = f32::EPSILON as f64 / 2.0;

    fn of(value: f32) -> Self {
        value
    }
    fn value(self) -> f64 {
        self.into()
    }
}

macro_rules! operands {
    ($($T:ty, $name:literal, $fill:ident, $depth:literal, $place:expr;)*) => {$(
        impl Operand for $T {
            const CALLED: &'static str = $name;
            const DEPTH: usize = $depth;
            const PLACE: f64 = $place;
            fn fill(out: &mut Matrix<Self>, seed: u32) -> Result<()> { kernels::$fill(out, seed) }
        }
    )*};
}
operands!(
    f16, "f16", fill_f16, 16, f32::EPSILON as f64 * 2.0;
    bf16, "bf16", fill_bf16, 16, f32::EPSILON as f64 * 2.0;
    F8E4M3, "f8", fill_f8, 32, 1.0 / 4096.0;
);

#[cfg(test)]
mod tests {
    use super::*;

    fn as_told<T: Operand>() -> Result<()> {
        let filled = T::filled([3, 300], 7, &Device::sim())?.to_host()?;
        let mut sum = 0.0;
        for (at, found) in filled.as_slice().iter().enumerate() {
            assert_eq!(found.value(), T::element(at, 7), "element {at}");
            sum += found.value();
        }
        assert!((sum / 900.0).abs() < 0.1 && sum != 0.0, "not random: {sum}");
        Ok(())
    }

    #[test]
    fn the_host_knows_what_the_device_fills_in() -> Result<()> {
        as_told::<f16>()?;
        as_told::<bf16>()?;
        as_told::<F8E4M3>()
    }
}
