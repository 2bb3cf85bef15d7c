//! Accesses of matrix instructions to shared memory: one function that reads and one that writes.

use super::super::memory::AccessError;
use super::super::observe;
use super::super::order::{Effect, Kind};
use super::super::shared::SharedPlace;
use super::super::world::World;

/// Who accesses memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Agent {
    pub warp: u32,
    /// The lane that gave the address; none for matrix descriptors, which are the warp's.
    pub lane: Option<usize>,
    pub proxy: Proxy,
}

/// "Proxies" of the memory consistency model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Proxy {
    Generic,
    Async,
}

/// A row of a matrix is 16 bytes, and aligned to them.
pub const ROW: u64 = 16;

pub fn read_row<'w>(
    world: &'w World<'_>,
    by: Agent,
    address: u64,
) -> Result<&'w [u8], AccessError> {
    touch(world, by, address, Effect::Read);
    world.shared.get(address, ROW, ROW)
}

/// For the detection of races; what is touched is settled when the instruction is executed.
fn touch(world: &World<'_>, by: Agent, address: u64, effect: Effect) {
    let Some(order) = &world.order else { return };
    let kind = Kind {
        is_async: by.proxy == Proxy::Async,
        ..Kind::weak(effect)
    };
    let rank = world.shared.rank;
    let place = Some(SharedPlace { rank, address });
    let by = (kind, by.lane.unwrap_or(0));
    let touch = observe::touch(world.global, world.shared, (place, address), ROW, by);
    touch.into_iter().for_each(|touch| order.touch(touch));
}

pub fn write_row(
    world: &mut World<'_>,
    by: Agent,
    address: u64,
    row: &[u8; ROW as usize],
) -> Result<(), AccessError> {
    let effect = match world.shared.get(address, ROW, ROW)? == row {
        true => Effect::Same,
        false => Effect::Write,
    };
    touch(world, by, address, effect);
    let place = world.shared.get_mut(address, ROW, ROW)?;
    place.copy_from_slice(row);
    Ok(())
}
