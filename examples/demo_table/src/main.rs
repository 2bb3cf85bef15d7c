//! Runs every kernel of `kernels/`, compares it with plain Rust, and prints a table.

croq_sys::include_kernels!();

use std::process::ExitCode;
use std::time::{Duration, Instant};

use croq_sys::half::f16;
use croq_sys::{Const, Device, Result, Tensor};

/// One line of the table.
struct Line {
    kernel: &'static str,
    size: String,
    /// The largest distance from the reference, and how large it may be.
    error: f64,
    tolerance: f64,
    time: Duration,
}

fn main() -> Result<ExitCode> {
    println!("croq on {}\n", Device::default().name());
    println!(
        "{:<14} {:<22} {:>10} {:>10} {:>11}  result",
        "kernel", "size", "max error", "allowed", "time"
    );
    let lines = [
        saxpy()?,
        swish()?,
        product()?,
        product_exact()?,
        turned()?,
        softmax()?,
        row_totals()?,
        mean3x3()?,
    ];
    let mut failed = 0;
    for line in &lines {
        let passed = line.error <= line.tolerance;
        failed += usize::from(!passed);
        println!(
            "{:<14} {:<22} {:>10} {:>10} {:>8.2} ms  {}",
            line.kernel,
            line.size,
            short(line.error),
            short(line.tolerance),
            line.time.as_secs_f64() * 1e3,
            if passed { "PASS" } else { "FAIL" }
        );
    }
    println!("\n{} passed, {failed} failed", lines.len() - failed);
    Ok(if failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn short(value: f64) -> String {
    if value == 0.0 {
        "0".to_owned()
    } else {
        format!("{value:.1e}")
    }
}

fn timed<T>(call: impl FnOnce() -> Result<T>) -> Result<(T, Duration)> {
    let start = Instant::now();
    let result = call()?;
    Ok((result, start.elapsed()))
}

/// The largest difference between what was found and what was expected; a NaN counts as infinite.
fn worst(found: impl Iterator<Item = f64>, expected: impl Iterator<Item = f64>) -> f64 {
    found
        .zip(expected)
        .map(|(f, e)| (f - e).abs())
        .fold(
            0.0,
            |w, d| if d.is_nan() { f64::INFINITY } else { w.max(d) },
        )
}

/// Relative error of one rounding of an f32, and of an f16.
const F32: f64 = 1.0 / (1u32 << 24) as f64;
const F16: f64 = 1.0 / (1u32 << 11) as f64;

fn saxpy() -> Result<Line> {
    let n = 100_003;
    let x = Tensor::<f32, _>::random((n,), -1.0..1.0, 1);
    let y = Tensor::<f32, _>::random((n,), -1.0..1.0, 2);
    let (out, time) = timed(|| kernels::saxpy(0.5, &x, &y))?;
    let expected = (0..n).map(|i| 0.5 * f64::from(x[[i]]) + f64::from(y[[i]]));
    Ok(Line {
        kernel: "saxpy",
        size: format!("[{n}]"),
        error: worst(out.as_slice().iter().map(|&v| v.into()), expected),
        tolerance: 2.0 * F32,
        time,
    })
}

fn swish() -> Result<Line> {
    let (m, n) = (61, 200);
    let x = Tensor::<f16, _>::random((m, n), -4.0..4.0, 3);
    let (y, time) = timed(|| kernels::swish(&x))?;
    let expected = x
        .as_slice()
        .iter()
        .map(|v| v.to_f64() / (1.0 + (-v.to_f64()).exp()));
    Ok(Line {
        kernel: "swish",
        size: format!("f16 [{m}, {n}]"),
        error: worst(y.as_slice().iter().map(|v| v.to_f64()), expected),
        tolerance: 4.0 * F16 * 1.01,
        time,
    })
}

fn product() -> Result<Line> {
    let (m, k, n) = (75, 100, 90);
    let lhs = Tensor::<f32, _>::random((m, k), -1.0..1.0, 4);
    let rhs = Tensor::<f32, _>::random((k, n), -1.0..1.0, 5);
    let (out, time) = timed(|| kernels::product(&lhs, &rhs))?;
    let expected = (0..m * n).map(|at| {
        (0..k)
            .map(|k| f64::from(lhs[[at / n, k]]) * f64::from(rhs[[k, at % n]]))
            .sum()
    });
    Ok(Line {
        kernel: "product",
        size: format!("[{m}, {k}] [{k}, {n}]"),
        error: worst(out.as_slice().iter().map(|&v| v.into()), expected),
        // At most two roundings per term, on partial sums no larger than the number of terms.
        tolerance: 2.0 * F32 * (k * k) as f64 / 2.0,
        time,
    })
}

fn product_exact() -> Result<Line> {
    let lhs = Tensor::<i32, _>::random((Const::<128>, Const::<256>), -99..100, 6);
    let rhs = Tensor::<i32, _>::random((Const::<256>, Const::<128>), -99..100, 7);
    let (out, time) = timed(|| kernels::product_exact(&lhs, &rhs))?;
    let expected = (0..128 * 128).map(|at| {
        (0..256)
            .map(|k| lhs[[at / 128, k]] * rhs[[k, at % 128]])
            .sum::<i32>()
            .into()
    });
    Ok(Line {
        kernel: "product_exact",
        size: "s32 [128, 256] [256, 128]".to_owned(),
        error: worst(out.as_slice().iter().map(|&v| v.into()), expected),
        tolerance: 0.0,
        time,
    })
}

fn turned() -> Result<Line> {
    let (m, n) = (150, 333);
    let src = Tensor::<u8, _>::random((m, n), 0..255, 8);
    let (dst, time) = timed(|| kernels::turned(&src))?;
    let expected = (0..m * n).map(|at| src[[at % m, at / m]].into());
    Ok(Line {
        kernel: "turned",
        size: format!("u8 [{m}, {n}]"),
        error: worst(dst.as_slice().iter().map(|&v| v.into()), expected),
        tolerance: 0.0,
        time,
    })
}

fn softmax() -> Result<Line> {
    let (m, n) = (40, 500);
    let x = Tensor::<f32, _>::random((m, n), -6.0..6.0, 9);
    let (y, time) = timed(|| kernels::softmax(&x))?;
    let expected = (0..m).flat_map(|i| {
        let row: Vec<f64> = (0..n).map(|j| x[[i, j]].into()).collect();
        let weight: f64 = row.iter().map(|v| v.exp()).sum();
        row.into_iter().map(move |v| v.exp() / weight)
    });
    Ok(Line {
        kernel: "softmax",
        size: format!("[{m}, {n}]"),
        error: worst(y.as_slice().iter().map(|&v| v.into()), expected),
        // No result is above one; its relative error grows with the length of the sum.
        tolerance: F32 * n as f64 / 10.0,
        time,
    })
}

fn row_totals() -> Result<Line> {
    let (m, n) = (50, 777);
    let x = Tensor::<i32, _>::random((m, n), -1_000_000..1_000_000, 10);
    let (total, time) = timed(|| kernels::row_totals(&x))?;
    let expected = (0..m).map(|i| (0..n).map(|j| f64::from(x[[i, j]])).sum());
    Ok(Line {
        kernel: "row_totals",
        size: format!("s32 [{m}, {n}]"),
        error: worst(total.as_slice().iter().map(|&v| v as f64), expected),
        tolerance: 0.0,
        time,
    })
}

fn mean3x3() -> Result<Line> {
    let (h, w) = (90, 130);
    let x = Tensor::<f64, _>::random((h, w), -1.0..1.0, 11);
    let (y, time) = timed(|| kernels::mean3x3(&x))?;
    let expected = (0..(h - 2) * (w - 2)).map(|at| {
        let (i, j) = (at / (w - 2), at % (w - 2));
        (0..9).map(|k| x[[i + k / 3, j + k % 3]]).sum::<f64>() / 9.0
    });
    Ok(Line {
        kernel: "mean3x3",
        size: format!("f64 [{h}, {w}]"),
        error: worst(y.as_slice().iter().copied(), expected),
        tolerance: 1e-15,
        time,
    })
}
