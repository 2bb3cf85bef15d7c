//! Sparse MMAs by warps and by warpgroups (`sparse.co`). Values are small integers, so that sums
//! are exact in any order, and a misplaced element is detected.

use croq_sys::half::{bf16, f16};
use croq_sys::sparse::{self, Encoded, EncodedBy16};
use croq_sys::{Const, Device, DeviceTensor, Dims, Element, Error, F8E4M3, F8E5M2, Tensor};
use croq_tests::compare::assert_exact;
use croq_tests::kernels;

type Matrix<T> = Tensor<T, (usize, usize)>;

/// Small nonzero integers.
fn dense<T: Element>(rows: usize, columns: usize, seed: u64, to: fn(f32) -> T) -> Matrix<T> {
    let n = Tensor::<i32, _>::random((rows, columns), 0..6, seed);
    Tensor::from_fn((rows, columns), |at| {
        to([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0][n[at] as usize])
    })
}

/// The same with at most two nonzero values in every four of a row, in all possible positions.
fn sparse_matrix<T: Element>(rows: usize, k: usize, seed: u64, to: fn(f32) -> T) -> Matrix<T> {
    let all = dense(rows, k, seed, to);
    let sets = [
        0b0011, 0b0101, 0b1001, 0b0110, 0b1010, 0b1100, 0b0100, 0b0001, 0,
    ];
    let chosen = Tensor::<i32, _>::random((rows, k / 4), 0..sets.len() as i32, seed + 1);
    Tensor::from_fn((rows, k), |[i, j]| {
        match sets[chosen[[i, j / 4]] as usize] >> (j % 4) & 1 {
            1 => all[[i, j]],
            _ => T::default(),
        }
    })
}

fn encoded<T: Element>(dense: &Matrix<T>) -> Encoded<T> {
    let encoded = sparse::encode(dense).unwrap();
    let decoded = sparse::decode(&encoded.packed, &encoded.metadata).unwrap();
    assert_eq!(decoded, *dense);
    encoded
}

/// The initial contents of C, which remain where nothing is written.
fn filled<T: Element>(rows: usize, columns: usize, value: T) -> Matrix<T> {
    Tensor::from_fn((rows, columns), |_| value)
}

/// The tensors on the device, and the resulting C.
fn on_device<T: Element, E: Element, C: Element>(
    (packed, metadata, b): (&Matrix<T>, &Matrix<E>, &Matrix<T>),
    c: &mut Matrix<C>,
    kernel: impl Fn(
        &DeviceTensor<T, (usize, usize)>,
        &DeviceTensor<E, (usize, usize)>,
        &DeviceTensor<T, (usize, usize)>,
        &mut DeviceTensor<C, (usize, usize)>,
    ) -> Result<(), Error>,
) {
    let device = Device::default();
    let at = |matrix: &Matrix<T>| matrix.to_device(&device).unwrap();
    let metadata = metadata.to_device(&device).unwrap();
    let mut sums = c.to_device(&device).unwrap();
    kernel(&at(packed), &metadata, &at(b), &mut sums).unwrap();
    *c = sums.to_host().unwrap();
}

/// The same matrix, whose number of columns is a part of its type.
fn with_columns<T: Element, const N: usize>(of: &Matrix<T>) -> Tensor<T, (usize, Const<N>)> {
    let [rows, _] = of.shape();
    Tensor::from_fn((rows, Const::<N>), |at| of[at])
}

/// `sum over k of a(k) b(k)`.
fn product(depth: usize, a: impl Fn(usize) -> f64, b: impl Fn(usize) -> f64) -> f64 {
    (0..depth).map(|k| a(k) * b(k)).sum()
}

fn expect<T: Element, C: Element>(
    found: &Tensor<C, impl Dims<Index = [usize; 2]>>,
    (a, b): (&Matrix<T>, &Matrix<T>),
    to_f64: fn(T) -> f64,
    sum: impl Fn(f64) -> C,
) {
    let [_, k] = a.shape();
    assert_exact(found, |[i, j]| {
        sum(product(k, |k| to_f64(a[[i, k]]), |k| to_f64(b[[j, k]])))
    });
}

#[test]
fn by_one_warp_at_ragged_sizes() {
    for (m, n, k) in [(16, 8, 32), (40, 20, 96), (7, 3, 64), (33, 41, 160)] {
        let a = sparse_matrix(m, k, 1, f16::from_f32);
        let b = dense(n, k, 3, f16::from_f32);
        let stored = encoded(&a);
        let mut c = filled(m, n, f32::NAN);
        kernels::sparse_tiles(&stored.packed, &stored.metadata, &b, &mut c).unwrap();
        expect(&c, (&a, &b), f16::to_f64, |sum| sum as f32);
    }
}

