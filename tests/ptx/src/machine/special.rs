//! Special registers ("Special Registers"), read by `mov` and `cvt`.

use super::registers::{LANES, Row};

/// What a special register is computed from.
pub struct Identity<'a> {
    pub threads: &'a Row<[u32; 3]>,
    pub block_extent: [u32; 3],
    pub block: [u32; 3],
    pub grid_extent: [u32; 3],
    /// Blocks of a cluster; none if the launch has no clusters.
    pub cluster: Option<[u32; 3]>,
    pub warp: u32,
    pub warps: u32,
    /// Instructions that the warp has executed, in place of cycles.
    pub clock: u64,
    pub dynamic_shared: u32,
    pub total_shared: u32,
}

/// A special register that the machine knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Special {
    name: Name,
    component: usize,
    /// 64 bits wide.
    pub is_wide: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Name {
    Thread,
    Threads,
    Block,
    Blocks,
    Cluster,
    Clusters,
    BlockOfCluster,
    BlocksOfCluster,
    Rank,
    Ranks,
    IsCluster,
    Lane,
    Warp,
    Warps,
    LanesBelow { own: bool },
    LanesAbove { own: bool },
    OwnLane,
    Clock { shift: u32 },
    DynamicShared,
    TotalShared,
    Constant(u32),
}

impl Special {
    pub fn parse(text: &str) -> Option<Special> {
        let (stem, component) = text.split_once('.').unwrap_or((text, "x"));
        let component = match component {
            "x" => 0,
            "y" => 1,
            "z" => 2,
            _ => return None,
        };
        let name = match stem {
            "tid" => Name::Thread,
            "ntid" => Name::Threads,
            "ctaid" => Name::Block,
            "nctaid" => Name::Blocks,
            // Without a cluster launch every block is a cluster of its own.
            "clusterid" => Name::Cluster,
            "nclusterid" => Name::Clusters,
            "cluster_ctaid" => Name::BlockOfCluster,
            "cluster_nctaid" => Name::BlocksOfCluster,
            "cluster_ctarank" => Name::Rank,
            "cluster_nctarank" => Name::Ranks,
            "is_explicit_cluster" => Name::IsCluster,
            "laneid" => Name::Lane,
            "warpid" => Name::Warp,
            "nwarpid" => Name::Warps,
            "smid" => Name::Constant(0),
            "nsmid" => Name::Constant(1),
            "lanemask_eq" => Name::OwnLane,
            "lanemask_lt" => Name::LanesBelow { own: false },
            "lanemask_le" => Name::LanesBelow { own: true },
            "lanemask_gt" => Name::LanesAbove { own: false },
            "lanemask_ge" => Name::LanesAbove { own: true },
            "clock" | "clock64" | "globaltimer" | "globaltimer_lo" => Name::Clock { shift: 0 },
            "clock_hi" | "globaltimer_hi" => Name::Clock { shift: 32 },
            "dynamic_smem_size" => Name::DynamicShared,
            "total_smem_size" => Name::TotalShared,
            _ => return None,
        };
        Some(Special {
            name,
            component,
            is_wide: matches!(stem, "clock64" | "globaltimer"),
        })
    }

    pub fn row(self, of: &Identity<'_>) -> Row<u64> {
        let cluster = of.cluster.unwrap_or([1; 3]);
        let component = self.component;
        let same = |value: u32| [u64::from(value); LANES];
        let each = |f: fn(u32) -> u32| std::array::from_fn(|lane| u64::from(f(lane as u32)));
        match self.name {
            Name::Thread => of.threads.map(|thread| u64::from(thread[self.component])),
            Name::Threads => same(of.block_extent[self.component]),
            Name::Block => same(of.block[self.component]),
            Name::Blocks => same(of.grid_extent[self.component]),
            Name::Cluster => same(of.block[component] / cluster[component]),
            Name::Clusters => same(of.grid_extent[component] / cluster[component]),
            Name::BlockOfCluster => same(of.block[component] % cluster[component]),
            Name::BlocksOfCluster => same(cluster[component]),
            Name::Rank => same(rank(of.block, cluster)),
            Name::Ranks => same(cluster.iter().product()),
            Name::IsCluster => same(of.cluster.is_some().into()),
            Name::Lane => each(|lane| lane),
            Name::Warp => same(of.warp),
            Name::Warps => same(of.warps),
            Name::OwnLane => each(|lane| 1 << lane),
            Name::LanesBelow { own: false } => each(|lane| (1 << lane) - 1),
            Name::LanesBelow { own: true } => each(|lane| u32::MAX >> (31 - lane)),
            Name::LanesAbove { own: false } => each(|lane| !(u32::MAX >> (31 - lane))),
            Name::LanesAbove { own: true } => each(|lane| u32::MAX << lane),
            Name::Clock { shift } => [of.clock >> shift; LANES],
            Name::DynamicShared => same(of.dynamic_shared),
            Name::TotalShared => same(of.total_shared),
            Name::Constant(value) => same(value),
        }
    }
}

/// `%cluster_ctarank`
pub fn rank(block: [u32; 3], cluster: [u32; 3]) -> u32 {
    let [x, y, z] = std::array::from_fn(|index| block[index] % cluster[index]);
    x + cluster[0] * (y + cluster[1] * z)
}

#[cfg(test)]
mod tests {
    use super::{Identity, Special};

    #[test]
    fn masks_and_indices() {
        let threads = std::array::from_fn(|lane| [lane as u32 % 8, lane as u32 / 8, 0]);
        let of = Identity {
            threads: &threads,
            block_extent: [8, 4, 1],
            block: [5, 6, 7],
            grid_extent: [10, 20, 30],
            cluster: Some([2, 4, 1]),
            warp: 0,
            warps: 1,
            clock: 1 << 33,
            dynamic_shared: 0,
            total_shared: 16,
        };
        let value = |name: &str, lane: usize| Special::parse(name).unwrap().row(&of)[lane];
        assert_eq!((value("tid.x", 13), value("tid.y", 13)), (5, 1));
        assert_eq!(
            (
                value("ntid.y", 0),
                value("ctaid.z", 0),
                value("nctaid.y", 0)
            ),
            (4, 7, 20)
        );
        assert_eq!((value("lanemask_lt", 3), value("lanemask_le", 3)), (7, 15));
        assert_eq!(
            (value("lanemask_gt", 30), value("lanemask_ge", 30)),
            (1 << 31, 3 << 30)
        );
        assert_eq!(
            (value("lanemask_gt", 31), value("lanemask_le", 31)),
            (0, 0xffff_ffff)
        );
        assert_eq!((value("clock_hi", 0), value("laneid", 9)), (2, 9));
        assert_eq!((value("clusterid.x", 0), value("nclusterid.y", 0)), (2, 5));
        assert_eq!(
            (value("cluster_ctaid.x", 0), value("cluster_ctaid.y", 0)),
            (1, 2)
        );
        assert_eq!(
            (value("cluster_ctarank", 0), value("cluster_nctarank", 0)),
            (5, 8)
        );
        assert_eq!(
            (
                value("cluster_nctaid.y", 0),
                value("is_explicit_cluster", 0)
            ),
            (4, 1)
        );
        assert_eq!(Special::parse("tid.w"), None);
        assert_eq!(Special::parse("envreg3"), None);
    }
}
