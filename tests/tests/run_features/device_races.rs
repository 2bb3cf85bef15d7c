//! Races in device memory: the simulated GPU detects them in any run, since it checks whether two
//! accesses are ordered, and not which one ran first.

use croq_sys::{Device, DeviceTensor, Error, Result, Tensor};
use croq_tests::compare::assert_exact;
use croq_tests::kernels;
use croq_tests::orders::other_order;

fn file() -> impl Iterator<Item = (&'static str, u32)> {
    let text = include_str!("../../run/features/device_races.co");
    text.lines().zip(1..)
}

/// The line where `kernel` has the text `part` first.
fn line_of(kernel: &str, part: &str) -> u32 {
    let mut lines = file();
    lines.find(|(line, _)| line.contains(&format!(" {kernel}(")));
    let found = lines.find(|(line, _)| line.contains(part));
    let (_, line) = found.unwrap_or_else(|| panic!("`{kernel}` has no `{part}`"));
    line
}

/// The whole report on a wrong program, which only the simulated GPU executes, where `{…}` stands for the line that has this text.
#[track_caller]
fn reports<T: std::fmt::Debug>(wrong: impl FnOnce() -> Result<T>, kernel: &str, expected: &str) {
    if !Device::default().is_sim() {
        return;
    }
    let error = wrong().expect_err("is a race");
    assert!(matches!(error, Error::Hazard { .. }), "{error:?}");
    let mut text = String::new();
    for (at, part) in expected.split(['{', '}']).enumerate() {
        match at % 2 {
            0 => text.push_str(part),
            _ => {
                let line = line_of(kernel, part);
                text.push_str(&format!("run/features/device_races.co:{line}"));
            }
        }
    }
    let error = error.to_string();
    if other_order() {
        // Other threads are detected first.
        let place = |line: &str| line.rsplit(", ").next().map(str::to_owned);
        let places = |text: &str| -> Vec<_> { text.lines().skip(1).map(place).collect() };
        let before = |text: &str| text.split([',', ':']).next().map(str::to_owned);
        assert_eq!(before(&error), before(&text), "{error}");
        let (mut found, mut wanted) = (places(&error), places(&text));
        found.sort();
        wanted.sort();
        assert!(found.iter().all(|place| wanted.contains(place)), "{error}");
        return;
    }
    assert_eq!(error, text);
}

const UNORDERED: &str = "and no barrier, fence or atomic operation orders the two";

fn counted(n: usize) -> Tensor<i32, (usize,)> {
    Tensor::from_fn((n,), |[i]| i as i32)
}

fn is_sim() -> bool {
    Device::default().is_sim()
}

#[test]
fn a_histogram() {
    // Threads 0 and 1 find different bins, and thread 16 that of thread 0.
    let x = Tensor::from_fn((600,), |[i]| (i % 16) as i32);
    reports(
        || kernels::race_histogram(&x),
        "race_histogram",
        &format!(
            "race in race_histogram_0, block 0: `bins`[0] is read by one thread and written by another, {UNORDERED}\n  \
             thread 16 reads it, {{bins.at(x}}\n  thread 0 wrote it, {{bins.at(x}}"
        ),
    );
    let bins = kernels::race_histogram_atomic(&x).unwrap();
    assert_exact(&bins, |[i]| if i < 8 { 38 } else { 37 });
}

#[test]
fn a_histogram_of_many_blocks() {
    // In a block each bin is found once.
    let to = Tensor::from_fn(
        (256 * 40,),
        |[i]| if i % 256 == 0 { 3 } else { 1000 + i as i32 },
    );
    let ones = Tensor::from_fn((256 * 40,), |_| 1.0f32);
    let mut y = Tensor::<f32, (usize,)>::zeros((20_000,));
    for _ in 0..5 {
        reports(
            || kernels::race_scatter(&ones, &to, &mut y),
            "race_scatter",
            &format!(
                "race in race_scatter_0, block 1: `y`[3] is read by one thread and written by another, {UNORDERED}\n  \
                 block 1, thread 0 reads it, {{y.at(to}}\n  block 0, thread 0 wrote it, {{y.at(to}}"
            ),
        );
    }
}

