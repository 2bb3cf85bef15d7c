//! Execution of the instructions of mbarrier objects.

use super::decode::{Address, Mbarrier, WaitFor};
use super::execute::{Active, LaneError, Outcome, memory, shared_place};
use super::mbarrier::Token;
use super::transfer::{Memory, Thread};
use crate::machine::decode::Source;
use crate::machine::memory::Window;
use crate::machine::observe;
use crate::machine::order::{self, Effect, Kind, Semantics};
use crate::machine::registers::{LANES, Lane, lanes};
use crate::machine::shared::{Shared, SharedPlace};
use crate::machine::world::World;

/// As [`shared_place`], in the memory of the block itself.
pub fn own_place(shared: &Shared, window: Window, address: u64) -> Result<SharedPlace, String> {
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

pub fn execute_mbarrier(
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
pub fn execute_wait(
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
