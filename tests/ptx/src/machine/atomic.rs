//! `atom` and `red` ("Parallel Synchronization and Communication Instructions").
//!
//! One lane after the other, in their order. Scopes and orders matter for the detection of races (see
//! `access`). Each element of a vector is modified atomically by itself, and all are one access, which
//! is aligned to their size.

use super::access::{self, Element, MemoryOrder, Places, Pointer};
use super::alu::round::{self, BF16, F16, Format, Mode};
use super::decode::{Form, Refusal};
use super::memory::{AccessError, Window, to_bits};
use super::order::{Effect, Kind, Ordering, Scope};
use super::registers::{LANES, Mask, Registers, lanes};
use super::spaces::{At, Spaces};
use crate::parse::{Operand, Type};

/// The old value and up to two operands → the new value.
type Update = fn(u64, u64, u64) -> u64;

#[derive(Clone, Debug)]
pub struct Atomic {
    pub window: Window,
    pub pointer: Pointer,
    /// Of one element.
    bytes: u64,
    pub order: MemoryOrder,
    /// What receives the old value; only where there is one element.
    result: Element,
    /// Of each element.
    operands: Vec<[Element; 2]>,
    update: Update,
    /// Sums of `f32` in global memory are without subnormal numbers.
    flushes: bool,
}

impl Atomic {
    pub fn execute(
        &self,
        registers: &mut Registers,
        mask: Mask,
        frame: u64,
        spaces: &mut Spaces<'_>,
    ) -> Result<(), (usize, AccessError)> {
        let addresses = self.pointer.row(registers, frame);
        let operands: Vec<_> = (self.operands.iter())
            .map(|of_element| of_element.map(|operand| operand.row(registers)))
            .collect();
        let mut old = [0; LANES];
        for lane in lanes(mask) {
            let at = At {
                address: addresses[lane],
                bytes: self.all_bytes(),
                align: self.all_bytes(),
            };
            let all = spaces
                .get_mut(self.window, lane, at)
                .map_err(|error| (lane, error))?;
            let is_global = is_global(self.window, addresses[lane]);
            if self.operands.len() > 1 && !is_global {
                return Err((lane, "a vector of sums outside of global memory".to_owned()));
            }
            let flushes = self.flushes && is_global;
            let places = all.chunks_exact_mut(self.bytes as usize);
            for (place, [b, c]) in places.zip(&operands) {
                old[lane] = to_bits(place);
                let new = match flushes {
                    true => flushed((self.update)(flushed(old[lane]), flushed(b[lane]), 0)),
                    false => (self.update)(old[lane], b[lane], c[lane]),
                };
                place.copy_from_slice(&new.to_le_bytes()[..self.bytes as usize]);
            }
        }
        self.result.put(registers, mask, &old);
        Ok(())
    }

    /// Of all elements.
    pub fn all_bytes(&self) -> u64 {
        self.bytes * self.operands.len() as u64
    }
}

fn is_global(window: Window, address: u64) -> bool {
    match window {
        Window::Generic => Window::of_generic(address).0 == Window::Global,
        window => window == Window::Global,
    }
}

/// A subnormal number of type `f32` becomes a zero of its sign.
fn flushed(bits: u64) -> u64 {
    match f32::from_bits(bits as u32).is_subnormal() {
        true => bits & 0x8000_0000,
        false => bits,
    }
}

pub fn decode(form: &Form<'_>, places: Places<'_>) -> Result<Atomic, Refusal> {
    let mut words = form.words();
    // ISA, `atom`: `.relaxed` and `.gpu` are assumed.
    let sem = words.choice(&["relaxed", "acquire", "release", "acq_rel"]);
    let scope = access::take_scope(&mut words).unwrap_or(Scope::Device);
    let window = access::window(&mut words);
    let names = [
        "add", "min", "max", "inc", "dec", "exch", "cas", "and", "or", "xor",
    ];
    let name = words.required(&names)?;
    let keeps_subnormals = words.flag("noftz");
    let elements = match words.choice(&["v2", "v4", "v8"]) {
        None => 1,
        Some("v2") => 2,
        Some("v4") => 4,
        Some(_) => 8,
    };
    let ty = words.ty()?;
    words.finish()?;
    let is_memory = matches!(window, Window::Generic | Window::Global) || window.is_shared();
    if !is_memory {
        return Err(form.refuse(format!("{} memory", window.name())));
    }
    let half = matches!(ty, Type::F16 | Type::Bf16 | Type::F16x2 | Type::Bf16x2);
    if half != keeps_subnormals {
        return Err(form.refuse("`.noftz` goes with half precision"));
    }
    let returns = usize::from(form.opcode() == "atom");
    let count = if name == "cas" { 2 } else { 1 };
    form.count(returns + 1 + count)?;
    let update = update(name, ty).ok_or_else(|| form.refuse(format!("`.{name}` of `.{ty}`")))?;
    let result = match (returns, form.operand(0)?) {
        (0, _) | (_, Operand::Sink) => Element::Nothing,
        (_, register) => Element::Register(form.slot_of(register)?),
    };
    let (pointer, window) = access::pointer(form, form.operand(returns)?, window, places)?;
    let operands = match elements {
        1 => {
            let mut operands = [Element::Nothing; 2];
            for (index, operand) in operands.iter_mut().enumerate().take(count) {
                *operand = access::element(form, form.operand(returns + 1 + index)?, ty, false)?;
            }
            vec![operands]
        }
        _ => vector(form, (name, elements, ty), window)?,
    };
    let order = MemoryOrder {
        kind: Kind {
            effect: Effect::Write,
            strong: Some(scope),
            bytes: ty.bytes() as u8,
            is_async: false,
        },
        ordering: Ordering {
            acquires: matches!(sem, Some("acquire" | "acq_rel")),
            releases: matches!(sem, Some("release" | "acq_rel")),
        },
    };
    Ok(Atomic {
        order,
        window,
        pointer,
        bytes: ty.bytes() as u64,
        result,
        operands,
        update,
        flushes: name == "add" && ty == Type::F32,
    })
}

