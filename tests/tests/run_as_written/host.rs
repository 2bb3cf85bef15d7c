//! Futures, buffers and events of the host (`host.co`).

use croq_sys::{Device, DeviceTensor, Error, Stream, Tensor};
use croq_tests::compare::{assert_close, assert_exact, near};
use croq_tests::kernels;

#[test]
fn a_recurrence_whose_chunks_are_futures_of_the_host() {
    for (heads, steps) in [(1, 1), (2, 8), (3, 21)] {
        let q = Tensor::<f32, _>::random((heads, steps, 16), -1.0..1.0, 1);
        let k = Tensor::<f32, _>::random((heads, steps, 16), -0.4..0.4, 2);
        let v = Tensor::<f32, _>::random((heads, steps, 32), -1.0..1.0, 3);
        let gate = Tensor::<f32, _>::random((heads, steps), 0.8..1.0, 4);
        let beta = Tensor::<f32, _>::random((heads, steps), 0.1..0.9, 5);
        let o = kernels::written_delta_rule(&q, &k, &v, &gate, &beta).unwrap();
        let mut expected = Tensor::<f32, _>::zeros((heads, steps, 32));
        for h in 0..heads {
            let mut state = [[0.0f32; 32]; 16];
            for t in 0..steps {
                for c in 0..32 {
                    state.iter_mut().for_each(|row| row[c] *= gate[[h, t]]);
                    let found: f32 = (0..16).map(|i| state[i][c] * k[[h, t, i]]).sum();
                    let error = beta[[h, t]] * (v[[h, t, c]] - found);
                    for i in 0..16 {
                        state[i][c] += k[[h, t, i]] * error;
                        expected[[h, t, c]] += state[i][c] * q[[h, t, i]];
                    }
                }
            }
        }
        assert_close(&o, |index| near(f64::from(expected[index]), 1e-4));
    }
}

#[test]
fn a_placeholder_of_the_host_is_another_one_in_each_launch() {
    for (m, n) in [(1, 1), (6, 40), (9, 64)] {
        let x = Tensor::<f32, _>::random((m, n), -1.0..1.0, 6);
        let y = kernels::written_two_passes(&x).unwrap();
        let sum = |i: usize| (0..n).map(|j| f64::from(x[[i, j]])).sum::<f64>();
        assert_close(&y, |[i, j]| near(f64::from(x[[i, j]]) - sum(i), 1e-5));
        let y = kernels::written_in_turn(&x).unwrap();
        assert_close(&y, |[i]| near(sum(i), 1e-5));
    }
}

#[test]
fn the_host_exchanges_buffers() {
    for (n, rounds) in [(1, 3), (50, 0), (33, 1), (64, 4)] {
        let x = Tensor::<f32, _>::random((n,), -1.0..1.0, 7);
        let mut now: Vec<f32> = x.as_slice().to_vec();
        for _ in 0..rounds {
            let at = |i: Option<usize>| i.and_then(|i| now.get(i)).copied().unwrap_or(0.0);
            let next = (0..n).map(|i| {
                let (left, right) = (at(i.checked_sub(1)), at(Some(i + 1)));
                0.25 * left + 0.5 * now[i] + 0.25 * right
            });
            now = next.collect();
        }
        let y = kernels::written_relaxed(&x, rounds).unwrap();
        assert_close(&y, |[i]| near(f64::from(now[i]), 1e-5));
        let device = Device::default();
        let stream = Stream::new(&device).unwrap();
        let later = kernels::written_relaxed_on(&stream, &x, rounds).unwrap();
        assert_eq!(later.to_host().unwrap().as_slice(), y.as_slice());
    }
}

