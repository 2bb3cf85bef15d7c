//! Instructions by several lanes of a warp together: `shfl.sync`, `vote.sync`, `match.sync`,
//! `redux.sync`, `elect.sync`, `bar.warp.sync`.

use super::decode::{Form, Predicate, Refusal, Source};
use super::marks::{Bytes, mask_of};
use super::registers::{Bank, LANES, Lane, Mask, Registers, Row, Slot, lanes};
use crate::parse::{Operand, Type};

#[derive(Clone, Debug)]
pub struct Collective {
    /// The lanes that each lane waits for.
    members: Source<u32>,
    kind: Kind,
    result: Option<usize>,
    predicate: Option<usize>,
}

#[derive(Clone, Debug)]
enum Kind {
    Shuffle {
        mode: Shuffle,
        a: Source<u32>,
        b: Source<u32>,
        c: Source<u32>,
    },
    Vote(Vote, Predicate),
    MatchAny(Value),
    MatchAll(Value),
    Reduce(Source<u32>, fn(u32, u32) -> u32),
    Elect,
    Meet,
}

#[derive(Clone, Copy, Debug)]
enum Shuffle {
    Up,
    Down,
    Butterfly,
    Index,
}

#[derive(Clone, Copy, Debug)]
enum Vote {
    All,
    Any,
    Uniform,
    Ballot,
}

#[derive(Clone, Copy, Debug)]
enum Value {
    B32(Source<u32>),
    B64(Source<u64>),
}

impl Value {
    fn row(self, registers: &Registers) -> Row<u64> {
        match self {
            Value::B32(source) => source.row(registers).map(u64::from),
            Value::B64(source) => source.row(registers),
        }
    }
}

impl Collective {
    /// Whether it orders the memory accesses of its lanes: only `bar.warp.sync` does.
    pub fn orders_memory(&self) -> bool {
        matches!(self.kind, Kind::Meet)
    }

    /// Marks of the results, from those of the sources: of the value, and of the predicate. `None`
    /// for a mark of a member mask.
    pub fn marks(
        &self,
        registers: &Registers,
        active: Mask,
        of: &dyn Fn(Slot) -> Row<Bytes>,
    ) -> Option<(Row<Bytes>, Mask)> {
        let marked = |slot: Option<Slot>| slot.map_or(0, |slot| mask_of(&of(slot)));
        if marked(self.members.slot()) & active != 0 {
            return None;
        }
        let members = self.members.row(registers).map(|mask| mask & active);
        let source = match &self.kind {
            Kind::Meet | Kind::Elect => return Some(([0; LANES], 0)),
            Kind::Shuffle { mode, a, b, c } => {
                let a = a.slot().map_or([0; LANES], of).map(u32::from);
                let chosen = marked(b.slot()) | marked(c.slot());
                let rows = [a, b.row(registers), c.row(registers)];
                let (row, _) = shuffle(*mode, &rows, &members, active).unwrap_or_default();
                let full = |lane: usize| u8::MAX * (chosen >> lane & 1) as u8;
                return Some((
                    std::array::from_fn(|lane| row[lane] as u8 | full(lane)),
                    chosen,
                ));
            }
            Kind::Vote(_, predicate) => predicate.slot(),
            Kind::MatchAny(value) | Kind::MatchAll(value) => match value {
                Value::B32(source) => source.slot(),
                Value::B64(source) => source.slot(),
            },
            Kind::Reduce(source, _) => source.slot(),
        };
        let marked = marked(source);
        let depends = |lane: usize| members[lane] & marked != 0;
        let row = std::array::from_fn(|lane| if depends(lane) { u8::MAX } else { 0 });
        Some((row, mask_of(&row)))
    }

    /// The registers of the results.
    pub fn results(&self) -> (Option<Slot>, Option<Slot>) {
        let slot = |bank: Bank| move |index: usize| Slot { bank, index };
        (
            self.result.map(slot(Bank::B32)),
            self.predicate.map(slot(Bank::Predicate)),
        )
    }

    /// The lanes without which `active` cannot execute it.
    ///
    /// # Errors
    ///
    /// A lane that is not a member of its own mask.
    pub fn awaited(&self, registers: &Registers, active: Mask) -> Result<Mask, (usize, String)> {
        let members = self.members.row(registers);
        let mut all = 0;
        for lane in lanes(active) {
            if members[lane] >> lane & 1 == 0 {
                let mask = members[lane];
                return Err((
                    lane,
                    format!("this lane is not in its member mask {mask:#x}"),
                ));
            }
            all |= members[lane];
        }
        Ok(all)
    }

