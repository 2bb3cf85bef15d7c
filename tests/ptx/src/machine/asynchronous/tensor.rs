//! Which bytes of global and of shared memory a tensor copy moves: tiled mode, without interleaving
//! ("Tensors": tiled mode, bounding box, out-of-boundary access, swizzling modes; CUDA programming
//! guide, "Swizzle modes"; CUDA driver API, `cuTensorMapEncodeTiled`).
//!
//! The box lies in shared memory without gaps, in the order of its dimensions. With a swizzle, its
//! chunks of 16 bytes change places by bits of their own address: bits 4 to 6 are combined with bits
//! 7 to 9 (128 bytes), 4 to 5 with 7 to 8 (64 bytes), or 4 with 7 (32 bytes).

use super::tensor_map::{DIMENSIONS, DataType, Fill, Interleave, Swizzle, TensorMap};

/// Of a box in shared memory.
pub const SHARED_ALIGNMENT: u64 = 128;

const CHUNK: u64 = 16;

/// A part of a row of the box.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Piece {
    /// From the start of the box.
    pub offset: u64,
    pub bytes: u64,
    /// None outside of the tensor.
    pub global: Option<u64>,
}

/// What `cuTensorMapEncodeTiled` demands of a map, where a copy depends on it, and what this machine
/// does not implement.
///
/// # Errors
///
/// The map breaks one of these rules.
pub fn check(map: &TensorMap, dimensions: usize) -> Result<(), String> {
    let element = map.data_type.bytes();
    let rank = map.rank as usize;
    if rank != dimensions {
        return Err(format!(
            "a tensor map of rank {rank} in a copy of {dimensions} dimensions"
        ));
    }
    if map.interleave != Interleave::None {
        return Err("tensor maps with interleaving are not implemented".to_owned());
    }
    if let DataType::F32Ftz | DataType::Tf32 | DataType::Tf32Ftz = map.data_type {
        return Err(format!(
            "tensor maps of {:?} are not implemented",
            map.data_type
        ));
    }
    if map.fill == Fill::Nan && !map.data_type.is_float() {
        return Err(format!(
            "a tensor map that fills {:?} with NaN",
            map.data_type
        ));
    }
    if !map.address.is_multiple_of(16) {
        return Err(format!(
            "the tensor's address {:#x} is not a multiple of 16",
            map.address
        ));
    }
    for dimension in 0..rank {
        let extent = map.extents[dimension];
        if !(1..=1 << 32).contains(&extent) {
            return Err(format!(
                "a tensor map with extent {extent} in dimension {dimension}"
            ));
        }
        let extent = map.box_extents[dimension];
        if !(1..=256).contains(&extent) {
            return Err(format!(
                "a tensor map with box extent {extent} in dimension {dimension}"
            ));
        }
        let stride = map.element_strides[dimension];
        if !(1..=8).contains(&stride) {
            return Err(format!("a tensor map with element stride {stride}"));
        }
    }
    for stride in &map.strides[..rank - 1] {
        if !stride.is_multiple_of(16) || *stride >= 1 << 40 {
            return Err(format!("a tensor map with a stride of {stride} bytes"));
        }
    }
    let row = u64::from(map.box_extents[0]) * element;
    if !row.is_multiple_of(CHUNK) {
        return Err(format!(
            "a box with rows of {row} bytes, not a multiple of 16"
        ));
    }
    match map.swizzle.span() {
        Some(span) if row > span => Err(format!(
            "a box with rows of {row} bytes, where the swizzle exchanges chunks of {span} bytes"
        )),
        Some(span) if row < span && rows(map) > 1 => Err(format!(
            "boxes with rows of {row} bytes and a swizzle of {span} bytes are not implemented"
        )),
        _ => Ok(()),
    }
}

/// Elements of the box in each dimension: strides take only some of them, except in the first.
fn counts(map: &TensorMap) -> [u64; DIMENSIONS] {
    let rank = map.rank as usize;
    std::array::from_fn(|dimension| match dimension {
        0 => map.box_extents[0].into(),
        _ if dimension < rank => map.box_extents[dimension]
            .div_ceil(map.element_strides[dimension])
            .into(),
        _ => 1,
    })
}

fn rows(map: &TensorMap) -> u64 {
    counts(map)[1..].iter().product()
}

