use croq_sys::half::f16;
use croq_sys::{Const, Tensor};
use croq_tests::compare::assert_exact;
use croq_tests::kernels;

/// Whole numbers, so that every order of additions gives the same.
fn whole(shape: (usize, usize), seed: u64) -> Tensor<f32, (usize, usize)> {
    let n = Tensor::<i32, _>::random(shape, -100..100, seed);
    let values = n.as_slice().iter().map(|v| *v as f32).collect();
    Tensor::from_vec(shape, values).unwrap()
}

#[test]
fn one_copy() {
    for shape in [(1, 1), (16, 32), (17, 33), (40, 96), (5, 100)] {
        let x = whole(shape, 1);
        assert_exact(&kernels::async_tile(&x).unwrap(), |i| x[i] + 1.0);
    }
    for n in [1, 95, 96, 97, 1000] {
        let x = Tensor::<u8, _>::random((n,), 0..255, 2);
        let y = kernels::async_bytes(&x).unwrap();
        assert_exact(&y, |[i]| {
            let from = i / 96 * 96 + 95 - i % 96;
            // Elements beyond the edge are not stored.
            if from < n { x[[from]] } else { 0 }
        });
    }
}

#[test]
fn two_copies_under_way() {
    for m in [1, 8, 13, 64] {
        let a = Tensor::<i32, _>::random((m, croq_sys::Const::<64>), -50..50, 3);
        let b = Tensor::<i32, _>::random((m, croq_sys::Const::<64>), -50..50, 4);
        let half = |t: &Tensor<i32, (usize, croq_sys::Const<64>)>| {
            let values = t.as_slice().iter().map(|v| f16::from_f32(*v as f32));
            Tensor::from_vec((m, croq_sys::Const::<64>), values.collect()).unwrap()
        };
        let y = kernels::async_two(&half(&a), &half(&b)).unwrap();
        assert_exact(&y, |i| f16::from_f32((2 * a[i] + b[i]) as f32));
    }
    for n in [1, 127, 128, 129, 1000] {
        let a = Tensor::<i32, _>::random((n,), -1000..1000, 5);
        let b = Tensor::<i32, _>::random((n,), -1000..1000, 6);
        let y = kernels::async_younger_first(&a, &b).unwrap();
        assert_exact(&y, |i| a[i] - b[i]);
        let y = kernels::async_both(&a, &b).unwrap();
        assert_exact(&y, |i| 6 * a[i] + 10 * b[i]);
    }
}

#[test]
fn reshaped_on_the_way() {
    for m in [1, 8, 19] {
        let x = whole((m, 20), 7);
        let x = Tensor::from_vec((m, croq_sys::Const::<20>), x.as_slice().to_vec()).unwrap();
        let y = kernels::async_zfill(&x).unwrap();
        assert_exact(&y, |[i, j]| if j < 20 { x[[i, j]] } else { 0.0 });
    }
    for shape in [(1, 1), (16, 16), (17, 40), (33, 5)] {
        let x = whole(shape, 8);
        assert_exact(&kernels::async_turned(&x).unwrap(), |[i, j]| x[[j, i]]);
    }
    let x = Tensor::<i32, _>::random((8, 32), -100..100, 9);
    assert_exact(&kernels::async_padded(&x).unwrap(), |[i, j]| {
        let (i, j) = (i.wrapping_sub(1), j.wrapping_sub(3));
        if i < 8 && j < 32 { x[[i, j]] } else { 7 }
    });
}

#[test]
fn exchanged() {
    for (m, tiles) in [(1, 1), (8, 2), (13, 3), (16, 8)] {
        let x = whole((m, tiles * 64), 10);
        assert_exact(&kernels::async_swapped(&x).unwrap(), |[i, j]| {
            (0..tiles).map(|k| x[[i, k * 64 + j]]).sum()
        });
    }
    for tiles in [2, 3, 4, 9] {
        let x = Tensor::<i32, _>::random((tiles * 64,), -100..100, 11);
        assert_exact(&kernels::async_rotated(&x).unwrap(), |[i]| {
            (0..tiles).fold(0, |sum, k| sum * 3 + x[[k * 64 + i]])
        });
    }
    for m in [1, 2, 3, 8] {
        let x = Tensor::<f32, _>::random((m, Const::<4>, Const::<12>), -1.0..1.0, 12);
        assert_exact(&kernels::tma_odd_tiles(&x).unwrap(), |[i, r, c]| {
            x[[i, 3 - r, c]]
        });
    }
}

