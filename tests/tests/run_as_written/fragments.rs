//! Fragments of threads: reads after the enclosing level of their MMA, at block level, and with
//! many rows (`fragments.co`).

use croq_sys::half::{bf16, f16};
use croq_sys::{Const, Dims, Tensor};
use croq_tests::compare::assert_exact;
use croq_tests::kernels;

fn small<D: Dims + Copy>(dims: D, seed: u64) -> Tensor<f16, D> {
    let n = Tensor::<i32, _>::random(dims, -4..5, seed);
    let values = n.as_slice().iter().map(|v| f16::from_f32(*v as f32));
    Tensor::from_vec(dims, values.collect()).unwrap()
}

fn dot(n: usize, term: impl Fn(usize) -> f32) -> f32 {
    (0..n).map(term).sum()
}

#[test]
fn values_are_dealt_out_over_threads() {
    let x = Tensor::<f32, _>::random((Const::<1024>,), -1.0..1.0, 1);
    let mut y = Tensor::<f32, _>::zeros((Const::<1024>,));
    let mut z = Tensor::<f32, _>::zeros((Const::<1000>,));
    kernels::dealt_values(&x, &mut y, &mut z, 3.0).unwrap();
    for i in 0..1024 {
        let v = 1.0 + 3.0 * x[[i]];
        assert!((y[[i]] - v * v).abs() < 1e-5, "{i}");
    }
    assert_exact(&z, |[i]| 2.0 * x[[1023 - i]]);
}

#[test]
fn rows_are_dealt_out_over_warps() {
    for m in [7, 21, 30, 1] {
        let x = Tensor::<f32, _>::random((m, Const::<41>), -3.0..3.0, 2);
        let mut y = Tensor::<f32, _>::zeros((m, Const::<41>));
        let mut sums = Tensor::<f32, _>::zeros((m,));
        kernels::dealt_rows(&x, &mut y, &mut sums).unwrap();
        for i in 0..m {
            let top = (0..41).fold(f32::MIN, |top, j| top.max(x[[i, j]]));
            let sum = dot(41, |j| (x[[i, j]] - top).exp());
            assert!((sums[[i]] - sum).abs() < 1e-4 * sum, "row {i}");
            for j in 0..41 {
                let expected = (x[[i, j]] - top).exp() / sum;
                assert!((y[[i, j]] - expected).abs() < 1e-5, "{i} {j}");
            }
        }
    }
}

#[test]
fn rows_of_few_columns() {
    let x = Tensor::<i32, _>::random((Const::<2>, Const::<10>, Const::<3>), -99..100, 3);
    let z = Tensor::<i32, _>::random((Const::<50>, Const::<5>), -99..100, 4);
    let mut y = Tensor::<i32, _>::zeros((Const::<2>, Const::<10>));
    let mut w = Tensor::<i32, _>::zeros((Const::<50>,));
    kernels::dealt_narrow(&x, &mut y, &z, &mut w).unwrap();
    assert_exact(&y, |[g, i]| (0..3).map(|j| x[[g, i, j]]).sum());
    assert_exact(&w, |[i]| (0..5).map(|j| z[[i, j]]).max().unwrap());
}

#[test]
fn sums_are_rescaled_above_their_product() {
    for (n, l) in [(64, 64), (100, 40), (70, 97)] {
        let unit = |t: Tensor<f32, (usize, Const<64>)>| {
            let values = t.as_slice().iter().map(|v| f16::from_f32(*v));
            Tensor::from_vec(t.dims(), values.collect()).unwrap()
        };
        let q = unit(Tensor::random((n, Const::<64>), -1.0..1.0, 5));
        let k = unit(Tensor::random((l, Const::<64>), -1.0..1.0, 6));
        let v = Tensor::<f32, _>::random((Const::<64>, l), -1.0..1.0, 7);
        let values = v.as_slice().iter().map(|v| f16::from_f32(*v));
        let v = Tensor::<f16, _>::from_vec((Const::<64>, l), values.collect()).unwrap();
        let mut y = Tensor::<f32, _>::zeros((n, Const::<64>));
        kernels::rescaled(&q, &k, &v, &mut y).unwrap();
        for i in 0..n {
            let score = |c: usize| dot(64, |d| q[[i, d]].to_f32() * k[[c, d]].to_f32());
            let scores: Vec<f32> = (0..l).map(score).collect();
            let top = scores.iter().fold(f32::MIN, |a, b| a.max(*b));
            let sum = dot(l, |c| (scores[c] - top).exp());
            for d in 0..64 {
                let out = dot(l, |c| (scores[c] - top).exp() * v[[d, c]].to_f32());
                assert!((y[[i, d]] - out / sum).abs() < 3e-3, "{i} {d}");
            }
        }
    }
}

