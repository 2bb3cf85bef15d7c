//! OS threads of the simulated GPU, which help the thread that launches.
//!
//! The calling thread takes pieces of its launch itself, and so does every free helper: a launch
//! ends even without helpers. The calling thread runs nothing else meanwhile, and at the end waits
//! (on a condition variable) only for helpers that are inside one of its pieces. Helpers run pieces
//! and nothing else, so they cannot wait for a lock of the program; a launch therefore never
//! depends on the program's locks or threads.
//!
//! After `fork` the child has none of the helpers, and a mutex that one of them held remains
//! locked. The child detects that the pool belongs to another process id and creates its own; it
//! never accesses the parent's again.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::settings;

/// A piece panicked; those that had not begun were skipped.
#[derive(Debug)]
pub(super) struct Panicked;

/// Calls `work` once with each number below `pieces`, here and in helpers, on at most `most` OS
/// threads at a time. Helpers call `leave` when they have finished, which decides what they keep
/// for the next time.
pub(super) fn for_each(
    pieces: u32,
    most: usize,
    work: &(dyn Fn(u32) + Sync),
    leave: fn(),
) -> Result<(), Panicked> {
    let most = most.min(settings::threads()).min(pieces as usize);
    let batch = Batch::new(pieces, work, leave, most.saturating_sub(1));
    if batch.most_helpers == 0 {
        batch.run();
    } else {
        let batch = Arc::new(batch);
        let pool = Pool::of_process();
        pool.offer(&batch);
        batch.run();
        pool.withdraw(&batch);
        return batch.outcome();
    }
    batch.outcome()
}

/// Whether this OS thread is a helper: its output is passed to the thread that launched, which may
/// hold the lock of standard output.
pub(super) fn is_helper() -> bool {
    IS_HELPER.get()
}

thread_local! {
    static IS_HELPER: Cell<bool> = const { Cell::new(false) };
}

/// The pieces of one launch.
struct Batch {
    /// The closure of `for_each`'s caller, with its lifetime erased.
    work: *const (dyn Fn(u32) + Sync),
    leave: fn(),
    pieces: u32,
    /// The next piece to be taken.
    next: AtomicU32,
    most_helpers: usize,
    /// The number of helpers inside; written while the queue is locked.
    helpers: AtomicUsize,
    /// Notified when the last helper has left.
    left: Condvar,
    panicked: AtomicBool,
}

// SAFETY: `work` may be called from any thread, and is while `for_each` waits (see `run`).
unsafe impl Send for Batch {}
// SAFETY: as above.
unsafe impl Sync for Batch {}

