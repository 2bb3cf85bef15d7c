//! MMAs by warpgroups. Operands are small integers, so that all accumulators are exact.

use croq_sys::half::{bf16, f16};
use croq_sys::{Const, Device, Dims, Element, F8E4M3, F8E5M2, Tensor};
use croq_tests::compare::assert_exact;
use croq_tests::kernels;

type Matrix<T, const R: usize, const C: usize> = Tensor<T, (Const<R>, Const<C>)>;

fn small<T: Element, D: Dims + Copy>(dims: D, seed: u64, to: fn(f32) -> T) -> Tensor<T, D> {
    let n = Tensor::<i32, _>::random(dims, -4..5, seed);
    let values = n.as_slice().iter().map(|v| to(*v as f32));
    Tensor::from_vec(dims, values.collect()).unwrap()
}

fn halves<const R: usize, const C: usize>(seed: u64) -> Matrix<f16, R, C> {
    small((Const, Const), seed, f16::from_f32)
}

/// The expected contents of C where nothing was written.
fn poisoned<T: Element, const R: usize, const C: usize>(value: T) -> Matrix<T, R, C> {
    Tensor::from_fn((Const, Const), |_| value)
}

/// `sum over k of a(k) b(k)`.
fn product(depth: usize, a: impl Fn(usize) -> f64, b: impl Fn(usize) -> f64) -> f64 {
    (0..depth).map(|k| a(k) * b(k)).sum()
}

#[test]
fn four_layouts() {
    let (mk, km) = (halves::<64, 48>(1), halves::<48, 64>(2));
    let (nk, kn) = (halves::<96, 48>(3), halves::<48, 96>(4));
    let clean = || poisoned::<f32, 64, 96>(f32::NAN);
    let mut c = [clean(), clean(), clean(), clean()];
    kernels::wg_row_row(&mk, &nk, &mut c[0]).unwrap();
    kernels::wg_row_col(&mk, &kn, &mut c[1]).unwrap();
    kernels::wg_col_row(&km, &nk, &mut c[2]).unwrap();
    kernels::wg_col_col(&km, &kn, &mut c[3]).unwrap();
    for (which, c) in c.iter().enumerate() {
        assert_exact(c, |[i, j]| {
            let a = |k| if which < 2 { mk[[i, k]] } else { km[[k, i]] }.to_f64();
            let b = |k| {
                let of = if which % 2 == 0 {
                    nk[[j, k]]
                } else {
                    kn[[k, j]]
                };
                of.to_f64()
            };
            (0.5 + product(48, a, b)) as f32
        });
    }
}

#[test]
fn rows_of_several_groups() {
    let (a, b) = (halves::<64, 128>(5), halves::<128, 128>(6));
    let kernels = [
        kernels::wg_rows_32,
        kernels::wg_rows_64,
        kernels::wg_rows_128,
    ];
    for kernel in kernels {
        let mut c = poisoned::<f32, 64, 128>(f32::NAN);
        kernel(&a, &b, &mut c).unwrap();
        assert_exact(&c, |[i, j]| {
            product(128, |k| a[[i, k]].to_f64(), |k| b[[j, k]].to_f64()) as f32
        });
    }
}

#[test]
fn columns_of_several_groups() {
    let (a, b) = (halves::<128, 64>(7), halves::<128, 128>(8));
    let kernels = [
        kernels::wg_columns_32,
        kernels::wg_columns_64,
        kernels::wg_columns_128,
    ];
    for kernel in kernels {
        let mut c = poisoned::<f32, 64, 128>(f32::NAN);
        kernel(&a, &b, &mut c).unwrap();
        assert_exact(&c, |[i, j]| {
            product(128, |k| a[[k, i]].to_f64(), |k| b[[k, j]].to_f64()) as f32
        });
    }
}

