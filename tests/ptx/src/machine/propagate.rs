//! How marks of unwritten bytes go from the sources of an instruction to its destinations.
//!
//! Where only some bytes of a value are marked, moves, packing, selections, shifts by whole bytes and
//! the like keep them apart. Everything else depends on all of its sources.

use super::decode::Form;
use super::marks::{Bytes, Marks, Origin, all_bytes};
use super::operands::Operands;
use super::registers::{Assignment, Bank, LANES, Mask, Registers, Row, Slot, each};
use crate::parse::{Instruction, Operand, Type};

/// Which bytes of the destination depend on which of the sources.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Transfer {
    /// All on all.
    Any,
    /// None: the result is the same for all values.
    Constant,
    /// The bytes of the sources in their order are those of the destinations; what is left is
    /// constant.
    Bytes(Vec<Part>, Vec<Part>),
    /// As `Bytes`, moved up by a number of bytes, or down.
    Moved(Slot, Slot, i32),
    /// `and` with a constant: these bytes.
    Masked(Slot, Slot, Bytes),
    Select(Slot, [Part; 2], Slot),
    /// `prmt` with a constant selector.
    Permuted(Slot, [Part; 2], u64),
    /// Two values of 16 bits, each on its own.
    Halves,
}

/// Whether an instruction reads and writes `CC.CF`.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Carries {
    read: bool,
    written: bool,
}

impl Carries {
    pub fn of(instruction: &Instruction) -> Carries {
        let opcode = instruction.mnemonic.opcode.as_str();
        Carries {
            read: matches!(opcode, "addc" | "subc" | "madc"),
            written: instruction.mnemonic.has("cc"),
        }
    }
}

/// A register, or constant bytes, and how many bytes there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    slot: Option<Slot>,
    bytes: u32,
}

fn bytes_of(bank: Bank) -> u32 {
    bank.bits() as u32 / 8
}

impl Transfer {
    pub fn of(instruction: &Instruction, assignment: &Assignment, operands: &Operands) -> Transfer {
        let form = Form {
            instruction,
            assignment,
            symbols: &|_| None,
        };
        Transfer::exact(&form, operands).unwrap_or(Transfer::Any)
    }

    fn exact(form: &Form<'_>, operands: &Operands) -> Option<Transfer> {
        let instruction = form.instruction;
        let has = |word: &str| instruction.mnemonic.has(word);
        let slot = |at: usize| form.slot_of(instruction.operands.get(at)?).ok();
        let constant = |at: usize| match instruction.operands.get(at)? {
            Operand::Integer(value) => Some(*value),
            _ => None,
        };
        match form.opcode() {
            "mov" => Some(Transfer::Bytes(parts(form, 0)?, parts(form, 1)?)),
            "cvt" => extension(instruction, slot(0)?, slot(1)?),
            "selp" => {
                let part = |at| parts(form, at).and_then(|list| list.first().copied());
                Some(Transfer::Select(slot(0)?, [part(1)?, part(2)?], slot(3)?))
            }
            "prmt"
                if instruction.operands.len() == 4 && !has("f4e") && !has("b4e") && has("b32") =>
            {
                let part = |at| parts(form, at).and_then(|list| list.first().copied());
                Some(Transfer::Permuted(
                    slot(0)?,
                    [part(1)?, part(2)?],
                    constant(3)?,
                ))
            }
            "xor" | "sub" if slot(1)? == slot(2)? && !has("cc") => Some(Transfer::Constant),
            "and" => {
                let kept = constant(2)?.to_le_bytes();
                let bit = |at: usize| u8::from(kept[at] != 0) << at;
                Some(Transfer::Masked(slot(0)?, slot(1)?, (0..8).map(bit).sum()))
            }
            "shl" | "shr" if !has("s16") && !has("s32") && !has("s64") => {
                let bits = constant(2).filter(|bits| bits % 8 == 0 && *bits <= 64)?;
                let bytes = bits as i32 / 8;
                let moved = if form.opcode() == "shl" {
                    bytes
                } else {
                    -bytes
                };
                Some(Transfer::Moved(slot(0)?, slot(1)?, moved))
            }
            "add" | "sub" | "mul" | "fma" | "min" | "max" | "neg" | "abs"
                if has("f16x2") || has("bf16x2") =>
            {
                let mut all = operands.written.iter().chain(&operands.read);
                all.all(|slot| slot.bank == Bank::B32 || slot.bank == Bank::Predicate)
                    .then_some(Transfer::Halves)
            }
            _ => None,
        }
    }
}

