//! Tests of the order of work on tensors, streams and events, with the fake CUDA runtime.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use super::tests_on_cuda::{Args, KERNEL, tensor, twice, twice_on};
use crate::device_data::DeviceData;
use crate::fake_cuda::{self, STICKY};
use crate::{Const, Device, DeviceTensor, Error, Input, Result, Stream, Tensor};

fn streams<const N: usize>(device: &Device) -> [Stream; N] {
    [(); N].map(|()| Stream::new(device).unwrap())
}

/// Reads a tensor on a stream.
fn read_on<S: DeviceData, D: crate::Dims>(
    stream: &Stream,
    t: &DeviceTensor<u8, D, S>,
) -> Result<()> {
    let mut call = KERNEL.call(Some(stream.device()))?;
    let data = call.global("data", t)?;
    call.enqueue(&mut Args { data, order: 11 }, stream)
}

#[test]
fn enqueuing_never_waits() {
    let device = fake_cuda::device();
    let [a, b] = streams(&device);
    let mut first = tensor(&device);
    let waits = fake_cuda::waits();
    let mut zeros = DeviceTensor::<u8, _>::zeros((Const::<2>,), &device).unwrap();
    twice_on(&a, &mut zeros, 10).unwrap();
    twice_on(&a, &mut first, 10).unwrap();
    // A copy of what the kernel will have written, used on another stream.
    let mut second = first.try_clone().unwrap();
    twice_on(&b, &mut second, 10).unwrap();
    // The copy comes before this kernel, which writes what it reads.
    twice_on(&a, &mut first, 10).unwrap();
    second.copy_from(&zeros).unwrap();
    assert_eq!(fake_cuda::waits(), waits);
    assert_eq!(fake_cuda::queued(), 6);
    b.synchronize().unwrap();
    assert_eq!(first.to_host().unwrap().as_slice(), [84, 5]);
    assert_eq!(second.to_host().unwrap().as_slice(), [0, 0]);
    assert_eq!(fake_cuda::queued(), 0);
}

#[test]
fn a_clone_is_what_its_tensor_was() {
    let device = fake_cuda::device();
    let [a, b] = streams(&device);
    let mut first = tensor(&device);
    twice_on(&a, &mut first, 10).unwrap();
    let mut second = first.try_clone().unwrap();
    twice_on(&a, &mut first, 10).unwrap();
    twice_on(&b, &mut second, 10).unwrap();
    // The later kernel on `a` first: it runs the copy.
    a.synchronize().unwrap();
    assert_eq!(second.to_host().unwrap().as_slice(), [84, 5]);
    twice(&mut second, 0).unwrap();
    assert_eq!(first.to_host().unwrap().as_slice(), [84, 5]);
    assert_eq!(second.to_host().unwrap().as_slice(), [168, 5]);
}

#[test]
fn streams_begin_after_the_devices_own() {
    let device = fake_cuda::device();
    let [a, b] = streams(&device);
    // After a tensor is cleared.
    let mut zeros = DeviceTensor::<u8, _>::zeros((Const::<2>,), &device).unwrap();
    zeros.with_device_mut_ptr(&a, |at| add_one(&a, at)).unwrap();
    a.synchronize().unwrap();
    assert_eq!(zeros.to_host().unwrap().as_slice(), [1, 0]);
    // After a copy to it, and after one from it.
    let mut first = tensor(&device);
    let mut second = first.try_clone().unwrap();
    twice_on(&b, &mut second, 10).unwrap();
    b.synchronize().unwrap();
    assert_eq!(second.to_host().unwrap().as_slice(), [42, 5]);
    let third = first.try_clone().unwrap();
    twice_on(&a, &mut first, 10).unwrap();
    a.synchronize().unwrap();
    assert_eq!(third.to_host().unwrap().as_slice(), [21, 5]);
}

/// Enqueues work of another library.
fn add_one(stream: &Stream, at: *mut u8) {
    let at = at.expose_provenance();
    fake_cuda::enqueue(stream.as_raw(), move || {
        let at = std::ptr::with_exposed_provenance_mut::<u8>(at);
        assert!(
            fake_cuda::is_allocated(at.cast()),
            "used after it was freed"
        );
        // SAFETY: the tensor's memory, which is allocated.
        unsafe { *at += 1 };
    });
}

