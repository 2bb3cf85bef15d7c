//! `select` among tensors of different allocations (`selected.co`).

use croq_sys::{Device, DeviceTensor, Error, Result, Stream, Tensor};
use croq_tests::compare::assert_exact;
use croq_tests::kernels;

/// Integers, for which sums and products of floats are exact.
fn floats(n: usize, seed: u64) -> Tensor<f32, (usize,)> {
    let x = Tensor::<i32, _>::random((n,), -1000..1000, seed);
    Tensor::from_fn((n,), |[i]| x[[i]] as f32)
}

fn ints(n: usize, seed: u64) -> Tensor<i32, (usize,)> {
    Tensor::random((n,), -1000..1000, seed)
}

fn on_device<T: croq_sys::Element, D: croq_sys::Dims>(x: &Tensor<T, D>) -> DeviceTensor<T, D> {
    x.to_device(&Device::default()).unwrap()
}

#[track_caller]
fn assert_outside<T>(result: Result<T>, text: &str) {
    let mut lines = include_str!("../../run/features/selected.co").lines();
    let line = lines.position(|line| line.contains(text)).unwrap() + 1;
    match result {
        Err(Error::Check { code, line: at, .. }) => {
            assert_eq!((code, at as usize), ("R13", line));
        }
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("the selector is outside"),
    }
}

#[test]
fn a_parameter_is_selected_on_the_host() {
    for n in [1, 33, 300] {
        let (x, y) = (floats(n, 1), floats(n, 2));
        for by in 0..4 {
            let z = kernels::selected_by_parity(&x, &y, by).unwrap();
            assert_exact(&z, |i| if by % 2 == 0 { x[i] } else { y[i] });
        }
        assert_outside(
            kernels::selected_by_parity(&x, &y, -1),
            "from = select(n % 2, x, y);",
        );
    }
}

#[test]
fn a_number_of_the_host_selects_in_a_kernel() {
    for len in [1, 32, 77] {
        let [x, y, w] = [3, 4, 5].map(|seed| on_device(&floats(len, seed)));
        for n in 1..3 {
            let before = floats(len, 6);
            let mut z = on_device(&before);
            kernels::selected_in_a_kernel(&x, &y, &w, &mut z, n).unwrap();
            let all = [&x, &y, &w].map(|t| t.to_host().unwrap());
            let second = if n == 1 { &all[1] } else { &before };
            let first = &all[n as usize];
            assert_exact(&z.to_host().unwrap(), |i| first[i] + second[i]);
        }
        // Each selector is outside where the other is inside. A kernel that fails is the last one of
        // a process on CUDA.
        let numbers: &[i32] = match (Device::default().is_sim(), len) {
            (true, _) => &[-1, 0, 3],
            (false, 77) => &[3],
            (false, _) => &[],
        };
        for &n in numbers {
            let mut z = on_device(&floats(len, 6));
            assert_outside(
                kernels::selected_in_a_kernel(&x, &y, &w, &mut z, n),
                "z.at(b # t) = select(n, x, y, w)",
            );
        }
    }
}

#[test]
fn what_is_read_and_what_is_written_change_in_turn() {
    for (n, rounds) in [(1, 0), (40, 1), (257, 2), (64, 5)] {
        let mut expected = [ints(n, 7), ints(n, 8)];
        let [mut x, mut y] = [0, 1].map(|at| on_device(&expected[at]));
        kernels::selected_in_turn(&mut x, &mut y, rounds).unwrap();
        for i in 0..rounds {
            let (from, to) = ((i % 2) as usize, ((i + 1) % 2) as usize);
            expected[to] = Tensor::from_fn((n,), |at| expected[from][at] * 3 + i);
        }
        assert_eq!([x, y].map(|t| t.to_host().unwrap()), expected);
    }
}

#[test]
fn tiles_that_cross_the_edge() {
    for n in [1, 16, 49, 64, 70] {
        let x = floats(n, 9);
        for by in 0..2 {
            let mut y = on_device(&Tensor::from_fn((16,), |[i]| i as f32));
            kernels::selected_edges(&on_device(&x), &mut y, by).unwrap();
            assert_exact(&y.to_host().unwrap(), |[i]| {
                let tiles = (0..4).map(|p| x.as_slice().get((p + by as usize) * 16 + i));
                i as f32 + tiles.map(|v| v.copied().unwrap_or(0.0)).sum::<f32>()
            });
        }
    }
}

