//! Streams and events as programs know them: addresses that are never used again.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use crate::code::{Code, Done};
use crate::memory::locked;
use crate::stream::{Point, Stream};

pub struct Table<T> {
    known: HashMap<usize, T>,
    next: usize,
}

impl<T> Default for Table<T> {
    fn default() -> Table<T> {
        Table {
            known: HashMap::new(),
            next: 0x10000,
        }
    }
}

impl<T: Clone> Table<T> {
    pub fn add(&mut self, value: T) -> usize {
        self.next += 64;
        self.known.insert(self.next, value);
        self.next
    }

    pub fn get(&self, handle: usize) -> Done<T> {
        self.known.get(&handle).cloned().ok_or(Code::INVALID_HANDLE)
    }

    pub fn remove(&mut self, handle: usize) -> Done<T> {
        self.known.remove(&handle).ok_or(Code::INVALID_HANDLE)
    }

    pub fn all(&self) -> Vec<T> {
        self.known.values().cloned().collect()
    }
}

#[derive(Default)]
pub struct Streams {
    table: Mutex<Table<Arc<Stream>>>,
    /// Closed streams whose work may not be complete, and those of threads.
    others: Mutex<Vec<Arc<Stream>>>,
    default: Mutex<Option<Arc<Stream>>>,
}

/// `cudaStreamLegacy` and `cudaStreamPerThread`.
const LEGACY: usize = 1;
const PER_THREAD: usize = 2;

thread_local! {
    static OWN: RefCell<Option<Arc<Stream>>> = const { RefCell::new(None) };
}

impl Streams {
    pub fn create(&self, is_blocking: bool) -> usize {
        locked(&self.table).add(Stream::new(is_blocking))
    }

    /// The default stream, with which blocking streams are ordered.
    pub fn legacy(&self) -> Arc<Stream> {
        let mut default = locked(&self.default);
        default.get_or_insert_with(|| Stream::new(true)).clone()
    }

    /// A stream for work that cannot be a part of a graph.
    pub fn get(&self, handle: usize) -> Done<Arc<Stream>> {
        let stream = self.get_for_capture(handle)?;
        let captures = locked(&stream.captured).is_some();
        match captures {
            true => Err(Code::NOT_IN_CAPTURE),
            false => Ok(stream),
        }
    }

    /// A stream, which may be capturing a graph.
    pub fn get_for_capture(&self, handle: usize) -> Done<Arc<Stream>> {
        match handle {
            0 | LEGACY => Ok(self.legacy()),
            PER_THREAD => Ok(OWN.with_borrow_mut(|own| {
                let made = own.get_or_insert_with(|| {
                    let made = Stream::new(true);
                    locked(&self.others).push(made.clone());
                    made
                });
                made.clone()
            })),
            _ => locked(&self.table).get(handle),
        }
    }

    pub fn destroy(&self, handle: usize) -> Done {
        let stream = locked(&self.table).remove(handle)?;
        stream.close();
        let mut others = locked(&self.others);
        others.retain(|other| !other.end().is_over());
        others.push(stream);
        Ok(())
    }

    /// The ends of the work in all streams.
    pub fn ends(&self) -> Vec<Point> {
        let mut all = locked(&self.table).all();
        all.extend(locked(&self.others).iter().cloned());
        all.push(self.legacy());
        all.iter().map(Stream::end).collect()
    }

    /// What new work in a stream begins after, because of the default stream.
    pub fn before(&self, stream: &Arc<Stream>) -> Vec<Point> {
        if !stream.is_blocking {
            return Vec::new();
        }
        let legacy = self.legacy();
        if !Arc::ptr_eq(stream, &legacy) {
            return vec![legacy.end()];
        }
        let mut all = locked(&self.table).all();
        all.extend(locked(&self.others).iter().cloned());
        let blocking = all.iter().filter(|other| other.is_blocking);
        blocking.map(Stream::end).collect()
    }
}

/// `cudaEvent_t`
pub struct Event {
    pub is_timed: bool,
    last: Mutex<Option<Record>>,
}

#[derive(Clone)]
pub struct Record {
    pub end: Point,
    /// When the work before it was complete.
    pub time: Arc<Mutex<Option<Instant>>>,
}

impl Event {
    pub fn new(is_timed: bool) -> Arc<Event> {
        Arc::new(Event {
            is_timed,
            last: Mutex::default(),
        })
    }

    pub fn set(&self, record: Record) {
        *locked(&self.last) = Some(record);
    }

    /// None if it was never recorded, which counts as complete.
    pub fn last(&self) -> Option<Record> {
        locked(&self.last).clone()
    }
}
