//! Barriers and fences.

/// Why a barrier stands where it does; printed as a comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BarrierReason {
    /// `sync.*` in the source.
    Written,
    /// Every thread must see what was written to the named buffer.
    ReadAfterWrite(String),
    /// The named buffer is about to be overwritten.
    WriteAfterRead(String),
    WriteAfterWrite(String),
    /// The memory of one buffer is about to be another's.
    MakesRoom {
        before: String,
        then: String,
    },
    /// The end of a plain `inthreads`.
    RegionEnd,
    /// Text that the compiler can't see into.
    Opaque,
    /// The mbarriers are ready.
    Initialised,
    /// A load begins whose mbarrier some thread may still ask for the load before.
    NextLoad,
    /// Others of the cluster may still arrive at this block's mbarriers.
    Arrivals,
    /// No phase of the named event may go by before all threads have seen the one before.
    Observed(String),
    /// The warpgroup's registers may have been changed before.
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
    /// All threads that run the statement: of the innermost region around, if there is one.
    Block,
    /// The enclosing warpgroup, by a named barrier.
    Warpgroup,
    /// The enclosing warp.
    Warp,
    /// So many threads, by the named barrier of this number.
    Named { id: u32, threads: u32 },
    /// The same barrier, where these threads only arrive and don't wait.
    Arrive { id: u32, threads: u32 },
    /// Each warpgroup by a named barrier of its own; the first one's has this number.
    WarpgroupFrom(u32),
    /// These lanes of each warp that comes here.
    Lanes(u32),
}

/// How many registers each thread has from here on: of what others gave back, or giving some back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registers {
    pub per_thread: u32,
    pub more: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FenceScope {
    Block,
    Device,
    /// This thread's accesses of shared memory come before those of the async proxy that follow.
    AsyncProxy,
    /// Of device memory, too.
    AsyncProxyEverywhere,
    /// This thread's mbarriers are ready for the copy engine.
    MbarrierInit,
}
