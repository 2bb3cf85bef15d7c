//! MMAs by warps. Operands are small integers if the accumulators are exact for them; elsewhere
//! accumulators of narrow floats are exact except for one rounding per instruction, which is less
//! than the tolerance of [`dot`].

use croq_sys::half::{bf16, f16};
use croq_sys::{Const, Dims, Element, F8E4M3, F8E5M2, S4x2, Tensor};
use croq_tests::compare::{Float, assert_close, assert_exact, dot, growth, near};
use croq_tests::kernels;

type Matrix<T, const R: usize, const C: usize> = Tensor<T, (Const<R>, Const<C>)>;

/// Small integers, which all types represent.
fn small<T: Element, D: Dims + Copy>(
    dims: D,
    low: i32,
    seed: u64,
    to: fn(f32) -> T,
) -> Tensor<T, D> {
    let n = Tensor::<i32, _>::random(dims, low..5, seed);
    let values = n.as_slice().iter().map(|v| to(*v as f32));
    Tensor::from_vec(dims, values.collect()).unwrap()
}

fn halves<const R: usize, const C: usize>(seed: u64) -> Matrix<f16, R, C> {
    small((Const, Const), -4, seed, f16::from_f32)
}

/// The expected contents of C where nothing was written.
fn poisoned<T: Element, const R: usize, const C: usize>(value: T) -> Matrix<T, R, C> {
    Tensor::from_fn((Const, Const), |_| value)
}

/// `sum over k of a(i, k) b(k, j)`.
fn product(depth: usize, a: impl Fn(usize) -> f64, b: impl Fn(usize) -> f64) -> f64 {
    (0..depth).map(|k| a(k) * b(k)).sum()
}

#[test]
fn one_instruction() {
    let (a, b) = (halves::<16, 16>(1), halves::<8, 16>(2));
    let mut c = poisoned::<f32, 16, 8>(f32::NAN);
    kernels::mma_one(&a, &b, &mut c).unwrap();
    assert_exact(&c, |[i, j]| {
        (0.5 + product(16, |k| a[[i, k]].to_f64(), |k| b[[j, k]].to_f64())) as f32
    });
}

#[test]
fn four_layouts_of_shared_memory() {
    let (mk, km) = (halves::<32, 48>(3), halves::<48, 32>(4));
    let (nk, kn) = (halves::<24, 48>(5), halves::<48, 24>(6));
    let clean = || poisoned::<f32, 32, 24>(f32::NAN);
    let mut c = [clean(), clean(), clean(), clean()];
    kernels::mma_row_row(&mk, &nk, &mut c[0]).unwrap();
    kernels::mma_row_col(&mk, &kn, &mut c[1]).unwrap();
    kernels::mma_col_row(&km, &nk, &mut c[2]).unwrap();
    kernels::mma_col_col(&km, &kn, &mut c[3]).unwrap();
    for (which, c) in c.iter().enumerate() {
        assert_exact(c, |[i, j]| {
            let a = |k| if which < 2 { mk[[i, k]] } else { km[[k, i]] }.to_f64();
            let b = |k| {
                if which % 2 == 0 {
                    nk[[j, k]]
                } else {
                    kn[[k, j]]
                }
                .to_f64()
            };
            product(48, a, b) as f32
        });
    }
}

#[test]
fn elements_of_device_memory() {
    let (a, b) = (halves::<32, 16>(7), halves::<32, 16>(8));
    let mut c = poisoned::<f32, 16, 16>(f32::NAN);
    kernels::mma_global_col_col(&a, &b, &mut c).unwrap();
    assert_exact(&c, |[i, j]| {
        product(32, |k| a[[k, i]].to_f64(), |k| b[[k, j]].to_f64()) as f32
    });
}

