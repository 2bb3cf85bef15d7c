//! Calls on a GPU and their failures, against the fake CUDA runtime.

use super::{Call, Check, Kernel};
use crate::abi::*;
use crate::fake_cuda::{self, STICKY};
use crate::{Const, Device, DeviceTensor, Error, Stream, Tensor};

struct Args {
    data: *mut std::ffi::c_void,
    /// What the kernel does: see [`on_gpu`].
    order: i32,
}

/// Doubles the first byte of `data`, or fails as ordered.
unsafe extern "C" fn on_gpu(env: *const croq_env, args: *mut Args) -> croq_u32 {
    // SAFETY: what a call passes.
    let (env, args) = unsafe { (&*env, &mut *args) };
    assert!(env.sim.is_null() && !env.stream.is_null());
    match args.order {
        // SAFETY: the tests give `data` at least a byte.
        0 => unsafe { *args.data.cast::<u8>() *= 2 },
        // A check on the device: the kernel traps, and the record tells why.
        1 => {
            let mut failure = croq_failure::new(CROQ_CHECK).with_values(&[7, 8]);
            failure.check = 0;
            // SAFETY: where the device writes.
            unsafe { *env.device_failure = failure };
            STICKY.set(719);
        }
        // A launch that no code fits: nothing ran, nothing is broken.
        2 => {
            // SAFETY: where the shim writes.
            unsafe { *env.failure = croq_failure::new(CROQ_CUDA_ERROR).with_values(&[209]) };
            return CROQ_CUDA_ERROR;
        }
        // An allocation that cannot be.
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

static KERNEL: Kernel<Args> = Kernel {
    name: "twice",
    file: "k/twice.co",
    sim: on_sim,
    cuda: Some(on_gpu),
    moved: &[],
    checks: &[Check {
        code: "R14",
        line: 3,
        message: "{0} is less than {1}",
    }],
};

static SIM_ONLY: Kernel<Args> = Kernel {
    name: "plain",
    file: "k/plain.co",
    sim: on_sim,
    cuda: None,
    moved: &[],
    checks: &[],
};

fn twice(tensor: &mut DeviceTensor<u8, (Const<2>,)>, order: i32) -> crate::Result<()> {
    let mut call = KERNEL.call_on(tensor.device())?;
    let mut args = Args {
        data: call.global_mut("data", tensor)?,
        order,
    };
    call.run(&mut args)
}

fn tensor(device: &Device) -> DeviceTensor<u8, (Const<2>,)> {
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
    let call: Call<Args> = KERNEL.call_on(&device).unwrap();
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
            bytes: 1 << 40
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
            bytes: 4 << 30
        }
    );
}

#[test]
fn devices_are_not_mixed() {
    let device = fake_cuda::device();
    let on_sim = tensor(&Device::sim());
    let call: Call<Args> = KERNEL.call_on(&device).unwrap();
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
    let e = SIM_ONLY.call_on(&fake_cuda::device()).err();
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
