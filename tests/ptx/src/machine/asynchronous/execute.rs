//! Instructions of mbarriers, clusters, register pools and tensor maps, executed by the lanes of a
//! warp one after the other.

use super::decode::{Address, Instruction, Mbarrier};
use super::engine::Groups;
use super::mbarrier::Token;
use super::objects::{execute_mbarrier, execute_wait, own_place};
use super::transfer::{Memory, Thread};
use super::{issue, maps};
use crate::machine::memory::Window;
use crate::machine::order::WarpClock;
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
