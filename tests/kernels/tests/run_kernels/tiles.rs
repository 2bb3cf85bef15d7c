use croq_kernel_tests::compare::assert_exact;
use croq_kernels as kernels;
use croq_sys::{Const, Tensor};
use half::{bf16, f16};

#[test]
fn add_tiled() {
    for (m, n) in [(1, 1), (8, 32), (16, 64), (13, 45), (9, 31)] {
        let lhs = Tensor::<i32, _>::random((m, n), -1000..1000, 1);
        let rhs = Tensor::<i32, _>::random((m, n), -1000..1000, 2);
        let sum = kernels::add_tiled(&lhs, &rhs).unwrap();
        assert_eq!(sum.shape(), [m, n]);
        assert_exact(&sum, |i| lhs[i] + rhs[i]);
    }
}

#[test]
fn scale_tiled_is_ragged_everywhere() {
    for (a, b, c) in [(1, 1, 1), (2, 4, 32), (3, 5, 33), (5, 7, 70)] {
        let x = Tensor::<f32, _>::random((a, b, c), -1.0..1.0, 3);
        let gain = Tensor::<f32, _>::random((c,), -1.0..1.0, 4);
        let y = kernels::scale_tiled(&x, &gain).unwrap();
        assert_exact(&y, |[i, j, k]| x[[i, j, k]] * gain[[k]]);
    }
}

#[test]
fn transpose() {
    for (m, n) in [(1, 1), (32, 32), (64, 96), (33, 70), (5, 100)] {
        let src = Tensor::<f32, _>::random((m, n), -1.0..1.0, 5);
        for dst in [kernels::transpose(&src), kernels::transpose_swizzled(&src)] {
            let dst = dst.unwrap();
            assert_eq!(dst.shape(), [n, m]);
            assert_exact(&dst, |[i, j]| src[[j, i]]);
        }
    }
}

#[test]
fn transpose_batch() {
    for (b, m, n) in [(1, 1, 1), (2, 32, 64), (3, 33, 40), (1, 100, 5)] {
        let src = Tensor::<f16, _>::random((b, m, n), -1.0..1.0, 6);
        let dst = kernels::transpose_batch(&src).unwrap();
        assert_eq!(dst.shape(), [b, n, m]);
        assert_exact(&dst, |[k, i, j]| src[[k, j, i]]);
    }
}

#[test]
fn split_heads() {
    for (b, s, h) in [(1, 16, 2), (2, 37, 4), (3, 5, 1)] {
        let x = Tensor::<bf16, _>::random((b, s, h, Const::<64>), -1.0..1.0, 7);
        let y = kernels::split_heads(&x).unwrap();
        assert_eq!(y.shape(), [b, h, s, 64]);
        assert_exact(&y, |[n, head, position, k]| x[[n, position, head, k]]);
    }
}

#[test]
fn transposes_by_copies() {
    for (m, n) in [(32, 32), (64, 96), (1, 1), (33, 70), (40, 8)] {
        let values = Tensor::<i32, _>::random((m, n), -2000..2000, 6);
        let halves = values.as_slice().iter().map(|v| f16::from_f32(*v as f32));
        let src = Tensor::from_vec((m, n), halves.collect()).unwrap();
        let dst = kernels::transpose_by_copy(&src).unwrap();
        assert_exact(&dst, |[i, j]| src[[j, i]]);
        let src = Tensor::<f32, _>::random((3, m, n), -1.0..1.0, 7);
        let dst = kernels::last_axis_first(&src).unwrap();
        assert_exact(&dst, |[j, b, i]| src[[b, i, j]]);
    }
}
