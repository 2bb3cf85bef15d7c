//! Reproducible random numbers: SplitMix64 (Steele, Lea and Flood, 2014). The same seed gives the
//! same tensor on every machine and in every version of this crate.

const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The number that follows the state `state`.
pub(crate) fn scrambled(state: u64) -> u64 {
    let mut z = state.wrapping_add(STEP);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A stream of random numbers.
pub struct Generator {
    state: u64,
}

impl Generator {
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    fn next(&mut self) -> u64 {
        let number = scrambled(self.state);
        self.state = self.state.wrapping_add(STEP);
        number
    }

    /// Uniform in `0..width`; 0 if that is empty. It multiplies instead of rejecting: the bias is
    /// at most `width / 2^64`.
    pub(crate) fn below(&mut self, width: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(width)) >> 64) as u64
    }

    /// Uniform in `0.0..1.0`, a multiple of 2^-53.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Element, F8E4M3};
    use half::f16;

    #[test]
    fn the_reference_sequence() {
        // The published outputs of SplitMix64 for seed 1234567.
        let mut g = Generator::new(1_234_567);
        assert_eq!(
            [g.next(), g.next(), g.next()],
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }

    #[test]
    fn integers_fill_the_half_open_range() {
        let mut g = Generator::new(7);
        let mut seen = [0usize; 20];
        for _ in 0..2000 {
            let v = i32::random(&mut g, &(-10..10));
            seen[(v + 10) as usize] += 1;
        }
        assert!(seen.iter().all(|&n| n > 50), "{seen:?}");
        let _ = u64::random(&mut g, &(0..u64::MAX));
        let _ = i64::random(&mut g, &(i64::MIN..i64::MAX));
        assert_eq!(i8::random(&mut g, &(5..5)), 5);
    }

    #[test]
    fn floats_stay_below_the_end() {
        let mut g = Generator::new(1);
        for _ in 0..5000 {
            let v = f32::random(&mut g, &(-1.0..1.0));
            assert!((-1.0..1.0).contains(&v));
            let v = f16::random(&mut g, &(0.0..1.0)).to_f32();
            assert!((0.0..1.0).contains(&v));
            let v = F8E4M3::random(&mut g, &(0.0..1.0)).to_f32();
            assert!((0.0..1.0).contains(&v));
        }
    }
}
