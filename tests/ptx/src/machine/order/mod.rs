//! Detection of data races (PTX ISA, "Memory Consistency Model").
//!
//! Two accesses to the same bytes race if at least one is a write, causality order relates them in
//! neither direction, and they are not both strong with scopes that include each other. Whether
//! causality relates them depends on the execution only through what is read, not on the order in
//! which the machine happens to execute: a race is found in any schedule in which both accesses occur
//! and nothing else orders them.
//!
//! | module | contents |
//! |---|---|
//! | `view` | vector clocks: up to which time a thread has seen others |
//! | `clock` | the views of a warp's lanes; fences |
//! | `cell` | release and acquire through memory |
//! | `phase` | arrivals at mbarriers and at barriers of clusters, and waits for them |
//! | `operation` | asynchronous operations as agents of their own |
//! | `exit` | what must be over when a block of a cluster exits |
//! | `record`, `shadow`, `sets` | the last accesses to each four bytes, and the conflicts between them |
//!
//! What orders accesses, beside the program order of a thread:
//!
//! - `bar.warp.sync`, of its lanes. `shfl`, `vote`, `match`, `redux` and `elect` order no memory.
//! - Barriers of a block: what a warp did before it arrives, and all that its threads have seen, is
//!   before what follows a wait for the same phase. Threads that have exited count as arrived.
//! - Arrivals at mbarriers and at the barrier of a cluster, before waits for their phase (`phase`).
//! - The issue of an asynchronous operation, before the operation; the operation, before a wait for
//!   its group or its mbarrier (`operation`).
//! - Release and acquire patterns through strong operations on the same location (`cell`).
//! - The start and the end of a launch.
//!
//! What the generic proxy has written is visible to the async proxy only behind a `fence.proxy.async`;
//! a read by the generic proxy before a write by the async one needs no fence. What an asynchronous
//! operation has written is visible to whoever has waited for it.

mod cell;
mod clock;
mod exit;
mod operation;
mod phase;
mod record;
mod sets;
mod shadow;
mod view;

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

pub use cell::{Location, Ordering, Space};
pub use clock::WarpClock;
pub use operation::{OBJECT, Operation, Touch, kind};
pub use phase::Semantics;
pub use record::{Effect, Kind, Record, Scope};
pub use shadow::{Cause, GRANULE, Race};
use shadow::{Part, Shadow, Table};
pub use view::{Agent, FencedSpace, Time, View, joined};

use super::registers::{Mask, Row, lanes};

/// The accesses and clocks of one launch.
pub struct Order {
    now: Time,
    table: Table,
    cells: cell::Cells,
    global: Vec<Option<Shadow>>,
    shared: HashMap<u32, Shadow>,
    phases: phase::Phases,
    agents: operation::Agents,
    sent: exit::Sent,
    touches: RefCell<Vec<Touch>>,
    failure: Option<Box<Found>>,
}

/// An access by lanes of a warp.
#[derive(Clone, Copy)]
pub struct Access<'a> {
    /// The instruction.
    pub site: u32,
    pub kind: Kind,
    pub ordering: Ordering,
    /// Reads and writes in one.
    pub modifies: bool,
    /// Of each lane.
    pub bytes: u64,
    pub addresses: &'a Row<u64>,
}

/// The allocation or the block's shared memory that lanes access.
#[derive(Clone, Copy)]
pub struct Target {
    pub space: Space,
    /// The address of its first byte.
    pub start: u64,
    pub bytes: u64,
}

/// A race, and where it is.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    pub race: Race,
    pub location: Location,
}

/// A fence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fence {
    /// Between threads.
    Threads(Scope),
    /// Between the generic and the async proxy, for one state space or for both.
    Async(Option<FencedSpace>),
    /// `fence.mbarrier_init`: initialised mbarriers can be used by the whole cluster.
    Initialised,
}

/// What ends a launch.
pub enum Failure {
    Race(Box<Found>),
    Limit(String),
}

/// What arrivals at a barrier have released.
#[derive(Default, Debug)]
pub struct Gathering {
    view: View,
    /// All who arrived also wait.
    some_go_on: bool,
}

impl Order {
    pub fn new(cluster_blocks: u32) -> Order {
        Order {
            now: 1,
            table: Table::new(cluster_blocks),
            cells: cell::Cells::default(),
            global: Vec::new(),
            shared: HashMap::new(),
            phases: phase::Phases::default(),
            agents: operation::Agents::default(),
            sent: exit::Sent::default(),
            touches: RefCell::default(),
            failure: None,
        }
    }

