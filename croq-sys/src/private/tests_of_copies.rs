//! Tests of copies that are in flight, with the fake CUDA runtime: between devices, and between a device
//! and page-locked memory.

use super::tests_on_cuda::{tensor, twice, twice_on};
use crate::cuda::Runtime;
use crate::fake_cuda::{self, STICKY};
use crate::{Const, Device, DeviceTensor, Error, Graph, PinnedTensor, Stream, Tensor};

type Pinned = PinnedTensor<u8, (Const<2>,)>;

fn pinned(device: &Device, elements: [u8; 2]) -> Pinned {
    let host = Tensor::from_vec((Const,), elements.to_vec()).unwrap();
    host.to_pinned(device).unwrap()
}

/// The second GPU of the fake runtime.
fn other_device() -> Device {
    Device::open(Runtime::new(&fake_cuda::API), 1).unwrap()
}

#[test]
fn copies_to_and_from_the_host_are_in_order_and_wait_for_nothing() {
    let device = fake_cuda::device();
    let [a, b] = [(); 2].map(|()| Stream::new(&device).unwrap());
    let (mut input, mut output) = (pinned(&device, [7, 1]), pinned(&device, [0, 0]));
    let mut t = tensor(&device);
    let waits = fake_cuda::waits();
    t.copy_from_host_on(&a, &input).unwrap();
    twice_on(&b, &mut t, 10).unwrap();
    t.copy_to_host_on(&a, &mut output).unwrap();
    // After the copy that is in flight, and before the next one.
    twice_on(&b, &mut t, 10).unwrap();
    assert_eq!((fake_cuda::waits(), fake_cuda::queued()), (waits, 4));
    // Reading waits for the copy to the tensor only.
    assert_eq!(input.as_slice().unwrap(), [7, 1]);
    assert_eq!(fake_cuda::waits(), waits);
    assert_eq!(output.as_slice().unwrap(), [14, 1]);
    // Writing waits for the copies from it.
    t.copy_from_host_on(&b, &input).unwrap();
    assert_eq!(fake_cuda::queued(), 2);
    input.as_mut_slice().unwrap().fill(9);
    assert_eq!(fake_cuda::queued(), 0);
    assert_eq!(t.to_host().unwrap().as_slice(), [7, 1]);
    assert_eq!(input.view().unwrap()[[1]], 9);
}

#[test]
fn copies_through_the_host_are_in_order_on_two_streams() {
    let device = fake_cuda::device();
    let [a, b] = [(); 2].map(|()| Stream::new(&device).unwrap());
    for first in [&a, &b] {
        let (mut from, mut to) = (tensor(&device), tensor(&device));
        let mut host = pinned(&device, [0, 0]);
        twice_on(&a, &mut from, 10).unwrap();
        from.copy_to_host_on(&a, &mut host).unwrap();
        // After the copy to the host, and before the next one.
        to.copy_from_host_on(&b, &host).unwrap();
        twice_on(&a, &mut from, 10).unwrap();
        from.copy_to_host_on(&a, &mut host).unwrap();
        first.synchronize().unwrap();
        assert_eq!(to.to_host().unwrap().as_slice(), [42, 5]);
        assert_eq!(host.as_slice().unwrap(), [84, 5]);
    }
}

