//! Barriers under conditions: uniform ones, and conditions that may or may not be equal in all
//! threads.

use croq_sys::{Const, Device, Error, Tensor};
use croq_tests::compare::assert_exact;
use croq_tests::kernels;

#[test]
fn what_is_the_same_for_all() {
    let x = Tensor::<i32, _>::random((64,), -100..100, 1);
    for (n, flip, stop) in [(2, true, 9), (0, false, 3), (5, true, 0)] {
        let lim = Tensor::<i32, _>::from_fn((6,), |[k]| if k == stop { -1 } else { 1 });
        let y = kernels::uniform_conditions(&x, &lim, n, flip).unwrap();
        assert_exact(&y, |[at]| {
            let (p, i) = (at / 32, at % 32);
            let t = |i: usize| x[[32 * p + i % 32]];
            let turns = (0..6).take_while(|k| *k != stop);
            let sum: i32 = turns.filter(|k| *k as i32 != n).map(|k| t(i + k)).sum();
            let first = if flip { t(31 - i) } else { 0 };
            first + sum + 3 + t(i) + (n + 1) / 2
        });
    }
}

#[test]
fn what_is_the_same_in_warps() {
    let x = Tensor::<i32, _>::random((128,), -100..100, 2);
    assert_exact(&kernels::uniform_in_warps(&x).unwrap(), |[i]| {
        match i / 32 {
            0 | 1 => x[[i / 32 * 32 + 31 - i % 32]],
            3 => x[[96 + (i + 1) % 32]] + 1,
            _ => 0,
        }
    });
}

#[test]
fn the_last_evaluation_of_a_condition() {
    for n in [0, 5] {
        let y = kernels::written_behind_a_while(n).unwrap();
        assert_exact(&y, |_| n);
    }
}

/// The line of `divergence.co` where `kernel` has the text `part` first.
fn line_of(kernel: &str, part: &str) -> String {
    let text = include_str!("../../run/features/divergence.co");
    let mut lines = text.lines().zip(1..);
    lines.find(|(line, _)| line.contains(&format!("{kernel}(")));
    let found = lines.find(|(line, _)| line.contains(part));
    let (_, line) = found.unwrap_or_else(|| panic!("`{kernel}` has no `{part}`"));
    format!("divergence.co:{line}")
}

#[track_caller]
fn disagree<T>(result: Result<T, Error>, kernel: &str, part: &str, unit: &str) {
    let Err(error) = result else {
        panic!("`{kernel}` has run");
    };
    let text = error.to_string();
    for part in [
        line_of(kernel, part),
        "R22".to_owned(),
        format!("threads of a {unit} disagree"),
    ] {
        assert!(text.contains(&part), "no `{part}` in\n{text}");
    }
}

const NOBODY: i32 = 1000;

#[test]
fn about_bounds_threads_agree_or_are_stopped() {
    let y = kernels::agreed_bound(3, NOBODY).unwrap();
    assert_exact(&y, |[i]| (0..3).map(|k| ((i + k) % 64) as i32).sum());
    for apart in [0, 31, 63] {
        let wrong = kernels::agreed_bound(3, apart);
        disagree(wrong, "agreed_bound", "foreach", "block");
    }
}

#[test]
fn about_conditions_threads_agree_or_are_stopped() {
    let y = kernels::agreed_condition(3, NOBODY).unwrap();
    assert_exact(&y, |[i]| 63 - i as i32);
    for apart in [0, 40] {
        let wrong = kernels::agreed_condition(3, apart);
        disagree(wrong, "agreed_condition", "if (", "block");
    }
}

#[test]
fn what_cpp_takes_by_reference_may_have_changed() {
    let y = kernels::agreed_by_reference(3, NOBODY).unwrap();
    assert_exact(&y, |[i]| 63 - i as i32);
    let wrong = kernels::agreed_by_reference(3, 40);
    disagree(wrong, "agreed_by_reference", "if (", "block");
}

#[test]
fn quotients_of_the_index() {
    for n in [0, 1, 3] {
        let y = kernels::quotients_in_warps(n).unwrap();
        let sum = n * (n - 1) / 2;
        assert_exact(&y, |[i]| match i / 32 {
            0 => 31 - i as i32,
            _ => 32 + (i as i32 + 1) % 32 + sum,
        });
    }
}