/// The operands of `red` for a vector (ISA, `red`, "Reduction operation with vector type"): up to 16 bytes
/// of floats in global memory.
fn vector(
    form: &Form<'_>,
    (name, elements, ty): (&str, usize, Type),
    window: Window,
) -> Result<Vec<[Element; 2]>, Refusal> {
    let known = match ty {
        Type::F32 => name == "add" && elements <= 4,
        Type::F16x2 | Type::Bf16x2 => name == "add" && elements <= 4,
        Type::F16 | Type::Bf16 => name == "add",
        _ => false,
    };
    if !known || form.opcode() != "red" {
        return Err(form.refuse(format!("`.{name}` of {elements} elements of `.{ty}`")));
    }
    if !matches!(window, Window::Generic | Window::Global) {
        return Err(form.refuse(format!("a vector in {} memory", window.name())));
    }
    let Operand::Vector(list) = form.operand(1)? else {
        return Err(form.refuse("an operand that is no vector"));
    };
    if list.len() != elements {
        return Err(form.refuse(format!("{} elements of a vector", list.len())));
    }
    let operand = |operand| Ok([access::element(form, operand, ty, false)?, Element::Nothing]);
    list.iter().map(operand).collect()
}

pub fn update(name: &str, ty: Type) -> Option<Update> {
    use Type::{B16, B32, B64, S32, S64, U32, U64};
    Some(match (name, ty) {
        ("exch", B32 | B64) => |_, b, _| b,
        ("cas", B16) => |old, b, c| if old == b & 0xffff { c } else { old },
        ("cas", B32 | B64) => |old, b, c| if old == b { c } else { old },
        ("and", B32 | B64) => |old, b, _| old & b,
        ("or", B32 | B64) => |old, b, _| old | b,
        ("xor", B32 | B64) => |old, b, _| old ^ b,
        ("add", U32 | S32 | U64) => |old, b, _| old.wrapping_add(b),
        ("inc", U32) => |old, b, _| if old >= b { 0 } else { old + 1 },
        ("dec", U32) => |old, b, _| if old == 0 || old > b { b } else { old - 1 },
        ("min", U32 | U64) => |old, b, _| old.min(b),
        ("max", U32 | U64) => |old, b, _| old.max(b),
        ("min", S32) => |old, b, _| (old as i32).min(b as i32) as u32 as u64,
        ("max", S32) => |old, b, _| (old as i32).max(b as i32) as u32 as u64,
        ("min", S64) => |old, b, _| (old as i64).min(b as i64) as u64,
        ("max", S64) => |old, b, _| (old as i64).max(b as i64) as u64,
        ("add", Type::F32) => |old, b, _| {
            let sum = f32::from_bits(old as u32) + f32::from_bits(b as u32);
            if sum.is_nan() {
                0x7fff_ffff
            } else {
                sum.to_bits().into()
            }
        },
        ("add", Type::F64) => |old, b, _| (f64::from_bits(old) + f64::from_bits(b)).to_bits(),
        ("add", Type::F16) => |old, b, _| sum(&F16, old, b),
        ("add", Type::Bf16) => |old, b, _| sum(&BF16, old, b),
        ("add", Type::F16x2) => |old, b, _| sum_of_pairs(&F16, old, b),
        ("add", Type::Bf16x2) => |old, b, _| sum_of_pairs(&BF16, old, b),
        _ => return None,
    })
}

fn sum(format: &Format, a: u64, b: u64) -> u64 {
    let widened = |bits: u64| format.widen(bits & 0xffff);
    format.round_f64(round::sum(widened(a), widened(b)), Mode::Even)
}

fn sum_of_pairs(format: &Format, a: u64, b: u64) -> u64 {
    sum(format, a, b) | sum(format, a >> 16, b >> 16) << 16
}
