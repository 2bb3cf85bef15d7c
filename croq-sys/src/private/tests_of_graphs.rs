//! Tests of graphs, with the fake CUDA runtime.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::tests_on_cuda::{Args, KERNEL, tensor, twice, twice_on};
use crate::device_data::{DeviceData, DeviceDataMut};
use crate::fake_cuda::{self, STICKY};
use crate::{
    Const, Device, DeviceTensor, Error, Graph, Input, PinnedTensor, Result, Stream, Tensor,
};

type Bytes = DeviceTensor<u8, (Const<2>,)>;

/// A call that writes `t`.
fn write_on<D: crate::Dims, S: DeviceDataMut>(
    stream: &Stream,
    t: &mut DeviceTensor<u8, D, S>,
    order: i32,
) -> Result<()> {
    let mut call = KERNEL.call(Some(stream.device()))?;
    let data = call.global_mut("data", t)?;
    call.enqueue(&mut Args { data, order }, stream)
}

/// A call that reads `t` and returns new memory.
fn read_on<D: crate::Dims, S: DeviceData>(
    stream: &Stream,
    t: &DeviceTensor<u8, D, S>,
    order: i32,
) -> Result<Bytes> {
    let mut call = KERNEL.call(Some(stream.device()))?;
    let data = call.global("data", t)?;
    let mut args = Args { data, order };
    call.enqueue(&mut args, stream)?;
    call.device_result(args.data, (Const::<2>,))
}

/// A graph that doubles the first byte of its tensor twice.
fn graph(device: &Device) -> Graph<Bytes> {
    let mut t = tensor(device);
    Graph::capture(device, move |stream| {
        twice_on(stream, &mut t, 10)?;
        twice_on(stream, &mut t, 10)?;
        Ok(t)
    })
    .unwrap()
}

fn is_refused<T>(result: Result<T>, reason: &str) {
    match result.map(|_| ()) {
        Err(Error::Capture { reason: found, .. }) => assert!(found.contains(reason), "{found}"),
        other => panic!("{other:?} is not about {reason}"),
    }
}

#[test]
fn a_launch_runs_the_calls_in_order_with_other_work() {
    let device = fake_cuda::device();
    let [a, b] = [(); 2].map(|()| Stream::new(&device).unwrap());
    let mut graph = graph(&device);
    let waits = fake_cuda::waits();
    assert_eq!((fake_cuda::queued(), fake_cuda::live_graphs()), (0, 1));
    graph.launch(&a).unwrap();
    // On another stream after the launch, and the next launch after that.
    twice_on(&b, graph.tensors_mut(), 10).unwrap();
    graph.launch(&a).unwrap();
    assert_eq!((fake_cuda::waits(), fake_cuda::queued()), (waits, 5));
    // 21 * 2^5.
    assert_eq!(graph.tensors().to_host().unwrap().as_slice(), [160, 5]);
    assert_eq!(fake_cuda::queued(), 0);
    twice(graph.tensors_mut(), 0).unwrap();
    assert_eq!(graph.into_tensors().to_host().unwrap().as_slice(), [64, 5]);
    assert_eq!((fake_cuda::live_graphs(), fake_cuda::allocations()), (0, 0));
}

#[test]
fn a_graph_in_flight_keeps_its_memory() {
    let device = fake_cuda::device();
    let stream = Stream::new(&device).unwrap();
    let mut graph = graph(&device);
    graph.launch(&stream).unwrap();
    drop(graph);
    // The kernels assert that their memory is allocated.
    assert_eq!((fake_cuda::queued(), fake_cuda::allocations()), (2, 1));
    assert_eq!(fake_cuda::live_graphs(), 1);
    device.synchronize().unwrap();
    assert_eq!((fake_cuda::queued(), fake_cuda::allocations()), (0, 0));
}

