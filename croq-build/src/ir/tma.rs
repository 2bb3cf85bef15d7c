//! TMA: its copies of boxes of tensors, and the mbarriers that track their completion.

use super::{BufferId, EventAt, Expr, LocalId, Sharing};
use crate::symbolic::Sym;

/// The engine that executes a copy.
#[derive(Clone, Debug, Default)]
pub enum Engine {
    /// The threads of a unit.
    #[default]
    Threads,
    /// TMA; one thread of the unit issues the copy.
    Tma(Tma),
}

impl Engine {
    pub fn is_threads(&self) -> bool {
        matches!(self, Engine::Threads)
    }

    /// Whether it loads for all blocks of a cluster.
    pub fn is_multicast(&self) -> bool {
        matches!(self, Engine::Tma(tma) if tma.blocks > 1)
    }

    /// The mbarrier of a TMA load.
    pub fn arrival(&self) -> Option<&Arrival> {
        match self {
            Engine::Tma(tma) => tma.arrival.as_ref(),
            Engine::Threads => None,
        }
    }
}

#[derive(Clone, Debug)]
pub struct Tma {
    /// Bytes that are fetched into L2 on a miss.
    pub promotion: u32,
    pub hint: Option<CacheHint>,
    /// The number of blocks of a cluster to which the load brings its tile; 1 if each block loads for
    /// itself.
    pub blocks: u32,
    /// Whether each of these blocks may load a part of the tile for all; otherwise the first block
    /// loads all of it. Determined by `passes::lower::tma::check_multicast`.
    pub shared: bool,
    /// The axes of the tensor along which the position of a stored tile may be negative. The whole
    /// tile is outside of the tensor then, and is not stored.
    pub negative: Vec<usize>,
    /// The mbarrier of a load; filled in by `passes::lower::tma::prepare`.
    pub arrival: Option<Arrival>,
    /// The event that the load completes, if it has one: then it uses the event's mbarrier.
    pub event: Option<EventAt>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheHint {
    EvictFirst,
    EvictLast,
}

/// An mbarrier, and the phase bits of each thread: a thread's bit for the slot is the parity to
/// wait for, and flips when a copy begins.
#[derive(Clone, Debug)]
pub struct Arrival {
    pub barriers: BufferId,
    pub slot: Sym,
    pub phases: LocalId,
    /// The slot's bit in `phases`; `None` if `phases` has only one bit.
    pub bit: Option<Sym>,
}

/// The tensor map, which the host creates before the launch. The outermost axis is first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorMap {
    pub buffer: BufferId,
    /// The element of the buffer that is the tensor's first.
    pub base: Sym,
    pub extents: Vec<Sym>,
    pub strides: Vec<Sym>,
    pub extent_of_box: Vec<Sym>,
    /// The width in bytes; 0 without a swizzle.
    pub swizzle: u32,
    pub promotion: u32,
}

/// Operations on mbarriers and of TMA. All but `Wait` and `Arrive` are executed by one thread.
#[derive(Clone, Debug)]
pub enum TmaOp {
    /// Initialises the slots' mbarriers, each for `count` arrivals per phase.
    Initialise {
        barriers: BufferId,
        slots: Sym,
        count: Sym,
        /// They were initialised before, and are invalidated first.
        again: bool,
    },
    Arrive {
        barriers: BufferId,
        slot: Sym,
        /// The number of blocks of the cluster at whose mbarriers it arrives; 1 is only the
        /// thread's own block.
        blocks: u32,
        /// Whether nothing that was written before must be visible in other blocks.
        only_reads: bool,
        sharing: Sharing,
    },
    /// Brings a tensor map to the constant cache, before the first copy that needs it.
    Prefetch {
        map: usize,
    },
    /// Raises the number of bytes that must arrive before the phase completes.
    Announce {
        barriers: BufferId,
        slot: Sym,
        bytes: Sym,
    },
    /// Arrives, and raises the number of bytes that must arrive before the phase completes.
    Expect {
        barriers: BufferId,
        slot: Sym,
        bytes: Sym,
    },
    /// Waits for a phase; executed by every thread.
    Wait {
        barriers: BufferId,
        slot: Sym,
        phase: Expr,
        /// What `phase` is.
        by: PhaseBy,
        /// Whether what threads of other blocks wrote before they arrived must be visible.
        clustered: bool,
    },
    Load {
        moved: TmaMove,
        barriers: BufferId,
        slot: Sym,
        hint: Option<CacheHint>,
        /// The number of blocks of the cluster that receive the data; 1 is only the thread's own
        /// block.
        blocks: u32,
    },
    Store {
        moved: TmaMove,
    },
    /// Waits until the thread's stores so far have read their sources; with `whole`, until they are
    /// complete.
    WaitStores {
        whole: bool,
    },
}

/// How a wait names a phase. Hardware knows only the parity; the simulated GPU also compares the
/// number of the phase, where it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhaseBy {
    /// Its parity.
    Parity,
    /// The parity of the phase after that of the thread's last wait for the mbarrier.
    Next,
    /// Its number, which is -1 for the phase that is complete from the start.
    Number,
}

#[derive(Clone, Debug)]
pub struct TmaMove {
    /// The index of the kernel's tensor map.
    pub map: usize,
    /// In the order of the map's axes, outermost first.
    pub coordinates: Vec<Sym>,
    /// The shared buffer, and the offset of the box's first element.
    pub buffer: BufferId,
    pub offset: Sym,
}

impl TmaOp {
    /// Every symbolic expression that is evaluated at run time.
    pub fn for_each_sym(&self, f: &mut dyn FnMut(&Sym)) {
        let mut moved = |m: &TmaMove| {
            m.coordinates.iter().for_each(&mut *f);
            f(&m.offset);
        };
        match self {
            TmaOp::Initialise { slots, count, .. } => {
                f(slots);
                f(count);
            }
            TmaOp::Arrive { slot, .. } => f(slot),
            TmaOp::Expect { slot, bytes, .. } | TmaOp::Announce { slot, bytes, .. } => {
                f(slot);
                f(bytes);
            }
            TmaOp::Wait { slot, .. } => f(slot),
            TmaOp::Load { moved: m, slot, .. } => {
                moved(m);
                f(slot);
            }
            TmaOp::Store { moved: m } => moved(m),
            TmaOp::Prefetch { .. } | TmaOp::WaitStores { .. } => {}
        }
    }

    /// The shared buffers that it refers to.
    pub fn buffers(&self) -> Vec<BufferId> {
        match self {
            TmaOp::Initialise { barriers, .. }
            | TmaOp::Expect { barriers, .. }
            | TmaOp::Arrive { barriers, .. }
            | TmaOp::Announce { barriers, .. }
            | TmaOp::Wait { barriers, .. } => vec![*barriers],
            TmaOp::Load {
                moved, barriers, ..
            } => vec![moved.buffer, *barriers],
            TmaOp::Store { moved } => vec![moved.buffer],
            TmaOp::Prefetch { .. } | TmaOp::WaitStores { .. } => Vec::new(),
        }
    }

    pub fn map(&self) -> Option<usize> {
        match self {
            TmaOp::Load { moved, .. } | TmaOp::Store { moved } => Some(moved.map),
            _ => None,
        }
    }
}
