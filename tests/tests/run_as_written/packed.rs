//! Packed elements and 6-bit floats (`packed.co`).

use croq_sys::{
    Const, Device, Error, F4E2M1x2, F6E2M3, F6E3M2, F8E4M3, Packed, S2x4, S4x2, S6, Tensor, U1x8,
    U2x4, U4x2, U6,
};
use croq_tests::kernels;

type Matrix<T> = Tensor<T, (usize, usize)>;
fn floats(rows: usize, columns: usize, most: f32, seed: u64) -> Matrix<f32> {
    Tensor::random((rows, columns), -most..most, seed)
}

fn random<T: Packed>(rows: usize, columns: usize, range: std::ops::Range<T::Bound>) -> Matrix<T> {
    Tensor::random((rows, columns), range, (rows * columns) as u64)
}

/// The values of a tensor, row by row.
fn values<T: Packed>(t: &Matrix<T>) -> Vec<T::Value> {
    let [rows, columns] = t.shape();
    let at = (0..rows).flat_map(|i| (0..columns).map(move |j| [i, j]));
    at.map(|at| t.value(at).unwrap()).collect()
}

#[test]
fn weights_of_four_bits() {
    for (m, k) in [(37, 70), (1, 2), (300, 64)] {
        let weights = random::<S4x2>(m, k, -8..8);
        let groups = k.div_ceil(32);
        let scales = Tensor::from_fn((m, groups), |[i, g]| ((i + g) % 3) as f32 + 0.5);
        let x = Tensor::from_fn((k,), |[i]| (i % 5) as f32 - 2.0);
        let y = kernels::packed_gemv(&weights, &scales, &x).unwrap();
        for i in 0..m {
            let terms = (0..k)
                .map(|j| f32::from(weights.value([i, j]).unwrap()) * scales[[i, j / 32]] * x[[j]]);
            assert_eq!(y[[i]], terms.sum::<f32>(), "row {i} of {m} x {k}");
        }
    }
}

#[test]
fn conversions_to_four_bits_truncate_and_clamp() {
    let x = floats(33, 50, 12.0, 4);
    let q = kernels::packed_quantised(&x, 1.5).unwrap();
    for (q, x) in values(&q).into_iter().zip(x.as_slice()) {
        assert_eq!(q, (x * 1.5).clamp(-8.0, 7.0) as i8, "{x}");
    }
    let x = floats(9, 14, 20.0, 5);
    let codes = kernels::packed_codes(&x).unwrap();
    for (code, x) in values(&codes).into_iter().zip(x.as_slice()) {
        assert_eq!(code, x.clamp(0.0, 15.0) as u8, "{x}");
    }
}

#[test]
fn tiles_of_packed_rows() {
    for (m, n) in [(64, 128), (45, 200), (33, 62), (3, 2)] {
        let x = random::<S4x2>(m, n, -8..8);
        let sums = kernels::packed_row_sums(&x).unwrap();
        for (row, sum) in values(&x).chunks(n).zip(sums.as_slice()) {
            let all: i32 = row.iter().map(|v| i32::from(*v)).sum();
            assert_eq!(*sum, all as f32, "{m} x {n}");
        }
    }
}

#[test]
fn threads_copy_packed_tiles_of_tma() {
    for (m, n) in [(16, 64), (45, 200), (3, 2)] {
        let x = random::<F4E2M1x2>(m, n, -6.0..6.0);
        let sums = kernels::packed_by_tma(&x).unwrap();
        for (row, sum) in values(&x).chunks(n).zip(sums.as_slice()) {
            assert_eq!(*sum, row.iter().sum::<f32>(), "{m} x {n}");
        }
    }
}

#[test]
fn integers_of_six_bits() {
    let table = Tensor::from_fn((Const::<64>,), |[i]| 3 * i as i32 - 40);
    for n in [1, 64, 200] {
        let x = Tensor::from_fn((n,), |[i]| U6::new(i as u8 % 64).unwrap());
        let z = Tensor::<S6, _>::random((n,), -32..32, 8);
        let mut found = Tensor::<i32, _>::zeros((n,));
        let y = kernels::packed_not_sixes(&x, &z, &table, &mut found).unwrap();
        for i in 0..n {
            assert_eq!(usize::from(y[[i]].value()), (i + 1) % 64);
            assert_eq!(
                found[[i]],
                table[[(i32::from(z[[i]].value()) + 32) as usize]]
            );
        }
    }
}

