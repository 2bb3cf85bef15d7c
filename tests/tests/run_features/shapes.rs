use croq_sys::{Const, Tensor};
use croq_tests::compare::assert_exact;
use croq_tests::kernels;

#[test]
fn values() {
    let x = Tensor::<i32, _>::zeros((Const::<6>, Const::<8>, Const::<10>));
    let y = kernels::shape_values(&x).unwrap();
    let expected = [
        10, 480, 480, 12, 16, 144, 16, 8, 3, 7, 9, 5, 4, 9, 5, 223, 221, 234, 16, 8, 2, 8, 184, 86,
    ];
    assert_eq!(y.as_slice(), expected);
}

#[test]
fn buffers() {
    for (m, n) in [(1, 1), (4, 6), (9, 35)] {
        let x = Tensor::<i32, _>::random((m, n), -1000..1000, 1);
        assert_exact(&kernels::shape_buffers(&x).unwrap(), |i| x[i] * 4);
    }
}

#[test]
fn bounds() {
    for (m, n) in [(1, 1), (4, 6), (9, 35)] {
        let x = Tensor::<i32, _>::random((m, n), -1000..1000, 2);
        assert_exact(&kernels::shape_bounds(&x).unwrap(), |i| (x[i] + 1) * 2);
    }
}

#[test]
fn tuples_as_indices() {
    let x = Tensor::<i32, _>::random((3, 4, 5), 0..1000, 3);
    let y = kernels::shape_tuple_index(&x).unwrap();
    assert_exact(&y, |i| if i == [1, 2, 3] { -1 } else { x[i] });
}

#[test]
fn arithmetic() {
    for (n, pad) in [(1, 0), (10, 3), (33, 100)] {
        let x = Tensor::<i32, _>::random((n,), 1..1000, 4);
        let y = kernels::shape_arithmetic(&x, pad).unwrap();
        let pad = pad as usize;
        assert_eq!(y.shape(), [n + 2 * pad]);
        assert_exact(&y, |[i]| {
            if i >= pad && i < pad + n {
                x[[i - pad]]
            } else {
                0
            }
        });
    }
}
