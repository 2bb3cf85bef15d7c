use super::Order;
use crate::abi::{CROQ_ACCESS_READS, CROQ_ACCESS_WRITES, croq_sim_access};

/// Threads read an element in this order, and each then arrives at an mbarrier of its own; those of `again`
/// read it once more after that. Thread 0 stores it after it has waited for some of them.
fn store_after_waits(readers: &[u32], again: &[u32], waits: &[u32]) -> bool {
    let mut shared = [0u32; 4];
    let at: *mut u8 = shared.as_mut_ptr().cast();
    let mut order = Order::default();
    order.prepare(true, at, size_of_val(&shared) as u64, 1);
    order.reset(8);
    // From now on threads are compared by their clocks.
    order.arrive(7, std::ptr::without_provenance(64), 0);
    let access = croq_sim_access {
        name: c"tile".as_ptr(),
        index: 0,
        at: at.cast(),
        bytes: 4,
        line: 1,
    };
    let mbarrier = |thread: u32| std::ptr::without_provenance(8 * thread as usize);
    for &thread in readers {
        let read = order.access(thread, &access, 4, CROQ_ACCESS_READS);
        assert!(read.is_ok());
        order.arrive(thread, mbarrier(thread), 0);
    }
    for &thread in again {
        let read = order.access(thread, &access, 4, CROQ_ACCESS_READS);
        assert!(read.is_ok());
    }
    for &thread in waits {
        order.wait(0, mbarrier(thread), 1);
    }
    order.access(0, &access, 4, CROQ_ACCESS_WRITES).is_ok()
}

#[test]
fn each_of_several_readers_has_to_be_waited_for() {
    for readers in [[1, 2, 3], [3, 1, 2], [2, 3, 1]] {
        assert!(store_after_waits(&readers, &[], &[1, 2, 3]));
        for some in [&[][..], &[1], &[2], &[3], &[1, 2], &[1, 3], &[2, 3]] {
            assert!(!store_after_waits(&readers, &[], some), "{some:?}");
        }
    }
}

#[test]
fn of_a_reader_the_last_access_counts() {
    for thread in [1, 2, 3] {
        let is_in_order = store_after_waits(&[1, 2, 3], &[thread], &[1, 2, 3]);
        assert!(!is_in_order, "{thread}");
    }
}
