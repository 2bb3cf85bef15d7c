//! Streams and memory of the crate [`cudarc`], which is CUDA's driver API: it and the CUDA runtime use one
//! context of a device, the primary one.
//!
//! This module was compiled and never run: it is tested where there is no GPU.

use std::sync::Arc;

use cudarc::driver::{CudaSlice, CudaStream, DevicePtrMut as _, sys};

pub use cudarc;

use crate::device::Device;
use crate::device_tensor::DeviceTensor;
use crate::dims::Dims;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::stream::Stream;

/// The stream as the driver knows it, for cudarc's functions that take one.
pub fn raw_stream(stream: &Stream) -> sys::CUstream {
    stream.as_raw().cast()
}

/// An address that [`DeviceTensor::with_device_ptr`] passes, as the driver knows it.
pub fn raw_address<T>(address: *const T) -> sys::CUdeviceptr {
    address.expose_provenance() as sys::CUdeviceptr
}

/// A stream of cudarc, which the result keeps.
///
/// # Errors
///
/// [`Error::Foreign`] if the stream is of another device, or the failure of the device.
///
/// # Safety
///
/// The stream captures no graph while it is used here, and its context is the primary one of the device.
pub unsafe fn to_stream(stream: &Arc<CudaStream>, device: &Device) -> Result<Stream> {
    is_of(stream, device)?;
    let raw = stream.cu_stream().cast();
    // SAFETY: as the caller promises; the owner keeps the stream.
    unsafe { Stream::from_raw(raw, device, stream.clone()) }
}

/// A tensor of the memory of a slice, which it owns, after waiting for the work on it.
///
/// # Errors
///
/// [`Error::Length`] if the slice has another number of elements than `dims`, [`Error::Foreign`] if it is of
/// another device or its stream fails; as for [`DeviceTensor::from_raw_parts`] otherwise.
///
/// # Safety
///
/// The elements are initialised, nothing else uses them, the slice's context is the primary one of the
/// device, and it has as many bytes as elements have, rounded up to a multiple of 4.
pub unsafe fn to_device_tensor<T: Element, D: Dims>(
    mut slice: CudaSlice<T>,
    dims: D,
    device: &Device,
) -> Result<DeviceTensor<T, D>> {
    let stream = slice.stream().clone();
    is_of(&stream, device)?;
    if dims.elements() != slice.num_bytes().checked_div(size_of::<T>()) {
        return Err(Error::Length {
            shape: dims.shape().as_ref().to_vec(),
            found: slice.num_bytes() / size_of::<T>(),
        });
    }
    let address = {
        let (address, _) = slice.device_ptr_mut(&stream);
        std::ptr::with_exposed_provenance_mut::<T>(address as usize)
    };
    stream.synchronize().map_err(|failed| Error::Foreign {
        reason: format!("a stream of cudarc has failed: {failed:?}"),
    })?;
    // SAFETY: as the caller promises; the owner keeps the memory.
    unsafe { DeviceTensor::from_raw_parts(address, dims, device, slice) }
}

fn is_of(stream: &CudaStream, device: &Device) -> Result<()> {
    let ordinal = stream.context().ordinal();
    match device.gpu_index() == Some(ordinal) {
        true => Ok(()),
        false => Err(Error::Foreign {
            reason: format!("a stream of cudarc is of device {ordinal}, not of {device}"),
        }),
    }
}