#[test]
fn results_and_what_was_dropped_belong_to_the_graph() {
    let device = fake_cuda::device();
    let stream = Stream::new(&device).unwrap();
    let mut graph = Graph::capture(&device, |stream| {
        let mut dropped = tensor(&device);
        twice_on(stream, &mut dropped, 10)?;
        let unused = read_on(stream, &dropped, 11)?;
        drop(unused);
        read_on(stream, &dropped, 11)
    })
    .unwrap();
    assert_eq!(fake_cuda::allocations(), 3);
    // Zeros before the first launch.
    assert_eq!(graph.tensors().to_host().unwrap().as_slice(), [0, 0]);
    let fills = fake_cuda::fills();
    graph.launch(&stream).unwrap();
    graph.launch(&stream).unwrap();
    // Cleared in the graph, which allocates nothing.
    assert_eq!((fake_cuda::fills(), fake_cuda::allocations()), (fills, 3));
    assert_eq!(fake_cuda::queued(), 6);
    drop(graph);
    device.synchronize().unwrap();
    assert_eq!(fake_cuda::allocations(), 0);
}

#[test]
fn parts_with_gaps_are_copied_at_each_launch() {
    let device = fake_cuda::device();
    let stream = Stream::new(&device).unwrap();
    let host = Tensor::from_fn((4, 2), |[i, j]| (10 * i + j) as u8);
    let t = host.to_device(&device).unwrap();
    let mut graph = Graph::capture(&device, |stream| {
        // The second column, written by the kernel and returned.
        let column = t.view().slice([0..4, 1..2])?;
        let mut call = KERNEL.call(Some(&device))?;
        let data = column.pass(&call, "data", true)?;
        call.enqueue(&mut Args { data, order: 10 }, stream)?;
        let doubled = call.device_result::<u8, _>(data, (4,))?;
        // Read, and returned as it is.
        let mut call = KERNEL.call(Some(&device))?;
        let data = t.pass(&call, "data", false)?;
        call.enqueue(&mut Args { data, order: 13 }, stream)?;
        let same = call.device_result::<u8, _>(data, (4, 2))?;
        Ok((t, doubled, same))
    })
    .unwrap();
    for first in [1, 50] {
        graph.launch(&stream).unwrap();
        let (t, doubled, same) = graph.tensors_mut();
        assert_eq!(
            doubled.to_host().unwrap().as_slice(),
            [2 * first, 11, 21, 31]
        );
        assert_eq!(same.to_host().unwrap(), t.to_host().unwrap());
        let mut corner = t.view_mut().slice([0..1, 1..2]).unwrap();
        corner
            .copy_from_host(&Tensor::from_vec((1, 1), vec![50]).unwrap())
            .unwrap();
    }
}

#[test]
fn tensors_that_the_graph_does_not_hold_are_errors() {
    let device = fake_cuda::device();
    let stream = Stream::new(&device).unwrap();
    let mut t = tensor(&device);
    let does_not_hold = "that it does not hold";
    is_refused(
        Graph::capture(&device, |s| twice_on(s, &mut t, 10)),
        does_not_hold,
    );
    let mut result = None;
    let smuggled = Graph::capture(&device, |s| {
        result = Some(read_on(s, &t, 11)?);
        Ok(&t)
    });
    is_refused(smuggled, does_not_hold);
    let shared = Graph::capture(&device, |s| {
        twice_on(s, &mut t, 10)?;
        Ok(&t)
    });
    is_refused(shared, "only to be read");
    let mut owned = tensor(&device);
    let shared = Graph::capture(&device, move |s| {
        twice_on(s, &mut owned, 10)?;
        Ok(Arc::new(owned))
    });
    is_refused(shared, "only to be read");
    // What it only reads it may share.
    let weights = Arc::new(tensor(&device));
    let reads = |s: &Stream| {
        Ok((
            weights.clone(),
            t.view(),
            read_on(s, &weights, 11)?,
            read_on(s, &t, 11)?,
        ))
    };
    let mut graph = Graph::capture(&device, reads).unwrap();
    graph.launch(&stream).unwrap();
    drop(graph);

    // Exchanged for another tensor, and back.
    let mut graph = self::graph(&device);
    let taken = std::mem::replace(graph.tensors_mut(), tensor(&device));
    is_refused(graph.launch(&stream), does_not_hold);
    *graph.tensors_mut() = taken;
    graph.launch(&stream).unwrap();
    // Dropped there, so that only the graph has the memory: the new tensor would not be used.
    drop(std::mem::replace(graph.tensors_mut(), tensor(&device)));
    is_refused(graph.launch(&stream), does_not_hold);
    device.synchronize().unwrap();
}

