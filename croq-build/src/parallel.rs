//! Work on independent items, by several threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Items that threads take one by one, and the results in the order of the items.
pub struct Queue<T, R> {
    items: Vec<Mutex<Option<T>>>,
    results: Vec<Mutex<Option<R>>>,
    next: AtomicUsize,
}

impl<T, R> Queue<T, R> {
    pub fn new(items: impl IntoIterator<Item = T>) -> Self {
        let items: Vec<_> = items.into_iter().map(|i| Mutex::new(Some(i))).collect();
        let results = items.iter().map(|_| Mutex::new(None)).collect();
        let next = AtomicUsize::new(0);
        Self {
            items,
            results,
            next,
        }
    }

    /// Whether every item has been taken.
    pub fn is_empty(&self) -> bool {
        self.next.load(Ordering::Relaxed) >= self.items.len()
    }

    /// Calls `work` on the next item. `false` if there is none.
    pub fn work_on_one(&self, work: impl Fn(T) -> R) -> bool {
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        let (Some(item), Some(place)) = (self.items.get(index), self.results.get(index)) else {
            return false;
        };
        let item = item.lock().ok().and_then(|mut item| item.take());
        let result = item.map(work);
        if let Ok(mut place) = place.lock() {
            *place = result;
        }
        true
    }

    pub fn into_results(self) -> Vec<R> {
        let results = self.results.into_iter().map(Mutex::into_inner);
        results.filter_map(|result| result.ok().flatten()).collect()
    }
}

/// Calls `work` on each item with at most this many threads, and returns the results in the order of
/// the items.
pub fn map<T: Send, R: Send>(
    threads: usize,
    items: Vec<T>,
    work: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    let threads = threads.min(items.len());
    let queue = Queue::new(items);
    let work_on_all = || while queue.work_on_one(&work) {};
    // A panic of a thread goes on in this one at the end of the scope.
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work_on_all);
        }
        work_on_all();
    });
    queue.into_results()
}

#[cfg(test)]
mod tests {
    use super::map;

    #[test]
    fn results_are_in_the_order_of_the_items() {
        for threads in [0, 1, 2, 3, 100] {
            for count in [0, 1, 2, 50] {
                let items: Vec<u64> = (0..count).collect();
                let squares: Vec<u64> = items.iter().map(|i| i * i).collect();
                assert_eq!(map(threads, items, |i| i * i), squares, "{threads} {count}");
            }
        }
    }

    #[test]
    fn a_panic_is_one_of_the_caller() {
        let map = || map(2, vec![1, 2, 3], |i| assert_ne!(i, 2));
        assert!(std::panic::catch_unwind(map).is_err());
    }
}
