use croq_sys::{Const, Device, DeviceTensor, Error, Stream, Tensor};
use croq_tests::compare::assert_exact;
use croq_tests::kernels;

#[test]
fn on_streams_of_the_callers() {
    let device = Device::default();
    let [one, other] = [0; 2].map(|_| Stream::new(&device).unwrap());
    let x = Tensor::<i32, _>::random((70,), -1000..1000, 1);
    let y = Tensor::<i32, _>::random((33,), -1000..1000, 2);
    let (mut dx, mut dy) = (x.to_device(&device).unwrap(), y.to_device(&device).unwrap());
    for streams in [(&one, &other), (&one, &one)] {
        kernels::stream_side_by_side(&mut dx, &mut dy, streams.0, streams.1).unwrap();
    }
    assert_exact(&dx.to_host().unwrap(), |i| x[i] * 4);
    assert_exact(&dy.to_host().unwrap(), |i| y[i] - 2);
}

#[test]
fn in_the_order_of_the_program() {
    let device = Device::default();
    let stream = Stream::new(&device).unwrap();
    let x = Tensor::<i32, _>::random((70,), -1000..1000, 3);
    let mut dx = x.to_device(&device).unwrap();
    let both = kernels::stream_in_order(&mut dx, &stream).unwrap();
    assert_exact(&both, |i| x[i] * 3);
    assert_exact(&dx.to_host().unwrap(), |_| 0);
}

#[test]
fn enqueued_and_waited_for_by_whoever_needs_it() {
    let device = Device::default();
    let [one, other] = [0; 2].map(|_| Stream::new(&device).unwrap());
    let x = Tensor::<i32, _>::random((50, Const::<4>), -1000..1000, 4);
    let y = Tensor::<i32, _>::random((200,), -1000..1000, 5);
    let mut dy = y.to_device(&device).unwrap();
    kernels::stream_scale_on(&one, &mut dy, 3).unwrap();
    kernels::stream_scale_on(&other, &mut dy, 5).unwrap();
    kernels::stream_scale(&mut dy, -1).unwrap();
    assert_exact(&dy.to_host().unwrap(), |i| y[i] * -15);

    let y = Tensor::<i32, _>::random((50, Const::<4>), -1000..1000, 6);
    let dy = y.to_device(&device).unwrap();
    let sum: DeviceTensor<i32, (Const<4>, usize)> =
        kernels::stream_added_on(&one, &x, &dy).unwrap();
    drop((dy, one));
    assert_exact(&sum.to_host().unwrap(), |[j, i]| x[[i, j]] + y[[i, j]]);
}

#[test]
fn a_stream_of_another_device_is_refused() {
    let device = Device::default();
    if device.is_sim() {
        return;
    }
    let stream = Stream::new(&Device::sim()).unwrap();
    let mut x = DeviceTensor::<i32, _>::zeros((4,), &device).unwrap();
    let e = kernels::stream_scale_on(&stream, &mut x, 2).unwrap_err();
    assert!(matches!(e, Error::WrongDevice { .. }), "{e}");
}
