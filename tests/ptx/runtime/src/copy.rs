//! Copies and fills (CUDA runtime API, "Memory Management" and "API synchronization behavior").

use std::sync::Arc;

use croq_ptx::machine::Global;

use crate::code::{Code, Done};
use crate::device::{Device, device};
use crate::launch;
use crate::memory::locked;
use crate::registry::DeviceVariable;
use crate::stream::{Point, Stream};

/// Where one side of a copy is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Side {
    Device(u64),
    /// Host memory that the runtime allocated or the program registered.
    Pinned(usize),
    Pageable(usize),
}

/// `cudaMemcpyKind`
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Direction {
    from_device: Option<bool>,
    to_device: Option<bool>,
}

impl Direction {
    pub fn of(kind: i32) -> Done<Direction> {
        let (from_device, to_device) = match kind {
            0 => (Some(false), Some(false)),
            1 => (Some(false), Some(true)),
            2 => (Some(true), Some(false)),
            3 => (Some(true), Some(true)),
            4 => (None, None),
            _ => return Err(Code::INVALID_DIRECTION),
        };
        Ok(Direction {
            from_device,
            to_device,
        })
    }
}

/// Addresses of the device's own memory (`Global::allocate`).
fn is_device(address: usize) -> bool {
    (0x2000_0000_0000..0x4000_0000_0000).contains(&address)
}

/// `wanted` is what the direction says; memory of the host that is pinned counts as both.
fn side(device: &Device, address: usize, bytes: usize, wanted: Option<bool>) -> Done<Side> {
    if is_device(address) {
        let found = device.find(address as u64, bytes as u64);
        return match found.filter(|_| wanted != Some(false)) {
            Some(_) => Ok(Side::Device(address as u64)),
            None => Err(Code::INVALID_VALUE),
        };
    }
    let range = address..address.checked_add(bytes).ok_or(Code::INVALID_VALUE)?;
    let is_pinned = locked(&device.memory.mirrors).contains(&range);
    match (is_pinned, address, wanted) {
        (true, ..) => Ok(Side::Pinned(address)),
        (_, 0, _) | (.., Some(true)) => Err(Code::INVALID_VALUE),
        _ => Ok(Side::Pageable(address)),
    }
}

/// Bytes that the copy has for itself, or memory.
enum Source {
    Bytes(Vec<u8>),
    At(Side),
}

/// The target, the source and their size in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Ends {
    pub to: usize,
    pub from: usize,
    pub bytes: usize,
}

/// Enqueues a copy. Host memory that is not pinned is read before this returns, and written before
/// this returns.
///
/// # Safety
///
/// Host memory at both ends is valid, and pinned memory remains so until the copy is complete.
pub unsafe fn copy(ends: Ends, direction: Direction, stream: &Arc<Stream>) -> Done<Option<Point>> {
    let device = device();
    let Ends { to, from, bytes } = ends;
    if bytes == 0 {
        return Ok(None);
    }
    let to = side(device, to, bytes, direction.to_device)?;
    let from = side(device, from, bytes, direction.from_device)?;
    let is_pageable = [to, from]
        .iter()
        .any(|side| matches!(side, Side::Pageable(_)));
    if is_pageable && locked(&stream.captured).is_some() {
        return Err(Code::NOT_IN_CAPTURE);
    }
    let source = match from {
        // SAFETY: as the caller promises.
        Side::Pageable(address) => Source::Bytes(unsafe { read(address, bytes) }),
        other => Source::At(other),
    };
    let work = move || {
        let mut global = device.memory.take();
        let value = match &source {
            Source::Bytes(value) => value.clone(),
            Source::At(Side::Device(from)) => {
                let from = *from;
                let value = get(&global, from, bytes)?;
                if let Side::Device(to) = to {
                    put(&mut global, to, &value)?;
                    return global.copy_unwritten(from, to, bytes as u64).map_err(freed);
                }
                all_written(&global, from, bytes)?;
                value
            }
            Source::At(Side::Pinned(address) | Side::Pageable(address)) => {
                // SAFETY: as the caller promises.
                unsafe { read(*address, bytes) }
            }
        };
        match to {
            Side::Device(address) => put(&mut global, address, &value),
            Side::Pinned(address) | Side::Pageable(address) => {
                // SAFETY: as the caller promises; pageable memory is waited for below.
                unsafe { write(address, &value) };
                Ok(())
            }
        }
    };
    let end = device.issue_or_capture(stream, Arc::new(work));
    if matches!(to, Side::Pageable(_)) {
        end.wait();
        device.healthy()?;
    }
    Ok(Some(end))
}