#[test]
fn a_scattered_sum() {
    let x = Tensor::from_fn((64,), |_| 1.0f32);
    let to = Tensor::from_fn((64,), |[i]| if i == 60 { 5 } else { i as i32 });
    let mut y = Tensor::<f32, (usize,)>::zeros((100,));
    reports(
        || kernels::race_scatter(&x, &to, &mut y),
        "race_scatter",
        &format!(
            "race in race_scatter_0: `y`[5] is read by one thread and written by another, {UNORDERED}\n  \
             thread 60 reads it, {{y.at(to}}\n  thread 5 wrote it, {{y.at(to}}"
        ),
    );
    let mut y = Tensor::<f32, (usize,)>::zeros((100,));
    kernels::race_scatter_atomic(&x, &to, &mut y).unwrap();
    assert_eq!(y[[5]], 2.0);
    // Each once: nothing is wrong with it.
    let mut y = Tensor::<f32, (usize,)>::zeros((100,));
    kernels::race_scatter(&x, &counted(64), &mut y).unwrap();
    let permuted = Tensor::from_fn((64,), |[i]| (i * 7 % 64) as i32);
    let mut y = Tensor::<f32, (usize,)>::zeros((64,));
    let from = Tensor::from_fn((64,), |[i]| i as f32);
    kernels::race_permute(&from, &permuted, &mut y).unwrap();
    assert_exact(&y, |[i]| (i * 55 % 64) as f32);
    let again = Tensor::from_fn((64,), |[i]| if i == 9 { 14 } else { (i * 7 % 64) as i32 });
    reports(
        || kernels::race_permute(&from, &again, &mut y),
        "race_permute",
        &format!(
            "race in race_permute_0: `y`[14] is written by two threads, {UNORDERED}\n  \
             thread 9 writes it, {{y.at(to}}\n  thread 2 wrote it, {{y.at(to}}"
        ),
    );
}

#[test]
fn in_place() {
    let mut x = counted(300).to_device(&Device::default()).unwrap();
    reports(
        || kernels::race_shift(&mut x),
        "race_shift",
        &format!(
            "race in race_shift_0, block 0: `x`[1] is read by one thread and written by another, {UNORDERED}\n  \
             thread 2 reads it, {{x.at(p) =}}\n  thread 1 wrote it, {{x.at(p) =}}"
        ),
    );
    let y = kernels::race_shift_aside(&counted(300)).unwrap();
    assert_exact(&y, |[i]| i.saturating_sub(1) as i32);
    let squares = Tensor::from_fn((200,), |[i]| (i * i) as f32);
    let mut x = squares.to_device(&Device::default()).unwrap();
    reports(
        || kernels::race_stencil(&mut x),
        "race_stencil",
        &format!(
            "race in race_stencil_0, block 0: `x`[1] is read by one thread and written by another, {UNORDERED}\n  \
             thread 2 reads it, {{x.at(i) =}}\n  thread 1 wrote it, {{x.at(i) =}}"
        ),
    );
}

#[test]
fn between_turns_of_a_grid() {
    let x = Tensor::from_fn((150,), |[i]| (i * i) as f32);
    let mut expected: Vec<f32> = x.as_slice().to_vec();
    for _ in 0..3 {
        let old = expected.clone();
        for i in 1..149 {
            expected[i] = (old[i - 1] + old[i] + old[i + 1]) / 3.0;
        }
    }
    let y = kernels::race_stencil_turns(&x, 3).unwrap();
    assert_exact(&y, |[i]| expected[i]);
    kernels::race_stencil_no_barrier(&x, 1).unwrap();
    let kernel = "race_stencil_no_barrier";
    if is_sim() {
        let error = kernels::race_stencil_no_barrier(&x, 2)
            .expect_err("is a race")
            .to_string();
        let (look, store) = (
            format!(
                "reads it, run/features/device_races.co:{}",
                line_of(kernel, "sum = (u.at")
            ),
            format!(
                " it, run/features/device_races.co:{}",
                line_of(kernel, "u.at((k + 1)")
            ),
        );
        assert!(
            error.starts_with("race in race_stencil_no_barrier_0, block "),
            "{error}"
        );
        assert!(
            error.contains(&look) || error.contains("read it"),
            "{error}"
        );
        assert!(error.contains(&store), "{error}");
    }
}

