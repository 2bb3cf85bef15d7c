//! A block: its warps and its sixteen barriers.

use std::rc::Rc;

use super::cluster::{self, Cluster};
use super::count::Counter;
use super::global::Global;
use super::image::Image;
use super::matrix::{self, Warpgroup};
use super::memory::{Arena, Window};
use super::order::{Agent, Gathering, Order, WarpClock};
use super::registers::{LANES, lanes};
use super::shared::Shared;
use super::step::{Barrier, BarrierKind, Reduction, Step};
use super::warp::{Stop, Warp};
use super::world::{Counts, Fault, Host, Launch, World};

pub struct Block<'a> {
    pub index: [u32; 3],
    /// In its cluster.
    rank: usize,
    warps: Vec<Warp<'a>>,
    barriers: [State; 16],
    warpgroups: Vec<Warpgroup>,
}

/// What all blocks of a launch share.
pub struct Surroundings<'a> {
    pub global: &'a mut Global,
    pub constants: &'a Arena,
    pub parameters: &'a Arena,
    pub launch: &'a Launch,
    pub order: Option<Order>,
    pub counter: Option<&'a mut Counter>,
    pub host: &'a mut dyn Host,
    /// Of a thread, where the entry says it.
    pub registers: Option<u32>,
}

/// A barrier between two completions.
#[derive(Default, Debug)]
struct State {
    /// Warps that have arrived, and whether they wait.
    arrived: Vec<(usize, bool)>,
    /// How many threads it is for, if the instructions say so.
    threads: Option<u32>,
    /// The lanes for which the predicate holds, and all lanes.
    votes: (u32, u32),
    reduces: Option<bool>,
    /// What the arrivals have released.
    gathering: Gathering,
}

/// An error of one thread.
#[derive(Debug)]
pub struct BlockFault {
    pub thread: [u32; 3],
    pub fault: Fault,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Progress {
    Runs,
    Waits,
    Exited,
}

/// Warp instructions between two warps.
const TIME_SLICE: u64 = 1024;

impl<'a> Block<'a> {
    pub fn new(
        image: &'a Image,
        entry: &'a str,
        (index, rank): ([u32; 3], usize),
        launch: &Launch,
    ) -> Block<'a> {
        let [x, y, z] = launch.block;
        let count = x * y * z;
        let thread =
            |linear: u32| (linear < count).then(|| [linear % x, linear / x % y, linear / (x * y)]);
        let code = &image.functions[entry];
        let cluster_blocks: u32 = launch.cluster.unwrap_or([1; 3]).iter().product();
        let warps = (0..count.div_ceil(32)).map(|warp| {
            let threads = std::array::from_fn(|lane| thread(warp * 32 + lane as u32));
            let agent = Agent {
                block: cluster::block_number(index, rank, launch),
                index: warp,
            };
            let mut new = Warp::new(image, entry, code, agent, threads);
            new.clock.domain.cluster = agent.block / cluster_blocks;
            new
        });
        Block {
            index,
            rank,
            warps: warps.collect(),
            barriers: Default::default(),
            warpgroups: Warpgroup::of_block(count.div_ceil(32) as usize),
        }
    }

    /// Shared memory of a block, of zeros.
    pub fn shared_memory(image: &Image, launch: &Launch) -> Arena {
        let mut layout = image.shared.clone();
        let gap = image.dynamic_shared - layout.end();
        layout.add("", gap, 1);
        layout.add("dynamic shared memory", launch.dynamic_shared.into(), 1);
        Arena::new(Window::Shared, layout)
    }

    pub fn counts(&self) -> Counts {
        self.warps
            .iter()
            .fold(Counts::default(), |sum, warp| Counts {
                warp_instructions: sum.warp_instructions + warp.counts.warp_instructions,
                thread_instructions: sum.thread_instructions + warp.counts.thread_instructions,
            })
    }

    pub fn has_exited(&self) -> bool {
        self.warps.iter().all(|warp| warp.paths.list.is_empty())
    }

    /// Of all warps, for the detection of races.
    pub fn clocks(&self) -> impl Iterator<Item = &WarpClock> {
        self.warps.iter().map(|warp| &warp.clock)
    }

