//! Tensor maps: the 128-byte objects with which tensor copies find their elements.
//!
//! The ISA and CUDA leave the bytes of a tensor map open. They are ours: this module is the only one
//! that knows them. A map begins with a marker and ends with a check sum, so that a copy that is
//! given other bytes is reported.

use std::fmt;

/// Bytes of a tensor map. Its address is a multiple of 64 for the host and of 128 for the device.
pub const BYTES: usize = 128;

/// Most dimensions of a tensor.
pub const DIMENSIONS: usize = 5;

const MARKER: [u8; 8] = *b"TMAPtile";

/// Named values with the numbers that `cuda.h` has for them.
macro_rules! numbered {
    ($(#[$doc:meta])* $name:ident { $($variant:ident $number:literal)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
        pub enum $name {
            #[default]
            $($variant = $number,)*
        }

        impl $name {
            /// The value with that number.
            pub fn of_number(number: u64) -> Option<$name> {
                [$($name::$variant),*].into_iter().find(|known| known.number() == number)
            }

            pub fn number(self) -> u64 {
                self as u64
            }
        }
    };
}

numbered! {
    /// `CUtensorMapDataType`.
    DataType {
        U8 0 U16 1 U32 2 S32 3 U64 4 S64 5 F16 6 F32 7 F64 8 Bf16 9 F32Ftz 10 Tf32 11 Tf32Ftz 12
    }
}

numbered! {
    /// `CUtensorMapInterleave`.
    Interleave { None 0 Bytes16 1 Bytes32 2 }
}

numbered! {
    /// `CUtensorMapSwizzle`.
    Swizzle { None 0 Bytes32 1 Bytes64 2 Bytes128 3 }
}

numbered! {
    /// `CUtensorMapL2promotion`.
    Promotion { None 0 Bytes64 1 Bytes128 2 Bytes256 3 }
}

numbered! {
    /// `CUtensorMapFloatOOBfill`.
    Fill { Zeros 0 Nan 1 }
}

impl DataType {
    /// The value with that number in `tensormap.replace`, which has numbers of its own (PTX ISA,
    /// "tensormap.replace", table of `new_val`).
    pub fn of_element_type(number: u64) -> Option<DataType> {
        match number {
            8 => Some(DataType::F32Ftz),
            9 => Some(DataType::F64),
            10 => Some(DataType::Bf16),
            number => DataType::of_number(number),
        }
    }

    pub fn bytes(self) -> u64 {
        match self {
            DataType::U8 => 1,
            DataType::U16 | DataType::F16 | DataType::Bf16 => 2,
            DataType::U64 | DataType::S64 | DataType::F64 => 8,
            DataType::U32 | DataType::S32 | DataType::F32 | DataType::F32Ftz => 4,
            DataType::Tf32 | DataType::Tf32Ftz => 4,
        }
    }

    pub fn is_float(self) -> bool {
        use DataType::{S32, S64, U8, U16, U32, U64};
        !matches!(self, U8 | U16 | U32 | S32 | U64 | S64)
    }
}

impl Swizzle {
    /// The width of a row of chunks that are exchanged, in bytes.
    pub fn span(self) -> Option<u64> {
        match self {
            Swizzle::None => None,
            Swizzle::Bytes32 => Some(32),
            Swizzle::Bytes64 => Some(64),
            Swizzle::Bytes128 => Some(128),
        }
    }
}

/// A tensor in global memory, and the box of it that one copy moves (tiled mode). Dimensions are in
/// the order of the coordinates: elements along the first are adjacent.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct TensorMap {
    pub data_type: DataType,
    /// From 1 to 5.
    pub rank: u32,
    pub address: u64,
    /// In elements.
    pub extents: [u64; DIMENSIONS],
    /// In bytes, of all dimensions but the first.
    pub strides: [u64; DIMENSIONS - 1],
    /// In elements.
    pub box_extents: [u32; DIMENSIONS],
    pub element_strides: [u32; DIMENSIONS],
    pub interleave: Interleave,
    pub swizzle: Swizzle,
    pub promotion: Promotion,
    pub fill: Fill,
}

/// Bytes that are no tensor map.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoTensorMap(&'static str);

impl fmt::Display for NoTensorMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the 128 bytes are no tensor map: {}", self.0)
    }
}

impl std::error::Error for NoTensorMap {}

/// Where the fields are. One byte each: data type, interleave, swizzle, promotion, fill, rank.
const SMALL: usize = 8;
const ADDRESS: usize = 16;
const EXTENTS: usize = 24;
const STRIDES: usize = 56;
const BOX: usize = 88;
const ELEMENT_STRIDES: usize = 98;
const SUM: usize = 120;

impl TensorMap {
    /// Extents up to 2³² are kept less one, in 32 bits each; box extents and element strides in 16.
    /// A value that does not fit is cut off: whoever makes a map checks the limits of CUDA, which
    /// are lower.
    pub fn encode(&self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        bytes[..8].copy_from_slice(&MARKER);
        let small = [
            self.data_type.number(),
            self.interleave.number(),
            self.swizzle.number(),
            self.promotion.number(),
            self.fill.number(),
            self.rank.into(),
        ];
        for (byte, value) in bytes[SMALL..].iter_mut().zip(small) {
            *byte = value as u8;
        }
        put(&mut bytes, ADDRESS, 8, &[self.address]);
        put(
            &mut bytes,
            EXTENTS,
            4,
            &self.extents.map(|extent| extent.wrapping_sub(1)),
        );
        put(&mut bytes, STRIDES, 8, &self.strides);
        put(&mut bytes, BOX, 2, &self.box_extents.map(u64::from));
        put(
            &mut bytes,
            ELEMENT_STRIDES,
            2,
            &self.element_strides.map(u64::from),
        );
        let sum = check_sum(&bytes[..SUM]);
        put(&mut bytes, SUM, 8, &[sum]);
        bytes
    }

