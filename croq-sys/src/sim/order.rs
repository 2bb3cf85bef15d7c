//! Detects races in shared memory: unordered accesses by different threads of a block.
//!
//! For each byte at which an element begins, and for each element that shares its byte with others,
//! a cell records the last write and the reads since the
//! last plain store that changed it.
//! Device code checks the cells itself (`sim/order.h`) and calls the runtime if they do not decide.
//! Accesses of different *epochs*, with a barrier over the whole block in between, are always
//! ordered. Others are if the earlier one happens before the later one by vector clocks
//! ([`Clocks`]).
//!
//! Until some threads of the block use a barrier without the others, the accesses of an epoch are
//! all unordered between threads, and cells suffice. From then on, to the end of the launch, every
//! access is reported to the runtime. Of several threads that read an element, or changed it
//! atomically, before that in the same epoch only one is known.
//!
//! Not races: atomic operations on the same element, and a store of the value that the element
//! already has, since all threads of a block execute its statements. Not detected: accesses by code
//! with raw pointers, and overlapping accesses to elements that begin at different bytes.

use std::cell::Cell;
use std::rc::Rc;

use super::clocks::Clocks;
use super::device::Watch;
use super::hazard::{AccessRecord, Hazard};
use super::marks::element;
use crate::abi::{
    CROQ_ACCESS_ATOMIC, CROQ_ACCESS_READS, CROQ_ACCESS_SAME, CROQ_ACCESS_WRITES, croq_sim_access,
    croq_sim_cell, croq_sim_order,
};

/// The thread's bits in `writer` and `reader` of a cell, followed by the flags and the line.
const THREAD: u32 = 0x3ff;
const ATOMIC: u32 = 1 << 10;
/// Several threads accessed the element; the recorded thread is one of them.
const MANY: u32 = 1 << 11;
const LINE: u32 = 12;
/// Planes of cells: elements of four bytes are all in the first, so that their cells are adjacent.
const PLANES: usize = 4;

/// The most bytes of cells: a large grid that is resident together is not checked.
const MOST_ROOM: u64 = 1 << 30;

type Outcome = Result<(), Box<Hazard>>;

/// The part of a cell's record that has no room in it.
#[derive(Clone, Copy, Default)]
struct Times {
    written: u32,
    read: u32,
    /// The number of its list of readers, from 1 on, if it has one.
    readers: u32,
    /// The same for a list of threads that changed it atomically.
    changers: u32,
}

/// One of several threads that accessed an element.
#[derive(Clone, Copy)]
struct Party {
    thread: u32,
    clock: u32,
    line: u32,
}

impl Party {
    /// From a cell's record.
    fn of(who: u32, clock: u32) -> Self {
        Self {
            thread: who & THREAD,
            clock,
            line: who >> LINE,
        }
    }
}

