//! A program that runs on the PTX machine: its first argument selects what it does.

croq_sys::include_kernels!();

use croq_sys::{Device, DeviceTensor, Error, Graph, Result, Stream, Tensor};

unsafe extern "C" {
    fn cudaSetDevice(device: i32) -> i32;
}

fn ints(n: usize) -> Tensor<i32, (usize,)> {
    Tensor::from_fn((n,), |[i]| i as i32)
}

fn main() {
    let what = std::env::args().nth(1).unwrap_or_default();
    println!("{}", Device::default());
    match what.as_str() {
        "results" => results().unwrap(),
        "last error" => {
            // SAFETY: a function of the CUDA runtime, with which the program is linked.
            assert_eq!(unsafe { cudaSetDevice(99) }, 101);
            assert_eq!(kernels::total(&ints(100)).unwrap().as_slice(), [4950]);
        }
        "two threads" => {
            let calls = |n| (0..50).try_for_each(|_| kernels::reversed(&ints(n)).map(|_| ()));
            let threads = [13_000, 50_000].map(|n| std::thread::spawn(move || calls(n)));
            threads.into_iter().for_each(|thread| thread.join().unwrap().unwrap());
        }
        "calls" => calls().unwrap(),
        "whole" => whole().unwrap(),
        "cleared" => cleared().unwrap(),
        "maps" => maps().unwrap(),
        "graphs" => graphs().unwrap(),
        _ => println!("{}", after_failure(&what).unwrap_err()),
    }
    println!("done");
}

fn results() -> Result<()> {
    let device = Device::default();
    let x = Tensor::<f32, _>::from_fn((1000,), |[i]| (i % 17) as f32);
    let on_device = x.to_device(&device)?;
    let mut y = x.to_device(&device)?;
    kernels::axpy(3.0, &on_device, &mut y)?;
    let y = y.to_host()?;
    assert!((0..1000).all(|i| y[[i]] == 4.0 * x[[i]]));

    let lhs = Tensor::<f32, _>::from_fn((20, 30), |[i, j]| ((i * 7 + j) % 9) as f32 - 4.0);
    let rhs = Tensor::<f32, _>::from_fn((30, 40), |[i, j]| ((i + j * 5) % 11) as f32 - 5.0);
    let product = kernels::product(&lhs, &rhs)?;
    let expected = |m, n| (0..30).map(|k| lhs[[m, k]] * rhs[[k, n]]).sum::<f32>();
    assert!((0..20).all(|m| (0..40).all(|n| product[[m, n]] == expected(m, n))));

    assert_eq!(kernels::total(&ints(1000))?.as_slice(), [499_500]);
    let [one, other] = [Stream::new(&device)?, Stream::new(&device)?];
    let signalled = kernels::signalled(&ints(200), &one, &other)?;
    assert!((0..200).all(|i| signalled[[i]] == 2 * i as i32 + 1));
    Ok(())
}

/// Calls that repeat themselves.
fn calls() -> Result<()> {
    let device = Device::default();
    let [one, other] = [(16, 64), (40, 20)].map(|extents| numbers(extents, 0).to_device(&device));
    let (one, other) = (one?, other?);
    let mut results = (
        DeviceTensor::zeros((16, 64), &device)?,
        DeviceTensor::zeros((40, 20), &device)?,
    );
    for _ in 0..10 {
        kernels::moved(&one, &mut results.0)?;
        kernels::moved(&other, &mut results.1)?;
        kernels::reversed(&ints(20_000))?;
        let next = kernels::in_clusters(&ints(2048))?;
        assert!((0..2048).all(|i| next[[i]] == i as i32 + 1));
    }
    Ok(())
}

/// Results that inner calls return, and that launches write whole.
fn whole() -> Result<()> {
    for n in [1, 100, 129, 1000] {
        let y = kernels::twice_doubled(&ints(n))?;
        assert!((0..n).all(|i| y[[i]] == 4 * i as i32));
    }
    Ok(())
}

/// Results of which launches write a part.
fn cleared() -> Result<()> {
    for n in [1, 100, 129, 1000] {
        let y = kernels::doubled_before(&ints(n), 77)?;
        assert!((0..n).all(|i| y[[i]] == if i < 77 { 4 * i as i32 } else { 0 }));
    }
    Ok(())
}

