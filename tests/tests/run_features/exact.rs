//! Integers are exact or an error, never something else (S1): each of these once wrapped.

use croq_sys::{Const, Device, DeviceTensor, Error, Tensor};
use croq_tests::compare::assert_exact;
use croq_tests::kernels;

/// Code, line and message of a failed check.
#[track_caller]
fn failed<T: std::fmt::Debug>(outcome: Result<T, Error>) -> (&'static str, u32, String) {
    match outcome.unwrap_err() {
        Error::Check {
            code,
            line,
            message,
            ..
        } => (code, line, message),
        other => panic!("{other}"),
    }
}

/// The line of the only statement with `text`.
fn line_of(text: &str) -> u32 {
    let file = include_str!("../../run/features/exact.co");
    let mut found = file.lines().enumerate().filter(|(_, l)| l.contains(text));
    let (at, _) = found.next().unwrap_or_else(|| panic!("no line has {text}"));
    assert!(found.next().is_none(), "several lines have {text}");
    at as u32 + 1
}

fn ints(n: usize) -> DeviceTensor<i32, (usize,)> {
    Tensor::zeros((n,)).to_device(&Device::sim()).unwrap()
}

#[test]
fn a_size_of_2_to_the_64_bytes_is_no_size_of_0() {
    let x = Tensor::<i32, _>::random((64,), -100..100, 1);
    let y = kernels::exact_heap(&x, 128, 64).unwrap();
    assert_exact(&y, |[p]| x[[p]]);
    for m in [1i64 << 62, (1 << 62) + 16, i64::MAX] {
        let (code, line, message) = failed(kernels::exact_heap(&x, m, 64));
        assert_eq!((code, line), ("R19", line_of("s32 [m] big;")));
        let text = "`big` has `4 * m` bytes, which do not fit 64 bits with `m` =";
        assert_eq!(message, format!("{text} {m}"));
    }
    // The size fits 64 bits, but exceeds any memory.
    let error = kernels::exact_heap(&x, 1 << 60, 64).unwrap_err();
    assert!(
        matches!(error, Error::OutOfMemory { bytes, .. } if bytes == 1 << 62),
        "{error}"
    );
    for m in [0, -1, i64::MIN] {
        let (code, line, message) = failed(kernels::exact_heap(&x, m, 64));
        assert_eq!((code, line), ("R06", line_of("s32 [m] big;")));
        assert_eq!(
            message,
            format!("the extent `m` must be at least 1, it is {m}")
        );
    }
}

#[test]
fn three_real_tensors_whose_product_wraps() {
    let bytes = |n: usize| Tensor::<i8, _>::from_fn((n,), |[i]| i as i8);
    let (a, b, c) = (bytes(3), bytes(5), bytes(7));
    let out = kernels::exact_outer(&a, &b, &c).unwrap();
    assert_exact(&out, |[i, j, k]| (i + j + k) as f32);
    let (a, b, c) = (bytes(1 << 21), bytes(1 << 21), bytes(1 << 20));
    let (code, line, message) = failed(kernels::exact_outer(&a, &b, &c));
    assert_eq!((code, line), ("R19", line_of("f32 [A, B, C] out;")));
    assert_eq!(
        message,
        "`out` has `4 * A * B * C` bytes, which do not fit 64 bits with `A` = 2097152, `B` = 2097152, `C` = 1048576"
    );
    // 2^62 bytes fit 64 bits, and no machine has them.
    let c = bytes(1 << 18);
    let error = kernels::exact_outer(&a, &b, &c).unwrap_err();
    assert!(
        matches!(error, Error::OutOfMemory { bytes, .. } if bytes == 1 << 62),
        "{error}"
    );
}