#[test]
fn floats() {
    let (a, b) = (halves::<64, 32>(9), halves::<24, 32>(10));
    let mut c = poisoned::<f16, 64, 24>(f16::NAN);
    kernels::wg_f16_sums(&a, &b, &mut c).unwrap();
    assert_exact(&c, |[i, j]| {
        f16::from_f64(product(32, |k| a[[i, k]].to_f64(), |k| b[[j, k]].to_f64()))
    });

    let a: Matrix<bf16, 64, 64> = small((Const, Const), 11, bf16::from_f32);
    let b: Matrix<bf16, 40, 64> = small((Const, Const), 12, bf16::from_f32);
    let mut c = poisoned::<f32, 64, 40>(f32::NAN);
    kernels::wg_bf16(&a, &b, &mut c).unwrap();
    assert_exact(&c, |[i, j]| {
        product(64, |k| a[[i, k]].to_f64(), |k| b[[j, k]].to_f64()) as f32
    });

    let a: Matrix<f32, 64, 32> = small((Const, Const), 13, |v| v);
    let b: Matrix<f32, 8, 32> = small((Const, Const), 14, |v| v);
    let mut c = poisoned::<f32, 64, 8>(f32::NAN);
    kernels::wg_tf32(&a, &b, &mut c).unwrap();
    assert_exact(&c, |[i, j]| {
        product(32, |k| f64::from(a[[i, k]]), |k| f64::from(b[[j, k]])) as f32
    });
}

#[test]
fn bytes() {
    let a: Matrix<F8E4M3, 64, 96> = small((Const, Const), 15, F8E4M3::from_f32);
    let b: Matrix<F8E5M2, 16, 96> = small((Const, Const), 16, F8E5M2::from_f32);
    let mut c = poisoned::<f32, 64, 16>(f32::NAN);
    kernels::wg_f8(&a, &b, &mut c).unwrap();
    assert_exact(&c, |[i, j]| {
        product(96, |k| a[[i, k]].to_f64(), |k| b[[j, k]].to_f64()) as f32
    });

    let a: Matrix<F8E5M2, 64, 32> = small((Const, Const), 17, F8E5M2::from_f32);
    let b: Matrix<F8E5M2, 16, 32> = small((Const, Const), 18, F8E5M2::from_f32);
    let mut c = poisoned::<f16, 64, 16>(f16::NAN);
    kernels::wg_f8_sums(&a, &b, &mut c).unwrap();
    assert_exact(&c, |[i, j]| {
        f16::from_f64(product(32, |k| a[[i, k]].to_f64(), |k| b[[j, k]].to_f64()))
    });

    let a = Matrix::<i8, 64, 128>::random((Const, Const), -128..127, 19);
    let b = Matrix::<u8, 24, 128>::random((Const, Const), 0..255, 20);
    let mut c = poisoned::<i32, 64, 24>(i32::MIN);
    kernels::wg_s8_u8(&a, &b, &mut c).unwrap();
    assert_exact(&c, |[i, j]| {
        (0..128)
            .map(|k| i32::from(a[[i, k]]) * i32::from(b[[j, k]]))
            .sum()
    });
}

#[test]
fn tiles_by_name() {
    let (a, b) = (halves::<64, 64>(21), halves::<32, 64>(22));
    let mut c = poisoned::<f32, 64, 32>(f32::NAN);
    kernels::wg_named(&a, &b, &mut c).unwrap();
    assert_exact(&c, |[i, j]| {
        product(64, |k| a[[i, k]].to_f64(), |k| b[[j, k]].to_f64()) as f32
    });
}

#[test]
fn a_in_registers() {
    let (a, b) = (halves::<64, 64>(23), halves::<32, 64>(24));
    let mut c = poisoned::<f32, 64, 32>(f32::NAN);
    kernels::wg_registers(&a, &b, &mut c).unwrap();
    assert_exact(&c, |[i, j]| {
        2.0 * product(64, |k| a[[i, k]].to_f64(), |k| b[[j, k]].to_f64()) as f32
    });
}

#[test]
fn sums_become_an_operand() {
    let (a, b, d) = (
        halves::<64, 32>(25),
        halves::<48, 32>(26),
        halves::<48, 64>(27),
    );
    let mut c = poisoned::<f32, 64, 64>(f32::NAN);
    kernels::wg_chained(&a, &b, &d, &mut c).unwrap();
    assert_exact(&c, |[i, j]| {
        let p = |n: usize| product(32, |k| a[[i, k]].to_f64(), |k| b[[n, k]].to_f64());
        product(48, p, |n| d[[n, j]].to_f64()) as f32
    });
}

