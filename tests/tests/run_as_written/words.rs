//! Keywords as names, predicates with names, chunks by TMA, tile numbers from -1 on (`words.co`).

use croq_sys::half::f16;
use croq_sys::{Const, Device, DeviceTensor, Dims, Error, Tensor};
use croq_tests::compare::{assert_close, assert_exact, near};
use croq_tests::kernels;

fn small<D: Dims + Copy>(dims: D, seed: u64) -> Tensor<f16, D> {
    let n = Tensor::<i32, _>::random(dims, -4..5, seed);
    let values = n.as_slice().iter().map(|v| f16::from_f32(*v as f32));
    Tensor::from_vec(dims, values.collect()).unwrap()
}

#[test]
fn words_of_the_grammar_are_names() {
    let before = Tensor::<i32, _>::random((Const::<64>,), -9..10, 1);
    for n in [0, 7, 20] {
        let mut x = before.clone();
        kernels::written_words(&mut x, n).unwrap();
        let half = n / 2;
        assert_exact(&x, |[t]| {
            (0..2).fold(before[[t]], |sum, stage| {
                let wait = (t as i32 + stage) * 3;
                sum + (wait + half) * (wait - half) + stage
            })
        });
    }
    let mut x = Tensor::<i32, _>::zeros((Const::<4>, Const::<6>));
    kernels::written_loops(&mut x).unwrap();
    assert_exact(&x, |[by, t]| (3 * t + by) as i32);
}

#[test]
fn words_of_the_grammar_are_parameters_and_buffers() {
    let call = Tensor::<i32, _>::random((80,), -9..10, 1);
    let pairs = Tensor::<i32, _>::random((80, Const::<2>), -9..10, 2);
    let mut half = Tensor::<i32, _>::zeros((Const::<64>,));
    let sums = kernels::written_parameters(&call, &pairs, 3, &mut half).unwrap();
    assert_exact(&sums, |[i]| call[[i]] + 3 * pairs[[i, 1]]);
    assert_exact(&half, |[i]| pairs[[i, 0]]);
    let x = Tensor::<i32, _>::random((Const::<64>,), -9..10, 3);
    let mut out = Tensor::<i32, _>::zeros((Const::<64>,));
    kernels::written_declarations(&x, &mut out).unwrap();
    let stream = |t: usize| if t < 5 { 63 - t as i32 + 3 } else { t as i32 };
    assert_exact(&out, |[t]| stream(63 - t) + 2 + x[[63 - t]] + 64);
}

#[test]
fn predicates_have_names() {
    let a = Tensor::<i32, _>::random((Const::<256>,), -99..100, 2);
    assert_exact(&kernels::written_predicate(&a).unwrap(), |[p]| {
        let value = if p < 128 { a[[p]] } else { -a[[p]] };
        value
            + if (64..128).contains(&p) && p % 2 == 1 {
                1000
            } else {
                0
            }
    });
}

#[test]
fn booleans_are_constants() {
    let x = Tensor::<i32, _>::random((Const::<64>,), -99..100, 3);
    assert_exact(&kernels::written_constant(&x).unwrap(), |i| {
        x[i] * 3 * 2 + x[i] * 5
    });
}

/// Tiles of `chunkat` have 64 elements if 64 divides the extent; only those are copied by TMA.
#[test]
fn tma_moves_chunks_of_whole_boxes() {
    for shape in [(64, 64), (128, 192), (64, 320)] {
        let x = small(shape, 4);
        assert_exact(&kernels::written_chunks(&x).unwrap(), |i| x[i]);
    }
    // Rows of two groups of the swizzle: a box for each group.
    for shape in [(64, 128), (128, 384)] {
        let x = small(shape, 4);
        assert_exact(&kernels::written_swizzled_chunks(&x).unwrap(), |i| x[i]);
    }
    assert!(kernels::written_swizzled_chunks(&small((64, 192), 5)).is_err());
    for (shape, axis) in [((96, 64), 0), ((64, 96), 1), ((8, 64), 0)] {
        match kernels::written_chunks(&small(shape, 5)).unwrap_err() {
            error @ Error::Check { .. } => {
                let text = error.to_string();
                assert!(text.contains(&format!("axis {axis} of the copy")), "{text}");
                assert!(text.contains("whole boxes"), "{text}");
            }
            other => panic!("{other}"),
        }
    }
}