#[test]
fn shared_memory_of_a_wrapping_size() {
    let mut x = ints(64);
    kernels::exact_shared(&mut x, 32).unwrap();
    let (code, line, message) = failed(kernels::exact_shared(&mut x, (1 << 62) + 16));
    assert_eq!((code, line), ("R19", line_of("shared s32 [m] s;")));
    assert_eq!(
        message,
        "`s` has `4 * m` bytes, which do not fit 64 bits with `m` = 4611686018427387920"
    );
    // One that is only too large for a block.
    let (code, line, message) = failed(kernels::exact_shared(&mut x, 60_000));
    assert_eq!(code, "R09");
    assert_eq!(line, line_of("__co__ void exact_shared") + 1);
    assert_eq!(
        message,
        "shared memory: 240000 bytes a block, of at most 232448"
    );
}

#[test]
fn grids_that_wrap() {
    let mut x = ints(64);
    kernels::exact_grid(&mut x, 3, 4).unwrap();
    let at = line_of("parallel {p, q} by [n, m]");
    for (n, m) in [
        (1i64 << 32, 1i64 << 32),
        (1 << 62, 4),
        ((1 << 62) + 1, 4),
        (i64::MAX, i64::MAX),
    ] {
        let (code, line, message) = failed(kernels::exact_grid(&mut x, n, m));
        assert_eq!((code, line), ("R19", at));
        let text = "`n * m + 255` does not fit 64 bits with";
        assert_eq!(message, format!("{text} `n` = {n}, `m` = {m}"));
    }
    let (code, line, _) = failed(kernels::exact_grid(&mut x, -3, -4));
    assert_eq!((code, line), ("R05", at));
    let (code, line, message) = failed(kernels::exact_line(&mut x, i64::MAX));
    assert_eq!((code, line), ("R19", line_of("parallel p by n {")));
    assert_eq!(
        message,
        format!("`n + 255` does not fit 64 bits with `n` = {}", i64::MAX)
    );
    let (code, line, _) = failed(kernels::exact_line(&mut x, 1 << 50));
    assert_eq!((code, line), ("R05", line_of("parallel p by n {")));
    kernels::exact_warps(&mut x, 2).unwrap();
    let (code, line, message) = failed(kernels::exact_warps(&mut x, (1 << 59) + 1));
    assert_eq!((code, line), ("R19", line_of("parallel w by m : group")));
    assert_eq!(
        message,
        format!(
            "`32 * m` does not fit 64 bits with `m` = {}",
            (1i64 << 59) + 1
        )
    );
}

#[test]
fn what_an_assert_computes() {
    let mut x = ints(8);
    kernels::exact_assert(&mut x, -9).unwrap();
    assert_eq!(failed(kernels::exact_assert(&mut x, 10)).0, "R14");
    let (code, line, message) = failed(kernels::exact_assert(&mut x, 1 << 32));
    assert_eq!((code, line), ("R19", line_of("assert(m * m < 100")));
    assert_eq!(
        message,
        "`m * m` does not fit 64 bits with `m` = 4294967296"
    );
}

#[test]
fn a_tile_number_that_wraps_is_no_tile_0() {
    let mut x = ints(64);
    kernels::exact_tile(&mut x, 1).unwrap();
    kernels::exact_box(&mut x, 1).unwrap();
    for m in [2, -1, 1i64 << 62, i64::MIN] {
        let (code, line, message) = failed(kernels::exact_tile(&mut x, m));
        assert_eq!(
            (code, line),
            ("R12", line_of("dma.copy s => x.subspan(32).at(m)"))
        );
        assert_eq!(
            message,
            format!("tile {m} of axis 0 of `x`, which has 2 tiles")
        );
        let (code, line, message) = failed(kernels::exact_box(&mut x, m));
        assert_eq!(
            (code, line),
            ("R12", line_of("tma.copy s => x.subspan(32).at(m)"))
        );
        assert_eq!(
            message,
            format!("tile {m} of axis 0 of `x`, which has 2 tiles")
        );
    }
    assert_exact(&x.to_host().unwrap(), |[i]| i32::from(i >= 32));
}

