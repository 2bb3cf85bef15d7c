//! A package that is built with the test toolkit in place of CUDA's, and runs on the PTX machine with
//! `CROQ_DEVICE=cuda`. Skipped where there is no nvcc.

use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::OnceLock;

use croq_downstream::{Package, workspace};

const KERNELS: &str = include_str!("ptx_machine/kernels.co");
const MAIN: &str = include_str!("ptx_machine/main.rs");

/// The folder that looks like a CUDA toolkit.
pub fn toolkit() -> Option<&'static str> {
    static FOLDER: OnceLock<Option<String>> = OnceLock::new();
    let make = || {
        let nvcc = std::env::var_os("NVCC").map(PathBuf::from);
        let home = std::env::var_os("CUDA_HOME").map(|home| PathBuf::from(home).join("bin/nvcc"));
        let nvcc = nvcc.or(home).filter(|nvcc| nvcc.is_file());
        let required = std::env::var_os("CROQ_TEST_NVCC").is_some_and(|value| value == "required");
        assert!(nvcc.is_some() || !required, "there is no nvcc");
        let script = workspace().join("scripts/ptx_toolkit.sh");
        let output = Command::new(script).env("NVCC", nvcc?).output();
        let Output {
            status,
            stdout,
            stderr,
        } = output.expect("the script runs");
        assert!(status.success(), "{}", String::from_utf8_lossy(&stderr));
        Some(String::from_utf8_lossy(&stdout).trim().to_owned())
    };
    FOLDER.get_or_init(make).as_deref()
}

#[test]
fn a_program_for_cuda_runs_on_the_ptx_machine() {
    let Some(toolkit) = toolkit() else { return };
    let package = Package::new("on-ptx-machine");
    package.write("kernels/kernels.co", KERNELS);
    package.write("src/main.rs", MAIN);
    let run = |what: &str, more: (&str, &str)| {
        let variables = [
            ("CUDA_HOME", toolkit),
            ("CROQ_CUDA", "required"),
            ("CROQ_DEVICE", "cuda"),
            // `make test` disables it.
            ("CROQ_PTX_RUNTIME", ""),
            more,
        ];
        package.cargo(&["run", "--quiet", "--", what], &variables)
    };
    let none = ("CROQ_PTX_DELAY", "0");
    for (what, more) in [
        ("results", none),
        // Another library's failing call leaves a last error, which is not that of a launch.
        ("last error", none),
        // Two threads launch one kernel with different sizes of shared memory, alternately.
        ("two threads", ("CROQ_PTX_DELAY", "100")),
        // Maps that are kept are those of their tensors.
        ("maps", none),
        // Graphs are launched again and again, with other work between.
        ("graphs", none),
    ] {
        let seen = run(what, more);
        assert!(seen.success, "{what}: {}{}", seen.stdout, seen.stderr);
        assert_eq!(seen.stdout, "cuda:0\ndone\n", "{what}: {}", seen.stderr);
    }
    // What CUDA has answered once is not asked for again.
    let file = package.path("calls.txt");
    let calls = |what: &str| {
        let seen = run(what, ("CROQ_PTX_CALLS", &file.to_string_lossy()));
        assert!(seen.success, "{what}: {}{}", seen.stdout, seen.stderr);
        std::fs::read_to_string(&file).expect("the numbers of calls")
    };
    let has = |calls: &str, line: &str| {
        let mut lines = calls.lines();
        assert!(lines.any(|l| l == line), "no `{line}` in\n{calls}");
    };
    let repeated = calls("calls");
    for line in [
        "launch 40",
        // Three kernels: one with TMA, one with more shared memory than is usual, one with large clusters.
        "cudaFuncGetAttributes 3",
        "cudaFuncSetAttribute 2",
        "cudaMemPoolSetAttribute 1",
        // Two tensors for each of two shapes.
        "cuTensorMapEncodeTiled 4",
    ] {
        has(&repeated, line);
    }
    // A result that a launch writes whole is not cleared, also if an inner call returns it.
    let whole = calls("whole");
    has(&whole, "launch 8");
    assert!(!whole.contains("cudaMemset"), "{whole}");
    let cleared = calls("cleared");
    has(&cleared, "launch 12");
    has(&cleared, "cudaMemset 4");
    // Whatever comes first after a failure names it, with its line.
    let line = KERNELS
        .lines()
        .position(|line| line.contains("x.at(p) + shift"));
    let place = format!("kernels/kernels.co:{}", line.expect("a line") + 1);
    for what in [
        "allocation",
        "upload",
        "download",
        "stream",
        "call",
        "enqueue",
        "wait",
    ] {
        let seen = run(what, none);
        assert!(seen.success, "{what}: {}{}", seen.stdout, seen.stderr);
        assert!(seen.stdout.contains(&place), "{what}: {}", seen.stdout);
        // The machine's own report has it, too.
        let report = "PTX machine: the thread traps";
        assert!(seen.stderr.contains(report), "{what}: {}", seen.stderr);
        assert!(seen.stderr.contains(&place), "{what}: {}", seen.stderr);
    }
}
