//! The last accesses to each four bytes of memory.
//!
//! A granule has the last write and the last read; when there are more that are not ordered among
//! each other, or accesses to some of its bytes, a set of them.

use std::ops::Range;

use super::clock::WarpClock;
use super::record::{Domain, Effect, Kind, Record};
use super::view::{FencedSpace, Time, View};
use crate::machine::registers::{Mask, lanes};

pub const GRANULE: u64 = 4;

pub const ALL_BYTES: u8 = 0xf;

/// An access in a granule: a record, and which of its lanes; or a set. 0 for none.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Code(pub u32);

pub const LANE_BITS: u32 = 6;
/// All lanes of the record.
pub const ALL_LANES: u32 = 32;
/// The index is that of a set.
pub const SET: u32 = 33;

impl Code {
    pub fn index(self) -> usize {
        (self.0 >> LANE_BITS) as usize
    }

    pub fn field(self) -> u32 {
        self.0 & ((1 << LANE_BITS) - 1)
    }

    pub fn is_set(self) -> bool {
        self.field() == SET
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    pub record: u32,
    pub lanes: Mask,
    pub bytes: u8,
}

/// Of one allocation or of a block's shared memory.
#[derive(Default)]
pub struct Shadow {
    pub writes: Vec<Code>,
    pub reads: Vec<Code>,
}

impl Shadow {
    pub fn new(bytes: u64) -> Shadow {
        let granules = bytes.div_ceil(GRANULE) as usize;
        Shadow {
            writes: zeros(granules),
            reads: zeros(granules),
        }
    }
}

/// Memory that the system provides as zeros when it is first used.
fn zeros(count: usize) -> Vec<Code> {
    vec![0_u32; count].into_iter().map(Code).collect()
}

#[derive(Clone, Copy, Default)]
struct BlockState {
    has_exited: bool,
    /// When one of its threads last released something beyond the block.
    released: Time,
}

/// What is remembered of consecutive granules.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    None,
    /// A record, of whose lanes each has accessed one.
    Row(usize),
}

impl State {
    fn of(codes: &[Code], lane: u32) -> Option<State> {
        let first = codes.first()?.0;
        let step = u32::from(first != 0);
        let differs = |bits, (at, code): (u32, &Code)| bits | (code.0 ^ (first + step * at));
        if (0..).zip(codes).fold(0, differs) != 0 {
            return None;
        }
        match first {
            0 => Some(State::None),
            _ if Code(first).field() == lane => Some(State::Row(Code(first).index())),
            _ => None,
        }
    }
}

fn fill(codes: &mut [Code], first: u32) {
    for (at, code) in (0..).zip(codes) {
        *code = Code(first + at);
    }
}

/// Two accesses that nothing orders.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Race {
    pub earlier: Record,
    pub earlier_lane: usize,
    pub later: Kind,
    pub later_lane: usize,
    pub granule: usize,
    pub cause: Cause,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    Unordered,
    /// A proxy fence is missing.
    Proxy,
    /// `ld.global.nc` of what the launch has written.
    ReadOnly,
    /// The exit of a block is not ordered after it.
    Exit,
}

/// An access by lanes of a warp to bytes of one granule.
#[derive(Clone, Copy)]
pub struct Part {
    pub space: FencedSpace,
    pub granule: usize,
    pub lanes: Mask,
    pub bytes: u8,
}

/// A copy to shared memory over an earlier one, both by the async proxy. CUTLASS's consumers in other
/// blocks of a cluster arrive at the producer's mbarrier with the scope of their block, which orders
/// only their reads; the producer then fills the slot again. The thread that arrives has waited for the
/// earlier copy, so it is complete, and no thread can see its bytes after those of the later one.
pub fn is_copy_over_copy(earlier: &Record, later: Kind, space: FencedSpace) -> bool {
    let copies =
        |kind: Kind| kind.is_async && kind.effect == Effect::Write && kind.strong.is_none();
    space == FencedSpace::Shared
        && copies(later)
        && copies(earlier.kind)
        && earlier.agent.is_operation()
}

/// The last access to a granule with a set, and that set before and after it. What a thread has seen only
/// grows, so that the same access to another granule with the same accesses is no race either, and leaves
/// the same behind.
#[derive(Default)]
pub struct Last {
    pub of: Option<(u32, FencedSpace, Mask, u8)>,
    pub before: Vec<Entry>,
    pub after: Vec<Entry>,
}

