use croq_sys::{Const, Tensor};
use croq_tests::compare::assert_exact;
use croq_tests::kernels;

#[test]
fn values() {
    let x = Tensor::<i32, _>::zeros((Const::<6>, Const::<8>, Const::<10>));
    let y = kernels::shape_values(&x).unwrap();
    let expected = [
        10, 480, 480, 12, 16, 144, 16, 8, 3, 7, 9, 5, 4, 9, 5, 223, 221, 234, 16, 8, 2, 8, 184, 86,
    ];
    assert_eq!(y.as_slice(), expected);
}

#[test]
fn buffers() {
    for (m, n) in [(1, 1), (4, 6), (9, 35)] {
        let x = Tensor::<i32, _>::random((m, n), -1000..1000, 1);
        assert_exact(&kernels::shape_buffers(&x).unwrap(), |i| x[i] * 4);
    }
}

#[test]
fn bounds() {
    for (m, n) in [(1, 1), (4, 6), (9, 35)] {
        let x = Tensor::<i32, _>::random((m, n), -1000..1000, 2);
        assert_exact(&kernels::shape_bounds(&x).unwrap(), |i| (x[i] + 1) * 2);
    }
}

#[test]
fn tuples_as_indices() {
    let x = Tensor::<i32, _>::random((3, 4, 5), 0..1000, 3);
    let y = kernels::shape_tuple_index(&x).unwrap();
    assert_exact(&y, |i| if i == [1, 2, 3] { -1 } else { x[i] });
}

#[test]
fn arithmetic() {
    for (n, pad) in [(1, 0), (10, 3), (33, 100)] {
        let x = Tensor::<i32, _>::random((n,), 1..1000, 4);
        let y = kernels::shape_arithmetic(&x, pad).unwrap();
        let pad = pad as usize;
        assert_eq!(y.shape(), [n + 2 * pad]);
        assert_exact(&y, |[i]| {
            if i >= pad && i < pad + n {
                x[[i - pad]]
            } else {
                0
            }
        });
    }
}

#[test]
fn rows_in_another_shape_are_copied_up_to_the_edge() {
    for (m, rows) in [(1, 1), (5, 3), (5, 5), (5, 9)] {
        for kernel in [kernels::shape_flat_rows, kernels::shape_squeezed_rows] {
            let mut o = Tensor::<i32, _>::zeros((m, Const::<32>));
            kernel(&mut o, rows).unwrap();
            let rows = rows as usize;
            assert_exact(&o, |[r, t]| if r < rows { (100 * r + t) as i32 } else { 0 });
        }
    }
    for (m, tiles) in [(4, 1), (5, 2), (11, 3), (3, 4)] {
        let x = Tensor::<i32, _>::random((m, Const::<8>), 1..1000, 5);
        let like = Tensor::<i32, _>::zeros((tiles,));
        let y = kernels::shape_flat_tiles(&x, &like).unwrap();
        assert_exact(&y, |[p, t]| match 4 * p + t / 8 {
            row if row < m => x[[row, t % 8]],
            _ => 0,
        });
    }
}

