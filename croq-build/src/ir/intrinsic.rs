//! Functions of the device API that expressions call: their names, and the properties that passes
//! rely on.

use super::{Level, Scalar};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Intrinsic {
    /// Linear thread id in the block.
    Thread,
    /// Index of the warp in the block, in a form that ptxas recognises as warp-uniform.
    Warp,
    /// Whether this is the warp's elected lane; it is the same lane each time.
    Elected,
    /// Block index along x, y or z.
    Block(u8),
    /// Whether the device executes PTX: the same on the host and in kernels.
    HasPtx,
    /// Whether the device adds several elements of device memory by one instruction.
    AddsVectors,
    /// Index of the block in its cluster.
    ClusterRank,
    /// The given value in the lane whose index differs in the given bits.
    LaneAcross,
    /// Whether the value is equal in all threads of the block; it is a barrier, so all threads of
    /// the block must execute it. The second operand is where integers are compared in shared
    /// memory.
    SameInBlock,
    /// The same for the threads of a region or a warpgroup. The operands are the value, the number
    /// of their barrier, the number of threads, and where integers are compared.
    SameInRegion,
    /// Whether the value is equal in the lanes of the warp that the mask, the second operand,
    /// selects.
    SameInWarp,
    /// The value, in a register: the compiler of the device does not compute it again.
    Kept,
}

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntrinsicInfo {
    /// The name in `croq emit --ir`.
    pub name: &'static str,
    /// The function of the device API.
    pub cpp: &'static str,
    /// The type of the result; `None` means the type of the first operand.
    pub ty: Option<Scalar>,
    pub operands: usize,
    /// The result is equal in all threads of a unit of this level.
    pub level: Level,
    /// All threads of the warp must execute it together, so it must not move into or out of
    /// branches.
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
            Intrinsic::HasPtx => row("has_ptx", "croq::has_ptx", Some(Scalar::Bool), 0, Block),
            Intrinsic::AddsVectors => {
                let ty = Some(Scalar::Bool);
                row("adds_vectors", "croq::adds_vectors", ty, 0, Block)
            }
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
                    2,
                    Block,
                )
            },
            Intrinsic::Kept => row("kept", "croq::kept", None, 1, Thread),
            // The threads of a region may be fewer than a warp has.
            Intrinsic::SameInRegion => IntrinsicInfo {
                converges: true,
                ..row(
                    "same_in_region",
                    "croq::same_in_region",
                    Some(Scalar::Bool),
                    4,
                    Level::Thread,
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

    /// Whether the result may differ among the threads of a block.
    pub fn differs_in_block(self) -> bool {
        self.info().level > Level::Block
    }
}
