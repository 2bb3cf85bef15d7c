//! Thread levels that fill their unit, indices without names, levels with many parts (`levels.co`).

use croq_sys::half::{bf16, f16};
use croq_sys::{Const, Dims, Tensor};
use croq_tests::compare::assert_exact;
use croq_tests::kernels;

fn small<D: Dims + Copy>(dims: D, seed: u64) -> Tensor<f16, D> {
    let n = Tensor::<i32, _>::random(dims, -4..5, seed);
    let values = n.as_slice().iter().map(|v| f16::from_f32(*v as f32));
    Tensor::from_vec(dims, values.collect()).unwrap()
}

fn small_bf16<D: Dims + Copy>(dims: D, seed: u64) -> Tensor<bf16, D> {
    let n = Tensor::<i32, _>::random(dims, -4..5, seed);
    let values = n.as_slice().iter().map(|v| bf16::from_f32(*v as f32));
    Tensor::from_vec(dims, values.collect()).unwrap()
}

fn dot(n: usize, term: impl Fn(usize) -> f32) -> f32 {
    (0..n).map(term).sum()
}

#[test]
fn a_level_that_fills_its_warpgroup_multiplies() {
    let p = small((Const::<128>, Const::<64>), 1);
    let q = small((Const::<64>, Const::<64>), 2);
    assert_exact(&kernels::written_unit(&p, &q).unwrap(), |[i, j]| {
        dot(64, |k| p[[i, k]].to_f32() * q[[j, k]].to_f32())
    });
}

#[test]
fn work_of_the_unit_and_of_its_threads() {
    let w = small_bf16((Const::<64>, Const::<64>), 3);
    for (m, relu) in [(128, 1), (200, 0), (77, 1)] {
        let x = small_bf16((m, Const::<64>), 4);
        let mut y = Tensor::<f32, _>::zeros((m, Const::<64>));
        let mut seen = Tensor::<i32, _>::zeros((Const::<2>, Const::<128>));
        kernels::written_nested(&x, &w, &mut y, &mut seen, relu).unwrap();
        assert_exact(&y, |[i, j]| {
            let sum = dot(64, |k| x[[i, k]].to_f32() * w[[j, k]].to_f32());
            2.0 * if relu > 0 { sum.max(0.0) } else { sum }
        });
        assert_exact(&seen, |[g, t]| (128 * g + t) as i32);
    }
}

#[test]
fn warps_with_names_for_their_lanes() {
    let w = small((Const::<16>, Const::<32>), 5);
    for m in [64, 128, 100] {
        let x = small((m, Const::<32>), 6);
        let mut y = Tensor::<f32, _>::zeros((m, Const::<16>));
        let mut largest = Tensor::<f32, _>::zeros((m,));
        kernels::written_lanes(&x, &w, &mut y, &mut largest).unwrap();
        for i in 0..m {
            let row: Vec<f32> = (0..16)
                .map(|j| dot(32, |k| x[[i, k]].to_f32() * w[[j, k]].to_f32()))
                .collect();
            let top = row.iter().fold(-1.0_f32, |a, b| a.max(*b));
            let sum: f32 = row.iter().map(|v| (v - top).exp()).sum();
            let mut most = 0.0_f32;
            for (j, v) in row.iter().enumerate() {
                let expected = (v - top).exp() / sum;
                assert!((y[[i, j]] - expected).abs() < 1e-5, "{i} {j}");
                most = most.max(y[[i, j]]);
            }
            assert_eq!(largest[[i]], most, "row {i}");
        }
    }
}

#[test]
fn one_level_of_threads_is_a_warp_or_a_warpgroup() {
    let x = small((Const::<16>, Const::<16>), 7);
    let w = small((Const::<8>, Const::<16>), 8);
    assert_exact(&kernels::written_one_warp(&x, &w).unwrap(), |[i, j]| {
        1.0 + dot(16, |k| x[[i, k]].to_f32() * w[[j, k]].to_f32())
    });
    let x = small((Const::<64>, Const::<32>), 9);
    let w = small((Const::<32>, Const::<32>), 10);
    assert_exact(
        &kernels::written_one_warpgroup(&x, &w).unwrap(),
        |[i, j]| dot(32, |k| x[[i, k]].to_f32() * w[[j, k]].to_f32()),
    );
}

#[test]
fn tiles_of_units_and_of_threads() {
    let dims = (Const::<256>, Const::<32>);
    let x = Tensor::<i32, _>::random(dims, -99..100, 11);
    let (mut y, mut z) = (Tensor::<i32, _>::zeros(dims), Tensor::<i32, _>::zeros(dims));
    kernels::written_tiles(&x, &mut y, &mut z).unwrap();
    assert_exact(&y, |i| x[i]);
    assert_exact(&z, |[i, j]| {
        x[[i, j]] + x[[i / 128 * 128 + 127 - i % 128, j]]
    });
}

