use croq_sys::{Device, Error, Tensor};
use croq_tests::compare::assert_exact;
use croq_tests::kernels;

#[test]
fn in_out_and_by_value() {
    let before = Tensor::<i32, _>::random((70,), -1000..1000, 1);
    let mut x = before.clone();
    kernels::param_in_out(&mut x, -3).unwrap();
    assert_exact(&x, |i| before[i] * -3);

    let x = before.clone();
    let y = kernels::param_by_value(&x).unwrap();
    assert_eq!(
        y.as_slice(),
        [before.as_slice().iter().map(|v| v + 1).sum::<i32>()]
    );
    assert_eq!(x, before);
}

#[test]
fn in_place() {
    let device = Device::default();
    let x = Tensor::<i32, _>::random((5, 9), -1000..1000, 2);
    let mut y = Tensor::from_fn((5, 9), |_| i32::MIN)
        .to_device(&device)
        .unwrap();
    kernels::param_global(&x.to_device(&device).unwrap(), &mut y).unwrap();
    assert_exact(&y.to_host().unwrap(), |i| x[i] * 2);
}

#[test]
fn anonymous_dimensions() {
    let x = Tensor::<i32, _>::random((4, 3), -1000..1000, 3);
    let y = Tensor::<i32, _>::random((7,), -1000..1000, 4);
    let out = kernels::param_anonymous(&x, &y).unwrap();
    assert_eq!(out.shape(), [4, 7]);
    assert_exact(&out, |[i, j]| x[[i, 0]] * y[[j]]);
    let x = Tensor::<i32, _>::random((2, 3, 4), -1000..1000, 5);
    assert_exact(&kernels::param_rank(&x).unwrap(), |i| x[i] + 1);
}

#[test]
fn names_agree_or_the_call_fails() {
    let rows = Tensor::<i32, _>::random((6,), -1000..1000, 6);
    let cols = Tensor::<i32, _>::random((8,), -1000..1000, 7);
    let x = Tensor::<i32, _>::random((6, 8), -1000..1000, 8);
    let y = kernels::param_agree(&rows, &cols, &x).unwrap();
    assert_exact(&y, |[i, j]| rows[[i]] + cols[[j]] + x[[i, j]]);
    let wrong = Tensor::<i32, _>::zeros((6, 9));
    match kernels::param_agree(&rows, &cols, &wrong).unwrap_err() {
        Error::ShapeMismatch {
            param,
            axis,
            name,
            expected,
            found,
            ..
        } => {
            assert_eq!((param, axis, name, expected, found), ("x", 1, "N", 8, 9));
        }
        other => panic!("{other}"),
    }
}

#[test]
fn three_ways_at_once() {
    let device = Device::default();
    let a = Tensor::<i32, _>::random((33,), -1000..1000, 9);
    let before = Tensor::<i32, _>::random((33,), -1000..1000, 10);
    let mut b = before.clone();
    let mut c = Tensor::from_fn((33,), |_| i32::MIN)
        .to_device(&device)
        .unwrap();
    kernels::param_three_ways(&a, &mut b, &mut c).unwrap();
    assert_exact(&c.to_host().unwrap(), |i| a[i] + before[i]);
    assert_exact(&b, |i| (a[i] + before[i]) * 10);
}

#[test]
fn shapes_from_numbers() {
    let y = kernels::param_shape(5, 40).unwrap();
    assert_eq!(y.shape(), [5, 40]);
    assert_exact(&y, |[i, j]| (i * 1000 + j) as i32);
    assert!(kernels::param_shape(0, 4).is_err());
    assert!(kernels::param_shape(3, -4).is_err());
}

#[test]
fn unnamed_parameters_keep_their_place() {
    let x = Tensor::<i32, _>::random((4,), -1000..1000, 11);
    let other = Tensor::<i32, _>::zeros((4,));
    assert_exact(&kernels::param_unnamed(&x, &other, 3).unwrap(), |i| x[i]);
}

#[test]
fn results() {
    let x = Tensor::<i32, _>::random((4, 6), -1000..1000, 12);
    assert_eq!(kernels::param_return_scalar(&x, 20).unwrap(), 41);
    assert_eq!(kernels::param_return_auto(6, -7).unwrap(), -42);
    assert_eq!(kernels::param_return_f32(3.0).unwrap(), 1.5);
    assert!(kernels::param_return_bool(4).unwrap());
    assert!(!kernels::param_return_bool(3).unwrap());
    assert_eq!(kernels::param_return_dim(&x).unwrap(), 24);
    let line = Tensor::<i32, _>::random((9,), -1000..1000, 13);
    assert_exact(&kernels::param_return_itself(&line).unwrap(), |i| {
        line[i] + 100
    });
    kernels::param_nothing().unwrap();
}

#[test]
fn names_that_mean_something_to_rust() {
    let x = Tensor::<i32, _>::random((9,), -1000..1000, 14);
    assert_exact(&kernels::param_match(&x, 5).unwrap(), |i| x[i] + 5);
}

#[test]
fn a_call_without_elements_does_nothing() {
    let mut x = Tensor::<i32, _>::zeros((0,));
    kernels::param_in_out(&mut x, 2).unwrap();
    // A sum has a result all the same.
    assert!(matches!(
        kernels::param_by_value(&x),
        Err(Error::ZeroExtent { .. })
    ));
}
