//! Programs in CUDA C++, compiled by the test toolkit's nvcc, on the PTX machine. They are skipped
//! where there is no nvcc.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// The shared library that cargo has built for this test.
fn library() -> PathBuf {
    let exe = std::env::current_exe().unwrap();
    let name = "libcroq_ptx_runtime.so";
    let folders = exe.ancestors().skip(1).take(2);
    let found = folders
        .map(|folder| folder.join(name))
        .find(|path| path.is_file());
    found.expect("the shared library beside the test")
}

fn nvcc() -> Option<PathBuf> {
    let home = std::env::var_os("CUDA_HOME").map(|home| Path::new(&home).join("bin/nvcc"));
    let given = std::env::var_os("NVCC").map(PathBuf::from);
    let found = given.or(home).filter(|path| path.is_file());
    let required = std::env::var_os("CROQ_TEST_NVCC").is_some_and(|value| value == "required");
    assert!(found.is_some() || !required, "there is no nvcc");
    found
}

/// The program with a device, which `make test` disables for other tests.
fn on_machine(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    command.env_remove("CROQ_PTX_RUNTIME");
    command
}

fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{command:?}\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

/// A toolkit that embeds PTX, if there is an nvcc for it.
fn toolkit() -> Option<&'static Path> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    FOLDER.get_or_init(|| toolkit_for("ptx")).as_deref()
}

/// `code`: `ptx`, or `both` for PTX and machine code.
fn toolkit_for(code: &str) -> Option<PathBuf> {
    let nvcc = nvcc()?;
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("toolkit-{code}"));
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("toolkit/make.sh");
    let mut command = Command::new(script);
    command.arg(&folder).arg(library()).arg(code);
    run(command.env("NVCC", nvcc));
    Some(folder)
}

/// The program with kernels, which several tests run.
fn kernels() -> Option<&'static Path> {
    static PROGRAM: OnceLock<Option<PathBuf>> = OnceLock::new();
    PROGRAM.get_or_init(|| compiled("kernels")).as_deref()
}

/// A program of the folder `programs`.
fn compiled(name: &str) -> Option<PathBuf> {
    built(toolkit()?, name)
}

fn built(toolkit: &Path, name: &str) -> Option<PathBuf> {
    built_for(toolkit, name, &["-arch=sm_90a"])
}

fn built_for(toolkit: &Path, name: &str, architectures: &[&str]) -> Option<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/programs/{name}.cu"));
    let folder = toolkit.join("programs");
    std::fs::create_dir_all(&folder).unwrap();
    let (object, program) = (folder.join(format!("{name}.o")), folder.join(name));
    let mut nvcc = Command::new(toolkit.join("bin/nvcc"));
    nvcc.args(["-std=c++17", "-lineinfo", "-c"])
        .args(architectures);
    // For a program with croq's own headers.
    let headers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../croq-build/device");
    nvcc.arg("-DCROQ_CUDA=1").arg("-I").arg(headers);
    run(nvcc.arg(source).arg("-o").arg(&object));
    let mut link = Command::new("c++");
    link.arg(&object)
        .arg(toolkit.join("lib64/libcudart_static.a"));
    run(link.arg("-pthread").arg("-o").arg(&program));
    Some(program)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What a program prints on the machine, to its two outputs; `None` without nvcc.
fn printed(program: &str) -> Option<(String, String)> {
    let output = on_machine(compiled(program)?).output().unwrap();
    Some((text(&output.stdout), text(&output.stderr)))
}

#[test]
fn kernels_give_right_results() {
    let Some(program) = kernels() else {
        return;
    };
    let output = on_machine(program).output().unwrap();
    let printed = "thread 0 of 7: 0.00\nthread 1 of 7: 0.25\n";
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(stdout, format!("{printed}0 failures\n"), "{stderr}");
    assert!(output.status.success() && stderr.is_empty(), "{stderr}");
}

#[test]
fn kept_tensor_maps_are_those_of_their_tensors() {
    let Some((stdout, stderr)) = printed("maps") else {
        return;
    };
    assert_eq!(stdout, "0 failures\n", "{stderr}");
}

#[test]
fn errors_are_those_of_cuda() {
    let Some((stdout, stderr)) = printed("errors") else {
        return;
    };
    assert_eq!(stdout, "0 failures\n", "{stderr}");
    // The report of the trap, with its line.
    let source = include_str!("programs/errors.cu");
    let line = source
        .lines()
        .position(|line| line.contains("__trap()"))
        .unwrap()
        + 1;
    assert!(stderr.contains("PTX machine: the thread traps"), "{stderr}");
    assert!(
        stderr.contains(&format!("programs/errors.cu:{line}")),
        "{stderr}"
    );
}

