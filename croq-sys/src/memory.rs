//! Device memory that is freed in stream order when its last owner is dropped.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::cuda::RawStream;
use crate::device::{Device, Kind};
use crate::error::{Error, Result};
use crate::last_use::{EndOfWork, LastUses};
use crate::stream::Stream;

/// The alignment that CUDA guarantees for its allocations; kernels rely on it.
const ALIGNMENT: usize = 256;

/// The largest size of memory in bytes. With it the compiler proves that values which kernels
/// compute from a tensor's extents fit 64 bits (`most_bytes` of `croq_exact.h`).
const MOST_BYTES: u64 = 1 << 56;

/// The bytes on the simulated GPU of memory that is not cleared.
const UNWRITTEN: u8 = 0xa5;

/// Kernels store packed elements by compare-and-swap of words.
fn whole_words(bytes: usize) -> usize {
    bytes.max(1).next_multiple_of(4)
}

/// A piece of memory on one device.
pub(crate) struct Memory {
    device: Device,
    address: NonNull<u8>,
    bytes: usize,
    uses: Mutex<LastUses>,
}

// SAFETY: the memory is accessed through `&self` only for reading (`download`) and by kernels,
// whose accesses the wrappers guard with `&` and `&mut` of the tensor that owns it; addresses of
// device memory may be used from any thread.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    /// All bytes zero.
    pub(crate) fn zeroed(device: &Device, bytes: usize) -> Result<Self> {
        let own = match device.kind() {
            Kind::Cuda(gpu) => Some(gpu.stream),
            _ => None,
        };
        Self::zeroed_on(device, bytes, own)
    }

    /// The same for later work on `stream`.
    pub(crate) fn zeroed_on(
        device: &Device,
        bytes: usize,
        stream: Option<RawStream>,
    ) -> Result<Self> {
        let memory = Self::allocate(device, bytes, stream)?;
        if let (Kind::Cuda(gpu), Some(stream)) = (device.kind(), stream) {
            // SAFETY: the memory was just allocated with that size.
            let cleared = unsafe { gpu.runtime.clear(memory.address, bytes as u64, stream) };
            device.check(cleared)?;
        }
        Ok(memory)
    }

    /// Memory for later work on `stream`, which writes all of it before anything reads it.
    pub(crate) fn unwritten_on(
        device: &Device,
        bytes: usize,
        stream: Option<RawStream>,
    ) -> Result<Self> {
        let memory = Self::allocate(device, bytes, stream)?;
        if !matches!(device.kind(), Kind::Cuda(_)) {
            // SAFETY: the memory was just allocated with that size.
            unsafe { memory.address.write_bytes(UNWRITTEN, bytes) };
        }
        Ok(memory)
    }

    /// Waits for work on the program's streams that must be complete before the memory is read, or
    /// written if `writes`, on the device's own stream or by the host.
    pub(crate) fn settle(&self, writes: bool) -> Result<()> {
        self.uses().wait(writes)
    }

    /// Orders the work that is enqueued on `stream` next after its dependences.
    pub(crate) fn order_on(&self, stream: &Stream, writes: bool) -> Result<()> {
        self.uses().order(stream, writes)
    }

    /// Records work on `stream` that uses the memory, up to `end`.
    pub(crate) fn used_on(&self, stream: &Stream, end: &Arc<EndOfWork>, writes: bool) {
        self.uses().add(stream, end, writes);
    }

    fn uses(&self) -> MutexGuard<'_, LastUses> {
        self.uses.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of streams with a recorded last use.
    #[cfg(test)]
    pub(crate) fn known_uses(&self) -> usize {
        self.uses().len()
    }

    /// A copy of `data`.
    pub(crate) fn upload(device: &Device, data: &[u8]) -> Result<Self> {
        let own = match device.kind() {
            Kind::Cuda(gpu) => Some(gpu.stream),
            _ => None,
        };
        let memory = Self::allocate(device, data.len(), own)?;
        match device.kind() {
            Kind::Cuda(gpu) => {
                // SAFETY: the memory was just allocated with that size, and the stream is
                // synchronized before `data` can change.
                device.check(unsafe { gpu.runtime.copy_in(memory.address, data, gpu.stream) })?;
                device.synchronize_own()?;
            }
            // SAFETY: the memory was just allocated with that size.
            _ => unsafe {
                memory
                    .address
                    .copy_from_nonoverlapping(NonNull::from(data).cast(), data.len())
            },
        }
        Ok(memory)
    }

    /// On the simulated GPU the bytes are zero, because Rust must not read uninitialised memory.
    fn allocate(device: &Device, bytes: usize, stream: Option<RawStream>) -> Result<Self> {
        device.healthy()?;
        let full = || Error::OutOfMemory {
            device: device.to_string(),
            bytes: bytes as u64,
            what: String::new(),
            limit: None,
        };
        if bytes as u64 > MOST_BYTES {
            return Err(full());
        }
        let address = match device.kind() {
            Kind::Cuda(gpu) => {
                device.select(gpu)?;
                let stream = stream.unwrap_or(gpu.stream);
                device.check(gpu.runtime.allocate(whole_words(bytes) as u64, stream))?
            }
            _ => {
                let layout = layout(bytes).ok_or_else(full)?;
                // SAFETY: the layout has at least one byte.
                NonNull::new(unsafe { alloc_zeroed(layout) })
            }
        };
        let address = address.ok_or_else(full)?;
        Ok(Self {
            device: device.clone(),
            address,
            bytes,
            uses: Mutex::default(),
        })
    }

    /// Copies the first `to.len()` bytes to the host, after all earlier work on the device.
    pub(crate) fn download(&self, to: &mut [u8]) -> Result<()> {
        self.device.healthy()?;
        if to.len() > self.bytes {
            return Err(Error::Length {
                shape: vec![self.bytes],
                found: to.len(),
            });
        }
        match self.device.kind() {
            Kind::Cuda(gpu) => {
                self.device.select(gpu)?;
                self.settle(false)?;
                // SAFETY: the memory is at least that large, and the stream is synchronized before
                // `to` is read.
                let copied = unsafe { gpu.runtime.copy_out(to, self.address, gpu.stream) };
                self.device.check(copied)?;
                self.device.synchronize_own()
            }
            _ => {
                // SAFETY: the memory is at least that large; no kernel writes it while it is
                // borrowed.
                let bytes = to.len();
                unsafe {
                    self.address
                        .copy_to_nonoverlapping(NonNull::from(to).cast(), bytes)
                };
                Ok(())
            }
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    pub(crate) fn address(&self) -> *mut c_void {
        self.address.as_ptr().cast()
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        match self.device.kind() {
            Kind::Cuda(gpu) => {
                let uses = self.uses.get_mut().unwrap_or_else(PoisonError::into_inner);
                // If the context is lost, the memory is too.
                if self.device.healthy().is_err() || self.device.select(gpu).is_err() {
                    return;
                }
                // After that work, without waiting here: on the stream itself if only one uses the
                // memory, else on a stream where waiting delays nothing.
                let in_flight: Vec<&EndOfWork> = uses.in_flight().collect();
                let only = match in_flight.as_slice() {
                    [only] => only.stream(),
                    _ => None,
                };
                let stream = match &only {
                    Some(only) => only.raw(),
                    None if in_flight.is_empty() => gpu.stream,
                    None => gpu.frees,
                };
                let waits = in_flight.iter().filter(|_| only.is_none());
                for end in waits {
                    if end.comes_before(stream).is_err() && end.wait().is_err() {
                        return;
                    }
                }
                // SAFETY: allocated by `allocate`; all work that uses it is complete or before this
                // on the stream, and later work cannot have the address.
                unsafe { gpu.runtime.free(self.address, stream) };
            }
            _ => {
                if let Some(layout) = layout(self.bytes) {
                    // SAFETY: allocated by `allocate` with this layout.
                    unsafe { dealloc(self.address.as_ptr(), layout) };
                }
            }
        }
    }
}

fn layout(bytes: usize) -> Option<Layout> {
    Layout::from_size_align(bytes.max(1), ALIGNMENT).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sim_memory_is_zeroed_aligned_and_copied() {
        let sim = Device::sim();
        let zeros = Memory::zeroed(&sim, 100).unwrap();
        assert_eq!(zeros.address() as usize % ALIGNMENT, 0);
        let mut out = [1u8; 100];
        zeros.download(&mut out).unwrap();
        assert_eq!(out, [0; 100]);
        let memory = Memory::upload(&sim, &[1, 2, 3]).unwrap();
        let mut out = [0; 2];
        memory.download(&mut out).unwrap();
        assert_eq!(out, [1, 2]);
        assert!(memory.download(&mut [0; 4]).is_err());
    }

    #[test]
    fn too_much_is_an_error() {
        let e = Memory::zeroed(&Device::sim(), usize::MAX / 2 + 1).err();
        assert!(matches!(e, Some(Error::OutOfMemory { .. })), "{e:?}");
    }
}
