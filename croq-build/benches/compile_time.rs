//! How long compiling takes: source to emitted text for each kernel file, its growth with the size
//! of the input, and nvcc on each emitted text against an empty kernel without any header.
//! Prints figures; asserts nothing about a clock.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use croq_build::pipeline::{Compiled, FileNames, Options, compile_text};
use croq_build::toolchain::special_functions;

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    collect(&root.join("kernels"), &mut files);
    files.sort();

    println!("source to emitted text, best of 20, for each file of kernels/ (bar: 10 ms)");
    let mut slowest = Duration::ZERO;
    for file in &files {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let (best, _) = time(&text, 20);
        slowest = slowest.max(best);
        let shown = file
            .strip_prefix(&root)
            .unwrap_or(file)
            .display()
            .to_string();
        println!(
            "  {shown:<44} {:>4} lines {:>8.3} ms",
            text.lines().count(),
            ms(best)
        );
    }
    println!("  slowest {:.3} ms", ms(slowest));

    check(&root);

    println!("growth: the same function many times over (linear: the last column stays level)");
    for copies in [25usize, 100, 400, 1600, 2600] {
        let text: String = (0..copies).map(function).collect();
        let (best, compiled) = time(&text, 2);
        let kilobytes = text.len() as f64 / 1024.0;
        println!(
            "  {kilobytes:>7.0} KB {:>9.1} ms {:>8.3} ms/KB  ({} errors)",
            ms(best),
            ms(best) / kilobytes,
            compiled.diagnostics.len()
        );
    }
    nvcc(&root, &files);
}

fn ms(d: Duration) -> f64 {
    d.as_secs_f64() * 1e3
}

fn collect(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, out);
        } else if path.extension().is_some_and(|e| e == "co") {
            out.push(path);
        }
    }
}

/// The longest of the programs that `make test` runs.
fn check(root: &Path) {
    let mut files = Vec::new();
    collect(&root.join("tests/run"), &mut files);
    let lines = |file: &PathBuf| {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        (text.lines().count(), text)
    };
    let mut texts: Vec<_> = files.iter().map(|file| (lines(file), file)).collect();
    texts.sort_by(|a, b| b.cmp(a));
    println!("diagnostics alone, as in `croq check`, best of 20 (bar: 10 ms for 500 lines)");
    for ((lines, text), file) in texts.iter().take(8) {
        let options = Options {
            texts: false,
            ..Options::default()
        };
        let (best, _) = time_with(text, &options, 20);
        let shown = file
            .strip_prefix(root)
            .unwrap_or(file)
            .display()
            .to_string();
        println!("  {shown:<44} {lines:>4} lines {:>8.3} ms", ms(best));
    }
}

fn compile(text: &str, options: &Options) -> Compiled {
    let names = FileNames {
        path: "bench.co".into(),
        stem: "bench".into(),
        hash: "00000000".into(),
    };
    compile_text(&names, text, options)
}

/// The time until all texts are generated.
fn time(text: &str, times: u32) -> (Duration, Compiled) {
    let options = Options {
        cuda: true,
        ..Options::default()
    };
    time_with(text, &options, times)
}

fn time_with(text: &str, options: &Options, times: u32) -> (Duration, Compiled) {
    let mut result = compile(text, options);
    let mut best = Duration::MAX;
    for _ in 0..times {
        let start = Instant::now();
        result = compile(text, options);
        best = best.min(start.elapsed());
    }
    (best, result)
}

fn function(i: usize) -> String {
    format!(
        "__co__ f32 [M, N] scale_{i}(f32 [M, N] src, f32 gain) {{
  f32 [M, N] dst;
  parallel r by cdiv(M, 8) : block {{
    shared f32 [8, 64] strip;
    foreach c in cdiv(N, 64) {{
      dma.copy src.subspan(8, 64).at(r, c) => strip;
      parallel {{j, i}} by [64, 8] : thread {{
        if (r # i < M && c # j < N) dst.at(r # i, c # j) = strip.at(i, j) * gain;
      }}
    }}
  }}
  return dst;
}}
"
    )
}

/// Processor time of all processes that were started and are done: on a busy machine the clock on the
/// wall says nothing.
fn children_time() -> Duration {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // Fields 16 and 17, in hundredths of seconds; the second is a name in parentheses.
    let fields = text.rsplit(')').next().unwrap_or_default();
    let ticks = fields.split_whitespace().skip(13).take(2);
    let ticks: u64 = ticks.filter_map(|t| t.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 10)
}

/// nvcc's processor time on each text, against an empty kernel without any header, with the flags of a
/// release build.
fn nvcc(root: &Path, files: &[PathBuf]) {
    let nvcc =
        std::env::var_os("NVCC").map_or_else(|| root.join(".croq/cuda/bin/nvcc"), PathBuf::from);
    if !nvcc.exists() {
        println!("no nvcc: its part is left out");
        return;
    }
    let folder = std::env::temp_dir().join(format!("croq-bench-{}", std::process::id()));
    if std::fs::create_dir_all(&folder).is_err() {
        return;
    }
    let run = |name: &str, flag: Option<&str>| {
        let mut best = Duration::MAX;
        for _ in 0..2 {
            let start = children_time();
            let done = Command::new(&nvcc)
                .args([
                    "-x",
                    "cu",
                    "-c",
                    "-O1",
                    "-std=c++17",
                    "-lineinfo",
                    "-DCROQ_CUDA=1",
                    "-gencode=arch=compute_90a,code=sm_90a",
                ])
                .args(flag)
                .arg("-I")
                .arg(root.join("croq-build/device"))
                .arg("-I")
                .arg(&folder)
                .arg("-o")
                .arg(folder.join("out.o"))
                .arg(folder.join(name))
                .output();
            if !done.is_ok_and(|o| o.status.success()) {
                println!("  nvcc failed on {name}");
                return Duration::MAX;
            }
            best = best.min(children_time().saturating_sub(start));
        }
        best
    };
    if std::fs::write(folder.join("empty.cu"), "__global__ void empty() {}\n").is_err() {
        return;
    }
    println!(
        "nvcc for sm_90a, processor time, best of 2 (bar: 1.5 times an empty kernel, timed beside it)"
    );
    for file in files {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let Some(outputs) = time(&text, 0).1.outputs else {
            continue;
        };
        let _ = std::fs::write(folder.join("bench.h"), outputs.header);
        let may_be_used = special_functions::may_be_used(&outputs.device, "bench.h");
        let flag = (!may_be_used).then_some(special_functions::WITHOUT);
        let kernels = outputs.device.matches("\nCROQ_KERNEL").count();
        let _ = std::fs::write(folder.join("kernel.cu"), outputs.device);
        let (base, took) = (run("empty.cu", None), run("kernel.cu", flag));
        let shown = file
            .strip_prefix(root)
            .unwrap_or(file)
            .display()
            .to_string();
        println!(
            "  {shown:<44} {kernels:>3} kernels  {:>7.0} ms  {:>7.0} ms  {:.2}x",
            ms(base),
            ms(took),
            took.as_secs_f64() / base.as_secs_f64()
        );
    }
    let _ = std::fs::remove_dir_all(folder);
}
