//! The records in which kernels on a GPU store why they failed. With `Checks::Report` the work goes on after
//! that, so it matters whose failure it was: each call that waits has records of its own, and so has
//! each stream and each graph.

use std::sync::atomic::{Ordering, fence};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::abi::{CROQ_BEING_WRITTEN, CROQ_OK, croq_failure};
use crate::cuda::{MappedRecord, Runtime};
use crate::error::{Error, Result};
use crate::stream::StreamId;

/// How many streams of a graph's launches are known before those that no longer exist are removed.
const FEW: usize = 8;

/// Converts what a kernel stored to an error.
pub(crate) type Explain = dyn Fn(&croq_failure) -> Error + Send + Sync;

/// All records of a GPU. Their memory is never freed but used again.
#[derive(Default)]
pub(crate) struct FailureRecords(Mutex<Vec<Record>>);

struct Record {
    /// The address of the description of the kernel that stores its failures here.
    kernel: usize,
    owner: Owner,
    at: MappedRecord,
    explain: Box<Explain>,
}

/// The work whose failures a record has.
enum Owner {
    Nothing,
    /// A call that waits for its kernel.
    Call(StreamId),
    Stream(StreamId),
    /// A graph, by the stream that recorded it, with the streams on which it was launched.
    Graph(StreamId, Vec<StreamId>),
}

/// What kind of owner asks for a record.
#[derive(Clone, Copy)]
pub(crate) enum Work {
    Call(StreamId),
    Stream(StreamId),
    Graph(StreamId),
}

impl Owner {
    fn is(&self, work: Work) -> bool {
        match (self, work) {
            (Self::Call(a), Work::Call(b))
            | (Self::Stream(a), Work::Stream(b))
            | (Self::Graph(a, _), Work::Graph(b)) => *a == b,
            _ => false,
        }
    }

    /// Whether a wait for this stream, or the wait of this call, returns the failure.
    fn is_reported_by(&self, waited: StreamId) -> bool {
        match self {
            Self::Nothing => false,
            Self::Call(of) | Self::Stream(of) => *of == waited,
            Self::Graph(_, on) => on.contains(&waited),
        }
    }
}

impl Work {
    fn owner(self) -> Owner {
        match self {
            Self::Call(of) => Owner::Call(of),
            Self::Stream(of) => Owner::Stream(of),
            Self::Graph(of) => Owner::Graph(of, Vec::new()),
        }
    }
}

impl Record {
    fn kind(&self) -> u32 {
        // SAFETY: a live record in host memory. A kernel may write it at this time: then `kind`
        // contains the failure, or is the last word that was written.
        unsafe { (&raw const (*self.at.host.as_ptr()).kind).read_volatile() }
    }

    fn is_empty(&self) -> bool {
        self.kind() == CROQ_OK
    }

    /// Makes it the record of this work; returns its device address.
    fn assign(&mut self, kernel: usize, work: Work, explain: Box<Explain>) -> *mut croq_failure {
        (self.kernel, self.owner, self.explain) = (kernel, work.owner(), explain);
        self.at.device
    }

    /// The failure; clears the record.
    fn take(&self) -> Option<Error> {
        if matches!(self.kind(), CROQ_OK | CROQ_BEING_WRITTEN) {
            return None;
        }
        fence(Ordering::Acquire);
        // SAFETY: as above; no kernel writes the record until `kind` is CROQ_OK again.
        let failure = unsafe { self.at.host.read_volatile() };
        // SAFETY: as above.
        unsafe { (&raw mut (*self.at.host.as_ptr()).kind).write_volatile(CROQ_OK) };
        Some((self.explain)(&failure))
    }
}

