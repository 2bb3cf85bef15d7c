//! Levels of the execution hierarchy.

/// Levels below the grid, outer to inner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Blocks of a cluster, which are resident together. No statement runs here: a kernel's body
    /// runs at block level.
    Cluster,
    Block,
    /// A warpgroup: 128 threads.
    Warpgroup,
    /// A warp: 32 threads.
    Warp,
    Thread,
}

impl Level {
    /// The number of threads of a unit, if the level determines it.
    pub const fn threads(self) -> Option<u32> {
        match self {
            Level::Cluster | Level::Block => None,
            Level::Warpgroup => Some(WARPGROUP_THREADS),
            Level::Warp => Some(WARP_THREADS),
            Level::Thread => Some(1),
        }
    }

    /// The number of threads of a warp or a warpgroup; `None` for other levels.
    pub const fn threads_together(self) -> Option<u32> {
        match self {
            Level::Warpgroup | Level::Warp => self.threads(),
            Level::Cluster | Level::Block | Level::Thread => None,
        }
    }
}

/// Threads of a warp.
pub const WARP_THREADS: u32 = 32;
/// Threads of a warpgroup.
pub const WARPGROUP_THREADS: u32 = 128;