    /// A time slice of each warp.
    pub fn run(
        &mut self,
        around: &mut Surroundings<'_>,
        shared: &mut Shared,
        cluster: &mut Cluster,
    ) -> Result<Progress, BlockFault> {
        shared.rank = self.rank;
        let mut all = Progress::Exited;
        for index in 0..self.warps.len() {
            let mut world = World {
                global: around.global,
                shared,
                cluster,
                constants: around.constants,
                parameters: around.parameters,
                block: self.index,
                launch: around.launch,
                order: around.order.as_mut(),
                counter: around.counter.as_deref_mut(),
                host: &mut *around.host,
                warpgroups: &mut self.warpgroups,
            };
            let warp = &mut self.warps[index];
            if warp.paths.list.is_empty() {
                continue;
            }
            let before = warp.counts.warp_instructions;
            let served = matrix::serve(warp, &mut world);
            let stop = served.and_then(|any| Ok((any, warp.run(TIME_SLICE, &mut world)?)));
            let advances = warp.counts.warp_instructions != before;
            if cluster.barrier.set_live(self.rank, index, warp.live) {
                cluster.engine.events += 1;
            }
            let (served, stop) = stop.map_err(|fault| self.locate(index, fault))?;
            let waits = self
                .barriers
                .iter()
                .any(|state| state.arrived.contains(&(index, true)));
            let progress = match stop {
                Stop::Preempted => true,
                Stop::Barrier if !waits => {
                    self.arrives(index, around.order.as_mut())?;
                    true
                }
                Stop::Barrier | Stop::Stuck => advances || served,
                Stop::Exited => {
                    let left = self.warpgroups[index / 4].exit(index % 4);
                    left.map_err(|message| self.fail(index, message))?;
                    self.complete_barriers(around.order.as_mut());
                    if all == Progress::Waits {
                        all = Progress::Runs;
                    }
                    continue;
                }
            };
            all = match (progress, all) {
                (true, _) | (_, Progress::Runs) => Progress::Runs,
                _ => Progress::Waits,
            };
        }
        Ok(all)
    }

    fn locate(&self, warp: usize, fault: Fault) -> BlockFault {
        BlockFault {
            thread: self.warps[warp].thread(fault.lane),
            fault,
        }
    }

    fn fail(&self, warp: usize, message: String) -> BlockFault {
        let found = &self.warps[warp];
        let fault = match found.paths.list.first() {
            Some(path) => found.fault(path, path.mask.trailing_zeros() as usize, message),
            None => Fault {
                function: String::new(),
                instruction: None,
                lane: 0,
                message,
                related: None,
            },
        };
        self.locate(warp, fault)
    }

    /// All lanes of the warp that run are at a barrier.
    fn arrives(&mut self, index: usize, mut order: Option<&mut Order>) -> Result<(), BlockFault> {
        let warp = &self.warps[index];
        let mut common = None;
        let mut votes = (0, 0);
        let mut waits = false;
        for path in &warp.paths.list {
            let frame = &warp.frames[path.frame];
            let Step::Barrier(barrier) = &frame.code.steps[path.pc].step else {
                continue;
            };
            if barrier.is_aligned && path.mask != warp.live {
                let message = "the lanes of the warp reach this aligned barrier diverged";
                return Err(self.fail(index, message.to_owned()));
            }
            let rows = (
                barrier.id.row(&frame.registers),
                barrier.threads.map(|threads| threads.row(&frame.registers)),
            );
            for lane in lanes(path.mask) {
                let key = (rows.0[lane], rows.1.map(|row| row[lane]), reduces(barrier));
                if *common.get_or_insert(key) != key {
                    let message = "the lanes of the warp are at different barriers";
                    return Err(self.fail(index, message.to_owned()));
                }
            }
            if let BarrierKind::Reduce(_, predicate, _) = &barrier.kind {
                let truth = predicate.lanes(&frame.registers) & path.mask;
                votes.0 += truth.count_ones();
            }
            votes.1 += path.mask.count_ones();
            waits |= !matches!(barrier.kind, BarrierKind::Arrive);
        }
        let Some((id, threads, reduces)) = common else {
            return Ok(());
        };
        self.check(index, id, threads, reduces)?;
        let state = &mut self.barriers[id as usize];
        state.arrived.push((index, waits));
        state.threads = threads;
        state.reduces = Some(reduces);
        state.votes.0 += votes.0;
        state.votes.1 += votes.1;
        if let Some(order) = &mut order {
            let warp = &self.warps[index];
            order.arrive(&warp.clock, warp.live, waits, &mut state.gathering);
        }
        if !waits {
            pass(&mut self.warps[index], None);
        }
        self.complete_barriers(order);
        Ok(())
    }

