//! What the warps of a launch share, what they count, and how they fail.

use super::cluster::Cluster;
use super::count::Counter;
use super::global::Global;
use super::matrix::Warpgroup;
use super::memory::Arena;
use super::order::{Found, Order};
use super::registers::Slot;
use super::shared::Shared;

/// What a warp shares with others.
pub struct World<'a> {
    pub global: &'a mut Global,
    /// Of the blocks of the cluster.
    pub shared: &'a mut Shared,
    pub cluster: &'a mut Cluster,
    pub constants: &'a Arena,
    pub parameters: &'a Arena,
    pub block: [u32; 3],
    pub launch: &'a Launch,
    /// None if races are not looked for.
    pub order: Option<&'a mut Order>,
    /// None if nothing is counted.
    pub counter: Option<&'a mut Counter>,
    pub host: &'a mut dyn Host,
    pub warpgroups: &'a mut [Warpgroup],
}

/// What a launch uses of the host.
pub trait Host {
    /// What a thread printed with `printf`.
    fn print(&mut self, text: &[u8]);

    /// Called between time slices: the host may access memory that it shares with the device, and
    /// other launches may run.
    ///
    /// # Errors
    ///
    /// The reason why the launch ends here.
    fn pause(&mut self, global: &mut Global) -> Result<(), String>;
}

/// A host that prints to the standard output and does nothing else.
pub struct Terminal;

impl Host for Terminal {
    fn print(&mut self, text: &[u8]) {
        // As for `printf`, a failure is ignored.
        let _ = std::io::Write::write_all(&mut std::io::stdout(), text);
    }

    fn pause(&mut self, _: &mut Global) -> Result<(), String> {
        Ok(())
    }
}

/// The shape of a launch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Launch {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// In bytes.
    pub dynamic_shared: u32,
    /// All blocks run at the same time, as cooperative launches and blocks that wait for each other
    /// need it.
    pub is_cooperative: bool,
    /// Blocks of a cluster, where the entry does not say it.
    pub cluster: Option<[u32; 3]>,
    /// Decides which lane `elect.sync` elects: for 0 the first of its mask. And with
    /// [`Asynchrony::Seeded`] when asynchronous operations happen.
    pub seed: u64,
    /// When asynchronous operations happen.
    pub asynchrony: Asynchrony,
    /// Warp instructions of a launch, after which it is reported as endless.
    pub instruction_limit: u64,
    pub checks: Checks,
}

/// What is looked for beside results.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Checks {
    /// Data races between threads.
    pub races: bool,
    /// Values of bytes and registers that nothing has written.
    pub unwritten: bool,
}

/// When an asynchronous operation reads and writes memory and registers.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Asynchrony {
    /// When something waits for it.
    #[default]
    Late,
    /// When it is issued.
    AtOnce,
    /// In between, by the launch's seed.
    Seeded,
}

/// An error of one lane.
#[derive(Clone, Debug)]
pub struct Fault {
    pub function: String,
    pub instruction: Option<usize>,
    pub lane: usize,
    pub message: String,
    pub related: Option<Box<Related>>,
}

/// Another instruction that an error is about.
#[derive(Clone, Debug)]
pub struct Related {
    pub message: String,
    /// The instruction's number, or a register of the function with the error.
    pub place: RelatedPlace,
    /// Their indices in the grid and in the block.
    pub block: u32,
    pub thread: Option<u32>,
}

impl Related {
    pub fn of_race(found: &Found) -> Related {
        let earlier = found.race.earlier;
        let thread = earlier.agent.index * 32 + found.race.earlier_lane as u32;
        Related {
            message: "the earlier access".to_owned(),
            place: RelatedPlace::Site(earlier.site),
            block: earlier.agent.block,
            thread: (!earlier.agent.is_operation()).then_some(thread),
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub enum RelatedPlace {
    Site(u32),
    Register(Slot),
}

/// What was executed.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counts {
    pub warp_instructions: u64,
    pub thread_instructions: u64,
}