/// An earlier access that is unordered with the current one. If it is one of several, it may not be
/// known which.
type Unordered = Option<(u32, &'static str, u32)>;

pub(super) struct Order {
    /// The state that device code reads. It contains the epoch and the cells.
    state: Rc<Cell<croq_sim_order>>,
    is_enabled: bool,
    shared: usize,
    /// How many elements of a byte may have cells.
    most_parts: usize,
    cells: Vec<Cell<croq_sim_cell>>,
    times: Vec<Times>,
    lists: Vec<Vec<Party>>,
    free: Vec<u32>,
    pub(super) clocks: Clocks,
    /// The checks of device memory.
    pub(super) device: Watch,
}

impl Default for Order {
    fn default() -> Self {
        Self {
            state: Rc::new(Cell::new(croq_sim_order {
                epoch: 0,
                reports_all: 0,
                plane: 0,
                cells: std::ptr::null_mut(),
                parts: 1,
            })),
            is_enabled: false,
            shared: 0,
            most_parts: 1,
            cells: Vec::new(),
            times: Vec::new(),
            lists: Vec::new(),
            free: Vec::new(),
            clocks: Clocks::default(),
            device: Watch::default(),
        }
    }
}

/// The bytes of cells for `blocks` concurrently resident blocks; 0 without checks.
pub(super) fn room(bytes: u64, blocks: usize) -> u64 {
    let room = bytes * blocks as u64 * (size_of::<croq_sim_cell>() + size_of::<Times>()) as u64;
    if room <= MOST_ROOM { room } else { 0 }
}

impl Order {
    /// Prepares for a launch with `blocks` concurrently resident blocks; returns the data for its
    /// threads.
    pub(super) fn prepare(
        &mut self,
        is_enabled: bool,
        shared: *mut u8,
        bytes: u64,
        blocks: usize,
    ) -> *mut croq_sim_order {
        let room = room(bytes, blocks);
        self.is_enabled = is_enabled && room > 0;
        if !self.is_enabled {
            return std::ptr::null_mut();
        }
        self.shared = shared as usize;
        self.most_parts = (MOST_ROOM / room.max(1)) as usize;
        let plane = (bytes as usize).div_ceil(PLANES);
        let mut parts = self.state.get().parts as usize;
        // Cells of earlier launches have other epochs, unless the layout changes.
        if self.cells.len() != parts * plane * PLANES || parts > self.most_parts {
            self.cells.clear();
            self.cells.resize(plane * PLANES, Cell::default());
            parts = 1;
        }
        self.times.clear();
        self.lists.clear();
        self.free.clear();
        self.state.set(croq_sim_order {
            epoch: self.state.get().epoch,
            reports_all: 0,
            plane: plane as u64,
            cells: self.cells.as_ptr().cast_mut().cast(),
            parts: parts as u32,
        });
        self.state.as_ptr()
    }

    /// Resets for a new block.
    pub(super) fn reset(&mut self, threads: usize) {
        if self.is_enabled || self.device.is_enabled() {
            self.clocks.reset(threads);
        }
        if self.is_enabled {
            self.begin_epoch();
        }
    }

    fn begin_epoch(&mut self) {
        let mut state = self.state.get();
        state.epoch = match state.epoch.checked_add(1) {
            Some(next) => next,
            None => {
                self.cells.fill(Cell::default());
                1
            }
        };
        self.state.set(state);
    }

    /// All threads of the block were at a barrier.
    pub(super) fn block_barrier_completed(&mut self) {
        if self.is_enabled || self.device.is_enabled() {
            self.clocks.begin_epoch();
            self.device.block_barrier_completed();
        }
        if self.is_enabled {
            self.begin_epoch();
        }
    }

    /// From now on vector clocks are needed. Until now no thread has released its accesses in this
    /// epoch, so its clock is the time of all of them. Of several threads that accessed an element
    /// only one is known: later accesses are compared with that one.
    fn report_all(&mut self) {
        self.device.report_all();
        let state = self.state.get();
        if !self.is_enabled || state.reports_all != 0 {
            return;
        }
        self.state.set(croq_sim_order {
            reports_all: 1,
            ..state
        });
        let clocks = &self.clocks;
        let timed = |place: &Cell<croq_sim_cell>| {
            let mut cell = place.get();
            let mut times = Times::default();
            if cell.written == state.epoch {
                times.written = clocks.own(cell.writer & THREAD);
                if cell.writer & ATOMIC != 0 {
                    cell.writer &= !MANY;
                }
            }
            if cell.read == state.epoch {
                times.read = clocks.own(cell.reader & THREAD);
                cell.reader &= !MANY;
            }
            place.set(cell);
            times
        };
        self.times.clear();
        self.times.extend(self.cells.iter().map(timed));
    }

    /// Some threads were at a barrier.
    pub(super) fn barrier_completed(&mut self, threads: impl Iterator<Item = u32> + Clone) {
        if self.is_enabled || self.device.is_enabled() {
            self.report_all();
            self.device.barrier_completed(threads.clone());
            self.clocks.meet(threads);
        }
    }

    /// The mbarrier is a new one: phases of one that was there before order nothing.
    pub(super) fn begin_mbarrier(&mut self, at: *const u8) {
        self.clocks.begin_mbarrier(at as usize);
    }

    pub(super) fn arrive(&mut self, thread: u32, at: *const u8, phase: u64) {
        if self.is_enabled || self.device.is_enabled() {
            self.report_all();
            self.clocks.arrive(thread, at as usize, phase);
        }
    }

    pub(super) fn wait(&mut self, thread: u32, at: *const u8, phase: u64) {
        if self.is_enabled || self.device.is_enabled() {
            self.clocks.wait(thread, at as usize, phase);
        }
    }

    /// The cell of an element: the byte, and the element's number in it.
    fn cell_at(&self, offset: usize, part: usize) -> usize {
        (part * PLANES + offset % PLANES) * self.state.get().plane as usize + offset / PLANES
    }

    /// A thread of another block writes the memory; the order of that is not recorded here.
    pub(super) fn forget(&mut self, at: *const u8, bytes: usize) {
        if !self.is_enabled {
            return;
        }
        let first = (at as usize).wrapping_sub(self.shared);
        for offset in first..first.saturating_add(bytes) {
            for part in 0..self.state.get().parts as usize {
                let at = self.cell_at(offset, part);
                if let Some(cell) = self.cells.get(at) {
                    cell.take();
                }
            }
        }
    }

    /// An access by a thread to elements of `size` bytes.
    pub(super) fn access(
        &mut self,
        thread: u32,
        access: &croq_sim_access,
        size: u32,
        kind: u32,
    ) -> Outcome {
        if !self.is_enabled {
            return Ok(());
        }
        let first = (access.at as usize).wrapping_sub(self.shared);
        let end = first.saturating_add(access.bytes as usize);
        for offset in (first..end).step_by(size.max(1) as usize) {
            self.one(thread, access, self.cell_at(offset, 0), kind)?;
        }
        Ok(())
    }

    /// An access by a thread to `count` elements of which `per_byte` share a byte.
    pub(super) fn packed_access(
        &mut self,
        thread: u32,
        access: &croq_sim_access,
        (per_byte, count): (u32, u32),
        kind: u32,
    ) -> Outcome {
        let per_byte = per_byte.max(1) as usize;
        if !self.is_enabled || per_byte > self.most_parts {
            return Ok(());
        }
        self.divide(per_byte);
        let byte = (access.at as usize).wrapping_sub(self.shared);
        for index in access.index..access.index + i64::from(count) {
            let element = croq_sim_access { index, ..*access };
            let from_byte = (index - access.index) as usize + access.index as usize % per_byte;
            let offset = byte.wrapping_add(from_byte / per_byte);
            let at = self.cell_at(offset, from_byte % per_byte);
            self.one(thread, &element, at, kind)?;
        }
        Ok(())
    }

    /// From now on there are cells for this number of elements of each byte.
    fn divide(&mut self, per_byte: usize) {
        let mut state = self.state.get();
        if per_byte <= state.parts as usize {
            return;
        }
        let count = per_byte * state.plane as usize * PLANES;
        self.cells.resize(count, Cell::default());
        if !self.times.is_empty() {
            self.times.resize(count, Times::default());
        }
        state.parts = per_byte as u32;
        state.cells = self.cells.as_ptr().cast_mut().cast();
        self.state.set(state);
    }

    fn one(&mut self, thread: u32, access: &croq_sim_access, at: usize, kind: u32) -> Outcome {
        let epoch = self.state.get().epoch;
        let Some(mut cell) = self.cells.get(at).map(Cell::get) else {
            return Ok(());
        };
        let mut times = self.times.get(at).copied().unwrap_or_default();
        let who = thread | access.line << LINE;
        if let Some(record) = self.unordered_writer(thread, kind, epoch, &cell, &times) {
            if kind == CROQ_ACCESS_SAME {
                if cell.writer & ATOMIC == 0 {
                    cell.writer |= MANY;
                    self.put(at, cell, times);
                }
                return Ok(());
            }
            return Err(race(thread, access, kind, "written", record));
        }
        if matches!(kind, CROQ_ACCESS_WRITES | CROQ_ACCESS_ATOMIC)
            && cell.read == epoch
            && let Some(reader) = self.unordered_reader(thread, &cell, &times)
        {
            return Err(race(thread, access, kind, "read", reader));
        }
        match kind {
            CROQ_ACCESS_READS => self.read(thread, who, epoch, &mut cell, &mut times),
            CROQ_ACCESS_ATOMIC => self.change(thread, who, epoch, &mut cell, &mut times),
            _ => {
                self.drop_list(&mut times.changers);
                (cell.written, cell.writer) = (epoch, who);
                times.written = self.clocks.own(thread);
                // A store that changes nothing is no race with the reads before it.
                if kind != CROQ_ACCESS_SAME {
                    cell.read = 0;
                    self.drop_list(&mut times.readers);
                }
            }
        }
        self.put(at, cell, times);
        Ok(())
    }

    /// A write of the element in this epoch that is unordered with the thread's access.
    fn unordered_writer(
        &self,
        thread: u32,
        kind: u32,
        epoch: u32,
        cell: &croq_sim_cell,
        times: &Times,
    ) -> Option<Unordered> {
        let atomic = cell.writer & ATOMIC != 0;
        if cell.written != epoch || (atomic && kind == CROQ_ACCESS_ATOMIC) {
            return None;
        }
        // Plain stores of several threads stored equal values.
        if cell.writer & MANY != 0 && !atomic {
            return None;
        }
        let did = if atomic { "changed it" } else { "wrote it" };
        self.unordered_party(thread, (cell.writer, did), (times.written, times.changers))
    }

    /// A thread that accessed an element, unordered with this one: the recorded one of `who` at that
    /// time, or of several one of the list. Without a list nothing orders them.
    fn unordered_party(
        &self,
        thread: u32,
        (who, did): (u32, &'static str),
        (time, list): (u32, u32),
    ) -> Option<Unordered> {
        let recorded = Party::of(who, time);
        let list = self.lists.get((list as usize).wrapping_sub(1));
        let parties = match list {
            Some(list) if who & MANY != 0 => list.as_slice(),
            None if who & MANY != 0 && recorded.thread == thread => return Some(None),
            _ => std::slice::from_ref(&recorded),
        };
        let unordered =
            |p: &&Party| p.thread != thread && !self.happens_before(thread, p.thread, p.clock);
        let found = parties.iter().find(unordered);
        found.map(|p| Some((p.thread, did, p.line)))
    }

    /// An atomic operation. Reads stay in the record, because the thread's own are not ordered with
    /// atomic operations of other threads; and so does a plain store by the thread.
    fn change(
        &mut self,
        thread: u32,
        who: u32,
        epoch: u32,
        cell: &mut croq_sim_cell,
        times: &mut Times,
    ) {
        let writer = cell.writer & THREAD;
        let (atomic, many) = (cell.writer & ATOMIC != 0, cell.writer & MANY != 0);
        let now = cell.written == epoch;
        if now && !atomic && !many && writer == thread {
            return;
        }
        let of_others = now && atomic && (many || writer != thread);
        // Later accesses that are ordered after this one are also ordered after those before it.
        if !of_others || (!many && self.happens_before(thread, writer, times.written)) {
            self.drop_list(&mut times.changers);
            (cell.written, cell.writer) = (epoch, who | ATOMIC);
            times.written = self.clocks.own(thread);
            return;
        }
        let before = (!many).then_some((cell.writer, times.written));
        self.add(&mut times.changers, before, who);
        cell.writer |= MANY;
    }

    fn put(&mut self, at: usize, cell: croq_sim_cell, times: Times) {
        if let Some(place) = self.cells.get(at) {
            place.set(cell);
        }
        if let Some(place) = self.times.get_mut(at) {
            *place = times;
        }
    }

    /// Whether the other thread's access at that time happens before the thread's current one; time
    /// 0 is unknown to every thread.
    fn happens_before(&self, thread: u32, other: u32, time: u32) -> bool {
        time != 0 && self.clocks.known(thread, other) >= time
    }

    fn read(
        &mut self,
        thread: u32,
        who: u32,
        epoch: u32,
        cell: &mut croq_sim_cell,
        times: &mut Times,
    ) {
        let reader = cell.reader & THREAD;
        let is_first = cell.read != epoch;
        let alone = cell.reader & MANY == 0;
        // Later accesses that are ordered after this reader are also ordered after those before it.
        if is_first
            || (alone && (reader == thread || self.happens_before(thread, reader, times.read)))
        {
            self.drop_list(&mut times.readers);
            (cell.read, cell.reader) = (epoch, who);
            times.read = self.clocks.own(thread);
            return;
        }
        let before = alone.then_some((cell.reader, times.read));
        self.add(&mut times.readers, before, who);
        cell.reader |= MANY;
    }

    /// Adds the thread to the list of those that accessed an element, which begins with `before`,
    /// its record and time, and is sorted by threads. Without clocks there are no lists.
    fn add(&mut self, list: &mut u32, before: Option<(u32, u32)>, who: u32) {
        if self.times.is_empty() {
            return;
        }
        if before.is_some() {
            self.drop_list(list);
            *list = self.new_list();
        }
        let me = Party::of(who, self.clocks.own(who & THREAD));
        let Some(parties) = self.lists.get_mut((*list as usize).wrapping_sub(1)) else {
            return;
        };
        if let Some((who, clock)) = before {
            parties.push(Party::of(who, clock));
        }
        // Mostly they come in increasing order.
        if parties.last().is_some_and(|last| last.thread < me.thread) {
            parties.push(me);
            return;
        }
        match parties.binary_search_by_key(&me.thread, |party| party.thread) {
            Ok(at) => parties[at] = me,
            Err(at) => parties.insert(at, me),
        }
    }

    fn new_list(&mut self) -> u32 {
        match self.free.pop() {
            Some(list) => list,
            None => {
                self.lists.push(Vec::new());
                self.lists.len() as u32
            }
        }
    }

    fn drop_list(&mut self, list: &mut u32) {
        let list = std::mem::take(list);
        if let Some(readers) = self.lists.get_mut((list as usize).wrapping_sub(1)) {
            readers.clear();
            self.free.push(list);
        }
    }

    /// A reader of the element in this epoch that is unordered with the thread.
    fn unordered_reader(
        &self,
        thread: u32,
        cell: &croq_sim_cell,
        times: &Times,
    ) -> Option<Unordered> {
        let list = (times.read, times.readers);
        self.unordered_party(thread, (cell.reader, "read it"), list)
    }
}

/// ```text
/// race in sums_0, block 3: `tile`[17] is read by one thread and written by another, and no barrier or event orders the two
///   thread 5 reads it, kernels/tile.co:20
///   thread 4 wrote it, kernels/tile.co:12
/// ```
#[cold]
fn race(
    thread: u32,
    access: &croq_sim_access,
    kind: u32,
    earlier: &str,
    other: Unordered,
) -> Box<Hazard> {
    let (now, does) = match kind {
        CROQ_ACCESS_READS => ("read", "reads it"),
        CROQ_ACCESS_ATOMIC => ("changed atomically", "changes it"),
        _ => ("written", "writes it"),
    };
    let both = match now == earlier {
        true => format!("{now} by two threads"),
        false => format!("{now} by one thread and {earlier} by another"),
    };
    let what = format!(
        "{} is {both}, and no barrier or event orders the two",
        element(access)
    );
    let mut records = vec![AccessRecord {
        thread,
        what: does,
        line: access.line,
    }];
    records.extend(other.map(|(thread, what, line)| AccessRecord { thread, what, line }));
    Box::new(Hazard {
        kind: "race",
        what,
        records,
    })
}

#[cfg(test)]
mod tests;
