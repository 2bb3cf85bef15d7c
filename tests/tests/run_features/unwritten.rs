//! Values that were never written (S7): the simulated GPU stops threads that use one, and no
//! others.

use croq_sys::half::f16;
use croq_sys::{Const, Device, Error, Result, Tensor};
use croq_tests::compare::assert_exact;
use croq_tests::kernels;
use croq_tests::orders::in_this_order;

const TEXT: &str = include_str!("../../run/features/unwritten.co");

/// The line where `kernel` has the text `part` first.
fn line_of(kernel: &str, part: &str) -> usize {
    let mut lines = TEXT.lines().zip(1..);
    lines.find(|(line, _)| line.contains(&format!(" {kernel}(")));
    let found = lines.find(|(line, _)| line.contains(part));
    found
        .unwrap_or_else(|| panic!("`{kernel}` has no `{part}`"))
        .1
}

/// The whole report: the element, its declaration, the use of its value with its line, and the line
/// of the read if it is another one.
#[track_caller]
fn unwritten<T: std::fmt::Debug>(
    result: Result<T>,
    kernel: &str,
    [element, declared, does]: [&str; 3],
    thread: u32,
    [used, read]: [&str; 2],
) {
    let error = result.expect_err("uses what nothing has written");
    assert!(matches!(error, Error::Hazard { .. }), "{error:?}");
    let at = |part| line_of(kernel, part);
    let file = "run/features/unwritten.co";
    let mut expected = format!(
        ": {element}, declared on line {}, holds nothing that was written, and its value {does}\n  \
         thread {thread} uses the value, {file}:{}",
        at(declared),
        at(used)
    );
    if used != read {
        expected += &format!("\n  thread {thread} reads it, {file}:{}", at(read));
    }
    let (error, expected) = (in_this_order(&error.to_string()), in_this_order(&expected));
    assert!(
        error.starts_with(&format!("unwritten value in {kernel}_0")),
        "{error}"
    );
    assert!(
        error.ends_with(&expected),
        "{error}\ninstead of\n{expected}"
    );
}

fn on_sim() -> bool {
    Device::default().is_sim()
}

fn numbers() -> Tensor<i32, (Const<64>,)> {
    Tensor::from_fn((Const,), |[i]| i as i32)
}

fn rows() -> Tensor<f32, (Const<64>, Const<4>)> {
    Tensor::from_fn((Const, Const), |[i, j]| (i * 4 + j) as f32)
}

#[test]
fn sums_that_nothing_set_to_zero() {
    let x = rows();
    let sum = |[p]: [usize; 1]| (16 * p + 6) as f32;
    assert_exact(&kernels::written_sums(&x).unwrap(), sum);
    if on_sim() {
        let what = ["`acc`[3]", "local f32", "is stored in device memory"];
        let wrong = kernels::unwritten_sums(&x);
        unwritten(wrong, "unwritten_sums", what, 0, ["y.at(p) ="; 2]);
    }
}

#[test]
fn integers_of_which_some_are_masked() {
    let x = numbers();
    assert_exact(&kernels::unwritten_counts(&x, 8).unwrap(), |[p]| {
        8 * x[[p]] + 28
    });
    for n in [0, 3, 8] {
        let right = kernels::masked_counts(&x, n).unwrap();
        assert_exact(&right, |[p]| (0..n).map(|i| 2 * (x[[p]] + i)).sum());
    }
    if on_sim() {
        let what = ["`bins`[7]", "local s32", "is stored in device memory"];
        let wrong = kernels::unwritten_counts(&x, 7);
        let places = ["y.at(p) =", "sum += bins"];
        unwritten(wrong, "unwritten_counts", what, 0, places);
    }
}

#[test]
fn each_turn_declares_an_array_anew() {
    if on_sim() {
        let what = ["`last`[0]", "local s32", "is stored in device memory"];
        let wrong = kernels::unwritten_next_turn(&numbers());
        unwritten(
            wrong,
            "unwritten_next_turn",
            what,
            0,
            ["y.at(p) =", "sum += last"],
        );
    }
}

#[test]
fn a_tile_past_the_edge() {
    for n in [64, 100, 128] {
        let x = Tensor::<f32, _>::from_fn((n,), |[i]| i as f32);
        assert_exact(&kernels::unwritten_edge(&x, 0).unwrap(), |[i]| {
            2.0 * i as f32
        });
    }
    if on_sim() {
        let x = Tensor::<f32, _>::from_fn((100,), |[i]| i as f32);
        let what = ["`tile`[36]", "shared f32", "is stored in device memory"];
        let wrong = kernels::unwritten_edge(&x, 1);
        unwritten(
            wrong,
            "unwritten_edge",
            what,
            36,
            ["y.at((b # t)", "f32 twice"],
        );
    }
}

