//! Tests of calls on a GPU and of their failures, with the fake CUDA runtime.

use super::{About, Call, Check, Kernel, Shims};
use crate::abi::*;
use crate::device::Kind;
use crate::fake_cuda::{self, STICKY};
use crate::{Const, Device, DeviceTensor, Error, Stream, Tensor};

pub(super) struct Args {
    pub(super) data: *mut std::ffi::c_void,
    /// The behaviour of the kernel: see [`on_gpu`].
    pub(super) order: i32,
}

/// # Safety
///
/// There is a byte at `data`.
unsafe fn double(data: *mut std::ffi::c_void) {
    let byte = data.cast::<u8>();
    // SAFETY: as the caller promises.
    unsafe { *byte = (*byte).wrapping_mul(2) };
}

/// Doubles the first byte of `data`, immediately or when its stream executes it, or fails as
/// selected.
unsafe extern "C" fn on_gpu(env: *const croq_env, args: *mut Args) -> croq_u32 {
    // SAFETY: the arguments of a call.
    let (env, args) = unsafe { (&*env, &mut *args) };
    assert!(env.sim.is_null() && !env.stream.is_null());
    match args.order {
        // SAFETY: the tests give `data` at least a byte.
        0 => unsafe { double(args.data) },
        10 => {
            let data = args.data;
            fake_cuda::enqueue(env.stream, move || {
                assert!(fake_cuda::is_allocated(data), "used after it was freed");
                // SAFETY: as above.
                unsafe { double(data) }
            });
        }
        // Allocates, and returns what it allocated; 13 without clearing it.
        11 | 13 => {
            let clear = u32::from(args.order == 11);
            // SAFETY: the environment of this call.
            let memory = unsafe { env.alloc.expect("an allocator")(env, 2, clear) };
            let (from, to) = (args.data.addr(), memory.addr());
            fake_cuda::enqueue(env.stream, move || {
                for at in [from, to] {
                    let at = std::ptr::without_provenance_mut(at);
                    assert!(fake_cuda::is_allocated(at), "used after it was freed");
                }
            });
            args.data = memory;
        }
        12 => {
            let record = env.device_failure;
            fake_cuda::enqueue(env.stream, move || {
                let mut failure = croq_failure::new(CROQ_CHECK).with_values(&[1, 2]);
                failure.check = 0;
                // SAFETY: the record that the device writes.
                unsafe { *record = failure };
                STICKY.set(719);
            });
        }
        // A check on the device: the kernel traps, and the record has the reason.
        1 => {
            let mut failure = croq_failure::new(CROQ_CHECK).with_values(&[7, 8]);
            failure.check = 0;
            // SAFETY: the record that the device writes.
            unsafe { *env.device_failure = failure };
            STICKY.set(719);
        }
        // A wait that exceeds its time limit: the kernel traps.
        6 => {
            let mut failure = croq_failure::new(CROQ_ENDLESS);
            (failure.check, failure.line, failure.thread) = (CROQ_WAIT_GRID, 9, 0);
            failure.block = [3, 1, 0];
            // SAFETY: the record that the device writes.
            unsafe { *env.device_failure = failure };
            assert_eq!(env.wait_limit, 60_000_000_000);
            STICKY.set(719);
        }
        // A check that is recorded, immediately or later, and the kernel continues.
        5 | 15 => {
            let record = env.device_failure;
            let data = args.data;
            let work = move || {
                let mut failure = croq_failure::new(CROQ_CHECK).with_values(&[5, 6]);
                failure.check = 0;
                // SAFETY: the record that the device writes, and a byte of the test's.
                unsafe {
                    *record = failure;
                    double(data);
                }
            };
            match args.order {
                5 => work(),
                _ => fake_cuda::enqueue(env.stream, work),
            }
        }
        // A launch for which there is no code: nothing ran, and the device is usable.
        2 => {
            // SAFETY: the record that the shim writes.
            unsafe { *env.failure = croq_failure::new(CROQ_CUDA_ERROR).with_values(&[209]) };
            return CROQ_CUDA_ERROR;
        }
        // An allocation that fails.
        3 => {
            // SAFETY: the environment of this call.
            let memory = unsafe { env.alloc.expect("an allocator")(env, 1 << 40, 1) };
            assert!(memory.is_null());
            return CROQ_OUT_OF_MEMORY;
        }
        _ => STICKY.set(700),
    }
    CROQ_OK
}