impl FailureRecords {
    fn all(&self) -> MutexGuard<'_, Vec<Record>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The record in which the kernel described at `kernel` stores the failures of this work, as a
    /// device address. `in_use` are the streams that may still have work.
    pub(crate) fn place(
        &self,
        (kernel, work): (usize, Work),
        runtime: Runtime,
        in_use: impl FnOnce() -> Vec<StreamId>,
        explain: Box<Explain>,
    ) -> Result<*mut croq_failure> {
        let is_own = |record: &Record| record.kernel == kernel && record.owner.is(work);
        {
            let mut all = self.all();
            if let Some(own) = all.iter().find(|record| is_own(record)) {
                return Ok(own.at.device);
            }
            let mut free = all
                .iter_mut()
                .filter(|record| matches!(record.owner, Owner::Nothing));
            if let Some(free) = free.find(|record| record.is_empty()) {
                return Ok(free.assign(kernel, work, explain));
            }
        }
        // Without the lock: a stream that ends at this time may need the records.
        let in_use = in_use();
        let mut all = self.all();
        if let Some(own) = all.iter().find(|record| is_own(record)) {
            return Ok(own.at.device);
        }
        let mut of_ended = all
            .iter_mut()
            .filter(|record| matches!(&record.owner, Owner::Stream(of) if !in_use.contains(of)));
        if let Some(free) = of_ended.find(|record| record.is_empty()) {
            return Ok(free.assign(kernel, work, explain));
        }
        let at = runtime.mapped_record()?;
        let device = at.device;
        all.push(Record {
            kernel,
            owner: work.owner(),
            at,
            explain,
        });
        Ok(device)
    }

    /// A graph is launched on a stream, whose waits return its failures. `in_use` as above.
    pub(crate) fn launched(
        &self,
        graph: StreamId,
        on: StreamId,
        in_use: impl FnOnce() -> Vec<StreamId>,
    ) {
        let mut is_known = true;
        let mut are_many = false;
        for record in self.all().iter() {
            if let Owner::Graph(of, streams) = &record.owner
                && *of == graph
            {
                is_known &= streams.contains(&on);
                are_many |= streams.len() >= FEW;
            }
        }
        if is_known {
            return;
        }
        let in_use = are_many.then(in_use);
        for record in self.all().iter_mut() {
            if let Owner::Graph(of, streams) = &mut record.owner
                && *of == graph
                && !streams.contains(&on)
            {
                if let Some(in_use) = &in_use {
                    streams.retain(|known| in_use.contains(known));
                }
                streams.push(on);
            }
        }
    }

    /// There is no such graph any more; its last launch was on this stream.
    pub(crate) fn graph_ends(&self, graph: StreamId, last: Option<StreamId>) {
        for record in self.all().iter_mut() {
            if record.owner.is(Work::Graph(graph)) {
                record.owner = last.map_or(Owner::Nothing, Owner::Stream);
            }
        }
    }

    /// The failure of a call, whose work is complete; its records are free.
    pub(crate) fn end_of_call(&self, call: StreamId) -> Result<()> {
        let mut failure = Ok(());
        for record in self.all().iter_mut() {
            if record.owner.is(Work::Call(call)) {
                failure = failure.and(record.take().map_or(Ok(()), Err));
                record.owner = Owner::Nothing;
            }
        }
        failure
    }

    /// A failure of work on a stream, or of a graph that was launched there.
    pub(crate) fn of_stream(&self, waited: StreamId) -> Result<()> {
        let all = self.all();
        let mut own = all
            .iter()
            .filter(|record| record.owner.is_reported_by(waited));
        own.find_map(Record::take).map_or(Ok(()), Err)
    }

    /// A failure of any stream or graph.
    pub(crate) fn any(&self) -> Result<()> {
        let all = self.all();
        let mut of_streams = all
            .iter()
            .filter(|record| !matches!(record.owner, Owner::Call(_)));
        of_streams.find_map(Record::take).map_or(Ok(()), Err)
    }

    /// The failure that some kernel stored, after the GPU has failed.
    pub(crate) fn reason(&self) -> Option<Error> {
        self.all().iter().find_map(|record| {
            // SAFETY: a live record; the device that may write it has stopped permanently.
            let failure = unsafe { record.at.host.read_volatile() };
            let left = !matches!(failure.kind, CROQ_OK | CROQ_BEING_WRITTEN);
            left.then(|| (record.explain)(&failure))
        })
    }

    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        self.all().len()
    }
}