#[test]
fn sums_fade_in_the_apply_of_another_product() {
    for l in [64usize, 128, 100] {
        let q = small((Const::<64>, Const::<64>), 20);
        let k = small((l, Const::<64>), 21);
        let v = small((l, Const::<64>), 22);
        let mut y = Tensor::<f32, _>::zeros((Const::<64>, Const::<64>));
        kernels::faded(&q, &k, &v, &mut y).unwrap();
        assert_exact(&y, |[i, d]| {
            (0..l).step_by(64).fold(0.0, |sum: f32, first| {
                let term = |c: usize| {
                    let score = dot(64, |e| q[[i, e]].to_f32() * k[[c, e]].to_f32());
                    f16::from_f32(score).to_f32() * v[[c, d]].to_f32()
                };
                sum * 0.5 + (first..l.min(first + 64)).map(term).sum::<f32>()
            })
        });
    }
}

#[test]
fn sums_are_used_at_block_level() {
    for k in [64, 128, 200] {
        let x = small((Const::<64>, k), 8);
        let w = small((Const::<32>, k), 9);
        let rows = Tensor::<f32, _>::from_fn((Const::<64>, Const::<1>), |[i, _]| (i % 4) as f32);
        let mut y = Tensor::<f32, _>::zeros((Const::<64>, Const::<32>));
        kernels::of_block(&x, &w, &rows, &mut y, 2.0).unwrap();
        let sum = |i: usize, j: usize| {
            (0..k).step_by(64).fold(0.0, |sum: f32, first| {
                let terms =
                    (first..k.min(first + 64)).map(|c| x[[i, c]].to_f32() * w[[j, c]].to_f32());
                sum * 0.5 + terms.sum::<f32>() * rows[[i, 0]] * 2.0
            })
        };
        assert_exact(&y, |[i, j]| {
            let most = (0..32).fold(f32::MIN, |most, j| most.max(sum(i, j)));
            sum(i, j) - most
        });
    }
}

#[test]
fn products_have_many_rows() {
    let w = small((Const::<40>, Const::<64>), 10);
    let wide = w.as_slice().iter().map(|v| bf16::from_f32(v.to_f32()));
    let w = Tensor::<bf16, _>::from_vec(w.dims(), wide.collect()).unwrap();
    for m in [192, 384, 250] {
        let x = small((m, Const::<64>), 11);
        let wide = x.as_slice().iter().map(|v| bf16::from_f32(v.to_f32()));
        let x = Tensor::<bf16, _>::from_vec(x.dims(), wide.collect()).unwrap();
        let mut y = Tensor::<f32, _>::zeros((m, Const::<40>));
        kernels::tall_rows(&x, &w, &mut y).unwrap();
        let of = |i: usize, j: usize| dot(64, |k| x[[i, k]].to_f32() * w[[j, k]].to_f32());
        assert_exact(&y, |[i, j]| {
            of(i, j) + dot(40, |j| of(i, j)) + (i % 192) as f32
        });
    }
    let x = small((Const::<128>, Const::<32>), 12);
    let w = small((Const::<24>, Const::<32>), 13);
    let mut y = Tensor::<f16, _>::zeros((Const::<2>, Const::<128>, Const::<24>));
    kernels::tall_operand(&x, &w, &mut y).unwrap();
    assert_exact(&y, |[g, i, j]| {
        let sum = dot(32, |k| x[[i, k]].to_f32() * w[[j, k]].to_f32());
        f16::from_f32(sum * (1 + g) as f32)
    });
}

