//! Instructions of mbarriers, clusters, register pools and tensor maps, executed by the lanes of a
//! warp one after the other.

use super::decode::{Address, Instruction, Mbarrier, WaitFor};
use super::engine::Groups;
use super::mbarrier::Token;
use super::transfer::{Memory, Thread};
use super::{issue, maps};
use crate::machine::decode::Source;
use crate::machine::memory::Window;
use crate::machine::observe;
use crate::machine::order::{self, Effect, Kind, Semantics, WarpClock};
use crate::machine::registers::{LANES, Lane, Mask, Registers, Row, lanes};
use crate::machine::shared::{Shared, SharedPlace};
use crate::machine::world::World;

/// The lanes that execute an instruction.
pub struct Active<'a> {
    pub registers: &'a mut Registers,
    pub mask: Mask,
    /// All lanes of the warp that have not exited.
    pub live: Mask,
    /// Where the function's local memory starts.
    pub frame: u64,
    pub warp: usize,
    /// The instruction's place in its function, and among all.
    pub at: usize,
    pub site: u32,
    pub clock: &'a mut WarpClock,
}

/// The lane that failed, and why.
pub type LaneError = (usize, String);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    Done,
    /// It is executed again once other threads may have changed something.
    Waits,
}

impl Active<'_> {
    pub fn thread(&self, world: &World<'_>, lane: usize) -> Thread {
        Thread {
            rank: world.shared.rank,
            index: (self.warp * LANES + lane) as u32,
        }
    }

    pub fn addresses(&self, address: &Address) -> Row<u64> {
        address.pointer.row(self.registers, self.frame)
    }

    /// What `.aligned` demands.
    pub fn check_aligned(&self) -> Result<(), LaneError> {
        match self.mask == self.live {
            true => Ok(()),
            false => {
                let message = "the lanes of the warp reach this aligned instruction diverged";
                Err((self.mask.trailing_zeros() as usize, message.to_owned()))
            }
        }
    }
}

/// What operations reach, and the engine that executes them.
macro_rules! memory {
    ($world:expr) => {
        Memory {
            global: &mut *$world.global,
            shared: &mut *$world.shared,
            constants: $world.constants,
            parameters: $world.parameters,
            order: $world.order.as_deref_mut(),
        }
    };
}
pub(crate) use memory;

/// The place in shared memory of an address of that space.
pub fn shared_place(shared: &Shared, window: Window, address: u64) -> Result<SharedPlace, String> {
    let found = match window {
        Window::Generic => match Window::of_generic(address) {
            (Window::Global, _) => Err(format!(
                "generic address {address:#x} is not in shared memory"
            )),
            (window, address) => shared_place(shared, window, address),
        },
        Window::Shared | Window::Cluster => shared.place(address),
        other => Err(format!("an address of {} memory", other.name())),
    }?;
    match window == Window::Shared && found.rank != shared.rank {
        true => Err(format!(
            "shared address {address:#x} is in the memory of another block"
        )),
        false => Ok(found),
    }
}

/// As [`shared_place`], in the memory of the block itself.
fn own_place(shared: &Shared, window: Window, address: u64) -> Result<SharedPlace, String> {
    let place = shared_place(shared, window, address)?;
    match place.rank == shared.rank {
        true => Ok(place),
        false => Err(format!(
            "the mbarrier object is in the memory of the block with rank {}, where only arrivals \
             and counts of bytes are allowed",
            place.rank
        )),
    }
}

