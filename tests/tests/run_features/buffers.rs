use croq_sys::Tensor;
use croq_tests::compare::assert_exact;
use croq_tests::kernels;

#[test]
fn initialised() {
    let x = Tensor::<i32, _>::random((64,), -1000..1000, 1);
    let y = kernels::buffer_shared_initialised(&x).unwrap();
    assert_exact(&y, |[t]| if (63 - t) % 2 == 0 { x[[63 - t]] } else { 9 });
    let x = Tensor::<i32, _>::random((8,), -1000..1000, 2);
    let y = kernels::buffer_local_initialised(&x).unwrap();
    assert_exact(&y, |[t, k]| if k == 1 { x[[t]] + 2 } else { 2 });
    let x = Tensor::<i32, _>::random((4, 8), -1000..1000, 3);
    let y = kernels::buffer_initialised_in_loop(&x).unwrap();
    assert_exact(&y, |[k, t]| x[[k, 7 - t]] + 1);
}

#[test]
fn default_buffers() {
    let x = Tensor::<i32, _>::random((100,), -1000..1000, 4);
    let y = kernels::buffer_default_initialised(&x).unwrap();
    assert_exact(&y, |i| x[i].max(0) - 4);
    let y = kernels::buffer_default_zero(&x).unwrap();
    assert_exact(&y, |[i]| if i % 2 == 0 { x[[i]] } else { 0 });
    let x = Tensor::<f32, _>::random((100,), -1.0..1.0, 5);
    assert_exact(&kernels::buffer_default_f32(&x).unwrap(), |i| x[i] * 1.5);
}

#[test]
fn arrays() {
    let x = Tensor::<i32, _>::random((6, 16), -1000..1000, 6);
    assert_exact(&kernels::buffer_arrays(&x).unwrap(), |[k, t]| {
        x[[k, 15 - t]]
    });
    let x = Tensor::<i32, _>::random((4, 8), -1000..1000, 7);
    assert_exact(&kernels::buffer_local_array(&x).unwrap(), |[t, k]| {
        x[[t, (k + 4) % 8]]
    });
}

#[test]
fn sized_at_the_call() {
    for (m, n, extra) in [(1, 1, 0), (3, 32, 5), (2, 77, 1)] {
        let x = Tensor::<i32, _>::random((m, n), -1000..1000, 8);
        let y = kernels::buffer_dynamic(&x, extra).unwrap();
        assert_exact(&y, |[r, k]| x[[r, n - 1 - k]] + 2 * x[[r, k]]);
    }
}

#[test]
fn a_word_per_block() {
    let x = Tensor::<i32, _>::random((4, 32), -1000..1000, 9);
    let y = kernels::buffer_shared_scalar(&x).unwrap();
    assert_exact(&y, |[b, t]| x[[b, t]] - x[[b, 5]]);
}

#[test]
fn large_and_reused() {
    let x = Tensor::<i32, _>::random((16384,), -1000..1000, 10);
    let y = kernels::buffer_large_shared(&x).unwrap();
    assert_exact(&y, |[i]| x[[16383 - i]]);
    let x = Tensor::<i32, _>::random((32,), -1000..1000, 11);
    let y = kernels::buffer_reuse(&x).unwrap();
    assert_exact(&y, |[t]| x[[31 - t]] + 100 * x[[(t + 1) % 32]]);
}