unsafe extern "C" fn on_sim(_: *const croq_env, _: *mut Args) -> croq_u32 {
    CROQ_OK
}

// SAFETY: both take `Args`.
const SHIMS: Shims<Args> = unsafe { Shims::new(on_sim, Some(on_gpu)) };
pub(super) static KERNEL: Kernel<Args> = Kernel::new(
    SHIMS,
    About {
        name: "twice",
        file: "k/twice.co",
        moved: &[],
        checks: &[Check {
            code: "R14",
            line: 3,
            message: "{0} is less than {1}",
        }],
    },
);

// SAFETY: it takes `Args`.
const SIM_SHIM: Shims<Args> = unsafe { Shims::new(on_sim, None) };
static SIM_ONLY: Kernel<Args> = Kernel::new(
    SIM_SHIM,
    About {
        name: "plain",
        file: "k/plain.co",
        moved: &[],
        checks: &[],
    },
);

pub(super) fn twice(tensor: &mut DeviceTensor<u8, (Const<2>,)>, order: i32) -> crate::Result<()> {
    let mut call = KERNEL.call(Some(tensor.device()))?;
    let mut args = Args {
        data: call.global_mut("data", tensor)?,
        order,
    };
    call.run(&mut args)
}

pub(super) fn twice_on(
    stream: &Stream,
    tensor: &mut DeviceTensor<u8, (Const<2>,)>,
    order: i32,
) -> crate::Result<()> {
    let mut call = KERNEL.call(Some(stream.device()))?;
    let mut args = Args {
        data: call.global_mut("data", tensor)?,
        order,
    };
    call.enqueue(&mut args, stream)
}

pub(super) fn tensor(device: &Device) -> DeviceTensor<u8, (Const<2>,)> {
    Tensor::from_vec((Const,), vec![21, 5])
        .unwrap()
        .to_device(device)
        .unwrap()
}

#[test]
fn a_kernel_runs_and_memory_is_given_back() {
    let device = fake_cuda::device();
    assert_eq!(format!("{device:?}"), "Device(cuda:0, Fake 0)");
    let mut t = tensor(&device);
    twice(&mut t, 0).unwrap();
    assert_eq!(t.to_host().unwrap().as_slice(), [42, 5]);
    assert_eq!(fake_cuda::allocations(), 1);
    drop(t);
    assert_eq!(fake_cuda::allocations(), 0);
}

#[test]
fn memory_lives_as_long_as_a_call_that_uses_it() {
    let device = fake_cuda::device();
    let mut t = tensor(&device);
    let call: Call<Args> = KERNEL.call(Some(&device)).unwrap();
    call.global_mut("data", &mut t).unwrap();
    drop(t);
    assert_eq!(fake_cuda::allocations(), 1);
    drop(call);
    assert_eq!(fake_cuda::allocations(), 0);
}

#[test]
fn a_failed_check_poisons_the_device() {
    let device = fake_cuda::device();
    let (mut t, other) = (tensor(&device), tensor(&device));
    let failure = twice(&mut t, 1).unwrap_err();
    assert_eq!(
        failure.to_string(),
        "twice: 7 is less than 8 [R14]\n  at k/twice.co:3"
    );
    let poisoned = Error::Poisoned(Box::new(failure));
    assert_eq!(twice(&mut t, 0).unwrap_err(), poisoned);
    assert_eq!(other.to_host().unwrap_err(), poisoned);
    assert_eq!(device.synchronize().unwrap_err(), poisoned);
    assert_eq!(
        DeviceTensor::<f32, _>::zeros((4,), &device).unwrap_err(),
        poisoned
    );
    assert_eq!(Stream::new(&device).unwrap_err(), poisoned);
    STICKY.set(0);
}

