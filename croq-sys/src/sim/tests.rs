//! Launches without C++: their requirements on the surrounding program, and the state that they
//! leave.

use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::{Run, api};
use crate::abi::{
    CROQ_LAUNCH_TOGETHER, CROQ_LAUNCH_WAITS, CROQ_OK, CROQ_OUT_OF_MEMORY, croq_failure,
    croq_sim_launch, croq_sim_thread,
};

/// Counts blocks, slowly enough that helpers take part.
unsafe extern "C" fn count(closure: *mut c_void, _: *mut croq_sim_thread, first: u64, last: u64) {
    // SAFETY: the closure of `blocks`.
    let counter = unsafe { &*closure.cast::<AtomicU64>() };
    for _ in first..last {
        counter.fetch_add(1, Ordering::Relaxed);
        let start = Instant::now();
        while start.elapsed() < Duration::from_micros(20) {
            std::hint::spin_loop();
        }
    }
}

/// Writes all of the thread's arena, and waits for the others.
unsafe extern "C" fn fill(_: *mut c_void, thread: *mut croq_sim_thread) {
    // SAFETY: the running thread, and its arena.
    unsafe {
        ((*thread).arena).write_bytes(1, (*thread).arena_bytes as usize);
        (api().barrier)(thread, 1);
        assert_eq!(*(*thread).arena, 1);
    }
}

fn launch_of(blocks: u32, threads: u32) -> croq_sim_launch {
    croq_sim_launch {
        kernel: c"k".as_ptr(),
        file: c"k.co".as_ptr(),
        grid: [blocks, 1, 1],
        cluster: [1; 3],
        threads,
        shared_bytes: 0,
        arena_bytes: 0,
        flags: 0,
        tracked_count: 0,
        tracked: std::ptr::null(),
        closure: std::ptr::null_mut(),
        run: None,
        run_blocks: None,
    }
}

fn start(launch: &croq_sim_launch) -> Box<croq_failure> {
    let (run, mut failure) = (Run::new(), Box::<croq_failure>::default());
    // SAFETY: all three live as long as the call.
    unsafe { (api().launch)(run.as_ptr(), launch, &raw mut *failure) };
    failure
}

/// The number of blocks that have run in a launch of `number` blocks.
fn blocks(number: u32) -> u64 {
    let mut counter = AtomicU64::new(0);
    let mut launch = launch_of(number, 32);
    launch.closure = (&raw mut counter).cast();
    launch.run_blocks = Some(count);
    assert_eq!(start(&launch).kind, CROQ_OK);
    counter.into_inner()
}

/// The program's rayon threads all wait for a lock that the launching thread holds.
#[test]
fn a_launch_under_a_lock_that_others_wait_for_ends() {
    let tensor = Arc::new(Mutex::new(0u64));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build();
    let pool = pool.expect("threads");
    let (started, wait) = std::sync::mpsc::channel();
    let user = tensor.clone();
    let all = std::thread::spawn(move || {
        pool.scope(|scope| {
            for _ in 0..8 {
                let user = &user;
                scope.spawn(move |_| *user.lock().expect("no panic") += blocks(64));
            }
            let mut held = user.lock().expect("no panic");
            std::thread::sleep(Duration::from_millis(20));
            *held += blocks(64);
        });
        let _ = started.send(());
    });
    wait.recv_timeout(Duration::from_secs(60))
        .expect("no deadlock");
    all.join().expect("no panic");
    assert_eq!(*tensor.lock().expect("no panic"), 9 * 64);
}

/// The child has none of the parent's threads, whatever they were doing.
#[cfg(target_os = "linux")]
#[test]
fn kernels_run_after_a_fork() {
    assert_eq!(blocks(200), 200);
    let stop = Arc::new(AtomicU64::new(0));
    let other = stop.clone();
    let busy = std::thread::spawn(move || {
        while other.load(Ordering::Relaxed) == 0 {
            blocks(64);
        }
    });
    for _ in 0..20 {
        // SAFETY: the child launches kernels, and leaves with `_exit`.
        unsafe {
            let child = libc::fork();
            assert!(child >= 0, "there is room for a process");
            if child == 0 {
                libc::alarm(20);
                libc::_exit(i32::from(blocks(200) != 200));
            }
            let mut status = 0;
            assert_eq!(libc::waitpid(child, &raw mut status, 0), child);
            assert!(libc::WIFEXITED(status), "status {status:#x}");
            assert_eq!(libc::WEXITSTATUS(status), 0);
        }
        assert_eq!(blocks(64), 64);
    }
    stop.store(1, Ordering::Relaxed);
    busy.join().expect("no panic");
}

/// The worker of this OS thread has been destroyed when the value is dropped, because it was
/// created later.
#[test]
fn kernels_run_in_destructors_of_thread_locals() {
    struct Last(std::sync::mpsc::Sender<(u64, u64)>);
    impl Drop for Last {
        fn drop(&mut self) {
            let _ = self.0.send((blocks(64), blocks(1)));
        }
    }
    thread_local! {
        static LAST: std::cell::RefCell<Option<Last>> = const { std::cell::RefCell::new(None) };
    }
    let (send, receive) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        LAST.with(|last| *last.borrow_mut() = Some(Last(send)));
        assert_eq!((blocks(64), blocks(1)), (64, 1));
    });
    let counts = receive.recv_timeout(Duration::from_secs(60));
    assert_eq!(counts.expect("the destructor runs"), (64, 1));
    thread.join().expect("no panic");
}

/// Resident bytes of the process.
#[cfg(target_os = "linux")]
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").expect("Linux");
    let pages: u64 = text.split(' ').nth(1).expect("pages").parse().expect("one");
    pages * super::pages::size() as u64
}

#[cfg(target_os = "linux")]
#[test]
fn memory_of_a_large_launch_comes_back() {
    let mut launch = launch_of(64, 256);
    launch.arena_bytes = 32_000;
    launch.flags = CROQ_LAUNCH_WAITS | CROQ_LAUNCH_TOGETHER;
    launch.run = Some(fill);
    let before = resident();
    assert_eq!(start(&launch).kind, CROQ_OK);
    let after = resident();
    // 64 * 256 threads with 32,000 bytes: 524 MB.
    assert!(
        after < before + (200 << 20),
        "{before} bytes before, {after} after"
    );
}

#[test]
fn a_launch_beyond_the_limit_does_not_start() {
    let mut launch = launch_of(4224, 1024);
    launch.arena_bytes = 500_000;
    launch.flags = CROQ_LAUNCH_WAITS | CROQ_LAUNCH_TOGETHER;
    launch.run = Some(fill);
    let failure = start(&launch);
    assert_eq!(failure.kind, CROQ_OUT_OF_MEMORY);
    let what = "the stacks and local arrays of the threads";
    assert_eq!(failure.what(), what);
    let [bytes, limit] = failure.values() else {
        panic!("{:?}", failure.values());
    };
    assert!(bytes > limit && *bytes > 4224 * 1024 * 500_000);
}
