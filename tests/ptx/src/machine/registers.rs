//! The registers of a warp.
//!
//! A register is a row: its value in each of the 32 lanes. Rows are in banks by width, so that a
//! 32-bit register takes half the space of a 64-bit one. A predicate is one word, a bit for each lane.

use crate::parse::{RegisterId, Type};

pub const LANES: usize = 32;

/// A value for each lane.
pub type Row<T> = [T; LANES];

/// A set of lanes.
pub type Mask = u32;

/// The value of each lane. A loop, because the compiler makes no vectors of `array::from_fn`.
#[inline]
pub fn each<T: Copy + Default>(f: impl Fn(usize) -> T) -> Row<T> {
    let mut row = [T::default(); LANES];
    for (lane, value) in row.iter_mut().enumerate() {
        *value = f(lane);
    }
    row
}

/// The lanes of a set, in order.
pub fn lanes(mask: Mask) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| mask >> lane & 1 == 1)
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bank {
    Predicate,
    B16,
    B32,
    B64,
}

impl Bank {
    pub fn bits(self) -> usize {
        match self {
            Bank::Predicate => 1,
            Bank::B16 => 16,
            Bank::B32 => 32,
            Bank::B64 => 64,
        }
    }
}

/// Where a register is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slot {
    pub bank: Bank,
    pub index: usize,
}

/// The slots of a function's registers, and how many rows each bank has.
#[derive(Clone, Default, Debug)]
pub struct Assignment {
    slots: Vec<Option<Slot>>,
    predicates: usize,
    b16: usize,
    b32: usize,
    b64: usize,
}

impl Assignment {
    pub fn new(registers: &[(String, Type)]) -> Assignment {
        let mut assignment = Assignment::default();
        for (_, ty) in registers {
            let slot = assignment.assign(*ty);
            assignment.slots.push(slot);
        }
        assignment
    }

    /// None for 128-bit registers.
    fn assign(&mut self, ty: Type) -> Option<Slot> {
        let (bank, count) = match ty.bytes() {
            0 => (Bank::Predicate, &mut self.predicates),
            1 | 2 => (Bank::B16, &mut self.b16),
            4 => (Bank::B32, &mut self.b32),
            8 => (Bank::B64, &mut self.b64),
            _ => return None,
        };
        let index = *count;
        *count += 1;
        Some(Slot { bank, index })
    }

    /// Of all registers, and the carry flag behind them.
    pub fn count(&self) -> usize {
        self.predicates + self.b16 + self.b32 + self.b64 + 1
    }

    /// A number below [`Assignment::count`].
    pub fn number(&self, slot: Slot) -> usize {
        slot.index
            + match slot.bank {
                Bank::Predicate => 0,
                Bank::B16 => self.predicates,
                Bank::B32 => self.predicates + self.b16,
                Bank::B64 => self.predicates + self.b16 + self.b32,
            }
    }

    /// `CC.CF`, as if it were a register.
    pub fn carry(&self) -> Slot {
        Slot {
            bank: Bank::B64,
            index: self.b64,
        }
    }

    /// The index of the register that has the slot.
    pub fn register(&self, slot: Slot) -> Option<usize> {
        self.slots.iter().position(|known| *known == Some(slot))
    }

    pub fn slots(&self) -> impl Iterator<Item = Slot> {
        self.slots.iter().copied().flatten()
    }

    pub fn slot(&self, register: RegisterId) -> Option<Slot> {
        self.slots.get(register.0 as usize).copied().flatten()
    }
}

/// The registers of one activation of a function by a warp.
#[derive(Clone, Default, Debug)]
pub struct Registers {
    predicates: Vec<Mask>,
    b16: Vec<Row<u16>>,
    b32: Vec<Row<u32>>,
    b64: Vec<Row<u64>>,
    /// `CC.CF`, a bit for each lane.
    pub carry: Mask,
}

impl Registers {
    pub fn new(assignment: &Assignment) -> Registers {
        Registers {
            predicates: vec![0; assignment.predicates],
            b16: vec![[0; LANES]; assignment.b16],
            b32: vec![[0; LANES]; assignment.b32],
            b64: vec![[0; LANES]; assignment.b64],
            carry: 0,
        }
    }

    pub fn predicate(&self, index: usize) -> Mask {
        self.predicates[index]
    }

    pub fn set_predicate(&mut self, index: usize, mask: Mask, value: Mask) {
        let old = &mut self.predicates[index];
        *old = *old & !mask | value & mask;
    }
}

/// What a lane of a register may be read as.
pub trait Lane: Copy + Default + PartialEq + Send + Sync + std::fmt::Debug + 'static {
    const BANK: Bank;
    const IS_FLOAT: bool;

    fn of_bits(bits: u64) -> Self;
    fn row(registers: &Registers, index: usize) -> Row<Self>;
    fn put(registers: &mut Registers, index: usize, mask: Mask, row: &Row<Self>);
}

macro_rules! lane {
    ($($ty:ty, $bank:ident, $rows:ident, $bits:ty, $float:literal, $of:expr, $to:expr;)*) => {$(
        impl Lane for $ty {
            const BANK: Bank = Bank::$bank;
            const IS_FLOAT: bool = $float;

            #[inline]
            fn of_bits(bits: u64) -> $ty {
                $of(bits as $bits)
            }

            #[inline]
            fn row(registers: &Registers, index: usize) -> Row<$ty> {
                let row = &registers.$rows[index];
                each(|lane| $of(row[lane]))
            }

            #[inline]
            fn put(registers: &mut Registers, index: usize, mask: Mask, row: &Row<$ty>) {
                let old = &mut registers.$rows[index];
                if mask == Mask::MAX {
                    *old = each(|lane| $to(row[lane]));
                    return;
                }
                for lane in lanes(mask) {
                    old[lane] = $to(row[lane]);
                }
            }
        }
    )*};
}

lane! {
    u16, B16, b16, u16, false, |bits| bits, |value| value;
    i16, B16, b16, u16, false, u16::cast_signed, i16::cast_unsigned;
    u32, B32, b32, u32, false, |bits| bits, |value| value;
    i32, B32, b32, u32, false, u32::cast_signed, i32::cast_unsigned;
    f32, B32, b32, u32, true, f32::from_bits, f32::to_bits;
    u64, B64, b64, u64, false, |bits| bits, |value| value;
    i64, B64, b64, u64, false, u64::cast_signed, i64::cast_unsigned;
    f64, B64, b64, u64, true, f64::from_bits, f64::to_bits;
}

impl Lane for bool {
    const BANK: Bank = Bank::Predicate;
    const IS_FLOAT: bool = false;

    fn of_bits(bits: u64) -> bool {
        bits != 0
    }

    #[inline]
    fn row(registers: &Registers, index: usize) -> Row<bool> {
        let mask = registers.predicates[index];
        each(|lane| mask >> lane & 1 == 1)
    }

    #[inline]
    fn put(registers: &mut Registers, index: usize, mask: Mask, row: &Row<bool>) {
        let set = |bits, (lane, value): (usize, &bool)| bits | u32::from(*value) << lane;
        let value = row.iter().enumerate().fold(0, set);
        registers.set_predicate(index, mask, value);
    }
}
