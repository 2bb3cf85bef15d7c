use croq_sys::half::f16;
use croq_sys::{Const, Tensor};
use croq_tests::compare::assert_exact;
use croq_tests::kernels;

/// The position by definition of the element in row `r` and column `c`: rows of `columns` elements
/// of `size` bytes, in groups of `width` bytes; counted in elements.
fn stored(width: usize, size: usize, rows: usize, r: usize, c: usize) -> usize {
    let byte = c * size;
    let plain = byte / width * (rows * width) + r * width + byte % width;
    let mask = match width {
        32 => 1,
        64 => 3,
        128 => 7,
        _ => unreachable!("there is no swizzle of {width} bytes"),
    };
    (plain ^ (((plain >> 7) & mask) << 4)) / size
}

/// `x` and `raw` are adjacent tiles of so many rows; the layout of each must be as defined.
fn assert_stored<T: Copy + PartialEq + std::fmt::Debug>(
    width: usize,
    rows: usize,
    columns: usize,
    x: &[T],
    raw: &[T],
) {
    assert_eq!(x.len(), raw.len());
    assert_eq!(x.len() % (rows * columns), 0);
    let tile = rows * columns;
    let mut moved = 0;
    for (x, raw) in x.chunks(tile).zip(raw.chunks(tile)) {
        for r in 0..rows {
            for c in 0..columns {
                let at = stored(width, size_of::<T>(), rows, r, c);
                assert_eq!(raw[at], x[r * columns + c], "row {r}, column {c}");
                moved += usize::from(at != r * columns + c);
            }
        }
    }
    assert!(moved > x.len() / 4, "only {moved} elements change places");
}

fn halves<D: croq_sys::Dims + Copy>(shape: D, seed: u64) -> Tensor<f16, D> {
    let n = Tensor::<i32, _>::random(shape, -2000..2000, seed);
    let values = n.as_slice().iter().map(|v| f16::from_f32(*v as f32));
    Tensor::from_vec(shape, values.collect()).unwrap()
}

#[test]
fn bytes_lie_as_tma_lays_them() {
    let x = halves((48, Const::<64>), 1);
    let raw = kernels::raw_128(&x).unwrap();
    assert_stored(128, 16, 64, x.as_slice(), raw.as_slice());

    let x = Tensor::<u8, _>::random((Const::<2>, Const::<5>, Const::<384>), 0..255, 2);
    let raw = kernels::raw_128_of_many(&x).unwrap();
    assert_stored(128, 5, 384, x.as_slice(), raw.as_slice());

    let x = Tensor::<f32, _>::random((Const::<24>, Const::<16>), -1.0..1.0, 3);
    let raw = kernels::raw_64(&x).unwrap();
    assert_stored(64, 8, 16, x.as_slice(), raw.as_slice());

    let x = Tensor::<i16, _>::random((Const::<3>, Const::<16>, Const::<64>), -999..999, 4);
    let raw = kernels::raw_64_of_two(&x).unwrap();
    assert_stored(64, 48, 64, x.as_slice(), raw.as_slice());

    let x = Tensor::<i64, _>::random((Const::<20>, Const::<4>), -999..999, 5);
    let raw = kernels::raw_32(&x).unwrap();
    assert_stored(32, 20, 4, x.as_slice(), raw.as_slice());

    let x = Tensor::<f64, _>::random((Const::<6>, Const::<8>), -1.0..1.0, 6);
    let raw = kernels::raw_32_of_two(&x).unwrap();
    assert_stored(32, 6, 8, x.as_slice(), raw.as_slice());

    let x = Tensor::<i32, _>::random((Const::<3>, Const::<8>, Const::<64>), -999..999, 7);
    let raw = kernels::raw_array(&x).unwrap();
    assert_stored(128, 8, 64, x.as_slice(), raw.as_slice());
}

#[test]
fn elements() {
    for m in [32, 96] {
        let x = halves((m, Const::<64>), 8);
        assert_exact(&kernels::swizzle_columns(&x).unwrap(), |[j, i]| x[[i, j]]);
    }
    let x = Tensor::<i32, _>::random((Const::<40>, Const::<96>), -999..999, 9);
    assert_exact(&kernels::swizzle_update(&x).unwrap(), |[i, j]| {
        let v = x[[i, j]] + 1000 * (j / 32) as i32;
        match j / 32 {
            0 => v * 3,
            1 => v + 7,
            _ => v,
        }
    });
}

#[test]
fn parts() {
    let x = Tensor::<f32, _>::random((Const::<64>, Const::<128>), -1.0..1.0, 10);
    assert_exact(&kernels::swizzle_parts(&x).unwrap(), |i| x[i]);
    for (m, top, left) in [(32, 0, 0), (20, 3, 7), (17, 20, 55), (32, 27, 33)] {
        let x = Tensor::<i32, _>::random((m, Const::<64>), 1..999, 11);
        let y = kernels::swizzle_odd_parts(&x, top, left).unwrap();
        assert_exact(&y, |[i, j]| {
            let (i, j) = (i + top as usize, j + left as usize);
            if i < m { x[[i, j]] } else { 0 }
        });
    }
    let x = Tensor::<u8, _>::random((Const::<16>, Const::<64>), 0..255, 12);
    let y = kernels::swizzle_reshaped(&x).unwrap();
    assert_eq!(y.as_slice(), x.as_slice());
    let x = Tensor::<f32, _>::random((Const::<32>, Const::<32>), -1.0..1.0, 13);
    assert_exact(&kernels::swizzle_local(&x).unwrap(), |i| x[i] + 1.0);
    let x = halves((Const::<16>, Const::<128>), 14);
    assert_exact(&kernels::swizzle_to_another(&x).unwrap(), |i| x[i]);
}

