//! Arguments by value that are on the device, and views of tensors there.

use croq_sys::{Const, Device, DeviceTensor, Error, Input, Stream, Tensor};
use croq_tests::compare::assert_exact;
use croq_tests::kernels;

fn numbers(n: usize, seed: u64) -> (Tensor<i32, (usize,)>, DeviceTensor<i32, (usize,)>) {
    let host = Tensor::<i32, _>::random((n,), -1000..1000, seed);
    let device = host.to_device(&Device::default()).unwrap();
    (host, device)
}

#[test]
fn results_are_where_the_argument_is() {
    let (host, device) = numbers(70, 1);
    let on_host: Tensor<i32, (usize,)> = kernels::resident_scaled(&host, 3).unwrap();
    assert_exact(&on_host, |i| host[i] * 3);
    let on_device: DeviceTensor<i32, (usize,)> = kernels::resident_scaled(&device, 3).unwrap();
    let again = kernels::resident_scaled(&on_device, -1).unwrap();
    assert_exact(&again.to_host().unwrap(), |i| host[i] * -3);
    assert_exact(&device.to_host().unwrap(), |i| host[i]);
    // Extents that are known, and arguments behind references.
    let known = Tensor::<i32, _>::random((Const::<8>,), -9..9, 4);
    let result: Tensor<i32, (Const<8>,)> = kernels::resident_scaled(&known.view(), 2).unwrap();
    assert_exact(&result, |i| known[i] * 2);
    for one in [&host, &on_host] {
        assert_exact(&kernels::resident_scaled(&one, 1).unwrap(), |i| one[i]);
    }
    assert_eq!(
        kernels::resident_sum(&device).unwrap(),
        host.as_slice().iter().sum::<i32>()
    );
    assert_eq!(
        kernels::resident_sum(&host).unwrap(),
        host.as_slice().iter().sum::<i32>()
    );
}

/// A function of a program that is generic in the same way.
fn ninefold<X: Input<i32, (usize,)>>(x: &X) -> X::Output<i32, (usize,)>
where
    X::Output<i32, (usize,)>:
        Input<i32, (usize,), Output<i32, (usize,)> = X::Output<i32, (usize,)>>,
{
    let threefold = kernels::resident_scaled(x, 3).unwrap();
    kernels::resident_scaled(&threefold, 3).unwrap()
}

#[test]
fn functions_of_programs_are_generic_over_places() {
    let (host, device) = numbers(20, 2);
    assert_exact(&ninefold(&host), |i| host[i] * 9);
    assert_exact(&ninefold(&device).to_host().unwrap(), |i| host[i] * 9);
}

#[test]
fn the_callers_tensor_never_changes() {
    let (host, device) = numbers(70, 3);
    let counted = kernels::resident_counted(&device).unwrap();
    assert_exact(&counted.to_host().unwrap(), |i| host[i] + 1);
    assert_exact(&device.to_host().unwrap(), |i| host[i]);

    // A result is not the caller's tensor under another name.
    let mut same = kernels::resident_same(&device).unwrap();
    assert_ne!(same.as_device_ptr(), device.as_device_ptr());
    same.copy_from_host(&Tensor::zeros((70,))).unwrap();
    assert_exact(&device.to_host().unwrap(), |i| host[i]);
    let stream = Stream::new(&Device::default()).unwrap();
    let same = kernels::resident_same_on(&stream, &device).unwrap();
    assert_ne!(same.as_device_ptr(), device.as_device_ptr());
    assert_exact(&same.to_host().unwrap(), |i| host[i]);

    let (other, on_device) = numbers(70, 4);
    let (x, y) = kernels::resident_exchanged(&device, &on_device).unwrap();
    assert_exact(&x.to_host().unwrap(), |i| other[i] * 2);
    assert_exact(&y.to_host().unwrap(), |i| host[i]);
    assert_exact(&device.to_host().unwrap(), |i| host[i]);
    assert_exact(&on_device.to_host().unwrap(), |i| other[i]);
}

