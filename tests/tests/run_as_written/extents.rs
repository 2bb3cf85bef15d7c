//! Extents that are computed from dimensions and integer parameters (`extents.co`).

use croq_sys::{Const, Error, Tensor};
use croq_tests::compare::assert_exact;
use croq_tests::kernels;

#[test]
fn an_integer_parameter_is_a_dimension_of_the_result() {
    for n in [1, 7, 40] {
        let y = kernels::written_identity(n).unwrap();
        assert_eq!(y.shape(), [n as usize; 2]);
        assert_exact(&y, |[i, j]| if i == j { 1.0 } else { 0.0 });
    }
    assert!(kernels::written_identity(0).is_err());
    assert!(kernels::written_identity(-3).is_err());
}

#[test]
fn an_extent_of_a_parameter_is_compared_with_its_expression() {
    for (n, k) in [(1, 64), (3, 64 * 5)] {
        let x = Tensor::<i8, _>::random((n, k), -100..100, 1);
        let scales = Tensor::<f32, _>::random((n, k / 64), 0.5..2.0, 2);
        let y = kernels::written_scaled(&scales, &x).unwrap();
        assert_exact(&y, |[i, j]| x[[i, j]] as f32 * scales[[i, j / 64]]);
    }
    let x = Tensor::<i8, _>::zeros((3, 320));
    let wrong = Tensor::<f32, _>::zeros((3, 4));
    match kernels::written_scaled(&wrong, &x).unwrap_err() {
        Error::Check { code, message, .. } => {
            let said = "axis 1 of `scales` has 4 elements, `K / 64` is 5";
            assert!(code == "R01" && message.contains(said), "{code} {message}");
        }
        other => panic!("{other}"),
    }
}

#[test]
fn a_quotient_of_a_dimension_and_a_parameter() {
    let x = Tensor::<i32, _>::random((Const::<50>,), -999..999, 3);
    let x = Tensor::from_vec((50,), x.as_slice().to_vec()).unwrap();
    for width in [1, 7, 50, 64] {
        let y = kernels::written_extremes(&x, width).unwrap();
        let part = |b: usize| {
            let first = b * width as usize;
            &x.as_slice()[first..(first + width as usize).min(50)]
        };
        assert_eq!(y.shape(), [50usize.div_ceil(width as usize), 2]);
        assert_exact(&y, |[b, which]| match which {
            0 => *part(b).iter().min().unwrap(),
            _ => *part(b).iter().max().unwrap(),
        });
    }
}

#[test]
fn tiles_with_a_stride() {
    let x = Tensor::<f32, _>::random((Const::<12>, Const::<8>), 1.0..2.0, 31);
    let y = kernels::written_strided_tiles(&x).unwrap();
    assert_exact(&y, |[i, j]| if i % 3 < 2 { x[[i, j]] } else { 0.0 });
}

#[test]
fn windows_that_overlap() {
    for m in [4, 6, 20] {
        let x = Tensor::<f32, _>::random((m, Const::<32>), -9.0..9.0, 32);
        let y = kernels::written_stepped_tiles(&x).unwrap();
        assert_eq!(y.shape(), [m / 2 - 1, 4]);
        assert_exact(&y, |[r, c]| {
            let rows = (2 * r..2 * r + 4).flat_map(|i| (8 * c..8 * c + 8).map(move |j| [i, j]));
            rows.map(|at| x[at]).fold(f32::MIN, f32::max)
        });
    }
}
