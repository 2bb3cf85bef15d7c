use croq_sys::half::{bf16, f16};
use croq_sys::{Const, DeviceTensor};
use croq_sys::{Device, Element, Error, F8E4M3, F8E5M2, Tensor};
use croq_tests::compare::{Float, assert_close, assert_exact, rounded};
use croq_tests::kernels;

type Line<T> = DeviceTensor<T, (usize,)>;

/// Runs a kernel from one global line to another whose elements start as `poison`.
fn through<T: Element>(
    x: &Tensor<T, (usize,)>,
    poison: T,
    kernel: impl FnOnce(&Line<T>, &mut Line<T>) -> Result<(), Error>,
) -> Tensor<T, (usize,)> {
    let device = Device::default();
    let mut y = Tensor::from_fn(x.dims(), |_| poison)
        .to_device(&device)
        .unwrap();
    kernel(&x.to_device(&device).unwrap(), &mut y).unwrap();
    y.to_host().unwrap()
}

#[test]
fn integers_wrap() {
    let x = Tensor::<i8, _>::random((300,), i8::MIN..i8::MAX, 1);
    let y = through(&x, 99, |x, y| kernels::type_s8(x, y));
    assert_exact(&y, |i| x[i].wrapping_add(x[i]));
    let x = Tensor::<i16, _>::random((300,), i16::MIN..i16::MAX, 2);
    let y = through(&x, 99, |x, y| kernels::type_s16(x, y));
    assert_exact(&y, |i| x[i].wrapping_mul(x[i]));
    let x = Tensor::<i32, _>::random((300,), i32::MIN..i32::MAX, 3);
    let y = through(&x, 99, |x, y| kernels::type_s32(x, y));
    assert_exact(&y, |i| x[i].wrapping_mul(3).wrapping_sub(7));
    let x = Tensor::<i64, _>::random((300,), i64::MIN..i64::MAX, 4);
    let y = through(&x, 99, |x, y| kernels::type_s64(x, y));
    assert_exact(&y, |i| x[i].wrapping_mul(5_000_000_000).wrapping_add(1));
    let x = Tensor::<u8, _>::random((300,), 0..u8::MAX, 5);
    let y = through(&x, 99, |x, y| kernels::type_u8(x, y));
    assert_exact(&y, |i| x[i].wrapping_add(x[i]));
    let x = Tensor::<u16, _>::random((300,), 0..u16::MAX, 6);
    let y = through(&x, 99, |x, y| kernels::type_u16(x, y));
    assert_exact(&y, |i| x[i].wrapping_mul(x[i]));
    let x = Tensor::<u32, _>::random((300,), 0..u32::MAX, 7);
    let y = through(&x, 99, |x, y| kernels::type_u32(x, y));
    assert_exact(&y, |i| x[i].wrapping_mul(3).wrapping_sub(7));
    let x = Tensor::<u64, _>::random((300,), 0..u64::MAX, 8);
    let y = through(&x, 99, |x, y| kernels::type_u64(x, y));
    assert_exact(&y, |i| x[i].wrapping_mul(5_000_000_000).wrapping_add(1));
}

#[test]
fn floats() {
    let x = Tensor::<f64, _>::random((300,), -10.0..10.0, 9);
    let y = through(&x, f64::NAN, |x, y| kernels::type_f64(x, y));
    // Halving is exact, so the sum is the only rounding, fused or not.
    assert_exact(&y, |i| x[i] * 0.5 + 1.25);
    let x = Tensor::<f32, _>::random((300,), -10.0..10.0, 10);
    let y = through(&x, f32::NAN, |x, y| kernels::type_f32(x, y));
    assert_exact(&y, |i| x[i] * 0.5 + 1.25);
    let x = Tensor::<f16, _>::random((300,), -20.0..20.0, 11);
    let y = through(&x, f16::NAN, |x, y| kernels::type_f16(x, y));
    // The product of two halves is exact in f32: one rounding.
    assert_exact(&y, |i| f16::from_f32(x[i].to_f32() * x[i].to_f32()));
    let x = Tensor::<bf16, _>::random((300,), -20.0..20.0, 12);
    let y = through(&x, bf16::NAN, |x, y| kernels::type_bf16(x, y));
    assert_exact(&y, |i| bf16::from_f32(x[i].to_f32() * x[i].to_f32()));
    let x = Tensor::<F8E4M3, _>::random((300,), -300.0..300.0, 13);
    let y = through(&x, F8E4M3::from_f32(f32::NAN), |x, y| {
        kernels::type_f8_e4m3(x, y)
    });
    assert_exact(&y, |i| F8E4M3::from_f32(x[i].to_f32() * 2.0));
    let x = Tensor::<F8E5M2, _>::random((300,), -40000.0..40000.0, 14);
    let y = through(&x, F8E5M2::from_f32(f32::NAN), |x, y| {
        kernels::type_f8_e5m2(x, y)
    });
    assert_exact(&y, |i| F8E5M2::from_f32(x[i].to_f32() * 2.0));
}