#[test]
fn chosen() {
    let a = Tensor::<i32, _>::random((64,), -1000..1000, 12);
    let b = Tensor::<i32, _>::random((64,), -1000..1000, 13);
    assert_exact(&kernels::async_selected(&a, &b, 0).unwrap(), |[i]| {
        a[[63 - i]] + 100 * b[[i]]
    });
    assert_exact(&kernels::async_selected(&a, &b, 1).unwrap(), |[i]| {
        b[[63 - i]] + 10 * a[[i]]
    });
    assert!(kernels::async_selected(&a, &b, 2).is_err());
}

#[test]
fn a_ring_for_each_warp() {
    for n in [32, 128, 160, 512] {
        let x = whole((1, n), 14);
        let x = Tensor::from_vec((n,), x.as_slice().to_vec()).unwrap();
        assert_exact(&kernels::async_per_warp(&x).unwrap(), |[i]| {
            x[[i / 32 * 32 + 31 - i % 32]]
        });
    }
}

#[test]
fn waited_for_under_the_condition_of_the_copy() {
    let x = whole((4, 64), 77).as_slice().to_vec();
    let x = Tensor::from_vec((Const::<256>,), x).unwrap();
    for wanted in [0, 1] {
        let y = kernels::pipe_if_wanted(&x, wanted).unwrap();
        assert_exact(&y, |[i]| {
            1.0 + wanted as f32 * x[[i / 64 * 64 + 63 - i % 64]]
        });
    }
    for m in [1, 2, 5] {
        let x = whole((m, 64), 78).as_slice().to_vec();
        let x = Tensor::from_vec((m, Const::<64>), x).unwrap();
        let y = kernels::pipe_but_the_last(&x).unwrap();
        assert_exact(&y, |[i]| {
            let all: f32 = (0..m).map(|k| x[[k, i]]).sum();
            all + 2.0 * (all - x[[0, i]])
        });
    }
}

#[test]
fn waits_above_copies() {
    let x = Tensor::<f32, (Const<4>, Const<32>)>::random((Const, Const), -1.0..1.0, 91);
    let mut y = Tensor::zeros((Const::<4>, Const::<32>));
    kernels::pipe_waits_above_copies(&x, &mut y).unwrap();
    assert_exact(&y, |[i, j]| x[[3 - i, j]]);
}

#[test]
fn warps_wait_for_copies_of_their_own() {
    let x = Tensor::<f32, _>::from_fn((Const::<7>, Const::<32>), |[i, j]| (i * 32 + j) as f32);
    let y = kernels::pipe_warps_wait(&x).unwrap();
    let mirrored = |i: usize, j: usize| x[[i, 31 - j]];
    assert_exact(&y, |[i, j]| {
        mirrored(i, j) + if i < 3 { x[[i, j]] } else { 0.0 }
    });
}

#[test]
fn copies_of_one_macro() {
    let x = Tensor::<f32, _>::from_fn((Const::<8>, Const::<32>), |[i, j]| (i * 32 + j) as f32);
    let y = kernels::pipe_macro(&x).unwrap();
    assert_exact(&y, |[i, j]| {
        if i < 4 {
            x[[i, 31 - j]]
        } else {
            x[[11 - i, j]]
        }
    });
}

#[test]
fn waits_in_a_loop_that_has_iterations() {
    let x = Tensor::<f32, _>::from_fn((Const::<64>,), |[i]| i as f32);
    let y = kernels::pipe_waits_in_loop(&x).unwrap();
    assert_exact(&y, |[k, t]| x[[63 - t]] + k as f32);
}
