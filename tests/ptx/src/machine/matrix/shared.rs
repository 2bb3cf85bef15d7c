//! Accesses of matrix instructions to shared memory: one function that reads and one that writes.

use super::super::memory::AccessError;
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
    _by: Agent,
    address: u64,
) -> Result<&'w [u8], AccessError> {
    world.shared.get(address, ROW, ROW)
}

pub fn write_row(
    world: &mut World<'_>,
    _by: Agent,
    address: u64,
    row: &[u8; ROW as usize],
) -> Result<(), AccessError> {
    let place = world.shared.get_mut(address, ROW, ROW)?;
    place.copy_from_slice(row);
    Ok(())
}
