use croq_sys::half::{bf16, f16};
use croq_sys::{Const, Element, Error, F8E4M3, Result, Tensor};
use croq_tests::compare::assert_exact;
use croq_tests::kernels;
use proptest::prelude::*;

/// Whole numbers, so that every order of additions gives the same.
fn whole(shape: (usize, usize), seed: u64) -> Tensor<f32, (usize, usize)> {
    let n = Tensor::<i32, _>::random(shape, -100..100, seed);
    let values = n.as_slice().iter().map(|v| *v as f32).collect();
    Tensor::from_vec(shape, values).unwrap()
}

#[test]
fn loads_and_stores() {
    for shape in [(1, 4), (16, 32), (17, 36), (40, 96), (5, 100)] {
        let x = whole(shape, 1);
        assert_exact(&kernels::tma_load(&x).unwrap(), |i| x[i] + 1.0);
        assert_exact(&kernels::tma_there_and_back(&x).unwrap(), |i| x[i] * 2.0);
    }
}

#[test]
fn a_ring() {
    for n in [64, 100, 640, 1000] {
        let x = Tensor::<i32, _>::random((n,), -1000..1000, 2);
        let y = kernels::tma_ring(&x).unwrap();
        let at = |i: usize| if i < n { x[[i]] } else { 0 };
        assert_exact(&y, |[i]| {
            let (p, back) = (i / 64, 63 - i % 64);
            let first = at(p * 64 + back);
            (1..9).fold(first, |sum, k| {
                sum + at((p * 64 + k * 32) % n / 4 * 4 + back)
            })
        });
    }
}

#[test]
fn small_tiles_that_a_number_chooses() {
    for m in [1, 4, 7, 30] {
        let x = Tensor::<u8, _>::random((m, Const::<16>), 0..100, 5);
        let y = kernels::tma_selected(&x).unwrap();
        assert_exact(&y, |[i, j]| {
            let mirror = i / 4 * 4 + 3 - i % 4;
            x[[i, j]] + if mirror < m { x[[mirror, j]] } else { 0 }
        });
    }
}

#[test]
fn every_rank() {
    for a in [1, 16, 47, 48, 49, 1000] {
        let x = Tensor::<u8, _>::random((a,), 0..255, 3);
        assert_exact(&kernels::tma_rank_1(&x).unwrap(), |i| x[i]);
    }
    for shape in [(1, 1, 8), (3, 7, 32), (4, 3, 24), (5, 2, 64)] {
        let x = Tensor::<i32, _>::random(shape, -100..100, 4);
        let values = x.as_slice().iter().map(|v| f16::from_f32(*v as f32));
        let x = Tensor::from_vec(shape, values.collect()).unwrap();
        assert_exact(&kernels::tma_rank_3(&x).unwrap(), |i| x[i]);
    }
    for shape in [(1, 1, 1, 2), (3, 6, 5, 14), (2, 5, 2, 6), (4, 11, 3, 8)] {
        let x = Tensor::<i32, _>::random(shape, -100..100, 5);
        let values = x.as_slice().iter().map(|v| f64::from(*v));
        let x = Tensor::from_vec(shape, values.collect()).unwrap();
        assert_exact(&kernels::tma_rank_4(&x).unwrap(), |i| x[i] + 1.0);
    }
    for shape in [(1, 1, 1, 1, 4), (2, 3, 4, 5, 12), (1, 2, 3, 4, 8)] {
        let x = Tensor::<i32, _>::random(shape, -100..100, 6);
        assert_exact(&kernels::tma_rank_5(&x).unwrap(), |i| x[i]);
    }
}

fn swapped<T>(
    values: impl Fn(i32) -> T,
    kernel: impl Fn(&Tensor<T, (usize, Const<32>)>) -> Result<Tensor<T, (usize, Const<32>)>>,
) where
    T: Element + PartialEq + std::fmt::Debug,
{
    for m in [1, 8, 19] {
        let n = Tensor::<i32, _>::random((m, Const::<32>), -100..100, 7);
        let x = n.as_slice().iter().map(|v| values(*v)).collect();
        let x = Tensor::from_vec((m, Const::<32>), x).unwrap();
        let y = kernel(&x).unwrap();
        assert_exact(&y, |[i, j]| x[[i, (j + 16) % 32]]);
    }
}

