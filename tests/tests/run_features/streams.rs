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

/// Unparks the thread that waits.
struct Unpark(std::thread::Thread);

impl std::task::Wake for Unpark {
    fn wake(self: std::sync::Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<F: IntoFuture>(future: F) -> F::Output {
    let waker = std::sync::Arc::new(Unpark(std::thread::current())).into();
    let mut context = std::task::Context::from_waker(&waker);
    let mut future = std::pin::pin!(future.into_future());
    loop {
        match future.as_mut().poll(&mut context) {
            std::task::Poll::Ready(output) => return output,
            std::task::Poll::Pending => std::thread::park(),
        }
    }
}

#[test]
fn events_and_futures() {
    let device = Device::default();
    let [one, other] = [0; 2].map(|_| Stream::new(&device).unwrap());
    let x = Tensor::<i32, _>::random((64,), -1000..1000, 7);
    let mut dx = x.to_device(&device).unwrap();
    let start = one.record().unwrap();
    kernels::stream_scale_on(&one, &mut dx, 3).unwrap();
    let end = one.record().unwrap();
    other.wait_for(&end).unwrap();
    block_on(&other).unwrap();
    assert!(start.query().unwrap() && end.query().unwrap());
    let time = start.elapsed(&end).unwrap();
    assert!(time < std::time::Duration::from_secs(600), "{time:?}");
    assert_eq!(end.elapsed(&start).unwrap(), std::time::Duration::ZERO);
    one.synchronize().unwrap();
    assert!(one.query().unwrap());

    // The stream of another library, which `one` is the owner of.
    let raw = one.as_raw();
    assert_eq!(raw.is_null(), device.is_sim());
    // SAFETY: a stream of the device, whose owner is a clone of it.
    let foreign = unsafe { Stream::from_raw(raw, &device, one.clone()) }.unwrap();
    drop((one, end));
    kernels::stream_scale_on(&foreign, &mut dx, -1).unwrap();
    block_on(foreign).unwrap();
    assert_exact(&dx.to_host().unwrap(), |i| x[i] * -3);
}

#[test]
fn foreign_memory() {
    #[repr(align(16))]
    struct Numbers([i32; 32]);
    let device = Device::default();
    if device.is_sim() {
        let mut numbers = vec![Numbers([5; 32])];
        let address = numbers[0].0.as_mut_ptr();
        // SAFETY: the simulated GPU uses host memory; the owner keeps it.
        let x = unsafe { DeviceTensor::from_raw_parts(address, (32,), &device, numbers) };
        let mut x = x.unwrap();
        kernels::stream_scale(&mut x, 3).unwrap();
        assert_exact(&x.to_host().unwrap(), |_| 15);
        return;
    }
    // Memory of another tensor, which is its owner.
    let mut memory = Tensor::from_fn((32,), |_| 5).to_device(&device).unwrap();
    let address = memory.as_device_mut_ptr();
    // SAFETY: the owner keeps the memory, and nothing else uses it.
    let x = unsafe { DeviceTensor::from_raw_parts(address, (32,), &device, memory) };
    let mut x = x.unwrap();
    let stream = Stream::new(&device).unwrap();
    kernels::stream_scale_on(&stream, &mut x, 3).unwrap();
    let copy = x.try_clone().unwrap();
    drop(x);
    assert_exact(&copy.to_host().unwrap(), |_| 15);
}
