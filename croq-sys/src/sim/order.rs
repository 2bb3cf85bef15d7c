//! Detects races in shared memory: unordered accesses by different threads of a block.
//!
//! For each byte at which an element begins, a cell records the last write and the reads since.
//! Device code checks the cells itself (`sim/order.h`) and calls the runtime if they do not decide.
//! Accesses of different *epochs*, with a barrier over the whole block in between, are always
//! ordered. Others are if the earlier one happens before the later one by vector clocks
//! ([`Clocks`]).
//!
//! Until some threads of the block use a barrier without the others, the accesses of an epoch are
//! all unordered between threads, and cells suffice. From then on, to the end of the launch, every
//! access is reported to the runtime.
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
    CROQ_ACCESS_ATOMIC, CROQ_ACCESS_READS, CROQ_ACCESS_SAME, croq_sim_access, croq_sim_cell,
    croq_sim_order,
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
    list: u32,
}

/// One of several readers of an element.
#[derive(Clone, Copy)]
struct Reader {
    thread: u32,
    clock: u32,
    line: u32,
}

pub(super) struct Order {
    /// The state that device code reads. It contains the epoch and the cells.
    state: Rc<Cell<croq_sim_order>>,
    is_enabled: bool,
    shared: usize,
    cells: Vec<Cell<croq_sim_cell>>,
    times: Vec<Times>,
    lists: Vec<Vec<Reader>>,
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
            })),
            is_enabled: false,
            shared: 0,
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
        self.is_enabled = is_enabled && room(bytes, blocks) > 0;
        if !self.is_enabled {
            return std::ptr::null_mut();
        }
        self.shared = shared as usize;
        let plane = (bytes as usize).div_ceil(PLANES);
        // Cells of earlier launches have other epochs, unless the layout changes.
        if self.cells.len() != plane * PLANES {
            self.cells.clear();
            self.cells.resize(plane * PLANES, Cell::default());
        }
        self.times.clear();
        self.lists.clear();
        self.free.clear();
        self.state.set(croq_sim_order {
            epoch: self.state.get().epoch,
            reports_all: 0,
            plane: plane as u64,
            cells: self.cells.as_ptr().cast_mut().cast(),
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

    /// From now on vector clocks are needed; for the epoch so far they were not recorded.
    fn report_all(&mut self) {
        self.device.report_all();
        let state = self.state.get();
        if self.is_enabled && state.reports_all == 0 {
            self.state.set(croq_sim_order {
                reports_all: 1,
                ..state
            });
            self.times.clear();
            self.times.resize(self.cells.len(), Times::default());
            self.begin_epoch();
        }
    }

    /// Some threads were at a barrier.
    pub(super) fn barrier_completed(&mut self, threads: impl Iterator<Item = u32> + Clone) {
        if self.is_enabled || self.device.is_enabled() {
            self.report_all();
            self.device.barrier_completed(threads.clone());
            self.clocks.meet(threads);
        }
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

    fn cell_at(&self, offset: usize) -> usize {
        offset % PLANES * (self.cells.len() / PLANES) + offset / PLANES
    }

    /// A thread of another block writes the memory; the order of that is not recorded here.
    pub(super) fn forget(&mut self, at: *const u8, bytes: usize) {
        if !self.is_enabled {
            return;
        }
        let first = (at as usize).wrapping_sub(self.shared);
        for offset in first..first.saturating_add(bytes) {
            let at = self.cell_at(offset);
            if let Some(cell) = self.cells.get(at) {
                cell.take();
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
            self.one(thread, access, offset, kind)?;
        }
        Ok(())
    }

    fn one(&mut self, thread: u32, access: &croq_sim_access, offset: usize, kind: u32) -> Outcome {
        let epoch = self.state.get().epoch;
        let at = self.cell_at(offset);
        let Some(mut cell) = self.cells.get(at).map(Cell::get) else {
            return Ok(());
        };
        let mut times = self.times.get(at).copied().unwrap_or_default();
        let who = thread | access.line << LINE;
        let writer = cell.writer & THREAD;
        if cell.written == epoch
            && writer != thread
            && cell.writer & MANY == 0
            && !(kind == CROQ_ACCESS_ATOMIC && cell.writer & ATOMIC != 0)
            && !self.happens_before(thread, writer, times.written)
        {
            if kind == CROQ_ACCESS_SAME {
                cell.writer |= MANY;
                self.put(at, cell, times);
                return Ok(());
            }
            let record = (writer, "wrote it", cell.writer >> LINE);
            return Err(race(thread, access, kind, "written", Some(record)));
        }
        if kind == CROQ_ACCESS_READS {
            self.read(thread, who, epoch, &mut cell, &mut times);
        } else {
            if kind != CROQ_ACCESS_SAME
                && cell.read == epoch
                && let Some(reader) = self.unknown_reader(thread, &cell, &times)
            {
                return Err(race(thread, access, kind, "read", reader));
            }
            self.drop_list(&mut times);
            let flag = if kind == CROQ_ACCESS_ATOMIC {
                ATOMIC
            } else {
                0
            };
            (cell.written, cell.writer, cell.read) = (epoch, who | flag, 0);
            times.written = self.clocks.own(thread);
        }
        self.put(at, cell, times);
        Ok(())
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
            self.drop_list(times);
            (cell.read, cell.reader) = (epoch, who);
            times.read = self.clocks.own(thread);
            return;
        }
        let clock = self.clocks.own(thread);
        if !self.times.is_empty() {
            if alone {
                self.drop_list(times);
                times.list = self.new_list();
            }
            let now = |thread, clock, who: u32| Reader {
                thread,
                clock,
                line: who >> LINE,
            };
            let before = now(reader, times.read, cell.reader);
            if let Some(list) = self.lists.get_mut((times.list as usize).wrapping_sub(1)) {
                if alone {
                    list.push(before);
                }
                let me = now(thread, clock, who);
                // Mostly they are in increasing order.
                match list.last() {
                    Some(last) if last.thread < thread => list.push(me),
                    _ => match list.iter_mut().find(|r| r.thread == thread) {
                        Some(old) => *old = me,
                        None => list.push(me),
                    },
                }
            }
        }
        cell.reader |= MANY;
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

    fn drop_list(&mut self, times: &mut Times) {
        let list = std::mem::take(&mut times.list);
        if let Some(readers) = self.lists.get_mut((list as usize).wrapping_sub(1)) {
            readers.clear();
            self.free.push(list);
        }
    }

    /// A reader of the element in this epoch that is unordered with the thread. If it is one of
    /// several, it may not be known which.
    #[allow(clippy::option_option)]
    fn unknown_reader(
        &self,
        thread: u32,
        cell: &croq_sim_cell,
        times: &Times,
    ) -> Option<Option<(u32, &'static str, u32)>> {
        let reader = cell.reader & THREAD;
        let state = |thread, line| Some(Some((thread, "read it", line)));
        if cell.reader & MANY == 0 {
            return match reader == thread || self.happens_before(thread, reader, times.read) {
                true => None,
                false => state(reader, cell.reader >> LINE),
            };
        }
        match self.lists.get((times.list as usize).wrapping_sub(1)) {
            None if reader == thread => Some(None),
            None => state(reader, cell.reader >> LINE),
            Some(readers) => readers
                .iter()
                .find(|r| r.thread != thread && !self.happens_before(thread, r.thread, r.clock))
                .and_then(|r| state(r.thread, r.line)),
        }
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
    other: Option<(u32, &'static str, u32)>,
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
