//! One mbarrier: its phases, and which of them a thread waits for.

use std::collections::VecDeque;

use super::{MOST_BYTES, Mbarrier, Outcome, REPORTED, balance};
use crate::sim::hazard::{AccessRecord, Hazard};

/// The phase that a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sim) enum Awaited {
    /// The current phase or the previous one, which has this parity.
    Parity(u64),
    /// The phase of this parity, which was the current one when the thread began to wait.
    Current { parity: u64, phase: u64 },
    /// The phase after that of the thread's last wait. This is its parity.
    Next(u64),
    /// The phase of this number; -1 is complete from the start.
    Phase(i64),
}

pub(super) struct Waiter {
    pub(super) thread: u32,
    pub(super) awaited: Awaited,
    /// Whether it returns when no thread can continue.
    pub(super) polls: bool,
}

/// The result of a wait for a phase.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::sim) enum Wait {
    Over,
    /// The phase is not complete, and the thread continues.
    GivenUp,
    /// The thread waits, for this phase.
    Begun(Awaited),
}

impl Mbarrier {
    /// Begins the next phase if this one is complete.
    pub(super) fn advance(&mut self, ready: &mut VecDeque<u32>) {
        if self.pending == 0 && self.bytes == 0 {
            self.phase += 1;
            self.pending = self.expected;
            self.announced.clear();
            self.arrived.clear();
            ready.extend(self.waiting.drain(..).map(|waiter| waiter.thread));
        }
    }

    pub(super) fn announce(&mut self, bytes: i64, record: AccessRecord) -> Outcome {
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
    pub(super) fn misuse(&self, what: String, record: AccessRecord) -> Box<Hazard> {
        Box::new(Hazard {
            kind: "error",
            what,
            records: vec![record, self.begun],
        })
    }

    pub(super) fn is_over(&self, awaited: Awaited) -> bool {
        match awaited {
            Awaited::Parity(parity) | Awaited::Current { parity, .. } | Awaited::Next(parity) => {
                self.phase & 1 != parity
            }
            Awaited::Phase(number) => self.phase as i64 == number.saturating_add(1),
        }
    }

    /// The phase for which a thread begins to wait.
    pub(super) fn begin_wait(&mut self, thread: u32, awaited: Awaited) -> Awaited {
        match awaited {
            Awaited::Parity(parity) => Awaited::Current {
                parity,
                phase: self.phase,
            },
            Awaited::Next(parity) => {
                let at = thread as usize;
                if at >= self.waits.len() {
                    self.waits.resize(at + 1, 0);
                }
                let waits = self.waits.get_mut(at).map_or(0, |waits| {
                    *waits += 1;
                    i64::from(*waits) - 1
                });
                // The parity differs if the first wait was for the phase before phase 0.
                Awaited::Phase(waits - ((waits ^ parity as i64) & 1))
            }
            Awaited::Current { .. } | Awaited::Phase(_) => awaited,
        }
    }

    /// The number of the phase that a thread waits for.
    fn number(&self, waiter: &Waiter) -> i64 {
        match waiter.awaited {
            Awaited::Parity(_) | Awaited::Next(_) => self.phase as i64,
            Awaited::Current { phase, .. } => phase as i64,
            Awaited::Phase(number) => number,
        }
    }

    /// Whether it waits for a complete phase without being able to detect it, because the next one
    /// is complete as well.
    pub(super) fn has_missed(&self, waiter: &Waiter) -> bool {
        self.phase as i64 >= self.number(waiter).saturating_add(2)
    }

    /// The condition that a thread waits for, as in a report of a deadlock; `generation` is the name
    /// of a phase as a generation of an event.
    pub(super) fn describe_wait(
        &self,
        waiter: &Waiter,
        generation: impl Fn(i64) -> Option<String>,
        file: &str,
    ) -> String {
        let name = &self.name;
        let (number, current) = (self.number(waiter), self.phase as i64);
        let event = generation(number);
        let is_event = event.is_some();
        let what = event.unwrap_or_else(|| format!("mbarrier {name}, phase {number}"));
        if self.has_missed(waiter) {
            return match waiter.awaited {
                Awaited::Current { parity, .. } => format!(
                    "{what}, which went by unseen: the next one is over, too, and parity {parity} means phase {current} now"
                ),
                _ => format!(
                    "{what}, which went by unseen: the next one is over, too, and a wait detects only the last one that is over"
                ),
            };
        }
        let (arrived, expected) = (self.expected - self.pending, self.expected);
        let have = if arrived == 1 { "has" } else { "have" };
        let of_current = match number == current {
            true => String::new(),
            false => match generation(current) {
                Some(current) => format!("in {current}, "),
                None => format!("in phase {current}, "),
            },
        };
        let mut text = format!("{what} ({of_current}{arrived} of {expected} {have} arrived");
        if self.bytes != 0 {
            text.push_str(&format!(", {}", balance(self.bytes)));
        }
        // If an arrival is missing, the location of a similar one helps. For an event, the report
        // has all locations.
        match self.last {
            _ if is_event => text + ")",
            None => text + "; no thread ever has)",
            Some(AccessRecord { thread, line, .. }) => {
                text + &format!("; the last was thread {thread}, at {file}:{line})")
            }
        }
    }
}