#[test]
fn places_mix_and_the_first_argument_decides() {
    let device = Device::default();
    let x = Tensor::<i32, _>::random((6, Const::<5>), -1000..1000, 5);
    let y = Tensor::<i32, _>::random((6, Const::<5>), -1000..1000, 6);
    let (dx, dy) = (x.to_device(&device).unwrap(), y.to_device(&device).unwrap());
    let (sum, difference) = kernels::resident_both(&dx, &y).unwrap();
    assert_exact(&sum.to_host().unwrap(), |i| x[i] + y[i]);
    assert_exact(&difference.to_host().unwrap(), |i| x[i] - y[i]);
    let (sum, difference): (Tensor<_, _>, _) = kernels::resident_both(&x, &dy).unwrap();
    assert_exact(&sum, |i| x[i] + y[i]);
    assert_exact(&difference, |i| x[i] - y[i]);
    // One tensor twice, and views with gaps.
    let (sum, _) = kernels::resident_both(&dx, &dx).unwrap();
    assert_exact(&sum.to_host().unwrap(), |i| 2 * x[i]);
    let (left, right) = ([0..6, 0..2], [0..6, 3..5]);
    let left = dx.view().slice(left).unwrap();
    let right = dx.view().slice(right).unwrap();
    let (sum, _) = kernels::resident_both(&left, &right).unwrap();
    assert_exact(&sum.to_host().unwrap(), |[i, j]| x[[i, j]] + x[[i, j + 3]]);
    let columns = left.permute([1, 0]).unwrap();
    let (sum, _) = kernels::resident_both(&columns, &columns).unwrap();
    assert_exact(&sum.to_host().unwrap(), |[j, i]| 2 * x[[i, j]]);
}

#[test]
fn enqueued_calls_take_both() {
    let stream = Stream::new(&Device::default()).unwrap();
    let (host, device) = numbers(70, 7);
    let a = kernels::resident_scaled_on(&stream, &host, 2).unwrap();
    let b = kernels::resident_scaled_on(&stream, &a, 5).unwrap();
    drop(a);
    let c = kernels::resident_counted_on(&stream, &device).unwrap();
    drop((device, stream));
    assert_exact(&b.to_host().unwrap(), |i| host[i] * 10);
    assert_exact(&c.to_host().unwrap(), |i| host[i] + 1);
}

#[test]
fn templates_take_both() {
    let host = Tensor::<f32, _>::random((9,), -1.0..1.0, 8);
    let device = host.to_device(&Device::default()).unwrap();
    assert_exact(&kernels::resident_halved(&host).unwrap(), |i| host[i] / 2.0);
    let halved = kernels::resident_halved(&device).unwrap();
    assert_exact(&halved.to_host().unwrap(), |i| host[i] / 2.0);
    let (host, device) = numbers(9, 9);
    let halved = kernels::resident_halved(&device).unwrap();
    assert_exact(&halved.to_host().unwrap(), |i| host[i] / 2);
}

#[test]
fn views_are_read_and_written_in_place() {
    let device = Device::default();
    let x = Tensor::<i32, _>::random((4, 8), -1000..1000, 10);
    let dx = x.to_device(&device).unwrap();
    let mut dy = DeviceTensor::<i32, _>::zeros((4, 8), &device).unwrap();
    let row = |i: usize| [i..i + 1, 0..8];
    let from = dx.view().slice(row(1)).unwrap().reshape((8,)).unwrap();
    let mut to = dy.view_mut().slice(row(2)).unwrap().reshape((8,)).unwrap();
    kernels::resident_into(&from, &mut to).unwrap();
    let stream = Stream::new(&device).unwrap();
    kernels::resident_into_on(&stream, &from.clone(), &mut to).unwrap();
    assert_exact(&dy.to_host().unwrap(), |[i, j]| {
        if i == 2 { x[[1, j]] - 1 } else { 0 }
    });
    // A column is read from a copy, and never written.
    let column = |j: usize| [0..4, j..j + 1];
    let from = dx.view().slice(column(3)).unwrap();
    let mut four = DeviceTensor::<i32, _>::zeros((4, 1), &device).unwrap();
    let e = kernels::resident_into(
        &from
            .view()
            .into_dims((4, 1))
            .unwrap()
            .try_clone()
            .unwrap()
            .reshape((4,))
            .unwrap(),
        &mut dy
            .view_mut()
            .slice([2..3, 1..5])
            .unwrap()
            .reshape((4,))
            .unwrap(),
    );
    let expected = Error::WrittenView {
        kernel: "resident_into",
        param: "y",
    };
    assert_eq!(e.unwrap_err(), expected);
    four.copy_from(&from).unwrap();
    assert_exact(&four.to_host().unwrap(), |[i, _]| x[[i, 3]]);
}