#[test]
fn by_four_warps_with_bytes_of_metadata() {
    let a = sparse_matrix(128, 96, 4, bf16::from_f32);
    let b = dense(24, 96, 6, bf16::from_f32);
    let stored = encoded(&a);
    let mut c = filled(128, 24, f32::NAN);
    kernels::sparse_by_four_warps(&stored.packed, &stored.metadata_bytes(), &b, &mut c).unwrap();
    expect(&c, (&a, &b), bf16::to_f64, |sum| 1.0 + sum as f32);
}

#[test]
fn k_is_the_first_axis() {
    let a = sparse_matrix(16, 64, 7, f16::from_f32);
    let b = dense(16, 64, 9, f16::from_f32);
    let stored = encoded(&a);
    let transposed = |of: &Matrix<f16>| {
        let [rows, columns] = of.shape();
        Tensor::from_fn((columns, rows), |[i, j]| of[[j, i]])
    };
    let (columns_of_b, halves) = (transposed(&b), stored.metadata_halves());
    let mut c = [filled(16, 16, f16::NAN), filled(16, 16, f16::NAN)];
    kernels::sparse_columns(&stored.packed, &halves, &columns_of_b, &mut c[0]).unwrap();
    let packed = transposed(&stored.packed);
    kernels::sparse_all_columns(&packed, &halves, &columns_of_b, &mut c[1]).unwrap();
    for c in &c {
        expect(c, (&a, &b), f16::to_f64, f16::from_f64);
    }
}

#[test]
fn bytes_by_one_warp() {
    let four = sparse_matrix(32, 192, 10, F8E4M3::from_f32);
    let five = sparse_matrix(32, 192, 12, F8E5M2::from_f32);
    let (x, y) = (
        dense(16, 192, 14, F8E4M3::from_f32),
        dense(16, 192, 15, F8E5M2::from_f32),
    );
    let (stored_four, stored_five) = (encoded(&four), encoded(&five));
    let clean = || filled(32, 16, f32::NAN);
    let mut c = [clean(), clean(), clean()];
    let (words, bytes) = (&stored_four.metadata, stored_five.metadata_bytes());
    kernels::sparse_bytes(&stored_four.packed, words, &y, &mut c[0]).unwrap();
    kernels::sparse_bytes_by_bytes(&stored_five.packed, &bytes, &y, &mut c[1]).unwrap();
    let halves = stored_four.metadata_halves();
    kernels::sparse_bytes_by_halves(&stored_four.packed, &halves, &x, &mut c[2]).unwrap();
    let of_four = |i, k| f64::from(four[[i, k]].to_f32());
    let of_five = |i, k| f64::from(five[[i, k]].to_f32());
    let of_x = |j, k| f64::from(x[[j, k]].to_f32());
    let of_y = |j, k| f64::from(y[[j, k]].to_f32());
    assert_exact(&c[0], |[i, j]| {
        product(192, |k| of_four(i, k), |k| of_y(j, k)) as f32
    });
    assert_exact(&c[1], |[i, j]| {
        product(192, |k| of_five(i, k), |k| of_y(j, k)) as f32
    });
    assert_exact(&c[2], |[i, j]| {
        product(192, |k| of_four(i, k), |k| of_x(j, k)) as f32
    });
}

#[test]
fn by_a_warpgroup_at_ragged_sizes() {
    for (m, n, k) in [(64, 96, 64), (100, 104, 192), (130, 40, 96)] {
        let a = sparse_matrix(m, k, 20, f16::from_f32);
        let b = dense(n, k, 22, f16::from_f32);
        let stored = encoded(&a);
        let mut c = filled(m, n, f32::NAN);
        let inputs = (&stored.packed, &stored.metadata, &b);
        on_device(inputs, &mut c, kernels::sparse_by_warpgroup);
        expect(&c, (&a, &b), f16::to_f64, |sum| sum as f32);
    }
}

#[test]
fn metadata_in_shared_memory() {
    let a = sparse_matrix(128, 192, 23, f16::from_f32);
    let b = dense(128, 192, 25, f16::from_f32);
    let stored = encoded(&a);
    let mut c = filled(128, 128, f16::NAN);
    let bytes = stored.metadata_bytes();
    on_device(
        (&stored.packed, &bytes, &b),
        &mut c,
        kernels::sparse_shared_metadata,
    );
    expect(&c, (&a, &b), f16::to_f64, f16::from_f64);
}