    /// The block has exited: nobody accesses its shared memory any more.
    pub fn exits(&mut self, block: u32) {
        self.table.exits(block);
        self.shared.remove(&block);
        self.sent.remove(&block);
    }

    /// Accesses from now on are later than those before.
    fn advance(&mut self) {
        self.now = self.now.saturating_add(1);
    }

    fn prepare(&mut self, target: &Target) {
        match target.space {
            Space::Global(index) => {
                if self.global.len() <= index {
                    self.global.resize_with(index + 1, || None);
                }
                self.global[index].get_or_insert_with(|| Shadow::new(target.bytes));
            }
            Space::Shared(block) => {
                let shadow = self.shared.entry(block);
                shadow.or_insert_with(|| Shadow::new(target.bytes));
            }
        }
    }

    /// Lanes of one target, whose bytes are inside of it.
    ///
    /// # Errors
    ///
    /// A race, or an access that cannot be remembered.
    pub fn access(
        &mut self,
        clock: &mut WarpClock,
        access: &Access<'_>,
        target: &Target,
        mask: Mask,
    ) -> Result<(), Failure> {
        self.prepare(target);
        if let Some(scope) = access.kind.strong
            && !self.cells.is_empty()
        {
            self.drop_overwritten(access, target, mask);
            if !access.kind.writes() {
                self.check(clock, access, target, mask)?;
                self.reads(clock, access, target, (mask, scope));
                return Ok(());
            }
        }
        self.check(clock, access, target, mask)?;
        let releases = access.ordering.releases || clock.has_fences();
        if let Some(scope) = access.kind.strong
            && access.kind.writes()
            && (releases || !self.cells.is_empty())
        {
            self.writes(clock, access, target, (mask, scope));
        }
        Ok(())
    }

    fn check(
        &mut self,
        clock: &mut WarpClock,
        access: &Access<'_>,
        target: &Target,
        mask: Mask,
    ) -> Result<(), Failure> {
        let new = Record {
            agent: clock.agent,
            time: clock.time(self.now),
            site: access.site,
            mask,
            kind: access.kind,
        };
        let number = self.table.record(clock, new).map_err(Failure::Limit)?;
        let shadow = match target.space {
            Space::Global(index) => self.global.get_mut(index).and_then(Option::as_mut),
            Space::Shared(block) => self.shared.get_mut(&block),
        };
        let Some(shadow) = shadow else { return Ok(()) };
        let failed = |race: Race| {
            let offset = race.granule as u64 * GRANULE;
            let space = target.space;
            let location = Location { space, offset };
            Failure::Race(Box::new(Found { race, location }))
        };
        let first = access.addresses[mask.trailing_zeros() as usize & 31];
        let is_plain_write = access.kind.strong.is_none() && access.kind.writes();
        let is_common = !is_plain_write && lanes(mask).all(|lane| access.addresses[lane] == first);
        if is_common {
            for part in parts(target.space, first - target.start, access.bytes, mask) {
                self.table
                    .access(clock, shadow, number, part)
                    .map_err(failed)?;
            }
            return Ok(());
        }
        if let Some(run) = row(access, target, mask)
            && self.table.access_row(clock, shadow, number, run)
        {
            return Ok(());
        }
        for lane in lanes(mask) {
            for part in parts(
                target.space,
                access.addresses[lane] - target.start,
                access.bytes,
                1 << lane,
            ) {
                self.table
                    .access(clock, shadow, number, part)
                    .map_err(failed)?;
            }
        }
        Ok(())
    }

    /// What was released to a location counts no more if a weak write has followed.
    fn drop_overwritten(&mut self, access: &Access<'_>, target: &Target, mask: Mask) {
        for lane in lanes(mask) {
            let offset = access.addresses[lane] - target.start;
            let space = target.space;
            let location = Location { space, offset };
            if !self.cells.contains(location) {
                continue;
            }
            let shadow = match space {
                Space::Global(index) => self.global[index].as_ref(),
                Space::Shared(block) => self.shared.get(&block),
            };
            let granule = (offset / GRANULE) as usize;
            if shadow.is_none_or(|shadow| !self.table.is_last_write_strong(shadow, granule)) {
                self.cells.forget(location);
            }
        }
    }