#[test]
fn a_copy_in_flight_keeps_both_tensors() {
    let device = fake_cuda::device();
    let [stream] = streams(&device);
    let mut t = tensor(&device);
    twice_on(&stream, &mut t, 10).unwrap();
    let copy = t.try_clone().unwrap();
    drop(t);
    drop(copy);
    assert_eq!((fake_cuda::queued(), fake_cuda::allocations()), (2, 2));
    // The copy asserts that both are allocated.
    device.synchronize().unwrap();
    assert_eq!((fake_cuda::queued(), fake_cuda::allocations()), (0, 0));
}

#[test]
fn copies_of_parts_go_through_the_device() {
    let device = fake_cuda::device();
    let host = Tensor::<u8, _>::random((4, 6), 0..200, 3);
    let mut t = host.to_device(&device).unwrap();
    let part = t.view().slice([1..4, 1..6]).unwrap();
    let part = part.step_by([2, 2]).unwrap().permute([1, 0]).unwrap();
    let expected = Tensor::from_fn((3, 2), |[j, i]| host[[1 + 2 * i, 1 + 2 * j]]);
    assert_eq!(part.to_host().unwrap(), expected);
    let mut column = t.view_mut().slice([0..4, 2..3]).unwrap();
    let values = Tensor::from_fn((4, 1), |[i, _]| i as u8);
    column.copy_from_host(&values).unwrap();
    let written = |[i, j]: [usize; 2]| if j == 2 { i as u8 } else { host[[i, j]] };
    assert_eq!(t.to_host().unwrap(), Tensor::from_fn((4, 6), written));
    assert_eq!(fake_cuda::allocations(), 1);
}

#[test]
fn kernels_take_views_in_place_or_a_copy() {
    let device = fake_cuda::device();
    let [stream] = streams(&device);
    let mut t = Tensor::from_fn((4, 16), |_| 3_u8)
        .to_device(&device)
        .unwrap();
    let mut call = KERNEL.call(Some(&device)).unwrap();
    let mut row = t.view_mut().slice([2..3, 0..16]).unwrap();
    let data = call.global_mut("data", &mut row).unwrap();
    assert_eq!(data.cast::<u8>(), row.as_device_mut_ptr());
    call.run(&mut Args { data, order: 0 }).unwrap();
    drop(call);
    let expected = |[i, j]: [usize; 2]| if [i, j] == [2, 0] { 6 } else { 3 };
    assert_eq!(t.to_host().unwrap(), Tensor::from_fn((4, 16), expected));

    // A column, and a row that begins at an odd address: read from a copy, and never written.
    let allocations = fake_cuda::allocations();
    for part in [[0..4, 0..1], [1..2, 3..16]] {
        let mut view = t.view_mut().slice(part).unwrap();
        let call = KERNEL.call(Some(&device)).unwrap();
        let e = call.global_mut("data", &mut view).unwrap_err();
        let expected = Error::WrittenView {
            kernel: "twice",
            param: "data",
        };
        assert_eq!(e, expected);
        let data = call.global("data", &view).unwrap();
        assert_ne!(data.cast_const().cast::<u8>(), view.as_device_ptr());
        assert_eq!(fake_cuda::allocations(), allocations + 1);
        drop(call);
        read_on(&stream, &view).unwrap();
        device.synchronize().unwrap();
        assert_eq!(fake_cuda::allocations(), allocations);
    }
}

#[test]
fn a_forgotten_tensor_frees_nothing() {
    let device = fake_cuda::device();
    let [stream] = streams(&device);
    let mut t = tensor(&device);
    twice_on(&stream, &mut t, 10).unwrap();
    std::mem::forget(t.view_mut());
    let copy = t.try_clone().unwrap();
    std::mem::forget(t);
    std::mem::forget(stream.record().unwrap());
    assert_eq!(copy.to_host().unwrap().as_slice(), [42, 5]);
    drop((copy, stream));
    device.synchronize().unwrap();
    assert_eq!((fake_cuda::queued(), fake_cuda::allocations()), (0, 1));
}

