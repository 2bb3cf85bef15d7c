//! Functions that call others on the host (`host_calls.co`).

use croq_sys::{Const, Device, Stream, Tensor};
use croq_tests::compare::{assert_close, assert_exact, near};
use croq_tests::kernels;
use half::f16;

#[test]
fn a_called_function_works_on_the_buffers_of_its_caller() {
    for (a, b) in [(1, 1), (5, 33), (40, 8)] {
        let x = Tensor::<f32, _>::random((a, b), -1.0..1.0, 1);
        let z = Tensor::<f32, _>::random((a, b), -1.0..1.0, 2);
        let (out, sums) = kernels::written_calls(&x, &z, 0.5).unwrap();
        let y = |i: usize, j: usize| f64::from(x[[i, j]] * 1.5 + z[[i, j]]);
        let sum = |i: usize, last: usize| (0..=last).map(|j| y(i, j)).sum::<f64>();
        assert_close(&sums, |[i, j]| near(sum(i, j), 1e-4));
        assert_close(&out, |[i, j]| near(y(i, j) - sum(i, b - 1), 1e-4));
        let stream = Stream::new(&Device::default()).unwrap();
        let (later, _) = kernels::written_calls_on(&stream, &x, &z, 0.5).unwrap();
        assert_eq!(later.to_host().unwrap().as_slice(), out.as_slice());
    }
}

#[test]
fn a_tile_is_an_argument_in_a_loop_of_the_host() {
    for (count, rounds) in [(1, 1), (3, 2), (2, 0)] {
        let x = Tensor::<f32, _>::random((count, 16, 24), -1.0..1.0, 3);
        let sums = kernels::written_calls_of_tiles(&x, rounds).unwrap();
        assert_close(&sums, |[s, i]| {
            let sum: f64 = (0..24).map(|j| f64::from(x[[s, i, j]])).sum();
            near(sum * f64::from(rounds), 1e-4)
        });
    }
}

#[test]
fn a_scalar_result_is_a_number_of_the_host() {
    for n in [1, 60] {
        let x = Tensor::<i32, _>::random((n,), 0..40, 4);
        let y = kernels::written_counts(&x, 10).unwrap();
        let count = |limit: i32| x.as_slice().iter().filter(|v| **v < limit).count() as i32;
        let (below, more) = (count(10), count(20) - count(10));
        assert_exact(&y, |i| x[i] * more + below);
    }
}

#[test]
fn a_called_function_may_return_early() {
    for (n, mode) in [(1, 0), (20, 0), (20, 1), (33, 2), (2, 2)] {
        let x = Tensor::<f32, _>::random((n,), -1.0..1.0, 7);
        let found = kernels::written_early_returns(&x, mode).unwrap();
        let y = |i: usize| match mode {
            0 => x[[i]],
            1 => x[[i]].max(0.25),
            _ => x[[i]].min(0.25),
        };
        let sign = if y(0) > 0.0 { 1.0 } else { -1.0 };
        assert_close(&found, |[i]| {
            let z = if i < mode as usize + 3 {
                y(i).max(-0.5)
            } else {
                0.0
            };
            near(f64::from((x[[i]] + 1.0) * sign + y(i) - z), 1e-5)
        });
    }
}

#[test]
fn a_called_function_returns_a_copy_of_a_tile() {
    for (m, n) in [(1, 1), (3, 20), (4, 33)] {
        let x = Tensor::<f32, _>::random((m, n), -1.0..1.0, 8);
        let y = kernels::written_returned_tiles(&x).unwrap();
        assert_exact(&y, |[i, j]| x[[i, j]] - 2.0 * x[[m - 1 - i, j]]);
    }
}

#[test]
fn constants_as_arguments() {
    let x = Tensor::<f32, _>::random((Const::<20>,), -1.0..1.0, 9);
    let z = Tensor::<f32, _>::random((Const::<40>,), -1.0..1.0, 10);
    let (b, c) = kernels::written_constants(&x, &z).unwrap();
    assert_exact(&b, |[i]| 8.0 * x[[19 - i]]);
    assert_exact(&c, |[i]| z[[39 - i]] + if i < 32 { 1.0 } else { 0.0 });
}

#[test]
fn a_called_function_uses_tensor_cores() {
    for (m, k) in [(16, 32), (40, 50)] {
        let a = Tensor::<f16, _>::random((m, k), -1.0..1.0, 5);
        let b = Tensor::<f16, _>::random((m, k), -1.0..1.0, 6);
        let both = kernels::written_called_products(&a, &b).unwrap();
        let product = |i: usize, j: usize| {
            let of = |t: usize| a[[i, t]].to_f64() * b[[j, t]].to_f64();
            (0..k).map(of).sum::<f64>()
        };
        assert_close(&both, |[i, j]| {
            let turned: f64 = (0..k)
                .map(|t| b[[i, t]].to_f64() * a[[j, t]].to_f64())
                .sum();
            near(product(i, j) + turned, 1e-3)
        });
    }
}

