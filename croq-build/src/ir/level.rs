//! Levels of the execution hierarchy.

/// Levels below the grid, outer to inner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Blocks that are resident together. No statement runs here: a kernel's body is a block's.
    Cluster,
    Block,
    /// A warpgroup: 128 threads.
    Warpgroup,
    /// A warp: 32 threads.
    Warp,
    Thread,
}

impl Level {
    /// Threads of a unit, where the level fixes them.
    pub const fn threads(self) -> Option<u32> {
        match self {
            Level::Cluster | Level::Block => None,
            Level::Warpgroup => Some(WARPGROUP_THREADS),
            Level::Warp => Some(WARP_THREADS),
            Level::Thread => Some(1),
        }
    }
}

/// Of a warp.
pub const WARP_THREADS: u32 = 32;
/// Of a warpgroup.
pub const WARPGROUP_THREADS: u32 = 128;