#[test]
fn aliases() {
    let n = 40;
    let a = Tensor::<f32, _>::random((n,), -1.0..1.0, 15);
    let b = Tensor::<f64, _>::random((n,), -1.0..1.0, 16);
    let c = Tensor::<f16, _>::random((n,), -1.0..1.0, 17);
    let d = Tensor::<bf16, _>::random((n,), -1.0..1.0, 18);
    let e = Tensor::<F8E4M3, _>::random((n,), -1.0..1.0, 19);
    let y = kernels::type_aliases(&a, &b, &c, &d, &e).unwrap();
    assert_exact(&y, |i| {
        a[i].wide() + b[i] + c[i].wide() + d[i].wide() + e[i].wide()
    });
}

#[test]
fn tiles_of_all_sizes() {
    for (m, n) in [(1, 1), (4, 16), (7, 33)] {
        let x = Tensor::<i8, _>::random((m, n), -128..127, 20);
        assert_exact(&kernels::type_copy_s8(&x).unwrap(), |i| x[i]);
        let x = Tensor::<f16, _>::random((m, n), -1.0..1.0, 21);
        assert_exact(&kernels::type_copy_f16(&x).unwrap(), |i| x[i]);
        let x = Tensor::<F8E5M2, _>::random((m, n), -1.0..1.0, 22);
        assert_exact(&kernels::type_copy_f8(&x).unwrap(), |i| x[i]);
        let x = Tensor::<f64, _>::random((m, n), -1.0..1.0, 23);
        assert_exact(&kernels::type_copy_f64(&x).unwrap(), |i| x[i]);
    }
}

/// Values on both sides of every limit, and between.
fn hard_floats() -> Tensor<f32, (usize,)> {
    let mut values = vec![
        0.0,
        -0.0,
        0.4,
        0.5,
        0.6,
        1.5,
        2.5,
        -0.5,
        -1.5,
        126.9,
        127.0,
        127.9,
        128.0,
        -128.0,
        -128.9,
        -129.0,
        254.9,
        255.0,
        256.0,
        32767.0,
        32768.0,
        -32768.0,
        -32769.0,
        65535.0,
        65536.0,
        2147483520.0,
        2147483648.0,
        -2147483648.0,
        -2147483904.0,
        4294967040.0,
        4294967296.0,
        9.2e18,
        9.3e18,
        -9.2e18,
        -9.3e18,
        1.8e19,
        1.9e19,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        1e-30,
        -1e-30,
        65504.0,
        65519.0,
        65520.0,
        6e-8,
        2.9e-8,
        448.0,
        464.0,
        480.0,
        57344.0,
        61440.0,
        1e10,
        3.4e38,
        0.001953125,
        0.0009,
        1.0625,
        1.1875,
        3.390625,
    ];
    let random = Tensor::<f32, _>::random((200,), -300.0..300.0, 24);
    values.extend_from_slice(random.as_slice());
    Tensor::from_vec((values.len(),), values).unwrap()
}

