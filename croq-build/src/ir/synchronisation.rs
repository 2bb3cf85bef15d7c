//! Barriers and fences.

use super::LocalId;

/// The reason for a barrier; printed as a comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BarrierReason {
    /// `sync.*` in the source.
    Written,
    /// The named buffer was written, and other threads read it.
    ReadAfterWrite(String),
    /// The named buffer was read, and is about to be overwritten.
    WriteAfterRead(String),
    WriteAfterWrite(String),
    /// The memory of the buffer `before` is reused by the buffer `then`.
    MakesRoom {
        before: String,
        then: String,
    },
    /// The end of a plain `inthreads`.
    RegionEnd,
    /// Code that is opaque to the compiler.
    Opaque,
    /// The mbarriers have been initialised.
    Initialised,
    /// The mbarriers of the named events are about to be initialised again.
    DeclaredAgain(String),
    /// A load is about to begin on an mbarrier that some thread may still wait on for the previous
    /// load.
    NextLoad,
    /// Other blocks of the cluster may still arrive at this block's mbarriers.
    Arrivals,
    /// The named event must not complete another phase before all threads have observed the
    /// previous one.
    Observed(String),
    /// The warpgroup's registers may have been modified before.
    Registers,
}

impl std::fmt::Display for BarrierReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Written => f.write_str("written in the program"),
            Self::ReadAfterWrite(name) => write!(f, "{name} is read after it was written"),
            Self::WriteAfterRead(name) => write!(f, "{name} is overwritten after it was read"),
            Self::WriteAfterWrite(name) => write!(f, "{name} is overwritten"),
            Self::MakesRoom { before, then } => write!(f, "{then} takes the place of {before}"),
            Self::RegionEnd => f.write_str("the end of inthreads"),
            Self::Initialised => f.write_str("mbarriers are ready"),
            Self::DeclaredAgain(names) => write!(f, "new in this iteration: {names}"),
            Self::Arrivals => f.write_str("others may still arrive here"),
            Self::Observed(name) => write!(f, "no thread falls behind {name}"),
            Self::NextLoad => f.write_str("the load before has arrived for all"),
            Self::Registers => f.write_str("registers may change again"),
            Self::Opaque => f.write_str("what follows may touch what came before"),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarrierScope {
    /// All threads of all blocks, in a cooperative launch.
    Grid,
    /// All threads of all blocks of the cluster.
    Cluster,
    /// All threads that execute the statement: those of the innermost enclosing region, if there is
    /// one.
    Block,
    /// The enclosing warpgroup, by a named barrier.
    Warpgroup,
    /// The enclosing warp.
    Warp,
    /// `threads` threads, by the named barrier `id`.
    Named { id: u32, threads: u32 },
    /// The same barrier, where these threads arrive but do not wait.
    Arrive { id: u32, threads: u32 },
    /// Each warpgroup by a named barrier of its own; this is the id of the first warpgroup's
    /// barrier.
    WarpgroupFrom(u32),
    /// The same, where `group` is the number of this thread's warpgroup.
    WarpgroupOf { first: u32, group: LocalId },
    /// The lanes in this mask, in each warp that executes the statement.
    Lanes(u32),
}

/// Sets the number of registers per thread: with `more`, it takes registers that other warpgroups
/// released; otherwise it releases some.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registers {
    pub per_thread: u32,
    pub more: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FenceScope {
    Block,
    Device,
    /// Orders this thread's accesses of shared memory before later ones of the async proxy.
    AsyncProxy,
    /// The same for device memory as well.
    AsyncProxyEverywhere,
    /// Makes this thread's initialisation of mbarriers visible to TMA.
    MbarrierInit,
}
