//! Every conversion between element types against an exact reference, and the arithmetic of the
//! narrow floats.
//!
//! The reference for a narrow float is the table of all its values: the nearest one is the result,
//! and of two the one with an even encoding. The table is decoded here, from the definitions of the
//! formats.

// Links the compiled C++.
use croq_conformance as _;

/// splitmix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// A narrow floating format.
struct Format {
    exponent_bits: u32,
    mantissa_bits: u32,
    /// The largest exponent is used for ordinary numbers, except for one encoding, a NaN.
    finite_only: bool,
    saturates: bool,
    nan: u32,
}

const F16: Format = Format {
    exponent_bits: 5,
    mantissa_bits: 10,
    finite_only: false,
    saturates: false,
    nan: 0x7fff,
};
const BF16: Format = Format {
    exponent_bits: 8,
    mantissa_bits: 7,
    finite_only: false,
    saturates: false,
    nan: 0x7fff,
};
const E4M3: Format = Format {
    exponent_bits: 4,
    mantissa_bits: 3,
    finite_only: true,
    saturates: true,
    nan: 0x7f,
};
const E5M2: Format = Format {
    exponent_bits: 5,
    mantissa_bits: 2,
    finite_only: false,
    saturates: true,
    nan: 0x7f,
};

impl Format {
    fn sign(&self) -> u32 {
        1 << (self.exponent_bits + self.mantissa_bits)
    }

    fn decode(&self, bits: u32) -> f64 {
        let mantissa = bits & ((1 << self.mantissa_bits) - 1);
        let exponent = (bits & (self.sign() - 1)) >> self.mantissa_bits;
        let last = (1 << self.exponent_bits) - 1;
        let bias = (1 << (self.exponent_bits - 1)) - 1;
        let ones = (1 << self.mantissa_bits) - 1;
        let scale = |e: i32| 2f64.powi(e - self.mantissa_bits as i32);
        let size = if exponent == last && !self.finite_only {
            if mantissa == 0 {
                f64::INFINITY
            } else {
                f64::NAN
            }
        } else if exponent == last && mantissa == ones {
            f64::NAN
        } else if exponent == 0 {
            f64::from(mantissa) * scale(1 - bias)
        } else {
            f64::from(mantissa + ones + 1) * scale(exponent as i32 - bias)
        };
        if bits & self.sign() != 0 { -size } else { size }
    }

    /// All nonnegative finite values, by encoding.
    fn table(&self) -> Vec<f64> {
        (0..self.sign())
            .map(|bits| self.decode(bits))
            .take_while(|v| v.is_finite())
            .collect()
    }

    /// Rounds a magnitude, given as its comparison with any f64.
    fn nearest(&self, table: &[f64], compare: impl Fn(f64) -> std::cmp::Ordering) -> u32 {
        use std::cmp::Ordering::*;
        let above = table.partition_point(|&v| compare(v) != Less);
        let low = above - 1;
        // The step after the largest value, for the rounding of overflows.
        let next = table.get(above).copied().unwrap_or_else(|| {
            let top = table[table.len() - 1];
            top + (top - table[table.len() - 2])
        });
        let bits = match compare((table[low] + next) / 2.0) {
            Less => low,
            Greater => above,
            Equal => low + low % 2,
        };
        if bits == table.len() && self.saturates {
            bits as u32 - 1
        } else {
            bits as u32
        }
    }

    fn round(&self, table: &[f64], v: f64) -> u32 {
        if v.is_nan() {
            return self.nan;
        }
        let sign = if v.is_sign_negative() { self.sign() } else { 0 };
        sign | self.nearest(table, |other| v.abs().total_cmp(&other))
    }

    fn round_integer(&self, table: &[f64], v: i128) -> u32 {
        let sign = if v < 0 { self.sign() } else { 0 };
        let size = v.unsigned_abs();
        sign | self.nearest(table, |other| {
            if size < 1 << 53 {
                (size as f64).total_cmp(&other)
            } else if other >= 2f64.powi(100) {
                std::cmp::Ordering::Less
            } else if other < 2f64.powi(52) {
                std::cmp::Ordering::Greater
            } else {
                size.cmp(&(other as u128))
            }
        })
    }