#[test]
fn f32_to_integers_truncates_and_clamps() {
    let x = hard_floats();
    let n = x.shape()[0];
    let device = Device::default();
    macro_rules! poisoned {
        ($ty:ty) => {
            Tensor::<$ty, _>::from_fn((n,), |_| 77)
                .to_device(&device)
                .unwrap()
        };
    }
    let (mut a, mut b, mut c, mut d) =
        (poisoned!(i8), poisoned!(u8), poisoned!(i16), poisoned!(u16));
    let (mut e, mut f, mut g, mut h) = (
        poisoned!(i32),
        poisoned!(u32),
        poisoned!(i64),
        poisoned!(u64),
    );
    kernels::type_from_f32(
        &x, &mut a, &mut b, &mut c, &mut d, &mut e, &mut f, &mut g, &mut h,
    )
    .unwrap();
    // Rust's `as` has the same rule: toward zero, clamped, NaN to 0.
    assert_exact(&a.to_host().unwrap(), |i| x[i] as i8);
    assert_exact(&b.to_host().unwrap(), |i| x[i] as u8);
    assert_exact(&c.to_host().unwrap(), |i| x[i] as i16);
    assert_exact(&d.to_host().unwrap(), |i| x[i] as u16);
    assert_exact(&e.to_host().unwrap(), |i| x[i] as i32);
    assert_exact(&f.to_host().unwrap(), |i| x[i] as u32);
    assert_exact(&g.to_host().unwrap(), |i| x[i] as i64);
    assert_exact(&h.to_host().unwrap(), |i| x[i] as u64);
}

#[test]
fn f32_to_small_floats_rounds_to_even() {
    let x = hard_floats();
    let n = x.shape()[0];
    let device = Device::default();
    let mut a = Tensor::from_fn((n,), |_| f16::from_bits(0x1234))
        .to_device(&device)
        .unwrap();
    let mut b = Tensor::from_fn((n,), |_| bf16::from_bits(0x1234))
        .to_device(&device)
        .unwrap();
    let mut c = Tensor::from_fn((n,), |_| F8E4M3::from_f32(3.0))
        .to_device(&device)
        .unwrap();
    let mut d = Tensor::from_fn((n,), |_| F8E5M2::from_f32(3.0))
        .to_device(&device)
        .unwrap();
    kernels::type_narrow_floats(&x, &mut a, &mut b, &mut c, &mut d).unwrap();
    let (a, b, c, d) = (
        a.to_host().unwrap(),
        b.to_host().unwrap(),
        c.to_host().unwrap(),
        d.to_host().unwrap(),
    );
    for i in 0..n {
        let v = x[[i]];
        if v.is_nan() {
            assert!(a[[i]].is_nan() && b[[i]].is_nan() && c[[i]].is_nan() && d[[i]].is_nan());
            continue;
        }
        assert_eq!(a[[i]].to_bits(), f16::from_f32(v).to_bits(), "{v} to f16");
        assert_eq!(b[[i]].to_bits(), bf16::from_f32(v).to_bits(), "{v} to bf16");
        assert_eq!(
            c[[i]].to_f32(),
            nearest_even(v, 3, -6, 448.0),
            "{v} to f8_e4m3"
        );
        assert_eq!(
            d[[i]].to_f32(),
            nearest_even(v, 2, -14, 57344.0),
            "{v} to f8_e5m2"
        );
    }
}

/// `v` rounded to `fraction` bits of the fraction, subnormal below `2^least`, clamped to
/// ±`largest`.
fn nearest_even(v: f32, fraction: i32, least: i32, largest: f64) -> f32 {
    let wide = f64::from(v);
    if wide == 0.0 {
        return v;
    }
    let exponent = (wide.abs().log2().floor() as i32).clamp(least, 1000);
    let unit = 2f64.powi(exponent - fraction);
    let rounded = (wide / unit).round_ties_even() * unit;
    rounded.clamp(-largest, largest) as f32
}

