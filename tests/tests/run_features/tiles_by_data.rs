//! Tile numbers that depend on data or on arguments alone are checked; others are clipped (S9,
//! W15).

use croq_sys::{Const, Device, DeviceTensor, Dims, Element, Error, Tensor};
use croq_tests::compare::assert_exact;
use croq_tests::kernels;
use half::f16;

/// Line and message of a failed check of an index.
#[track_caller]
fn failed<T: std::fmt::Debug>(outcome: Result<T, Error>) -> (u32, String) {
    match outcome.unwrap_err() {
        Error::Check {
            code: "R12",
            line,
            message,
            ..
        } => (line, message),
        other => panic!("{other}"),
    }
}

/// The first line with `text` in the function of that name or after it.
fn line_of(function: &str, text: &str) -> u32 {
    let file = include_str!("../../run/features/tiles_by_data.co");
    let at = file.find(&format!("{function}(")).expect("the function");
    let before = file[..at].matches('\n').count();
    let found = file[at..].lines().position(|l| l.contains(text));
    (before + found.expect("the text")) as u32 + 1
}

fn to_device<T: Element, D: Dims>(t: &Tensor<T, D>) -> DeviceTensor<T, D> {
    t.to_device(&Device::sim()).unwrap()
}

fn numbers(list: &[i32]) -> DeviceTensor<i32, (usize,)> {
    to_device(&Tensor::from_vec((list.len(),), list.to_vec()).unwrap())
}

fn rows(n: usize) -> DeviceTensor<f32, (usize, usize)> {
    to_device(&Tensor::from_fn((n, 64), |[i, j]| (i * 64 + j) as f32))
}

fn fixed_rows(n: usize) -> DeviceTensor<f32, (usize, croq_sys::Const<64>)> {
    let dims = (n, croq_sys::Const::<64>);
    to_device(&Tensor::from_fn(dims, |[i, j]| (i * 64 + j) as f32))
}

#[test]
fn a_gathered_row_exists() {
    let mut out = rows(3);
    kernels::tile_gather(&rows(10), &numbers(&[9, 0, 4]), &mut out).unwrap();
    let ids = [9, 0, 4];
    assert_exact(&out.to_host().unwrap(), |[t, j]| (ids[t] * 64 + j) as f32);
    for wrong in [10, -1, i32::MAX, i32::MIN] {
        let ids = numbers(&[9, wrong, 4]);
        let (line, message) = failed(kernels::tile_gather(&rows(10), &ids, &mut out));
        assert_eq!(line, line_of("tile_gather", "dma.copy table"));
        assert_eq!(
            message,
            format!("tile {wrong} of axis 0 of `table`, which has 10 tiles")
        );
    }
}

#[test]
fn by_the_copy_engine_and_the_other_way_round() {
    let mut out = fixed_rows(3);
    kernels::tile_gather_box(&fixed_rows(10), &numbers(&[9, 0, 4]), &mut out).unwrap();
    let ids = [9, 0, 4];
    assert_exact(&out.to_host().unwrap(), |[t, j]| (ids[t] * 64 + j) as f32);
    let mut table = fixed_rows(10);
    kernels::tile_scatter(&mut table, &numbers(&[9, 0, 4]), &fixed_rows(3)).unwrap();
    for wrong in [10, -1] {
        let ids = numbers(&[9, wrong, 4]);
        let message = format!("tile {wrong} of axis 0 of `table`, which has 10 tiles");
        let found = failed(kernels::tile_gather_box(&fixed_rows(10), &ids, &mut out));
        let line = line_of("tile_gather_box", "tma.copy table");
        assert_eq!(found, (line, message.clone()));
        let found = failed(kernels::tile_scatter(&mut table, &ids, &fixed_rows(3)));
        let line = line_of("tile_scatter", "=> table.subspan");
        assert_eq!(found, (line, message));
    }
}

#[test]
fn a_window_has_something_of_the_data() {
    let x = to_device(&Tensor::from_fn((20,), |[i]| i as f32 + 1.0));
    let dims = (4, croq_sys::Const::<8>);
    let mut out = to_device(&Tensor::<f32, _>::zeros(dims));
    let from = [-7, 0, 15, 19];
    kernels::tile_window(&x, &numbers(&from), &mut out).unwrap();
    assert_exact(&out.to_host().unwrap(), |[t, q]| {
        let at = from[t] + q as i32;
        if (0..20).contains(&at) {
            at as f32 + 1.0
        } else {
            0.0
        }
    });
    for wrong in [20, -8, i32::MAX, i32::MIN] {
        let from = numbers(&[0, 1, wrong, 2]);
        let (line, message) = failed(kernels::tile_window(&x, &from, &mut out));
        assert_eq!(line, line_of("tile_window", "x.view(8)"));
        let text = "the window into `x` starts at";
        assert_eq!(
            message,
            format!("{text} {wrong} on axis 0, the data has 20 elements")
        );
    }
    let mut out = to_device(&Tensor::<f32, _>::zeros((2, croq_sys::Const::<8>)));
    kernels::tile_chunk(&x, &numbers(&[3, 0]), &mut out).unwrap();
    for wrong in [4, -1] {
        let (line, message) = failed(kernels::tile_chunk(&x, &numbers(&[0, wrong]), &mut out));
        assert_eq!(line, line_of("tile_chunk", "x.chunk(4)"));
        assert_eq!(
            message,
            format!("chunk {wrong} of axis 0 of `x`, which is split into 4")
        );
    }
}

