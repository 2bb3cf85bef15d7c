//! `cp.async`, `cp.async.bulk`, `cp.async.bulk.tensor`, `cp.reduce.async.bulk` and what goes with
//! them, decoded ("Data Movement and Conversion Instructions: Asynchronous copy").

use super::decode::{self, Address, Instruction};
use super::engine::Groups;
use super::transfer::{Reduction, Update};
use crate::machine::access::Places;
use crate::machine::atomic;
use crate::machine::decode::{Form, Predicate, Refusal, Source, Words};
use crate::machine::memory::Window;
use crate::machine::registers::Bank;
use crate::parse::{Operand, Type};

#[derive(Clone, Debug)]
pub enum Copy {
    /// `cp.async`
    Small {
        to: Address,
        from: Address,
        bytes: u64,
        source: SourceBytes,
    },
    Bulk {
        to: Address,
        from: Address,
        bytes: Source<u32>,
        reduction: Option<Reduction>,
        end: End,
    },
    TensorLoad {
        to: Address,
        box_of: TensorBox,
        end: End,
    },
    TensorStore {
        from: Address,
        box_of: TensorBox,
        /// The name of a reduction.
        reduction: Option<&'static str>,
    },
    /// `cp.async.bulk.prefetch`, a hint: its operands are checked.
    Prefetch {
        from: Address,
        bytes: Source<u32>,
    },
    TensorPrefetch(TensorBox),
}

/// How many bytes of the source a small copy reads; the others are zeros.
#[derive(Clone, Copy, Debug)]
pub enum SourceBytes {
    All,
    Some(Source<u32>),
    /// None where the predicate holds.
    Unless(Predicate),
}

/// The tensor map's address, and the coordinates.
#[derive(Clone, Debug)]
pub struct TensorBox {
    pub map: Address,
    pub start: Vec<Source<u32>>,
}

/// How its completion is observed.
#[derive(Clone, Debug)]
pub enum End {
    Group,
    Mbarrier {
        at: Address,
        /// A bit for each rank of the cluster.
        multicast: Option<Source<u16>>,
    },
}

pub fn decode(form: &Form<'_>, places: Places<'_>) -> Result<Instruction, Refusal> {
    let mut words = form.words();
    let reduces = words.flag("reduce");
    words.required(&["async"])?;
    let mnemonic = &form.instruction.mnemonic;
    if words.flag("bulk") {
        return bulk(form, words, reduces, places);
    }
    if reduces {
        return Err(form.refuse("a reduction that is no bulk copy"));
    }
    if mnemonic.has("mbarrier") {
        return decode::arrive_after_copies(form, words, places);
    }
    match words.choice(&["commit_group", "wait_group", "wait_all"]) {
        Some("wait_all") => {
            words.finish()?;
            form.count(0)?;
            Ok(Instruction::WaitAll)
        }
        Some(word) => group(form, words, Groups::Copies, word),
        None => small(form, words, places).map(Instruction::Copy),
    }
}

fn group(
    form: &Form<'_>,
    mut words: Words<'_>,
    groups: Groups,
    word: &str,
) -> Result<Instruction, Refusal> {
    let waits = word == "wait_group";
    let reads = waits && groups == Groups::Bulk && words.flag("read");
    words.finish()?;
    form.count(usize::from(waits))?;
    if !waits {
        return Ok(Instruction::Commit(groups));
    }
    Ok(Instruction::WaitGroups {
        groups,
        pending: form.immediate(form.operand(0)?)? as usize,
        reads,
    })
}

fn cache_hint(words: &mut Words<'_>) -> bool {
    words.flag("L2::cache_hint")
}

/// Takes a cache policy, the last operand, away from their number.
fn without_policy(form: &Form<'_>, has_policy: bool) -> Result<usize, Refusal> {
    let operands = form.instruction.operands.len();
    if !has_policy {
        return Ok(operands);
    }
    let last = operands.checked_sub(1);
    let last = last.ok_or_else(|| form.refuse("no operands"))?;
    form.source::<u64>(form.operand(last)?)?;
    Ok(last)
}