    /// # Errors
    ///
    /// The bytes are not those that [`TensorMap::encode`] gives for some map.
    pub fn decode(bytes: &[u8]) -> Result<TensorMap, NoTensorMap> {
        if bytes.len() != BYTES {
            return Err(NoTensorMap("their number is another"));
        }
        if bytes[..8] != MARKER {
            return Err(NoTensorMap("they do not begin with the marker of one"));
        }
        if get(bytes, SUM, 8, 0) != check_sum(&bytes[..SUM]) {
            return Err(NoTensorMap(
                "they were changed by something other than tensormap.replace",
            ));
        }
        let small = |index: usize| u64::from(bytes[SMALL + index]);
        let unknown = NoTensorMap("a field has no known value");
        let (Some(data_type), Some(interleave), Some(swizzle), Some(promotion), Some(fill)) = (
            DataType::of_number(small(0)),
            Interleave::of_number(small(1)),
            Swizzle::of_number(small(2)),
            Promotion::of_number(small(3)),
            Fill::of_number(small(4)),
        ) else {
            return Err(unknown);
        };
        Ok(TensorMap {
            data_type,
            interleave,
            swizzle,
            promotion,
            fill,
            rank: small(5) as u32,
            address: get(bytes, ADDRESS, 8, 0),
            extents: std::array::from_fn(|index| {
                let less_one = get(bytes, EXTENTS, 4, index) as u32;
                u64::from(less_one.wrapping_add(1)) | u64::from(less_one == u32::MAX) << 32
            }),
            strides: std::array::from_fn(|index| get(bytes, STRIDES, 8, index)),
            box_extents: std::array::from_fn(|index| get(bytes, BOX, 2, index) as u32),
            element_strides: std::array::from_fn(|index| {
                get(bytes, ELEMENT_STRIDES, 2, index) as u32
            }),
        })
    }
}

fn put(bytes: &mut [u8], start: usize, width: usize, values: &[u64]) {
    for (place, value) in bytes[start..].chunks_exact_mut(width).zip(values) {
        place.copy_from_slice(&value.to_le_bytes()[..width]);
    }
}

fn get(bytes: &[u8], start: usize, width: usize, index: usize) -> u64 {
    let start = start + index * width;
    let bytes = &bytes[start..start + width];
    bytes
        .iter()
        .rev()
        .fold(0, |bits, byte| bits << 8 | u64::from(*byte))
}

/// FNV-1a.
fn check_sum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::{BYTES, DataType, Fill, Interleave, Promotion, Swizzle, TensorMap};

    fn map() -> TensorMap {
        TensorMap {
            data_type: DataType::Bf16,
            rank: 5,
            address: 0x7f12_3456_7890,
            extents: [1, 2, 1 << 32, 77, u64::from(u32::MAX)],
            strides: [16, 1 << 39, 48, 4096],
            box_extents: [256, 1, 64, 3, 255],
            element_strides: [1, 2, 3, 8, 1],
            interleave: Interleave::Bytes32,
            swizzle: Swizzle::Bytes128,
            promotion: Promotion::Bytes256,
            fill: Fill::Nan,
        }
    }

    #[test]
    fn maps_come_back() {
        assert_eq!(TensorMap::decode(&map().encode()), Ok(map()));
        let small = TensorMap {
            extents: [0; 5],
            ..TensorMap::default()
        };
        let back = TensorMap::decode(&small.encode()).unwrap();
        assert_eq!(
            back.extents,
            [1 << 32; 5],
            "an extent of 0 is none of CUDA's"
        );
    }

    /// Every byte matters.
    #[test]
    fn other_bytes_are_no_map() {
        let bytes = map().encode();
        for index in 0..BYTES {
            let mut changed = bytes;
            changed[index] ^= 4;
            assert!(TensorMap::decode(&changed).is_err(), "{index}");
        }
        assert!(TensorMap::decode(&[0; BYTES]).is_err());
        assert!(TensorMap::decode(&bytes[..64]).is_err());
    }

    #[test]
    fn numbers_are_those_of_cuda() {
        assert_eq!(DataType::of_number(12), Some(DataType::Tf32Ftz));
        assert_eq!(
            (DataType::of_number(13), Swizzle::of_number(3)),
            (None, Some(Swizzle::Bytes128))
        );
        let of_element = [7, 8, 9, 10, 11].map(|number| DataType::of_element_type(number).unwrap());
        assert_eq!(of_element.map(DataType::number), [7, 10, 8, 9, 11]);
        assert!(DataType::F16.is_float() && !DataType::S64.is_float());
        assert_eq!(
            DataType::Tf32.bytes() + DataType::U8.bytes() + DataType::F64.bytes(),
            13
        );
    }
}