/// The elements of a vector, or a register or constant.
fn parts(form: &Form<'_>, at: usize) -> Option<Vec<Part>> {
    let list = match form.instruction.operands.get(at)? {
        Operand::Vector(list) => list.as_slice(),
        single => std::slice::from_ref(single),
    };
    let all = form.instruction.mnemonic.types().last()?.bytes();
    let part = |operand: &Operand| match operand {
        Operand::Register(_) => {
            let slot = form.slot_of(operand).ok()?;
            let bytes = bytes_of(slot.bank);
            (slot.bank != Bank::Predicate).then_some(Part {
                slot: Some(slot),
                bytes,
            })
        }
        _ => Some(Part {
            slot: None,
            bytes: (all / list.len()) as u32,
        }),
    };
    list.iter().map(part).collect()
}

/// Between unsigned integers, the low bytes stay.
fn extension(instruction: &Instruction, d: Slot, a: Slot) -> Option<Transfer> {
    let types: Vec<Type> = instruction.mnemonic.types().collect();
    let unsigned = |ty: &Type| matches!(ty, Type::U8 | Type::U16 | Type::U32 | Type::U64);
    let [to, from] = types.as_slice() else {
        return None;
    };
    if !unsigned(to) || !unsigned(from) || instruction.mnemonic.has("sat") {
        return None;
    }
    let bytes = from.bytes().min(to.bytes()) as u32;
    let part = |slot: Slot| {
        vec![Part {
            slot: Some(slot),
            bytes,
        }]
    };
    Some(Transfer::Bytes(part(d), part(a)))
}

/// The registers of a warp's function, and their marks.
pub struct Scene<'a> {
    pub assignment: &'a Assignment,
    pub marks: &'a mut Marks,
    pub registers: &'a Registers,
    pub operands: &'a Operands,
    /// A predicate of which the instruction's execution depends.
    pub guard: Option<Slot>,
    /// Lanes at the instruction, and those that execute it.
    pub mask: Mask,
    pub active: Mask,
}