#[test]
fn one_warpgroup_copies_and_another_multiplies() {
    for (m, n, k) in [(64, 64, 64), (100, 72, 320), (64, 136, 512)] {
        let a = sparse_matrix(m, k, 26, bf16::from_f32);
        let b = dense(n, k, 28, bf16::from_f32);
        let stored = encoded(&a);
        let mut c = filled(m, n, f32::NAN);
        let inputs = (&stored.packed, &stored.metadata, &b);
        on_device(inputs, &mut c, kernels::sparse_one_consumer);
        expect(&c, (&a, &b), bf16::to_f64, |sum| sum as f32);
    }
}

#[test]
fn two_warpgroups_multiply_bytes() {
    for (m, n, k) in [(128, 128, 128), (200, 136, 384)] {
        let a = sparse_matrix(m, k, 29, F8E4M3::from_f32);
        let b = dense(n, k, 31, F8E4M3::from_f32);
        let stored = encoded(&a);
        let mut c = filled(m, n, f16::NAN);
        let inputs = (&stored.packed, &stored.metadata, &b);
        on_device(inputs, &mut c, kernels::sparse_two_consumers);
        let to_f64 = |v: F8E4M3| f64::from(v.to_f32());
        expect(&c, (&a, &b), to_f64, f16::from_f64);
    }
}

#[test]
fn zeros_beyond_the_edge_of_metadata() {
    for (m, n, k) in [(64, 64, 128), (70, 40, 192), (3, 72, 64), (40, 8, 96)] {
        let a = sparse_matrix(m, k, 44, f16::from_f32);
        let b = dense(n, k, 46, f16::from_f32);
        let stored = encoded(&a);
        let mut c = filled(m, n, f32::NAN);
        let inputs = (&stored.packed, &stored.metadata, &b);
        on_device(inputs, &mut c, kernels::sparse_ragged);
        expect(&c, (&a, &b), f16::to_f64, |sum| sum as f32);
    }
}

#[test]
fn a_in_registers() {
    let a = sparse_matrix(64, 64, 32, f16::from_f32);
    let b = dense(48, 64, 34, f16::from_f32);
    let stored = encoded(&a);
    let columns_of_b = Tensor::from_fn((64, 48), |[i, j]| b[[j, i]]);
    let mut c = filled(64, 48, f32::NAN);
    kernels::sparse_in_registers(&stored.packed, &stored.metadata, &columns_of_b, &mut c).unwrap();
    expect(&c, (&a, &b), f16::to_f64, |sum| 0.5 + sum as f32);
}

#[test]
fn more_rows_than_an_instruction_has() {
    let a = sparse_matrix(128, 64, 47, f16::from_f32);
    let b = dense(24, 64, 49, f16::from_f32);
    let stored = encoded(&a);
    let mut c = filled(128, 24, f32::NAN);
    kernels::sparse_tall(&stored.packed, &stored.metadata_halves(), &b, &mut c).unwrap();
    expect(&c, (&a, &b), f16::to_f64, |sum| sum as f32);
}

#[test]
fn narrow_swizzles() {
    let a = sparse_matrix(64, 64, 35, F8E5M2::from_f32);
    let b = dense(40, 64, 37, F8E4M3::from_f32);
    let stored = encoded(&a);
    let mut c = filled(64, 40, f32::NAN);
    kernels::sparse_narrow(&stored.packed, &stored.metadata, &b, &mut c).unwrap();
    let of_a = |i, k| f64::from(a[[i, k]].to_f32());
    let of_b = |j, k| f64::from(b[[j, k]].to_f32());
    assert_exact(&c, |[i, j]| {
        product(64, |k| of_a(i, k), |k| of_b(j, k)) as f32
    });
}

#[test]
fn metadata_that_the_kernel_makes() {
    let a = dense(16, 16, 38, f16::from_f32);
    let b = dense(8, 32, 39, f16::from_f32);
    let mut c = filled(16, 8, f32::NAN);
    kernels::sparse_first_two(&a, &b, &mut c).unwrap();
    assert_exact(&c, |[i, j]| {
        let b = |k: usize| b[[j, k / 2 * 4 + k % 2]].to_f64();
        product(16, |k| a[[i, k]].to_f64(), b) as f32
    });
}

