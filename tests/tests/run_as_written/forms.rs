//! Forms of expressions and copies (`forms.co`).

use croq_sys::half::f16;
use croq_sys::{Const, Tensor};
use croq_tests::compare::assert_exact;
use croq_tests::kernels;

#[test]
fn every_operator_has_an_assignment() {
    for n in [1usize, 32, 45] {
        let x = Tensor::<u32, _>::random((n,), 0..u32::MAX, 1);
        let last = Tensor::<u32, _>::random((n,), 0..16, 2);
        let y = kernels::formed_words(&x, &last).unwrap();
        assert_exact(&y, |[i]| {
            let turned = (0..8).fold(0, |out, k| out << 4 | x[[i]] >> (4 * k) & 15);
            (turned ^ 0xff) & 0x0fff_ffff | last[[i]] << 28
        });
    }
}

#[test]
fn shapes_follow_from_others() {
    for (m, n) in [(16usize, 8usize), (20, 30), (1, 1)] {
        let x = Tensor::<f32, _>::random((n, m), -1.0..1.0, 3);
        let y = kernels::formed_shapes(&x).unwrap();
        assert_exact(&y, |[i, j]| x[[j, i]]);
    }
}

#[test]
fn configurations_follow_async() {
    let x = Tensor::<f32, _>::random((Const::<32>, Const::<40>), -1.0..1.0, 4);
    let y = kernels::formed_async(&x).unwrap();
    assert_exact(&y, |[i, j]| match (i, j) {
        (0..32, _) => x[[i, j]],
        (_, 0..16) => x[[(i - 32) / 8 * 16 + i % 8, 16 + j]],
        _ => 0.5,
    });
}

#[test]
fn assignments_of_a_generator() {
    let limit = 1 << 22; // a quarter
    for n in [1usize, 32, 77, 500] {
        let x = Tensor::<f32, _>::random((n,), 1.0..2.0, 5);
        let (y, kept) = kernels::formed_dropout(&x, 12345, limit, 2.0).unwrap();
        let stays = |i: usize| {
            let first = 12345 ^ (i as u32).wrapping_mul(2654435769);
            let state = (0..3).fold(first, |mut state, _| {
                state ^= state << 13;
                state ^= state >> 17;
                state ^ state << 5
            });
            state & 0x00ff_ffff >= limit
        };
        assert_exact(&y, |[i]| if stays(i) { 2.0 * x[[i]] } else { 0.0 });
        assert_eq!(kept.shape(), [n.div_ceil(32)]);
        assert_exact(&kept, |[b]| {
            let lanes = (0..32).filter(|t| 32 * b + t < n && stays(32 * b + t));
            lanes.map(|t| 1 << t).sum()
        });
    }
}

#[test]
fn shapes_of_four_axes_follow_from_others() {
    for (b, s, h, d) in [
        (1usize, 8usize, 2usize, 32usize),
        (2, 11, 3, 40),
        (3, 1, 1, 5),
    ] {
        let n = Tensor::<i32, _>::random((b, s, h, d), -99..100, 6);
        let x = Tensor::<f16, _>::from_fn((b, s, h, d), |at| f16::from_f32(n[at] as f32));
        let y = kernels::formed_heads(&x).unwrap();
        assert_eq!(y.shape(), [b, h, s, d]);
        assert_exact(&y, |[b, h, s, d]| x[[b, s, h, d]]);
    }
}

#[test]
fn turned_and_framed_tiles_of_a_ragged_matrix() {
    for (c, n) in [(16usize, 32usize), (20, 50), (1, 1), (33, 64)] {
        let n_of = Tensor::<i32, _>::random((c, n), -9..10, 7);
        let x = Tensor::<f32, _>::from_fn((c, n), |at| n_of[at] as f32);
        let y = kernels::formed_stencil(&x).unwrap();
        // Outside of a tile and of the matrix all elements are zero.
        assert_exact(&y, |[j, c]| {
            let left = if j % 32 == 0 { 0.0 } else { x[[c, j - 1]] };
            let right = if j % 32 == 31 || j + 1 == n {
                0.0
            } else {
                x[[c, j + 1]]
            };
            x[[c, j]] - 0.5 * left - 0.5 * right
        });
    }
}
