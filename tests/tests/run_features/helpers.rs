use croq_sys::{Const, Tensor};
use croq_tests::compare::assert_exact;
use croq_tests::kernels;

#[test]
fn rows() {
    for (m, n) in [(1, 1), (3, 31), (2, 128), (4, 300)] {
        let x = Tensor::<i32, _>::random((m, n), -100..100, 1);
        let whole = x.as_slice().iter().map(|v| *v as f32).collect();
        let whole = Tensor::from_vec((m, n), whole).unwrap();
        let y = kernels::helpers_rows(&whole).unwrap();
        assert_exact(&y, |[i, j]| (x[[i, n - 1 - j]] * 2 + 1) as f32);
    }
}

#[test]
fn tiles() {
    for shape in [(1, 1), (5, 7), (6, 8), (23, 40)] {
        let a = Tensor::<i32, _>::random(shape, -1000..1000, 2);
        let b = Tensor::<i32, _>::random(shape, -1000..1000, 3);
        assert_exact(&kernels::helpers_tiles(&a, &b).unwrap(), |i| a[i] + b[i]);
    }
}

#[test]
fn products() {
    for (m, k) in [(1, 1), (6, 5), (13, 9)] {
        let a = Tensor::<i32, _>::random((m, k), -50..50, 4);
        let b = Tensor::<i32, _>::random((k, Const::<24>), -50..50, 5);
        let y = kernels::helpers_product(&a, &b).unwrap();
        assert_exact(&y, |[i, j]| (0..k).map(|k| a[[i, k]] * b[[k, j]]).sum());
    }
}

#[test]
fn one_after_the_other() {
    let x = Tensor::<i32, _>::random((3, Const::<40>), -50..50, 6);
    let y = kernels::helpers_running_sums(&x).unwrap();
    assert_exact(&y, |[i, j]| (0..=j).map(|k| x[[i, k]]).sum());
    for (m, n) in [(1, 3), (4, 200)] {
        let x = Tensor::<i32, _>::random((m, n), -50..50, 7);
        let y = kernels::helpers_total(&x).unwrap();
        assert_exact(&y, |[i]| 2 * (0..n).map(|k| x[[i, k]]).sum::<i32>());
    }
}

#[test]
fn loops_without_turns() {
    for n in [1, 2, 5, 6, 7, 20] {
        let x = Tensor::<i32, _>::random((n, n), 1..1000, 8);
        let y = kernels::helpers_inner(&x).unwrap();
        let inner = |i: usize| i >= 3 && i + 3 < n;
        assert_exact(
            &y,
            |[i, j]| if inner(i) && inner(j) { x[[i, j]] } else { 0 },
        );
    }
}