#[test]
fn what_is_not_computed_does_no_harm() {
    let mut x = Tensor::<i64, _>::zeros((40,))
        .to_device(&Device::sim())
        .unwrap();
    for m in [7i64, -999, 1 << 62, i64::MIN, i64::MAX] {
        kernels::exact_unreached(&mut x, m).unwrap();
        assert_exact(&x.to_host().unwrap(), |[p]| match m {
            -999..1000 => m * m * m + p as i64,
            _ => m.signum(),
        });
    }
    assert_eq!(kernels::exact_guarded(3).unwrap(), 1);
    assert_eq!(kernels::exact_guarded(9).unwrap(), 0);
    assert_eq!(kernels::exact_guarded(i64::MIN).unwrap(), 0);
}

#[test]
fn what_is_computed_is_exact_or_an_error() {
    let mut x = Tensor::<i64, _>::zeros((4,))
        .to_device(&Device::sim())
        .unwrap();
    kernels::exact_scaled(&mut x, 5, 3).unwrap();
    assert_exact(&x.to_host().unwrap(), |_| 23);
    let at = line_of("x.at(p) = m * 4 + u;");
    for (m, u) in [
        (1i64 << 61, 1u64),
        (i64::MIN, 0),
        (0, 1 << 63),
        (1, u64::MAX),
    ] {
        let (code, line, message) = failed(kernels::exact_scaled(&mut x, m, u));
        assert_eq!((code, line), ("R19", at), "{message}");
        assert!(message.starts_with("`4 * m + u` does not fit 64 bits with `m` = "));
    }
    kernels::exact_wrapping(&mut x, 1 << 62).unwrap();
    assert_exact(&x.to_host().unwrap(), |_| 46);
}

#[test]
fn integers_of_64_bits_stay_so_beside_data_of_32() {
    let large = (1i64 << 40) + 3;
    assert_eq!(kernels::exact_returned(large).unwrap(), large);
    assert_eq!(kernels::exact_returned(i64::MIN).unwrap(), i64::MIN);
    assert_eq!(kernels::exact_returned_sum(large).unwrap(), large * 2 + 5);
    assert_eq!(
        kernels::exact_returned_u32(u32::MAX).unwrap(),
        i64::from(u32::MAX)
    );
    let x = Tensor::from_vec((3,), vec![4, 8, -9]).unwrap();
    for (m, expected) in [
        (large, [7, 7, 7]),
        (6, [7, 6, 1]),
        (-large, [0, 0, 0]),
        (1 << 32, [7, 7, 7]),
    ] {
        let y = kernels::exact_compared(&x, m).unwrap();
        assert_exact(&y, |[p]| expected[p]);
    }
    let one = (1i64 << 32) + 1;
    let (code, line, _) = failed(kernels::exact_mutable_index(&x, one));
    assert_eq!((code, line), ("R12", line_of("mutable j = m; y.at(j)")));
    if croq_tests::gpu::ends_at_failure() {
        return;
    }
    let i = Tensor::from_vec((1,), vec![1]).unwrap();
    let (code, line, _) = failed(kernels::exact_index_sum(&mut ints(4), &i, 1 << 32));
    assert_eq!((code, line), ("R12", line_of("x.at(i.at(0) + m) = 7;")));
    let two = Tensor::<f32, _>::zeros((2,));
    assert_eq!(kernels::exact_large_factor(&two).unwrap(), 6_000_000_000);
    assert_eq!(kernels::exact_divided(&i, 1 << 32).unwrap(), 0);
}

