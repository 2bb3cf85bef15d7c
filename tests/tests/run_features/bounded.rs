use croq_sys::Tensor;
use croq_tests::compare::assert_exact;
use croq_tests::kernels;

#[test]
fn values() {
    let y = kernels::bounded_values().unwrap();
    // p = 2 of 3, q = 1 of 4, r = 4 of 5.
    let expected = [9, 5, 49, 345, 12, 49, 11, 5, 2, 0, 2, 3, 3, 10, 18, 1];
    assert_eq!(y.as_slice(), expected);
}

#[test]
fn tuples() {
    let x = Tensor::<i32, _>::random((6, 10), -1000..1000, 1);
    let y = kernels::bounded_tuple(&x).unwrap();
    assert_exact(&y, |i| x[i] + 1 + 5000 + 300 + 50 + 2);
}

#[test]
fn symbolic() {
    for (m, n) in [(1, 1), (3, 16), (4, 21)] {
        let x = Tensor::<i32, _>::random((m, n), -1000..1000, 2);
        assert_exact(&kernels::bounded_symbolic(&x).unwrap(), |i| x[i] * 3);
    }
}

#[test]
fn run_time_extents() {
    let x = Tensor::<i32, _>::random((40,), 1..1000, 3);
    assert_exact(&kernels::bounded_runtime_extent(&x).unwrap(), |i| x[i]);
}