#[test]
fn a_wait_without_end_names_its_line_and_poisons_the_device() {
    let device = fake_cuda::device();
    let mut t = tensor(&device);
    let failure = twice(&mut t, 6).unwrap_err();
    assert!(matches!(failure, Error::Endless { .. }), "{failure:?}");
    assert_eq!(
        failure.to_string(),
        "no end in twice: block (3, 1, 0), thread 0 has waited for the other blocks of the grid for 60 s, k/twice.co:9\n\
         help: the simulated GPU reports which thread waits where; CROQ_GPU_TIMEOUT sets how many seconds a wait may take"
    );
    assert_eq!(
        twice(&mut t, 0).unwrap_err(),
        Error::Poisoned(Box::new(failure))
    );
    STICKY.set(0);
}

#[test]
fn an_illegal_access_poisons_the_device() {
    let device = fake_cuda::device();
    let mut t = tensor(&device);
    let failure = twice(&mut t, 4).unwrap_err();
    assert!(
        matches!(failure, Error::Cuda { code: 700, .. }),
        "{failure}"
    );
    assert_eq!(
        twice(&mut t, 0).unwrap_err(),
        Error::Poisoned(Box::new(failure))
    );
    STICKY.set(0);
}

#[test]
fn a_launch_that_never_happened_does_not() {
    let device = fake_cuda::device();
    let mut t = tensor(&device);
    let failure = twice(&mut t, 2).unwrap_err();
    assert!(failure.to_string().contains("CROQ_CUDA_ARCH"), "{failure}");
    let failure = twice(&mut t, 3).unwrap_err();
    assert_eq!(
        failure,
        Error::OutOfMemory {
            device: "cuda:0".into(),
            bytes: 1 << 40,
            what: String::new(),
            limit: None,
        }
    );
    twice(&mut t, 0).unwrap();
}

#[test]
fn too_big_a_tensor_is_an_error() {
    let device = fake_cuda::device();
    let e = DeviceTensor::<f32, _>::zeros((1 << 30,), &device).unwrap_err();
    assert_eq!(
        e,
        Error::OutOfMemory {
            device: "cuda:0".into(),
            bytes: 4 << 30,
            what: String::new(),
            limit: None,
        }
    );
}

#[test]
fn devices_are_not_mixed() {
    let device = fake_cuda::device();
    let on_sim = tensor(&Device::sim());
    let call: Call<Args> = KERNEL.call(Some(&device)).unwrap();
    let e = call.global("data", &on_sim).unwrap_err();
    let (expected, found) = ("cuda:0".to_owned(), "sim".to_owned());
    assert_eq!(
        e,
        Error::WrongDevice {
            kernel: "twice",
            param: "data",
            expected,
            found
        }
    );
}

#[test]
fn a_kernel_built_without_cuda_says_so() {
    let e = SIM_ONLY.call(Some(&fake_cuda::device())).err();
    assert_eq!(
        e,
        Some(Error::CudaNotBuilt {
            kernel: Some("plain")
        })
    );
}

#[test]
fn what_keeps_a_gpu_away_is_told() {
    let runtime = crate::cuda::Runtime::new(&fake_cuda::API);
    let e = Device::open(runtime, 5).unwrap_err();
    assert!(
        matches!(
            e,
            Error::NoGpu {
                index: 5,
                found: 2,
                ..
            }
        ),
        "{e}"
    );
    fake_cuda::NO_DRIVER.set(35);
    let e = Device::open(runtime, 0).unwrap_err();
    assert!(e.to_string().contains("driver is missing or older"), "{e}");
    fake_cuda::NO_DRIVER.set(0);
}