/// Of the whole box, with what is outside of the tensor.
pub fn bytes(map: &TensorMap) -> u64 {
    counts(map).iter().product::<u64>() * map.data_type.bytes()
}

/// The box that starts at these coordinates, in the order of its bytes in shared memory.
pub fn pieces(map: &TensorMap, start: &[i32; DIMENSIONS]) -> Vec<Piece> {
    let element = map.data_type.bytes();
    let counts = counts(map);
    let row_bytes = counts[0] * element;
    let first = i64::from(start[0]);
    let (low, high) = (
        first.clamp(0, map.extents[0] as i64),
        (first + counts[0] as i64).clamp(0, map.extents[0] as i64),
    );
    let mut list = Vec::new();
    for row in 0..rows(map) {
        let offset = row * row_bytes;
        let Some(address) = row_address(map, start, &counts, row).filter(|_| low < high) else {
            list.push(Piece {
                offset,
                bytes: row_bytes,
                global: None,
            });
            continue;
        };
        let before = (low - first) as u64 * element;
        let inside = (high - low) as u64 * element;
        let parts = [
            (0, before, None),
            (
                before,
                inside,
                Some(address.wrapping_add(low as u64 * element)),
            ),
            (before + inside, row_bytes - before - inside, None),
        ];
        for (from, bytes, global) in parts {
            if bytes > 0 {
                list.push(Piece {
                    offset: offset + from,
                    bytes,
                    global,
                });
            }
        }
    }
    list
}

/// The address of the tensor's row with that index in the box; none outside of the tensor.
fn row_address(
    map: &TensorMap,
    start: &[i32; DIMENSIONS],
    counts: &[u64; DIMENSIONS],
    row: u64,
) -> Option<u64> {
    let (mut left, mut address) = (row, map.address);
    for dimension in 1..map.rank as usize {
        let step = (left % counts[dimension]) as i64;
        left /= counts[dimension];
        let stride = i64::from(map.element_strides[dimension]);
        let coordinate = i64::from(start[dimension]) + step * stride;
        let inside = u64::try_from(coordinate).ok()?;
        if inside >= map.extents[dimension] {
            return None;
        }
        address = address.wrapping_add(inside * map.strides[dimension - 1]);
    }
    Some(address)
}

/// Where a byte of the box is.
pub fn swizzled(swizzle: Swizzle, address: u64) -> u64 {
    let mask = match swizzle {
        Swizzle::None => 0,
        Swizzle::Bytes32 => 1,
        Swizzle::Bytes64 => 3,
        Swizzle::Bytes128 => 7,
    };
    address ^ (address >> 7 & mask) << 4
}

/// The parts of a range of the box that stay together: place in the box, address, bytes.
pub fn chunks(swizzle: Swizzle, base: u64, bytes: u64) -> impl Iterator<Item = (u64, u64, u64)> {
    let whole = swizzle == Swizzle::None;
    let size = if whole { bytes.max(1) } else { CHUNK };
    (0..bytes.div_ceil(size)).map(move |index| {
        let offset = index * size;
        let length = size.min(bytes - offset);
        (offset, swizzled(swizzle, base + offset), length)
    })
}

