//! `tensormap.replace` and `tensormap.cp_fenceproxy`, which make tensor maps on the device.

use super::decode::Address;
use super::execute::{Active, LaneError};
use super::fields::{Field, Value};
use super::tensor_map::{self, TensorMap};
use crate::machine::memory::Window;
use crate::machine::registers::{LANES, lanes};
use crate::machine::world::World;

const MAP_BYTES: u64 = tensor_map::BYTES as u64;
const MAP_ALIGNMENT: u64 = 64;

/// ISA, `tensormap.replace`. An object of zeros counts as a map without any field, because Triton
/// makes its maps of such ones.
pub fn replace(
    active: &Active<'_>,
    world: &mut World<'_>,
    at: &Address,
    (field, value): (Field, Value),
) -> Result<(), LaneError> {
    let addresses = active.addresses(at);
    let values = match value {
        Value::Narrow(source) => source.row(active.registers).map(u64::from),
        Value::Wide(source) => source.row(active.registers),
        Value::None => [0; LANES],
    };
    for lane in lanes(active.mask) {
        let (window, address) = match at.window {
            Window::Generic => Window::of_generic(addresses[lane]),
            window => (window, addresses[lane]),
        };
        let found = match window {
            Window::Global => world.global.get_mut(address, MAP_BYTES, MAP_ALIGNMENT),
            Window::Shared => world.shared.get_mut(address, MAP_BYTES, MAP_ALIGNMENT),
            other => Err(format!("a tensor map in {} memory", other.name())),
        };
        let bytes = found.map_err(|message| (lane, message))?;
        let mut map = match bytes.iter().all(|byte| *byte == 0) {
            true => TensorMap::default(),
            false => TensorMap::decode(bytes).map_err(|error| (lane, error.to_string()))?,
        };
        set_field(&mut map, field, values[lane]);
        bytes.copy_from_slice(&map.encode());
    }
    Ok(())
}

fn set_field(map: &mut TensorMap, field: Field, value: u64) {
    let number = u32::try_from(value).unwrap_or(u32::MAX);
    match field {
        Field::Address => map.address = value,
        Field::Rank => map.rank = number.saturating_add(1).min(u8::MAX.into()),
        Field::Box(dimension) => map.box_extents[dimension] = number.min(u16::MAX.into()),
        Field::Extent(dimension) => map.extents[dimension] = value,
        Field::Stride(dimension) => map.strides[dimension] = value,
        Field::ElementStride(dimension) => {
            map.element_strides[dimension] = number.min(u16::MAX.into());
        }
        Field::Type(ty) => map.data_type = ty,
        Field::Interleave(interleave) => map.interleave = interleave,
        Field::Swizzle(swizzle) => map.swizzle = swizzle,
        Field::Fill(fill) => map.fill = fill,
    }
}

/// The warp copies one map.
pub fn copy_map(
    active: &Active<'_>,
    world: &mut World<'_>,
    to: &Address,
    from: &Address,
) -> Result<(), LaneError> {
    active.check_aligned()?;
    let (to, from) = (active.addresses(to), active.addresses(from));
    let first = active.mask.trailing_zeros() as usize;
    if let Some(lane) =
        lanes(active.mask).find(|lane| (to[*lane], from[*lane]) != (to[first], from[first]))
    {
        return Err((
            lane,
            "the lanes of the warp copy different tensor maps".to_owned(),
        ));
    }
    let lane = |message: String| (first, message);
    let source = world
        .shared
        .get(from[first], MAP_BYTES, 128)
        .map_err(lane)?;
    let target = world.global.get_mut(to[first], MAP_BYTES, 128);
    target.map_err(lane)?.copy_from_slice(source);
    Ok(())
}