    /// Inputs around all values at which rounding changes.
    fn edges(&self, table: &[f64]) -> Vec<f64> {
        let mut edges = vec![
            0.0,
            f64::INFINITY,
            f64::NAN,
            f64::MAX,
            f64::MIN_POSITIVE,
            5e-324,
        ];
        for pair in table.windows(2) {
            let middle = (pair[0] + pair[1]) / 2.0;
            for v in [pair[0], pair[1], middle] {
                edges.extend([v, v.next_up(), v.next_down()]);
                let near = v as f32;
                edges.extend([near, near.next_up(), near.next_down()].map(f64::from));
            }
        }
        let top = table[table.len() - 1];
        let step = top - table[table.len() - 2];
        for v in [top + step / 2.0, top + step, top * 2.0, top * 1e6] {
            edges.extend([
                v,
                v.next_up(),
                v.next_down(),
                f64::from((v as f32).next_down()),
            ]);
        }
        let negative: Vec<f64> = edges.iter().map(|v| -v).collect();
        edges.extend(negative);
        edges
    }
}

macro_rules! conversion {
    ($name:ident, $from:ty, $to:ty) => {{
        unsafe extern "C" {
            fn $name(from: *const $from, to: *mut $to, count: usize);
        }
        |from: &[$from]| -> Vec<$to> {
            let mut to = vec![<$to>::default(); from.len()];
            // SAFETY: both have this many elements; a Rust bool is a C++ bool.
            unsafe { $name(from.as_ptr(), to.as_mut_ptr(), from.len()) };
            to
        }
    }};
}

fn random_f64(random: &mut Random, count: usize) -> Vec<f64> {
    // All exponents, more often those near 1.
    (0..count)
        .map(|i| match i % 3 {
            0 => f64::from_bits(random.next()),
            1 => f64::from(f32::from_bits(random.next() as u32)),
            _ => (random.next() as i64 as f64) * 2f64.powi(-(random.next() as i32 & 63) - 20),
        })
        .collect()
}

fn integers(random: &mut Random) -> Vec<i64> {
    let mut list = vec![0, 1, -1, i64::MAX, i64::MIN, i64::MIN + 1];
    for shift in 0..63 {
        let power = 1i64 << shift;
        for v in [
            power,
            power - 1,
            power + 1,
            power + (power >> 8),
            power + (power >> 9),
        ] {
            list.extend([
                v,
                -v,
                v.wrapping_add(power >> 1),
                v.wrapping_add((power >> 8) + 1),
            ]);
        }
        list.push(power | (power >> 8) | 1);
    }
    list.extend((0..50_000).map(|_| (random.next() as i64) >> (random.next() & 63)));
    list
}

macro_rules! narrow {
    ($test:ident, $format:expr, $bits:ty, [$($from:ident $source:ty),*], $from_f32:ident,
     $from_f64:ident, $to_f32:ident, $to_f64:ident, $to_self:ident, $from_bool:ident, $to_bool:ident,
     [$($to:ident $target:ty),*]) => {
        #[test]
        fn $test() {
            let format = $format;
            let table = format.table();
            let all: Vec<$bits> = (0..=<$bits>::MAX).collect();

            let wide = conversion!($to_f32, $bits, f32)(&all);
            let wider = conversion!($to_f64, $bits, f64)(&all);
            for (&bits, (&wide, &wider)) in all.iter().zip(wide.iter().zip(&wider)) {
                let exact = format.decode(u32::from(bits));
                let bad = format!("{bits:#x}: {wide} {wider}, not {exact}");
                assert!(f64::from(wide).to_bits() == exact.to_bits() || exact.is_nan() && wide.is_nan(), "{bad}");
                assert!(wider.to_bits() == exact.to_bits() || exact.is_nan() && wider.is_nan(), "{bad}");
            }
            assert_eq!(conversion!($to_self, $bits, $bits)(&all), all);

            let mut random = Random(1);
            let mut inputs = format.edges(&table);
            inputs.extend(random_f64(&mut random, 60_000));
            let expected: Vec<u32> = inputs.iter().map(|&v| format.round(&table, v)).collect();
            for ((found, expected), input) in
                conversion!($from_f64, f64, $bits)(&inputs).iter().zip(&expected).zip(&inputs)
            {
                assert_eq!(u32::from(*found), *expected, "{input:e}");
            }
            let inputs: Vec<f32> = inputs.iter().map(|&v| v as f32).collect();
            for (found, &input) in conversion!($from_f32, f32, $bits)(&inputs).iter().zip(&inputs) {
                let expected = format.round(&table, f64::from(input));
                assert_eq!(u32::from(*found), expected, "{input:e}");
            }

            let numbers = integers(&mut random);
            $({
                let inputs: Vec<$source> = numbers.iter().map(|&v| v as $source).collect();
                for (found, &input) in conversion!($from, $source, $bits)(&inputs).iter().zip(&inputs) {
                    let expected = format.round_integer(&table, input as i128);
                    assert_eq!(u32::from(*found), expected, "{} {input}", stringify!($from));
                }
            })*

            // Toward zero and clamped, as Rust's `as` is.
            $({
                for (found, &bits) in conversion!($to, $bits, $target)(&all).iter().zip(&all) {
                    let expected = format.decode(u32::from(bits)) as $target;
                    assert_eq!(*found, expected, "{} {bits:#x}", stringify!($to));
                }
            })*

            let truth = conversion!($to_bool, $bits, bool)(&all);
            for (&bits, &found) in all.iter().zip(&truth) {
                assert_eq!(found, format.decode(u32::from(bits)) != 0.0, "{bits:#x}");
            }
            let one = format.round(&table, 1.0) as $bits;
            assert_eq!(conversion!($from_bool, bool, $bits)(&[false, true]), [0, one]);
        }
    };
}