pub struct Table {
    pub last: Last,
    pub records: Vec<Record>,
    pub sets: Vec<Vec<Entry>>,
    /// Sets that are not used.
    pub free: Vec<u32>,
    blocks: Vec<BlockState>,
    /// Blocks of a cluster have consecutive indices.
    pub cluster_blocks: u32,
}

impl Table {
    pub fn new(cluster_blocks: u32) -> Table {
        let agent = super::view::Agent { block: 0, index: 0 };
        let none = Record {
            agent,
            time: 0,
            site: 0,
            mask: 0,
            kind: Kind::weak(Effect::Read),
        };
        Table {
            last: Last::default(),
            // No code has index 0.
            records: vec![none],
            sets: Vec::new(),
            free: Vec::new(),
            blocks: Vec::new(),
            cluster_blocks,
        }
    }

    fn state(&mut self, block: u32) -> &mut BlockState {
        let index = block as usize;
        if self.blocks.len() <= index {
            self.blocks.resize(index + 1, BlockState::default());
        }
        &mut self.blocks[index]
    }

    pub fn exits(&mut self, block: u32) {
        self.state(block).has_exited = true;
    }

    pub fn releases_beyond(&mut self, block: u32, now: Time) {
        self.state(block).released = now;
    }

    /// Nobody outside of its block will ever be ordered after it.
    pub fn is_final(&self, record: &Record) -> bool {
        let state = self.blocks.get(record.agent.block as usize);
        state.is_some_and(|state| state.has_exited && state.released < record.time)
            && !record.agent.is_operation()
    }

    /// The number of the record of such an access.
    ///
    /// # Errors
    ///
    /// There are too many.
    pub fn record(&mut self, clock: &mut WarpClock, new: Record) -> Result<u32, String> {
        let key = (new.site, new.time, new.mask, new.kind);
        if let Some(found) = clock.recent.find(key) {
            return Ok(found);
        }
        let index = self.records.len() as u32;
        if index >> (32 - LANE_BITS) != 0 {
            return Err("the launch is too long for the detection of races".to_owned());
        }
        self.records.push(new);
        clock.recent.put(key, index);
        Ok(index)
    }

    pub fn domain(&self, block: u32) -> Domain {
        let cluster = block / self.cluster_blocks;
        Domain { block, cluster }
    }

    pub fn lanes_of(&self, code: Code) -> Mask {
        match code.field() {
            ALL_LANES => self.records[code.index()].mask,
            lane => 1 << lane,
        }
    }

    /// The lanes of whose part in an access those who know the view are ordered after, themselves not
    /// counted. `reads_suffice`: what orders a read is enough ([`is_copy_over_copy`]).
    #[inline]
    pub fn seen(
        &self,
        clock: &WarpClock,
        view: &View,
        record: &Record,
        reads_suffice: bool,
    ) -> Mask {
        if record.time <= clock.floor
            && record.agent.block == clock.agent.block
            && !record.agent.is_operation()
        {
            return Mask::MAX;
        }
        match record.kind.effect == Effect::Write && !reads_suffice {
            true => view.all.lanes(record.agent, record.time),
            false => view.lanes_of_reads(record.agent, record.time),
        }
    }

    /// Whether all of the lanes are ordered after the access.
    #[inline]
    fn all_see(&self, clock: &WarpClock, lanes: Mask, code: Code) -> bool {
        let record = &self.records[code.index()];
        let theirs = self.lanes_of(code);
        let is_own = record.agent == clock.agent;
        if is_own && theirs == lanes && lanes.is_power_of_two() {
            return true;
        }
        clock.views(lanes).all(|(lanes, view)| {
            let unseen = theirs & !self.seen(clock, view, record, false);
            unseen == 0 || is_own && self::lanes(lanes).all(|lane| unseen & !(1 << lane) == 0)
        })
    }

    /// Whether everything that is ordered after the lanes' new access is ordered after the old one.
    #[inline]
    pub fn is_subsumed(
        &self,
        clock: &WarpClock,
        lanes: Mask,
        (record, theirs): (&Record, Mask),
        reads_suffice: bool,
    ) -> bool {
        if record.agent == clock.agent && theirs & !lanes == 0 {
            return true;
        }
        let own = if record.agent == clock.agent {
            lanes
        } else {
            0
        };
        let first = clock.view(lanes.trailing_zeros() as usize);
        theirs & !own & !self.seen(clock, first, record, reads_suffice) == 0
    }

