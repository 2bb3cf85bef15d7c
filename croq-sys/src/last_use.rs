//! Tracks the work that may still use a piece of device memory: one event for each stream, after
//! the last work on it that uses the memory.
//!
//! An event does not keep its stream alive, so a tensor that lives long, such as weights, keeps
//! none of the streams that have read it. Completed events are dropped, so the length of the list
//! is the number of streams with such work in flight.

use std::sync::Arc;

use crate::cuda::{RawEvent, RawStream};
use crate::device::{Device, Gpu, Kind};
use crate::error::Result;
use crate::stream::{Stream, StreamId, WeakStream};

/// The number of readers from which on completed ones are removed.
const FEW: usize = 8;

/// The end of some work on a stream.
pub(crate) struct EndOfWork {
    device: Device,
    event: RawEvent,
    /// Greater than those of all ends that were recorded before on the device.
    number: u64,
    of: StreamId,
    /// The stream, unless the program has dropped it.
    stream: Option<WeakStream>,
}

impl EndOfWork {
    /// The end of all work that is currently on `stream`.
    pub(crate) fn of(gpu: &Gpu, stream: &Stream) -> Result<Self> {
        let mut end = Self::of_raw(stream.device(), gpu, (stream.id(), stream.raw()))?;
        end.stream = Some(stream.downgrade());
        Ok(end)
    }

    /// The same for the device's own stream, or for one that the program is dropping.
    pub(crate) fn of_raw(
        device: &Device,
        gpu: &Gpu,
        (of, stream): (StreamId, RawStream),
    ) -> Result<Self> {
        device.select(gpu)?;
        let (number, event) = gpu.in_order(|| gpu.runtime.record_event(stream));
        Ok(Self {
            device: device.clone(),
            event: device.check(event)?,
            number,
            of,
            stream: None,
        })
    }

    /// The end of all work that is currently on `stream`, with its time.
    pub(crate) fn timed(gpu: &Gpu, stream: &Stream) -> Result<Self> {
        let device = stream.device();
        device.select(gpu)?;
        let (number, event) = gpu.in_order(|| gpu.runtime.record_timed_event(stream.raw()));
        Ok(Self {
            device: device.clone(),
            event: device.check(event)?,
            number,
            of: stream.id(),
            stream: Some(stream.downgrade()),
        })
    }

    pub(crate) fn raw(&self) -> RawEvent {
        self.event
    }

    /// Whether the work is complete.
    pub(crate) fn query(&self) -> Result<bool> {
        let Kind::Cuda(gpu) = self.device.kind() else {
            return Ok(true);
        };
        self.device.healthy()?;
        self.device.select(gpu)?;
        // SAFETY: the event is destroyed by `drop` alone.
        self.device
            .check(unsafe { gpu.runtime.is_over(self.event) })
    }

    /// The stream of that work, if the program still has it.
    pub(crate) fn stream(&self) -> Option<Stream> {
        self.stream.as_ref().and_then(WeakStream::upgrade)
    }

    /// `false` also if CUDA cannot determine it.
    pub(crate) fn is_over(&self) -> bool {
        let Kind::Cuda(gpu) = self.device.kind() else {
            return true;
        };
        // SAFETY: the event is destroyed by `drop` alone.
        self.device.select(gpu).is_ok()
            && unsafe { gpu.runtime.is_over(self.event) }.unwrap_or(false)
    }

    pub(crate) fn stream_id(&self) -> StreamId {
        self.of
    }

    /// Waits for the work; returns its failure.
    pub(crate) fn wait(&self) -> Result<()> {
        self.wait_only()?;
        match self.device.kind() {
            Kind::Cuda(gpu) => gpu.records.of_stream(self.of),
            _ => Ok(()),
        }
    }

    /// The same where nobody takes note of failures that kernels report before they continue: they remain in
    /// their records.
    pub(crate) fn wait_only(&self) -> Result<()> {
        let Kind::Cuda(gpu) = self.device.kind() else {
            return Ok(());
        };
        self.device.healthy()?;
        self.device.select(gpu)?;
        // SAFETY: the event is destroyed by `drop` alone.
        self.device
            .check(unsafe { gpu.runtime.wait_for(self.event) })
    }

