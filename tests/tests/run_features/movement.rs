use croq_sys::half::f16;
use croq_sys::{Const, Device, Tensor};
use croq_tests::compare::assert_exact;
use croq_tests::kernels;

#[test]
fn staged_addition() {
    let lhs = Tensor::<i32, _>::random((16, 32), -1000..1000, 1);
    let rhs = Tensor::<i32, _>::random((16, 32), -1000..1000, 2);
    let sum = kernels::move_tiled_add(&lhs, &rhs).unwrap();
    assert_exact(&sum, |i| lhs[i] + rhs[i]);
}

#[test]
fn whole_tensors() {
    let x = Tensor::<i32, _>::random((5, 9), -1000..1000, 3);
    assert_exact(&kernels::move_span_loop(&x).unwrap(), |i| x[i]);
    let x = Tensor::<i16, _>::random((7, 11), -1000..1000, 4);
    assert_exact(&kernels::move_whole(&x).unwrap(), |i| x[i]);
    let x = Tensor::<i32, _>::random((8, 8), -1000..1000, 5);
    assert_exact(&kernels::move_future_as_view(&x).unwrap(), |i| x[i]);
}

#[test]
fn subspan() {
    for (m, n) in [(1, 1), (4, 16), (8, 48), (5, 17), (11, 50)] {
        let x = Tensor::<u32, _>::random((m, n), 0..u32::MAX, 6);
        assert_exact(&kernels::move_subspan(&x).unwrap(), |i| x[i] + 1);
    }
    let x = Tensor::<i32, _>::random((8, 6), -1000..1000, 7);
    assert_exact(&kernels::move_subspan_first(&x).unwrap(), |i| x[i]);
}

#[test]
fn overlapping_and_remaining_tiles() {
    let x = Tensor::<i32, _>::random((20,), -1000..1000, 8);
    assert_exact(&kernels::move_step(&x).unwrap(), |[k, j]| x[[4 * k + j]]);
    let x = Tensor::<i32, _>::random((38,), -1000..1000, 9);
    assert_exact(&kernels::move_modspan(&x).unwrap(), |i| x[i]);
}

#[test]
fn windows() {
    for (m, n, top, left) in [(3, 5, 0, 0), (9, 14, 6, 9), (10, 12, 2, 3)] {
        let x = Tensor::<i32, _>::random((m, n), -1000..1000, 10);
        let y = kernels::move_view_from(&x, top, left).unwrap();
        assert_exact(&y, |[i, j]| x[[i + top as usize, j + left as usize]]);
    }
    for (top, left) in [(0, 0), (7, 7), (3, 1)] {
        let x = Tensor::<i32, _>::random((3, 5), -1000..1000, 11);
        let y = kernels::move_view_into(&x, top, left).unwrap();
        assert_exact(&y, |[i, j]| {
            let (i, j) = (i.wrapping_sub(top as usize), j.wrapping_sub(left as usize));
            if i < 3 && j < 5 { x[[i, j]] } else { 0 }
        });
    }
    let x = Tensor::<i32, _>::random((6, 10), -1000..1000, 12);
    assert_exact(&kernels::move_view_strided(&x).unwrap(), |[i, j]| {
        x[[i, 2 * j + 1]]
    });
    let x = Tensor::<i32, _>::random((64,), -1000..1000, 13);
    let starts = Tensor::from_vec((4,), vec![0, 56, 13, 30]).unwrap();
    let y = kernels::move_view_at_run_time(&x, &starts).unwrap();
    assert_exact(&y, |[p, j]| x[[starts[[p]] as usize + j]]);
}

#[test]
fn windows_of_negative_extents_are_empty() {
    for (rows, columns) in [
        (3, 5),
        (3, 4),
        (0, 4),
        (-1, 4),
        (4, -4),
        (-2, -4),
        (-2, -3),
        (9, 9),
    ] {
        let mut y = Tensor::<i32, _>::zeros((6, Const::<8>));
        let extents = Tensor::from_vec((Const::<2>,), vec![rows, columns]).unwrap();
        kernels::move_window_of_extents(&mut y, &extents).unwrap();
        let inside = |[i, j]: [usize; 2]| (i as i32) < rows && (j as i32) < columns;
        assert_exact(&y, |at| i32::from(inside(at)));
    }
}