#[test]
fn what_becomes_an_s32_fits_it() {
    let x = Tensor::<f32, _>::zeros((4,));
    assert_eq!(
        kernels::exact_narrowed(&x, 1000).unwrap(),
        4000 + 4000 * 65536
    );
    // The cast truncates: 4 * 2^14 * 2^16 is 2^32.
    assert_eq!(kernels::exact_narrowed(&x, 1 << 14).unwrap(), 1 << 16);
    for factor in [1 << 29, -(1 << 30)] {
        let (code, line, message) = failed(kernels::exact_narrowed(&x, factor));
        assert_eq!((code, line), ("R19", line_of("s32 total = N * factor;")));
        assert_eq!(
            message,
            format!("`N * factor` does not fit `s32` with `N` = 4, `factor` = {factor}")
        );
    }
    kernels::exact_narrowed_in_a_kernel(&mut ints(4), 1 << 28).unwrap();
    let (code, line, _) = failed(kernels::exact_narrowed_in_a_kernel(&mut ints(4), 1 << 30));
    assert_eq!((code, line), ("R19", line_of("s32 v = p * n;")));
}

/// `Ok` with twice the argument if an `s32` can represent it, else R19.
fn doubled<T: std::fmt::Debug + PartialEq>(
    call: impl Fn(i32) -> Result<T, Error>,
    of: impl Fn(i32) -> T,
) {
    for n in [0, 3, -5, (1 << 30) - 1, -(1 << 30)] {
        assert_eq!(call(n).unwrap(), of(2 * n), "{n}");
    }
    if croq_tests::gpu::ends_at_failure() {
        return;
    }
    for n in [1 << 30, -(1 << 30) - 1, i32::MAX, i32::MIN] {
        let (code, _, message) = failed(call(n));
        assert_eq!(code, "R19");
        assert_eq!(
            message,
            format!("`2 * n` does not fit `s32` with `n` = {n}")
        );
    }
}

/// All four elements, which are the same.
fn one_of(y: Result<Tensor<i32, (Const<4>,)>, Error>) -> Result<i32, Error> {
    let y = y?;
    (1..4).for_each(|i| assert_eq!(y[[i]], y[[0]]));
    Ok(y[[0]])
}

#[test]
fn a_returned_scalar_fits_its_type() {
    assert_eq!(
        kernels::exact_return_product(1 << 15, -(1 << 16)).unwrap(),
        i32::MIN
    );
    assert_eq!(
        kernels::exact_return_product(46340, 46340).unwrap(),
        46340 * 46340
    );
    for (n, m) in [(1 << 16, 1 << 16), (1 << 15, 1 << 16), (46341, 46341)] {
        let (code, line, message) = failed(kernels::exact_return_product(n, m));
        assert_eq!((code, line), ("R19", line_of("return n * m;")));
        assert_eq!(
            message,
            format!("`n * m` does not fit `s32` with `n` = {n}, `m` = {m}")
        );
    }
    assert_eq!(kernels::exact_return_sum(i32::MAX - 1).unwrap(), i32::MAX);
    assert_eq!(failed(kernels::exact_return_sum(i32::MAX)).0, "R19");
    assert_eq!(kernels::exact_return_negated(-i32::MAX).unwrap(), i32::MAX);
    assert_eq!(kernels::exact_return_negated(i32::MAX).unwrap(), -i32::MAX);
    assert_eq!(failed(kernels::exact_return_negated(i32::MIN)).0, "R19");
    let x = Tensor::<i8, _>::zeros((4,));
    assert_eq!(
        kernels::exact_return_extent(&x, -(1 << 29)).unwrap(),
        i32::MIN
    );
    assert_eq!(failed(kernels::exact_return_extent(&x, 1 << 29)).0, "R19");
    doubled(kernels::exact_return_named, |twice| twice);
    assert_eq!(kernels::exact_return_chosen(i32::MIN).unwrap(), 0);
    assert_eq!(
        kernels::exact_return_chosen((1 << 30) - 1).unwrap(),
        i32::MAX - 1
    );
    assert_eq!(failed(kernels::exact_return_chosen(1 << 30)).0, "R19");
    assert_eq!(
        kernels::exact_return_quotient(i32::MAX, 2).unwrap(),
        i32::MAX
    );
    assert_eq!(kernels::exact_return_quotient(i32::MIN, 1).unwrap(), 0);
    let (code, line, message) = failed(kernels::exact_return_quotient(i32::MAX, 1));
    assert_eq!(
        (code, line),
        ("R19", line_of("return n > 0 ? n * 2 / m : 0;"))
    );
    assert_eq!(message, "the value 4294967294 does not fit `s32`");
}