    fn reads(
        &mut self,
        clock: &mut WarpClock,
        access: &Access<'_>,
        target: &Target,
        (mask, scope): (Mask, Scope),
    ) {
        for (address, mask) in by_address(access.addresses, mask) {
            let offset = address - target.start;
            let space = target.space;
            let place = (Location { space, offset }, scope);
            self.cells
                .read(clock, mask, place, access.ordering.acquires);
        }
    }

    fn writes(
        &mut self,
        clock: &mut WarpClock,
        access: &Access<'_>,
        target: &Target,
        (mask, scope): (Mask, Scope),
    ) {
        for (address, mask) in by_address(access.addresses, mask) {
            let offset = address - target.start;
            let space = target.space;
            let place = (Location { space, offset }, scope);
            let ordering = access.ordering;
            match access.modifies {
                true => self.cells.modify(clock, mask, place, ordering, self.now),
                false => self.cells.write(clock, mask, place, ordering, self.now),
            }
        }
        if scope > Scope::Block {
            self.table.releases_beyond(clock.agent.block, self.now);
        }
        self.advance();
    }

    pub fn fence(&mut self, clock: &mut WarpClock, mask: Mask, fence: Fence) {
        match fence {
            Fence::Threads(scope) => clock.fence(mask, scope, self.now),
            Fence::Async(space) => clock.fence_proxy(mask, space, self.now),
            Fence::Initialised => clock.initialised |= mask,
        }
        self.advance();
    }

    pub fn meet(&mut self, clock: &mut WarpClock, mask: Mask) {
        clock.meet(mask, self.now);
        self.advance();
    }

    /// Lanes arrive at a barrier of their block.
    pub fn arrive(
        &mut self,
        clock: &WarpClock,
        mask: Mask,
        waits: bool,
        gathering: &mut Gathering,
    ) {
        gathering.view.join(&clock.own(mask, self.now));
        gathering.some_go_on |= !waits;
        self.advance();
    }

    /// What the threads know that waited. `is_full`: all threads of the block have arrived.
    pub fn complete(&mut self, block: u32, is_full: bool, gathering: Gathering) -> Rc<View> {
        let mut view = gathering.view;
        if is_full && !gathering.some_go_on {
            view.all.add_block(block, self.now);
            self.advance();
        }
        Rc::new(view)
    }
}

/// The granules of an access.
fn parts(space: Space, offset: u64, bytes: u64, lanes: Mask) -> impl Iterator<Item = Part> {
    let space = match space {
        Space::Shared(_) => FencedSpace::Shared,
        Space::Global(_) => FencedSpace::Global,
    };
    let end = offset + bytes;
    (offset / GRANULE..end.div_ceil(GRANULE)).map(move |granule| {
        let start = granule * GRANULE;
        let low = offset.max(start) - start;
        let high = end.min(start + GRANULE) - start;
        Part {
            space,
            granule: granule as usize,
            lanes,
            bytes: ((1 << high) - (1 << low)) as u8,
        }
    })
}

/// Consecutive lanes that access consecutive granules.
fn row(access: &Access<'_>, target: &Target, mask: Mask) -> Option<(usize, Range<u32>)> {
    let (first, count) = (mask.trailing_zeros(), mask.count_ones());
    if access.bytes != GRANULE || (mask >> first).trailing_ones() != count {
        return None;
    }
    let addresses = &access.addresses[first as usize..(first + count) as usize];
    let start = addresses[0];
    let differs = |bits, (at, address): (u64, &u64)| bits | (address ^ (start + at * GRANULE));
    let is_row = (0..).zip(addresses).fold(0, differs) == 0;
    is_row.then(|| {
        (
            ((start - target.start) / GRANULE) as usize,
            first..first + count,
        )
    })
}

/// The lanes of each address, in the order of the first of them.
fn by_address(addresses: &Row<u64>, mask: Mask) -> impl Iterator<Item = (u64, Mask)> {
    let mut left = mask;
    std::iter::from_fn(move || {
        let first = lanes(left).next()?;
        let same = lanes(left).filter(|lane| addresses[*lane] == addresses[first]);
        let same = same.fold(0, |mask, lane| mask | 1 << lane);
        left &= !same;
        Some((addresses[first], same))
    })
}