#[test]
fn negative_extents_that_are_arguments_are_errors() {
    let x = Tensor::from_fn((6,), |[i]| i as i32 + 1);
    for count in [0, 4, 6, 9] {
        let y = kernels::move_window_of_argument(&x, count).unwrap();
        assert_exact(&y, |i| if (i[0] as i32) < count { x[i] } else { 0 });
    }
    let error = kernels::move_window_of_argument(&x, -1).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("R06") && text.contains("`count`"), "{text}");
}

#[test]
fn reshaped() {
    let x = Tensor::<i32, _>::random((6, 8), -1000..1000, 14);
    let y = kernels::move_span_as(&x).unwrap();
    assert_exact(&y, |[i, j]| x.as_slice()[i * 12 + j]);
    for (a, b) in [(1, 1), (3, 7), (40, 33)] {
        let x = Tensor::<i32, _>::random((a, b), -1000..1000, 15);
        let y = kernels::move_span_as_shape(&x).unwrap();
        assert_exact(&y, |[i, j]| 2 * x.as_slice()[i * a + j]);
    }
    let x = Tensor::<i32, _>::random((4, 5, 6), -1000..1000, 16);
    assert_exact(&kernels::move_squeeze(&x).unwrap(), |[p, k]| x[[p, 2, k]]);
}

#[test]
fn operators_in_a_row() {
    let x = Tensor::<i32, _>::random((4, 16, 16), -1000..1000, 17);
    assert_exact(&kernels::move_chained(&x).unwrap(), |[p, i, j]| {
        x[[p, i + 8, j]]
    });
    let x = Tensor::<i32, _>::random((8, 32), -1000..1000, 18);
    assert_exact(&kernels::move_named_views(&x).unwrap(), |[i, j]| {
        x[[i, (j + 16) % 32]]
    });
}

#[test]
fn every_pair_of_storages() {
    let x = Tensor::<i32, _>::random((8, 16), -1000..1000, 19);
    assert_exact(&kernels::move_storage_pairs(&x).unwrap(), |i| x[i] + 1);
    let x = Tensor::<f64, _>::random((10, 6), -1.0..1.0, 20);
    assert_exact(&kernels::move_global_local(&x).unwrap(), |i| x[i] * 2.0);
}

#[test]
fn copies_between_kernels() {
    let x = Tensor::<i32, _>::random((6, 17), -1000..1000, 21);
    assert_exact(&kernels::move_on_host(&x).unwrap(), |i| x[i] * 3);
    // The last two are more than a grid moves at once.
    for n in [1, 50, 52, 4099, 2_100_000, 2_100_001] {
        let x = Tensor::<i32, _>::random((n,), -1000..1000, 22);
        assert_exact(&kernels::move_between_buffers(&x).unwrap(), |i| x[i] + 1);
    }
}

#[test]
fn vectors_at_any_edge() {
    for (m, n) in [
        (64, 64),
        (128, 72),
        (65, 66),
        (100, 7),
        (1, 1),
        (130, 201),
        (63, 256),
    ] {
        let x = Tensor::<u16, _>::random((m, n), 0..1000, 30);
        assert_exact(&kernels::move_wide(&x).unwrap(), |i| x[i] + 1);
    }
    for (m, n) in [(4, 96), (8, 192), (5, 112), (3, 1), (9, 100)] {
        let x = Tensor::<u8, _>::random((m, n), 0..255, 31);
        let tiles = kernels::move_by_warps(&x).unwrap();
        assert_exact(&tiles, |[r, c, i, j]| {
            let (row, column) = (r * 4 + i, c * 96 + j);
            if row < m && column < n {
                x[[row, column]]
            } else {
                0
            }
        });
    }
    for (a, b, c) in [(1, 6, 32), (3, 13, 31), (2, 1, 1), (2, 12, 7)] {
        let x = Tensor::<f64, _>::random((a, b, c), -1.0..1.0, 32);
        assert_exact(&kernels::move_halo(&x).unwrap(), |[i, j, k]| {
            let at = |dj: usize, dk: usize| {
                let inside = (1..=b).contains(&(j + dj)) && (1..=c).contains(&(k + dk));
                if inside {
                    x[[i, j + dj - 1, k + dk - 1]]
                } else {
                    0.0
                }
            };
            at(0, 1) + at(2, 1) + at(1, 0) + at(1, 2)
        });
    }
}

