//! A thread of the simulated GPU has the memory that its kernel needs, and cannot access that of
//! other threads.

use std::process::Command;

use croq_sys::{Error, Tensor};
use croq_tests::kernels;

/// The array is larger than a stack: on the stack its elements would overlap other allocations.
#[test]
fn a_large_array_is_the_threads_own() {
    let mut neighbours: Vec<Vec<f32>> = (0..64).map(|i| vec![i as f32; 50_000]).collect();
    for (k, k2) in [(0, 0), (59_999, 59_999), (30_000, 30_000)] {
        let mut x = Tensor::from_vec((2,), vec![0.0f32; 2]).expect("two");
        kernels::one_large_array(&mut x, k, k2).expect("runs");
        assert_eq!(x.as_slice(), [1234.5; 2]);
    }
    for (i, own) in neighbours.iter_mut().enumerate() {
        assert!(own.iter().all(|&v| v == i as f32), "vector {i}");
    }
    let mut x = Tensor::from_vec((2,), vec![0.0f32; 2]).expect("two");
    let failed = kernels::one_large_array(&mut x, 60_000, 0).expect_err("outside");
    assert!(failed.to_string().contains("own_memory.co:6"), "{failed}");
}

#[test]
fn many_arrays_are_no_larger_a_frame() {
    let mut x = Tensor::from_vec((64,), vec![0.0f32; 64]).expect("64");
    kernels::many_arrays(&mut x, 254).expect("runs");
    for (t, &sum) in x.as_slice().iter().enumerate() {
        assert_eq!(sum, 150.0 * t as f32 + 149.0 * 75.0);
    }
}

#[test]
fn arrays_of_threads_that_never_wait() {
    let x = Tensor::from_vec((1000,), (0..1000).map(|i| i as f32).collect()).expect("1000");
    let y = kernels::large_arrays_without_barriers(&x).expect("runs");
    for (i, &sum) in y.as_slice().iter().enumerate() {
        assert_eq!(sum, 100.0 * (2.0 + i as f32));
    }
}

#[test]
fn a_launch_that_needs_too_much_memory_does_not_start() {
    // What a GPU has room for depends on the GPU.
    if !croq_sys::Device::default().is_sim() {
        return;
    }
    // In a process of its own, where the limit is less than 264 * 1024 threads with 64,000 bytes each.
    const LIMIT: u64 = 1 << 30;
    if std::env::var_os("CROQ_TEST_LIMIT").is_none() {
        let test = "own_memory::a_launch_that_needs_too_much_memory_does_not_start";
        let child = Command::new(std::env::current_exe().expect("this program"))
            .args([test, "--exact"])
            .envs([("CROQ_TEST_LIMIT", "1"), ("CROQ_SIM_MEMORY", "1G")])
            .output()
            .expect("it runs");
        let said = String::from_utf8_lossy(&child.stdout);
        assert!(
            child.status.success() && said.contains("1 passed"),
            "{said}"
        );
        return;
    }
    let mut x = Tensor::from_vec((1,), vec![7i32; 1]).expect("one");
    match kernels::whole_gpu(&mut x, 5).expect_err("no room") {
        Error::OutOfMemory {
            bytes, what, limit, ..
        } => {
            assert!(bytes > 264 * 1024 * 64_000, "{bytes}");
            assert_eq!(limit, Some(LIMIT));
            assert_eq!(what, "the stacks and local arrays of the threads");
            assert_eq!(x.as_slice(), [7]);
        }
        other => panic!("{other}"),
    }
}

#[test]
fn calls_that_go_too_deep_are_a_report() {
    let few = Tensor::from_vec((4,), vec![0, 1, 5, 20]).expect("four");
    let found = kernels::nested_calls(&few).expect("there is room");
    assert_eq!(found.as_slice(), few.as_slice());
    // A GPU has no report of an overflow of the stack.
    if !croq_sys::Device::default().is_sim() {
        return;
    }
    for deep in [1_000, 100_000, i32::MAX] {
        let x = Tensor::from_vec((2,), vec![3, deep]).expect("two");
        let failed = kernels::nested_calls(&x).expect_err("no room").to_string();
        assert!(
            failed.contains("own_memory.co:47") && failed.contains("nested too deep"),
            "{failed}"
        );
    }
}