#[test]
fn one_element_by_all() {
    let x = Tensor::from_fn((2048,), |[i]| i as i32 + 1);
    reports(
        || kernels::race_one_element(&x),
        "race_one_element",
        &format!(
            "race in race_one_element_0, block 0: `sum`[0] is read by one thread and written by another, {UNORDERED}\n  \
             thread 1 reads it, {{sum.at(0)}}\n  thread 0 wrote it, {{sum.at(0)}}"
        ),
    );
    reports(
        || kernels::race_two_values(0),
        "race_two_values",
        &format!(
            "race in race_two_values_0, block 1: `y`[0] is written by two threads, {UNORDERED}\n  \
             block 1, thread 0 writes it, {{y.at(0)}}\n  block 0, thread 0 wrote it, {{y.at(0)}}"
        ),
    );
    assert_eq!(kernels::race_two_values(1).unwrap()[[0]], 7);
    let done = kernels::race_done(&counted(5000)).unwrap();
    assert_exact(&done, |[i]| i32::from(i == 2));
}

#[test]
fn the_block_that_comes_last() {
    let x = counted(64 * 20);
    let sum = (0..64 * 20).sum::<i32>();
    assert_eq!(kernels::race_last_block_fences(&x).unwrap()[[0]], sum);
    for kernel in ["race_last_block", "race_last_block_late"] {
        let wrong = || match kernel {
            "race_last_block" => kernels::race_last_block(&x),
            _ => kernels::race_last_block_late(&x),
        };
        reports(
            wrong,
            kernel,
            &format!(
                "race in {kernel}_0, block 19: `partial`[0] is read by one thread and written by another, {UNORDERED}\n  \
                 block 19, thread 1 reads it, {{+= partial.at(k)}}\n  block 0, thread 0 wrote it, {{partial.at(b) =}}"
            ),
        );
    }
}

#[test]
fn a_lock_with_fences_orders_threads_of_one_block_as_well() {
    for blocks in [1, 5] {
        let x = counted(blocks * 16);
        let sum = kernels::race_lock(&x, blocks as i32).unwrap();
        let count = x.as_slice().len() as i32;
        assert_eq!(sum.as_slice(), [count * (count - 1) / 2, count]);
        if croq_tests::gpu::ends_at_failure() {
            continue;
        }
        let wrong = kernels::race_lock_unfenced(&x, blocks as i32).unwrap_err();
        let text = wrong.to_string();
        assert!(text.contains("`sum`[0] is"), "{text}");
        assert!(matches!(wrong, croq_sys::Error::Hazard { .. }), "{text}");
    }
}

#[test]
fn sums_handed_from_block_to_block() {
    // A store of the zero that is already there would not be a race.
    let x = Tensor::from_fn((30,), |[i]| i as i32 + 1);
    let total = kernels::race_look_back(&x).unwrap();
    assert_exact(&total, |[i]| ((i + 1) * (i + 2) / 2) as i32);
    reports(
        || kernels::race_look_back_unfenced(&x),
        "race_look_back_unfenced",
        &format!(
            "race in race_look_back_unfenced_0, block 1: `total`[0] is read by one thread and written by another, {UNORDERED}\n  \
             block 1, thread 0 reads it, {{before = total}}\n  block 0, thread 0 wrote it, {{total.at(b) =}}"
        ),
    );
}