    /// Checks the access against those before it, and remembers it.
    ///
    /// # Errors
    ///
    /// An access that conflicts with it and is not ordered before it.
    #[inline]
    pub fn access(
        &mut self,
        clock: &WarpClock,
        shadow: &mut Shadow,
        number: u32,
        part: Part,
    ) -> Result<(), Race> {
        let kind = self.records[number as usize].kind;
        let is_simple = part.bytes == ALL_BYTES && kind.strong.is_none() && !kind.is_async;
        if is_simple && (kind.effect != Effect::ReadOnly || shadow.writes[part.granule].0 == 0) {
            let code = match part.lanes.is_power_of_two() {
                true => Code(number << LANE_BITS | part.lanes.trailing_zeros()),
                false => Code(number << LANE_BITS | ALL_LANES),
            };
            let (write, read) = (shadow.writes[part.granule], shadow.reads[part.granule]);
            if read == code && write.0 == 0 {
                return Ok(());
            }
            let ordered =
                |old: Code| old.0 == 0 || !old.is_set() && self.all_see(clock, part.lanes, old);
            if kind.writes() {
                if ordered(write) && ordered(read) {
                    shadow.writes[part.granule] = code;
                    shadow.reads[part.granule] = Code(0);
                    return Ok(());
                }
            } else if !read.is_set()
                && (ordered(write) || kind.effect == Effect::Same && !write.is_set())
            {
                if read.0 == 0 {
                    shadow.reads[part.granule] = code;
                    return Ok(());
                }
                let record = &self.records[read.index()];
                let old = (record, self.lanes_of(read));
                if self.is_subsumed(clock, part.lanes, old, false) {
                    shadow.reads[part.granule] = code;
                    return Ok(());
                }
                if record.agent.block != clock.agent.block
                    && self.is_final(record)
                    && record.kind.covers(kind)
                {
                    return Ok(());
                }
            }
        }
        self.access_set(clock, shadow, number, part)
    }

    /// As [`Table::access`] for consecutive lanes and granules, where all granules are in the same
    /// state. False if they are not, or if more than a comparison is needed.
    pub fn access_row(
        &self,
        clock: &WarpClock,
        shadow: &mut Shadow,
        number: u32,
        (granule, lanes): (usize, Range<u32>),
    ) -> bool {
        let kind = self.records[number as usize].kind;
        if kind.strong.is_some() || kind.is_async {
            return false;
        }
        let range = granule..granule + lanes.len();
        let (writes, reads) = (&mut shadow.writes[range.clone()], &mut shadow.reads[range]);
        let new = number << LANE_BITS | lanes.start;
        let (write, read) = (
            State::of(writes, lanes.start),
            State::of(reads, lanes.start),
        );
        let (Some(write), Some(read)) = (write, read) else {
            return false;
        };
        // As all lanes access granules of their own, the same lane is the same thread.
        let is_ordered = |state: State| match state {
            State::None => true,
            State::Row(index) => {
                let record = &self.records[index];
                record.agent == clock.agent
                    || record.agent.block == clock.agent.block
                        && record.time <= clock.floor
                        && !record.agent.is_operation()
            }
        };
        let is_first = write == State::None;
        match kind.effect {
            Effect::Write if is_ordered(write) && is_ordered(read) => {
                fill(writes, new);
                reads.fill(Code(0));
                true
            }
            Effect::Write | Effect::Initialise => false,
            Effect::ReadOnly if !is_first => false,
            _ if !is_ordered(write) => false,
            _ if is_ordered(read) => {
                fill(reads, new);
                true
            }
            _ => match read {
                State::Row(index) => {
                    let record = &self.records[index];
                    record.agent.block != clock.agent.block
                        && self.is_final(record)
                        && record.kind.covers(kind)
                }
                State::None => true,
            },
        }
    }

    /// Whether the last write, or one of them, is a strong one.
    pub fn is_last_write_strong(&self, shadow: &Shadow, granule: usize) -> bool {
        let code = shadow.writes[granule];
        let strong = |index: usize| {
            let kind = self.records[index].kind;
            kind.writes() && kind.strong.is_some()
        };
        match code.is_set() {
            true => self.sets[code.index()]
                .iter()
                .any(|entry| strong(entry.record as usize)),
            false => code.0 != 0 && strong(code.index()),
        }
    }
}
