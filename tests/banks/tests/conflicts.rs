//! No access of shared memory in `kernels/co` waits for another of its warp in a bank, but for those
//! that are named here.

use croq_banks::kernels;
use croq_sys::half::{bf16, f16};
use croq_sys::sim::banks::{Request, requests};
use croq_sys::{Const, Tensor};

fn floats(m: usize, n: usize) -> Tensor<f32, (usize, usize)> {
    Tensor::random((m, n), -1.0..1.0, 1)
}

fn integers(m: usize, n: usize) -> Tensor<i32, (usize, usize)> {
    Tensor::random((m, n), -99..99, 2)
}

fn halves(m: usize, n: usize) -> Tensor<f16, (usize, usize)> {
    let values = floats(m, n)
        .as_slice()
        .iter()
        .map(|v| f16::from_f32(*v))
        .collect();
    Tensor::from_vec((m, n), values).unwrap()
}

fn of<R, E: std::fmt::Debug>(call: impl FnOnce() -> Result<R, E>) -> Vec<Request> {
    let (result, all) = requests(call);
    result.unwrap();
    assert!(!all.is_empty(), "this kernel uses no shared memory");
    all
}

/// Every request takes as few wavefronts as there can be, `times` that where the buffer is named.
fn assert_times(all: &[Request], named: &[(&str, u32)]) {
    for request in all {
        let times = named
            .iter()
            .find(|(name, _)| *name == request.name && request.bytes < 16);
        let times = times.map_or(1, |(_, times)| *times);
        assert_eq!(request.wavefronts, request.least * times, "{request:?}");
    }
}

fn assert_free(all: &[Request]) {
    assert_times(all, &[]);
}

#[test]
fn transposes() {
    let x = floats(64, 96);
    assert_free(&of(|| kernels::transpose(&x)));
    let all = of(|| kernels::transpose_swizzled(&x));
    assert_free(&all);
    assert!(all.iter().any(|r| r.bytes == 16), "rows arrive in vectors");
}

/// The compiler sets the rows of tiles apart that a copy turns.
#[test]
fn transposes_by_copies() {
    assert_free(&of(|| kernels::transpose_by_copy(&halves(64, 128))));
    let x = Tensor::<f32, _>::random((2, 32, 64), -1.0..1.0, 10);
    assert_free(&of(|| kernels::last_axis_first(&x)));
    // Two rows of 16 words to a warp, 17 words apart: the last word meets the first.
    let x = Tensor::<f16, _>::random((2, 32, 64), -1.0..1.0, 11);
    let all = of(|| kernels::transpose_batch(&x));
    assert!(all.iter().all(|r| r.wavefronts <= 2), "{all:?}");
    let x = Tensor::<bf16, _>::random((2, 16, 4, Const::<64>), -1.0..1.0, 12);
    assert_free(&of(|| kernels::split_heads(&x)));
}

#[test]
fn tiles() {
    let (x, y) = (integers(16, 64), integers(16, 64));
    assert_free(&of(|| kernels::add_tiled(&x, &y)));
    let x = Tensor::<f32, _>::random((4, 8, 64), -1.0..1.0, 3);
    let gain = Tensor::<f32, _>::random((64,), -1.0..1.0, 4);
    assert_free(&of(|| kernels::scale_tiled(&x, &gain)));
}

#[test]
fn reductions() {
    assert_free(&of(|| {
        kernels::row_reduce::<false, _, _, _>(&floats(4, 512))
    }));
    assert_free(&of(|| {
        kernels::row_reduce::<true, _, _, _>(&floats(4, 512))
    }));
    assert_free(&of(|| kernels::softmax(&floats(4, 512))));
    assert_free(&of(|| kernels::column_sum_streamed(&floats(64, 64))));
    let line = Tensor::<f32, _>::random((512,), -1.0..1.0, 13);
    assert_free(&of(|| {
        kernels::layer_norm(&floats(4, 512), &line, &line, 0.1)
    }));
    let x = Tensor::<i32, _>::random((2048,), -9..9, 5);
    assert_free(&of(|| kernels::prefix_sum(&x)));
}

#[test]
fn windows() {
    let weights = Tensor::<f32, _>::random((Const::<3>, Const::<3>), -1.0..1.0, 6);
    assert_free(&of(|| kernels::conv3x3(&floats(32, 32), &weights)));
    assert_free(&of(|| kernels::box_blur(&floats(64, 64))));
}

#[test]
fn products() {
    // Four rows of 16 words to a warp. As nvcc has it they are read in pairs along the row, two rows at a
    // time, and those don't meet.
    let x = floats(32, 32);
    assert_times(&of(|| kernels::matmul_f32(&x, &x)), &[("a", 2)]);
    let x = halves(64, 32);
    let y = halves(32, 64);
    assert_free(&of(|| kernels::matmul_pipelined(&x, &y)));
    // ldmatrix takes eight rows at once, which the swizzle has sent to different banks.
    let bias = Tensor::<f32, _>::random((64,), -1.0..1.0, 14);
    let x = halves(128, 96);
    let all = of(|| kernels::linear_relu(&x, &halves(64, 96), &bias));
    assert_free(&all);
    // The swizzled tiles are read eight rows at a time; the sums leave for four rows of 64 words, once.
    let named = [("product", 4)];
    let x = halves(64, 64);
    assert_times(&of(|| kernels::matmul_tma(&x, &x)), &named);
    let x = Tensor::<i32, _>::random((Const::<64>, Const::<96>), -9..9, 7);
    let y = Tensor::<i32, _>::random((Const::<96>, Const::<128>), -9..9, 8);
    assert_free(&of(|| kernels::matmul_s32(&x, &y)));
    let x = Tensor::<i8, _>::random((32, 32), -9..9, 9);
    assert_free(&of(|| kernels::matmul_s8(&x, &x)));
}
