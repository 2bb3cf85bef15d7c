//! The types of crates for CUDA. There is no GPU: what is tested is that it compiles, links, and says
//! what is wrong.

use std::ptr;

use croq_sys::interop::{cuda_runtime_sys as runtime, cudarc as driver};
use croq_sys::{Device, Stream, Tensor};
use driver::cudarc::driver::{CudaSlice, CudaStream, sys};
use runtime::cuda_runtime_sys::{cudaEvent_t, cudaStream_t};

#[test]
fn streams_and_events_are_those_of_cuda_runtime_sys() {
    let device = Device::sim();
    // SAFETY: the simulated GPU does not use the address.
    let stream = unsafe { runtime::to_stream(ptr::null_mut(), &device, ()) }.unwrap();
    let raw: cudaStream_t = runtime::stream(&stream);
    let event: cudaEvent_t = runtime::event(&stream.record().unwrap());
    assert!(raw.is_null() && event.is_null());
}

#[test]
fn addresses_are_those_of_cudarc() {
    let device = Device::sim();
    let x = Tensor::<f32, _>::zeros((4,)).to_device(&device).unwrap();
    let stream = Stream::new(&device).unwrap();
    let address: sys::CUdeviceptr = x.with_device_ptr(&stream, driver::raw_address).unwrap();
    assert_eq!(address, x.as_device_ptr().addr() as u64);
    assert!(driver::raw_stream(&stream).is_null());
}

/// Compiled only: it needs a GPU.
#[allow(dead_code)]
fn memory_of_cudarc(
    stream: &std::sync::Arc<CudaStream>,
    slice: CudaSlice<f32>,
) -> croq_sys::Result<()> {
    let device = Device::cuda(0)?;
    // SAFETY: a slice of this context, which is moved here.
    let x = unsafe { driver::to_device_tensor(slice, (16, 16), &device)? };
    // SAFETY: the stream is no graph's.
    let stream = unsafe { driver::to_stream(stream, &device)? };
    stream.synchronize()?;
    drop(x);
    Ok(())
}