fn small(form: &Form<'_>, mut words: Words<'_>, places: Places<'_>) -> Result<Copy, Refusal> {
    let level = words.required(&["ca", "cg"])?;
    words.required(&["shared", "shared::cta"])?;
    words.required(&["global"])?;
    let has_policy = cache_hint(&mut words);
    words.choice(&["L2::64B", "L2::128B", "L2::256B"]);
    words.finish()?;
    let operands = without_policy(form, has_policy)?;
    if !matches!(operands, 3 | 4) {
        return Err(form.refuse(format!("{operands} operands")));
    }
    let bytes = form.immediate(form.operand(2)?)?;
    if !matches!((level, bytes), ("ca", 4 | 8) | (_, 16)) {
        return Err(form.refuse(format!("{bytes} bytes")));
    }
    let source = match operands {
        3 => SourceBytes::All,
        _ => match form.operand(3)? {
            register @ Operand::Register(_) if form.slot_of(register)?.bank == Bank::Predicate => {
                SourceBytes::Unless(form.predicate(register)?)
            }
            negated @ Operand::Not(_) => SourceBytes::Unless(form.predicate(negated)?),
            size => SourceBytes::Some(form.source(size)?),
        },
    };
    Ok(Copy::Small {
        to: decode::address(form, 0, Window::Shared, places)?,
        from: decode::address(form, 1, Window::Global, places)?,
        bytes,
        source,
    })
}

const SPACES: [&str; 3] = ["global", "shared::cta", "shared::cluster"];

fn window(word: &str) -> Window {
    match word {
        "global" => Window::Global,
        "shared::cta" => Window::Shared,
        _ => Window::Cluster,
    }
}

fn bulk(
    form: &Form<'_>,
    mut words: Words<'_>,
    reduces: bool,
    places: Places<'_>,
) -> Result<Instruction, Refusal> {
    if !reduces {
        if let Some(word) = words.choice(&["commit_group", "wait_group"]) {
            return group(form, words, Groups::Bulk, word);
        }
        if words.flag("prefetch") {
            return prefetch(form, words, places).map(Instruction::Copy);
        }
    }
    if words.flag("tensor") {
        return tensor(form, words, reduces, places).map(Instruction::Copy);
    }
    let (to, from) = (words.required(&SPACES)?, words.required(&SPACES)?);
    let by_mbarrier = completion(&mut words)?;
    let multicast = by_mbarrier && words.flag("multicast::cluster");
    let has_policy = cache_hint(&mut words);
    let reduction = match reduces {
        true => Some(reduction(form, &mut words)?),
        false => None,
    };
    words.finish()?;
    match (to, from, by_mbarrier) {
        ("shared::cta" | "shared::cluster", "global", true) if !reduces => {}
        ("shared::cluster", "shared::cta", true) if !multicast => {}
        ("global", "shared::cta", false) => {}
        _ => return Err(form.refuse(format!("from {from} to {to} with this completion"))),
    }
    let operands = without_policy(form, has_policy)?;
    let end = end(form, (by_mbarrier, multicast), (3, operands), places)?;
    Ok(Instruction::Copy(Copy::Bulk {
        to: decode::address(form, 0, window(to), places)?,
        from: decode::address(form, 1, window(from), places)?,
        bytes: form.source(form.operand(2)?)?,
        reduction,
        end,
    }))
}

/// Whether an mbarrier observes the completion, and not a group.
fn completion(words: &mut Words<'_>) -> Result<bool, Refusal> {
    let word = words.required(&["mbarrier::complete_tx::bytes", "bulk_group"])?;
    Ok(word != "bulk_group")
}

/// The operands behind the first `before`.
fn end(
    form: &Form<'_>,
    (by_mbarrier, multicast): (bool, bool),
    (before, operands): (usize, usize),
    places: Places<'_>,
) -> Result<End, Refusal> {
    let expected = before + usize::from(by_mbarrier) + usize::from(multicast);
    if operands != expected {
        return Err(form.refuse(format!("{operands} operands, not {expected}")));
    }
    if !by_mbarrier {
        return Ok(End::Group);
    }
    let multicast = match multicast {
        true => Some(form.source::<u16>(form.operand(before + 1)?)?),
        false => None,
    };
    Ok(End::Mbarrier {
        at: decode::address(form, before, Window::Cluster, places)?,
        multicast,
    })
}

const REDUCTIONS: [&str; 8] = ["add", "min", "max", "inc", "dec", "and", "or", "xor"];

fn reduction(form: &Form<'_>, words: &mut Words<'_>) -> Result<Reduction, Refusal> {
    let name = words.required(&REDUCTIONS)?;
    let keeps_subnormals = words.flag("noftz");
    let ty = words.ty()?;
    if keeps_subnormals != (matches!(ty, Type::F16 | Type::Bf16) && name == "add") {
        return Err(form.refuse("`.noftz` goes with sums of half precision"));
    }
    let update = update(name, ty);
    let update = update.ok_or_else(|| form.refuse(format!("`.{name}` of `.{ty}`")))?;
    Ok(Reduction {
        bytes: ty.bytes() as u64,
        update,
    })
}

