//! Instructions that change nothing that a thread can see here: fences, prefetches, cache policies
//! and the order of dependent grids.
//!
//! Threads see each other's accesses in the order in which they are executed, and asynchronous
//! operations happen in memory itself, so fences only matter for the detection of races. Grids are executed one after the
//! other.

use super::access::{self, Places};
use super::decode::{Form, Refusal};
use super::memory::Window;
use super::order::{Fence, FencedSpace, Scope};
use super::registers::{LANES, Lane};
use super::step::Step;
use crate::parse::Operand;

/// ISA, "membar, fence" (with `fence.proxy`, `fence.mbarrier_init` and `.sync_restrict`).
pub fn fence(form: &Form<'_>, places: Places<'_>) -> Result<Step, Refusal> {
    let mut words = form.words();
    let mut fence = None;
    let scopes = ["cta", "cluster", "gpu", "sys"];
    let mut operands = 0;
    if form.opcode() == "membar" {
        match words.flag("proxy") {
            true => {
                let is_async = words.required(&["alias", "async"])? == "async";
                fence = is_async.then_some(Fence::Async(None));
            }
            false => {
                fence = Some(Fence::Threads(
                    match words.required(&["cta", "gl", "sys"])? {
                        "cta" => Scope::Block,
                        _ => Scope::Device,
                    },
                ));
            }
        }
    } else if words.flag("proxy") {
        let generic = ["tensormap::generic", "async::generic"];
        match words.choice(&generic) {
            Some("tensormap::generic") => {
                let acquires = words.required(&["acquire", "release"])? == "acquire";
                words.required(&scopes)?;
                operands = if acquires { 2 } else { 0 };
            }
            Some(_) => {
                let restricted = match words.required(&["acquire", "release"])? {
                    "acquire" => "sync_restrict::shared::cluster",
                    _ => "sync_restrict::shared::cta",
                };
                words.required(&[restricted])?;
                words.required(&["cluster"])?;
                fence = Some(Fence::Async(Some(FencedSpace::Shared)));
            }
            None => {
                if words.required(&["alias", "async"])? == "async" {
                    let space = words.choice(&["global", "shared::cta", "shared::cluster"]);
                    fence = Some(Fence::Async(space.map(|space| match space {
                        "global" => FencedSpace::Global,
                        _ => FencedSpace::Shared,
                    })));
                }
            }
        }
    } else if words.flag("mbarrier_init") {
        words.required(&["release"])?;
        words.required(&["cluster"])?;
        fence = Some(Fence::Initialised);
    } else {
        let order = words.choice(&["sc", "acq_rel", "acquire", "release"]);
        let restricted = match order {
            Some("acquire") => words.choice(&["sync_restrict::shared::cluster"]),
            Some("release") => words.choice(&["sync_restrict::shared::cta"]),
            _ => None,
        };
        let scope = words.required(if restricted.is_some() {
            &scopes[1..2]
        } else {
            &scopes
        })?;
        fence = Some(Fence::Threads(match scope {
            "cta" => Scope::Block,
            "cluster" => Scope::Cluster,
            _ => Scope::Device,
        }));
    }
    words.finish()?;
    form.count(operands)?;
    if operands == 2 {
        access::pointer(form, form.operand(0)?, Window::Generic, places)?;
        if form.immediate(form.operand(1)?)? != 128 {
            return Err(form.refuse("a size other than 128"));
        }
    }
    Ok(fence.map_or(Step::Nothing, Step::Fence))
}

pub fn prefetch(form: &Form<'_>, places: Places<'_>) -> Result<Step, Refusal> {
    let mut words = form.words();
    let window = access::window(&mut words);
    words.required(&["L1", "L2", "L2::evict_last", "L2::evict_normal"])?;
    words.finish()?;
    form.count(1)?;
    access::pointer(form, form.operand(0)?, window, places)?;
    Ok(Step::Nothing)
}

pub fn grid_dependency(form: &Form<'_>) -> Result<Step, Refusal> {
    let mut words = form.words();
    words.required(&["launch_dependents", "wait"])?;
    words.finish()?;
    form.count(0)?;
    Ok(Step::Nothing)
}

/// A policy is an opaque value, which only hints take.
const POLICY: u64 = 0x14f0_0000_0000_0000;

const PRIORITIES: [&str; 4] = [
    "L2::evict_last",
    "L2::evict_normal",
    "L2::evict_first",
    "L2::evict_unchanged",
];

pub fn policy(form: &Form<'_>) -> Result<Step, Refusal> {
    let mut words = form.words();
    let kind = words.required(&["fractional", "cvt"])?;
    if kind == "cvt" {
        words.required(&["L2"])?;
    } else {
        words.required(&PRIORITIES)?;
        words.choice(&["L2::evict_first", "L2::evict_unchanged"]);
    }
    words.required(&["b64"])?;
    words.finish()?;
    let operands = form.instruction.operands.len();
    match (kind, operands) {
        ("fractional", 1) => {}
        ("fractional", 2) => match form.operand(1)? {
            Operand::Double(_) => {}
            fraction => drop(form.source::<f32>(fraction)?),
        },
        ("cvt", 2) => drop(form.source::<u64>(form.operand(1)?)?),
        _ => return Err(form.refuse(format!("{operands} operands"))),
    }
    let result = form.destination::<u64>(form.operand(0)?)?;
    Ok(Step::Lanes(Box::new(move |registers, mask| {
        u64::put(registers, result, mask, &[POLICY; LANES]);
    })))
}