#[rustfmt::skip]
narrow!(f16_converts, F16, u16,
    [conf_s64_to_f16 i64, conf_u64_to_f16 u64, conf_s32_to_f16 i32, conf_u32_to_f16 u32,
     conf_s16_to_f16 i16, conf_u16_to_f16 u16, conf_s8_to_f16 i8, conf_u8_to_f16 u8],
    conf_f32_to_f16, conf_f64_to_f16, conf_f16_to_f32, conf_f16_to_f64, conf_f16_to_f16,
    conf_bool_to_f16, conf_f16_to_bool,
    [conf_f16_to_s64 i64, conf_f16_to_u64 u64, conf_f16_to_s32 i32, conf_f16_to_u32 u32,
     conf_f16_to_s16 i16, conf_f16_to_u16 u16, conf_f16_to_s8 i8, conf_f16_to_u8 u8]);
#[rustfmt::skip]
narrow!(bf16_converts, BF16, u16,
    [conf_s64_to_bf16 i64, conf_u64_to_bf16 u64, conf_s32_to_bf16 i32, conf_u32_to_bf16 u32,
     conf_s16_to_bf16 i16, conf_u16_to_bf16 u16, conf_s8_to_bf16 i8, conf_u8_to_bf16 u8],
    conf_f32_to_bf16, conf_f64_to_bf16, conf_bf16_to_f32, conf_bf16_to_f64, conf_bf16_to_bf16,
    conf_bool_to_bf16, conf_bf16_to_bool,
    [conf_bf16_to_s64 i64, conf_bf16_to_u64 u64, conf_bf16_to_s32 i32, conf_bf16_to_u32 u32,
     conf_bf16_to_s16 i16, conf_bf16_to_u16 u16, conf_bf16_to_s8 i8, conf_bf16_to_u8 u8]);
#[rustfmt::skip]
narrow!(f8_e4m3_converts, E4M3, u8,
    [conf_s64_to_f8_e4m3 i64, conf_u64_to_f8_e4m3 u64, conf_s32_to_f8_e4m3 i32, conf_u32_to_f8_e4m3 u32,
     conf_s16_to_f8_e4m3 i16, conf_u16_to_f8_e4m3 u16, conf_s8_to_f8_e4m3 i8, conf_u8_to_f8_e4m3 u8],
    conf_f32_to_f8_e4m3, conf_f64_to_f8_e4m3, conf_f8_e4m3_to_f32, conf_f8_e4m3_to_f64,
    conf_f8_e4m3_to_f8_e4m3, conf_bool_to_f8_e4m3, conf_f8_e4m3_to_bool,
    [conf_f8_e4m3_to_s64 i64, conf_f8_e4m3_to_u64 u64, conf_f8_e4m3_to_s32 i32, conf_f8_e4m3_to_u32 u32,
     conf_f8_e4m3_to_s16 i16, conf_f8_e4m3_to_u16 u16, conf_f8_e4m3_to_s8 i8, conf_f8_e4m3_to_u8 u8]);