#[test]
fn results_arguments_and_returned_tensors() {
    for len in [1, 45] {
        let all = [10, 11, 12].map(|seed| floats(len, seed));
        let [a, b, c] = &all;
        for n in 0..3 {
            let z = kernels::selected_return(a, b, c, n).unwrap();
            assert_eq!(z, all[n as usize]);
            for m in 0..2 {
                let z = kernels::selected_results(a, b, c, n, m).unwrap();
                let inner = match n % 2 {
                    0 => [b, c][m as usize],
                    _ => a,
                };
                let own = Tensor::from_fn((len,), |i| 4.0 * a[i]);
                let outer = match n > 1 {
                    true => &all[n as usize],
                    false => [inner, &own][m as usize],
                };
                assert_exact(&z, |i| outer[i] + m as f32);
            }
        }
        assert_outside(
            kernels::selected_return(a, b, c, 3),
            "return select(n, a, b, c);",
        );
        assert_outside(
            kernels::selected_return(a, b, c, i32::MIN),
            "return select(n, a, b, c);",
        );
        assert_outside(
            kernels::selected_results(a, b, c, 0, 2),
            "inner = selected_by_parity(select(m, b, c)",
        );
    }
}

#[test]
fn one_of_ten() {
    for n in [1, 100] {
        let all: [_; 9] = std::array::from_fn(|at| ints(n, 20 + at as u64));
        let [a, b, c, d, e, f, g, h, i] = &all;
        let call = |n| kernels::selected_of_ten(a, b, c, d, e, f, g, h, i, n);
        for n in 0..10 {
            let expected = &all[n as usize % 9];
            assert_exact(&call(n).unwrap(), |i| 2 * expected[i]);
        }
        // A kernel that fails is the last one of a process on CUDA.
        if Device::default().is_sim() {
            assert_outside(call(10), "select(n, a, b, c, d, e");
            assert_outside(call(-1), "select(n, a, b, c, d, e");
        } else if n == 100 {
            assert_outside(call(10), "select(n, a, b, c, d, e");
        }
    }
}

#[test]
fn the_tensor_that_is_selected_is_written() {
    for (len, n) in [(1, 0), (50, 1), (33, 2)] {
        let from = floats(len, 30);
        let before = [31, 32, 33].map(|seed| floats(len, seed));
        let [mut x, mut y] = [0, 1].map(|at| on_device(&before[at]));
        let mut z = before[2].clone();
        kernels::selected_to(&mut x, &mut y, &mut z, &from, n).unwrap();
        let after = [x.to_host().unwrap(), y.to_host().unwrap(), z];
        for (at, (before, after)) in before.iter().zip(&after).enumerate() {
            assert_exact(after, |i| match at as i32 {
                to if to == 2 - n => 2.0 * from[i],
                to if to == n => from[i],
                _ => before[i],
            });
        }
    }
}

#[test]
fn variables_of_the_host_select() {
    for (n, rounds) in [(1, 1), (70, 2), (33, 5)] {
        let mut expected = [ints(n, 40), ints(n, 41)];
        let [mut x, mut y] = [0, 1].map(|at| on_device(&expected[at]));
        kernels::selected_by_a_variable(&mut x, &mut y, rounds).unwrap();
        let mut now = 0;
        for left in (0..rounds).rev() {
            let here = now;
            now = 1 - now;
            expected[now] = Tensor::from_fn((n,), |i| expected[here][i] + now as i32 + 1);
            if left != 2 {
                expected[here] = Tensor::from_fn((n,), |i| expected[here][i] * 2);
            }
        }
        assert_eq!([x, y].map(|t| t.to_host().unwrap()), expected);
    }
    for n in 0..2 {
        let before = [ints(31, 42), ints(31, 43)];
        let [mut x, mut y] = [0, 1].map(|at| on_device(&before[at]));
        kernels::selected_by_a_macro(&mut x, &mut y, n).unwrap();
        let after = [x, y].map(|t| t.to_host().unwrap());
        let n = n as usize;
        assert_eq!(after[n], before[n]);
        assert_exact(&after[1 - n], |i| before[n][i] + 5);
    }
}

#[test]
fn elements_select() {
    for n in [2, 40] {
        let (x, y) = (ints(n, 50), ints(n, 51));
        for at in 0..2 {
            let which = Tensor::from_fn((3,), |_| at);
            let chosen = if at == 0 { &x } else { &y };
            let found = kernels::selected_element(&which, &x, &y).unwrap();
            assert_eq!(found, chosen[[1]] * 10 + at);
        }
        let which = Tensor::from_fn((3,), |_| 2);
        assert_outside(
            kernels::selected_element(&which, &x, &y),
            "s32 n = select(which.at(0)",
        );
    }
}

