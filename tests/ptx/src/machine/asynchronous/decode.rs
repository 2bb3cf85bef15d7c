//! Instructions of mbarriers, clusters, register pools and tensor maps.

use super::copies::{self, Copy};
use super::engine::Groups;
use super::fields::{self, Field, Value};
use crate::machine::access::{self, Places, Pointer};
use crate::machine::decode::{Form, Refusal, Source, Words};
use crate::machine::memory::Window;
use crate::machine::order::{Scope, Semantics};
use crate::machine::registers::Bank;
use crate::parse::Operand;

/// Where an operand points, and in which space.
#[derive(Clone, Debug)]
pub struct Address {
    pub pointer: Pointer,
    pub window: Window,
}

#[derive(Clone, Debug)]
pub enum Instruction {
    Mbarrier(Address, Mbarrier),
    /// Of the state in a register: where the count goes, the state.
    PendingCount(usize, Source<u64>),
    Copy(Copy),
    Commit(Groups),
    WaitGroups {
        groups: Groups,
        pending: usize,
        /// Only until the sources have been read.
        reads: bool,
    },
    /// `cp.async.wait_all`
    WaitAll,
    ClusterArrive {
        is_aligned: bool,
        releases: bool,
    },
    ClusterWait {
        is_aligned: bool,
    },
    Map(MapAddress),
    SetRegisters {
        count: u32,
        grows: bool,
    },
    PrefetchMap(Address),
    ReplaceField(Address, Field, Value),
    /// `tensormap.cp_fenceproxy`: destination and source.
    CopyMap(Address, Address),
}

#[derive(Clone, Debug)]
pub enum Mbarrier {
    Init(Source<u32>),
    Invalidate,
    Arrive {
        arrival: Arrival,
        /// How many arrivals.
        count: Source<u32>,
        expected_bytes: Option<Source<u32>>,
        state: Option<usize>,
    },
    ExpectBytes(Source<u32>),
    CompleteBytes(Source<u32>),
    Wait(WaitFor, usize, Semantics),
    /// `cp.async.mbarrier.arrive`
    ArriveAfterCopies {
        increments: bool,
    },
}

#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Later phases need fewer arrivals.
    pub drops: bool,
    pub may_complete: bool,
    pub order: Semantics,
}

#[derive(Clone, Copy, Debug)]
pub enum WaitFor {
    State(Source<u64>),
    Parity(Source<u32>),
}

/// `mapa` and `getctarank`.
#[derive(Clone, Copy, Debug)]
pub enum MapAddress {
    /// To an address of a rank.
    Narrow(usize, Source<u32>, Source<u32>),
    Wide(usize, Source<u64>, Source<u32>, Window),
    /// The rank of an address.
    RankNarrow(usize, Source<u32>),
    RankWide(usize, Source<u64>, Window),
}

/// None for an opcode of another part of the machine.
pub fn decode(form: &Form<'_>, places: Places<'_>) -> Result<Option<Instruction>, Refusal> {
    let mnemonic = &form.instruction.mnemonic;
    let first = mnemonic.modifiers.first().map(String::as_str);
    let instruction = match form.opcode() {
        "mbarrier" if first == Some("pending_count") => pending_count(form)?,
        "mbarrier" => mbarrier(form, places)?,
        "cp" => copies::decode(form, places)?,
        "barrier" if first == Some("cluster") => cluster_barrier(form)?,
        "mapa" | "getctarank" => map_address(form)?,
        "setmaxnreg" => set_registers(form)?,
        "prefetch" if mnemonic.has("tensormap") => {
            let mut words = form.words();
            let window = match words.choice(&["param", "param::entry", "const"]) {
                None => Window::Generic,
                Some("const") => Window::Const,
                Some(_) => Window::Param,
            };
            words.required(&["tensormap"])?;
            words.finish()?;
            form.count(1)?;
            Instruction::PrefetchMap(address(form, 0, window, places)?)
        }
        "tensormap" if first == Some("replace") => fields::replace(form, places)?,
        "tensormap" => fields::copy_map(form, places)?,
        _ => return Ok(None),
    };
    Ok(Some(instruction))
}

pub fn address(
    form: &Form<'_>,
    operand: usize,
    window: Window,
    places: Places<'_>,
) -> Result<Address, Refusal> {
    let (pointer, window) = access::pointer(form, form.operand(operand)?, window, places)?;
    Ok(Address { pointer, window })
}