    /// All lanes of `active` at once; the member masks of each have no other lanes that still run.
    ///
    /// # Errors
    ///
    /// A lane that reads a register of a lane that does not take part.
    pub fn execute(
        &self,
        registers: &mut Registers,
        active: Mask,
        elected: impl Fn(Mask) -> usize,
    ) -> Result<(), (usize, String)> {
        let members = self.members.row(registers).map(|mask| mask & active);
        let (row, truth) = match &self.kind {
            Kind::Meet => return Ok(()),
            Kind::Shuffle { mode, a, b, c } => {
                let rows = [a.row(registers), b.row(registers), c.row(registers)];
                shuffle(*mode, &rows, &members, active)?
            }
            Kind::Vote(vote, predicate) => count(*vote, predicate.lanes(registers), &members),
            Kind::MatchAny(value) => {
                let values = value.row(registers);
                let same = |lane: usize| {
                    let equal = |other: &usize| values[*other] == values[lane];
                    lanes(members[lane])
                        .filter(equal)
                        .fold(0, |mask, other| mask | 1 << other)
                };
                (std::array::from_fn(same), 0)
            }
            Kind::MatchAll(value) => {
                let values = value.row(registers);
                let all =
                    |lane: usize| lanes(members[lane]).all(|other| values[other] == values[lane]);
                let truth = lanes(active)
                    .filter(|lane| all(*lane))
                    .fold(0, |mask, lane| mask | 1 << lane);
                let row = |lane: usize| {
                    if truth >> lane & 1 == 1 {
                        members[lane]
                    } else {
                        0
                    }
                };
                (std::array::from_fn(row), truth)
            }
            Kind::Reduce(source, f) => {
                let values = source.row(registers);
                let total = |lane: usize| lanes(members[lane]).map(|lane| values[lane]).reduce(f);
                (std::array::from_fn(|lane| total(lane).unwrap_or(0)), 0)
            }
            Kind::Elect => {
                let leaders = members.map(|mask| if mask == 0 { 0 } else { elected(mask) as u32 });
                let is_leader = |lane: &usize| leaders[*lane] as usize == *lane;
                let truth = lanes(active)
                    .filter(is_leader)
                    .fold(0, |mask, lane| mask | 1 << lane);
                (leaders, truth)
            }
        };
        if let Some(result) = self.result {
            u32::put(registers, result, active, &row);
        }
        if let Some(predicate) = self.predicate {
            registers.set_predicate(predicate, active, truth);
        }
        Ok(())
    }
}

/// The ISA's pseudocode of `shfl`.
fn shuffle(
    mode: Shuffle,
    [a, b, c]: &[Row<u32>; 3],
    members: &Row<Mask>,
    active: Mask,
) -> Result<(Row<u32>, Mask), (usize, String)> {
    let mut row = [0; LANES];
    let mut truth = 0;
    for lane in lanes(active) {
        let own = lane as i32;
        let (b, clamp) = ((b[lane] & 31) as i32, (c[lane] & 31) as i32);
        let segment = (c[lane] >> 8 & 31) as i32;
        let largest = own & segment | clamp & !segment;
        let smallest = own & segment;
        let (source, in_range) = match mode {
            Shuffle::Up => (own - b, own - b >= largest),
            Shuffle::Down => (own + b, own + b <= largest),
            Shuffle::Butterfly => (own ^ b, own ^ b <= largest),
            Shuffle::Index => {
                let source = smallest | b & !segment;
                (source, source <= largest)
            }
        };
        let source = if in_range { source as usize } else { lane };
        if members[lane] >> source & 1 == 0 {
            return Err((
                lane,
                format!("it reads lane {source}, which does not take part"),
            ));
        }
        row[lane] = a[source];
        truth |= u32::from(in_range) << lane;
    }
    Ok((row, truth))
}

/// The ballot, and the truth of each lane.
fn count(vote: Vote, predicate: Mask, members: &Row<Mask>) -> (Row<u32>, Mask) {
    let ballots = members.map(|mask| mask & predicate);
    let truth = |lane: usize| match vote {
        Vote::All => ballots[lane] == members[lane],
        Vote::Any => ballots[lane] != 0,
        Vote::Uniform => ballots[lane] == members[lane] || ballots[lane] == 0,
        Vote::Ballot => false,
    };
    let truths = (0..LANES)
        .filter(|lane| truth(*lane))
        .fold(0, |mask, lane| mask | 1 << lane);
    (ballots, truths)
}

