//! Barriers in shared memory that count arrivals and bytes (`mbarrier`).
//!
//! As in the PTX ISA: a phase is over when all its arrivals have come and the bytes that were announced
//! balance those that landed. A wait names a phase by its parity alone, and so can tell only the
//! current phase from the one before: parity P is over when the current phase's is not P. A thread
//! that is woken looks again, as on hardware, and misses a phase if the next one is over by then.

use std::collections::{BTreeMap, VecDeque};

use super::events::Events;
use super::hazard::{AccessRecord, Hazard};
use super::marks::{MBARRIER, Marks, element, overlap};
use super::missing_arrivals::MissingArrivals;
use crate::abi::croq_sim_access;

/// Of the hardware: `2^20 - 1`.
const MOST_ARRIVALS: i64 = (1 << 20) - 1;
const MOST_BYTES: i64 = (1 << 20) - 1;
const SIZE: usize = 8;
/// As many announcements of one phase are told.
const REPORTED: usize = 4;

type Outcome<T = ()> = Result<T, Box<Hazard>>;

struct Waiter {
    thread: u32,
    parity: u64,
    /// The phase it was when it began to wait.
    since: u64,
    /// It comes back when no thread can go on.
    polls: bool,
}

/// An arrival of the present phase.
#[derive(Clone, Copy)]
pub(super) struct Arrived {
    /// Of the block in its cluster; none is the mbarrier's own.
    pub(super) rank: Option<usize>,
    pub(super) thread: u32,
}

struct Mbarrier {
    /// `` `full`[2] ``
    name: String,
    begun: AccessRecord,
    /// The initialisation may be relied upon by the async proxy.
    fenced: bool,
    expected: u32,
    /// Arrivals that this phase waits for.
    pending: u32,
    /// Bytes announced, less bytes landed.
    bytes: i64,
    /// How many phases are over.
    phase: u64,
    waiting: Vec<Waiter>,
    /// Who announced bytes in this phase.
    announced: Vec<AccessRecord>,
    /// Who has arrived in this phase.
    arrived: Vec<Arrived>,
    /// Who arrived last, ever.
    last: Option<AccessRecord>,
}

impl Mbarrier {
    fn is_over(&self, parity: u64) -> bool {
        self.phase & 1 != parity
    }

    /// Begins the next phase if this one is over.
    fn advance(&mut self, ready: &mut VecDeque<u32>) {
        if self.pending == 0 && self.bytes == 0 {
            self.phase += 1;
            self.pending = self.expected;
            self.announced.clear();
            self.arrived.clear();
            ready.extend(self.waiting.drain(..).map(|waiter| waiter.thread));
        }
    }

    fn announce(&mut self, bytes: i64, record: AccessRecord) -> Outcome {
        self.bytes += bytes;
        if bytes != 0 && self.announced.len() < REPORTED {
            self.announced.push(record);
        }
        if bytes < 0 || self.bytes > MOST_BYTES {
            let what = format!(
                "mbarrier {} cannot count {} bytes: {MOST_BYTES} are the most",
                self.name, self.bytes
            );
            return Err(self.misuse(what, record));
        }
        Ok(())
    }

    #[cold]
    fn misuse(&self, what: String, record: AccessRecord) -> Box<Hazard> {
        Box::new(Hazard {
            kind: "error",
            what,
            records: vec![record, self.begun],
        })
    }

    /// It waits for a phase that is over, and can't tell: the next one is over, too.
    fn has_missed(&self, waiter: &Waiter) -> bool {
        self.phase >= waiter.since + 2
    }

