use croq_kernels as kernels;
use croq_sys::{Device, Error, Tensor};
use croq_tests::compare::assert_exact;

#[test]
fn embedding() {
    for (v, d, n) in [(1, 1, 1), (50, 32, 7), (20, 45, 33)] {
        let table = Tensor::<f32, _>::random((v, d), -1.0..1.0, 1);
        let ids = Tensor::<i32, _>::random((n,), 0..v as i32, 2);
        let rows = kernels::embedding(&table, &ids).unwrap();
        assert_exact(&rows, |[i, j]| table[[ids[[i]] as usize, j]]);
    }
}

#[test]
fn a_number_outside_the_table_is_an_error() {
    let table = Tensor::<f32, _>::random((10, 40), -1.0..1.0, 3);
    for wrong in [-1, 10, i32::MAX] {
        let mut ids = Tensor::<i32, _>::zeros((5,));
        ids[[3]] = wrong;
        match kernels::embedding(&table, &ids).unwrap_err() {
            Error::Check { line, .. } | Error::OutOfBounds { line, .. } => assert_eq!(line, 8),
            other => panic!("{other}"),
        }
        if !Device::default().is_sim() {
            // A failed check ends the CUDA context, and this test with it.
            break;
        }
    }
}
