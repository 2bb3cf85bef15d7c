//! Races in shared memory: the simulated GPU detects them in any run, since it uses the
//! happens-before relation, and not the order of execution.

use croq_sys::half::f16;
use croq_sys::{Const, Device, Error, Result, Tensor};
use croq_tests::compare::assert_exact;
use croq_tests::kernels;
use croq_tests::orders::other_order;

/// The line of `races.co` where `kernel` has the text `part` first.
fn line_of(kernel: &str, part: &str) -> String {
    let text = include_str!("../../run/features/races.co");
    let mut lines = text.lines().zip(1..);
    lines.find(|(line, _)| line.contains(&format!(" {kernel}(")));
    let (_, line) = lines
        .find(|(line, _)| line.contains(part))
        .unwrap_or_else(|| panic!("`{kernel}` has no `{part}`"));
    format!("run/features/races.co:{line}")
}

/// A race in `buffer`, between the statements at two places of `kernel`.
#[track_caller]
fn races<T: std::fmt::Debug>(result: Result<T>, kernel: &str, buffer: &str, places: [&str; 2]) {
    let error = result.expect_err("is a race");
    assert!(matches!(error, Error::Hazard { .. }), "{error:?}");
    let error = error.to_string();
    let places = places.map(|part| line_of(kernel, part));
    let what = format!("`{buffer}`[");
    for part in ["race in ", &what, &places[0], &places[1]] {
        assert!(error.contains(part), "no `{part}` in\n{error}");
    }
}

fn numbers() -> Tensor<i32, (Const<64>,)> {
    Tensor::random((Const,), 0..16, 3)
}

fn rows() -> Tensor<f32, (Const<512>, Const<64>)> {
    Tensor::from_fn((Const, Const), |[i, j]| ((i * 7 + j * 3) % 32) as f32)
}

fn row_sum(src: &Tensor<f32, (Const<512>, Const<64>)>, row: usize) -> f32 {
    let rows = (0..8).map(|k| 64 * k + row);
    rows.map(|i| (0..64).map(|j| src[[i, j]]).sum::<f32>())
        .sum()
}

#[test]
fn between_threads_of_a_level() {
    if !Device::default().is_sim() {
        return;
    }
    let x = numbers();
    for away in [0, 64] {
        assert_exact(&kernels::race_neighbours(&x, away).unwrap(), |i| x[i]);
    }
    for away in [1, 33, 63] {
        let wrong = kernels::race_neighbours(&x, away);
        races(wrong, "race_neighbours", "s", ["s.at(t) = x", "s.at((t"]);
        let right = kernels::race_neighbours_wait(&x, away).unwrap();
        assert_exact(&right, |[i]| x[[(i + away as usize) % 64]]);
    }
}

#[test]
fn between_the_branches_of_a_condition() {
    if !Device::default().is_sim() {
        return;
    }
    let x = Tensor::from_fn((Const,), |[i]| i as i32);
    let right = kernels::race_between_branches(&x, 2).unwrap();
    assert_exact(&right, |[i]| i as i32 % 2);
    let wrong = kernels::race_between_branches(&x, 1);
    let places = ["s.at((t", "= s.at(t)"];
    races(wrong, "race_between_branches", "s", places);
}

#[test]
fn across_the_first_barrier_of_some_warps() {
    if !Device::default().is_sim() {
        return;
    }
    let x: Tensor<i32, (Const<96>,)> = Tensor::random((Const,), 0..16, 3);
    let right = kernels::race_before_a_named_barrier(&x, 1, 3).unwrap();
    assert_eq!((right[[0]], right[[33]], right[[50]]), (2, 3, x[[33]]));
    let kernel = "race_before_a_named_barrier";
    let written = kernels::race_before_a_named_barrier(&x, 0, 3);
    races(written, kernel, "s", ["s.at(t / 33) =", "s.at(written)"]);
    let read = kernels::race_before_a_named_barrier(&x, 1, 2);
    races(read, kernel, "s", ["s.at(2 + t / 33)", "s.at(read)"]);
}

