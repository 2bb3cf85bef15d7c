use croq_sys::{Const, Tensor};
use croq_tests::compare::assert_exact;
use croq_tests::kernels;

#[test]
fn one_after_the_other() {
    let x = Tensor::<i32, _>::random((Const::<3>, Const::<20000>), -1000..1000, 1);
    let y = kernels::memory_in_turns(&x).unwrap();
    assert_exact(&y, |[i, j]| x[[i, 19999 - j]] + i as i32 + 1);
    let x = Tensor::<i32, _>::random((Const::<2>, Const::<256>), -1000..1000, 2);
    let y = kernels::memory_at_a_price(&x).unwrap();
    assert_exact(&y, |[i, j]| x[[i, 255 - j]]);
}

#[test]
fn in_each_turn_of_a_loop() {
    for n in [1, 2, 7] {
        let x = Tensor::<i32, _>::random((n, Const::<64>), -1000..1000, 3);
        let w = Tensor::<i32, _>::random((n, Const::<64>), -1000..1000, 4);
        let y = kernels::memory_in_a_loop(&x, &w).unwrap();
        // Both tensors are reversed twice, or once in each direction.
        assert_exact(&y, |[j]| (0..n).map(|k| 2 * x[[k, j]] + w[[k, j]]).sum());
    }
}

#[test]
fn on_either_way_of_a_branch() {
    let x = Tensor::<i32, _>::random((Const::<64>,), -1000..1000, 5);
    let y = kernels::memory_of_a_branch(&x, 1).unwrap();
    assert_exact(&y, |[j]| x[[63 - j]]);
    let y = kernels::memory_of_a_branch(&x, 0).unwrap();
    assert_exact(&y, |[j]| x[[j]] - 1);
}

#[test]
fn of_sizes_that_the_launch_knows() {
    for shape in [(1, 1), (3, 32), (5, 77), (2, 300)] {
        let x = Tensor::<i32, _>::random(shape, -1000..1000, 6);
        let y = kernels::memory_sized_at_launch(&x).unwrap();
        assert_exact(&y, |[i, j]| 2 * x[[i, shape.1 - 1 - j]] + 1);
    }
}
