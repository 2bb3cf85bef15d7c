use std::sync::{Arc, Mutex};
use std::thread;

use super::log::{ATOMIC, LINE, Log, Place, SAME};
use super::report::Did;
use super::rules::Watch;
use super::{Buffer, Watched, locked, races_between};
use crate::abi::{CROQ_ACCESS_READS, CROQ_ACCESS_WRITES, croq_sim_access, croq_sim_device_cell};
use crate::sim::clocks::Clocks;
use crate::sim::worker::permutation;

fn buffers() -> Vec<Buffer> {
    vec![Buffer {
        name: "y".to_owned(),
        count: 1000,
        written_whole: false,
        memory: 0,
        element: 4,
        per_byte: 1,
    }]
}

fn watched() -> Watched {
    Watched {
        buffers: buffers(),
        escaping: Vec::new(),
        logs: Mutex::default(),
        alone: false,
    }
}

fn who(thread: u32, line: u32) -> u32 {
    thread | line << LINE
}

#[test]
fn turns_come_to_each_once() {
    for count in [1u64, 2, 3, 7, 64, 100, 1024] {
        for seed in 0..20 {
            let (start, step) = permutation(count, seed);
            let mut all: Vec<u64> = (0..count).map(|i| (start + i * step) % count).collect();
            if seed == 0 {
                assert!(all.is_sorted(), "{count}");
            }
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len() as u64, count, "{count} with seed {seed}");
        }
    }
}

#[test]
fn an_epoch_says_whose_it_was() {
    let mut log = Log::new(&buffers());
    let place = |block, cluster| Place { block, cluster };
    assert_eq!(log.next_epoch(place(7, 3)), Some(1));
    assert_eq!(log.next_epoch(place(8, 3)), Some(2));
    assert_eq!(log.next_epoch(place(7, 3)), Some(3));
    assert_eq!(log.sweep(100, 10, 4, 3), Some(3));
    assert_eq!(log.next_epoch(place(9, 9)), Some(14));
    assert_eq!(log.place(1), place(7, 3));
    assert_eq!(log.place(2), place(8, 3));
    assert_eq!(log.place(3), place(7, 3));
    let blocks: Vec<u64> = (4..14).map(|epoch| log.place(epoch).block).collect();
    assert_eq!(blocks, [104, 107, 100, 103, 106, 109, 102, 105, 108, 101]);
    assert_eq!(log.place(14), place(9, 9));
}

#[test]
fn memory_behind_packed_elements_is_not_theirs() {
    let buffer = Buffer {
        name: "codes".to_owned(),
        count: 64,
        written_whole: false,
        memory: 1000,
        element: 1,
        per_byte: 2,
    };
    let index = |at: usize| buffer.index(at as *const u8);
    assert_eq!(index(1000), Some(0));
    assert_eq!(index(1031), Some(62));
    assert_eq!(index(1032), None);
    assert_eq!(index(999), None);
}

/// Two OS threads run a block each, and record the cells `a` and `b` at element 130.
fn race_of(a: croq_sim_device_cell, b: croq_sim_device_cell) -> Option<String> {
    let watched = watched();
    for (block, cell) in [(4, a), (2, b)] {
        let watched = &watched;
        thread::scope(|scope| {
            scope.spawn(move || {
                let log: Arc<Mutex<Log>> = watched.log();
                let mut log = locked(&log);
                log.next_epoch(Place { block, cluster: 0 });
                log.put(0, 130, cell);
            });
        });
    }
    races_between(&watched, u64::MAX).map(|race| format!("{race:?}"))
}

#[test]
fn blocks_of_two_os_threads_race() {
    let stored = |flags, value| croq_sim_device_cell {
        written: 1,
        writer: who(3, 10) | flags,
        value,
        ..Default::default()
    };
    let read = croq_sim_device_cell {
        read: 1,
        reader: who(5, 11),
        ..Default::default()
    };
    let atomic = stored(ATOMIC, 0);
    assert!(race_of(stored(0, 1), stored(0, 2)).is_some());
    assert_eq!(race_of(stored(0, 1), stored(0, 1)), None, "equal values");
    assert_eq!(race_of(read, read), None);
    assert_eq!(race_of(atomic, atomic), None);
    assert!(race_of(atomic, read).is_some());
    assert!(race_of(stored(0, 1), atomic).is_some());
    assert_eq!(race_of(stored(SAME, 1), read), None, "changes nothing");
    let found = race_of(stored(0, 1), read).unwrap_or_default();
    let later = "now: AccessRecord { block: 4, thread: 3, line: 10, did: Wrote }";
    assert!(found.contains(later), "{found}");
    assert!(
        found.contains("block: 2, thread: 5, line: 11, did: Read"),
        "{found}"
    );
    assert!(Did::Wrote < Did::Read);
}

