//! The functions that `libcudart_static.a` calls, each named after the one of CUDA that it is for.
//!
//! Arguments are plain: structures of CUDA, which differ between its versions, are read and filled
//! there, in C with CUDA's own headers.

mod execution;
mod memory;
mod streams;

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_void};
use std::sync::OnceLock;
use std::time::Duration;

use crate::code::{self, Code, Done};
use crate::device::{Device, device};
use crate::limits;
use crate::registry;

thread_local! {
    /// The error that `cudaGetLastError` returns; 0 without one.
    static LAST: Cell<i32> = const { Cell::new(0) };
}

/// A failing call is the thread's last error.
fn answer(done: Done) -> i32 {
    match done {
        Ok(()) => 0,
        Err(Code(code)) => {
            LAST.set(code);
            code
        }
    }
}

/// A call that needs the device: after a failure it returns that.
fn on_device(f: impl FnOnce(&'static Device) -> Done) -> i32 {
    delay();
    answer(device().healthy().and_then(|()| f(device())))
}

/// `CROQ_PTX_DELAY`: every call begins so many microseconds late, so that calls of several threads of
/// the host alternate.
fn delay() {
    static DELAY: OnceLock<Duration> = OnceLock::new();
    let delay = *DELAY.get_or_init(|| {
        let value = std::env::var("CROQ_PTX_DELAY").unwrap_or_default();
        Duration::from_micros(value.trim().parse().unwrap_or(0))
    });
    if !delay.is_zero() {
        std::thread::sleep(delay);
    }
}

/// # Safety
///
/// The address is null, or that of a value of this type that may be written.
unsafe fn give<T>(to: *mut T, value: T) -> Done {
    if to.is_null() {
        return Err(Code::INVALID_VALUE);
    }
    // SAFETY: as the caller promises.
    unsafe { to.write(value) };
    Ok(())
}

#[unsafe(no_mangle)]
extern "C" fn ptxrt_cudaGetLastError() -> i32 {
    match device().healthy() {
        Err(Code(code)) => code,
        Ok(()) => LAST.replace(0),
    }
}

#[unsafe(no_mangle)]
extern "C" fn ptxrt_cudaPeekAtLastError() -> i32 {
    match device().healthy() {
        Err(Code(code)) => code,
        Ok(()) => LAST.get(),
    }
}

#[unsafe(no_mangle)]
extern "C" fn ptxrt_cudaGetErrorString(code: i32) -> *const c_char {
    code::text(code).as_ptr()
}

#[unsafe(no_mangle)]
extern "C" fn ptxrt_cudaGetErrorName(code: i32) -> *const c_char {
    code::name(code).as_ptr()
}

// Devices

#[unsafe(no_mangle)]
extern "C" fn ptxrt_cudaSetDevice(number: i32) -> i32 {
    on_device(|_| match number {
        0 => Ok(()),
        _ => Err(Code::INVALID_DEVICE),
    })
}

/// The name of the device, for its properties.
#[unsafe(no_mangle)]
extern "C" fn ptxrt_name() -> *const c_char {
    limits::model().name.as_ptr()
}

/// # Safety
///
/// There is a value.
#[unsafe(no_mangle)]
unsafe extern "C" fn ptxrt_cudaDeviceGetAttribute(value: *mut i32, number: i32, of: i32) -> i32 {
    let found = limits::attribute(number).and_then(|value| i32::try_from(value).ok());
    let found = found.filter(|_| of == 0);
    answer(match (found, of) {
        // SAFETY: as the caller promises.
        (Some(found), _) => unsafe { give(value, found) },
        (None, 0) => Err(Code::INVALID_VALUE),
        _ => Err(Code::INVALID_DEVICE),
    })
}

#[unsafe(no_mangle)]
extern "C" fn ptxrt_cudaDeviceSynchronize() -> i32 {
    on_device(Device::wait_for_all)
}

// Registration: before `main`, these only keep addresses.

#[unsafe(no_mangle)]
extern "C" fn ptxrt_registerFatBinary(wrapper: *const c_void) -> usize {
    registry::add_binary(wrapper.addr())
}

#[unsafe(no_mangle)]
extern "C" fn ptxrt_unregisterFatBinary(binary: usize) {
    registry::remove_binary(binary);
}

#[unsafe(no_mangle)]
extern "C" fn ptxrt_registerFunction(binary: usize, stub: *const c_void, name: *const c_char) {
    registry::add_function(binary, stub.addr(), name.addr());
}

#[unsafe(no_mangle)]
extern "C" fn ptxrt_registerVariable(binary: usize, host: *const c_void, name: *const c_char) {
    registry::add_variable(binary, host.addr(), name.addr());
}

/// The driver's function with that name, or null.
///
/// # Safety
///
/// The name is a text.
#[unsafe(no_mangle)]
unsafe extern "C" fn ptxrt_driver_function(name: *const c_char) -> *const c_void {
    // SAFETY: as the caller promises.
    let name = unsafe { CStr::from_ptr(name) };
    match name.to_bytes() {
        b"cuTensorMapEncodeTiled" => execution::ptxrt_cuTensorMapEncodeTiled as *const c_void,
        _ => std::ptr::null(),
    }
}