#[test]
fn launches_on_streams_and_submissions() {
    let device = Device::default();
    let [one, other] = [(); 2].map(|()| Stream::new(&device).unwrap());
    for n in 0..2 {
        let before = [ints(37, 60), ints(37, 61)];
        let [mut x, mut y] = [0, 1].map(|at| on_device(&before[at]));
        kernels::selected_on_streams(&mut x, &mut y, n, &one, &other).unwrap();
        let after = [x, y].map(|t| t.to_host().unwrap());
        let at = n as usize;
        assert_exact(&after[at], |i| before[at][i] + 1);
        assert_exact(&after[1 - at], |i| 2 * (before[at][i] + 1));
        let (x, y) = (floats(37, 62), floats(37, 63));
        let later = kernels::selected_by_parity_on(&one, &x, &y, n).unwrap();
        assert_eq!(later.to_host().unwrap(), [&x, &y][at].clone());
    }
}

#[test]
fn boxes_of_the_selected_tensor() {
    for (rows, cols) in [(16, 32), (5, 44), (40, 100)] {
        let [x, y] = [70, 71].map(|seed| {
            let x = Tensor::<i32, _>::random((rows, cols), -1000..1000, seed);
            Tensor::from_fn((rows, cols), |i| x[i] as f32)
        });
        for n in 0..2 {
            let mut z = on_device(&Tensor::from_fn((rows, cols), |_| f32::NAN));
            kernels::selected_tma(&on_device(&x), &on_device(&y), &mut z, n).unwrap();
            let chosen = if n == 0 { &x } else { &y };
            assert_exact(&z.to_host().unwrap(), |i| chosen[i] + 1.0);
        }
    }
}

#[test]
fn blocks_select() {
    for n in [1, 32, 77, 128] {
        let (x, y) = (floats(n, 80), floats(n, 81));
        let mut z = on_device(&Tensor::from_fn((n,), |_| f32::NAN));
        kernels::selected_by_block(&on_device(&x), &on_device(&y), &mut z).unwrap();
        assert_exact(&z.to_host().unwrap(), |[i]| {
            let of = if i / 32 % 2 == 0 { &x } else { &y };
            let mirrored = of.as_slice().get(i / 32 * 32 + 31 - i % 32);
            of[[i]] + mirrored.copied().unwrap_or(0.0)
        });
    }
}

#[test]
fn threads_select() {
    for n in [1, 31, 260] {
        let all = [90, 91, 92, 93].map(|seed| floats(n, seed));
        let [x, y, w, z] = &all;
        let [mut dx, mut dy, mut dz] = [x, y, z].map(|t| on_device(t));
        kernels::selected_by_thread(&mut dx, &mut dy, w, &mut dz).unwrap();
        let [mut ex, mut ey, mut ez] = [x, y, z].map(|t| t.as_slice().to_vec());
        for p in 0..n {
            let w = w[[p]];
            ez[p] = [ex[p], ey[p], w, ex[p]][p % 4] * 2.0 + w;
            *(if p % 2 == 0 { &mut ey } else { &mut ex }
                .get_mut(p)
                .unwrap()) = 1.0;
            let inner = if p % 2 == 0 { w } else { ez[p] };
            let added = if p / 2 % 2 == 0 { w } else { inner };
            *(if p % 2 == 0 { &mut ez } else { &mut ey }
                .get_mut(p)
                .unwrap()) += added;
        }
        for (found, expected) in [(dx, ex), (dy, ey), (dz, ez)] {
            assert_exact(&found.to_host().unwrap(), |[i]| expected[i]);
        }
    }
}

#[test]
fn data_selects() {
    for (n, k) in [(1, 1), (40, 3), (77, 5)] {
        let (x, y) = (ints(n, 94), ints(n, 95));
        let which = Tensor::from_fn((k,), |[i]| (i as i32 * 3 + 1) % 2);
        let mut z = on_device(&Tensor::from_fn((k, 32), |_| i32::MIN));
        let [dx, dy] = [&x, &y].map(|t| on_device(t));
        kernels::selected_by_data(&on_device(&which), &dx, &dy, &mut z).unwrap();
        assert_exact(&z.to_host().unwrap(), |[b, t]| {
            let of = |number: usize| if number == 0 { &x } else { &y };
            let number = which[[b]] as usize;
            let sum = (0..n).map(|i| of((number + i) % 2)[[i]]).sum::<i32>();
            of(number)[[(b * 32 + t) % n]] * 1000 + sum
        });
        for wrong in [-1, 2] {
            let which = on_device(&Tensor::from_fn((k,), |_| wrong));
            let result = kernels::selected_by_data(&which, &dx, &dy, &mut z);
            assert_outside(result, "from = select(which.at(b), x, y);");
            if croq_tests::gpu::ends_at_failure() {
                return;
            }
        }
    }
}