#[test]
fn sums_in_f16() {
    let (a, b) = (halves::<16, 16>(9), halves::<16, 16>(10));
    let mut c = poisoned::<f16, 16, 16>(f16::NAN);
    kernels::mma_f16_sums(&a, &b, &mut c).unwrap();
    assert_exact(&c, |[i, j]| {
        f16::from_f64(product(16, |k| a[[i, k]].to_f64(), |k| b[[j, k]].to_f64()))
    });
}

#[test]
fn every_type_of_floats() {
    let a: Matrix<bf16, 16, 32> = small((Const, Const), -4, 11, bf16::from_f32);
    let b: Matrix<bf16, 32, 16> = small((Const, Const), -4, 12, bf16::from_f32);
    let mut c = poisoned::<f32, 16, 16>(f32::NAN);
    kernels::mma_bf16(&a, &b, &mut c).unwrap();
    assert_exact(&c, |[i, j]| {
        product(32, |k| a[[i, k]].to_f64(), |k| b[[k, j]].to_f64()) as f32
    });

    let a: Matrix<F8E4M3, 16, 32> = small((Const, Const), -4, 13, F8E4M3::from_f32);
    let b: Matrix<F8E5M2, 32, 16> = small((Const, Const), -4, 14, F8E5M2::from_f32);
    let mut c = poisoned::<f32, 16, 16>(f32::NAN);
    kernels::mma_f8(&a, &b, &mut c).unwrap();
    assert_exact(&c, |[i, j]| {
        product(32, |k| a[[i, k]].to_f64(), |k| b[[k, j]].to_f64()) as f32
    });

    let a = Matrix::<f64, 16, 24>::random((Const, Const), -1.0..1.0, 15);
    let b = Matrix::<f64, 24, 16>::random((Const, Const), -1.0..1.0, 16);
    let mut c = poisoned::<f64, 16, 16>(f64::NAN);
    kernels::mma_f64(&a, &b, &mut c).unwrap();
    assert_close(&c, |[i, j]| {
        let sum = product(24, |k| a[[i, k]], |k| b[[k, j]]);
        let magnitude = product(24, |k| a[[i, k]].abs(), |k| b[[k, j]].abs());
        dot::<f64>(sum, magnitude, 24)
    });
}

/// Of f32 the first 10 bits of the fraction are used: the truncation is less than 2^-10 of each
/// factor.
#[test]
fn f32_counts_as_tf32() {
    let a = Matrix::<f32, 16, 12>::random((Const, Const), -1.0..1.0, 17);
    let b = Matrix::<f32, 16, 12>::random((Const, Const), -1.0..1.0, 18);
    let mut c = poisoned::<f32, 16, 16>(f32::NAN);
    kernels::mma_tf32(&a, &b, &mut c).unwrap();
    assert_close(&c, |[i, j]| {
        let sum = product(12, |k| a[[i, k]].wide(), |k| b[[j, k]].wide());
        let magnitude = product(12, |k| a[[i, k]].wide().abs(), |k| b[[j, k]].wide().abs());
        near(sum, magnitude * (2.1 / 1024.0 + growth::<f32>(24)))
    });
}

#[test]
fn integers_of_any_sign() {
    let a = Matrix::<i8, 16, 64>::random((Const, Const), -128..127, 19);
    let b = Matrix::<u8, 16, 64>::random((Const, Const), 0..255, 20);
    let mut c = poisoned::<i32, 16, 16>(i32::MIN);
    kernels::mma_s8_u8(&a, &b, &mut c).unwrap();
    assert_exact(&c, |[i, j]| {
        (0..64)
            .map(|k| i32::from(a[[i, k]]) * i32::from(b[[j, k]]))
            .sum()
    });

    let a = Matrix::<u8, 48, 16>::random((Const, Const), 0..255, 21);
    let b = Matrix::<i8, 48, 16>::random((Const, Const), -128..127, 22);
    let mut c = poisoned::<i32, 16, 16>(i32::MIN);
    kernels::mma_u8_s8(&a, &b, &mut c).unwrap();
    assert_exact(&c, |[i, j]| {
        (0..48)
            .map(|k| i32::from(a[[k, i]]) * i32::from(b[[k, j]]))
            .sum()
    });
}