#[test]
fn results_and_copies_are_not_the_callers_tensor() {
    let device = fake_cuda::device();
    let [stream] = streams(&device);
    let mut t = tensor(&device);
    // A kernel that writes a parameter by value, and returns it.
    let mut call = KERNEL.call(Some(&device)).unwrap();
    let data = t.pass(&call, "data", true).unwrap();
    call.enqueue(&mut Args { data, order: 10 }, &stream)
        .unwrap();
    let doubled = call.device_result::<u8, _>(data, (2,)).unwrap();
    drop(call);
    // One that only reads it, and returns it.
    let mut call = KERNEL.call(Some(&device)).unwrap();
    let data = t.pass(&call, "data", false).unwrap();
    assert_eq!(data.cast(), t.as_device_mut_ptr());
    let mut args = Args { data, order: 11 };
    call.enqueue(&mut args, &stream).unwrap();
    let same = call.device_result::<u8, _>(data, (2,)).unwrap();
    drop(call);
    assert_ne!(same.as_device_ptr(), t.as_device_ptr());
    twice_on(&stream, &mut t, 10).unwrap();
    twice_on(&stream, &mut t, 10).unwrap();
    assert_eq!(same.to_host().unwrap().as_slice(), [21, 5]);
    assert_eq!(doubled.to_host().unwrap().as_slice(), [42, 5]);
    assert_eq!(t.to_host().unwrap().as_slice(), [84, 5]);
}

/// A view borrows at compile time; what a kernel uses is kept at run time.
#[test]
fn a_view_in_flight_keeps_its_tensor() {
    let device = fake_cuda::device();
    let [stream] = streams(&device);
    let t = tensor(&device);
    read_on(&stream, &t.view()).unwrap();
    drop(t);
    assert_eq!((fake_cuda::queued(), fake_cuda::allocations()), (1, 2));
    stream.synchronize().unwrap();
    assert_eq!(fake_cuda::allocations(), 0);
}

/// Reports when it is dropped.
struct Guard(Sender<()>);

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = self.0.send(());
    }
}

/// Memory that kernels take in place.
#[repr(align(16))]
struct Aligned([u8; 4]);

fn guard() -> (Guard, Receiver<()>) {
    let (sender, receiver) = mpsc::channel();
    (Guard(sender), receiver)
}

/// Whether the guard is dropped, also by another thread.
fn is_dropped(dropped: &Receiver<()>) -> bool {
    dropped.recv_timeout(Duration::from_secs(20)).is_ok()
}

#[test]
fn foreign_memory_is_kept_until_its_work_is_complete() {
    let device = fake_cuda::device();
    let [a, b] = streams(&device);
    let foreign = |owner: Guard, memory: &mut Aligned| {
        fake_cuda::foreign_memory(&memory.0);
        let address = memory.0.as_mut_ptr();
        // SAFETY: the tests keep the memory until the owner is dropped.
        unsafe { DeviceTensor::from_raw_parts(address, (Const::<2>,), &device, owner) }.unwrap()
    };
    // Without work in flight, immediately.
    let (mut memory, (owner, dropped)) = (Aligned([21, 5, 0, 0]), guard());
    let mut t = foreign(owner, &mut memory);
    t.copy_from_host(&Tensor::from_vec((2,), vec![4, 4]).unwrap())
        .unwrap();
    drop(t);
    assert!(dropped.try_recv().is_ok());

    // Behind work on two streams: copied on one, read on the other.
    let (owner, dropped) = guard();
    let t = foreign(owner, &mut memory);
    read_on(&a, &t).unwrap();
    read_on(&b, &t).unwrap();
    drop(t);
    a.synchronize().unwrap();
    assert!(dropped.recv_timeout(Duration::from_millis(50)).is_err());
    b.synchronize().unwrap();
    assert!(is_dropped(&dropped));

    // A tensor that is forgotten keeps its owner for ever.
    let (owner, dropped) = guard();
    std::mem::forget(foreign(owner, &mut memory));
    device.synchronize().unwrap();
    assert!(dropped.recv_timeout(Duration::from_millis(50)).is_err());
}

#[test]
fn foreign_memory_is_released_after_a_failure() {
    let device = fake_cuda::device();
    let [stream] = streams(&device);
    let (owner, dropped) = guard();
    let mut memory = Aligned([21, 5, 0, 0]);
    let address = memory.0.as_mut_ptr();
    // SAFETY: the memory lives until the end of the test.
    let t = unsafe { DeviceTensor::from_raw_parts(address, (Const::<2>,), &device, owner) };
    let mut t = t.unwrap();
    twice_on(&stream, &mut t, 12).unwrap();
    drop(t);
    assert!(dropped.try_recv().is_err());
    fake_cuda::run_all();
    assert!(is_dropped(&dropped));
    STICKY.set(0);
}

