//! Loads and stores ("Data Movement and Conversion Instructions: ld, st").
//!
//! Accesses are executed in the order in which the machine executes instructions, so every qualifier
//! of order and scope (`.relaxed`, `.acquire`, `.release`, `.volatile` and their scopes) holds by
//! itself; they matter for the detection of races. Hints of caches have no effect.

use super::decode::{Form, Refusal, Words};
use super::memory::{AccessError, Window, to_bits};
use super::order::{Effect, Kind, Ordering, Scope};
use super::registers::{Bank, LANES, Lane, Mask, Registers, Row, Slot, each, lanes};
use super::spaces::{At, Spaces};
use crate::parse::{Base, Operand, Space, Type};

impl Pointer {
    pub fn slot(&self) -> Option<Slot> {
        match self {
            Pointer::Register(bank, index, _) => Some(Slot {
                bank: *bank,
                index: *index,
            }),
            Pointer::Constant(_) | Pointer::Frame(_) => None,
        }
    }
}

/// Where an instruction's operand points.
#[derive(Clone, Debug)]
pub enum Pointer {
    Register(Bank, usize, i64),
    Constant(u64),
    /// A local variable, from the start of its function's local memory.
    Frame(u64),
}

impl Pointer {
    /// Of each lane. `frame` is where the function's local memory starts.
    pub fn row(&self, registers: &Registers, frame: u64) -> Row<u64> {
        match self {
            Pointer::Register(Bank::B32, index, offset) => {
                let base = u32::row(registers, *index);
                each(|lane| u64::from(base[lane].wrapping_add(*offset as u32)))
            }
            Pointer::Register(_, index, offset) => {
                let base = u64::row(registers, *index);
                each(|lane| base[lane].wrapping_add_signed(*offset))
            }
            Pointer::Constant(address) => [*address; LANES],
            Pointer::Frame(offset) => [frame + offset; LANES],
        }
    }
}

/// A register that is loaded or stored, or a constant that is stored.
#[derive(Clone, Copy, Debug)]
pub enum Element {
    Register(Slot),
    Constant(u64),
    Nothing,
}

impl Element {
    pub fn row(self, registers: &Registers) -> Row<u64> {
        match self {
            Element::Register(Slot { bank, index }) => match bank {
                Bank::B16 => u16::row(registers, index).map(u64::from),
                Bank::B32 => u32::row(registers, index).map(u64::from),
                _ => u64::row(registers, index),
            },
            Element::Constant(bits) => [bits; LANES],
            Element::Nothing => [0; LANES],
        }
    }

    pub fn put(self, registers: &mut Registers, mask: Mask, row: &Row<u64>) {
        let Element::Register(Slot { bank, index }) = self else {
            return;
        };
        match bank {
            Bank::B16 => u16::put(registers, index, mask, &each(|lane| row[lane] as u16)),
            Bank::B32 => u32::put(registers, index, mask, &each(|lane| row[lane] as u32)),
            _ => u64::put(registers, index, mask, row),
        }
    }
}

/// `ld` or `st`, of one to four elements.
#[derive(Clone, Debug)]
pub struct Access {
    pub window: Window,
    pub pointer: Pointer,
    pub elements: Vec<Element>,
    /// Of one element.
    pub bytes: u64,
    pub signed: bool,
    pub order: MemoryOrder,
}

/// How an access is ordered with others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemoryOrder {
    pub kind: Kind,
    pub ordering: Ordering,
}

impl Access {
    fn at(&self, address: u64) -> At {
        let bytes = self.bytes * self.elements.len() as u64;
        At {
            address,
            bytes,
            align: bytes,
        }
    }

    /// By the sign of its type.
    fn extended(&self, bits: u64) -> u64 {
        let unused = 64 - 8 * self.bytes as u32;
        match self.signed {
            true => ((bits << unused).cast_signed() >> unused).cast_unsigned(),
            false => bits,
        }
    }

