//! Functions of the device API that expressions call: what each is called, and what passes may assume of it.

use super::{Level, Scalar};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Intrinsic {
    /// Linear thread id in the block.
    Thread,
    /// Number of the warp in the block, the same for ptxas in all of its lanes.
    Warp,
    /// Whether this is the lane that its warp elects, always the same.
    Elected,
    /// Block index along x, y or z.
    Block(u8),
    /// Number of the block in its cluster.
    ClusterRank,
    /// What the lane whose number differs in the given bits has of the given value.
    LaneAcross,
    /// Whether all threads of the block, which come to it together, give it one value: a barrier.
    SameInBlock,
    /// The same by the lanes of a warp in a mask, the second operand.
    SameInWarp,
}

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntrinsicInfo {
    /// In `croq emit --ir`.
    pub name: &'static str,
    /// Of the device API.
    pub cpp: &'static str,
    /// The type of the result; `None` is that of the first operand.
    pub ty: Option<Scalar>,
    pub operands: usize,
    /// All threads of a unit of this level get the same.
    pub level: Level,
    /// All threads of the warp must come to it together, so it must not move into or out of branches.
    pub converges: bool,
}

impl Intrinsic {
    pub fn info(self) -> IntrinsicInfo {
        use Level::{Block, Thread};
        let index = Some(Scalar::Index);
        let row = |name, cpp, ty, operands, level| IntrinsicInfo {
            name,
            cpp,
            ty,
            operands,
            level,
            converges: false,
        };
        match self {
            Intrinsic::Thread => row("thread", "croq::tid", index, 0, Thread),
            Intrinsic::Warp => row("warp", "croq::warp", index, 0, Level::Warp),
            Intrinsic::Elected => row("elected", "croq::elected", Some(Scalar::Bool), 0, Thread),
            Intrinsic::Block(0) => row("block.x", "croq::block_x", index, 0, Block),
            Intrinsic::Block(1) => row("block.y", "croq::block_y", index, 0, Block),
            Intrinsic::Block(_) => row("block.z", "croq::block_z", index, 0, Block),
            Intrinsic::ClusterRank => {
                let ty = Some(Scalar::U32);
                row("cluster.rank", "croq::cluster_rank", ty, 0, Block)
            }
            Intrinsic::LaneAcross => IntrinsicInfo {
                converges: true,
                ..row("lane_across", "croq::of_lane_across", None, 2, Thread)
            },
            Intrinsic::SameInBlock => IntrinsicInfo {
                converges: true,
                ..row(
                    "same_in_block",
                    "croq::same_in_block",
                    Some(Scalar::Bool),
                    1,
                    Block,
                )
            },
            Intrinsic::SameInWarp => IntrinsicInfo {
                converges: true,
                ..row(
                    "same_in_warp",
                    "croq::same_in_warp",
                    Some(Scalar::Bool),
                    2,
                    Level::Warp,
                )
            },
        }
    }

    /// Among the threads of a block.
    pub fn differs_in_block(self) -> bool {
        self.info().level > Level::Block
    }
}