#[test]
fn every_element_type() {
    swapped(|v| v as u8, |x| kernels::tma_u8(x));
    swapped(|v| v as i8, |x| kernels::tma_s8(x));
    swapped(|v| F8E4M3::from_f32(v as f32), |x| kernels::tma_f8(x));
    swapped(|v| v as u16, |x| kernels::tma_u16(x));
    swapped(|v| bf16::from_f32(v as f32), |x| kernels::tma_bf16(x));
    swapped(|v| v as u32, |x| kernels::tma_u32(x));
    swapped(|v| i64::from(v) << 33, |x| kernels::tma_s64(x));
    swapped(|v| (v as u64) << 33, |x| kernels::tma_u64(x));
}

#[test]
fn beyond_the_edges_is_zero() {
    for shape in [(1, 4), (8, 32), (20, 40), (9, 100)] {
        let x = whole(shape, 8);
        let (m, n) = shape;
        let at = |i: usize, j: usize| {
            let inside = i >= 1 && j >= 1 && i <= m && j <= n;
            if inside { x[[i - 1, j - 1]] } else { 0.0 }
        };
        assert_exact(&kernels::tma_window(&x).unwrap(), |[i, j]| {
            at(i, j + 1) + at(i + 2, j + 1) + at(i + 1, j) + at(i + 1, j + 2)
        });
    }
    for shape in [(1, 4), (16, 32), (7, 20)] {
        let x = whole(shape, 9);
        let y = kernels::tma_small(&x).unwrap();
        assert_exact(&y, |[i, j]| {
            if i < shape.0 && j < shape.1 {
                x[[i, j]]
            } else {
                0.0
            }
        });
    }
}

#[test]
fn warpgroups_and_warps() {
    for m in [1, 16, 33, 70] {
        let x = Tensor::<i32, _>::random((m, Const::<64>), -1000..1000, 10);
        assert_exact(&kernels::tma_by_warpgroup(&x).unwrap(), |i| 3 * x[i]);
        assert_exact(&kernels::tma_from_warps(&x).unwrap(), |i| x[i] + 1);
        assert_exact(&kernels::tma_by_warp(&x).unwrap(), |[i, j]| {
            let other = i / 4 / 2 * 4 + i % 4;
            x[[i, j]] - if other < m { x[[other, j]] } else { 0 }
        });
    }
}

#[test]
fn one_buffer_again_and_again() {
    for m in [8, 32] {
        let before = whole((m, 32), 11);
        let x = Tensor::from_vec((m, Const::<32>), before.as_slice().to_vec()).unwrap();
        let mut y = x.clone();
        kernels::tma_in_place(&mut y, 3).unwrap();
        assert_exact(&y, |[i, j]| x[[i / 8 * 8 + 7 - i % 8, 31 - j]] + 3.0);
    }
    let x = Tensor::<i32, _>::random((Const::<256>,), -1000..1000, 12);
    let y = kernels::tma_read_back(&x).unwrap();
    assert_exact(&y, |[i]| x[[255 - i]] + x[[i]]);
}

#[test]
fn beside_copies_by_threads() {
    for m in [1, 8, 27] {
        let a = Tensor::<i32, _>::random((m, Const::<32>), -1000..1000, 13);
        let b = Tensor::<i32, _>::random((m, Const::<32>), -1000..1000, 14);
        let y = kernels::tma_and_dma(&a, &b).unwrap();
        assert_exact(&y, |i| (a[i] * 2 + b[i]) * 2 + a[i]);
    }
    for n in [4, 128, 300] {
        let a = Tensor::<i32, _>::random((n,), -1000..1000, 15);
        let b = Tensor::<i32, _>::random((n,), -1000..1000, 16);
        let y = kernels::tma_beside_dma(&a, &b).unwrap();
        assert_exact(&y, |i| (a[i] + b[i]) * 2 + b[i]);
    }
}

#[test]
fn rings_and_arrays() {
    for shape in [(1, 16), (32, 64), (50, 100)] {
        let x = whole(shape, 17);
        let y = kernels::tma_three(&x).unwrap();
        assert_exact(&y, |[i]| (0..shape.1).map(|j| x[[i, j]]).sum::<f32>());
    }
    for m in [1, 8, 16, 45] {
        let x = Tensor::<i32, _>::random((m, Const::<32>), -1000..1000, 18);
        let y = kernels::tma_array(&x).unwrap();
        assert_exact(&y, |[i, j]| x[[i, j]] + i as i32 / 8);
        for every in [1, 2, 3] {
            let y = kernels::tma_if(&x, every).unwrap();
            assert_exact(&y, |[i, j]| {
                let from = i / 4 / every as usize * every as usize * 4 + i % 4;
                if from < m { x[[from, j]] } else { 0 }
            });
        }
    }
}