/// The story of the borrowed copy: what is dropped, or forgotten, is freed after the copy or never.
#[test]
fn a_copy_in_flight_keeps_the_memory_of_the_host() {
    let device = fake_cuda::device();
    let stream = Stream::new(&device).unwrap();
    let (input, mut output) = (pinned(&device, [7, 1]), pinned(&device, [0, 0]));
    let live = fake_cuda::host_allocations();
    let mut t = tensor(&device);
    t.copy_from_host_on(&stream, &input).unwrap();
    t.copy_to_host_on(&stream, &mut output).unwrap();
    drop((input, output, t));
    std::thread::sleep(std::time::Duration::from_millis(50));
    assert_eq!(fake_cuda::host_allocations(), live);
    // The copies assert that their memory is allocated.
    device.synchronize().unwrap();
    let freed = || fake_cuda::host_allocations() == live - 2;
    let mut tries = 0;
    while !freed() && tries < 1000 {
        tries += 1;
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert!(freed() && fake_cuda::allocations() == 0);

    let input = pinned(&device, [7, 1]);
    let mut t = tensor(&device);
    t.copy_from_host_on(&stream, &input).unwrap();
    std::mem::forget(input);
    assert_eq!(t.to_host().unwrap().as_slice(), [7, 1]);
    assert_eq!(fake_cuda::host_allocations(), live - 1);
    // Without work in flight at once.
    drop(pinned(&device, [0, 0]));
    assert_eq!(fake_cuda::host_allocations(), live - 1);
}

#[test]
fn parts_with_gaps_are_gathered_on_the_device() {
    for device in [fake_cuda::device(), Device::sim()] {
        let stream = Stream::new(&device).unwrap();
        let host = Tensor::from_fn((4, 3), |[i, j]| (10 * i + j) as u8);
        let mut t = host.to_device(&device).unwrap();
        let mut column = PinnedTensor::<u8, _>::zeros((4, 1), &device).unwrap();
        let part = t.view().slice([0..4, 1..2]).unwrap();
        part.copy_to_host_on(&stream, &mut column).unwrap();
        assert_eq!(column.as_slice().unwrap(), [1, 11, 21, 31]);
        column.view_mut().unwrap()[[3, 0]] = 99;
        let mut part = t.view_mut().slice([0..4, 2..3]).unwrap();
        part.copy_from_host_on(&stream, &column).unwrap();
        let expected = [0, 1, 1, 10, 11, 11, 20, 21, 21, 30, 31, 99];
        assert_eq!(t.to_host().unwrap().as_slice(), expected);
    }
    assert_eq!(fake_cuda::allocations(), 0);
}

#[test]
fn bytes_that_are_no_elements_are_found() {
    for device in [fake_cuda::device(), Device::sim()] {
        let stream = Stream::new(&device).unwrap();
        let mut host = PinnedTensor::<bool, _>::zeros((3,), &device).unwrap();
        let mut t = DeviceTensor::<bool, _>::zeros((3,), &device).unwrap();
        t.copy_to_host_on(&stream, &mut host).unwrap();
        assert_eq!(host.as_slice().unwrap(), [false; 3]);
        stream.synchronize().unwrap();
        // SAFETY: host memory on both; what C++ code might write.
        unsafe { t.as_device_mut_ptr().cast::<u8>().add(1).write(7) };
        t.copy_to_host_on(&stream, &mut host).unwrap();
        for _ in 0..2 {
            let e = host.as_slice().unwrap_err();
            assert_eq!(e, Error::NotBool { index: 1, byte: 7 });
        }
        assert!(host.as_mut_slice().is_err());
    }
}

#[test]
fn copies_that_are_not_possible_are_errors() {
    let (device, other) = (fake_cuda::device(), other_device());
    let [stream, foreign] = [&device, &other].map(|device| Stream::new(device).unwrap());
    let mut t = tensor(&device);
    let mut host = pinned(&device, [0, 0]);
    let mut long = PinnedTensor::<u8, _>::zeros((3,), &device).unwrap();
    let mut away = pinned(&other, [0, 0]);
    let found = [
        t.copy_to_host_on(&foreign, &mut host),
        t.copy_to_host_on(&stream, &mut away),
        t.copy_to_host_on(&stream, &mut long),
        Graph::capture(&device, |s| t.copy_to_host_on(s, &mut host)).map(|_| ()),
    ]
    .map(|copied| copied.unwrap_err());
    assert!(matches!(
        found[0],
        Error::WrongDevice {
            param: "stream",
            ..
        }
    ));
    assert!(matches!(found[1], Error::WrongDevice { param: "host", .. }));
    assert!(matches!(found[2], Error::CopyShape { .. }));
    assert!(matches!(found[3], Error::Capture { .. }));
    assert!(t.copy_from_host_on(&foreign, &host).is_err());
    let e = PinnedTensor::<u64, _>::zeros((usize::MAX / 2,), &device).unwrap_err();
    assert!(matches!(e, Error::OutOfMemory { .. }), "{e}");
}

#[test]
fn a_failure_is_that_of_the_next_access() {
    let device = fake_cuda::device();
    let stream = Stream::new(&device).unwrap();
    let (mut t, mut host) = (tensor(&device), pinned(&device, [0, 0]));
    twice_on(&stream, &mut t, 12).unwrap();
    t.copy_to_host_on(&stream, &mut host).unwrap();
    let e = host.as_slice().unwrap_err();
    assert!(matches!(e, Error::Check { code: "R14", .. }), "{e}");
    assert!(matches!(host.as_slice(), Err(Error::Poisoned(_))));
    assert!(matches!(host.as_mut_slice(), Err(Error::Poisoned(_))));
    drop(host);
    STICKY.set(0);
}

#[test]
fn copies_to_another_gpu_are_in_order() {
    let (device, other) = (fake_cuda::device(), other_device());
    let [a, b] = [&device, &other].map(|device| Stream::new(device).unwrap());
    let mut t = tensor(&device);
    twice_on(&a, &mut t, 10).unwrap();
    let waits = fake_cuda::waits();
    let mut copy = t.to_device(&other).unwrap();
    assert_eq!(copy.device(), &other);
    twice_on(&b, &mut copy, 10).unwrap();
    twice_on(&a, &mut t, 10).unwrap();
    let back = copy.to_device(&device).unwrap();
    assert_eq!((fake_cuda::waits(), fake_cuda::queued()), (waits, 5));
    // Freed after the copies.
    drop(copy);
    assert_eq!(back.to_host().unwrap().as_slice(), [84, 5]);
    assert_eq!(t.to_host().unwrap().as_slice(), [84, 5]);
    drop(t);
    device.synchronize().unwrap();
    other.synchronize().unwrap();
    assert_eq!((fake_cuda::queued(), fake_cuda::allocations()), (0, 1));
    // A part, and to the same device.
    let host = Tensor::from_fn((4, 3), |[i, j]| (10 * i + j) as u8);
    let whole = host.to_device(&device).unwrap();
    let column = whole.view().slice([1..3, 1..2]).unwrap();
    for to in [&device, &other, &Device::sim()] {
        let copy = column.to_device(to).unwrap();
        assert_eq!(
            (copy.device(), copy.to_host().unwrap().as_slice()),
            (to, &[11, 21][..])
        );
    }
    let mut clone = back.to_device(&device).unwrap();
    twice(&mut clone, 10).unwrap();
    assert_ne!(clone.to_host().unwrap(), back.to_host().unwrap());
}

/// The default stream is that of the device which is selected.
#[test]
fn a_default_stream_waits_on_its_own_device() {
    let (device, other) = (fake_cuda::device(), other_device());
    let stream = Stream::new(&device).unwrap();
    // SAFETY: the default stream is never destroyed.
    let default = unsafe { Stream::from_raw(std::ptr::null_mut(), &other, ()) }.unwrap();
    let event = stream.record().unwrap();
    default.wait_for(&event).unwrap();
    assert_eq!(fake_cuda::device_of_wait(), 1);
    stream.wait_for(&event).unwrap();
    assert_eq!(fake_cuda::device_of_wait(), 0);
}
