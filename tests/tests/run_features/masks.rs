//! Masks of scores: the same results, whether a tile has elements to mask or not.

use croq_sys::half::f16;
use croq_sys::{Result, Tensor};
use croq_tests::compare::assert_exact;
use croq_tests::kernels;

type Matrix<T> = Tensor<T, (usize, usize)>;

/// Small numbers, whose products and sums are exact.
fn small(at: [usize; 2], times: usize) -> f32 {
    ((at[0] * times + at[1] * 5) % 7) as f32 - 3.0
}

fn operand(rows: usize, columns: usize, times: usize) -> Matrix<f16> {
    Tensor::from_fn((rows, columns), |at| f16::from_f32(small(at, times)))
}

fn scores(m: usize, n: usize, depth: usize) -> Matrix<f32> {
    Tensor::from_fn((m, n), |[i, j]| {
        let products = (0..depth).map(|d| small([i, d], 3) * small([j, d], 4));
        products.sum()
    })
}

/// One tile, one with an edge, fewer queries than keys and more.
const SIZES: [[usize; 2]; 6] = [
    [64, 64],
    [1, 1],
    [65, 130],
    [190, 70],
    [200, 200],
    [128, 257],
];
const WIDTHS: [i32; 6] = [0, 1, 40, 64, 130, -70];

/// `hidden(i, j, w, columns)`
fn check(
    kernel: impl Fn(&Matrix<f16>, &Matrix<f16>, &mut Matrix<f32>, i32) -> Result<()>,
    result: fn(f32, bool) -> f32,
    hidden: fn(i64, i64, i64, i64) -> bool,
) {
    for [m, n] in SIZES {
        let (q, k) = (operand(m, 32, 3), operand(n, 32, 4));
        let scores = scores(m, n, 32);
        for w in WIDTHS {
            let mut o = Tensor::from_fn((m, n), |_| f32::NAN);
            kernel(&q, &k, &mut o, w).unwrap();
            assert_exact(&o, |[i, j]| {
                let hidden = hidden(i as i64, j as i64, i64::from(w), n as i64);
                result(scores[[i, j]], hidden)
            });
        }
    }
}

fn masked(score: f32, hidden: bool) -> f32 {
    if hidden { -1000.0 } else { score }
}

#[test]
fn nothing_is_hidden() {
    check(
        kernels::masked_scores::<0, _, _, _, _, _, _>,
        masked,
        |_, _, _, _| false,
    );
}

#[test]
fn later_keys() {
    check(
        kernels::masked_scores::<1, _, _, _, _, _, _>,
        masked,
        |i, j, _, _| j > i,
    );
    check(
        kernels::masked_scores::<2, _, _, _, _, _, _>,
        masked,
        |i, j, _, _| j > i,
    );
    check(
        kernels::masked_scores::<3, _, _, _, _, _, _>,
        masked,
        |i, j, _, _| j > i,
    );
}

#[test]
fn keys_outside_of_a_band() {
    let hidden = |i, j, w, _| j > i || j + w < i;
    check(
        kernels::masked_scores::<4, _, _, _, _, _, _>,
        masked,
        hidden,
    );
    check(
        kernels::masked_scores::<5, _, _, _, _, _, _>,
        masked,
        hidden,
    );
}

#[test]
fn some_columns() {
    check(
        kernels::masked_scores::<6, _, _, _, _, _, _>,
        masked,
        |_, j, w, _| (w..w + 5).contains(&j),
    );
    check(
        kernels::masked_scores::<7, _, _, _, _, _, _>,
        masked,
        |_, j, w, _| j == w,
    );
    check(
        kernels::masked_scores::<8, _, _, _, _, _, _>,
        masked,
        |_, j, _, n| j >= n - 70,
    );
}

#[test]
fn statements_around_a_mask_are_executed() {
    let result = |score: f32, hidden| masked(2.0 * score, hidden) + 1.0;
    check(
        kernels::masked_scores::<9, _, _, _, _, _, _>,
        result,
        |i, j, _, _| j > i,
    );
}

#[test]
fn a_mask_beside_a_product() {
    for [m, n] in SIZES {
        let (q, k) = (operand(m, 64, 3), operand(n, 64, 4));
        let scores = scores(m, n, 64);
        for w in WIDTHS.into_iter().filter(|w| *w >= 0) {
            let mut o = Tensor::from_fn((m, 64), |_| f32::NAN);
            kernels::banded_sums(&q, &k, &mut o, w).unwrap();
            assert_exact(&o, |[i, c]| {
                let first = i.saturating_sub(w as usize);
                let keys = first..(i + 1).min(n);
                keys.map(|j| scores[[i, j]] * small([j, c], 4)).sum()
            });
        }
    }
}
