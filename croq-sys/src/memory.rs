//! Device memory that is freed in stream order when its last owner is dropped.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::any::Any;
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::after;
use crate::cuda::RawStream;
use crate::device::{Device, Gpu, Kind};
use crate::error::{Error, Result};
use crate::last_use::{EndOfWork, LastUses};
use crate::region::Region;
use crate::stream::{Stream, StreamId};
use crate::trace;

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
    /// What keeps memory alive that this crate has not allocated.
    owner: Option<Owner>,
}

/// Dropped after the last work on some memory.
pub(crate) type Owner = Box<dyn Any + Send + Sync>;

// SAFETY: the memory is accessed through `&self` only for reading (`download`) and by kernels,
// whose accesses the wrappers guard with `&` and `&mut` of the tensor that owns it; addresses of
// device memory may be used from any thread.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

// A panic leaves it as usable as before: the list of uses is complete at each of its steps, and an owner
// is only dropped.
impl std::panic::UnwindSafe for Memory {}
impl std::panic::RefUnwindSafe for Memory {}

impl Memory {
    /// All bytes zero.
    pub(crate) fn zeroed(device: &Device, bytes: usize) -> Result<Self> {
        let own = match device.kind() {
            Kind::Cuda(gpu) => Some(gpu.stream),
            _ => None,
        };
        let memory = Self::zeroed_on(device, bytes, own)?;
        memory.used_on_own(true)?;
        Ok(memory)
    }

    /// Memory for a copy on the device's own stream, which writes all of it.
    pub(crate) fn unwritten(device: &Device, bytes: usize) -> Result<Self> {
        Self::unwritten_on(device, bytes, None)
    }

    /// Memory of the program.
    ///
    /// # Safety
    ///
    /// As for [`DeviceTensor::from_raw_parts`](crate::DeviceTensor::from_raw_parts).
    pub(crate) unsafe fn foreign(
        device: &Device,
        address: NonNull<u8>,
        bytes: usize,
        owner: Owner,
    ) -> Self {
        Self {
            device: device.clone(),
            address,
            bytes,
            uses: Mutex::default(),
            owner: Some(owner),
        }
    }

    /// The same for later work on `stream`.
    pub(crate) fn zeroed_on(
        device: &Device,
        bytes: usize,
        stream: Option<RawStream>,
    ) -> Result<Self> {
        let memory = Self::allocate(device, bytes, stream)?;
        if let (Kind::Cuda(gpu), Some(stream)) = (device.kind(), stream) {
            memory.clear_unordered(gpu, stream)?;
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
            memory.fill(UNWRITTEN);
        }
        Ok(memory)
    }

    /// Waits for work on the program's streams that must be complete before the memory is read, or
    /// written if `writes`, on the device's own stream.
    pub(crate) fn settle(&self, writes: bool) -> Result<()> {
        self.uses().wait(writes)
    }

    /// Orders the work that is enqueued on `stream` next after its dependences.
    pub(crate) fn order_on(&self, stream: &Stream, writes: bool) -> Result<()> {
        let place = (stream.id(), stream.raw());
        self.uses().order(stream.device(), place, writes)
    }

    /// Records the work on `stream` so far, which uses all of `memory` and was ordered.
    pub(crate) fn used_on<'a>(
        memory: impl IntoIterator<Item = (&'a Memory, bool)>,
        gpu: &Gpu,
        stream: &Stream,
    ) -> Result<()> {
        match EndOfWork::of(gpu, stream) {
            Ok(end) => {
                let end = Arc::new(end);
                for (memory, writes) in memory {
                    memory.uses().add(stream.id(), &end, writes);
                }
                Ok(())
            }
            // Then no work may remain in flight.
            Err(failed) => stream
                .synchronize()
                .map_err(|_| stream.device().failed(failed)),
        }
    }

