use croq_sys::half::f16;
use croq_sys::{Const, Tensor};
use croq_tests::compare::assert_exact;
use croq_tests::kernels;

#[test]
fn one_tile_for_two_blocks() {
    for (m, k) in [(16, 8), (48, 40), (160, 64)] {
        let x = Tensor::<i32, _>::random((m, Const::<64>), -99..99, 1);
        let y = Tensor::<i32, _>::random((k, Const::<64>), -9..9, 2);
        let out = kernels::multicast_pairs(&x, &y).unwrap();
        assert_exact(&out, |[i, j]| {
            let (p, r) = (i / 8, i % 8);
            let sum = (0..k / 8).fold(0i32, |sum, k| {
                sum.wrapping_mul(3).wrapping_add(y[[k * 8 + 7 - r, 63 - j]])
            });
            sum.wrapping_sub(x[[i, j]]).wrapping_add(p as i32 % 2)
        });
    }
}

#[test]
fn each_of_four_in_turn() {
    for m in [16, 64] {
        let x = Tensor::<i32, _>::random((m, Const::<32>), -99..99, 3);
        let out = kernels::multicast_rounds(&x).unwrap();
        assert_exact(&out, |[i, j]| {
            let (p, r) = (i / 4, i % 4);
            (0..4).fold(0, |sum, k| {
                let row = (p / 4 * 4 + k) * 4 + 3 - r;
                sum * 5 + x[[row, 31 - j]] * (p as i32 % 4 + 1)
            })
        });
    }
}

#[test]
fn while_the_one_before_is_used() {
    for (m, n, k) in [(16, 16, 16), (32, 16, 52), (16, 48, 100)] {
        let x = Tensor::<i32, _>::random((m, k), -9..9, 4);
        let y = Tensor::<i32, _>::random((n, k), -9..9, 5);
        let out = kernels::multicast_ahead(&x, &y).unwrap();
        assert_exact(&out, |[i, j]| {
            // Both blocks along n have the tile of their pair.
            let (bm, bn) = (i / 8, j / 8);
            let row = bn / 2 * 8 + j % 8;
            let sum: i32 = (0..k).map(|k| x[[i, k]] * y[[row, k]]).sum();
            sum * 10 + (bn % 2 * 2 + bm % 2) as i32
        });
    }
}

#[test]
fn swizzled_by_one_thread() {
    for m in [16, 48] {
        let n = Tensor::<i32, _>::random((m, Const::<64>), -99..99, 6);
        let values = n.as_slice().iter().map(|v| f16::from_f32(*v as f32));
        let x = Tensor::from_vec((m, Const::<64>), values.collect()).unwrap();
        let out = kernels::multicast_swizzled(&x).unwrap();
        assert_exact(&out, |[i, j]| {
            let (p, r) = (i / 8, i % 8);
            x[[p / 2 * 16 + 15 - r - p % 2 * 8, 63 - j]]
        });
    }
}

#[test]
fn in_a_cluster_of_one() {
    let x = Tensor::<i32, _>::random((12, Const::<32>), -99..99, 7);
    let out = kernels::multicast_alone(&x).unwrap();
    assert_exact(&out, |[i, j]| x[[i / 4 * 4 + 3 - i % 4, j]]);
}

#[test]
fn beside_tiles_of_ones_own() {
    let x = Tensor::<i32, _>::random((64, Const::<64>), -99..99, 8);
    let y = Tensor::<i32, _>::random((Const::<8>, Const::<64>), -99..99, 9);
    let out = kernels::multicast_memory(&x, &y).unwrap();
    assert_exact(&out, |[i, j]| {
        let (p, r) = (i / 8, i % 8);
        x[[p * 8 + 7 - r, j]] * 3 + y[[r, 63 - j]]
    });
}

#[test]
fn a_ring_for_both_blocks() {
    for (m, k) in [(1, 1), (16, 8), (20, 24), (64, 96), (33, 100)] {
        let x = Tensor::<i32, _>::random((m, Const::<64>), -9..9, 10);
        let y = Tensor::<i32, _>::random((k, Const::<64>), -9..9, 11);
        let out = kernels::multicast_ring(&x, &y).unwrap();
        assert_exact(&out, |[i, j]| {
            let (p, r) = (i / 8, i % 8);
            (0..k.div_ceil(8)).fold(0i32, |sum, step| {
                let from = step * 8 + 7 - r;
                let both = if from < k { y[[from, 63 - j]] } else { 0 };
                let sum = sum.wrapping_mul(3).wrapping_add(x[[i, j]] * both);
                sum.wrapping_add(p as i32 % 2)
            })
        });
    }
}

#[test]
fn a_tile_for_which_the_first_block_waits() {
    for k in [8, 16, 100] {
        let y = Tensor::<i32, _>::random((k, Const::<64>), -9..9, 12);
        for _ in 0..4 {
            let out = kernels::multicast_first_block_waits(&y).unwrap();
            assert_exact(&out, |[_, j]| (0..k).map(|i| y[[i, j]]).sum::<i32>());
        }
    }
}

#[test]
fn tiles_of_several_boxes() {
    for m in [1, 321, 600, 640, 1500] {
        let x = Tensor::<i32, _>::random((m, Const::<8>), -99..99, 10);
        assert_exact(&kernels::multicast_long(&x).unwrap(), |i| x[i]);
        let x = Tensor::<i32, _>::random((m, Const::<32>), -99..99, 11);
        assert_exact(&kernels::multicast_long_uneven(&x).unwrap(), |i| x[i]);
    }
}
