//! Boxes of tensors that TMA moves, and the mbarriers where they arrive.

use super::{BufferId, EventAt, Expr, LocalId};
use crate::symbolic::Sym;

/// Who moves a copy's bytes.
#[derive(Clone, Debug, Default)]
pub enum Engine {
    /// The threads of a unit, together.
    #[default]
    Threads,
    /// TMA, at the word of one thread of the unit.
    Tma(Tma),
}

impl Engine {
    pub fn is_threads(&self) -> bool {
        matches!(self, Engine::Threads)
    }

    /// It loads for all blocks of a cluster.
    pub fn is_multicast(&self) -> bool {
        matches!(self, Engine::Tma(tma) if tma.blocks > 1)
    }

    /// Where a load by TMA arrives.
    pub fn arrival(&self) -> Option<&Arrival> {
        match self {
            Engine::Tma(tma) => tma.arrival.as_ref(),
            Engine::Threads => None,
        }
    }
}

#[derive(Clone, Debug)]
pub struct Tma {
    /// Bytes that a miss brings into L2.
    pub promotion: u32,
    pub hint: Option<CacheHint>,
    /// The first block of a cluster loads for all of its so many blocks; 1 is each for itself.
    pub blocks: u32,
    /// Of a load; filled in by `passes::lower::tma::prepare`.
    pub arrival: Option<Arrival>,
    /// A load that an event is completed by arrives there.
    pub event: Option<EventAt>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheHint {
    EvictFirst,
    EvictLast,
}

/// An mbarrier, and how threads know which of its phases to wait for: each has a bit for the slot, which
/// flips when a copy begins.
#[derive(Clone, Debug)]
pub struct Arrival {
    pub barriers: BufferId,
    pub slot: Sym,
    pub phases: LocalId,
    /// The slot's bit in `phases`; `None` when that is all there is.
    pub bit: Option<Sym>,
}

/// What TMA knows of a tensor, made by the host before the launch. Axes outermost first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorMap {
    pub buffer: BufferId,
    /// The buffer's element that is the tensor's first.
    pub base: Sym,
    pub extents: Vec<Sym>,
    pub strides: Vec<Sym>,
    pub extent_of_box: Vec<Sym>,
    /// In bytes; 0 is none.
    pub swizzle: u32,
    pub promotion: u32,
}

/// What is done with mbarriers and TMA. All but `Wait` and `Arrive` are one thread's.
#[derive(Clone, Debug)]
pub enum TmaOp {
    /// Makes the slots usable, each for phases of so many arrivals.
    Initialise {
        barriers: BufferId,
        slots: Sym,
        count: Sym,
    },
    Arrive {
        barriers: BufferId,
        slot: Sym,
        /// Of the cluster, at each of which it arrives; 1 is the thread's own.
        blocks: u32,
    },
    /// This many bytes are to come before the phase is over.
    Announce {
        barriers: BufferId,
        slot: Sym,
        bytes: Sym,
    },
    /// Arrives, with this many bytes to come.
    Expect {
        barriers: BufferId,
        slot: Sym,
        bytes: Sym,
    },
    /// By every thread.
    Wait {
        barriers: BufferId,
        slot: Sym,
        parity: Expr,
        /// Threads of other blocks of the cluster arrive.
        clustered: bool,
    },
    Load {
        moved: TmaMove,
        barriers: BufferId,
        slot: Sym,
        hint: Option<CacheHint>,
        /// Of the cluster, to which it comes; 1 is the thread's own.
        blocks: u32,
    },
    Store {
        moved: TmaMove,
    },
    /// The thread's stores so far have read their sources; with `whole` they have been carried out.
    WaitStores {
        whole: bool,
    },
}

#[derive(Clone, Debug)]
pub struct TmaMove {
    /// Which of the kernel's tensor maps.
    pub map: usize,
    /// Outermost first, as the map has its axes.
    pub coordinates: Vec<Sym>,
    /// In shared memory, with the box's first element.
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
            TmaOp::WaitStores { .. } => {}
        }
    }

    /// The shared memory that it names.
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
            TmaOp::WaitStores { .. } => Vec::new(),
        }
    }

    pub fn map(&self) -> Option<usize> {
        match self {
            TmaOp::Load { moved, .. } | TmaOp::Store { moved } => Some(moved.map),
            _ => None,
        }
    }
}