impl Instruction {
    /// # Errors
    ///
    /// What the ISA leaves undefined.
    pub fn execute(
        &self,
        active: &mut Active<'_>,
        world: &mut World<'_>,
    ) -> Result<Outcome, LaneError> {
        let mask = active.mask;
        match self {
            Instruction::Mbarrier(at, Mbarrier::Wait(wait, result, order)) => {
                return execute_wait(at, (*wait, *result, *order), active, world);
            }
            Instruction::Mbarrier(at, operation) => {
                execute_mbarrier(at, operation, active, world)?;
            }
            Instruction::PendingCount(result, state) => {
                let states = state.row(active.registers);
                let mut counts = [0; LANES];
                for lane in lanes(mask) {
                    let token = Token::decode(states[lane], 0);
                    let token = token.map_err(|message| (lane, message))?;
                    if !token.is_incomplete {
                        let message = "the state is not that of an arrival with .noComplete";
                        return Err((lane, message.to_owned()));
                    }
                    counts[lane] = token.pending;
                }
                u32::put(active.registers, *result, mask, &counts);
            }
            Instruction::Copy(copy) => issue::execute(copy, active, world)?,
            Instruction::Commit(groups) => {
                for lane in lanes(mask) {
                    let thread = active.thread(world, lane);
                    world.cluster.engine.commit(thread, *groups);
                }
            }
            Instruction::WaitGroups {
                groups,
                pending,
                reads,
            } => wait_groups(active, world, (*groups, *pending, *reads))?,
            Instruction::WaitAll => {
                for lane in lanes(mask) {
                    let thread = active.thread(world, lane);
                    world.cluster.engine.commit(thread, Groups::Copies);
                }
                wait_groups(active, world, (Groups::Copies, 0, false))?;
            }
            Instruction::ClusterArrive {
                is_aligned,
                releases,
            } => {
                if *is_aligned {
                    active.check_aligned()?;
                }
                let rank = world.shared.rank;
                world.cluster.engine.events += 1;
                let barrier = &mut world.cluster.barrier;
                barrier.set_live(rank, active.warp, active.live);
                if let Some(order) = &mut world.order {
                    order.arrive_at_cluster(active.clock, mask, barrier.phase(), *releases);
                }
                barrier.arrive(rank, active.warp, mask)?;
            }
            Instruction::ClusterWait { is_aligned } => {
                if *is_aligned {
                    active.check_aligned()?;
                }
                let rank = world.shared.rank;
                let barrier = &mut world.cluster.barrier;
                if !barrier.wait(rank, active.warp, mask)? {
                    return Ok(Outcome::Waits);
                }
                if let Some(order) = &mut world.order {
                    for lane in lanes(mask) {
                        let phase = barrier.phase_of(rank, active.warp, lane);
                        order.wait_at_cluster(active.clock, 1 << lane, phase);
                    }
                }
            }
            Instruction::Map(map) => map.execute(active, world.shared)?,
            Instruction::SetRegisters { count, grows } => {
                active.check_aligned()?;
                let pool = &mut world.cluster.pools[world.shared.rank];
                let change = pool.change(active.warp, (active.at, *count), *grows);
                let lane = mask.trailing_zeros() as usize;
                if !change.map_err(|message| (lane, message))? {
                    return Ok(Outcome::Waits);
                }
                world.cluster.engine.events += 1;
            }
            Instruction::PrefetchMap(at) => {
                let addresses = active.addresses(at);
                for lane in lanes(mask) {
                    let address = addresses[lane].wrapping_add(at.window.base());
                    let found = memory!(world).tensor_map(address);
                    found.map_err(|message| (lane, message))?;
                }
            }
            Instruction::ReplaceField(at, field, value) => {
                maps::replace(active, world, at, (*field, *value))?;
            }
            Instruction::CopyMap(to, from) => maps::copy_map(active, world, to, from)?,
        }
        Ok(Outcome::Done)
    }
}

fn wait_groups(
    active: &mut Active<'_>,
    world: &mut World<'_>,
    (groups, pending, reads): (Groups, usize, bool),
) -> Result<(), LaneError> {
    for lane in lanes(active.mask) {
        let thread = active.thread(world, lane);
        let engine = &mut world.cluster.engine;
        let memory = &mut memory!(world);
        let done = match reads {
            true => engine.wait_for_reads(memory, thread, pending),
            false => engine.wait(memory, thread, groups, pending),
        };
        done.map_err(|message| (lane, message))?;
        for view in engine.acquired.drain(..) {
            active.clock.acquire(1 << lane, &view);
        }
        for view in engine.acquired_reads.drain(..) {
            active.clock.acquire_reads(1 << lane, &view);
        }
    }
    Ok(())
}

