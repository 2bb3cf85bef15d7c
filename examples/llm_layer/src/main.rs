//! Prints what each step of the layer took, and how far its results are from plain Rust.

use std::process::ExitCode;

use croq_sys::{Device, Result, Stream};
use llm_layer::layer::{Cache, Inputs, decode_on, prefill_on};
use llm_layer::reference::{Reference, Worst, compare, largest};
use llm_layer::trace::Trace;
use llm_layer::weights::Weights;
use llm_layer::{BEST, Sizes, WIDTH};

const PROMPT: usize = 33;

fn main() -> Result<ExitCode> {
    let device = Device::default();
    let stream = Stream::new(&device)?;
    let sizes = Sizes::SMALL;
    println!("croq on {}", device.name());
    println!("{sizes:?}, heads of {WIDTH}");
    if device.is_sim() {
        println!("The times are those of a simulation: they say nothing about a GPU.");
    }

    let host = Weights::random(sizes, 1);
    let weights = host.to_device(&device)?;
    let mut cache = Cache::new(sizes, &device)?;
    let (mut by_step, mut from_tokens) = (Reference::new(&host), Reference::new(&host));
    let mut report = |title: String, ids: &[i32], trace: &Trace| {
        println!("\n{title}");
        let one = by_step.forward(ids, Some(trace));
        let all = from_tokens.forward(ids, None);
        let judged = one.iter().zip(&all).map(|((name, one), (_, all))| {
            let found = trace.values(name);
            (compare(found, &one.data), compare(found, &all.data))
        });
        print(trace, &judged.collect::<Vec<_>>()) && choice_is_exact(trace)
    };

    let prompt: Vec<i32> = (0..PROMPT as i32).map(|i| i * 37 % 500).collect();
    let inputs = Inputs::new(&prompt, 0, &device)?;
    let mut trace = Trace::new(&device)?;
    let output = prefill_on(&stream, &weights, &inputs, &mut cache, &mut trace)?;
    let mut passed = report(format!("A prompt of {PROMPT} tokens"), &prompt, &trace);

    let next = output.tokens.to_host()?[[0, 0]];
    let inputs = Inputs::new(&[next], PROMPT, &device)?;
    let mut trace = Trace::new(&device)?;
    decode_on(&stream, &weights, &inputs, &mut cache, &mut trace)?;
    passed &= report(format!("The token after it, {next}"), &[next], &trace);

    Ok(match passed {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// The largest scores are those of the step before.
fn choice_is_exact(trace: &Trace) -> bool {
    let best = largest(trace.values("scores"), BEST);
    let tokens = trace.values("best tokens");
    let scores = trace.values("best scores");
    let found = scores.iter().zip(tokens).map(|(&s, &t)| (s, t as usize));
    let found: Vec<_> = found.collect();
    println!("The {BEST} largest scores and their tokens: {found:.3?}");
    best == found
}

/// A line for each step that has been judged, by itself and since the tokens.
fn print(trace: &Trace, judged: &[(Worst, Worst)]) -> bool {
    println!(
        "{:<14} {:<12} {:>10}   {:>9} {:>8}   {:>9} {:>8}",
        "step", "result", "time", "error", "allowed", "in total", "allowed"
    );
    for (step, (one, all)) in trace.steps.iter().zip(judged) {
        println!(
            "{:<14} {:<12} {:>7.2} ms   {:>9.1e} {:>8}   {:>9.1e} {:>8}",
            step.name,
            format!("{:?}", step.shape),
            step.time.as_secs_f64() * 1e3,
            one.error,
            allowed(*one),
            all.error,
            allowed(*all),
        );
    }
    let total: f64 = trace.steps.iter().map(|step| step.time.as_secs_f64()).sum();
    println!("{:<14} {:<12} {:>7.2} ms", "all steps", "", total * 1e3);
    judged
        .iter()
        .all(|(one, all)| one.share <= 1.0 && all.share <= 1.0)
}

/// The error as a part of its limit.
fn allowed(worst: Worst) -> String {
    format!("{:.0} %", 100.0 * worst.share)
}