/// One element of what fills the box outside of the tensor. CUDA does not document which NaN it is:
/// this one has all bits set but the sign.
pub fn filling(map: &TensorMap) -> Vec<u8> {
    let mut element = vec![0; map.data_type.bytes() as usize];
    if map.fill == Fill::Nan {
        element.fill(0xff);
        if let Some(last) = element.last_mut() {
            *last = 0x7f;
        }
    }
    element
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map() -> TensorMap {
        TensorMap {
            data_type: DataType::F16,
            rank: 2,
            address: 0x1000,
            extents: [20, 5, 0, 0, 0],
            strides: [64, 0, 0, 0],
            box_extents: [16, 3, 0, 0, 0],
            element_strides: [1; 5],
            ..TensorMap::default()
        }
    }

    fn piece(offset: u64, bytes: u64, global: Option<u64>) -> Piece {
        Piece {
            offset,
            bytes,
            global,
        }
    }

    #[test]
    fn boxes_at_the_edges() {
        check(&map(), 2).unwrap();
        assert_eq!(bytes(&map()), 96);
        let inside = pieces(&map(), &[2, 1, 0, 0, 0]);
        assert_eq!(inside[0], piece(0, 32, Some(0x1000 + 64 + 4)));
        assert_eq!(
            (inside[2], inside.len()),
            (piece(64, 32, Some(0x1000 + 192 + 4)), 3)
        );
        // Columns −3 to 12 and rows −1 to 1.
        let corner = pieces(&map(), &[-3, -1, 0, 0, 0]);
        assert_eq!(corner[0], piece(0, 32, None));
        assert_eq!(
            corner[1..3],
            [piece(32, 6, None), piece(38, 26, Some(0x1000))]
        );
        // Columns 12 to 27, of which 8 are inside, and rows 4 to 6.
        let end = pieces(&map(), &[12, 4, 0, 0, 0]);
        assert_eq!(
            end[..2],
            [piece(0, 16, Some(0x1000 + 256 + 24)), piece(16, 16, None)]
        );
        assert_eq!(end[2..], [piece(32, 32, None), piece(64, 32, None)]);
        assert!(
            pieces(&map(), &[20, 0, 0, 0, 0])
                .iter()
                .all(|piece| piece.global.is_none())
        );
    }

    #[test]
    fn strides_take_some_elements() {
        let map = TensorMap {
            rank: 3,
            extents: [20, 5, 4, 0, 0],
            strides: [64, 512, 0, 0],
            box_extents: [16, 3, 4, 0, 0],
            element_strides: [1, 2, 3, 1, 1],
            ..map()
        };
        check(&map, 3).unwrap();
        assert_eq!(bytes(&map), 32 * 2 * 2);
        let found: Vec<_> = pieces(&map, &[0; 5])
            .iter()
            .map(|piece| piece.global)
            .collect();
        let offsets = [0, 128, 3 * 512, 3 * 512 + 128];
        assert_eq!(found, offsets.map(|offset| Some(0x1000 + offset)));
    }

    /// The table of the CUDA programming guide: in the row with index 1 of 8, chunk 0 is where
    /// chunk 1 would be, and so on.
    #[test]
    fn swizzles_exchange_chunks() {
        for row in 0..8 {
            for chunk in 0..8 {
                let address = 1024 + row * 128 + chunk * 16 + 5;
                let expected = 1024 + row * 128 + (chunk ^ row) * 16 + 5;
                assert_eq!(swizzled(Swizzle::Bytes128, address), expected);
            }
        }
        // 64 bytes: two rows in 128 bytes; 32 bytes: four.
        assert_eq!(swizzled(Swizzle::Bytes64, 64 * 2), 64 * 2 + 16);
        assert_eq!(swizzled(Swizzle::Bytes64, 64 * 7 + 48), 64 * 7);
        assert_eq!(swizzled(Swizzle::Bytes32, 32 * 3 + 16), 32 * 3 + 16);
        assert_eq!(swizzled(Swizzle::Bytes32, 32 * 5 + 16), 32 * 5);
        let found: Vec<_> = chunks(Swizzle::Bytes128, 1024 + 128, 32).collect();
        assert_eq!(found, [(0, 1024 + 128 + 16, 16), (16, 1024 + 128, 16)]);
        assert_eq!(chunks(Swizzle::None, 1024, 4096).count(), 1);
    }

    #[test]
    fn wrong_maps_are_reported() {
        let wrong: [(&str, fn(&mut TensorMap)); 11] = [
            ("rank 3 in a copy of 2", |map| map.rank = 3),
            ("interleaving", |map| map.interleave = Interleave::Bytes16),
            ("Tf32", |map| map.data_type = DataType::Tf32),
            ("with NaN", |map| {
                (map.data_type, map.fill) = (DataType::U16, Fill::Nan)
            }),
            ("0x1008 is not a multiple", |map| map.address = 0x1008),
            ("extent 0", |map| map.extents[1] = 0),
            ("box extent 257", |map| map.box_extents[1] = 257),
            ("stride of 40", |map| map.strides[0] = 40),
            ("rows of 24 bytes", |map| map.box_extents[0] = 12),
            ("rows of 128 bytes, where", |map| {
                (map.box_extents[0], map.swizzle) = (64, Swizzle::Bytes64);
            }),
            ("rows of 32 bytes and a swizzle", |map| {
                map.swizzle = Swizzle::Bytes64
            }),
        ];
        for (message, change) in wrong {
            let mut map = map();
            change(&mut map);
            let found = check(&map, 2).unwrap_err();
            assert!(found.contains(message), "{found}");
        }
    }
}