/// ISA: sums of `.f32` flush subnormal operands and results to zero, and keep the sign.
pub fn update(name: &str, ty: Type) -> Option<Update> {
    match (name, ty) {
        ("add", Type::F32) => Some(|old, operand, _| {
            let flushed = |bits: u32| match f32::from_bits(bits).is_subnormal() {
                true => bits & 1 << 31,
                false => bits,
            };
            let [a, b] = [old, operand].map(|bits| f32::from_bits(flushed(bits as u32)));
            let sum = a + b;
            match sum.is_nan() {
                true => 0x7fff_ffff,
                false => flushed(sum.to_bits()).into(),
            }
        }),
        ("add", Type::F16x2 | Type::Bf16x2) => None,
        _ => atomic::update(name, ty),
    }
}

fn dimensions(words: &mut Words<'_>) -> Result<usize, Refusal> {
    let word = words.required(&["1d", "2d", "3d", "4d", "5d"])?;
    Ok(usize::from(word.as_bytes()[0] - b'0'))
}

fn tensor(
    form: &Form<'_>,
    mut words: Words<'_>,
    reduces: bool,
    places: Places<'_>,
) -> Result<Copy, Refusal> {
    let dimensions = dimensions(&mut words)?;
    let (to, from) = (words.required(&SPACES)?, words.required(&SPACES)?);
    let reduction = match reduces {
        true => {
            let found = words.required(&REDUCTIONS)?;
            REDUCTIONS.into_iter().find(|name| *name == found)
        }
        false => None,
    };
    words.flag("tile");
    let by_mbarrier = completion(&mut words)?;
    let multicast = by_mbarrier && words.flag("multicast::cluster");
    let has_policy = cache_hint(&mut words);
    words.finish()?;
    let operands = without_policy(form, has_policy)?;
    match (to, from, by_mbarrier) {
        ("shared::cta" | "shared::cluster", "global", true) if !reduces => {
            let end = end(form, (true, multicast), (2, operands), places)?;
            Ok(Copy::TensorLoad {
                to: decode::address(form, 0, window(to), places)?,
                box_of: tensor_box(form, 1, dimensions, places)?,
                end,
            })
        }
        ("global", "shared::cta", false) => {
            end(form, (false, false), (2, operands), places)?;
            Ok(Copy::TensorStore {
                from: decode::address(form, 1, Window::Shared, places)?,
                box_of: tensor_box(form, 0, dimensions, places)?,
                reduction,
            })
        }
        _ => Err(form.refuse(format!("from {from} to {to} with this completion"))),
    }
}

/// `[map, {c0, c1}]`
fn tensor_box(
    form: &Form<'_>,
    operand: usize,
    dimensions: usize,
    places: Places<'_>,
) -> Result<TensorBox, Refusal> {
    let Operand::Memory {
        address,
        coordinates,
    } = form.operand(operand)?
    else {
        return Err(form.refuse("an operand that is no memory"));
    };
    if coordinates.len() != dimensions {
        let count = coordinates.len();
        return Err(form.refuse(format!("{count} coordinates for {dimensions} dimensions")));
    }
    let base = Operand::Memory {
        address: address.clone(),
        coordinates: Vec::new(),
    };
    let (pointer, window) = crate::machine::access::pointer(form, &base, Window::Generic, places)?;
    Ok(TensorBox {
        map: Address { pointer, window },
        start: decode::coordinates(form, coordinates)?,
    })
}

fn prefetch(form: &Form<'_>, mut words: Words<'_>, places: Places<'_>) -> Result<Copy, Refusal> {
    if words.flag("tensor") {
        let dimensions = dimensions(&mut words)?;
        words.required(&["L2"])?;
        words.required(&["global"])?;
        words.flag("tile");
        let has_policy = cache_hint(&mut words);
        words.finish()?;
        let operands = without_policy(form, has_policy)?;
        end(form, (false, false), (1, operands), places)?;
        return Ok(Copy::TensorPrefetch(tensor_box(
            form, 0, dimensions, places,
        )?));
    }
    words.required(&["L2"])?;
    words.required(&["global"])?;
    let has_policy = cache_hint(&mut words);
    words.finish()?;
    let operands = without_policy(form, has_policy)?;
    end(form, (false, false), (2, operands), places)?;
    Ok(Copy::Prefetch {
        from: decode::address(form, 0, Window::Global, places)?,
        bytes: form.source(form.operand(1)?)?,
    })
}