/// What an operation of a lane on an mbarrier object means for the order of accesses.
fn observe_mbarrier(
    operation: &Mbarrier,
    active: &mut Active<'_>,
    world: &mut World<'_>,
    (lane, place, phase): (usize, SharedPlace, u64),
) -> Result<(), String> {
    let kind = match operation {
        Mbarrier::Init(_) | Mbarrier::Invalidate => Kind {
            effect: Effect::Initialise,
            ..order::kind(true, false)
        },
        _ => order::OBJECT,
    };
    let Some(order) = &mut world.order else {
        return Ok(());
    };
    let at = (Some(place), place.address);
    let touch = observe::touch(world.global, world.shared, at, 8, (kind, lane));
    let Some(touch) = touch else { return Ok(()) };
    order.touch(touch);
    let done = order.settle(active.clock, active.site);
    done.map_err(|failure| observe::failed(failure, order, world.global, world.shared))?;
    match operation {
        Mbarrier::Init(_) | Mbarrier::Invalidate => order.forget_mbarrier(touch.location),
        Mbarrier::Arrive { arrival, .. } => {
            let phase = (touch.location, phase);
            order.arrive_in_phase(active.clock, 1 << lane, phase, arrival.order);
        }
        Mbarrier::Wait(_, _, how) => {
            order.wait_for_phase(active.clock, 1 << lane, (touch.location, phase), *how);
        }
        _ => {}
    }
    Ok(())
}

fn execute_mbarrier(
    at: &Address,
    operation: &Mbarrier,
    active: &mut Active<'_>,
    world: &mut World<'_>,
) -> Result<(), LaneError> {
    let addresses = active.addresses(at);
    let row = |source: &Source<u32>| source.row(active.registers);
    let (numbers, bytes) = match operation {
        Mbarrier::Init(number)
        | Mbarrier::ExpectBytes(number)
        | Mbarrier::CompleteBytes(number) => (row(number), None),
        Mbarrier::Arrive {
            count,
            expected_bytes,
            ..
        } => (row(count), expected_bytes.as_ref().map(row)),
        _ => ([0; LANES], None),
    };
    let mut states = [0; LANES];
    for lane in lanes(active.mask) {
        let bytes = bytes.map(|row| row[lane]);
        let thread = active.thread(world, lane);
        let place = shared_place(world.shared, at.window, addresses[lane]);
        let phase = place
            .clone()
            .and_then(|place| Ok(world.shared.mbarrier(place)?.phase));
        let done = one_lane(
            operation,
            world,
            thread,
            (at.window, addresses[lane]),
            (numbers[lane], bytes),
        );
        states[lane] = done.map_err(|message| (lane, message))?;
        if let Ok(place) = place {
            let seen = (lane, place, phase.unwrap_or(0));
            let done = observe_mbarrier(operation, active, world, seen);
            done.map_err(|message| (lane, message))?;
        }
    }
    world.cluster.engine.events += 1;
    if let Mbarrier::Arrive {
        state: Some(state), ..
    } = operation
    {
        u64::put(active.registers, *state, active.mask, &states);
    }
    Ok(())
}

/// The state that an arrival returns.
fn one_lane(
    operation: &Mbarrier,
    world: &mut World<'_>,
    thread: Thread,
    (window, address): (Window, u64),
    (number, bytes): (u32, Option<u32>),
) -> Result<u64, String> {
    use super::mbarrier::Mbarrier as Object;
    let own = || own_place(world.shared, window, address);
    match operation {
        Mbarrier::Init(_) => {
            let place = own()?;
            world.shared.add_mbarrier(place, Object::new(number)?)?;
        }
        Mbarrier::Invalidate => {
            let place = own()?;
            if world.cluster.engine.is_attached(place) {
                return Err(
                    "mbarrier.inval while asynchronous operations will complete on the \
                            object"
                        .to_owned(),
                );
            }
            world.shared.remove_mbarrier(place)?;
        }
        Mbarrier::ArriveAfterCopies { increments } => {
            let place = own()?;
            let memory = &mut memory!(world);
            let engine = &mut world.cluster.engine;
            engine.arrive_after_copies(memory, thread, place, *increments)?;
        }
        Mbarrier::ExpectBytes(_) => {
            let place = shared_place(world.shared, window, address)?;
            world.shared.mbarrier(place)?.expect(number)?;
        }
        Mbarrier::CompleteBytes(_) => {
            let place = shared_place(world.shared, window, address)?;
            world.shared.mbarrier(place)?.complete_bytes(number)?;
        }
        Mbarrier::Arrive { arrival, state, .. } => {
            let place = shared_place(world.shared, window, address)?;
            let is_own = place.rank == world.shared.rank;
            if state.is_some() && !is_own {
                return Err(
                    "an arrival at an mbarrier of another block returns no state".to_owned(),
                );
            }
            let mbarrier = world.shared.mbarrier(place)?;
            if let Some(bytes) = bytes {
                mbarrier.expect(bytes)?;
            }
            let token = Token {
                address: place.address,
                phase: mbarrier.phase,
                pending: mbarrier.pending,
                is_incomplete: !arrival.may_complete,
            };
            if arrival.drops {
                mbarrier.drop_expected(number)?;
            }
            match arrival.may_complete {
                true if is_own => mbarrier.arrive(number)?,
                true => mbarrier.arrive_from_other_block(number)?,
                false => mbarrier.arrive_without_completion(number)?,
            }
            return Ok(token.encode());
        }
        Mbarrier::Wait(..) => {}
    }
    Ok(0)
}