#[test]
fn fragments_of_threads_are_stored() {
    for m in [10, 20, 33, 4] {
        let x = Tensor::<f32, _>::random((m, Const::<33>), -9.0..9.0, 31);
        let mut y = Tensor::<f32, _>::zeros((m, Const::<33>));
        let mut sums = Tensor::<f32, _>::zeros((m,));
        let mut turned = Tensor::<f16, _>::zeros((Const::<33>, m));
        kernels::dealt_stores(&x, &mut y, &mut sums, &mut turned).unwrap();
        assert_exact(&y, |[i, j]| x[[i, j]]);
        assert_exact(&turned, |[j, i]| f16::from_f32(x[[i, j]]));
        for i in 0..m {
            let sum = dot(33, |j| x[[i, j]]);
            assert!((sums[[i]] - sum).abs() < 1e-4, "row {i}");
        }
    }
    let x = Tensor::<f32, _>::random((Const::<1000>,), -9.0..9.0, 32);
    let mut y = Tensor::<f32, _>::zeros((Const::<1000>,));
    let mut z = Tensor::<i32, _>::zeros((Const::<20>, Const::<6>));
    kernels::dealt_values_stored(&x, &mut y, &mut z).unwrap();
    assert_exact(&y, |[i]| 3.0 * x[[i]]);
    assert_exact(&z, |[i, j]| match i < 17 && j < 5 {
        true => (6 * i + j) as i32,
        false => 0,
    });
}

#[test]
fn fragments_of_threads_are_loaded() {
    for m in [32, 50, 3] {
        let x = Tensor::<f32, _>::random((m, Const::<24>), -9.0..9.0, 33);
        let mut y = Tensor::<f32, _>::zeros((m, Const::<24>));
        kernels::dealt_loads(&x, &mut y).unwrap();
        assert_exact(&y, |[i, j]| x[[i, j]] + 1.0);
    }
}

#[test]
fn values_of_rows_are_stored() {
    let a = small((Const::<64>, Const::<32>), 34);
    let b = small((Const::<48>, Const::<32>), 35);
    let mut wide = Tensor::<f32, _>::zeros((Const::<64>,));
    let mut narrow = Tensor::<f32, _>::zeros((Const::<16>,));
    kernels::rows_stored(&a, &b, &mut wide, &mut narrow).unwrap();
    let product = |i: usize, j: usize| dot(32, |k| a[[i, k]].to_f32() * b[[j, k]].to_f32());
    assert_exact(&wide, |[i]| dot(48, |j| product(i, j)));
    assert_exact(&narrow, |[i]| {
        (0..8).map(|j| product(32 + i, j)).fold(f32::MIN, f32::max)
    });
}

#[test]
fn registers_are_passed_to_cpp() {
    let a = small((Const::<64>, Const::<32>), 41);
    let b = small((Const::<32>, Const::<32>), 42);
    let mut y = Tensor::<f32, _>::zeros((Const::<64>, Const::<32>));
    let mut z = Tensor::<f32, _>::zeros((Const::<64>,));
    let mut v = Tensor::<f32, _>::zeros((Const::<100>,));
    kernels::registers_in_cpp(&a, &b, &mut y, &mut z, &mut v).unwrap();
    let product = |i: usize, j: usize| dot(32, |k| a[[i, k]].to_f32() * b[[j, k]].to_f32());
    assert_exact(&y, |[i, j]| 2.0 + 3.0 * product(i, j));
    // Each of the four lanes of a row adds the largest value once more.
    assert_exact(&z, |[i]| {
        let doubled = |j| 2.0 + 2.0 * product(i, j);
        dot(32, doubled) + 4.0 * (0..32).map(doubled).fold(f32::MIN, f32::max)
    });
    assert_exact(&v, |[i]| 2.0 * i as f32 + 1.0);
    kernels::groups_in_cpp(&a, &b, &mut y).unwrap();
    assert_exact(&y, |[i, j]| 2.0 + 2.0 * product(i, j));
    let a = small((Const::<16>, Const::<16>), 43);
    let b = small((Const::<8>, Const::<16>), 44);
    let mut y = Tensor::<f32, _>::zeros((Const::<16>, Const::<8>));
    kernels::registers_of_a_warp(&a, &b, &mut y).unwrap();
    let product = |i: usize, j: usize| dot(16, |k| a[[i, k]].to_f32() * b[[j, k]].to_f32());
    assert_exact(&y, |[i, j]| 2.0 * product(i, j));
}

