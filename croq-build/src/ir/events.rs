//! Events: what threads wait for and others trigger.

use super::{BufferId, LocalId};
use crate::source::Span;
use crate::symbolic::Sym;

/// One or an array of them. Each slot is an mbarrier, whose phases are the event's generations.
#[derive(Clone, Debug)]
pub struct Event {
    pub name: String,
    pub span: Span,
    /// The kernel's; on the host there are none.
    pub kernel: usize,
    /// Where its slots are.
    pub barriers: BufferId,
    pub slots: u32,
    /// `= ready`: generation 0 is published from the start.
    pub ready: bool,
    /// `event<n>`: so many threads arrive.
    pub count: Option<(u32, Span)>,
    /// Each thread's bits for the slots; filled in by `passes::lower::events`.
    pub phases: Option<LocalId>,
    /// Threads of all blocks of the cluster arrive.
    pub clustered: bool,
    /// Where it is triggered; filled in by `passes::lower::events`.
    pub sites: Vec<Site>,
}

/// A `trigger` of an event.
#[derive(Clone, Debug)]
pub struct Site {
    /// Who comes there; `None` where only run time knows.
    pub set: Option<super::ThreadSet>,
    /// All of the block, whose number may not be known.
    pub everybody: bool,
    /// They arrive in each block of the cluster.
    pub cluster: bool,
    pub span: Span,
}

impl Site {
    /// Its threads, as reports of the simulated GPU name them: `0..31, 64`; `all`, or nothing where
    /// only run time knows.
    pub fn threads(&self) -> String {
        if self.everybody {
            return "all".to_owned();
        }
        let range = |&(first, end): &(u32, u32)| match end - first {
            1 => first.to_string(),
            _ => format!("{first}..{}", end.saturating_sub(1)),
        };
        let ranges = self.set.iter().flat_map(|set| set.ranges.iter().map(range));
        ranges.collect::<Vec<String>>().join(", ")
    }
}

/// An event of the host, one per call: it triggers, launches wait.
#[derive(Clone, Debug)]
pub struct Signal {
    pub name: String,
    pub span: Span,
    /// `= ready`: triggered once from the start.
    pub ready: bool,
}

/// Which slots a statement means.
#[derive(Clone, Debug)]
pub struct EventAt {
    pub event: super::EventId,
    pub slot: Slot,
    /// Of each block of the cluster, not only of the thread's own.
    pub cluster: bool,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Slot {
    /// This one; each thread goes through its generations.
    At(Sym),
    /// `.at(order)`: the order says slot and generation.
    Order(Sym),
    /// One after the other.
    All,
}

impl EventAt {
    /// Every symbolic expression that is evaluated at run time.
    pub fn sym(&self) -> Option<&Sym> {
        match &self.slot {
            Slot::At(sym) | Slot::Order(sym) => Some(sym),
            Slot::All => None,
        }
    }
}
