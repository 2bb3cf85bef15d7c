//! TMA copies of boxes that are in flight.
//!
//! A load completes when nothing else can run, or earlier if the seed selects it, and then arrives
//! at its mbarrier. A store reads shared memory when its thread waits for the read, and writes the
//! tensor when its thread waits for the write, or when the block ends.

use std::collections::VecDeque;

use super::asynchronous::Asynchronous;
use super::device::By;
use super::hazard::{AccessRecord, Hazard};
use super::marks::{INCOMING, OUTGOING, element, overlap};
use super::tensor::{Tile, UNIT};
use crate::abi::croq_sim_access;

type Outcome<T = ()> = Result<T, Box<Hazard>>;

/// The most stores that are kept between their read and their write.
const MOST_STORES: usize = 64;

struct Load {
    tile: Tile,
    dest: *mut u8,
    /// The offset in shared memory.
    offset: usize,
    arrival: croq_sim_access,
    record: AccessRecord,
}

struct Store {
    tile: Tile,
    source: *const u8,
    offset: usize,
    group: u64,
    record: AccessRecord,
    /// The data that was read.
    content: Option<Vec<u8>>,
    /// No thread has waited for the read yet: the source is marked, even if it was read.
    reading: bool,
}

/// The TMA copies of a block.
#[derive(Default)]
pub(super) struct Bulk {
    loads: Vec<Load>,
    /// Oldest first.
    stores: VecDeque<Store>,
    /// For each thread, the number of the group that has not been committed yet.
    open: Vec<u64>,
    seed: u64,
    random: u64,
}

impl Bulk {
    pub(super) fn reset(&mut self, seed: u64, block: u64, threads: usize) {
        self.loads.clear();
        self.stores.clear();
        self.open.clear();
        self.open.resize(threads, 0);
        self.seed = seed;
        self.random = !seed ^ block.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    /// Whether an operation that may be executed now is: one in four times, and never with seed 0.
    fn happens(&mut self) -> bool {
        if self.seed == 0 {
            return false;
        }
        self.random = crate::random::scrambled(self.random);
        self.random >> 62 == 0
    }

    /// The thread that began a copy with a byte in common with this memory.
    pub(super) fn find(&self, reached: (*const u8, usize)) -> Option<AccessRecord> {
        let loads = self
            .loads
            .iter()
            .map(|load| ((load.dest.cast_const(), load.tile.bytes()), load.record));
        let stores = self.stores.iter().filter(|store| store.reading);
        let stores = stores.map(|store| ((store.source, store.tile.bytes()), store.record));
        loads
            .chain(stores)
            .find(|&(place, _)| overlap(reached, place))
            .map(|(_, record)| record)
    }

    /// The thread that began a load in flight that reads this byte of device memory.
    pub(super) fn reader_of(&self, at: *const u8) -> Option<AccessRecord> {
        let load = self.loads.iter().find(|load| load.tile.has(at));
        load.map(|load| load.record)
    }

    /// A thread has left the kernel.
    pub(super) fn exit(&self, thread: u32) -> Outcome {
        let unread = |store: &&Store| store.record.thread == thread && store.reading;
        match self.stores.iter().find(unread) {
            None => Ok(()),
            Some(store) => Err(Box::new(Hazard {
                kind: "unfinished copy",
                what: "a thread left the kernel without waiting until its store had been read"
                    .to_owned(),
                records: vec![store.record],
            })),
        }
    }

    /// The block has ended.
    pub(super) fn finish(&mut self) -> Outcome {
        if let Some(load) = self.loads.first() {
            return Err(Box::new(Hazard {
                kind: "unfinished copy",
                what: "all threads left the kernel while a copy was in flight".to_owned(),
                records: vec![load.record],
            }));
        }
        for store in self.stores.drain(..) {
            store.write();
        }
        Ok(())
    }
}

impl Load {
    fn land(&self) {
        let dest = self.dest;
        self.tile.units(self.offset, |unit| {
            // SAFETY: the box is in shared memory, which was checked at the issue, and its part
            // inside the tensor is in the tensor's buffer, which was checked when the map was made.
            unsafe {
                let dest = dest.add(unit.stored);
                dest.write_bytes(0, UNIT);
                dest.add(unit.inside.start)
                    .copy_from_nonoverlapping(unit.memory, unit.inside.len());
            }
        });
    }
}

impl Store {
    fn read(&mut self) {
        let mut content = Vec::with_capacity(self.tile.bytes());
        let source = self.source;
        self.tile.units(self.offset, |unit| {
            // SAFETY: the box is in shared memory, which was checked at the issue.
            let bytes = unsafe { std::slice::from_raw_parts(source.add(unit.stored), UNIT) };
            content.extend_from_slice(bytes);
        });
        self.content = Some(content);
    }