#[test]
fn codes_select_from_a_table() {
    let codes = random::<U4x2>(1, 1000, 0..16);
    let codes = Tensor::from_vec((1000,), codes.into_vec()).unwrap();
    let table = Tensor::from_fn((16,), |[i]| i as f32 * 0.25 - 2.0);
    let y = kernels::packed_lookup(&codes, &table).unwrap();
    for i in 0..1000 {
        assert_eq!(y[[i]], table[[codes.value([i]).unwrap() as usize]]);
    }
}

#[test]
fn masks_of_bits() {
    let mask = Tensor::<U1x8, _>::pack((72,), |[i]| u8::from(i % 3 == 0 || i > 60)).unwrap();
    let x = Tensor::from_fn((72,), |[i]| i as f32 + 1.0);
    let y = kernels::packed_masked(&mask, &x).unwrap();
    for i in 0..72 {
        assert_eq!(y[[i]], if i % 3 == 0 || i > 60 { x[[i]] } else { 0.0 });
    }
    let x = floats(19, 24, 1.0, 6);
    let mut signs = Tensor::<U1x8, _>::zeros((19, 24));
    let counts = kernels::packed_signs(&x, &mut signs).unwrap();
    for (i, row) in x.as_slice().chunks(24).enumerate() {
        assert_eq!(
            counts[[i]] as usize,
            row.iter().filter(|v| **v < 0.0).count()
        );
    }
    for (bit, x) in values(&signs).into_iter().zip(x.as_slice()) {
        assert_eq!(bit == 1, *x < 0.0);
    }
}

#[test]
fn two_bits() {
    for (m, k) in [(40, 64), (17, 36)] {
        let weights = random::<S2x4>(m, k, -2..2);
        let x = Tensor::from_fn((k,), |[i]| i as f32);
        let y = kernels::packed_ternary(&weights, &x).unwrap();
        for (row, y) in values(&weights).chunks(k).zip(y.as_slice()) {
            let terms = row
                .iter()
                .enumerate()
                .map(|(i, w)| f32::from(*w) * i as f32);
            assert_eq!(*y, terms.sum::<f32>());
        }
    }
    let x = Tensor::random((84,), -1.0f32..1.0, 8);
    let y = kernels::packed_directions(&x).unwrap();
    for i in 0..84 {
        let wanted = if x[[i]] > 0.5 {
            1
        } else if x[[i]] < -0.5 {
            -1
        } else {
            0
        };
        assert_eq!(y.value([i]), Some(wanted));
    }
    let row =
        |seed: usize| Tensor::<U2x4, _>::pack((52,), |[i]| ((i * seed / 3) % 4) as u8).unwrap();
    let (a, b) = (row(5), row(7));
    let y = kernels::packed_differences(&a, &b).unwrap();
    for i in 0..52 {
        let (a, b) = (a.value([i]).unwrap(), b.value([i]).unwrap());
        assert_eq!(y.value([i]), Some(a.abs_diff(b)));
    }
    let x = random::<U2x4>(3, 76, 0..4);
    let y = kernels::packed_counted(&x, 5).unwrap();
    for (y, x) in values(&y).into_iter().zip(values(&x)) {
        assert_eq!(y, (1 + 5 * x) % 4);
    }
}

#[test]
fn floats_of_four_bits() {
    let x = random::<F4E2M1x2>(21, 38, -6.0..6.0);
    let scales = Tensor::from_fn((21, 3), |[i, g]| F8E4M3::from_f32(0.25 * (i + g) as f32));
    let y = kernels::packed_blocks(&x, &scales).unwrap();
    for (at, x) in values(&x).into_iter().enumerate() {
        let [i, j] = [at / 38, at % 38];
        assert_eq!(y[[i, j]], x * scales[[i, j / 16]].to_f32());
    }
    let x = floats(12, 10, 8.0, 9);
    let y = kernels::packed_rounded(&x).unwrap();
    for (y, x) in y.as_slice().iter().zip(x.as_slice().chunks(2)) {
        assert_eq!(*y, F4E2M1x2::from_f32([x[0], x[1]]), "{x:?}");
    }
}