#[test]
fn indices_without_names() {
    let mut y = Tensor::<i32, _>::zeros((Const::<4>, Const::<6>));
    let mut rows = Tensor::<i32, _>::zeros((Const::<16>, Const::<8>));
    kernels::written_nameless(&mut y, &mut rows).unwrap();
    assert_exact(&y, |[_, j]| match j {
        0 => 5,
        1 => 4,
        _ => 2,
    });
    assert_exact(&rows, |[i, j]| if j == 0 { i as i32 } else { 0 });
}

#[test]
fn levels_of_five_parts() {
    for (a, b) in [(5, 6), (1, 1), (2, 7)] {
        let dims = (Const::<2>, Const::<3>, Const::<4>, a, b);
        let before = Tensor::<i32, _>::random(dims, -9..10, 12);
        let mut y = before.clone();
        kernels::written_many_parts(&mut y).unwrap();
        assert_exact(&y, |at| {
            let [a, b, c, d, e] = at.map(|n| n as i32);
            before[at] + a + 10 * b + 100 * c + 1000 * d + 10000 * e
        });
    }
    assert_exact(&kernels::written_digits().unwrap(), |at| {
        let [i, j, k, l] = at.map(|n| n as i32);
        i + 10 * j + 100 * k + 1000 * l
    });
}

#[test]
fn integers_with_known_ranges_compose() {
    let dims = (Const::<64>, Const::<32>);
    let x = Tensor::<i32, _>::random(dims, -99..100, 13);
    let mut y = Tensor::<i32, _>::zeros(dims);
    kernels::written_composed(&x, &mut y).unwrap();
    assert_exact(&y, |[i, t]| {
        let (wide, bn, r) = (i / 16, i / 8 % 2, i % 8);
        x[[wide * 8 + r + 32 * bn, t]] + (t % 4 * 8 + r) as i32
    });
}

#[test]
fn clusters_of_four_parts() {
    let mut y = Tensor::<i32, _>::zeros((Const::<4>, Const::<3>, Const::<4>, Const::<2>));
    kernels::written_cluster_parts(&mut y).unwrap();
    assert_exact(&y, |[p, _, r, s]| {
        let z = (r + 4 * s) % 4;
        (1000 * (p % 2) + 10 * (z % 2) + z / 2) as i32
    });
}

#[test]
fn a_variable_with_one_value() {
    for k in [1, 5] {
        let x = Tensor::<f32, _>::random((k, Const::<32>), -4.0..4.0, 23);
        let y = kernels::written_with_one_column(&x).unwrap();
        assert_exact(&y, |[i, k]| x[[k, i % 32]] + (i / 32) as f32);
    }
}

#[test]
fn regions_up_to_a_number() {
    let x = Tensor::<i32, _>::random((Const::<32>,), 0..99, 24);
    for n in [0, 64, 65, 100, 128, 1000] {
        let y = kernels::written_up_to(&x, n).unwrap();
        let copied = |i: usize| i >= 64 && (i as i32) < n;
        assert_exact(&y, |[i]| if copied(i) { x[[i % 32]] } else { -1 });
    }
}

#[test]
fn predicates_of_blocks() {
    let y = kernels::written_by_one_block(7).unwrap();
    assert_exact(&y, |[b, t]| {
        let first = if b == 2 && t >= 10 { 7 + t as i32 } else { 0 };
        first + i32::from(b == 3 || t == 1)
    });
}

#[test]
fn rows_of_warps_and_blocks_compose() {
    let w = small((Const::<24>, Const::<32>), 25);
    for m in [64, 100, 7, 129] {
        let x = small((m, Const::<32>), 26);
        let mut y = Tensor::<f32, _>::zeros((m, Const::<24>));
        kernels::composed_warps(&x, &w, &mut y).unwrap();
        assert_exact(&y, |[i, j]| {
            dot(32, |k| x[[i, k]].to_f32() * w[[j, k]].to_f32())
        });
    }
}

#[test]
fn units_draw_the_numbers_of_their_tiles() {
    for n in [1, 127, 128, 1000] {
        let x = Tensor::<i32, _>::from_fn((n,), |[i]| i as i32 * 3);
        let y = kernels::written_tickets(&x).unwrap();
        assert_exact(&y, |[i]| i as i32 * 3 + (i / 128) as i32);
        // Two blocks, three warps, three tiles of 32.
        let y = kernels::written_warp_tickets(&x).unwrap();
        assert_exact(&y, |[i]| if i < 576 { i as i32 * 3 } else { 0 });
    }
}
