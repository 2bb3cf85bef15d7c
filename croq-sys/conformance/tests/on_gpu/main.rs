//! The kernels of `cpp/` on a GPU and on the simulated one, with the same inputs: the results must
//! be equal, bit for bit except for functions of the math library.
//!
//! Each case runs twice: against the simulated GPU itself, which tests the case on every machine,
//! and against a GPU, if there is one, in a process of its own, because a kernel that fails ends the CUDA
//! context. Without a GPU the case counts as ignored; `--require-gpu`
//! makes that a failure, `--probe` only prints which GPU there is, `--list` the names of the cases, and
//! `--child NAME` runs one of them on the GPU only.

mod cases;
mod compare;
mod elements;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, ExitCode};
use std::time::Instant;

use cases::{Case, Machine};
use croq_conformance::{gpu::Gpu, twins::Outcome};

impl Machine for Gpu {
    fn name(&self) -> String {
        Gpu::name(self).to_owned()
    }

    fn run(&self, text: &str, memory: &[Vec<u8>], numbers: &[i64]) -> Outcome {
        Gpu::run(self, text, memory, numbers).unwrap_or_else(|reason| panic!("{text}: {reason}"))
    }
}

fn gpu() -> Result<Box<dyn Machine>, String> {
    Ok(Box::new(Gpu::open()?))
}

#[derive(Default)]
struct Tally {
    passed: usize,
    failed: usize,
    ignored: usize,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let filter = arguments.iter().find(|argument| !argument.starts_with('-'));
    let all = cases::all();
    if has("--list") {
        all.iter().for_each(|case| println!("{}: test", case.name));
        return ExitCode::SUCCESS;
    }
    let start = Instant::now();
    let gpu = gpu();
    if has("--probe") {
        return match gpu {
            Ok(gpu) => {
                println!("{}", gpu.name());
                ExitCode::SUCCESS
            }
            Err(reason) => {
                println!("no GPU: {reason}");
                ExitCode::FAILURE
            }
        };
    }
    let is_child = has("--child");
    let chosen: Vec<&Case> = all
        .iter()
        .filter(|case| match filter {
            Some(name) if is_child => case.name == name,
            Some(part) => case.name.contains(part.as_str()),
            None => true,
        })
        .collect();
    if is_child {
        let (Ok(gpu), [case]) = (gpu, chosen.as_slice()) else {
            return ExitCode::FAILURE;
        };
        return match attempt(case, &*gpu) {
            true => ExitCode::SUCCESS,
            false => ExitCode::FAILURE,
        };
    }

    let mut tally = Tally::default();
    let mut verdict = |name: &str, machine: &str, passed: Option<bool>| {
        let word = match passed {
            Some(true) => "ok",
            Some(false) => "FAILED",
            None => "ignored, no GPU",
        };
        println!("test {name} on {machine} ... {word}");
        match passed {
            Some(true) => tally.passed += 1,
            Some(false) => tally.failed += 1,
            None => tally.ignored += 1,
        }
    };
    for case in &chosen {
        verdict(case.name, "sim", Some(attempt(case, &cases::Sim)));
    }
    for case in &chosen {
        let passed = match &gpu {
            Ok(_) => Some(in_a_child(case)),
            Err(_) => None,
        };
        verdict(case.name, "gpu", passed);
    }
    match &gpu {
        Ok(gpu) => println!("on {}", gpu.name()),
        Err(reason) => {
            println!("skipped: {} cases need a GPU ({reason})", tally.ignored);
            if has("--require-gpu") {
                tally.failed += tally.ignored;
                tally.ignored = 0;
            }
        }
    }
    println!(
        "test result: {}. {} passed; {} failed; {} ignored; 0 measured; {} filtered out; finished in {:.2}s",
        if tally.failed == 0 { "ok" } else { "FAILED" },
        tally.passed,
        tally.failed,
        tally.ignored,
        2 * (all.len() - chosen.len()),
        start.elapsed().as_secs_f64()
    );
    ExitCode::from(u8::from(tally.failed > 0))
}

/// A failed comparison panics, and the panic's message has been printed.
fn attempt(case: &Case, machine: &dyn Machine) -> bool {
    catch_unwind(AssertUnwindSafe(|| (case.run)(machine))).is_ok()
}

fn in_a_child(case: &Case) -> bool {
    let Ok(program) = std::env::current_exe() else {
        return false;
    };
    let status = Command::new(program).args(["--child", case.name]).status();
    status.is_ok_and(|status| status.success())
}