#[test]
fn widening_is_exact() {
    let n = 60;
    let device = Device::default();
    let a = Tensor::<f16, _>::random((n,), -100.0..100.0, 25);
    let b = Tensor::<bf16, _>::random((n,), -100.0..100.0, 26);
    let c = Tensor::<F8E4M3, _>::random((n,), -100.0..100.0, 27);
    let d = Tensor::<F8E5M2, _>::random((n,), -100.0..100.0, 28);
    let mut y = Tensor::from_fn((Const::<4>, n), |_| f32::NAN)
        .to_device(&device)
        .unwrap();
    kernels::type_widen_floats(&a, &b, &c, &d, &mut y).unwrap();
    assert_exact(&y.to_host().unwrap(), |[row, i]| match row {
        0 => a[[i]].to_f32(),
        1 => b[[i]].to_f32(),
        2 => c[[i]].to_f32(),
        _ => d[[i]].to_f32(),
    });

    let a = Tensor::<i8, _>::random((n,), i8::MIN..i8::MAX, 29);
    let b = Tensor::<u8, _>::random((n,), 0..u8::MAX, 30);
    let c = Tensor::<i16, _>::random((n,), i16::MIN..i16::MAX, 31);
    let d = Tensor::<u16, _>::random((n,), 0..u16::MAX, 32);
    let e = Tensor::<i32, _>::random((n,), i32::MIN..i32::MAX, 33);
    let f = Tensor::<u32, _>::random((n,), 0..u32::MAX, 34);
    let mut y = Tensor::from_fn((Const::<6>, n), |_| i64::MIN)
        .to_device(&device)
        .unwrap();
    kernels::type_widen_integers(&a, &b, &c, &d, &e, &f, &mut y).unwrap();
    assert_exact(&y.to_host().unwrap(), |[row, i]| match row {
        0 => a[[i]].into(),
        1 => b[[i]].into(),
        2 => c[[i]].into(),
        3 => d[[i]].into(),
        4 => e[[i]].into(),
        _ => f[[i]].into(),
    });
}

#[test]
fn integers_narrow_by_bits() {
    let n = 200;
    let device = Device::default();
    let x = Tensor::<i64, _>::random((n,), i64::MIN..i64::MAX, 35);
    macro_rules! poisoned {
        ($ty:ty) => {
            Tensor::<$ty, _>::from_fn((n,), |_| 77)
                .to_device(&device)
                .unwrap()
        };
    }
    let (mut a, mut b, mut c) = (poisoned!(i8), poisoned!(u8), poisoned!(i16));
    let (mut d, mut e, mut f) = (poisoned!(u16), poisoned!(i32), poisoned!(u32));
    kernels::type_wrap(&x, &mut a, &mut b, &mut c, &mut d, &mut e, &mut f).unwrap();
    assert_exact(&a.to_host().unwrap(), |i| x[i] as i8);
    assert_exact(&b.to_host().unwrap(), |i| x[i] as u8);
    assert_exact(&c.to_host().unwrap(), |i| x[i] as i16);
    assert_exact(&d.to_host().unwrap(), |i| x[i] as u16);
    assert_exact(&e.to_host().unwrap(), |i| x[i] as i32);
    assert_exact(&f.to_host().unwrap(), |i| x[i] as u32);
}

#[test]
fn integers_to_f64() {
    let x = Tensor::<i32, _>::random((50,), i32::MIN..i32::MAX, 36);
    let z = Tensor::<u64, _>::random((50,), 0..u64::MAX, 37);
    for flag in [false, true] {
        let y = kernels::type_to_f64(&x, &z, flag).unwrap();
        assert_exact(&y, |[row, i]| match row {
            0 => x[[i]].into(),
            1 => z[[i]] as f64,
            _ => f64::from(u8::from(flag)),
        });
    }
}

#[test]
fn booleans_to_and_from_numbers() {
    let x = Tensor::from_vec((5,), vec![0.0, -0.0, 0.25, f32::NAN, 1e-30]).unwrap();
    let z = Tensor::from_vec((5,), vec![0, 1, -1, 1 << 20, i32::MIN]).unwrap();
    let y = kernels::type_to_bool(&x, &z).unwrap();
    let number = |holds: bool| f32::from(u8::from(holds));
    assert_exact(&y, |[row, i]| {
        f16::from_f32(match row {
            0 => number(x[[i]] != 0.0),
            1 => number(z[[i]] != 0),
            // 1e-30 is zero in f16.
            2 if x[[i]] != 0.0 && x[[i]] != 1e-30 => 2.0,
            2 => -1.0,
            _ => number(x[[i]] > 0.5),
        })
    });
}

