//! The rules for which accesses are unordered.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use super::details::ANYWHERE;
use super::log::{ATOMIC, LINE, LINES, Log, MANY, Place, SAME, THREAD};
use super::report::{Did, Race, race};
use super::sync;
use super::sync::Acquired;
use super::{Watched, locked};
use crate::abi::{
    CROQ_ACCESS_ATOMIC, CROQ_ACCESS_READS, CROQ_ACCESS_SAME, CROQ_ACCESS_WRITES, croq_sim_access,
    croq_sim_device, croq_sim_device_cell,
};
use crate::sim::clocks::Clocks;
use crate::sim::tensor::Tile;

/// The relation of an earlier access to the block's current one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation {
    /// A barrier is in between, or there was no access.
    Past,
    /// By the same block, without a barrier of the block in between.
    Now,
    /// By another block.
    Concurrent,
}

/// An earlier access, as recorded in a cell or a list of accesses.
#[derive(Clone, Copy)]
pub(super) struct Earlier {
    pub(super) epoch: u32,
    pub(super) who: u32,
    pub(super) did: Did,
}

/// The thread of an access, and its location.
#[derive(Clone, Copy)]
pub(in super::super) struct By {
    pub(in super::super) thread: u32,
    pub(in super::super) line: u32,
    /// By TMA, for all blocks of the cluster.
    pub(in super::super) multicast: bool,
}

impl By {
    fn who(self) -> u32 {
        self.thread | (self.line & LINES) << LINE
    }
}

/// The same as `digest` of `sim/contended.h`: stores of equal values have equal digests.
fn digest(bits: u64) -> u32 {
    bits as u32 ^ ((bits >> 32) as u32).wrapping_mul(0x9e37_79b1)
}

/// The checks of a block's accesses of device memory.
pub(in super::super) struct Watch {
    state: Rc<Cell<croq_sim_device>>,
    log: Option<Arc<Mutex<Log>>>,
    place: Place,
    /// Several blocks run alternately on this OS thread.
    alternates: bool,
    threads: usize,
    acquired: Acquired,
}

impl Default for Watch {
    fn default() -> Self {
        Self {
            state: Rc::new(Cell::new(croq_sim_device {
                epoch: 0,
                first: 0,
                before: 1,
                reports_all: std::ptr::null_mut(),
                buffers: std::ptr::null(),
            })),
            log: None,
            place: Place {
                block: 0,
                cluster: 0,
            },
            alternates: false,
            threads: 0,
            acquired: Acquired::default(),
        }
    }
}

impl Watch {
    /// Prepares for a launch that runs this number of blocks at a time here, each with this number
    /// of threads; returns the data for its threads.
    pub(in super::super) fn prepare(
        &mut self,
        watched: Option<&Watched>,
        threads: u32,
        alternates: bool,
    ) -> *mut croq_sim_device {
        self.log = watched.map(Watched::log);
        (self.threads, self.alternates) = (threads as usize, alternates);
        let Some(log) = &self.log else {
            return std::ptr::null_mut();
        };
        let log = locked(log);
        self.state.set(croq_sim_device {
            epoch: 0,
            first: 0,
            before: 1,
            reports_all: log.reports_all_at(),
            buffers: log.table(),
        });
        self.state.as_ptr()
    }

    /// The launch has ended, or its blocks on this worker have.
    pub(in super::super) fn end(&mut self) {
        self.log = None;
        self.acquired = Acquired::default();
    }

    pub(in super::super) fn is_enabled(&self) -> bool {
        self.log.is_some()
    }

    /// A block begins.
    pub(in super::super) fn begin(&mut self, block: u64, cluster: u64) {
        self.place = Place { block, cluster };
        self.acquired = Acquired::default();
        self.begin_epoch(true);
    }

    fn begin_epoch(&mut self, of_block: bool) {
        let Some(log) = &self.log else { return };
        let mut log = locked(log);
        let Some(epoch) = log.next_epoch(self.place) else {
            log.give_up();
            return;
        };
        let mut state = self.state.get();
        state.epoch = epoch;
        if of_block || self.alternates {
            state.first = epoch;
        }
        self.state.set(state);
    }

    /// A sweep over blocks begins, with an epoch each.
    pub(in super::super) fn sweep(&mut self, first: u64, count: u64, start: u64, step: u64) {
        let Some(log) = &self.log else { return };
        let mut log = locked(log);
        match log.sweep(first, count, start, step) {
            Some(before) => self.state.set(croq_sim_device {
                epoch: before,
                first: before,
                ..self.state.get()
            }),
            None => log.give_up(),
        }
    }