impl Batch {
    fn new(pieces: u32, work: &(dyn Fn(u32) + Sync), leave: fn(), most_helpers: usize) -> Self {
        let work: *const (dyn Fn(u32) + Sync + '_) = work;
        Self {
            // SAFETY: only the lifetime changes; `run` explains why it is only called while that
            // lasts.
            work: unsafe {
                std::mem::transmute::<
                    *const (dyn Fn(u32) + Sync + '_),
                    *const (dyn Fn(u32) + Sync + 'static),
                >(work)
            },
            leave,
            pieces,
            next: AtomicU32::new(0),
            most_helpers,
            helpers: AtomicUsize::new(0),
            left: Condvar::new(),
            panicked: AtomicBool::new(false),
        }
    }

    /// Takes pieces until there are none.
    fn run(&self) {
        loop {
            let piece = self.next.fetch_add(1, Ordering::Relaxed);
            if piece >= self.pieces {
                return;
            }
            // SAFETY: `for_each` returns only when the batch is out of the queue and no helper is
            // inside, so that `work` lives while there are pieces.
            let done = catch_unwind(AssertUnwindSafe(|| unsafe { (*self.work)(piece) }));
            if done.is_err() {
                self.panicked.store(true, Ordering::Relaxed);
                self.next.store(self.pieces, Ordering::Relaxed);
            }
        }
    }

    /// Called while the queue is locked.
    fn wants_help(&self) -> bool {
        self.next.load(Ordering::Relaxed) < self.pieces
            && self.helpers.load(Ordering::Relaxed) < self.most_helpers
    }

    fn outcome(&self) -> Result<(), Panicked> {
        match self.panicked.load(Ordering::Relaxed) {
            true => Err(Panicked),
            false => Ok(()),
        }
    }
}

struct Pool {
    process: u32,
    queue: Mutex<Queue>,
    /// Notified when there is a batch for helpers.
    wanted: Condvar,
}

#[derive(Default)]
struct Queue {
    batches: Vec<Arc<Batch>>,
    /// The number of helpers, busy or not.
    threads: usize,
}

impl Pool {
    fn of_process() -> &'static Pool {
        static POOL: AtomicPtr<Pool> = AtomicPtr::new(std::ptr::null_mut());
        let process = std::process::id();
        loop {
            let found = POOL.load(Ordering::Acquire);
            // SAFETY: null or from `Box::into_raw` below, and never freed.
            if let Some(pool) = unsafe { found.as_ref() }
                && pool.process == process
            {
                return pool;
            }
            let new = Box::into_raw(Box::new(Pool {
                process,
                queue: Mutex::default(),
                wanted: Condvar::new(),
            }));
            let swapped = POOL.compare_exchange(found, new, Ordering::AcqRel, Ordering::Acquire);
            if swapped.is_err() {
                // SAFETY: from the box above, and no other thread has seen it.
                drop(unsafe { Box::from_raw(new) });
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets helpers take pieces, and starts missing ones. If the system refuses to start one, that
    /// is not an error.
    fn offer(&'static self, batch: &Arc<Batch>) {
        let mut queue = self.lock();
        queue.batches.push(batch.clone());
        let wanted: usize = queue.batches.iter().map(|batch| batch.most_helpers).sum();
        let most = wanted.min(settings::threads().saturating_sub(1));
        while queue.threads < most {
            let started = std::thread::Builder::new()
                .name("croq-sim".to_owned())
                .spawn(|| self.serve());
            if started.is_err() {
                break;
            }
            queue.threads += 1;
        }
        drop(queue);
        match batch.most_helpers {
            1 => self.wanted.notify_one(),
            _ => self.wanted.notify_all(),
        }
    }

    /// No further helper enters, and those inside have left when this returns.
    fn withdraw(&self, batch: &Arc<Batch>) {
        let mut queue = self.lock();
        queue.batches.retain(|other| !Arc::ptr_eq(other, batch));
        while batch.helpers.load(Ordering::Relaxed) > 0 {
            queue = batch
                .left
                .wait(queue)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The loop of a helper.
    fn serve(&self) {
        IS_HELPER.set(true);
        let mut queue = self.lock();
        loop {
            let found = queue.batches.iter().find(|batch| batch.wants_help());
            let Some(batch) = found.cloned() else {
                queue = self
                    .wanted
                    .wait(queue)
                    .unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            batch.helpers.fetch_add(1, Ordering::Relaxed);
            drop(queue);
            batch.run();
            (batch.leave)();
            queue = self.lock();
            if batch.helpers.fetch_sub(1, Ordering::Relaxed) == 1 {
                batch.left.notify_all();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::time::Duration;

    fn everyone(pieces: u32, work: &(dyn Fn(u32) + Sync)) -> Result<(), Panicked> {
        for_each(pieces, usize::MAX, work, || ())
    }

    #[test]
    fn each_piece_runs_once() {
        for pieces in [0, 1, 2, 7, 1000] {
            let counts: Vec<AtomicU32> = (0..pieces).map(|_| AtomicU32::new(0)).collect();
            everyone(pieces, &|piece| {
                counts[piece as usize].fetch_add(1, Ordering::Relaxed);
            })
            .expect("no panic");
            assert!(
                counts
                    .iter()
                    .all(|count| count.load(Ordering::Relaxed) == 1)
            );
        }
    }

    /// The helpers are all inside the first batch, whose caller waits for the second, as with a
    /// lock of the program.
    #[test]
    fn a_batch_needs_no_helper() {
        let (send, receive) = mpsc::channel();
        let receive = Mutex::new(receive);
        let pieces = settings::threads() as u32;
        let stuck = std::thread::spawn(move || {
            everyone(pieces, &|_| {
                let receive = receive.lock().unwrap_or_else(PoisonError::into_inner);
                let _: Result<(), _> = receive.recv_timeout(Duration::from_secs(20));
            })
        });
        std::thread::sleep(Duration::from_millis(50));
        let count = AtomicU32::new(0);
        everyone(100, &|_| {
            count.fetch_add(1, Ordering::Relaxed);
        })
        .expect("no panic");
        assert_eq!(count.into_inner(), 100);
        assert!(!stuck.is_finished());
        drop(send);
        stuck.join().expect("ends").expect("no panic");
    }

    #[test]
    fn a_panic_ends_its_batch_alone() {
        for _ in 0..3 {
            let outcome = everyone(50, &|piece| assert!(piece != 7, "piece 7"));
            assert!(matches!(outcome, Err(Panicked)));
            everyone(50, &|_| ()).expect("no panic");
        }
    }

    #[test]
    fn batches_of_many_threads_end() {
        std::thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let sum = AtomicU32::new(0);
                        everyone(9, &|piece| {
                            sum.fetch_add(piece, Ordering::Relaxed);
                        })
                        .expect("no panic");
                        assert_eq!(sum.into_inner(), 36);
                    }
                });
            }
        });
    }
}
