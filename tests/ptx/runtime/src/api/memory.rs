//! Memory of the device, pinned memory of the host, copies, and the memory pool.

use std::alloc::Layout;
use std::ffi::c_void;
use std::ptr;

use super::{give, on_device};
use crate::calls;
use crate::code::{Code, Done};
use crate::copy::{self, Direction, Ends};
use crate::device::{Device, Kind};
use crate::limits;
use crate::memory::locked;
use crate::registry::DeviceVariable;
use crate::stream::Point;

/// # Safety
///
/// There is room for an address.
#[unsafe(no_mangle)]
unsafe extern "C" fn ptxrt_cudaMalloc(to: *mut usize, bytes: usize) -> i32 {
    // SAFETY: as the caller promises.
    on_device(|device| unsafe { allocate(device, to, bytes, Kind::Plain) })
}

/// # Safety
///
/// There is room for an address.
#[unsafe(no_mangle)]
unsafe extern "C" fn ptxrt_cudaMallocAsync(to: *mut usize, bytes: usize, stream: usize) -> i32 {
    on_device(|device| {
        device.streams.get(stream)?;
        // SAFETY: as the caller promises.
        unsafe { allocate(device, to, bytes, Kind::Pooled) }
    })
}

/// # Safety
///
/// As for [`give`].
unsafe fn allocate(device: &Device, to: *mut usize, bytes: usize, kind: Kind) -> Done {
    let address = match bytes {
        0 => 0,
        _ => device.allocate(bytes as u64, kind)?,
    };
    // SAFETY: as the caller promises.
    unsafe { give(to, address as usize) }
}

#[unsafe(no_mangle)]
extern "C" fn ptxrt_cudaFree(address: usize) -> i32 {
    on_device(|device| {
        device.wait_for_all()?;
        if address == 0 {
            return Ok(());
        }
        device.forget(address as u64)?;
        Device::drop(&mut device.memory.take(), address as u64)
    })
}

#[unsafe(no_mangle)]
extern "C" fn ptxrt_cudaFreeAsync(address: usize, stream: usize) -> i32 {
    on_device(|device| {
        let stream = device.streams.get(stream)?;
        if address == 0 {
            return Ok(());
        }
        device.forget(address as u64)?;
        device.issue(&stream, Vec::new(), move || {
            Device::drop(&mut device.memory.take(), address as u64)
        });
        Ok(())
    })
}

/// Pages of the host, as CUDA's pinned memory is in whole pages.
fn layout(bytes: usize) -> Done<Layout> {
    Layout::from_size_align(bytes, 4096).map_err(|_| Code::OUT_OF_MEMORY)
}

/// # Safety
///
/// There is room for an address.
#[unsafe(no_mangle)]
unsafe extern "C" fn ptxrt_cudaHostAlloc(to: *mut usize, bytes: usize, flags: u32) -> i32 {
    on_device(|device| {
        if flags > 7 {
            return Err(Code::INVALID_VALUE);
        }
        if bytes == 0 {
            // SAFETY: as the caller promises.
            return unsafe { give(to, 0) };
        }
        // SAFETY: the size is not 0.
        let memory = unsafe { std::alloc::alloc(layout(bytes)?) };
        if memory.is_null() {
            return Err(Code::OUT_OF_MEMORY);
        }
        // SAFETY: fresh memory; its content is undefined.
        unsafe { ptr::write_bytes(memory, 0xff, bytes) };
        let mut global = device.memory.take();
        let mut mirrors = locked(&device.memory.mirrors);
        let start = memory.expose_provenance();
        // SAFETY: the memory remains until `ptxrt_cudaFreeHost` removes it there.
        let added = unsafe { mirrors.add(start, bytes, &mut global) };
        added.map_err(|_| Code::OUT_OF_MEMORY)?;
        // SAFETY: as the caller promises.
        unsafe { give(to, start) }
    })
}

#[unsafe(no_mangle)]
extern "C" fn ptxrt_cudaFreeHost(address: usize) -> i32 {
    on_device(|device| {
        device.wait_for_all()?;
        if address == 0 {
            return Ok(());
        }
        let bytes = unmap(device, address).ok_or(Code::INVALID_VALUE)?;
        // SAFETY: the runtime allocated it with this layout, and nothing here refers to it.
        unsafe { std::alloc::dealloc(ptr::with_exposed_provenance_mut(address), layout(bytes)?) };
        Ok(())
    })
}

fn unmap(device: &Device, address: usize) -> Option<usize> {
    let mut global = device.memory.take();
    locked(&device.memory.mirrors).remove(address, &mut global)
}

/// # Safety
///
/// The memory is valid until it is unregistered.
#[unsafe(no_mangle)]
unsafe extern "C" fn ptxrt_cudaHostRegister(address: *mut c_void, bytes: usize, _: u32) -> i32 {
    on_device(|device| {
        if address.is_null() || bytes == 0 {
            return Err(Code::INVALID_VALUE);
        }
        let mut global = device.memory.take();
        let mut mirrors = locked(&device.memory.mirrors);
        // SAFETY: as the caller promises.
        let added = unsafe { mirrors.add(address.expose_provenance(), bytes, &mut global) };
        added.map_err(|_| Code::ALREADY_REGISTERED)
    })
}

#[unsafe(no_mangle)]
extern "C" fn ptxrt_cudaHostUnregister(address: usize) -> i32 {
    on_device(|device| {
        device.wait_for_all()?;
        unmap(device, address)
            .map(|_| ())
            .ok_or(Code::NOT_REGISTERED)
    })
}

