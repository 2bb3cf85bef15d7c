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
type Explain = dyn Fn(&croq_failure) -> Error + Send + Sync;

/// All records of a GPU. Their memory is never freed but used again.
#[derive(Default)]
pub(crate) struct FailureRecords(Mutex<Vec<Record>>);

struct Record {
    /// The address of the description of the kernel that stores its failures here.
    kernel: usize,
    /// The work whose failures it has; `None` if it is free.
    work: Option<Work>,
    /// The streams on which the graph was launched whose work it is.
    launched_on: Vec<StreamId>,
    at: MappedRecord,
    explain: Box<Explain>,
}

/// Work whose failures have records of their own.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// A call that waits for its kernel.
    Call(StreamId),
    Stream(StreamId),
    /// A graph, by the stream that recorded it.
    Graph(StreamId),
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

    /// Whether a wait for this stream returns the failure.
    fn is_reported_by(&self, waited: StreamId) -> bool {
        match self.work {
            Some(Work::Stream(of)) => of == waited,
            Some(Work::Graph(_)) => self.launched_on.contains(&waited),
            Some(Work::Call(_)) | None => false,
        }
    }

    /// Makes it the record of this work; returns its device address.
    fn assign(&mut self, work: Work) -> *mut croq_failure {
        self.work = Some(work);
        self.launched_on.clear();
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
        explain: impl Fn(&croq_failure) -> Error + Send + Sync + 'static,
    ) -> Result<*mut croq_failure> {
        let known = |all: &mut Vec<Record>| {
            let mut of_kernel = all.iter().filter(|record| record.kernel == kernel);
            if let Some(own) = of_kernel.find(|record| record.work == Some(work)) {
                return Some(own.at.device);
            }
            let mut of_kernel = all.iter_mut().filter(|record| record.kernel == kernel);
            let free = of_kernel.find(|record| record.work.is_none() && record.is_empty());
            free.map(|free| free.assign(work))
        };
        if let Some(known) = known(&mut self.all()) {
            return Ok(known);
        }
        // Without the lock: a stream that ends at this time may need the records.
        let in_use = in_use();
        let mut all = self.all();
        for record in all.iter_mut().filter(|record| record.is_empty()) {
            if matches!(record.work, Some(Work::Stream(of)) if !in_use.contains(&of)) {
                record.work = None;
            }
        }
        if let Some(known) = known(&mut all) {
            return Ok(known);
        }
        let at = runtime.mapped_record()?;
        let device = at.device;
        all.push(Record {
            kernel,
            work: Some(work),
            launched_on: Vec::new(),
            at,
            explain: Box::new(explain),
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
        let is_new = |record: &Record| {
            record.work == Some(Work::Graph(graph)) && !record.launched_on.contains(&on)
        };
        let most = {
            let all = self.all();
            let new = all.iter().filter(|record| is_new(record));
            new.map(|record| record.launched_on.len()).max()
        };
        let Some(most) = most else { return };
        let in_use = (most >= FEW).then(in_use);
        for record in self.all().iter_mut().filter(|record| is_new(record)) {
            if let Some(in_use) = &in_use {
                record.launched_on.retain(|known| in_use.contains(known));
            }
            record.launched_on.push(on);
        }
    }

    /// There is no such graph any more; its last launch was on this stream.
    pub(crate) fn graph_ends(&self, graph: StreamId, last: Option<StreamId>) {
        let mut all = self.all();
        let own = |record: &&mut Record| record.work == Some(Work::Graph(graph));
        for record in all.iter_mut().filter(own) {
            record.work = last.map(Work::Stream);
        }
    }

    /// The failure of a call, whose work is complete; its records are free.
    pub(crate) fn end_of_call(&self, call: StreamId) -> Result<()> {
        let mut failure = Ok(());
        let mut all = self.all();
        let own = |record: &&mut Record| record.work == Some(Work::Call(call));
        for record in all.iter_mut().filter(own) {
            failure = failure.and(record.take().map_or(Ok(()), Err));
            record.work = None;
        }
        failure
    }

    /// A failure of work on a stream, or of a graph that was launched there.
    pub(crate) fn of_stream(&self, waited: StreamId) -> Result<()> {
        self.take(|record| record.is_reported_by(waited))
    }

    /// A failure of any stream or graph.
    pub(crate) fn any(&self) -> Result<()> {
        self.take(|record| !matches!(record.work, Some(Work::Call(_))))
    }

    fn take(&self, of: impl Fn(&Record) -> bool) -> Result<()> {
        let all = self.all();
        let mut of_work = all.iter().filter(|record| of(record));
        of_work.find_map(Record::take).map_or(Ok(()), Err)
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