#[test]
fn sums_collected_by_a_warp() {
    let x = Tensor::from_fn((70,), |[i]| i as i32 + 1);
    let total = kernels::race_window::<true, true, _, _>(&x).unwrap();
    assert_exact(&total, |[i]| ((i + 1) * (i + 2) / 2) as i32);
    if !is_sim() {
        return;
    }
    // Either fence alone orders nothing.
    for wrong in [
        kernels::race_window::<false, true, _, _>(&x),
        kernels::race_window::<true, false, _, _>(&x),
    ] {
        let error = wrong.expect_err("is a race");
        assert!(matches!(error, Error::Hazard { .. }), "{error:?}");
        let text = error.to_string();
        assert!(text.contains(UNORDERED), "{text}");
        let line = line_of("race_window", "value = ends.at(other)");
        assert!(text.contains(&format!("device_races.co:{line}")), "{text}");
    }
}

#[test]
fn in_a_block() {
    let x = counted(256);
    assert_exact(&kernels::race_in_block(&x, 0).unwrap(), |[i]| i as i32);
    let y = kernels::race_in_block_wait(&x, 1).unwrap();
    assert_exact(&y, |[i]| (i / 64 * 64 + (i + 1) % 64) as i32);
    reports(
        || kernels::race_in_block(&x, 1),
        "race_in_block",
        &format!(
            "race in race_in_block_0, block 0: `u`[1] is written by one thread and read by another, {UNORDERED}\n  \
             thread 1 writes it, {{u.at(b # t) =}}\n  thread 0 read it, {{= u.at(b *}}"
        ),
    );
}

#[test]
fn what_is_not_looked_at_is_said() {
    let x = Tensor::from_fn((64,), |[i]| (i % 16) as i32);
    if !is_sim() {
        return;
    }
    let error = kernels::race_escaping(&x)
        .expect_err("is a race")
        .to_string();
    let note = "\n  accesses of `seen` are not looked at: C++ text has its address";
    assert!(
        error.starts_with("race in race_escaping_0: `bins`["),
        "{error}"
    );
    assert!(error.ends_with(note), "{error}");
}

#[test]
fn ragged_edges_and_shared_sums() {
    let x = Tensor::from_fn((1000,), |[i]| (i % 7) as f32);
    let y = kernels::race_halo(&x).unwrap();
    assert_exact(&y, |[i]| {
        let around = i.saturating_sub(1)..(i + 2).min(1000);
        around.map(|i| (i % 7) as f32).sum()
    });
    let a = Tensor::<f32, (usize, usize)>::from_fn((5, 16), |[i, k]| ((i + k) % 5) as f32);
    let b = Tensor::<f32, (usize, usize)>::from_fn((16, 6), |[k, j]| ((j * k) % 3) as f32);
    let c = kernels::race_split_k(&a, &b).unwrap();
    assert_exact(&c, |[i, j]| (0..16).map(|k| a[[i, k]] * b[[k, j]]).sum());
    if is_sim() {
        let error = kernels::race_split_k_plain(&a, &b).expect_err("is a race");
        let error = error.to_string();
        assert!(error.starts_with("race in race_split_k_plain_0"), "{error}");
        let line = line_of("race_split_k_plain", "c.at(m, n) +=");
        let place = format!("run/features/device_races.co:{line}");
        assert_eq!(error.matches(&place).count(), 2, "{error}");
    }
}

/// A kernel that changes 64 numbers in place, with the same result for every order of blocks and
/// threads.
#[track_caller]
fn changes(run: impl Fn(&mut OnDevice) -> Result<()>, expected: impl Fn(usize) -> i32) {
    let mut x = numbers();
    run(&mut x).expect("is in order");
    assert_exact(&x.to_host().unwrap(), |[i]| expected(i));
}

#[track_caller]
fn races(wrong: impl FnOnce() -> Result<()>, kernel: &str, parts: [&str; 2]) {
    if !is_sim() {
        return;
    }
    let error = wrong().expect_err("is a race").to_string();
    assert!(
        error.starts_with(&format!("race in {kernel}_0, block")),
        "{error}"
    );
    assert!(error.contains(UNORDERED), "{error}");
    for part in parts {
        let place = format!("device_races.co:{}", line_of(kernel, part));
        assert!(error.contains(&place), "{part}: {error}");
    }
}