#[test]
fn a_part_that_is_borrowed_mutably_is_written() {
    let device = fake_cuda::device();
    let stream = Stream::new(&device).unwrap();
    let mut t = Tensor::from_fn((2, 16), |_| 3_u8)
        .to_device(&device)
        .unwrap();
    let mut row = t.view_mut().slice([1..2, 0..16]).unwrap();
    let mut graph = Graph::capture(&device, |s| {
        write_on(s, &mut row, 10)?;
        Ok(vec![Some(row)])
    })
    .unwrap();
    graph.launch(&stream).unwrap();
    drop(graph);
    let expected = |at: [usize; 2]| if at == [1, 0] { 6 } else { 3 };
    assert_eq!(t.to_host().unwrap(), Tensor::from_fn((2, 16), expected));
}

#[test]
fn what_is_not_a_call_is_an_error() {
    let device = fake_cuda::device();
    let other = Stream::new(&device).unwrap();
    let event = other.record().unwrap();
    type Operation<'a> = &'a dyn Fn(&Stream) -> Result<()>;
    let operations: [Operation<'_>; 7] = [
        &|s| s.synchronize(),
        &|s| s.query().map(|_| ()),
        &|s| s.record().map(|_| ()),
        &|s| s.wait_for(&event),
        &|s| tensor(&device).with_device_mut_ptr(s, |_| ()),
        &|s| graph(&device).launch(s),
        &|s| {
            let mut call = KERNEL.call(Some(&device))?;
            call.stream("s", s).map(|_| ())
        },
    ];
    for operation in operations {
        is_refused(
            Graph::capture(&device, operation),
            "cannot be a part of a graph",
        );
    }
    // An argument in host memory.
    let host = Tensor::<u8, _>::zeros((2,));
    let captured = Graph::capture(&device, |s| {
        let mut call = KERNEL.call(Some(&device))?;
        let data = host.pass(&call, "data", false)?;
        call.enqueue(&mut Args { data, order: 10 }, s)
    });
    is_refused(captured, "twice: `data` is in host memory");
    // The device as a whole is not waited for by that.
    device.synchronize().unwrap();
    assert_eq!(fake_cuda::live_graphs(), 0);
}

#[test]
fn a_recording_ends_with_its_closure() {
    let device = fake_cuda::device();
    let mut kept = None;
    let graph = Graph::capture(&device, |s| {
        kept = Some(s.clone());
        Ok(())
    });
    let kept = kept.unwrap();
    let mut t = tensor(&device);
    is_refused(twice_on(&kept, &mut t, 10), "is complete");
    drop(graph);
    let live = fake_cuda::live_streams();
    drop(kept);
    // Also if it panics, or fails.
    let panics = AssertUnwindSafe(|| Graph::<()>::capture(&device, |_| panic!("on purpose")));
    assert!(catch_unwind(panics).is_err());
    let fails = Graph::<()>::capture(&device, |_| Err(Error::Strided));
    assert_eq!(fails.err(), Some(Error::Strided));
    assert_eq!(fake_cuda::live_streams(), live - 1);
    // A call that fails is the graph's failure, also if the closure goes on.
    let failed = Graph::capture(&device, |s| {
        let _ = twice_on(s, &mut t, 2);
        Ok(())
    });
    assert!(matches!(failed, Err(Error::Cuda { code: 209, .. })));
    assert_eq!(fake_cuda::live_graphs(), 0);
    device.synchronize().unwrap();
}

#[test]
fn failures_of_kernels_are_those_of_each_launch() {
    let device = fake_cuda::device();
    let stream = Stream::new(&device).unwrap();
    let capture = |order: i32| {
        let mut t = tensor(&device);
        Graph::capture(&device, move |s| {
            twice_on(s, &mut t, order)?;
            Ok(t)
        })
    };
    // Recorded by a kernel that goes on: at each launch.
    let mut graph = capture(15).unwrap();
    for _ in 0..2 {
        graph.launch(&stream).unwrap();
        let e = stream.synchronize().unwrap_err();
        assert!(matches!(e, Error::Check { code: "R14", .. }), "{e}");
        stream.synchronize().unwrap();
    }
    // One that ends the context.
    let mut graph = capture(12).unwrap();
    graph.launch(&stream).unwrap();
    let e = graph.tensors().to_host().unwrap_err();
    assert!(matches!(e, Error::Check { code: "R14", .. }), "{e}");
    assert!(matches!(graph.launch(&stream), Err(Error::Poisoned(_))));
    drop(graph);
    STICKY.set(0);
}

