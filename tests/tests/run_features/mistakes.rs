//! Mistakes in pipelines that no compiler can rule out: the simulated GPU stops each, and says what was wrong.

use croq_sys::half::f16;
use croq_sys::{Const, Device, DeviceTensor, Error, Tensor};
use croq_tests::compare::assert_exact;
use croq_tests::kernels;

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

/// Right with `right`; the report with `wrong`. On the simulated GPU alone: others would do anything.
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
            "is read while a copy into it is under way",
            &format!("reads it, {}", line_of(kernel, "fb = mma.load")),
            &format!("began the copy, {}", line_of(kernel, "tma.copy.async")),
        ],
    );
}

#[test]
fn a_tile_brought_too_soon() {
    // Generations go by that nobody has seen: whoever waits for one of them waits for ever.
    stopped(
        kernels::brought_too_soon,
        [0, 1],
        &[
            "deadlock in brought_too_soon_0",
            "threads 0..31 have left the kernel",
            "threads 32..63 wait at mbarrier `full`[1]",
            &line_of("brought_too_soon", "wait full"),
        ],
    );
}

#[test]
fn a_tile_taken_too_soon() {
    let kernel = "taken_too_soon";
    stopped(
        kernels::taken_too_soon,
        [0, 1],
        &[
            "race in taken_too_soon_0: `ring`[",
            &format!("reads it, {}", line_of(kernel, "fa = mma.load")),
            &format!("began the copy, {}", line_of(kernel, "tma.copy.async")),
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
            "thread 0 waits at mbarrier `empty`[0], phase 0 (32 of 64 have arrived; the last was thread 63",
            &line_of(kernel, "wait empty"),
            "threads 32..95 wait at mbarrier `full`[0], phase 1 (0 of 1 have arrived",
            &line_of(kernel, "wait full"),
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
            "thread 0 waits at mbarrier `empty`[1], phase 0 (0 of 32 have arrived; nobody ever has)",
            &line_of(kernel, "wait empty"),
            "threads 32..63 wait at mbarrier `full`[1], phase 0",
            &line_of(kernel, "wait full"),
        ],
    );
}