    /// What the ISA demands of an arrival (section on `bar`).
    fn check(
        &self,
        warp: usize,
        id: u32,
        threads: Option<u32>,
        reduces: bool,
    ) -> Result<(), BlockFault> {
        let Some(state) = self.barriers.get(id as usize) else {
            return Err(self.fail(warp, format!("there is no barrier {id}")));
        };
        if let Some(count) = threads
            && (count == 0 || !count.is_multiple_of(32) || count as usize > self.warps.len() * 32)
        {
            return Err(self.fail(warp, format!("barrier {id} of {count} threads")));
        }
        if state.arrived.iter().any(|(known, _)| *known == warp) {
            let message = format!("the warp arrives twice at barrier {id} before it completes");
            return Err(self.fail(warp, message));
        }
        if !state.arrived.is_empty() && state.threads != threads {
            let message = format!("barrier {id} is used with different numbers of threads");
            return Err(self.fail(warp, message));
        }
        if state.reduces.is_some_and(|known| known != reduces) {
            let message = format!("barrier {id} reduces for some warps and not for others");
            return Err(self.fail(warp, message));
        }
        Ok(())
    }

    fn complete_barriers(&mut self, mut order: Option<&mut Order>) {
        let running = self
            .warps
            .iter()
            .filter(|warp| !warp.paths.list.is_empty())
            .count();
        for state in &mut self.barriers {
            let wanted = state
                .threads
                .map_or(running, |threads| threads as usize / 32);
            if state.arrived.is_empty() || state.arrived.len() < wanted {
                continue;
            }
            let state = std::mem::take(state);
            let seen = order.as_mut().map(|order| {
                let is_full = state.arrived.len() == running;
                let block = self.warps[0].clock.agent.block;
                order.complete(block, is_full, state.gathering)
            });
            for (index, waits) in state.arrived {
                if waits {
                    let warp = &mut self.warps[index];
                    if let Some(view) = &seen {
                        warp.clock.replace(warp.live, Rc::clone(view));
                    }
                    pass(warp, state.reduces.filter(|r| *r).map(|_| state.votes));
                }
            }
        }
    }

    /// Where the lanes are that have not exited, and what they wait for.
    pub fn places(
        &mut self,
        around: &mut Surroundings<'_>,
        shared: &mut Shared,
        cluster: &mut Cluster,
    ) -> Vec<String> {
        shared.rank = self.rank;
        let mut world = World {
            global: around.global,
            shared,
            cluster,
            constants: around.constants,
            parameters: around.parameters,
            block: self.index,
            launch: around.launch,
            order: None,
            counter: None,
            host: &mut *around.host,
            warpgroups: &mut self.warpgroups,
        };
        let mut places = Vec::new();
        for warp in &mut self.warps {
            for path in warp.paths.list.clone() {
                let what = warp.describe(&path, &mut world);
                let (index, mask) = (warp.index, path.mask);
                let frame = &warp.frames[path.frame];
                let line = frame.code.steps[path.pc].line;
                places.push(format!(
                    "warp {index}, lanes {mask:#010x}: {what}, in line {line} of the PTX, in `{}`",
                    frame.function
                ));
            }
        }
        places
    }

    /// A fault of the first thread that has not exited.
    pub fn stuck(&self, message: String) -> BlockFault {
        let running = |warp: &Warp<'_>| !warp.paths.list.is_empty();
        let stuck = self.warps.iter().position(running);
        self.fail(stuck.unwrap_or(0), message)
    }

    /// A fault at no instruction.
    pub fn ended(&self, thread: usize, message: String) -> BlockFault {
        let (warp, lane) = (thread / LANES, thread % LANES);
        BlockFault {
            thread: self.warps[warp.min(self.warps.len() - 1)].thread(lane),
            fault: Fault {
                function: self.entry().to_owned(),
                instruction: None,
                lane,
                message,
                related: None,
            },
        }
    }

    fn entry(&self) -> &str {
        let frame = self.warps.iter().flat_map(|warp| &warp.frames).next();
        frame.map_or("", |frame| frame.function)
    }
}

fn reduces(barrier: &Barrier) -> bool {
    matches!(barrier.kind, BarrierKind::Reduce(..))
}

/// All lanes go on behind their barrier.
fn pass(warp: &mut Warp<'_>, votes: Option<(u32, u32)>) {
    for path in &mut warp.paths.list {
        let frame = &mut warp.frames[path.frame];
        let step = &frame.code.steps[path.pc].step;
        if let (Step::Barrier(barrier), Some((yes, all))) = (step, votes)
            && let BarrierKind::Reduce(reduction, _, result) = barrier.kind
        {
            let set = |truth: bool| if truth { u32::MAX } else { 0 };
            let registers = &mut frame.registers;
            match reduction {
                Reduction::Count => {
                    use super::registers::Lane;
                    u32::put(registers, result, path.mask, &[yes; LANES]);
                }
                Reduction::All => registers.set_predicate(result, path.mask, set(yes == all)),
                Reduction::Any => registers.set_predicate(result, path.mask, set(yes > 0)),
            }
        }
        path.waits = None;
        path.pc += 1;
    }
}