/// A program that breaks its promise gets CUDA's error.
#[test]
fn a_stream_that_is_destroyed_is_an_error() {
    let device = fake_cuda::device();
    let raw = fake_cuda::foreign_stream();
    // SAFETY: the fake runtime returns an error for a destroyed stream.
    let stream = unsafe { Stream::from_raw(raw, &device, ()) }.unwrap();
    let mut graph = graph(&device);
    fake_cuda::destroy(raw);
    let e = graph.launch(&stream).unwrap_err();
    assert!(matches!(e, Error::Cuda { code: 400, .. }), "{e}");
}

#[test]
fn a_graph_copies_from_and_to_page_locked_memory() {
    for device in [fake_cuda::device(), Device::sim()] {
        let stream = Stream::new(&device).unwrap();
        let zeros = |dims| PinnedTensor::<u8, _>::zeros(dims, &device).unwrap();
        let (input, mut output) = (zeros((2, 1)), zeros((1, 2)));
        let mut t = DeviceTensor::<u8, _>::zeros((2, 2), &device).unwrap();
        let mut graph = Graph::capture(&device, move |stream| {
            // A column has gaps between its elements.
            let mut column = t.view_mut().slice([0..2, 1..2])?;
            column.copy_from_host_on(stream, &input)?;
            let row = t.view().slice([0..1, 0..2])?;
            row.copy_to_host_on(stream, &mut output)?;
            let column = t.view().slice([0..2, 1..2])?;
            let mut dropped = PinnedTensor::<u8, _>::zeros((2, 1), stream.device())?;
            column.copy_to_host_on(stream, &mut dropped)?;
            Ok((input, t, output))
        })
        .unwrap();
        assert_eq!(graph.tensors().2.as_slice().unwrap(), [0, 0]);
        for round in 1..4 {
            let input = &mut graph.tensors_mut().0;
            input.as_mut_slice().unwrap().copy_from_slice(&[round, 9]);
            let waits = fake_cuda::waits();
            graph.launch(&stream).unwrap();
            assert_eq!(fake_cuda::waits(), waits);
            // Reading waits for the launch.
            assert_eq!(graph.tensors().2.as_slice().unwrap(), [0, round]);
        }
        let t = graph.into_tensors().1.to_host().unwrap();
        assert_eq!(t.as_slice(), [0, 3, 0, 9]);
    }
    assert_eq!((fake_cuda::allocations(), fake_cuda::queued()), (0, 0));
}

#[test]
fn page_locked_memory_is_held_like_other_memory() {
    for device in [fake_cuda::device(), Device::sim()] {
        let t = DeviceTensor::<u8, _>::zeros((2,), &device).unwrap();
        let mut host = PinnedTensor::<u8, _>::zeros((2,), &device).unwrap();
        let lost = Graph::capture(&device, |stream| t.copy_to_host_on(stream, &mut host));
        is_refused(lost, "that it does not hold");
        let shared = Graph::capture(&device, |stream| {
            t.copy_to_host_on(stream, &mut host)?;
            Ok((&t, &host))
        });
        is_refused(shared, "only to be read");
    }
}

#[test]
fn each_launch_may_write_bytes_that_are_no_elements() {
    for device in [fake_cuda::device(), Device::sim()] {
        let stream = Stream::new(&device).unwrap();
        let mut host = PinnedTensor::<bool, _>::zeros((3,), &device).unwrap();
        let t = DeviceTensor::<bool, _>::zeros((3,), &device).unwrap();
        let mut graph = Graph::capture(&device, move |stream| {
            t.copy_to_host_on(stream, &mut host)?;
            Ok((t, host))
        })
        .unwrap();
        graph.launch(&stream).unwrap();
        assert_eq!(graph.tensors().1.as_slice().unwrap(), [false; 3]);
        stream.synchronize().unwrap();
        let address = graph.tensors_mut().0.as_device_mut_ptr();
        // SAFETY: host memory on both; what C++ code might write.
        unsafe { address.cast::<u8>().add(1).write(7) };
        graph.launch(&stream).unwrap();
        let e = graph.tensors().1.as_slice().unwrap_err();
        assert_eq!(e, Error::NotBool { index: 1, byte: 7 });
    }
}