#[test]
fn two_warpgroups() {
    let (a, b) = (halves::<128, 64>(28), halves::<32, 64>(29));
    let mut c = poisoned::<f32, 128, 32>(f32::NAN);
    let mut t = poisoned::<f32, 32, 128>(f32::NAN);
    let mut most = Tensor::<f32, (Const<128>,)>::from_fn((Const,), |_| f32::NAN);
    kernels::wg_rows_of_two(&a, &b, &mut c, &mut t, &mut most).unwrap();
    let sum =
        |i: usize, j: usize| product(64, |k| a[[i, k]].to_f64(), |k| b[[j, k]].to_f64()) as f32;
    let largest = |i: usize| (0..32).map(|j| sum(i, j)).fold(f32::NEG_INFINITY, f32::max);
    assert_exact(&most, |[i]| largest(i));
    assert_exact(&c, |[i, j]| sum(i, j) - largest(i));
    assert_exact(&t, |[j, i]| sum(i, j) - largest(i));
}

#[test]
fn any_extents() {
    for (m, n, k) in [(64, 48, 32), (1, 1, 1), (65, 47, 33), (130, 100, 70)] {
        let a = small((m, k), 30, f16::from_f32);
        let b = small((k, n), 31, f16::from_f32);
        let c = kernels::wg_ragged(&a, &b).unwrap();
        assert_exact(&c, |[i, j]| {
            product(k, |e| a[[i, e]].to_f64(), |e| b[[e, j]].to_f64()) as f32
        });
    }
}

#[test]
fn tiles_that_are_exchanged() {
    for k in [1, 64, 100, 256] {
        let a = small((Const::<64>, k), 60, f16::from_f32);
        let b = small((Const::<32>, k), 61, f16::from_f32);
        let c = kernels::wg_exchanged(&a, &b).unwrap();
        assert_exact(&c, |[i, j]| {
            product(k, |e| a[[i, e]].to_f64(), |e| b[[j, e]].to_f64()) as f32
        });
    }
}

#[test]
fn tiles_by_the_copy_engine() {
    for (m, n, k) in [(64, 64, 64), (65, 72, 136), (3, 8, 8), (130, 200, 256)] {
        let a = small((m, k), 32, f16::from_f32);
        let b = small((n, k), 33, f16::from_f32);
        let c = kernels::wg_boxes(&a, &b).unwrap();
        assert_exact(&c, |[i, j]| {
            f16::from_f64(product(k, |e| a[[i, e]].to_f64(), |e| b[[j, e]].to_f64()))
        });
    }
}

#[test]
fn products_with_futures() {
    let (a, b, d) = (
        halves::<64, 64>(34),
        halves::<32, 64>(35),
        halves::<16, 64>(36),
    );
    let mut c = poisoned::<f32, 64, 32>(f32::NAN);
    let mut e = poisoned::<f32, 64, 16>(f32::NAN);
    kernels::wg_futures(&a, &b, &d, &mut c, &mut e).unwrap();
    assert_exact(&c, |[i, j]| {
        product(64, |k| a[[i, k]].to_f64(), |k| b[[j, k]].to_f64()) as f32
    });
    assert_exact(&e, |[i, j]| {
        (1.0 + product(64, |k| a[[i, k]].to_f64(), |k| d[[j, k]].to_f64())) as f32
    });
}

#[test]
fn blocks_that_stay_and_warpgroups_with_roles() {
    let device = Device::default();
    for (m, n, k) in [(64, 128, 64), (1, 1, 1), (65, 130, 70), (150, 200, 200)] {
        let a = small((m, k), 37, f16::from_f32);
        let b = small((n, k), 38, f16::from_f32);
        let [x, w] = [&a, &b].map(|t| t.to_device(&device).unwrap());
        for kernel in [kernels::wg_stays, kernels::wg_two_roles] {
            let y = Tensor::from_fn((m, n), |_| f16::NAN);
            let mut y = y.to_device(&device).unwrap();
            kernel(&x, &w, &mut y).unwrap();
            assert_exact(&y.to_host().unwrap(), |[i, j]| {
                f16::from_f64(product(k, |e| a[[i, e]].to_f64(), |e| b[[j, e]].to_f64()))
            });
        }
    }
}