    /// The lane that failed, and why.
    pub fn load(
        &self,
        registers: &mut Registers,
        mask: Mask,
        frame: u64,
        spaces: &Spaces<'_>,
    ) -> Result<(), (usize, AccessError)> {
        let addresses = self.pointer.row(registers, frame);
        let common = spaces.common(self.window, &addresses, mask, self.at(0));
        if let (Some((low, bytes)), [element], 4) = (common, self.elements.as_slice(), self.bytes) {
            let mut row = [0; LANES];
            for lane in lanes(mask) {
                let start = (addresses[lane] - low) as usize;
                row[lane] = self.extended(to_bits(&bytes[start..start + 4]));
            }
            element.put(registers, mask, &row);
            return Ok(());
        }
        let mut rows = [[0_u64; LANES]; 4];
        for lane in lanes(mask) {
            let found = match common {
                Some((low, bytes)) => {
                    let start = (addresses[lane] - low) as usize;
                    &bytes[start..start + self.at(0).bytes as usize]
                }
                None => spaces
                    .get(self.window, lane, self.at(addresses[lane]))
                    .map_err(|error| (lane, error))?,
            };
            for (row, bytes) in rows.iter_mut().zip(found.chunks_exact(self.bytes as usize)) {
                row[lane] = self.extended(to_bits(bytes));
            }
        }
        for (element, row) in self.elements.iter().zip(&rows) {
            element.put(registers, mask, row);
        }
        Ok(())
    }

    /// Of all elements.
    pub fn all_bytes(&self) -> u64 {
        self.bytes * self.elements.len() as u64
    }

    /// The lanes that change the bytes that were there.
    pub fn store(
        &self,
        registers: &Registers,
        mask: Mask,
        frame: u64,
        spaces: &mut Spaces<'_>,
    ) -> Result<Mask, (usize, AccessError)> {
        let addresses = self.pointer.row(registers, frame);
        let mut rows = [[0_u64; LANES]; 4];
        for (row, element) in rows.iter_mut().zip(&self.elements) {
            *row = element.row(registers);
        }
        let bytes = self.bytes as usize;
        let mut changed = 0;
        for lane in lanes(mask) {
            let found = spaces.get_mut(self.window, lane, self.at(addresses[lane]));
            let found = found.map_err(|error| (lane, error))?;
            for (row, place) in rows.iter().zip(found.chunks_exact_mut(bytes)) {
                let new = &row[lane].to_le_bytes()[..bytes];
                if *place != *new {
                    changed |= 1 << lane;
                    place.copy_from_slice(new);
                }
            }
        }
        Ok(changed)
    }
}

/// Where a variable is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    Fixed(Window, u64),
    /// In its function's part of local memory: `.local` variables, and `.param` variables of calls.
    Frame(Space, u64),
}

/// Finds the variables that operands name.
pub type Places<'a> = &'a dyn Fn(&Base) -> Option<Place>;

/// The pointer, and the space in which it is one.
pub fn pointer(
    form: &Form<'_>,
    operand: &Operand,
    window: Window,
    places: Places<'_>,
) -> Result<(Pointer, Window), Refusal> {
    let Operand::Memory {
        address,
        coordinates,
    } = operand
    else {
        return Err(form.refuse("an operand that is no memory"));
    };
    if !coordinates.is_empty() {
        return Err(form.refuse("coordinates"));
    }
    let pointer = match &address.base {
        Base::Register(register) => {
            let slot = form.slot_of(&Operand::Register(*register))?;
            match slot.bank {
                Bank::B32 | Bank::B64 => Pointer::Register(slot.bank, slot.index, address.offset),
                _ => return Err(form.refuse("an address of 16 bits")),
            }
        }
        Base::Zero => Pointer::Constant(address.offset.cast_unsigned()),
        named => {
            let place = places(named).ok_or_else(|| form.refuse("the place of this variable"))?;
            return named_pointer(form, place, address.offset, window);
        }
    };
    Ok((pointer, window))
}

fn named_pointer(
    form: &Form<'_>,
    place: Place,
    offset: i64,
    window: Window,
) -> Result<(Pointer, Window), Refusal> {
    match (place, window) {
        (Place::Fixed(Window::Shared, start), Window::Cluster) => {
            Ok((Pointer::Constant(start.wrapping_add_signed(offset)), window))
        }
        (Place::Fixed(found, start), _) if found == window => {
            Ok((Pointer::Constant(start.wrapping_add_signed(offset)), window))
        }
        (Place::Frame(Space::Local, start), Window::Local)
        | (Place::Frame(Space::Param, start), Window::Param) => Ok((
            Pointer::Frame(start.wrapping_add_signed(offset)),
            Window::Local,
        )),
        _ => Err(form.refuse(format!(
            "a variable of another space than {}",
            window.name()
        ))),
    }
}

/// Takes the state space; generic if there is none.
pub fn window(words: &mut Words<'_>) -> Window {
    match words.choice(&[
        "global",
        "shared",
        "shared::cta",
        "shared::cluster",
        "local",
        "param",
        "param::entry",
        "const",
    ]) {
        None => Window::Generic,
        Some("global") => Window::Global,
        Some("local") => Window::Local,
        Some("const") => Window::Const,
        Some("shared::cluster") => Window::Cluster,
        Some("param" | "param::entry") => Window::Param,
        Some(_) => Window::Shared,
    }
}

