//! The blocks of one cluster, which run together.

use super::asynchronous::transfer::{Memory, Thread};
use super::block::{Block, BlockFault, Progress, Surroundings};
use super::cluster::{self, Cluster};
use super::image::Image;
use super::observe;
use super::shared::Shared;
use super::special;
use super::world::{Counts, Launch};

pub struct Group<'a> {
    pub blocks: Vec<Block<'a>>,
    has_exited: Vec<bool>,
    shared: Shared,
    cluster: Cluster,
    /// How often waits have reached their time limits without effect.
    stalls: u32,
    events: u64,
}

/// The block, and what a thread of it did.
pub type GroupFault = ([u32; 3], BlockFault);

/// Time limits that are reached in a row before it counts as a deadlock.
const STALLS: u32 = 8;

impl<'a> Group<'a> {
    /// The blocks of the cluster that begins with this block.
    pub fn new(
        image: &'a Image,
        entry: &'a str,
        first: [u32; 3],
        around: &Surroundings<'_>,
    ) -> Group<'a> {
        let launch = around.launch;
        let indices = blocks_of(first, launch.cluster.unwrap_or([1; 3]));
        let block = |(rank, index)| Block::new(image, entry, (index, rank), launch);
        let count = indices.len();
        let warps = launch.block.iter().product::<u32>().div_ceil(32) as usize;
        Group {
            blocks: indices.into_iter().enumerate().map(block).collect(),
            has_exited: vec![false; count],
            shared: Shared::new(
                cluster::block_number(first, 0, launch),
                (0..count).map(|_| Block::shared_memory(image, launch)),
            ),
            cluster: Cluster::new(count, warps, around.registers, launch),
            stalls: 0,
            events: 0,
        }
    }

    pub fn counts(&self) -> Counts {
        self.blocks
            .iter()
            .fold(Counts::default(), |mut sum, block| {
                let counts = block.counts();
                sum.warp_instructions += counts.warp_instructions;
                sum.thread_instructions += counts.thread_instructions;
                sum
            })
    }

    pub fn has_exited(&self) -> bool {
        self.has_exited.iter().all(|exited| *exited)
    }

    /// A time slice of each warp.
    pub fn run(&mut self, around: &mut Surroundings<'_>) -> Result<Progress, GroupFault> {
        let mut all = Progress::Exited;
        for rank in 0..self.blocks.len() {
            if self.has_exited[rank] {
                continue;
            }
            let block = &mut self.blocks[rank];
            let progress = block.run(around, &mut self.shared, &mut self.cluster);
            let progress = progress.map_err(|fault| (block.index, fault))?;
            if block.has_exited() {
                self.exit(rank, around)?;
                all = Progress::Runs;
                continue;
            }
            all = match (progress, all) {
                (Progress::Runs, _) | (_, Progress::Runs) => Progress::Runs,
                _ => Progress::Waits,
            };
        }
        self.cluster.engine.expires = false;
        if self.has_exited() {
            let flushed = self.flush(around);
            flushed.map_err(|message| self.ended(0, 0, message))?;
            return Ok(Progress::Exited);
        }
        Ok(all)
    }

    fn ended(&self, rank: usize, thread: usize, message: String) -> GroupFault {
        let block = &self.blocks[rank];
        (block.index, block.ended(thread, message))
    }

    fn exit(&mut self, rank: usize, around: &mut Surroundings<'_>) -> Result<(), GroupFault> {
        self.has_exited[rank] = true;
        self.cluster.engine.events += 1;
        let memory = &mut Memory {
            global: around.global,
            shared: &mut self.shared,
            constants: around.constants,
            parameters: around.parameters,
            order: around.order.as_mut(),
        };
        let ended = self.cluster.engine.exit(memory, rank);
        ended.map_err(|(Thread { rank, index }, message)| {
            self.ended(rank, index as usize, message)
        })?;
        let pool = self.cluster.pools[rank].check_end();
        pool.map_err(|(warp, message)| self.ended(rank, warp * 32, message))?;
        if let Some(order) = &mut around.order {
            let number = self.shared.number(rank);
            let block = &self.blocks[rank];
            if self.blocks.len() > 1
                && let Some(found) = order.outlasts(number, block.clocks())
            {
                let message = observe::describe(&found, around.global, &self.shared);
                order.fail(found);
                return Err(self.ended(rank, 0, message));
            }
            order.exits(number);
        }
        self.shared.exit(rank);
        Ok(())
    }

    fn flush(&mut self, around: &mut Surroundings<'_>) -> Result<bool, String> {
        let memory = &mut Memory {
            global: around.global,
            shared: &mut self.shared,
            constants: around.constants,
            parameters: around.parameters,
            order: around.order.as_mut(),
        };
        self.cluster.engine.flush(memory)
    }

    /// No thread can go on: what is asynchronous happens, and waits reach their time limits. Says
    /// whether that may help.
    pub fn stalls(&mut self, around: &mut Surroundings<'_>) -> Result<bool, GroupFault> {
        let flushed = self.flush(around);
        if flushed.map_err(|message| self.ended(0, 0, message))? {
            return Ok(true);
        }
        let events = self.cluster.engine.events;
        self.stalls = match std::mem::replace(&mut self.events, events) == events {
            true => self.stalls + 1,
            false => 0,
        };
        self.cluster.engine.expires = true;
        Ok(self.stalls < STALLS)
    }

    /// Where the threads are that cannot go on.
    pub fn deadlock(&mut self, around: &mut Surroundings<'_>) -> GroupFault {
        let mut places = Vec::new();
        let several = self.blocks.len() > 1;
        for (rank, block) in self.blocks.iter_mut().enumerate() {
            let list = block.places(around, &mut self.shared, &mut self.cluster);
            let prefix = match several {
                true => format!("block {:?} with rank {rank}, ", block.index),
                false => String::new(),
            };
            places.extend(list.into_iter().map(|place| format!("{prefix}{place}")));
        }
        let whole = if several { "cluster" } else { "block" };
        let list = places.join("\n  ");
        self.fault(format!("no thread of the {whole} can go on\n  {list}"))
    }

    /// Of the first thread that has not exited.
    pub fn fault(&self, message: String) -> GroupFault {
        let rank = self.has_exited.iter().position(|exited| !exited);
        let block = &self.blocks[rank.unwrap_or(0)];
        (block.index, block.stuck(message))
    }
}

/// In the order of their ranks.
fn blocks_of(first: [u32; 3], cluster: [u32; 3]) -> Vec<[u32; 3]> {
    let count = cluster.iter().product();
    let index = |rank: u32| {
        let [x, y, _] = cluster;
        [
            first[0] + rank % x,
            first[1] + rank / x % y,
            first[2] + rank / (x * y),
        ]
    };
    let list: Vec<_> = (0..count).map(index).collect();
    debug_assert!((0..count).all(|at| special::rank(list[at as usize], cluster) == at));
    list
}

/// The first block of each cluster.
pub fn first_blocks(launch: &Launch) -> impl Iterator<Item = [u32; 3]> {
    let [x, y, z] = launch.grid;
    let [dx, dy, dz] = launch
        .cluster
        .unwrap_or([1; 3])
        .map(|extent| extent as usize);
    (0..z).step_by(dz).flat_map(move |z| {
        (0..y)
            .step_by(dy)
            .flat_map(move |y| (0..x).step_by(dx).map(move |x| [x, y, z]))
    })
}
