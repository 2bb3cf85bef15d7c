use croq_sys::{Device, Tensor};
use croq_tests::compare::assert_exact;
use croq_tests::kernels;

/// Random numbers, none of them zero.
fn divisors(n: usize, seed: u64) -> Tensor<i32, (usize,)> {
    let random = Tensor::<i32, _>::random((n,), -50..50, seed);
    Tensor::from_fn((n,), |i| if random[i] == 0 { 7 } else { random[i] })
}

#[test]
fn integers() {
    let a = Tensor::<i32, _>::random((200,), i32::MIN..i32::MAX, 1);
    let b = divisors(200, 2);
    let y = kernels::arith_integers(&a, &b).unwrap();
    assert_exact(&y, |[row, i]| {
        let (u, v) = (a[[i]], b[[i]]);
        match row {
            0 => u.wrapping_add(v),
            1 => u.wrapping_sub(v),
            2 => u.wrapping_mul(v),
            3 => u / v,
            4 => u % v,
            5 => u & v,
            6 => u | v,
            7 => u ^ v,
            8 => u << 5,
            9 => u >> 3,
            10 => !u,
            _ => u.wrapping_neg(),
        }
    });
}

#[test]
fn unsigned() {
    let a = Tensor::<u32, _>::random((200,), 0..u32::MAX, 3);
    let b = Tensor::<u32, _>::random((200,), 1..u32::MAX, 4);
    let y = kernels::arith_unsigned(&a, &b).unwrap();
    assert_exact(&y, |[row, i]| {
        let (u, v) = (a[[i]], b[[i]]);
        match row {
            0 => u.wrapping_sub(v),
            1 => u.wrapping_mul(v),
            2 => u / v,
            3 => u % v,
            4 => u << 5,
            _ => u >> 3,
        }
    });
}

#[test]
fn comparisons() {
    let a = Tensor::<i32, _>::random((200,), -3..3, 5);
    let b = Tensor::<i32, _>::random((200,), -3..3, 6);
    let y = kernels::arith_compare(&a, &b).unwrap();
    assert_exact(&y, |[row, i]| {
        let (u, v) = (a[[i]], b[[i]]);
        i32::from([u < v, u <= v, u > v, u >= v, u == v, u != v][row])
    });
}

#[test]
fn precedence() {
    let a = Tensor::<i32, _>::random((200,), -1000..1000, 7);
    let b = Tensor::<i32, _>::random((200,), -1000..1000, 8);
    let y = kernels::arith_precedence(&a, &b).unwrap();
    assert_exact(&y, |[row, i]| {
        let (u, v) = (a[[i]], b[[i]]);
        match row {
            0 => u + (v & 3),
            1 => u * (v | 1),
            2 => (u ^ v) & 6,
            3 => (u + v) << 1,
            4 => (u - v) - 1,
            5 => u - (v - 1),
            _ => (0..12).map(|k| 2 * k + 1).sum(),
        }
    });
}

#[test]
fn compound() {
    let a = Tensor::<i32, _>::random((200,), -1000..1000, 9);
    let y = kernels::arith_compound(&a).unwrap();
    assert_exact(&y, |[row, i]| {
        let v = a[[i]];
        [v + 7, v - 7, v * 7, v / 7, v % 7][row]
    });
    let y = kernels::arith_compound_scalars(&a).unwrap();
    assert_exact(&y, |i| ((a[i] + 3 - 1) * 5 / 2) % 1000 + 1);
    let a = Tensor::<i32, _>::random((32,), -1000..1000, 10);
    assert_exact(&kernels::arith_compound_storage(&a).unwrap(), |i| {
        a[i] * 3 - 4
    });
    let a = Tensor::<i32, _>::random((8,), -1000..1000, 11);
    assert_exact(&kernels::arith_update_once(&a).unwrap(), |i| a[i]);
}

#[test]
fn declarations_and_scopes() {
    let a = Tensor::<i32, _>::random((50,), 6..1000, 12);
    let y = kernels::arith_scopes(&a).unwrap();
    assert_exact(&y, |[row, i]| if row == 0 { a[[i]] } else { 5 });
    assert_exact(&kernels::arith_declarations(&a).unwrap(), |i| a[i] * 2 + 3);
}