/// Elements that are not stored are not used, so the corresponding elements of B may have any
/// value.
#[test]
fn what_is_not_stored_is_not_multiplied() {
    let a = Tensor::from_fn((16, 32), |[_, k]| f16::from_f32((k % 2) as f32));
    let mut b = dense(8, 32, 40, f16::from_f32);
    let stored = encoded(&a);
    (0..8).for_each(|j| b[[j, 6]] = f16::NAN);
    let mut c = filled(16, 8, f32::NAN);
    kernels::sparse_tiles(&stored.packed, &stored.metadata, &b, &mut c).unwrap();
    assert_exact(&c, |[_, j]| {
        (0..16).map(|k| b[[j, 2 * k + 1]].to_f64()).sum::<f64>() as f32
    });
}

/// Positions that are equal or descend are reported with the line of the MMA.
#[test]
fn metadata_that_is_not_valid() {
    // On a GPU such metadata has no defined result.
    if !croq_sys::Device::default().is_sim() {
        return;
    }
    let a = sparse_matrix(64, 64, 41, f16::from_f32);
    let b = dense(48, 64, 43, f16::from_f32);
    let stored = encoded(&a);
    let message = |result: Result<(), Error>, line: u32| match result {
        Err(Error::Check {
            message,
            line: found,
            ..
        }) => {
            assert_eq!(found, line);
            message
        }
        other => panic!("{other:?}"),
    };
    for (bits, positions) in [
        (0b0000, "0, 0"),
        (0b1111, "3, 3"),
        (0b0001, "1, 0"),
        (0b0110, "2, 1"),
    ] {
        for row in [0, 9, 21, 63] {
            let mut metadata = stored.metadata.clone();
            let word = &mut metadata[[row, 1]];
            *word = *word & !(15 << 20) | bits << 20;
            let mut c = filled(64, 48, 0.0);
            let found = kernels::sparse_tiles(&stored.packed, &metadata, &b, &mut c);
            let tile = row % 16;
            let expected = format!("positions {positions} of row {tile}, K 20 do not ascend");
            let found = message(found, 12);
            assert!(found.contains(&expected), "{found}");
            let columns = Tensor::from_fn((64, 48), |[i, j]| b[[j, i]]);
            let found = kernels::sparse_in_registers(&stored.packed, &metadata, &columns, &mut c);
            let found = message(found, 202);
            assert!(found.contains(&expected), "{found}");
        }
    }
}

#[test]
fn metadata_in_the_memory_of_each_thread() {
    for (m, n, k) in [(32, 8, 64), (40, 20, 128), (7, 3, 64)] {
        let a = sparse_matrix(m, k, 51, f16::from_f32);
        let b = dense(n, k, 53, f16::from_f32);
        let stored = encoded(&a);
        let mut c = filled(m, n, f32::NAN);
        kernels::sparse_own_metadata(&stored.packed, &stored.metadata, &b, &mut c).unwrap();
        expect(&c, (&a, &b), |v| v.to_f64(), |sum| sum as f32);
    }
}

/// With a word of metadata for each 16 elements, whose upper half may be anything.
fn encoded_by_16<T: Element>(dense: &Matrix<T>, upper: u32) -> EncodedBy16<T> {
    let mut encoded = sparse::encode_by_16(dense).unwrap();
    let words = encoded.metadata.as_slice();
    let words: Vec<u32> = words.iter().map(|word| word | upper << 16).collect();
    let [rows, columns] = encoded.metadata.shape();
    encoded.metadata = Tensor::from_fn((rows, columns), |[i, j]| words[i * columns + j]);
    encoded
}

#[test]
fn tiles_of_sixteen() {
    let a = sparse_matrix(64, 128, 61, f16::from_f32);
    let b = dense(32, 128, 63, f16::from_f32);
    let stored = encoded_by_16(&a, 0);
    let mut c = filled(64, 32, f32::NAN);
    kernels::sparse_by_sixteen(&stored.packed, &stored.metadata, &b, &mut c).unwrap();
    expect(&c, (&a, &b), f16::to_f64, |sum| sum as f32);

    let a = sparse_matrix(64, 128, 64, bf16::from_f32);
    let b = dense(32, 128, 66, bf16::from_f32);
    let stored = encoded_by_16(&a, 0xffff);
    let mut c = filled(64, 32, f32::NAN);
    kernels::sparse_bf16_by_sixteen(&stored.packed, &stored.metadata, &b, &mut c).unwrap();
    expect(&c, (&a, &b), bf16::to_f64, |sum| sum as f32);
}

