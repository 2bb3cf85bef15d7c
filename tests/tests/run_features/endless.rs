//! Loops that poll memory end when the value that they wait for can be written; loops that never
//! end are reported. On hardware these would hang.

use croq_sys::{Const, Device, DeviceTensor, Error, Tensor};
use croq_tests::kernels;
use croq_tests::orders::in_this_order;

/// The line of `endless.co` that starts so, as reports write it.
fn line_of(start: &str) -> String {
    let text = include_str!("../../run/features/endless.co");
    let found = text
        .lines()
        .position(|line| line.trim_start().starts_with(start));
    let line = found.unwrap_or_else(|| panic!("no line starts with {start}")) + 1;
    format!("run/features/endless.co:{line}")
}

fn zeros<const N: usize>() -> DeviceTensor<i32, (Const<N>,)> {
    let zeros = Tensor::<i32, _>::zeros((Const,));
    zeros.to_device(&Device::sim()).unwrap()
}

const HELP: &str = "help: the loops of a block may take so many steps on the simulated GPU; CROQ_SIM_STEPS sets another number";

/// From block 0 to block 1, and back: the second value is only written if blocks alternate.
#[test]
fn flags_in_both_directions() {
    for setter in 0..2 {
        let (mut data, mut flag) = (zeros::<4>(), zeros::<2>());
        kernels::endless_flag(&mut data, &mut flag, setter).unwrap();
        assert_eq!(data.to_host().unwrap().as_slice(), [5, 6, 0, 0]);
        let (mut data, mut flag) = (zeros::<4>(), zeros::<2>());
        kernels::endless_flag_in_cpp(&mut data, &mut flag, setter).unwrap();
        assert_eq!(data.to_host().unwrap().as_slice(), [5, 6, 7, 0]);
    }
}

/// More blocks than are initially resident, each of which waits for a neighbour.
#[test]
fn a_scan_in_one_pass() {
    let blocks = 100;
    let x = Tensor::<i32, _>::random((blocks, Const), 0..16, 1);
    let sums: Vec<i32> = (x.as_slice().chunks(64))
        .map(|row| row.iter().sum())
        .collect();
    for turned in 0..2 {
        let zeros = || {
            let zeros = Tensor::<i32, _>::zeros((blocks,));
            zeros.to_device(&Device::sim()).unwrap()
        };
        let y = kernels::endless_scan(&x, &mut zeros(), &mut zeros(), turned).unwrap();
        for (b, &found) in y.as_slice().iter().enumerate() {
            let range = if turned == 1 { b..blocks } else { 0..b + 1 };
            assert_eq!(found, sums[range].iter().sum::<i32>(), "block {b}");
        }
    }
}

#[test]
fn a_lock_of_all_threads() {
    let mut counts = zeros::<2>();
    kernels::endless_lock(&mut counts, 8).unwrap();
    assert_eq!(counts.to_host().unwrap().as_slice(), [0, 256]);
}

#[test]
fn warps_that_wait_for_each_other() {
    if !Device::default().is_sim() {
        return;
    }
    let x = Tensor::<i32, _>::random((Const,), 0..16, 1);
    assert_eq!(kernels::endless_warps(&x, 1).unwrap(), x);
    let error = kernels::endless_warps(&x, 0).unwrap_err().to_string();
    let line = line_of("while (seen == 0) seen = __atomic_max");
    assert_eq!(
        error,
        format!(
            "deadlock in endless_warps_0: no thread can go on\n  threads 0..31 are in a loop, {line}\n  \
             threads 32..63 have left the kernel"
        )
    );
}

#[test]
fn ten_million_iterations_end() {
    let mut y = zeros::<4>();
    kernels::endless_late(&mut y, 10_000_000).unwrap();
    assert_eq!(y.to_host().unwrap().as_slice(), [10_000_000; 4]);
}

#[test]
fn a_loop_that_gets_nowhere() {
    let error = kernels::endless_doubles(&mut zeros(), 0).unwrap_err();
    assert!(matches!(error, Error::Endless { .. }), "{error:?}");
    let line = line_of("while (k < 1) k = k * 2");
    let expected = format!(
        "no end in endless_doubles_0: its 17179869184 steps are spent\n  thread 0 is in a loop, {line}\n{HELP}"
    );
    assert_eq!(in_this_order(&error.to_string()), in_this_order(&expected));
}

#[test]
fn two_blocks_that_wait_for_each_other() {
    let error = kernels::endless_on_atomics(&mut zeros()).unwrap_err();
    let line = line_of("while (seen == 0) seen = __atomic_add(flag.at(b), 0);");
    assert_eq!(
        error.to_string(),
        format!(
            "deadlock in endless_on_atomics_0, block 0: no thread can go on\n  threads 0..31 are in a loop, {line}\n  \
             block 1, threads 0..31 are in a loop, {line}"
        )
    );
}

#[test]
fn a_loop_in_cpp() {
    let error = kernels::endless_in_cpp(&mut zeros()).unwrap_err();
    let line = line_of("while (*(volatile int *)flag == 0);");
    let report = error.to_string();
    assert!(matches!(error, Error::Endless { .. }), "{report}");
    assert!(
        report.contains(&format!("thread 0 is in a loop, {line}\n{HELP}")),
        "{report}"
    );
}

/// In a process of its own, because the number of steps is one for a process. That of a process for which
/// none is set is in `a_loop_that_gets_nowhere`.
#[test]
fn a_loop_of_the_host() {
    const STEPS: &str = "100000000";
    if std::env::var("CROQ_SIM_STEPS").as_deref() != Ok(STEPS) {
        let program = std::env::current_exe().unwrap();
        let run = std::process::Command::new(program)
            .args(["--exact", "endless::a_loop_of_the_host"])
            .env("CROQ_SIM_STEPS", STEPS)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&run.stdout);
        assert!(run.status.success(), "{said}");
        assert!(said.contains("1 passed"), "{said}");
        return;
    }
    let error = kernels::endless_on_host(0).unwrap_err();
    let report = error.to_string();
    assert!(matches!(error, Error::Endless { .. }), "{report}");
    let text = include_str!("../../run/features/endless.co");
    // The last of them, after that of a kernel.
    let before = text.rfind("while (k < 1) k = k * 2").unwrap();
    let line = text[..before].lines().count();
    let expected = format!(
        "no end in endless_on_host: a loop of the host has iterated {STEPS} times, run/features/endless.co:{line}\n"
    );
    assert!(report.starts_with(&expected), "{report}");
}

#[test]
fn lanes_that_have_left() {
    let x = Tensor::<f32, _>::random((Const,), 0.0..16.0, 1);
    kernels::endless_lanes(&x, 32).unwrap();
    // On a GPU the shuffle has no defined result.
    if !croq_sys::Device::default().is_sim() {
        return;
    }
    let error = kernels::endless_lanes(&x, 16).unwrap_err().to_string();
    let line = line_of("return __shfl_down_sync");
    assert_eq!(
        error,
        format!(
            "endless_lanes: shuffle: lane 16, which mask 4294967295 names, has left the kernel [R22]\n  at {line}"
        )
    );
}
