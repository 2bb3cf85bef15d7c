use croq_kernel_tests::compare::assert_exact;
use croq_kernels as kernels;
use croq_sys::{Device, Error, Tensor};

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
        if croq_kernel_tests::gpu::ends_at_failure() {
            break;
        }
    }
}

#[test]
fn windows() {
    for (length, n) in [(64, 1), (100, 7), (1000, 33), (10, 3)] {
        let signal = Tensor::<f32, _>::random((length,), -1.0..1.0, 4);
        let starts = Tensor::<i32, _>::random((n,), 0..length as i32, 5);
        let rows = kernels::windows(&signal, &starts).unwrap();
        assert_eq!(rows.shape(), [n, 64]);
        assert_exact(&rows, |[i, j]| {
            let at = starts[[i]] as usize + j;
            if at < length { signal[[at]] } else { 0.0 }
        });
    }
}

#[test]
fn a_window_outside_the_signal_is_an_error() {
    let signal = Tensor::<f32, _>::random((100,), -1.0..1.0, 6);
    for wrong in [-64, 101, i32::MIN] {
        let mut starts = Tensor::<i32, _>::zeros((3,));
        starts[[2]] = wrong;
        match kernels::windows(&signal, &starts).unwrap_err() {
            Error::Check { line, .. } => assert_eq!(line, 9),
            other => panic!("{other}"),
        }
        if !Device::default().is_sim() {
            break;
        }
    }
}
