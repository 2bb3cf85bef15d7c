use croq_sys::{Const, Error, Tensor};
use croq_tests::compare::assert_exact;
use croq_tests::kernels;

#[test]
fn every_block_has_its_place() {
    for m in [4, 8, 20] {
        let x = Tensor::<i32, _>::random((m, Const::<32>), -9..9, 1);
        let y = kernels::cluster_places(&x).unwrap();
        assert_exact(&y, |[p, i]| x[[p, i]] * 100 + p as i32 % 4 * 11);
    }
    for (a, b, c) in [(2, 1, 3), (4, 5, 6)] {
        let x = Tensor::<i32, _>::random((a, b, c, Const::<8>), -9..9, 2);
        let y = kernels::cluster_sub_levels(&x).unwrap();
        assert_exact(&y, |i| {
            x[i] * 1000 + (i[0] % 2) as i32 * 100 + (i[2] % 3) as i32
        });
    }
}

#[test]
fn grids_are_made_of_whole_clusters() {
    let x = Tensor::<i32, _>::random((6, Const::<32>), -9..9, 1);
    let error = kernels::cluster_places(&x).unwrap_err();
    let Error::Check { code, message, .. } = &error else {
        panic!("{error}");
    };
    assert_eq!(*code, "R05");
    assert!(message.contains("multiple of the cluster's 4"), "{message}");
}

#[test]
fn its_barrier_is_of_all_its_blocks() {
    for (m, turns) in [(4, 1), (8, 3), (40, 2)] {
        let x = Tensor::<i32, _>::random((m, Const::<64>), -99..99, 3);
        let y = kernels::cluster_totals(&x, turns).unwrap();
        let row = |p: usize| (0..64).map(|k| x[[p, k]]).sum::<i32>();
        assert_exact(&y, |[p]| {
            (0..turns).fold(0, |total, turn| {
                (0..4).fold(total, |total, r| total * 3 + row(p / 4 * 4 + r) + turn)
            })
        });
    }
}

#[test]
fn what_no_block_writes_is_zero() {
    let x = Tensor::<i32, _>::random((6, Const::<32>), 1..99, 4);
    let y = kernels::cluster_own_places(&x).unwrap();
    assert_exact(&y, |[p, c, i]| if p % 2 == c { x[[p, i]] } else { 0 });
}