/// # Safety
///
/// There is room for an address.
#[unsafe(no_mangle)]
unsafe extern "C" fn ptxrt_cudaHostGetDevicePointer(to: *mut usize, host: usize, _: u32) -> i32 {
    on_device(|device| {
        let range = host..host.checked_add(1).ok_or(Code::INVALID_VALUE)?;
        if !locked(&device.memory.mirrors).contains(&range) {
            return Err(Code::INVALID_VALUE);
        }
        // SAFETY: as the caller promises.
        unsafe { give(to, host) }
    })
}

/// Unless the call is asynchronous, its work is waited for.
fn finish(device: &Device, end: Option<Point>, waits: bool) -> Done {
    match end {
        Some(end) if waits => device.wait(&[end]),
        _ => Ok(()),
    }
}

/// # Safety
///
/// Memory of the host is valid; pinned memory until the copy is complete.
#[unsafe(no_mangle)]
unsafe extern "C" fn ptxrt_copy(
    to: usize,
    from: usize,
    bytes: usize,
    kind: i32,
    stream: usize,
    waits: i32,
) -> i32 {
    on_device(|device| {
        let stream = device.streams.get_for_capture(stream)?;
        let ends = Ends { to, from, bytes };
        // SAFETY: as the caller promises.
        let end = unsafe { copy::copy(ends, Direction::of(kind)?, &stream) }?;
        finish(device, end, waits != 0)
    })
}

/// # Safety
///
/// Pinned memory is valid until the fill is complete.
#[unsafe(no_mangle)]
unsafe extern "C" fn ptxrt_fill(
    to: usize,
    byte: i32,
    bytes: usize,
    stream: usize,
    waits: i32,
) -> i32 {
    calls::count("cudaMemset");
    on_device(|device| {
        let stream = device.streams.get_for_capture(stream)?;
        // SAFETY: as the caller promises.
        let end = unsafe { copy::fill(to, byte as u8, bytes, &stream) }?;
        finish(device, end, waits != 0)
    })
}

/// # Safety
///
/// As for [`ptxrt_copy`].
#[unsafe(no_mangle)]
unsafe extern "C" fn ptxrt_copy_variable(
    symbol: usize,
    host: usize,
    bytes: usize,
    offset: usize,
    writes: i32,
    stream: usize,
) -> i32 {
    on_device(|device| {
        let stream = device.streams.get(stream)?;
        // SAFETY: as the caller promises.
        let end =
            unsafe { copy::copy_variable((symbol, offset), (host, bytes), writes != 0, &stream) }?;
        finish(device, end, true)
    })
}

/// # Safety
///
/// There is room for both numbers.
#[unsafe(no_mangle)]
unsafe extern "C" fn ptxrt_variable(address: *mut usize, bytes: *mut usize, symbol: usize) -> i32 {
    on_device(|_| {
        let found = DeviceVariable::of_host(symbol)?;
        // SAFETY: as the caller promises.
        unsafe { give(bytes, found.bytes as usize) }?;
        let start = found.address.ok_or(Code::NOT_SUPPORTED);
        // SAFETY: as the caller promises.
        start.and_then(|start| unsafe { give(address, start as usize) })
    })
}

/// # Safety
///
/// There is room for both numbers.
#[unsafe(no_mangle)]
unsafe extern "C" fn ptxrt_cudaMemGetInfo(free: *mut usize, total: *mut usize) -> i32 {
    on_device(|device| {
        // SAFETY: as the caller promises.
        unsafe { give(free, device.free_bytes() as usize) }?;
        // SAFETY: as the caller promises.
        unsafe { give(total, limits::MEMORY_BYTES as usize) }
    })
}

/// 0: unknown memory, 1: pinned memory of the host, 2: memory of the device (`cudaMemoryType`).
#[unsafe(no_mangle)]
extern "C" fn ptxrt_memory_type(address: usize) -> i32 {
    let device = crate::device::device();
    let range = address..address.saturating_add(1);
    if locked(&device.memory.mirrors).contains(&range) {
        return 1;
    }
    if device.find(address as u64, 1).is_some() {
        2
    } else {
        0
    }
}

// The memory pool: there is only the default one.

/// `cudaMemPoolAttr`
const THRESHOLD: i32 = 4;

/// # Safety
///
/// There is room for a number.
#[unsafe(no_mangle)]
unsafe extern "C" fn ptxrt_pool_attribute(attribute: i32, value: *mut u64) -> i32 {
    on_device(|device| {
        let pool = &locked(&device.allocations).pool;
        let found = match attribute {
            THRESHOLD => pool.threshold,
            5 => pool.reserved,
            6 => pool.most_reserved,
            7 => pool.used,
            8 => pool.most_used,
            _ => return Err(Code::INVALID_VALUE),
        };
        // SAFETY: as the caller promises.
        unsafe { give(value, found) }
    })
}

#[unsafe(no_mangle)]
extern "C" fn ptxrt_set_pool_attribute(attribute: i32, value: u64) -> i32 {
    calls::count("cudaMemPoolSetAttribute");
    on_device(|device| {
        let pool = &mut locked(&device.allocations).pool;
        match (attribute, value) {
            (THRESHOLD, _) => pool.threshold = value,
            (6, 0) => pool.most_reserved = pool.reserved,
            (8, 0) => pool.most_used = pool.used,
            _ => return Err(Code::INVALID_VALUE),
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn ptxrt_trim_pool(least: usize) -> i32 {
    on_device(|device| {
        locked(&device.allocations).pool.trim_to(least as u64);
        Ok(())
    })
}

/// How often the pool obtained memory from the system; CUDA has no such function.
#[unsafe(no_mangle)]
extern "C" fn ptxrt_pool_growths() -> u64 {
    locked(&crate::device::device().allocations).pool.growths
}
