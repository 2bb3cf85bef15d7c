//! Copies between memory of a device, of another device, and of the host.

use std::ptr::NonNull;
use std::sync::Arc;

use super::{Memory, too_large};
use crate::cuda::RawStream;
use crate::device::{Device, Gpu, Kind};
use crate::error::Result;
use crate::last_use::EndOfWork;
use crate::region::Region;
use crate::stream::StreamId;
use crate::trace;

impl Memory {
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
        match EndOfWork::of_raw(&self.device, gpu, gpu.stream) {
            Ok(end) => to.uses().add(place.0, &Arc::new(end), true),
            // Then no work may remain in flight.
            Err(failed) => {
                let waited = self.device.synchronize_own();
                waited.map_err(|_| self.device.failed(failed))?;
            }
        }
        copied.map(|()| to)
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
}