#[test]
fn a_foreign_stream_is_used_and_not_destroyed() {
    let device = fake_cuda::device();
    let (owner, dropped) = guard();
    let raw = fake_cuda::foreign_stream();
    let live = fake_cuda::live_streams();
    // SAFETY: the stream is destroyed at the end.
    let stream = unsafe { Stream::from_raw(raw, &device, owner) }.unwrap();
    assert_eq!(stream.as_raw(), raw);
    let mut t = tensor(&device);
    twice_on(&stream, &mut t, 10).unwrap();
    let clone = stream.clone();
    drop(stream);
    // Its memory is freed there, without waiting.
    drop(t);
    assert!(dropped.try_recv().is_err());
    drop(clone);
    assert!(dropped.try_recv().is_ok());
    assert_eq!((fake_cuda::queued(), fake_cuda::live_streams()), (1, live));
    device.synchronize().unwrap();
    assert_eq!((fake_cuda::queued(), fake_cuda::allocations()), (0, 0));
    fake_cuda::destroy(raw);
}

/// A program that breaks its promise gets CUDA's error; memory is not freed early.
#[test]
fn a_foreign_stream_that_is_destroyed_under_us_is_an_error() {
    type Operation = fn(&Stream, &mut DeviceTensor<u8, (Const<2>,)>) -> Result<()>;
    let operations: [Operation; 6] = [
        |stream, _| stream.synchronize(),
        |stream, _| stream.query().map(|_| ()),
        |stream, _| stream.record().map(|_| ()),
        |stream, t| read_on(stream, &*t),
        |stream, t| t.with_device_mut_ptr(stream, |_| ()),
        |stream, _| match pin!(stream.into_future()).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(done) => done,
            Poll::Pending => Ok(()),
        },
    ];
    for operation in operations {
        let device = fake_cuda::device();
        let raw = fake_cuda::foreign_stream();
        // SAFETY: the fake runtime returns an error for a destroyed stream.
        let stream = unsafe { Stream::from_raw(raw, &device, ()) }.unwrap();
        let mut t = tensor(&device);
        fake_cuda::destroy(raw);
        let e = operation(&stream, &mut t).unwrap_err();
        assert!(matches!(e, Error::Cuda { code: 400, .. }), "{e}");
        let e = operation(&stream, &mut t).unwrap_err();
        assert!(matches!(e, Error::Poisoned(_)), "{e}");
    }
}

#[test]
fn events_order_streams_without_waiting() {
    let device = fake_cuda::device();
    let [a, b] = streams(&device);
    let (mut x, mut y) = (tensor(&device), tensor(&device));
    let waits = fake_cuda::waits();
    let start = a.record().unwrap();
    twice_on(&a, &mut x, 10).unwrap();
    assert!(!a.query().unwrap() && b.query().unwrap());
    let end = a.record().unwrap();
    b.wait_for(&end).unwrap();
    twice_on(&b, &mut y, 10).unwrap();
    assert!(start.query().unwrap() && !end.query().unwrap());
    assert_eq!((fake_cuda::waits(), fake_cuda::queued()), (waits, 2));
    // The work on `b` needs that on `a`.
    b.synchronize().unwrap();
    assert!(end.query().unwrap() && a.query().unwrap());
    assert_eq!(fake_cuda::queued(), 0);
    assert!(start.elapsed(&end).unwrap() > Duration::ZERO);
    assert_eq!(end.elapsed(&start).unwrap(), Duration::ZERO);
    let on_sim = Stream::new(&Device::sim()).unwrap().record().unwrap();
    assert!(matches!(
        start.elapsed(&on_sim),
        Err(Error::WrongDevice { .. })
    ));
    b.wait_for(&on_sim).unwrap();
    // An event outlives its stream, and waits.
    twice_on(&a, &mut x, 10).unwrap();
    let end = a.record().unwrap();
    drop(a);
    end.clone().synchronize().unwrap();
    assert_eq!(fake_cuda::queued(), 0);
    let events = fake_cuda::live_events();
    drop((start, end));
    assert!(fake_cuda::live_events() < events);
}

#[test]
fn work_of_other_libraries_is_in_order() {
    let device = fake_cuda::device();
    let [a, b] = streams(&device);
    let mut t = tensor(&device);
    twice_on(&a, &mut t, 10).unwrap();
    t.with_device_mut_ptr(&b, |at| add_one(&b, at)).unwrap();
    twice_on(&a, &mut t, 10).unwrap();
    assert_eq!(fake_cuda::queued(), 3);
    assert_eq!(t.to_host().unwrap().as_slice(), [86, 5]);

    // Also if the closure panics after it has enqueued something.
    let enqueue = std::panic::AssertUnwindSafe(|| {
        t.with_device_mut_ptr(&b, |at| {
            add_one(&b, at);
            panic!("on purpose");
        })
    });
    assert!(std::panic::catch_unwind(enqueue).is_err());
    drop(t);
    assert_eq!((fake_cuda::queued(), fake_cuda::allocations()), (1, 1));
    b.synchronize().unwrap();
    assert_eq!(fake_cuda::allocations(), 0);
}