    /// What a thread waits for, as a report of a deadlock says it; `event` is the phase's name as a
    /// generation of one.
    fn plight(&self, waiter: &Waiter, event: Option<String>, file: &str) -> String {
        let name = &self.name;
        if self.has_missed(waiter) {
            let what = event.unwrap_or_else(|| format!("mbarrier {name}, phase {}", waiter.since));
            return format!(
                "{what}, which went by unseen: the next one is over, too, and parity {} means phase {} now",
                waiter.parity, self.phase
            );
        }
        let (arrived, expected) = (self.expected - self.pending, self.expected);
        let have = if arrived == 1 { "has" } else { "have" };
        let is_event = event.is_some();
        let what = event.unwrap_or_else(|| format!("mbarrier {name}, phase {}", self.phase));
        let mut text = format!("{what} ({arrived} of {expected} {have} arrived");
        if self.bytes != 0 {
            text.push_str(&format!(", {}", balance(self.bytes)));
        }
        // Where an arrival is missing, the place of others like it helps. Of an event all places are told.
        match self.last {
            _ if is_event => text + ")",
            None => text + "; no thread ever has)",
            Some(AccessRecord { thread, line, .. }) => {
                text + &format!("; the last was thread {thread}, at {file}:{line})")
            }
        }
    }
}

/// `64 bytes are missing`
fn balance(bytes: i64) -> String {
    match bytes {
        1.. => format!("{bytes} bytes are missing"),
        _ => format!("{} bytes are too many", -bytes),
    }
}

/// The mbarriers of a block, by their place in its memory.
#[derive(Default)]
pub(super) struct Mbarriers {
    all: BTreeMap<usize, Mbarrier>,
    pub(super) events: Events,
    /// Grows with whatever a thread that polls may wait for.
    progress: u64,
    /// What it was when polls were last given back.
    timed_out: Option<u64>,
}

impl Mbarriers {
    pub(super) fn reset(&mut self) {
        self.all.clear();
        self.events.reset();
        self.progress = 0;
        self.timed_out = None;
    }

    pub(super) fn init(
        &mut self,
        thread: u32,
        access: &croq_sim_access,
        count: i64,
        marks: &mut Marks,
    ) -> Outcome {
        let record = AccessRecord {
            thread,
            what: "initialised it",
            line: access.line,
        };
        let name = element(access);
        if let Some(old) = self.all.get(&(access.at as usize)) {
            let what = format!("mbarrier {name} is initialised already");
            return Err(old.misuse(what, record));
        }
        let error = |what| {
            let kind = "error";
            let records = vec![record];
            Err(Box::new(Hazard {
                kind,
                what,
                records,
            }))
        };
        let expected = match u32::try_from(count) {
            Ok(expected) if (1..=MOST_ARRIVALS).contains(&count) => expected,
            _ => {
                return error(format!(
                    "mbarrier {name} cannot wait for {count} arrivals: 1 to {MOST_ARRIVALS} it can"
                ));
            }
        };
        if !(access.at as usize).is_multiple_of(SIZE) {
            return error(format!(
                "mbarrier {name} is not at a multiple of {SIZE} bytes"
            ));
        }
        let marks = marks.of(access.at.cast(), SIZE);
        if marks.iter().any(|&mark| mark != 0) {
            return error(format!("mbarrier {name} overlaps an operation in flight"));
        }
        marks.fill(MBARRIER);
        let mbarrier = Mbarrier {
            name,
            begun: record,
            fenced: false,
            expected,
            pending: expected,
            bytes: 0,
            phase: 0,
            waiting: Vec::new(),
            announced: Vec::new(),
            arrived: Vec::new(),
            last: None,
        };
        self.all.insert(access.at as usize, mbarrier);
        Ok(())
    }

    fn get(&mut self, thread: u32, access: &croq_sim_access) -> Outcome<&mut Mbarrier> {
        self.progress += 1;
        self.all.get_mut(&(access.at as usize)).ok_or_else(|| {
            Box::new(Hazard {
                kind: "error",
                what: format!("mbarrier {} is not initialised", element(access)),
                records: vec![AccessRecord {
                    thread,
                    what: "uses it",
                    line: access.line,
                }],
            })
        })
    }

    /// How many phases are over of the one at this address.
    pub(super) fn phase(&self, at: usize) -> u64 {
        self.all.get(&at).map_or(0, |mbarrier| mbarrier.phase)
    }

