//! Reports of races in device memory.

use std::fmt::Write;

use super::Watched;
use super::log::{LINE, Log, MANY, THREAD};
use super::rules::Earlier;
use crate::abi::{CROQ_ACCESS_ATOMIC, CROQ_ACCESS_READS, CROQ_HAZARD, croq_failure};
use crate::sim::report;
use crate::sim::worker::Job;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Did {
    Wrote,
    Changed,
    Read,
}

impl Did {
    pub(super) fn of(kind: u32) -> Self {
        match kind {
            CROQ_ACCESS_READS => Did::Read,
            CROQ_ACCESS_ATOMIC => Did::Changed,
            _ => Did::Wrote,
        }
    }

    fn now(self) -> &'static str {
        match self {
            Did::Wrote => "writes it",
            Did::Changed => "changes it atomically",
            Did::Read => "reads it",
        }
    }

    fn then(self) -> &'static str {
        match self {
            Did::Wrote => "wrote it",
            Did::Changed => "changed it atomically",
            Did::Read => "read it",
        }
    }

    fn is(self) -> &'static str {
        match self {
            Did::Wrote => "written",
            Did::Changed => "changed atomically",
            Did::Read => "read",
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct AccessRecord {
    pub(super) block: u64,
    pub(super) thread: u32,
    pub(super) line: u32,
    pub(super) did: Did,
}

/// Two unordered accesses of one element.
#[derive(Debug)]
pub(in super::super) struct Race {
    buffer: String,
    element: u64,
    now: AccessRecord,
    /// `None` if it is by one of several threads of a block, and the thread is unknown.
    other: Option<AccessRecord>,
    did: Did,
}

pub(super) fn record(log: &Log, at: Earlier) -> AccessRecord {
    AccessRecord {
        block: log.place(at.epoch).block,
        thread: at.who & THREAD,
        line: at.who >> LINE,
        did: at.did,
    }
}

#[cold]
pub(super) fn race(
    log: &Log,
    buffer: u32,
    element: u64,
    now: Earlier,
    earlier: Earlier,
) -> Box<Race> {
    let (first, second) = (record(log, earlier), record(log, now));
    let somebody =
        earlier.who & MANY != 0 && (first.block, first.thread) == (second.block, second.thread);
    let name = log.buffers.get(buffer as usize).map(|b| b.name.clone());
    let mut race = between(name.unwrap_or_default(), element, first, second);
    if somebody {
        race.other = None;
    }
    race
}

pub(super) fn between(
    buffer: String,
    element: u64,
    first: AccessRecord,
    second: AccessRecord,
) -> Box<Race> {
    Box::new(Race {
        buffer,
        element,
        now: second,
        other: Some(first),
        did: first.did,
    })
}

impl Race {
    fn what(&self) -> String {
        let (now, then) = (self.now.did.is(), self.did.is());
        let both = match now == then {
            true => format!("{now} by two threads"),
            false => format!("{now} by one thread and {then} by another"),
        };
        let Self {
            buffer, element, ..
        } = self;
        format!(
            "`{buffer}`[{element}] is {both}, and no barrier, fence or atomic operation orders the two"
        )
    }

    /// The linear index of the block in which it was detected.
    pub(in super::super) fn block(&self) -> u64 {
        self.now.block
    }

    /// The record: the later access's thread and line, and the other line as a value.
    pub(in super::super) fn record(&self, block: [u32; 3]) -> Box<croq_failure> {
        let mut failure = croq_failure::new(CROQ_HAZARD).with_what(&self.what());
        (failure.thread, failure.line) = (self.now.thread, self.now.line);
        failure.block = block;
        let other: Vec<i64> = self.other.iter().map(|o| i64::from(o.line)).collect();
        Box::new(failure.with_values(&other))
    }

    /// ```text
    /// race in count_0, block 3: `bins`[7] is read by one thread and written by another, and no barrier, fence or atomic operation orders the two
    ///   block 3, thread 5 reads it, kernels/count.co:20
    ///   block 0, thread 4 wrote it, kernels/count.co:20
    /// ```
    pub(in super::super) fn text(&self, job: &Job, watched: Option<&Watched>) -> String {
        let place = report::place(job, job.coordinates(self.now.block));
        let mut text = format!("race in {place}: {}", self.what());
        let same = self.other.is_none_or(|o| o.block == self.now.block);
        let mut say = |record: &AccessRecord, what| {
            let block = match same {
                true => String::new(),
                false => format!(
                    "block {}, ",
                    report::number(job, job.coordinates(record.block))
                ),
            };
            let AccessRecord { thread, line, .. } = record;
            let _ = write!(
                text,
                "\n  {block}thread {thread} {what}, {}:{line}",
                job.file
            );
        };
        say(&self.now, self.now.did.now());
        if let Some(other) = &self.other {
            say(other, other.did.then());
        }
        text.push_str(&watched.map(Watched::unseen).unwrap_or_default());
        text
    }
}