#[test]
fn a_table_of_another_version_is_refused() {
    let mut api = fake_cuda::API;
    api.abi_version += 1;
    let runtime = crate::cuda::Runtime::new(Box::leak(Box::new(api)));
    let e = runtime.checked().err();
    let expected = Error::AbiMismatch {
        expected: CROQ_ABI_VERSION,
        found: CROQ_ABI_VERSION + 1,
    };
    assert_eq!(e, Some(expected));
}

#[test]
fn what_is_enqueued_happens_in_order_and_is_waited_for() {
    let device = fake_cuda::device();
    let stream = Stream::new(&device).unwrap();
    let mut t = tensor(&device);
    for _ in 0..2 {
        twice_on(&stream, &mut t, 10).unwrap();
    }
    assert_eq!(fake_cuda::queued(), 2);
    assert_eq!(t.to_host().unwrap().as_slice(), [84, 5]);
    assert_eq!(fake_cuda::queued(), 0);

    // A call that waits waits for the stream first.
    twice_on(&stream, &mut t, 10).unwrap();
    twice(&mut t, 0).unwrap();
    assert_eq!(t.to_host().unwrap().as_slice(), [80, 5]);

    // Work on another stream begins after it, and the device waits for both.
    let other = Stream::new(&device).unwrap();
    twice_on(&stream, &mut t, 10).unwrap();
    twice_on(&other, &mut t, 10).unwrap();
    assert_eq!(fake_cuda::queued(), 2);
    other.synchronize().unwrap();
    assert_eq!(fake_cuda::queued(), 0);
    assert_eq!(t.to_host().unwrap().as_slice(), [64, 5]);

    twice_on(&other, &mut t, 10).unwrap();
    twice_on(&stream, &mut t, 10).unwrap();
    device.synchronize().unwrap();
    assert_eq!(fake_cuda::queued(), 0);
    assert_eq!(t.to_host().unwrap().as_slice(), [0, 5]);
}

#[test]
fn readers_on_several_streams_do_not_wait_for_each_other() {
    let device = fake_cuda::device();
    let (a, b) = (Stream::new(&device).unwrap(), Stream::new(&device).unwrap());
    let mut t = tensor(&device);
    for stream in [&a, &b] {
        let mut call = KERNEL.call(Some(&device)).unwrap();
        let data = call.global("data", &t).unwrap();
        call.enqueue(&mut Args { data, order: 11 }, stream).unwrap();
    }
    // Each call's own memory is freed after its work.
    assert_eq!((fake_cuda::queued(), fake_cuda::allocations()), (2, 3));
    // A reader on one of them can be waited for alone; a writer is ordered after both.
    b.synchronize().unwrap();
    assert_eq!((fake_cuda::queued(), fake_cuda::allocations()), (1, 2));
    let mut call = KERNEL.call(Some(&device)).unwrap();
    let data = call.global("data", &t).unwrap();
    call.enqueue(&mut Args { data, order: 11 }, &b).unwrap();
    drop(call);
    twice_on(&a, &mut t, 10).unwrap();
    assert_eq!((fake_cuda::queued(), fake_cuda::allocations()), (3, 3));
    a.synchronize().unwrap();
    assert_eq!((fake_cuda::queued(), fake_cuda::allocations()), (0, 1));
}

#[test]
fn memory_outlives_the_work_that_uses_it() {
    let device = fake_cuda::device();
    let streams = [0; 2].map(|_| Stream::new(&device).unwrap());
    let mut t = tensor(&device);
    twice_on(&streams[0], &mut t, 10).unwrap();
    // Dropped before the kernel has run: freed after it.
    drop(t);
    assert_eq!(fake_cuda::allocations(), 1);
    streams[0].synchronize().unwrap();
    assert_eq!(fake_cuda::allocations(), 0);

    // Read on one stream, and then on another: both are ordered before the end.
    let t = tensor(&device);
    for stream in &streams {
        let mut call = KERNEL.call(Some(&device)).unwrap();
        let data = call.global("data", &t).unwrap();
        call.enqueue(&mut Args { data, order: 11 }, stream).unwrap();
    }
    drop(t);
    streams[1].synchronize().unwrap();
    streams[0].synchronize().unwrap();
    assert_eq!(fake_cuda::allocations(), 0);

    // The stream is dropped before the tensor, and the tensor is never dropped.
    let [first, second] = streams;
    let mut t = tensor(&device);
    twice_on(&first, &mut t, 10).unwrap();
    drop(first);
    assert_eq!(t.to_host().unwrap().as_slice(), [42, 5]);
    twice_on(&second, &mut t, 10).unwrap();
    std::mem::forget(t);
    drop(second);
    device.synchronize().unwrap();
    assert_eq!(fake_cuda::allocations(), 1);
}