    /// The memory is free for other uses.
    pub(super) fn invalidate(
        &mut self,
        thread: u32,
        access: &croq_sim_access,
        marks: &mut Marks,
    ) -> Outcome {
        let mbarrier = self.get(thread, access)?;
        if let Some(waiter) = mbarrier.waiting.first() {
            let what = format!(
                "mbarrier {} is invalidated while thread {} waits for it",
                mbarrier.name, waiter.thread
            );
            let record = AccessRecord {
                thread,
                what: "invalidates it",
                line: access.line,
            };
            return Err(mbarrier.misuse(what, record));
        }
        marks.of(access.at.cast(), SIZE).fill(0);
        self.all.remove(&(access.at as usize));
        Ok(())
    }

    /// By a thread of the block, or of that of another rank in the cluster. Whether others go on now.
    pub(super) fn arrive(
        &mut self,
        thread: u32,
        rank: Option<usize>,
        access: &croq_sim_access,
        ready: &mut VecDeque<u32>,
    ) -> Outcome<bool> {
        let mbarrier = self.get(thread, access)?;
        if mbarrier.pending == 0 {
            let what = format!(
                "mbarrier {} has had all {} arrivals of phase {}",
                mbarrier.name, mbarrier.expected, mbarrier.phase
            );
            let record = AccessRecord {
                thread,
                what: "arrives once more",
                line: access.line,
            };
            return Err(mbarrier.misuse(what, record));
        }
        mbarrier.pending -= 1;
        mbarrier.arrived.push(Arrived { rank, thread });
        mbarrier.last = Some(AccessRecord {
            thread,
            what: "arrived",
            line: access.line,
        });
        let waking = ready.len();
        mbarrier.advance(ready);
        Ok(ready.len() > waking)
    }

    /// A copy may be told to arrive here.
    pub(super) fn check_arrival(&mut self, thread: u32, access: &croq_sim_access) -> Outcome {
        let record = AccessRecord {
            thread,
            what: "lets a copy arrive there",
            line: access.line,
        };
        let mbarrier = self.get(thread, access)?;
        if !mbarrier.fenced {
            let what = format!(
                "mbarrier {} was initialised without fence_mbarrier_init: a copy may not see it",
                mbarrier.name
            );
            return Err(mbarrier.misuse(what, record));
        }
        Ok(())
    }

    /// Bytes have landed, of the copy that `record` began.
    pub(super) fn complete(
        &mut self,
        record: AccessRecord,
        access: &croq_sim_access,
        bytes: i64,
        ready: &mut VecDeque<u32>,
    ) -> Outcome {
        let mbarrier = self.get(record.thread, access)?;
        mbarrier.bytes -= bytes;
        if mbarrier.bytes < -MOST_BYTES {
            let what = format!(
                "mbarrier {} cannot count {} bytes too many: {MOST_BYTES} are the most",
                mbarrier.name, -mbarrier.bytes
            );
            return Err(mbarrier.misuse(what, record));
        }
        if mbarrier.bytes < 0 && mbarrier.announced.len() < REPORTED {
            mbarrier.announced.push(record);
        }
        mbarrier.advance(ready);
        Ok(())
    }

    /// Who initialised one that has a byte in common with this memory.
    pub(super) fn find(&self, reached: (*const u8, usize)) -> Option<AccessRecord> {
        self.all
            .iter()
            .find(|&(&at, _)| overlap(reached, (at as *const u8, SIZE)))
            .map(|(_, mbarrier)| mbarrier.begun)
    }

    pub(super) fn expect(&mut self, thread: u32, access: &croq_sim_access, bytes: i64) -> Outcome {
        let record = AccessRecord {
            thread,
            what: "announced bytes",
            line: access.line,
        };
        self.get(thread, access)?.announce(bytes, record)
    }

    pub(super) fn is_over(
        &mut self,
        thread: u32,
        access: &croq_sim_access,
        parity: u64,
    ) -> Outcome<bool> {
        let over = self.get(thread, access)?.is_over(parity);
        self.progress -= u64::from(!over);
        Ok(over)
    }

