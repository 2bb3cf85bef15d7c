//! Forms of expressions and copies (`forms.co`).

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
