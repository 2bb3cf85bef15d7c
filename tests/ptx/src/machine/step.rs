//! One decoded instruction.

use super::access::{self, Access, Element, Place, Places};
use super::alu;
use super::asynchronous;
use super::atomic::{self, Atomic};
use super::collective::{self, Collective};
use super::decode::{Form, Predicate, Refusal, Source};
use super::hints;
use super::lanewise::{Lanewise, unary};
use super::matrix::{self, Matrix};
use super::memory::Window;
use super::order::Fence;
use super::registers::Bank;
use super::special::Special;
use crate::parse::{Address, Operand, Space, Type};

pub enum Step {
    Lanes(Lanewise),
    Load(Access),
    Store(Access),
    Atomic(Atomic),
    Special(Special, Element),
    /// The address of a local variable, from the start of its function's local memory.
    FrameAddress(Element, u64),
    Branch(usize),
    IndexedBranch(Source<u32>, Vec<usize>),
    Call(Call),
    Return,
    Exit,
    Trap,
    Barrier(Barrier),
    Collective(Collective),
    Matrix(Box<Matrix>),
    /// Of mbarriers, asynchronous copies, tensor maps and clusters.
    Asynchronous(Box<asynchronous::decode::Instruction>),
    ActiveMask(Element),
    Fence(Fence),
    /// Lets others run first.
    Yield,
    Nothing,
    Refused(Refusal),
}

/// A direct call; arguments are variables in the caller's local memory.
#[derive(Clone, Debug)]
pub struct Call {
    pub callee: String,
    /// Offsets in the caller's local memory, in the order of the formal parameters.
    pub arguments: Vec<u64>,
    pub results: Vec<u64>,
}

#[derive(Clone, Copy, Debug)]
pub struct Barrier {
    pub id: Source<u32>,
    /// How many threads take part; all of the block without one.
    pub threads: Option<Source<u32>>,
    pub kind: BarrierKind,
    pub is_aligned: bool,
}