    /// Whether the phase of this parity is over; if not, the thread waits.
    pub(super) fn wait(
        &mut self,
        thread: u32,
        access: &croq_sim_access,
        parity: u64,
        since: Option<u64>,
        polls: bool,
    ) -> Outcome<Wait> {
        let mbarrier = self.get(thread, access)?;
        if mbarrier.is_over(parity) {
            return Ok(Wait::Over);
        }
        let since = since.unwrap_or(mbarrier.phase);
        mbarrier.waiting.push(Waiter {
            thread,
            parity,
            since,
            polls,
        });
        // A poll that waits is no progress to another one.
        self.progress -= 1;
        Ok(Wait::Since(since))
    }

    pub(super) fn fence(&mut self, thread: u32) {
        for mbarrier in self.all.values_mut() {
            mbarrier.fenced |= mbarrier.begun.thread == thread;
        }
    }

    /// No thread can go on: polls come back, if anything has happened since they last did.
    pub(super) fn time_out(&mut self, ready: &mut VecDeque<u32>) -> bool {
        if self.timed_out == Some(self.progress) {
            return false;
        }
        self.timed_out = Some(self.progress);
        let before = ready.len();
        for mbarrier in self.all.values_mut() {
            ready.extend(
                mbarrier
                    .waiting
                    .extract_if(.., |waiter| waiter.polls)
                    .map(|waiter| waiter.thread),
            );
        }
        ready.len() > before
    }

    /// Nothing is in flight any more: the bytes must have come out.
    pub(super) fn finish(&self) -> Outcome {
        let odd = self.all.iter().find(|(_, mbarrier)| {
            mbarrier.bytes != 0 && (mbarrier.pending == 0 || mbarrier.waiting.is_empty())
        });
        match odd {
            None => Ok(()),
            Some((&at, mbarrier)) => {
                let mut records = mbarrier.announced.clone();
                records.push(mbarrier.begun);
                let (name, phase) = (&mbarrier.name, mbarrier.phase);
                let event = self.events.generation(at, name, phase);
                let of = event.unwrap_or_else(|| format!("mbarrier {name}, phase {phase}"));
                let balance = balance(mbarrier.bytes);
                Err(Box::new(Hazard {
                    kind: "wrong byte count",
                    what: format!("{of}: {balance}, and no copy is in flight"),
                    records,
                }))
            }
        }
    }

    /// Who waits, and for what: `at mbarrier …`, `for generation …`.
    pub(super) fn plights(&self, file: &str) -> Vec<(u32, String)> {
        let mut plights = Vec::new();
        for (&at, mbarrier) in &self.all {
            for waiter in &mbarrier.waiting {
                let phase = match mbarrier.has_missed(waiter) {
                    true => waiter.since,
                    false => mbarrier.phase,
                };
                let event = self.events.generation(at, &mbarrier.name, phase);
                let how = if event.is_some() { "for" } else { "at" };
                let text = format!("{how} {}", mbarrier.plight(waiter, event, file));
                plights.push((waiter.thread, text));
            }
        }
        plights
    }

    /// Of the events that are waited for, in a block of so many threads.
    pub(super) fn missing_arrivals(&self, threads: u32) -> Vec<MissingArrivals> {
        let missing_arrivals = |(&at, mbarrier): (&usize, &Mbarrier)| {
            mbarrier.waiting.iter().find(|w| !mbarrier.has_missed(w))?;
            let (name, phase) = (&mbarrier.name, mbarrier.phase);
            Some(MissingArrivals {
                what: self.events.generation(at, name, phase)?,
                missing: mbarrier.pending,
                expected: mbarrier.expected,
                bytes: mbarrier.bytes,
                triggers: self.events.triggers(at, threads),
                arrived: mbarrier.arrived.clone(),
            })
        };
        self.all.iter().filter_map(missing_arrivals).collect()
    }
}

/// What a thread that wants a phase to be over gets.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wait {
    Over,
    /// It isn't, and the thread goes on.
    GivenUp,
    /// It waits; it was this phase when it began to.
    Since(u64),
}