#[test]
fn a_named_tile_counts_where_it_is_moved() {
    let mut out = fixed_rows(3);
    kernels::tile_named(&fixed_rows(10), &numbers(&[9, -1, 4]), &mut out).unwrap();
    let (line, _) = failed(kernels::tile_named(
        &fixed_rows(10),
        &numbers(&[9, 10, 4]),
        &mut out,
    ));
    assert_eq!(line, line_of("tile_named", "tile = table"));
}

#[test]
fn arguments_count_where_the_path_comes() {
    let mut out = to_device(&Tensor::<f32, _>::zeros((croq_sys::Const::<64>,)));
    kernels::tile_argument(&fixed_rows(10), 9, 1, &mut out).unwrap();
    kernels::tile_argument(&fixed_rows(10), 10, 0, &mut out).unwrap();
    let (line, message) = failed(kernels::tile_argument(&fixed_rows(10), 10, 1, &mut out));
    assert_eq!(line, line_of("tile_argument", "dma.copy table"));
    assert_eq!(message, "tile 10 of axis 0 of `table`, which has 10 tiles");
}

#[test]
fn a_halo_is_clipped_before_and_after() {
    let x = to_device(&Tensor::from_fn((20,), |[i]| i as f32 + 1.0));
    let mut out = to_device(&Tensor::<f32, _>::zeros((6, croq_sys::Const::<8>)));
    kernels::tile_halo(&x, &mut out).unwrap();
    assert_exact(&out.to_host().unwrap(), |[r, q]| {
        let at = (r as i32 - 1) * 8 + q as i32;
        if (0..20).contains(&at) {
            at as f32 + 1.0
        } else {
            0.0
        }
    });
    let mut x = to_device(&Tensor::<f32, _>::zeros((20,)));
    kernels::tile_halo_store(&mut x, 6).unwrap();
    assert_exact(&x.to_host().unwrap(), |_| 1.0);
}

#[test]
fn tiles_of_products() {
    let a = to_device(&Tensor::from_fn((40, croq_sys::Const::<16>), |[i, j]| {
        f16::from_f32((i + j) as f32)
    }));
    let ones = (croq_sys::Const::<8>, croq_sys::Const::<16>);
    let b = to_device(&Tensor::from_fn(ones, |_| f16::ONE));
    let dims = (2, croq_sys::Const::<16>, croq_sys::Const::<8>);
    let mut out = to_device(&Tensor::<f32, _>::zeros(dims));
    kernels::tile_fragments(&a, &b, &numbers(&[2, 0]), &mut out).unwrap();
    assert_exact(&out.to_host().unwrap(), |[t, i, _]| {
        let row = [32, 0][t] + i;
        if row < 40 {
            (16 * row + 120) as f32
        } else {
            0.0
        }
    });
    let square = (croq_sys::Const::<16>, croq_sys::Const::<16>);
    let whole = to_device(&Tensor::from_fn(square, |[i, j]| {
        f16::from_f32((i + j) as f32)
    }));
    let mut sums = to_device(&Tensor::<f32, _>::zeros((40, croq_sys::Const::<8>)));
    kernels::tile_fragments_out(&whole, &b, &numbers(&[2]), &mut sums).unwrap();
    for wrong in [3, -1] {
        let ids = numbers(&[0, wrong]);
        let (line, message) = failed(kernels::tile_fragments(&a, &b, &ids, &mut out));
        assert_eq!(line, line_of("tile_fragments", "mma.load a.subspan"));
        assert_eq!(
            message,
            format!("tile {wrong} of axis 0 of `a`, which has 3 tiles")
        );
        let (line, message) = failed(kernels::tile_fragments_out(&whole, &b, &ids, &mut sums));
        assert_eq!(line, line_of("tile_fragments_out", "mma.store fc, out"));
        assert_eq!(
            message,
            format!("tile {wrong} of axis 0 of `out`, which has 3 tiles")
        );
    }
}

