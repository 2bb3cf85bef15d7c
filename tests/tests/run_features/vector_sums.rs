//! Sums of neighbouring elements: the same results for any number of elements and any alignment, and the
//! same reports.

use croq_sys::half::f16;
use croq_sys::{Const, Device, Element, Tensor};
use croq_tests::compare::assert_exact;
use croq_tests::kernels;

const WIDTHS: [usize; 14] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 64, 127, 128, 132, 530];

/// Small numbers, whose sums are exact in every type.
fn small(at: [usize; 2]) -> i32 {
    (at[0] * 7 + at[1] * 5) as i32 % 9 - 4
}

fn columns<T: Element + PartialEq>(
    of: fn(i32) -> T,
    kernel: impl Fn(&Tensor<T, (usize, usize)>, &mut Tensor<T, (usize,)>) -> croq_sys::Result<()>,
) {
    for n in WIDTHS {
        for m in [1, 5] {
            let x = Tensor::from_fn((m, n), |at| of(small(at)));
            let mut y = Tensor::from_fn((n,), |[j]| of(j as i32 % 3));
            kernel(&x, &mut y).unwrap();
            assert_exact(&y, |[j]| {
                of(j as i32 % 3 + (0..m).map(|i| small([i, j])).sum::<i32>())
            });
        }
    }
}

#[test]
fn sums_of_columns() {
    let single: fn(i32) -> f32 = |v| v as f32;
    columns(single, kernels::sums_of_columns::<2, _, _, _, _>);
    columns(single, kernels::sums_of_columns::<4, _, _, _, _>);
    columns(single, kernels::sums_of_columns::<16, _, _, _, _>);
    let half: fn(i32) -> f16 = |v| f16::from_f32(v as f32);
    columns(half, kernels::sums_of_columns::<2, _, _, _, _>);
    columns(half, kernels::sums_of_columns::<4, _, _, _, _>);
    columns(half, kernels::sums_of_columns::<8, _, _, _, _>);
}

#[test]
fn rows_that_data_select() {
    for n in WIDTHS {
        let to = [2, 0, 2, 1];
        let x = Tensor::from_fn((4, n), |at| small(at) as f32);
        let rows = Tensor::from_vec((4,), to.to_vec()).unwrap();
        let mut y = Tensor::<f32, _>::zeros((3, n));
        kernels::sums_of_selected_rows(&x, &rows, &mut y).unwrap();
        assert_exact(&y, |[i, j]| {
            let of = (0..4).filter(|r| to[*r] as usize == i);
            2.0 * of.map(|r| small([r, j])).sum::<i32>() as f32
        });
    }
}

fn a_row_outside(n: usize) {
    let x = Tensor::<f32, _>::zeros((2, n));
    let rows = Tensor::from_vec((2,), vec![0, 3]).unwrap();
    let mut y = Tensor::<f32, _>::zeros((3, n));
    let error = kernels::sums_of_selected_rows(&x, &rows, &mut y).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains('3') && text.contains("vector_sums.co:"),
        "{text}"
    );
}

/// One call in each test: a check that fails makes a GPU unusable for its process.
#[test]
fn a_row_outside_by_vectors() {
    a_row_outside(8);
}

#[test]
fn a_row_outside_by_elements() {
    a_row_outside(7);
}

#[test]
fn sums_from_anywhere() {
    for n in WIDTHS {
        for first in [-130, -5, -4, -1, 0, 1, 2, 3, 4, 6, 129] {
            let y0 = Tensor::from_fn((n,), |[i]| small([i, 1]) as f32);
            let mut y = Tensor::<f32, _>::zeros((n,));
            kernels::sums_from_anywhere(&y0, first, &mut y).unwrap();
            let all = n.div_ceil(128) as i32 * 128;
            assert_exact(&y, |[i]| {
                let is_inside = (first..first + all).contains(&(i as i32));
                if is_inside {
                    small([i, 1]) as f32 + 1.0
                } else {
                    0.0
                }
            });
        }
    }
}

#[test]
fn sums_of_two_types() {
    for n in WIDTHS {
        let x = Tensor::from_fn((3, n), |at| small(at) as f32);
        let scale = Tensor::from_fn((3,), |[i]| i as f32 + 1.0);
        let mut y = Tensor::from_fn((3, n), |[_, j]| j as f32);
        let mut z = Tensor::from_fn((3, n), |_| f16::from_f32(2.0));
        kernels::sums_of_two_types(&x, &scale, &mut y, &mut z).unwrap();
        let v = |at: [usize; 2]| small(at) as f32 * (at[0] as f32 + 1.0);
        assert_exact(&y, |at| at[1] as f32 + v(at));
        assert_exact(&z, |at| f16::from_f32(v(at) + 3.0));
    }
}

#[test]
fn unwritten_elements_are_not_added() {
    let sums = |n: usize| {
        let x = Tensor::from_fn((n,), |[i]| i as f32);
        let mut y = Tensor::from_fn((Const::<128>,), |_| 1.0_f32);
        kernels::sums_of_unwritten(&x, &mut y).map(|()| y)
    };
    assert_exact(&sums(128).unwrap(), |[i]| i as f32 + 1.0);
    if Device::default().is_sim() {
        let text = sums(126).unwrap_err().to_string();
        assert!(text.contains("goes to an atomic operation"), "{text}");
        assert!(text.contains("`s`[126]"), "{text}");
    }
}