/// Reports that it was woken.
struct Woken(Mutex<Sender<()>>);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        let _ = self.0.lock().unwrap().send(());
    }
}

fn waker() -> (Waker, Receiver<()>) {
    let (sender, receiver) = mpsc::channel();
    (Waker::from(Arc::new(Woken(Mutex::new(sender)))), receiver)
}

#[test]
fn a_stream_is_awaited_without_waiting() {
    let device = fake_cuda::device();
    let [stream] = streams(&device);
    let mut t = tensor(&device);
    let (waker, woken) = waker();
    let mut context = Context::from_waker(&waker);
    twice_on(&stream, &mut t, 10).unwrap();
    let waits = fake_cuda::waits();
    let mut done = (&stream).into_future();
    // Later work does not delay it.
    twice_on(&stream, &mut t, 10).unwrap();
    assert_eq!(Pin::new(&mut done).poll(&mut context), Poll::Pending);
    assert_eq!(Pin::new(&mut done).poll(&mut context), Poll::Pending);
    assert_eq!((fake_cuda::waits(), fake_cuda::queued()), (waits, 2));
    fake_cuda::run_all();
    assert!(is_dropped(&woken));
    assert_eq!(Pin::new(&mut done).poll(&mut context), Poll::Ready(Ok(())));
    // It wakes once.
    assert!(woken.recv_timeout(Duration::from_millis(50)).is_err());
    // An empty stream, by value.
    let mut done = stream.into_future();
    while Pin::new(&mut done).poll(&mut context).is_pending() {
        assert!(is_dropped(&woken));
    }
}

#[test]
fn a_dropped_future_frees_nothing_early() {
    let device = fake_cuda::device();
    let [stream] = streams(&device);
    let mut t = tensor(&device);
    twice_on(&stream, &mut t, 10).unwrap();
    let (waker, woken) = waker();
    let mut done = (&stream).into_future();
    let poll = Pin::new(&mut done).poll(&mut Context::from_waker(&waker));
    assert!(poll.is_pending());
    drop(done);
    // Neither does one that is never polled, nor one that is forgotten.
    std::mem::forget((&stream).into_future());
    drop(t);
    drop(stream);
    assert_eq!((fake_cuda::queued(), fake_cuda::allocations()), (1, 1));
    // The kernel asserts that its memory is allocated.
    device.synchronize().unwrap();
    assert_eq!((fake_cuda::queued(), fake_cuda::allocations()), (0, 0));
    // The executor has dropped the task, so it may ignore this.
    assert!(is_dropped(&woken));
}

#[test]
fn a_future_returns_the_failure_of_its_work() {
    let device = fake_cuda::device();
    let [stream] = streams(&device);
    let mut t = tensor(&device);
    twice_on(&stream, &mut t, 12).unwrap();
    let (waker, woken) = waker();
    let mut context = Context::from_waker(&waker);
    let mut done = (&stream).into_future();
    assert!(Pin::new(&mut done).poll(&mut context).is_pending());
    fake_cuda::run_all();
    assert!(is_dropped(&woken));
    let Poll::Ready(Err(failure)) = Pin::new(&mut done).poll(&mut context) else {
        panic!("no failure");
    };
    assert_eq!(
        failure.to_string(),
        "twice: 1 is less than 2 [R14]\n  at k/twice.co:3"
    );
    let poisoned = Poll::Ready(Err(Error::Poisoned(Box::new(failure))));
    assert_eq!(pin!((&stream).into_future()).poll(&mut context), poisoned);
    STICKY.set(0);

    // A recorded failure leaves the device usable.
    let device = fake_cuda::device();
    let [stream] = streams(&device);
    let mut t = tensor(&device);
    twice_on(&stream, &mut t, 15).unwrap();
    let mut done = (&stream).into_future();
    fake_cuda::run_all();
    while Pin::new(&mut done).poll(&mut context) == Poll::Pending {
        assert!(is_dropped(&woken));
    }
    stream.synchronize().unwrap();
}
