use croq_sys::Tensor;
use croq_tests::compare::assert_exact;
use croq_tests::kernels;

#[test]
fn written_levels() {
    let x = Tensor::<i32, _>::random((8,), -1000..1000, 1);
    assert_exact(&kernels::level_block(&x).unwrap(), |i| x[i] + 1);

    let x = Tensor::<i32, _>::random((4,), -1000..1000, 2);
    assert_exact(&kernels::level_group(&x).unwrap(), |[w, t]| {
        x[[w]] * 100 + t as i32
    });

    let x = Tensor::<i32, _>::random((2,), -1000..1000, 3);
    assert_exact(&kernels::level_group4(&x).unwrap(), |[g, t]| {
        x[[g]] * 1000 + t as i32
    });
    assert_exact(&kernels::level_warpgroup_scalar(&x).unwrap(), |i| x[i] * 3);

    let x = Tensor::<i32, _>::random((3, 4), -1000..1000, 4);
    assert_exact(&kernels::level_warp_scalar(&x).unwrap(), |i| x[i] - 7);
}

#[test]
fn three_written_levels() {
    let x = Tensor::<i32, _>::random((2, 3, 32), -1000..1000, 5);
    assert_exact(&kernels::level_block_group_thread(&x).unwrap(), |i| {
        x[i] ^ 21
    });
    let x = Tensor::<i32, _>::random((2, 2, 128), -1000..1000, 6);
    assert_exact(&kernels::level_block_group4_thread(&x).unwrap(), |i| {
        x[i] + 9
    });
}

#[test]
fn sub_levels_of_warps() {
    let x = Tensor::<i32, _>::random((2, 3), -1000..1000, 7);
    let y = kernels::level_group_sub_levels(&x).unwrap();
    assert_exact(&y, |[u, v, s, t]| x[[u, v]] * 100 + (s * 10 + t) as i32);
}

#[test]
fn inferred_levels() {
    let x = Tensor::<i32, _>::random((40,), -1000..1000, 8);
    assert_exact(&kernels::level_inferred_1(&x).unwrap(), |i| -x[i]);
    let x = Tensor::<i32, _>::random((50, 70), -1000..1000, 9);
    assert_exact(&kernels::level_inferred_wide(&x).unwrap(), |i| x[i] * 2 + 1);
    let x = Tensor::<i32, _>::random((5, 48), -1000..1000, 10);
    assert_exact(&kernels::level_inferred_2(&x).unwrap(), |[p, q]| {
        x[[p, q]] + p as i32
    });
    let x = Tensor::<i32, _>::random((2, 3, 32), -1000..1000, 11);
    assert_exact(&kernels::level_inferred_3(&x).unwrap(), |i| x[i] + 1);
    let x = Tensor::<i32, _>::random((2, 3, 5), -1000..1000, 12);
    assert_exact(&kernels::level_inferred_3_small(&x).unwrap(), |i| x[i] + 2);
    let x = Tensor::<i32, _>::random((3, 2), -1000..1000, 13);
    assert_exact(&kernels::level_inferred_parent(&x).unwrap(), |i| x[i] * 5);
}

#[test]
fn bare_instances_have_their_own_shared_memory() {
    let x = Tensor::<i32, _>::random((6, 4), -1000..1000, 14);
    let y = kernels::level_bare_with_shared(&x).unwrap();
    assert_exact(&y, |[p, k]| x[[p, 3 - k]]);
}

#[test]
fn siblings() {
    let x = Tensor::<i32, _>::random((128,), -1000..1000, 15);
    let y = kernels::level_siblings(&x).unwrap();
    let line = |t: usize| x[[t]] + 1;
    assert_exact(&y, |[t]| {
        let w = t / 32;
        line(127 - t) + line(w * 32) + line(w * 32 + 31) + line(127)
    });

    let x = Tensor::<i32, _>::random((8, 64), -1000..1000, 16);
    let y = kernels::level_siblings_in_loop(&x).unwrap();
    assert_exact(&y, |[t]| {
        (0..8).map(|k| x[[k, 63 - t]] * (k as i32 + 1)).sum()
    });
}

#[test]
fn products_by_level_structure() {
    let product = |lhs: &Tensor<i32, (usize, usize)>,
                   rhs: &Tensor<i32, (usize, usize)>,
                   [i, j]: [usize; 2]| {
        (0..lhs.shape()[1])
            .map(|k| lhs[[i, k]] * rhs[[k, j]])
            .sum::<i32>()
    };
    let lhs = Tensor::<i32, _>::random((32, 64), -100..100, 17);
    let rhs = Tensor::<i32, _>::random((64, 48), -100..100, 18);
    let out = kernels::level_dense_nest(&lhs, &rhs).unwrap();
    assert_exact(&out, |at| product(&lhs, &rhs, at));

    let lhs = Tensor::<i32, _>::random((32, 40), -100..100, 19);
    let rhs = Tensor::<i32, _>::random((40, 24), -100..100, 20);
    let out = kernels::level_scalar_matmul(&lhs, &rhs).unwrap();
    assert_exact(&out, |at| product(&lhs, &rhs, at));

    let lhs = Tensor::<i32, _>::random((48, 64), -100..100, 21);
    let rhs = Tensor::<i32, _>::random((64, 32), -100..100, 22);
    let out = kernels::level_staged_matmul(&lhs, &rhs).unwrap();
    assert_exact(&out, |at| product(&lhs, &rhs, at));
}

#[test]
fn shared_and_local_copies() {
    let common = Tensor::<i32, _>::random((16,), -1000..1000, 23);
    let own = Tensor::<i32, _>::random((8, 16), -1000..1000, 24);
    let y = kernels::level_shared_or_local(&common, &own).unwrap();
    assert_exact(&y, |[t, k]| common[[k]] * own[[t, k]]);
}

#[test]
fn updates_at_block_level_happen_once() {
    let x = Tensor::<i32, _>::random((4, 64), -1000..1000, 25);
    let z = kernels::level_block_update(&x).unwrap();
    assert_exact(&z, |i| x[i] * 7 + 6);
}
