//! Wrong programs, stopped on the simulated GPU. On hardware their behaviour would be undefined.

use croq_sys::{Const, Device, DeviceTensor, Error, Tensor};
use croq_tests::compare::assert_exact;
use croq_tests::kernels;
use croq_tests::orders::other_order;

/// The line of `stops.co` that starts with `start`, as reports write it.
fn line_of(start: &str) -> String {
    let text = include_str!("../../run/features/stops.co");
    let found = text
        .lines()
        .position(|line| line.trim_start().starts_with(start));
    let line = found.unwrap_or_else(|| panic!("no line starts with {start}")) + 1;
    format!("run/features/stops.co:{line}")
}

#[track_caller]
fn contains(report: &str, parts: &[&str]) {
    for part in parts {
        assert!(report.contains(part), "no `{part}` in\n{report}");
    }
}

fn on_sim(values: &Tensor<i32, (usize,)>) -> DeviceTensor<i32, (usize,)> {
    values.to_device(&Device::sim()).unwrap()
}

#[test]
fn an_index_into_shared_memory() {
    if !Device::default().is_sim() {
        return;
    }
    let good = Tensor::<i32, _>::random((64,), 0..16, 1);
    kernels::stop_shared_index(&good).unwrap();
    let mut bad = good.clone();
    bad[[37]] = 16;
    let error = kernels::stop_shared_index(&bad).unwrap_err();
    assert!(
        matches!(error, Error::Check { .. } | Error::OutOfBounds { .. }),
        "{error:?}"
    );
    contains(
        &error.to_string(),
        &[
            &line_of("__atomic_max(bins.at(src.at(t)), t)"),
            "bins",
            "16",
        ],
    );
    // The process remains usable.
    kernels::stop_shared_index(&good).unwrap();
}

#[test]
fn a_barrier_that_not_all_reach() {
    if !Device::default().is_sim() {
        return;
    }
    let x = Tensor::from_fn((64,), |[i]| i as i32);
    assert_exact(&kernels::stop_half_a_barrier(&x, 64).unwrap(), |i| x[i]);
    let error = kernels::stop_half_a_barrier(&x, 24).unwrap_err();
    let Error::Deadlock { kernel, report } = &error else {
        panic!("{error:?}")
    };
    assert_eq!(*kernel, "stop_half_a_barrier");
    contains(
        report,
        &[
            "deadlock",
            "0..23",
            "24..31",
            &line_of("__cpp__(\"__syncthreads();\")"),
            &line_of("__cpp__(\"__syncwarp();\")"),
        ],
    );
    assert_exact(&kernels::stop_half_a_barrier(&x, 64).unwrap(), |i| x[i]);
}

#[test]
fn data_that_has_not_arrived() {
    if !Device::default().is_sim() {
        return;
    }
    let x = Tensor::<i32, _>::random((64,), -100..100, 2);
    let error = kernels::stop_too_early(&x).unwrap_err();
    let Error::Hazard { report, .. } = &error else {
        panic!("{error:?}")
    };
    contains(
        report,
        &[
            "`tile`",
            // In another order the copy may have been executed already.
            match other_order() {
                true => "race",
                false => "is read while a copy into it is in flight",
            },
            &line_of("parallel t by 32 : thread dst.at(b # t) = tile.data.at(t);"),
            &line_of("tile = dma.copy.async src.chunkat(b)"),
        ],
    );
}

#[test]
fn a_source_that_changes_under_the_copy() {
    let x = Tensor::<i32, _>::random((64,), 1..100, 3);
    let (mut source, mut out) = (on_sim(&x), on_sim(&x));
    let error = kernels::stop_source_changes(&mut source, &mut out, 0).unwrap_err();
    let Error::Hazard { report, .. } = &error else {
        panic!("{error:?}")
    };
    contains(report, &[&line_of("tile = dma.copy.async x.chunkat(b)")]);
}

