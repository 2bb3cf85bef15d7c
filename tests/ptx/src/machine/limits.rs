//! What a launch may ask for, and what its entry demands.

use super::image::Image;
use super::world::Launch;
use crate::parse::Function;

/// Shared memory of a block of an H100, without the KiB that is reserved.
const SHARED_BYTES: u64 = 227 * 1024;

/// 32 blocks on each of the 132 multiprocessors of an H100.
const COOPERATIVE_BLOCKS: u64 = 32 * 132;

/// Whether the device would accept the launch.
pub fn check(function: &Function, launch: &Launch, image: &Image) -> Result<(), String> {
    let Launch { grid, block, .. } = launch;
    let threads: u64 = block.iter().map(|extent| u64::from(*extent)).product();
    let limits = &function.limits;
    let most = limits
        .max_threads
        .map_or(1024, |extents| extents.iter().product());
    if threads == 0 || threads > u64::from(most) || block[2] > 64 {
        return Err(format!(
            "a block of {block:?} threads, where at most {most} are allowed"
        ));
    }
    if limits
        .required_threads
        .is_some_and(|required| required != *block)
    {
        return Err(format!(
            "a block of {block:?} threads, where `.reqntid` demands another"
        ));
    }
    if grid.contains(&0) || grid[0] > i32::MAX as u32 || grid[1] > 65535 || grid[2] > 65535 {
        return Err(format!("a grid of {grid:?} blocks"));
    }
    let blocks: u64 = grid.iter().map(|extent| u64::from(*extent)).product();
    if launch.is_cooperative && blocks > COOPERATIVE_BLOCKS {
        return Err(format!(
            "{blocks} blocks of a cooperative launch cannot run together"
        ));
    }
    let shared = shared_bytes(image, launch);
    if shared > SHARED_BYTES {
        return Err(format!(
            "{shared} bytes of shared memory, where {SHARED_BYTES} are available"
        ));
    }
    Ok(())
}

/// Shared memory of a block, without what the system has.
pub fn shared_bytes(image: &Image, launch: &Launch) -> u64 {
    image.dynamic_shared + u64::from(launch.dynamic_shared) - 1024
}

/// Blocks that a cluster may have with the attribute for sizes that are not portable (CUDA
/// programming guide, "Thread Block Clusters").
const CLUSTER_BLOCKS: u32 = 16;

/// The blocks of a cluster: of the entry (`.reqnctapercluster`) or of the launch.
pub fn cluster_of(function: &Function, launch: &Launch) -> Result<Option<[u32; 3]>, String> {
    let limits = &function.limits;
    let cluster = match (limits.cluster, launch.cluster) {
        (Some(required), Some(cluster)) if required != cluster => {
            return Err(format!(
                "clusters of {cluster:?} blocks, where `.reqnctapercluster` demands {required:?}"
            ));
        }
        (required, given) => required.or(given),
    };
    let Some(cluster) = cluster else {
        return match limits.explicit_cluster {
            true => Err("a launch without clusters, where `.explicitcluster` demands them".into()),
            false => Ok(None),
        };
    };
    let blocks: u32 = cluster.iter().product();
    let most = limits.max_cluster_rank.unwrap_or(CLUSTER_BLOCKS);
    if blocks == 0 || blocks > most.min(CLUSTER_BLOCKS) {
        return Err(format!(
            "clusters of {cluster:?} blocks, where at most {most} are allowed"
        ));
    }
    let divides = |index: usize| launch.grid[index].is_multiple_of(cluster[index]);
    match (0..3).all(divides) {
        true => Ok(Some(cluster)),
        false => Err(format!(
            "a grid of {:?} blocks, which is no multiple of the cluster {cluster:?}",
            launch.grid
        )),
    }
}

/// Registers of a multiprocessor.
const REGISTERS: u32 = 65536;

/// Of a thread, for `setmaxnreg`: what the entry says, or what is left if the threads that it says
/// share a multiprocessor.
pub fn registers_at_entry(function: &Function) -> Option<u32> {
    let limits = &function.limits;
    if limits.max_registers.is_some() {
        return limits.max_registers;
    }
    let threads: u32 = limits
        .required_threads
        .or(limits.max_threads)?
        .iter()
        .product();
    let resident = threads.checked_mul(limits.min_blocks?)?;
    Some((REGISTERS.checked_div(resident)? / 8 * 8).min(256))
}
