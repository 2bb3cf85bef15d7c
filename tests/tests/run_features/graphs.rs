//! Graphs of calls: they compute what the calls compute.

use croq_sys::{Const, Device, DeviceTensor, Error, Graph, Stream, Tensor};
use croq_tests::compare::assert_exact;
use croq_tests::kernels;

fn numbers(n: usize, seed: u64) -> Tensor<i32, (usize,)> {
    Tensor::<i32, _>::random((n,), -1000..1000, seed)
}

#[test]
fn each_launch_is_all_calls() {
    let device = Device::default();
    let stream = Stream::new(&device).unwrap();
    let host = numbers(70, 1);
    let mut x = host.to_device(&device).unwrap();
    let mut graph = Graph::capture(&device, move |s| {
        kernels::stream_scale_on(s, &mut x, 3)?;
        // Temporary memory, results, and copies of what kernels write.
        let tripled = kernels::resident_scaled_on(s, &x, 2)?;
        let counted = kernels::resident_counted_on(s, &tripled)?;
        let same = kernels::resident_same_on(s, &counted)?;
        Ok((x, same))
    })
    .unwrap();
    assert_exact(&graph.tensors().0.to_host().unwrap(), |i| host[i]);
    assert_exact(&graph.tensors().1.to_host().unwrap(), |_| 0);
    for factor in [3, 9, 27] {
        graph.launch(&stream).unwrap();
        let (x, same) = graph.tensors();
        assert_exact(&same.to_host().unwrap(), |i| host[i] * factor * 2 + 1);
        assert_exact(&x.to_host().unwrap(), |i| host[i] * factor);
    }
    // With other input.
    let next = numbers(70, 2);
    graph.tensors_mut().0.copy_from_host(&next).unwrap();
    graph.launch(&stream).unwrap();
    let (x, same) = graph.into_tensors();
    assert_exact(&same.to_host().unwrap(), |i| next[i] * 6 + 1);
    assert_exact(&x.to_host().unwrap(), |i| next[i] * 3);
}

#[test]
fn views_in_a_graph_are_those_of_each_launch() {
    let device = Device::default();
    let stream = Stream::new(&device).unwrap();
    let host = Tensor::<i32, _>::random((20, 4), -100..100, 3);
    let (x, y) = (
        host.to_device(&device).unwrap(),
        host.to_device(&device).unwrap(),
    );
    let mut graph = Graph::capture(&device, move |s| {
        let rows = x.view().slice([3..9, 0..4])?.into_dims((6, Const::<4>))?;
        let others = y.view().slice([1..7, 0..4])?.into_dims((6, Const::<4>))?;
        let sums = kernels::stream_added_on(s, &rows, &others)?;
        Ok((x, y, sums))
    })
    .unwrap();
    graph.launch(&stream).unwrap();
    assert_exact(&graph.tensors().2.to_host().unwrap(), |[j, i]| {
        host[[i + 3, j]] + host[[i + 1, j]]
    });
}

/// Loops of the host, exchanged memory, and host code that no graph can contain.
#[test]
fn host_code_runs_while_the_graph_is_recorded() {
    let device = Device::default();
    let stream = Stream::new(&device).unwrap();
    let host = Tensor::<f32, _>::random((31,), -1.0..1.0, 4);
    let mut graph = Graph::capture(&device, |s| {
        let x = host.to_device(&device)?;
        let relaxed = kernels::written_relaxed_on(s, &x, 3)?;
        Ok((x, relaxed))
    })
    .unwrap();
    let expected = kernels::written_relaxed(&host, 3).unwrap();
    for _ in 0..2 {
        graph.launch(&stream).unwrap();
        let (x, relaxed) = graph.tensors();
        assert_eq!(relaxed.to_host().unwrap().as_slice(), expected.as_slice());
        assert_eq!(x.to_host().unwrap().as_slice(), host.as_slice());
    }
    let x = host.to_device(&device).unwrap();
    let waits = Graph::capture(&device, |s| {
        let _ = kernels::written_converged_on(s, &x, 0.1)?;
        Ok(&x)
    });
    assert!(matches!(waits, Err(Error::Capture { .. })), "{waits:?}");
    let host = numbers(5, 5);
    let on_host = Graph::capture(&device, |s| kernels::resident_scaled_on(s, &host, 2));
    assert!(matches!(on_host, Err(Error::Capture { .. })), "{on_host:?}");
}

#[test]
fn calls_without_elements_are_no_part_of_a_graph() {
    let device = Device::default();
    let mut graph = Graph::capture(&device, |s| {
        let x = DeviceTensor::<i32, _>::zeros((0,), &device)?;
        kernels::resident_scaled_on(s, &x, 2)
    })
    .unwrap();
    graph.launch(&Stream::new(&device).unwrap()).unwrap();
    assert_eq!(graph.tensors().to_host().unwrap().shape(), [0]);
}

/// A check that fails does so at the launch.
#[test]
fn a_failed_launch_can_be_repeated_on_the_simulated_gpu() {
    let device = Device::sim();
    let stream = Stream::new(&device).unwrap();
    let on_device = |ids: Vec<i32>| Tensor::from_vec((3,), ids)?.to_device(&device);
    let table = Tensor::from_fn((4, 8), |[i, j]| (8 * i + j) as f32);
    let mut graph = Graph::capture(&device, |s| {
        let (table, ids) = (table.to_device(&device)?, on_device(vec![2, 9, 0])?);
        let mut out = DeviceTensor::<f32, _>::zeros((3, 8), &device)?;
        kernels::tile_gather_on(s, &table, &ids, &mut out)?;
        Ok((table, ids, out))
    })
    .unwrap();
    for _ in 0..2 {
        let e = graph.launch(&stream).unwrap_err();
        assert!(matches!(e, Error::Check { code: "R12", .. }), "{e}");
    }
    let ids = Tensor::from_vec((3,), vec![2, 1, 0]).unwrap();
    graph.tensors_mut().1.copy_from_host(&ids).unwrap();
    graph.launch(&stream).unwrap();
    assert_exact(&graph.tensors().2.to_host().unwrap(), |[i, j]| {
        table[[2 - i, j]]
    });
}
