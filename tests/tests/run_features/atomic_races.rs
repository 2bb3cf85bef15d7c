//! Plain accesses beside atomic operations on the same element, in shared and in device memory: the
//! simulated GPU reports them whichever thread ran last.

use croq_sys::{Const, Device, Error, Result, Tensor};
use croq_tests::compare::assert_exact;
use croq_tests::kernels;

#[track_caller]
fn races<T: std::fmt::Debug>(result: Result<T>, buffer: &str) {
    let error = result.expect_err("is a race");
    assert!(matches!(error, Error::Hazard { .. }), "{error:?}");
    let error = error.to_string();
    assert!(
        error.contains("race in ") && error.contains(&format!("`{buffer}`[")),
        "{error}"
    );
}

fn numbers() -> Tensor<i32, (Const<64>,)> {
    Tensor::random((Const,), 0..16, 3)
}

#[test]
fn of_a_thread_that_also_adds() {
    if !Device::default().is_sim() {
        return;
    }
    let x = numbers();
    let sum: i32 = (0..64).map(|i: usize| x[[i]]).sum();
    // Some thread of these is the first to go on after a barrier, and some the last.
    for who in [0, 1, 31, 62, 63] {
        races(kernels::store_before_adding(&x, who, 0), "total");
        let y = kernels::store_before_adding(&x, who, 1).unwrap();
        assert_exact(&y, |_| 100 + sum);
        races(kernels::read_after_adding(&x, who, 0), "total");
        races(kernels::read_before_adding(&x, who, 0), "total");
        races(kernels::store_after_adding(&x, who, 0), "total");
        let y = kernels::read_after_adding(&x, who, 1).unwrap();
        assert_exact(&y, |_| sum);
        let y = kernels::read_before_adding(&x, who, 1).unwrap();
        assert_exact(&y, |[i]| [7, 7 + sum][i]);
        let y = kernels::store_after_adding(&x, who, 1).unwrap();
        assert_exact(&y, |_| 5);
    }
}

#[test]
fn after_a_store_that_changes_nothing() {
    if !Device::default().is_sim() {
        return;
    }
    races(kernels::equal_store_between(&numbers(), 0), "s");
    let y = kernels::equal_store_between(&numbers(), 1).unwrap();
    assert_exact(&y, |[i]| [0, 1][i]);
}

#[test]
fn ordered_by_an_event() {
    if !Device::default().is_sim() {
        return;
    }
    let x = numbers();
    races(kernels::turns_of_adding(&x, 0), "total");
    let y = kernels::turns_of_adding(&x, 1).unwrap();
    assert_exact(&y, |_| (0..32).map(|i: usize| x[[i]]).sum());
}

#[test]
fn of_a_block_that_clears() {
    if !Device::default().is_sim() {
        return;
    }
    for n in [65, 100, 1000] {
        let x = Tensor::<i32, _>::from_fn((n,), |[i]| (i % 3) as i32);
        let blocks = n.div_ceil(64) as i32;
        races(kernels::cleared_by_a_block(&x, blocks), "bins");
        let y = kernels::cleared_by_a_launch(&x, blocks).unwrap();
        let count = |bin| (0..n).filter(|i| i % 3 == bin).count() as i32;
        assert_exact(&y, |[i]| count(i));
    }
    // By itself the block is in order.
    let x = Tensor::<i32, _>::from_fn((64,), |[i]| (i % 3) as i32);
    let y = kernels::cleared_by_a_block(&x, 1).unwrap();
    assert_exact(&y, |[i]| [22, 21, 21].get(i).copied().unwrap_or(0));
    for who in [0, 1, 62, 63] {
        races(kernels::stored_and_added(&x, who, 0), "sum");
        let y = kernels::stored_and_added(&x, who, 1).unwrap();
        assert_exact(&y, |_| 100 + 63);
    }
}

#[test]
fn with_clocks_of_threads() {
    if !Device::default().is_sim() {
        return;
    }
    let x = numbers();
    let sum: i32 = (0..64).map(|i: usize| x[[i]]).sum();
    for who in 0..64 {
        races(kernels::stored_and_added_by_warps(&x, who, 0), "sum");
        let y = kernels::stored_and_added_by_warps(&x, who, 1).unwrap();
        assert_exact(&y, |_| 100 + sum);
        let wrong = kernels::stored_and_added_by_warps_in_a_tile(&x, who, 0);
        races(wrong, "total");
        let y = kernels::stored_and_added_by_warps_in_a_tile(&x, who, 1).unwrap();
        assert_exact(&y, |_| 100 + sum);
    }
}
