//! A warp: 32 lanes that execute one instruction together where they can.
//!
//! Lanes that are at the same instruction are a *path*. A branch on which they disagree splits the
//! path, and its parts meet again at the branch's immediate post-dominator, which is before any
//! `.aligned` instruction that post-dominates the branch. Paths are executed in time slices, so
//! that lanes may wait for each other in loops (independent thread scheduling).

use std::sync::atomic::Ordering::Relaxed;

use super::asynchronous::execute;
use super::asynchronous::transfer::Memory;
use super::collective::elected;
use super::image::{Code, Decoded, Image};
use super::marks::{Bytes, Marks};
use super::matrix::{self, Products, Tracker};
use super::memory::{Arena, Window};
use super::order::{Agent, WarpClock};
use super::paths::{Path, Paths, Wait};
use super::polls::Polls;
use super::registers::{LANES, Mask, Registers, Row, lanes};
use super::special::Identity;
use super::step::{Call, Step};
use super::world::{Counts, Fault, World};

pub struct Warp<'a> {
    pub index: u32,
    pub image: &'a Image,
    pub frames: Vec<Frame<'a>>,
    pub paths: Paths,
    threads: Row<[u32; 3]>,
    /// Lanes that have not exited.
    pub live: Mask,
    pub local: Vec<Arena>,
    pub counts: Counts,
    pub clock: WarpClock,
    polls: Polls,
    /// Words of shared memory that a matrix instruction writes, with their marks.
    pub stored_marks: Vec<(u64, Bytes)>,
    pub products: Products<'a>,
}

/// An activation of a function by the lanes that called it together.
pub struct Frame<'a> {
    pub function: &'a str,
    pub code: &'a Code,
    pub registers: Registers,
    pub marks: Marks,
    pub tracker: Tracker,
    /// Where its part of local memory starts.
    pub base: u64,
    pub has_returned: bool,
    pub caller: Option<Caller<'a>>,
}

pub struct Caller<'a> {
    pub frame: usize,
    pub pc: usize,
    pub call: &'a Call,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// Its time slice is over.
    Preempted,
    /// All lanes that have not exited wait at a barrier of the block.
    Barrier,
    /// No path can go on.
    Stuck,
    Exited,
}

/// What becomes of a path after an instruction.
pub enum Flow {
    Goes,
    /// It stays, but others run first.
    Pauses,
    /// It was split, merged, or its lanes exited.
    Gone,
}

