//! Kernels on a GPU, timed: medians of many calls over buffers that take turns, so that none finds
//! its data in a cache. Each is stated as a ratio to a copy from device to device by CUDA itself, or as
//! arithmetic per second, and its result is compared with plain Rust first.
//!
//! `--json FILE` leaves the figures there. `--against FILE` states products as ratios to what
//! another program took (`compare.py`, which asks PyTorch). `--small`: sizes and rounds as for a machine
//! that interprets kernels, which says whether everything runs, and nothing about speed. Without a
//! GPU it says so and fails.

mod attention;
mod memory;
mod numbers;
mod others;
mod products;
mod shapes;
mod timing;

use std::fs;
use std::process::ExitCode;

use croq_conformance::gpu::Gpu;
use croq_sys::Device;
use others::Others;
use timing::{Effort, Figure, PLACES, median};

croq_sys::include_kernels!();

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("{reason}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let file = |flag: &str| {
        let pair = arguments.windows(2).find(|pair| pair[0] == flag);
        pair.map(|pair| pair[1].clone())
    };
    let others = match file("--against") {
        Some(path) => {
            let text = fs::read_to_string(&path).map_err(|e| format!("{path}: {e}"))?;
            Others::read(&text)?
        }
        None => Others::default(),
    };
    let gpu = Gpu::open().map_err(|reason| format!("no GPU: {reason}; nothing was measured"))?;
    let effort = match arguments.iter().any(|argument| argument == "--small") {
        true => Effort::Small,
        false => Effort::Full,
    };
    let figures = measure(&gpu, effort)?;
    let copied = figures.first().map_or(1.0, Figure::bandwidth);
    println!("on {}, medians", gpu.name());
    for figure in &figures {
        let against = others.seconds(&figure.name);
        println!(
            "{:<28} {:<22} {:>9.1} us {:>8.1} GB/s ({:>4.0}% of the copy) {:>9.1} GFLOP/s{}",
            figure.name,
            figure.kernel,
            figure.seconds * 1e6,
            figure.bandwidth() / 1e9,
            100.0 * figure.bandwidth() / copied,
            figure.operations / figure.seconds / 1e9,
            against.map_or(String::new(), |seconds| format!(
                " {:>5.1}% of the others' speed",
                100.0 * seconds / figure.seconds
            ))
        );
    }
    if let Some(path) = file("--json") {
        fs::write(&path, as_json(gpu.name(), &figures, &others))
            .map_err(|e| format!("{path}: {e}"))?;
    }
    Ok(())
}

fn as_json(gpu: &str, figures: &[Figure], others: &Others) -> String {
    let row = |figure: &Figure| {
        let against = others.seconds(&figure.name);
        format!(
            "{{\"name\":\"{}\",\"kernel\":\"{}\",\"seconds\":{:e},\"bytes_per_second\":{:e},\"operations_per_second\":{:e},\"others_seconds\":{}}}",
            figure.name,
            figure.kernel,
            figure.seconds,
            figure.bandwidth(),
            figure.operations / figure.seconds,
            against.map_or("null".to_owned(), |seconds| format!("{seconds:e}"))
        )
    };
    let rows: Vec<String> = figures.iter().map(row).collect();
    format!("{{\"gpu\":\"{gpu}\",\"figures\":[{}]}}\n", rows.join(","))
}

fn measure(gpu: &Gpu, effort: Effort) -> Result<Vec<Figure>, String> {
    let mebibytes = effort.choose(256, 1);
    let bytes = mebibytes << 20;
    let copy = gpu.copy_seconds(bytes, PLACES, effort.rounds())?;
    let mut figures = vec![Figure {
        name: format!("copy by CUDA, {mebibytes} MiB"),
        kernel: String::new(),
        seconds: median(copy),
        bytes: 2.0 * bytes as f64,
        operations: 0.0,
    }];
    let device = Device::cuda(0).map_err(|e| e.to_string())?;
    figures.extend(memory::measure(&device, effort).map_err(|e| e.to_string())?);
    let mut all = shapes::listed(include_str!("../shapes.txt"))?;
    if effort == Effort::Small {
        all = shapes::small(all);
    }
    for shape in all {
        let found = match (shape.kind.as_str(), &shape.sizes[..]) {
            ("gemm", &[m, n, k]) => products::measure(&device, effort, &shape.elem, [m, n, k]),
            ("attention" | "causal", &[_, _, _]) => attention::measure(&device, effort, &shape),
            _ => return Err(format!("shapes.txt: what is {shape:?}?")),
        };
        figures.extend(found.map_err(|e| e.to_string())?);
    }
    Ok(figures)
}
