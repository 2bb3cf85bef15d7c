//! Barriers in shared memory that count arrivals and bytes (`mbarrier`).
//!
//! As in the PTX ISA: a phase is complete when all its arrivals have occurred and the announced
//! bytes equal the bytes that arrived. A wait specifies a phase by its parity alone, and so can
//! only distinguish the current phase from the previous one: parity P is complete if the current
//! phase's parity is not P. A thread that is woken checks again, as on hardware, and misses a phase
//! if the next one is complete by then.
//!
//! Waits for events also specify the number of the phase. Such a wait continues only while the phase
//! is the last one that is complete: where hardware would mistake another phase of the same parity
//! for it, the thread waits forever.

use std::collections::{BTreeMap, VecDeque};

use super::events::Events;
use super::hazard::{AccessRecord, Hazard};
use super::marks::{MBARRIER, Marks, element, overlap};
use super::missing_arrivals::MissingArrivals;
use crate::abi::croq_sim_access;

mod mbarrier;

use mbarrier::Waiter;
pub(super) use mbarrier::{Awaited, Wait};

/// The limit of the hardware: `2^20 - 1`.
const MOST_ARRIVALS: i64 = (1 << 20) - 1;
const MOST_BYTES: i64 = (1 << 20) - 1;
const SIZE: usize = 8;
/// The most announcements of one phase in a report.
const REPORTED: usize = 4;

type Outcome<T = ()> = Result<T, Box<Hazard>>;

/// An arrival in the current phase.
#[derive(Clone, Copy)]
pub(super) struct Arrived {
    /// The rank of the thread's block in its cluster; `None` is the mbarrier's own block.
    pub(super) rank: Option<usize>,
    pub(super) thread: u32,
}

struct Mbarrier {
    /// `` `full`[2] ``
    name: String,
    begun: AccessRecord,
    /// Whether the async proxy may rely on the initialisation.
    fenced: bool,
    expected: u32,
    /// The number of arrivals that this phase still needs.
    pending: u32,
    /// Bytes announced, minus bytes that arrived.
    bytes: i64,
    /// The number of completed phases.
    phase: u64,
    waiting: Vec<Waiter>,
    /// The announcements of bytes in this phase.
    announced: Vec<AccessRecord>,
    /// The arrivals in this phase.
    arrived: Vec<Arrived>,
    /// The last arrival of all.
    last: Option<AccessRecord>,
    /// The number of waits for the next phase by each thread.
    waits: Vec<u32>,
}

/// `64 bytes are missing`
fn balance(bytes: i64) -> String {
    match bytes {
        1.. => format!("{bytes} bytes are missing"),
        _ => format!("{} bytes are too many", -bytes),
    }
}

/// The mbarriers of a block, by their offset in its memory.
#[derive(Default)]
pub(super) struct Mbarriers {
    all: BTreeMap<usize, Mbarrier>,
    pub(super) events: Events,
    /// Incremented by every action that a polling thread may wait for.
    progress: u64,
    /// Its value when polls last returned.
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
            waits: Vec::new(),
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

    /// The number of completed phases of the mbarrier at this address.
    pub(super) fn phase(&self, at: usize) -> u64 {
        self.all.get(&at).map_or(0, |mbarrier| mbarrier.phase)
    }

    /// The memory may be used for other purposes.
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

    /// An arrival by a thread of the block, or of another block in the cluster. Returns whether
    /// others can now continue.
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

    /// Checks whether a copy may use this mbarrier.
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

    /// The bytes of the copy that `record` began have arrived.
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

    /// The initialisation of an mbarrier that has a byte in common with this memory.
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
        awaited: Awaited,
    ) -> Outcome<bool> {
        let over = self.get(thread, access)?.is_over(awaited);
        self.progress -= u64::from(!over);
        Ok(over)
    }

    /// Whether the phase is complete; if not, the thread waits.
    pub(super) fn wait(
        &mut self,
        thread: u32,
        access: &croq_sim_access,
        awaited: Awaited,
        polls: bool,
    ) -> Outcome<Wait> {
        let mbarrier = self.get(thread, access)?;
        let awaited = mbarrier.begin_wait(thread, awaited);
        if mbarrier.is_over(awaited) {
            return Ok(Wait::Over);
        }
        mbarrier.waiting.push(Waiter {
            thread,
            awaited,
            polls,
        });
        // A poll that waits is not progress for another one.
        self.progress -= 1;
        Ok(Wait::Begun(awaited))
    }

    pub(super) fn fence(&mut self, thread: u32) {
        for mbarrier in self.all.values_mut() {
            mbarrier.fenced |= mbarrier.begun.thread == thread;
        }
    }

    /// No thread can continue: polls return, if anything has happened since they last did.
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

    /// Nothing is in flight: the bytes must be balanced.
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
                let event = self.events.generation(at, name, phase as i64);
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

    /// The waiting threads with their conditions: `at mbarrier …`, `for generation …`.
    pub(super) fn thread_states(&self, file: &str) -> Vec<(u32, String)> {
        let mut states = Vec::new();
        for (&at, mbarrier) in &self.all {
            for waiter in &mbarrier.waiting {
                let generation = |phase| self.events.generation(at, &mbarrier.name, phase);
                let how = if generation(0).is_some() { "for" } else { "at" };
                let text = format!("{how} {}", mbarrier.describe_wait(waiter, generation, file));
                states.push((waiter.thread, text));
            }
        }
        states
    }

    /// The missing arrivals of the events that are waited for, in a block of `threads` threads.
    pub(super) fn missing_arrivals(&self, threads: u32) -> Vec<MissingArrivals> {
        let missing_arrivals = |(&at, mbarrier): (&usize, &Mbarrier)| {
            mbarrier.waiting.iter().find(|w| !mbarrier.has_missed(w))?;
            let (name, phase) = (&mbarrier.name, mbarrier.phase);
            Some(MissingArrivals {
                what: self.events.generation(at, name, phase as i64)?,
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