/// Graphs of launches, memory that kernels allocate, and copies.
fn graphs() -> Result<()> {
    let device = Device::default();
    let [stream, other] = [Stream::new(&device)?, Stream::new(&device)?];
    let x = Tensor::from_fn((1000,), |[i]| i as f32).to_device(&device)?;
    let mut y = DeviceTensor::<f32, _>::zeros((1000,), &device)?;
    let mut graph = Graph::capture(&device, move |s| {
        kernels::axpy_on(s, 1.0, &x, &mut y)?;
        kernels::axpy_on(s, 1.0, &x, &mut y)?;
        Ok((x, y))
    })?;
    graph.launch(&stream)?;
    // On another stream, after the first launch, and before the next one.
    let (x, y) = graph.tensors_mut();
    kernels::axpy_on(&other, 100.0, x, y)?;
    graph.launch(&stream)?;
    let (_, y) = graph.into_tensors();
    let y = y.to_host()?;
    assert!((0..1000).all(|i| y[[i]] == 104.0 * i as f32));

    // Results of calls of calls, one of them cleared at each launch; a kernel with shared memory and
    // clusters; a part with gaps, which is copied at each launch.
    let x = ints(2048).to_device(&device)?;
    let mut graph = Graph::capture(&device, move |s| {
        let sum = kernels::total_on(s, &x)?;
        let part = kernels::doubled_before_on(s, &x, 77)?;
        let next = kernels::in_clusters_on(s, &x)?;
        let half = kernels::reversed_on(s, &x.view().step_by([2])?)?;
        Ok((x, sum, part, next, half))
    })?;
    for round in 1..4 {
        graph.launch(if round == 2 { &other } else { &stream })?;
        let (x, sum, part, next, half) = graph.tensors_mut();
        let host = x.to_host()?;
        assert_eq!(sum.to_host()?.as_slice(), [host.as_slice().iter().sum::<i32>()]);
        let (part, next, half) = (part.to_host()?, next.to_host()?, half.to_host()?);
        assert!((0..2048).all(|i| part[[i]] == if i < 77 { 4 * host[[i]] } else { 0 }));
        assert!((0..2048).all(|i| next[[i]] == host[[i]] + 1));
        assert!((0..1024).all(|i| half[[i]] == host[[2 * (1023 - i)]]));
        x.copy_from_host(&Tensor::from_fn((2048,), |[i]| i as i32 * round))?;
    }
    drop(graph);

    // A failure of the shim, of the capture, and of the device.
    let host = ints(5);
    let captured = Graph::capture(&device, |s| kernels::total_on(s, &host));
    assert!(matches!(captured, Err(Error::Capture { .. })), "{captured:?}");
    device.synchronize()?;
    let x = ints(5).to_device(&device)?;
    let mut graph = Graph::capture(&device, |s| {
        let y = kernels::gathered_on(s, &x, -1)?;
        Ok((&x, y))
    })?;
    // The kernel may fail before the call that launches it returns.
    let launched = graph.launch(&stream);
    let failed = launched.and_then(|()| graph.tensors().1.to_host().map(|_| ()));
    assert!(matches!(failed, Err(Error::Check { .. } | Error::OutOfBounds { .. })), "{failed:?}");
    Ok(())
}

fn numbers((m, n): (usize, usize), first: usize) -> Tensor<f32, (usize, usize)> {
    Tensor::from_fn((m, n), |[i, j]| (first + i * n + j) as f32)
}

/// More tensors than the maps of which are kept.
fn maps() -> Result<()> {
    let device = Device::default();
    for round in 0..3 {
        for shape in 1..40 {
            for extents in [(shape, 160 - 4 * shape), (160 - 4 * shape, 4 * shape)] {
                let x = numbers(extents, round);
                let mut y = DeviceTensor::zeros(extents, &device)?;
                kernels::moved(&x.to_device(&device)?, &mut y)?;
                assert_eq!(y.to_host()?.as_slice(), x.as_slice(), "{extents:?}");
            }
        }
    }
    // One thread finds what others keep.
    let same = |n| {
        (0..20).try_for_each(|_| {
            let x = numbers((16, n), n);
            let mut y = DeviceTensor::zeros((16, n), &Device::default())?;
            kernels::moved(&x.to_device(&Device::default())?, &mut y)?;
            assert_eq!(y.to_host()?.as_slice(), x.as_slice(), "{n}");
            Ok(())
        })
    };
    let threads = [32, 36, 64].map(|n| std::thread::spawn(move || same(n)));
    let mut threads = threads.into_iter();
    threads.try_for_each(|thread| thread.join().unwrap())
}

/// The result of the first operation after a kernel has failed on a stream.
fn after_failure(what: &str) -> Result<()> {
    let device = Device::default();
    let stream = Stream::new(&device)?;
    let x = DeviceTensor::<i32, _>::zeros((100,), &device)?;
    let other = DeviceTensor::<i32, _>::zeros((100,), &device)?;
    device.synchronize()?;
    // It may fail before the call returns.
    let _result = kernels::gathered_on(&stream, &x, -1)?;
    // Until the kernel has failed, without a call that would notice it.
    std::thread::sleep(std::time::Duration::from_secs(1));
    match what {
        "allocation" => DeviceTensor::<i32, _>::zeros((100,), &device).map(|_| ()),
        "upload" => ints(5).to_device(&device).map(|_| ()),
        "download" => other.to_host().map(|_| ()),
        "stream" => Stream::new(&device).map(|_| ()),
        "call" => kernels::reversed(&ints(5)).map(|_| ()),
        "enqueue" => kernels::gathered_on(&stream, &other, 0).map(|_| ()),
        "wait" => device.synchronize(),
        other => panic!("`{other}`"),
    }
}
