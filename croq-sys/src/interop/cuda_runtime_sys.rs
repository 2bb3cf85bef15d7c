//! The types of the crate [`cuda_runtime_sys`]. That crate is not safe with CUDA 12 and newer: its
//! structures and its error type are those of an older version. Only its pointer types are used here,
//! and croq calls none of its functions. It links `libcudart.so`, so a program with this feature does,
//! too.

use std::any::Any;

use cuda_runtime_sys::{cudaEvent_t, cudaStream_t};

pub use cuda_runtime_sys;

use crate::device::Device;
use crate::error::Result;
use crate::event::Event;
use crate::stream::Stream;

// They are pointers to what only CUDA knows.
const _: () = assert!(size_of::<cudaStream_t>() == size_of::<*mut std::ffi::c_void>());
const _: () = assert!(size_of::<cudaEvent_t>() == size_of::<*mut std::ffi::c_void>());

/// The stream as CUDA knows it; see [`Stream::as_raw`].
pub fn stream(stream: &Stream) -> cudaStream_t {
    stream.as_raw().cast()
}

/// The event as CUDA knows it; see [`Event::as_raw`].
pub fn event(event: &Event) -> cudaEvent_t {
    event.as_raw().cast()
}

/// A stream of the program; see [`Stream::from_raw`].
///
/// # Errors
///
/// The failure of the device.
///
/// # Safety
///
/// As for [`Stream::from_raw`].
pub unsafe fn to_stream(
    raw: cudaStream_t,
    device: &Device,
    owner: impl Any + Send + Sync,
) -> Result<Stream> {
    // SAFETY: as the caller promises.
    unsafe { Stream::from_raw(raw.cast(), device, owner) }
}