#[test]
fn operands_of_an_mma_are_chunks() {
    for depth in [64, 192, 640] {
        let operand = |seed| small((Const, depth), seed);
        let (lhs, rhs): (
            Tensor<f16, (Const<64>, usize)>,
            Tensor<f16, (Const<64>, usize)>,
        ) = (operand(20), operand(21));
        let more: Tensor<f16, (Const<64>, usize)> = operand(22);
        let product = |i: usize, j: usize, b: &Tensor<f16, (Const<64>, usize)>| {
            (0..depth)
                .map(|k| lhs[[i, k]].to_f32() * b[[j, k]].to_f32())
                .sum::<f32>()
        };
        let out = kernels::written_chunk_operands(&lhs, &rhs).unwrap();
        assert_exact(&out, |[i, j]| product(i, j, &rhs));
        let out = kernels::written_chunk_events(&lhs, &rhs).unwrap();
        assert_exact(&out, |[i, j]| product(i, j, &rhs));
        let out = kernels::written_chunk_futures(&lhs, &rhs, &more).unwrap();
        assert_exact(&out, |[i, j]| product(i, j, &rhs) + product(i, j, &more));
    }
    for depth in [8, 72, 200] {
        let (lhs, rhs) = (small((Const, depth), 20), small((Const, depth), 21));
        for result in [
            kernels::written_chunk_operands(&lhs, &rhs),
            kernels::written_chunk_events(&lhs, &rhs),
            kernels::written_chunk_futures(&lhs, &rhs, &rhs),
        ] {
            let text = result.unwrap_err().to_string();
            assert!(text.contains("axis 1 of the copy"), "{text}");
        }
    }
}

#[test]
fn consumers_begin_at_their_own_rows() {
    let (lhs, rhs) = (small((Const, Const), 6), small((Const, Const), 7));
    let product = |depth: usize,
                   i: usize,
                   j: usize,
                   a: &dyn Fn([usize; 2]) -> f16,
                   b: &dyn Fn([usize; 2]) -> f16| {
        (0..depth)
            .map(|k| a([i, k]).to_f32() * b([j, k]).to_f32())
            .sum::<f32>()
    };
    let lhs: Tensor<f16, (Const<128>, Const<256>)> = lhs;
    let rhs: Tensor<f16, (Const<64>, Const<256>)> = rhs;
    assert_exact(
        &kernels::written_consumers(&lhs, &rhs).unwrap(),
        |[i, j]| product(256, i, j, &|at| lhs[at], &|at| rhs[at]),
    );
    let lhs: Tensor<f16, (Const<128>, Const<128>)> = small((Const, Const), 8);
    let rhs: Tensor<f16, (Const<64>, Const<128>)> = small((Const, Const), 9);
    assert_exact(&kernels::written_origins(&lhs, &rhs).unwrap(), |[i, j]| {
        product(128, i, j, &|at| lhs[at], &|at| rhs[at])
    });
}

#[test]
fn names_of_regions_hide_outer_ones() {
    for (m, n, k) in [(64, 64, 64), (200, 72, 136), (70, 130, 264)] {
        let (lhs, rhs) = (small((m, k), 10), small((n, k), 11));
        let device = Device::default();
        let [a, b] = [&lhs, &rhs].map(|t| t.to_device(&device).unwrap());
        let mut out = DeviceTensor::<f32, _>::zeros((m, n), &device).unwrap();
        kernels::hidden_parts(&a, &b, &mut out).unwrap();
        assert_exact(&out.to_host().unwrap(), |[i, j]| {
            (0..k)
                .map(|k| lhs[[i, k]].to_f32() * rhs[[j, k]].to_f32())
                .sum()
        });
    }
}

type Numbers = Tensor<i32, (Const<64>,)>;

#[test]
fn words_are_names_of_functions() {
    let numbers = || Numbers::from_fn((Const,), |[i]| 7 * i as i32);
    let mut x = numbers();
    kernels::copy(&mut x, 3).unwrap();
    assert_exact(&x, |[i]| i as i32 + 3);
    let mut x = numbers();
    kernels::half(&mut x).unwrap();
    assert_exact(&x, |[i]| 7 * i as i32 / 2);
    let mut x = numbers();
    kernels::step(&mut x, -2).unwrap();
    assert_exact(&x, |[i]| -14 * i as i32);
    assert_exact(&kernels::data(&numbers()).unwrap(), |[i]| 7 * i as i32 + 1);
    let mut x = numbers();
    let y = kernels::swap(&mut x).unwrap();
    assert_exact(&y, |[i]| (i as i32 + 3) / 2 * 5 + 1);
    for called in [kernels::sync, kernels::loop_, kernels::crate_] {
        let mut x = numbers();
        called(&mut x).unwrap();
        assert_exact(&x, |[i]| (i as i32 + 1) / 2);
    }
}

