//! Detects races between blocks that ran on different OS threads.

use super::log::{ATOMIC, Log, PAGE, SAME};
use super::report::{AccessRecord, Did, Race, between, record};
use super::rules::{Earlier, did_other};
use super::{Watched, locked};
use crate::abi::croq_sim_device_cell;

/// Of the pairs of accesses that race, in blocks below `limit`, one whose later block has the
/// lowest number.
pub(in super::super) fn races_between(watched: &Watched, limit: u64) -> Option<Box<Race>> {
    let logs: Vec<_> = locked(&watched.logs).values().cloned().collect();
    if logs.len() < 2 {
        return None;
    }
    let logs: Vec<_> = logs.iter().map(|log| locked(log)).collect();
    let mut worst: Option<(AccessRecord, AccessRecord, usize, u64)> = None;
    for (number, buffer) in watched.buffers.iter().enumerate() {
        for page in 0..buffer.count.div_ceil(PAGE) {
            let touched = logs.iter().filter(|log| log.is_touched(number, page));
            let touched: Vec<&Log> = touched.map(|log| &**log).collect();
            if touched.len() < 2 {
                continue;
            }
            let elements = page * PAGE..buffer.count.min((page + 1) * PAGE);
            for element in elements {
                let found = of_element(&touched, number as u32, element as u64);
                let Some((first, second)) = found else {
                    continue;
                };
                let is_worse = worst
                    .as_ref()
                    .is_none_or(|(f, s, ..)| (second.block, first.block) < (s.block, f.block));
                if second.block < limit && is_worse {
                    worst = Some((first, second, number, element as u64));
                }
            }
        }
    }
    let (first, second, number, element) = worst?;
    let name = watched.buffers.get(number)?.name.clone();
    Some(between(name, element, first, second))
}

/// The accesses that a cell records for one OS thread's blocks.
struct Side {
    stores: Vec<(AccessRecord, u32, u32)>,
    reads: Vec<AccessRecord>,
}

fn side(log: &Log, cell: &croq_sim_device_cell) -> Side {
    let at = |epoch, who, did| record(log, Earlier { epoch, who, did });
    let mut side = Side {
        stores: Vec::new(),
        reads: Vec::new(),
    };
    if cell.written != 0 {
        let atomic = cell.writer & ATOMIC != 0;
        let did = if atomic { Did::Changed } else { Did::Wrote };
        let flags = cell.writer & (ATOMIC | SAME);
        let store = at(cell.written, cell.writer, did);
        side.stores.push((store, flags, cell.value));
        if atomic && cell.value != 0 {
            let also = at(cell.value, cell.other, did_other(cell));
            (side.stores).push((also, cell.other & (ATOMIC | SAME), 0));
        }
    }
    for (epoch, who) in [(cell.read, cell.reader), (cell.read_too, cell.reader_too)] {
        if epoch != 0 {
            side.reads.push(at(epoch, who, Did::Read));
        }
    }
    side
}

/// Two accesses in different logs that race, the one of the lower block first.
fn of_element(logs: &[&Log], buffer: u32, element: u64) -> Option<(AccessRecord, AccessRecord)> {
    let cells = logs.iter().filter_map(|log| {
        let cell = log.cell(buffer, element)?;
        let used = cell.written != 0 || cell.read != 0;
        used.then(|| side(log, &cell))
    });
    let sides: Vec<Side> = cells.collect();
    let mut found: Option<(AccessRecord, AccessRecord)> = None;
    let mut note = |a: AccessRecord, b: AccessRecord| {
        let (first, second) = if a.block < b.block { (a, b) } else { (b, a) };
        let key = |f: &AccessRecord, s: &AccessRecord| (s.block, f.block, s.did, f.did);
        if found
            .as_ref()
            .is_none_or(|(f, s)| key(&first, &second) < key(f, s))
        {
            found = Some((first, second));
        }
    };
    for (at, one) in sides.iter().enumerate() {
        for (other_at, other) in sides.iter().enumerate() {
            if at == other_at {
                continue;
            }
            for (store, flags, value) in &one.stores {
                for (also, other_flags, other_value) in &other.stores {
                    let atomic = (flags & ATOMIC, other_flags & ATOMIC);
                    let harmless = match atomic {
                        (0, 0) => value == other_value,
                        (a, b) => a == b,
                    };
                    if at < other_at && !harmless {
                        note(*store, *also);
                    }
                }
                if flags & SAME == 0 {
                    other.reads.iter().for_each(|read| note(*store, *read));
                }
            }
        }
    }
    found
}