impl<'a> Warp<'a> {
    pub fn new(
        image: &'a Image,
        entry: &'a str,
        code: &'a Code,
        agent: Agent,
        threads: Row<Option<[u32; 3]>>,
    ) -> Warp<'a> {
        let live = (0..LANES)
            .filter(|lane| threads[*lane].is_some())
            .fold(0, |mask, lane| mask | 1 << lane);
        let mut local = vec![Arena::new(Window::Local, Default::default()); LANES];
        local
            .iter_mut()
            .for_each(|arena| arena.push(&code.frame, 0));
        let frame = Frame {
            function: entry,
            code,
            registers: Registers::new(&code.assignment),
            marks: Marks::new(&code.assignment, &code.unwritten),
            tracker: Tracker::default(),
            base: 0,
            has_returned: false,
            caller: None,
        };
        Warp {
            index: agent.index,
            polls: Polls::default(),
            stored_marks: Vec::new(),
            clock: WarpClock::new(agent, agent.block),
            image,
            frames: vec![frame],
            paths: Paths::new(live),
            threads: threads.map(Option::unwrap_or_default),
            live,
            local,
            counts: Counts::default(),
            products: Products::default(),
        }
    }

    /// Executes until something stops the warp, at most about `slice` instructions.
    pub fn run(&mut self, slice: u64, world: &mut World<'_>) -> Result<Stop, Fault> {
        let end = self.counts.warp_instructions + slice;
        let waiting = self.paths.list.iter_mut();
        waiting
            .filter(|path| path.waits == Some(Wait::Others))
            .for_each(|path| path.waits = None);
        while self.counts.warp_instructions < end {
            let Some(path) = self.paths.take() else {
                if self.leaves() {
                    continue;
                }
                return Ok(self.stopped());
            };
            if world.cluster.engine.is_busy() {
                let memory = &mut execute::memory!(world);
                let happened = world.cluster.engine.tick(memory);
                let lane = path.mask.trailing_zeros() as usize;
                happened.map_err(|message| self.fault(&path, lane, message))?;
            }
            if let Some(path) = self.advance(path, 64, world)? {
                self.paths.list.push(path);
            }
            if self.polls.ends_slice() {
                break;
            }
        }
        Ok(Stop::Preempted)
    }

    /// All other lanes wait at a barrier of the block: lanes at the end of the entry exit, where they would
    /// meet the others otherwise. nvcc makes a branch to the end of a `return` before a barrier, which
    /// waits for all non-exited threads of the warp (ISA, "bar", "exit").
    fn leaves(&mut self) -> bool {
        let mut paths = self.paths.list.iter();
        let frames = &self.frames;
        paths.all(|path| path.waits == Some(Wait::Barrier))
            && self.paths.release(|frame, pc| {
                let frame = &frames[frame];
                let decoded = &frame.code.steps[pc];
                let ends = matches!(decoded.step, Step::Return | Step::Exit);
                frame.caller.is_none() && decoded.guard.is_none() && ends
            })
    }

    fn stopped(&self) -> Stop {
        if self.paths.list.is_empty() {
            return Stop::Exited;
        }
        let at_barrier = |path: &&Path| path.waits == Some(Wait::Barrier);
        let waiting = self
            .paths
            .list
            .iter()
            .filter(at_barrier)
            .fold(0, |mask, path| mask | path.mask);
        if waiting == self.live {
            Stop::Barrier
        } else {
            Stop::Stuck
        }
    }

    /// Executes up to `count` instructions of a path. It is given back if it still exists.
    fn advance(
        &mut self,
        mut path: Path,
        count: u32,
        world: &mut World<'_>,
    ) -> Result<Option<Path>, Fault> {
        let tracks = world.launch.checks.unwritten;
        for _ in 0..count {
            if self.paths.meets(&path) {
                return Ok(None);
            }
            let code = self.frames[path.frame].code;
            let decoded = &code.steps[path.pc];
            let active = match decoded.guard {
                None => path.mask,
                Some((index, negated)) => {
                    let value = self.frames[path.frame].registers.predicate(index);
                    path.mask & if negated { !value } else { value }
                }
            };
            if active != 0 {
                decoded.is_executed.store(true, Relaxed);
            }
            if code.has_products {
                matrix::observe(self, &path, decoded, active, world)?;
            }
            if tracks && !self.frames[path.frame].marks.is_empty() {
                self.track(&path, decoded, active, world)?;
            }
            self.counts.warp_instructions += 1;
            self.counts.thread_instructions += u64::from(active.count_ones());
            if let Some(counter) = &mut world.counter {
                counter.execute(code.first_site + path.pc as u32, active);
            }
            match self.execute(&mut path, decoded, active, world)? {
                Flow::Goes => {}
                Flow::Pauses => return Ok(Some(path)),
                Flow::Gone => return Ok(None),
            }
        }
        Ok(Some(path))
    }

    fn execute(
        &mut self,
        path: &mut Path,
        decoded: &'a Decoded,
        active: Mask,
        world: &mut World<'_>,
    ) -> Result<Flow, Fault> {
        match &decoded.step {
            Step::Lanes(f) => {
                if active != 0 {
                    f(&mut self.frames[path.frame].registers, active);
                }
            }
            Step::Load(_) | Step::Store(_) | Step::Atomic(_) => {
                let done = self.access(path, decoded, active, world);
                done.map_err(|problem| self.problem(path, problem, world))?;
                if let Step::Load(load) = &decoded.step
                    && self
                        .polls
                        .again(path, load, active, &self.frames[path.frame])
                {
                    path.pc += 1;
                    return Ok(Flow::Pauses);
                }
            }
            Step::Fence(fence) => {
                if let Some(order) = &mut world.order
                    && active != 0
                {
                    order.fence(&mut self.clock, active, *fence);
                }
            }
            Step::Branch(target) => return Ok(self.branch(path, decoded, active, *target)),
            Step::IndexedBranch(index, targets) => {
                return self.branch_by_index(
                    path,
                    decoded,
                    active,
                    index.row(&self.frames[path.frame].registers),
                    targets,
                );
            }
            Step::Return => return self.returns(path, active),
            Step::Exit => return Ok(self.exits(path, active)),
            Step::Call(call) => {
                if active == 0 {
                    path.pc += 1;
                    return Ok(Flow::Goes);
                }
                if active != path.mask {
                    return Ok(self.isolate(path, active, world));
                }
                if !self.image.functions.contains_key(&call.callee) {
                    return self.calls_system(path, call, world);
                }
                return self.calls(path, call);
            }
            Step::Collective(_) | Step::Barrier(_) => {
                if active == 0 {
                    path.pc += 1;
                    return Ok(Flow::Goes);
                }
                if active != path.mask {
                    return Ok(self.isolate(path, active, world));
                }
                return self.meets(path, decoded, world);
            }
            Step::Asynchronous(instruction) if active != 0 => {
                return self.asynchronous(path, instruction, active, world);
            }
            Step::Matrix(matrix) => return self.matrix(path, matrix, active, world),
            Step::Trap if active != 0 => {
                let lane = active.trailing_zeros() as usize;
                return Err(self.fault(path, lane, "the thread traps".to_owned()));
            }
            Step::Refused(refusal) if active != 0 => {
                let lane = active.trailing_zeros() as usize;
                return Err(self.fault(path, lane, refusal.to_string()));
            }
            Step::Special(special, result) => {
                let row = special.row(&self.identity(world));
                result.put(&mut self.frames[path.frame].registers, active, &row);
            }
            Step::FrameAddress(result, offset) => {
                let frame = &mut self.frames[path.frame];
                result.put(&mut frame.registers, active, &[frame.base + offset; LANES]);
            }
            Step::ActiveMask(result) => {
                let row = [u64::from(active); LANES];
                result.put(&mut self.frames[path.frame].registers, active, &row);
            }
            Step::Yield => {
                path.pc += 1;
                return Ok(Flow::Pauses);
            }
            Step::Nothing | Step::Asynchronous(_) | Step::Trap | Step::Refused(_) => {}
        }
        path.pc += 1;
        Ok(Flow::Goes)
    }

    fn identity<'w>(&'w self, world: &'w World<'_>) -> Identity<'w> {
        let launch = world.launch;
        let threads: u32 = launch.block.iter().product();
        Identity {
            threads: &self.threads,
            block_extent: launch.block,
            block: world.block,
            grid_extent: launch.grid,
            cluster: launch.cluster,
            warp: self.index,
            warps: threads.div_ceil(32),
            clock: self.counts.warp_instructions,
            dynamic_shared: launch.dynamic_shared,
            total_shared: world.shared.end() as u32,
        }
    }

    pub fn thread(&self, lane: usize) -> [u32; 3] {
        self.threads[lane]
    }

    pub fn fault(&self, path: &Path, lane: usize, message: String) -> Fault {
        let frame = &self.frames[path.frame];
        Fault {
            function: frame.function.to_owned(),
            instruction: frame
                .code
                .steps
                .get(path.pc)
                .and_then(|step| step.instruction),
            lane,
            message,
            related: None,
        }
    }

    pub fn branch(
        &mut self,
        path: &mut Path,
        decoded: &Decoded,
        taken: Mask,
        target: usize,
    ) -> Flow {
        let rest = path.mask & !taken;
        if rest == 0 {
            path.pc = target;
            return Flow::Goes;
        }
        path.pc += 1;
        if taken == 0 {
            return Flow::Goes;
        }
        let parts = [(rest, path.pc), (taken, target)];
        self.split(path, &parts, decoded.meeting)
    }

    /// ISA, `brx.idx`: an index beyond the list is undefined.
    fn branch_by_index(
        &mut self,
        path: &mut Path,
        decoded: &Decoded,
        active: Mask,
        indices: Row<u32>,
        targets: &[usize],
    ) -> Result<Flow, Fault> {
        let mut parts: Vec<(Mask, usize)> = Vec::new();
        let mut add = |lanes: Mask, pc: usize| match parts.iter_mut().find(|part| part.1 == pc) {
            Some(part) => part.0 |= lanes,
            None => parts.push((lanes, pc)),
        };
        if path.mask != active {
            add(path.mask & !active, path.pc + 1);
        }
        for lane in lanes(active) {
            let index = indices[lane];
            match targets.get(index as usize) {
                Some(target) => add(1 << lane, *target),
                None => {
                    let message = format!("index {index} of {} targets", targets.len());
                    return Err(self.fault(path, lane, message));
                }
            }
        }
        if let [(_, pc)] = parts.as_slice() {
            path.pc = *pc;
            return Ok(Flow::Goes);
        }
        Ok(self.split(path, &parts, decoded.meeting))
    }

    /// Replaces a path by its parts, which meet at `meeting` or at the end of the function.
    fn split(&mut self, path: &Path, parts: &[(Mask, usize)], meeting: Option<usize>) -> Flow {
        let frame = &self.frames[path.frame];
        let meeting = match meeting {
            None if frame.caller.is_some() => Some(frame.code.steps.len() - 1),
            // At the end of an entry lanes exit, each on its own.
            meeting => meeting,
        };
        self.paths.split(path, parts, meeting);
        Flow::Gone
    }

    /// Lets only `active` execute the instruction; the others wait behind it.
    fn isolate(&mut self, path: &Path, active: Mask, world: &mut World<'_>) -> Flow {
        self.retract(path, active, world);
        let parts = [(active, path.pc), (path.mask & !active, path.pc + 1)];
        self.split(path, &parts, Some(path.pc + 1))
    }

    pub fn exits(&mut self, path: &mut Path, active: Mask) -> Flow {
        self.live &= !active;
        path.mask &= !active;
        path.pc += 1;
        self.paths.exit(active);
        if path.mask == 0 {
            Flow::Gone
        } else {
            Flow::Goes
        }
    }

    /// A barrier, or an instruction by several lanes together.
    fn meets(
        &mut self,
        path: &mut Path,
        decoded: &Decoded,
        world: &mut World<'_>,
    ) -> Result<Flow, Fault> {
        let Step::Collective(collective) = &decoded.step else {
            path.waits = Some(Wait::Barrier);
            return Ok(Flow::Pauses);
        };
        let same = |other: &Path| {
            other.waits == Some(Wait::Lanes) && (other.frame, other.pc) == (path.frame, path.pc)
        };
        let waiting = self.paths.list.iter().filter(|other| same(other));
        let present = waiting.fold(path.mask, |mask, other| mask | other.mask);
        let registers = &self.frames[path.frame].registers;
        let awaited = collective.awaited(registers, present);
        let awaited = awaited.map_err(|(lane, message)| self.fault(path, lane, message))?;
        if awaited & self.live & !present != 0 {
            path.waits = Some(Wait::Lanes);
            return Ok(Flow::Pauses);
        }
        if world.launch.checks.unwritten && !self.frames[path.frame].marks.is_empty() {
            self.track_collective(path, decoded, present, world)?;
        }
        let seed = world.launch.seed;
        let registers = &mut self.frames[path.frame].registers;
        let done = collective.execute(registers, present, |mask| elected(mask, seed));
        done.map_err(|(lane, message)| self.fault(path, lane, message))?;
        if collective.orders_memory()
            && let Some(order) = &mut world.order
        {
            order.meet(&mut self.clock, present);
        }
        for other in self.paths.list.iter_mut().filter(|other| same(other)) {
            other.waits = None;
            other.pc += 1;
        }
        path.pc += 1;
        Ok(Flow::Goes)
    }
}
