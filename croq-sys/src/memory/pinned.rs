//! Copies to and from page-locked memory of the host, which streams execute.

use super::Memory;
use crate::device::Kind;
use crate::error::Result;
use crate::region::Region;
use crate::stream::Stream;

impl Memory {
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
}