#[test]
fn boxes_from_and_to_one_of_two_tensors() {
    for (rows, cols) in [(16, 32), (5, 44), (40, 100)] {
        let [x, y] = [96, 97].map(|seed| {
            let x = Tensor::<i32, _>::random((rows, cols), -1000..1000, seed);
            Tensor::from_fn((rows, cols), |i| x[i] as f32)
        });
        let [mut after, mut z] = [&y, &x].map(|t| on_device(t));
        kernels::selected_boxes(&on_device(&x), &mut after, &mut z).unwrap();
        let of = |number: usize, i: [usize; 2]| if number.is_multiple_of(2) { x[i] } else { y[i] };
        let tile = |[i, j]: [usize; 2]| i / 16 + j / 32;
        assert_exact(&z.to_host().unwrap(), |i| of(tile(i), i) + 1.0);
        assert_exact(&after.to_host().unwrap(), |i| of(tile(i) + 1, i) + 1.0);
    }
}

#[test]
fn asynchronous_copies_and_atomics() {
    for n in [64, 192] {
        let (x, y) = (floats(n, 98), floats(n, 99));
        let mut z = on_device(&Tensor::from_fn((n,), |_| f32::NAN));
        kernels::selected_async(&on_device(&x), &on_device(&y), &mut z).unwrap();
        assert_exact(&z.to_host().unwrap(), |[i]| {
            let (first, second) = if i / 64 % 2 == 0 { (&x, &y) } else { (&y, &x) };
            first[[i / 64 * 64 + 63 - i % 64]] - 2.0 * second[[i]]
        });
        let x = Tensor::<i32, _>::random((n,), 0..1000, 100);
        let [mut even, mut odd] = [(); 2].map(|()| on_device(&Tensor::<i32, _>::zeros((4,))));
        kernels::selected_atomics(&on_device(&x), &mut even, &mut odd).unwrap();
        for (parity, counts) in [(0, even), (1, odd)] {
            assert_exact(&counts.to_host().unwrap(), |[slot]| {
                let is = |v: &&i32| **v % 2 == parity && **v / 2 % 4 == slot as i32;
                x.as_slice().iter().filter(is).count() as i32
            });
        }
    }
}

#[test]
fn numbers_outside_where_nothing_is_selected() {
    for (len, n) in [(1, 0), (3, 5), (40, 0), (33, 1), (3, 4), (2, 6)] {
        let (x, y, before) = (ints(len, 110), ints(len, 111), ints(len, 112));
        let mut z = on_device(&before);
        let [dx, dy] = [&x, &y].map(|t| on_device(t));
        kernels::selected_under_conditions(&dx, &dy, &mut z, n).unwrap();
        assert_exact(&z.to_host().unwrap(), |[p]| {
            let first = match n {
                0 => x[[p]],
                1 => y[[p]],
                _ => [&y, &x, &before][n as usize - 4][[p]] + 1,
            };
            2 * first + if p > 2 { x[[p]] + y[[p]] } else { 0 }
        });
    }
    for (len, n, text) in [
        (3, -1, "if (n < 2) z.at(p) = select(n, x, y)"),
        (3, 3, "select(n - 4, y, x, z)"),
        (3, 7, "select(n - 4, y, x, z)"),
        (5, 4, "if (p > 2) from = select(1 - n"),
    ] {
        let [x, y, mut z] = [113, 114, 115].map(|seed| on_device(&ints(len, seed)));
        assert_outside(kernels::selected_under_conditions(&x, &y, &mut z, n), text);
        if croq_tests::gpu::ends_at_failure() {
            return;
        }
    }
}

#[test]
fn a_condition_of_the_host_selects() {
    for n in [1, 2, 9] {
        for first in 0..n {
            let of = |parity: usize| {
                Tensor::from_fn((n,), |[i]| i32::from(i % 2 != parity || i < first))
            };
            let (x, y) = (of(0), of(1));
            let k = kernels::selected_while(&x, &y).unwrap();
            assert_eq!(k as usize, first.min(n - 1));
        }
    }
}

#[test]
fn a_pipeline_of_two_tensors() {
    for (blocks, n) in [(1, 64), (3, 128), (4, 320)] {
        let (x, y) = (floats(n, 120), floats(n, 121));
        let mut z = on_device(&Tensor::from_fn((blocks, n), |_| f32::NAN));
        kernels::selected_pipeline(&on_device(&x), &on_device(&y), &mut z).unwrap();
        assert_exact(&z.to_host().unwrap(), |[b, i]| {
            let value = if (b + i / 64) % 2 == 0 {
                x[[i]]
            } else {
                y[[i]]
            };
            if i / 64 == n / 64 - 1 { -value } else { value }
        });
    }
}