#[test]
fn a_result_that_the_kernel_writes_whole_is_not_cleared() {
    let device = fake_cuda::device();
    let t = tensor(&device);
    let fills_of = |order| {
        let before = fake_cuda::fills();
        let mut call = KERNEL.call(Some(&device)).unwrap();
        let data = call.global("data", &t).unwrap();
        call.run(&mut Args { data, order }).unwrap();
        fake_cuda::fills() - before
    };
    assert_eq!((fills_of(11), fills_of(13)), (1, 0));
}

#[test]
fn a_result_stays_on_the_device() {
    let device = fake_cuda::device();
    let stream = Stream::new(&device).unwrap();
    let t = tensor(&device);
    let made = {
        let mut call = KERNEL.call(Some(&device)).unwrap();
        let data = call.global("data", &t).unwrap();
        let mut args = Args { data, order: 11 };
        call.enqueue(&mut args, &stream).unwrap();
        let dims = (Const::<2>,);
        assert!(call.device_result::<u8, _>(args.data, (3,)).is_err());
        call.device_result::<u8, _>(args.data, dims).unwrap()
    };
    drop(t);
    assert_eq!(made.to_host().unwrap().as_slice(), [0, 0]);
    assert_eq!(fake_cuda::allocations(), 1);
    drop(made);
    assert_eq!(fake_cuda::allocations(), 0);
}

#[test]
fn a_failure_on_a_stream_names_its_kernel() {
    let device = fake_cuda::device();
    let stream = Stream::new(&device).unwrap();
    let (mut t, mut other) = (tensor(&device), tensor(&device));
    twice_on(&stream, &mut t, 12).unwrap();
    // This call does not use the stream, and does not return its failure.
    let e = twice(&mut other, 0);
    assert_eq!(e, Ok(()));
    let failure = stream.synchronize().unwrap_err();
    assert_eq!(
        failure.to_string(),
        "twice: 1 is less than 2 [R14]\n  at k/twice.co:3"
    );
    let poisoned = Error::Poisoned(Box::new(failure));
    assert_eq!(twice_on(&stream, &mut t, 10).unwrap_err(), poisoned);
    assert_eq!(t.to_host().unwrap_err(), poisoned);
    assert_eq!(device.synchronize().unwrap_err(), poisoned);
    STICKY.set(0);
}