/// A wait lasts until all its lanes may go on, or until its time limit.
fn execute_wait(
    at: &Address,
    (wait, result, order): (WaitFor, usize, Semantics),
    active: &mut Active<'_>,
    world: &mut World<'_>,
) -> Result<Outcome, LaneError> {
    let addresses = active.addresses(at);
    let states = match wait {
        WaitFor::State(state) => state.row(active.registers),
        WaitFor::Parity(parity) => parity.row(active.registers).map(u64::from),
    };
    let mut truth = 0;
    for lane in lanes(active.mask) {
        let complete = own_place(world.shared, at.window, addresses[lane])
            .and_then(|place| test(world, place, wait, states[lane]));
        truth |= u32::from(complete.map_err(|message| (lane, message))?) << lane;
    }
    if truth != active.mask && !world.cluster.engine.expires {
        return Ok(Outcome::Waits);
    }
    for lane in lanes(truth) {
        let Ok(place) = own_place(world.shared, at.window, addresses[lane]) else {
            continue;
        };
        let current = world
            .shared
            .mbarrier(place)
            .map_or(0, |mbarrier| mbarrier.phase);
        // The last phase that is complete: objects count as if a phase had completed before.
        let operation = Mbarrier::Wait(wait, result, order);
        let seen = (lane, place, current.wrapping_sub(1));
        let done = observe_mbarrier(&operation, active, world, seen);
        done.map_err(|message| (lane, message))?;
    }
    active.registers.set_predicate(result, active.mask, truth);
    Ok(Outcome::Done)
}

fn test(
    world: &mut World<'_>,
    place: SharedPlace,
    wait: WaitFor,
    state: u64,
) -> Result<bool, String> {
    for settled in [false, true] {
        let mbarrier = world.shared.mbarrier(place)?;
        let is_complete = match wait {
            WaitFor::Parity(_) if state > 1 => {
                return Err(format!("the parity {state} of a phase"));
            }
            WaitFor::Parity(_) => mbarrier.test_parity(state as u32),
            WaitFor::State(_) => {
                let token = Token::decode(state, mbarrier.phase)?;
                if token.address != place.address {
                    return Err("the state is that of another mbarrier object".to_owned());
                }
                mbarrier.test_phase(token.phase)?
            }
        };
        if is_complete || settled {
            return Ok(is_complete);
        }
        let memory = &mut memory!(world);
        world.cluster.engine.settle(memory, place)?;
    }
    Ok(false)
}

/// For reports: which phase the lanes wait for.
pub fn describe_wait(
    instruction: &Instruction,
    active: &Active<'_>,
    world: &mut World<'_>,
) -> String {
    match instruction {
        Instruction::Mbarrier(at, Mbarrier::Wait(..)) => {
            let addresses = active.addresses(at);
            let mut seen = Vec::new();
            for lane in lanes(active.mask) {
                if let Ok(place) = own_place(world.shared, at.window, addresses[lane])
                    && !seen.contains(&place)
                {
                    seen.push(place);
                }
            }
            let list = seen
                .into_iter()
                .map(|place| match world.shared.mbarrier(place) {
                    Ok(mbarrier) => format!(
                        "for the mbarrier at shared address {:#x}, in phase {} with {} pending \
                     arrivals and {} missing bytes",
                        place.address, mbarrier.phase, mbarrier.pending, mbarrier.bytes
                    ),
                    Err(message) => message,
                });
            list.collect::<Vec<_>>().join(" and ")
        }
        Instruction::ClusterWait { .. } => format!(
            "at the barrier of the cluster, where {} threads are missing",
            world.cluster.barrier.missing()
        ),
        Instruction::SetRegisters { count, .. } => format!(
            "for {count} registers, where {} of the block's are free",
            world.cluster.pools[world.shared.rank].free()
        ),
        _ => "running".to_owned(),
    }
}