#[test]
fn indices_conditions_and_operands() {
    let x = numbers();
    let next = |[t]: [usize; 1]| ((64 - t) % 64) as i32;
    assert_exact(&kernels::unwritten_index(&x, 64).unwrap(), next);
    let right = kernels::masked_index(&x, 60).unwrap();
    assert_exact(&right, |[t]| if t < 4 { 0 } else { next([t]) });
    assert!(kernels::unwritten_condition(&x, 64).is_ok());
    assert_exact(&kernels::unwritten_operand(&x, 64).unwrap(), |_| 2016);
    assert_exact(&kernels::unwritten_target(&x, 16).unwrap(), |_| 4);
    if !on_sim() {
        return;
    }
    let what = [
        "`ids`[63]",
        "shared s32",
        "is an index, or decides an assertion",
    ];
    let wrong = kernels::unwritten_index(&x, 63);
    unwritten(wrong, "unwritten_index", what, 0, ["y.at(t) =", "int id"]);
    let what = ["`flags`[63]", "shared s32", "decides a condition"];
    let wrong = kernels::unwritten_condition(&x, 63);
    unwritten(wrong, "unwritten_condition", what, 0, ["if (flags"; 2]);
    let what = ["`own`[0]", "local s32", "goes to an atomic operation"];
    let wrong = kernels::unwritten_operand(&x, 63);
    unwritten(wrong, "unwritten_operand", what, 63, ["__atomic_add"; 2]);
    let what = ["`bins`[15]", "shared s32", "goes to an atomic operation"];
    let wrong = kernels::unwritten_target(&x, 15).expect_err("an atomic operation");
    let error = wrong.to_string();
    assert!(
        error.contains(what[0]) && error.contains(what[2]),
        "{error}"
    );
}

#[test]
fn arguments_and_arrays_of_calls() {
    let x = numbers();
    assert_exact(&kernels::unwritten_argument(&x, 64).unwrap(), |i| 3 * x[i]);
    assert_exact(&kernels::written_by_a_call(&x).unwrap(), |i| 2 * x[i] + 1);
    if on_sim() {
        let what = ["`own`[0]", "local s32", "goes to a call"];
        let wrong = kernels::unwritten_argument(&x, 63);
        unwritten(wrong, "unwritten_argument", what, 63, ["s32 v = call"; 2]);
    }
}

fn factors(
    m: usize,
    n: usize,
) -> (
    Tensor<f16, (usize, Const<16>)>,
    Tensor<f16, (usize, Const<16>)>,
) {
    let a = Tensor::from_fn((m, Const), |[i, k]| f16::from_f32((i + k) as f32));
    let b = Tensor::from_fn((n, Const), |[j, k]| f16::from_f32((j * k % 5) as f32));
    (a, b)
}

fn product(i: usize, j: usize) -> f32 {
    (0..16).map(|k| ((i + k) * (j * k % 5)) as f32).sum()
}

#[test]
fn rows_and_columns_that_are_not_stored() {
    for (m, n) in [(16, 8), (13, 8), (16, 5), (9, 3)] {
        let (a, b) = factors(m, n);
        let right = kernels::unwritten_rows(&a, &b).unwrap();
        assert_exact(&right, |[i, j]| product(i, j));
    }
}

#[test]
fn a_tail_of_k_reaches_all_sums() {
    let tail = |k: usize| {
        let a = Tensor::<f16, _>::from_fn((Const::<16>, k), |[i, k]| f16::from_f32((i + k) as f32));
        let b =
            Tensor::<f16, _>::from_fn((Const::<8>, k), |[j, k]| f16::from_f32((j * k % 5) as f32));
        kernels::unwritten_tail(&a, &b)
    };
    assert_exact(&tail(16).unwrap(), |[i, j]| product(i, j));
    if on_sim() {
        let what = ["`acc`[0]", "acc =", "is stored in device memory"];
        unwritten(tail(15), "unwritten_tail", what, 31, ["mma.store"; 2]);
    }
}

#[test]
fn fragments() {
    let a = Tensor::<f16, _>::from_fn((Const, Const), |[i, k]| f16::from_f32((i + k) as f32));
    let b = Tensor::<f16, _>::from_fn((Const, Const), |[j, k]| f16::from_f32((j * k % 5) as f32));
    let all = kernels::unwritten_fragment(&a, &b, 16).unwrap();
    assert_exact(&all, |[i, j]| product(i, j) + 1.0);
    if on_sim() {
        let what = ["`other`[2]", "frag f32", "is stored in device memory"];
        let wrong = kernels::unwritten_fragment(&a, &b, 15);
        unwritten(wrong, "unwritten_fragment", what, 30, ["mma.store"; 2]);
    }
}

#[test]
fn by_a_thread_that_has_left() {
    let five = kernels::unwritten_by_one_leaver(64).unwrap();
    assert_exact(&five, |[t]| if t == 9 { 5 } else { 0 });
    if on_sim() {
        let what = ["`s`[0]", "shared s32", "is stored in device memory"];
        let wrong = kernels::unwritten_by_one_leaver(0);
        let places = ["y.at(t) ="; 2];
        unwritten(wrong, "unwritten_by_one_leaver", what, 9, places);
    }
}

/// Without the mode a thread reads poison, and no values of earlier threads or blocks.
#[test]
fn poison() {
    let variable = "CROQ_SIM_UNWRITTEN";
    if std::env::var(variable).as_deref() == Ok("off") {
        let counts = kernels::unwritten_counts(&numbers(), 7).unwrap();
        assert_exact(&counts, |[p]| 7 * p as i32 + 21 - 1);
        assert!(
            kernels::unwritten_sums(&rows())
                .unwrap()
                .as_slice()
                .iter()
                .all(|v| v.is_nan())
        );
        let edge = Tensor::<f32, _>::from_fn((100,), |[i]| i as f32);
        assert!(kernels::unwritten_edge(&edge, 1).unwrap().as_slice()[0].is_nan());
    } else if on_sim() {
        let this = std::env::current_exe().unwrap();
        let run = std::process::Command::new(this)
            .args(["unwritten::poison"])
            .env(variable, "off")
            // Element 0 has two writers: without the report of that race, block 1 is the last block
            // of one worker.
            .env("CROQ_SIM_RACES", "shared")
            .env("CROQ_SIM_THREADS", "1")
            .env("CROQ_SIM_SEED", "0")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&run.stdout);
        assert!(run.status.success() && said.contains("1 passed"), "{said}");
    }
}
