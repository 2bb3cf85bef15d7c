//! The speed of the simulated GPU on one core: `cargo bench -p croq-conformance`.

use croq_conformance::call;
use croq_sys::abi::croq_env;

unsafe extern "C" {
    fn conf_speed_threads(env: *const croq_env, data: *mut i32, blocks: i64) -> u32;
    fn conf_speed_crossings(env: *const croq_env, blocks: i64, threads: i64, rounds: i64) -> u32;
    fn conf_speed_matmul(
        env: *const croq_env,
        which: i32,
        lhs: *const f32,
        rhs: *const f32,
        dst: *mut f32,
        n: i64,
    ) -> u32;
}

/// Processor seconds of this thread: on a busy machine, wall-clock time is meaningless.
fn processor_seconds() -> f64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` outlives the call.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Seconds of the fastest run.
fn fastest(mut work: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..7 {
        let start = processor_seconds();
        work();
        best = best.min(processor_seconds() - start);
    }
    best
}

fn bench() {
    let blocks = 40_000;
    let mut data = vec![0i32; blocks * 256];
    let seconds = fastest(|| {
        // SAFETY: `data` has 256 elements per block.
        call(|env| unsafe { conf_speed_threads(env, data.as_mut_ptr(), blocks as i64) })
            .expect("runs");
    });
    println!(
        "barrier-free threads   {:8.1} M/s",
        (blocks * 256) as f64 / seconds / 1e6
    );

    for (blocks, threads, rounds) in [
        (8, 1024, 200),
        (16, 256, 400),
        (64, 32, 800),
        (4096, 256, 1),
    ] {
        let seconds = fastest(|| {
            // SAFETY: the kernel touches no memory.
            call(|env| unsafe { conf_speed_crossings(env, blocks, threads, rounds) })
                .expect("runs");
        });
        println!(
            "barrier crossings      {:8.1} M/s   ({blocks} blocks of {threads}, {rounds} rounds)",
            (blocks * threads * rounds) as f64 / seconds / 1e6
        );
    }

    let n = 512usize;
    let lhs: Vec<f32> = (0..n * n).map(|i| (i % 7) as f32 - 3.0).collect();
    let rhs: Vec<f32> = (0..n * n).map(|i| (i % 5) as f32 - 2.0).collect();
    for (which, name) in [(0, "register"), (1, "memory"), (2, "tiled")] {
        let mut dst = vec![0f32; n * n];
        let seconds = fastest(|| {
            dst.fill(0.0);
            // SAFETY: three matrices of n by n.
            call(|env| unsafe {
                conf_speed_matmul(
                    env,
                    which,
                    lhs.as_ptr(),
                    rhs.as_ptr(),
                    dst.as_mut_ptr(),
                    n as i64,
                )
            })
            .expect("runs");
        });
        let expected: f32 = (0..n).map(|k| lhs[37 * n + k] * rhs[k * n + 50]).sum();
        assert_eq!(dst[37 * n + 50], expected);
        println!(
            "512^3 f32 matmul       {:8.1} ms    ({name})",
            seconds * 1e3
        );
    }

    let seconds = fastest(|| {
        for _ in 0..1000 {
            // SAFETY: one block of data.
            call(|env| unsafe { conf_speed_threads(env, data.as_mut_ptr(), 1) }).expect("runs");
        }
    });
    println!("small launches         {:8.1} ns each", seconds * 1e6);
}

fn main() {
    croq_sys::sim::limit_threads(1);
    bench();
}