#[test]
fn called_functions_select() {
    for (len, n) in [(1, 0), (40, 1), (33, 0)] {
        let all = [122, 123, 124].map(|seed| floats(len, seed));
        let [mut dx, mut dy, mut dz] = [0, 1, 2].map(|at| on_device(&all[at]));
        kernels::selected_calls(&mut dx, &mut dy, &mut dz, n).unwrap();
        let [mut x, mut y, mut z] = all;
        let step = |from: &Tensor<f32, (usize,)>, to: &mut Tensor<f32, (usize,)>| {
            *to = Tensor::from_fn((len,), |i| to[i] * 2.0 + from[i]);
        };
        step(if n == 0 { &x } else { &y }, &mut z);
        step(if n == 1 { &z } else { &y }, &mut x);
        (0..n + 2).for_each(|i| step(if i % 2 == 0 { &x } else { &z }, &mut y));
        assert_eq!([dx, dy, dz].map(|t| t.to_host().unwrap()), [x, y, z]);
    }
}

#[test]
fn exchanged_names_are_selected() {
    for (len, n) in [(1, 0), (40, 1)] {
        let [x, y, w] = [125, 126, 127].map(|seed| floats(len, seed));
        let [mut dx, mut dy] = [&x, &y].map(|t| on_device(t));
        kernels::selected_exchanged(&mut dx, &mut dy, &w, n).unwrap();
        // After the exchange `u` is the memory of `w`'s copy, and at the end `v` is.
        let x_after = if n == 0 { &y } else { &x };
        let copy_of_w = if n == 0 { &w } else { &y };
        let selected = if n == 0 { x_after } else { copy_of_w };
        assert_exact(&dx.to_host().unwrap(), |i| x_after[i]);
        assert_exact(&dy.to_host().unwrap(), |i| selected[i] + 10.0 * x[i]);
    }
}

#[test]
fn operands_of_tensor_cores() {
    use croq_sys::half::f16;
    for (m, n, k) in [(16, 8, 16), (40, 20, 56)] {
        let matrix = |rows, seed| {
            let x = Tensor::<i32, _>::random((rows, k), -8..8, seed);
            Tensor::from_fn((rows, k), |i| f16::from_f32(x[i] as f32))
        };
        let (a, c, b) = (matrix(m, 128), matrix(m, 129), matrix(n, 130));
        let mut o = on_device(&Tensor::from_fn((m, n), |_| f32::NAN));
        let [da, dc, db] = [&a, &c, &b].map(|t| on_device(t));
        kernels::selected_mma(&da, &dc, &db, &mut o).unwrap();
        assert_exact(&o.to_host().unwrap(), |[i, j]| {
            let of = |at: usize| {
                if (i / 16 + at / 16).is_multiple_of(2) {
                    &a
                } else {
                    &c
                }
            };
            (0..k)
                .map(|at| of(at)[[i, at]].to_f32() * b[[j, at]].to_f32())
                .sum()
        });
    }
}

#[test]
fn copies_before_a_select_are_exchanged_with_those_behind() {
    let device = Device::default();
    for n in [1, 64, 300, 1024] {
        let x = Tensor::<f32, _>::from_fn((n,), |[i]| i as f32);
        let z = Tensor::<f32, _>::from_fn((n,), |[i]| 1000.0 - i as f32);
        let which = Tensor::<i32, _>::from_fn((n.div_ceil(256),), |[i]| (i % 2) as i32);
        let [a, b] = [&x, &z].map(|t| t.to_device(&device).unwrap());
        let numbers = which.to_device(&device).unwrap();
        let y = kernels::selected_two_copies(&a, &b, &numbers).unwrap();
        let blocks = which.as_slice().len();
        let of = |block: usize, i: usize| match which[[block]] {
            0 => x[[i]],
            _ => z[[i]],
        };
        assert_exact(&y, |[i]| 4.0 * x[[i]] + 2.0 * of(i / 64 % blocks, i));
        let y = kernels::selected_ahead(&a, &b, &numbers).unwrap();
        assert_exact(&y, |[i]| {
            let (block, tile) = (i / 256, i % 256 / 64);
            // Each tile is that of the step before, and the last one is added.
            let before = i - if tile == 0 { 0 } else { 64 };
            let first = match tile {
                0 => x[[i]],
                _ => of(block, before),
            };
            first + if tile == 3 { of(block, i) } else { 0.0 }
        });
    }
}