#[test]
fn floats_of_six_bits() {
    let mut x: Vec<f32> = Tensor::random((500,), -40.0f32..40.0, 3).into_vec();
    x.extend([
        0.0,
        -0.0,
        f32::NAN,
        f32::INFINITY,
        -1e9,
        0.0625,
        0.03125,
        0.031251,
        1e-30,
    ]);
    let n = x.len();
    let x = Tensor::from_vec((n,), x).unwrap();
    let (mut a, mut b) = (
        Tensor::<F6E2M3, _>::zeros((n,)),
        Tensor::<F6E3M2, _>::zeros((n,)),
    );
    kernels::packed_sixes(&x, &mut a, &mut b).unwrap();
    for i in 0..n {
        assert_eq!(
            a[[i]].to_bits(),
            F6E2M3::from_f32(x[[i]]).to_bits(),
            "{}",
            x[[i]]
        );
        assert_eq!(
            b[[i]].to_bits(),
            F6E3M2::from_f32(x[[i]]).to_bits(),
            "{}",
            x[[i]]
        );
    }
    let all = |i: usize| (i % 64) as u8;
    let a = Tensor::from_fn((64,), |[i]| F6E2M3::from_bits(all(i)));
    let b = Tensor::from_fn((64,), |[i]| F6E3M2::from_bits(all(i * 7)));
    let y = kernels::packed_six(&a, &b).unwrap();
    for i in 0..64 {
        assert_eq!(y[[i]], a[[i]].to_f32() - b[[i]].to_f32());
    }
}

#[test]
fn copies_within_bytes() {
    for n in [40, 30] {
        let x = random::<S4x2>(64, n, -8..8);
        let y = kernels::packed_shifted(&x).unwrap();
        for i in 0..64 {
            for j in 0..32 {
                // Zero beyond the edge.
                let wanted = x.value([i, j + 3]).unwrap_or(0);
                assert_eq!(y.value([i, j]), Some(wanted), "{i} {j}");
            }
        }
    }
    for (m, n) in [(64, 32), (38, 70)] {
        let x = random::<U4x2>(m, n, 0..16);
        let y = kernels::packed_turned(&x).unwrap();
        for i in 0..n {
            for j in 0..m {
                assert_eq!(y.value([i, j]), x.value([j, i]), "{i} {j}");
            }
        }
    }
    let x = random::<U1x8>(7, 24, 0..2);
    let y = kernels::packed_framed(&x).unwrap();
    for i in 0..7 {
        for j in 0..24 {
            let inside = (1..6).contains(&i) && (1..23).contains(&j);
            assert_eq!(
                y.value([i, j]),
                if inside { x.value([i, j]) } else { Some(1) }
            );
        }
    }
}

#[test]
fn own_memory() {
    let x = random::<S4x2>(29, 16, -8..8);
    let y = kernels::packed_reversed(&x).unwrap();
    for i in 0..29 {
        for j in 0..16 {
            let v = x.value([i, 15 - j]).unwrap();
            let wanted = match (j, v) {
                (0, 7) => -8,
                (0, v) => v + 1,
                (_, v) => v,
            };
            assert_eq!(y.value([i, j]), Some(wanted));
        }
    }
}

#[test]
fn rows_are_whole_bytes() {
    let e = kernels::packed_codes(&floats(4, 7, 1.0, 1))
        .unwrap_err()
        .to_string();
    assert!(e.contains("must be a multiple of 2"), "{e}");
}

/// The product of A and the transpose of B.
fn product<A: Packed, B: Packed>(a: &Matrix<A>, b: &Matrix<B>) -> Vec<i32>
where
    A::Value: Into<i32>,
    B::Value: Into<i32>,
{
    let ([_, k], (a, b)) = (a.shape(), (values(a), values(b)));
    let dot = |x: &[A::Value], y: &[B::Value]| -> i32 {
        x.iter()
            .zip(y)
            .map(|(x, y)| (*x).into() * (*y).into())
            .sum()
    };
    a.chunks(k)
        .flat_map(|x| b.chunks(k).map(move |y| dot(x, y)))
        .collect()
}