#[test]
fn types_in_shared_memory() {
    let a = Matrix::<i8, 32, 96>::random((Const, Const), -128..127, 23);
    let b = Matrix::<i8, 16, 96>::random((Const, Const), -128..127, 24);
    let mut c = poisoned::<i32, 32, 16>(i32::MIN);
    kernels::mma_shared_s8(&a, &b, &mut c).unwrap();
    assert_exact(&c, |[i, j]| {
        (0..96)
            .map(|k| i32::from(a[[i, k]]) * i32::from(b[[j, k]]))
            .sum()
    });

    let a = Matrix::<i8, 32, 32>::random((Const, Const), -128..127, 25);
    let b = Matrix::<i8, 32, 16>::random((Const, Const), -128..127, 26);
    let mut c = poisoned::<i32, 32, 16>(i32::MIN);
    kernels::mma_shared_s8_col(&a, &b, &mut c).unwrap();
    assert_exact(&c, |[i, j]| {
        (0..32)
            .map(|k| i32::from(a[[i, k]]) * i32::from(b[[k, j]]))
            .sum()
    });

    let a: Matrix<f32, 32, 16> = small((Const, Const), -4, 27, |v| v);
    let b: Matrix<f32, 16, 16> = small((Const, Const), -4, 28, |v| v);
    let mut c = poisoned::<f32, 32, 16>(f32::NAN);
    kernels::mma_shared_tf32(&a, &b, &mut c).unwrap();
    assert_exact(&c, |[i, j]| {
        product(16, |k| a[[i, k]].wide(), |k| b[[j, k]].wide()) as f32
    });

    let a: Matrix<f32, 32, 8> = small((Const, Const), -4, 29, |v| v);
    let b: Matrix<f32, 8, 16> = small((Const, Const), -4, 30, |v| v);
    let mut c = poisoned::<f32, 32, 16>(f32::NAN);
    kernels::mma_shared_tf32_col(&a, &b, &mut c).unwrap();
    assert_exact(&c, |[i, j]| {
        product(8, |k| a[[i, k]].wide(), |k| b[[k, j]].wide()) as f32
    });

    let a: Matrix<f64, 32, 8> = small((Const, Const), -4, 31, f64::from);
    let b: Matrix<f64, 8, 16> = small((Const, Const), -4, 32, f64::from);
    let mut c = poisoned::<f64, 32, 16>(f64::NAN);
    kernels::mma_shared_f64(&a, &b, &mut c).unwrap();
    assert_exact(&c, |[i, j]| product(8, |k| a[[i, k]], |k| b[[k, j]]));

    let a: Matrix<bf16, 32, 32> = small((Const, Const), -4, 33, bf16::from_f32);
    let b: Matrix<bf16, 32, 16> = small((Const, Const), -4, 34, bf16::from_f32);
    let mut c = poisoned::<f32, 32, 16>(f32::NAN);
    kernels::mma_shared_bf16(&a, &b, &mut c).unwrap();
    assert_exact(&c, |[i, j]| {
        product(32, |k| a[[i, k]].to_f64(), |k| b[[k, j]].to_f64()) as f32
    });

    let a: Matrix<F8E5M2, 32, 32> = small((Const, Const), -4, 35, F8E5M2::from_f32);
    let b: Matrix<F8E5M2, 16, 32> = small((Const, Const), -4, 36, F8E5M2::from_f32);
    let mut c = poisoned::<f32, 32, 16>(f32::NAN);
    kernels::mma_shared_f8(&a, &b, &mut c).unwrap();
    assert_exact(&c, |[i, j]| {
        product(32, |k| a[[i, k]].to_f64(), |k| b[[j, k]].to_f64()) as f32
    });
}

