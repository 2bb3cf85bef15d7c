//! Thread-instructions a second of one core, on a scalar matrix product.

use std::time::Instant;

use croq_ptx::machine::{Launch, Machine};

fn main() {
    let extent = 256_u64;
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/kernels/matmul_scalar.ptx");
    let text = std::fs::read_to_string(path).expect("the kernel is beside this file");
    let mut machine = Machine::load(&text).expect("the kernel is PTX");
    let bytes = (extent * extent * 4) as usize;
    let buffers = ["a", "b", "c"].map(|name| machine.allocate(name, bytes).to_le_bytes());
    let extents = [extent; 3].map(u64::to_le_bytes);
    let launch = Launch {
        grid: [(extent * extent / 256) as u32, 1, 1],
        block: [256, 1, 1],
        ..Launch::default()
    };
    let [a, b, c] = &buffers;
    let [m, k, n] = &extents;
    let start = Instant::now();
    let counts = machine.launch("matmul_scalar", &launch, &[&[0; 16], a, b, c, m, k, n]);
    let counts = counts.unwrap_or_else(|report| panic!("{report}"));
    let seconds = start.elapsed().as_secs_f64();
    let millions = counts.thread_instructions as f64 / 1e6;
    println!(
        "{millions:.0} million thread-instructions in {seconds:.2} s: {:.0} million/s",
        millions / seconds
    );
}