#[test]
fn products_of_four_bits() {
    for (m, n, k) in [(64, 32, 128), (100, 50, 300), (5, 3, 2)] {
        let (a, b) = (random::<S4x2>(m, k, -8..8), random::<S4x2>(n, k, -8..8));
        let c = kernels::packed_product(&a, &b).unwrap();
        assert_eq!(c.as_slice(), product(&a, &b), "{m} x {n} x {k}");
    }
    let (a, b) = (random::<S4x2>(8, 96, -8..8), random::<U4x2>(8, 96, 0..16));
    let c = kernels::packed_small(
        &a.clone().into_dims((Const, Const)).unwrap(),
        &b.clone().into_dims((Const, Const)).unwrap(),
    )
    .unwrap();
    assert_eq!(c.as_slice(), product(&a, &b));
}

#[test]
fn products_of_bits() {
    for (m, n, k) in [(16, 8, 256), (33, 17, 600), (2, 1, 8)] {
        let (a, b) = (random::<U1x8>(m, k, 0..2), random::<U1x8>(n, k, 0..2));
        let c = kernels::packed_common(&a, &b).unwrap();
        assert_eq!(c.as_slice(), product(&a, &b), "{m} x {n} x {k}");
    }
}

#[test]
fn instances_of_packed_types() {
    fn passes<T: Packed + kernels::PackedThroughInstance>(x: Tensor<T, (usize, usize)>) {
        let x = x.into_dims((5, Const::<256>)).unwrap();
        assert!(kernels::packed_through(&x).unwrap() == x);
    }
    passes(random::<U1x8>(5, 256, 0..2));
    passes(random::<S4x2>(5, 256, -8..8));
    passes(random::<F4E2M1x2>(5, 256, -6.0..6.0));
}

#[test]
fn loops_over_elements_of_one_byte() {
    let x = random::<U4x2>(9, 64, 0..16)
        .into_dims((9, Const::<64>))
        .unwrap();
    let y = kernels::packed_alone(&x).unwrap();
    for i in 0..9 {
        for j in 0..64 {
            assert_eq!(y.value([i, j]), x.value([i, j]).map(|v| 15 - v));
        }
    }
}

/// The report of a hazard of this kind at an element, with these lines of `packed.co`.
#[track_caller]
fn reported<T: std::fmt::Debug>(
    result: croq_sys::Result<T>,
    kind: &str,
    kernel: &str,
    elements: &[&str],
    parts: &[&str],
) {
    let error = result.expect_err("is a hazard");
    assert!(matches!(error, Error::Hazard { .. }), "{error:?}");
    let error = error.to_string();
    let text = include_str!("../../run/as_written/packed.co");
    let line_of = |part: &&str| {
        let mut lines = text.lines().zip(1..);
        lines.find(|(line, _)| line.contains(&format!(" {kernel}(")));
        let found = lines.find(|(line, _)| line.contains(part));
        format!("packed.co:{}", found.expect("the text").1)
    };
    assert!(error.starts_with(kind), "{error}");
    assert!(elements.iter().any(|e| error.contains(e)), "{error}");
    for line in parts.iter().map(line_of) {
        assert!(error.contains(&line), "no {line} in\n{error}");
    }
}

/// Threads race for an element, and not for the byte that it shares with others.
#[test]
fn elements_of_a_byte_are_accessed_by_several_threads() {
    if !Device::default().is_sim() {
        return;
    }
    let x: Tensor<i32, (Const<64>,)> = Tensor::from_fn((Const,), |[i]| i as i32 % 7);
    let own = kernels::packed_s4_meet(&x, 1).unwrap();
    assert_eq!(own.as_slice(), x.as_slice());
    for fold in [2, 4] {
        let met = kernels::packed_s4_meet(&x, fold);
        reported(met, "race in", "packed_s4_meet", &["`s`["], &["s.at("]);
    }

    let own = kernels::packed_u1_meet(&x, 0).unwrap();
    let bit = |i: usize| i32::from(!i.is_multiple_of(8) && x[[i]] % 2 == 0);
    assert_eq!(own.as_slice(), (0..64).map(bit).collect::<Vec<_>>());
    for away in [1, 7, 33] {
        let met = kernels::packed_u1_meet(&x, away);
        let parts = ["if (t % 8 != 0)", "y.at(t)"];
        reported(met, "race in", "packed_u1_meet", &["`s`["], &parts);
    }

    let y = Tensor::from_fn((Const::<96>,), |[i]| (i % 4) as f32);
    let own = kernels::packed_f4_meet(&y, 0).unwrap();
    assert_eq!(own.as_slice()[..64], y.as_slice()[..64]);
    for away in [1, 32, 63] {
        let met = kernels::packed_f4_meet(&y, away);
        reported(met, "race in", "packed_f4_meet", &["`s`["], &["s.at(t) ="]);
    }

    let mut codes = Tensor::<U2x4, _>::zeros((Const::<64>,));
    kernels::packed_u2_meet(&x, &mut codes, 1).unwrap();
    for i in 0..64 {
        assert_eq!(codes.value([i]).unwrap(), x[[i]] as u8 % 4);
    }
    for fold in [2, 3, 64] {
        let met = kernels::packed_u2_meet(&x, &mut codes, fold);
        reported(met, "race in", "packed_u2_meet", &["`y`["], &["y.at("]);
    }
}