#[test]
fn lanes_agree_or_are_stopped() {
    let y = kernels::agreed_in_warps(4, NOBODY).unwrap();
    assert_exact(&y, |[i]| {
        let own = |k: usize| (i / 32 * 32 + (i + k) % 32) as i32;
        (0..4).map(own).sum()
    });
    let wrong = kernels::agreed_in_warps(4, 33);
    disagree(wrong, "agreed_in_warps", "while", "warp");
    if croq_tests::gpu::ends_at_failure() {
        return;
    }
    let wrong = kernels::agreed_in_warps(9, 20 - 100);
    disagree(wrong, "agreed_in_warps", "break", "warp");
}

#[test]
fn about_device_memory_that_is_written() {
    let device = Device::sim();
    let x = Tensor::<i32, _>::random((64,), -100..100, 3);
    for flag in [0, 1] {
        let n = Tensor::<i32, _>::from_fn((8,), |[k]| if k == 0 { flag } else { 0 });
        let mut y = x.to_device(&device).unwrap();
        let mut n = n.to_device(&device).unwrap();
        kernels::agreed_about_memory(&mut y, &mut n).unwrap();
        assert_exact(&y.to_host().unwrap(), |[at]| match flag {
            0 => x[[at]],
            _ => x[[at / 32 * 32 + 31 - at % 32]],
        });
    }
}

#[test]
fn threads_of_a_region_agree_or_are_stopped() {
    let x = Tensor::<i32, _>::from_fn((Const::<128>,), |[i]| i as i32);
    let y = kernels::agreed_in_a_region(&x, 3, NOBODY).unwrap();
    assert_exact(&y, |[i]| if i < 96 { 95 - i as i32 } else { 1 });
    for apart in [0, 40, 95] {
        let wrong = kernels::agreed_in_a_region(&x, 3, apart);
        disagree(wrong, "agreed_in_a_region", "if (", "region");
        if croq_tests::gpu::ends_at_failure() {
            return;
        }
    }
    // No thread of the region.
    kernels::agreed_in_a_region(&x, 3, 100).unwrap();
}

#[test]
fn about_bounds_regions_agree_each_for_itself() {
    let x = Tensor::<i32, _>::from_fn((Const::<128>,), |[i]| i as i32);
    let sum = |i: usize, turns: usize| -> i32 {
        let at = |k: usize| (i / 64 * 64 + (i + k) % 64) as i32;
        (0..turns).map(at).sum()
    };
    let y = kernels::agreed_bound_in_regions(&x, 3, NOBODY).unwrap();
    assert_exact(&y, |[i]| sum(i, 3 + i / 64));
    for (apart, line) in [(5, "[turns]"), (100, "[turns + 1]")] {
        let wrong = kernels::agreed_bound_in_regions(&x, 3, apart);
        disagree(wrong, "agreed_bound_in_regions", line, "region");
        if croq_tests::gpu::ends_at_failure() {
            return;
        }
    }
}

#[test]
fn some_lanes_agree_or_are_stopped() {
    let x = Tensor::<i32, _>::from_fn((Const::<32>,), |[i]| i as i32);
    let y = kernels::agreed_by_lanes(&x, 3, NOBODY).unwrap();
    assert_exact(&y, |[i]| if i < 16 { 15 - i as i32 } else { 0 });
    let wrong = kernels::agreed_by_lanes(&x, 3, 7);
    disagree(wrong, "agreed_by_lanes", "if (", "region");
}

#[test]
fn warpgroups_agree_each_for_itself() {
    let y = kernels::agreed_in_warpgroups(2, NOBODY).unwrap();
    assert_exact(&y, |[at]| {
        let (g, i) = (at / 128, at % 128);
        (0..2 + g).map(|k| ((i + k) % 128) as i32).sum()
    });
    for apart in [3, 200] {
        let wrong = kernels::agreed_in_warpgroups(2, apart);
        disagree(wrong, "agreed_in_warpgroups", "foreach", "warpgroup");
    }
}

#[test]
fn who_triggers_an_event_agrees() {
    let device = Device::sim();
    let run = |writes| {
        let mut y = Tensor::<i32, _>::zeros((Const::<128>,)).to_device(&device)?;
        let mut flag = Tensor::<i32, _>::from_fn((Const::<1>,), |_| 3).to_device(&device)?;
        kernels::agreed_to_trigger(&mut y, &mut flag, writes)?;
        y.to_host()
    };
    // What is written is there already.
    for writes in [false, true] {
        assert_exact(&run(writes).unwrap(), |[at]| match at % 64 {
            i if i < 32 => 0,
            i => 63 - i as i32,
        });
    }
}
