use croq_sys::{Const, Device, Tensor};
use croq_tests::compare::assert_exact;
use croq_tests::kernels;

#[test]
fn single_loops() {
    let x = Tensor::<i32, _>::random((10,), -1000..1000, 1);
    assert_exact(&kernels::loop_single(&x).unwrap(), |[k]| x[[k]] + k as i32);
    let y = kernels::loop_with_value().unwrap();
    assert_eq!(y.as_slice(), [0, 0, 21]);
}

#[test]
fn order_of_several() {
    let y = kernels::loop_order().unwrap();
    assert_exact(&y, |[n]| {
        (n / 60 * 10000 + n / 10 % 6 * 100 + n % 10) as i32
    });
    let y = kernels::loop_parts().unwrap();
    assert_exact(&y, |[n]| (n % 3 * 10 + n / 3) as i32);
    let x = Tensor::<i32, _>::random((3, 5), -1000..1000, 2);
    assert_exact(&kernels::loop_tuple(&x).unwrap(), |i| x[i] * 2);
}

#[test]
fn slices() {
    let x = Tensor::<i32, _>::random((12,), 1..1000, 3);
    let y = kernels::loop_slices(&x).unwrap();
    assert_exact(&y, |[row, k]| {
        let visited = match row {
            0 => k >= 3,
            1 => k < 10,
            2 => (2..9).contains(&k),
            3 => k % 4 == 0,
            _ => (1..11).contains(&k) && k % 3 == 1,
        };
        if visited { x[[k]] } else { 0 }
    });
    assert_eq!(kernels::loop_slice_beyond().unwrap().as_slice(), [6, 15]);
    let y = kernels::loop_slice_names().unwrap();
    assert_exact(&y, |[r, c]| {
        if (1..5).contains(&r) && c >= 2 && c % 2 == 0 {
            (r * 10 + c) as i32
        } else {
            0
        }
    });
    for (n, skip) in [(10, 0), (10, 3), (7, 3), (6, 3)] {
        let x = Tensor::<i32, _>::random((n,), 1..1000, 4);
        let y = kernels::loop_slice_expressions(&x, skip).unwrap();
        let skip = skip as usize;
        assert_exact(&y, |[k]| {
            if k >= skip && k < n - skip {
                x[[k]] + 1
            } else {
                0
            }
        });
    }
}

#[test]
fn spans_and_several_clauses() {
    let x = Tensor::<i32, _>::random((2, 3, 4), -1000..1000, 5);
    assert_exact(&kernels::loop_span(&x).unwrap(), |i| x[i] - 1);
    assert_exact(&kernels::loop_many_in(&x).unwrap(), |i| x[i] * 3);
}

#[test]
fn run_time_bounds() {
    for n in [1, 5, 32] {
        let x = Tensor::<i32, _>::random((n, n), -1000..1000, 6);
        let y = kernels::loop_triangle(&x).unwrap();
        assert_exact(&y, |[r]| (0..=r).map(|c| x[[r, c]]).sum());
    }
    let counts = Tensor::from_vec((5,), vec![0, 9, 1, 4, 8]).unwrap();
    let x = Tensor::<i32, _>::random((5, 9), -1000..1000, 7);
    let y = kernels::loop_loaded_bound(&counts, &x).unwrap();
    assert_exact(&y, |[r]| (0..counts[[r]] as usize).map(|c| x[[r, c]]).sum());
    // A count beyond the row is detected before anything is read.
    let counts = Tensor::from_vec((5,), vec![0, 9, 10, 4, 8]).unwrap();
    assert!(kernels::loop_loaded_bound(&counts, &x).is_err());
    if croq_tests::gpu::ends_at_failure() {
        return;
    }
    for n in [0, 1, 6] {
        let y = kernels::loop_zero_trips(n).unwrap();
        assert_eq!(y.as_slice(), [5 + n * (n + 1) / 2]);
    }
}

#[test]
fn vectorized() {
    let x = Tensor::<i32, _>::random((3, 30), -1000..1000, 5);
    let y = kernels::loop_vectorized(&x).unwrap();
    assert_exact(&y, |[r, c]| x[[r, c]] + (100 * r + c) as i32);
}