/// The code of a failed check, and the line of `shapes.co` that it names.
fn failed(outcome: croq_sys::Result<()>) -> (&'static str, &'static str) {
    match outcome {
        Err(croq_sys::Error::Check { code, line, .. }) => {
            let text = include_str!("../../run/features/shapes.co");
            let line = text.lines().nth(line as usize - 1);
            (code, line.map_or("", str::trim))
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_element_of_a_row_outside_is_an_error() {
    let mut o = Tensor::<i32, _>::zeros((5, Const::<32>));
    kernels::shape_flat_elements(&mut o, 5).unwrap();
    kernels::shape_squeezed_elements(&mut o, 5).unwrap();
    assert_exact(&o, |_| 1);
    let (code, line) = failed(kernels::shape_flat_elements(&mut o, 6));
    assert_eq!(code, "R12");
    assert!(line.contains(".span_as(32).at(t) = 1;"), "{line}");
    if croq_tests::gpu::ends_at_failure() {
        return;
    }
    let (code, line) = failed(kernels::shape_squeezed_elements(&mut o, i32::MAX));
    assert_eq!((code, line), ("R12", "row.at(t) = 1;"));
}

#[test]
fn a_tile_that_is_split_is_whole() {
    let mut o = Tensor::<i32, _>::zeros((64,));
    kernels::shape_split_tiles(&mut o, 2).unwrap();
    assert_exact(&o, |_| 1);
    let mut o = Tensor::<i32, _>::zeros((63,));
    let (code, line) = failed(kernels::shape_split_tiles(&mut o, 2));
    assert_eq!(code, "R08");
    assert!(line.contains("span_as(4, 8)"), "{line}");
}

#[test]
fn rows_with_gaps_are_not_merged() {
    let mut o = Tensor::<i32, _>::zeros((2, 8));
    kernels::shape_gaps(&mut o, 8).unwrap();
    assert_exact(&o, |_| 1);
    let mut o = Tensor::<i32, _>::zeros((2, 9));
    // Where the tile is not used, its gaps do not matter.
    kernels::shape_gaps_if(&mut o, 8, false).unwrap();
    assert_exact(&o, |[_, j]| if j < 8 { 2 } else { 0 });
    let (code, line) = failed(kernels::shape_gaps(&mut o, 8));
    assert_eq!(code, "R08");
    assert!(line.contains("span_as(2 * width)"), "{line}");
}

#[test]
fn tiles_of_every_second_row_are_clipped() {
    for (r, c) in [(1, 1), (8, 12), (9, 13), (7, 30), (20, 25)] {
        let mut o = Tensor::<i32, _>::zeros((r, c));
        kernels::shape_grid_of_ones(&mut o).unwrap();
        assert_exact(&o, |[i, j]| i32::from(i % 2 == 0 && j % 3 == 0));
        let x = Tensor::<i32, _>::random((r, c), -100..100, 6);
        let y = kernels::shape_dilated_sums(&x).unwrap();
        assert_exact(&y, |[i, j]| {
            let row = |i: usize| {
                [0, 2, 4]
                    .map(|d| (i + d).checked_sub(2))
                    .into_iter()
                    .flatten()
            };
            let inside = row(i).flat_map(|i| row(j).map(move |j| [i, j]));
            inside
                .filter(|at| at[0] < r && at[1] < c)
                .map(|at| x[at])
                .sum()
        });
    }
    for (n, count) in [(9, 4), (8, 4), (8, 3)] {
        let mut o = Tensor::<i32, _>::zeros((n,));
        kernels::shape_every_second(&mut o, count).unwrap();
        assert_exact(&o, |[i]| i32::from(i % 2 == 1 && i < 2 * count as usize));
    }
    let (code, line) = failed(kernels::shape_every_second(&mut Tensor::zeros((9,)), 5));
    assert_eq!(code, "R12");
    assert!(line.contains("o.view(n : 2).from(1).at(t) = 1;"), "{line}");
}

#[test]
fn a_single_matrix_has_no_gaps() {
    let x = Tensor::<i32, _>::random((1, 3, Const::<16>), -100..100, 8);
    let mut o = Tensor::<i32, _>::zeros((Const::<16>,));
    kernels::shape_gaps_between_matrices(&x, &mut o).unwrap();
    assert_exact(&o, |[t]| x[[0, 1, t]]);
    let x = Tensor::<i32, _>::random((2, 3, Const::<16>), -100..100, 8);
    let (code, line) = failed(kernels::shape_gaps_between_matrices(&x, &mut o));
    assert_eq!(code, "R08");
    assert!(line.contains("span_as(16 * B)"), "{line}");
}

/// Strides whose sum is inside, while single elements are not, too.
#[test]
fn tiles_with_any_strides_are_whole() {
    let inside = [
        (8, 1),
        (1, 8),
        (-8, 1),
        (-1, -8),
        (0, 22),
        (-9, 22),
        (22, 0),
    ];
    let outside = [
        (1000, -1000),
        (-1000, 1000),
        (i32::MAX, i32::MIN + 2),
        (-10, 10),
        (23, 0),
        (8, 15),
    ];
    for (a, b) in inside {
        let places: Vec<_> = (0..4).map(|t| 9 + a * (t / 2) + b * (t % 2)).collect();
        let ones = |[i, j]: [usize; 2]| i32::from(places.contains(&((8 * i + j) as i32)));
        let mut o = Tensor::<i32, _>::zeros((4, 8));
        kernels::shape_free_strides(&mut o, a, b).unwrap();
        assert_exact(&o, ones);
        let strides = Tensor::from_vec((Const::<2>,), vec![a, b]).unwrap();
        let mut o = Tensor::<i32, _>::zeros((4, 8));
        kernels::shape_free_strides_copied(&mut o, &strides).unwrap();
        if a != 0 {
            assert_exact(&o, ones);
        }
    }
    for (a, b) in outside {
        let mut o = Tensor::<i32, _>::zeros((4, 8));
        let (code, line) = failed(kernels::shape_free_strides(&mut o, a, b));
        assert_eq!(code, "R08", "{a} {b}");
        assert!(line.contains("o.view(2, 2 : a, b)"), "{line}");
        if croq_tests::gpu::ends_at_failure() {
            continue;
        }
        let strides = Tensor::from_vec((Const::<2>,), vec![a, b]).unwrap();
        let (code, line) = failed(kernels::shape_free_strides_copied(&mut o, &strides));
        assert_eq!(code, "R08", "{a} {b}");
        assert!(line.contains("dma.copy ones"), "{line}");
        assert_exact(&o, |_| 0);
    }
}
