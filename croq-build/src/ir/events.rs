//! Events, which some threads trigger and others wait for.

use super::{BufferId, Expr, Level, LocalId};
use crate::source::Span;
use crate::symbolic::Sym;

/// An event or an array of events. Each slot is an mbarrier, whose phases are the event's
/// generations.
#[derive(Clone, Debug)]
pub struct Event {
    pub name: String,
    pub span: Span,
    /// The index of the kernel that declares it; the host has none of these. [`Event::NO_KERNEL`]
    /// if that is never launched.
    pub kernel: usize,
    /// The buffer with its mbarriers.
    pub barriers: BufferId,
    pub slots: u32,
    /// `= ready`: generation 0 is published from the start.
    pub ready: bool,
    /// The number of arrivals per generation, from `event<n>`.
    pub count: Option<(u32, Span)>,
    /// The local with each thread's phase bits, one per slot; filled in by `passes::lower::events`.
    pub phases: Option<LocalId>,
    /// Whether a thread waits for one slot only, the same everywhere, so that it keeps one phase bit;
    /// filled in by `passes::lower::events`.
    pub one_slot_each: bool,
    /// Whether threads of all blocks of the cluster arrive.
    pub clustered: bool,
    /// Whether no write precedes an arrival of another block; filled in by `passes::lower::events`.
    pub only_reads: bool,
    /// The statements that trigger it; filled in by `passes::lower::events`.
    pub sites: Vec<Site>,
}

impl Event {
    pub const NO_KERNEL: usize = usize::MAX;

    /// The phase bits that a thread keeps.
    pub fn phase_bits(&self) -> u32 {
        if self.one_slot_each { 1 } else { self.slots }
    }
}

/// A `trigger` of an event.
#[derive(Clone, Debug)]
pub struct Site {
    /// The threads that execute it; `None` if they are only known at run time.
    pub set: Option<super::ThreadSet>,
    /// Whether all threads of the block execute it, even if their number is not known.
    pub everybody: bool,
    /// Whether each thread arrives at the mbarrier of every block of the cluster.
    pub cluster: bool,
    pub slots: SlotsOf,
    pub span: Span,
}

/// The slots of an event that a statement refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotsOf {
    /// This one, which is a constant.
    One(u32),
    All,
    /// One that is known at run time.
    Unknown,
}

impl SlotsOf {
    pub fn may_be(self, slot: u32) -> bool {
        match self {
            SlotsOf::One(one) => one == slot,
            SlotsOf::All | SlotsOf::Unknown => true,
        }
    }
}

impl Site {
    /// The threads as reports of the simulated GPU print them: `0..31, 64`; `all`; or nothing if
    /// they are only known at run time.
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

/// An event declared on the host, or an array of them, one per call: the host triggers it and
/// launches wait for it.
#[derive(Clone, Debug)]
pub struct Signal {
    pub name: String,
    pub span: Span,
    /// The number of events of an array; `None` for a single event.
    pub slots: Option<u32>,
    /// `= ready`: triggered once from the start.
    pub ready: bool,
}

/// An event of the host, or one of an array. The host evaluates the number, for a `wait` of a
/// kernel before the launch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SignalAt {
    pub signal: super::SignalId,
    pub slot: Sym,
}

/// The slots that a statement refers to.
#[derive(Clone, Debug)]
pub struct EventAt {
    pub event: super::EventId,
    pub slot: Slot,
    /// Whether it refers to the slot in each block of the cluster, not only in the thread's own
    /// block.
    pub cluster: bool,
    /// Of a `trigger`.
    pub sharing: Sharing,
    pub span: Span,
}

/// Whether one thread of a unit arrives for all of them, with their number as its count. Expected
/// counts are always numbers of threads. The simulated GPU lets each thread arrive.
#[derive(Clone, Debug, Default)]
pub struct Sharing {
    /// The largest unit whose threads execute the arrival together, and for the same slot.
    pub together: Option<Level>,
    /// The mbarriers for whose next slot some threads of the unit may still wait: no thread fills
    /// that slot before all of them have released it.
    pub ahead: Vec<BufferId>,
    /// The unit of which one thread arrives, and the condition that selects it. `None`: each thread
    /// arrives.
    pub unit: Option<(Level, Option<Expr>)>,
    /// Values that a thread must have computed when it arrives: without them ptxas moves the
    /// computation behind the wait that follows.
    pub after: Vec<Expr>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Slot {
    /// This slot, with each thread counting its generations.
    At(Sym),
    /// `.at(order)`: the order determines the slot and the generation.
    Order(Sym),
    /// All slots, in order.
    All,
}

impl EventAt {
    /// The symbolic expression that is evaluated at run time, if there is one.
    pub fn sym(&self) -> Option<&Sym> {
        match &self.slot {
            Slot::At(sym) | Slot::Order(sym) => Some(sym),
            Slot::All => None,
        }
    }

    /// The slots of an event with this number of slots.
    pub fn slots_of(&self, slots: u32) -> SlotsOf {
        let constant = |sym: &Sym| u32::try_from(sym.as_int()?).ok();
        match &self.slot {
            _ if slots == 1 => SlotsOf::One(0),
            Slot::All => SlotsOf::All,
            Slot::At(slot) => constant(slot).map_or(SlotsOf::Unknown, SlotsOf::One),
            Slot::Order(order) => constant(order)
                .and_then(|order| order.checked_rem(slots))
                .map_or(SlotsOf::Unknown, SlotsOf::One),
        }
    }
}
