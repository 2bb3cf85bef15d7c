//! Work on independent items, by several threads.

use std::sync::Mutex;

/// Calls `work` on each item with at most this many threads, and returns the results in the order of
/// the items.
pub fn map<T: Send, R: Send>(
    threads: usize,
    items: Vec<T>,
    work: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    let threads = threads.min(items.len());
    if threads < 2 {
        return items.into_iter().map(work).collect();
    }
    let results: Vec<Mutex<Option<R>>> = items.iter().map(|_| Mutex::new(None)).collect();
    let next = Mutex::new(items.into_iter().zip(&results));
    let take_all = || {
        loop {
            // The lock is held for this statement only.
            let taken = next.lock().ok().and_then(|mut next| next.next());
            let Some((item, place)) = taken else {
                return;
            };
            let result = work(item);
            if let Ok(mut place) = place.lock() {
                *place = Some(result);
            }
        }
    };
    // A panic of a thread goes on in this one at the end of the scope.
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(take_all);
        }
        take_all();
    });
    let results = results.into_iter().map(Mutex::into_inner);
    results.filter_map(|result| result.ok().flatten()).collect()
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