#[test]
fn the_last_of_many_loads() {
    for n in [64, 300] {
        let x = Tensor::<i32, _>::random((n,), -1000..1000, 23);
        for turns in [1, 2, 3, 8] {
            let y = kernels::tma_last(&x, turns).unwrap();
            assert_exact(&y, |[i]| {
                let from = (i / 64 * 64 + (turns as usize - 1) * 4) % n + i % 64;
                if from < n { x[[from]] } else { 0 }
            });
        }
    }
}

#[test]
fn reshaped_and_swizzled() {
    for m in [1, 16, 37] {
        let x = Tensor::<i32, _>::random((m, Const::<64>), -1000..1000, 19);
        let values = x.as_slice().iter().map(|v| *v as f32).collect();
        let f = Tensor::from_vec((m, Const::<64>), values).unwrap();
        assert_exact(&kernels::tma_reshaped(&f).unwrap(), |i| f[i]);
        let values = x.as_slice().iter().map(|v| f16::from_f32(*v as f32));
        let h = Tensor::from_vec((m, Const::<64>), values.collect()).unwrap();
        let y = kernels::tma_swizzled(&h).unwrap();
        assert_exact(&y, |[i, j]| {
            let from = i / 16 * 16 + 15 - i % 16;
            if from < m {
                h[[from, 63 - j]]
            } else {
                f16::ZERO
            }
        });
        let x = Tensor::<u8, _>::random((m, Const::<128>), 0..255, 20);
        let y = kernels::tma_columns(&x).unwrap();
        assert_exact(&y, |[i, j]| x[[i, (j + 64) % 128]]);
    }
    for shape in [(1, 4), (8, 96), (13, 200)] {
        let x = whole(shape, 21);
        let y = kernels::tma_wide(&x).unwrap();
        assert_exact(&y, |[i, j]| {
            let from = j / 96 * 96 + 95 - j % 96;
            if from < shape.1 {
                x[[i, from]] * 2.0
            } else {
                0.0
            }
        });
    }
}

#[test]
fn what_the_copy_engine_cannot_do_is_an_error() {
    let x = whole((16, 30), 22);
    let error = kernels::tma_load(&x).unwrap_err();
    assert!(
        matches!(&error, Error::Check { code: "R10", values, .. } if *values == [120]),
        "{error}"
    );
}

#[test]
fn begun_among_threads_and_in_warps() {
    for n in [64, 100, 1000] {
        let x = Tensor::<i32, _>::random((n,), -1000..1000, 24);
        let y = kernels::tma_among_threads(&x).unwrap();
        let at = |i: usize| if i < n { x[[i]] } else { 0 };
        assert_exact(&y, |[i]| {
            let (first, back) = (i / 64 * 64, 63 - i % 64);
            let others = (0..5).map(|k| at((first + k * 4) % n + back));
            at(first + back) + others.sum::<i32>()
        });
    }
    for m in [1, 4, 15] {
        let x = Tensor::<i32, _>::random((m, Const::<32>), -1000..1000, 25);
        let y = kernels::tma_ring_by_warp(&x).unwrap();
        assert_exact(&y, |[i, j]| {
            let turns = i % 4 + 2;
            let row = |k: usize| if k == 0 { i } else { (i + k - 1) % m };
            (0..turns).fold(0, |sum, k| 2 * sum + x[[row(k), 31 - j]])
        });
    }
}

#[test]
fn boxes_sized_at_launch() {
    for (m, n, rows) in [(8, 4, 2), (5, 36, 3), (33, 64, 16)] {
        let x = Tensor::<i32, _>::random((m, n), -1000..1000, 26);
        let y = kernels::tma_sized(&x, rows).unwrap();
        assert_exact(&y, |i| x[i] + 1);
    }
    let x = Tensor::<i32, _>::random((4, 260), -1000..1000, 27);
    let error = kernels::tma_sized(&x, 2).unwrap_err();
    assert!(
        matches!(&error, Error::Check { code: "R10", values, .. } if *values == [260, 256]),
        "{error}"
    );
}

#[test]
fn one_thread_alone() {
    for n in [1, 32, 100] {
        let x = Tensor::<i32, _>::random((n,), -1000..1000, 32);
        assert_exact(&kernels::tma_alone(&x).unwrap(), |i| 5 * x[i]);
    }
}