#[rustfmt::skip]
narrow!(f8_e5m2_converts, E5M2, u8,
    [conf_s64_to_f8_e5m2 i64, conf_u64_to_f8_e5m2 u64, conf_s32_to_f8_e5m2 i32, conf_u32_to_f8_e5m2 u32,
     conf_s16_to_f8_e5m2 i16, conf_u16_to_f8_e5m2 u16, conf_s8_to_f8_e5m2 i8, conf_u8_to_f8_e5m2 u8],
    conf_f32_to_f8_e5m2, conf_f64_to_f8_e5m2, conf_f8_e5m2_to_f32, conf_f8_e5m2_to_f64,
    conf_f8_e5m2_to_f8_e5m2, conf_bool_to_f8_e5m2, conf_f8_e5m2_to_bool,
    [conf_f8_e5m2_to_s64 i64, conf_f8_e5m2_to_u64 u64, conf_f8_e5m2_to_s32 i32, conf_f8_e5m2_to_u32 u32,
     conf_f8_e5m2_to_s16 i16, conf_f8_e5m2_to_u16 u16, conf_f8_e5m2_to_s8 i8, conf_f8_e5m2_to_u8 u8]);

#[test]
fn f16_and_bf16_agree_with_the_half_crate() {
    let mut random = Random(2);
    let inputs: Vec<f32> = (0..100_000)
        .map(|_| f32::from_bits(random.next() as u32))
        .collect();
    let f16 = conversion!(conf_f32_to_f16, f32, u16)(&inputs);
    let bf16 = conversion!(conf_f32_to_bf16, f32, u16)(&inputs);
    for ((&input, &f16), &bf16) in inputs.iter().zip(&f16).zip(&bf16) {
        if input.is_nan() {
            assert_eq!((f16, bf16), (0x7fff, 0x7fff));
        } else {
            assert_eq!(f16, half::f16::from_f32(input).to_bits(), "{input:e}");
            assert_eq!(bf16, half::bf16::from_f32(input).to_bits(), "{input:e}");
        }
    }
}

/// The conversions that are equal to Rust's `as`.
macro_rules! as_rust {
    ($inputs:expr, $from:ty, [$($name:ident $to:ty),*]) => {{
        let inputs: Vec<$from> = $inputs;
        $(for (found, &input) in conversion!($name, $from, $to)(&inputs).iter().zip(&inputs) {
            let expected = input as $to;
            let both_nan = format!("{found:?}{expected:?}") == "NaNNaN";
            assert!(*found == expected || both_nan, "{} {input:?}: {found:?}", stringify!($name));
        })*
    }};
}

#[test]
fn ordinary_types_convert_as_in_rust() {
    let mut random = Random(3);
    let numbers = integers(&mut random);
    let mut floats: Vec<f64> = random_f64(&mut random, 50_000);
    for &v in &numbers {
        floats.extend([
            v as f64,
            v as f64 + 0.5,
            v as f64 - 0.5,
            (v as f64).next_up(),
        ]);
        floats.extend([
            f64::from(v as f32),
            f64::from((v as f32).next_down()),
            (v as u64) as f64,
        ]);
    }
    floats.extend([f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0]);
    let as_of = |v: &i64| *v;
    as_rust!(floats.clone(), f64, [conf_f64_to_f32 f32, conf_f64_to_s64 i64, conf_f64_to_u64 u64,
        conf_f64_to_s32 i32, conf_f64_to_u32 u32, conf_f64_to_s16 i16, conf_f64_to_u16 u16,
        conf_f64_to_s8 i8, conf_f64_to_u8 u8]);
    as_rust!(floats.iter().map(|&v| v as f32).collect(), f32, [conf_f32_to_f64 f64,
        conf_f32_to_s64 i64, conf_f32_to_u64 u64, conf_f32_to_s32 i32, conf_f32_to_u32 u32,
        conf_f32_to_s16 i16, conf_f32_to_u16 u16, conf_f32_to_s8 i8, conf_f32_to_u8 u8]);
    as_rust!(numbers.iter().map(as_of).collect(), i64, [conf_s64_to_f64 f64, conf_s64_to_f32 f32,
        conf_s64_to_u64 u64, conf_s64_to_s32 i32, conf_s64_to_u16 u16, conf_s64_to_s8 i8]);
    as_rust!(numbers.iter().map(|&v| v as u64).collect(), u64, [conf_u64_to_f64 f64,
        conf_u64_to_f32 f32, conf_u64_to_s64 i64, conf_u64_to_u32 u32, conf_u64_to_s16 i16]);
    as_rust!(numbers.iter().map(|&v| v as i32).collect(), i32, [conf_s32_to_f32 f32,
        conf_s32_to_f64 f64, conf_s32_to_s64 i64, conf_s32_to_u64 u64, conf_s32_to_u8 u8]);
    as_rust!(numbers.iter().map(|&v| v as u32).collect(), u32, [conf_u32_to_f32 f32,
        conf_u32_to_s64 i64, conf_u32_to_s32 i32, conf_u32_to_s16 i16]);
    as_rust!(vec![false, true], bool, [conf_bool_to_s64 i64, conf_bool_to_u8 u8]);
    let truth = conversion!(conf_f64_to_bool, f64, bool)(&floats);
    assert!(
        floats
            .iter()
            .zip(&truth)
            .all(|(&v, &found)| found == (v != 0.0))
    );
    let truth = conversion!(conf_s64_to_bool, i64, bool)(&numbers);
    assert!(
        numbers
            .iter()
            .zip(&truth)
            .all(|(&v, &found)| found == (v != 0))
    );
    assert_eq!(
        conversion!(conf_bool_to_f32, bool, f32)(&[false, true]),
        [0.0, 1.0]
    );
}