#[test]
fn names_of_loops_hide_outer_ones() {
    for (m, n) in [(1, 1), (3, 32), (4, 100)] {
        let x = Tensor::<f32, _>::random((m, n), -4.0..4.0, 12);
        let gain = Tensor::<f32, _>::random((m,), -4.0..4.0, 13);
        let y = kernels::hidden_columns(&x, &gain).unwrap();
        assert_close(&y, |[r, j]| {
            let scale = if j / 32 % 2 == 0 {
                2.0 * gain[[r]]
            } else {
                1.0
            };
            let product = f64::from(x[[r, j]]) * f64::from(scale);
            near(product + f64::from(x[[r, (j % 32).min(n - 1)]]), 1e-5)
        });
    }
}

#[test]
fn words_are_parameters_of_templates() {
    let mut x = Numbers::from_fn((Const,), |[i]| i as i32);
    kernels::written_arguments(&mut x).unwrap();
    assert_exact(&x, |[i]| i as i32 + 3);
    let mut x = Tensor::<f32, (Const<64>,)>::from_fn((Const,), |[i]| i as f32);
    kernels::written_arguments(&mut x).unwrap();
    assert_exact(&x, |[i]| i as f32 + 4.0);
    let mut x = Numbers::from_fn((Const,), |[i]| i as i32);
    kernels::written_levels(&mut x).unwrap();
    // Turn 0 adds 49, two more add 28 each.
    assert_exact(&x, |[i]| i as i32 + 49 + 28 + 28);
}

#[test]
fn functions_have_words_of_statements_as_names() {
    let before = Tensor::<i32, _>::random((Const::<64>,), -9..10, 5);
    let mut x = before.clone();
    let z = kernels::written_host_words(&mut x).unwrap();
    // `swap` calls `copy(x, 3)`, which overwrites what `trigger` has left.
    let stepped = |p: usize| (p as i32 + 3) / 2 * 5;
    let turned = |p: usize| stepped((p + 1) % 64) + 1;
    let chosen = |p: usize| if p < 32 { stepped(p) } else { turned(p) };
    assert_exact(&x, |[p]| chosen(p));
    assert_exact(&z, |[p]| if p < 40 { chosen(p) } else { turned(p) });
    let mut x = before.clone();
    kernels::trigger(&mut x).unwrap();
    assert_exact(&x, |[p]| before[[(p + 10) % 64]] - 7);
}

#[test]
fn words_of_c_are_names() {
    let before = Tensor::<i32, _>::random((Const::<64>,), -9..10, 6);
    let mut x = before.clone();
    kernels::written_c_words(&mut x, 4).unwrap();
    assert_exact(&x, |[p]| (((before[[p]] + 3) * 2 - 4).max(0) + 2) * 3);
}

#[test]
fn names_that_begin_with_data_change() {
    for (n, w) in [(1usize, 1usize), (40, 5), (9, 33)] {
        let x = Tensor::<i32, _>::random((n, w), -90..90, 7);
        let x = Tensor::<f32, _>::from_fn((n, w), |i| x[i] as f32);
        let start = Tensor::<i32, _>::random((n,), -10..30, 8);
        let mut values = Tensor::<f32, _>::zeros((n, Const::<2>));
        let mut places = Tensor::<i32, _>::zeros((n, Const::<3>));
        kernels::written_peaks(&x, &start, &mut values, &mut places).unwrap();
        for r in 0..n {
            let row: Vec<f32> = (0..w).map(|k| x[[r, k]]).collect();
            let most = row.iter().copied().fold(f32::MIN, f32::max);
            let least = row.iter().copied().fold(f32::MAX, f32::min);
            assert_eq!([values[[r, 0]], values[[r, 1]]], [2.0 * most, least - 1.0]);
            let place = row.iter().position(|v| *v == most).unwrap();
            let from = if start[[r]] < 0 { 0 } else { start[[r]] + 1 };
            let half = (0..3).fold(from / 2, |half, _| if half > 4 { half - 2 } else { half });
            let got = [places[[r, 0]], places[[r, 1]], places[[r, 2]]];
            assert_eq!(got, [place as i32, from, half]);
        }
    }
}

#[test]
fn numbers_of_tiles_that_change() {
    let x = Tensor::<i32, _>::random((Const::<8>, Const::<32>), -9..10, 9);
    let rows = Tensor::<i32, _>::random((Const::<8>,), 0..12, 10);
    let mut y = Tensor::<i32, _>::zeros((Const::<8>, Const::<32>));
    kernels::written_row_chosen(&x, &rows, &mut y).unwrap();
    assert_exact(&y, |[b, t]| {
        let v = x[[rows[[b]].min(7) as usize, t]];
        if (v > 0) != (t > 15) { 10 * v } else { -v }
    });
}