#[test]
fn what_changes_is_data_if_data_goes_into_it() {
    let x = to_device(&Tensor::from_fn((20,), |[i]| i as f32 + 1.0));
    let mut out = to_device(&Tensor::<f32, _>::zeros((5, croq_sys::Const::<8>)));
    kernels::tile_counted(&x, &mut out).unwrap();
    let element = |at: usize| if at < 20 { at as f32 + 1.0 } else { 0.0 };
    assert_exact(&out.to_host().unwrap(), |[t, q]| element(t * 8 + q));
    let mut out = to_device(&Tensor::<f32, _>::zeros((3, croq_sys::Const::<8>)));
    kernels::tile_counted_on(&x, &numbers(&[2, 1, 7]), &mut out).unwrap();
    let at = [0, 2, 1];
    assert_exact(&out.to_host().unwrap(), |[t, q]| element(at[t] * 8 + q));
    let wrong = numbers(&[2, 3, 0]);
    let (line, message) = failed(kernels::tile_counted_on(&x, &wrong, &mut out));
    assert_eq!(line, line_of("tile_counted_on", "x.subspan(8).at(k)"));
    assert_eq!(message, "tile 3 of axis 0 of `x`, which has 3 tiles");
    let short = to_device(&Tensor::from_fn((8,), |[i]| i as f32 + 1.0));
    let mut out = to_device(&Tensor::from_fn((croq_sys::Const::<8>,), |_| 9f32));
    kernels::tile_literal(&short, &mut out).unwrap();
    assert_exact(&out.to_host().unwrap(), |_| 0.0);
}

/// Tiles of planes that data choose: `at / 8` is the plane, `at % 8` the tile of it.
#[test]
fn a_box_stored_into_a_chosen_plane_ends_with_the_plane() {
    let (p, r) = (3_usize, 20_usize);
    let before = |k: usize| 1000.0 + k as f32;
    let all = Tensor::from_fn((p, r, Const::<64>), |[a, i, j]| {
        before((a * r + i) * 64 + j)
    });
    let dims = (2_usize, Const::<16>, Const::<64>);
    let x = to_device(&Tensor::from_fn(dims, |[t, i, j]| {
        ((t * 16 + i) * 64 + j) as f32
    }));
    let mut planes = to_device(&all);
    kernels::tile_of_a_plane(&mut planes, &numbers(&[8 + 1, 2 * 8]), &x).unwrap();
    assert_exact(&planes.to_host().unwrap(), |[a, i, j]| match (a, i) {
        (1, 16..) => ((i - 16) * 64 + j) as f32,
        (2, ..16) => ((16 + i) * 64 + j) as f32,
        _ => before((a * r + i) * 64 + j),
    });
    let (chosen, stored) = ("plane = planes", "tma.copy tile");
    for (wrong, number, count, place) in [
        (3 * 8, 3, 3, chosen),
        (-8, -1, 3, chosen),
        (8 + 2, 2, 2, stored),
    ] {
        let at = numbers(&[0, wrong]);
        let (line, message) = failed(kernels::tile_of_a_plane(&mut planes, &at, &x));
        assert_eq!(line, line_of("tile_of_a_plane", place));
        assert!(
            message.starts_with(&format!("tile {number} of axis 0 of `plane"))
                && message.ends_with(&format!("has {count} tiles")),
            "{message}"
        );
    }
}

#[test]
fn a_box_stored_into_a_chosen_column_ends_with_the_column() {
    let (r, c) = (12_usize, 3_usize);
    let before = |k: usize| 1000.0 + k as f32;
    let dims = (r, c, Const::<16>);
    let all = Tensor::from_fn(dims, |[i, b, j]| before((i * c + b) * 16 + j));
    let dims = (2_usize, Const::<8>, Const::<16>);
    let x = to_device(&Tensor::from_fn(dims, |[t, i, j]| {
        ((t * 8 + i) * 16 + j) as f32
    }));
    let mut columns = to_device(&all);
    kernels::tile_of_a_column(&mut columns, &numbers(&[2 * 8 + 1, 0]), &x).unwrap();
    assert_exact(&columns.to_host().unwrap(), |[i, b, j]| match (b, i) {
        (2, 8..) => ((i - 8) * 16 + j) as f32,
        (0, ..8) => ((8 + i) * 16 + j) as f32,
        _ => before((i * c + b) * 16 + j),
    });
    let (chosen, stored) = ("column = columns", "tma.copy tile");
    for (wrong, place) in [(3 * 8, chosen), (-8, chosen), (2, stored)] {
        let at = numbers(&[0, wrong]);
        let (line, _) = failed(kernels::tile_of_a_column(&mut columns, &at, &x));
        assert_eq!(line, line_of("tile_of_a_column", place));
    }
}

#[test]
fn boxes_stored_into_a_part_of_a_plane_end_with_the_plane() {
    for r in [52_usize, 80] {
        let before = |k: usize| 1000.0 + k as f32;
        let all = Tensor::from_fn((3_usize, r, Const::<64>), |[a, i, j]| {
            before((a * r + i) * 64 + j)
        });
        let dims = (1_usize, Const::<16>, Const::<64>);
        let x = to_device(&Tensor::from_fn(dims, |[_, i, j]| (i * 64 + j) as f32));
        let mut planes = to_device(&all);
        kernels::tiles_of_a_half(&mut planes, &numbers(&[1]), &x).unwrap();
        assert_exact(&planes.to_host().unwrap(), |[a, i, j]| match (a, i) {
            (1, 32..64) => (i % 16 * 64 + j) as f32,
            _ => before((a * r + i) * 64 + j),
        });
    }
}