    /// All threads of the block were at a barrier.
    pub(in super::super) fn block_barrier_completed(&mut self) {
        if self.is_enabled() {
            self.acquired.all_meet();
            self.begin_epoch(false);
        }
    }

    /// All threads of the cluster, or of a resident grid, were at a barrier: called for one of its
    /// blocks, before any of them begins an epoch.
    pub(in super::super) fn cluster_barrier_completed(&self) {
        if let Some(log) = &self.log {
            let mut log = locked(log);
            log.ordered_before = (self.place.cluster, log.last_epoch() + 1);
        }
    }

    /// The same for each block, if the cluster is the whole grid.
    pub(in super::super) fn grid_barrier_completed(&mut self) {
        if let Some(log) = &self.log {
            let before = locked(log).ordered_before.1;
            self.state.set(croq_sim_device {
                before,
                ..self.state.get()
            });
        }
    }

    /// Some threads were at a barrier. From now on every access is reported to the runtime.
    pub(in super::super) fn barrier_completed(
        &mut self,
        threads: impl Iterator<Item = u32> + Clone,
    ) {
        if let Some(log) = &self.log {
            locked(log).report_all();
            self.acquired.meet(threads);
        }
    }

    /// Some threads release their accesses. From now on every access is reported to the runtime.
    pub(in super::super) fn report_all(&self) {
        if let Some(log) = &self.log {
            locked(log).report_all();
        }
    }

    /// In a sweep the current block changes without a call.
    fn move_to(&mut self, place: Place, clocks: &mut Clocks) {
        if place != self.place {
            self.place = place;
            self.acquired = Acquired::default();
            clocks.reset(self.threads);
        }
    }

    /// A fence for the device.
    pub(in super::super) fn fence(&mut self, thread: u32, clocks: &mut Clocks) {
        let Some(log) = self.log.clone() else { return };
        let log = locked(&log);
        log.report_all();
        let epoch = self.state.get().epoch;
        let place = log.place(epoch);
        self.move_to(place, clocks);
        self.acquired.fence(thread, place.block, epoch, clocks);
    }

    /// An atomic operation through a pointer: it orders accesses, whatever memory it is on.
    pub(in super::super) fn atomic_at(&mut self, thread: u32, at: u64, clocks: &mut Clocks) {
        let Some(log) = self.log.clone() else { return };
        let mut log = locked(&log);
        // Nothing has been released before.
        if !log.reports_all() {
            return;
        }
        let state = self.state.get();
        let place = log.place(state.epoch);
        self.move_to(place, clocks);
        let key = (ANYWHERE, at);
        log.details.place(key);
        let mut now = Now {
            log: &mut log,
            state,
            place,
            thread,
            who: thread,
            multicast: false,
        };
        sync::exchange(&mut now, &mut self.acquired, key, CROQ_ACCESS_ATOMIC);
    }

    /// An access that device code could not decide; `value` is a digest of the stored value.
    pub(in super::super) fn access(
        &mut self,
        thread: u32,
        access: &croq_sim_access,
        buffer: u32,
        (kind, value): (u32, u32),
        clocks: &mut Clocks,
    ) -> Result<(), Box<Race>> {
        let Some(log) = self.log.clone() else {
            return Ok(());
        };
        let mut log = locked(&log);
        let place = log.place(self.state.get().epoch);
        self.move_to(place, clocks);
        let by = By {
            thread,
            line: access.line,
            multicast: false,
        };
        let element = (buffer, access.index as u64);
        self.note(&mut log, by, element, (kind, value), clocks)
    }

    /// The number of earlier accesses that atomic operations were compared with since the last call.
    pub(in super::super) fn compared(&mut self) -> usize {
        self.acquired.compared()
    }

    /// TMA reads a box for a thread, which begins the copy now. Earlier writes must be ordered
    /// before this; later writes, after the wait for the copy.
    pub(in super::super) fn reads_box(
        &mut self,
        by: By,
        tile: &Tile,
        clocks: &mut Clocks,
    ) -> Result<(), Box<Race>> {
        let Some(log) = self.log.clone() else {
            return Ok(());
        };
        let mut log = locked(&log);
        let Some(buffer) = log.buffer_at(tile.map.memory.cast()) else {
            return Ok(());
        };
        for (row, bytes) in tile.rows_inside() {
            let Some(first) = log.index(buffer, row) else {
                continue;
            };
            let count = bytes / tile.map.element_bytes.max(1) as usize;
            for element in first..first + count {
                let element = (buffer, element as u64);
                self.note(&mut log, by, element, (CROQ_ACCESS_READS, 0), clocks)?;
            }
        }
        Ok(())
    }