    /// Writes the tensor, after the read.
    fn write(self) {
        let content = self.content.unwrap_or_default();
        let mut units = content.chunks_exact(UNIT);
        self.tile.units(self.offset, |unit| {
            if let Some(bytes) = units
                .next()
                .and_then(|bytes| bytes.get(unit.inside.clone()))
            {
                // SAFETY: the part inside the tensor is in its buffer, which was checked when the
                // map was made.
                unsafe {
                    unit.memory
                        .copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
                }
            }
        });
    }
}

/// The thread for which TMA currently reads this byte of device memory.
pub(super) fn reader_of(all: &Asynchronous, at: *const u8) -> Option<By> {
    all.bulk.reader_of(at).map(|record| By {
        thread: record.thread,
        line: record.line,
        multicast: false,
    })
}

/// The offset of a box in shared memory, if it is legal.
fn place(
    all: &Asynchronous,
    access: &croq_sim_access,
    tile: &Tile,
    record: AccessRecord,
) -> Outcome<usize> {
    let error = |what| {
        let kind = "error";
        let records = vec![record];
        Err(Box::new(Hazard {
            kind,
            what,
            records,
        }))
    };
    if let Some(&at) = tile.at.iter().find(|&&at| i32::try_from(at).is_err()) {
        return error(format!("a box's coordinate is {at}: they have 32 bits"));
    }
    match all.marks.offset(access.at.cast(), tile.bytes()) {
        Some(offset) if offset.is_multiple_of(tile.alignment()) => Ok(offset),
        Some(_) => error(format!(
            "{} is not at a multiple of {} bytes, as a box with swizzle {} must be",
            element(access),
            tile.alignment(),
            tile.map.swizzle
        )),
        None => error(format!("{} is not in shared memory", element(access))),
    }
}

pub(super) fn tma_load(
    all: &mut Asynchronous,
    thread: u32,
    dest: &croq_sim_access,
    tile: Tile,
    arrival: &croq_sim_access,
    ready: &mut VecDeque<u32>,
) -> Outcome {
    let record = AccessRecord {
        thread,
        what: "began the copy",
        line: dest.line,
    };
    let offset = place(all, dest, &tile, record)?;
    all.mbarriers.check_arrival(thread, arrival)?;
    all.claim(thread, dest)?;
    all.marks
        .of(dest.at.cast(), tile.bytes())
        .iter_mut()
        .for_each(|mark| *mark |= INCOMING);
    all.bulk.loads.push(Load {
        tile,
        dest: dest.at.cast(),
        offset,
        arrival: *arrival,
        record,
    });
    if all.bulk.happens() {
        land(all, all.bulk.loads.len() - 1, ready)?;
    }
    Ok(())
}

fn land(all: &mut Asynchronous, index: usize, ready: &mut VecDeque<u32>) -> Outcome {
    let load = all.bulk.loads.remove(index);
    load.land();
    let bytes = load.tile.bytes();
    for mark in all.marks.of(load.dest, bytes) {
        *mark &= !INCOMING;
    }
    all.proxies.forget(load.offset, bytes);
    let arrival = &load.arrival;
    all.mbarriers
        .complete(load.record, arrival, bytes as i64, ready)
}

/// No thread can continue: completes the oldest load, or with a seed any. Returns whether there was
/// one.
pub(super) fn land_one(all: &mut Asynchronous, ready: &mut VecDeque<u32>) -> Outcome<bool> {
    let count = all.bulk.loads.len();
    if count == 0 {
        return Ok(false);
    }
    let mut index = 0;
    while index + 1 < count && all.bulk.seed != 0 && !all.bulk.happens() {
        index += 1;
    }
    land(all, index, ready)?;
    Ok(true)
}

/// An action of a thread, at which loads may complete.
pub(super) fn maybe_complete(all: &mut Asynchronous, ready: &mut VecDeque<u32>) -> Outcome {
    if !all.bulk.loads.is_empty() && all.bulk.happens() {
        land_one(all, ready)?;
    }
    Ok(())
}

pub(super) fn tma_store(
    all: &mut Asynchronous,
    thread: u32,
    source: &croq_sim_access,
    tile: Tile,
) -> Outcome {
    let record = AccessRecord {
        thread,
        what: "began the copy",
        line: source.line,
    };
    let offset = place(all, source, &tile, record)?;
    // CUDA C++ programming guide, "Transferring multi-dimensional arrays": only loads may begin there.
    if let Some(&at) = tile.at.iter().find(|&&at| at < 0) {
        return Err(Box::new(Hazard {
            kind: "error",
            what: format!("a box at the coordinate {at} is stored: it begins before the tensor"),
            records: vec![record],
        }));
    }
    all.read_by_proxy(thread, source)?;
    let bytes = tile.bytes();
    all.marks
        .of(source.at.cast(), bytes)
        .iter_mut()
        .for_each(|mark| *mark |= OUTGOING);
    all.bulk.stores.push_back(Store {
        tile,
        source: source.at.cast_const().cast(),
        offset,
        group: all.bulk.open.get(thread as usize).copied().unwrap_or(0),
        record,
        content: None,
        reading: true,
    });
    if all.bulk.happens()
        && let Some(store) = all.bulk.stores.back_mut()
    {
        store.read();
    }
    Ok(())
}

/// The source of a store may be written again.
fn release(all: &mut Asynchronous, index: usize) {
    let Some(store) = all.bulk.stores.get_mut(index) else {
        return;
    };
    if !std::mem::take(&mut store.reading) {
        return;
    }
    if store.content.is_none() {
        store.read();
    }
    let (source, bytes) = (store.source, store.tile.bytes());
    for mark in all.marks.of(source, bytes) {
        *mark &= !OUTGOING;
    }
    // Another store may read parts of it.
    for other in all.bulk.stores.iter().filter(|store| store.reading) {
        for mark in all.marks.of(other.source, other.tile.bytes()) {
            *mark |= OUTGOING;
        }
    }
}

pub(super) fn bulk_commit(all: &mut Asynchronous, thread: u32) {
    if let Some(open) = all.bulk.open.get_mut(thread as usize) {
        *open += 1;
    }
}

/// Waits for all groups of the thread except the `pending` most recent ones.
pub(super) fn bulk_wait(all: &mut Asynchronous, thread: u32, pending: u32, only_read: bool) {
    let open = all.bulk.open.get(thread as usize).copied().unwrap_or(0);
    let done = open.saturating_sub(u64::from(pending));
    let mut index = 0;
    while let Some(store) = all.bulk.stores.get(index) {
        if store.record.thread != thread || store.group >= done {
            index += 1;
            continue;
        }
        release(all, index);
        if only_read && !all.bulk.happens() {
            index += 1;
        } else if let Some(store) = all.bulk.stores.remove(index) {
            store.write();
        }
    }
    while all.bulk.stores.len() > MOST_STORES
        && all.bulk.stores.front().is_some_and(|store| !store.reading)
    {
        if let Some(store) = all.bulk.stores.pop_front() {
            store.write();
        }
    }
}
