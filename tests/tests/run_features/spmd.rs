use croq_sys::{Device, Tensor};
use croq_tests::compare::assert_exact;
use croq_tests::kernels;

#[test]
fn one_level() {
    let x = Tensor::<i32, _>::random((24,), -1000..1000, 1);
    let y = kernels::spmd_one_level(&x).unwrap();
    assert_exact(&y, |[i]| x[[i]] * 10 + i as i32 / 4);
}

#[test]
fn no_variable() {
    let device = Device::default();
    let x = Tensor::<i32, _>::random((1,), -100..100, 2);
    let mut y = Tensor::from_fn((1,), |_| i32::MIN)
        .to_device(&device)
        .unwrap();
    kernels::spmd_no_variable(&x.to_device(&device).unwrap(), &mut y).unwrap();
    assert_exact(&y.to_host().unwrap(), |i| x[i] + 5);
}

#[test]
fn two_levels_and_their_comma_form() {
    let base = Tensor::<i32, _>::random((2,), -1000..1000, 3);
    let x = Tensor::<i32, _>::random((2, 12), -1000..1000, 4);
    let nested = kernels::spmd_two_levels(&base, &x).unwrap();
    assert_exact(&nested, |[p, q]| base[[p]] + x[[p, q]]);
    let comma = kernels::spmd_comma(&base, &x).unwrap();
    assert_exact(&comma, |[p, q]| base[[p]] + x[[p, q]]);
}

#[test]
fn sub_levels() {
    let x = Tensor::<i32, _>::random((3, 2, 2, 3, 4), -1000..1000, 5);
    let y = kernels::spmd_sub_levels(&x).unwrap();
    assert_exact(&y, |[a, b, c, d, e]| {
        x[[a, b, c, d, e]] + 2 * (100 * a + 10 * b + c) as i32
    });
}

#[test]
fn two_kernels_with_host_code() {
    for n in [1, 33, 1025] {
        let x = Tensor::<i32, _>::random((n,), -1000..1000, 6);
        let y = kernels::spmd_two_kernels(&x, 7).unwrap();
        assert_exact(&y, |i| x[i] * 14 + 15);
    }
}

#[test]
fn the_first_sub_level_is_the_fastest() {
    let lane = kernels::spmd_order().unwrap();
    assert_exact(&lane, |[a, b, c]| (a + 4 * b + 12 * c) as i32);
    let place = kernels::spmd_block_order().unwrap();
    assert_exact(&place, |[a, b, c]| (a + 10 * b + 100 * c) as i32);
}

#[test]
fn symbolic_bounds() {
    for (dims, lanes) in [((1, 1, 1), 1), ((3, 2, 50), 32), ((2, 5, 77), 20)] {
        let x = Tensor::<i32, _>::random(dims, -1000..1000, 7);
        let y = kernels::spmd_symbolic_bounds(&x, lanes).unwrap();
        assert_exact(&y, |i| x[i] - 1);
    }
}

#[test]
fn a_bound_that_is_not_positive_is_an_error() {
    let x = Tensor::<i32, _>::zeros((1, 1, 4));
    for lanes in [0, -1, 1025] {
        assert!(kernels::spmd_symbolic_bounds(&x, lanes).is_err());
    }
}