/// Tensors that were held at the capture, and are neither shared nor among the graph's any more.
#[test]
fn a_tensor_that_was_replaced_ends_the_launches() {
    for device in [fake_cuda::device(), Device::sim_number(3)] {
        let stream = Stream::new(&device).unwrap();
        let input = PinnedTensor::<u8, _>::zeros((2,), &device).unwrap();
        let mut x = DeviceTensor::<u8, _>::zeros((2,), &device).unwrap();
        let mut graph = Graph::capture(&device, move |stream| {
            x.copy_from_host_on(stream, &input)?;
            Ok((Some(input), x))
        })
        .unwrap();
        graph.launch(&stream).unwrap();
        let old = graph.tensors_mut().0.take();
        is_refused(graph.launch(&stream), "does not hold any more");
        graph.tensors_mut().0 = old;
        graph.launch(&stream).unwrap();
        graph.tensors_mut().0 = Some(PinnedTensor::zeros((2,), &device).unwrap());
        is_refused(graph.launch(&stream), "does not hold any more");
    }
}

/// Memory of a graph's own is allocated on the device's own stream, before a launch on another one.
#[test]
fn a_launch_is_ordered_behind_the_allocation_of_packed_parts() {
    let device = fake_cuda::device();
    let mut t = DeviceTensor::<u8, _>::zeros((4, 3), &device).unwrap();
    let column = PinnedTensor::<u8, _>::zeros((4, 1), &device).unwrap();
    let mut out = PinnedTensor::<u8, _>::zeros((4, 1), &device).unwrap();
    let graph = Graph::capture(&device, move |stream| {
        let mut part = t.view_mut().slice([0..4, 2..3])?;
        part.copy_from_host_on(stream, &column)?;
        let part = t.view().slice([0..4, 1..2])?;
        part.copy_to_host_on(stream, &mut out)?;
        Ok((t, column, out))
    })
    .unwrap();
    let own = graph.known_uses_of_own_memory();
    assert_eq!(own, [1, 1]);
}

/// `Checks::Report`: a graph's failure is returned by a wait for the stream of the launch, and by no other.
#[test]
fn what_a_graph_reports_is_the_launching_streams() {
    let device = fake_cuda::device();
    let [a, b] = [(); 2].map(|()| Stream::new(&device).unwrap());
    let (mut first, mut second) = (tensor(&device), tensor(&device));
    let mut graph = Graph::capture(&device, move |stream| {
        twice_on(stream, &mut first, 15)?;
        twice_on(stream, &mut second, 10)?;
        Ok((first, second))
    })
    .unwrap();
    for _ in 0..2 {
        graph.launch(&b).unwrap();
        fake_cuda::run_all();
        a.synchronize().unwrap();
        twice(&mut tensor(&device), 0).unwrap();
        assert!(b.synchronize().is_err());
        b.synchronize().unwrap();
    }
    // The later call of the graph was executed.
    assert_eq!(
        graph.tensors().1.to_host().unwrap().as_slice(),
        [21 << 2, 5]
    );
    graph.launch(&a).unwrap();
    assert!(graph.tensors().0.to_host().is_err());
    graph.launch(&a).unwrap();
    fake_cuda::run_all();
    drop(graph);
    b.synchronize().unwrap();
    assert!(a.synchronize().is_err());
}

/// As any other failure of a call in the closure.
#[test]
fn a_call_with_a_host_tensor_ends_the_capture_also_if_its_error_is_dropped() {
    let device = fake_cuda::device();
    let captured = Graph::capture(&device, |stream| {
        let mut call = KERNEL.call(Some(stream.device()))?;
        let host = Tensor::<u8, _>::zeros((2,));
        let data = call.copy_in(&host)?;
        let dropped = call.enqueue(&mut Args { data, order: 10 }, stream);
        assert!(dropped.is_err());
        Ok(())
    });
    is_refused(captured, "is in host memory");
}

#[test]
fn a_graph_may_cross_a_caught_panic() {
    fn is_unwind_safe<T: std::panic::UnwindSafe + std::panic::RefUnwindSafe>() {}
    is_unwind_safe::<Graph<Bytes>>();
}