#[test]
fn transposed_and_smallest_shapes() {
    let (a, b) = (halves::<8, 32>(37), halves::<32, 32>(38));
    let mut c = poisoned::<f16, 8, 32>(f16::NAN);
    kernels::mma_wide(&a, &b, &mut c).unwrap();
    assert_exact(&c, |[i, j]| {
        f16::from_f64(product(32, |k| a[[i, k]].to_f64(), |k| b[[k, j]].to_f64()))
    });

    let a = Matrix::<i8, 8, 32>::random((Const, Const), -128..127, 39);
    let b = Matrix::<i8, 8, 32>::random((Const, Const), -128..127, 40);
    let mut c = poisoned::<i32, 8, 8>(i32::MIN);
    let x: Matrix<f64, 8, 4> = small((Const, Const), -4, 41, f64::from);
    let y: Matrix<f64, 4, 8> = small((Const, Const), -4, 42, f64::from);
    let mut z = poisoned::<f64, 8, 8>(f64::NAN);
    kernels::mma_small(&a, &b, &mut c, &x, &y, &mut z).unwrap();
    assert_exact(&c, |[i, j]| {
        (0..32)
            .map(|k| i32::from(a[[i, k]]) * i32::from(b[[j, k]]))
            .sum()
    });
    assert_exact(&z, |[i, j]| product(4, |k| x[[i, k]], |k| y[[k, j]]));
}

const RAGGED: [(usize, usize, usize); 6] = [
    (1, 1, 1),
    (32, 32, 48),
    (64, 96, 96),
    (33, 17, 50),
    (31, 70, 47),
    (100, 40, 30),
];

#[test]
fn tiles_at_every_edge() {
    for (m, k, n) in RAGGED {
        let a = small((m, k), -4, 43, f16::from_f32);
        let b = small((k, n), -4, 44, f16::from_f32);
        let c = kernels::mma_ragged(&a, &b).unwrap();
        assert_exact(&c, |[i, j]| {
            f16::from_f64(product(k, |k| a[[i, k]].to_f64(), |k| b[[k, j]].to_f64()))
        });

        let b = small((n, k), -4, 45, f16::from_f32);
        let c = kernels::mma_ragged_global(&a, &b).unwrap();
        assert_exact(&c, |[i, j]| {
            product(k, |k| a[[i, k]].to_f64(), |k| b[[j, k]].to_f64()) as f32
        });
    }
}

#[test]
fn sums_stored_for_others_to_read() {
    let (a, b) = (halves::<64, 32>(46), halves::<32, 32>(47));
    let mut c = poisoned::<f16, 64, 32>(f16::NAN);
    let mut t = poisoned::<f32, 32, 64>(f32::NAN);
    kernels::mma_staged(&a, &b, &mut c, &mut t).unwrap();
    let sum = |i, j| product(32, |k| a[[i, k]].to_f64(), |k| b[[j, k]].to_f64());
    assert_exact(&c, |[i, j]| f16::from_f64(sum(i, j)));
    assert_exact(&t, |[j, i]| sum(i, j) as f32);
}

#[test]
fn arrays_of_sums() {
    let (a, b) = (halves::<32, 16>(48), halves::<32, 16>(49));
    let mut c = poisoned::<f32, 32, 32>(f32::NAN);
    let mut d = poisoned::<f32, 16, 16>(f32::NAN);
    kernels::mma_arrays(&a, &b, &mut c, &mut d, 0.25).unwrap();
    let sum = |i, j| product(16, |k| a[[i, k]].to_f64(), |k| b[[j, k]].to_f64()) as f32;
    assert_exact(&c, |[i, j]| sum(i, j));
    assert_exact(&d, |[i, j]| 3.25 + sum(16 + i, j));
}

