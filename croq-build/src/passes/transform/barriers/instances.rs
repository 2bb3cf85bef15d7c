//! The instances of the levels that make two accesses.

use super::access::MemAccess;
use super::injectivity::forced;
use super::vars::Vars;
use crate::ir::Level;
use crate::symbolic::{Ctx, Var};

/// The indices that distinguish the instances of a kernel.
#[derive(Default)]
pub(super) struct EnclosingIndices {
    pub(super) blocks: Vec<Var>,
    /// A block's position in its cluster, which the indices of the block determine.
    pub(super) clusters: Vec<Var>,
    /// The indices of a level that is split into blocks and threads: they determine both.
    pub(super) split: Vec<Var>,
}

/// Whether two accesses to one element are made by the same instance of all levels around both.
pub(super) fn is_one_instance(
    cx: &mut Ctx,
    vars: &mut Vars,
    a: &MemAccess,
    b: &MemAccess,
    around: &EnclosingIndices,
) -> bool {
    let (Some(x), Some(y)) = (&a.place, &b.place) else {
        return false;
    };
    // Regions of different threads are ordered by events, if at all.
    if a.inner_region != b.inner_region {
        return false;
    }
    let Some(forced) = forced(cx, vars, x, y, Level::Cluster) else {
        return true;
    };
    // The threads of a region may all belong to one warp or warpgroup.
    let set = a.set.as_ref().filter(|_| a.set == b.set);
    let is_one_unit = |level: Level| match level.threads_together() {
        None => level == Level::Cluster && !around.blocks.is_empty(),
        Some(unit) => set.is_some_and(|set| set.is_in_one(unit)),
    };
    let levels = a
        .chain
        .iter()
        .zip(b.chain.iter())
        .take_while(|(a, b)| a.instance == b.instance)
        .filter(|(entry, _)| !is_one_unit(entry.level))
        .flat_map(|(entry, _)| entry.digits.iter().copied());
    let indices: Vec<Var> = match around.split.as_slice() {
        [] if around.blocks.is_empty() => around.clusters.iter().copied().chain(levels).collect(),
        [] => around.blocks.iter().copied().chain(levels).collect(),
        split => split.to_vec(),
    };
    indices.into_iter().all(|v| {
        let one_value = matches!(cx.bounds(v), (Some(lo), Some(hi)) if cx.eq(lo, hi).is_yes());
        one_value || forced.contains(vars, v)
    })
}