#[test]
fn edges() {
    for (m, n) in [(1, 1), (24, 64), (25, 65), (70, 192), (48, 100), (23, 8)] {
        let x = halves((m, n), 15);
        assert_exact(&kernels::swizzle_ragged(&x).unwrap(), |i| x[i]);
        let x = Tensor::<i32, _>::random((m, n), 1..999, 16);
        let y = kernels::swizzle_filled(&x).unwrap();
        assert_exact(&y, |[a, b, c, d]| {
            let (i, j) = (a * 8 + b, c * 64 + d);
            if i < m && j < n { x[[i, j]] } else { 0 }
        });
    }
}

#[test]
fn transformed() {
    let x = Tensor::<f32, _>::random((Const::<14>, Const::<27>), -1.0..1.0, 17);
    assert_exact(&kernels::swizzle_padded(&x).unwrap(), |[i, j]| {
        let (i, j) = (i.wrapping_sub(1), j.wrapping_sub(2));
        if i < 14 && j < 27 { x[[i, j]] } else { 5.0 }
    });
    let x = halves((Const::<64>, Const::<32>), 18);
    assert_exact(&kernels::swizzle_transposed(&x).unwrap(), |[i, j]| {
        x[[j, i]]
    });
    let x = Tensor::<f32, _>::random((Const::<32>, Const::<64>), -1.0..1.0, 19);
    let y = kernels::swizzle_transposed_back(&x).unwrap();
    assert_exact(&y, |[i, j]| x[[j, i]]);
}

#[test]
fn tiles_by_number() {
    for m in [16, 24, 80] {
        let x = halves((m, Const::<64>), 20);
        assert_exact(&kernels::swizzle_ring(&x).unwrap(), |i| x[i]);
    }
    let x = Tensor::<i32, _>::random((Const::<4>, Const::<12>, Const::<64>), -999..999, 21);
    let y = kernels::swizzle_ring_of_groups(&x).unwrap();
    assert_exact(&y, |[k, i, j]| x[[k % 3, i, j]]);
    let x = Tensor::<f32, _>::random((Const::<2>, Const::<8>, Const::<32>), -1.0..1.0, 22);
    for which in 0..2 {
        let y = kernels::swizzle_chosen(&x, which).unwrap();
        assert_exact(&y, |[i, j]| x[[which as usize, i, j]]);
    }
    let x = Tensor::<i32, _>::random((Const::<4>, Const::<8>, Const::<32>), -999..999, 23);
    let y = kernels::swizzle_by_warp(&x).unwrap();
    assert_exact(&y, |[w, k, i]| x[[w, k, 31 - i]]);
}

#[test]
fn rows_of_any_length() {
    for n in [32, 64, 320] {
        let x = halves((8, n), 24);
        assert_exact(&kernels::swizzle_long_rows(&x).unwrap(), |[j, i]| x[[i, j]]);
    }
    let x = halves((8, 48), 25);
    let error = kernels::swizzle_long_rows(&x).unwrap_err().to_string();
    assert!(error.contains("32 bytes beyond the last group"), "{error}");
}

#[test]
fn swizzles_wider_than_rows() {
    for k in [16, 80] {
        let (x, z) = (halves((Const::<64>, k), 26), halves((Const::<64>, k), 27));
        let y = kernels::swizzle_of_short_rows(&x, &z).unwrap();
        for i in 0..64 {
            for j in 0..64 {
                let terms = (0..k).map(|c| x[[i, c]].to_f32() * z[[j, c]].to_f32());
                let sum: f32 = terms.sum();
                assert!(
                    (y[[i, j]] - sum).abs() <= 1e-3 * (1.0 + sum.abs()),
                    "{i} {j}"
                );
            }
        }
    }
}

#[test]
fn exchanged_tiles_of_any_number_of_rows() {
    let halves = |n: Tensor<i32, (usize, usize)>| {
        let values = n.as_slice().iter().map(|v| f16::from_f32(*v as f32));
        values.collect::<Vec<_>>()
    };
    for m in [1, 4, 5, 11, 12, 13, 60, 61] {
        let x = halves(Tensor::random((m, 64), -100..100, 21));
        let x = Tensor::from_vec((m, Const::<64>), x).unwrap();
        let y = kernels::swizzle_exchanged(&x).unwrap();
        assert_exact(&y, |[i, j]| x[[i, 63 - j]]);
        let x = halves(Tensor::random((m, 128), -100..100, 22));
        let x = Tensor::from_vec((m, Const::<128>), x).unwrap();
        let y = kernels::swizzle_exchanged_groups(&x).unwrap();
        assert_exact(&y, |[i, j]| x[[i, 127 - j]]);
    }
}