#[test]
fn operands_of_atomics_and_arguments_fit_their_types() {
    doubled(|n| one_of(kernels::exact_atomic_add(n)), |twice| twice);
    doubled(|n| one_of(kernels::exact_atomic_exch(n)), |twice| twice);
    doubled(|n| one_of(kernels::exact_atomic_cas(n)), |twice| twice);
    doubled(|n| one_of(kernels::exact_atomic_compare(n)), |_| 0);
    doubled(|n| one_of(kernels::exact_argument(n)), |twice| twice);
    doubled(|n| one_of(kernels::exact_argument_chosen(n)), |twice| twice);
    let y = kernels::exact_argument_cast(i32::MAX).unwrap();
    assert_exact(&y, |_| 2 * i64::from(i32::MAX));
}

#[test]
fn what_is_chosen_fits_where_it_is_chosen() {
    let chosen = |n| one_of(kernels::exact_chosen(n));
    assert_eq!(chosen((1 << 30) - 1).unwrap(), i32::MAX - 1);
    assert_eq!(chosen(i32::MIN).unwrap(), 0);
    let (code, line, _) = failed(chosen(1 << 30));
    assert_eq!(
        (code, line),
        ("R19", line_of("y.at(p) = n > -7 ? n * 2 : 0;"))
    );
    if croq_tests::gpu::ends_at_failure() {
        return;
    }
    let sum = |n| one_of(kernels::exact_chosen_sum(n));
    assert_eq!(sum(i32::MAX - 1).unwrap(), i32::MAX);
    assert_eq!(sum(1 - i32::MAX).unwrap(), i32::MAX);
    for n in [i32::MAX, -i32::MAX, i32::MIN] {
        assert_eq!(failed(sum(n)).0, "R19", "{n}");
    }
    let y = kernels::exact_chosen_product((1 << 61) - 1).unwrap();
    assert_exact(&y, |_| i64::MAX - 3);
    assert_exact(&kernels::exact_chosen_product(i64::MIN).unwrap(), |_| 0);
    assert_eq!(failed(kernels::exact_chosen_product(1 << 61)).0, "R19");
    let exists = |n, m| one_of(kernels::exact_quotient_where_it_exists(n, m));
    assert_eq!(exists(1 << 20, 0).unwrap(), 0);
    assert_eq!(exists(1 << 20, 2).unwrap(), 1 << 20);
    assert_eq!(failed(exists(i32::MAX, 1)).0, "R19");
    let quotient = |n, m| one_of(kernels::exact_chosen_quotient(n, m));
    assert_eq!(quotient(i32::MAX, 2).unwrap(), i32::MAX);
    assert_eq!(quotient(i32::MIN, 1).unwrap(), 0);
    assert_eq!(failed(quotient(1 << 30, 1)).0, "R19");
    let mut count = Tensor::from_vec((Const::<1>,), vec![0]).unwrap();
    for (called, n, expected) in [(1, 5, 10), (2, 7, 14), (3, 9, 9)] {
        let y = kernels::exact_chosen_by_a_call(n, &mut count).unwrap();
        assert_eq!((count[[0]], y[[0]]), (called, expected));
    }
    let bits = |n, m| one_of(kernels::exact_bits(n, m));
    assert_eq!(bits(i64::MAX, i32::MAX.into()).unwrap(), i32::MAX);
    assert_eq!(bits(-1, i32::MIN.into()).unwrap(), i32::MIN);
    assert_eq!(failed(bits(-1, 1 << 31)).0, "R19");
}