#[test]
fn swizzled_tiles() {
    fn check<const K: usize>(
        run: impl Fn(&Matrix<f16, 64, K>, &Matrix<f16, K, 64>, &mut Matrix<f32, 64, 64>),
    ) {
        let (a, b) = (halves::<64, K>(50), halves::<K, 64>(51));
        let mut c = poisoned::<f32, 64, 64>(f32::NAN);
        run(&a, &b, &mut c);
        assert_exact(&c, |[i, j]| {
            product(K, |k| a[[i, k]].to_f64(), |k| b[[k, j]].to_f64()) as f32
        });
    }
    check::<16>(|a, b, c| kernels::mma_swizzled_32(a, b, c).unwrap());
    check::<64>(|a, b, c| kernels::mma_swizzled_64(a, b, c).unwrap());
    check::<128>(|a, b, c| kernels::mma_swizzled_128(a, b, c).unwrap());
}

#[test]
fn masks() {
    let (a, b) = (halves::<16, 16>(52), halves::<16, 16>(53));
    for (rows, columns) in [(0, 16), (16, 16), (5, 3), (8, 1), (9, 8)] {
        let mut c = poisoned::<f32, 16, 16>(-1e9);
        kernels::mma_masked(&a, &b, &mut c, rows, columns).unwrap();
        assert_exact(&c, |[i, j]| {
            if i < rows as usize && j < columns as usize {
                product(16, |k| a[[i, k]].to_f64(), |k| b[[j, k]].to_f64()) as f32
            } else {
                -1e9
            }
        });
    }
}

#[test]
fn elements_of_sums() {
    let (a, b) = (halves::<32, 16>(54), halves::<16, 16>(55));
    let bias: Tensor<f32, (Const<16>,)> = small((Const,), -4, 56, |v| v);
    let mut c = poisoned::<f32, 32, 16>(f32::NAN);
    let mut firsts: Tensor<f32, (Const<32>,)> = small((Const,), -4, 57, |v| v);
    let before = firsts.clone();
    kernels::mma_applied(&a, &b, &bias, &mut c, &mut firsts).unwrap();
    assert_exact(&c, |[i, j]| {
        let sum = product(16, |k| a[[i, k]].to_f64(), |k| b[[j, k]].to_f64()) as f32;
        sum * 2.0 + bias[[j]] + (i % 16 * 100) as f32
    });
    assert_exact(&firsts, |[i]| before[[i]] + 2.0);
}

#[test]
fn zeros_of_fragments_have_signs() {
    let mut y: Tensor<f32, (Const<32>,)> = Tensor::from_fn((Const,), |_| f32::NAN);
    kernels::mma_zeros(&mut y).unwrap();
    let bits: Vec<u32> = y.as_slice().iter().map(|y| y.to_bits()).collect();
    assert_eq!(bits, [[(-0.0f32).to_bits(); 16], [0; 16]].concat());
}

#[test]
fn softmax_of_rows() {
    let (q, k) = (halves::<16, 32>(58), halves::<24, 32>(59));
    let v = halves::<24, 8>(60);
    let mut p = poisoned::<f32, 16, 24>(f32::NAN);
    let mut out = poisoned::<f32, 16, 8>(f32::NAN);
    let mut total: Tensor<f32, (Const<16>,)> = Tensor::from_fn((Const,), |_| f32::NAN);
    kernels::mma_softmax(&q, &k, &v, &mut p, &mut out, &mut total).unwrap();
    let rows: Vec<Vec<f64>> = (0..16)
        .map(|i| {
            let score = |j| product(32, |x| q[[i, x]].to_f64(), |x| k[[j, x]].to_f64());
            let scores: Vec<f64> = (0..24).map(score).collect();
            let largest = scores.iter().copied().fold(f64::MIN, f64::max);
            scores.iter().map(|s| (s - largest).exp()).collect()
        })
        .collect();
    let exp = |i: usize, j: usize| rows[i][j];
    let sum = |i: usize| rows[i].iter().sum::<f64>();
    // A library function, a sum of 24 in some order, a division.
    assert_close(&total, |[i]| near(sum(i), sum(i) * growth::<f32>(40)));
    assert_close(&p, |[i, j]| {
        near(
            exp(i, j) / sum(i),
            growth::<f32>(60) * exp(i, j) / sum(i) + f32::SMALLEST,
        )
    });
    // Weights are rounded to f16 before they are multiplied.
    assert_close(&out, |[i, j]| {
        let weight = |x: usize| exp(i, x) / sum(i);
        let value = product(24, weight, |x| v[[x, j]].to_f64());
        let magnitude = product(24, weight, |x| v[[x, j]].to_f64().abs());
        near(value, magnitude * growth::<f16>(2) + 24.0 * f16::SMALLEST)
    });
}

