//! The speed of kernels on the simulated GPU, on one core: `cargo bench -p croq-kernels`, or
//! `cargo bench -p croq-kernels -- softmax` for those whose name contains a word.

use croq_kernels as kernels;
use croq_sys::{Result, Tensor};
use half::f16;

/// Processor time of this thread: on a busy machine, wall-clock time is meaningless.
fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds: Option<f64> = text.split(' ').next().and_then(|n| n.parse().ok());
    nanoseconds.expect("Linux counts a thread's time") * 1e-9
}

/// Prints the time of the fastest run. The system's clock is coarse, so each run consists of many
/// calls.
fn bench<T>(name: &str, work: impl Fn() -> Result<T>) {
    let mut chosen = std::env::args()
        .skip(1)
        .filter(|a| !a.starts_with('-'))
        .peekable();
    if chosen.peek().is_some() && !chosen.any(|word| name.contains(&word)) {
        return;
    }
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let (start, mut calls) = (processor_seconds(), 0);
        while processor_seconds() - start < 0.2 {
            if let Err(e) = work() {
                println!("{name:<24} {e}");
                return;
            }
            calls += 1;
        }
        best = best.min((processor_seconds() - start) / f64::from(calls));
    }
    println!("{name:<24} {:8.2} ms", best * 1e3);
}

fn all() {
    let n = 512;
    let single = |seed| Tensor::<f32, _>::random((n, n), -1.0..1.0, seed);
    let half = |seed| Tensor::<f16, _>::random((n, n), -1.0..1.0, seed);
    let small = |seed| Tensor::<i8, _>::random((n, n), -9..9, seed);
    let (a, b) = (single(1), single(2));
    println!("products, 512^3");
    bench("  matmul_scalar", || kernels::matmul_scalar(&a, &b));
    bench("  matmul_f32", || kernels::matmul_f32(&a, &b));
    let (p, q) = (half(3), half(4));
    bench("  matmul_pipelined", || kernels::matmul_pipelined(&p, &q));
    let (s, t) = (small(5), small(6));
    bench("  matmul_s8", || kernels::matmul_s8(&s, &t));
    println!("512 by 512");
    bench("  transpose", || kernels::transpose(&a));
    bench("  softmax", || kernels::softmax(&a));
    bench("  row_reduce", || kernels::row_reduce::<false, _, _, _>(&a));
    bench("  heat_step", || kernels::heat_step(&a, 0.1));
    bench("  column_sum_streamed", || kernels::column_sum_streamed(&a));
}

fn main() {
    croq_sys::sim::limit_threads(1);
    all();
}