#[test]
fn partial_tiles_are_clipped() {
    let x = Tensor::<i32, _>::random((100,), -1000..1000, 23);
    assert_exact(&kernels::move_partial(&x).unwrap(), |i| x[i] + 1000);
    for dims in [(1, 1, 1), (3, 4, 5), (4, 5, 6), (7, 9, 11)] {
        let x = Tensor::<i32, _>::random(dims, -1000..1000, 24);
        assert_exact(&kernels::move_partial_3d(&x).unwrap(), |i| x[i]);
    }
}

#[test]
fn partial_tiles_are_filled_on_demand() {
    for (m, n) in [(1, 1), (8, 8), (9, 15), (20, 7)] {
        let x = Tensor::<i32, _>::random((m, n), 1..1000, 25);
        let y = kernels::move_zfill_edge(&x).unwrap();
        assert_exact(&y, |[r, c, i, j]| {
            let (i, j) = (r * 8 + i, c * 8 + j);
            if i < m && j < n { x[[i, j]] } else { 0 }
        });
    }
    let x = Tensor::<i32, _>::random((6, 8), 1..1000, 26);
    let y = kernels::move_zfill_small(&x).unwrap();
    assert_exact(&y, |[i, j]| if i < 5 { x[[i + 1, j]] } else { 0 });
}

#[test]
fn transposed_and_padded() {
    let x = Tensor::<i32, _>::random((6, 10), -1000..1000, 27);
    assert_exact(&kernels::move_transpose(&x).unwrap(), |[i, j]| x[[j, i]]);
    let x = Tensor::<i32, _>::random((3, 4, 5), -1000..1000, 28);
    assert_exact(&kernels::move_transpose_local(&x).unwrap(), |[i, j, k]| {
        x[[j, i, k]]
    });
    let x = Tensor::<i32, _>::random((4, 6), -1000..1000, 29);
    let y = kernels::move_pad(&x).unwrap();
    assert_exact(&y, |[i, j]| {
        let (i, j) = (i.wrapping_sub(2), j.wrapping_sub(1));
        if i < 4 && j < 6 { x[[i, j]] } else { 7 }
    });
}

#[test]
fn copies_inside_thread_levels() {
    let x = Tensor::<i32, _>::random((32, 4), -1000..1000, 30);
    let y = kernels::move_local_divergent(&x).unwrap();
    assert_exact(&y, |[t, j]| if t % 3 == 0 { x[[t, j]] * 2 } else { 0 });
    let y = kernels::move_slice_per_thread(&x).unwrap();
    assert_exact(&y, |[t, k]| x[[t, 3 - k]] * 2);
    let x = Tensor::<i32, _>::random((4, 32), -1000..1000, 31);
    let y = kernels::move_cooperative_inside(&x).unwrap();
    assert_exact(&y, |[k, t]| x[[k, 31 - t]]);
}

#[test]
fn a_tile_is_not_overwritten_before_it_was_read() {
    let x = Tensor::<i32, _>::random((16, 64), -1000..1000, 32);
    let y = kernels::move_overwrite(&x).unwrap();
    assert_exact(&y, |[t]| {
        (0..16).map(|k| x[[k, 63 - t]] * (k as i32 + 1)).sum()
    });
}

#[test]
fn turned_tiles() {
    let x = Tensor::<i32, _>::random((Const::<32>, Const::<64>), -999..999, 60);
    assert_exact(&kernels::move_turned(&x).unwrap(), |[i, j]| {
        x[[j, i]] + 1000 * i as i32
    });
    let n = Tensor::<i32, _>::random((Const::<16>, Const::<32>), -999..999, 61);
    let halves = n.as_slice().iter().map(|v| f16::from_f32(*v as f32));
    let x = Tensor::from_vec((Const::<16>, Const::<32>), halves.collect()).unwrap();
    assert_exact(&kernels::move_turned_flat(&x).unwrap(), |[i]| {
        x[[i % 16, i / 16]]
    });
    let x = Tensor::<i16, _>::random((Const::<4>, Const::<32>, Const::<8>), -999..999, 62);
    assert_exact(&kernels::move_turned_by_warp(&x).unwrap(), |[w, i, k]| {
        x[[w, i, k]] + k as i16
    });
    for (m, n) in [(16, 16), (32, 48), (1, 1), (17, 40)] {
        let x = Tensor::<f64, _>::random((m, n), -1.0..1.0, 63);
        let y = kernels::move_turned_ragged(&x).unwrap();
        assert_exact(&y, |[i, j]| if i < n && j < m { x[[j, i]] } else { 0.0 });
    }
}