fn rows(m: usize) -> Tensor<f32, (usize, croq_sys::Const<64>)> {
    Tensor::<f32, _>::random((m, croq_sys::Const::<64>), -1.0..1.0, 9)
}

/// Only on the simulated GPU: on others the call would not return.
fn run_on_sim(
    m: usize,
    kernel: impl Fn(
        &Tensor<f32, (usize, croq_sys::Const<64>)>,
        &mut DeviceTensor<f32, (usize, croq_sys::Const<64>)>,
    ) -> Result<(), Error>,
) -> Result<(), Error> {
    let device = Device::sim();
    let mut dst = DeviceTensor::zeros((m, croq_sys::Const::<64>), &device).unwrap();
    kernel(&rows(m), &mut dst)
}

#[test]
fn a_producer_whose_consumer_leaves_early() {
    run_on_sim(80, |src, dst| kernels::stop_trips(src, dst, 0)).unwrap();
    // The remaining arrivals suffice for as many tiles.
    run_on_sim(80, |src, dst| kernels::stop_trips(src, dst, 2)).unwrap();
    let error = run_on_sim(80, |src, dst| kernels::stop_trips(src, dst, 3)).unwrap_err();
    contains(
        &error.to_string(),
        &[
            "deadlock in stop_trips_0",
            &format!(
                "threads 0..127 wait for generation 4 of `empty`[1] (0 of 128 have arrived), {}",
                line_of("wait empty[k % RING];")
            ),
            "threads 128..255 have left the kernel",
            &format!(
                "generation 4 of `empty`[1] lacks 128 of 128 arrivals:\n    threads 128..255 would \
                 trigger it at {}, but have left the kernel",
                line_of("trigger empty.at(k);")
            ),
        ],
    );
}

#[test]
fn an_arrival_that_never_comes() {
    let error = run_on_sim(8, |src, dst| kernels::stop_arrivals(src, dst)).unwrap_err();
    contains(
        &error.to_string(),
        &[
            "threads 128..255 wait for generation 0 of `full` (128 of 129 have arrived), ",
            &line_of("wait full;"),
            &format!(
                "generation 0 of `full` lacks 1 of 129 arrivals:\n    each of the 128 threads that \
                 trigger it, at {}, has arrived",
                line_of("trigger full;")
            ),
        ],
    );
}

#[test]
fn a_slot_given_back_before_it_is_read() {
    let error = run_on_sim(80, |src, dst| kernels::stop_early_release(src, dst)).unwrap_err();
    contains(&error.to_string(), &["`ring`", "race"]);
}

#[test]
fn a_slot_that_the_other_block_still_has() {
    let error = run_on_sim(80, |src, dst| kernels::stop_own_release(src, dst)).unwrap_err();
    // The copy races with the other block's copy, and with its reads: the first is reported.
    let parts: &[&str] = match other_order() {
        true => &["race in stop_own_release_0", "`ring`["],
        false => &["race", "`ring`[0] is the destination of two copies at once"],
    };
    contains(&error.to_string(), parts);
}

#[test]
fn a_block_of_a_cluster_that_gives_nothing_back() {
    run_on_sim(80, |src, dst| kernels::stop_cluster_release(src, dst, 0)).unwrap();
    let error = run_on_sim(80, |src, dst| kernels::stop_cluster_release(src, dst, 1)).unwrap_err();
    let trigger = line_of("if (wrong == 0 || b == 0 || k < 3)");
    contains(
        &error.to_string(),
        &[
            "and the rest of its cluster: no thread can go on",
            "block 0, generation 2 of `empty`[1] lacks 128 of 256 arrivals:\n    block 1, threads \
             128..255 would trigger it at ",
            "block 1, generation 2 of `empty`[1] lacks 128 of 256 arrivals:\n    block 1, threads \
             128..255 would trigger it at ",
            &trigger,
            "but wait at",
        ],
    );
}

#[test]
fn a_slot_that_is_read_after_it_was_given_back() {
    let run = run_on_sim(80, |src, dst| kernels::stop_released_then_read(src, dst));
    contains(&run.unwrap_err().to_string(), &["`ring`", "race"]);
}