#[test]
fn names_exchange_their_memory_and_callers_keep_theirs() {
    for (n, rounds) in [(1, 0), (20, 1), (20, 2), (31, 3), (31, 4)] {
        let first = Tensor::<f32, _>::random((n,), -1.0..1.0, 8);
        let second = Tensor::<f32, _>::random((n,), -1.0..1.0, 9);
        // Memory 0 and 1 are the caller's; names hold numbers of memory.
        let mut memory = [
            first.as_slice().to_vec(),
            second.as_slice().to_vec(),
            vec![0.0; n],
        ];
        let [mut before, mut now, mut after] = [0usize, 1, 2];
        for _ in 0..rounds {
            memory[after] = (0..n)
                .map(|i| 2.0 * memory[now][i] - memory[before][i] + 0.1 * memory[now][(i + 1) % n])
                .collect();
            [before, now, after] = [now, after, before];
        }
        if rounds % 3 == 1 {
            [before, after, now] = [after, now, before];
        }
        memory[before].iter_mut().for_each(|v| *v += 1.0);
        memory[now].iter_mut().for_each(|v| *v += 2.0);
        let _ = after;
        let (mut a, mut b) = (first, second);
        kernels::written_waves(&mut a, &mut b, rounds).unwrap();
        assert_close(&a, |[i]| near(f64::from(memory[0][i]), 1e-4));
        assert_close(&b, |[i]| near(f64::from(memory[1][i]), 1e-4));
    }
}

#[test]
fn futures_of_the_host_are_exchanged_and_chosen() {
    for n in [1, 45] {
        let x = Tensor::<f32, _>::random((n,), -1.0..1.0, 10);
        let y = Tensor::<f32, _>::random((n,), -1.0..1.0, 11);
        let z = kernels::written_futures_of_the_host(&x, &y, 0).unwrap();
        assert_exact(&z, |i| x[i] - 2.0 * y[i]);
        let z = kernels::written_futures_of_the_host(&x, &y, 1).unwrap();
        assert_exact(&z, |i| y[i] - 2.0 * x[i]);
        for rounds in 0..4 {
            let stepped = |v: f32| (0..rounds).fold(v, |v, _| v * 1.5 + 1.0);
            let z = kernels::written_chosen(&x, rounds).unwrap();
            assert_close(&z, |i| near(f64::from(stepped(x[i])), 1e-5));
        }
    }
}

#[test]
fn an_instance_chooses_among_buffers_of_the_host() {
    for (n, of) in [(1, 0), (40, 1), (33, 4)] {
        let x = Tensor::<i32, _>::random((n,), -99..99, 14);
        let y = kernels::written_chosen_in_kernels(&x, of).unwrap();
        assert_exact(&y, |[i]| {
            let own = if i % 2 == 0 { 2 * x[[i]] } else { 0 };
            own + x[[i]] * if of % 2 == 0 { 1 } else { 2 }
        });
    }
}

#[test]
fn arrays_of_events_of_the_host() {
    let device = Device::default();
    let [one, other] = [0; 2].map(|_| Stream::new(&device).unwrap());
    for n in [1, 70] {
        let x = Tensor::<i32, _>::random((n,), -99..99, 12);
        let mut y = x.to_device(&device).unwrap();
        kernels::written_gates(&mut y, &one, &other).unwrap();
        assert_exact(&y.to_host().unwrap(), |i| (x[i] + 1) * 3);
        let y = kernels::written_rounds_of_events(&x).unwrap();
        assert_exact(&y, |i| ((x[i] * 2) * 2 + 1) * 2 + 2);
    }
}

#[test]
fn an_event_of_an_array_that_is_not_triggered_is_an_error() {
    let x = Tensor::<i32, _>::random((40,), -99..99, 13);
    let y = kernels::written_some_events(&x, 3).unwrap();
    assert_exact(&y, |i| x[i] + 3);
    match kernels::written_some_events(&x, 2).unwrap_err() {
        Error::Check { code, message, .. } => {
            assert_eq!(code, "R18");
            assert_eq!(message, "event: `go[2]` is waited for 1 times, triggered 0");
        }
        other => panic!("{other}"),
    }
}