/// Copies within one buffer: the result, or the report of tiles that overlap.
fn within((i, j): (i32, i32), n: usize) -> Result<Vec<i32>, String> {
    let x = Tensor::<i32, _>::from_fn((n,), |[e]| e as i32);
    let mut x = x.to_device(&Device::default()).unwrap();
    let result = kernels::move_within(&mut x, i, j);
    let moved = || x.to_host().unwrap().as_slice().to_vec();
    result.map(|()| moved()).map_err(|error| error.to_string())
}

#[test]
fn tiles_of_one_buffer_do_not_overlap() {
    for (i, j) in [(0, 4), (4, 0), (3, 3), (1, 15)] {
        let x = within((i, j), 19).unwrap();
        let moved = |e: i32| {
            if (j..j + 4).contains(&e) {
                e - j + i
            } else {
                e
            }
        };
        assert_eq!(x, (0..19).map(moved).collect::<Vec<_>>());
    }
    for (i, j) in [(0, 1), (1, 0), (5, 8)] {
        let error = within((i, j), 19).unwrap_err();
        let line = format!("they begin at {i} and {j} [R23]");
        assert!(error.contains(&line), "{error}");
    }

    let rows = |i, j| {
        let x = Tensor::<i32, _>::from_fn((6, 8), |[r, c]| (r * 8 + c) as i32);
        let mut x = x.to_device(&Device::default()).unwrap();
        kernels::move_within_rows(&mut x, i, j).map(|()| x.to_host().unwrap())
    };
    let x = rows(3, 1).unwrap();
    assert_exact(&x, |[r, c]| match (r, c) {
        (1 | 2, 3..7) => (r + 2) as i32 * 8 + c as i32 - 2,
        _ => (r * 8 + c) as i32,
    });
    for (i, j) in [(2, 2), (2, 3), (1, 0)] {
        let error = rows(i, j).unwrap_err().to_string();
        assert!(error.contains("[R23]"), "{error}");
    }
}

#[test]
fn tiles_of_one_shared_buffer_do_not_overlap() {
    let shared = |i: i32, j: i32| {
        let x = Tensor::<i32, _>::from_fn((64,), |[e]| e as i32);
        let at = Tensor::<i32, _>::from_fn((2,), |[e]| if e == 0 { i } else { j });
        let mut x = x.to_device(&Device::default()).unwrap();
        let at = at.to_device(&Device::default()).unwrap();
        kernels::move_within_shared(&mut x, &at).map(|()| x.to_host().unwrap())
    };
    for (i, j) in [(0, 8), (30, 30), (-1, 3), (50, 2)] {
        let x = shared(i, j).unwrap();
        assert_exact(&x, |[e]| {
            let k = e as i32 - j;
            if i >= 0 && (0..8).contains(&k) {
                i + k
            } else {
                e as i32
            }
        });
    }
    for (i, j) in [(0, 7), (31, 30)] {
        let error = shared(i, j).unwrap_err().to_string();
        assert!(error.contains("[R23]"), "{error}");
        if croq_tests::gpu::ends_at_failure() {
            return;
        }
    }
}

#[test]
fn strided_tiles_of_one_buffer_do_not_overlap() {
    let strided = |j: i32| {
        let x = Tensor::<i32, _>::from_fn((64,), |[e]| e as i32);
        let mut x = x.to_device(&Device::default()).unwrap();
        kernels::move_within_strided(&mut x, j).map(|()| x.to_host().unwrap())
    };
    for j in [0, 1, 7, 32] {
        let x = strided(j).unwrap();
        assert_exact(&x, |[e]| {
            let k = e as i32 - j;
            if k >= 0 && k % 2 == 0 && k < 32 {
                k
            } else {
                e as i32
            }
        });
    }
    if Device::default().is_sim() {
        let error = strided(2).unwrap_err().to_string();
        assert!(
            error.starts_with("race in move_within_strided_0"),
            "{error}"
        );
    }
}

#[test]
fn placeholders_with_several_destinations() {
    let x = Tensor::<i32, _>::random((Const::<2>, Const::<64>), -99..99, 41);
    assert_exact(&kernels::copied_again(&x).unwrap(), |i| x[i]);
    for m in [1, 2, 5] {
        let x = Tensor::<i32, _>::random((m, Const::<64>), -99..99, 42);
        assert_exact(&kernels::copied_in_turns(&x).unwrap(), |i| x[i]);
    }
}