#[test]
fn products_of_eight_by_eight_at_edges() {
    for (m, n, k) in [(8, 8, 4), (24, 16, 12), (5, 3, 2), (13, 21, 9)] {
        let (a, b) = (small((m, k), 41), small((n, k), 42));
        let mut c = Tensor::<f32, _>::from_fn((m, n), |_| f32::NAN);
        kernels::eights_at_edges(&a, &b, &mut c).unwrap();
        assert_exact(&c, |[i, j]| {
            dot(k, |k| a[[i, k]].to_f32() * b[[j, k]].to_f32())
        });
    }
}

#[test]
fn products_of_eight_by_eight_alone() {
    let a = small((Const::<8>, Const::<4>), 43);
    let b = small((Const::<4>, Const::<8>), 44);
    let mut c = Tensor::<f16, _>::from_fn((Const::<8>, Const::<8>), |_| f16::NAN);
    kernels::eights_exactly(&a, &b, &mut c).unwrap();
    assert_exact(&c, |[i, j]| {
        f16::from_f32(1.0 + dot(4, |k| a[[i, k]].to_f32() * b[[k, j]].to_f32()))
    });
}

#[test]
fn products_of_eight_by_eight_beside_each_other() {
    let a = small((Const::<16>, Const::<8>), 45);
    let b = small((Const::<16>, Const::<8>), 46);
    let mut c = Tensor::<f32, _>::from_fn((Const::<20>, Const::<20>), |_| -1000.0);
    let mut sums = Tensor::<f32, _>::from_fn((Const::<16>, Const::<2>), |_| f32::NAN);
    kernels::eights_of_shared(&a, &b, &mut c, &mut sums).unwrap();
    let product = |i: usize, j: usize| dot(8, |k| a[[i, k]].to_f32() * b[[j, k]].to_f32());
    assert_exact(&c, |[i, j]| match (i.checked_sub(2), j.checked_sub(1)) {
        (Some(i @ ..16), Some(j @ ..16)) => product(i, j) * 2.0 + (i % 8) as f32,
        _ => -1000.0,
    });
    assert_exact(&sums, |[i, half]| dot(8, |j| product(i, 8 * half + j)));
}

#[test]
fn products_of_eight_by_eight_together() {
    let a = small((Const::<4>, Const::<16>), 47);
    let b = small((Const::<4>, Const::<24>), 48);
    let clean = || Tensor::<f16, _>::from_fn((Const::<16>, Const::<24>), |_| f16::NAN);
    let (mut c, mut doubled) = (clean(), clean());
    kernels::eights_together(&a, &b, &mut c, &mut doubled).unwrap();
    let product = |i: usize, j: usize| dot(4, |k| a[[k, i]].to_f32() * b[[k, j]].to_f32());
    assert_exact(&c, |[i, j]| f16::from_f32(product(i, j)));
    assert_exact(&doubled, |[i, j]| f16::from_f32(2.0 * product(i, j)));
}

#[test]
fn sums_fade_by_the_gates_of_chunks() {
    for (m, l) in [(64, 16), (70, 40), (5, 100)] {
        let q = small((m, Const::<32>), 23);
        let k = small((l, Const::<32>), 24);
        let v = small((l, Const::<48>), 25);
        let chunks = usize::div_ceil(l, 16);
        let gate = Tensor::<f32, _>::from_fn((chunks,), |[c]| [0.5, 1.0, 0.25][c % 3]);
        let mut y = Tensor::<f32, _>::zeros((m, Const::<48>));
        kernels::faded_by_gates(&q, &k, &v, &gate, &mut y).unwrap();
        let score = |i: usize, key: usize| {
            let sum = dot(32, |e| q[[i, e]].to_f32() * k[[key, e]].to_f32());
            f16::from_f32(sum).to_f32()
        };
        assert_exact(&y, |[i, d]| {
            (0..chunks).fold(0.0, |sum: f32, c| {
                let keys = 16 * c..l.min(16 * c + 16);
                let added: f32 = keys.map(|key| score(i, key) * v[[key, d]].to_f32()).sum();
                sum * gate[[c]] + added
            })
        });
    }
}