/// Two OS threads write all elements of a buffer but those at `skipped`.
fn unwritten_after(skipped: &[u64], gives_up: bool) -> Option<usize> {
    let mut watched = watched();
    for buffer in &mut watched.buffers {
        buffer.written_whole = true;
    }
    for part in [0..500, 500..1000] {
        let watched = &watched;
        thread::scope(|scope| {
            scope.spawn(move || {
                let log: Arc<Mutex<Log>> = watched.log();
                let mut log = locked(&log);
                log.next_epoch(Place {
                    block: part.start,
                    cluster: 0,
                });
                for element in part.filter(|element| !skipped.contains(element)) {
                    let cell = croq_sim_device_cell {
                        written: 1,
                        writer: who(0, 7),
                        ..Default::default()
                    };
                    log.put(0, element, cell);
                }
                if gives_up {
                    log.give_up();
                }
            });
        });
    }
    watched.unwritten().map(|(_, element)| element)
}

#[test]
fn a_buffer_that_a_launch_must_write_whole_lacks_an_element() {
    assert_eq!(unwritten_after(&[], false), None);
    for element in [0, 499, 500, 999] {
        assert_eq!(unwritten_after(&[element], false), Some(element as usize));
    }
    assert_eq!(unwritten_after(&[3], true), None);
}

/// Threads 0 and 1 read an element and thread 0 stores it, in a block where a thread has released
/// accesses between; `waits`: thread 0 has waited for the reader.
fn store_after_two_reads(waits: bool) -> bool {
    let mut watch = Watch::default();
    let watched = watched();
    watch.prepare(Some(&watched), 2, false);
    watch.begin(0, 0);
    let mut clocks = Clocks::default();
    clocks.reset(2);
    let access = croq_sim_access {
        name: c"y".as_ptr(),
        index: 0,
        at: std::ptr::null_mut(),
        bytes: 4,
        line: 1,
    };
    for thread in [0, 1] {
        let read = watch.access(thread, &access, 0, (CROQ_ACCESS_READS, 0), &mut clocks);
        assert!(read.is_ok());
    }
    watch.report_all();
    clocks.arrive(1, 8, 0);
    if waits {
        clocks.wait(0, 8, 1);
    }
    let store = watch.access(0, &access, 0, (CROQ_ACCESS_WRITES, 7), &mut clocks);
    store.is_ok()
}

#[test]
fn of_several_readers_those_that_nothing_orders_are_found() {
    assert!(store_after_two_reads(true));
    assert!(!store_after_two_reads(false));
}

/// Threads 1 to 3 read an element, each of which then arrives at an mbarrier of its own; thread 0 stores it
/// after it has waited for some of them. Every access is reported to the runtime.
fn store_after_waits(waits: &[u32]) -> bool {
    let mut watch = Watch::default();
    let watched = watched();
    watch.prepare(Some(&watched), 4, false);
    watch.begin(0, 0);
    watch.report_all();
    let mut clocks = Clocks::default();
    clocks.reset(4);
    let access = croq_sim_access {
        name: c"y".as_ptr(),
        index: 70,
        at: std::ptr::null_mut(),
        bytes: 4,
        line: 1,
    };
    for thread in 1..4 {
        let read = watch.access(thread, &access, 0, (CROQ_ACCESS_READS, 0), &mut clocks);
        assert!(read.is_ok());
        clocks.arrive(thread, 8 * thread as usize, 0);
    }
    for thread in waits {
        clocks.wait(0, 8 * *thread as usize, 1);
    }
    let store = watch.access(0, &access, 0, (CROQ_ACCESS_WRITES, 7), &mut clocks);
    store.is_ok()
}

#[test]
fn each_of_several_readers_has_to_be_waited_for() {
    assert!(store_after_waits(&[1, 2, 3]));
    for some in [&[][..], &[1], &[2], &[3], &[1, 2], &[1, 3], &[2, 3]] {
        assert!(!store_after_waits(some), "{some:?}");
    }
}
