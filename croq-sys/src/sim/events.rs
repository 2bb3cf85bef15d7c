//! Events as described by the device code: the mbarriers of their slots, and the statements that
//! trigger them. Only reports use this.

use std::ffi::{CStr, c_char};

use crate::abi::{CROQ_SITE_CLUSTER, CROQ_SITE_READY, CROQ_SITE_SLOT, croq_sim_access};

const SLOT: usize = 8;

/// A statement that triggers an event.
struct Site {
    line: u32,
    /// By all blocks of the cluster, each of which arrives at every block.
    everywhere: bool,
    /// The only slot that it triggers.
    slot: Option<usize>,
    /// A literal of the device code, or null.
    threads: *const c_char,
}

/// The slots of an event, which are adjacent in shared memory.
struct Event {
    first: usize,
    slots: usize,
    /// Whether generation 0 needs no arrival.
    ready: bool,
    sites: Vec<Site>,
}

/// The triggers of an event by threads of a block.
pub(super) struct Triggers {
    pub(super) line: u32,
    pub(super) everywhere: bool,
    /// `None` if they are only known at run time.
    pub(super) threads: Option<Vec<u32>>,
}

#[derive(Default)]
pub(super) struct Events {
    all: Vec<Event>,
}

impl Events {
    pub(super) fn reset(&mut self) {
        self.all.clear();
    }

    /// The `slots` mbarriers from this one on are an event, which is triggered on this line by
    /// `threads`: `0..31, 64`, or `all` of them; null or another word means any.
    pub(super) fn describe(
        &mut self,
        access: &croq_sim_access,
        slots: u32,
        flags: u32,
        threads: *const c_char,
    ) {
        let first = access.at as usize;
        let site = Site {
            line: access.line,
            everywhere: flags & CROQ_SITE_CLUSTER != 0,
            slot: (flags as usize / CROQ_SITE_SLOT as usize).checked_sub(1),
            threads,
        };
        match self.all.iter_mut().find(|event| event.first == first) {
            Some(event) => event.sites.push(site),
            None => self.all.push(Event {
                first,
                slots: slots as usize,
                ready: flags & CROQ_SITE_READY != 0,
                sites: vec![site],
            }),
        }
    }

    fn find(&self, at: usize) -> Option<&Event> {
        let within = |event: &&Event| {
            at.checked_sub(event.first)
                .is_some_and(|distance| distance / SLOT < event.slots)
        };
        self.all.iter().find(within)
    }

    /// The name of a phase of the mbarrier `name` at this address, in terms of the program: ``
    /// generation 2 of `full`[1] ``. `None` if it does not belong to an event.
    pub(super) fn generation(&self, at: usize, name: &str, phase: i64) -> Option<String> {
        let event = self.find(at)?;
        let name = match event.slots {
            1 => name.strip_suffix("[0]").unwrap_or(name),
            _ => name,
        };
        let generation = phase + i64::from(event.ready);
        Some(format!("generation {generation} of {name}"))
    }

    /// The triggers of the event that this slot belongs to, in a block of `threads` threads.
    pub(super) fn triggers(&self, at: usize, threads: u32) -> Vec<Triggers> {
        let Some(event) = self.find(at) else {
            return Vec::new();
        };
        let triggers = |site: &Site| {
            // SAFETY: a literal of the device code, or null.
            let text = unsafe { site.threads.as_ref().map(|text| CStr::from_ptr(text)) };
            let text = text.and_then(|text| text.to_str().ok()).unwrap_or("");
            Triggers {
                line: site.line,
                everywhere: site.everywhere,
                threads: parse(text, threads),
            }
        };
        let slot = (at - event.first) / SLOT;
        let of_slot = |site: &&Site| site.slot.is_none_or(|only| only == slot);
        event.sites.iter().filter(of_slot).map(triggers).collect()
    }
}

/// `0..31, 64`
fn parse(text: &str, threads: u32) -> Option<Vec<u32>> {
    if text == "all" {
        return Some((0..threads).collect());
    }
    let mut found = Vec::new();
    for range in text.split(", ") {
        let (first, last) = range.split_once("..").unwrap_or((range, range));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        found.extend((first..=last).take_while(|thread| *thread < threads));
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_read_as_they_are_written() {
        assert_eq!(parse("0..2, 7", 64), Some(vec![0, 1, 2, 7]));
        assert_eq!(parse("all", 3), Some(vec![0, 1, 2]));
        assert_eq!(parse("62..70", 64), Some(vec![62, 63]));
        assert_eq!(parse("some", 64), None);
        assert_eq!(parse("", 64), None);
    }
}
