//! Placeholders that are used above their first copy (`early.co`).

use croq_sys::{Const, Tensor};
use croq_tests::compare::{assert_close, assert_exact, near};
use croq_tests::kernels;

#[test]
fn stores_are_waited_for_iterations_later() {
    for (m, n) in [(1usize, 5usize), (2, 32), (7, 40), (9, 64)] {
        let x = Tensor::<f32, _>::random((m, n), -1.0..1.0, 1);
        let y = kernels::early_stores(&x).unwrap();
        let sum = |i: usize, j: usize| (0..=i).map(|r| f64::from(x[[r, j]])).sum::<f64>();
        assert_close(&y, |[i, j]| near(sum(i, j), 1e-5));
    }
}

#[test]
fn rows_of_any_width_are_exchanged_before_the_first() {
    for (m, n) in [(1usize, 1usize), (2, 64), (5, 100), (6, 16)] {
        let x = Tensor::<f32, _>::random((m, n), -1.0..1.0, 2);
        let y = kernels::early_rows(&x).unwrap();
        assert_exact(&y, |[i, j]| match i {
            0 => x[[0, j]],
            _ => x[[i, j]] - x[[i - 1, j]],
        });
    }
}

#[test]
fn waits_precede_copies_that_are_seldom() {
    for m in [1usize, 2, 3, 8] {
        let x = Tensor::<f32, _>::random((m, Const::<64>), -1.0..1.0, 3);
        let y = kernels::early_seldom(&x).unwrap();
        assert_exact(&y, |[i, j]| match i {
            0 | 1 => 0.0,
            _ => x[[(i - 2) / 2 * 2 + 1, j]],
        });
    }
}

#[test]
fn tiles_of_any_size_are_exchanged() {
    for (m, n) in [(2usize, 3usize), (5, 64), (4, 129)] {
        let x = Tensor::<f32, _>::random((m, n), -1.0..1.0, 4);
        let y = kernels::early_tiles(&x).unwrap();
        assert_exact(&y, |index| x[index]);
    }
}

#[test]
fn selected_buffers_keep_their_shapes() {
    for m in [1usize, 2, 5] {
        let x = Tensor::<f32, _>::random((m, Const::<64>), -1.0..1.0, 5);
        let y = kernels::early_chosen(&x).unwrap();
        assert_exact(&y, |[i, j]| {
            let (now, other) = (x[[i, j]], x[[m - 1 - i, j]]);
            match i % 2 {
                0 => 2.0 * now + other,
                _ => 2.0 * other + now,
            }
        });
    }
}

#[test]
fn selected_states_are_read_by_their_names() {
    for (h, steps) in [(1usize, 1usize), (2, 2), (3, 7), (1, 12)] {
        let x = Tensor::<f32, _>::random((h, steps, Const::<64>), -1.0..1.0, 6);
        let gate = Tensor::<f32, _>::random((h, steps), 0.0..1.0, 7);
        let last = kernels::early_gated(&x, &gate).unwrap();
        let state = |h: usize| {
            (0..steps).fold([0.0f64; 64], |now, t| {
                std::array::from_fn(|i| {
                    let carried = 0.75 * now[i] + 0.25 * now[(i + 1) % 64];
                    f64::from(gate[[h, t]]) * carried + f64::from(x[[h, t, i]])
                })
            })
        };
        let states: Vec<_> = (0..h).map(state).collect();
        assert_close(&last, |[h, i]| near(states[h][i], 1e-5));
    }
}