#[test]
fn what_fits_is_not_refused() {
    let difference = |n, m| one_of(kernels::exact_difference(n, m));
    assert_eq!(difference(i32::MAX, i32::MAX).unwrap(), 0);
    assert_eq!(difference(i32::MIN, 0).unwrap(), i32::MIN);
    assert_eq!(failed(difference(i32::MIN, 1)).0, "R19");
    assert_eq!(failed(difference(0, i32::MIN)).0, "R19");
    assert_eq!(one_of(kernels::exact_cut_off(i32::MAX)).unwrap(), -4);
}

#[test]
fn a_u64_becomes_no_negative_number() {
    const MOST: u64 = i64::MAX as u64;
    let data = |v: i64| Tensor::from_vec((Const::<1>,), vec![v]).unwrap();
    let (five, narrow) = (data(5), Tensor::from_vec((Const::<1>,), vec![5]).unwrap());
    assert_exact(&kernels::exact_u64_compared(MOST, &narrow).unwrap(), |_| 1);
    assert_exact(
        &kernels::exact_u64_compared_wide(MOST, &five).unwrap(),
        |_| 1,
    );
    assert_exact(&kernels::exact_u64_quotient(MOST, &five).unwrap(), |_| {
        i64::MAX / 5
    });
    assert_exact(&kernels::exact_u64_largest(MOST, &five).unwrap(), |_| {
        i64::MAX
    });
    assert_exact(&kernels::exact_u64_stored(MOST).unwrap(), |_| i64::MAX);
    assert_exact(&kernels::exact_u64_chosen(MOST, &five).unwrap(), |_| {
        i64::MAX
    });
    assert_eq!(kernels::exact_u64_variable(MOST).unwrap(), i64::MAX);
    assert_eq!(kernels::exact_u64_returned(MOST).unwrap(), i64::MAX);
    for n in [MOST + 1, u64::MAX] {
        let (code, line, message) = failed(kernels::exact_u64_stored(n));
        assert_eq!(
            (code, line),
            ("R19", line_of("exact_u64_stored(u64 n)") + 2)
        );
        assert_eq!(message, "`n` does not fit a signed 64-bit integer (`s64`)");
        if croq_tests::gpu::ends_at_failure() {
            return;
        }
        assert_eq!(failed(kernels::exact_u64_compared(n, &narrow)).0, "R19");
        assert_eq!(failed(kernels::exact_u64_compared_wide(n, &five)).0, "R19");
        assert_eq!(failed(kernels::exact_u64_quotient(n, &five)).0, "R19");
        assert_eq!(failed(kernels::exact_u64_largest(n, &five)).0, "R19");
        assert_eq!(failed(kernels::exact_u64_chosen(n, &five)).0, "R19");
        assert_exact(&kernels::exact_u64_chosen(n, &data(-5)).unwrap(), |_| -5);
        assert_eq!(failed(kernels::exact_u64_variable(n)).0, "R19");
        assert_eq!(failed(kernels::exact_u64_returned(n)).0, "R19");
    }
    let unsigned = Tensor::from_vec((Const::<1>,), vec![5u64]).unwrap();
    assert_exact(
        &kernels::exact_u64_kept(u64::MAX, &unsigned).unwrap(),
        |_| u64::MAX,
    );
    assert_exact(&kernels::exact_u64_cast(u64::MAX).unwrap(), |_| -2);
    assert_exact(&kernels::exact_u64_float(1 << 63).unwrap(), |_| {
        9_223_372_036_854_775_808.0
    });
}