#[test]
fn sums_over_the_owners_of_a_row() {
    let (a, b) = (halves::<16, 16>(61), halves::<8, 16>(62));
    let mut c = poisoned::<f32, 16, 8>(f32::NAN);
    let mut sums: Tensor<f32, (Const<16>,)> = Tensor::from_fn((Const,), |_| f32::NAN);
    kernels::mma_owners(&a, &b, &mut c, &mut sums).unwrap();
    assert_exact(&sums, |[i]| (0..8).map(|j| c[[i, j]]).sum());
}

#[test]
fn stored_columns() {
    let (a, b) = (halves::<32, 16>(51), halves::<48, 16>(52));
    let (mut c, mut t) = (
        poisoned::<f32, 32, 48>(f32::NAN),
        poisoned::<f32, 48, 32>(f32::NAN),
    );
    let mut d = poisoned::<f32, 32, 21>(f32::NAN);
    for columns in [48, 41, 16, 3] {
        let mut e = Tensor::from_fn((Const::<32>, columns), |_| f32::NAN);
        kernels::mma_stored_columns(&a, &b, &mut c, &mut t, &mut d, &mut e).unwrap();
        let whole =
            |i: usize, j: usize| product(16, |k| a[[i, k]].to_f64(), |k| b[[j, k]].to_f64()) as f32;
        assert_exact(&c, |[i, j]| whole(i, (2 - j / 16) * 16 + j % 16));
        assert_exact(&t, |[j, i]| whole(i, j));
        assert_exact(&d, |[i, j]| whole(i, j + 5));
        assert_exact(&e, |[i, j]| whole(i, j));
    }
}

#[test]
fn stored_columns_of_a_transpose() {
    let (a, b) = (halves::<8, 16>(53), halves::<32, 16>(54));
    let (mut c, mut d) = (
        poisoned::<f32, 8, 32>(f32::NAN),
        poisoned::<f32, 8, 32>(f32::NAN),
    );
    kernels::mma_stored_columns_of_a_transpose(&a, &b, &mut c, &mut d).unwrap();
    let whole =
        |i: usize, j: usize| product(16, |k| a[[i, k]].to_f64(), |k| b[[j, k]].to_f64()) as f32;
    assert_exact(&c, |[i, j]| whole(i, (1 - j / 16) * 16 + j % 16));
    assert_exact(&d, |[i, j]| whole(i, (3 - j / 8) * 8 + j % 8));
}

#[test]
fn stored_columns_of_no_product() {
    let mut c = poisoned::<f32, 16, 24>(f32::NAN);
    kernels::mma_stored_columns_of_none(&mut c).unwrap();
    assert_exact(&c, |[i, j]| (i * 100 + (2 - j / 8) * 8 + j % 8) as f32);
}

#[test]
fn stored_packed() {
    let a = Tensor::from_fn((Const::<16>, Const::<32>), |[i, k]| i8::from(i == k));
    let b = Tensor::from_fn((Const::<8>, Const::<32>), |[j, k]| {
        ((3 * j + 5 * k) % 16) as i8 - 8
    });
    let mut c = Tensor::<S4x2, _>::zeros((Const::<16>, Const::<8>));
    kernels::mma_stored_packed(&a, &b, &mut c).unwrap();
    for i in 0..16 {
        for j in 0..8 {
            assert_eq!(c.value([i, j]), Some(b[[j, i]]), "{i}, {j}");
        }
    }
}
