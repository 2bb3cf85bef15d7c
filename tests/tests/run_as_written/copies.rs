//! Copies between tiles of different sizes, at edges, and between tensors (`copies.co`).

use croq_sys::half::{bf16, f16};
use croq_sys::{Const, Error, Tensor};
use croq_tests::compare::assert_exact;
use croq_tests::kernels;

#[test]
fn the_rest_of_a_larger_tile_is_zero() {
    for rows in [1, 7] {
        let x = Tensor::<f32, _>::random((rows, Const::<80>), -9.0..9.0, 1);
        assert_exact(&kernels::written_wider(&x).unwrap(), |[b, i]| {
            match i < 80 {
                true => x[[b, i]] + 0.5,
                false => 0.5,
            }
        });
    }
    for k in [1, 17, 63, 64] {
        let x = Tensor::<f32, _>::random((k,), 1.0..9.0, 2);
        assert_exact(&kernels::written_shorter(&x).unwrap(), |[t]| {
            let at = 63 - t;
            if at < k { x[[at]] } else { 0.0 }
        });
    }
    let long = Tensor::<f32, _>::zeros((65,));
    match kernels::written_shorter(&long).unwrap_err() {
        Error::Check { code, message, .. } => {
            assert_eq!(
                (code, message.contains("65 elements do not fit into 64")),
                ("R07", true),
                "{message}"
            );
        }
        other => panic!("{other}"),
    }
    let x = Tensor::<i32, _>::random((Const::<8>, Const::<20>), 1..99, 3);
    assert_exact(&kernels::written_turned(&x).unwrap(), |[i, j]| {
        if i < 20 && j < 8 { x[[j, i]] } else { 0 }
    });
}

#[test]
fn elsewhere_the_rest_keeps_its_contents() {
    let x = Tensor::<i32, _>::random((Const::<8>,), 100..199, 4);
    let before = Tensor::<i32, _>::random((Const::<2>, Const::<16>), -99..-9, 5);
    let mut y = before.clone();
    let z = kernels::written_kept(&x, &mut y).unwrap();
    assert_exact(&z, |[_, j]| if j < 8 { x[[j]] } else { j as i32 });
    assert_exact(&y, |[i, j]| match i == 1 && j < 8 {
        true => x[[j]],
        false => before[[i, j]],
    });
}

/// Small integers, whose sums of products are exact.
fn small(shape: (usize, usize), seed: u64) -> Tensor<f16, (usize, usize)> {
    let n = Tensor::<i32, _>::random(shape, -4..5, seed);
    let values = n.as_slice().iter().map(|v| f16::from_f32(*v as f32));
    Tensor::from_vec(shape, values.collect()).unwrap()
}

#[test]
fn an_mma_reads_zeros_beyond_the_edge() {
    for (m, n, k) in [
        (32, 16, 64),
        (1, 1, 1),
        (33, 17, 40),
        (50, 9, 65),
        (7, 40, 130),
    ] {
        let (x, w) = (small((m, k), 6), small((n, k), 7));
        assert_exact(&kernels::written_edges(&x, &w).unwrap(), |[i, j]| {
            (0..k)
                .map(|s| x[[i, s]].to_f32() * w[[j, s]].to_f32())
                .sum()
        });
    }
}

#[test]
fn tensors_are_copied_to_tensors() {
    for (m, n) in [(1, 1), (13, 40), (64, 31)] {
        let x = Tensor::<i32, _>::random((m, n), -999..999, 8);
        let mut y = Tensor::<i32, _>::zeros((m, n));
        let mut z = Tensor::<i32, _>::zeros((n, m));
        kernels::written_between_tensors(&x, &mut y, &mut z).unwrap();
        assert_exact(&y, |i| x[i]);
        assert_exact(&z, |[j, i]| x[[i, j]]);
    }
    let x = Tensor::<i32, _>::random((Const::<5>, Const::<7>), 1..99, 9);
    let mut y = Tensor::<i32, _>::zeros((Const::<7>, Const::<10>));
    kernels::written_border(&x, &mut y).unwrap();
    assert_exact(&y, |[i, j]| {
        match (1..6).contains(&i) && (2..9).contains(&j) {
            true => x[[i - 1, j - 2]],
            false => -1,
        }
    });
}

#[test]
fn a_slice_may_be_empty() {
    let x = Tensor::<i32, _>::random((Const::<32>,), -99..99, 10);
    for n in [1, 2, 5] {
        let extra: i32 = (2..n).sum();
        let y = kernels::written_empty_slices(&x, n).unwrap();
        assert_exact(&y, |i| x[i] + extra);
    }
}

#[test]
fn borders_of_widths_that_are_known_at_run_time() {
    let x = Tensor::<f32, _>::random((Const::<3>, Const::<5>, Const::<9>), -9.0..9.0, 11);
    for n in [0_usize, 1, 4] {
        let y = kernels::written_wide_border(&x, n as i32).unwrap();
        assert_eq!(y.shape(), [3, 5 + n, 9 + 2 * n]);
        assert_exact(&y, |[p, i, j]| match i >= n && (n..9 + n).contains(&j) {
            true => x[[p, i - n, j - n]],
            false => -1.5,
        });
    }
    for n in [-1, 2049] {
        match kernels::written_wide_border(&x, n).unwrap_err() {
            Error::Check { code, message, .. } => {
                assert_eq!(code, "R06", "{message}");
            }
            other => panic!("{other}"),
        }
    }
    let x = Tensor::<i32, _>::random((Const::<6>, Const::<4>), -99..99, 12);
    let mut y = Tensor::<i32, _>::zeros((Const::<10>, Const::<7>));
    kernels::written_named_border(&x, &mut y).unwrap();
    assert_exact(&y, |[i, j]| {
        match (3..9).contains(&i) && (2..6).contains(&j) {
            true => x[[i - 3, j - 2]],
            false => 7,
        }
    });
}

#[test]
fn stores_of_a_thread_are_complete_at_once() {
    for n in [96, 100, 7] {
        let x = Tensor::<f32, _>::random((n,), -9.0..9.0, 13);
        let mut y = Tensor::<f32, _>::zeros((n,));
        kernels::written_own_stores(&x, &mut y).unwrap();
        assert_exact(&y, |[i]| 2.0 * x[[i]]);
    }
    for m in [16, 35] {
        let x = Tensor::<i32, _>::random((m, Const::<8>), -99..99, 14);
        let mut y = Tensor::<i32, _>::zeros((m, Const::<8>));
        kernels::written_own_rows(&x, &mut y).unwrap();
        assert_exact(&y, |[i, j]| x[[i, 7 - j]]);
    }
}

#[test]
fn edges_of_tiles_that_a_warpgroup_reads() {
    for (h, m, n, d) in [
        (1, 64, 32, 64),
        (2, 70, 45, 40),
        (3, 9, 100, 16),
        (1, 130, 1, 8),
    ] {
        let of = |rows, seed| {
            let small = Tensor::<i32, _>::random((h, rows, d), -4..5, seed);
            Tensor::<bf16, _>::from_fn((h, rows, d), |at| bf16::from_f32(small[at] as f32))
        };
        let (q, k) = (of(m, 15), of(n, 16));
        let scores = kernels::written_edge_scores(&q, &k, 0.5).unwrap();
        assert_exact(&scores, |[h, i, j]| {
            let terms = (0..d).map(|e| q[[h, i, e]].to_f32() * k[[h, j, e]].to_f32());
            terms.sum::<f32>() * 0.5
        });
    }
}
