//! Reports of unordered accesses of shared memory.

use std::fmt::Write;

use super::report;
use super::worker::Job;
use crate::abi::{CROQ_HAZARD, croq_failure};

/// The action of a thread, and its location.
#[derive(Clone, Copy)]
pub(super) struct AccessRecord {
    pub(super) thread: u32,
    /// The text after `thread 3`.
    pub(super) what: &'static str,
    pub(super) line: u32,
}

/// Unordered accesses, or a copy that no thread waits for.
pub(super) struct Hazard {
    /// The first words of the report: `race`.
    pub(super) kind: &'static str,
    pub(super) what: String,
    /// The access that was detected is first.
    pub(super) records: Vec<AccessRecord>,
}

impl Hazard {
    /// The record: the first access's thread and line, and the other lines as values.
    pub(super) fn record(&self) -> Box<croq_failure> {
        let mut failure = croq_failure::new(CROQ_HAZARD).with_what(&self.what);
        let mut records = self.records.iter();
        if let Some(first) = records.next() {
            (failure.thread, failure.line) = (first.thread, first.line);
        }
        let others: Vec<i64> = records.map(|record| i64::from(record.line)).collect();
        Box::new(failure.with_values(&others))
    }

    /// ```text
    /// race in tile_0, block 3: `tile`[17] is read while a copy into it is in flight
    ///   thread 5 reads it, kernels/tile.co:20
    ///   thread 4 began the copy, kernels/tile.co:12
    /// ```
    pub(super) fn text(&self, job: &Job, block: [u32; 3]) -> String {
        let place = report::place(job, block);
        let mut text = format!("{} in {place}: {}", self.kind, self.what);
        for AccessRecord { thread, what, line } in &self.records {
            let _ = write!(text, "\n  thread {thread} {what}, {}:{line}", job.file);
        }
        text
    }
}