#[test]
fn between_warps() {
    if !Device::default().is_sim() {
        return;
    }
    let x = numbers();
    for away in [0, 1, 31] {
        let y = kernels::race_warps(&x, away).unwrap();
        assert_exact(&y, |[i]| x[[i / 32 * 32 + (i + away as usize) % 32]]);
    }
    let wrong = kernels::race_warps(&x, 32);
    // In another order the other warp may have reached its second store.
    let store = match other_order() {
        true => "s.at((t",
        false => "s.at(t) = ",
    };
    races(wrong, "race_warps", "s", ["s.at((t", store]);
}

#[test]
fn between_counting_and_looking() {
    if !Device::default().is_sim() {
        return;
    }
    let x = numbers();
    let wrong = kernels::race_counts(&x);
    races(
        wrong,
        "race_counts",
        "bins",
        ["__atomic_add", "y.at(t) = bins"],
    );
    let right = kernels::race_counts_wait(&x).unwrap();
    assert_exact(&right, |[n]| {
        x.as_slice().iter().filter(|&&v| v == n as i32).count() as i32
    });
}

#[test]
fn not_where_all_write_the_same() {
    let x = numbers();
    assert_exact(&kernels::race_alike(&x).unwrap(), |[i]| x[[0]] + i as i32);
}

#[test]
fn between_a_slot_and_its_neighbour() {
    if !Device::default().is_sim() {
        return;
    }
    let src = rows();
    for aside in [0, 2] {
        let sums = kernels::race_slot(&src, aside).unwrap();
        assert_exact(&sums, |[i]| row_sum(&src, i));
    }
    let wrong = kernels::race_slot(&src, 1);
    races(wrong, "race_slot", "ring", ["dma.copy", "ring[(k + aside)"]);
}

#[test]
fn between_a_release_and_a_last_look() {
    if !Device::default().is_sim() {
        return;
    }
    let wrong = kernels::race_released(&rows());
    let last = "sum += ring[k % RING].at(t % 64, 63)";
    races(wrong, "race_released", "ring", ["tma.copy", last]);
}

#[test]
fn between_teams_of_which_one_is_silent() {
    if !Device::default().is_sim() {
        return;
    }
    let wrong = kernels::race_silent_team(&rows());
    let error = wrong.expect_err("is a race").to_string();
    let text = include_str!("../../run/features/races.co").lines().zip(1..);
    let look = |line: &&str| line.contains("foreach {j} in [64] { sum +=");
    // The third such line is that of the threads that do not trigger.
    let (_, silent) = text.filter(|(line, _)| look(line)).nth(2).unwrap();
    assert!(error.contains("race in "), "{error}");
    let silent = format!("run/features/races.co:{silent}");
    assert!(error.contains(&silent), "{error}");
}

#[test]
fn between_products_and_copies() {
    if !Device::default().is_sim() {
        return;
    }
    let a = Tensor::<f16, (Const<64>, Const<512>)>::from_fn((Const, Const), |[i, j]| {
        f16::from_f32(((i * 5 + j) % 7) as f32)
    });
    let mut out = Tensor::<f32, (Const<64>, Const<64>)>::zeros((Const, Const));
    kernels::race_products(&a, &a, &mut out, 0).unwrap();
    assert_exact(&out, |[i, j]| {
        let products = (0..512).map(|k| a[[i, k]].to_f32() * a[[j, k]].to_f32());
        products.sum::<f32>()
    });
    let error = kernels::race_products(&a, &a, &mut out, 1).expect_err("is a race");
    let error = error.to_string();
    // The product reads first, or the copy writes first.
    let product = line_of("race_products", "mma.row.row");
    for part in ["race in ", &product, &line_of("race_products", "dma.copy")] {
        assert!(error.contains(part), "no `{part}` in\n{error}");
    }
}