/// With an odd seed a thread that waits for a slot runs as soon as the slot is released, and begins
/// to load its next tile, whether or not the race detector is enabled.
#[test]
fn with_an_odd_seed() {
    let this = std::env::current_exe().unwrap();
    let run = std::process::Command::new(this)
        .args(["a_slot_that_is_read_after"])
        .envs([("CROQ_SIM_SEED", "1"), ("CROQ_SIM_RACES", "off")])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success() && said.contains("1 passed"), "{said}");
}

#[test]
fn generations_that_nobody_has_seen() {
    if !Device::default().is_sim() {
        return;
    }
    let x = Tensor::from_fn((Const::<64>,), |[i]| i as i32);
    assert_exact(&kernels::stop_gone_by(&x, 0).unwrap(), |i| x[i]);
    let error = kernels::stop_gone_by(&x, 1).unwrap_err();
    // In another order some of the waiting threads have observed an earlier generation.
    let waiting = match other_order() {
        true => "which went by unseen",
        false => {
            "threads 32..63 wait for generation 0 of `full`[0], which went by unseen: the next one is over, too"
        }
    };
    contains(&error.to_string(), &["deadlock in stop_gone_by_0", waiting]);
}

#[test]
fn generations_ahead_of_those_that_are_published() {
    if !Device::default().is_sim() {
        return;
    }
    let x = Tensor::from_fn((Const::<64>,), |[i]| i as i32);
    assert_exact(&kernels::stop_order_ahead(&x, 0).unwrap(), |i| x[i]);
    for order in 1..=4 {
        let report = kernels::stop_order_ahead(&x, order)
            .unwrap_err()
            .to_string();
        let current = match order {
            1 => "",
            _ => "in generation 1 of `go`, ",
        };
        contains(
            &report,
            &[
                "deadlock in stop_order_ahead_0",
                &format!(
                    "threads 32..63 wait for generation {order} of `go` ({current}0 of 32 have arrived)"
                ),
                "generation 1 of `go` lacks 32 of 32 arrivals:\n    threads 0..31 would trigger it",
            ],
        );
    }
    for waits in 0..=1 {
        assert_exact(&kernels::stop_waits_ahead(&x, waits).unwrap(), |i| x[i]);
    }
    for waits in 2..=5 {
        let report = kernels::stop_waits_ahead(&x, waits)
            .unwrap_err()
            .to_string();
        contains(
            &report,
            &["threads 32..63 wait for generation 2 of `free`[1] (0 of 32 have arrived)"],
        );
    }
}

#[test]
fn a_negative_order() {
    for (orders, is_outside) in [
        ([0, 0], false),
        ([7, 3], false),
        ([-1, -1], true),
        ([-4, 0], true),
    ] {
        let x = Tensor::from_fn((Const::<32>,), |[i]| orders.get(i).copied().unwrap_or(1));
        let result = kernels::stop_negative_order(&x);
        match result {
            Err(Error::Check { code, .. }) => assert!(is_outside && code == "R13"),
            Err(other) => assert!(!is_outside, "{other}"),
            Ok(y) => assert!(!is_outside && y == x),
        }
        if is_outside && croq_tests::gpu::ends_at_failure() {
            return;
        }
    }
}

#[test]
fn a_generation_that_others_have_followed() {
    if !Device::default().is_sim() {
        return;
    }
    let x = Tensor::from_fn((Const::<64>,), |[i]| i as i32);
    assert_exact(&kernels::stop_long_gone(&x, 1).unwrap(), |i| x[i]);
    for generations in 2..=5 {
        let report = kernels::stop_long_gone(&x, generations)
            .unwrap_err()
            .to_string();
        let gone = "threads 32..63 wait for generation 0 of `go`, which went by unseen";
        contains(&report, &["deadlock in stop_long_gone_0", gone]);
    }
}