/// Whatever comes first after a trap on a stream returns what the kernel recorded.
#[test]
fn every_operation_after_a_failure_names_its_kernel() {
    type Operation = fn(&Device, &Stream, &mut DeviceTensor<u8, (Const<2>,)>) -> crate::Result<()>;
    let operations: [(&str, Operation); 9] = [
        ("zeros", |device, _, _| {
            DeviceTensor::<f32, _>::zeros((4,), device).map(|_| ())
        }),
        ("upload", |device, _, _| {
            let host = Tensor::from_vec((Const::<2>,), vec![1_u8, 2])?;
            host.to_device(device).map(|_| ())
        }),
        ("download", |_, _, t| t.to_host().map(|_| ())),
        ("a stream", |device, _, _| Stream::new(device).map(|_| ())),
        ("a call", |_, _, t| twice(t, 0)),
        ("a call that allocates", |_, _, t| twice(t, 11)),
        ("a call on the stream", |_, stream, t| {
            twice_on(stream, t, 10)
        }),
        ("waiting for the stream", |_, stream, _| {
            stream.synchronize()
        }),
        ("waiting for the device", |device, _, _| {
            device.synchronize()
        }),
    ];
    for (name, operation) in operations {
        let device = fake_cuda::device();
        let stream = Stream::new(&device).unwrap();
        let (mut t, mut other) = (tensor(&device), tensor(&device));
        twice_on(&stream, &mut t, 12).unwrap();
        fake_cuda::run_all();
        let failure = operation(&device, &stream, &mut other).unwrap_err();
        assert_eq!(
            failure.to_string(),
            "twice: 1 is less than 2 [R14]\n  at k/twice.co:3",
            "{name}"
        );
        let poisoned = Error::Poisoned(Box::new(failure));
        let again = operation(&device, &stream, &mut other).unwrap_err();
        assert_eq!(again, poisoned, "{name}");
        STICKY.set(0);
    }
}

/// Weights that many short-lived streams read keep none of them (S14).
#[test]
fn a_tensor_keeps_no_stream() {
    let device = fake_cuda::device();
    let weights = tensor(&device);
    let streams = fake_cuda::live_streams();
    let read_on = |stream: &Stream| {
        let mut call = KERNEL.call(Some(&device)).unwrap();
        let data = call.global("data", &weights).unwrap();
        call.enqueue(&mut Args { data, order: 11 }, stream).unwrap();
    };
    for _ in 0..1000 {
        let stream = Stream::new(&device).unwrap();
        read_on(&stream);
        stream.synchronize().unwrap();
    }
    assert_eq!(fake_cuda::live_streams(), streams);
    assert!(
        weights.memory().known_uses() <= 8,
        "{}",
        weights.memory().known_uses()
    );
    assert!(
        fake_cuda::live_events() <= 8,
        "{}",
        fake_cuda::live_events()
    );
    assert_eq!(fake_cuda::allocations(), 1);

    // Streams that are dropped with work in flight are also waited for, and then removed.
    for _ in 0..1000 {
        read_on(&Stream::new(&device).unwrap());
    }
    assert_eq!(fake_cuda::live_streams(), streams);
    assert_eq!(fake_cuda::queued(), 1000);
    device.synchronize().unwrap();
    assert_eq!((fake_cuda::queued(), fake_cuda::allocations()), (0, 1));
    let last = Stream::new(&device).unwrap();
    for _ in 0..2 {
        read_on(&last);
    }
    assert_eq!(weights.memory().known_uses(), 1);

    // The last use on one stream represents all its uses.
    for _ in 0..1000 {
        read_on(&last);
    }
    assert_eq!(weights.memory().known_uses(), 1);
    drop(weights);
    assert_eq!(fake_cuda::allocations(), 1003);
    last.synchronize().unwrap();
    assert_eq!(fake_cuda::allocations(), 0);
}

/// A new stream may have the address of a destroyed stream, but its work is another stream's.
#[test]
fn memory_is_freed_behind_work_on_dropped_streams() {
    let device = fake_cuda::device();
    let t = tensor(&device);
    {
        let stream = Stream::new(&device).unwrap();
        let mut call = KERNEL.call(Some(&device)).unwrap();
        let data = call.global("data", &t).unwrap();
        call.enqueue(&mut Args { data, order: 11 }, &stream)
            .unwrap();
    }
    drop(t);
    assert_eq!((fake_cuda::queued(), fake_cuda::allocations()), (1, 2));
    device.synchronize().unwrap();
    assert_eq!((fake_cuda::queued(), fake_cuda::allocations()), (0, 0));
}