type OnDevice = DeviceTensor<i32, (usize,)>;

fn numbers() -> OnDevice {
    counted(64).to_device(&Device::default()).unwrap()
}

fn zeros() -> OnDevice {
    DeviceTensor::zeros((64,), &Device::default()).unwrap()
}

#[test]
fn loads_by_the_copy_engine() {
    changes(|x| kernels::race_tma_load(x, 16), |i| i as i32 + 1);
    let reversed = |i: usize| (i / 16 * 16 + 15 - i % 16) as i32 + 1;
    changes(|x| kernels::race_tma_load_reversed(x), reversed);
    let parts = ["tma.copy", "x.at("];
    for k in [0, 8] {
        races(
            || kernels::race_tma_load(&mut numbers(), k),
            "race_tma_load",
            parts,
        );
    }
}

#[test]
fn loads_for_a_cluster_by_the_copy_engine() {
    changes(|x| kernels::race_tma_multicast(x, 32), |i| i as i32 + 1);
    for k in [0, 16] {
        races(
            || kernels::race_tma_multicast(&mut numbers(), k),
            "race_tma_multicast",
            ["tma.copy", "x.at("],
        );
    }
}

#[test]
fn a_load_that_nobody_has_waited_for() {
    changes(|x| kernels::race_tma_load_pending(x, 0), |i| i as i32 + 1);
    races(
        || kernels::race_tma_load_pending(&mut numbers(), 1),
        "race_tma_load_pending",
        ["tma.copy", "early == 1"],
    );
}

#[test]
fn equal_stores_by_the_copy_engine() {
    changes(
        |x| kernels::race_tma_store(x, 8, 1),
        |i| if i < 40 { 7 } else { i as i32 },
    );
}

#[test]
fn stores_by_the_copy_engine() {
    changes(|x| kernels::race_tma_store(x, 16, 0), |i| 7 + i as i32 / 16);
    for k in [0, 8] {
        races(
            || kernels::race_tma_store(&mut zeros(), k, 0),
            "race_tma_store",
            ["tma.copy"; 2],
        );
    }
    let (mut x, mut y) = (zeros(), zeros());
    kernels::race_tma_both(&mut x, &mut y, 0).expect("is in order");
    assert_exact(&y.to_host().unwrap(), |[i]| {
        (i / 16 * 100 + i % 16) as i32 + 2
    });
    for k in [1, 16, 40] {
        races(
            || kernels::race_tma_both(&mut zeros(), &mut zeros(), k),
            "race_tma_both",
            ["tma.copy", "t = tma.copy"],
        );
    }
}

#[test]
fn an_event_orders_what_came_before_the_first_arrival() {
    let x = counted(128);
    for early in [0, 1] {
        let y = kernels::race_relay(&x, early);
        match early {
            0 => assert_exact(&y.unwrap(), |[i]| 128 - i as i32),
            _ => racing(y, "u"),
        }
    }
}

#[test]
fn an_event_orders_one_store_after_many_reads() {
    for early in [0, 1] {
        let host = Tensor::from_fn((1,), |_| 3);
        let mut x = host.to_device(&Device::default()).unwrap();
        let y = kernels::race_relay_of_reads(&mut x, early);
        match early {
            0 => {
                assert_exact(&y.unwrap(), |_| 3);
                assert_eq!(x.to_host().unwrap().as_slice(), [5]);
            }
            _ => racing(y, "x"),
        }
    }
}

/// Whichever of the two accesses is executed first.
#[track_caller]
fn racing<T: std::fmt::Debug>(result: Result<T>, buffer: &str) {
    if is_sim() {
        let text = result.expect_err("is a race").to_string();
        assert!(
            text.contains("race in race_relay") && text.contains(&format!("`{buffer}`[")),
            "{text}"
        );
    }
}
