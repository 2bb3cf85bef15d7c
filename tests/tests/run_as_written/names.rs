//! Functions that files do not declare: `intrinsics.co`, `namespaces.co`.

use croq_sys::Tensor;
use croq_tests::compare::assert_exact;
use croq_tests::kernels;

#[test]
fn names_of_a_pragma() {
    for n in [1usize, 77] {
        let x =
            Tensor::<u32, _>::from_fn((n,), |[i]| (i as u32).wrapping_mul(0x9e37_79b9) << (i % 30));
        let y = kernels::registered_names(&x).unwrap();
        assert_exact(&y, |i| x[i].reverse_bits().wrapping_add(x[i].count_ones()));
        let y = kernels::registered_in_function(&x).unwrap();
        assert_exact(&y, |i| {
            let first = if x[i] == 0 {
                0
            } else {
                x[i].trailing_zeros() + 1
            };
            (x[i].leading_zeros() + 100) * 100 + first
        });
    }
}

#[test]
fn functions_of_a_namespace() {
    for n in [1usize, 50] {
        let x = Tensor::<i32, _>::random((n,), -99..99, 1);
        assert_exact(&kernels::plain_names(&x).unwrap(), |i| 2 * x[i].abs());
        let y = kernels::qualified_names(&x).unwrap();
        assert_exact(&y, |i| x[i].abs() + 100);
    }
}