/// The sum rounded to odd, so that a second rounding has no effect on the result.
fn exact_sum(a: f64, b: f64) -> f64 {
    let sum = a + b;
    if !sum.is_finite() {
        return sum;
    }
    let (a_part, b_part) = (sum - b, sum - (sum - b));
    let lost = (a - a_part) + (b - b_part);
    if lost == 0.0 || sum.to_bits() & 1 == 1 {
        sum
    } else if (lost > 0.0) == (sum > 0.0) {
        f64::from_bits(sum.to_bits() | 1)
    } else {
        f64::from_bits((sum.to_bits() - 1) | 1)
    }
}

macro_rules! arithmetic {
    ($test:ident, $format:expr, $bits:ty, $name:ident) => {
        #[test]
        fn $test() {
            unsafe extern "C" {
                fn $name(op: i32, a: $bits, b: $bits) -> $bits;
            }
            let format = $format;
            let table = format.table();
            let mut random = Random(4);
            for _ in 0..15_000 {
                let (a, b) = (random.next() as $bits, random.next() as $bits);
                let (x, y) = (format.decode(u32::from(a)), format.decode(u32::from(b)));
                let results = [exact_sum(x, y), exact_sum(x, -y), x * y, x / y];
                for (op, exact) in results.into_iter().enumerate() {
                    // SAFETY: a function of numbers.
                    let found = unsafe { $name(op as i32, a, b) };
                    let expected = format.round(&table, exact);
                    assert_eq!(u32::from(found), expected, "{x:e} {y:e} op {op}");
                }
                let truth = [x < y, x <= y, x > y, x >= y, x == y, x != y];
                for (op, expected) in truth.into_iter().enumerate() {
                    // SAFETY: as above.
                    let found = unsafe { $name(op as i32 + 4, a, b) } != 0;
                    assert_eq!(found, expected, "{x:e} {y:e} op {op}");
                }
                // SAFETY: as above.
                let negated = unsafe { $name(10, a, b) };
                assert_eq!(u32::from(negated), u32::from(a) ^ format.sign());
            }
        }
    };
}
arithmetic!(f16_computes, F16, u16, conf_f16_arithmetic);
arithmetic!(bf16_computes, BF16, u16, conf_bf16_arithmetic);
arithmetic!(f8_e4m3_computes, E4M3, u8, conf_f8_e4m3_arithmetic);
arithmetic!(f8_e5m2_computes, E5M2, u8, conf_f8_e5m2_arithmetic);

/// Of the narrow floats, as the user's own C++ may write them.
#[test]
fn numbers_of_every_type_convert_implicitly() {
    unsafe extern "C" {
        safe fn conf_wrong_narrow_conversions() -> u32;
    }
    assert_eq!(conf_wrong_narrow_conversions(), 0);
}