    /// TMA writes a box for a thread, which begins the copy now. `stored`: the element's current
    /// value, and its new one.
    ///
    /// # Safety
    /// The box is in device memory, and `source` is the corresponding address in shared memory, at
    /// `offset` there.
    pub(in super::super) unsafe fn writes_box(
        &mut self,
        by: By,
        tile: &Tile,
        (source, offset): (*const u8, usize),
        clocks: &mut Clocks,
    ) -> Result<(), Box<Race>> {
        let Some(log) = self.log.clone() else {
            return Ok(());
        };
        let mut log = locked(&log);
        let Some(buffer) = log.buffer_at(tile.map.memory.cast()) else {
            return Ok(());
        };
        let size = (tile.map.element_bytes as usize).clamp(1, size_of::<u64>());
        // SAFETY: both are addresses of an element.
        let bits = |at: *const u8| unsafe {
            let mut bytes = [0; size_of::<u64>()];
            let (bytes_of, _) = bytes.split_at_mut(size);
            bytes_of.copy_from_slice(std::slice::from_raw_parts(at, size));
            u64::from_le_bytes(bytes)
        };
        let mut outcome = Ok(());
        tile.units(offset, |unit| {
            for (step, within) in unit.inside.clone().step_by(size).enumerate() {
                let memory = unit.memory.wrapping_add(step * size);
                let Some(element) = log.index(buffer, memory) else {
                    continue;
                };
                if outcome.is_err() {
                    return;
                }
                let new = bits(source.wrapping_add(unit.stored + within));
                let kind = match new == bits(memory) {
                    true => CROQ_ACCESS_SAME,
                    false => CROQ_ACCESS_WRITES,
                };
                let element = (buffer, element as u64);
                outcome = self.note(&mut log, by, element, (kind, digest(new)), clocks);
            }
        });
        outcome
    }

    /// A race with a copy: the access occurs while TMA reads the element for a thread.
    #[cold]
    pub(in super::super) fn race_with_copy(
        &self,
        by: By,
        (buffer, element): (u32, u64),
        kind: u32,
        copy: By,
    ) -> Option<Box<Race>> {
        let log = self.log.as_ref()?;
        let log = locked(log);
        let epoch = self.state.get().epoch;
        let of = |by: By, did| Earlier {
            epoch,
            who: by.who(),
            did,
        };
        let (now, earlier) = (of(by, Did::of(kind)), of(copy, Did::Read));
        Some(race(&log, buffer, element, now, earlier))
    }

    fn note(
        &mut self,
        log: &mut Log,
        by: By,
        (buffer, element): (u32, u64),
        (kind, value): (u32, u32),
        clocks: &Clocks,
    ) -> Result<(), Box<Race>> {
        let state = self.state.get();
        let Some(mut cell) = log.cell(buffer, element) else {
            return Ok(());
        };
        let who = by.who();
        let reports_all = log.reports_all();
        let mut now = Now {
            place: log.place(state.epoch),
            log,
            state,
            thread: by.thread,
            who,
            multicast: by.multicast,
        };
        let found = match reports_all {
            true => self
                .acquired
                .by_list(&mut now, clocks, (buffer, element), kind, value, &cell),
            false => now.by_cell(&mut cell, kind, value).map_or(Ok(()), Err),
        };
        if let Err(earlier) = found {
            let now = Earlier {
                epoch: state.epoch,
                who,
                did: Did::of(kind),
            };
            return Err(race(log, buffer, element, now, earlier));
        }
        if reports_all {
            keep(&mut cell, state.epoch, who, kind, value);
        }
        log.put(buffer, element, cell);
        Ok(())
    }
}

/// The current access.
pub(super) struct Now<'a> {
    pub(super) log: &'a mut Log,
    pub(super) state: croq_sim_device,
    pub(super) place: Place,
    pub(super) thread: u32,
    pub(super) who: u32,
    /// A copy to all blocks of the cluster.
    pub(super) multicast: bool,
}