#[test]
fn an_argument_of_another_device_is_refused() {
    let device = Device::default();
    let (_, x) = numbers(4, 11);
    if device.is_sim() {
        return;
    }
    let stream = Stream::new(&Device::sim()).unwrap();
    let e = kernels::resident_scaled_on(&stream, &x, 2).unwrap_err();
    assert!(matches!(e, Error::WrongDevice { .. }), "{e}");
    let other = Tensor::<i32, _>::zeros((2, 2))
        .to_device(&Device::sim())
        .unwrap();
    let here = Tensor::<i32, _>::zeros((2, 2)).to_device(&device).unwrap();
    let e = kernels::resident_both(&here, &other).unwrap_err();
    assert!(matches!(e, Error::WrongDevice { .. }), "{e}");
}

#[test]
fn calls_without_elements_do_nothing() {
    let (host, x) = numbers(0, 12);
    assert_eq!(kernels::resident_scaled(&host, 2).unwrap().shape(), [0]);
    assert_eq!(
        kernels::resident_scaled(&x, 2).unwrap().to_host().unwrap(),
        host
    );
    let mut y = x.try_clone().unwrap();
    kernels::resident_into(&x, &mut y).unwrap();
    let stream = Stream::new(&Device::default()).unwrap();
    kernels::resident_into_on(&stream, &x, &mut y).unwrap();
    assert_eq!(kernels::resident_same_on(&stream, &y).unwrap().shape(), [0]);
    let flat = Tensor::<i32, _>::zeros((3, Const::<0>));
    let (sum, difference) = kernels::resident_both(&flat, &flat).unwrap();
    assert_eq!((sum, difference.shape()), (flat, [3, 0]));
    // A mismatch is an error in any case.
    let e = kernels::resident_into(&numbers(3, 1).1, &mut y).unwrap_err();
    assert!(matches!(e, Error::ShapeMismatch { param: "y", .. }), "{e}");
}

#[test]
fn results_of_no_elements_are_errors() {
    let sum = kernels::resident_sum(&numbers(0, 13).0);
    assert!(matches!(
        sum,
        Err(Error::ZeroExtent {
            param: "x",
            axis: 0,
            ..
        })
    ));
    let rows = |m: usize, n: usize| kernels::resident_row_sums(&Tensor::zeros((m, n)));
    assert_eq!(rows(0, 4).unwrap().shape(), [0]);
    let e = rows(4, 0).unwrap_err();
    assert!(
        matches!(
            e,
            Error::ZeroExtent {
                param: "x",
                axis: 1,
                ..
            }
        ),
        "{e}"
    );
}

#[test]
fn results_of_any_extent_are_results() {
    for n in [usize::MAX, 1 << 40] {
        let none = Tensor::<i32, _>::zeros((0, n));
        assert_eq!(kernels::resident_spread(&none).unwrap().shape(), [n, n, 0]);
    }
    let x = Tensor::<i32, _>::random((1, 1 << 20), -9..9, 7);
    let e = kernels::resident_spread(&x.to_device(&Device::sim()).unwrap()).unwrap_err();
    assert!(matches!(e, Error::OutOfMemory { .. }), "{e}");
}