#[test]
fn unrolled() {
    let x = Tensor::<i32, _>::random((32,), -1000..1000, 8);
    let y = kernels::loop_unrolled(&x).unwrap();
    assert_eq!(y.as_slice(), [2 * x.as_slice().iter().sum::<i32>()]);
}

#[test]
fn break_and_continue() {
    let x = Tensor::<i32, _>::random((6, 8), -3..20, 9);
    let y = kernels::loop_break_continue(&x).unwrap();
    assert_exact(&y, |[r]| {
        (0..8)
            .map(|c| x[[r, c]])
            .take_while(|&v| v >= 0)
            .filter(|v| v % 2 != 1)
            .sum()
    });
}

#[test]
fn while_loops() {
    let x = Tensor::<i32, _>::random((100,), 1..1000, 10);
    let y = kernels::loop_while(&x).unwrap();
    assert_exact(&y, |[p]| {
        let (mut v, mut n) = (x[[p]], 0);
        while v != 1 && n < 200 {
            v = if v % 2 == 0 { v / 2 } else { 3 * v + 1 };
            n += 1;
        }
        n
    });
}

#[test]
fn two_variables_as_one() {
    let x = Tensor::<i32, _>::random((5, 5), -1000..1000, 11);
    assert_exact(&kernels::loop_where(&x).unwrap(), |[k]| x[[k, k]]);
}

#[test]
fn remainders_of_loop_variables() {
    for (n, first) in [(0, 0), (1, 0), (2, 1), (30, 0), (64, 13), (7, 7), (9, 12)] {
        let mut y = Tensor::<i32, _>::zeros((4, Const::<4>));
        kernels::loop_rings(&mut y, n, first).unwrap();
        assert_exact(&y, |[p, part]| match part {
            0 => {
                let steps = (first..n).fold(0, |sum, k| {
                    let sum = (0..3).fold(sum, |sum, j| sum * 3 + (k + 2) % 3 + j % 7);
                    sum % 1000 + k % 5 / 2 + p as i32 % 3
                });
                steps + 5
            }
            1 => (0..n)
                .take_while(|k| k % 11 != 7 || *k <= 20)
                .map(|k| k % 11)
                .sum(),
            2 => {
                let kept = (0..n).filter(|k| k % 3 != 1);
                kept.fold(0, |left, k| left * 2 % 1000 + k % 7)
            }
            _ => (0..n).fold(0, |down, k| down * 2 % 1000 + (k - 6) % 3),
        });
    }
}

#[test]
fn fewer_iterations_than_none() {
    let x = Tensor::<i32, _>::random((24, Const::<64>), -99..99, 12);
    for (skip, iterations) in [
        (0, 3),
        (2, 1),
        (3, 0),
        (40, 0),
        ((1 << 32) - 2, 0),
        (1 << 40, 0),
    ] {
        let y = kernels::loop_skipped(&x, skip).unwrap();
        assert_exact(&y, |[t]| iterations * x[[0, t]]);
    }
}

#[test]
fn vectors_of_a_loop_that_begins_below_zero() {
    let device = Device::default();
    for first in [-1, 0, 3] {
        let x = Tensor::from_fn((2048,), |[i]| i as f32);
        let mut y = Tensor::<f32, _>::zeros((2048,)).to_device(&device).unwrap();
        let x = x.to_device(&device).unwrap();
        kernels::loop_of_vectors_from(&x, &mut y, first, 0).unwrap();
        let copied = |i: usize| i % 32 >= 4 * first.max(0) as usize;
        assert_exact(&y.to_host().unwrap(), |[i]| {
            if copied(i) { i as f32 } else { 0.0 }
        });
    }
}

#[test]
fn loops_that_a_condition_empties() {
    let x = Tensor::from_fn((Const::<8>,), |[t]| t as i32);
    for n in [-3, 0, 1, 5] {
        let y = kernels::loop_below_condition(&x, n).unwrap();
        assert_exact(&y, |[t]| t as i32 + (0..n).sum::<i32>());
    }
}
