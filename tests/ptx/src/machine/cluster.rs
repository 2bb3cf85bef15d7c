//! What the blocks of a cluster share beside their memory: asynchronous operations, the barrier of
//! the cluster, and for each block the registers that its warps leave to each other.

use super::asynchronous::engine::Engine;
use super::registers::{LANES, Mask, Row, lanes};
use super::world::Launch;

pub struct Cluster {
    pub engine: Engine,
    pub barrier: ClusterBarrier,
    /// Of each block.
    pub pools: Vec<RegisterPool>,
}

/// Blocks are numbered by clusters, and within one by ranks.
pub fn block_number(index: [u32; 3], rank: usize, launch: &Launch) -> u32 {
    let extents = launch.cluster.unwrap_or([1; 3]);
    let clusters = [0, 1].map(|axis| launch.grid[axis].div_ceil(extents[axis]));
    let [x, y, z] = [0, 1, 2].map(|axis| index[axis] / extents[axis]);
    let cluster = (z * clusters[1] + y) * clusters[0] + x;
    cluster * extents.iter().product::<u32>() + rank as u32
}

/// The index of the block with that number.
pub fn block_index(number: u32, launch: &Launch) -> [u32; 3] {
    let extents = launch.cluster.unwrap_or([1; 3]);
    let clusters = [0, 1].map(|axis| launch.grid[axis].div_ceil(extents[axis]));
    let count = extents.iter().product::<u32>();
    let at = |linear: u32, x: u32, y: u32| [linear % x, linear / x % y, linear / (x * y)];
    let cluster = at(number / count, clusters[0], clusters[1]);
    let rank = at(number % count, extents[0], extents[1]);
    [0, 1, 2].map(|axis| cluster[axis] * extents[axis] + rank[axis])
}

impl Cluster {
    pub fn new(blocks: usize, warps: usize, registers: Option<u32>, launch: &Launch) -> Cluster {
        Cluster {
            engine: Engine::new(launch),
            barrier: ClusterBarrier::new(blocks, warps),
            pools: vec![RegisterPool::new(warps, registers); blocks],
        }
    }
}

/// `barrier.cluster`: all threads of the cluster that have not exited.
pub struct ClusterBarrier {
    phase: u64,
    /// By rank and warp.
    warps: Vec<Vec<Arrivals>>,
}

#[derive(Clone, Debug)]
struct Arrivals {
    /// Lanes that have not exited.
    live: Mask,
    /// In the current phase.
    arrived: Mask,
    /// Lanes that have arrived and not waited since, and in which phase they arrived.
    owed: Mask,
    phases: Row<u64>,
}

impl ClusterBarrier {
    fn new(blocks: usize, warps: usize) -> ClusterBarrier {
        let fresh = Arrivals {
            live: Mask::MAX,
            arrived: 0,
            owed: 0,
            phases: [0; LANES],
        };
        ClusterBarrier {
            phase: 0,
            warps: vec![vec![fresh; warps]; blocks],
        }
    }

    /// The lanes of a warp that have not exited; says whether some are gone.
    pub fn set_live(&mut self, rank: usize, warp: usize, live: Mask) -> bool {
        let known = &mut self.warps[rank][warp].live;
        std::mem::replace(known, live) != live
    }

    /// # Errors
    ///
    /// A lane that has arrived and not waited since.
    pub fn arrive(&mut self, rank: usize, warp: usize, mask: Mask) -> Result<(), (usize, String)> {
        let phase = self.phase;
        let arrivals = &mut self.warps[rank][warp];
        if arrivals.owed & mask != 0 {
            let lane = (arrivals.owed & mask).trailing_zeros() as usize;
            let message = "the thread arrives twice at the barrier of the cluster, without \
                           barrier.cluster.wait";
            return Err((lane, message.to_owned()));
        }
        arrivals.arrived |= mask;
        arrivals.owed |= mask;
        for lane in lanes(mask) {
            arrivals.phases[lane] = phase;
        }
        self.complete();
        Ok(())
    }

    fn complete(&mut self) {
        let missing = self.missing();
        if missing == 0 {
            self.phase += 1;
            self.warps
                .iter_mut()
                .flatten()
                .for_each(|arrivals| arrivals.arrived = 0);
        }
    }

    pub fn phase(&self) -> u64 {
        self.phase
    }

    /// The phase in which the lane arrived last.
    pub fn phase_of(&self, rank: usize, warp: usize, lane: usize) -> u64 {
        self.warps[rank][warp].phases[lane]
    }

    /// Threads that have not arrived.
    pub fn missing(&self) -> u32 {
        let warps = self.warps.iter().flatten();
        warps
            .map(|arrivals| (arrivals.live & !arrivals.arrived).count_ones())
            .sum()
    }

    /// Whether the phases have completed in which these lanes arrived.
    ///
    /// # Errors
    ///
    /// A lane that has not arrived.
    pub fn wait(&mut self, rank: usize, warp: usize, mask: Mask) -> Result<bool, (usize, String)> {
        let missing = mask & !self.warps[rank][warp].owed;
        if missing != 0 {
            let message = "barrier.cluster.wait of a thread that has not arrived";
            return Err((missing.trailing_zeros() as usize, message.to_owned()));
        }
        // Threads may have exited since.
        self.complete();
        let phase = self.phase;
        let arrivals = &mut self.warps[rank][warp];
        let is_complete = lanes(mask).all(|lane| arrivals.phases[lane] < phase);
        if is_complete {
            arrivals.owed &= !mask;
        }
        Ok(is_complete)
    }
}