#[test]
fn the_host_copies_under_conditions_and_in_loops() {
    for n in [1, 70, 600] {
        let x = Tensor::<i32, _>::random((n,), -99..99, 15);
        let z = Tensor::<i32, _>::random((n,), -99..99, 16);
        for first in [true, false] {
            let y = kernels::written_one_of_two(&x, &z, first).unwrap();
            assert_exact(&y, |i| if first { x[i] } else { z[i] });
        }
    }
    for (rows, columns, width) in [(1, 1, 1), (3, 70, 33), (5, 40, 99)] {
        let x = Tensor::<i32, _>::random((rows, columns), -99..99, 17);
        let y = kernels::written_row_by_row(&x, width).unwrap();
        assert_exact(&y, |[r, i]| if i < width as usize { x[[r, i]] } else { 0 });
    }
}

#[test]
fn conditions_choose_buffers() {
    for n in [1, 64, 77] {
        let x = Tensor::from_fn((n,), |[i]| i as f32);
        for least in [3, 4] {
            let y = kernels::written_chosen_by_conditions(&x, least).unwrap();
            let chosen = |second: bool, i: usize| match second {
                true => 2.0 * x[[i]],
                false => x[[i]] + 1.0,
            };
            let expected = |i| chosen(least > 3, i) + 8.0 * chosen(i % 3 == 1, i);
            assert_eq!(y.as_slice(), (0..n).map(expected).collect::<Vec<_>>());
        }
    }
}

#[test]
fn names_that_are_not_read_behind_an_exchange() {
    let device = Device::default();
    for (size, n, steps) in [(1, 0, 0), (33, 1, 3), (100, 4, 4)] {
        let x = Tensor::<i32, _>::random((size,), -5..5, 3);
        let on_device = x.to_device(&device).unwrap();
        let mut y = DeviceTensor::<i32, _>::zeros((size,), &device).unwrap();
        kernels::written_selected_before(&on_device, &mut y, n, steps).unwrap();
        assert_exact(&y.to_host().unwrap(), |i| {
            let (mut a, mut b) = (x[i], x[i] * 2);
            let first = [a, b][n as usize % 2] + b;
            for k in 0..steps {
                *[&mut b, &mut a][k as usize % 2] = a + b + k;
                std::mem::swap(&mut a, &mut b);
            }
            first * 3 + a + [b, a][n as usize % 2] * 7
        });
    }
}

#[test]
fn exchanged_buffers_are_selected_from() {
    for (n, which, rounds) in [(1, 0, 0), (33, 0, 3), (33, 1, 4), (200, 1, 1)] {
        let x = Tensor::<f32, _>::from_fn((n,), |[i]| i as f32);
        let y = kernels::written_exchanged_choices(&x, which, rounds).unwrap();
        let mut a: Vec<f32> = (0..n).map(|i| x[[i]]).collect();
        let mut b: Vec<f32> = a.iter().map(|v| -v).collect();
        for r in 0..rounds {
            for i in 0..n {
                b[i] += 2.0 * [a[i], b[i]][((r + which) % 2) as usize];
            }
            std::mem::swap(&mut a, &mut b);
        }
        let chosen = if which == 0 { &mut a } else { &mut b };
        chosen.iter_mut().for_each(|v| *v += 1.0);
        assert_exact(&y, |[i]| a[i]);
        let numbers = Tensor::<i32, _>::from_fn((n,), |[i]| (i % 3) as i32);
        let y = kernels::written_choice_of_exchanged(&x, &numbers, rounds).unwrap();
        assert_exact(&y, |[i]| {
            x[[i]] + ((numbers[[i]] + rounds) % 3 * 100) as f32
        });
    }
    let x = Tensor::<f32, _>::zeros((5,));
    let error = kernels::written_exchanged_choices(&x, 2, 1).unwrap_err();
    assert!(error.to_string().contains("[R13]"), "{error}");
}