/// An element that nothing has written, in a byte with one that was written.
#[test]
fn unwritten_elements_of_a_byte() {
    if !Device::default().is_sim() {
        return;
    }
    let x: Tensor<i32, (Const<64>,)> = Tensor::from_fn((Const,), |[i]| i as i32 % 3);
    for count in [63, 64] {
        let y = kernels::packed_unwritten(&x, count).unwrap();
        assert_eq!(y.as_slice()[..62], x.as_slice()[..62]);
        let y = kernels::packed_unwritten_tile(&x, count).unwrap();
        assert_eq!(y.as_slice()[..63], x.as_slice()[..63]);
    }
    let unwritten = kernels::packed_unwritten(&x, 62);
    let read = ["y.at(t) ="];
    reported(
        unwritten,
        "unwritten value in",
        "packed_unwritten",
        &["`s`[62]"],
        &read,
    );
    let unwritten = kernels::packed_unwritten(&x, 61);
    let elements = ["`s`[61]", "`s`[62]"];
    reported(
        unwritten,
        "unwritten value in",
        "packed_unwritten",
        &elements,
        &read,
    );
    let unwritten = kernels::packed_unwritten_tile(&x, 61);
    let elements = ["`whole`[61]", "`whole`[62]"];
    reported(
        unwritten,
        "unwritten value in",
        "packed_unwritten_tile",
        &elements,
        &read,
    );
}

#[test]
fn the_host_accesses_elements_of_bytes() {
    for n in [2, 16, 50] {
        let x = Tensor::<U4x2, _>::random((n,), 0..16, 9);
        let mut counts = Tensor::<i32, (Const<16>,)>::zeros((Const,));
        let y = kernels::packed_by_host(&x, &mut counts).unwrap();
        let mut expected = Vec::new();
        for i in 0..n {
            let v = x.value([i]).unwrap();
            expected.push(if v == 12 { 6 } else { 15 - v });
        }
        let of = |v: usize| expected.iter().filter(|e| usize::from(**e) == v).count() as i32;
        assert_eq!(counts.as_slice(), (0..16).map(of).collect::<Vec<_>>());
        expected[n - 1] = (expected[n - 1] + 1) % 16;
        for (i, expected) in expected.into_iter().enumerate() {
            assert_eq!(y.value([i]).unwrap(), expected, "{i} of {n}");
        }
    }
}

#[test]
fn the_host_accesses_elements_of_every_packed_type() {
    let n = 40;
    let mut bits = Tensor::<U1x8, _>::random((n,), 0..2, 4);
    let mut floats = Tensor::<F4E2M1x2, _>::zeros((n,));
    let mut pairs = Tensor::<S2x4, _>::random((n,), -2..2, 5);
    let count = kernels::packed_bits_by_host(&mut bits, &mut floats, &mut pairs, 3.0).unwrap();
    let all =
        |i: usize| i32::from(bits.value([i]).unwrap()) + 10 * i32::from(pairs.value([i]).unwrap());
    assert_eq!(count, (0..n).map(all).sum::<i32>() + 3000);
    assert_eq!(bits.value([n - 2]).unwrap(), 1);
    assert_eq!(pairs.value([n - 1]).unwrap(), -2);
    assert_eq!(floats.value([1]).unwrap(), 3.0);
    assert_eq!(floats.value([0]).unwrap(), 0.0);
}