/// The registers of a block that no warp has ("setmaxnreg").
#[derive(Clone, Debug)]
pub struct RegisterPool {
    /// Of a thread when the block starts; none if the entry does not say it.
    at_entry: Option<u32>,
    free: u32,
    /// Of a thread, for each warp.
    counts: Vec<u32>,
    /// What each warp of each warpgroup has executed.
    history: Vec<Vec<Change>>,
}

/// A `setmaxnreg`: its place in the program, and its number of registers.
pub type Change = (usize, u32);

const WARPS_OF_GROUP: usize = 4;

impl RegisterPool {
    fn new(warps: usize, at_entry: Option<u32>) -> RegisterPool {
        RegisterPool {
            at_entry,
            free: 0,
            counts: vec![at_entry.unwrap_or(0); warps],
            history: vec![Vec::new(); warps],
        }
    }

    /// Changes the registers of a warp; false if there are too few, so that it has to wait.
    ///
    /// # Errors
    ///
    /// What the ISA leaves undefined, or the number at entry is not known.
    pub fn change(&mut self, warp: usize, change: Change, grows: bool) -> Result<bool, String> {
        if self.at_entry.is_none() {
            return Err(
                "setmaxnreg where neither .maxnreg nor .maxntid with .minnctapersm says \
                        how many registers the threads have at entry"
                    .to_owned(),
            );
        }
        let (now, wanted) = (self.counts[warp], change.1);
        if grows && wanted < now || !grows && wanted > now {
            let direction = if grows { "inc" } else { "dec" };
            return Err(format!(
                "setmaxnreg.{direction} to {wanted} registers by a warp that has {now}"
            ));
        }
        let nth = self.history[warp].len();
        let first = warp / WARPS_OF_GROUP * WARPS_OF_GROUP;
        let group = first..(first + WARPS_OF_GROUP).min(self.counts.len());
        let differs = |other: usize| {
            let known = self.history[other].get(nth);
            known.is_some_and(|known| *known != change)
        };
        if group.len() < WARPS_OF_GROUP || group.clone().any(differs) {
            return Err("the warps of a warpgroup do not execute the same setmaxnreg".to_owned());
        }
        let lanes = LANES as u32;
        if grows {
            let more = (wanted - now) * lanes;
            if more > self.free {
                return Ok(false);
            }
            self.free -= more;
        } else {
            self.free += (now - wanted) * lanes;
        }
        self.counts[warp] = wanted;
        self.history[warp].push(change);
        Ok(true)
    }

    /// # Errors
    ///
    /// Some warps of a warpgroup executed a `setmaxnreg`, and others did not.
    pub fn check_end(&self) -> Result<(), (usize, String)> {
        for (group, warps) in self.history.chunks(WARPS_OF_GROUP).enumerate() {
            let least = warps.iter().map(Vec::len).min();
            let most = warps.iter().map(Vec::len).max();
            if least != most {
                let missing = warps.iter().position(|done| Some(done.len()) == least);
                let warp = group * WARPS_OF_GROUP + missing.unwrap_or(0);
                let message = "a warp exits without the setmaxnreg that other warps of its \
                               warpgroup executed";
                return Err((warp, message.to_owned()));
            }
        }
        Ok(())
    }

    /// For reports: the registers that no warp has, in threads of a warp.
    pub fn free(&self) -> u32 {
        self.free
    }
}

#[cfg(test)]
mod tests {
    use super::{ClusterBarrier, RegisterPool};

    #[test]
    fn the_barrier_of_a_cluster_has_phases() {
        let mut barrier = ClusterBarrier::new(2, 1);
        barrier.set_live(0, 0, 0xf);
        barrier.set_live(1, 0, 0x3);
        barrier.arrive(0, 0, 0xf).unwrap();
        assert_eq!(barrier.wait(0, 0, 0xf), Ok(false));
        assert_eq!(barrier.missing(), 2);
        assert_eq!(barrier.arrive(0, 0, 0x8).unwrap_err().0, 3);
        assert_eq!(barrier.wait(1, 0, 0x3).unwrap_err().0, 0);
        barrier.arrive(1, 0, 0x1).unwrap();
        // The other thread exits.
        assert!(barrier.set_live(1, 0, 0x1));
        assert_eq!(barrier.wait(0, 0, 0xf), Ok(true));
        // The next phase begins before the other block has waited.
        barrier.arrive(0, 0, 0xf).unwrap();
        assert_eq!(barrier.wait(1, 0, 0x1), Ok(true));
        assert_eq!(barrier.wait(0, 0, 0xf), Ok(false));
    }

    #[test]
    fn registers_move_between_warpgroups() {
        let mut pool = RegisterPool::new(8, Some(128));
        for warp in 0..4 {
            assert_eq!(pool.change(warp, (1, 160), true), Ok(false));
        }
        for warp in 4..8 {
            assert_eq!(pool.change(warp, (2, 96), false), Ok(true));
        }
        for warp in 0..4 {
            assert_eq!(pool.change(warp, (1, 160), true), Ok(true));
        }
        assert_eq!(pool.free(), 0);
        assert!(pool.check_end().is_ok());
        assert_eq!(pool.change(0, (3, 152), false), Ok(true));
        assert!(
            pool.change(1, (4, 152), false)
                .unwrap_err()
                .contains("the same setmaxnreg")
        );
        assert!(pool.change(1, (3, 168), false).is_err());
        assert_eq!(pool.check_end().unwrap_err().0, 1);
        assert!(
            RegisterPool::new(4, None)
                .change(0, (1, 24), false)
                .is_err()
        );
        assert!(
            RegisterPool::new(2, Some(64))
                .change(0, (1, 24), false)
                .is_err()
        );
    }
}