    /// Orders the work that is enqueued on `stream` of `device` next after this. The two devices may
    /// differ; CUDA's default stream is that of the device which is selected.
    pub(crate) fn comes_before(&self, device: &Device, stream: RawStream) -> Result<()> {
        let Kind::Cuda(gpu) = device.kind() else {
            return Ok(());
        };
        device.select(gpu)?;
        // SAFETY: the event is destroyed by `drop` alone.
        device.check(unsafe { gpu.runtime.begin_after(stream, self.event) })
    }
}

impl Drop for EndOfWork {
    fn drop(&mut self) {
        if let Kind::Cuda(gpu) = self.device.kind()
            && self.device.healthy().is_ok()
            && self.device.select(gpu).is_ok()
        {
            // SAFETY: this is its only owner.
            unsafe { gpu.runtime.destroy_event(self.event) };
        }
    }
}

/// The last use of a piece of memory on each stream, the device's own included. Work that is not in
/// here is complete.
#[derive(Default)]
pub(crate) struct LastUses {
    written: Option<(StreamId, Arc<EndOfWork>)>,
    read: Vec<(StreamId, Arc<EndOfWork>)>,
}

impl LastUses {
    /// Waits for the work on the program's streams that must be complete before the device's own
    /// stream reads the memory, or writes it if `writes`.
    pub(crate) fn wait(&mut self, writes: bool) -> Result<()> {
        let is_own = |(on, _): &(StreamId, Arc<EndOfWork>)| *on == StreamId::OWN;
        if let Some(writer) = self.written.take_if(|last| !is_own(last)) {
            writer.1.wait()?;
        }
        if writes {
            let mut others = self.read.iter().filter(|last| !is_own(last));
            others.try_for_each(|(_, end)| end.wait())?;
            self.read.retain(is_own);
        }
        Ok(())
    }

    /// Orders work on `stream` that reads the memory, or writes it if `writes`, after its
    /// dependences, without waiting.
    pub(crate) fn order(
        &self,
        device: &Device,
        stream: (StreamId, RawStream),
        writes: bool,
    ) -> Result<()> {
        let readers = self.read.iter().filter(|_| writes);
        self.written
            .iter()
            .chain(readers)
            .filter(|(on, _)| *on != stream.0)
            .try_for_each(|(_, end)| end.comes_before(device, stream.1))
    }

    /// Records work on `stream` that was ordered and enqueued, up to `end`.
    pub(crate) fn add(&mut self, stream: StreamId, end: &Arc<EndOfWork>, writes: bool) {
        let last = (stream, end.clone());
        if writes {
            // It is ordered after all recorded work.
            self.read.clear();
            self.written = Some(last);
            return;
        }
        // Another thread may have recorded later work on the stream in the meantime.
        let is_later =
            |last: &(StreamId, Arc<EndOfWork>)| last.0 == stream && last.1.number > end.number;
        if self.read.iter().any(is_later) {
            return;
        }
        self.read.retain(|(on, _)| *on != stream);
        if self.read.len() >= FEW {
            self.read.retain(|(_, end)| !end.is_over());
        }
        self.read.push(last);
    }

    /// The work that is not complete.
    pub(crate) fn in_flight(&self) -> impl Iterator<Item = &EndOfWork> {
        let all = self.written.iter().chain(&self.read);
        all.map(|(_, end)| &**end).filter(|end| !end.is_over())
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.read.len() + usize::from(self.written.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake_cuda;

    /// Two threads read a tensor on one stream. One records its event, the other enqueues, records and
    /// adds its own, and only then the first adds.
    #[test]
    fn an_earlier_end_does_not_replace_a_later_one() {
        let device = fake_cuda::device();
        let Kind::Cuda(gpu) = device.kind() else {
            panic!("no CUDA");
        };
        let stream = Stream::new(&device).unwrap();
        let end = || {
            fake_cuda::enqueue(stream.as_raw(), || {});
            Arc::new(EndOfWork::of(gpu, &stream).unwrap())
        };
        let (earlier, later) = (end(), end());
        let mut uses = LastUses::default();
        uses.add(stream.id(), &later, false);
        uses.add(stream.id(), &earlier, false);
        earlier.wait().unwrap();
        assert!(!later.is_over());
        assert_eq!(uses.in_flight().count(), 1);
        // In the other order, too.
        uses.add(stream.id(), &later, false);
        assert_eq!(uses.len(), 1);
    }
}