#[test]
fn scalars_of_every_type() {
    let y = kernels::type_scalars(
        -7,
        200,
        -30000,
        60000,
        -2_000_000_000,
        4_000_000_000,
        -(1 << 50),
        1 << 52,
        0.375,
        -1e100,
        f16::from_f32(-0.75),
        bf16::from_f32(2.5),
        F8E4M3::from_f32(448.0),
        F8E5M2::from_f32(-0.5),
        true,
        i32::MIN,
    )
    .unwrap();
    let expected = [
        -7.0,
        200.0,
        -30000.0,
        60000.0,
        -2e9,
        4e9,
        -(2f64.powi(50)),
        2f64.powi(52),
        0.375,
        -1e100,
        -0.75,
        2.5,
        448.0,
        -0.5,
        1.0,
        -2147483648.0,
    ];
    assert_eq!(y.as_slice(), expected);
}

#[test]
fn a_sum_in_half_precision() {
    let x = Tensor::<f16, _>::random((100,), 0.0..1.0, 38);
    let y = kernels::type_f16_sum(&x).unwrap();
    let mut sum = f16::ZERO;
    for &v in x.as_slice() {
        sum = f16::from_f32(sum.to_f32() + v.to_f32());
    }
    assert_close(&y, |_| rounded::<f16>(sum.wide(), 0));
}

#[test]
fn literals_with_a_suffix_have_a_type() {
    let x = Tensor::<i32, _>::random((301,), i32::MIN..i32::MAX, 21);
    for large in [false, true] {
        let y = kernels::type_literals(&x, large).unwrap();
        assert_exact(&y, |[row, p]| {
            let (x, wide) = (x[[p]], i64::from(x[[p]]));
            let bits = x as u32;
            match row {
                0 | 1 | 4 => wide * 1_000_000,
                2 => (wide * 5).wrapping_mul(1_000_000),
                3 => wide * if large { 1_000_000 } else { 3 },
                5 => wide + 2,
                6 => bits.wrapping_add(u32::MAX).into(),
                7 => i64::from(bits) * 3,
                8 => u32::MAX.into(),
                9 => i64::from(x as i16) * (p as i64 + 70_000),
                10 => (4_u32 << (x & 31)).into(),
                _ => x.wrapping_mul(1_000_000).into(),
            }
        });
    }
}

#[test]
fn arguments_have_the_type_of_their_parameter() {
    let x = Tensor::<i32, _>::random((300,), i32::MIN..i32::MAX, 22);
    let y = kernels::type_scaled_here(&x).unwrap();
    assert_exact(&y, |i| i64::from(x[i]) * 1_000_000);
}

#[test]
fn integers_are_returned_as_their_type() {
    assert_eq!(kernels::type_returned_u8(200).unwrap(), 200);
    assert_eq!(kernels::type_returned_s16(-300).unwrap(), 300);
    assert_eq!(kernels::type_returned_u32(u32::MAX).unwrap(), u32::MAX / 2);
    assert_eq!(kernels::type_returned_u64(u64::MAX).unwrap(), u64::MAX);
    let next = i64::from(i32::MAX) + 1;
    assert_eq!(kernels::type_returned_s64(i32::MAX).unwrap(), next);
}

#[test]
fn shifts_have_the_width_of_the_parameter() {
    let (a, b, c) = (201_u8, 3_000_000_001_u32, 1_234_567_891_i32);
    for k in [0, 3, 7] {
        let y = kernels::type_shifted(a, b, c, k).unwrap();
        let expected = [i64::from(a << k), i64::from(b << k), i64::from(c << k)];
        assert_eq!(y.as_slice(), expected);
    }
    // More than the bits of `u8`.
    let error = kernels::type_shifted(a, b, c, 8).unwrap_err();
    assert!(error.to_string().contains("R20"), "{error}");
}

#[test]
fn exact_products_of_literals_with_a_suffix_need_not_fit() {
    let x = Tensor::<u32, _>::random((300,), 0..u32::MAX, 23);
    for seed in [0_u32, 1, 2, 70_000] {
        let y = kernels::type_hashed(&x, seed).unwrap();
        assert_exact(&y, |i| {
            let product = x[i].wrapping_mul(747_796_405);
            product.wrapping_add(seed.wrapping_mul(2_891_336_453))
        });
    }
}