    /// Calls `enqueue`, which puts work on `stream` that uses the memory.
    pub(crate) fn use_on<R>(
        &self,
        stream: &Stream,
        writes: bool,
        enqueue: impl FnOnce() -> R,
    ) -> Result<R> {
        /// Records the work also if `enqueue` panics.
        struct Recorder<'a>(Option<(&'a Memory, &'a Gpu, &'a Stream, bool)>);
        impl Recorder<'_> {
            fn record(&mut self) -> Result<()> {
                match self.0.take() {
                    Some((memory, gpu, stream, writes)) => {
                        Memory::used_on([(memory, writes)], gpu, stream)
                    }
                    None => Ok(()),
                }
            }
        }
        impl Drop for Recorder<'_> {
            fn drop(&mut self) {
                // A failed device is found by the next operation.
                let _ = self.record();
            }
        }
        self.device
            .expect("with_device_ptr", "stream", stream.device())?;
        stream.executes("with_device_ptr")?;
        self.device.healthy()?;
        let Kind::Cuda(gpu) = self.device.kind() else {
            return Ok(enqueue());
        };
        self.device.select(gpu)?;
        self.order_on(stream, writes)?;
        let mut recorder = Recorder(Some((self, gpu, stream, writes)));
        let result = enqueue();
        recorder.record()?;
        Ok(result)
    }

    /// Records the work on the device's own stream so far, which uses the memory.
    pub(crate) fn used_on_own(&self, writes: bool) -> Result<()> {
        let Kind::Cuda(gpu) = self.device.kind() else {
            return Ok(());
        };
        match EndOfWork::of_raw(&self.device, gpu, (StreamId::OWN, gpu.stream)) {
            Ok(end) => {
                self.uses().add(StreamId::OWN, &Arc::new(end), writes);
                Ok(())
            }
            Err(failed) => self
                .device
                .synchronize_own()
                .map_err(|_| self.device.failed(failed)),
        }
    }

    /// Copies elements of `from` to places of this memory, after earlier work on both; on a GPU the
    /// copy is only enqueued. Both are on one device.
    ///
    /// # Safety
    ///
    /// The regions are inside of the memory, have the same shape and elements, and have no byte in
    /// common.
    pub(crate) unsafe fn copy(
        &self,
        to: &Region,
        (from, source): (&Memory, &Region),
    ) -> Result<()> {
        self.device.healthy()?;
        let _span = trace::copy("on", to.bytes(), &self.device);
        let Kind::Cuda(gpu) = self.device.kind() else {
            return Region::copy(to, source, |rows| {
                for row in 0..rows.height {
                    // SAFETY: the regions are inside of the memory.
                    let to = unsafe { self.address.byte_add(rows.to.0 + row * rows.to.1) };
                    // SAFETY: as above.
                    let from = unsafe { from.address.byte_add(rows.from.0 + row * rows.from.1) };
                    // SAFETY: as the caller promises; no kernel uses the memory now.
                    unsafe { to.copy_from_nonoverlapping(from, rows.width) };
                }
                Ok(())
            });
        };
        self.device.select(gpu)?;
        let own = (StreamId::OWN, gpu.stream);
        from.uses().order(&self.device, own, false)?;
        self.uses().order(&self.device, own, true)?;
        // SAFETY: as the caller promises.
        let copied = unsafe { self.copy_unordered(gpu, to, (from, source), gpu.stream) };
        let copied = self.device.check(copied);
        from.used_on_own(false)?;
        self.used_on_own(true)?;
        copied
    }

    /// Enqueues such a copy on `stream` of a GPU, after the work that is there.
    ///
    /// # Safety
    ///
    /// As for [`copy`](Self::copy), and the caller orders the copy with other work.
    pub(crate) unsafe fn copy_unordered(
        &self,
        gpu: &Gpu,
        to: &Region,
        (from, source): (&Memory, &Region),
        stream: RawStream,
    ) -> Result<()> {
        let at = |memory: &Memory, offset: usize| {
            // SAFETY: the regions are inside of the memory.
            unsafe { memory.address.byte_add(offset) }
        };
        Region::copy(to, source, |rows| {
            let to = (at(self, rows.to.0), rows.to.1 as u64);
            let from = (at(from, rows.from.0), rows.from.1 as u64);
            let size = (rows.width as u64, rows.height as u64);
            // SAFETY: as the caller promises.
            unsafe { gpu.runtime.copy_rows(to, from, size, stream) }
        })
    }

    /// Copies so many bytes from `offset` on to memory of another GPU, after earlier work; only enqueued.
    /// Both are GPUs.
    pub(crate) fn to_peer(&self, offset: usize, bytes: usize, device: &Device) -> Result<Self> {
        let (Kind::Cuda(gpu), Kind::Cuda(other)) = (self.device.kind(), device.kind()) else {
            let mut data = bytemuck::try_zeroed_vec::<u8>(bytes)
                .map_err(|()| too_large(&self.device, bytes))?;
            self.download(offset, &mut data)?;
            return Self::upload(device, &data);
        };
        self.device.healthy()?;
        let from = self.place(offset, bytes)?;
        let to = Self::unwritten(device, bytes)?;
        // The copy is on this device's own stream, after the allocation on that of the other.
        to.used_on_own(true)?;
        self.device.select(gpu)?;
        self.uses()
            .order(&self.device, (StreamId::OWN, gpu.stream), false)?;
        let place = (StreamId::fresh(), gpu.stream);
        to.uses().order(&self.device, place, true)?;
        let target = (to.address, other.index);
        // SAFETY: both places are inside of the memory, which is freed after the uses below.
        let copied = unsafe {
            let source = (from, gpu.index);
            gpu.runtime
                .copy_to_peer(target, source, bytes as u64, gpu.stream)
        };
        let copied = self.device.check(copied);
        self.used_on_own(false)?;
        match EndOfWork::of_raw(&self.device, gpu, (StreamId::OWN, gpu.stream)) {
            Ok(end) => to.uses().add(place.0, &Arc::new(end), true),
            // Then no work may remain in flight.
            Err(failed) => {
                let waited = self.device.synchronize_own();
                waited.map_err(|_| self.device.failed(failed))?;
            }
        }
        copied.map(|()| to)
    }

    /// Enqueues a copy of elements to page-locked memory, after earlier work on both; `packed` are the
    /// places there.
    ///
    /// # Safety
    ///
    /// The regions are inside of the memory, and have the same shape and elements; `to` is memory of the
    /// host on the same device.
    pub(crate) unsafe fn to_pinned_on(
        &self,
        stream: &Stream,
        from: &Region,
        packed: &Region,
        to: &Self,
    ) -> Result<()> {
        let Kind::Cuda(gpu) = self.device.kind() else {
            // SAFETY: as the caller promises.
            return unsafe { to.copy(packed, (self, from)) };
        };
        self.device.healthy()?;
        self.device.select(gpu)?;
        self.order_on(stream, false)?;
        to.order_on(stream, true)?;
        let made = match from.is_dense() {
            true => None,
            false => {
                let bytes = packed.bytes();
                Some(Self::unwritten_on(&self.device, bytes, Some(stream.raw()))?)
            }
        };
        // SAFETY: as the caller promises; all are freed after the uses below.
        let copied = unsafe { self.to_pinned_unordered(stream, from, packed, (to, made.as_ref())) };
        let made = made.iter().map(|made| (made, true));
        Self::used_on(
            [(self, false), (to, true)].into_iter().chain(made),
            gpu,
            stream,
        )?;
        copied
    }

    /// Enqueues the copy of [`to_pinned_on`](Self::to_pinned_on) alone, on a stream of a GPU; a region
    /// with gaps is first copied to dense memory of the device.
    ///
    /// # Safety
    ///
    /// As for `to_pinned_on`; the stream's work is ordered with other work on the memory, which is freed
    /// after it.
    pub(crate) unsafe fn to_pinned_unordered(
        &self,
        stream: &Stream,
        from: &Region,
        packed: &Region,
        (to, dense): (&Self, Option<&Self>),
    ) -> Result<()> {
        let Kind::Cuda(gpu) = self.device.kind() else {
            return Ok(());
        };
        // SAFETY: as the caller promises.
        let copied = unsafe {
            let (memory, offset) = match dense {
                Some(dense) => (dense, 0),
                None => (self, from.offset),
            };
            let gathered = match dense {
                Some(dense) => dense.copy_unordered(gpu, packed, (self, from), stream.raw()),
                None => Ok(()),
            };
            let source = memory.address.byte_add(offset);
            gathered.and_then(|()| {
                let bytes = packed.bytes();
                gpu.runtime
                    .copy_out(to.address, source, bytes, stream.raw())
            })
        };
        self.device.check(copied)
    }

    /// Enqueues a copy of elements from page-locked memory, after earlier work on both; `packed` are the
    /// places there.
    ///
    /// # Safety
    ///
    /// As for [`to_pinned_on`](Self::to_pinned_on).
    pub(crate) unsafe fn from_pinned_on(
        &self,
        stream: &Stream,
        to: &Region,
        packed: &Region,
        from: &Self,
    ) -> Result<()> {
        let Kind::Cuda(gpu) = self.device.kind() else {
            // SAFETY: as the caller promises.
            return unsafe { self.copy(to, (from, packed)) };
        };
        self.device.healthy()?;
        self.device.select(gpu)?;
        self.order_on(stream, true)?;
        from.order_on(stream, false)?;
        let made = match to.is_dense() {
            true => None,
            false => {
                let bytes = packed.bytes();
                Some(Self::unwritten_on(&self.device, bytes, Some(stream.raw()))?)
            }
        };
        // SAFETY: as the caller promises; all are freed after the uses below.
        let copied =
            unsafe { self.from_pinned_unordered(stream, to, packed, (from, made.as_ref())) };
        let made = made.iter().map(|made| (made, true));
        Self::used_on(
            [(self, true), (from, false)].into_iter().chain(made),
            gpu,
            stream,
        )?;
        copied
    }

    /// Enqueues the copy of [`from_pinned_on`](Self::from_pinned_on) alone, on a stream of a GPU.
    ///
    /// # Safety
    ///
    /// As for [`to_pinned_unordered`](Self::to_pinned_unordered).
    pub(crate) unsafe fn from_pinned_unordered(
        &self,
        stream: &Stream,
        to: &Region,
        packed: &Region,
        (from, dense): (&Self, Option<&Self>),
    ) -> Result<()> {
        let Kind::Cuda(gpu) = self.device.kind() else {
            return Ok(());
        };
        // SAFETY: as the caller promises.
        let copied = unsafe {
            let target = match dense {
                Some(dense) => dense.address,
                None => self.address.byte_add(to.offset),
            };
            let bytes = packed.bytes();
            let copied = gpu
                .runtime
                .copy_in(target, from.address, bytes, stream.raw());
            copied.and_then(|()| match dense {
                Some(dense) => self.copy_unordered(gpu, to, (dense, packed), stream.raw()),
                None => Ok(()),
            })
        };
        self.device.check(copied)
    }

    /// Sets all bytes to zero, after earlier work on the memory; on a GPU only enqueued. Nobody else
    /// uses the memory meanwhile.
    pub(crate) fn clear(&self) -> Result<()> {
        let Kind::Cuda(gpu) = self.device.kind() else {
            self.fill(0);
            return Ok(());
        };
        self.device.select(gpu)?;
        let own = (StreamId::OWN, gpu.stream);
        self.uses().order(&self.device, own, true)?;
        self.clear_unordered(gpu, gpu.stream)?;
        self.used_on_own(true)
    }

    /// Enqueues that on `stream`, after the work that is there.
    pub(crate) fn clear_unordered(&self, gpu: &Gpu, stream: RawStream) -> Result<()> {
        // SAFETY: the memory has that size.
        let cleared = unsafe { gpu.runtime.clear(self.address, self.bytes as u64, stream) };
        self.device.check(cleared)
    }

    /// The memory as a kernel of the simulated GPU finds it that allocates it: zeros, or no values.
    pub(crate) fn renew(&self, zero: bool) {
        self.fill(if zero { 0 } else { UNWRITTEN });
    }

    fn fill(&self, byte: u8) {
        // SAFETY: the memory has that size, and is the host's on the simulated GPU, where work is
        // complete.
        unsafe { self.address.write_bytes(byte, self.bytes) };
    }

    /// Copies `data` to the bytes from `offset` on, after earlier work on the memory.
    pub(crate) fn write(&self, offset: usize, data: &[u8]) -> Result<()> {
        self.device.healthy()?;
        let _span = trace::copy("to", data.len(), &self.device);
        let at = self.place(offset, data.len())?;
        match self.device.kind() {
            Kind::Cuda(gpu) => {
                self.device.select(gpu)?;
                self.settle(true)?;
                // SAFETY: the place is inside of the memory, and the stream is synchronized before
                // `data` can change.
                let copied = unsafe {
                    let from = NonNull::from(data).cast();
                    gpu.runtime.copy_in(at, from, data.len(), gpu.stream)
                };
                self.device.check(copied)?;
                self.device.synchronize_own()
            }
            _ => {
                // SAFETY: the place is inside of the memory, which its only owner has borrowed
                // mutably.
                unsafe { at.copy_from_nonoverlapping(NonNull::from(data).cast(), data.len()) };
                Ok(())
            }
        }
    }

    /// The address of bytes of the memory.
    fn place(&self, offset: usize, bytes: usize) -> Result<NonNull<u8>> {
        let end = offset.checked_add(bytes);
        if end.is_none_or(|end| end > self.bytes) {
            return Err(Error::Length {
                shape: vec![self.bytes],
                found: bytes,
            });
        }
        // SAFETY: inside of the memory.
        Ok(unsafe { self.address.byte_add(offset) })
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
        let _span = trace::copy("to", data.len(), device);
        let memory = Self::allocate(device, data.len(), own)?;
        match device.kind() {
            Kind::Cuda(gpu) => {
                // SAFETY: the memory was just allocated with that size, and the stream is
                // synchronized before `data` can change.
                let copied = unsafe {
                    let from = NonNull::from(data).cast();
                    let to = memory.address;
                    gpu.runtime.copy_in(to, from, data.len(), gpu.stream)
                };
                device.check(copied)?;
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

    /// An error for memory that is larger than any.
    pub(crate) fn check_size(device: &Device, bytes: usize) -> Result<()> {
        match bytes as u64 > MOST_BYTES {
            true => Err(too_large(device, bytes)),
            false => Ok(()),
        }
    }

    /// On the simulated GPU the bytes are zero, because Rust must not read uninitialised memory.
    fn allocate(device: &Device, bytes: usize, stream: Option<RawStream>) -> Result<Self> {
        device.healthy()?;
        Self::check_size(device, bytes)?;
        let full = || too_large(device, bytes);
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
            owner: None,
        })
    }

    /// Copies `to.len()` bytes from `offset` on to the host, after earlier work on the memory.
    pub(crate) fn download(&self, offset: usize, to: &mut [u8]) -> Result<()> {
        self.device.healthy()?;
        let _span = trace::copy("from", to.len(), &self.device);
        let at = self.place(offset, to.len())?;
        match self.device.kind() {
            Kind::Cuda(gpu) => {
                self.device.select(gpu)?;
                self.settle(false)?;
                // SAFETY: the memory is at least that large, and the stream is synchronized before
                // `to` is read.
                let copied = unsafe {
                    let bytes = to.len();
                    let to = NonNull::from(to).cast();
                    gpu.runtime.copy_out(to, at, bytes, gpu.stream)
                };
                self.device.check(copied)?;
                self.device.synchronize_own()
            }
            _ => {
                // SAFETY: the memory is at least that large; no kernel writes it while it is
                // borrowed.
                let bytes = to.len();
                unsafe { at.copy_to_nonoverlapping(NonNull::from(to).cast(), bytes) };
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

    pub(crate) fn start(&self) -> NonNull<u8> {
        self.address
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
                if let Some(owner) = self.owner.take() {
                    return drop_after(&self.device, gpu, uses, owner);
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
                    if end.comes_before(&self.device, stream).is_err() && end.wait_only().is_err() {
                        return;
                    }
                }
                // SAFETY: allocated by `allocate`; all work that uses it is complete or before this
                // on the stream, and later work cannot have the address.
                unsafe { gpu.runtime.free(self.address, stream) };
            }
            _ => {
                if let Some(layout) = layout(self.bytes).filter(|_| self.owner.is_none()) {
                    // SAFETY: allocated by `allocate` with this layout.
                    unsafe { dealloc(self.address.as_ptr(), layout) };
                }
            }
        }
    }
}

/// Drops `owner` after the work that is in flight, without waiting here.
fn drop_after(device: &Device, gpu: &Gpu, uses: &LastUses, owner: Owner) {
    let in_flight: Vec<&EndOfWork> = uses.in_flight().collect();
    if in_flight.is_empty() {
        return drop(owner);
    }
    let ordered = in_flight
        .iter()
        .try_for_each(|end| end.comes_before(device, gpu.frees));
    let job = Box::new(|| drop(owner));
    let left = match ordered {
        Ok(()) => after::call_after(device, gpu, gpu.frees, job).err(),
        Err(_) => Some(job as after::Job),
    };
    // A failure of the work has ended it, too.
    if let Some(job) = left {
        in_flight.iter().for_each(|end| drop(end.wait_only()));
        job();
    }
}

fn too_large(device: &Device, bytes: usize) -> Error {
    Error::OutOfMemory {
        device: device.to_string(),
        bytes: bytes as u64,
        what: String::new(),
        limit: None,
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
        zeros.download(0, &mut out).unwrap();
        assert_eq!(out, [0; 100]);
        let memory = Memory::upload(&sim, &[1, 2, 3]).unwrap();
        let mut out = [0; 2];
        memory.download(0, &mut out).unwrap();
        assert_eq!(out, [1, 2]);
        assert!(memory.download(0, &mut [0; 4]).is_err());
    }

    #[test]
    fn too_much_is_an_error() {
        let e = Memory::zeroed(&Device::sim(), usize::MAX / 2 + 1).err();
        assert!(matches!(e, Some(Error::OutOfMemory { .. })), "{e:?}");
    }
}