impl Scene<'_> {
    fn get(&self, slot: Option<Slot>) -> Row<Bytes> {
        slot.map_or([0; LANES], |slot| self.marks.get(self.assignment, slot))
    }

    fn part(&self, part: Part) -> Row<Bytes> {
        let row = self.get(part.slot);
        let kept = ((1_u32 << part.bytes) - 1) as Bytes;
        each(|lane| row[lane] & kept)
    }

    /// The lanes in which a source is marked, and where the marks come from.
    pub fn sources(&self) -> (Mask, Origin) {
        let (mut all, mut origin) = (0, Origin::default());
        for slot in &self.operands.read {
            let marked = self.marks.lanes(self.assignment, *slot);
            if marked != 0 {
                origin = self.marks.origin(self.assignment, *slot);
            }
            all |= marked;
        }
        (all, origin)
    }

    /// Where the marks of the lanes come from, if one of the registers is marked in one of them.
    pub fn marked(&self, slots: &[Slot], mask: Mask) -> Option<(usize, Origin)> {
        slots.iter().find_map(|slot| {
            let marked = self.marks.lanes(self.assignment, *slot) & mask;
            let origin = self.marks.origin(self.assignment, *slot);
            (marked != 0).then(|| (marked.trailing_zeros() as usize, origin))
        })
    }

    /// Of a destination. Where a marked guard decides, it is marked with or without the instruction.
    pub fn put(&mut self, slot: Slot, row: &Row<Bytes>, origin: Origin) {
        self.marks
            .set(self.assignment, slot, self.active, row, origin);
        let Some(guard) = self.guard else { return };
        let decided = self.marks.lanes(self.assignment, guard) & self.mask;
        if decided != 0 {
            let origin = self.marks.origin(self.assignment, guard);
            let row = [all_bytes(slot.bank); LANES];
            self.marks.set(self.assignment, slot, decided, &row, origin);
        }
    }

    /// All destinations, in the marked lanes.
    pub fn put_all(&mut self, marked: Mask, origin: Origin) {
        let operands = self.operands;
        for slot in &operands.written {
            let full = all_bytes(slot.bank);
            let row = each(|lane| if marked >> lane & 1 == 1 { full } else { 0 });
            self.put(*slot, &row, origin);
        }
    }

    /// An instruction that computes each lane on its own.
    pub fn transfer(&mut self, transfer: &Transfer, carries: Carries) {
        let (mut marked, origin) = self.sources();
        match transfer {
            Transfer::Any => {
                let carry = self.assignment.carry();
                if carries.read {
                    marked |= self.marks.lanes(self.assignment, carry);
                }
                self.put_all(marked, origin);
                if carries.written {
                    let row = each(|lane| if marked >> lane & 1 == 1 { 0xff } else { 0 });
                    self.put(carry, &row, origin);
                }
            }
            Transfer::Constant => self.put_all(0, origin),
            Transfer::Bytes(to, from) => {
                let mut all = [0_u64; LANES];
                let mut at = 0;
                for part in from {
                    let row = self.part(*part);
                    all = each(|lane| all[lane] | u64::from(row[lane]) << at);
                    at += part.bytes;
                }
                for part in to {
                    let kept = (1 << part.bytes) - 1;
                    let row = each(|lane| (all[lane] & kept) as Bytes);
                    if let Some(slot) = part.slot {
                        self.put(slot, &row, origin);
                    }
                    all = each(|lane| all[lane] >> part.bytes);
                }
            }
            Transfer::Moved(d, a, by) => {
                let (row, full) = (self.get(Some(*a)), all_bytes(d.bank));
                let moved = |bits: Bytes| match *by >= 0 {
                    true => (u32::from(bits) << by) as Bytes & full,
                    false => (u32::from(bits) >> -by) as Bytes,
                };
                self.put(*d, &each(|lane| moved(row[lane])), origin);
            }
            Transfer::Masked(d, a, kept) => {
                let row = self.get(Some(*a));
                self.put(*d, &each(|lane| row[lane] & kept), origin);
            }
            Transfer::Select(..) | Transfer::Permuted(..) | Transfer::Halves => {
                self.choose(transfer, origin);
            }
        }
    }

    fn choose(&mut self, transfer: &Transfer, origin: Origin) {
        match transfer {
            Transfer::Select(d, [a, b], p) => {
                let (a, b, marked) = (self.part(*a), self.part(*b), self.get(Some(*p)));
                let (full, first) = (all_bytes(d.bank), self.registers.predicate(p.index));
                let row = each(|lane| match (marked[lane] != 0, first >> lane & 1 == 1) {
                    (true, _) => full,
                    (_, true) => a[lane],
                    (_, false) => b[lane],
                });
                self.put(*d, &row, origin);
            }
            // ISA, `prmt`: a selector's low three bits choose a byte; the fourth replicates its sign.
            Transfer::Permuted(d, [a, b], selector) => {
                let (a, b) = (self.part(*a), self.part(*b));
                let row = each(|lane| {
                    let pool = u32::from(a[lane]) | u32::from(b[lane]) << 4;
                    let bit = |at: u32| (pool >> (selector >> (4 * at) & 7) & 1) << at;
                    (0..4).map(bit).sum::<u32>() as Bytes
                });
                self.put(*d, &row, origin);
            }
            _ => {
                let operands = self.operands;
                let sources = operands
                    .read
                    .iter()
                    .filter(|slot| Some(**slot) != self.guard);
                let all = sources.fold([0; LANES], |all: Row<Bytes>, slot| {
                    let row = self.get(Some(*slot));
                    each(|lane| all[lane] | row[lane])
                });
                let half = |bits: Bytes, of: Bytes| if bits & of == 0 { 0 } else { of };
                let row = each(|lane| half(all[lane], 0b0011) | half(all[lane], 0b1100));
                for slot in &operands.written {
                    self.put(*slot, &row, origin);
                }
            }
        }
    }
}

/// Marks of a loaded value: bytes beyond the type are zeros, or copies of its sign.
pub fn loaded(bits: &Row<Bytes>, bytes: u64, is_signed: bool, slot: Slot) -> Row<Bytes> {
    let full = all_bytes(slot.bank);
    let extends = is_signed && bytes < u64::from(bytes_of(slot.bank));
    let sign = 1 << (bytes - 1);
    each(|lane| match extends && bits[lane] & sign != 0 {
        true => full & !(sign - 1) | bits[lane],
        false => bits[lane],
    })
}
