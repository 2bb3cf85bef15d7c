//! Runs wrong kernels that must be detected and right ones that must not be reported;
//! `tests/corpus.rs` runs this program, so that a kernel that hangs or crashes is a failure of its
//! own.
//!
//! `croq-safety NAME…` calls kernels of `co/` and prints for each `NAME: ok`, or the error on lines
//! that begin with `NAME: `. `croq-safety --list` prints the properties of each that are known
//! before it runs.

#![forbid(unsafe_code)]

croq_sys::include_kernels!();

mod expected;

use expected::expected;

use croq_sys::{Device, DeviceTensor, Result, Tensor};

type Numbers = DeviceTensor<f32, (usize, usize)>;
type Indices = DeviceTensor<i32, (usize,)>;

/// A kernel of `co/`; `build.rs` writes the list.
pub struct Case {
    name: &'static str,
    /// The contents of `idx`.
    indices: &'static str,
    number: i32,
    /// The lines of which one must be reported; empty for a right kernel.
    marked: &'static [usize],
    /// The codes and lines of the compiler's errors.
    errors: &'static [(&'static str, &'static [usize])],
    /// `None` if the compiler rejects it.
    runs: Option<fn(&mut Numbers, &mut Numbers, &mut Indices, i32) -> Result<()>>,
}

include!(concat!(env!("OUT_DIR"), "/cases.rs"));

const SIDE: usize = 64;

fn source(i: usize, j: usize) -> f32 {
    ((7 * i + 3 * j) % 32) as f32
}

fn index(kind: &str, i: usize) -> i32 {
    match kind {
        "identity" => i as i32,
        "reversed" => (SIDE - 1 - i) as i32,
        "alternating" => (i % 5) as i32,
        // Out of range for the fourth.
        "bad" => match i {
            3 => 5000,
            _ => i as i32,
        },
        _ => 0,
    }
}

/// The contents of `dst` after a kernel.
fn call(case: &Case) -> Result<Tensor<f32, (usize, usize)>> {
    let device = Device::sim();
    let mut src = Tensor::from_fn((SIDE, SIDE), |[i, j]| source(i, j)).to_device(&device)?;
    let mut dst = DeviceTensor::zeros((SIDE, SIDE), &device)?;
    let mut idx = Tensor::from_fn((SIDE,), |[i]| index(case.indices, i)).to_device(&device)?;
    if let Some(run) = case.runs {
        run(&mut src, &mut dst, &mut idx, case.number)?;
    }
    dst.to_host()
}

/// The position where the result of a right kernel differs from plain Rust.
fn difference(case: &Case, result: &Tensor<f32, (usize, usize)>) -> Option<String> {
    if !case.name.starts_with("right_") {
        return None;
    }
    let all = (0..SIDE).flat_map(|i| (0..SIDE).map(move |j| [i, j]));
    all.into_iter().find_map(|[i, j]| {
        let found = result[[i, j]];
        match expected(case.name, case.indices, i, j) {
            Some(value) if value == found => None,
            value => Some(format!("dst[{i}, {j}] is {found}, expected {value:?}")),
        }
    })
}

/// A hash of the result's bits.
fn digest(result: &Tensor<f32, (usize, usize)>) -> u64 {
    let bits = result.as_slice().iter().map(|v| u64::from(v.to_bits()));
    bits.fold(0xcbf2_9ce4_8422_2325, |h, v| {
        (h ^ v).wrapping_mul(0x0100_0000_01b3)
    })
}

fn main() {
    let names: Vec<String> = std::env::args().skip(1).collect();
    if names.iter().any(|name| name == "--list") {
        for case in CASES {
            let numbers = |of: &[usize]| of.iter().map(usize::to_string).collect::<Vec<_>>();
            let errors = case.errors.iter();
            let errors = errors.map(|(code, lines)| format!("{code}@{}", numbers(lines).join("+")));
            println!(
                "{} marked={} errors={}",
                case.name,
                numbers(case.marked).join(","),
                errors.collect::<Vec<_>>().join(",")
            );
        }
        return;
    }
    for case in CASES.iter().filter(|c| names.iter().any(|n| n == c.name)) {
        match call(case) {
            Ok(result) => match difference(case, &result) {
                Some(difference) => println!("{}: {difference}", case.name),
                // So that a caller can compare schedules.
                None if case.name.contains("_mutant_") => {
                    println!("{}: ok {:016x}", case.name, digest(&result));
                }
                None => println!("{}: ok", case.name),
            },
            Err(error) => {
                for line in error.to_string().lines() {
                    println!("{}: {line}", case.name);
                }
            }
        }
    }
}