#[test]
fn floats_and_literals() {
    let a = Tensor::<f32, _>::random((200,), -10.0..10.0, 13);
    let b = Tensor::<f32, _>::random((200,), 0.5..10.0, 14);
    let y = kernels::arith_floats(&a, &b).unwrap();
    assert_exact(&y, |[row, i]| {
        let (u, v) = (a[[i]], b[[i]]);
        [u + v, u - v, u * v, u / v, -u, 1e-3 - 1.0][row]
    });
    let y = kernels::arith_literals().unwrap();
    assert_eq!(y.as_slice(), [127, 4294967296, 7, -2147483647]);
}

#[test]
fn amounts_of_shifts_in_place_are_checked() {
    let numbers = Tensor::<i32, _>::random((40,), i32::MIN..i32::MAX, 15);
    let bytes = Tensor::<u8, _>::random((40,), 0..255, 16);
    let amounts = Tensor::<i32, _>::random((40,), 0..32, 17);
    for n in [0, 3, 7] {
        let (mut a, mut b) = (numbers.clone(), bytes.clone());
        kernels::arith_shifts_in_place(&mut a, &mut b, &amounts, n).unwrap();
        assert_exact(&a, |i| numbers[i] >> amounts[i]);
        assert_exact(&b, |i| bytes[i] << n);
    }
    let wrong = Tensor::<i32, _>::from_fn((40,), |[i]| if i == 11 { 32 } else { 1 });
    for (amounts, n) in [(&amounts, 8), (&amounts, -1), (&wrong, 1)] {
        let (mut a, mut b) = (numbers.clone(), bytes.clone());
        match kernels::arith_shifts_in_place(&mut a, &mut b, amounts, n) {
            Err(croq_sys::Error::Check { code: "R20", .. }) => {}
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn the_type_of_a_choice_does_not_depend_on_the_condition() {
    let a = Tensor::<u8, _>::random((50,), 0..255, 8);
    for n in [0, 7, 20, -7] {
        let y = kernels::arith_choices(&a, n).unwrap();
        assert_exact(&y, |[row, i]| {
            let (wide, first) = (i32::from(a[[i]]), (i as i32) < n);
            match row {
                0 => wide * wide,
                1 => wide * if first { 300 } else { n },
                2 => wide * 5,
                3 => wide.max(if first { 1 } else { 300 }),
                4 => i32::from(a[[i]].wrapping_mul(if first { 3 } else { 5 })),
                _ => (n * 2).min(0) / 4 + (n * 2).min(0) % 4,
            }
        });
    }
}

#[test]
fn large_literals_have_64_bits() {
    let a = Tensor::<i32, _>::random((60,), i32::MIN..i32::MAX, 9);
    let y = kernels::arith_large_literals(&a).unwrap();
    assert_exact(&y, |[row, i]| {
        let v = i64::from(a[[i]]);
        match row {
            0 => v.max(3_000_000_000),
            1 | 3 => 0,
            2 => v + 3_000_000_000,
            4 => v * -3_000_000_000,
            _ => -1_294_967_296 + 65_533,
        }
    });
}

#[test]
fn what_an_assertion_is_about_wraps() {
    let numbers = vec![0, 7, 1 << 32, 1 << 62, -(1 << 62) - 8, i64::MIN, i64::MAX];
    let a = Tensor::from_vec((numbers.len(),), numbers).unwrap();
    let y = kernels::arith_asserted(&a).unwrap();
    assert_exact(&y, |[row, i]| {
        let v = a[[i]];
        i32::from(match row {
            0 => v.wrapping_add(v) / 4 > 6,
            1 => v.wrapping_mul(1 << 32) == 0,
            _ => v.wrapping_mul(2) < 0,
        })
    });
}

#[test]
fn updates_of_elements_divide_in_the_type_of_both() {
    let n = 40;
    let x = Tensor::<u8, _>::random((n,), 1..255, 10);
    let z = Tensor::<i16, _>::random((n,), i16::MIN..i16::MAX, 11);
    let a = Tensor::from_fn((n,), |[i]| [256, 3, -2, 65536, 1000, -70000][i % 6]);
    let device = Device::default();
    let (mut on_x, mut on_z) = (x.to_device(&device).unwrap(), z.to_device(&device).unwrap());
    kernels::arith_divided(&mut on_x, &mut on_z, &a).unwrap();
    assert_exact(&on_x.to_host().unwrap(), |i| (i32::from(x[i]) / a[i]) as u8);
    assert_exact(&on_z.to_host().unwrap(), |i| {
        (i32::from(z[i]) % a[i]) as i16
    });
}
