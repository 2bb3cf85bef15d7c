//! Mistakes in pipelines that no compiler can exclude: the simulated GPU stops each, and reports
//! the reason.

use croq_sys::half::f16;
use croq_sys::{Const, Device, DeviceTensor, Error, Tensor};
use croq_tests::compare::assert_exact;
use croq_tests::kernels;
use croq_tests::orders::other_order;

type Rows = Tensor<f16, (usize, Const<16>)>;
type Sums = DeviceTensor<f32, (Const<16>, Const<16>)>;

/// The line of `mistakes.co` where `kernel` has the text `part` first.
fn line_of(kernel: &str, part: &str) -> String {
    let text = include_str!("../../run/features/mistakes.co");
    let mut lines = text.lines().zip(1..);
    lines.find(|(line, _)| line.contains(&format!("void {kernel}(")));
    let (_, line) = lines
        .find(|(line, _)| line.contains(part))
        .unwrap_or_else(|| panic!("`{kernel}` has no `{part}`"));
    format!("run/features/mistakes.co:{line}")
}

/// Correct with `right`; the report with `wrong`. Only on the simulated GPU: on others the
/// behaviour is undefined.
#[track_caller]
fn stopped(
    kernel: impl Fn(&Rows, &mut Sums, i32) -> Result<(), Error>,
    [right, wrong]: [i32; 2],
    parts: &[&str],
) {
    let numbers = Tensor::<i32, _>::random((80, Const::<16>), -8..8, 7);
    let numbers = numbers.as_slice().iter().map(|n| f16::from_f32(*n as f32));
    let src = Rows::from_vec((80, Const), numbers.collect()).unwrap();
    let run = |wrong| {
        let mut dst = DeviceTensor::zeros((Const, Const), &Device::sim()).unwrap();
        kernel(&src, &mut dst, wrong).map(|()| dst)
    };
    let dst = run(right).unwrap().to_host().unwrap();
    assert_exact(&dst, |[i, j]| {
        let tiles = (0..5).map(|k| {
            let row = |i: usize| (0..16).map(move |e| (16 * k + i, e));
            let products = row(i).zip(row(j));
            let product = |((a, e), (b, f))| src[[a, e]].to_f32() * src[[b, f]].to_f32();
            products.map(product).sum::<f32>()
        });
        tiles.sum()
    });
    let error = run(wrong).unwrap_err().to_string();
    for part in parts {
        assert!(error.contains(part), "no `{part}` in\n{error}");
    }
}

#[test]
fn a_slot_released_before_a_product_has_read_it() {
    let kernel = "released_before_a_product";
    stopped(
        kernels::released_before_a_product,
        [0, 1],
        &[
            "race in released_before_a_product_0: `ring`[",
            "is written by one thread and read by another, and no barrier or event orders the two",
            &format!("writes it, {}", line_of(kernel, "tma.copy.async")),
            &format!("read it, {}", line_of(kernel, "fa = mma.load")),
        ],
    );
}

#[test]
fn a_tile_brought_too_soon() {
    let kernel = "brought_too_soon";
    stopped(
        kernels::brought_too_soon,
        [0, 1],
        &[
            "race in brought_too_soon_0: `ring`[",
            &format!("writes it, {}", line_of(kernel, "dma.copy")),
            &format!("read it, {}", line_of(kernel, "fa = mma.load")),
        ],
    );
}

#[test]
fn a_tile_taken_too_soon() {
    let kernel = "taken_too_soon";
    // In another order the copy may have been executed already.
    let copied = match other_order() {
        true => "",
        false => "began the copy",
    };
    stopped(
        kernels::taken_too_soon,
        [0, 1],
        &[
            "race in taken_too_soon_0: `ring`[",
            &format!("reads it, {}", line_of(kernel, "fa = mma.load")),
            &format!("{copied}, {}", line_of(kernel, "tma.copy.async")),
        ],
    );
}

#[test]
fn a_warp_that_gives_nothing_back() {
    let kernel = "one_gives_nothing_back";
    stopped(
        kernels::one_gives_nothing_back,
        [0, 1],
        &[
            "thread 0 waits for generation 1 of `empty`[0] (32 of 64 have arrived), ",
            &line_of(kernel, "wait empty"),
            "threads 32..95 wait for generation 1 of `full`[0] (0 of 1 have arrived), ",
            &line_of(kernel, "wait full"),
            &format!(
                "generation 1 of `empty`[0] lacks 32 of 64 arrivals:\n    threads 64..95 would \
                 trigger it at {}, but wait at {}",
                line_of(kernel, "trigger empty"),
                line_of(kernel, "wait full"),
            ),
            &format!(
                "generation 1 of `full`[0] lacks 1 of 1 arrival:\n    thread 0 would trigger it \
                 at {}, but waits at {}",
                line_of(kernel, "trigger full"),
                line_of(kernel, "wait empty"),
            ),
        ],
    );
}