/// A copy to the host of bytes that nothing has written is a report (`CROQ_PTX_CHECKS`): the program has a
/// use for what it fetches.
fn all_written(global: &Global, from: u64, bytes: usize) -> Done {
    let found = global.first_unwritten(from, bytes as u64);
    let Some(first) = found.filter(|_| launch::checks().unwritten) else {
        return Ok(());
    };
    eprintln!(
        "PTX machine: a copy of {bytes} bytes to the host has bytes that nothing has written, the first at \
         offset {}",
        first - from
    );
    Err(Code::LAUNCH_FAILURE)
}

/// Enqueues a fill with one byte.
///
/// # Safety
///
/// Pinned memory remains valid until the fill is complete.
pub unsafe fn fill(to: usize, byte: u8, bytes: usize, stream: &Arc<Stream>) -> Done<Option<Point>> {
    let device = device();
    if bytes == 0 {
        return Ok(None);
    }
    let to = side(device, to, bytes, Some(true))?;
    let work = move || {
        let mut global = device.memory.take();
        match to {
            Side::Device(address) => {
                let place = global.get_mut(address, bytes as u64, 1);
                place.map_err(freed)?.fill(byte);
            }
            // SAFETY: as the caller promises.
            Side::Pinned(address) | Side::Pageable(address) => unsafe {
                write(address, &vec![byte; bytes]);
            },
        }
        Ok(())
    };
    Ok(Some(device.issue_or_capture(stream, Arc::new(work))))
}

/// A copy from or to a variable of a module, at an offset.
///
/// # Safety
///
/// As for [`copy`].
pub unsafe fn copy_variable(
    (symbol, offset): (usize, usize),
    (host, bytes): (usize, usize),
    writes: bool,
    stream: &Arc<Stream>,
) -> Done<Option<Point>> {
    let device = device();
    let variable = DeviceVariable::of_host(symbol)?;
    let end = offset.checked_add(bytes).ok_or(Code::INVALID_VALUE)?;
    if end as u64 > variable.bytes {
        return Err(Code::INVALID_VALUE);
    }
    if let Some(start) = variable.address {
        let place = start as usize + offset;
        let (to, from) = if writes { (place, host) } else { (host, place) };
        // SAFETY: as the caller promises.
        return unsafe { copy(Ends { to, from, bytes }, Direction::of(4)?, stream) };
    }
    // SAFETY: as the caller promises.
    let value = if writes {
        unsafe { read(host, bytes) }
    } else {
        Vec::new()
    };
    let end = device.issue(stream, Vec::new(), move || {
        let program = &variable.module.program;
        let done = match writes {
            true => program.set_constant(&variable.name, offset as u64, &value),
            false => program
                .constant(&variable.name, offset as u64, bytes as u64)
                // SAFETY: as the caller promises; the copy is waited for below.
                .map(|value| unsafe { write(host, &value) }),
        };
        done.map_err(freed)
    });
    end.wait();
    Ok(Some(end))
}

fn get(global: &Global, address: u64, bytes: usize) -> Done<Vec<u8>> {
    let found = global.get(address, bytes as u64, 1).map_err(freed)?;
    Ok(found.to_vec())
}

fn put(global: &mut Global, address: u64, value: &[u8]) -> Done {
    let place = global.get_mut(address, value.len() as u64, 1);
    place.map_err(freed)?.copy_from_slice(value);
    Ok(())
}

/// The memory was there when the copy was enqueued.
fn freed(message: String) -> Code {
    eprintln!("PTX machine: a copy fails: {message}");
    Code::ILLEGAL_ADDRESS
}

/// # Safety
///
/// The bytes are valid.
unsafe fn read(address: usize, bytes: usize) -> Vec<u8> {
    let mut value = vec![0; bytes];
    // SAFETY: as the caller promises.
    unsafe { std::ptr::copy_nonoverlapping(address as *const u8, value.as_mut_ptr(), bytes) };
    value
}

/// # Safety
///
/// The bytes are valid.
unsafe fn write(address: usize, value: &[u8]) {
    // SAFETY: as the caller promises.
    unsafe { std::ptr::copy_nonoverlapping(value.as_ptr(), address as *mut u8, value.len()) };
}