#[derive(Clone, Copy, Debug)]
pub enum BarrierKind {
    Sync,
    Arrive,
    /// Of a predicate; the result is a predicate, or for a count a 32-bit register.
    Reduce(Reduction, Predicate, usize),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reduction {
    Count,
    All,
    Any,
}

pub fn decode(form: &Form<'_>, places: Places<'_>) -> Result<Step, Refusal> {
    if form.opcode() == "mov"
        && let Some(step) = address_or_special(form, places)?
    {
        return Ok(step);
    }
    if let Some(lanes) = alu::decode(form)? {
        return Ok(Step::Lanes(lanes));
    }
    if let Some(collective) = collective::decode(form)? {
        return Ok(Step::Collective(collective));
    }
    if let Some(matrix) = matrix::decode(form, places)? {
        return Ok(Step::Matrix(Box::new(matrix)));
    }
    if let Some(instruction) = asynchronous::decode::decode(form, places)? {
        return Ok(Step::Asynchronous(Box::new(instruction)));
    }
    match form.opcode() {
        "ld" => access::decode(form, places).map(Step::Load),
        "st" => access::decode(form, places).map(Step::Store),
        "atom" | "red" => atomic::decode(form, places).map(Step::Atomic),
        "cvta" => address_conversion(form).map(Step::Lanes),
        "isspacep" => space_test(form).map(Step::Lanes),
        "bra" | "brx" => branch(form),
        "call" => call(form, places).map(Step::Call),
        "ret" => plain(form, &["uni"], Step::Return),
        "exit" => plain(form, &[], Step::Exit),
        // A breakpoint suspends the thread, and nobody can continue it.
        "trap" | "brkpt" => plain(form, &[], Step::Trap),
        "bar" | "barrier" => barrier(form).map(Step::Barrier),
        "activemask" => {
            let mut words = form.words();
            words.required(&["b32"])?;
            words.finish()?;
            form.count(1)?;
            let index = form.slot_of(form.operand(0)?)?;
            form.destination::<u32>(form.operand(0)?)?;
            Ok(Step::ActiveMask(Element::Register(index)))
        }
        "nanosleep" => {
            let mut words = form.words();
            words.required(&["u32"])?;
            words.finish()?;
            form.count(1)?;
            form.source::<u32>(form.operand(0)?)?;
            Ok(Step::Yield)
        }
        "membar" | "fence" => hints::fence(form, places),
        "prefetch" => hints::prefetch(form, places),
        "griddepcontrol" => hints::grid_dependency(form),
        "createpolicy" => hints::policy(form),
        _ => Err(form.refuse("this opcode")),
    }
}

fn plain(form: &Form<'_>, allowed: &[&str], step: Step) -> Result<Step, Refusal> {
    let mut words = form.words();
    words.choice(allowed);
    words.finish()?;
    form.count(0)?;
    Ok(step)
}

/// `mov` of a special register, or of the address of a variable of the function.
fn address_or_special(form: &Form<'_>, places: Places<'_>) -> Result<Option<Step>, Refusal> {
    let Ok(operand) = form.operand(1) else {
        return Ok(None);
    };
    let special = match operand {
        Operand::Special(name) => Some(name),
        Operand::Symbol(Address { base, .. }) => match places(base) {
            Some(Place::Frame(..)) => None,
            _ => return Ok(None),
        },
        _ => return Ok(None),
    };
    let mut words = form.words();
    let ty = words.ty()?;
    words.finish()?;
    form.count(2)?;
    let slot = form.slot_of(form.operand(0)?)?;
    if slot.bank.bits() != 8 * ty.bytes() || slot.bank == Bank::B16 {
        return Err(form.refuse(format!(
            "`.{ty}` in a register of {} bits",
            slot.bank.bits()
        )));
    }
    let result = Element::Register(slot);
    if let Some(name) = special {
        let special = Special::parse(name).ok_or_else(|| form.refuse(format!("`%{name}`")))?;
        if special.is_wide && slot.bank != Bank::B64 {
            return Err(form.refuse(format!("`%{name}` in 32 bits")));
        }
        return Ok(Some(Step::Special(special, result)));
    }
    match operand {
        Operand::Symbol(Address { base, offset }) => match places(base) {
            Some(Place::Frame(Space::Local, start)) => Ok(Some(Step::FrameAddress(
                result,
                start.wrapping_add_signed(*offset),
            ))),
            _ => Err(form.refuse("the address of a parameter of a device function")),
        },
        _ => Ok(None),
    }
}

const SPACES: [&str; 7] = [
    "global",
    "shared",
    "shared::cta",
    "shared::cluster",
    "local",
    "param",
    "const",
];

fn space(word: &str) -> Window {
    match word {
        "global" => Window::Global,
        "local" => Window::Local,
        "param" => Window::Param,
        "const" => Window::Const,
        "shared::cluster" => Window::Cluster,
        _ => Window::Shared,
    }
}

/// Between an address in a state space and a generic one. An address outside of the window gives
/// one that no access accepts.
fn address_conversion(form: &Form<'_>) -> Result<Lanewise, Refusal> {
    let mut words = form.words();
    let to_space = words.flag("to");
    let base = space(words.required(&SPACES)?).base();
    let ty = words.ty()?;
    words.finish()?;
    let base = if to_space { base.wrapping_neg() } else { base };
    match ty {
        Type::U64 => unary(form, move |a: u64| a.wrapping_add(base)),
        Type::U32 => unary(form, move |a: u32| a.wrapping_add(base as u32)),
        other => Err(form.refuse(format!("the type `.{other}`"))),
    }
}

fn space_test(form: &Form<'_>) -> Result<Lanewise, Refusal> {
    let mut words = form.words();
    let wanted = space(words.required(&SPACES)?);
    words.finish()?;
    // The window of a block's own shared memory is inside of that of its cluster.
    let test = move |address: u64| match (Window::of_generic(address).0, wanted) {
        (found, Window::Cluster) => found.is_shared(),
        (found, wanted) => found == wanted,
    };
    match form.operand(1)? {
        register @ Operand::Register(_) if form.slot_of(register)?.bank == Bank::B32 => {
            unary(form, move |a: u32| test(a.into()))
        }
        _ => unary(form, test),
    }
}

fn branch(form: &Form<'_>) -> Result<Step, Refusal> {
    let mut words = form.words();
    words.flag("uni");
    if form.opcode() == "brx" {
        words.required(&["idx"])?;
        words.finish()?;
        form.count(2)?;
        let index = form.source::<u32>(form.operand(0)?)?;
        return match form.operand(1)? {
            Operand::Targets(list) => {
                let targets = list.iter().map(|label| label.0 as usize).collect();
                Ok(Step::IndexedBranch(index, targets))
            }
            _ => Err(form.refuse("a branch without a list of targets")),
        };
    }
    words.finish()?;
    form.count(1)?;
    match form.operand(0)? {
        Operand::Label(label) => Ok(Step::Branch(label.0 as usize)),
        _ => Err(form.refuse("a branch to something that is no label")),
    }
}

fn call(form: &Form<'_>, places: Places<'_>) -> Result<Call, Refusal> {
    let mut words = form.words();
    words.flag("uni");
    words.finish()?;
    let operands = &form.instruction.operands;
    let name = |operand: &Operand| match operand {
        Operand::Symbol(Address {
            base: crate::parse::Base::Symbol(name),
            offset: 0,
        }) => Ok(name.clone()),
        _ => Err(form.refuse("a call of something that is no function's name")),
    };
    let (results, callee, arguments): (&[Operand], _, &[Operand]) = match operands.as_slice() {
        [callee] => (&[], callee, &[]),
        [callee, Operand::List(arguments)] => (&[], callee, arguments),
        [Operand::List(results), callee] => (results, callee, &[]),
        [Operand::List(results), callee, Operand::List(arguments)] => (results, callee, arguments),
        _ => return Err(form.refuse("these operands")),
    };
    let place = |operand: &Operand| {
        let Operand::Symbol(Address { base, offset: 0 }) = operand else {
            return Err(form.refuse("an argument that is no variable"));
        };
        match places(base) {
            Some(Place::Frame(Space::Param, offset)) => Ok(offset),
            _ => Err(form.refuse("an argument that is no `.param` variable of this function")),
        }
    };
    Ok(Call {
        callee: name(callee)?,
        arguments: arguments.iter().map(place).collect::<Result<_, _>>()?,
        results: results.iter().map(place).collect::<Result<_, _>>()?,
    })
}

fn barrier(form: &Form<'_>) -> Result<Barrier, Refusal> {
    let mut words = form.words();
    words.flag("cta");
    let kind = words.required(&["sync", "arrive", "red"])?;
    let is_aligned = words.flag("aligned") || form.opcode() == "bar";
    let operands = form.instruction.operands.len();
    let threads = |index: usize| match operands > index {
        true => form.source::<u32>(form.operand(index)?).map(Some),
        false => Ok(None),
    };
    if kind == "red" {
        let reduction = match words.required(&["popc", "and", "or"])? {
            "popc" => Reduction::Count,
            "and" => Reduction::All,
            _ => Reduction::Any,
        };
        let count = reduction == Reduction::Count;
        words.required(&[if count { "u32" } else { "pred" }])?;
        words.finish()?;
        if !matches!(operands, 3 | 4) {
            return Err(form.refuse(format!("{operands} operands")));
        }
        let result = match count {
            true => form.destination::<u32>(form.operand(0)?)?,
            false => form.destination::<bool>(form.operand(0)?)?,
        };
        let predicate = form.predicate(form.operand(operands - 1)?)?;
        return Ok(Barrier {
            id: form.source(form.operand(1)?)?,
            threads: if operands == 4 { threads(2)? } else { None },
            kind: BarrierKind::Reduce(reduction, predicate, result),
            is_aligned,
        });
    }
    words.finish()?;
    let arrives = kind == "arrive";
    if !matches!((operands, arrives), (1, false) | (2, _)) {
        return Err(form.refuse(format!("{operands} operands")));
    }
    Ok(Barrier {
        id: form.source(form.operand(0)?)?,
        threads: threads(1)?,
        kind: if arrives {
            BarrierKind::Arrive
        } else {
            BarrierKind::Sync
        },
        is_aligned,
    })
}