#[test]
fn credits_for_fewer_slots() {
    let kernel = "credit_for_one_slot";
    stopped(
        kernels::credit_for_one_slot,
        [2, 1],
        &[
            "thread 0 waits for generation 0 of `empty`[1] (0 of 32 have arrived), ",
            &line_of(kernel, "wait empty"),
            "threads 32..63 wait for generation 0 of `full`[1] (0 of 1 have arrived), ",
            &line_of(kernel, "wait full"),
            &format!(
                "generation 0 of `empty`[1] lacks 32 of 32 arrivals:\n    threads 32..63 would \
                 trigger it at {} or {}, but wait at {}",
                line_of(kernel, "foreach {i} in [credits]"),
                line_of(kernel, "          trigger empty[k"),
                line_of(kernel, "wait full"),
            ),
        ],
    );
}

#[test]
fn a_trigger_forgotten_under_a_condition() {
    let kernel = "forgotten_under_a_condition";
    stopped(
        kernels::forgotten_under_a_condition,
        [0, 1],
        &[
            "threads 0..31 have left the kernel",
            "threads 32..63 wait for generation 2 of `full`[0] (0 of 32 have arrived), ",
            &format!(
                "generation 2 of `full`[0] lacks 32 of 32 arrivals:\n    threads 0..31 would \
                 trigger it at {}, but have left the kernel",
                line_of(kernel, "trigger full"),
            ),
        ],
    );
}

#[test]
fn threads_that_leave_before_they_trigger() {
    let kernel = "left_by_yield";
    stopped(
        kernels::left_by_yield,
        [0, 1],
        &[
            "threads 32..63 wait for generation 0 of `full` (16 of 32 have arrived), ",
            &format!(
                "generation 0 of `full` lacks 16 of 32 arrivals:\n    threads 16..31 would \
                 trigger it at {}, but have left the kernel",
                line_of(kernel, "trigger full"),
            ),
        ],
    );
}

type Columns = Tensor<f16, (usize, Const<64>)>;
type Square = DeviceTensor<f32, (Const<64>, Const<64>)>;
type Threads = DeviceTensor<f32, (Const<128>,)>;

/// Right without the mistake. With it, the simulated GPU reports a race with these parts; on the PTX
/// machine, which prints its report, the call fails. On hardware the behaviour would be undefined.
#[track_caller]
fn stopped_anywhere(
    kernel: impl Fn(
        &DeviceTensor<f16, (usize, Const<64>)>,
        &mut Square,
        &mut Threads,
        i32,
    ) -> Result<(), Error>,
    expected: impl Fn(&Columns, usize) -> f32,
    parts: &[&str],
) {
    let device = Device::default();
    let numbers = Tensor::<i32, _>::random((320, Const::<64>), -8..8, 11);
    let numbers = numbers.as_slice().iter().map(|n| f16::from_f32(*n as f32));
    let src = Columns::from_vec((320, Const), numbers.collect()).unwrap();
    let on_device = src.to_device(&device).unwrap();
    let run = |wrong| {
        let mut dst = Square::zeros((Const, Const), &device)?;
        let mut sums = Threads::zeros((Const,), &device)?;
        kernel(&on_device, &mut dst, &mut sums, wrong)?;
        sums.to_host()
    };
    let sums = run(0).unwrap();
    assert_exact(&sums, |[t]| expected(&src, t));
    if device.is_cuda() && !device.name().starts_with("PTX machine") {
        return;
    }
    let error = run(1).unwrap_err().to_string();
    for part in parts.iter().filter(|_| device.is_sim()) {
        assert!(error.contains(part), "no `{part}` in\n{error}");
    }
}

fn sum_of_tiles(src: &Columns, [row, column]: [usize; 2]) -> f32 {
    (0..5).map(|k| src[[64 * k + row, column]].to_f32()).sum()
}

#[test]
fn a_slot_released_before_a_warpgroup_has_read_it() {
    stopped_anywhere(
        kernels::released_before_a_warpgroup,
        |_, _| 0.0,
        // In some orders the product is the second access, or the copy is in flight.
        &["race in released_before_a_warpgroup_0: "],
    );
}

#[test]
fn a_slot_released_before_threads_have_read_it() {
    stopped_anywhere(
        kernels::released_before_threads,
        |src, t| sum_of_tiles(src, [t % 64, t / 2]),
        &[
            "race in released_before_threads_0: `ring`[",
            "and no barrier or event orders the two",
        ],
    );
}

#[test]
fn a_tile_published_before_it_is_written() {
    stopped_anywhere(
        kernels::published_too_soon,
        |src, t| sum_of_tiles(src, [(127 - t) % 64, (127 - t) / 2]),
        &["race in published_too_soon_0: `ring`["],
    );
}

#[test]
fn a_tile_loaded_while_warpgroups_multiply_it_in_turns() {
    stopped_anywhere(
        kernels::loaded_too_soon_in_turns,
        |_, _| 0.0,
        // In some orders the thread that loads is a generation ahead before the others multiply.
        &[" in loaded_too_soon_in_turns_0: "],
    );
}
