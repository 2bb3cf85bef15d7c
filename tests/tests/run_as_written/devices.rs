//! `: device` levels (`devices.co`).

use croq_sys::{Const, Tensor};
use croq_tests::compare::assert_exact;
use croq_tests::kernels;

#[test]
fn instances_of_a_device_level_follow_each_other() {
    let x = Tensor::<i32, _>::random((Const::<4>, Const::<64>), -999..999, 1);
    assert_exact(&kernels::written_parts(&x).unwrap(), |[d, i]| {
        x[[d, i]] * (d as i32 + 1)
    });
    for (n, rounds) in [(1, 1), (100, 3)] {
        let before = Tensor::<i32, _>::random((n,), -99..99, 2);
        let mut x = before.clone();
        kernels::written_rounds(&mut x, rounds).unwrap();
        assert_exact(&x, |i| {
            (0..2 * rounds).fold(before[i], |value, round| value * 3 + round)
        });
    }
    let x = Tensor::<i32, _>::random((33,), -99..99, 3);
    assert_exact(&kernels::written_device(&x).unwrap(), |i| (x[i] + 1) * 2);
}