#[test]
fn tiles_of_sixteen_at_edges() {
    for (m, n, k) in [(16, 8, 16), (40, 20, 48), (7, 3, 32), (33, 41, 112)] {
        let a = sparse_matrix(m, k, 67, f16::from_f32);
        let b = dense(n, k, 69, f16::from_f32);
        let stored = encoded_by_16(&a, 0x1234);
        let mut c = filled(m, n, f32::NAN);
        let inputs = (&stored.packed, &stored.metadata, &b);
        on_device(inputs, &mut c, kernels::sparse_sixteen_at_edges);
        expect(&c, (&a, &b), f16::to_f64, |sum| sum as f32);
    }
    for m in [32, 5, 71] {
        let a = sparse_matrix(m, 16, 70, f16::from_f32);
        let b = dense(8, 16, 72, f16::from_f32);
        let stored = encoded_by_16(&a, 0);
        let columns = Tensor::from_fn((16, 8), |[i, j]| b[[j, i]]);
        let mut c = filled(m, 8, f16::NAN);
        let inputs = (&stored.packed, &stored.metadata, &columns);
        on_device(inputs, &mut c, kernels::sparse_sixteen_shared);
        expect(&c, (&a, &b), f16::to_f64, f16::from_f64);
    }
}

#[test]
fn several_instructions_of_sixteen() {
    let a = sparse_matrix(32, 48, 73, bf16::from_f32);
    let b = dense(16, 48, 75, bf16::from_f32);
    let stored = encoded_by_16(&a, 0xabcd);
    let bytes = Tensor::from_fn((32, 6), |[i, j]| {
        stored.metadata[[i, j / 2]].to_le_bytes()[j % 2]
    });
    let clean = || filled(32, 16, f32::NAN);
    let mut c = [clean(), clean()];
    kernels::sparse_three_of_sixteen(&stored.packed, &stored.metadata, &b, &mut c[0]).unwrap();
    kernels::sparse_three_by_bytes(&stored.packed, &bytes, &b, &mut c[1]).unwrap();
    for c in &c {
        expect(c, (&a, &b), bf16::to_f64, |sum| sum as f32);
    }

    let a = sparse_matrix(32, 80, 76, f16::from_f32);
    let b = dense(16, 80, 78, f16::from_f32);
    let stored = encoded_by_16(&a, 0);
    let halves = Tensor::from_fn((32, 5), |at| stored.metadata[at] as u16);
    let mut c = [clean(), clean()];
    kernels::sparse_five_of_sixteen(&stored.packed, &stored.metadata, &b, &mut c[0]).unwrap();
    kernels::sparse_five_by_halves(&stored.packed, &halves, &b, &mut c[1]).unwrap();
    for c in &c {
        expect(c, (&a, &b), f16::to_f64, |sum| sum as f32);
    }
}

/// Only the lower half of a word is checked, and the report names the group of the tile.
#[test]
fn metadata_of_sixteen_that_is_not_valid() {
    // On a GPU such metadata has no defined result.
    if !croq_sys::Device::default().is_sim() {
        return;
    }
    let a = sparse_matrix(32, 48, 79, bf16::from_f32);
    let b = dense(16, 48, 81, bf16::from_f32);
    for (row, word, shift, fails) in [(3, 0, 4, true), (25, 2, 12, true), (9, 1, 20, false)] {
        let mut stored = encoded_by_16(&a, 0);
        let bits = &mut stored.metadata[[row, word]];
        *bits = *bits & !(15 << shift) | 0b0110 << shift;
        let mut c = filled(32, 16, f32::NAN);
        let found = kernels::sparse_three_of_sixteen(&stored.packed, &stored.metadata, &b, &mut c);
        match found {
            Ok(()) => assert!(!fails),
            Err(Error::Check { message, .. }) => {
                let (row, k) = (row % 16, shift);
                let expected = format!("positions 2, 1 of row {row}, K {k} do not ascend");
                assert!(fails && message.contains(&expected), "{message}");
            }
            Err(other) => panic!("{other:?}"),
        }
    }
}

#[test]
fn all_metadata_of_a_row_in_the_memory_of_threads() {
    for (m, n) in [(64, 16), (70, 40), (7, 3), (129, 17)] {
        let a = sparse_matrix(m, 192, 91, bf16::from_f32);
        let b = dense(n, 192, 93, bf16::from_f32);
        let stored = encoded(&a);
        let packed = with_columns::<_, 96>(&stored.packed);
        let metadata = with_columns::<_, 6>(&stored.metadata);
        let mut c = filled(m, n, f32::NAN);
        let b = with_columns::<_, 192>(&b);
        kernels::sparse_own_words(&packed, &metadata, &b, &mut c).unwrap();
        assert_exact(&c, |[i, j]| {
            product(192, |k| a[[i, k]].to_f64(), |k| b[[j, k]].to_f64()) as f32
        });
    }
}