#[test]
fn threads_that_replace_tma_fill_with_zeros() {
    for m in [6, 7, 12, 17] {
        let x = Tensor::<i32, _>::random((m, Const::<8>), -1000..1000, 33);
        let y = kernels::tma_replaced_at_the_end(&x).unwrap();
        assert_exact(&y, |[i, j]| {
            (i / 6 * 6..m.min(i / 6 * 6 + 6)).map(|r| x[[r, j]]).sum()
        });
    }
}

#[test]
fn what_threads_write_and_the_engine_reads() {
    let x = Tensor::<i32, _>::random((Const::<256>,), -1000..1000, 28);
    let y = kernels::tma_of_own(&x).unwrap();
    assert_exact(&y, |[i]| 3 * x[[255 - i]] + 3);
    for m in [1, 8, 21] {
        let x = Tensor::<i32, _>::random((m, Const::<32>), -1000..1000, 29);
        assert_exact(&kernels::tma_fallback(&x).unwrap(), |i| 2 * x[i]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn windows_anywhere(m in 1usize..12, n in 1usize..5, r in -5i32..12, c in -7i32..20) {
        let n = 4 * n;
        let (r, c) = (r.min(m as i32 - 1), c.min(n as i32 - 1));
        let x = Tensor::<i32, _>::random((m, n), -1000..1000, 30);
        let y = kernels::tma_anywhere(&x, r, c).unwrap();
        let inside = |i: i32, j: i32| i >= 0 && j >= 0 && i < m as i32 && j < n as i32;
        for (i, j) in (0..6).flat_map(|i| (0..8).map(move |j| (i, j))) {
            let (row, column) = (r + i, c + j);
            let expected = if inside(row, column) { x[[row as usize, column as usize]] } else { 0 };
            prop_assert_eq!(y[[i as usize, j as usize]], 2 * expected);
        }
        let tile = Tensor::<i32, _>::random((Const::<6>, Const::<8>), -1000..1000, 31);
        let y = kernels::tma_put_anywhere(&tile, &x, r, c).unwrap();
        for (i, j) in (0..m as i32).flat_map(|i| (0..n as i32).map(move |j| (i, j))) {
            let (row, column) = (i - r, j - c);
            let put = (0..6).contains(&row) && (0..8).contains(&column);
            let expected = if put { tile[[row as usize, column as usize]] } else { x[[i as usize, j as usize]] };
            prop_assert_eq!(y[[i as usize, j as usize]], expected);
        }
    }
}

fn halves<D: croq_sys::Dims + Copy>(dims: D, seed: u64) -> Tensor<f16, D> {
    let n = Tensor::<i32, _>::random(dims, -100..100, seed);
    let values = n.as_slice().iter().map(|v| f16::from_f32(*v as f32));
    Tensor::from_vec(dims, values.collect()).unwrap()
}

/// Tiles of 272 to 600 positions along an axis, at both sides of their ends.
#[test]
fn tiles_of_several_boxes() {
    for (seed, shape) in [(1, 4), (159, 16), (161, 20), (320, 36), (700, 16)]
        .into_iter()
        .enumerate()
    {
        let x = whole(shape, seed as u64 + 20);
        assert_exact(&kernels::tma_long_rows(&x).unwrap(), |i| x[i] * 2.0 + 1.0);
        assert_exact(&kernels::tma_long_uneven(&x).unwrap(), |i| x[i]);
    }
    for (seed, shape) in [(1, 4), (3, 252), (4, 260), (9, 292), (5, 600)]
        .into_iter()
        .enumerate()
    {
        let x = whole(shape, seed as u64 + 30);
        assert_exact(&kernels::tma_long_columns(&x).unwrap(), |i| x[i]);
    }
    for a in [4, 256, 260, 516, 600, 604, 1900] {
        let x = Tensor::<i32, _>::random((a,), -1000..1000, 40);
        assert_exact(&kernels::tma_long_line(&x).unwrap(), |i| x[i]);
    }
    for shape in [
        (1, 1, 8),
        (2, 140, 8),
        (3, 137, 24),
        (7, 272, 8),
        (4, 300, 16),
    ] {
        let x = halves(shape, 41);
        assert_exact(&kernels::tma_long_planes(&x).unwrap(), |i| x[i]);
    }
}

#[test]
fn swizzled_tiles_of_several_boxes() {
    for m in [1, 191, 193, 384, 552, 1000] {
        let x = halves((m, Const::<64>), 42);
        let swizzled = kernels::tma_long_swizzled(&x).unwrap();
        assert_exact(&swizzled, |[i, j]| x[[i, 63 - j]]);
        let groups = kernels::tma_long_groups(&x).unwrap();
        assert_exact(&groups, |i| x[i] + x[i]);
    }
}