/// Takes the scope of a strong operation.
pub fn take_scope(words: &mut Words<'_>) -> Option<Scope> {
    Some(match words.choice(&["cta", "cluster", "gpu", "sys"])? {
        "cta" => Scope::Block,
        "cluster" => Scope::Cluster,
        _ => Scope::Device,
    })
}

/// Takes order and scope of a load or store: weak without them. `.volatile` is relaxed at system
/// scope (ISA, `ld.volatile`).
fn take_order(form: &Form<'_>, words: &mut Words<'_>, loads: bool) -> Result<MemoryOrder, Refusal> {
    let sem = words.choice(&["weak", "relaxed", "acquire", "release", "volatile"]);
    let scope = take_scope(words);
    let strong = match (sem, scope) {
        (None | Some("weak"), None) => None,
        (Some("volatile"), None) => Some(Scope::Device),
        (Some("relaxed" | "acquire" | "release"), Some(scope)) => Some(scope),
        _ => return Err(form.refuse("this order with this scope")),
    };
    if sem == Some(if loads { "release" } else { "acquire" }) {
        return Err(form.refuse("this order"));
    }
    let effect = match (loads, words.flag("nc")) {
        (true, true) => Effect::ReadOnly,
        (true, false) => Effect::Read,
        (false, _) => Effect::Write,
    };
    Ok(MemoryOrder {
        kind: Kind {
            effect,
            strong,
            bytes: 0,
            is_async: false,
        },
        ordering: Ordering {
            acquires: sem == Some("acquire"),
            releases: sem == Some("release"),
        },
    })
}

/// Cache hints of accesses, which have no effect here.
fn take_hints(words: &mut Words<'_>) {
    words.choice(&["ca", "cg", "cs", "lu", "cv", "wb", "wt"]);
    words.choice(&[
        "L1::evict_normal",
        "L1::evict_unchanged",
        "L1::evict_first",
        "L1::evict_last",
        "L1::no_allocate",
    ]);
    words.choice(&["L2::64B", "L2::128B", "L2::256B"]);
}

pub fn decode(form: &Form<'_>, places: Places<'_>) -> Result<Access, Refusal> {
    let mut words = form.words();
    let loads = form.opcode() == "ld";
    let mut order = take_order(form, &mut words, loads)?;
    take_hints(&mut words);
    let window = window(&mut words);
    let count = match words.choice(&["v2", "v4"]) {
        None => 1,
        Some("v2") => 2,
        Some(_) => 4,
    };
    let ty = words.ty()?;
    words.finish()?;
    if order.kind.strong.is_some() {
        order.kind.bytes = ty.bytes() as u8;
    }
    form.count(2)?;
    let (value, place) = if loads { (0, 1) } else { (1, 0) };
    let list = match form.operand(value)? {
        Operand::Vector(list) => list.as_slice(),
        single => std::slice::from_ref(single),
    };
    if list.len() != count || ty == Type::B128 || ty == Type::Pred {
        return Err(form.refuse(format!("{} elements of `.{ty}`", list.len())));
    }
    let element = |operand| element(form, operand, ty, loads);
    let (pointer, window) = pointer(form, form.operand(place)?, window, places)?;
    Ok(Access {
        window,
        pointer,
        elements: list.iter().map(element).collect::<Result<_, _>>()?,
        bytes: ty.bytes() as u64,
        signed: ty.is_signed(),
        order,
    })
}

/// Registers may be wider than the type: loads extend, stores truncate.
pub fn element(
    form: &Form<'_>,
    operand: &Operand,
    ty: Type,
    loads: bool,
) -> Result<Element, Refusal> {
    match operand {
        Operand::Integer(bits) if !loads => Ok(Element::Constant(*bits)),
        Operand::Float(bits) if !loads && ty.bytes() == 4 => Ok(Element::Constant((*bits).into())),
        Operand::Double(bits) if !loads && ty.bytes() == 8 => Ok(Element::Constant(*bits)),
        Operand::Sink if loads => Ok(Element::Nothing),
        register => {
            let slot = form.slot_of(register)?;
            match slot.bank.bits() >= 8 * ty.bytes() && slot.bank != Bank::Predicate {
                true => Ok(Element::Register(slot)),
                false => Err(form.refuse("a register that is narrower than its type")),
            }
        }
    }
}