/// A change of the library needs no new link; without it there is no device.
#[test]
fn the_library_is_found_at_run_time() {
    let Some(program) = kernels() else {
        return;
    };
    let mut command = on_machine(program);
    let output = command
        .env("CROQ_PTX_RUNTIME", "/nowhere/lib.so")
        .output()
        .unwrap();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert!(
        stdout.contains("cudaGetDeviceCount(&devices) gives 35"),
        "{stdout}"
    );
    assert!(stderr.contains("PTX machine: no CUDA device"), "{stderr}");
    assert!(!output.status.success());
}

/// Programs that also contain machine code run just so.
#[test]
fn machine_code_beside_ptx() {
    let Some(toolkit) = toolkit_for("both") else {
        return;
    };
    let program = built(&toolkit, "checks").unwrap();
    let output = on_machine(&program).arg("filled").output().unwrap();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(stdout, "cudaSuccess\n0 failures\n", "{stderr}");
    let tool = toolkit.join("bin/cuobjdump");
    let mut lists = Command::new(&tool);
    let elf = text(&run(lists.arg("--list-elf").arg(&program)).stdout);
    assert!(elf.contains("sm_90a"), "{elf}");
}

#[test]
fn a_runtime_that_is_switched_off() {
    let Some(program) = kernels() else {
        return;
    };
    let mut command = on_machine(program);
    let output = command.env("CROQ_PTX_RUNTIME", "off").output().unwrap();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    let expected = "cudaGetDeviceCount(&devices) gives 35";
    assert!(stdout.contains(expected) && stderr.is_empty(), "{stderr}");
}

/// `CROQ_PTX_ARCHITECTURE`: the device may be an A100, which executes the PTX for sm_80.
#[test]
fn architectures() {
    let Some(toolkit) = toolkit() else {
        return;
    };
    let both = [
        "-gencode=arch=compute_80,code=sm_80",
        "-gencode=arch=compute_90a,code=sm_90a",
    ];
    let program = built_for(toolkit, "architecture", &both).unwrap();
    for (architecture, says) in [("", "900 9 227"), ("90", "900 9 227"), ("80", "800 8 163")] {
        let mut command = on_machine(&program);
        let output = run(command.env("CROQ_PTX_ARCHITECTURE", architecture));
        assert_eq!(text(&output.stdout), format!("{says}\n0 failures\n"));
    }
}

/// `CROQ_PTX_COUNT`: what the launches of each kernel have executed.
#[test]
fn counts_of_kernels() {
    let Some(program) = compiled("checks") else {
        return;
    };
    let table = toolkit().unwrap().join("counts.txt");
    let mut command = on_machine(&program);
    let output = run(command.arg("filled").env("CROQ_PTX_COUNT", &table));
    assert!(text(&output.stderr).is_empty(), "{output:?}");
    let found = std::fs::read_to_string(&table).unwrap();
    // Sixteen threads load and store 64 contiguous bytes: two sectors each.
    assert!(found.starts_with("_Z4copyPiPKi, 1 launches\n"), "{found}");
    for class in ["loads from global memory", "stores to global memory"] {
        let numbers = [1, 16, 1].map(|count| count.to_string());
        let [warps, threads, requests] = numbers;
        let row = format!(
            "{class:28} {warps:>12} {threads:>14} {requests:>12} {:>9}",
            "2.00"
        );
        assert!(found.contains(&row), "{found}");
    }
    let json = std::fs::read_to_string(toolkit().unwrap().join("counts.txt.json")).unwrap();
    assert!(
        json.starts_with("[\n{\n  \"kernel\": \"_Z4copyPiPKi\",\n  \"launches\": 1,"),
        "{json}"
    );
    assert!(json.ends_with("\n}\n]\n"), "{json}");
}

#[test]
fn races_and_unwritten_memory() {
    let Some(program) = compiled("checks") else {
        return;
    };
    let reports = |kernel: &str, checks: &str| {
        let mut command = on_machine(&program);
        command.arg(kernel).env("CROQ_PTX_CHECKS", checks);
        let output = command.output().unwrap();
        let has_failed = text(&output.stdout).contains("cudaErrorLaunchFailure");
        let report = text(&output.stderr);
        assert_eq!(has_failed, !report.is_empty(), "{report}");
        report
    };
    for (kernel, checks, expected) in [
        ("race", "", Some("a data race")),
        ("race", "races", Some("a data race")),
        ("race", "unwritten", None),
        ("race", "off", None),
        ("unwritten", "", Some("nothing has written")),
        ("unwritten", "unwritten", Some("nothing has written")),
        ("unwritten", "races", None),
        ("unwritten", "off", None),
        ("filled", "", None),
        ("fetched", "", Some("the first at offset 60")),
        ("fetched", "unwritten", Some("the first at offset 60")),
        ("fetched", "races", None),
    ] {
        let report = reports(kernel, checks);
        match expected {
            Some(words) => assert!(report.contains(words), "{kernel} {checks}: {report}"),
            None => assert!(report.is_empty(), "{kernel} {checks}: {report}"),
        }
    }
}