#[test]
fn an_integer_beside_data_has_the_type_of_the_data_if_that_has_its_values() {
    let two = Tensor::from_vec((Const::<1>,), vec![2u32]).unwrap();
    let y = kernels::exact_u32_beside_u32(1, -3, &two).unwrap();
    let wrapped = |n: i64| i64::from(n as u32);
    assert_exact(&y, |[at]| [wrapped(-1), 0, wrapped(-2), wrapped(-5)][at]);
    let y = kernels::exact_u32_beside_u32(u32::MAX, 3, &two).unwrap();
    let most = i64::from(u32::MAX);
    assert_exact(&y, |[at]| [most - 2, most - 1, wrapped(-2), 1][at]);
    let two = Tensor::from_vec((Const::<1>,), vec![2u8]).unwrap();
    assert_exact(&kernels::exact_u8_beside_u8(0, &two).unwrap(), |[at]| {
        [-2, -1][at]
    });
}

#[test]
fn loops_and_divisions_of_the_host_end_with_a_result_or_an_error() {
    for lo in [i64::MIN, -(1 << 50)] {
        let error = kernels::exact_trips(lo).unwrap_err();
        assert!(
            matches!(error, Error::Endless { .. }) || error.to_string().contains("no end"),
            "{error}"
        );
    }
    assert_eq!(kernels::exact_trips(-5).unwrap(), 3);
    assert_eq!(kernels::exact_host_quotient(7, 2).unwrap(), 4);
    let (code, line, message) = failed(kernels::exact_host_quotient(0, 0));
    assert_eq!((code, line), ("R06", line_of("c = c / d;")));
    assert_eq!(message, "division by zero: `d` is 0");
    let (code, line, _) = failed(kernels::exact_host_quotient(1, 0));
    assert_eq!((code, line), ("R06", line_of("c / d > 1")));
    assert_eq!(kernels::exact_host_remainder(7, 4).unwrap(), 3);
    assert_eq!(failed(kernels::exact_host_remainder(7, 0)).0, "R06");
    for (n, expected) in [(3, [3, 0]), (7, [7, 1])] {
        let n = Tensor::from_vec((1,), vec![n]).unwrap();
        let x = kernels::exact_u64_trips(&n).unwrap();
        assert_exact(&x, |[p]| expected[p]);
    }
    for n in [1 << 63, u64::MAX] {
        let n = Tensor::from_vec((1,), vec![n]).unwrap();
        let (code, line, _) = failed(kernels::exact_u64_trips(&n));
        assert_eq!((code, line), ("R19", line_of("foreach k in [n.at(0)]")));
        if croq_tests::gpu::ends_at_failure() {
            return;
        }
    }
}

/// Operands at both ends of 32 bits, and just beyond.
#[test]
fn divisions_at_the_end_of_32_bits() {
    let most = i64::from(u32::MAX);
    let device = Device::default();
    let check = |wide: i64, (a, b): (i64, i64)| {
        let mut out =
            DeviceTensor::<i64, (Const<3>, Const<8>)>::zeros((Const, Const), &device).unwrap();
        match wide {
            0 => kernels::narrow_divisions(&mut out, a, b).unwrap(),
            _ => kernels::wide_divisions(&mut out, a, b).unwrap(),
        }
        assert_exact(&out.to_host().unwrap(), |[row, p]| {
            let (a, last) = (a + p as i64, most + wide - p as i64);
            match row {
                0 => a / b,
                1 => a % b,
                _ => last / b * 3 + last % b,
            }
        });
    };
    for a in [
        0,
        1,
        0x7fff_fff8,
        0x7fff_fffe,
        0x8000_0000,
        most - 8,
        most - 7,
    ] {
        for b in [
            1,
            2,
            3,
            0xffff,
            0x1_0000,
            0x7fff_ffff,
            0x8000_0000,
            most - 3,
            most,
        ] {
            check(0, (a, b));
            check(1, (a + 1, b + 1));
        }
    }
    let mut out =
        DeviceTensor::<i64, (Const<3>, Const<8>)>::zeros((Const, Const), &device).unwrap();
    for (a, b) in [(-1, 1), (most - 6, 1), (0, 0), (0, most + 1)] {
        let (code, _, _) = failed(kernels::narrow_divisions(&mut out, a, b));
        assert_eq!(code, "R14", "{a} {b}");
    }
}