#[test]
fn statements_in_the_older_form() {
    let tensor = |range, seed| {
        let values = Tensor::<f32, _>::random((Const::<64>, Const::<64>), range, seed);
        let values = values.as_slice().iter().map(|v| f16::from_f32(*v));
        Tensor::<f16, _>::from_vec((Const::<64>, Const::<64>), values.collect()).unwrap()
    };
    let q = tensor(-1.0..1.0, 30);
    let k = tensor(-1.0..1.0, 31);
    let v = tensor(-1.0..1.0, 32);
    let mut y = Tensor::<f32, _>::zeros((Const::<64>, Const::<64>));
    kernels::older_scores(&q, &k, &v, &mut y).unwrap();
    for i in 0..64 {
        let score = |c: usize| dot(64, |d| q[[i, d]].to_f32() * k[[c, d]].to_f32());
        let scores: Vec<f32> = (0..=i).map(score).collect();
        let top = scores.iter().fold(f32::MIN, |a, b| a.max(*b));
        let sum = dot(i + 1, |c| (scores[c] - top).exp());
        for d in 0..64 {
            let out = dot(i + 1, |c| (scores[c] - top).exp() * v[[c, d]].to_f32());
            assert!((y[[i, d]] - out / sum).abs() < 3e-3, "{i} {d}");
        }
    }

    let x = Tensor::<f32, _>::random((Const::<1000>,), -1.0..1.0, 33);
    let mut y = Tensor::<f32, _>::zeros((Const::<1000>,));
    kernels::older_values(&x, &mut y).unwrap();
    for i in 0..1000 {
        assert!((y[[i]] - (x[[i]] * 3.0 + 1.0)).abs() < 1e-6, "{i}");
    }
}

#[test]
fn loads_and_stores_in_the_older_form() {
    let x = Tensor::<i32, _>::random((Const::<32>, Const::<40>), -99..100, 34);
    let x = Tensor::<f32, _>::from_fn((Const::<32>, Const::<40>), |i| x[i] as f32);
    let mut most = Tensor::<f32, _>::zeros((Const::<32>,));
    let mut y = Tensor::<f32, _>::zeros((Const::<32>, Const::<40>));
    let mut z = Tensor::<f32, _>::zeros((Const::<32>, Const::<40>));
    kernels::older_tiles(&x, &mut most, &mut y, &mut z).unwrap();
    let top = |i: usize| (0..40).fold(f32::MIN, |top, j| top.max(x[[i, j]]));
    assert_exact(&most, |[i]| top(i));
    assert_exact(&y, |[i, j]| x[[i, j]] - top(i));
    assert_exact(&z, |[i, j]| 3.0 * x[[i, j]]);
}

#[test]
fn stores_in_the_older_form() {
    let mut part = Tensor::<f32, _>::zeros((Const::<40>,));
    let mut whole = Tensor::<f16, _>::zeros((Const::<8>, Const::<32>));
    let mut sums = Tensor::<f32, _>::zeros((Const::<8>,));
    let mut tiles = Tensor::from_fn((13, Const::<64>), |_| -1.0f32);
    kernels::older_stores(7, &mut part, &mut whole, &mut sums, &mut tiles).unwrap();
    assert_exact(&part, |[i]| (7 + i) as f32);
    assert_exact(&whole, |[i, j]| f16::from_f32((8 * j + i) as f32));
    assert_exact(&sums, |[i]| (32 * i + 8 * (31 * 32 / 2)) as f32);
    // The tile of rows 8 to 15 and columns 32 to 63; there are 13 rows.
    assert_exact(&tiles, |[i, j]| match (i, j) {
        (8.., 32..) => (8 * (j - 32) + i - 8) as f32,
        _ => -1.0,
    });
}

#[test]
fn bounds_and_waits_in_the_older_form() {
    let a = small((Const::<64>, Const::<128>), 50);
    let b = small((Const::<64>, Const::<128>), 51);
    let mut y = Tensor::<f32, _>::zeros((Const::<64>, Const::<64>));
    kernels::older_product(&a, &b, &mut y).unwrap();
    assert_exact(&y, |[i, j]| {
        dot(128, |k| a[[i, k]].to_f32() * b[[j, k]].to_f32())
    });

    let x = Tensor::<i32, _>::random((Const::<256>,), -99..100, 52);
    let mut y = Tensor::<i32, _>::zeros((Const::<256>,));
    kernels::older_bounds(&x, &mut y).unwrap();
    assert_exact(&y, |[i]| x[[i]] + 3);
}