/// The same lane for the same mask and seed, as the ISA demands.
pub fn elected(mask: Mask, seed: u64) -> usize {
    let mixed = (u64::from(mask) ^ seed.rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let skipped = match seed {
        0 => 0,
        _ => (mixed >> 33) as usize % mask.count_ones().max(1) as usize,
    };
    lanes(mask).nth(skipped).unwrap_or(0)
}

/// A destination `d`, `d|p` or `_|p`.
fn destinations(form: &Form<'_>) -> Result<(Option<usize>, Option<usize>), Refusal> {
    let value = |operand: &Operand| match operand {
        Operand::Sink => Ok(None),
        other => form.destination::<u32>(other).map(Some),
    };
    match form.operand(0)? {
        Operand::Pair(d, p) => Ok((value(d)?, Some(form.destination::<bool>(p)?))),
        d => Ok((value(d)?, None)),
    }
}

/// None for another opcode.
pub fn decode(form: &Form<'_>) -> Result<Option<Collective>, Refusal> {
    let collective = match form.opcode() {
        "shfl" => decode_shuffle(form)?,
        "vote" => decode_vote(form)?,
        "match" => decode_match(form)?,
        "redux" => decode_reduction(form)?,
        "elect" => {
            let mut words = form.words();
            words.required(&["sync"])?;
            words.finish()?;
            form.count(2)?;
            collective(form, Kind::Elect, destinations(form)?, 1)?
        }
        "bar" | "barrier" if form.instruction.mnemonic.has("warp") => {
            let mut words = form.words();
            words.required(&["warp"])?;
            words.required(&["sync"])?;
            words.finish()?;
            form.count(1)?;
            collective(form, Kind::Meet, (None, None), 0)?
        }
        _ => return Ok(None),
    };
    Ok(Some(collective))
}

fn collective(
    form: &Form<'_>,
    kind: Kind,
    (result, predicate): (Option<usize>, Option<usize>),
    members: usize,
) -> Result<Collective, Refusal> {
    Ok(Collective {
        members: form.source::<u32>(form.operand(members)?)?,
        kind,
        result,
        predicate,
    })
}

fn decode_shuffle(form: &Form<'_>) -> Result<Collective, Refusal> {
    let mut words = form.words();
    words.required(&["sync"])?;
    let mode = match words.required(&["up", "down", "bfly", "idx"])? {
        "up" => Shuffle::Up,
        "down" => Shuffle::Down,
        "bfly" => Shuffle::Butterfly,
        _ => Shuffle::Index,
    };
    words.required(&["b32"])?;
    words.finish()?;
    form.count(5)?;
    let source = |index: usize| form.source::<u32>(form.operand(index)?);
    let kind = Kind::Shuffle {
        mode,
        a: source(1)?,
        b: source(2)?,
        c: source(3)?,
    };
    collective(form, kind, destinations(form)?, 4)
}

fn decode_vote(form: &Form<'_>) -> Result<Collective, Refusal> {
    let mut words = form.words();
    words.required(&["sync"])?;
    let vote = match words.required(&["all", "any", "uni", "ballot"])? {
        "all" => Vote::All,
        "any" => Vote::Any,
        "uni" => Vote::Uniform,
        _ => Vote::Ballot,
    };
    let ballot = matches!(vote, Vote::Ballot);
    words.required(&[if ballot { "b32" } else { "pred" }])?;
    words.finish()?;
    form.count(3)?;
    let destination = match ballot {
        true => (Some(form.destination::<u32>(form.operand(0)?)?), None),
        false => (None, Some(form.destination::<bool>(form.operand(0)?)?)),
    };
    let kind = Kind::Vote(vote, form.predicate(form.operand(1)?)?);
    collective(form, kind, destination, 2)
}

fn decode_match(form: &Form<'_>) -> Result<Collective, Refusal> {
    let mut words = form.words();
    let all = words.required(&["any", "all"])? == "all";
    words.required(&["sync"])?;
    let ty = words.ty()?;
    words.finish()?;
    form.count(3)?;
    let value = match ty {
        Type::B32 => Value::B32(form.source(form.operand(1)?)?),
        Type::B64 => Value::B64(form.source(form.operand(1)?)?),
        other => return Err(form.refuse(format!("the type `.{other}`"))),
    };
    let kind = if all {
        Kind::MatchAll(value)
    } else {
        Kind::MatchAny(value)
    };
    let destinations = destinations(form)?;
    if !all && destinations.1.is_some() {
        return Err(form.refuse("a predicate"));
    }
    collective(form, kind, destinations, 2)
}

fn decode_reduction(form: &Form<'_>) -> Result<Collective, Refusal> {
    let mut words = form.words();
    words.required(&["sync"])?;
    let name = words.required(&["add", "min", "max", "and", "or", "xor"])?;
    let ty = words.ty()?;
    words.finish()?;
    form.count(3)?;
    let f: fn(u32, u32) -> u32 = match (name, ty) {
        ("add", Type::U32 | Type::S32) => u32::wrapping_add,
        ("min", Type::U32) => u32::min,
        ("max", Type::U32) => u32::max,
        ("min", Type::S32) => |a, b| a.cast_signed().min(b.cast_signed()).cast_unsigned(),
        ("max", Type::S32) => |a, b| a.cast_signed().max(b.cast_signed()).cast_unsigned(),
        ("and", Type::B32) => |a, b| a & b,
        ("or", Type::B32) => |a, b| a | b,
        ("xor", Type::B32) => |a, b| a ^ b,
        _ => return Err(form.refuse(format!("`.{name}` of `.{ty}`"))),
    };
    let kind = Kind::Reduce(form.source(form.operand(1)?)?, f);
    let destination = (Some(form.destination::<u32>(form.operand(0)?)?), None);
    collective(form, kind, destination, 2)
}