#[test]
fn turns_that_are_left_before_their_product() {
    let (a, b) = (halves::<64, 64>(39), halves::<32, 64>(40));
    for (from, to) in [(0, 4), (1, 3), (3, 1), (4, 0)] {
        let [mut c, mut d] = [0, 1].map(|_| poisoned::<f32, 64, 32>(f32::NAN));
        kernels::wg_some_turns(&a, &b, &mut c, &mut d, from, to).unwrap();
        let sum = |[i, j]: [usize; 2], range: std::ops::Range<i32>| {
            let terms = range.start as usize * 16..range.end as usize * 16;
            terms
                .map(|k| a[[i, k]].to_f32() * b[[j, k]].to_f32())
                .sum::<f32>()
        };
        assert_exact(&c, |at| sum(at, from..4));
        assert_exact(&d, |at| sum(at, 0..to));
    }
}

/// Scales are powers of two, so that all is exact.
#[test]
fn products_that_are_scaled() {
    let scale = |n: i32| 2f32.powi(n);
    let (a, b) = (halves::<64, 32>(61), halves::<24, 32>(62));
    let whole = |i: usize, j: usize| product(32, |k| a[[i, k]].to_f64(), |k| b[[j, k]].to_f64());
    let rows = Matrix::<f32, 64, 1>::from_fn((Const, Const), |[i, _]| scale(i as i32 % 5 - 2));
    let more = Matrix::<f32, 2, 64>::from_fn((Const, Const), |[r, i]| {
        scale((r as i32 * 3 + i as i32) % 4 - 1)
    });
    let mut c = poisoned::<f32, 64, 24>(f32::NAN);
    kernels::wg_scaled(&a, &b, &rows, &more, 0.25, &mut c).unwrap();
    assert_exact(&c, |[i, j]| {
        let of_rows = 1.0 + f64::from(rows[[i, 0]]) * 0.25 + 2.0 * f64::from(more[[1, i]]) * 0.5;
        (0.5 + whole(i, j) * of_rows) as f32
    });

    let b = halves::<48, 32>(63);
    let factors = Tensor::from_fn((Const::<2>,), |[i]| [0.5f32, 0.25][i]);
    let mut c = poisoned::<f16, 64, 48>(f16::NAN);
    kernels::wg_scaled_halves(&a, &b, &rows, &factors, &mut c).unwrap();
    assert_exact(&c, |[i, j]| {
        let whole = product(32, |k| a[[i, k]].to_f64(), |k| b[[j, k]].to_f64());
        f16::from_f64(1.0 + whole * f64::from(rows[[i, 0]] * factors[[j / 24]]))
    });
}

#[test]
fn rows_beyond_the_edge_have_no_scale() {
    let (a, b) = (halves::<64, 64>(64), halves::<16, 64>(65));
    for rows in [1, 37, 64, 70] {
        let scales = Tensor::from_fn((rows, Const::<4>), |[i, k]| {
            2f32.powi((i + k) as i32 % 5 - 2)
        });
        let mut c = poisoned::<f32, 64, 16>(f32::NAN);
        kernels::wg_scaled_edge(&a, &b, &scales, &mut c).unwrap();
        assert_exact(&c, |[i, j]| {
            let scale = |k: usize| {
                if i < rows {
                    f64::from(scales[[i, k / 16]])
                } else {
                    0.0
                }
            };
            let a = |k| a[[i, k]].to_f64() * scale(k);
            (1.0 + product(64, a, |k| b[[j, k]].to_f64())) as f32
        });
    }
}

#[test]
fn commit_without_a_product() {
    let x = Tensor::<i32, _>::random((Const::<256>,), -100..100, 4);
    assert_exact(&kernels::commit_of_nothing(&x).unwrap(), |i| x[i] + 1);
}

#[test]
fn stored_columns() {
    let (a, b) = (halves::<64, 64>(71), halves::<128, 64>(72));
    for (rows, columns) in [(64, 128), (64, 72), (33, 64), (7, 8)] {
        let mut c = Tensor::from_fn((rows, columns), |_| f16::NAN);
        let mut d = poisoned::<f32, 64, 128>(f32::NAN);
        kernels::wg_stored_columns(&a, &b, &mut c, &mut d).unwrap();
        let whole =
            |i: usize, j: usize| 0.5 + product(64, |k| a[[i, k]].to_f64(), |k| b[[j, k]].to_f64());
        assert_exact(&c, |[i, j]| f16::from_f64(whole(i, j)));
        assert_exact(&d, |[i, j]| whole(i, (1 - j / 64) * 64 + j % 64) as f32);
    }
}