#[test]
fn conditions_of_a_called_function_are_unknown_to_its_caller() {
    for n in [-5, 3, 4, 9] {
        let expected = if n > 3 { 101 } else { 2 };
        assert_eq!(kernels::written_level(n).unwrap(), expected, "{n}");
    }
    let nested = |i| match i {
        i if i > 5 => 1,
        i if i > 3 => 3,
        _ => 2,
    };
    for i in [2, 3, 4, 5, 6] {
        let found = kernels::written_twice(i).unwrap();
        assert_eq!(found, nested(i) * 10 + nested(i + 1), "{i}");
    }
    let x = Tensor::<i32, _>::from_fn((8,), |[i]| i as i32 + 10);
    assert_eq!(kernels::written_element(&x, 7).unwrap(), 34);
    for i in [-1, 8, 1000, 100_000_000] {
        let error = kernels::written_element(&x, i).unwrap_err().to_string();
        assert!(error.contains("host_calls.co:"), "{i}: {error}");
    }
    for i in [-2, -1, 0, 5] {
        let y = kernels::written_unless(&x, i).unwrap();
        assert_exact(&y, |at| match i {
            -2 => x[at],
            -1 => 0,
            _ => i + 1 + 1000,
        });
    }
}

/// What `called_until` returns.
fn until(x: &[f32], limit: f32, most: i32) -> Vec<f32> {
    for k in 0..2 * most {
        let y: Vec<f32> = x.iter().map(|x| x - k as f32).collect();
        if y.iter().all(|y| *y <= limit) {
            return y;
        }
    }
    x.to_vec()
}

#[test]
fn a_called_function_returns_in_loops() {
    for (n, most, wanted) in [(1, 1, 3), (5, 4, 40), (33, 6, 6), (20, 2, 1000), (7, 0, 59)] {
        let x = Tensor::<f32, _>::random((n,), 0.0..4.0, 7 + n as u64);
        let places = Tensor::<i32, _>::from_fn((9, 7), |[i, j]| (i * 7 + j) as i32 * 2 % 61);
        let (y, z, marks) = kernels::written_returns_in_loops(&x, &places, wanted, most).unwrap();
        let own: Vec<f32> = (0..n).map(|i| x[[i]]).collect();
        let one = until(&own, 0.5, 3);
        let two = until(&one, -2.0, most);
        assert_exact(&y, |[i]| one[i]);
        assert_exact(&z, |[i]| two[i]);
        let place = |wanted: i32| {
            (0..8 * 7)
                .find(|at| places[[at / 7, at % 7]] == wanted)
                .map_or(-7, |at| at as i32)
        };
        let first = place(wanted) * 100 + place(wanted + 1);
        assert_exact(&marks, |_| first + 2 * most.min(6));
    }
}

#[test]
fn chosen_buffers_are_arguments() {
    let step = |from: &[f32], w: f32| -> Vec<f32> {
        let before = |i: usize| if i > 0 { from[i - 1] } else { 0.0 };
        (0..from.len()).map(|i| from[i] + w * before(i)).collect()
    };
    for (n, rounds) in [(1, 0), (5, 1), (33, 4)] {
        let x = Tensor::<f32, _>::from_fn((n,), |[i]| (i % 5) as f32);
        let (y, b) = kernels::written_choices_as_arguments(&x, rounds, 1).unwrap();
        let mut buffers = [x.as_slice().to_vec(), vec![0.0; n]];
        let mut last = vec![0.0; n];
        for r in 0..rounds as usize {
            buffers[(r + 1) % 2] = step(&buffers[r % 2], 0.5);
            last = step(&buffers[(r + 1) % 2], 0.25);
        }
        let rounds = rounds as usize;
        buffers[(rounds + 1) % 2] = step(&buffers[rounds % 2], 1.0);
        assert_exact(&y, |[i]| last[i] + buffers[(rounds + 1) % 2][i]);
        let end = step(&buffers[0], 2.0);
        assert_exact(&b, |[i]| end[i]);
        // The buffer that is read is the one that is written.
        let error = kernels::written_choices_as_arguments(&x, rounds as i32, 2).unwrap_err();
        assert!(error.to_string().contains("[R23]"), "{error}");
    }
}

#[test]
fn a_called_function_clips_tiles_that_are_larger_than_its_argument() {
    for (m, n) in [(1, 1), (5, 33), (9, 7)] {
        let x = Tensor::from_fn((m, n), |[i, j]| (i * n + j) as f32);
        let (row, column, one) = kernels::written_tiles_beyond(&x).unwrap();
        let at = |i: usize, j: usize| x.get([i, j]).unwrap();
        let expected: Vec<f32> = (0..n).map(|j| at(m - 1, j) + 1.0).collect();
        assert_eq!(row.as_slice(), expected);
        let expected: Vec<f32> = (0..m).map(|i| at(i, n - 1) + (i % 4 + 1) as f32).collect();
        assert_eq!(column.as_slice(), expected);
        assert_eq!(one.as_slice(), [1.0]);
    }
}