/// Takes `.shared`, `.shared::cta` or, if it is allowed, `.shared::cluster`.
fn shared_window(words: &mut Words<'_>, cluster: bool) -> Window {
    let allowed = ["shared", "shared::cta", "shared::cluster"];
    match words.choice(if cluster { &allowed } else { &allowed[..2] }) {
        None => Window::Generic,
        Some("shared::cluster") => Window::Cluster,
        Some(_) => Window::Shared,
    }
}

fn pending_count(form: &Form<'_>) -> Result<Instruction, Refusal> {
    let mut words = form.words();
    words.required(&["pending_count"])?;
    words.required(&["b64"])?;
    words.finish()?;
    form.count(2)?;
    let result = form.destination::<u32>(form.operand(0)?)?;
    Ok(Instruction::PendingCount(
        result,
        form.source(form.operand(1)?)?,
    ))
}

fn mbarrier(form: &Form<'_>, places: Places<'_>) -> Result<Instruction, Refusal> {
    let mut words = form.words();
    let kind = words.required(&[
        "init",
        "inval",
        "arrive",
        "arrive_drop",
        "expect_tx",
        "complete_tx",
        "test_wait",
        "try_wait",
    ])?;
    let source = |index: usize| form.source::<u32>(form.operand(index)?);
    let (at, operation) = match kind {
        "init" | "inval" => {
            let window = shared_window(&mut words, false);
            words.required(&["b64"])?;
            words.finish()?;
            let is_init = kind == "init";
            form.count(if is_init { 2 } else { 1 })?;
            let operation = match is_init {
                true => Mbarrier::Init(source(1)?),
                false => Mbarrier::Invalidate,
            };
            (address(form, 0, window, places)?, operation)
        }
        "arrive" | "arrive_drop" => return arrive(form, words, kind == "arrive_drop", places),
        "expect_tx" | "complete_tx" => {
            words.choice(&["relaxed"]);
            words.choice(&["cta", "cluster"]);
            let window = shared_window(&mut words, true);
            words.required(&["b64"])?;
            words.finish()?;
            form.count(2)?;
            let operation = match kind {
                "expect_tx" => Mbarrier::ExpectBytes(source(1)?),
                _ => Mbarrier::CompleteBytes(source(1)?),
            };
            (address(form, 0, window, places)?, operation)
        }
        _ => {
            let parity = words.flag("parity");
            let order = semantics(&mut words, "acquire");
            let window = shared_window(&mut words, false);
            words.required(&["b64"])?;
            words.finish()?;
            let has_limit = kind == "try_wait" && form.instruction.operands.len() == 4;
            form.count(if has_limit { 4 } else { 3 })?;
            if has_limit {
                source(3)?;
            }
            let wait = match parity {
                true => WaitFor::Parity(source(2)?),
                false => WaitFor::State(form.source(form.operand(2)?)?),
            };
            let result = form.destination::<bool>(form.operand(0)?)?;
            (
                address(form, 1, window, places)?,
                Mbarrier::Wait(wait, result, order),
            )
        }
    };
    Ok(Instruction::Mbarrier(at, operation))
}

/// ISA, `mbarrier.arrive` and `mbarrier.test_wait`: they release and acquire, at the scope of the
/// block, unless they say otherwise.
fn semantics(words: &mut Words<'_>, ordering: &str) -> Semantics {
    let relaxed = words.choice(&[ordering, "relaxed"]) == Some("relaxed");
    let scope = match words.choice(&["cta", "cluster"]) {
        Some("cluster") => Scope::Cluster,
        _ => Scope::Block,
    };
    Semantics {
        scope,
        orders: !relaxed,
    }
}

fn arrive(
    form: &Form<'_>,
    mut words: Words<'_>,
    drops: bool,
    places: Places<'_>,
) -> Result<Instruction, Refusal> {
    let expects = words.flag("expect_tx");
    let may_complete = !words.flag("noComplete");
    let order = semantics(&mut words, "release");
    let window = shared_window(&mut words, may_complete);
    words.required(&["b64"])?;
    words.finish()?;
    let operands = form.instruction.operands.len();
    let least = if expects || !may_complete { 3 } else { 2 };
    if expects && !may_complete || !(least..=3).contains(&operands) {
        return Err(form.refuse(format!("{operands} operands")));
    }
    let state = match form.operand(0)? {
        Operand::Sink => None,
        _ if window == Window::Cluster => return Err(form.refuse("a result from another block")),
        register => Some(form.destination::<u64>(register)?),
    };
    let number = match operands {
        3 => Some(form.source::<u32>(form.operand(2)?)?),
        _ => None,
    };
    let (count, expected_bytes) = if expects {
        (None, number)
    } else {
        (number, None)
    };
    let operation = Mbarrier::Arrive {
        arrival: Arrival {
            drops,
            may_complete,
            order,
        },
        count: count.unwrap_or(Source::Constant(1)),
        expected_bytes,
        state,
    };
    Ok(Instruction::Mbarrier(
        address(form, 1, window, places)?,
        operation,
    ))
}

