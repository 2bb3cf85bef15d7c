//! Thread-instructions a second of one core, on a scalar matrix product, with and without checks.

use std::time::{Duration, Instant};

use croq_ptx::machine::{Checks, Launch, Machine};

fn main() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/kernels/matmul_scalar.ptx");
    let text = std::fs::read_to_string(path).expect("the kernel is beside this file");
    for (what, races, unwritten) in [
        ("no checks", false, false),
        ("races", true, false),
        ("unwritten bytes", false, true),
        ("all checks", true, true),
    ] {
        measure(&text, what, Checks { races, unwritten });
    }
}

fn measure(text: &str, what: &str, checks: Checks) {
    let extent = 256_u64;
    let mut machine = Machine::load(text).expect("the kernel is PTX");
    let bytes = (extent * extent * 4) as usize;
    let buffers = ["a", "b", "c"].map(|name| machine.allocate(name, bytes).to_le_bytes());
    let extents = [extent; 3].map(u64::to_le_bytes);
    let launch = Launch {
        grid: [(extent * extent / 256) as u32, 1, 1],
        block: [256, 1, 1],
        checks,
        ..Launch::default()
    };
    let [a, b, c] = &buffers;
    let [m, k, n] = &extents;
    let start = (Instant::now(), processor_time());
    let counts = machine.launch("matmul_scalar", &launch, &[&[0; 16], a, b, c, m, k, n]);
    let counts = counts.unwrap_or_else(|report| panic!("{report}"));
    let seconds = match (processor_time(), start.1) {
        (Some(now), Some(then)) => (now - then).as_secs_f64(),
        _ => start.0.elapsed().as_secs_f64(),
    };
    let millions = counts.thread_instructions as f64 / 1e6;
    println!(
        "{what}: {millions:.0} million thread-instructions in {seconds:.2} s: {:.0} million/s",
        millions / seconds
    );
}

/// Of this thread, which other programs on the machine do not change.
fn processor_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ')
        .next()?
        .parse()
        .ok()
        .map(Duration::from_nanos)
}