/// `Checks::Report`: the record is the call's error, once, and the device remains usable.
#[test]
fn a_recorded_failure_poisons_nothing() {
    let device = fake_cuda::device();
    let stream = Stream::new(&device).unwrap();
    let mut t = tensor(&device);
    let recorded = "twice: 5 is less than 6 [R14]\n  at k/twice.co:3";
    let failure = twice(&mut t, 5).unwrap_err();
    assert_eq!(failure.to_string(), recorded);
    assert_eq!(t.to_host().unwrap().as_slice(), [42, 5]);
    twice(&mut t, 0).unwrap();

    // On a stream only the next wait returns it.
    twice_on(&stream, &mut t, 15).unwrap();
    let failure = stream.synchronize().unwrap_err();
    assert_eq!(failure.to_string(), recorded);
    stream.synchronize().unwrap();
    assert_eq!(t.to_host().unwrap().as_slice(), [168, 5]);
    twice_on(&stream, &mut t, 15).unwrap();
    assert_eq!(t.to_host().unwrap_err().to_string(), recorded);
    assert_eq!(t.to_host().unwrap().as_slice(), [80, 5]);
}

/// Two streams with work of one kernel, and a call that waits: each has its own failure.
#[test]
fn a_recorded_failure_is_that_of_its_stream() {
    let device = fake_cuda::device();
    let [a, b] = [(); 2].map(|()| Stream::new(&device).unwrap());
    let (mut x, mut y) = (tensor(&device), tensor(&device));
    twice_on(&b, &mut y, 15).unwrap();
    twice_on(&a, &mut x, 10).unwrap();
    fake_cuda::run_all();
    a.synchronize().unwrap();
    twice(&mut x, 0).unwrap();
    assert_eq!(x.to_host().unwrap().as_slice(), [84, 5]);
    assert!(twice(&mut x, 5).is_err());
    assert!(b.synchronize().is_err());
    b.synchronize().unwrap();

    // A stream that was dropped: the tensor's wait is for its work.
    twice_on(&b, &mut y, 15).unwrap();
    drop(b);
    fake_cuda::run_all();
    a.synchronize().unwrap();
    assert!(y.to_host().is_err());
    y.to_host().unwrap();
    // Nobody waits where memory is freed: the failure remains for the device's wait.
    let b = Stream::new(&device).unwrap();
    twice_on(&b, &mut y, 15).unwrap();
    drop((y, b));
    assert!(device.synchronize().is_err());
    device.synchronize().unwrap();
}

/// Of two streams, one with a failure: the wait for the device is one for both.
#[test]
fn a_wait_for_the_device_waits_for_all() {
    for are_dropped in [false, true] {
        let device = fake_cuda::device();
        let (mut x, mut y) = (tensor(&device), tensor(&device));
        let [a, b] = [(); 2].map(|()| Stream::new(&device).unwrap());
        twice_on(&a, &mut x, 15).unwrap();
        twice_on(&b, &mut y, 15).unwrap();
        let kept = (!are_dropped).then(|| (a.clone(), b.clone()));
        drop((a, b));
        for _ in 0..2 {
            assert!(device.synchronize().is_err());
            assert_eq!(fake_cuda::queued(), 0);
        }
        device.synchronize().unwrap();
        drop(kept);
    }
}

/// A program that makes a stream for each request does not need more and more memory.
#[test]
fn records_are_used_again() {
    let device = fake_cuda::device();
    let Kind::Cuda(gpu) = device.kind() else {
        panic!("no CUDA");
    };
    let mut t = tensor(&device);
    for _ in 0..20 {
        let stream = Stream::new(&device).unwrap();
        twice_on(&stream, &mut t, 10).unwrap();
        t.to_host().unwrap();
        twice(&mut t, 0).unwrap();
    }
    assert!(gpu.records.count() <= 3, "{}", gpu.records.count());
    // Streams that exist keep theirs.
    let streams: Vec<Stream> = (0..5).map(|_| Stream::new(&device).unwrap()).collect();
    for stream in &streams {
        twice_on(stream, &mut t, 10).unwrap();
    }
    assert!(gpu.records.count() >= 5, "{}", gpu.records.count());
    device.synchronize().unwrap();
}