/// `cp.async.mbarrier.arrive`, of which `async` has been taken.
pub fn arrive_after_copies(
    form: &Form<'_>,
    mut words: Words<'_>,
    places: Places<'_>,
) -> Result<Instruction, Refusal> {
    words.required(&["mbarrier"])?;
    words.required(&["arrive"])?;
    let increments = !words.flag("noinc");
    let window = shared_window(&mut words, false);
    words.required(&["b64"])?;
    words.finish()?;
    form.count(1)?;
    let operation = Mbarrier::ArriveAfterCopies { increments };
    Ok(Instruction::Mbarrier(
        address(form, 0, window, places)?,
        operation,
    ))
}

fn cluster_barrier(form: &Form<'_>) -> Result<Instruction, Refusal> {
    let mut words = form.words();
    words.required(&["cluster"])?;
    let arrives = words.required(&["arrive", "wait"])? == "arrive";
    let order = words.choice(if arrives {
        &["release", "relaxed"]
    } else {
        &["acquire"]
    });
    let releases = order != Some("relaxed");
    let is_aligned = words.flag("aligned");
    words.finish()?;
    form.count(0)?;
    Ok(match arrives {
        true => Instruction::ClusterArrive {
            is_aligned,
            releases,
        },
        false => Instruction::ClusterWait { is_aligned },
    })
}

fn map_address(form: &Form<'_>) -> Result<Instruction, Refusal> {
    let mut words = form.words();
    let window = match words.choice(&["shared::cluster"]) {
        Some(_) => Window::Cluster,
        None => Window::Generic,
    };
    let wide = words.required(&["u32", "u64"])? == "u64";
    words.finish()?;
    let maps = form.opcode() == "mapa";
    form.count(if maps { 3 } else { 2 })?;
    if !wide && window == Window::Generic {
        return Err(form.refuse("generic addresses of 32 bits"));
    }
    let destination = form.operand(0)?;
    let source = form.operand(1)?;
    let mapped = match (maps, wide) {
        (true, false) => MapAddress::Narrow(
            form.destination::<u32>(destination)?,
            form.source(source)?,
            form.source(form.operand(2)?)?,
        ),
        (true, true) => MapAddress::Wide(
            form.destination::<u64>(destination)?,
            form.source(source)?,
            form.source(form.operand(2)?)?,
            window,
        ),
        (false, false) => {
            MapAddress::RankNarrow(form.destination::<u32>(destination)?, form.source(source)?)
        }
        (false, true) => MapAddress::RankWide(
            form.destination::<u32>(destination)?,
            form.source(source)?,
            window,
        ),
    };
    Ok(Instruction::Map(mapped))
}

/// ISA: a multiple of 8 from 24 to 256.
fn set_registers(form: &Form<'_>) -> Result<Instruction, Refusal> {
    let mut words = form.words();
    let grows = words.required(&["inc", "dec"])? == "inc";
    words.required(&["sync"])?;
    words.required(&["aligned"])?;
    words.required(&["u32"])?;
    words.finish()?;
    form.count(1)?;
    let count = form.immediate(form.operand(0)?)?;
    if !(24..=256).contains(&count) || count % 8 != 0 {
        return Err(form.refuse(format!("{count} registers")));
    }
    Ok(Instruction::SetRegisters {
        count: count as u32,
        grows,
    })
}

/// The registers of coordinates and their like are 32 bits wide.
pub fn coordinates(form: &Form<'_>, list: &[Operand]) -> Result<Vec<Source<u32>>, Refusal> {
    let mut sources = Vec::new();
    for operand in list {
        if let Operand::Register(_) = operand
            && form.slot_of(operand)?.bank != Bank::B32
        {
            return Err(form.refuse("coordinates that are not of 32 bits"));
        }
        sources.push(form.source(operand)?);
    }
    Ok(sources)
}