impl Now<'_> {
    pub(super) fn relation_to(&self, epoch: u32) -> Relation {
        if epoch < self.state.before {
            return Relation::Past;
        }
        if epoch == self.state.epoch {
            return Relation::Now;
        }
        let place = self.log.place(epoch);
        let (cluster, before) = self.log.ordered_before;
        let ordered_before = place.cluster == self.place.cluster && cluster == place.cluster;
        match place.block == self.place.block || (ordered_before && epoch < before) {
            true => Relation::Past,
            false => Relation::Concurrent,
        }
    }

    /// The earlier access, if it is unordered with this one; it is of the same thread if its thread
    /// is not known.
    fn unordered(&self, epoch: u32, who: u32, did: Did) -> Option<Earlier> {
        let is_own = who & THREAD == self.thread && who & MANY == 0;
        match self.relation_to(epoch) {
            Relation::Past => None,
            Relation::Now if is_own => None,
            Relation::Now | Relation::Concurrent => Some(Earlier { epoch, who, did }),
        }
    }

    /// The same rules as `reads_in_order` and `stores_in_order` of `sim/contended.h`, and the cases
    /// that these do not decide.
    fn by_cell(&self, cell: &mut croq_sim_device_cell, kind: u32, value: u32) -> Option<Earlier> {
        let atomic = cell.writer & ATOMIC != 0;
        let did = if atomic { Did::Changed } else { Did::Wrote };
        let stored = match cell.written {
            0 => None,
            epoch => self.unordered(epoch, cell.writer, did),
        };
        let also = match atomic && cell.value != 0 {
            true => self.unordered(cell.value, cell.other, did_other(cell)),
            false => None,
        };
        if kind == CROQ_ACCESS_READS {
            if cell.writer & SAME == 0 && stored.is_some() {
                return stored;
            }
            if also.is_some() {
                return also;
            }
            let (epoch, first) = (self.state.epoch, cell.read);
            match first == epoch || self.relation_to(first) == Relation::Past {
                true => self.note_reader(&mut cell.read, &mut cell.reader),
                false => self.note_reader(&mut cell.read_too, &mut cell.reader_too),
            }
            return None;
        }
        let reader = self
            .unordered(cell.read, cell.reader, Did::Read)
            .or_else(|| self.unordered(cell.read_too, cell.reader_too, Did::Read));
        if kind == CROQ_ACCESS_ATOMIC {
            if stored.is_some() && !atomic {
                return stored;
            }
            if also.is_some() && cell.other & ATOMIC == 0 {
                return also;
            }
            if reader.is_some() {
                return reader;
            }
            if stored.is_some() || also.is_some() {
                if also.is_none() && cell.value == 0 {
                    (cell.value, cell.other) = (self.state.epoch, self.who | ATOMIC);
                }
                return None;
            }
            // A plain store that is ordered before this operation need not be ordered before those
            // of other threads or blocks: it stays in the record.
            let (epoch, who) = match atomic {
                true => (cell.value, cell.other),
                false => (cell.written, cell.writer),
            };
            let stays = epoch != 0 && epoch >= self.state.before && who & ATOMIC == 0;
            (cell.value, cell.other) = if stays { (epoch, who) } else { (0, 0) };
            (cell.written, cell.writer) = (self.state.epoch, self.who | ATOMIC);
            return None;
        }
        if let Some(earlier) = stored {
            if atomic || cell.value != value {
                return Some(earlier);
            }
            if self.relation_to(earlier.epoch) == Relation::Now {
                cell.writer |= MANY;
            }
            return None;
        }
        if also.is_some() {
            return also;
        }
        let same = kind == CROQ_ACCESS_SAME;
        if !same && reader.is_some() {
            return reader;
        }
        if !same || atomic || cell.written < self.state.before {
            let flag = if same { SAME } else { 0 };
            (cell.written, cell.writer) = (self.state.epoch, self.who | flag);
            (cell.value, cell.other) = (value, 0);
        }
        None
    }

    fn note_reader(&self, read: &mut u32, reader: &mut u32) {
        if *read == self.state.epoch {
            if *reader & THREAD != self.thread {
                *reader |= MANY;
            }
        } else if self.relation_to(*read) == Relation::Past {
            (*read, *reader) = (self.state.epoch, self.who);
        }
    }
}

/// What the second access of a cell whose first is an atomic operation did.
pub(super) fn did_other(cell: &croq_sim_device_cell) -> Did {
    match cell.other & ATOMIC {
        0 => Did::Wrote,
        _ => Did::Changed,
    }
}

/// For the comparison with other OS threads: keeps the first access of each kind.
fn keep(cell: &mut croq_sim_device_cell, epoch: u32, who: u32, kind: u32, value: u32) {
    if kind == CROQ_ACCESS_READS {
        if cell.read == 0 {
            (cell.read, cell.reader) = (epoch, who);
        }
    } else if cell.written == 0 {
        let flag = match kind {
            CROQ_ACCESS_ATOMIC => ATOMIC,
            CROQ_ACCESS_SAME => SAME,
            _ => 0,
        };
        (cell.written, cell.writer) = (epoch, who | flag);
        cell.value = if kind == CROQ_ACCESS_ATOMIC { 0 } else { value };
    }
}
